//! Workers: started with the first job, kept for the next ones, killed when
//! one does not end.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use aye_process::{Service, Spec, Status};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;

use super::engine::{Answer, Answers, Engine as _, Fault};
use super::monty::Monty;
use super::wire::{self, Job, LONGEST, OVERTIME, Reply, WorkerMessage};
use super::worker::{self, WORD};

/// How often cancelling is looked at.
const LOOK: Duration = Duration::from_millis(10);
/// Workers that are kept while nobody needs them.
const KEPT: usize = 4;
/// How long a worker that is about to end is waited for.
const ENDING: Duration = Duration::from_millis(500);

static IDLE: Mutex<Vec<Worker>> = Mutex::new(Vec::new());
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Where `aye` is, if this process is it: for programs that it starts.
pub(super) fn own_program() -> Option<PathBuf> {
    PROGRAM.get()?;
    std::env::current_exe().ok()
}

/// Says that this process is `aye`, which is its own worker.
pub fn is_aye() {
    let own = if cfg!(target_os = "linux") {
        // Also when the file was replaced meanwhile.
        Some(PathBuf::from("/proc/self/exe"))
    } else {
        std::env::current_exe().ok()
    };
    if let Some(own) = own {
        let _ = PROGRAM.set(own);
    }
}

/// The program of a worker. Other programs that use this library, such as the
/// tests, have `aye` beside them or one directory up.
fn program() -> io::Result<PathBuf> {
    if let Some(own) = PROGRAM.get() {
        return Ok(own.clone());
    }
    let own = std::env::current_exe()?;
    let near = own.ancestors().skip(1).take(2).map(|directory| directory.join("aye"));
    let found = near.into_iter().find(|path| path.is_file());
    found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "there is no `aye` beside this"))
}

/// What was the matter with a worker.
enum Lost {
    /// It had ended before it took the job: another one may take it.
    Idle,
    /// This.
    Fault(Fault),
}

impl From<io::Error> for Lost {
    fn from(error: io::Error) -> Self {
        Self::Fault(Fault::new("Limit", format!("the worker cannot be reached: {error}")))
    }
}

/// Does a job in a worker, and answers it meanwhile, if it may ask. Inside of
/// a worker it is done on the spot.
pub(super) fn run(
    job: &Job,
    mut answers: Option<&mut dyn Answers>,
    cancelled: &AtomicBool,
) -> Result<Value, Fault> {
    if let (true, Job::Run { program, limits, .. }, Some(answers)) =
        (worker::is_inside(), job, &mut answers)
    {
        return Monty.run(program, limits, *answers);
    }
    let frame = wire::frame(job).map_err(|error| Fault::new("Limit", error.to_string()))?;
    loop {
        let kept = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let fresh = kept.is_none();
        let mut worker = match kept {
            Some(worker) => worker,
            None => Worker::start()?,
        };
        match worker.serve(&frame, job.limits().time + OVERTIME, &mut answers, cancelled) {
            Ok(result) => {
                let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
                if idle.len() < KEPT {
                    idle.push(worker);
                }
                return result;
            }
            Err(Lost::Idle) if !fresh => {}
            Err(Lost::Idle) => return Err(Fault::new("Limit", "the worker ended at once")),
            // Dropping the worker kills it.
            Err(Lost::Fault(fault)) => return Err(fault),
        }
    }
}

/// A worker that waits for a job.
struct Worker {
    service: Service,
    input: OwnedFd,
    output: OwnedFd,
    /// Kept open: it may complain before it breaks down.
    _errors: OwnedFd,
    /// What was read of the next frame.
    read: Vec<u8>,
}

impl Worker {
    fn start() -> Result<Self, Fault> {
        let failed = |why: String| {
            Fault::new("Limit", format!("no process for the block can be started: {why}"))
        };
        let program = program().map_err(|error| failed(error.to_string()))?;
        let mut spec = Spec::new(program).args([WORD]);
        spec.cwd = Some(PathBuf::from("/"));
        // A block sees no variable that it does not ask for.
        spec.env = std::env::vars_os().map(|(name, _)| (name, None)).collect();
        let started = aye_process::serve(&spec).map_err(|error| failed(error.to_string()));
        let (service, pipes) = started?;
        let nonblocking = rustix::io::ioctl_fionbio(&pipes.stdin, true)
            .and_then(|()| rustix::io::ioctl_fionbio(&pipes.stdout, true));
        nonblocking.map_err(|error| failed(error.to_string()))?;
        Ok(Self {
            service,
            input: pipes.stdin,
            output: pipes.stdout,
            _errors: pipes.stderr,
            read: Vec::new(),
        })
    }

