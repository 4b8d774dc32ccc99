//! Running a block.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use aye_core::text::Scope;
use serde_json::Value;

use super::block::{Block, Limits};
use super::context::{Context, Request, serve};
use super::engine::{Engine, Fault};
use super::error::ComputeError;
use super::explain::{explain, place};
use super::host::Host;
use super::monty::Monty;
use super::propose;
use super::source::{self, Source, Wanted};

/// Enough for code that is as deep as the limits allow.
const STACK: usize = 256 << 20;
/// How often memory and cancelling are looked at.
const LOOK: Duration = Duration::from_millis(5);
/// A block that does not heed its time limit is left behind after this.
const OVERTIME: Duration = Duration::from_secs(1);

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
    let (requests, asked) = sync_channel(64);
    let (replies, answered) = sync_channel(1);
    let (done, finished) = sync_channel(1);
    let context = Context {
        scope: scope.clone(),
        block: block.clone(),
        set: source.survey.set.clone(),
        requests,
        replies: answered,
        ended: false,
    };
    let stop = Arc::new(AtomicBool::new(false));
    Monty.memory_used(memory());
    let (program, own, stopped) = (source.program.clone(), limits.clone(), Arc::clone(&stop));
    let spawned =
        thread::Builder::new().name("compute".into()).stack_size(STACK).spawn(move || {
            let mut context = context;
            let result = Monty.run(&program, &own, &mut context, &stopped);
            // Whoever waited may have given up.
            done.send(result).ok();
        });
    spawned.map_err(|error| {
        ComputeError::new("Limit", format!("no thread for the block can be started: {error}"))
    })?;
    let mut watch = Watch { host, limits, cancelled, stop: &stop, line: String::new() };
    let result = watch.until_done(&asked, &replies, &finished);
    result.map_err(|fault| explain(&fault, block, &source, scope))
}

/// Whether a block can be read, and whether it gives a result at all.
pub fn check(block: &Block) -> Result<(), ComputeError> {
    let wanted = Wanted::Variable(block.output.as_deref());
    let source = prepare(block, wanted, false, &|_| false)?;
    let program = source.program.clone();
    let checked = on_stack(move || Monty.check(&program))?;
    checked.map_err(|fault| place(&fault, block, &source))
}

/// A module that a block imports and the sandbox does not have.
pub fn missing_module(block: &Block) -> Option<ComputeError> {
    let (module, place) = source::missing_module(&block.code)?;
    let message = format!("there is no module `{module}` in the sandbox");
    let mut error = ComputeError::new("ModuleNotFoundError", message);
    let hint = "it has the likes of `re`, `json` and `datetime`; `python: true` at the step runs \
                the block with python3";
    error.hint = Some(hint.into());
    Some(error.at(block, place))
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
    let survey = &source.survey;
    let set: Vec<&String> = survey.candidates().collect();
    let named = |name: &str| survey.set.contains_key(name);
    if named("result") || output.is_some_and(named) || survey.is_guard || set.is_empty() {
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

fn on_stack<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ComputeError> {
    let thread = thread::Builder::new().stack_size(STACK).spawn(work);
    let joined = thread.map(thread::JoinHandle::join);
    match joined {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(_)) | Err(_) => Err(ComputeError::new("Limit", "the block cannot be read")),
    }
}

/// Waits for a block and serves it meanwhile.
struct Watch<'a> {
    host: &'a mut dyn Host,
    limits: &'a Limits,
    cancelled: &'a AtomicBool,
    stop: &'a AtomicBool,
    /// What was printed of a line so far.
    line: String,
}

impl Watch<'_> {
    fn until_done(
        &mut self,
        asked: &Receiver<Request>,
        replies: &SyncSender<Result<Value, String>>,
        finished: &Receiver<Result<Value, Fault>>,
    ) -> Result<Value, Fault> {
        let mut waited = Duration::ZERO;
        loop {
            let since = Instant::now();
            match asked.recv_timeout(LOOK) {
                Ok(Request::Print(text)) => self.print(&text),
                Ok(Request::Call { memory, function, args, named }) => {
                    let reply = serve(self.host, memory, &function, args, &named);
                    replies.send(reply).ok();
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => Monty.memory_used(memory()),
                // The block is through.
                Err(RecvTimeoutError::Disconnected) => break,
            }
            waited += since.elapsed();
            if self.cancelled.load(Ordering::Relaxed) {
                self.stop.store(true, Ordering::Relaxed);
            }
            if waited > self.limits.time + OVERTIME {
                self.stop.store(true, Ordering::Relaxed);
                return Err(Fault::new("Limit", "time limit exceeded; the block does not stop"));
            }
        }
        if !self.line.is_empty() {
            self.print("\n");
        }
        let lost = |_| Err(Fault::new("Limit", "the interpreter broke down"));
        finished.recv().unwrap_or_else(lost)
    }

    fn print(&mut self, text: &str) {
        self.line.push_str(text);
        while let Some(end) = self.line.find('\n') {
            let rest = self.line.split_off(end + 1);
            self.host.log(self.line.trim_end_matches('\n'));
            self.line = rest;
        }
    }
}

/// Memory that this process uses, in bytes; 0 where nobody says.
fn memory() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or_default().saturating_mul(rustix::param::page_size())
}
