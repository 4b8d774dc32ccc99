//! Running a block.

use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use aye_core::diagnostic::did_you_mean;
use aye_core::text::{BUILT_IN, Scope};
use ruff_python_parser::Mode;
use serde_json::Value;

use super::block::{Block, Limits};
use super::context::{Context, is_builtin, is_function};
use super::error::ComputeError;
use super::explain::{explain, place};
use super::host::Host;
use super::pool;
use super::propose;
use super::source::{self, Source, Wanted};
use super::unknown_name::UnknownName;
use super::wire::Job;

/// Enough for code that is as deep as the limits allow.
const STACK: usize = 64 << 20;
/// Memory that compiling a block may take.
const CHECKING: usize = 96 << 20;

/// Runs a block; its result is data.
pub fn run(
    block: &Block,
    scope: &Scope,
    host: &mut dyn Host,
    limits: &Limits,
    cancelled: &AtomicBool,
) -> Result<Value, ComputeError> {
    let wanted = Wanted::Variable(block.output.as_deref());
    start(block, scope, host, limits, cancelled, wanted)
}

/// Runs a block or an expression.
pub(super) fn start(
    block: &Block,
    scope: &Scope,
    host: &mut dyn Host,
    limits: &Limits,
    cancelled: &AtomicBool,
    wanted: Wanted<'_>,
) -> Result<Value, ComputeError> {
    let known = |name: &str| scope.value(name).is_some();
    let source = prepare(block, wanted, scope.lenient, &known).map_err(|error| {
        let look = propose::look(&block.code, block.output.as_deref(), &error, scope);
        let mut error = error.with_names(scope).with_own_names(look.names);
        let meant = look.meant.map(|meant| format!("did you mean `{meant}`?").into_boxed_str());
        error.hint = meant.or(error.hint);
        error
    })?;
    let job = Job::Run {
        program: source.program.clone(),
        limits: limits.clone(),
        now: scope.world.now.as_microsecond(),
    };
    let set = &source.analyze.set;
    let mut context = Context { scope, block, host, set, line: String::new(), ended: false };
    let result = pool::run(&job, Some(&mut context), cancelled);
    context.end_line();
    result.map_err(|fault| explain(&fault, block, &source, scope))
}

/// Whether a block can be read, and whether it gives a result at all; an
/// answer is there within `time`.
pub fn check(block: &Block, time: Duration) -> Result<(), ComputeError> {
    let wanted = Wanted::Variable(block.output.as_deref());
    let source = prepare(block, wanted, false, &|_| false)?;
    let limits = Limits { time, memory: CHECKING, ..Limits::default() };
    let job = Job::Check { program: source.program.clone(), limits };
    let checked = pool::run(&job, None, &AtomicBool::new(false));
    checked.map(drop).map_err(|fault| place(&fault, block, &source))
}

/// A module that a block imports and the sandbox does not have.
pub fn missing_module(block: &Block) -> Option<ComputeError> {
    let (module, place) = source::missing_module(&block.code)?;
    let message = format!("there is no module `{module}` in the sandbox");
    let mut error = ComputeError::new("ModuleNotFoundError", message);
    let hint = "it has `re`, `json`, `datetime` and a few more; `python: true` at the step runs \
                the block with python3";
    error.hint = Some(hint.into());
    Some(error.at(block, place))
}

/// The first comparison of text with a number as it is written, which Python answers with
/// False or refuses. `is_text` says which names of the run are text.
pub fn text_as_number(block: &Block, is_text: &dyn Fn(&str) -> bool) -> Option<ComputeError> {
    let analyze = roomy(&block.code, || source::analyze(&block.code, Mode::Module)).ok()?.ok()?;
    let compared = roomy(&block.code, || source::number_comparisons(&block.code)).ok()?;
    let is_free = |name: &str| analyze.free().any(|free| free == name);
    let (name, place) =
        compared.into_iter().find(|(name, _)| is_text(name.as_str()) && is_free(name))?;
    let message = format!("`{}` compares text with a number", &block.code[place.clone()]);
    let mut error = ComputeError::new("TypeError", message);
    error.hint = Some(format!("`{name}` is the text that a program printed: `int({name})`").into());
    Some(error.at(block, place))
}

/// The first name of a block that neither Python nor the block nor the run has.
/// `known` answers for the names of the run, dotted for those of `inputs`.
pub fn unknown_name(block: &Block, known: &dyn Fn(&str) -> bool) -> Option<UnknownName> {
    let analyze = roomy(&block.code, || source::analyze(&block.code, Mode::Module)).ok()?.ok()?;
    // A block that looks names up by itself knows what it does.
    if analyze.asks_names || ["globals(", "locals(", "exec("].iter().any(|w| block.code.contains(w))
    {
        return None;
    }
    let mut unknown: Vec<(usize, &str)> = analyze
        .free()
        .filter(|dotted| {
            let name = dotted.split('.').next().unwrap_or(dotted);
            match dotted.strip_prefix("inputs.") {
                Some(key) => {
                    // A block that asks whether it is there expects that it may not be.
                    let asks = ['\'', '"'].iter().any(|quote| {
                        block.code.contains(&format!("{quote}{key}{quote} in inputs"))
                    });
                    !source::METHODS.contains(&key) && !known(dotted) && !asks
                }
                None => !(known(name) || is_pythons(name)),
            }
        })
        .map(|dotted| match dotted.starts_with("inputs.") {
            true => dotted,
            false => dotted.split('.').next().unwrap_or(dotted),
        })
        .filter_map(|name| Some((word_at(&block.code, name)?, name)))
        .collect();
    unknown.sort_unstable();
    let (at, name) = *unknown.first()?;
    let place = ComputeError::new("NameError", String::new()).at(block, at..at + name.len());
    // A slip for a name of its own is a mistake that someone is offered a fix for.
    let slip = did_you_mean(name, analyze.set.keys().map(String::as_str)).is_some();
    let caught = slip || block.code.contains("try:");
    Some(UnknownName { name: name.to_owned(), caught, place })
}

