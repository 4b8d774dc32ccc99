//! `aye memory learn`.

use aye_core::skill::AskKind;
use serde_json::{Map, Value, json};

use crate::cli::commands::given;
use crate::cli::commands::output::{print_json, print_line};
use crate::cli::commands::scripted::{Asked, Asking, Taken, ask, question};
use crate::cli::{Context, warn_line};
use crate::paint::escape_control_line;
use aye_runtime::error::Error;
use aye_runtime::memory::{
    Act, Change, ErrorText, Keep, Memory, NewFix, NewIssue, Origin, OriginKind,
};

use super::LearnArgs;

/// What is to be learned, given or asked for.
#[derive(Default)]
struct Lesson {
    error: String,
    tool: Option<String>,
    meaning: Option<String>,
    fix: Option<String>,
    command: Vec<String>,
}

pub(super) fn run(args: &LearnArgs, memory: &Memory, context: &Context) -> Result<u8, Error> {
    let lesson = match &args.error {
        Some(error) => Lesson {
            error: error.clone(),
            tool: args.tool.clone(),
            meaning: args.meaning.clone(),
            fix: args.fix.clone(),
            command: args.command.clone(),
        },
        None => match asked(args, context)? {
            Ok(lesson) => lesson,
            Err(code) => return Ok(code),
        },
    };
    let keep = match (args.shared, args.everywhere) {
        (true, _) => Keep::Shared,
        (false, true) => Keep::Everywhere,
        (false, false) => Keep::Auto,
    };
    let hide = secrets(context);
    let mask = |text: &str| hide.iter().fold(text.to_owned(), |text, one| text.replace(one, "***"));
    let before: Vec<(String, String)> = memory
        .fixes()
        .into_iter()
        .map(|fix| (memory.short_id(&fix.value.id), fix.value.id))
        .collect();
    let id = if args.set.is_empty() && lesson.command.is_empty() && args.look_up.is_none() {
        issue(args, lesson, keep, memory, &mask)?
    } else {
        context.require_person("teach a fix")?;
        fix(args, lesson, keep, memory, &mask, context)?
    };
    let fixes = memory.fixes();
    let is_there = |id: &String| fixes.iter().any(|fix| fix.value.id == *id);
    let gone: Vec<_> = before.into_iter().filter(|(_, id)| !is_there(id)).collect();
    let fix = fixes.iter().find(|fix| fix.value.id == id).map(|fix| &fix.value);
    let obstacles = fix.map(|fix| context.fix_obstacles(fix.matches.tool.as_deref(), &fix.change));
    let obstacles = obstacles.unwrap_or_default();
    if context.json {
        let gone: Vec<String> = gone.into_iter().map(|(_, id)| id).collect();
        print_json(&json!({ "id": id, "replaced": gone, "obstacles": obstacles }))?;
        return Ok(0);
    }
    let id = memory.short_id(&id);
    // One error of a tool has one fix of a person.
    let gone: Vec<String> = gone.into_iter().map(|(short, _)| short).collect();
    let instead = match gone.is_empty() {
        true => String::new(),
        false => format!(" in place of {}", gone.join(", ")),
    };
    print_line(&format!("learned {id}{instead}; `aye memory show {id}` shows it"))?;
    for why in obstacles {
        let why = escape_control_line(&why);
        warn_line(&format!("{id} is not used as it is: {why}"), context);
    }
    Ok(0)
}

fn issue(
    args: &LearnArgs,
    lesson: Lesson,
    keep: Keep,
    memory: &Memory,
    mask: &dyn Fn(&str) -> String,
) -> Result<String, Error> {
    if let Some(only) = [("--step", &args.step), ("--skill", &args.skill)]
        .into_iter()
        .find_map(|(name, given)| given.as_ref().map(|_| name))
    {
        return Err(Error::usage(
            format!("`{only}` is for fixes, and there is nothing to carry out"),
            "give `--set NAME=VALUE`, or a command after `--`",
        ));
    }
    if lesson.meaning.is_none() && lesson.fix.is_none() {
        return Err(Error::usage(
            "there is nothing to learn about the error",
            "say what it means with `--meaning`, what to do with `--fix`, or give a command after \
             `--`",
        ));
    }
    let new = NewIssue {
        pattern: lesson.error,
        tools: lesson.tool.into_iter().collect(),
        meaning: lesson.meaning,
        fix: lesson.fix,
        commands: Vec::new(),
        tags: args.tag.clone(),
        keep,
    };
    Ok(memory.note_issue(&new, mask)?.id)
}

