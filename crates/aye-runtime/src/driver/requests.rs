//! Requests from other processes, and signals.

use std::time::Instant;

use aye_core::input::{Attach, Input, Request};
use aye_core::journal::Phase;
use aye_process::{Signal, Stop};

use crate::error::Error;
use crate::store::Verdict;

use super::drive::Driver;
use super::lane::{LaneId, ROOT};

impl Driver<'_> {
    /// Starts to listen for requests; those sent before are read at once.
    pub(super) fn listen(&mut self) -> Result<(), Error> {
        if !self.mail.is_listening() {
            let run = self.lane(ROOT).machine.state().run.clone();
            self.mail.listen(self.parts.store.listen_for_requests(&run)?);
            self.read_mail()?;
        }
        Ok(())
    }

    /// Handles every request that waits for this run.
    pub(super) fn read_mail(&mut self) -> Result<(), Error> {
        self.mail.reading(Instant::now())?;
        let root = self.lane(ROOT).machine.state().run.clone();
        for pending in self.parts.store.pending_within(&root)? {
            // Aye was told to stop: the runs inside come to rest one by one, and one that has been
            // left would not clean up. The process that cancels drives the clean-up once we are gone.
            if self.stopping.is_told() && matches!(pending.request, Request::Cancel { .. }) {
                continue;
            }
            let is_for = |id: &LaneId| self.lane(*id).machine.state().run == pending.run;
            let Some(id) = self.live().into_iter().find(is_for) else { continue };
            // What was asked has expired, or nobody saw it expire, before the answer came.
            self.tick_lane(id)?;
            let request = match self.secrets.open(pending.request) {
                Ok(request) => request,
                Err(lost) => {
                    let refused = Verdict::Refused(lost.to_owned());
                    self.parts.store.append(&self.parts.lease, &[], &[(pending.id, refused)])?;
                    continue;
                }
            };
            if let Request::Cancel { now, .. } = request {
                let state = self.lane(id).machine.state();
                if state.is_ending_since(pending.at) {
                    let taken = [(pending.id, Verdict::Accepted)];
                    self.parts.store.append(&self.parts.lease, &[], &taken)?;
                    continue;
                }
                let now = now || state.ends_on_cancel();
                let lane = self.lane_mut(id);
                lane.cancels += 1;
                lane.cancel_now = now.then_some(pending.at);
            }
            self.apply(id, Input::Request(request), Some(pending.id))?;
            self.wake_up(id)?;
        }
        self.try_names_again();
        Ok(())
    }

    /// Listens for secrets and codes while a question wants one: nothing else
    /// pays for it.
    pub(super) fn listen_for_secrets(&mut self) {
        let mut asking = self.lanes.live().filter_map(|(_, lane)| lane.machine.state().asking());
        let wanted = asking.any(|question| question.secret || question.reauth);
        self.secrets.listen(wanted);
    }

    /// A run that nobody could be asked about continues once it is answered.
    fn wake_up(&mut self, id: LaneId) -> Result<(), Error> {
        let lane = self.lane(id);
        let answered = matches!(lane.machine.state().phase, Phase::Transition(_));
        if lane.unasked.is_some() && answered && !self.stopping.is_told() && id != ROOT {
            self.attach_again(id)?;
        }
        Ok(())
    }

    /// Takes up a run inside the run that had come to rest.
    pub(super) fn attach_again(&mut self, id: LaneId) -> Result<(), Error> {
        let lane = self.lane_mut(id);
        lane.unasked = None;
        lane.rests = false;
        let driver = self.lane(ROOT).machine.state().driver.clone();
        let epoch = self.epoch();
        self.apply(id, Input::Attach(Attach { driver, epoch }), None)?;
        Ok(())
    }

    /// Aye was told to stop, by a signal to it, to its guard or to the step that has the
    /// terminal: tells every run, the innermost first.
    pub(super) fn interrupt(&mut self, number: i32, signal: &str) -> Result<(), Error> {
        self.stopping.told(number);
        for id in self.live().into_iter().rev() {
            if self.lanes.get(id).is_some() {
                self.apply(id, Input::Interrupt { signal: signal.to_owned() }, None)?;
            }
        }
        Ok(())
    }

    /// Takes in the signals that came.
    pub(super) fn read_signals(&mut self) -> Result<SignalsSeen, Error> {
        let mut seen = SignalsSeen::default();
        while let Some(signal) = self.parts.signals.next() {
            match signal {
                Signal::Interrupt | Signal::Terminate | Signal::Hangup | Signal::Quit => {
                    // A person at the terminal interrupts; anything else cancels.
                    seen.stops.push(match signal {
                        Signal::Interrupt => Stop::Interrupt,
                        _ => Stop::Cancel,
                    });
                    self.interrupt(signal.number(), signal.name())?;
                }
                Signal::Suspend => seen.suspend = true,
                Signal::Continue => seen.resumed = true,
                Signal::Resize => seen.resize = true,
            }
        }
        Ok(seen)
    }
}

/// What the signals were.
#[derive(Debug, Default)]
pub(super) struct SignalsSeen {
    /// Each time Aye was told to stop, and how to pass it on.
    pub(super) stops: Vec<Stop>,
    /// Ctrl-Z.
    pub(super) suspend: bool,
    /// Someone continued us after a stop.
    pub(super) resumed: bool,
    /// The window has another size.
    pub(super) resize: bool,
}

impl SignalsSeen {
    pub(super) fn any(&self) -> bool {
        !self.stops.is_empty() || self.suspend || self.resumed || self.resize
    }
}
