//! From what the engine reports to what helps.

use std::ops::Range;

use super::propose::quoted;
use aye_core::diagnostic::did_you_mean;
use aye_core::text::{BUILT_IN, Scope};

use super::block::Block;
use super::context::{FUNCTIONS, is_builtin};
use super::engine::Fault;
use super::error::ComputeError;
use super::propose;
use super::source::{Analysis, Source};

/// What to do about what exists in Python but not here.
const ELSEWHERE: &str = "it is not in the sandbox: use `python: true` at the step to run the block \
                         with python3";

/// What is wrong with a comparison in an expression, as templates say it.
pub(super) const COMPARES: &str = "compares text with a number";

/// What to write instead of an exit.
const NO_EXIT: &str = "a block cannot end the process: write `raise ValueError(\"why\")` to let \
                       the step fail";

/// Says where it happened, and what to do about it.
pub(super) fn explain(
    fault: &Fault,
    block: &Block,
    source: &Source,
    scope: &Scope,
) -> ComputeError {
    let mut error = place(fault, block, source);
    // The engine breaks down before it can say where.
    if let (true, Some(at)) =
        (fault.message.contains("Internal error in monty"), block.code.find("SystemExit"))
    {
        error = ComputeError::new("SystemExit", "there is no exit code here")
            .at(block, at..at + "SystemExit".len());
        error.hint = Some(NO_EXIT.into());
        return error.with_names(scope);
    }
    if let (None, "Limit", Some(at)) = (&error.place, fault.kind.as_str(), only_loop(&block.code)) {
        error = error.at(block, at);
    }
    advise(error, &fault.message, block, &source.analyze, scope, true)
}

/// Says which names there were, and what to do about it. `said` is what the
/// interpreter said, which may be the sandbox or not.
pub(super) fn advise(
    error: ComputeError,
    said: &str,
    block: &Block,
    analyze: &Analysis,
    scope: &Scope,
    sandbox: bool,
) -> ComputeError {
    let look = propose::look(&block.code, block.output.as_deref(), &error, scope);
    let mut error = error.with_names(scope).with_own_names(look.names);
    let hint = match error.kind.as_str() {
        "NameError" | "UnboundLocalError" => name(said, analyze, scope, sandbox),
        "KeyError" => key(said, &error, scope),
        "AttributeError" if said.ends_with("'sys' has no attribute 'exit'") => {
            Some(NO_EXIT.to_owned())
        }
        "AttributeError" => attribute(said),
        "ImportError" | "ModuleNotFoundError" | "NotImplementedError" if sandbox => {
            Some(ELSEWHERE.to_owned())
        }
        "TypeError" if let Some((_, cast)) = refused_comparison(said) => {
            Some(format!("write {cast}"))
        }
        "TypeError" if said.contains("NoneType") => {
            Some("a value is None: look at the types below, or write `(x or {})`".to_owned())
        }
        "TypeError" if said.contains("_io.") => {
            Some("write `f.read().splitlines()` for the lines of a file".to_owned())
        }
        "Limit" if said.starts_with("time limit") => {
            Some("a block is for small work: use a `command:` step".to_owned())
        }
        _ => None,
    };
    // What the syntax tree says knows more than what a line looks like.
    let hint = match (hint, look.meant) {
        (Some(hint), Some(meant)) if hint.contains(&format!("`{meant}`")) => Some(hint),
        (_, Some(meant)) => Some(format!("did you mean `{meant}`?")),
        (hint, None) => hint,
    };
    error.hint = hint.map(String::into_boxed_str).or(error.hint);
    error
}

/// Says where it happened.
pub(super) fn place(fault: &Fault, block: &Block, source: &Source) -> ComputeError {
    let error = ComputeError::new(&fault.kind, message(&fault.kind, &fault.message));
    // The innermost place that is of the author's own.
    let placed = fault.frames.iter().rev().find_map(|frame| {
        let start = source.place(frame.line, frame.start)?;
        let end = frame.end.and_then(|end| source.place(frame.line, end)).unwrap_or(start);
        (start < block.code.len()).then_some(start..end.max(start))
    });
    let mut error = match placed {
        Some(bytes) => error.at(block, bytes),
        None => error,
    };
    if fault.kind == "NotImplementedError" && error.message.starts_with("the sandbox") {
        error.hint = Some(ELSEWHERE.into());
    }
    error
}

/// What `helpers/compare.py` refuses to compare, and the cast to write.
fn refused_comparison(said: &str) -> Option<(&str, &str)> {
    let (compared, cast) = said.split_once("; write ")?;
    compared.ends_with(COMPARES).then_some((compared, cast))
}

