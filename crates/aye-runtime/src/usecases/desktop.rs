//! The desktop as a place to ask, as the settings have it.

use std::sync::Arc;
use std::time::Duration;

use crate::desktop::{
    DesktopConfig, DesktopPrompter, NotificationConfig, NotificationPrompter, Surroundings,
    obstacle,
};
use crate::prompter::{JoinRequests, Joining, Joins, Prompter};
use crate::runtime::Runtime;
use crate::trust::StartedBy;

/// How long an assistant that runs a skill has a question to itself, where it may
/// pass on the answer.
const ASSISTANT: Duration = Duration::from_secs(20);

impl Runtime {
    /// What is known of the desktop of this session.
    pub fn surroundings(&self) -> Surroundings {
        Surroundings { env: self.env.clone(), named: self.settings.prompters.named }
    }

    /// Asks this person in windows, once nobody else shows a question, and tells of
    /// questions in notifications, as the settings have it; nothing where there plainly is
    /// no desktop. Beside a terminal one question is asked `at_a_time`.
    pub fn desktop(&self, user: impl FnOnce() -> String, at_a_time: bool) -> DesktopPrompters {
        let order = self.settings.prompters;
        if order.desktop == Joins::Never && order.notification == Joins::Never {
            return DesktopPrompters::default();
        }
        let surroundings = self.surroundings();
        if obstacle(&surroundings).is_some() {
            return DesktopPrompters::default();
        }
        let (user, calls) = (user(), JoinRequests::default());
        let notifications = (order.notification != Joins::Never).then(|| {
            let config = NotificationConfig {
                surroundings: surroundings.clone(),
                user: user.clone(),
                home: self.home.clone(),
                has_windows: order.desktop != Joins::Never,
            };
            let prompter =
                NotificationPrompter::new(config, Arc::clone(&self.clock), calls.clone());
            Joining::new(prompter, order.notification)
        });
        let windows = (order.desktop != Joins::Never).then(|| {
            let config = DesktopConfig { surroundings, user, one_at_a_time: at_a_time };
            let prompter = DesktopPrompter::new(config, Arc::clone(&self.clock));
            let joining = Joining::new(prompter, order.desktop).called_by(calls);
            match self.started_by {
                StartedBy::Assistant => joining.behind_assistant(ASSISTANT),
                StartedBy::Person | StartedBy::Server => joining,
            }
        });
        DesktopPrompters { windows, notifications }
    }
}

/// The places of the desktop where a person is asked.
#[derive(Default)]
pub struct DesktopPrompters {
    windows: Option<Joining<DesktopPrompter>>,
    notifications: Option<Joining<NotificationPrompter>>,
}

impl DesktopPrompters {
    /// Those there are, for a driver.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut dyn Prompter> {
        let windows = self.windows.as_mut().map(|one| one as &mut dyn Prompter);
        let notifications = self.notifications.as_mut().map(|one| one as &mut dyn Prompter);
        windows.into_iter().chain(notifications)
    }
}
