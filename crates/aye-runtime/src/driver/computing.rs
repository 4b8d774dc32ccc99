//! Compute steps: a thread each, so that nothing else waits for them.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use aye_core::effect::{Compute, Process};
use aye_core::error_code::ErrorCode;
use aye_core::event::{LogSeal, Proposal};
use aye_core::input::{End, Finished};
use aye_core::kept_output::KeptOutput;
use aye_core::skill::{self, Template};
use aye_core::text::Scope;
use aye_process::Exit;
use aye_process::log::{FileDigest, LogDigest};
use indexmap::IndexMap;
use serde_json::Value;

use crate::compute::{self, Block, ComputeError, Limits, Quiet};
use crate::error::Error;
use crate::memory::View;
use crate::store::seal;

use super::drive::Driver;
use super::known::Remembering;
use super::lane::{LaneId, Meaning, Work};

/// What a thread has computed.
pub(super) struct Computed {
    lane: LaneId,
    execution: u32,
    result: Result<Value, ComputeError>,
    proposal: Option<Box<Proposal>>,
    lines: Vec<String>,
    /// What it wants written down.
    view: Box<View>,
}

/// The threads that compute.
#[derive(Default)]
pub(super) struct Computing {
    /// How they report, made with the first.
    channel: Option<Channel>,
    running: usize,
    /// Digest and text of the skill that was computed for last.
    source: Option<(String, String)>,
}

struct Channel {
    send: Sender<Computed>,
    receive: Receiver<Computed>,
    read: OwnedFd,
    write: Arc<OwnedFd>,
}

/// How a thread reports what it has computed.
struct Reporter {
    send: Sender<Computed>,
    wake: Arc<OwnedFd>,
}

impl Reporter {
    fn report(self, computed: Computed) {
        // Nobody listens any more once the run is over.
        if self.send.send(computed).is_ok() {
            let _ = rustix::io::write(&*self.wake, b"!");
        }
    }
}

impl Computing {
    /// One more computes, and reports so.
    fn begin(&mut self) -> io::Result<Reporter> {
        let Channel { send, write, .. } = self.channel()?;
        let reporter = Reporter { send: send.clone(), wake: Arc::clone(write) };
        self.running += 1;
        Ok(reporter)
    }

    /// How many compute; each takes a slot.
    pub(super) fn running(&self) -> usize {
        self.running
    }

    fn channel(&mut self) -> io::Result<&Channel> {
        if self.channel.is_none() {
            let (read, write) = io::pipe()?;
            let (send, receive) = channel();
            let (read, write) = (read.into(), Arc::new(write.into()));
            rustix::io::ioctl_fionbio(&read, true)?;
            self.channel = Some(Channel { send, receive, read, write });
        }
        self.channel.as_ref().ok_or_else(|| io::ErrorKind::Other.into())
    }

    /// Readable when [`next`](Self::next) has something.
    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.channel.as_ref().map(|channel| channel.read.as_fd())
    }

    fn next(&mut self) -> Option<Computed> {
        let channel = self.channel.as_ref()?;
        let mut byte = [0_u8; 64];
        // Only a wake-up: nothing to read is not news.
        let _ = rustix::io::read(&channel.read, &mut byte);
        let computed = channel.receive.try_recv().ok()?;
        self.running -= 1;
        Some(computed)
    }
}

