//! The process in which blocks run: `aye` itself, started again.
//!
//! It reads jobs from its standard input and answers on its standard output.
//! It holds nothing of value and can be killed at any time; it ends by itself
//! when the process that started it is gone, when no job comes for a while,
//! and, by the system's limits, when a job takes more than it may.

use std::io;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use aye_core::text::{self, Expressions, Names, RemoteScope, Scope, World};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Map, Value};

use super::block::Limits;
use super::context::is_function;
use super::engine::{Answer, Answers, Engine as _, Raised};
use super::expression::PythonExpressions;
use super::files::{FileAnswer, FileCall};
use super::monty::Monty;
use super::wire::{self, Job, Reply, WorkerMessage};

/// The word that makes Aye a worker.
pub const WORD: &str = "compute-worker";

/// Enough for code that is as deep as the limits allow.
const STACK: usize = 256 << 20;
/// How often memory and the other side are looked at while a job runs.
const LOOK: Duration = Duration::from_millis(5);
/// A worker that nobody needs ends after this.
const IDLE: Duration = Duration::from_secs(10);
/// Memory that the interpreter may need beyond what it counts.
const SLACK: u64 = 64 << 20;

/// A job runs.
static BUSY: AtomicBool = AtomicBool::new(false);
/// This process is a worker.
static INSIDE: AtomicBool = AtomicBool::new(false);

/// Whether this process is a worker.
pub(super) fn is_inside() -> bool {
    INSIDE.load(Ordering::Relaxed)
}

/// Serves until nobody wants anything any more.
pub fn work() -> u8 {
    INSIDE.store(true, Ordering::Relaxed);
    // A worker that is killed leaves no copy of what it knew.
    limit(Resource::Core, 0);
    let worker = thread::Builder::new().name("compute".into()).stack_size(STACK).spawn(|| {
        // An error is the end of the other side.
        while serve().is_ok() {}
    });
    let Ok(worker) = worker else { return 1 };
    let stdin = io::stdin();
    let mut idle = Instant::now();
    while !worker.is_finished() {
        let busy = BUSY.load(Ordering::Relaxed);
        // Asked for nothing, it tells only that the other side is gone.
        let mut gone = [PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::empty())];
        let wait = Timespec::try_from(LOOK).ok();
        match poll(&mut gone, wait.as_ref()) {
            Ok(1..) => return 0,
            _ if busy => {
                Monty.memory_used(memory(1));
                idle = Instant::now();
            }
            _ if idle.elapsed() > IDLE => return 0,
            _ => {}
        }
    }
    0
}

/// Does one job.
fn serve() -> io::Result<()> {
    let job: Job = wire::read(&mut io::stdin())?;
    let limits = job.limits().clone();
    confine(&limits);
    Monty.memory_used(memory(1));
    BUSY.store(true, Ordering::Relaxed);
    let result = match job {
        Job::Check { program, .. } => Monty.check(&program).map(|()| Value::Null),
        Job::Run { program, now, .. } => Monty.run(&program, &limits, &mut Asking { now }),
        Job::Template { kind, template, now, lenient, .. } => {
            let scope = Scope {
                world: World { now, names: Arc::new(Asking { now: now.as_microsecond() }) },
                inputs: Arc::default(),
                outputs: Arc::default(),
                locals: Arc::default(),
                steps: Arc::default(),
                secrets: Arc::default(),
                run: Arc::default(),
                skill: Arc::default(),
                lenient,
            };
            Ok(text::evaluate_template(kind, &template, &scope))
        }
    };
    BUSY.store(false, Ordering::Relaxed);
    wire::write(&mut io::stdout(), &WorkerMessage::Done(result))
}

