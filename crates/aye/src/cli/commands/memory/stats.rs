//! `aye memory stats`.

use serde_json::{Map, Value, json};

use crate::cli::Context;
use crate::cli::commands::output::{print, print_json};
use crate::paint::{Paint, Tone, plural};
use aye_runtime::error::Error;
use aye_runtime::memory::{Memory, Standing, Week, Weeks};

/// How many events are read at once.
const AT_ONCE: u32 = 5000;
/// The longest bar.
const WIDEST: u64 = 24;

/// What is remembered, counted.
pub(crate) struct Counts {
    weeks: Vec<Week>,
    /// Fixes by their standing.
    fixes: [(Standing, usize); 4],
    issues: usize,
    preferences: usize,
    expired: usize,
    usage: usize,
    warning: usize,
}

impl Counts {
    /// Counts, for so many weeks.
    pub(crate) fn take(count: usize, memory: &Memory, context: &Context) -> Result<Self, Error> {
        let weeks = weeks(count, context)?;
        let (fixes, now) = (memory.fixes(), context.now());
        let standing = |wanted| fixes.iter().filter(|fix| fix.value.standing() == wanted).count();
        let preferences = memory.preferences();
        let current = preferences.iter().filter(|one| !one.value.is_expired(now)).count();
        let usage = memory.usage();
        let all = [Standing::Active, Standing::Proposed, Standing::Suspended, Standing::Prose];
        Ok(Self {
            weeks,
            fixes: all.map(|wanted| (wanted, standing(wanted))),
            issues: memory.issues().len(),
            preferences: current,
            expired: preferences.len() - current,
            usage: usage.len(),
            warning: usage.iter().filter(|one| one.value.warning(now).is_some()).count(),
        })
    }

    /// As data.
    pub(crate) fn shown(&self) -> Value {
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
    pub(crate) fn words(&self) -> String {
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

pub(super) fn run(count: usize, memory: &Memory, context: &Context) -> Result<u8, Error> {
    let counts = Counts::take(count, memory, context)?;
    if context.json {
        print_json(&counts.shown())?;
        return Ok(0);
    }
    let text = table(&counts.weeks, context.paint_out) + &counts.words();
    print(&text)?;
    Ok(0)
}

/// The last weeks, counted from the journal.
fn weeks(count: usize, context: &Context) -> Result<Vec<Week>, Error> {
    let mut weeks = Weeks::default();
    if let Some(store) = context.store_to_read()? {
        let mut after = 0;
        loop {
            let events = store.events_after(after, AT_ONCE)?;
            let Some((last, _)) = events.last() else { break };
            after = *last;
            events.iter().for_each(|(_, event)| weeks.count(event));
        }
    }
    Ok(weeks.last(count, context.now()))
}

/// A line for each week, with a bar for the questions that people were asked.
fn table(weeks: &[Week], paint: Paint) -> String {
    if weeks.is_empty() {
        return "no runs yet\n".to_owned();
    }
    let head = format!(
        "{:<8}  {:>5}  {:>9}  {:>9}  {:>5}  {:>5}",
        "week", "runs", "questions", "by memory", "heals", "asked"
    );
    let mut text = format!("{}\n", paint.text(Tone::Dim, &head));
    let most = weeks.iter().map(|week| week.asked).max().unwrap_or_default();
    for week in weeks {
        let line = format!(
            "{:<8}  {:>5}  {:>9}  {:>9}  {:>5}  {:>5}  {}",
            week.week,
            week.runs,
            week.questions,
            week.by_memory,
            week.heals,
            week.asked,
            paint.text(Tone::Ask, &bar(week.asked, most, paint)),
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A bar as long as its share of the most; anything at all is seen.
fn bar(count: u64, most: u64, paint: Paint) -> String {
    if count == 0 {
        return String::new();
    }
    let length = (count * WIDEST).div_ceil(most.max(WIDEST));
    let ink = if paint.unicode { "█" } else { "#" };
    ink.repeat(usize::try_from(length).unwrap_or_default().max(1))
}
