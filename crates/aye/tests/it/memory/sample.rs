//! Memories, fixes and answers to test with.

use std::path::Path;

use aye_core::id::RunId;
use aye_runtime::memory::{
    Act, Allowed, Change, Ending, ErrorText, Keep, Lesson, LessonId, Memory, MemoryError,
    NewChoice, NewFix, Once, Origin, OriginKind, PreferenceQuery, Scope, Seen,
};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// Nothing stands in the way.
pub(super) const FREE: Allowed = Allowed { remember: true, destructive: false, guarded: false };

/// The beginning of a day, counted from the first.
pub(super) fn day(number: i64) -> Timestamp {
    let first: Timestamp = "2026-11-02T00:00:00Z".parse().expect("a time");
    first + jiff::SignedDuration::from_hours(24 * number)
}

/// Hides nothing.
pub(super) fn plain(text: &str) -> String {
    text.to_owned()
}

/// The memory of a user who works on a project.
pub(super) fn memory(place: &Path) -> Memory {
    Memory::open(Some(&place.join("project")), &place.join("user"))
}

/// A fix by a person that changes an argument.
pub(super) fn fix(tool: &str, error: &str) -> NewFix {
    let args = json!({ "image_tag": "{{ args.image_tag | lower }}" });
    NewFix {
        only_for: Map::new(),
        tool: Some(tool.to_owned()),
        skill: None,
        step: None,
        error: ErrorText::Seen(error.to_owned()),
        change: Change { args: object(args), ..Change::default() },
        about: None,
        from: origin(OriginKind::Person),
        keep: Keep::Auto,
    }
}

/// Takes in a lesson as after an event of a run, which has this number.
pub(super) fn learn(
    memory: &Memory,
    lesson: Lesson,
    seq: u64,
) -> Result<Option<String>, MemoryError> {
    let id = LessonId { run: RunId::new("abcdefgh12").expect("an id"), seq };
    memory.take_in(lesson, Once { id: &id, is_pending: &|other| Some(*other == id) })
}

/// A fix was tried that day; says whether it is suspended because of that.
pub(super) fn tried(
    memory: &Memory,
    fix: &str,
    worked: bool,
    number: u32,
) -> Result<bool, MemoryError> {
    let lesson = Lesson::FixOutcome { fix: fix.to_owned(), worked, at: day(number.into()) };
    Ok(learn(memory, lesson, number.into())?.is_some())
}

/// A repair by a command.
pub(super) fn repair(words: &[&str]) -> Change {
    let command = words.iter().map(ToString::to_string).collect();
    Change { first: Some(Act { command, ..Act::default() }), ..Change::default() }
}

pub(super) fn origin(kind: OriginKind) -> Origin {
    let run = Some("abcdefgh12".to_owned());
    Origin { kind, by: "ana".to_owned(), run, at: day(0), other: Map::new() }
}

/// "Proceed" at the gate of `deploy`, on stage.
pub(super) fn choice() -> NewChoice<'static> {
    NewChoice {
        skill: "deploy",
        step: "gate",
        environment: Some("stage"),
        error: None,
        digest: "as it was",
        choice: "proceed",
        offered: &["cancel", "proceed"],
        scope: Scope::Step,
        allowed: FREE,
        by: "ana",
        lasts: None,
        now: day(0),
    }
}

/// The same question, a day later.
pub(super) fn asked() -> PreferenceQuery<'static> {
    PreferenceQuery {
        skill: "deploy",
        step: "gate",
        environment: Some("stage"),
        error: None,
        digest: "as it was",
        offered: &["cancel", "proceed"],
        allowed: FREE,
        now: day(1),
    }
}

/// A failure that was swallowed.
pub(super) fn seen<'a>(tool: &'a str, args: &'a Value, error: &'a str) -> Seen<'a> {
    Seen {
        tool,
        args,
        error,
        skill: Some("deploy"),
        step: Some("release"),
        run: Some("abcdefgh12"),
        ending: Ending::Swallowed,
        fix: None,
        now: day(0),
    }
}

pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
