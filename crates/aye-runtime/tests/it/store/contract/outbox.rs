//! Messages to people.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use aye_core::event::{Event, EventKind};
use aye_runtime::store::{
    Announcer, AnswerToken, Job, MessageState, NewMessage, Occasion, Pruner, RunRow, Settled,
    Store, StoreError,
};

use super::super::sample::{moment, pruner};
use super::{Kept, Place, begun, ensure};

/// Wants every question and every good end told through one channel.
#[derive(Debug, Default)]
struct Everything {
    committed: AtomicU32,
}

impl Announcer for Everything {
    fn messages(&self, event: &Event, run: &RunRow) -> Vec<NewMessage> {
        let (occasion, question) = match &event.kind {
            EventKind::ConfirmationRequired(question) => (Occasion::Question, Some(question)),
            EventKind::SkillCompleted { .. } => (Occasion::Completed, None),
            _ => return Vec::new(),
        };
        vec![NewMessage {
            channel: format!("about-{}", run.skill),
            agreed: "digest".to_owned(),
            occasion,
            question: question.map(|question| question.id.clone()),
            due: event.at,
        }]
    }

    fn committed(&self) {
        self.committed.fetch_add(1, Ordering::Relaxed);
    }
}

fn announcing(store: &mut dyn Store) -> Arc<Everything> {
    let announcer = Arc::new(Everything::default());
    store.announce_with(Some(announcer.clone()));
    announcer
}

fn sent(receipt: Option<&str>) -> Settled {
    Settled {
        state: MessageState::Sent,
        due: moment(50_000),
        result: Some("sent".to_owned()),
        receipt: receipt.map(str::to_owned),
        tried: true,
    }
}

pub(super) fn with_the_event(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let announcer = announcing(&mut *store);
    let (mut tale, lease) = begun(&mut *store, "abcdefgh12")?;
    let before = announcer.committed.load(Ordering::Relaxed);
    let asked = tale.asks(1);
    let number = asked.seq;
    tale.seq += 5;
    let late = tale.step("b");
    let refused = store.append(&lease, &[asked.clone(), late], &[]);
    ensure!(matches!(refused, Err(StoreError::Conflict { .. })), "not refused: {refused:?}");
    ensure!(store.messages(&tale.run)?.is_empty(), "a message without its event");
    ensure!(announcer.committed.load(Ordering::Relaxed) == before, "told of no commit");
    store.append(&lease, &[asked], &[])?;
    let told = store.messages(&tale.run)?;
    ensure!(told.len() == 1, "not one message: {told:?}");
    ensure!(announcer.committed.load(Ordering::Relaxed) > before, "not told of the commit");
    let one = &told[0];
    ensure!(one.seq == number && one.run == tale.run, "the wrong event");
    ensure!(one.channel == "about-release" && one.agreed == "digest", "the wrong channel");
    ensure!(one.occasion == Occasion::Question && one.question.is_some(), "the wrong occasion");
    ensure!(one.state == MessageState::Waiting && one.attempts == 0, "it does not wait");
    let mut other = place.open();
    ensure!(other.newest_messages(10)? == told, "others do not see it");
    // Another process that opens the store announces nothing by itself.
    other.announce_with(None);
    Ok(())
}

