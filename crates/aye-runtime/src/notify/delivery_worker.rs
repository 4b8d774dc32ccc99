//! The thread that delivers: it claims messages that are due, and hands each to
//! a thread of its own, one for a channel at a time, so that a slow channel
//! holds up nothing but itself.

use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use aye_core::id::RunId;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::origin::host_name;
use crate::presence::is_shown_on;
use crate::settings::ChannelKind;
use crate::store::{Found, Job, MessageRow, MessageState, PresenceKind, Settled, Store};

use super::announce::{Announcement, Plan};
use super::decide::{ATTEMPTS, Decision, Situation, decide, pause};
use super::dropbox::DropBoxes;
use super::tokens::mint;
use super::{Channel, Delivered, Delivery, DeliveryError, Facts, Message, NotifyHost, deliver};

/// How long a claimed message is kept from others: longer than any delivery.
const CLAIM: SignedDuration = SignedDuration::from_secs(60);
/// How many deliveries there are at once.
const LANES: usize = 8;
/// How long an ending driver waits for its messages.
const FAREWELL: Duration = Duration::from_secs(2);
/// How often a driver looks, and how often a process that stays does.
const LOOK: Duration = Duration::from_secs(30);
const SERVER_LOOK: Duration = Duration::from_secs(2);

/// What the delivery worker hears.
enum DeliveryEvent {
    /// Something was written.
    Look,
    /// A delivery is over.
    Done(Job, Box<MessageRow>, Result<Delivered, DeliveryError>),
}

struct Shared {
    host: Arc<dyn NotifyHost>,
    sender: Mutex<Option<Sender<DeliveryEvent>>>,
    look: Duration,
}

/// Wakes the delivery worker, and starts it the first time.
#[derive(Clone)]
pub(super) struct Wake(Arc<Shared>);

impl fmt::Debug for Wake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wake").field("host", &self.0.host).finish_non_exhaustive()
    }
}

impl Wake {
    pub(super) fn look(&self) {
        let mut sender = self.0.sender.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = &*sender
            && sender.send(DeliveryEvent::Look).is_ok()
        {
            return;
        }
        let (events, heard) = channel();
        let (host, look, mine) = (Arc::clone(&self.0.host), self.0.look, events.clone());
        let run = move || DeliveryLoop::new(host, mine).run(&heard, look);
        // Without a thread the messages wait for the next process.
        if Builder::new().name("notify".to_owned()).spawn(run).is_ok() {
            *sender = Some(events);
        }
    }