/// Limits of the system, for what the interpreter does not notice itself.
fn confine(limits: &Limits) {
    let room = u64::try_from(limits.memory).unwrap_or(u64::MAX).saturating_add(SLACK);
    limit(Resource::As, u64::try_from(memory(0)).unwrap_or(u64::MAX).saturating_add(room));
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime).tv_sec;
    let used = u64::try_from(used).unwrap_or_default();
    limit(Resource::Cpu, used + (limits.time + wire::OVERTIME).as_secs() + 2);
}

/// Sets a limit that can be raised again.
fn limit(of: Resource, most: u64) {
    let maximum = getrlimit(of).maximum;
    let current = Some(maximum.map_or(most, |maximum| maximum.min(most)));
    // Where the system refuses the other side still watches.
    let _ = setrlimit(of, Rlimit { current, maximum });
}

/// Memory of this process in bytes: its address space (0) or what of it is in
/// use (1); 0 where nobody says.
fn memory(field: usize) -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').nth(field).and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or_default().saturating_mul(rustix::param::page_size())
}

/// Asks the other side.
struct Asking {
    now: i64,
}

fn ask(question: &WorkerMessage) -> Option<Reply> {
    wire::write(&mut io::stdout(), question).ok()?;
    wire::read(&mut io::stdin()).ok()
}

fn gone<T>() -> Result<T, Raised> {
    Err(Raised::new("RuntimeError", "nobody waits for this block any more"))
}

fn env(name: &str) -> Option<String> {
    match ask(&WorkerMessage::Env(name.to_owned())) {
        Some(Reply::Env(value)) => value,
        _ => None,
    }
}

fn name(question: &WorkerMessage) -> Option<Answer> {
    match ask(question) {
        Some(Reply::Name(answer)) => answer,
        _ => None,
    }
}

fn value(wanted: &str) -> Option<Value> {
    match name(&WorkerMessage::Value(wanted.to_owned())) {
        Some(Answer::Value(value)) => Some(value),
        _ => None,
    }
}

fn names() -> Vec<String> {
    match ask(&WorkerMessage::Names) {
        Some(Reply::Names(names)) => names,
        _ => Vec::new(),
    }
}

impl Answers for Asking {
    fn name(&mut self, wanted: &str) -> Option<Answer> {
        name(&WorkerMessage::Name(wanted.to_owned()))
    }

    fn value(&self, wanted: &str) -> Option<Value> {
        value(wanted)
    }

    fn names(&self) -> Vec<String> {
        names()
    }

    fn has(&self, function: &str) -> bool {
        is_function(function)
    }

    fn call(
        &mut self,
        object: Option<&str>,
        function: &str,
        args: Vec<Value>,
        named: Map<String, Value>,
    ) -> Result<Value, Raised> {
        let (object, function) = (object.map(str::to_owned), function.to_owned());
        match ask(&WorkerMessage::Call { object, function, args, named }) {
            Some(Reply::Call(result)) => result,
            _ => gone(),
        }
    }

    fn file(&mut self, call: FileCall) -> Result<FileAnswer, Raised> {
        match ask(&WorkerMessage::File(call)) {
            Some(Reply::File(result)) => result,
            _ => gone(),
        }
    }

    fn env(&mut self, name: &str) -> Option<String> {
        env(name)
    }

    fn now(&mut self) -> i64 {
        self.now
    }

    fn print(&mut self, text: &str) {
        // Nobody listens any more: nothing to tell.
        let _ = wire::write(&mut io::stdout(), &WorkerMessage::Print(text.to_owned()));
    }
}

impl Names for Asking {
    fn env(&self, name: &str) -> Option<String> {
        env(name)
    }

    fn look_up(&self, name: &str) -> Option<Value> {
        value(name)
    }

    fn expressions(&self) -> Option<&dyn Expressions> {
        Some(&PythonExpressions)
    }

    fn remote_scope(&self) -> Option<&dyn RemoteScope> {
        Some(self)
    }
}

impl RemoteScope for Asking {
    fn value(&self, wanted: &str) -> Option<Value> {
        value(wanted)
    }

    fn names(&self) -> Vec<String> {
        names()
    }
}
