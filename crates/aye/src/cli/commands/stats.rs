//! `aye stats`.

use std::time::Duration;

use aye_core::skill::parse_duration;
use clap::Args;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::chart::{bar, sparkline};
use crate::cli::Context;
use crate::paint::{Glyph, Paint, Tone, duration, escape_control_line, plural};
use crate::signs;
use crate::term;
use aye_runtime::error::Error;
use aye_runtime::usecases::{RunFigures, RunStanding, SkillStats, Spread, StatsRequest};

use super::output::{print_json, print_words};

/// The longest line of bars, a run each.
const WIDEST_LINE: usize = 60;
/// The longest bar.
const WIDEST_BAR: u64 = 20;
/// The longest name of a step.
const WIDEST_NAME: usize = 28;

const EXAMPLES: &str = "\
Examples:
  aye stats release
  aye stats release --last 100
  aye stats release --since 7d --json";

// Options of `aye stats`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct StatsArgs {
    /// The skill's name, a file, or FILE#NAME
    pub skill: String,
    /// How many runs, the newest
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 30)]
    pub last: usize,
    /// Only runs since then: 7d, 12h, or a date such as 2026-11-01
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
}

pub(super) fn run(args: &StatsArgs, context: &Context) -> Result<u8, Error> {
    let since = args.since.as_deref().map(|text| moment(text, context.now())).transpose()?;
    let skill = context.name_of_skill(&args.skill)?;
    let stats = context.stats(&StatsRequest { skill, last: args.last, since })?;
    match context.json {
        true => print_json(&stats)?,
        false => {
            let columns = term::columns(std::io::stdout());
            print_words(&view(&stats, columns, context.paint_out))?;
        }
    }
    Ok(0)
}

/// A time ago, or a date.
fn moment(text: &str, now: Timestamp) -> Result<Timestamp, Error> {
    if let Ok(date) = text.parse::<Date>() {
        let begin = date.to_zoned(TimeZone::system());
        return begin.map(|begin| begin.timestamp()).map_err(|error| bad_moment(text, &error));
    }
    let ago = parse_duration(text).map_err(|error| bad_moment(text, &error))?;
    let ago = SignedDuration::try_from(ago).unwrap_or(SignedDuration::MAX);
    Ok(now.checked_sub(ago).unwrap_or(Timestamp::MIN))
}

fn bad_moment(text: &str, why: &dyn std::fmt::Display) -> Error {
    let message = format!("`--since {}`: {why}", escape_control_line(text));
    Error::usage(message, "write how long ago, such as `7d`, or a date such as `2026-11-01`")
}

fn view(stats: &SkillStats, columns: Option<usize>, paint: Paint) -> String {
    let dim = |text: &str| paint.text(Tone::Dim, text);
    let mut text = format!(
        "{}  {}\n",
        paint.text(Tone::Strong, &escape_control_line(&stats.skill)),
        dim(&counts(&stats.runs))
    );
    let shown = &stats.runs[stats.runs.len().saturating_sub(WIDEST_LINE)..];
    let durations: Vec<Option<u64>> = shown.iter().map(|run| run.duration_ms).collect();
    let mut row = |name: &str, line: &str, note: &str| {
        let line = format!("{}  {line}  {}", dim(&term::pad(name, 8)), dim(note));
        text.push_str(line.trim_end());
        text.push('\n');
    };
    let line = paint.text(Tone::Mark, &sparkline(&durations, paint));
    row("duration", &line, &spread_words(stats.duration_ms));
    if !stats.questions.is_empty() || stats.waiting_ms.max.is_some() {
        let waits: Vec<Option<u64>> = shown.iter().map(|run| Some(run.waiting_ms)).collect();
        let line = paint.text(Tone::Mark, &sparkline(&waits, paint));
        row("waiting", &line, &spread_words(stats.waiting_ms));
    }
    let marks: String = shown.iter().map(|run| mark(run, paint)).collect();
    row("outcome", &marks, "the newest is the last");
    text.push_str(&steps(stats, columns, paint));
    text.push_str(&questions(stats, columns, paint));
    text
}

