//! Starting and stopping what a step does.

use std::path::PathBuf;

use aye_core::effect::{Effect, Execution, Process, Rendered};
use aye_core::event::{LeftProcess, ProcessRecord};
use aye_core::input::{End, Finished, Input};
use aye_core::kept_output::KeptOutput;
use aye_core::text::TextError;
use aye_process::policy::Policy;
use aye_process::survivors::STEP_VARIABLE;
use aye_process::{
    Exit, Limits, Outcome, Signal, Sink, SpawnError, Spec, Stdin, signal_name, signal_words,
};
use serde_json::Value;

use crate::codes;
use crate::compute::{self, MemoryCall};
use crate::error::Error;
use crate::store::seal;

use super::calling::{Within, called, failed_call};
use super::computing::{failed_block, proposal};
use super::drive::Driver;
use super::lane::{LaneId, Meaning, ROOT, Work};
use super::result_limits::{KEPT, Room};

/// The same number on every system there is.
const INTERRUPT: i32 = 2;

impl Driver<'_> {
    /// Starts what a lane's step does.
    pub(super) fn start(&mut self, id: LaneId, execution: u32) -> Result<(), Error> {
        let resolved = match self.lane(id).machine.execution(&self.world()) {
            Ok(Some(resolved)) => resolved,
            Ok(None) => return Ok(()),
            Err(error) => return self.finished(id, execution, unrendered(error), None),
        };
        let Execution { step, attempt, timeout, own_limit, task, .. } = resolved;
        let task = match self.lane(id).machine.render(task, &self.world()) {
            Ok(task) => task,
            Err(error) => return self.finished(id, execution, unrendered(error), None),
        };
        // Once is enough: what waited for a slot was warned about before.
        if !self.lane(id).machine.state().is_queued()
            && let Some(end) = self.warn_before_step(id, &step, attempt)?
        {
            return self.finished(id, execution, end, None);
        }
        match task {
            Rendered::Process(process) => {
                let world = self.world();
                self.lane_mut(id).machine.mask_env(&process, &world);
                self.share_secrets(id);
                let mut spec = self.spec(id, execution, &step, &process);
                spec.timeout = timeout;
                self.run(id, execution, spec, Meaning::Text)
            }
            Rendered::Compute(block) => self.compute(id, execution, &step, *block, timeout),
            Rendered::Tool(call) => {
                self.call(id, execution, &step, *call, Within { timeout, own_limit })
            }
            Rendered::Nested(nested) => self.start_inside(id, execution, *nested),
        }
    }

    /// Starts a program.
    pub(super) fn run(
        &mut self,
        id: LaneId,
        execution: u32,
        spec: Spec,
        meaning: Meaning,
    ) -> Result<(), Error> {
        if !self.take_slot(id, execution, spec.interactive)? {
            return Ok(());
        }
        if let Err(end) = permitted(&self.parts.policy, &spec, &meaning) {
            return self.finished(id, execution, *end, None);
        }
        // A hint takes the command apart, and a secret in it with it.
        let program = spec.program.to_string_lossy().into_owned();
        let discreet = self.lane(id).machine.secrets().mask(&program) != program;
        let (log, interactive) = (spec.log.clone(), spec.interactive);
        let kept = kept_output(&spec);
        self.parts.report.step_begins(id, interactive);
        match self.processes.start(id, spec) {
            Ok(()) => {
                self.lane_mut(id).work =
                    Work::Process { execution, log, kept, meaning, interactive };
                Ok(())
            }
            Err(error) => {
                self.parts.report.step_ends(id);
                if matches!(error, SpawnError::HungUp { .. }) {
                    self.interrupt(Signal::Hangup.number(), Signal::Hangup.name())?;
                    return self.finished(id, execution, End::Stopped, None);
                }
                let end = not_started(&error);
                self.finished(id, execution, if discreet { without_hint(end) } else { end }, None)
            }
        }
    }

    /// Takes a slot for a step, and the terminal for one that needs it; the step waits
    /// where there is none. Two programs on one terminal would stop each other.
    pub(super) fn take_slot(
        &mut self,
        id: LaneId,
        execution: u32,
        interactive: bool,
    ) -> Result<bool, Error> {
        let waited = self.lane(id).machine.state().is_queued();
        let no_slot = self.processes.free(self.computing.running()) == 0;
        let no_terminal = interactive && self.processes.have_terminal();
        if no_slot || no_terminal {
            match no_terminal {
                true => self.processes.enqueue_for_terminal(id),
                false => self.processes.enqueue(id, waited),
            }
            self.lane_mut(id).work = Work::Queued { execution };
            if !waited {
                self.apply(id, Input::Queued { execution }, None)?;
            }
            return Ok(false);
        }
        if waited {
            self.apply(id, Input::Dequeued { execution }, None)?;
        }
        Ok(true)
    }

    /// Slots and the terminal may have become free: those that waited longest try again.
    pub(super) fn serve_queue(&mut self) {
        let free = self.processes.free(self.computing.running());
        let for_terminal = self.processes.dequeue_for_terminal();
        for id in for_terminal.into_iter().chain(self.processes.dequeue(free)) {
            if let Some(lane) = self.lanes.get_mut(id)
                && matches!(lane.work, Work::Queued { .. })
            {
                lane.work = Work::Nothing;
                self.lanes.look_at(id);
            }
        }
    }

    /// A program has ended.
    pub(super) fn exited(&mut self, index: usize, exit: &Exit) -> Result<(), Error> {
        let id = self.processes.ended(index);
        self.serve_queue();
        self.parts.report.step_ends(id);
        let work = std::mem::replace(&mut self.lane_mut(id).work, Work::Nothing);
        let (execution, log, kept, meaning, interactive) = match work {
            Work::Process { execution, log, kept, meaning, interactive } => {
                (execution, log, kept, meaning, interactive)
            }
            Work::Editing(opened) => return self.edited(id, &opened, exit),
            Work::Nothing
            | Work::Queued { .. }
            | Work::Compute { .. }
            | Work::Tool { .. }
            | Work::Nested { .. } => return Ok(()),
        };
        self.logs.finished(log, exit.stdout.total() + exit.stderr.total());
        let room = self.room_for(id, exit, &meaning);
        let (mut end, mut process) = conclude(exit, kept, room);
        let ended_by_us = !matches!(exit.outcome, Outcome::Exited(_) | Outcome::Signaled(_));
        if id != ROOT && (ended_by_us || process.left_running > 0) {
            self.stopping.ended_inside(process.left_running);
        }
        // Ctrl-C in a program that has the terminal reaches it and not us, and
        // means the same; so does the end of the terminal.
        let for_us = match process.signal {
            _ if exit.hung_up => Some(Signal::Hangup),
            Some(INTERRUPT) if interactive => Some(Signal::Interrupt),
            _ => None,
        };
        if let Some(signal) = for_us {
            self.interrupt(signal.number(), signal.name())?;
            end = End::Stopped;
        }
        let mut calls = Vec::new();
        if process.exit_code == Some(0) {
            (end, calls) = understand(end, &meaning);
        }
        let (end, learned) = self.wants_written(id, execution, end, &calls);
        let mut log = exit.digest.as_ref().map(seal);
        if matches!(meaning, Meaning::Python(_)) {
            process.stdout = compute::printed(&process.stdout).to_owned();
            process.kept = KeptOutput::default();
            log = self.keep_printed(id, execution, exit);
        }
        let (process, log) = (Some(process), log.map(Box::new));
        let bare = Finished::bare(execution, end, None);
        self.tell_end(id, Finished { process, log, learned, ..bare })
    }

    /// Ends what a lane's step does.
    pub(super) fn stop(&mut self, id: LaneId, execution: u32) -> Result<(), Error> {
        let hurry = self.lane(id).cancels > 1;
        match &self.lane(id).work {
            Work::Process { .. } => {
                self.processes.stop(id, hurry);
                Ok(())
            }
            Work::Compute { cancelled, .. } => {
                cancelled.store(true, std::sync::atomic::Ordering::Relaxed);
                Ok(())
            }
            Work::Tool { call, .. } => {
                let call = *call;
                self.parts.tools.cancel(call);
                Ok(())
            }
            Work::Nested { .. } => self.stop_inside(id),
            // Stopped before it began.
            Work::Queued { .. } => {
                self.processes.leave_queue(id);
                self.lane_mut(id).work = Work::Nothing;
                self.finished(id, execution, End::Stopped, None)
            }
            Work::Nothing => self.stop_untaken(id, execution),
            Work::Editing(_) => self.finished(id, execution, End::Stopped, None),
        }
    }

    pub(super) fn finished(
        &mut self,
        id: LaneId,
        execution: u32,
        end: End,
        process: Option<ProcessRecord>,
    ) -> Result<(), Error> {
        self.tell_end(id, Finished { process, ..Finished::bare(execution, end, None) })
    }

    pub(super) fn spec(
        &self,
        id: LaneId,
        execution: u32,
        step: &str,
        process: &Process<String>,
    ) -> Spec {
        let (program, args) = match process.argv.split_first() {
            Some((program, args)) => (program.clone(), args),
            None => (String::new(), [].as_slice()),
        };
        let machine = &self.lane(id).machine;
        let state = machine.state();
        let workspace = PathBuf::from(&state.started.workspace);
        let mut spec = Spec::new(program);
        spec.args = args.iter().map(Into::into).collect();
        spec.cwd = Some(match &process.cwd {
            Some(cwd) => workspace.join(cwd),
            None => workspace,
        });
        spec.env = process
            .env
            .iter()
            .map(|(name, value)| (name.into(), value.as_ref().map(Into::into)))
            .collect();
        // Programs see a pipe; tell those who ask that colours are welcome.
        let force = "CLICOLOR_FORCE";
        if self.parts.report.wants().color && !process.env.contains_key(force) {
            spec.env.push((force.into(), Some("1".into())));
        }
        // Shows to which step a process belongs.
        let step_of = format!("{}/{execution}", state.run);
        spec.env.push((STEP_VARIABLE.into(), Some(step_of.into())));
        if let Some(text) = &process.stdin {
            spec.stdin = Stdin::Bytes(text.clone().into_bytes());
        }
        spec.interactive = process.interactive;
        spec.tty = process.tty;
        spec.limits = Limits {
            memory: process.max_memory,
            cpu_seconds: process.max_cpu.map(|limit| limit.as_secs().max(1)),
        };
        spec.live = self.parts.report.wants().output;
        spec.tail_limit = self.parts.max_result;
        spec.masks = machine.secrets().values().map(|s| s.as_bytes().to_vec()).collect();
        // What survives a crash is looked for by the run that holds the others.
        let root = &self.lane(ROOT).machine.state().run;
        spec.run = Some(root.to_string());
        let sink = |kept| if kept { Sink::Capture } else { Sink::Discard };
        (spec.stdout, spec.stderr) = (sink(process.kept.stdout), sink(process.kept.stderr));
        if !process.interactive && process.kept.log {
            spec.log = Some(self.parts.store.log(&state.run, execution, step));
            spec.digest = true;
        }
        spec
    }

    /// Whether a lane's step is to be ended.
    pub(super) fn is_stopping(&self, id: LaneId) -> bool {
        matches!(self.lane(id).machine.next_effect(), Effect::Stop { .. })
    }
}

