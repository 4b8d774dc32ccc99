//! Waiting for whatever comes first.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use aye_core::input::Input;
use aye_core::journal::Phase;
use aye_process::Happening;

use crate::error::Error;
use crate::report::{RunningAction, Tick};

use super::drive::Driver;
use super::lane::{LaneId, Work};

/// How often a view that shows the time is refreshed.
const REFRESH: Duration = Duration::from_millis(100);
/// How long a reader that did not keep up is waited for, before everything else is looked at.
const HELD: Duration = Duration::from_millis(10);
/// How long everything else is looked at then.
const GLANCE: Duration = Duration::from_millis(1);

/// Which of our descriptors is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Signals,
    Mail,
    Tools,
    Computing,
    Prompter,
    Secrets,
}

impl Driver<'_> {
    /// Waits until something happens to a lane.
    pub(super) fn wait(&mut self) -> Result<(), Error> {
        // Someone may have stopped this process meanwhile: what was shown then nobody saw.
        if self.signalled()? || self.tick()? {
            return Ok(());
        }
        self.keep_time()?;
        self.listen_for_secrets();
        // One that has just been shown has its time from now on.
        if self.ask()? || self.keep_time()? || self.rest()? {
            return Ok(());
        }
        self.wait_for_any()
    }

    /// Whether something is being done beside asking.
    fn is_busy(&self) -> bool {
        let busy = |id: &LaneId| {
            matches!(
                self.lane(*id).work,
                Work::Process { .. } | Work::Compute { .. } | Work::Tool { .. }
            )
        };
        self.live().iter().any(busy)
    }

    /// Tells those whose time has come; says whether there were any.
    fn tick(&mut self) -> Result<bool, Error> {
        let mut any = false;
        for id in self.live() {
            any |= self.tick_lane(id)?;
        }
        Ok(any)
    }

    /// Tells a run that its time has come, if it has.
    pub(super) fn tick_lane(&mut self, id: LaneId) -> Result<bool, Error> {
        let Some(lane) = self.lanes.get(id) else { return Ok(false) };
        let now = self.parts.clock.now();
        // What runs keeps its own time limit.
        let waits = !matches!(lane.machine.state().phase, Phase::Running { .. });
        let Some(at) = lane.machine.wake_at().filter(|at| waits && now >= *at) else {
            return Ok(false);
        };
        let asking = lane.machine.state().asking();
        let shown = asking.is_some_and(|question| self.was_seen(&question.id, at, now));
        self.apply(id, Input::Tick { shown }, None)?;
        Ok(true)
    }

    /// Until when there is nothing to do but wait.
    fn until(&self, full: bool) -> Instant {
        let now = Instant::now();
        let moves = || self.is_busy() || self.is_waiting_to_retry() || self.waits_for_name();
        let shows_time = self.mail.is_listening() && self.parts.report.wants().ticks && moves();
        let until = if shows_time { now + REFRESH } else { self.mail.look_at() };
        let until = if full { now + GLANCE } else { until };
        let until = self.questions.look_at().map_or(until, |look| until.min(look));
        let clock = self.parts.clock.now();
        let wakes = self.live().into_iter().filter_map(|id| self.lane(id).machine.wake_at());
        let left = wakes
            .map(|at| Duration::try_from(at.duration_since(clock)).unwrap_or(Duration::ZERO))
            .min();
        left.map_or(until, |left| until.min(now + left))
    }

    /// Waits once for programs, threads, tools, signals, requests and people.
    fn wait_for_any(&mut self) -> Result<(), Error> {
        // A reader that does not keep up holds the steps back, nothing else.
        if self.parts.sink.is_full() {
            self.parts.sink.drain(HELD);
        }
        let full = self.parts.sink.is_full();
        self.processes.hold(full);
        let until = self.until(full);
        let (happening, sources) = self.poll(until)?;
        // Time that passed while this process was stopped is nobody's silence.
        if matches!(happening, Happening::Deadline | Happening::Idle) && self.signalled()? {
            return Ok(());
        }
        match happening {
            Happening::Exited(index, exit) => self.exited(index, &exit),
            Happening::Wake(index) => match sources.get(index) {
                Some(Source::Signals) => self.signalled().map(drop),
                Some(Source::Mail) => self.read_mail(),
                Some(Source::Tools) => self.tool_events(),
                Some(Source::Computing) => self.computed(),
                Some(Source::Secrets) => {
                    self.secrets.serve();
                    Ok(())
                }
                // The next turn asks there.
                Some(Source::Prompter) | None => Ok(()),
            },
            Happening::Deadline if self.mail.should_listen(Instant::now()) => self.listen(),
            Happening::Deadline | Happening::Idle => {
                self.show_time();
                match self.mail.is_overdue(Instant::now()) {
                    true => self.read_mail(),
                    false => Ok(()),
                }
            }
            Happening::GuardLost => self.interrupt(9, "SIGKILL"),
        }
    }

    fn poll(&mut self, until: Instant) -> Result<(Happening, Vec<Source>), Error> {
        let Self { parts, mail, computing, processes, questions, secrets, .. } = self;
        let mut wake: Vec<BorrowedFd<'_>> = vec![parts.signals.fd()];
        let mut sources = vec![Source::Signals];
        let others = [
            (mail.listener().map(AsFd::as_fd), Source::Mail),
            (parts.tools.fd(), Source::Tools),
            (computing.fd(), Source::Computing),
        ];
        for (fd, source) in others {
            wake.extend(fd);
            sources.extend(fd.map(|_| source));
        }
        for fd in questions.wake() {
            wake.push(fd);
            sources.push(Source::Prompter);
        }
        for fd in secrets.wake() {
            wake.push(fd);
            sources.push(Source::Secrets);
        }
        let report = &mut *parts.report;
        let happening = processes.wait(&wake, until, &mut |lane, stream, bytes| {
            report.output(lane, stream, bytes);
        });
        let happening = happening.map_err(Error::Wait)?;
        Ok((happening, sources))
    }

    /// Signals came while something runs; says whether there were any.
    fn signalled(&mut self) -> Result<bool, Error> {
        let seen = self.read_signals()?;
        if !seen.any() {
            return Ok(false);
        }
        if seen.suspend {
            self.parts.report.suspended();
            self.stand_still()?;
            // Our own return is among them: the prompt comes back once.
            self.read_signals()?;
        } else if seen.resumed {
            // Nobody can see the prompts of a process that is stopped.
            self.forget_shown();
        }
        if seen.suspend || seen.resumed {
            self.parts.report.continued();
        }
        if seen.resize {
            self.parts.report.resized();
        }
        if seen.resize
            && let Some((columns, rows)) = self.parts.sink.window()
        {
            self.processes.resize(columns, rows);
        }
        if !seen.stops.is_empty() && !self.processes.is_empty() && self.stopping.say() {
            let patience = crate::fmt::duration(self.processes.patience(&seen.stops));
            let words = format!(
                "stopping; what still runs after {patience} is killed, or at once on a second \
                 signal"
            );
            self.parts.report.stopping(&words);
        }
        self.processes.stop_all(&seen.stops);
        Ok(true)
    }

    /// Nobody saw the questions here for a while, and other processes know it.
    fn forget_shown(&mut self) {
        self.questions.forget_seen();
        self.say_that_nothing_is_shown();
    }

    /// Ctrl-Z: everything stops, and continues when someone says so.
    fn stand_still(&mut self) -> Result<(), Error> {
        let since = self.parts.clock.now();
        self.forget_shown();
        self.processes.suspend();
        let after = self.parts.clock.now().duration_since(since);
        let after = Duration::try_from(after).unwrap_or(Duration::ZERO);
        for id in self.live() {
            self.apply(id, Input::Continued { after }, None)?;
        }
        Ok(())
    }

    /// Shows how long what runs has been running.
    fn show_time(&mut self) {
        let action = |(lane, elapsed, remaining)| RunningAction { lane, elapsed, remaining };
        let mut running: Vec<_> = self.processes.running().map(action).collect();
        for id in self.live() {
            match &self.lane(id).work {
                Work::Compute { since, .. } | Work::Tool { since, .. } => {
                    running.push(action((id, since.elapsed(), None)));
                }
                Work::Nothing
                | Work::Queued { .. }
                | Work::Process { .. }
                | Work::Editing(_)
                | Work::Nested { .. } => {}
            }
        }
        if running.is_empty() && !self.is_waiting_to_retry() && !self.waits_for_name() {
            return;
        }
        let (now, waiting) = (self.parts.clock.now(), self.processes.waiting());
        self.parts.report.tick(Tick { now, running: &running, waiting });
    }

    /// Whether a step waits for its next attempt.
    fn is_waiting_to_retry(&self) -> bool {
        let waits = |id: &LaneId| {
            let lane = self.lane(*id);
            matches!(lane.machine.state().phase, Phase::Transition(_))
                && lane.machine.wake_at().is_some()
        };
        self.live().iter().any(waits)
    }
}
