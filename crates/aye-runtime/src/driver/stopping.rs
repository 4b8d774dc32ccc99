//! That Aye was told to stop, and what came of it.

use crate::error::Error;

use super::outcome::Outcome;

/// How stopping stands.
#[derive(Default)]
pub(super) struct Stopping {
    /// The first signal that told us to stop.
    signal: Option<i32>,
    /// That it is stopping has been said.
    said: bool,
    /// How many processes of the runs inside could not be ended; nothing where
    /// nothing had to be.
    left_inside: Option<u32>,
    /// Why a stop could not be written down.
    unwritten: Option<Error>,
}

impl Stopping {
    /// A signal told us to stop.
    pub(super) fn told(&mut self, signal: i32) {
        self.signal.get_or_insert(signal);
    }

    pub(super) fn is_told(&self) -> bool {
        self.signal.is_some()
    }

    /// Whether it is to be said now: once is enough.
    pub(super) fn say(&mut self) -> bool {
        !std::mem::replace(&mut self.said, true)
    }

    /// A program inside was ended; so many processes of it could not be.
    pub(super) fn ended_inside(&mut self, left_running: u32) {
        *self.left_inside.get_or_insert(0) += left_running;
    }

    pub(super) fn left_inside(&self) -> Option<u32> {
        self.left_inside
    }

    /// A stop could not be written down: what runs is stopped all the same.
    pub(super) fn not_written(&mut self, error: Error) {
        self.unwritten = Some(error);
    }

    /// Whether the journal lacks something: nothing more is told to a machine.
    pub(super) fn is_unwritten(&self) -> bool {
        self.unwritten.is_some()
    }

    /// The error that is told once what was stopped has ended.
    pub(super) fn take_unwritten(&mut self) -> Option<Error> {
        self.unwritten.take()
    }

    /// What a run that stands like this came to.
    pub(super) fn outcome(&self, outcome: Outcome) -> Outcome {
        match (self.signal, outcome) {
            (Some(signal), Outcome::Paused(_)) => Outcome::Interrupted(signal),
            (_, outcome) => outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use aye_core::event::PauseReason;
    use aye_core::journal::Ended;

    use super::*;

    #[test]
    fn the_first_signal_counts_and_only_for_a_run_that_rests() {
        let mut stopping = Stopping::default();
        let (rests, ended) =
            (Outcome::Paused(PauseReason::Waiting), Outcome::Ended(Ended::Completed));
        assert_eq!(stopping.outcome(rests), rests);
        stopping.told(15);
        stopping.told(2);
        assert_eq!(stopping.outcome(rests), Outcome::Interrupted(15));
        assert_eq!(stopping.outcome(ended), ended);
    }

    #[test]
    fn it_is_said_once_and_what_is_left_is_counted() {
        let mut stopping = Stopping::default();
        assert_eq!((stopping.say(), stopping.say()), (true, false));
        assert_eq!(stopping.left_inside(), None);
        stopping.ended_inside(0);
        stopping.ended_inside(2);
        assert_eq!(stopping.left_inside(), Some(2));
    }

    #[test]
    fn what_could_not_be_written_is_told_once() {
        let mut stopping = Stopping::default();
        stopping.not_written(Error::Refused { message: "the disk is full".to_owned(), hint: None });
        assert!(stopping.is_unwritten());
        assert!(stopping.take_unwritten().is_some());
        assert!(!stopping.is_unwritten());
    }
}