/// `12 runs: 10 completed, 2 failed`.
fn counts(runs: &[RunFigures]) -> String {
    let words = ["completed", "failed", "cancelled", "paused", "running"];
    let count = |word: &&str| runs.iter().filter(|run| run.status == *word).count();
    let parts = words.iter().map(|word| (count(word), word)).filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, word)| format!("{count} {word}")).collect();
    format!("{}: {}", plural(runs.len(), "run"), parts.join(", "))
}

fn mark(run: &RunFigures, paint: Paint) -> String {
    let standing = RunStanding::from_word(run.status).unwrap_or(RunStanding::Paused);
    let (glyph, tone) = signs::of_run(standing);
    // No word stands beside it that would tell it from a failure.
    let glyph = if standing == RunStanding::Cancelled { Glyph::Skipped } else { glyph };
    paint.text(tone, paint.glyph(glyph))
}

fn spread_words(Spread { median, p90, max }: Spread) -> String {
    match (median, p90, max) {
        (Some(median), Some(p90), Some(max)) => {
            format!("median {}, 90 % within {}, longest {}", said(median), said(p90), said(max))
        }
        _ => String::new(),
    }
}

fn said(ms: u64) -> String {
    duration(Duration::from_millis(ms))
}

/// A line of a table of figures.
struct Line<'a> {
    name: &'a str,
    count: usize,
    bad: usize,
    spread: Spread,
}

fn steps(stats: &SkillStats, columns: Option<usize>, paint: Paint) -> String {
    let lines = stats.steps.iter().map(|step| Line {
        name: &step.step,
        count: step.count,
        bad: step.failed,
        spread: step.duration_ms,
    });
    table(["step", "times", "failed"], &lines.collect::<Vec<_>>(), columns, paint)
}

fn questions(stats: &SkillStats, columns: Option<usize>, paint: Paint) -> String {
    let lines = stats.questions.iter().map(|asked| Line {
        name: &asked.step,
        count: asked.count,
        bad: asked.expired,
        spread: asked.latency_ms,
    });
    table(["question", "times", "expired"], &lines.collect::<Vec<_>>(), columns, paint)
}

/// The table; a narrow window has no room for bars, and a very narrow one none for
/// the longest times.
fn table(
    [name, count, bad]: [&str; 3],
    lines: &[Line<'_>],
    columns: Option<usize>,
    paint: Paint,
) -> String {
    if lines.is_empty() {
        return String::new();
    }
    // Rather than that a row is broken, a name is cut.
    let room = columns.map_or(WIDEST_NAME, |columns| columns.saturating_sub(27));
    let room = room.clamp(8, WIDEST_NAME);
    let shown = |name: &str| term::fit(&escape_control_line(name), room);
    let widest = lines.iter().map(|line| term::width(&shown(line.name))).max().unwrap_or(0);
    let widest = widest.max(name.len());
    let most = lines.iter().filter_map(|line| line.spread.median).max().unwrap_or(0);
    let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(widest + 26));
    let longest = |text: &str| match room {
        ..11 => String::new(),
        _ => format!("  {text:>8}"),
    };
    let widest_bar = WIDEST_BAR.min(u64::try_from(room.saturating_sub(13)).unwrap_or(WIDEST_BAR));
    let head = format!(
        "{}  {count:>5}  {bad:>7}  {:>8}{}",
        term::pad(name, widest),
        "median",
        longest("longest")
    );
    let mut text = format!("\n{}\n", paint.text(Tone::Dim, &head));
    for line in lines {
        let value = |value: Option<u64>| value.map(said).unwrap_or_default();
        // Padded before it is painted: colours have no width.
        let bad = format!("{:>7}", line.bad);
        let bad = if line.bad > 0 { paint.text(Tone::Bad, &bad) } else { bad };
        let bar = bar(line.spread.median.unwrap_or(0), most, widest_bar, paint);
        let row = format!(
            "{}  {:>5}  {bad}  {:>8}{}  {}",
            term::pad(&shown(line.name), widest),
            line.count,
            value(line.spread.median),
            longest(&value(line.spread.max)),
            paint.text(Tone::Mark, &bar)
        );
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}
