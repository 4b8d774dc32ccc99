//! Running the action of a step.

use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use aye_core::effect::{Effect, Execution};
use aye_core::event::ProcessRecord;
use aye_core::input::{End, Finished, Input};
use aye_process::policy::Policy;
use aye_process::{Exit, Happening, Limits, Outcome, Running, SpawnError, Spec, Stdin, Stop};

use crate::error::Error;
use crate::report::Outlet;

use super::drive::{Driver, QUICK, SLOW_POLL};

/// How much of its output is a step's result, for later steps.
const VALUE: usize = 1024 * 1024;
/// How much of each stream a journal keeps; the log has the rest.
const KEPT: usize = 64 * 1024;
/// How often a view that shows the time is refreshed.
const REFRESH: Duration = Duration::from_millis(100);
/// How often a reader that did not keep up is looked at again.
const HELD: Duration = Duration::from_millis(10);

impl Driver<'_> {
    /// Runs the action to its end, whatever that is.
    pub(super) fn act(&mut self, execution: u32) -> Result<(), Error> {
        if matches!(self.parts.machine.wants(), Effect::Stop { .. }) {
            // Cancelled before it began.
            return self.finished(execution, End::Stopped, None);
        }
        let resolved = match self.parts.machine.execution(&self.world()) {
            Ok(Some(resolved)) => resolved,
            Ok(None) => return Ok(()),
            Err(error) => {
                let end = End::NotStarted {
                    code: error.code.to_owned(),
                    exit_code: None,
                    message: error.to_string(),
                    hint: error.hint,
                };
                return self.finished(execution, end, None);
            }
        };
        let spec = self.spec(&resolved);
        if let Err(end) = permitted(&self.parts.policy, &spec) {
            return self.finished(execution, *end, None);
        }
        let log = spec.log.clone();
        self.parts.report.step_begins(resolved.interactive);
        match aye_process::spawn(spec) {
            Ok(child) => {
                let exit = self.attend(child)?;
                self.parts.report.step_ends();
                self.logs.finished(log, exit.stdout.total() + exit.stderr.total());
                let (end, process) = conclude(&exit);
                self.finished(execution, end, Some(process))
            }
            Err(error) => {
                self.parts.report.step_ends();
                self.finished(execution, not_started(&error), None)
            }
        }
    }

    fn finished(
        &mut self,
        execution: u32,
        end: End,
        process: Option<ProcessRecord>,
    ) -> Result<(), Error> {
        self.tell(Input::Finished(Finished { execution, end, process }), None)?;
        Ok(())
    }

    fn spec(&self, execution: &Execution) -> Spec {
        let (program, args) = match execution.argv.split_first() {
            Some((program, args)) => (program.clone(), args),
            None => (String::new(), [].as_slice()),
        };
        let state = self.parts.machine.state();
        let workspace = PathBuf::from(&state.started.workspace);
        let mut spec = Spec::new(program);
        spec.args = args.iter().map(Into::into).collect();
        spec.cwd = Some(match &execution.cwd {
            Some(cwd) => workspace.join(cwd),
            None => workspace,
        });
        spec.env = execution
            .env
            .iter()
            .map(|(name, value)| (name.into(), value.as_ref().map(Into::into)))
            .collect();
        // Programs see a pipe; tell those who ask that colours are welcome.
        let force = "CLICOLOR_FORCE";
        if self.parts.report.shows_color() && !execution.env.contains_key(force) {
            spec.env.push((force.into(), Some("1".into())));
        }
        if let Some(text) = &execution.stdin {
            spec.stdin = Stdin::Bytes(text.clone().into_bytes());
        }
        spec.timeout = execution.timeout;
        spec.interactive = execution.interactive;
        spec.tty = execution.tty;
        spec.limits = Limits {
            memory: execution.max_memory,
            cpu_seconds: execution.max_cpu.map(|limit| limit.as_secs().max(1)),
        };
        spec.live = self.parts.report.wants_output();
        spec.masks = self.parts.machine.secrets().values().map(|s| s.as_bytes().to_vec()).collect();
        spec.run = Some(state.run.to_string());
        if !execution.interactive {
            let home = self.parts.store.home();
            spec.log = Some(home.log(&state.run, execution.execution, &execution.step));
        }
        spec
    }

    /// Waits for the child's end while everything else goes on.
    fn attend(&mut self, child: Running) -> Result<Exit, Error> {
        let mut children = [child];
        let began = Instant::now();
        loop {
            let listening = self.bell.is_some();
            let until = match (listening, self.parts.report.is_live()) {
                (false, _) => began + QUICK,
                (true, true) => Instant::now() + REFRESH,
                (true, false) => self.mail_read + SLOW_POLL,
            };
            // A reader that does not keep up holds the step back, nothing else;
            // once the step is to end, nobody waits for the reader.
            let full = self.parts.outlets.iter().any(Outlet::is_full);
            let ending = children[0].stopping().is_some();
            children[0].hold(full);
            if full && ending {
                children[0].set_live(false);
            }
            let until = if full { until.min(Instant::now() + HELD) } else { until };
            let happening = self.wait(&mut children, until)?;
            if full {
                self.parts.outlets.iter().for_each(|outlet| {
                    outlet.drain();
                });
            }
            match happening {
                Happening::Exited(_, exit) => return Ok(*exit),
                Happening::Wake(0) => {
                    let seen = self.read_signals()?;
                    if seen.suspend {
                        self.parts.report.pause();
                        aye_process::suspend(&mut children);
                    }
                    if seen.resize {
                        self.forward_size(&mut children);
                    }
                    // The second request reaches the child as a kill.
                    for stop in seen.stops {
                        children[0].stop(stop);
                    }
                }
                Happening::Wake(_) => self.mail(&mut children)?,
                Happening::Deadline if !listening && began.elapsed() >= QUICK => self.listen()?,
                Happening::Deadline | Happening::Idle => {
                    self.parts.report.tick(children[0].elapsed(), children[0].remaining());
                    if self.mail_read.elapsed() >= SLOW_POLL {
                        self.mail(&mut children)?;
                    }
                }
                Happening::GuardLost => {
                    self.told_to_stop.get_or_insert(9);
                    self.tell(Input::Interrupt { signal: "SIGKILL".to_owned() }, None)?;
                }
            }
            if matches!(self.parts.machine.wants(), Effect::Stop { .. })
                && children[0].stopping().is_none()
            {
                children[0].stop(Stop::Cancel);
            }
        }
    }

    fn mail(&mut self, children: &mut [Running; 1]) -> Result<(), Error> {
        self.read_mail()?;
        if self.cancels > 1 {
            children[0].kill(Stop::Cancel);
        }
        Ok(())
    }

    fn wait(&mut self, children: &mut [Running; 1], until: Instant) -> Result<Happening, Error> {
        let Self { parts, bell, .. } = self;
        let mut wake: Vec<BorrowedFd<'_>> = vec![parts.signals.fd()];
        wake.extend(bell.as_ref().map(|bell| bell.as_fd()));
        let report = &mut *parts.report;
        aye_process::wait(children, &wake, Some(until), &mut |_, stream, bytes| {
            report.output(stream, bytes);
        })
        .map_err(|source| Error::File {
            doing: "wait for",
            path: PathBuf::from("step"),
            source,
        })
    }

    fn forward_size(&self, children: &mut [Running; 1]) {
        if let Some((columns, rows)) = crate::term::size() {
            // A child without a pseudo-terminal has no window to resize.
            let _ = children[0].resize(columns, rows);
        }
    }
}