fn fix(
    args: &LearnArgs,
    lesson: Lesson,
    keep: Keep,
    memory: &Memory,
    mask: &dyn Fn(&str) -> String,
    context: &Context,
) -> Result<String, Error> {
    let mut change = Change { args: pairs("--set", &args.set)?, ..Change::default() };
    if let Some(tool) = &args.look_up {
        let (tool, with) = (Some(tool.clone()), pairs("--with", &args.with)?);
        change.first = Some(Act { tool, with, ..Act::default() });
    }
    if !lesson.command.is_empty() {
        let act = Some(Act { command: lesson.command, ..Act::default() });
        match args.replace {
            true => change.replace = act,
            false => change.first = act,
        }
    }
    let new = NewFix {
        only_for: Map::new(),
        tool: lesson.tool,
        skill: args.skill.clone(),
        step: args.step.clone(),
        // What varies is replaced; a regular expression says itself what does.
        error: match lesson.error.trim().starts_with('/') {
            true => ErrorText::Pattern(lesson.error),
            false => ErrorText::Seen(lesson.error),
        },
        change,
        about: lesson.fix.or(lesson.meaning),
        from: Origin {
            kind: OriginKind::Person,
            by: context.driver().user,
            run: None,
            at: context.now(),
            other: Map::new(),
        },
        keep,
    };
    Ok(memory.remember_fix(new, mask)?)
}

/// Values by name.
fn pairs(option: &str, given: &[String]) -> Result<Map<String, Value>, Error> {
    let pair = |text: &String| {
        let (name, value) = given::split(text).ok_or_else(|| {
            Error::usage(format!("`{option} {text}` has no value"), "write it as NAME=VALUE")
        })?;
        Ok((name.to_owned(), Value::from(value)))
    };
    given.iter().map(pair).collect()
}

/// Asks for everything that was not given.
fn asked(args: &LearnArgs, context: &Context) -> Result<Result<Lesson, u8>, Error> {
    let mut lesson = Lesson { command: args.command.clone(), ..Lesson::default() };
    match text("Words of the error?", None, context)? {
        Ok(Some(error)) => lesson.error = error,
        Ok(None) => {
            let hint = "give some words of the error, such as `manifest unknown`";
            return Err(Error::usage("the error is empty", hint));
        }
        Err(code) => return Ok(Err(code)),
    }
    let fill =
        |given: &Option<String>, message: &str| -> Result<Result<Option<String>, u8>, Error> {
            match given {
                Some(given) => Ok(Ok(Some(given.clone()))),
                None => text(message, Some(""), context),
            }
        };
    let parts = [
        (&args.tool, "Which tool or program? (empty for any)"),
        (&args.meaning, "What does it mean? (may be empty)"),
        (&args.fix, "What is to be done about it, in words? (may be empty)"),
    ];
    let mut given = Vec::new();
    for (part, message) in parts {
        match fill(part, message)? {
            Ok(part) => given.push(part),
            Err(code) => return Ok(Err(code)),
        }
    }
    lesson.fix = given.pop().flatten();
    lesson.meaning = given.pop().flatten();
    lesson.tool = given.pop().flatten();
    if lesson.command.is_empty() && args.set.is_empty() && lesson.tool.is_some() {
        match text("A command that repairs it? (empty to only note it)", Some(""), context)? {
            Ok(command) => {
                let words = command.unwrap_or_default();
                lesson.command = words.split_whitespace().map(str::to_owned).collect();
            }
            Err(code) => return Ok(Err(code)),
        }
    }
    Ok(Ok(lesson))
}

/// A text that someone types; nothing if it is empty.
fn text(
    message: &str,
    default: Option<&str>,
    context: &Context,
) -> Result<Result<Option<String>, u8>, Error> {
    let mut question = question(AskKind::Input, message, None)?;
    question.default = default.map(str::to_owned);
    let asking = Asking::default();
    match ask(&question, None, &asking, context) {
        Ok(Asked::Value(Taken { value, .. })) => {
            let value = value.trim();
            Ok(Ok((!value.is_empty()).then(|| value.to_owned())))
        }
        Ok(Asked::Nothing(code)) => Ok(Err(code)),
        Err(Error::Unattended { message, .. }) => Err(Error::Unattended {
            message,
            hint: Some("give `--error` and what to do about it: `aye memory learn --help`".into()),
        }),
        Err(error) => Err(error),
    }
}

/// Values of variables whose names say that they are secret.
fn secrets(context: &Context) -> Vec<String> {
    let says = |name: &str| {
        let name = name.to_uppercase();
        ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "PRIVATE_KEY"]
            .iter()
            .any(|word| name.contains(word))
    };
    let named = context.env.iter().filter(|(name, value)| says(name) && value.len() >= 6);
    named.map(|(_, value)| value.clone()).collect()
}
