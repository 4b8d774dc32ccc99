//! Which event causes which messages: pure, but for waking the delivery worker.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use aye_core::event::{Event, EventKind};
use aye_core::question::Question;
use aye_core::skill::By;
use jiff::{SignedDuration, Timestamp};

use crate::settings::{ChannelKind, ChannelSettings, Channels};
use crate::store::{Announcer, NewMessage, Occasion, RunRow};

use super::decide::patience;
use super::delivery_worker::Wake;

/// A run at a terminal that took this long is told of: few people watch so long.
const LONG: SignedDuration = SignedDuration::from_mins(5);
/// How many reminders a question gets.
const REMINDERS: u32 = 3;

/// What is told of one run, and to whom.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The channels, by name, with the digest of what was agreed to.
    pub channels: Channels,
    /// That digest, by name.
    pub agreed: std::collections::BTreeMap<String, String>,
    /// Someone sits where the run is driven and is asked there first.
    pub attended: bool,
}

impl Plan {
    /// The messages that an event of a run causes.
    pub fn messages(&self, event: &Event, run: &RunRow) -> Vec<NewMessage> {
        match &event.kind {
            EventKind::ConfirmationRequired(question) => self.asked(event.at, question, run),
            EventKind::SkillFailed { .. } => self.ended(event.at, Occasion::Failed, run),
            EventKind::SkillCompleted { .. } => self.ended(event.at, Occasion::Completed, run),
            EventKind::SkillCancelled { .. } => self.ended(event.at, Occasion::Cancelled, run),
            _ => Vec::new(),
        }
    }

    /// Whether an event may make a message that was sent obsolete.
    fn closes(kind: &EventKind) -> bool {
        matches!(
            kind,
            EventKind::ConfirmationAnswered(_)
                | EventKind::ConfirmationExpired { .. }
                | EventKind::SkillFailed { .. }
                | EventKind::SkillCompleted { .. }
                | EventKind::SkillCancelled { .. }
        )
    }

    fn asked(&self, at: Timestamp, question: &Question, run: &RunRow) -> Vec<NewMessage> {
        let mut all = Vec::new();
        for (name, channel) in self.told(run) {
            let addressed = match (&question.by, &channel.person) {
                (By::Names(names), Some(person)) => names.contains(person),
                (By::Names(_) | By::Anyone | By::Human, _) => true,
            };
            if !addressed || !channel.on.contains(&Occasion::Question) {
                continue;
            }
            let mut add = |to: &str, occasion, due| {
                all.push(self.message(to, occasion, Some(question), due));
            };
            let first = self.first(at, question, channel);
            add(name, Occasion::Question, first);
            if let Some(often) = channel.remind {
                for nth in 1..=REMINDERS {
                    add(name, Occasion::Reminder, later(first, often * nth));
                }
            }
            if let Some((after, to)) = &channel.escalate {
                add(to, Occasion::Escalation, later(at, *after));
            }
            if let Some(deadline) =
                question.deadline.filter(|_| channel.on.contains(&Occasion::Expiring))
            {
                let due = earlier(deadline, channel.expiring).max(first);
                add(name, Occasion::Expiring, due);
            }
        }
        all
    }

    /// When a question is told of first: at once, unless someone may see it anyway.
    fn first(&self, at: Timestamp, question: &Question, channel: &ChannelSettings) -> Timestamp {
        // Files are for programs, which do not sit at a terminal.
        if !self.attended || matches!(channel.kind, ChannelKind::DropBox(_)) {
            return at;
        }
        let patience = patience(channel, at, question.deadline);
        at.checked_add(patience).unwrap_or(at)
    }

    fn ended(&self, at: Timestamp, occasion: Occasion, run: &RunRow) -> Vec<NewMessage> {
        // The end of a run inside another is a step of that.
        let watched = self.attended && at.duration_since(run.started) < LONG;
        if run.parent.is_some() || watched {
            return Vec::new();
        }
        let told = self.told(run).filter(|(_, channel)| {
            channel.on.contains(&occasion) && !matches!(channel.kind, ChannelKind::DropBox(_))
        });
        told.map(|(name, _)| self.message(name, occasion, None, at)).collect()
    }

    /// The channels that are for a run.
    fn told<'a>(
        &'a self,
        run: &'a RunRow,
    ) -> impl Iterator<Item = (&'a String, &'a ChannelSettings)> {
        self.channels.iter().filter(move |(_, channel)| is_for(channel, run))
    }

    fn message(
        &self,
        channel: &str,
        occasion: Occasion,
        question: Option<&Question>,
        due: Timestamp,
    ) -> NewMessage {
        NewMessage {
            channel: channel.to_owned(),
            agreed: self.agreed.get(channel).cloned().unwrap_or_default(),
            occasion,
            question: question.map(|question| question.id.clone()),
            due,
        }
    }
}

/// Whether a channel is for this run.
fn is_for(channel: &ChannelSettings, run: &RunRow) -> bool {
    let skill = channel.skills.is_empty() || channel.skills.iter().any(|one| fits(one, &run.skill));
    let environment = channel.environments.is_empty()
        || run
            .environment
            .as_ref()
            .is_some_and(|here| channel.environments.iter().any(|one| fits(one, here)));
    skill && environment
}

/// Whether a name fits a pattern in which `*` stands for any characters.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            let mut ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            ends.any(|at| fits(rest, &name[at..]))
        }),
    }
}

fn later(at: Timestamp, time: Duration) -> Timestamp {
    at.checked_add(time).unwrap_or(Timestamp::MAX)
}

fn earlier(at: Timestamp, time: Duration) -> Timestamp {
    at.checked_sub(time).unwrap_or(at)
}

/// Asked by the store about every event; wakes the delivery worker once what it planned
/// is committed.
#[derive(Debug)]
pub struct Announcement {
    plan: Plan,
    wake: Wake,
    /// Whether something has to be looked at after the commit.
    stirred: AtomicBool,
}

impl Announcement {
    pub(super) fn new(plan: Plan, wake: Wake) -> Self {
        Self { plan, wake, stirred: AtomicBool::new(false) }
    }
}

impl Announcer for Announcement {
    fn messages(&self, event: &Event, run: &RunRow) -> Vec<NewMessage> {
        let messages = self.plan.messages(event, run);
        let retracts = || self.plan.channels.values().any(|channel| channel.kind.retracts());
        if !messages.is_empty() || Plan::closes(&event.kind) && retracts() {
            self.stirred.store(true, Ordering::Relaxed);
        }
        messages
    }

    fn committed(&self) {
        if self.stirred.swap(false, Ordering::Relaxed) {
            self.wake.look();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, name, is) in [
            ("release", "release", true),
            ("release", "released", false),
            ("deploy-*", "deploy-web", true),
            ("deploy-*", "deploy", false),
            ("*", "", true),
            ("*-prod*", "web-prod-1", true),
            ("*é", "café", true),
        ] {
            assert_eq!(fits(pattern, name), is, "{pattern} {name}");
        }
    }
}
