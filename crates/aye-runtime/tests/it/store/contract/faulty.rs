//! A store that is broken on purpose, in one way at a time.

mod concurrency;
mod fault;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use aye_core::event::Event;
use aye_core::id::{QuestionId, RunId};
use aye_core::input::Request;
use aye_core::question::Question;
use aye_runtime::store::{
    Announcer, AnswerToken, Audit, Audited, Finding, Found, Heads, Held, Holder, Job, Journal,
    Lease, LeaseError, Leases, Lessons, Listener, Logs, Mailbox, MemoryStore, MessageRow, Outbox,
    Pending, PlainLogs, Presence, Prune, Pruned, PrunedRun, Pruner, QuestionRow, Questions,
    RequestId, RunFilter, RunRow, RunStatus, Runs, Settled, Showing, ShowingProcess, Shown, Source,
    Store, StoreError, Verdict, Wake,
};
use jiff::Timestamp;
use tempfile::TempDir;

use super::Place;

pub(super) use fault::Fault;

/// Where a broken store is.
pub(super) struct FaultyPlace {
    store: Faulty,
    _logs: TempDir,
}

impl FaultyPlace {
    pub(super) fn new(fault: Fault) -> Self {
        let logs = tempfile::tempdir().unwrap();
        let inner = MemoryStore::new(logs.path());
        Self { store: Faulty { inner, fault, verdicts: Arc::default() }, _logs: logs }
    }
}

impl Place for FaultyPlace {
    fn open(&self) -> Box<dyn Store> {
        Box::new(self.store.clone())
    }

    fn expire(&self, run: &RunId) {
        self.store.inner.expire(run);
    }

    fn tamper(&self, run: &RunId) {
        self.store.inner.tamper(run);
    }
}

#[derive(Debug, Clone)]
struct Faulty {
    inner: MemoryStore,
    fault: Fault,
    /// The last verdicts, for [`Fault::VerdictChanges`].
    verdicts: Arc<Mutex<HashMap<RequestId, Verdict>>>,
}

impl Faulty {
    fn has(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    /// Events with the numbers that come next.
    fn renumbered(&self, events: &[Event]) -> Result<Vec<Event>, StoreError> {
        let mut events = events.to_vec();
        let mut last: HashMap<RunId, u64> = HashMap::new();
        for event in &mut events {
            let stored = self.inner.run(&event.run)?.map_or(0, |row| row.last_seq);
            let seq = last.entry(event.run.clone()).or_insert(stored);
            *seq += 1;
            event.seq = *seq;
        }
        Ok(events)
    }

    /// Appends with whatever epoch is the newest.
    fn append_unfenced(
        &mut self,
        lease: &Lease,
        events: &[Event],
        settled: &[(RequestId, Verdict)],
    ) -> Result<(), StoreError> {
        match self.inner.append(lease, events, settled) {
            Err(StoreError::Fenced { run, current, .. }) => {
                self.inner.append(&Lease::new(run, current, ()), events, settled)
            }
            other => other,
        }
    }
}

/// Never drops what it holds.
#[derive(Debug)]
struct Kept(Option<Lease>);

impl Drop for Kept {
    fn drop(&mut self) {
        std::mem::forget(self.0.take());
    }
}

/// Ends whatever lease there is when dropped.
#[derive(Debug)]
struct EndsAny(MemoryStore, RunId);

impl Drop for EndsAny {
    fn drop(&mut self) {
        self.0.expire(&self.1);
    }
}

impl Store for Faulty {}

impl Journal for Faulty {
    fn start(
        &mut self,
        lease: &Lease,
        events: &[Event],
        source: &Source,
    ) -> Result<(), StoreError> {
        let broken = self.broken_names(events)?;
        self.inner.start(lease, broken.as_deref().unwrap_or(events), source)
    }

    fn append(
        &mut self,
        lease: &Lease,
        events: &[Event],
        settled: &[(RequestId, Verdict)],
    ) -> Result<(), StoreError> {
        self.verdicts.lock().unwrap().extend(settled.iter().cloned());
        let broken = self.broken_names(events)?;
        let events = broken.as_deref().unwrap_or(events);
        match self.fault {
            Fault::AppendLost => Ok(()),
            Fault::NoSequenceCheck => {
                let events = self.renumbered(events)?;
                self.inner.append(lease, &events, settled)
            }
            Fault::AppendInParts => {
                for event in events {
                    self.inner.append(lease, std::slice::from_ref(event), &[])?;
                }
                self.inner.append(lease, &[], settled)
            }
            Fault::NoEpochCheck => self.append_unfenced(lease, events, settled),
            Fault::LeaseCoversAll => match self.inner.append(lease, events, settled) {
                Err(StoreError::NotCovered { run, .. }) => {
                    self.append_unfenced(&Lease::new(run, 1, ()), events, settled)
                }
                other => other,
            },
            Fault::VerdictLost => self.inner.append(lease, events, &[]),
            Fault::VerdictBeforeEvents => {
                self.inner.append(lease, &[], settled)?;
                self.inner.append(lease, events, &[])
            }
            _ => self.inner.append(lease, events, settled),
        }
    }

