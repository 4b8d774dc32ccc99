//! What of a project's settings counts in a run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aye_core::skill::HealRule;
use serde::{Deserialize, Serialize};

use crate::settings::{
    AdvisorSettings, Channels, MarkedBy, PolicySettings, Powers, ReadOnlyTools, Settings,
};

use super::file::{Agreements, TrustFile};
use super::power::{Power, outside};

/// On whose word something is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartedBy {
    /// Someone typed it.
    Person,
    /// An assistant wants it.
    Assistant,
    /// Someone asked the server for it: nobody typed it in the project.
    Server,
}

/// What counts, and what was left out.
#[derive(Debug, Clone)]
pub struct Granted {
    /// The directory was trusted.
    pub trusted: bool,
    /// What steps may run.
    pub policy: PolicySettings,
    /// What repairs known errors: the project's rules, then the user's.
    pub heal: Arc<[HealRule]>,
    /// Who advises, and where it works.
    pub advisor: Option<(AdvisorSettings, PathBuf)>,
    /// Tools that count as read-only: marked so by the user's own settings, or by
    /// those of a trusted project.
    pub read_only: ReadOnlyTools,
    /// Skill directories outside of the project that may be used.
    pub skills: Vec<PathBuf>,
    /// How people are told: the user's channels, and the project's beside them.
    pub channels: Channels,
    /// What of `aye.toml` does not count, in words.
    pub left_out: Vec<String>,
}

impl Granted {
    /// What counts in this project for something that is started like this.
    pub fn of(settings: &Settings, home: &Path, by: StartedBy) -> Self {
        let file = TrustFile::new(home, &settings.root);
        let (agreed, trouble) = match file.read() {
            Ok(agreed) => (agreed, None),
            // What cannot be read agrees to nothing.
            Err(error) => (Agreements::default(), Some(error.to_string())),
        };
        let Settings { project, user, .. } = settings;
        let mut left_out: Vec<String> = trouble.into_iter().collect();
        // For a run that a person typed, trust in the directory is enough.
        let mut may = |power: Option<Power>, what: &str| {
            let Some(power) = power else { return false };
            let may = agreed.trusted && (by == StartedBy::Person || agreed.holds(&power));
            if !may {
                left_out.push(what.to_owned());
            }
            may
        };
        let heal = may(Power::heal(&project.heal), "heal rules");
        let advised = may(project.advisor.as_ref().map(Power::advisor), "advisor");
        let looks = may(Power::read_only(settings), "read-only tools");
        let read_only = settings.tools.read_only(MarkedBy::User);
        let read_only = match looks {
            true => read_only.and(settings.tools.read_only(MarkedBy::Project)),
            false => read_only,
        };
        // A project cannot take the place of a channel of the user's.
        let mut channels = user.notify.clone();
        for (name, channel) in &project.notify {
            let power = Some(Power::channel(name, channel));
            if may(power, &format!("channel `{name}`")) {
                channels.entry(name.clone()).or_insert_with(|| channel.clone());
            }
        }
        let servers = settings.tools.servers.iter().filter(|(name, server)| {
            !server.own && !agreed.trusted && agreed.of(&Power::server(name)).is_none()
        });
        left_out.extend(servers.map(|(name, _)| format!("server `{name}`")));
        if !agreed.trusted {
            left_out.extend(settings.left_out.iter().map(|key| format!("`{key}`")));
        }
        let mut policy = project.policy.and(&user.policy);
        let looser = |before: &PolicySettings| project.policy.is_looser_than(before);
        if let Some(before) = agreed.policy().filter(looser) {
            policy = policy.and(&before);
            left_out.push("looser policy".to_owned());
        }
        let allowed = |path: &PathBuf| agreed.trusted && agreed.holds(&Power::skills(path));
        let skills = match by {
            StartedBy::Person => Vec::new(),
            StartedBy::Assistant | StartedBy::Server => {
                outside(settings).into_iter().filter(allowed).collect()
            }
        };
        Self {
            trusted: agreed.trusted,
            policy,
            heal: rules(project, user, heal),
            advisor: [(project, advised), (user, true)].into_iter().find_map(|(powers, may)| {
                let advisor = powers.advisor.clone().filter(|_| may)?;
                Some((advisor, powers.root.clone()))
            }),
            read_only,
            skills,
            channels,
            left_out,
        }
    }
}

fn rules(project: &Powers, user: &Powers, may: bool) -> Arc<[HealRule]> {
    match (may, user.heal.rules.is_empty()) {
        (true, true) => Arc::clone(&project.heal.rules),
        (false, _) => Arc::clone(&user.heal.rules),
        (true, false) => project.heal.rules.iter().chain(&*user.heal.rules).cloned().collect(),
    }
}
