//! What memory learns from once it is over: failures, fixes that are being
//! tried, warnings that may have been wrong.

use aye_core::event::RetryReason;
use serde_json::Value;

use super::lane::LaneId;

/// What is not over yet, of all lanes.
#[derive(Default)]
pub(super) struct PendingLessons {
    failures: Vec<OpenFailure>,
    fixes: Vec<PendingFix>,
    warnings: Vec<Warned>,
    /// Fixes that wait for an agreement and have been told of.
    proposed: Vec<String>,
}

/// A failure that is not over yet.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OpenFailure {
    pub(super) lane: LaneId,
    pub(super) step: String,
    pub(super) tool: String,
    pub(super) args: Value,
    pub(super) error: String,
    /// Why it is tried again.
    pub(super) again: Option<RetryReason>,
}

/// A fix whose outcome is not known yet.
struct PendingFix {
    lane: LaneId,
    step: String,
    fix: String,
}

/// A warning that was given before a step.
struct Warned {
    lane: LaneId,
    step: String,
    pattern: String,
}

impl PendingLessons {
    /// A step failed. If it had failed before, only the error is another.
    pub(super) fn failed(&mut self, failure: OpenFailure) {
        let OpenFailure { lane, step, error, .. } = &failure;
        match self.failures.iter_mut().find(|one| one.lane == *lane && one.step == *step) {
            Some(known) => known.error.clone_from(error),
            None => self.failures.push(failure),
        }
    }

    /// Whether a step failed, and that is not over yet.
    pub(super) fn has_failed(&self, lane: LaneId, step: &str) -> bool {
        self.failures.iter().any(|one| one.lane == lane && one.step == step)
    }

    /// A step that failed is tried again, with this fix or none.
    pub(super) fn retried(
        &mut self,
        lane: LaneId,
        step: &str,
        why: RetryReason,
        fix: Option<&str>,
    ) {
        self.tries(lane, step, fix);
        let of_step = |one: &&mut OpenFailure| one.lane == lane && one.step == step;
        self.failures.iter_mut().filter(of_step).for_each(|one| one.again = Some(why));
    }

    /// The failures of a lane that are over.
    pub(super) fn over(
        &mut self,
        lane: LaneId,
        goes_on: impl Fn(&str) -> bool,
    ) -> Vec<OpenFailure> {
        self.failures.extract_if(.., |one| one.lane == lane && !goes_on(&one.step)).collect()
    }

    /// A fix is about to be tried, or none.
    pub(super) fn tries(&mut self, lane: LaneId, step: &str, fix: Option<&str>) {
        self.fixes.retain(|tried| tried.lane != lane || tried.step != step);
        let (step, fix) = (step.to_owned(), fix.map(str::to_owned));
        self.fixes.extend(fix.map(|fix| PendingFix { lane, step, fix }));
    }

    /// A step ended: the fix that was tried for it.
    pub(super) fn fix_ended(&mut self, lane: LaneId, step: &str) -> Option<String> {
        let of_step = |tried: &mut PendingFix| tried.lane == lane && tried.step == step;
        self.fixes.extract_if(.., of_step).next().map(|tried| tried.fix)
    }

    /// A warning was given before a step.
    pub(super) fn warned(&mut self, lane: LaneId, step: &str, pattern: &str) {
        let (step, pattern) = (step.to_owned(), pattern.to_owned());
        self.warnings.push(Warned { lane, step, pattern });
    }

    /// A step went well: the patterns that it was warned with.
    pub(super) fn wrong_warnings(&mut self, lane: LaneId, step: &str) -> Vec<String> {
        let of_step = |warned: &mut Warned| warned.lane == lane && warned.step == step;
        self.warnings.extract_if(.., of_step).map(|warned| warned.pattern).collect()
    }

    /// Whether a proposed fix was told of in this run.
    pub(super) fn is_proposed(&self, fix: &str) -> bool {
        self.proposed.iter().any(|told| told == fix)
    }

    /// These proposed fixes have been told of.
    pub(super) fn proposed(&mut self, fixes: Vec<String>) {
        self.proposed.extend(fixes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(lane: LaneId, error: &str) -> OpenFailure {
        let (step, tool) = ("push".to_owned(), "git".to_owned());
        let args = Value::Null;
        OpenFailure { lane, step, tool, args, error: error.to_owned(), again: None }
    }

    #[test]
    fn a_failure_is_open_until_its_step_is_over_and_keeps_its_last_error() {
        let mut lessons = PendingLessons::default();
        lessons.failed(failure(1, "no route"));
        lessons.failed(failure(2, "no route"));
        lessons.failed(failure(1, "denied"));
        lessons.retried(1, "push", RetryReason::Answer, None);
        assert!(lessons.has_failed(1, "push") && !lessons.has_failed(1, "pull"));
        assert_eq!(lessons.over(1, |_| true), []);
        let again = Some(RetryReason::Answer);
        assert_eq!(lessons.over(1, |_| false), [OpenFailure { again, ..failure(1, "denied") }]);
        assert!(!lessons.has_failed(1, "push") && lessons.has_failed(2, "push"));
    }

    #[test]
    fn of_the_fixes_for_a_step_the_last_one_tried_counts() {
        let mut lessons = PendingLessons::default();
        lessons.tries(1, "push", Some("fix-a"));
        lessons.tries(2, "push", Some("fix-a"));
        lessons.retried(1, "push", RetryReason::Fixed, Some("fix-b"));
        assert_eq!(lessons.fix_ended(1, "push").as_deref(), Some("fix-b"));
        assert_eq!(lessons.fix_ended(1, "push"), None);
        lessons.tries(2, "push", None);
        assert_eq!(lessons.fix_ended(2, "push"), None);
    }

    #[test]
    fn warnings_and_proposals_are_each_taken_once() {
        let mut lessons = PendingLessons::default();
        lessons.warned(1, "push", "use-1");
        lessons.warned(1, "push", "use-2");
        assert_eq!(lessons.wrong_warnings(2, "push"), Vec::<String>::new());
        assert_eq!(lessons.wrong_warnings(1, "push"), ["use-1", "use-2"]);
        assert_eq!(lessons.wrong_warnings(1, "push"), Vec::<String>::new());
        lessons.proposed(vec!["fix-a".to_owned()]);
        assert!(lessons.is_proposed("fix-a") && !lessons.is_proposed("fix-b"));
    }
}