    fn events(&self, run: &RunId, after: u64) -> Result<Vec<Event>, StoreError> {
        let mut events = self.inner.events(run, after)?;
        if self.has(Fault::EventsOutOfOrder) {
            events.reverse();
        }
        Ok(events)
    }

    fn events_within(&self, run: &RunId, after: u64) -> Result<Vec<(u64, Event)>, StoreError> {
        if self.has(Fault::NeighboursAreInside) {
            return self.inner.events_after(after, u32::MAX);
        }
        self.inner.events_within(run, after)
    }

    fn events_after(&self, after: u64, limit: u32) -> Result<Vec<(u64, Event)>, StoreError> {
        let skipped = u64::from(self.has(Fault::WatcherSkips) && after > 0);
        self.inner.events_after(after + skipped, limit)
    }

    fn first_event(&self, run: &RunId) -> Result<Option<Event>, StoreError> {
        self.inner.first_event(run)
    }

    fn tail(&self, run: &RunId, count: u32) -> Result<Vec<Event>, StoreError> {
        self.inner.tail(run, count)
    }

    fn position(&self) -> Result<u64, StoreError> {
        self.inner.position()
    }

    fn source(&self, digest: &str) -> Result<Option<Source>, StoreError> {
        let kept = self.inner.source(digest)?;
        Ok(kept.filter(|_| !self.has(Fault::SourceLost)))
    }
}

impl Runs for Faulty {
    fn run(&self, run: &RunId) -> Result<Option<RunRow>, StoreError> {
        self.inner.run(run)
    }

    fn find_run(&self, name: &str) -> Result<Found<RunRow>, StoreError> {
        match self.inner.find_run(name)? {
            Found::Several(mut rows) if self.has(Fault::NamesGuess) => {
                Ok(Found::One(rows.remove(0)))
            }
            found => Ok(found),
        }
    }

    fn runs_inside(&self, run: &RunId) -> Result<Vec<RunRow>, StoreError> {
        self.inner.runs_inside(run)
    }

    fn claimants(&self, name: &str) -> Result<Vec<RunRow>, StoreError> {
        let mut rows = self.inner.claimants(name)?;
        if self.has(Fault::ClaimantsOutOfOrder) {
            rows.reverse();
        }
        Ok(rows)
    }

    fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
        let mut rows = self.inner.runs(filter)?;
        if self.has(Fault::OldestFirst) {
            rows.reverse();
        }
        Ok(rows)
    }

    fn count_runs(&self, status: RunStatus) -> Result<u64, StoreError> {
        match self.fault {
            Fault::CountsAll => Ok(self.inner.runs(&RunFilter::default())?.len() as u64),
            _ => self.inner.count_runs(status),
        }
    }
}

impl Questions for Faulty {
    fn open_questions(&self) -> Result<Vec<QuestionRow>, StoreError> {
        let mut rows = self.inner.open_questions()?;
        if self.has(Fault::RowsStale) {
            rows.clear();
        }
        Ok(rows)
    }

    fn open_questions_after(&self, after: u64, limit: u32) -> Result<Vec<QuestionRow>, StoreError> {
        let mut rows = self.inner.open_questions_after(after, limit)?;
        if self.has(Fault::RowsStale) {
            rows.clear();
        }
        Ok(rows)
    }

    fn count_open(&self) -> Result<u64, StoreError> {
        self.inner.count_open()
    }

    fn waiting_within(&self, run: &RunId) -> Result<u32, StoreError> {
        match self.fault {
            Fault::InsideWaitsUnseen => Ok(self.inner.run(run)?.map_or(0, |row| row.waiting)),
            _ => self.inner.waiting_within(run),
        }
    }

    fn questions(&self, run: &RunId) -> Result<Vec<QuestionRow>, StoreError> {
        self.inner.questions(run)
    }

    fn question(&self, name: &str) -> Result<Found<QuestionRow>, StoreError> {
        self.inner.question(name)
    }

    fn asked(&self, question: &QuestionId) -> Result<Option<Question>, StoreError> {
        let is_open = |row: &QuestionRow| row.id == *question;
        match self.fault {
            Fault::AskedForgotten if !self.inner.open_questions()?.iter().any(is_open) => Ok(None),
            _ => self.inner.asked(question),
        }
    }
}