impl Driver<'_> {
    /// Starts a compute step.
    pub(super) fn compute(
        &mut self,
        id: LaneId,
        execution: u32,
        step: &str,
        (compute, scope): (Compute, Scope),
        timeout: Option<Duration>,
    ) -> Result<(), Error> {
        let block = self.block(id, &compute);
        if compute.python {
            let program = match compute::python_program(&block, &scope) {
                Ok(program) => program,
                Err(error) => {
                    return self.finished(id, execution, failed_block(&error, None), None);
                }
            };
            let process = Process {
                argv: program.argv,
                env: IndexMap::new(),
                cwd: None,
                stdin: Some(program.stdin),
                interactive: false,
                tty: false,
                // Its result follows what it prints: only the latter is kept, once it has ended.
                kept: KeptOutput { log: false, ..KeptOutput::default() },
                max_memory: None,
                max_cpu: None,
            };
            let mut spec = self.spec(id, execution, step, &process);
            spec.timeout = timeout;
            // The result follows what it prints; a live view would show it.
            spec.live = false;
            return self.run(id, execution, spec, Meaning::Python(Box::new((block, scope))));
        }
        if !self.take_slot(id, execution, false)? {
            return Ok(());
        }
        let mut limits = Limits::default();
        limits.time = timeout.map_or(limits.time, |timeout| timeout.min(limits.time));
        let cancelled = Arc::new(AtomicBool::new(false));
        let reporter = self.computing.begin().map_err(Error::Output)?;
        let told = Arc::clone(&cancelled);
        let view = View::new(Arc::clone(&self.parts.memory), self.parts.clock.now());
        std::thread::spawn(move || {
            let mut host = Remembering { view, quiet: Quiet::default() };
            let result = compute::run(&block, &scope, &mut host, &limits, &told);
            let proposal = result.as_ref().err().and_then(|error| proposal(&block, error, &scope));
            let Remembering { view, quiet: host } = host;
            let view = Box::new(view);
            let told = host.emitted.iter().map(|(name, data)| format!("{name}: {data}"));
            let lines = host.lines.iter().cloned().chain(told).collect();
            reporter.report(Computed { lane: id, execution, result, proposal, lines, view });
        });
        self.mail.start_waiting(Instant::now());
        self.lane_mut(id).work = Work::Compute { execution, since: Instant::now(), cancelled };
        Ok(())
    }

    fn block(&mut self, id: LaneId, compute: &Compute) -> Block {
        let digest = self.lane(id).machine.state().started.source.clone();
        if self.computing.source.as_ref().is_none_or(|(known, _)| *known != digest) {
            let text = self.parts.store.source(&digest).ok().flatten();
            self.computing.source = text.map(|source| (digest, source.text));
        }
        let text = self.computing.source.as_ref().map_or("", |(_, text)| text.as_str());
        let (line, one_line) = line_of(text, &compute.code);
        let started = &self.lane(id).machine.state().started;
        Block {
            code: compute.code.value.clone(),
            output: Some(compute.output.clone()),
            file: Some(started.file.clone()),
            line,
            one_line,
            workspace: PathBuf::from(&started.workspace),
            files_read: compute.reads_files,
            written_as: compute.written_as.clone(),
        }
    }

    /// Takes in what was computed.
    pub(super) fn computed(&mut self) -> Result<(), Error> {
        while let Some(computed) = self.computing.next() {
            let Computed { lane, execution, result, proposal, lines, view } = computed;
            self.serve_queue();
            let current = self.lanes.get(lane);
            let Some(Work::Compute { execution: running, since, .. }) = current.map(|l| &l.work)
            else {
                continue;
            };
            if *running != execution {
                continue;
            }
            let took = Some(since.elapsed());
            self.say(lane, &lines);
            let log = self.keep_lines(lane, execution, &lines);
            self.lane_mut(lane).work = Work::Nothing;
            let learned = match &result {
                Ok(_) => self.written(lane, execution, *view),
                // What a block that failed wanted written down is not.
                Err(_) => Vec::new(),
            };
            let end = match result {
                Ok(value) => End::Exited { value, parsed: None },
                Err(error) if error.kind == "Cancelled" || self.is_stopping(lane) => End::Stopped,
                Err(error) => failed_block(&error, proposal),
            };
            let bare = Finished::bare(execution, end, took);
            self.tell_end(lane, Finished { log: log.map(Box::new), learned, ..bare })?;
        }
        Ok(())
    }

    /// Writes lines to the step's log, as if a program had written them; what
    /// is there then, if it could be written.
    fn keep_lines(&self, id: LaneId, execution: u32, lines: &[String]) -> Option<LogSeal> {
        let secrets = self.lane(id).machine.secrets();
        let text = lines.iter().map(|line| format!("{}\n", secrets.mask(line))).collect();
        self.keep_log(id, execution, text, String::new())
    }

    /// Shows what a block of `python3` printed, and writes it to the step's log;
    /// what is there then, if it could be written.
    pub(super) fn keep_printed(
        &mut self,
        id: LaneId,
        execution: u32,
        exit: &Exit,
    ) -> Option<LogSeal> {
        const MOST: usize = 10 << 20;
        let stdout = exit.stdout.text_of_last(MOST);
        let stdout = compute::printed(&stdout).to_owned();
        let lines: Vec<String> = stdout.lines().map(str::to_owned).collect();
        self.say(id, &lines);
        self.keep_log(id, execution, stdout, exit.stderr.text_of_last(MOST))
    }

    fn keep_log(
        &self,
        id: LaneId,
        execution: u32,
        stdout: String,
        stderr: String,
    ) -> Option<LogSeal> {
        let state = self.lane(id).machine.state();
        let step = state.current.as_ref()?;
        let base = self.parts.store.log(&state.run, execution, step);
        let write = |stream, text: String| {
            if text.is_empty() {
                return Some(None);
            }
            let path = aye_process::log::path(&base, stream);
            // A log that cannot be written is no reason to fail.
            let _ = path.parent().map(std::fs::create_dir_all);
            let digest = FileDigest::of(text.as_bytes());
            std::fs::write(path, text).ok().map(|()| Some(digest))
        };
        let stdout = write(aye_process::Stream::Stdout, stdout)?;
        let stderr = write(aye_process::Stream::Stderr, stderr)?;
        Some(seal(&LogDigest { stdout, stderr, ..LogDigest::default() }))
    }

    /// Says something that is Aye's own, and no step's.
    pub(super) fn note(&mut self, id: LaneId, lines: &[String]) {
        if lines.is_empty() {
            return;
        }
        for line in lines {
            let line = self.lane(id).machine.secrets().mask(line);
            self.parts.report.note(&line);
        }
    }

    /// Shows lines as if a program had written them.
    pub(super) fn say(&mut self, id: LaneId, lines: &[String]) {
        if lines.is_empty() || !self.parts.report.wants().output {
            return;
        }
        for line in lines {
            let line = self.lane(id).machine.secrets().mask(line);
            let line = format!("{line}\n");
            self.parts.report.output(id, aye_process::Stream::Stdout, line.as_bytes());
        }
    }
}