/// What is kept of what a program writes; one with the terminal writes there.
fn kept_output(spec: &Spec) -> KeptOutput {
    KeptOutput {
        stdout: spec.stdout == Sink::Capture,
        stderr: spec.stderr == Sink::Capture,
        log: spec.interactive || spec.log.is_some(),
    }
}

/// From what the operating system says to what the core is told.
fn conclude(exit: &Exit, kept: KeptOutput, room: Room) -> (End, ProcessRecord) {
    let signal = match exit.outcome {
        Outcome::Signaled(signal) => Some(signal),
        Outcome::Exited(_) | Outcome::TimedOut | Outcome::Cancelled | Outcome::Interrupted => None,
    };
    let stdout = exit.stdout.text_of_last(KEPT);
    let beyond = |total: u64| total.saturating_sub(KEPT as u64);
    let process = ProcessRecord {
        exit_code: Some(exit.exit_code()),
        signal,
        signal_name: signal.and_then(signal_name).map(str::to_owned),
        ended_with: exit.ended_with.map(signal_words),
        duration_ms: u64::try_from(exit.duration.as_millis()).unwrap_or(u64::MAX),
        stderr: exit.stderr.text_of_last(KEPT),
        kept,
        dropped: beyond(exit.stdout.total()) + beyond(exit.stderr.total()),
        leaky: exit.leaky,
        leftovers: u32::try_from(exit.leftovers).unwrap_or(u32::MAX),
        left_running: u32::try_from(exit.left_running.len()).unwrap_or(u32::MAX),
        left: exit
            .left_running
            .iter()
            .map(|left| LeftProcess { pid: left.pid, name: left.name.clone() })
            .collect(),
        peak_memory: exit.peak_memory,
        cpu_ms: Some(u64::try_from(exit.cpu_time.as_millis()).unwrap_or(u64::MAX)),
        remarks: exit
            .hint()
            .map(str::to_owned)
            .into_iter()
            .chain(exit.log_problem())
            .chain(room.remark)
            .collect(),
        stdout,
    };
    let end = match exit.outcome {
        Outcome::Exited(_) | Outcome::Signaled(_) => {
            // What a mask hides is for later steps, and for them alone.
            let mut value = exit.stdout.plain_text_of_last(room.bytes);
            value.truncate(value.trim_end_matches(['\n', '\r']).len());
            End::Exited { value: value.into(), parsed: None }
        }
        Outcome::TimedOut => End::TimedOut,
        Outcome::Cancelled | Outcome::Interrupted => End::Stopped,
    };
    (end, process)
}