    /// Hands over a job and answers until it is done. Only the time in which
    /// the worker works counts.
    fn serve(
        &mut self,
        job: &[u8],
        time: Duration,
        answers: &mut Option<&mut dyn Answers>,
        cancelled: &AtomicBool,
    ) -> Result<Result<Value, Fault>, Lost> {
        let mut left = time;
        let mut heard = false;
        let mut next = job.to_vec();
        loop {
            let since = Instant::now();
            let said = self
                .write(&next, since + left, cancelled)
                .and_then(|()| self.hear(since + left, cancelled));
            let said = match said {
                Err(Lost::Idle) if heard => return Err(Lost::Fault(self.crash())),
                Err(Lost::Idle) => return Err(self.ended()),
                said => said?,
            };
            left = left.saturating_sub(since.elapsed());
            heard = true;
            if let WorkerMessage::Done(result) = said {
                return Ok(result);
            }
            let Some(answers) = answers else {
                return Err(Lost::Fault(Fault::new(
                    "Limit",
                    "the worker sent a request that is not \
                     allowed",
                )));
            };
            let reply = match said {
                WorkerMessage::Done(result) => return Ok(result),
                WorkerMessage::Print(text) => {
                    answers.print(&text);
                    next.clear();
                    continue;
                }
                WorkerMessage::Name(name) => Reply::Name(answers.name(&name)),
                WorkerMessage::Value(name) => Reply::Name(answers.value(&name).map(Answer::Value)),
                WorkerMessage::Names => Reply::Names(answers.names()),
                WorkerMessage::Call { object, function, args, named } => {
                    Reply::Call(answers.call(object.as_deref(), &function, args, named))
                }
                WorkerMessage::File(call) => Reply::File(answers.file(call)),
                WorkerMessage::Env(name) => Reply::Env(answers.env(&name)),
            };
            next = wire::frame(&reply)?;
        }
    }

    fn write(
        &mut self,
        bytes: &[u8],
        deadline: Instant,
        cancelled: &AtomicBool,
    ) -> Result<(), Lost> {
        let mut done = 0;
        while done < bytes.len() {
            match rustix::io::write(&self.input, &bytes[done..]) {
                Ok(count) => done += count,
                Err(rustix::io::Errno::AGAIN) => {
                    ready(&self.input, PollFlags::OUT, deadline, cancelled)?;
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return Err(Lost::Idle),
            }
        }
        Ok(())
    }

    fn hear(&mut self, deadline: Instant, cancelled: &AtomicBool) -> Result<WorkerMessage, Lost> {
        let mut chunk = vec![0; 64 << 10];
        loop {
            if let Some(length) = wire::length(&self.read) {
                if length > LONGEST {
                    return Err(Lost::Fault(Fault::new("Limit", "the worker sent too much")));
                }
                if self.read.len() >= length + 4 {
                    let said = serde_json::from_slice(&self.read[4..length + 4]);
                    self.read.drain(..length + 4);
                    return said.map_err(|error| Lost::from(io::Error::from(error)));
                }
            }
            match rustix::io::read(&self.output, &mut chunk) {
                Ok(0) => return Err(Lost::Idle),
                Ok(count) => self.read.extend_from_slice(&chunk[..count]),
                Err(rustix::io::Errno::AGAIN) => {
                    ready(&self.output, PollFlags::IN, deadline, cancelled)?;
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return Err(Lost::Idle),
            }
        }
    }

    /// It ended without a word: because nobody needed it, or because of the job.
    fn ended(&mut self) -> Lost {
        match self.status() {
            Some(Status::Exited(0)) => Lost::Idle,
            _ => Lost::Fault(self.crash()),
        }
    }

    fn status(&mut self) -> Option<Status> {
        let until = Instant::now() + ENDING;
        loop {
            match self.service.try_wait() {
                None if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
                status => return status,
            }
        }
    }

    /// What a job did that ended its worker.
    fn crash(&mut self) -> Fault {
        let signal = |signal: rustix::process::Signal| Status::Signaled(signal.as_raw());
        let status = self.status();
        let message = if status == Some(signal(rustix::process::Signal::XCPU)) {
            "time limit exceeded"
        } else if status == Some(signal(rustix::process::Signal::ABORT)) {
            // What cannot be allocated aborts.
            "memory limit exceeded"
        } else {
            "the interpreter crashed"
        };
        Fault::new("Limit", message)
    }
}

/// Waits until there is something to read or room to write.
fn ready(
    fd: &OwnedFd,
    wanted: PollFlags,
    deadline: Instant,
    cancelled: &AtomicBool,
) -> Result<(), Lost> {
    loop {
        if cancelled.load(Ordering::Relaxed) {
            return Err(Lost::Fault(Fault::new("Cancelled", "the run was cancelled")));
        }
        let now = Instant::now();
        if now >= deadline {
            return Err(Lost::Fault(Fault::new("Limit", "time limit exceeded")));
        }
        let wait = Timespec::try_from(LOOK.min(deadline - now)).ok();
        match poll(&mut [PollFd::from_borrowed_fd(fd.as_fd(), wanted)], wait.as_ref()) {
            Ok(0) | Err(_) => {}
            Ok(_) => return Ok(()),
        }
    }
}
