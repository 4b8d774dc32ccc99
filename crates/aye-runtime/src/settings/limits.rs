//! Which limit counts: what a project wants, or what holds without it.
//!
//! A project that nobody trusts may make a limit stricter, never looser.

use std::time::Duration;

use crate::store::Durability;

/// Chooses limit by limit, and notes what it leaves out.
pub(super) struct Limiter<F> {
    is_trusted: Option<F>,
    trusted: bool,
    left_out: Vec<&'static str>,
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

    /// The keys whose limits do not count.
    pub(super) fn left_out(self) -> Vec<&'static str> {
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
        if let Some(is_trusted) = self.is_trusted.take() {
            self.trusted = is_trusted();
        }
        if self.trusted {
            return wanted;
        }
        self.left_out.push(key);
        without
    }
}
