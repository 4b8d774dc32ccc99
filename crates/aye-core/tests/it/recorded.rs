//! Recorded journals: what was written once stays readable.
//!
//! Two of them are not to be changed: `journal-v1` as the core first wrote it,
//! and `journal-v1-november`, which a program of November 2026 wrote before
//! runs had epochs and step lists. `journal-v1-epochs` is the newest layout;
//! `AYE_UPDATE=1` writes it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use aye_core::error_code::ErrorCode;
use aye_core::event::{Event, ProcessRecord, Range};
use aye_core::flow::Flow;
use aye_core::id::RunId;
use aye_core::input::{Attach, End, Finished, Input, Request};
use aye_core::journal::{Phase, State};
use aye_core::machine::{Limits, Machine, Refusal, Start};
use aye_core::question::{Answer, Channel};
use aye_core::secrets::Secrets;
use aye_core::skill::{Ask, AskKind, By, EndStatus, OnError, OutputSpec, Skill, Step, parse};
use aye_core::text::World;
use serde_json::json;

use crate::build::{
    Run, answer_of, asking, choose, command, confirm, end, expiring, gated, idempotent, input,
    note, on_error, program, secs, start, state, states, steps, t, when,
};

const FIRST: &str = include_str!("../fixtures/journal-v1.jsonl");
const NOVEMBER: &str = include_str!("../fixtures/journal-v1-november.jsonl");
const NOVEMBER_SKILL: &str = include_str!("../fixtures/journal-v1-november.yaml");
const NEWEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/journal-v1-epochs.jsonl");

fn run_number(n: u32, start: Start) -> Start {
    Start { run: RunId::new(format!("fixture-{n}")).unwrap(), ..start }
}

/// A release that goes well after everything has happened to it.
fn completed() -> Run {
    let mut skill = steps([
        Step {
            env: [("TOKEN".to_owned(), Some(t("{{ inputs.token }}"))), ("HOME".to_owned(), None)]
                .into(),
            cwd: Some(t("/src")),
            ..idempotent(program("build", "make", &["-j", "it's done", "{{ inputs.token }}"]))
        },
        on_error(command("flaky"), OnError::Ask),
        command("lost"),
        when(command("never"), "false"),
        note("remark"),
        asking("password", Ask { secret: true, ..input("Password?") }),
        asking(
            "place",
            Ask { title: Some(t("Where")), ai_assist: true, ..choose("Where to?", &["a", "b"]) },
        ),
        gated(
            program("deploy", "deploy", &["{{ place }}"]),
            Ask {
                by: By::Names(vec!["ann".to_owned(), "bob".to_owned()]),
                approvals: 2,
                reauth: true,
                typed: Some(t("{{ skill.name }}")),
                overridable: false,
                ..expiring(confirm("Deploy to {{ place }}?"), 60, Some("no"))
            },
        ),
        asking("last", expiring(choose("Tidy up?", &["sure"]), 5, Some("sure"))),
    ]);
    skill.outputs = vec![OutputSpec {
        name: t("summary"),
        value: json!("to {{ place }}"),
        span: Default::default(),
    }];
    skill.timeout = Some(secs(86_400));
    let mut secrets = Secrets::default();
    secrets.insert("token", "hunter2");
    let inputs = [("token".to_owned(), json!("hunter2")), ("n".to_owned(), json!(0.1))].into();
    let environment = Some("stage".to_owned());
    let mut run =
        Run::start_as(skill, run_number(1, Start { inputs, secrets, environment, ..start() }));
    // Aye dies during `build`, which may be run again.
    run.sleep(1);
    run.crash();
    run.attach();
    let process = ProcessRecord {
        exit_code: Some(0),
        signal: None,
        signal_name: None,
        ended_with: None,
        duration_ms: 1500,
        stdout: "built with hunter2\n".to_owned(),
        stderr: "warning\n".to_owned(),
        kept: aye_core::kept_output::KeptOutput::default(),
        dropped: 17,
        leaky: true,
        leftovers: 1,
        left_running: 1,
        left: Vec::new(),
        peak_memory: Some(1 << 20),
        cpu_ms: Some(900),
        remarks: Vec::new(),
    };
    let value = json!({ "sha": "f00", "ratio": 0.1, "tags": ["x", null, true] });
    run.finish(End::Exited { value, parsed: None }, Some(process));
    let killed =
        ProcessRecord { exit_code: Some(137), signal: Some(9), ..ProcessRecord::default() };
    run.finish(End::Exited { value: json!(""), parsed: None }, Some(killed));
    run.answer("retry");
    run.exit(0);
    // And during `lost`, of which nobody knows.
    run.interrupt();
    run.stopped();
    run.attach();
    run.say(Answer { reason: Some("looked".to_owned()), ..answer_of("ann", "done") }).unwrap();
    run.answer("s3cret");
    run.leave();
    run.say(Answer { prompter: Channel::Web, ..answer_of("bob", "b") }).unwrap();
    run.attach();
    let yes = |by| Answer { typed: Some("test".to_owned()), reauth: true, ..answer_of(by, "yes") };
    run.sleep(50);
    let question = run.question().id.clone();
    run.send(Input::Request(Request::Hold { question, by: "ann".to_owned() })).unwrap();
    run.say(answer_of("eve", "yes")).unwrap_err();
    let digest = Some(run.question().digest.clone());
    run.say(Answer { digest, ..yes("ann") }).unwrap();
    run.say(yes("bob")).unwrap();
    run.exit(0);
    run.tick(5);
    run
}

