//! `aye schedule`.

use clap::{Args, Subcommand};
use jiff::tz::TimeZone;
use serde_json::json;

use crate::cli::{Context, environment, warn_line};
use crate::paint::{Glyph, Tone, escape_control_line};
use aye_runtime::error::Error;
use aye_runtime::schedules::Scheduler;
use aye_runtime::usecases::{ListedSchedule, ScheduleRequest};

use super::given;
use super::output::{print, print_json};
use super::run::check_skill;
use super::words::one_of;

const EXAMPLES: &str = "\
Examples:
  aye schedule add backup --at 'daily 03:00'
  aye schedule add report --at 'Mon 09:00' -i team=web --name weekly-report
  aye schedule list
  aye schedule remove weekly-report";

const ADD: &str = "\
Examples:
  aye schedule add backup --at 'daily 03:00'
  aye schedule add report --at 'Mon..Fri 08:30' -i team=web \\
    --name morning-report
  aye schedule add check --at 'every 15m'

Times: 'Mon 09:00', 'Mon,Thu 09:00', 'Mon..Fri 09:00', 'daily 03:00',
'monthly 15 06:00', 'hourly', 'every 15m', 'every 6h'; in the time zone of
this machine.

The project has to be trusted (`aye trust`). The run is started in the
background, and its questions wait in `aye inbox`.";

// Options of `aye schedule`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ScheduleArgs {
    #[command(subcommand)]
    command: ScheduleCommand,
}

#[derive(Debug, Subcommand)]
enum ScheduleCommand {
    /// Run a skill on a schedule: a systemd timer, or a line of the crontab
    Add(AddArgs),
    /// List the schedules
    #[command(after_help = "Examples:\n  aye schedule list\n  aye schedule list --json")]
    List,
    /// Remove a schedule; runs that it started are left alone
    #[command(after_help = "Examples:\n  aye schedule remove weekly-report")]
    Remove {
        /// Its name, as `aye schedule list` shows it
        schedule: String,
    },
}

#[derive(Debug, Args)]
#[command(after_help = ADD)]
struct AddArgs {
    /// A skill's name, a file, or FILE#NAME
    skill: String,
    /// When, such as 'Mon 09:00'
    #[arg(long, value_name = "TIME")]
    at: String,
    /// Set an input, NAME=VALUE; repeat for more
    #[arg(short, long = "input", value_name = "NAME=VALUE", env = environment::INPUT, hide_env_values = true)]
    inputs: Vec<String>,
    /// The schedule's name [default: the skill's]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The environment it runs against, e.g. stage or production
    #[arg(long, value_name = "NAME", env = environment::ENVIRONMENT, hide_env_values = true)]
    environment: Option<String>,
    /// What starts it [default: systemd where it runs, else cron]
    #[arg(long, value_name = "SCHEDULER", value_parser = one_of([
        ("systemd", Scheduler::Systemd, "A timer of the user's systemd"),
        ("cron", Scheduler::Cron, "A line in the user's crontab"),
    ]))]
    with: Option<Scheduler>,
}

pub(super) fn run(args: ScheduleArgs, context: &Context) -> Result<u8, Error> {
    match args.command {
        ScheduleCommand::Add(args) => add(args, context),
        ScheduleCommand::List => {
            let all = context.schedules()?;
            match context.json {
                true => print_json(&all)?,
                false if all.is_empty() => {
                    print(&format!("{}\n", context.paint_out.text(Tone::Dim, "no schedules")))?;
                }
                false => print(&all.iter().map(|one| shown(one, context)).collect::<String>())?,
            }
            Ok(0)
        }
        ScheduleCommand::Remove { schedule } => {
            let removed = context.remove_schedule(&schedule)?;
            match context.json {
                true => print_json(&json!({ "removed": removed.name }))?,
                false => print(&format!("removed schedule {}\n", removed.name))?,
            }
            Ok(0)
        }
    }
}

fn add(args: AddArgs, context: &Context) -> Result<u8, Error> {
    let AddArgs { skill, at, inputs, name, environment, with } = args;
    let given = given::collect(&inputs, None)?;
    // Its errors are shown with their places.
    check_skill(&skill, context)?;
    let request = ScheduleRequest { skill, at, inputs, given, name, environment, with };
    let added = context.add_schedule(request)?;
    if context.json {
        print_json(&added)?;
    } else {
        print(&shown(&added, context))?;
    }
    if let (Some(why), false) = (&added.not_running, context.json) {
        let text = format!(
            "the timer does not run yet: {}\nhint: it starts with your next session; \
             `systemctl --user start aye-schedule-{}.timer` starts it now",
            escape_control_line(why),
            added.schedule.name
        );
        warn_line(&text, context);
    }
    Ok(0)
}

/// A schedule in two lines.
fn shown(one: &ListedSchedule, context: &Context) -> String {
    let paint = context.paint_out;
    let schedule = &one.schedule;
    let dot = format!(" {} ", paint.glyph(Glyph::Dot));
    let next = match one.next {
        Some(next) => {
            let next = next.to_zoned(TimeZone::system()).strftime("%a %Y-%m-%d %H:%M").to_string();
            paint.text(Tone::Dim, &format!("next {next}"))
        }
        None => paint.text(
            Tone::Warn,
            "its timer or crontab line is gone; remove it and add it \
             again",
        ),
    };
    let mut words = vec![escape_control_line(&schedule.skill)];
    words.extend(schedule.inputs.iter().map(|input| escape_control_line(input)));
    words.extend(schedule.environment.iter().map(|one| escape_control_line(one)));
    let place = escape_control_line(&schedule.directory.display().to_string());
    format!(
        "{}  {}  {next}\n  {}\n",
        paint.text(Tone::Strong, &schedule.name),
        schedule.at,
        [words.join(" "), place, schedule.with.word().to_owned()].join(&dot),
    )
}
