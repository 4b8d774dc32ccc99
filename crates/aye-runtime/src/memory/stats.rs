//! How often people are asked, week by week: counted from the journal.

use std::collections::{BTreeMap, BTreeSet};

use aye_core::event::{Event, EventKind, Remembered, RetryReason};
use aye_core::id::RunId;
use aye_core::question::Channel;
use jiff::{Timestamp, civil::ISOWeekDate, tz::TimeZone};
use serde::Serialize;

/// One ISO week.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Week {
    /// `2026-W47`.
    pub week: String,
    /// Runs that began.
    pub runs: u64,
    /// Questions that came up.
    pub questions: u64,
    /// Those that memory answered.
    pub by_memory: u64,
    /// Those that people, assistants or `--yes` answered, or nobody did.
    pub asked: u64,
    /// Steps that failed and went well after a repair, with nobody asked.
    pub heals: u64,
    /// Fixes from memory that were tried and did not help.
    pub failed_fixes: u64,
}

/// The weeks there are, oldest first, none left out.
#[derive(Debug, Clone, Default)]
pub struct Weeks {
    weeks: BTreeMap<(i16, i8), Week>,
    /// Steps that are tried again after a repair: how that ends says whether it helped.
    repaired: BTreeSet<(RunId, String)>,
}

impl Weeks {
    /// Counts an event.
    pub fn count(&mut self, event: &Event) {
        let week = iso_week(event.at);
        let key = (week.year(), week.week());
        let one =
            self.weeks.entry(key).or_insert_with(|| Week { week: name(key), ..Week::default() });
        match &event.kind {
            EventKind::SkillStarted(started) if started.parent.is_none() => one.runs += 1,
            EventKind::ConfirmationRequired(_) => one.questions += 1,
            EventKind::ConfirmationAnswered(answered)
                if answered.refused.is_none() && answered.answer.prompter == Channel::Memory =>
            {
                one.by_memory += 1;
            }
            // A rule that ran, or a fix that is tried with nobody asked.
            EventKind::AutoHealCompleted { step, healed: true, .. }
            | EventKind::StepRetried { step, why: RetryReason::Fixed, .. } => {
                self.repaired.insert((event.run.clone(), step.clone()));
            }
            EventKind::StepCompleted(done) => {
                let of = (event.run.clone(), done.step.clone());
                one.heals += u64::from(self.repaired.remove(&of));
            }
            EventKind::StepFailed(failed) => {
                self.repaired.remove(&(event.run.clone(), failed.step.clone()));
            }
            EventKind::MemoryLearned(what) if did_not_help(what) => one.failed_fixes += 1,
            _ => {}
        }
    }

    /// The last weeks up to now, oldest first; weeks without runs too.
    pub fn last(&self, count: usize, now: Timestamp) -> Vec<Week> {
        let first = self.weeks.keys().next().copied();
        let mut at = iso_week(now);
        let mut weeks = Vec::new();
        for _ in 0..count {
            let key = (at.year(), at.week());
            if first.is_none_or(|first| key < first) {
                break;
            }
            let mut week = self
                .weeks
                .get(&key)
                .cloned()
                .unwrap_or(Week { week: name(key), ..Week::default() });
            week.asked = week.questions.saturating_sub(week.by_memory);
            weeks.push(week);
            let Ok(before) = at.date().checked_sub(jiff::Span::new().weeks(1)) else { break };
            at = before.iso_week_date();
        }
        weeks.reverse();
        weeks
    }
}

/// Whether a lesson is that a fix did not help.
fn did_not_help(what: &Remembered) -> bool {
    let lesson = what.lesson.as_deref();
    lesson.is_some_and(|lesson| lesson["lesson"] == "tried" && lesson["worked"] == false)
}

fn iso_week(at: Timestamp) -> ISOWeekDate {
    at.to_zoned(TimeZone::UTC).date().iso_week_date()
}