/// A run that is out of time and cleans up.
fn failed() -> Run {
    let skill = states([
        state(command("skipped-over"), &[]),
        state(command("work"), &[("timeout", "clean")]),
        state(command("clean"), &[("failure", "done")]),
        end("done", EndStatus::Completed),
    ]);
    let skill = Skill { timeout: Some(secs(60)), ..skill };
    let range = Some(Range::From("work".to_owned()));
    let mut run = Run::start_as(skill, run_number(2, Start { range, yes: true, ..start() }));
    run.sleep(60);
    run.time_out();
    run.finish(
        End::NotStarted {
            code: ErrorCode::CommandNotFound,
            exit_code: Some(127),
            message: "`clean` was not found".to_owned(),
            hint: Some("install it".to_owned()),
        },
        None,
    );
    run
}

/// A run that someone cancels.
fn cancelled() -> Run {
    let skill = states([
        state(command("work"), &[("cancelled", "undo")]),
        state(gated(command("undo"), confirm("Undo?")), &[]),
    ]);
    let mut run = Run::start_as(skill, run_number(3, start()));
    let reason = Some("wrong branch".to_owned());
    run.send(Input::Request(Request::Cancel { by: "eve".to_owned(), reason, now: false })).unwrap();
    run.stopped();
    run.answer("skip");
    run
}

/// Written at most once, however many tests read it.
static RECORDED: LazyLock<String> = LazyLock::new(read);

#[expect(clippy::disallowed_methods, reason = "a fixture is a file")]
fn read() -> String {
    if std::env::var("AYE_UPDATE").is_ok_and(|update| update == "1") {
        let runs = [completed(), failed(), cancelled()];
        std::fs::write(NEWEST, runs.map(|run| run.json()).concat()).unwrap();
    }
    std::fs::read_to_string(NEWEST).unwrap()
}

fn runs(text: &str) -> Vec<Vec<Event>> {
    let events: Vec<Event> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    events.chunk_by(|a, b| a.run == b.run).map(<[Event]>::to_vec).collect()
}

fn summary(state: &State) -> String {
    let mut text = format!(
        "{} {} after {} events, {} visits, {} executions, {} questions\n",
        state.run,
        state.status().word(),
        state.seq,
        state.visits,
        state.executions,
        state.questions
    );
    for (name, step) in state.steps.iter() {
        writeln!(text, "  {name}: {}, attempt {}", step.status.word(), step.attempt).unwrap();
    }
    let outputs = serde_json::to_string(&*state.outputs).unwrap();
    let results = serde_json::to_string(&state.results).unwrap();
    writeln!(text, "  outputs {outputs}\n  results {results}").unwrap();
    if let Some(message) = &state.end_message {
        writeln!(text, "  {message}").unwrap();
    }
    text
}