pub(super) fn claimed_once(place: &dyn Place) -> Kept {
    let (mut store, mut other) = (place.open(), place.open());
    announcing(&mut *store);
    let (mut tale, lease) = begun(&mut *store, "abcdefgh12")?;
    let asked = tale.asks(1);
    let due = asked.at;
    store.append(&lease, &[asked], &[])?;
    let (early, until) = (moment(0), moment(60_000));
    ensure!(store.claim_message(early, until, &[])?.is_none(), "claimed before it is due");
    ensure!(store.next_message(early)? == Some(due), "not said when it is due");
    let now = moment(30_000);
    let busy = ["about-release".to_owned()];
    ensure!(store.claim_message(now, until, &busy)?.is_none(), "a busy channel got another");
    let Some((job, row)) = store.claim_message(now, until, &[])? else {
        return Err("it cannot be claimed".into());
    };
    ensure!(job == Job::Send && row.attempts == 1, "claimed wrongly: {job:?} {row:?}");
    ensure!(other.claim_message(now, until, &[])?.is_none(), "claimed twice");
    ensure!(other.has_due_message(&tale.run, now)?, "it is being sent");
    // Anyone who claimed it died: after the limit it is claimed again.
    let Some((_, again)) = other.claim_message(moment(60_001), moment(90_000), &[])? else {
        return Err("a claim never runs out".into());
    };
    ensure!(again.id == row.id && again.attempts == 2, "another one: {again:?}");
    let put_off = Settled {
        state: MessageState::Waiting,
        due: moment(100_000),
        result: Some("refused".to_owned()),
        receipt: None,
        tried: true,
    };
    other.settle_message(again.id, &put_off, moment(61_000))?;
    let row = store.messages(&tale.run)?.remove(0);
    ensure!(row.due == moment(100_000) && row.claimed.is_none(), "not put off: {row:?}");
    ensure!(row.result.as_deref() == Some("refused"), "the result is lost");
    ensure!(row.tried == Some(moment(61_000)), "it is not known when it was tried");
    ensure!(!store.has_due_message(&tale.run, moment(99_000))?, "due although it was put off");
    ensure!(store.claim_message(moment(99_000), moment(200_000), &[])?.is_none(), "too early");
    let claimed = store.claim_message(moment(100_000), moment(200_000), &[])?;
    ensure!(claimed.is_some(), "it is never tried again");
    store.settle_message(row.id, &sent(None), moment(100_000))?;
    ensure!(store.next_message(now)?.is_none(), "sent, and still to be sent");
    ensure!(store.claim_message(moment(900_000), moment(999_000), &[])?.is_none(), "sent twice");
    // One that was only put off was not tried.
    let row = store.messages(&tale.run)?.remove(0);
    ensure!(row.attempts == 3 && row.state == MessageState::Sent, "not as settled: {row:?}");
    Ok(())
}

pub(super) fn retracted(place: &dyn Place) -> Kept {
    let mut store = place.open();
    announcing(&mut *store);
    let (mut tale, lease) = begun(&mut *store, "abcdefgh12")?;
    let asked = tale.asks(1);
    store.append(&lease, &[asked], &[])?;
    let now = moment(60_000);
    let Some((_, row)) = store.claim_message(now, moment(90_000), &[])? else {
        return Err("nothing to claim".into());
    };
    store.settle_message(row.id, &sent(Some("receipt")), now)?;
    ensure!(store.claim_message(now, moment(90_000), &[])?.is_none(), "taken back while it waits");
    store.append(&lease, &[tale.answered(1, "proceed", "ada")], &[])?;
    ensure!(store.has_due_message(&tale.run, now)?, "nobody waits for it to be taken back");
    let Some((job, row)) = store.claim_message(now, moment(90_000), &[])? else {
        return Err("decided, and not taken back".into());
    };
    ensure!(job == Job::Retract && row.receipt.as_deref() == Some("receipt"), "{job:?} {row:?}");
    let gone = Settled { state: MessageState::Retracted, ..sent(None) };
    store.settle_message(row.id, &gone, now)?;
    ensure!(
        store.claim_message(moment(900_000), moment(999_000), &[])?.is_none(),
        "taken back twice"
    );
    Ok(())
}

pub(super) fn tokens_count_once(place: &dyn Place) -> Kept {
    let (mut store, mut other) = (place.open(), place.open());
    announcing(&mut *store);
    let (mut tale, lease) = begun(&mut *store, "abcdefgh12")?;
    let asked = tale.asks(1);
    let question = tale.question_id(1);
    let done = tale.completed();
    store.append(&lease, &[asked, done], &[])?;
    let token = AnswerToken {
        digest: "abc".to_owned(),
        question,
        shown: "shown".to_owned(),
        choice: Some("proceed".to_owned()),
        person: "ada".to_owned(),
        used: None,
    };
    store.keep_token(&token)?;
    ensure!(other.token("abc")?.as_ref() == Some(&token), "not kept as it is");
    ensure!(other.token("abd")?.is_none(), "another one is found");
    ensure!(!other.use_token("abd", moment(0))?, "one that is none was used");
    ensure!(other.use_token("abc", moment(7))?, "it cannot be used");
    ensure!(!store.use_token("abc", moment(8))?, "used twice");
    ensure!(store.token("abc")?.and_then(|token| token.used) == Some(moment(7)), "not noted");
    drop(lease);
    // With the run goes everything about it.
    let pruner: Pruner = pruner();
    store.prune_where(&pruner, moment(4_000_000), false, &mut |_, _| true)?;
    ensure!(store.token("abc")?.is_none(), "a right outlives its run");
    ensure!(store.newest_messages(10)?.is_empty(), "a message outlives its run");
    Ok(())
}