impl Mailbox for Faulty {
    fn send(
        &mut self,
        run: &RunId,
        request: &Request,
        sender: &str,
        at: Timestamp,
    ) -> Result<RequestId, StoreError> {
        self.inner.send(run, request, sender, at)
    }

    fn pending(&mut self, run: &RunId) -> Result<Vec<Pending>, StoreError> {
        self.inner.pending(run)
    }

    fn pending_within(&mut self, run: &RunId) -> Result<Vec<Pending>, StoreError> {
        if self.has(Fault::InsideIsNotRead) {
            return self.inner.pending(run);
        }
        self.inner.pending_within(run)
    }

    fn verdict(&self, id: RequestId) -> Result<Option<Verdict>, StoreError> {
        let verdict = self.inner.verdict(id)?;
        Ok(match self.fault {
            Fault::VerdictChanges => self.verdicts.lock().unwrap().get(&id).cloned().or(verdict),
            Fault::EndedRunsAreSilent => verdict.filter(|verdict| *verdict != Verdict::Ended),
            _ => verdict,
        })
    }
}

impl Lessons for Faulty {
    fn pending_lessons(&self) -> Result<Vec<Event>, StoreError> {
        let mut events = self.inner.pending_lessons()?;
        events.retain(|_| !self.has(Fault::LessonLost));
        Ok(events)
    }

    fn is_pending_lesson(&self, run: &RunId, seq: u64) -> Result<bool, StoreError> {
        self.inner.is_pending_lesson(run, seq)
    }

    fn lesson_taken_in(&mut self, run: &RunId, seq: u64) -> Result<(), StoreError> {
        match self.fault {
            Fault::LessonKept => Ok(()),
            _ => self.inner.lesson_taken_in(run, seq),
        }
    }
}

impl Presence for Faulty {
    fn shows(
        &mut self,
        process: &ShowingProcess,
        shown: &[Showing],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        match self.fault {
            Fault::PresenceLost => Ok(()),
            Fault::PresenceKept if shown.is_empty() => Ok(()),
            _ => self.inner.shows(process, shown, now),
        }
    }

    fn shown(&self, question: &QuestionId, now: Timestamp) -> Result<Vec<Shown>, StoreError> {
        self.inner.shown(question, now)
    }
}

impl Outbox for Faulty {
    fn announce_with(&mut self, announcer: Option<Arc<dyn Announcer>>) {
        self.inner.announce_with(announcer.filter(|_| !self.has(Fault::AnnouncementLost)));
    }

    fn claim_message(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        busy: &[String],
    ) -> Result<Option<(Job, MessageRow)>, StoreError> {
        let until = if self.has(Fault::ClaimForgotten) { now } else { until };
        let claimed = self.inner.claim_message(now, until, busy)?;
        Ok(claimed.filter(|(job, _)| !self.has(Fault::RetractionLost) || *job != Job::Retract))
    }

    fn settle_message(
        &mut self,
        id: i64,
        settled: &Settled,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        match self.fault {
            Fault::SettlementLost => Ok(()),
            _ => self.inner.settle_message(id, settled, now),
        }
    }

    fn next_message(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        self.inner.next_message(now)
    }

    fn has_due_message(&self, run: &RunId, now: Timestamp) -> Result<bool, StoreError> {
        self.inner.has_due_message(run, now)
    }

    fn messages(&self, run: &RunId) -> Result<Vec<MessageRow>, StoreError> {
        self.inner.messages(run)
    }

    fn newest_messages(&self, limit: u32) -> Result<Vec<MessageRow>, StoreError> {
        self.inner.newest_messages(limit)
    }

    fn keep_token(&mut self, token: &AnswerToken) -> Result<(), StoreError> {
        self.inner.keep_token(token)
    }

    fn token(&self, digest: &str) -> Result<Option<AnswerToken>, StoreError> {
        self.inner.token(digest)
    }

    fn use_token(&mut self, digest: &str, now: Timestamp) -> Result<bool, StoreError> {
        let used = self.inner.use_token(digest, now)?;
        Ok(used || self.has(Fault::TokenCountsTwice))
    }
}

impl Leases for Faulty {
    fn acquire(&mut self, run: &RunId, holder: &Holder) -> Result<Lease, LeaseError> {
        if self.has(Fault::LeaseGivenTwice) {
            self.inner.expire(run);
        }
        let lease = self.inner.acquire(run, holder)?;
        let epoch = lease.epoch();
        Ok(match self.fault {
            Fault::LeaseKept => Lease::new(run.clone(), epoch, Kept(Some(lease))),
            Fault::EpochStands => Lease::new(run.clone(), 1, lease),
            Fault::LateReturnEndsNext => {
                Lease::new(run.clone(), epoch, EndsAny(self.inner.clone(), run.clone()))
            }
            _ => lease,
        })
    }

