//! `aye memory list`.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::cli::Context;
use crate::cli::commands::output::{print, print_json};
use crate::paint::{Paint, Tone, escape_control_line, plural, shell_word};
use crate::term;
use aye_runtime::error::Error;
use aye_runtime::memory::{
    Change, EntryKind, Failure, Fix, Issue, Memory, OriginalEntry, Placed, Preference, Proposal,
    Standing, UsagePattern,
};

/// How much of a text fits a line.
const SHORT: usize = 70;

pub(super) fn run(
    what: Option<EntryKind>,
    memory: &Memory,
    context: &Context,
) -> Result<u8, Error> {
    use EntryKind::{Fixes, Issues, Preferences, Proposals, Usage};
    let all = [Fixes, Issues, Preferences, Usage, Proposals];
    let kinds = what.map_or_else(|| all.to_vec(), |kind| vec![kind]);
    let now = context.now();
    if context.json {
        let lists = kinds
            .iter()
            .map(|kind| (kind.word().to_owned(), Value::Array(memory.entries(*kind, now))));
        let mut shown: Map<String, Value> = lists.collect();
        shown.insert("problems".to_owned(), json!(memory.problems()));
        print_json(&shown)?;
        return Ok(0);
    }
    let paint = context.paint_out;
    let mut text: String =
        kinds.into_iter().map(|kind| section(kind, memory, now, paint)).collect();
    if what.is_none() {
        text.push_str(&work_memory(memory, paint));
    }
    match text.is_empty() {
        true => print("nothing was learned yet\n")?,
        false => print(&text)?,
    }
    Ok(0)
}

/// What skills wrote down, by key.
fn work_memory(memory: &Memory, paint: Paint) -> String {
    let keys = memory.state_keys();
    let is_empty = |data: &Value| match data {
        Value::Null => true,
        Value::Object(map) => map.is_empty(),
        _ => false,
    };
    let keys = keys.iter().filter(|key| memory.state(key).is_ok_and(|data| !is_empty(&data)));
    let lines: String =
        keys.map(|key| format!("  {}\n", escape_control_line(&key.to_string()))).collect();
    match lines.is_empty() {
        true => String::new(),
        false => {
            let title = paint.text(Tone::Strong, "work memory (written by skills)");
            format!("{title}\n{lines}")
        }
    }
}

fn section(kind: EntryKind, memory: &Memory, now: Timestamp, paint: Paint) -> String {
    let (title, lines): (&str, Vec<String>) = match kind {
        EntryKind::Fixes => {
            let all = memory.fixes();
            let line = |fix: &Placed<Fix>| {
                let mut line = fix_line(&fix.value, memory, paint);
                let project = fix.value.project.as_deref();
                if let Some(project) = project.filter(|project| !memory.is_here(Some(project))) {
                    let project = format!("  in {}", escape_control_line(project));
                    line.push_str(&paint.text(Tone::Dim, &project));
                }
                line
            };
            ("fixes (learned)", all.iter().map(line).collect())
        }
        EntryKind::Issues => {
            let all = memory.issues();
            let lines = all.iter().map(|issue| issue_line(&issue.value, paint));
            ("known issues (written by people)", lines.collect())
        }
        EntryKind::Preferences => {
            let all = memory.preferences();
            let mut lines: Vec<String> = Vec::new();
            for one in &all {
                lines.push(preference_line(one, now, paint));
                let asked = one.value.asked().map(|asked| format!("asked: {asked}"));
                let covers = one.value.covers().map(|covers| format!("given to {covers}"));
                lines.extend(asked.into_iter().chain(covers).map(|line| {
                    format!("  {}", paint.text(Tone::Dim, &escape_control_line(&line)))
                }));
            }
            lines.extend(memory.original_entries().iter().map(|one| original_line(one, paint)));
            ("preferences (what people said)", lines)
        }
        EntryKind::Usage => {
            let all = memory.usage();
            let lines = all.iter().map(|one| usage_line(&one.value, now, paint));
            ("patterns of use (learned)", lines.collect())
        }
        EntryKind::Proposals => {
            let all = memory.proposals_of_skills();
            let line = |one: &Placed<Proposal>| {
                let words = escape_control_line(&one.value.what.summary());
                format!("{}  {}", one.value.id, paint.text(Tone::Ask, &words))
            };
            ("proposals (written by skills)", all.iter().map(line).collect())
        }
        EntryKind::Failures => {
            let all = memory.failures();
            let lines = all.iter().map(|one| failure_line(&one.value, paint));
            ("the last failures (what programs said)", lines.collect())
        }
    };
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.into_iter().map(|line| format!("  {line}\n")).collect();
    format!("{}\n{lines}", paint.text(Tone::Strong, title))
}

