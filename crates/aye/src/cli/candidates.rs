//! What the shell offers on Tab where only the project and the journal know:
//! skills, inputs, steps, runs and questions. It is asked on every Tab: it
//! writes nothing anywhere, and has nothing to offer where something is wrong.

use clap::{Command, CommandFactory as _};

use crate::paint::escape_control_line;
use aye_runtime::skills::SkillFile;
use aye_runtime::usecases::{RunFilter, RunRow, RunStatus};

use super::{Cli, Context, Global};

/// The first word of the command that completions call.
pub(super) const CANDIDATES: &str = "candidates";

/// The lines for a command line so far; its last word is the one being typed.
/// Behind a tab stands what a candidate is.
pub(super) fn lines(mut global: Global, words: &[String]) -> String {
    let home = words.iter().position(|word| word == "--home");
    if let Some(home) = home.and_then(|at| words.get(at + 1)) {
        global.home = Some(home.into());
    }
    let found = Context::new(&global, true).ok().and_then(|context| offer(words, &context));
    // What cannot be shown cannot be offered, and a name is not an option. What a
    // shell would obey is quoted by the shell's own script.
    let can_be_offered = |(value, _): &(String, String)| {
        !value.starts_with('-') && escape_control_line(value) == *value
    };
    let line = |(value, about): (String, String)| match about.is_empty() {
        true => format!("{value}\n"),
        false => format!("{value}\t{}\n", escape_control_line(&about)),
    };
    found.unwrap_or_default().into_iter().filter(can_be_offered).map(line).collect()
}

fn offer(words: &[String], context: &Context) -> Option<Vec<(String, String)>> {
    let (begun, before) = words.get(1..)?.split_last()?;
    let typed = read(before)?;
    let given = typed.given.len();
    let found = match (typed.verb.as_str(), typed.option.as_deref()) {
        ("run", Some("input")) => inputs(typed.given.first()?, context)?,
        ("run", Some("from" | "only")) => steps(typed.given.first()?, context)?,
        ("runs", Some("skill")) => plain(context.library().names()),
        ("schedule", Some("input")) => inputs(typed.given.get(1)?, context)?,
        (_, Some(_)) => return None,
        ("run" | "graph" | "list" | "stats", None) if given == 0 => {
            plain(context.library().names())
        }
        ("schedule", None) if typed.given == ["add"] => plain(context.library().names()),
        ("schedule", None) if typed.given == ["remove"] => {
            let all = context.schedules().ok()?.into_iter().map(|one| one.schedule);
            all.map(|one| (one.name, format!("{}, {}", one.at, one.skill))).collect()
        }
        ("answer", None) if given == 0 => questions(context)?,
        ("resume" | "cancel" | "watch", None) if given == 0 => {
            runs(context, |row| !row.status.is_ended())?
        }
        ("retry", None) if given == 0 => runs(context, |row| row.status == RunStatus::Failed)?,
        ("show" | "logs" | "audit" | "patch", None) if given == 0 => runs(context, |_| true)?,
        (_, None) => return None,
    };
    Some(found.into_iter().filter(|(value, _)| value.starts_with(begun.as_str())).collect())
}

/// The words before the one being typed.
struct Typed {
    verb: String,
    /// What is not an option and no value of one.
    given: Vec<String>,
    /// The option whose value is being typed.
    option: Option<String>,
}

fn read(words: &[String]) -> Option<Typed> {
    let mut cli = Cli::command();
    cli.build();
    let mut verb: Option<&Command> = None;
    // The verb, or a verb of it: that knows the options.
    let mut within: Option<&Command> = None;
    let (mut given, mut option) = (Vec::new(), None);
    for word in words {
        if option.take().is_some() {
            continue;
        }
        match (word.starts_with('-'), verb) {
            (true, _) => option = awaits(within.unwrap_or(&cli), word),
            (false, None) => {
                (verb, within) = (Some(cli.find_subcommand(word)?), cli.find_subcommand(word));
            }
            (false, Some(verb)) => {
                let inner = verb.find_subcommand(word).filter(|_| given.is_empty());
                within = inner.or(within);
                given.push(word.clone());
            }
        }
    }
    Some(Typed { verb: verb?.get_name().to_owned(), given, option })
}

/// The long name of an option that takes the next word as its value.
fn awaits(command: &Command, word: &str) -> Option<String> {
    let found = command.get_arguments().find(|arg| match word.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg.get_short().is_some_and(|short| word.ends_with(short)),
    })?;
    found.get_action().takes_values().then(|| found.get_long().unwrap_or_default().to_owned())
}

fn plain(values: Vec<String>) -> Vec<(String, String)> {
    values.into_iter().map(|value| (value, String::new())).collect()
}

fn file_of(skill: &str, context: &Context) -> Option<(SkillFile, Option<String>)> {
    let (path, name) = context.library().find(skill).ok()?;
    Some((SkillFile::read(&context.directory.join(path)).ok()?, name))
}

fn inputs(skill: &str, context: &Context) -> Option<Vec<(String, String)>> {
    let (file, name) = file_of(skill, context)?;
    let (flow, _) = file.into_flow(name.as_deref()).ok()?;
    let inputs = flow.skill.inputs.iter();
    let input = inputs.map(|input| {
        (format!("{}=", input.name.value), input.description.clone().unwrap_or_default())
    });
    Some(input.collect())
}

fn steps(skill: &str, context: &Context) -> Option<Vec<(String, String)>> {
    let (file, name) = file_of(skill, context)?;
    let (flow, _) = file.into_flow(name.as_deref()).ok()?;
    Some(plain(flow.nodes.iter().map(|node| node.step.name.value.clone()).collect()))
}

fn runs(context: &Context, fits: fn(&RunRow) -> bool) -> Option<Vec<(String, String)>> {
    let rows = context.journal().ok()?.runs(&RunFilter::default()).ok()?;
    let mut found: Vec<(String, String)> = rows
        .iter()
        .filter(|row| fits(row))
        .map(|row| (row.id.to_string(), format!("{}, {}", row.skill, row.status.word())))
        .collect();
    if let Some(newest) = rows.first().filter(|row| fits(row)) {
        found.insert(0, ("last".to_owned(), format!("the newest: {}", newest.skill)));
    }
    Some(found)
}

fn questions(context: &Context) -> Option<Vec<(String, String)>> {
    let open = context.journal().ok()?.open_questions().ok()?;
    let first = |text: &str| text.trim().lines().next().unwrap_or_default().to_owned();
    Some(open.iter().map(|one| (one.row.id.to_string(), first(&one.row.message))).collect())
}
