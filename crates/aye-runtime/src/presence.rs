//! Where questions are shown right now, as far as those who show them are there.

use aye_core::id::QuestionId;
use jiff::Timestamp;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use crate::prompter::was_shown;
use crate::store::{PresenceKind, Shown, Store, StoreError};

/// Where a question is shown. What a process said that is gone does not count.
pub fn shown_now(
    store: &dyn Store,
    question: &QuestionId,
    now: Timestamp,
) -> Result<Vec<Shown>, StoreError> {
    let mut shown = store.shown(question, now)?;
    shown.retain(|one| is_there(one.pid));
    Ok(shown)
}

/// Whether someone could see the question elsewhere when its time ran out.
pub fn was_shown_elsewhere(
    store: &dyn Store,
    question: &QuestionId,
    deadline: Timestamp,
    now: Timestamp,
) -> bool {
    let counts = |one: &Shown| {
        one.kind.is_seen() && one.until >= deadline && was_shown(Some(one.since), deadline, now)
    };
    // A store that cannot be read shows nothing: the question stays open.
    shown_now(store, question, deadline).is_ok_and(|shown| shown.iter().any(counts))
}

/// Whether the question is shown on something of these kinds now, as far as that is known.
pub fn is_shown_on(
    store: &dyn Store,
    question: &QuestionId,
    now: Timestamp,
    counts: fn(PresenceKind) -> bool,
) -> bool {
    shown_now(store, question, now).is_ok_and(|shown| shown.iter().any(|one| counts(one.kind)))
}

/// Whether there is a process with this number, ours or not.
pub(crate) fn is_there(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    matches!(test_kill_process(pid), Ok(()) | Err(Errno::PERM))
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;
    use crate::store::{MemoryStore, Presence as _, Showing, ShowingProcess};

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn at(seconds: i64) -> Timestamp {
        NOW + SignedDuration::from_secs(seconds)
    }

    fn shown_by(pid: u32, kind: PresenceKind, since: i64) -> MemoryStore {
        let mut store = MemoryStore::new(std::path::Path::new("/nonexistent"));
        let process = ShowingProcess { name: "server".to_owned(), pid };
        let question = QuestionId::from_text("abcdefgh12-1");
        let showing = Showing { question, kind, client: "ann".to_owned() };
        store.shows(&process, &[showing], at(since)).expect("memory");
        store
    }

    #[test]
    fn a_card_counts_if_it_was_there_when_the_time_ran_out() {
        let question = QuestionId::from_text("abcdefgh12-1");
        let pid = std::process::id();
        for (kind, since, deadline, now, counts) in [
            (PresenceKind::Page, 0, 10, 10, true),
            (PresenceKind::Editor, 0, 10, 12, true),
            // Nobody knows whether a program has someone who looks at it, or whether an
            // editor hides its notifications.
            (PresenceKind::Program, 0, 10, 10, false),
            (PresenceKind::EditorNotice, 0, 10, 10, false),
            // It came too late.
            (PresenceKind::Page, 11, 10, 12, false),
            // It was said too long ago.
            (PresenceKind::Page, 0, 20, 20, false),
            // The machine slept meanwhile.
            (PresenceKind::Page, 0, 10, 60, false),
        ] {
            let store = shown_by(pid, kind, since);
            let found = was_shown_elsewhere(&store, &question, at(deadline), at(now));
            assert_eq!(found, counts, "{kind:?} {since} {deadline} {now}");
        }
    }

    #[test]
    fn a_page_keeps_messages_away_and_windows_not() {
        let question = QuestionId::from_text("abcdefgh12-1");
        for (kind, windows, messages) in [
            (PresenceKind::Terminal, true, true),
            (PresenceKind::Editor, true, true),
            (PresenceKind::EditorNotice, true, true),
            (PresenceKind::Page, false, true),
            (PresenceKind::Program, false, false),
            (PresenceKind::Desktop, false, false),
        ] {
            let store = shown_by(std::process::id(), kind, 0);
            let on = |counts| is_shown_on(&store, &question, at(1), counts);
            assert_eq!(on(PresenceKind::keeps_windows_away), windows, "{kind:?}");
            assert_eq!(on(PresenceKind::keeps_messages_away), messages, "{kind:?}");
        }
    }

    #[test]
    fn what_a_process_said_that_is_gone_does_not_count() {
        let question = QuestionId::from_text("abcdefgh12-1");
        let mut child = std::process::Command::new("true").spawn().expect("a process");
        let gone = child.id();
        child.wait().expect("it ends");
        let store = shown_by(gone, PresenceKind::Page, 0);
        assert!(!was_shown_elsewhere(&store, &question, at(1), at(1)));
        assert_eq!(shown_now(&store, &question, at(1)).expect("memory"), []);
    }
}