/// A fix on one line.
pub(super) fn fix_line(fix: &Fix, memory: &Memory, paint: Paint) -> String {
    let tone = match fix.standing() {
        Standing::Active => Tone::Good,
        Standing::Proposed | Standing::Prose => Tone::Ask,
        Standing::Suspended => Tone::Warn,
    };
    let who = [&fix.matches.tool, &fix.matches.step].into_iter().flatten();
    let who = who.cloned().collect::<Vec<_>>().join(" ");
    format!(
        "{}  {}  {}",
        memory.short_id(&fix.id),
        paint.text(tone, fix.standing().word()),
        short(&format!(
            "{who}: {} -> {}; worked {}",
            fix.matches.error,
            does(&fix.change, fix.about.as_deref()),
            times(fix.verified)
        ))
    )
}

/// What a fix does, in a few words.
pub(super) fn does(change: &Change, about: Option<&str>) -> String {
    let mut parts = Vec::new();
    for (name, value) in &change.args {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        parts.push(format!("{name}={value}"));
    }
    for (verb, act) in [("first", &change.first), ("instead", &change.replace)] {
        let Some(act) = act else { continue };
        let what = match (&act.tool, &act.skill) {
            (Some(tool), _) => format!("tool {tool}"),
            (None, Some(skill)) => format!("skill {skill}"),
            (None, None) => {
                act.command.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
            }
        };
        parts.push(format!("{verb} {what}"));
    }
    match (parts.is_empty(), about) {
        (false, _) => parts.join(", "),
        (true, about) => about.unwrap_or("nothing").to_owned(),
    }
}

/// A known issue on one line.
pub(super) fn issue_line(issue: &Issue, paint: Paint) -> String {
    let about = issue.fix.as_ref().or(issue.meaning.as_ref()).cloned().unwrap_or_default();
    let tools = match issue.tools.is_empty() {
        true => String::new(),
        false => format!("{}: ", issue.tools.join(", ")),
    };
    let text = short(&format!("{tools}{}", issue.pattern));
    format!("{}  {text}  {}", issue.id, paint.text(Tone::Dim, &short(&about)))
}

fn preference_line(one: &Placed<Preference>, now: Timestamp, paint: Paint) -> String {
    let preference = &one.value;
    let environment = match &preference.environment {
        Some(environment) => format!(" in {environment}"),
        None => String::new(),
    };
    let state = match (preference.is_expired(now), one.layer) {
        (true, _) => paint.text(Tone::Warn, "expired"),
        (false, aye_runtime::memory::Layer::Project) => paint.text(Tone::Warn, "not used"),
        (false, aye_runtime::memory::Layer::User) => {
            let until = preference.expires.to_string();
            paint.text(Tone::Good, &format!("until {}", until.get(..10).unwrap_or(&until)))
        }
    };
    let text = format!(
        "{} {}{environment}: {}",
        preference.skill,
        preference.step,
        preference.sentence(None)
    );
    format!("{}  {state}  {}", preference.id, short(&text))
}

/// What the original system was told, on one line.
fn original_line(one: &Placed<OriginalEntry>, paint: Paint) -> String {
    let OriginalEntry { id, skill, step, choice } = &one.value;
    let last = choice.last_answer().map(|last| format!(": the last answer was {last}"));
    let text = short(&format!("{skill} {step}{}", last.unwrap_or_default()));
    format!("{id}  {}  {text}", paint.text(Tone::Warn, choice.standing()))
}

/// A pattern of use on one line.
pub(super) fn usage_line(pattern: &UsagePattern, now: Timestamp, paint: Paint) -> String {
    let sure = pattern.confidence(now);
    let tone = if pattern.warning(now).is_some() { Tone::Warn } else { Tone::Dim };
    let text = format!("{}: {} ({})", pattern.tool, pattern.error, pattern.mistake.word());
    format!(
        "{}  {}  {}",
        pattern.id,
        paint.text(tone, &format!("{sure:.2} after {}", times(pattern.sightings))),
        short(&text)
    )
}

fn failure_line(failure: &Failure, paint: Paint) -> String {
    let at = failure.at.to_string();
    let step = failure.step.as_deref().unwrap_or_default();
    let text = format!("{} {step}: {}", failure.tool, failure.error);
    let at = at.get(..16).unwrap_or(&at).replace('T', " ");
    format!("{}  {}", paint.text(Tone::Dim, &at), short(&text))
}

fn times(count: u64) -> String {
    plural(usize::try_from(count).unwrap_or(usize::MAX), "time")
}

fn short(text: &str) -> String {
    term::fit(&escape_control_line(text), SHORT)
}