    fn has_started(&self) -> bool {
        self.0.sender.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

/// Delivers messages beside a run. No thread and no connection is made before
/// there is something to tell.
#[derive(Debug, Clone)]
pub struct DeliveryWorker {
    wake: Wake,
}

impl DeliveryWorker {
    /// A delivery worker that has nothing to do yet.
    pub fn new(host: Arc<dyn NotifyHost>) -> Self {
        let shared = Shared { host, sender: Mutex::default(), look: LOOK };
        Self { wake: Wake(Arc::new(shared)) }
    }

    /// What the store asks about every event.
    pub fn announcement(&self, plan: Plan) -> Arc<Announcement> {
        Arc::new(Announcement::new(plan, self.wake.clone()))
    }

    /// Looks for messages that others left.
    pub fn look(&self) {
        self.wake.look();
    }

    /// Gives the messages of a run that are due two seconds at most; what is left
    /// is for the next process.
    pub fn finish(&self, store: &dyn Store, run: &RunId) {
        let host = &self.wake.0.host;
        let until = Instant::now() + FAREWELL;
        while self.wake.has_started()
            && Instant::now() < until
            && store.has_due_message(run, host.now()).unwrap_or_default()
        {
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Delivers for as long as this process lives: what the server has.
#[derive(Debug)]
pub struct ServerDelivery {
    _wake: Wake,
}

impl ServerDelivery {
    /// Begins.
    pub fn start(host: Arc<dyn NotifyHost>) -> Self {
        let shared = Shared { host, sender: Mutex::default(), look: SERVER_LOOK };
        let wake = Wake(Arc::new(shared));
        wake.look();
        Self { _wake: wake }
    }
}

/// The delivery worker at work.
struct DeliveryLoop {
    host: Arc<dyn NotifyHost>,
    events: Sender<DeliveryEvent>,
    store: Option<Box<dyn Store>>,
    busy: BTreeSet<String>,
    boxes: DropBoxes,
}

/// What is to be done with a claimed message.
enum Next {
    Deliver(Box<Channel>, Delivery),
    Settle(Settled),
}

impl DeliveryLoop {
    fn new(host: Arc<dyn NotifyHost>, events: Sender<DeliveryEvent>) -> Self {
        let boxes = DropBoxes::new(Arc::clone(&host));
        Self { host, events, store: None, busy: BTreeSet::new(), boxes }
    }

    fn run(mut self, heard: &Receiver<DeliveryEvent>, look: Duration) {
        self.boxes.watch_all();
        loop {
            let wait = self.deliver_due(look).unwrap_or(look).min(look);
            match heard.recv_timeout(wait) {
                Ok(DeliveryEvent::Look) | Err(RecvTimeoutError::Timeout) => {}
                Ok(DeliveryEvent::Done(job, row, result)) => {
                    self.busy.remove(&row.channel);
                    let settled = settled(job, &row, result, self.host.now());
                    self.settle(row.id, &settled);
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Starts what is due; how long until something else is. Nothing if the
    /// journal cannot be read now: it is looked at again.
    fn deliver_due(&mut self, look: Duration) -> Option<Duration> {
        if self.store.is_none() {
            self.store = self.host.open().ok();
        }
        while self.busy.len() < LANES {
            let now = self.host.now();
            let until = now.checked_add(CLAIM).unwrap_or(now);
            let busy: Vec<String> = self.busy.iter().cloned().collect();
            let store = self.store.as_mut()?;
            let Some((job, row)) = store.claim_message(now, until, &busy).ok()? else { break };
            match self.next(job, &row) {
                Next::Settle(settled) => self.settle(row.id, &settled),
                Next::Deliver(channel, delivery) => self.hand_over(job, row, channel, delivery),
            }
        }
        let now = self.host.now();
        let next = self.store.as_ref()?.next_message(now).ok()?;
        let until = next
            .map_or(look, |next| Duration::try_from(next.duration_since(now)).unwrap_or_default());
        // One that is due and not claimable is in hands: its end wakes us.
        Some(until.max(Duration::from_millis(50)))
    }

    fn settle(&mut self, id: i64, settled: &Settled) {
        let now = self.host.now();
        if let Some(store) = &mut self.store {
            // If it cannot be written, the claim runs out and it is told again.
            let _ = store.settle_message(id, settled, now);
        }
    }

    fn hand_over(&mut self, job: Job, row: MessageRow, channel: Box<Channel>, delivery: Delivery) {
        let events = self.events.clone();
        if let (ChannelKind::DropBox(files), Delivery::Send(_)) =
            (&channel.settings.kind, &delivery)
        {
            self.boxes.watch(&files.directory);
        }
        self.busy.insert(row.channel.clone());
        let name = row.channel.clone();
        let work = move || {
            let told = || deliver(&channel, &delivery);
            let failed = |_| Err(DeliveryError::new("the delivery panicked"));
            let result = catch_unwind(AssertUnwindSafe(told)).unwrap_or_else(failed);
            // Nobody listens any more once the process ends.
            let _ = events.send(DeliveryEvent::Done(job, Box::new(row), result));
        };
        if Builder::new().name("notify-one".to_owned()).spawn(work).is_err() {
            // The claim runs out, and it is tried again.
            self.busy.remove(&name);
        }
    }

    fn next(&mut self, job: Job, row: &MessageRow) -> Next {
        match self.try_next(job, row) {
            Ok(next) => next,
            Err(why) => Next::Settle(withdrawn(row, &why)),
        }
    }

    fn try_next(&mut self, job: Job, row: &MessageRow) -> Result<Next, String> {
        let Some(store) = self.store.as_mut() else { return Err("no journal".to_owned()) };
        let run = store.run(&row.run).map_err(|error| error.to_string())?;
        let run = run.ok_or("the run was pruned")?;
        let channel = self.host.channel(&run.workspace, &row.channel, &row.agreed)?;
        if job == Job::Retract {
            let receipt = row.receipt.clone().unwrap_or_default();
            return Ok(Next::Deliver(Box::new(channel), Delivery::Retract(receipt)));
        }
        let question = match &row.question {
            None => None,
            Some(id) => match store.question(id.as_str()) {
                Ok(Found::One(row)) => {
                    store.asked(id).ok().flatten().map(|question| (question, row))
                }
                _ => None,
            },
        };
        let now = self.host.now();
        let shown = row
            .question
            .as_ref()
            .is_some_and(|id| is_shown_on(&**store, id, now, PresenceKind::keeps_messages_away));
        let situation = Situation {
            row,
            question: question.as_ref().map(|(_, row)| row),
            channel: &channel.settings,
            shown,
            served: self.host.server().is_some(),
            now,
            zone: &TimeZone::system(),
        };
        match decide(&situation) {
            Decision::Withdraw(why) => return Err(why.to_owned()),
            Decision::Postpone(due) => {
                let settled = Settled {
                    state: MessageState::Waiting,
                    due,
                    result: None,
                    receipt: None,
                    tried: false,
                };
                return Ok(Next::Settle(settled));
            }
            Decision::Send => {}
        }
        let facts = Facts {
            run,
            question,
            link: channel.settings.link.clone().or_else(|| self.host.server()),
            person: channel.settings.person.clone(),
            host: host_name(),
        };
        let mut message = Message::new(row, &facts, channel.settings.show, now);
        message.replaces = last_receipt(&**store, row);
        mint(&mut **store, &channel.settings, &facts, &mut message)?;
        Ok(Next::Deliver(Box::new(channel), Delivery::Send(Box::new(message))))
    }
}

/// What the channel returned for the last message about the same question.
fn last_receipt(store: &dyn Store, row: &MessageRow) -> Option<String> {
    let question = row.question.as_ref()?;
    let all = store.messages(&row.run).ok()?;
    let same = |one: &&MessageRow| {
        one.id != row.id && one.channel == row.channel && one.question.as_ref() == Some(question)
    };
    all.iter()
        .filter(same)
        .filter(|one| one.receipt.is_some())
        .max_by_key(|one| one.tried)?
        .receipt
        .clone()
}

/// There is nothing left to do about a message.
fn withdrawn(row: &MessageRow, why: &str) -> Settled {
    let state = match row.state {
        MessageState::Sent => MessageState::Sent,
        MessageState::Waiting
        | MessageState::Withdrawn
        | MessageState::Failed
        | MessageState::Retracted => MessageState::Withdrawn,
    };
    let result = Some(why.to_owned());
    Settled { state, due: row.due, result, receipt: None, tried: false }
}

/// What came of a delivery.
fn settled(
    job: Job,
    row: &MessageRow,
    result: Result<Delivered, DeliveryError>,
    now: Timestamp,
) -> Settled {
    let over = row.attempts >= ATTEMPTS;
    let again = now.checked_add(pause(row.attempts)).unwrap_or(now);
    let (state, due, result, receipt) = match (job, result) {
        (Job::Send, Ok(delivered)) => {
            (MessageState::Sent, now, "sent".to_owned(), delivered.receipt)
        }
        (Job::Retract, Ok(_)) => (MessageState::Retracted, now, "taken back".to_owned(), None),
        (Job::Send, Err(error)) if over => (MessageState::Failed, now, error.to_string(), None),
        (Job::Send, Err(error)) => (MessageState::Waiting, again, error.to_string(), None),
        (Job::Retract, Err(error)) if over => (MessageState::Sent, now, error.to_string(), None),
        (Job::Retract, Err(error)) => {
            (MessageState::Sent, again, error.to_string(), row.receipt.clone())
        }
    };
    Settled { state, due, result: Some(result), receipt, tried: true }
}
