//! `aye memory stats`.

use crate::chart::bar;
use crate::cli::Context;
use crate::cli::commands::output::{print, print_json};
use crate::paint::{Paint, Tone};
use aye_runtime::error::Error;
use aye_runtime::memory::Week;

/// The longest bar.
const WIDEST: u64 = 24;

pub(super) fn run(weeks: usize, context: &Context) -> Result<u8, Error> {
    let counts = context.memory_counts(weeks)?;
    if context.json {
        print_json(&counts.to_json())?;
        return Ok(0);
    }
    let text = table(&counts.weeks, context.paint_out) + &counts.words();
    print(&text)?;
    Ok(0)
}

/// A line for each week, with a bar for the questions that people were asked.
fn table(weeks: &[Week], paint: Paint) -> String {
    if weeks.is_empty() {
        return "no runs yet\n".to_owned();
    }
    let head = format!(
        "{:<8}  {:>5}  {:>9}  {:>9}  {:>5}  {:>6}  {:>5}",
        "week", "runs", "questions", "by memory", "heals", "failed", "asked"
    );
    let mut text = format!("{}\n", paint.text(Tone::Dim, &head));
    let most = weeks.iter().map(|week| week.asked).max().unwrap_or_default();
    for week in weeks {
        let line = format!(
            "{:<8}  {:>5}  {:>9}  {:>9}  {:>5}  {:>6}  {:>5}  {}",
            week.week,
            week.runs,
            week.questions,
            week.by_memory,
            week.heals,
            week.failed_fixes,
            week.asked,
            paint.text(Tone::Ask, &bar(week.asked, most.max(WIDEST), WIDEST, paint)),
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
