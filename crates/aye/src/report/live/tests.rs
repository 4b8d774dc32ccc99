use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use serde_json::{Value, json};

use super::*;

const SKILL: &str = "name: s\nsteps:\n- {name: build, shell: x}\n- {name: test, shell: y}\n\
    - {name: ship, description: To production, shell: z}\n";

/// What a report has written so far.
#[derive(Clone, Default)]
struct Written(Rc<RefCell<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn flow() -> Flow {
    let mut skills = aye_core::skill::parse("s.yaml", SKILL).skills;
    Flow::compile(skills.remove(0))
}

fn event(seq: u64, mut more: Value) -> Event {
    let common = json!({
        "v": 1, "run": "abcdefgh12", "seq": seq, "at": "2026-11-16T04:52:49.884Z",
    });
    more.as_object_mut().expect("a map").extend(common.as_object().expect("a map").clone());
    serde_json::from_value(more).expect("an event")
}

fn begin() -> Event {
    event(
        1,
        json!({
            "type": "skill_started", "skill": "s", "file": "s.yaml", "source": "0",
            "steps": 3, "workspace": "/", "driver": { "user": "a", "host": "b", "pid": 1 },
        }),
    )
}

fn started() -> Event {
    event(
        2,
        json!({
            "type": "step_started", "step": "build", "kind": "command", "execution": 1,
            "attempt": 1, "command": "make everything and more",
        }),
    )
}

/// What is written for these calls after `build` has begun, on a terminal of
/// 24 columns.
fn written(
    verbosity: Verbosity,
    mode: OutputMode,
    act: impl Fn(&mut LiveReport<'_, Written>),
) -> String {
    let flow = flow();
    let out = Written::default();
    let paint = Paint { color: false, bold: false, unicode: true };
    let mut report = LiveReport::new(out.clone(), paint, verbosity, mode, &flow);
    report.window = || (40, 12);
    report.foreground = || true;
    let (first, second) = (begin(), started());
    let mut state = State::begin(&first).expect("a state");
    report.event(Place::RUN, &first, &state);
    state.apply(&second).expect("a state");
    report.event(Place::RUN, &second, &state);
    out.0.borrow_mut().clear();
    act(&mut report);
    let text = String::from_utf8(out.0.borrow().clone()).expect("text");
    text.replace("\u{1b}[?2026h", "").replace("\u{1b}[?2026l", "")
}

fn tick(report: &mut LiveReport<'_, Written>, seconds: u64, remaining: Option<u64>) {
    let now = started().at + Duration::from_secs(seconds);
    let elapsed = Duration::from_secs(seconds);
    let running =
        [RunningAction { lane: 0, elapsed, remaining: remaining.map(Duration::from_secs) }];
    report.tick(Tick { now, running: &running, waiting: 0 });
}

/// Sequences made visible.
fn shown(text: &str) -> String {
    text.replace('\r', "").replace('\u{1b}', "\\e")
}

#[test]
fn a_plan_says_what_runs_and_what_is_to_come() {
    let text = written(Verbosity::Normal, OutputMode::Failed, |report| {
        report.output(0, Stream::Stdout, b"compiling a\ncompiling b\n");
        report.output(0, Stream::Stderr, b"warning: c\n");
        tick(report, 12, Some(5));
    });
    insta::assert_snapshot!(shown(&text).replace("\\e[K", ""), @r"
    \e[?7l▸ build  make everythi…  12s, 5.0s left
      │ compiling a
      │ compiling b
      ┃ warning: c
    · test
    · ship   To production
    ⠙ 0 of 3 · 12s\e[?7h\e[14C
    ");
}

/// A warning is not what came of the step.
#[test]
fn one_line_of_standard_error_is_marked_in_the_folded_row() {
    let done = event(
        3,
        json!({ "type": "step_completed", "step": "build", "execution": 1, "output": "build" }),
    );
    let mut state = State::begin(&begin()).expect("a state");
    for event in [&started(), &done] {
        state.apply(event).expect("a state");
    }
    for (stream, result) in [(Stream::Stdout, "→ it is"), (Stream::Stderr, "→ ┃ it is")] {
        let text = written(Verbosity::Normal, OutputMode::Failed, |report| {
            report.output(0, stream, b"it is\n");
            report.event(Place::RUN, &done, &state);
        });
        assert!(text.contains(result), "{result}: {text}");
    }
}

#[test]
fn only_what_differs_is_painted_again() {
    let text = written(Verbosity::Normal, OutputMode::Failed, |report| {
        tick(report, 12, None);
        report.out.0.borrow_mut().clear();
        tick(report, 13, None);
    });
    insta::assert_snapshot!(shown(&text), @r"
    \e[3A\e[?7l▸ build  make everything and mo…    13s\e[K


    ⠹ 0 of 3 · 13s\e[K\e[?7h\e[14C
    ");
}

#[test]
fn all_of_the_output_is_printed_where_it_is_wanted() {
    let text = written(Verbosity::Normal, OutputMode::Full, |report| {
        report.output(0, Stream::Stdout, b"a line that is longer than the window is wide\n");
        report.output(0, Stream::Stderr, b"50%\r90%");
        report.step_ends(0);
    });
    insta::assert_snapshot!(shown(&text), @r"
    │ a line that is longer than the windo
    │ w is wide
    ┃ 90%
    ");
}

#[test]
fn nothing_moves_in_the_background() {
    let text = written(Verbosity::Normal, OutputMode::Full, |report| {
        report.foreground = || false;
        tick(report, 2, None);
        report.output(0, Stream::Stdout, b"a line\n");
        tick(report, 3, None);
    });
    assert_eq!(text, "  │ a line\r\n");
}

#[test]
fn quiet_shows_the_output_alone() {
    let text = written(Verbosity::Quiet, OutputMode::Full, |report| {
        tick(report, 2, None);
        report.output(0, Stream::Stderr, b"only this");
        report.step_ends(0);
    });
    assert_eq!(text, "only this\r\n");
}

#[test]
fn a_block_that_a_narrower_window_has_folded_goes_as_a_whole() {
    let text = written(Verbosity::Normal, OutputMode::Failed, |report| {
        tick(report, 2, None);
        report.out.0.borrow_mut().clear();
        report.window = || (10, 12);
        report.pause();
    });
    insta::assert_snapshot!(shown(&text), @r"\e[9A\e7\e[2K\e[1B\e[2K\e[1B\e[2K\e[1B\e[2K\e[1B\e[2K\e[1B\e[2K\e[1B\e[2K\e[1B\e[2K\e[1B\e[2K\e[1B\e[2K\e8");
}

#[test]
fn a_program_that_had_the_terminal_leaves_it_at_a_new_line() {
    let text = written(Verbosity::Normal, OutputMode::Failed, |report| {
        report.step_begins(0, true);
        report.note("said meanwhile");
        report.step_ends(0);
    });
    insta::assert_snapshot!(shown(&text).replace(&" ".repeat(39), "<39>"), @r"
    ▸ build  make everything and more
    \e[0m<39> \e[Ksaid meanwhile
    ");
}

/// Something that happened so many milliseconds after the beginning.
fn later(seq: u64, ms: i64, more: Value) -> Event {
    let mut event = event(seq, more);
    event.at += SignedDuration::from_millis(ms);
    event
}

fn step_started(seq: u64, ms: i64, step: &str, execution: u32) -> Event {
    later(
        seq,
        ms,
        json!({
            "type": "step_started", "step": step, "kind": "command", "execution": execution,
            "attempt": 1, "command": "true",
        }),
    )
}

fn step_completed(seq: u64, ms: i64, step: &str, execution: u32) -> Event {
    later(
        seq,
        ms,
        json!({
            "type": "step_completed", "step": step, "execution": execution, "output": step,
            "value": "",
        }),
    )
}

/// What is written while these follow the beginning of a run of `text`; nobody ticks.
fn followed(text: &str, events: &[Event]) -> String {
    let flow = Flow::compile(aye_core::skill::parse("s.yaml", text).skills.remove(0));
    let out = Written::default();
    let paint = Paint { color: false, bold: false, unicode: true };
    let mut report =
        LiveReport::new(out.clone(), paint, Verbosity::Normal, OutputMode::Failed, &flow);
    report.window = || (40, 12);
    report.foreground = || true;
    let first = begin();
    let mut state = State::begin(&first).expect("a state");
    report.event(Place::RUN, &first, &state);
    for event in events {
        out.0.borrow_mut().clear();
        state.apply(event).expect("a state");
        report.event(Place::RUN, event, &state);
    }
    let bytes = out.0.borrow().clone();
    String::from_utf8(bytes).expect("text")
}

#[test]
fn the_plan_is_painted_although_every_step_is_short() {
    let events = |ms: i64| {
        [
            step_started(2, 1, "build", 1),
            step_completed(3, ms, "build", 1),
            step_started(4, ms, "test", 2),
        ]
    };
    assert!(!followed(SKILL, &events(20)).contains("ship"), "it is early");
    let text = followed(SKILL, &events(120));
    assert!(text.contains("▸ test") && text.contains("· ship"), "{}", shown(&text));
}

#[test]
fn the_plan_has_the_steps_of_finally_and_none_that_will_not_be_reached() {
    let skill = "name: s\nsteps:\n- {name: a, command: x}\n- {name: b, command: x}\nfinally:\n- {name: tell, command: x}\n- {name: tidy, command: x}\n";
    let begun = followed(skill, &[step_started(2, 200, "a", 1)]);
    for row in ["▸ a", "· b", "· tell     finally", "· tidy     finally"] {
        assert!(begun.contains(row), "{row}: {}", shown(&begun));
    }
    let failed = later(
        3,
        210,
        json!({
            "type": "step_failed", "step": "a", "execution": 1, "outcome": "failure", "message": "exit code 1",
        }),
    );
    let finishing = later(
        4,
        220,
        json!({
            "type": "skill_finishing", "status": "failed", "why": "step_failed", "message": "m", "step": "a",
            "until": "2026-11-16T05:52:49.884Z",
        }),
    );
    let text = followed(
        skill,
        &[step_started(2, 1, "a", 1), failed, finishing, step_started(5, 400, "tell", 2)],
    );
    assert!(text.contains("▸ tell") && text.contains("· tidy"), "{}", shown(&text));
    assert!(!text.contains("· b"), "{}", shown(&text));
}
