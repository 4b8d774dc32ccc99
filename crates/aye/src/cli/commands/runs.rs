//! `aye runs`.

use aye_core::id::RunId;
use clap::builder::{FalseyValueParser, PossibleValuesParser};
use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde::Serialize;

use crate::cli::{Context, environment};
use crate::paint::{Paint, Tone, escape_control, escape_control_line, plural};
use crate::signs;
use crate::term;
use aye_runtime::clock::ms_between;
use aye_runtime::error::Error;
use aye_runtime::usecases::{ListedRun, RunFilter, RunRow, RunStanding};

use super::inbox::since;
use super::output::{print_json, print_json_line, print_line, print_words};

// Options of `aye runs`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  aye runs\n  aye runs --status failed --skill release\n  \
        aye runs prune --older-than 7d --dry-run"
)]
pub struct RunsArgs {
    /// What else to do with runs
    #[command(subcommand)]
    pub command: Option<RunsCommand>,
    /// Only runs of this skill
    #[arg(long, value_name = "NAME")]
    pub skill: Option<String>,
    /// Only runs with this status
    #[arg(
        long,
        value_name = "STATUS",
        value_parser = PossibleValuesParser::new(RunStanding::ALL.map(RunStanding::word))
    )]
    pub status: Option<String>,
    /// How many, the newest first
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 20)]
    pub limit: u32,
}

// What else to do with runs.
#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// Remove old finished runs
    Prune(PruneArgs),
}

// Options of `aye runs prune`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  aye runs prune\n  aye runs prune --older-than 7d --dry-run")]
pub struct PruneArgs {
    /// How old, e.g. 30d or 12h [default: as each run's project sets `keep`, else 30d]
    #[arg(long, value_name = "TIME")]
    pub older_than: Option<String>,
    /// Show what would be removed; remove nothing
    #[arg(long, env = environment::DRY_RUN, hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub dry_run: bool,
}

/// A run, for programs.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    run: &'a str,
    skill: &'a str,
    workspace: &'a str,
    status: RunStanding,
    waiting: u32,
    driven: bool,
    step: Option<&'a str>,
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    concurrency: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waits_for: Option<&'a str>,
    environment: Option<&'a str>,
    user: &'a str,
    started: Timestamp,
    updated: Timestamp,
    ended: Option<Timestamp>,
    duration_ms: u64,
}

pub(super) fn run(args: RunsArgs, context: &Context) -> Result<u8, Error> {
    if let Some(RunsCommand::Prune(prune)) = args.command {
        return self::prune(&prune, context);
    }
    let narrowed = args.status.is_some() || args.skill.is_some();
    // One more than is shown tells whether there are more.
    let limit = args.limit.saturating_add(1);
    let filter = RunFilter { skill: args.skill, limit, ..RunFilter::default() };
    let mut runs = match args.status.as_deref().and_then(RunStanding::from_word) {
        Some(standing) => context.runs_that_stand(standing, &filter)?,
        None => context.runs(&filter)?,
    };
    let most = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let has_more = runs.len() > most;
    runs.truncate(most);
    if context.json {
        print_json(&runs.iter().map(|run| listed(run, context.now())).collect::<Vec<_>>())?;
        return Ok(0);
    }
    if runs.is_empty() {
        let text = match narrowed {
            true => "no such runs; `aye runs` lists all",
            false => "no runs; start one with `aye run SKILL`",
        };
        let text = context.paint_out.text(Tone::Dim, text);
        print_line(&text)?;
        return Ok(0);
    }
    let now = context.now();
    let columns = term::columns(std::io::stdout());
    let widest = runs
        .iter()
        .map(|run| term::width(&escape_control_line(&run.row.skill)))
        .max()
        .unwrap_or(0)
        .min(28);
    let text: String =
        runs.iter().map(|run| line(run, widest, columns, now, context.paint_out)).collect();
    print_words(&text)?;
    if has_more {
        let older = format!("older runs: aye runs -n {}", args.limit.saturating_mul(2).max(20));
        print_line(&context.paint_out.text(Tone::Dim, &older))?;
    }
    Ok(0)
}

/// One run as it stands now, as a line of JSON.
pub(super) fn print_as_listed(row: &RunRow, context: &Context) -> Result<(), Error> {
    print_json_line(&listed(&context.run(row.id.as_str())?, context.now()))
}

