//! The data, and appending to it: all or nothing.

use std::collections::{BTreeMap, HashMap, HashSet};

use aye_core::event::Event;
use aye_core::id::RunId;

use super::wake::Listeners;
use crate::store::chain::{Hash, hashed};
use crate::store::derive::{self, Derived, Placed};
use crate::store::pruned_run::Chain;
use crate::store::{
    Announcer, AnswerToken, Holder, Lease, MessageRow, MessageState, NameClaim, NewMessage,
    Pending, PrunedRun, Pruner, QuestionRow, RequestId, RunRow, Source, StoreError, Verdict,
    concurrency,
};

#[derive(Debug, Default)]
pub(super) struct State {
    /// In the order in which they were committed.
    pub(super) events: Vec<Stored>,
    /// The number of the last event there ever was.
    pub(super) last_n: u64,
    runs: BTreeMap<RunId, Derived>,
    pub(super) sources: HashMap<String, Source>,
    pub(super) requests: Vec<Sent>,
    /// How many requests were ever sent.
    pub(super) sent: i64,
    /// What memory has not taken in.
    pub(super) lessons: HashSet<(RunId, u64)>,
    /// Where questions are shown.
    pub(super) presence: Vec<super::presence::Row>,
    /// Messages to people.
    pub(super) messages: Vec<MessageRow>,
    /// How many there ever were.
    pub(super) announced: i64,
    /// Rights to answer, by their digest.
    pub(super) tokens: HashMap<String, AnswerToken>,
    /// How often a lease has changed hands.
    pub(super) epochs: HashMap<RunId, u64>,
    /// Who holds a lease, and which one.
    pub(super) held: HashMap<RunId, (u64, Holder)>,
    pub(super) leases: u64,
    pub(super) listeners: Listeners,
    /// What is left of pruned runs.
    pub(super) pruned: Vec<PrunedRun>,
    /// Where the chain of those ends.
    pub(super) chain: Chain,
}

/// An event with its place and the size of its text.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) n: u64,
    pub(super) hash: Hash,
    pub(super) event: Event,
    pub(super) bytes: u64,
}

/// A request, and what became of it.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) pending: Pending,
    pub(super) verdict: Option<Verdict>,
}

impl concurrency::Claims for State {
    fn claimants(&self, name: Option<&str>) -> Result<Vec<RunRow>, StoreError> {
        let wanted = |row: &&RunRow| {
            row.claim.is_some() && name.is_none_or(|name| row.concurrency.as_deref() == Some(name))
        };
        let mut rows: Vec<RunRow> = self.newest().into_iter().filter(wanted).cloned().collect();
        rows.sort_by_key(|row| match row.claim {
            Some(NameClaim::Waits { since, .. }) => since,
            Some(NameClaim::Held) | None => 0,
        });
        Ok(rows)
    }

    fn around(&self, run: &RunId) -> Result<RunId, StoreError> {
        let mut outer = run;
        while let Some(parent) = self.run(outer).and_then(|row| row.parent.as_ref()) {
            outer = parent;
        }
        Ok(outer.clone())
    }

    fn is_held(&self, outermost: &RunId) -> Result<bool, StoreError> {
        Ok(self.held.contains_key(outermost))
    }
}

impl State {
    pub(super) fn append(
        &mut self,
        lease: &Lease,
        events: &[Event],
        settled: &[(RequestId, Verdict)],
        announcer: Option<&dyn Announcer>,
    ) -> Result<(), StoreError> {
        self.check_epoch(lease, events)?;
        let mut stored = Vec::new();
        let mut caused = Vec::new();
        let mut changed: BTreeMap<RunId, Derived> = BTreeMap::new();
        for event in events {
            let before = changed.remove(&event.run).or_else(|| self.runs.get(&event.run).cloned());
            concurrency::check(
                self,
                lease.run(),
                before.as_ref().map(|derived| &derived.run),
                event,
            )?;
            let n = self.last_n + stored.len() as u64 + 1;
            let (next, after) = place(lease, before, n, event)?;
            stored.push(next);
            if let Some(announcer) = announcer {
                let messages = announcer.messages(event, &after.run);
                caused.extend(messages.into_iter().map(|message| (event, message)));
            }
            changed.insert(event.run.clone(), after);
        }
        // Nothing fails from here on.
        self.settle(settled);
        self.last_n += stored.len() as u64;
        let learned = events.iter().filter(|event| event.kind.lesson().is_some());
        self.lessons.extend(learned.map(|event| (event.run.clone(), event.seq)));
        self.events.extend(stored);
        for (event, message) in caused {
            self.announce(event, message);
        }
        self.epochs.entry(lease.run().clone()).or_insert(lease.epoch());
        let mut freed_name = false;
        for (run, after) in changed {
            if after.run.status.is_ended() {
                self.refuse_rest(&run);
            }
            let claims = after.run.claim.is_some();
            let before = self.runs.insert(run, after);
            freed_name |= before.is_some_and(|before| before.run.claim.is_some()) && !claims;
        }
        match freed_name {
            true => self.listeners.notify_of_requests(|_| true),
            false => self.listeners.notify(),
        }
        Ok(())
    }

