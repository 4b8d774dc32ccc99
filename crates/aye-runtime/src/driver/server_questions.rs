//! Servers that ask in the middle of a call: each question is a run of its
//! own inside the step that waits for the server.

use aye_core::effect::Effect;
use aye_core::event::{CancelReason, EventKind};
use aye_core::form::Form;
use aye_core::id::RunId;
use aye_core::input::{Input, Request};
use aye_core::journal::{Ended, Phase};
use aye_core::machine::{Limits, Machine};
use aye_core::nested::{ChildRun, Parent};
use aye_core::text::World;

use crate::commit;
use crate::error::Error;
use crate::store::{Lease, Store};
use crate::tools::Reply;

use super::calls::{MOST_ASKED, ServerQuestion};
use super::child_run::ChildStart;
use super::drive::{Driver, Parts};
use super::lane::{LaneId, ROOT};

/// Who closes what nobody waits for any more.
const AYE: &str = "aye";

/// Why an answer to a question is refused whose server is gone.
pub const GONE: &str = "the server that asked is gone: the call it was part of was interrupted";

impl Driver<'_> {
    /// A server asks.
    pub(super) fn server_asks(&mut self, call: u64, ask: u64, form: Form) -> Result<(), Error> {
        let Some((id, execution, _)) = self.caller(call) else {
            self.parts.tools.reply(ask, Reply::Cancel);
            return Ok(());
        };
        if self.is_stopping(id) {
            self.parts.tools.reply(ask, Reply::Cancel);
            return Ok(());
        }
        let Some(index) = self.calls.ask(call) else {
            let why = format!("it has asked {MOST_ASKED} times");
            self.declined(id, &form.server, &why);
            self.parts.tools.reply(ask, Reply::Decline);
            return Ok(());
        };
        let form = Form { index: u32::try_from(index).unwrap_or(u32::MAX), ..form };
        let machine = &self.lane(id).machine;
        let shown = form.map(|text| machine.secrets().mask(text));
        let Phase::Running { step, .. } = &machine.state().phase else {
            self.parts.tools.reply(ask, Reply::Cancel);
            return Ok(());
        };
        let child = machine.asked(step, execution, shown.clone());
        let deadline = machine.state().deadline();
        match self.open_child(id, index, child, deadline, None, None)? {
            ChildStart::Started(lane) => {
                self.calls.wait(ServerQuestion { lane, call, ask, form, shown });
            }
            ChildStart::Refused(why) => {
                self.declined(id, &form.server, &why);
                self.parts.tools.reply(ask, Reply::Decline);
            }
        }
        Ok(())
    }

    /// Says that a server was told no.
    pub(super) fn declined(&mut self, id: LaneId, server: &str, why: &str) {
        self.note(id, &[format!("server `{server}` asked a question and was declined: {why}")]);
    }

    /// A question of a server was answered, or nobody can be asked about it.
    pub(super) fn form_rests(&mut self, id: LaneId) -> Result<(), Error> {
        if !matches!(self.lane(id).machine.next_effect(), Effect::Finish) {
            // Its server waits now, not whenever someone comes by.
            let why = self.lane(id).unasked.clone();
            let why = why.unwrap_or_else(|| "nobody can be asked any more".to_owned());
            return self.end_form(id, why);
        }
        let Some(question) = self.calls.answered(id) else { return Ok(()) };
        let ServerQuestion { call, ask, form, shown, .. } = question;
        let lane = self.lane(id);
        let (state, unasked) = (lane.machine.state(), lane.unasked.clone());
        let reply = match &state.phase {
            Phase::Ended(Ended::Completed) => {
                form.content(&shown, &state.outputs).map(Reply::Accept)
            }
            Phase::Ended(Ended::Cancelled(CancelReason::Declined)) => Ok(Reply::Decline),
            _ if unasked.is_some() => Ok(Reply::Decline),
            _ => Ok(Reply::Cancel),
        };
        self.close(id);
        match reply {
            Ok(reply) => {
                if let (Some(why), Some((id, ..))) = (unasked, self.caller(call)) {
                    self.declined(id, &form.server, &why);
                }
                self.parts.tools.reply(ask, reply);
                Ok(())
            }
            // Asked once more, with what was wrong.
            Err(why) => self.server_asks(call, ask, Form { note: Some(why), ..form }),
        }
    }

    /// The server of these questions waits no more.
    pub(super) fn asks_no_more(&mut self, ask: u64) -> Result<(), Error> {
        self.end_forms(|one| one.ask == ask, "the server no longer asks")
    }

    /// A call has ended, and with it its questions.
    pub(super) fn call_ended(&mut self, call: u64) -> Result<(), Error> {
        self.end_forms(|one| one.call == call, "the call has ended")
    }

    fn end_forms(
        &mut self,
        which: impl Fn(&ServerQuestion) -> bool,
        why: &str,
    ) -> Result<(), Error> {
        for lane in self.calls.lanes(which) {
            if !matches!(self.lane(lane).machine.next_effect(), Effect::Finish) {
                self.end_form(lane, why.to_owned())?;
            }
        }
        Ok(())
    }

    fn end_form(&mut self, lane: LaneId, why: String) -> Result<(), Error> {
        let cancel = Request::Cancel { by: AYE.to_owned(), reason: Some(why), now: true };
        self.apply(lane, Input::Request(cancel), None)?;
        Ok(())
    }

    /// Closes the questions of servers that are gone: those of a driver that died.
    pub(super) fn close_orphans(&mut self) -> Result<(), Error> {
        let world = self.world();
        let root = self.lane(ROOT).machine.state().run.clone();
        let machine = self.lane(ROOT).machine.clone();
        let Parts { store, lease, .. } = &mut self.parts;
        close_forms_within(*store, lease, &machine, &root, &world)
    }
}

/// Closes every question that a server asked in the runs inside this one.
fn close_forms_within(
    store: &mut dyn Store,
    lease: &Lease,
    around: &Machine,
    run: &RunId,
    world: &World,
) -> Result<(), Error> {
    for row in store.runs_inside(run)? {
        if row.status.is_ended() {
            continue;
        }
        if !close_form(store, lease, around, &row.id, world)? {
            close_forms_within(store, lease, around, &row.id, world)?;
        }
    }
    Ok(())
}

/// Closes the question of a server that nobody drives the call of; says
/// whether the run is one.
pub fn close_form(
    store: &mut dyn Store,
    lease: &Lease,
    around: &Machine,
    run: &RunId,
    world: &World,
) -> Result<bool, Error> {
    let events = store.events(run, 0)?;
    let parent = events.first().and_then(|event| match &event.kind {
        EventKind::SkillStarted(started) => started.parent.as_deref(),
        _ => None,
    });
    let Some(Parent { step, execution, form: Some(form), .. }) = parent else { return Ok(false) };
    let child = around.asked(step, *execution, Form::clone(form));
    let Ok(ChildRun::Steps { flow, outer }) = around.child(&child, None, world) else {
        return Ok(false);
    };
    let secrets = outer.secrets.clone();
    let mut machine = Machine::restore(flow, Limits::default(), secrets, &events, Some(*outer))
        .map_err(|error| Error::Journal { run: run.to_string(), error })?;
    if !matches!(machine.state().phase, Phase::Ended(_)) {
        let cancel =
            Request::Cancel { by: AYE.to_owned(), reason: Some(GONE.to_owned()), now: true };
        commit::handle(store, lease, &mut machine, Input::Request(cancel), world)?;
    }
    Ok(true)
}
