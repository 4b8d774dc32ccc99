//! How often people are asked, week by week: counted from the journal.

use std::collections::BTreeMap;

use aye_core::event::{Event, Fact};
use aye_core::question::Prompter;
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
    /// Failures that were repaired without anyone.
    pub heals: u64,
}

/// The weeks there are, oldest first, none left out.
#[derive(Debug, Clone, Default)]
pub struct Weeks {
    weeks: BTreeMap<(i16, i8), Week>,
}

impl Weeks {
    /// Counts an event.
    pub fn count(&mut self, event: &Event) {
        let week = iso_week(event.at);
        let key = (week.year(), week.week());
        let one =
            self.weeks.entry(key).or_insert_with(|| Week { week: name(key), ..Week::default() });
        match &event.fact {
            Fact::SkillStarted(started) if started.parent.is_none() => one.runs += 1,
            Fact::ConfirmationRequired(_) => one.questions += 1,
            Fact::ConfirmationAnswered(answered)
                if answered.refused.is_none() && answered.answer.prompter == Prompter::Memory =>
            {
                one.by_memory += 1;
            }
            fact if fact.name() == "auto_heal_completed" => one.heals += 1,
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

fn iso_week(at: Timestamp) -> ISOWeekDate {
    at.to_zoned(TimeZone::UTC).date().iso_week_date()
}

fn name((year, week): (i16, i8)) -> String {
    format!("{year}-W{week:02}")
}