    fn holder(&self, run: &RunId) -> Result<Option<Held>, StoreError> {
        self.inner.holder(run)
    }

    fn held(&self) -> Result<Vec<Held>, StoreError> {
        let mut held = self.inner.held()?;
        if self.has(Fault::HeldIsHidden) {
            held.pop();
        }
        Ok(held)
    }
}

/// A store that nobody writes to.
fn elsewhere() -> &'static MemoryStore {
    static ELSEWHERE: OnceLock<MemoryStore> = OnceLock::new();
    ELSEWHERE.get_or_init(|| MemoryStore::new(Path::new("nowhere")))
}

impl Wake for Faulty {
    fn listen(&self) -> Result<Listener, StoreError> {
        match self.fault {
            Fault::WakeLost => elsewhere().listen(),
            _ => self.inner.listen(),
        }
    }

    fn listen_for_requests(&self, run: &RunId) -> Result<Listener, StoreError> {
        match self.fault {
            Fault::RequestWakeLost => elsewhere().listen(),
            Fault::AppendsWakeDrivers => self.inner.listen(),
            _ => self.inner.listen_for_requests(run),
        }
    }

    fn notify(&mut self) {
        self.inner.notify();
    }
}

impl Logs for Faulty {
    fn log(&self, run: &RunId, execution: u32, step: &str) -> PathBuf {
        match self.fault {
            Fault::LogsShared => self.inner.log(run, 1, "step"),
            _ => self.inner.log(run, execution, step),
        }
    }

    fn create_logs(&self, run: &RunId) -> Result<PathBuf, StoreError> {
        self.inner.create_logs(run)
    }

    fn plain_logs(&self) -> PlainLogs {
        match self.fault {
            Fault::PlainLogsForgotten => elsewhere().plain_logs(),
            _ => self.inner.plain_logs(),
        }
    }
}

impl Audit for Faulty {
    fn audit(
        &self,
        run: Option<&RunId>,
        report: &mut dyn FnMut(Finding),
    ) -> Result<Audited, StoreError> {
        match self.fault {
            Fault::AuditBlind => Ok(Audited::default()),
            Fault::LogsUnread => self.inner.audit(run, &mut |finding| match finding {
                Finding::LogChanged { .. }
                | Finding::LogShortened { .. }
                | Finding::LogMissing { .. } => {}
                other => report(other),
            }),
            _ => self.inner.audit(run, report),
        }
    }

    fn verify(&self, run: &RunId) -> Result<(), StoreError> {
        match self.fault {
            Fault::VerifyBlind => Ok(()),
            _ => self.inner.verify(run),
        }
    }

    fn heads(&self) -> Result<Heads, StoreError> {
        match self.fault {
            Fault::HeadsEmpty => Ok(Heads::default()),
            _ => self.inner.heads(),
        }
    }

    fn hash_of_event(&self, run: &RunId, seq: u64) -> Result<Option<[u8; 32]>, StoreError> {
        match self.fault {
            Fault::HashUnknown => Ok(None),
            _ => self.inner.hash_of_event(run, seq),
        }
    }

    fn pruned_runs(&self) -> Result<Vec<PrunedRun>, StoreError> {
        let mut entries = self.inner.pruned_runs()?;
        match self.fault {
            Fault::EntriesLost => entries.clear(),
            Fault::EntriesAnonymous => entries.iter_mut().for_each(|entry| entry.by.clear()),
            _ => {}
        }
        Ok(entries)
    }
}

impl Prune for Faulty {
    fn has_finished_older_than(&self, ended_before: Timestamp) -> Result<bool, StoreError> {
        self.inner.has_finished_older_than(ended_before)
    }

    fn prune_where(
        &mut self,
        pruner: &Pruner,
        ended_before: Timestamp,
        dry_run: bool,
        may_go: &mut dyn FnMut(&Path, Timestamp) -> bool,
    ) -> Result<Pruned, StoreError> {
        if self.has(Fault::HeldIsPruned) {
            for row in self.inner.runs(&RunFilter::default())? {
                self.inner.expire(&row.id);
            }
        }
        self.inner.prune_where(pruner, ended_before, dry_run, may_go)
    }

    fn prune_some(
        &mut self,
        pruner: &Pruner,
        ended_before: Timestamp,
        runs: usize,
        may_go: &mut dyn FnMut(&Path, Timestamp) -> bool,
    ) -> Result<Pruned, StoreError> {
        self.inner.prune_some(pruner, ended_before, runs, may_go)
    }
}
