//! What steps say, as a person reads it and as a yes is bound to it: the steps of a loop are in
//! no other fact, and neither are the branches of a template that the values of today leave out.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::skill::{
    Action, Ask, ForEach, GuardCheck, Retry, RetryOn, Step, StepTimeout, Template, format_duration,
};
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
    // Nothing is left out: a new field is an error here.
    let Step {
        name,
        description: _,
        span: _,
        action,
        condition,
        output,
        timeout,
        on_error,
        remember_recovery: _,
        env,
        cwd,
        stdin,
        interactive,
        tty,
        kept,
        max_memory,
        max_cpu,
        idempotent,
        destructive,
        assistant_may_edit: _,
        confirmation,
        retry,
        guards,
        then,
    } = step;
    let inside = format!("{indent}  ");
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{indent}{}", name.value);
    let mut line = |what: &str, said: &str| {
        let said = said.trim_end().replace('\n', &format!("\n{inside}  "));
        let _ = writeln!(text, "{inside}{what}: {said}");
    };
    let mut body = &[][..];
    match action {
        Action::Command { program, args } => line("command", &words(program, args)),
        Action::Shell { script } => line("shell", script),
        Action::Ask(ask) => write_ask("asks", ask, &mut line),
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
        Action::ForEach(each) => {
            let ForEach { items, span: _, name, label: _, parallel, fail_fast, body: steps } =
                &**each;
            line("foreach", &format!("{items} as {name}, {parallel} at a time"));
            fail_fast.iter().for_each(|fast| line("fail fast", &fast.to_string()));
            body = steps;
        }
    }
    condition.iter().for_each(|condition| line("if", condition));
    output.iter().for_each(|output| line("output", &output.value));
    cwd.iter().for_each(|cwd| line("in", cwd));
    stdin.iter().for_each(|stdin| line("stdin", stdin));
    for (name, value) in env {
        match value {
            Some(value) => line(&format!("env {name}"), value),
            None => line(&format!("without env {name}"), ""),
        }
    }
    for guard in guards {
        match &guard.check {
            GuardCheck::Success => line("must succeed", ""),
            GuardCheck::Condition(condition) => line("must hold", condition),
            GuardCheck::Command { program, args, cwd } => {
                let cwd = cwd.iter().map(|cwd| format!(" in {}", word(cwd)));
                line("must pass", &(words(program, args) + &cwd.collect::<String>()));
            }
        }
    }
    match timeout {
        StepTimeout::Default => {}
        StepTimeout::Unlimited => line("timeout", "0"),
        StepTimeout::After(limit) => line("timeout", &format_duration(*limit)),
    }
    if let Some(Retry { attempts, backoff, factor, max, jitter: _, on }) = retry {
        let waits =
            format!("{} x{factor} up to {}", format_duration(*backoff), format_duration(*max));
        let RetryOn { failure, timeout, codes } = on;
        let after = [(*failure, "failure"), (*timeout, "timeout")];
        let after = after.into_iter().filter(|(is, _)| *is).map(|(_, word)| word.to_owned());
        let after: Vec<String> = after.chain(codes.iter().map(ToString::to_string)).collect();
        line("attempts", &format!("{attempts} after {}, {waits}", after.join(" ")));
    }
    on_error.iter().for_each(|on_error| line("on error", &as_text(&json!(on_error))));
    max_memory.iter().for_each(|bytes| line("max memory", &bytes.to_string()));
    max_cpu.iter().for_each(|limit| line("max cpu", &format_duration(*limit)));
    let marks = [
        (*interactive, "interactive"),
        (*tty, "tty"),
        (*idempotent, "idempotent"),
        (*destructive, "destructive"),
        (!kept.log, "no log"),
        (!kept.stdout, "no stdout"),
        (!kept.stderr, "no stderr"),
    ];
    let marks: Vec<&str> = marks.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
    if !marks.is_empty() {
        line("is", &marks.join(", "));
    }
    confirmation.iter().for_each(|ask| write_ask("confirmation", ask, &mut line));
    for (word, steps) in [("each", body), ("then", then.as_slice())] {
        if !steps.is_empty() {
            let _ = writeln!(text, "{inside}{word}");
            steps.iter().for_each(|step| write_step(step, &format!("{inside}  "), text));
        }
    }
}

/// A question, with what may answer it and where each answer leads.
fn write_ask(what: &str, ask: &Ask, line: &mut impl FnMut(&str, &str)) {
    line(what, &format!("{} {}", as_text(&json!(ask.kind)), ask.message.as_str()));
    for choice in &ask.options {
        let action = as_text(&json!(choice.action));
        line("option", &format!("{} {action} {}", choice.value, choice.label.as_str()));
    }
    ask.default.iter().for_each(|default| line("default", default));
    match ask.timeout {
        StepTimeout::Default => {}
        StepTimeout::Unlimited => line("answer within", "no limit"),
        StepTimeout::After(limit) => line("answer within", &format_duration(limit)),
    }
    let (approvals, other) = (ask.approvals, ask.not_starter);
    line("answered by", &format!("{} {approvals} other: {other}", as_text(&json!(ask.by))));
    ask.typed.iter().for_each(|typed| line("to type", typed));
    if ask.reauth {
        line("with", "a one-time code");
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