#[test]
fn the_recorded_journal_gives_the_state_it_gave() {
    let states: String =
        runs(FIRST).iter().map(|events| summary(&State::fold(events).unwrap())).collect();
    insta::assert_snapshot!(states, @r#"
    fixture-1 completed after 45 events, 9 visits, 9 executions, 6 questions
      build: completed, attempt 2
      flaky: completed, attempt 2
      lost: completed, attempt 1
      never: skipped, attempt 0
      remark: completed, attempt 0
      password: completed, attempt 1
      place: completed, attempt 1
      deploy: completed, attempt 1
      last: completed, attempt 1
      outputs {"build":{"sha":"f00","ratio":0.1,"tags":["x",null,true]},"flaky":null,"lost":null,"remark":null,"password":{"$secret":true},"place":"b","deploy":null,"last":"sure"}
      results {"summary":"to b"}
    fixture-2 failed after 6 events, 2 visits, 2 executions, 0 questions
      work: timed out, attempt 1
      clean: failed, attempt 1
      outputs {}
      results {}
      the run's time limit was up
    fixture-3 cancelled after 7 events, 2 visits, 1 executions, 1 questions
      work: cancelled, attempt 1
      undo: skipped, attempt 0
      outputs {}
      results {}
      cancelled by eve: wrong branch
    "#);
}

#[test]
fn the_recorded_journal_is_written_as_it_was() {
    for line in [FIRST, NOVEMBER, RECORDED.as_str()].into_iter().flat_map(str::lines) {
        let event: Event = serde_json::from_str(line).unwrap();
        // The two fields that were renamed; the old names are still read.
        let line = line.replace(r#""took_ms""#, r#""duration_ms""#);
        let asked = r#""confirmation_required","#;
        let line = line.replace(&format!(r#"{asked}"id""#), &format!(r#"{asked}"question""#));
        assert_eq!(serde_json::to_string(&event).unwrap(), line);
    }
}

#[test]
fn the_recorded_journal_has_every_kind_of_event() {
    let text = RECORDED.as_str();
    let found: BTreeSet<&str> = runs(text).concat().iter().map(|event| event.kind.name()).collect();
    let every = [
        "confirmation_answered",
        "confirmation_expired",
        "confirmation_held",
        "confirmation_required",
        "skill_cancelled",
        "skill_completed",
        "skill_failed",
        "skill_paused",
        "skill_resumed",
        "skill_started",
        "skill_stopping",
        "step_completed",
        "step_failed",
        "step_retried",
        "step_skipped",
        "step_started",
    ];
    assert_eq!(found.into_iter().collect::<Vec<_>>(), every);
    assert!(!text.contains("hunter2") && !text.contains("s3cret"));
}

#[test]
fn the_newest_layout_says_the_same() {
    // How many events there are may differ, not what they say.
    let of = |text: &str| -> Vec<String> {
        let states = runs(text).into_iter().map(|events| State::fold(&events).unwrap());
        states.map(|state| summary(&State { seq: 0, ..state })).collect()
    };
    assert_eq!(of(FIRST), of(RECORDED.as_str()));
    let written: Vec<Vec<Event>> =
        [completed(), failed(), cancelled()].map(|run| run.events).into();
    assert_eq!(runs(RECORDED.as_str()), written, "`AYE_UPDATE=1` writes it anew");
}

/// The run of the program itself, as far as event `length`.
fn november(length: usize) -> (Machine, World) {
    let events: Vec<Event> = runs(NOVEMBER).swap_remove(0).into_iter().take(length).collect();
    let skill = parse("flow.yaml", NOVEMBER_SKILL).skills.into_iter().next().unwrap();
    let mut secrets = Secrets::default();
    secrets.insert("token", "hunter2");
    let flow = Arc::new(Flow::compile(skill));
    let now = events.last().unwrap().at;
    let world = World { now, names: Arc::new(crate::build::Fakes::default()) };
    (Machine::restore(flow, Limits::default(), secrets, &events, None).unwrap(), world)
}

#[test]
fn a_journal_of_november_is_taken_up_where_it_stands() {
    let inside: Vec<&str> =
        runs(NOVEMBER)[1..].iter().map(|run| State::fold(run).unwrap().status().word()).collect();
    assert_eq!(inside, ["completed"; 3]);
    // Its driver was told to stop; or had died in the middle of `slow`.
    for (length, status) in [(22, "paused"), (20, "running")] {
        let (mut machine, world) = november(length);
        assert_eq!(machine.state().status().word(), status);
        assert_eq!(machine.state().epoch, 0);
        let attach = Attach { driver: crate::build::driver("bob"), epoch: 1 };
        let reaction = machine.handle(Input::Attach(attach), &world);
        assert_eq!(reaction.refusal, None);
        let Phase::Asking { question, .. } = &machine.state().phase else { panic!("it asks") };
        assert_eq!((question.step.as_str(), question.kind), ("slow", AskKind::Recover));
    }
    // Nobody has to look twice: what an old driver still says does not count.
    let (machine, world) = november(20);
    let end = End::Exited { value: json!(""), parsed: None };
    let late = Input::Finished(Finished::bare(7, end, None));
    let refused = machine.under(1).handle(late, &world).refusal;
    assert_eq!(refused, Some(Refusal::NotDriven));
}
