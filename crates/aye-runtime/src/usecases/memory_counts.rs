//! What memory holds and what it saved, counted.

use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::fmt::plural;
use crate::memory::{Standing, Week, Weeks};
use crate::runtime::Runtime;

/// How many events are read at once.
const AT_ONCE: u32 = 5000;

/// What is remembered, counted.
pub struct Counts {
    /// The last weeks, counted from the journal.
    pub weeks: Vec<Week>,
    /// Fixes by their standing.
    fixes: [(Standing, usize); 4],
    issues: usize,
    preferences: usize,
    expired: usize,
    usage: usize,
    warning: usize,
}

impl Counts {
    /// As data.
    pub fn to_json(&self) -> Value {
        let fixes: Map<String, Value> =
            self.fixes.iter().map(|(at, count)| (at.word().to_owned(), (*count).into())).collect();
        json!({
            "weeks": self.weeks,
            "fixes": fixes,
            "issues": self.issues,
            "preferences": { "used": self.preferences, "expired": self.expired },
            "usage": { "patterns": self.usage, "warning": self.warning },
        })
    }

    /// In words.
    pub fn words(&self) -> String {
        let standing = |wanted| {
            let found = self.fixes.iter().find(|(at, _)| *at == wanted);
            found.map_or(0, |(_, count)| *count)
        };
        format!(
            "{} ({} suspended, {} proposed), {}, {}, {} ({} sure enough to warn)\n",
            match self.fixes.iter().map(|(_, count)| count).sum() {
                1 => "1 fix".to_owned(),
                many => format!("{many} fixes"),
            },
            standing(Standing::Suspended),
            standing(Standing::Proposed),
            plural(self.issues, "known issue"),
            plural(self.preferences, "preference"),
            match self.usage {
                1 => "1 pattern of use".to_owned(),
                many => format!("{many} patterns of use"),
            },
            self.warning,
        )
    }
}

impl Runtime {
    /// Counts, for so many weeks.
    pub fn memory_counts(&self, weeks: usize) -> Result<Counts, Error> {
        let memory = self.current_memory();
        let (fixes, now) = (memory.fixes(), self.now());
        let standing = |wanted| fixes.iter().filter(|fix| fix.value.standing() == wanted).count();
        let preferences = memory.preferences();
        let current = preferences.iter().filter(|one| !one.value.is_expired(now)).count();
        let usage = memory.usage();
        let all = [Standing::Active, Standing::Proposed, Standing::Suspended, Standing::Prose];
        Ok(Counts {
            weeks: self.weeks(weeks)?,
            fixes: all.map(|wanted| (wanted, standing(wanted))),
            issues: memory.issues().len(),
            preferences: current,
            expired: preferences.len() - current,
            usage: usage.len(),
            warning: usage.iter().filter(|one| one.value.warning(now).is_some()).count(),
        })
    }

    fn weeks(&self, count: usize) -> Result<Vec<Week>, Error> {
        let mut weeks = Weeks::default();
        if let Some(store) = self.store_to_read()? {
            let mut after = 0;
            loop {
                let events = store.events_after(after, AT_ONCE)?;
                let Some((last, _)) = events.last() else { break };
                after = *last;
                events.iter().for_each(|(_, event)| weeks.count(event));
            }
        }
        Ok(weeks.last(count, self.now()))
    }
}