fn name((year, week): (i16, i8)) -> String {
    format!("{year}-W{week:02}")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn event(at: &str, mut kind: Value) -> Event {
        let map = kind.as_object_mut().expect("a mapping");
        map.extend(
            json!({ "v": 1, "run": "abcdefgh12", "seq": 1, "at": at })
                .as_object()
                .expect("a mapping")
                .clone(),
        );
        serde_json::from_value(kind).expect("an event")
    }

    fn asks(at: &str) -> Event {
        event(
            at,
            json!({
                "type": "confirmation_required", "question": "abcdefgh12-1", "kind": "confirm",
                "purpose": "gate", "step": "s", "title": "", "message": "Go?",
                "overridable": true, "digest": "d",
            }),
        )
    }

    fn answers(at: &str, prompter: &str, refused: Option<&str>) -> Event {
        event(
            at,
            json!({
                "type": "confirmation_answered", "question": "abcdefgh12-1", "latency_ms": 1,
                "answer": { "value": "proceed", "by": "ana", "prompter": prompter },
                "refused": refused,
            }),
        )
    }

    #[test]
    fn weeks_are_iso_weeks_and_none_is_left_out() {
        let mut weeks = Weeks::default();
        // Sunday and Monday; the last days of a year belong to the next one's week 53 or 1.
        for at in ["2026-12-20T23:59:59Z", "2026-12-21T00:00:00Z", "2027-01-01T12:00:00Z"] {
            weeks.count(&asks(at));
        }
        let now = "2027-01-12T00:00:00Z".parse().expect("a time");
        let shown: Vec<(String, u64)> =
            weeks.last(12, now).into_iter().map(|week| (week.week, week.asked)).collect();
        let wanted =
            [("2026-W51", 1), ("2026-W52", 1), ("2026-W53", 1), ("2027-W01", 0), ("2027-W02", 0)];
        assert_eq!(shown, wanted.map(|(week, asked)| (week.to_owned(), asked)));
        assert_eq!(weeks.last(2, now).len(), 2);
    }

    #[test]
    fn a_repair_counts_when_the_step_goes_well_after_it() {
        let at = "2026-11-16T10:00:00Z";
        let repaired = |step: &str| {
            event(
                at,
                json!({
                    "type": "auto_heal_completed", "step": step, "execution": 2, "rule": "r",
                    "healed": true,
                }),
            )
        };
        let retried = |step: &str| {
            event(at, json!({ "type": "step_retried", "step": step, "attempt": 2, "why": "fixed" }))
        };
        let done = |step: &str| {
            event(
                at,
                json!({
                    "type": "step_completed", "step": step, "execution": 3, "output": step,
                    "value": null,
                }),
            )
        };
        let failed = |step: &str| {
            event(
                at,
                json!({
                    "type": "step_failed", "step": step, "execution": 3, "outcome": "failure",
                    "message": "no",
                }),
            )
        };
        let mut weeks = Weeks::default();
        for one in [
            repaired("a"),
            retried("a"),
            done("a"),
            repaired("b"),
            retried("b"),
            failed("b"),
            done("b"),
            retried("c"),
            done("c"),
            done("d"),
        ] {
            weeks.count(&one);
        }
        assert_eq!(weeks.last(1, at.parse().expect("a time")).remove(0).heals, 2);
    }

    #[test]
    fn what_memory_answered_was_nobody_asked() {
        let mut weeks = Weeks::default();
        let at = "2026-11-16T10:00:00Z";
        for _ in 0..3 {
            weeks.count(&asks(at));
        }
        weeks.count(&answers(at, "memory", None));
        weeks.count(&answers(at, "memory", Some("too late")));
        weeks.count(&answers(at, "terminal", None));
        let week = weeks.last(1, at.parse().expect("a time")).remove(0);
        assert_eq!((week.questions, week.by_memory, week.asked), (3, 1, 2));
    }
}
