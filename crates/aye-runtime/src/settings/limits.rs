//! Which limit counts: what a project wants, or what holds without it.
//!
//! A project that nobody trusts may make a limit stricter, never looser.

use std::time::Duration;

use crate::store::Durability;

use super::{AskOrder, ToolSettings};

/// Chooses limit by limit, and notes what it leaves out.
pub(super) struct Limiter<F> {
    is_trusted: Option<F>,
    trusted: bool,
    left_out: Vec<String>,
}

impl<F: FnOnce() -> bool> Limiter<F> {
    /// `is_trusted` is called at most once, and only where it matters.
    pub(super) fn new(is_trusted: F) -> Self {
        Self { is_trusted: Some(is_trusted), trusted: false, left_out: Vec::new() }
    }

    /// A number or time: less is stricter.
    pub(super) fn at_most<T: PartialOrd>(
        &mut self,
        key: &'static str,
        wanted: Option<T>,
        without: T,
    ) -> T {
        self.choose(key, wanted, without, |wanted, without| wanted > without)
    }

    /// A time-out: less is stricter, and `None` is no limit.
    pub(super) fn timeout(
        &mut self,
        key: &'static str,
        wanted: Option<Option<Duration>>,
        without: Option<Duration>,
    ) -> Option<Duration> {
        self.choose(key, wanted, without, |wanted, without| {
            without.is_some_and(|without| wanted.is_none_or(|wanted| wanted > without))
        })
    }

    /// How long to keep something: more is stricter, and `None` is for ever.
    pub(super) fn keep(
        &mut self,
        key: &'static str,
        wanted: Option<Option<Duration>>,
        without: Option<Duration>,
    ) -> Option<Duration> {
        self.choose(key, wanted, without, |wanted, without| {
            wanted.is_some_and(|wanted| without.is_none_or(|without| wanted < without))
        })
    }

    /// What an acknowledged step survives: the power failing is stricter.
    pub(super) fn durability(
        &mut self,
        key: &'static str,
        wanted: Option<Durability>,
        without: Durability,
    ) -> Durability {
        self.choose(key, wanted, without, |wanted, without| {
            (*wanted, *without) == (Durability::Process, Durability::Power)
        })
    }

    /// Who asks: more of them is looser, for one more place can answer.
    pub(super) fn prompters(&mut self, wanted: AskOrder, without: AskOrder) -> AskOrder {
        self.choose("prompters", Some(wanted), without, AskOrder::calls_more_than)
    }

    /// Both tools; of a name that both have, the project's, if it is trusted: the
    /// user's own skills mean their own.
    pub(super) fn tools(&mut self, mut project: ToolSettings, user: ToolSettings) -> ToolSettings {
        let both = |name: &&str| user.names().any(|own| own == *name);
        let both: Vec<String> = project.names().filter(both).map(str::to_owned).collect();
        if !both.is_empty() && !self.is_trusted() {
            for name in both {
                project.servers.remove(&name);
                project.commands.remove(&name);
                self.left_out.push(format!("tools.{name}"));
            }
        }
        project.or_own(user)
    }

    /// The keys that do not count.
    pub(super) fn left_out(self) -> Vec<String> {
        self.left_out
    }

    fn choose<T>(
        &mut self,
        key: &'static str,
        wanted: Option<T>,
        without: T,
        is_looser: impl Fn(&T, &T) -> bool,
    ) -> T {
        let Some(wanted) = wanted else { return without };
        if !is_looser(&wanted, &without) {
            return wanted;
        }
        if self.is_trusted() {
            return wanted;
        }
        self.left_out.push(key.to_owned());
        without
    }

    fn is_trusted(&mut self) -> bool {
        if let Some(is_trusted) = self.is_trusted.take() {
            self.trusted = is_trusted();
        }
        self.trusted
    }
}