    /// Whether the lease is the newest there is. A run that has not started is
    /// claimed by the append that starts it.
    fn check_epoch(&self, lease: &Lease, events: &[Event]) -> Result<(), StoreError> {
        let run = lease.run();
        match self.epochs.get(run) {
            Some(current) if *current == lease.epoch() => Ok(()),
            Some(current) => Err(StoreError::Fenced {
                run: run.clone(),
                epoch: lease.epoch(),
                current: *current,
            }),
            None if events.first().is_some_and(|event| event.run == *run) => Ok(()),
            None => Err(StoreError::NoRun { run: run.clone() }),
        }
    }

    fn announce(&mut self, event: &Event, message: NewMessage) {
        self.announced += 1;
        self.messages.push(MessageRow {
            id: self.announced,
            run: event.run.clone(),
            seq: event.seq,
            channel: message.channel,
            agreed: message.agreed,
            occasion: message.occasion,
            question: message.question,
            due: message.due,
            state: MessageState::Waiting,
            attempts: 0,
            claimed: None,
            result: None,
            tried: None,
            receipt: None,
        });
    }

    /// Gives verdicts; the first one a request gets stands.
    fn settle(&mut self, settled: &[(RequestId, Verdict)]) {
        for (id, verdict) in settled {
            if let Some(sent) = self.requests.iter_mut().find(|sent| sent.pending.id == *id) {
                sent.verdict.get_or_insert_with(|| verdict.clone());
            }
        }
    }

    /// Refuses what nobody will read any more.
    fn refuse_rest(&mut self, run: &RunId) {
        for sent in self.requests.iter_mut().filter(|sent| sent.pending.run == *run) {
            sent.verdict.get_or_insert(Verdict::Ended);
        }
    }

    pub(super) fn run(&self, run: &RunId) -> Option<&RunRow> {
        self.runs.get(run).map(|derived| &derived.run)
    }

    pub(super) fn derived(&self) -> impl Iterator<Item = &Derived> {
        self.runs.values()
    }

    /// Every run, the newest first.
    pub(super) fn newest(&self) -> Vec<&RunRow> {
        let mut rows: Vec<&RunRow> = self.runs.values().map(|derived| &derived.run).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.n));
        rows
    }

    /// Every question, the oldest first.
    pub(super) fn questions(&self) -> Vec<&QuestionRow> {
        let mut rows: Vec<&QuestionRow> =
            self.runs.values().flat_map(|derived| &derived.questions).collect();
        rows.sort_by_key(|row| row.n);
        rows
    }

    /// Writes down that a run is pruned.
    pub(super) fn keep_entry(&mut self, run: &RunId, pruner: &Pruner) {
        let Some(row) = self.run(run) else { return };
        let (last_seq, head) = (row.last_seq, row.head);
        let whole = |stored: &&Stored| stored.event.run.is_within(run);
        let mut entry = PrunedRun {
            n: 0,
            run: run.to_string(),
            at: pruner.at,
            by: pruner.by.clone(),
            events: self.events.iter().filter(whole).count() as u64,
            last_seq,
            head,
            hash: [0; 32],
        };
        self.chain.add(&mut entry);
        self.pruned.push(entry);
    }

    /// Forgets runs, with everything that belongs to them.
    pub(super) fn forget(&mut self, gone: &[RunId]) {
        self.events.retain(|stored| !gone.contains(&stored.event.run));
        self.requests.retain(|sent| !gone.contains(&sent.pending.run));
        self.lessons.retain(|(run, _)| !gone.contains(run));
        self.messages.retain(|message| !gone.contains(&message.run));
        let is_gone =
            |token: &AnswerToken| token.question.run().is_some_and(|run| gone.contains(&run));
        self.tokens.retain(|_, token| !is_gone(token));
        for run in gone {
            self.runs.remove(run);
            self.epochs.remove(run);
        }
        let Self { runs, sources, .. } = self;
        sources.retain(|digest, _| runs.values().any(|derived| derived.run.source == *digest));
    }
}

/// Puts one event behind what is there.
fn place(
    lease: &Lease,
    before: Option<Derived>,
    n: u64,
    event: &Event,
) -> Result<(Stored, Derived), StoreError> {
    let run = &event.run;
    if !lease.covers(run) {
        let (run, lease) = (run.clone(), lease.run().clone());
        return Err(StoreError::NotCovered { run, lease });
    }
    let last = before.as_ref().map_or(0, |derived| derived.run.last_seq);
    if event.seq != last + 1 {
        return Err(StoreError::Conflict { run: run.clone(), last, got: event.seq });
    }
    let (body, hash) = hashed(event, before.as_ref().map(|derived| &derived.run.head))?;
    let after = derive::fold(before, Placed { n, hash, event })?;
    Ok((Stored { n, hash, event: event.clone(), bytes: body.len() as u64 }, after))
}