fn listed(run: &ListedRun, now: Timestamp) -> Listed<'_> {
    let ListedRun { row, driven, .. } = run;
    // The same as in `aye show`: up to now while someone drives it.
    let so_far = if *driven { now } else { row.updated };
    let until = row.ended.unwrap_or(so_far);
    Listed {
        run: row.id.as_str(),
        skill: &row.skill,
        workspace: &row.workspace,
        status: run.standing(),
        waiting: row.waiting,
        driven: *driven,
        step: row.step.as_deref(),
        message: row.message.as_deref(),
        concurrency: row.concurrency.as_deref(),
        waits_for: row.waits_for_name().map(|(_, holder)| holder.as_str()),
        environment: row.environment.as_deref(),
        user: &row.driver.user,
        started: row.started,
        updated: row.updated,
        ended: row.ended,
        duration_ms: ms_between(row.started, until),
    }
}

fn line(
    run: &ListedRun,
    widest: usize,
    columns: Option<usize>,
    now: Timestamp,
    paint: Paint,
) -> String {
    let ListedRun { row, .. } = run;
    let standing = run.standing();
    let (glyph, tone) = signs::of_run(standing);
    let mark = paint.text(tone, paint.glyph(glyph));
    let waits = row.waits_for_name();
    let about = match (&row.message, &row.step) {
        _ if waits.is_some() => waits.map(|name| waits_for(name, run.driven)).unwrap_or_default(),
        (_, Some(step)) if !row.status.is_ended() => format!("at {}", escape_control_line(step)),
        (Some(message), _) => escape_control(message.lines().next().unwrap_or_default()),
        (None, _) => String::new(),
    };
    let took = match row.ended {
        Some(ended) => format!("in {}", since(row.started, ended)),
        None => String::new(),
    };
    let skill = term::pad(&escape_control_line(&row.skill), widest);
    let ago = term::pad(&ago(row.started, now), 11);
    let before =
        2 + row.id.as_str().len() + 2 + term::width(&skill) + 2 + 9 + 2 + term::width(&ago);
    let about = match (took.is_empty(), about.is_empty()) {
        (false, false) => format!("{took}, {about}"),
        (_, _) => took + &about,
    };
    let id = paint.text(Tone::Strong, row.id.as_str());
    let text = match columns {
        // In a narrow window a row has two lines, and neither is broken.
        Some(columns) if columns < before => {
            let skill =
                term::cut(skill.trim_end(), columns.saturating_sub(row.id.as_str().len() + 5));
            let told = [standing.word(), ago.trim_end(), &about];
            let told: Vec<&str> = told.into_iter().filter(|text| !text.is_empty()).collect();
            let told = term::cut(&told.join(", "), columns.saturating_sub(3));
            format!("{mark} {id}  {skill}\n  {}", paint.text(Tone::Dim, &told))
        }
        columns => {
            // What it is about takes what is left, if that is worth it.
            let left = columns.map(|columns| columns.saturating_sub(before + 2));
            let about = match left {
                None => about,
                Some(..8) => String::new(),
                Some(left) => term::cut(&about, left.min(60)),
            };
            format!(
                "{mark} {id}  {skill}  {}  {ago}  {}",
                paint.text(tone, &term::pad(standing.word(), 9)),
                paint.text(Tone::Dim, &about),
            )
        }
    };
    format!("{}\n", text.trim_end())
}

/// What a run waits for that another run has; without a driver nobody looks whether it still has it.
fn waits_for((name, holder): (&str, &RunId), driven: bool) -> String {
    let waits = if driven { "waits" } else { "waited" };
    format!("{waits} for run {holder} ({})", escape_control_line(name))
}

/// How long ago, as people say it.
pub(super) fn ago(then: Timestamp, now: Timestamp) -> String {
    match now.as_millisecond() - then.as_millisecond() {
        ..1000 => "just now".to_owned(),
        _ => format!("{} ago", since(then, now)),
    }
}

fn prune(args: &PruneArgs, context: &Context) -> Result<u8, Error> {
    let older_than = args.older_than.as_deref().map(aye_core::skill::parse_duration).transpose();
    let older_than = older_than
        .map_err(|error| Error::usage(error.to_string(), "write a time such as `30d` or `12h`"))?;
    let found = context.prune(older_than, args.dry_run)?;
    let is_empty = found.is_none();
    let pruned = found.unwrap_or_default();
    if context.json {
        print_json(&serde_json::json!({
            "runs": pruned.runs, "events": pruned.events, "bytes": pruned.bytes,
            "dry_run": args.dry_run,
        }))?;
        return Ok(0);
    }
    if is_empty {
        print_line("no runs")?;
        return Ok(0);
    }
    let verb = if args.dry_run { "would forget" } else { "forgot" };
    let runs = usize::try_from(pruned.runs).unwrap_or(usize::MAX);
    let events = usize::try_from(pruned.events).unwrap_or(usize::MAX);
    print_line(&format!("{verb} {} with {}", plural(runs, "run"), plural(events, "event")))?;
    Ok(0)
}