/// What the policy has against it; an empty one is not asked.
fn permitted(policy: &Policy, spec: &Spec, meaning: &Meaning) -> Result<(), Box<End>> {
    if *policy == Policy::default() {
        return Ok(());
    }
    // What a block is wrapped in is nothing that someone has written.
    let bare =
        matches!(meaning, Meaning::Python(_)).then(|| Spec { args: Vec::new(), ..spec.clone() });
    let spec = bare.as_ref().unwrap_or(spec);
    let program = aye_process::resolve(spec).map_err(|error| Box::new(not_started(&error)))?;
    policy.check(spec, &program).map_err(|refusal| {
        Box::new(End::NotStarted {
            code: codes::of_refusal(&refusal),
            exit_code: None,
            message: refusal.to_string(),
            hint: Some(refusal.hint()),
        })
    })
}

fn not_started(error: &SpawnError) -> End {
    End::NotStarted {
        code: codes::of_spawn(error),
        exit_code: match error.exit_code() {
            code @ (126 | 127) => Some(code),
            _ => None,
        },
        message: error.to_string(),
        hint: error.hint(),
    }
}

fn without_hint(end: End) -> End {
    match end {
        End::NotStarted { code, exit_code, message, .. } => {
            End::NotStarted { code, exit_code, message, hint: None }
        }
        other => other,
    }
}

fn unrendered(error: TextError) -> End {
    End::NotStarted { code: error.code, exit_code: None, message: error.message, hint: error.hint }
}

/// What the text of a good end means, and what it asked memory.
fn understand(end: End, meaning: &Meaning) -> (End, Vec<MemoryCall>) {
    let End::Exited { value: Value::String(text), .. } = &end else { return (end, Vec::new()) };
    let end = match meaning {
        Meaning::Text => end,
        Meaning::Tool(tool) => match tool.result(text) {
            Ok(result) => called(result),
            Err(error) => failed_call(error),
        },
        Meaning::Python(python) => {
            let (block, scope) = &**python;
            match compute::python_result(block, scope, text, &compute::Limits::default()) {
                Ok(result) => {
                    let end = End::Exited { value: result.value, parsed: None };
                    return (end, result.memory);
                }
                Err(error) => failed_block(&error, proposal(block, &error, scope)),
            }
        }
    };
    (end, Vec::new())
}