/// The first of these names that a block uses as it is, without a key behind it.
pub fn first_use(block: &Block, wanted: &dyn Fn(&str) -> bool) -> Option<UnknownName> {
    let analyze = roomy(&block.code, || source::analyze(&block.code, Mode::Module)).ok()?.ok()?;
    let used = analyze.free().filter(|name| wanted(name));
    let (at, name) = used.filter_map(|name| Some((word_at(&block.code, name)?, name))).min()?;
    let place = ComputeError::new("NameError", String::new()).at(block, at..at + name.len());
    Some(UnknownName { name: name.to_owned(), caught: false, place })
}

/// Names that Python has and that the sandbox may not have.
const PYTHONS: [&str; 26] = [
    "Ellipsis",
    "False",
    "GeneratorExit",
    "None",
    "NotImplemented",
    "SystemExit",
    "True",
    "aiter",
    "anext",
    "breakpoint",
    "bytearray",
    "compile",
    "eval",
    "exit",
    "globals",
    "help",
    "locals",
    "memory",
    "memoryview",
    "quit",
    "setattr",
    "slice",
    "super",
    "type",
    "vars",
    "zip",
];

/// Whether a name is there without the run: Python's, the host's, or built in.
fn is_pythons(name: &str) -> bool {
    let ends = ["Error", "Exception", "Warning", "Group"];
    is_builtin(name)
        || is_function(name)
        || source::provides(name)
        || BUILT_IN.contains(&name)
        || PYTHONS.contains(&name)
        || name.starts_with("__")
        || ends.iter().any(|end| name.ends_with(end))
}

/// Where a name stands first in code, as a word of its own and not in a comment.
fn word_at(code: &str, name: &str) -> Option<usize> {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let in_comment = |at: &usize| code[..*at].rsplit('\n').next().unwrap_or_default().contains('#');
    let words = code.match_indices(name).map(|(at, _)| at).filter(|at| {
        let before = code[..*at].chars().next_back();
        let after = code[at + name.len()..].chars().next();
        !before.is_some_and(|c| in_word(c) || ".\"'".contains(c)) && !after.is_some_and(in_word)
    });
    let words: Vec<usize> = words.collect();
    let at = words.iter().find(|at| !in_comment(at)).or(words.first()).copied();
    at.or_else(|| {
        let key = name.strip_prefix("inputs.")?;
        ['\'', '"'].iter().find_map(|quote| code.find(&format!("inputs[{quote}{key}{quote}]")))
    })
}

fn prepare(
    block: &Block,
    wanted: Wanted<'_>,
    lenient: bool,
    known: &(dyn Fn(&str) -> bool + Sync),
) -> Result<Source, ComputeError> {
    let unreadable = |error: source::Unreadable| {
        ComputeError::new("SyntaxError", error.message).at(block, error.at..error.at)
    };
    let read = || source::read(&block.code, wanted, lenient, known);
    let source = roomy(&block.code, read)?.map_err(unreadable)?;
    gives_result(block, &source, wanted)?;
    Ok(source)
}

/// Reads code where there is enough stack for it.
pub(super) fn roomy<T: Send>(
    code: &str,
    read: impl FnOnce() -> T + Send,
) -> Result<T, ComputeError> {
    // Small code fits on any stack.
    if code.len() <= 4096 {
        return Ok(read());
    }
    thread::scope(|threads| {
        let reader = thread::Builder::new().stack_size(STACK).spawn_scoped(threads, read);
        let reader = reader.map_err(|error| ComputeError::new("Limit", error.to_string()))?;
        let unreadable = |_| ComputeError::new("SyntaxError", "the block cannot be read");
        reader.join().map_err(unreadable)
    })
}

/// A block that sets variables, but not the one that counts, is a mistake. One
/// that only looks (`raise`) or calls gives `None`.
fn gives_result(block: &Block, source: &Source, wanted: Wanted<'_>) -> Result<(), ComputeError> {
    let Wanted::Variable(output) = wanted else { return Ok(()) };
    let analyze = &source.analyze;
    let set: Vec<&String> = analyze.candidates().collect();
    let named = |name: &str| analyze.set.contains_key(name);
    if named("result") || output.is_some_and(named) || analyze.is_guard || set.is_empty() {
        return Ok(());
    }
    let wanted = match output {
        Some(output) => format!("neither `{output}` nor `result`"),
        None => "no `result`".to_owned(),
    };
    let names = set.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let end = block.code.trim_end().len();
    let start = block.code[..end].rfind('\n').map_or(0, |at| at + 1);
    let mut error = ComputeError::new("Result", format!("the block sets {wanted}, only {names}"));
    // What was set last is most likely what was meant.
    let last = set.iter().max_by_key(|name| block.code.rfind(&format!("{name} =")));
    error.hint = last.map(|last| format!("write `result = {last}` at its end").into());
    Err(error.at(block, start..end))
}
