//! `aye memory stats`.

use serde_json::json;

use crate::cli::Context;
use crate::cli::commands::output::{print, print_json};
use crate::error::Error;
use crate::memory::{Memory, Standing, Week, Weeks};
use crate::paint::{Paint, Tone, plural};

/// How many events are read at once.
const AT_ONCE: u32 = 5000;
/// The longest bar.
const WIDEST: u64 = 24;

pub(super) fn run(count: usize, memory: &Memory, context: &Context) -> Result<u8, Error> {
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
    let weeks = weeks.last(count, context.now());
    let (fixes, now) = (memory.fixes(), context.now());
    let standing = |wanted| fixes.iter().filter(|fix| fix.value.standing() == wanted).count();
    let preferences = memory.preferences();
    let current = preferences.iter().filter(|one| !one.value.is_expired(now)).count();
    let usage = memory.usage();
    let warning = usage.iter().filter(|one| one.value.warning(now).is_some()).count();
    let issues = memory.issues().len();
    if context.json {
        print_json(&json!({
            "weeks": weeks,
            "fixes": {
                "active": standing(Standing::Active), "proposed": standing(Standing::Proposed),
                "suspended": standing(Standing::Suspended), "prose": standing(Standing::Prose),
            },
            "issues": issues,
            "preferences": { "used": current, "expired": preferences.len() - current },
            "usage": { "patterns": usage.len(), "warning": warning },
        }))?;
        return Ok(0);
    }
    let mut text = table(&weeks, context.paint_out);
    text.push_str(&format!(
        "{} ({} suspended, {} proposed), {}, {}, {} ({warning} sure enough to warn)\n",
        match fixes.len() {
            1 => "1 fix".to_owned(),
            many => format!("{many} fixes"),
        },
        standing(Standing::Suspended),
        standing(Standing::Proposed),
        plural(issues, "known issue"),
        plural(current, "preference"),
        match usage.len() {
            1 => "1 pattern of use".to_owned(),
            many => format!("{many} patterns of use"),
        },
    ));
    print(&text)?;
    Ok(0)
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