/// From what the operating system says to what the core is told.
fn conclude(exit: &Exit) -> (End, ProcessRecord) {
    let signal = match exit.outcome {
        Outcome::Signaled(signal) => Some(signal),
        Outcome::Exited(_) | Outcome::TimedOut | Outcome::Cancelled | Outcome::Interrupted => None,
    };
    let stdout = exit.stdout.text_of_last(KEPT);
    let beyond = |total: u64| total.saturating_sub(KEPT as u64);
    let process = ProcessRecord {
        exit_code: Some(exit.exit_code()),
        signal,
        duration_ms: u64::try_from(exit.duration.as_millis()).unwrap_or(u64::MAX),
        stderr: exit.stderr.text_of_last(KEPT),
        dropped: beyond(exit.stdout.total()) + beyond(exit.stderr.total()),
        leaky: exit.leaky,
        leftovers: u32::try_from(exit.leftovers).unwrap_or(u32::MAX),
        left_running: u32::try_from(exit.left_running).unwrap_or(u32::MAX),
        peak_memory: Some(exit.peak_memory),
        cpu_ms: Some(u64::try_from(exit.cpu_time.as_millis()).unwrap_or(u64::MAX)),
        stdout,
    };
    let end = match exit.outcome {
        Outcome::Exited(_) | Outcome::Signaled(_) => {
            let value = aye_process::text::lossy(exit.stdout.last(VALUE));
            End::Exited { value: value.trim_end_matches(['\n', '\r']).into() }
        }
        Outcome::TimedOut => End::TimedOut,
        Outcome::Cancelled | Outcome::Interrupted => End::Stopped,
    };
    (end, process)
}

/// What the policy has against it; an empty one is not asked.
fn permitted(policy: &Policy, spec: &Spec) -> Result<(), Box<End>> {
    if *policy == Policy::default() {
        return Ok(());
    }
    let program = aye_process::resolve(spec).map_err(|error| Box::new(not_started(&error)))?;
    policy.check(spec, &program).map_err(|refusal| {
        Box::new(End::NotStarted {
            code: refusal.code().to_owned(),
            exit_code: None,
            message: refusal.to_string(),
            hint: Some(refusal.hint()),
        })
    })
}

fn not_started(error: &SpawnError) -> End {
    End::NotStarted {
        code: error.code().to_owned(),
        exit_code: match error.exit_code() {
            code @ (126 | 127) => Some(code),
            _ => None,
        },
        message: error.to_string(),
        hint: error.hint(),
    }
}
