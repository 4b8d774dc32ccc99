//! From the journal to memory's files: whatever is cut off in between, nothing
//! is lost and nothing is taken in twice.

use std::path::{Path, PathBuf};

use aye_core::event::{Event, EventKind, MemoryKind, Remembered};
use aye_runtime::lessons;
use aye_runtime::memory::{
    Allowed, Change, Ending, ErrorText, Keep, Lesson, LessonId, Memory, NewChoice, NewFix, Once,
    Origin, OriginKind, Scope, Seen,
};
use aye_runtime::store::{Durability, MemoryStore, SqliteStore, Store};
use jiff::Timestamp;
use serde_json::{Map, json};

use super::Outcome;
use super::sample::{Tale, holder, source};

fn now() -> Timestamp {
    "2026-11-17T01:00:00Z".parse().expect("a time")
}

fn plain(text: &str) -> String {
    text.to_owned()
}

fn memory(place: &Path) -> Memory {
    Memory::open(Some(&place.join("project")), &place.join("user"))
}

fn seen<'a>(args: &'a serde_json::Value) -> Seen<'a> {
    Seen {
        tool: "deploy",
        args,
        error: "manifest unknown",
        skill: Some("s"),
        step: Some("a"),
        run: Some("abcdefgh12"),
        ending: Ending::Swallowed,
        fix: None,
        now: now(),
    }
}

fn fix(tool: &str) -> NewFix {
    let from = Origin {
        kind: OriginKind::Person,
        by: "ada".to_owned(),
        run: None,
        at: now(),
        other: Map::new(),
    };
    NewFix {
        tool: Some(tool.to_owned()),
        skill: None,
        step: None,
        error: ErrorText::Seen("manifest unknown".to_owned()),
        only_for: Map::new(),
        change: Change {
            args: Map::from_iter([("tag".to_owned(), "v1".into())]),
            ..Change::default()
        },
        about: None,
        from,
        keep: Keep::Auto,
    }
}

/// One lesson of each kind, about what memory knows already.
fn everything(memory: &Memory) -> Result<Vec<Lesson>, Box<dyn std::error::Error>> {
    let args = json!({ "tag": "x" });
    let known = memory.remember_fix(fix("deploy"), &plain)?;
    let pattern = memory.saw_failure(&seen(&args), &plain)?.ok_or("nothing was learned")?;
    let choice = NewChoice {
        skill: "s",
        step: "gate",
        environment: None,
        error: None,
        digest: "d",
        choice: "proceed",
        offered: &["proceed"],
        scope: Scope::Step,
        allowed: Allowed { remember: true, destructive: false, guarded: false },
        by: "ada",
        lasts: None,
        now: now(),
    };
    let preference = Box::new(memory.new_preference(&choice, &plain)?);
    Ok(vec![
        memory.fix_lesson(fix("other"), &plain)?.1,
        Lesson::FixOutcome { fix: known, worked: true, at: now() },
        Lesson::Preference { preference },
        seen(&args).lesson(&plain),
        memory.success_lesson("deploy", &args, &plain).ok_or("such calls have not failed")?,
        Lesson::WrongWarning { pattern },
    ])
}

/// What memory has once each of these lessons was taken in once.
const ONCE: [u64; 8] = [2, 1, 1, 1, 2, 2, 1, 1];

/// Fixes, how often the known one helped, preferences, how often one was
/// chosen, failures, sightings, successes, wrong warnings.
fn counts(place: &Path) -> [u64; 8] {
    let memory = memory(place);
    let (fixes, preferences, usage) = (memory.fixes(), memory.preferences(), memory.usage());
    let chosen = preferences.first().map_or(0, |one| one.value.history.len() as u64);
    [
        fixes.len() as u64,
        fixes.iter().map(|fix| fix.value.verified).sum(),
        preferences.len() as u64,
        chosen,
        memory.failures().len() as u64,
        usage[0].value.sightings,
        usage[0].value.successes,
        usage[0].value.wrong,
    ]
}

/// A run whose journal says what was learned; memory has taken in none of it.
fn committed(
    store: &mut dyn Store,
    lessons: &[Lesson],
) -> Result<Vec<Event>, Box<dyn std::error::Error>> {
    let mut tale = Tale::new("abcdefgh12");
    let lease = store.acquire(&tale.run, &holder())?;
    store.start(&lease, &[tale.started()], &source())?;
    let mut events = Vec::new();
    for lesson in lessons {
        let mut event = tale.step("a");
        let what = Remembered {
            lesson: lesson.to_value(),
            ..Remembered::told(MemoryKind::Usage, String::new())
        };
        event.kind = EventKind::MemoryLearned(Box::new(what));
        events.push(event);
    }
    store.append(&lease, &events, &[])?;
    Ok(events)
}