/// The line on which code begins, and whether its lines are none of the file:
/// in quotes they are written as `\n`.
fn line_of(text: &str, code: &Template) -> (usize, bool) {
    if let Some(line) = skill::first_line(text, code.span, &code.value) {
        return (line, false);
    }
    let before = text.get(..code.span.start).unwrap_or_default();
    (before.matches('\n').count() + 1, true)
}

/// A change that would mend a block, as the journal has it.
pub(super) fn proposal(
    block: &Block,
    error: &ComputeError,
    scope: &Scope,
) -> Option<Box<Proposal>> {
    let found = compute::propose(&block.code, block.output.as_deref(), error, scope)?;
    let diff = compute::diff(&block.code, &found.code);
    Some(Box::new(Proposal { why: found.why, diff, code: found.code }))
}

/// A block that gave no result.
pub(super) fn failed_block(error: &ComputeError, proposal: Option<Box<Proposal>>) -> End {
    let message = ComputeError { hint: None, ..error.clone() }.render();
    End::Failed {
        code: ErrorCode::Compute,
        message: message.trim_end().to_owned(),
        hint: error.hint.as_deref().map(str::to_owned),
        proposal,
    }
}

#[cfg(test)]
mod tests {
    use aye_core::span::Span;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use crate::memory::{InMemoryDocuments, Memory};

    use super::*;

    fn computed(execution: u32) -> Computed {
        let memory = Arc::new(Memory::over(None, Arc::new(InMemoryDocuments::default())));
        let view = Box::new(View::new(memory, jiff::Timestamp::UNIX_EPOCH));
        let result = Ok(Value::from(execution));
        Computed { lane: 1, execution, result, proposal: None, lines: Vec::new(), view }
    }

    fn is_ready(computing: &Computing) -> bool {
        let fd = computing.fd().expect("a descriptor");
        poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], Some(&Timespec::default()))
            .is_ok_and(|ready| ready > 0)
    }

    #[test]
    fn what_threads_report_wakes_the_driver_and_frees_a_slot() {
        let mut computing = Computing::default();
        assert!(computing.fd().is_none() && computing.next().is_none());
        let [one, two] = [(); 2].map(|()| computing.begin().expect("begun"));
        assert!(computing.running() == 2 && !is_ready(&computing));
        assert!(computing.next().is_none(), "nothing is computed yet");
        std::thread::spawn(|| two.report(computed(2))).join().expect("reported");
        assert!(is_ready(&computing));
        assert_eq!(computing.next().map(|done| done.execution), Some(2));
        assert!(computing.running() == 1 && !is_ready(&computing));
        one.report(computed(1));
        assert_eq!(computing.next().map(|done| done.execution), Some(1));
        assert!(computing.next().is_none() && computing.running() == 0);
    }

    #[test]
    fn two_wake_ups_are_read_once_and_nothing_is_lost() {
        let mut computing = Computing::default();
        for execution in 1..=3 {
            computing.begin().expect("begun").report(computed(execution));
        }
        let all: Vec<u32> =
            std::iter::from_fn(|| computing.next()).map(|done| done.execution).collect();
        assert_eq!(all, [1, 2, 3]);
        assert!(!is_ready(&computing));
    }

    #[test]
    fn a_thread_that_ends_after_the_run_reports_to_nobody() {
        let mut computing = Computing::default();
        let late = computing.begin().expect("begun");
        drop(computing);
        late.report(computed(1));
    }

    #[test]
    fn code_begins_where_its_first_line_stands() {
        let code_in = |text: &str, written: &str, code: &str| {
            let start = text.find(written).expect("it is there");
            let span = Span { start, end: start + written.len() };
            line_of(text, &Template::new(code.to_owned(), span))
        };
        let block = "steps:\n  - compute: |\n\n      a = 1\n      result = a\n";
        assert_eq!(code_in(block, "a = 1\n", "\na = 1\nresult = a\n"), (3, false));
        // In quotes, its lines are not lines of the file.
        let quoted = "steps:\n  - compute: \"a = 1\\nresult = a\"\n";
        assert_eq!(code_in(quoted, "\"a = 1\\nresult = a\"", "a = 1\nresult = a"), (2, true));
        // A text that is not there any more.
        let gone = Template::new("a".to_owned(), Span { start: 70, end: 71 });
        assert_eq!(line_of("", &gone), (1, true));
    }

    #[test]
    fn the_hint_of_a_block_that_failed_is_said_apart() {
        let error = ComputeError {
            kind: "KeyError".to_owned(),
            message: "'tag'".to_owned(),
            hint: Some("write `get`".into()),
            ..ComputeError::default()
        };
        let End::Failed { code, message, hint, proposal } = failed_block(&error, None) else {
            panic!("not a failure");
        };
        assert_eq!((code, message.as_str()), (ErrorCode::Compute, "KeyError: 'tag'"));
        assert_eq!((hint.as_deref(), proposal), (Some("write `get`"), None));
    }
}
