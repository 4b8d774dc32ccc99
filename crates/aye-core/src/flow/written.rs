//! What steps say, as a person reads it and as a yes is bound to it: the steps of a loop are in
//! no other fact, and neither are the branches of a template that the values of today leave out.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::skill::{Action, GuardCheck, Step, Template};
use crate::value::as_text;

/// Everything that some steps say about what they do, templates as they stand in the file.
pub(crate) fn written(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        write_step(step, "", &mut text);
    }
    text.trim_end().to_owned()
}

fn write_step(step: &Step, indent: &str, text: &mut String) {
    let inside = format!("{indent}  ");
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{indent}{}", step.name.value);
    let mut line = |what: &str, said: &str| {
        let said = said.trim_end().replace('\n', &format!("\n{inside}  "));
        let _ = writeln!(text, "{inside}{what}: {said}");
    };
    match &step.action {
        Action::Command { program, args } => line("command", &words(program, args)),
        Action::Shell { script } => line("shell", script),
        Action::Ask(ask) => line(&as_text(&json!(ask.kind)), &ask.message),
        Action::Tool { tool, args, .. } => line("tool", &format!("{} {args}", tool.value)),
        Action::Compute { code, python, reads_files } => {
            let kind = match (python, reads_files) {
                (true, _) => "python",
                (false, true) => "compute with files",
                (false, false) => "compute",
            };
            line(kind, code);
        }
        Action::Skill { skill, inputs, .. } => {
            line("skill", &format!("{} {}", word(skill), json!(inputs)));
        }
        Action::Return { text } => line("return", text),
        Action::Note => line("note", step.description.as_deref().unwrap_or_default()),
        Action::ForEach(each) => line(
            "foreach",
            &format!(
                "{} as {}, {} at a time, fail fast: {}",
                each.items,
                each.name,
                each.parallel,
                each.fail_fast.unwrap_or(true)
            ),
        ),
    }
    step.condition.iter().for_each(|condition| line("if", condition));
    step.cwd.iter().for_each(|cwd| line("in", cwd));
    step.stdin.iter().for_each(|stdin| line("stdin", stdin));
    for (name, value) in &step.env {
        match value {
            Some(value) => line(&format!("env {name}"), value),
            None => line(&format!("without env {name}"), ""),
        }
    }
    for guard in &step.guards {
        match &guard.check {
            GuardCheck::Success => line("must succeed", ""),
            GuardCheck::Condition(condition) => line("validate", condition),
            GuardCheck::Command { program, args, cwd } => {
                let cwd = cwd.iter().map(|cwd| format!(" in {}", word(cwd)));
                line("validate", &(words(program, args) + &cwd.collect::<String>()));
            }
        }
    }
    if let Some(retry) = &step.retry {
        line("attempts", &retry.attempts.to_string());
    }
    if let Some(on_error) = &step.on_error {
        line("on error", &as_text(&json!(on_error)));
    }
    if let Some(ask) = &step.confirmation {
        line("confirmation", &ask.message);
    }
    let inner = match &step.action {
        Action::ForEach(each) => each.body.as_slice(),
        Action::Command { .. }
        | Action::Shell { .. }
        | Action::Ask(_)
        | Action::Tool { .. }
        | Action::Compute { .. }
        | Action::Skill { .. }
        | Action::Return { .. }
        | Action::Note => &[],
    };
    for (word, steps) in [("each", inner), ("then", step.then.as_slice())] {
        if !steps.is_empty() {
            let _ = writeln!(text, "{inside}{word}");
            steps.iter().for_each(|step| write_step(step, &format!("{inside}  "), text));
        }
    }
}

/// A program and its arguments, each of which is told from the next.
fn words(program: &Template, args: &[Template]) -> String {
    [program].into_iter().chain(args).map(word).collect::<Vec<_>>().join(" ")
}

/// A word as it stands; in quotes where it could be taken for several.
fn word(word: &Template) -> String {
    let is_plain = |c: char| !c.is_whitespace() && !matches!(c, '"' | '\\');
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_string(),
        false => Value::from(word.as_str()).to_string(),
    }
}