/// Takes an event's lesson in, and is killed before the store is told.
fn take_in_and_die(store: &dyn Store, memory: &Memory, event: &Event) -> Outcome {
    let lesson = serde_json::from_value(event.kind.lesson().ok_or("no lesson")?.clone())?;
    let id = LessonId { run: event.run.clone(), seq: event.seq };
    let is_pending = |id: &LessonId| store.is_pending_lesson(&id.run, id.seq).ok();
    memory.take_in(lesson, Once { id: &id, is_pending: &is_pending })?;
    Ok(())
}

/// The next process that opens memory.
fn settle(store: &mut dyn Store, place: &Path) -> Outcome {
    lessons::settle(store, &mut |_| Some(memory(place)))?;
    Ok(())
}

#[test]
fn whatever_is_committed_is_taken_in_once_wherever_the_driver_is_killed() -> Outcome {
    // So many lessons are in the files, and the store knows of so many of these.
    for taken in 0..=6 {
        for noted in 0..=taken {
            let place = tempfile::tempdir()?;
            let mut store = MemoryStore::new(place.path());
            let memory = memory(place.path());
            let events = committed(&mut store, &everything(&memory)?)?;
            let told = lessons::take_in(&mut store, &memory, &events[..noted]);
            assert_eq!(told, Vec::<String>::new());
            for event in &events[noted..taken] {
                take_in_and_die(&store, &memory, event)?;
            }
            for _ in 0..2 {
                settle(&mut store, place.path())?;
                assert_eq!(counts(place.path()), ONCE, "{taken} taken in, {noted} noted");
            }
            // The first driver was slow, not dead.
            lessons::take_in(&mut store, &memory, &events);
            assert_eq!(counts(place.path()), ONCE, "{taken} taken in, {noted} noted");
        }
    }
    Ok(())
}

#[test]
fn a_lesson_for_two_files_is_taken_in_by_the_second_when_that_can_be_written() -> Outcome {
    let place = tempfile::tempdir()?;
    let mut store = MemoryStore::new(place.path());
    let memory = memory(place.path());
    let lessons = everything(&memory)?;
    let events = committed(&mut store, &lessons[3..4])?;
    let usage = place.path().join("user/learned/usage.yaml");
    let sound = std::fs::read_to_string(&usage)?;
    std::fs::write(&usage, "patterns: {")?;
    let told = lessons::take_in(&mut store, &memory, &events);
    assert!(told[0].contains("nothing is learned from this for now"), "{told:?}");
    std::fs::write(&usage, sound)?;
    for _ in 0..2 {
        settle(&mut store, place.path())?;
        assert_eq!(memory.failures().len(), 2);
        assert_eq!(memory.usage()[0].value.sightings, 2);
    }
    Ok(())
}

#[test]
fn several_processes_that_open_memory_at_once_take_a_lesson_in_once() -> Outcome {
    let place = tempfile::tempdir()?;
    let home = place.path().join("home");
    let open = || SqliteStore::open(&home, Durability::Process);
    let lessons = everything(&memory(place.path()))?;
    committed(&mut open()?, &lessons)?;
    let path: PathBuf = place.path().to_path_buf();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| settle(&mut open().expect("a store"), &path).expect("settled"));
        }
    });
    assert_eq!(counts(place.path()), ONCE);
    Ok(())
}

#[test]
fn files_name_what_they_took_in_only_until_the_store_knows() -> Outcome {
    let place = tempfile::tempdir()?;
    let mut store = MemoryStore::new(place.path());
    let memory = memory(place.path());
    let events = committed(&mut store, &everything(&memory)?)?;
    lessons::take_in(&mut store, &memory, &events);
    let usage = std::fs::read_to_string(place.path().join("user/learned/usage.yaml"))?;
    // Three lessons changed it: the name of the last one is left.
    assert_eq!(usage.matches("abcdefgh12/").count(), 1, "{usage}");
    Ok(())
}

#[test]
fn a_journal_from_before_has_nothing_to_take_in() -> Outcome {
    let place = tempfile::tempdir()?;
    let mut store = MemoryStore::new(place.path());
    let mut tale = Tale::new("abcdefgh12");
    let lease = aye_runtime::store::Leases::acquire(&mut store, &tale.run, &holder())?;
    let store: &mut dyn Store = &mut store;
    store.start(&lease, &[tale.started()], &source())?;
    let mut event = tale.step("a");
    let old = json!({
        "v": 1, "run": "abcdefgh12", "seq": event.seq, "at": event.at.to_string(),
        "type": "memory_learned", "kind": "fix", "id": "fix-1", "message": "remembered",
    });
    event = serde_json::from_value(old)?;
    store.append(&lease, &[event.clone()], &[])?;
    assert_eq!(store.pending_lessons()?, []);
    assert_eq!(lessons::take_in(store, &memory(place.path()), &[event]), Vec::<String>::new());
    assert!(!place.path().join("user").exists());
    Ok(())
}