/// What the interpreter said, in our words where they help more.
pub(super) fn message(kind: &str, said: &str) -> String {
    match kind {
        "KeyError" if !said.contains(' ') => {
            format!("there is no key `{}`", said.trim_matches('\''))
        }
        "TypeError" if let Some((compared, _)) = refused_comparison(said) => compared.to_owned(),
        _ => without_own_names(said),
    }
}

/// Where the one loop of a block stands: what does not come to an end is that.
/// The engine does not say where it was when it was stopped.
fn only_loop(code: &str) -> Option<Range<usize>> {
    let mut found: Option<(usize, Range<usize>)> = None;
    let mut start = 0;
    for line in code.split_inclusive('\n') {
        let text = line.trim();
        let indent = line.len() - line.trim_start().len();
        let begins = text.starts_with("while ") || text.starts_with("for ");
        match &found {
            // A loop inside of it is a part of it.
            Some((outer, _)) if begins && indent <= *outer => return None,
            None if begins => found = Some((indent, start + indent..start + indent + text.len())),
            _ => {}
        }
        start += line.len();
    }
    found.map(|(_, place)| place)
}

/// Without the names of our own.
fn without_own_names(message: &str) -> String {
    // Of a mapping without any keys.
    let message = message.strip_suffix("; it has: ").unwrap_or(message);
    message
        .replace("Internal error in monty: exceptions", "in the sandbox exceptions")
        .replace("Internal error in monty", "the sandbox cannot do this")
        .replace("The monty syntax parser does not yet support", "the sandbox does not have")
        .replace("__aye_", "")
}

fn name(message: &str, analyze: &Analysis, scope: &Scope, sandbox: bool) -> Option<String> {
    let name = quoted(message)?;
    if let Some(secret) = scope.lost_secret(&[name.to_owned()]) {
        let hint = scope.lost_hint(secret);
        return Some(format!("the secret `{secret}` is not known: {hint}"));
    }
    if scope.inputs.contains_key(name) {
        return Some(format!("did you mean `inputs.{name}`?"));
    }
    match name {
        "exit" | "quit" if sandbox => return Some(NO_EXIT.to_owned()),
        "branch" | "worktree" => {
            let hint = "there is no git repository around the working directory";
            return Some(hint.to_owned());
        }
        _ => {}
    }
    let own: Vec<String> = scope
        .names_in_scope()
        .into_iter()
        .chain(analyze.set.keys().cloned())
        .chain(BUILT_IN.map(str::to_owned))
        .chain(FUNCTIONS.map(str::to_owned))
        .filter(|known| known != name)
        .collect();
    let near = did_you_mean(name, own.iter().map(String::as_str));
    match near {
        Some(near) => Some(format!("did you mean `{near}`?")),
        None if sandbox && is_builtin(name) || name == "eval" || name == "exec" => {
            Some(ELSEWHERE.to_owned())
        }
        None if analyze.set.contains_key(name) => {
            Some(format!("`{name}` is only set on another path, or later"))
        }
        None => None,
    }
}

fn key(message: &str, error: &ComputeError, scope: &Scope) -> Option<String> {
    if let Some(variable) = message.strip_prefix("the environment has no ") {
        let variable = variable.trim_matches('`');
        return Some(format!("write `env.get(\"{variable}\")` if it may be missing"));
    }
    let key = quoted(message).unwrap_or(message);
    // With a backslash it is not the key but how Python writes it, and may be cut at a quote.
    if message.contains('\\') {
        return Some("write `x.get(…)` if the key may be missing".to_owned());
    }
    // Which mapping it was is known only from the line.
    let line = error.place.as_ref().map_or("", |place| place.source.as_str());
    if line.contains("inputs") {
        let inputs = scope.inputs.keys().map(String::as_str);
        if let Some(near) = did_you_mean(key, inputs) {
            return Some(format!("did you mean `{near}`?"));
        }
    }
    for name in scope.names_in_scope() {
        if line.contains(&name)
            && let Some(serde_json::Value::Object(map)) = scope.value(&name)
            && let Some(near) = did_you_mean(key, map.keys().map(String::as_str))
        {
            return Some(format!("`{name}` has no such key; did you mean `{near}`?"));
        }
    }
    Some(format!("write `x.get(\"{key}\")` if it may be missing"))
}

/// The helper for attributes says which keys there are.
fn attribute(message: &str) -> Option<String> {
    let key = quoted(message)?;
    let (_, keys) = message.split_once("it has: ")?;
    let near = did_you_mean(key, keys.split(", "));
    Some(match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("write `x.get(\"{key}\")` if it may be missing"),
    })
}
