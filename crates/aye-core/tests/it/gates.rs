//! Questions before and as steps: who may answer, how, until when.

use aye_core::event::EventKind;
use aye_core::id::QuestionId;
use aye_core::input::{Input, Request};
use aye_core::journal::Phase;
use aye_core::machine::Refusal;
use aye_core::question::{Answer, Channel};
use aye_core::skill::{Action, Ask, AskLimits, By, OnError, Step};
use jiff::Timestamp;
use serde_json::json;

use crate::build::{
    Run, answer_of, asking, choose, command, confirm, expiring, gated, input, note, on_error,
    program, steps, t, when,
};

fn gate(ask: Ask) -> Run {
    Run::start(steps([gated(command("a"), ask), command("b")]))
}

fn through(prompter: Channel, by: &str) -> Answer {
    Answer { prompter, ..answer_of(by, "yes") }
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn yes_no_and_skip() {
    let mut run = gate(confirm("go?"));
    run.answer("yes");
    assert_eq!(run.trace(), ["a ask gate", "ann says yes (terminal)", "a start"]);
    let mut run = gate(confirm("go?"));
    run.answer("no");
    assert_eq!(run.tail(2), ["a skip declined", "cancelled declined"]);
    assert_eq!(run.machine.state().ended_by.as_deref(), Some("ann"));
    let mut run = gate(confirm("go?"));
    run.answer("skip");
    assert_eq!(run.tail(2), ["a skip answer", "b start"]);
}

#[test]
fn a_gate_shows_what_follows() {
    let step = Step { cwd: Some(t("/tmp")), ..program("a", "rm", &["-rf", "my dir", ""]) };
    let run = Run::start(steps([gated(step, confirm("Delete?"))]));
    let question = run.question();
    assert_eq!(question.follows.as_deref(), Some("rm -rf 'my dir' ''"));
    assert_eq!(question.title, "Confirmation required");
    let script = crate::build::step("s", Action::Shell { script: t("a && b") });
    let run = Run::start(steps([gated(script, confirm("?"))]));
    assert_eq!(run.question().follows.as_deref(), Some("a && b"));
    // Nothing follows the gate of a note.
    assert_eq!(Run::start(steps([gated(note("n"), confirm("?"))])).question().follows, None);
}

#[test]
fn a_question_is_a_step_with_a_result() {
    let mut run = Run::start(steps([
        asking("place", choose("where?", &["stage", "production"])),
        asking("name", Ask { pattern: Some(t("^[a-z]+$")), ..input("who?") }),
        when(command("c"), "place == 'production' and name == 'ann'"),
    ]));
    run.answer("production");
    assert_eq!(run.say(answer_of("ann", "Ann!")), Err(Refusal::NoMatch("^[a-z]+$".to_owned())));
    run.answer("ann");
    assert_eq!(run.tail(2), ["name done", "c start"]);
}

#[test]
fn a_yes_counts_for_what_was_shown() {
    let ask = || steps([gated(program("a", "deploy", &["{{ branch }}"]), confirm("go?"))]);
    let mut run = Run::start_in(ask(), crate::build::start(), {
        let names = std::sync::Arc::new(crate::build::Fakes::default());
        names.set("branch", "one");
        names
    });
    run.names.set("branch", "two");
    run.answer("yes");
    assert_eq!(run.tail(2), ["ann says yes (terminal)", "a start"]);
    assert_eq!(run.process().argv, ["deploy", "one"]);
    assert_eq!(run.execution().attempt, 1);
}

#[test]
fn what_decides_the_outcome_is_what_was_shown() {
    let base = || program("a", "deploy", &[]);
    let changes: [fn(Step) -> Step; 3] = [
        |step| Step { cwd: Some(t("/{{ branch }}")), ..step },
        |step| Step { stdin: Some(t("/{{ branch }}")), ..step },
        |step| Step { env: [("B".to_owned(), Some(t("/{{ branch }}")))].into(), ..step },
    ];
    for change in changes {
        let names = std::sync::Arc::new(crate::build::Fakes::default());
        names.set("branch", "one");
        let skill = steps([gated(change(base()), confirm("go?"))]);
        let mut run = Run::start_in(skill, crate::build::start(), names);
        run.names.set("branch", "two");
        run.crash();
        run.answer("yes");
        run.attach();
        assert_eq!(run.tail(1), ["a start"]);
        let process = run.process();
        let given = [process.cwd, process.stdin, process.env.get("B").cloned().flatten()];
        assert!(given.contains(&Some("/one".to_owned())), "{given:?}");
    }
}

#[test]
fn the_time_in_a_command_is_the_time_it_was_asked_about() {
    let mut run =
        Run::start(steps([gated(program("a", "backup", &["{{ now }}"]), confirm("go?"))]));
    run.sleep(40);
    run.answer("yes");
    assert_eq!(run.tail(1), ["a start"]);
    run.sleep(1);
    assert_eq!(run.process().argv, ["backup", "2026-01-01T00:00:00Z"]);
    assert_eq!(
        run.machine.state().steps["a"].command.as_deref(),
        Some("backup 2026-01-01T00:00:00Z")
    );
}

#[test]
fn an_answer_to_an_older_showing_is_refused() {
    let mut run = gate(confirm("go?"));
    let stale = Answer { digest: Some("0".repeat(64)), ..answer_of("ann", "yes") };
    assert_eq!(run.say(stale), Err(Refusal::Changed));
    let digest = Some(run.question().digest.clone());
    run.say(Answer { digest, ..answer_of("ann", "yes") }).unwrap();
}

#[test]
fn expiry_takes_the_declared_default_or_declines() {
    let mut run = gate(expiring(confirm("go?"), 10, Some("yes")));
    assert_eq!(run.machine.wake_at(), Some(at("2026-01-01T00:00:10Z")));
    run.tick(9);
    assert_eq!(run.trace(), ["a ask gate"]);
    run.tick(1);
    assert_eq!(run.tail(2), ["expired, takes yes", "a start"]);
    let mut run = gate(expiring(confirm("go?"), 10, None));
    run.tick(10);
    assert_eq!(run.tail(3), ["expired", "a skip expired", "cancelled expired"]);
    assert_eq!(run.machine.state().ended_by, None);
    let mut run = gate(expiring(confirm("go?"), 10, Some("skip")));
    run.tick(10);
    assert_eq!(run.tail(2), ["a skip answer", "b start"]);
    // For ever is for ever.
    let mut run = gate(confirm("go?"));
    assert_eq!(run.machine.wake_at(), None);
    run.tick(1_000_000_000);
    assert_eq!(run.trace(), ["a ask gate"]);
}

#[test]
fn questions_wait_as_long_as_they_say_or_as_the_settings_say() {
    use aye_core::skill::StepTimeout::{After, Default, Unlimited};
    let secs = crate::build::secs;
    let usual = AskLimits::default();
    assert_eq!(usual.wait(Default, true), Some(secs(30)));
    assert_eq!(usual.wait(Default, false), Some(secs(300)));
    assert_eq!(usual.wait(Unlimited, true), None);
    let bounded = AskLimits { question: None, least: secs(10), most: secs(20), ..usual };
    assert_eq!(bounded.wait(Default, true), Some(secs(20)));
    assert_eq!(bounded.wait(Default, false), None);
    assert_eq!(bounded.wait(After(secs(5)), false), Some(secs(10)));
    assert_eq!(bounded.wait(After(secs(15)), false), Some(secs(15)));
    assert_eq!(bounded.wait(Unlimited, false), None);
}

#[test]
fn silence_where_nobody_can_see_the_question_is_no_yes() {
    let mut run = gate(expiring(confirm("go?"), 10, Some("yes")));
    run.tick_unseen(10);
    assert_eq!(run.trace(), ["a ask gate", "held"]);
    // It stays open, whoever takes the run up and however late.
    assert_eq!(run.machine.wake_at(), None);
    run.tick_unseen(3600);
    run.crash();
    run.attach();
    run.tick_unseen(3600);
    assert_eq!(run.tail(1), ["resumed"]);
    // With its full time, once it is shown.
    run.send(Input::Shown(true)).unwrap();
    assert_eq!(run.machine.wake_at(), Some(at("2026-01-01T02:00:20Z")));
    run.tick(9);
    assert_eq!(run.tail(1), ["held"]);
    run.tick(1);
    assert_eq!(run.tail(2), ["expired, takes yes", "a start"]);
}

#[test]
fn a_question_that_stayed_open_unseen_can_be_answered_and_held_anew() {
    let mut run = gate(expiring(confirm("go?"), 10, Some("yes")));
    run.tick_unseen(60);
    run.answer("no");
    assert_eq!(run.tail(1), ["cancelled declined"]);
    let mut run = gate(expiring(confirm("go?"), 10, Some("yes")));
    let hold = |run: &Run| {
        let question = run.question().id.clone();
        Input::Request(Request::Hold { question, by: "ann".to_owned() })
    };
    let held = hold(&run);
    while run.send(held.clone()).is_ok() {
        run.sleep(9);
    }
    assert_eq!(run.send(held.clone()), Err(Refusal::HeldEnough));
    run.tick_unseen(60);
    run.send(Input::Shown(true)).unwrap();
    // What was held before it was asked again does not count.
    run.send(held).unwrap();
    assert_eq!(run.tail(3), ["held"; 3]);
}

#[test]
fn a_default_that_does_not_proceed_is_taken_unseen_too() {
    for (default, end) in [(Some("no"), "cancelled expired"), (None, "cancelled expired")] {
        let mut run = gate(expiring(confirm("go?"), 10, default));
        run.tick_unseen(10);
        assert_eq!(run.tail(1), [end]);
    }
}

#[test]
fn a_default_that_lets_the_run_continue_in_another_way_is_no_yes_either() {
    // What comes after a step that is left out runs.
    let mut run = gate(expiring(confirm("go?"), 10, Some("skip")));
    run.tick_unseen(10);
    assert_eq!(run.tail(1), ["held"]);
    run.send(Input::Shown(true)).unwrap();
    run.tick(10);
    assert_eq!(run.tail(2), ["a skip answer", "b start"]);
    for ask in [input("who?"), choose("who?", &["ann", "bob"])] {
        let mut run = Run::start(steps([asking("n", expiring(ask, 10, Some("ann")))]));
        run.tick_unseen(10);
        assert_eq!(run.tail(1), ["held"]);
    }
}

#[test]
fn the_run_ends_at_its_own_limit_whoever_sees_its_question() {
    let ask = expiring(confirm("go?"), 10, Some("yes"));
    let skill = aye_core::skill::Skill {
        timeout: Some(crate::build::secs(30)),
        ..steps([gated(command("a"), ask)])
    };
    let mut run = Run::start(skill);
    run.tick_unseen(10);
    assert_eq!(run.machine.wake_at(), Some(at("2026-01-01T00:00:30Z")));
    run.tick_unseen(20);
    assert_eq!(run.tail(1), ["failed run_timed_out"]);
}

#[test]
fn a_default_that_could_not_be_typed_is_not_taken() {
    let ask = Ask { pattern: Some(t("^[0-9]+$")), ..expiring(input("n?"), 10, Some("none")) };
    let mut run = Run::start(steps([asking("n", ask)]));
    run.tick(10);
    assert_eq!(run.tail(2), ["n skip expired", "cancelled expired"]);
    let ask = Ask { pattern: Some(t("^[0-9]+$")), ..expiring(input("n?"), 10, Some("7")) };
    let mut run = Run::start(steps([asking("n", ask)]));
    run.tick(10);
    assert_eq!(run.machine.state().outputs["n"], json!("7"));
}

#[test]
fn an_answer_after_the_deadline_is_late_whoever_looked_at_the_clock() {
    let mut run = gate(expiring(confirm("go?"), 10, Some("no")));
    let id = run.question().id.clone();
    run.sleep(10);
    assert_eq!(run.say(answer_of("ann", "yes")), Err(Refusal::Expired(id.clone())));
    run.tick(0);
    assert_eq!(run.tail(3), ["expired, takes no", "a skip expired", "cancelled expired"]);
}

#[test]
fn typing_holds_the_deadline_for_five_minutes_in_all() {
    let mut run = gate(expiring(confirm("go?"), 60, None));
    let hold = |run: &mut Run| {
        let question = run.question().id.clone();
        run.send(Input::Request(Request::Hold { question, by: "ann".to_owned() }))
    };
    // With more than half a minute left there is nothing to do.
    hold(&mut run).unwrap();
    assert_eq!(run.trace(), ["a ask gate"]);
    run.sleep(50);
    hold(&mut run).unwrap();
    assert_eq!(run.machine.wake_at(), Some(at("2026-01-01T00:01:20Z")));
    for _ in 0..12 {
        run.sleep(25);
        hold(&mut run).unwrap();
    }
    // 60 s and 300 s more, to the second.
    assert_eq!(run.machine.wake_at(), Some(at("2026-01-01T00:06:00Z")));
    assert_eq!(hold(&mut run), Err(Refusal::HeldEnough));
    run.tick(10);
    assert_eq!(run.tail(1), ["cancelled expired"]);
    let other = QuestionId::from_text("run00001-9");
    let request = Request::Hold { question: other.clone(), by: "ann".to_owned() };
    assert_eq!(run.send(Input::Request(request)), Err(Refusal::Ended));
}

#[test]
fn a_question_that_waits_behind_another_keeps_its_time() {
    let mut run = gate(expiring(confirm("go?"), 60, Some("yes")));
    run.sleep(20);
    run.send(Input::Shown(false)).unwrap();
    assert_eq!(run.machine.wake_at(), None);
    // However long, whoever looks, and whoever takes the run up meanwhile.
    run.tick(3600);
    run.crash();
    run.attach();
    run.send(Input::Shown(false)).unwrap();
    run.tick(3600);
    assert_eq!(run.tail(1), ["resumed"]);
    // What was left continues; it was not held by anybody who types.
    run.send(Input::Shown(true)).unwrap();
    run.send(Input::Shown(true)).unwrap();
    assert_eq!(run.machine.wake_at(), Some(at("2026-01-01T02:01:00Z")));
    run.tick(40);
    assert_eq!(run.tail(2), ["expired, takes yes", "a start"]);
}

#[test]
fn a_hold_of_another_question_or_too_late_is_refused() {
    let mut run = gate(expiring(confirm("go?"), 60, None));
    let open = run.question().id.clone();
    let other = QuestionId::from_text("run00001-9");
    let hold = |question: &QuestionId| {
        Input::Request(Request::Hold { question: question.clone(), by: "ann".to_owned() })
    };
    assert_eq!(run.send(hold(&other)), Err(Refusal::OtherQuestion(other.clone(), open.clone())));
    run.sleep(60);
    assert_eq!(run.send(hold(&open)), Err(Refusal::Expired(open)));
    let mut run = Run::start(steps([command("a")]));
    assert_eq!(run.send(hold(&other)), Err(Refusal::NotOpen(other)));
}

#[test]
fn answers_that_do_not_fit_are_refused_and_recorded() {
    let mut run = gate(confirm("go?"));
    let open = run.question().id.clone();
    let unknown = QuestionId::from_text("run00001-2");
    let foreign = QuestionId::from_text("run99999-1");
    for id in [&unknown, &foreign] {
        assert_eq!(
            run.reply(id.clone(), answer_of("eve", "yes")),
            Err(Refusal::OtherQuestion(id.clone(), open.clone()))
        );
    }
    let offered = "`yes`, `no`, `skip`".to_owned();
    assert_eq!(
        run.say(answer_of("eve", "maybe")),
        Err(Refusal::NotOffered { value: "maybe".to_owned(), offered })
    );
    assert_eq!(
        run.say(Answer { value: json!(true), ..answer_of("eve", "") }),
        Err(Refusal::NotText)
    );
    run.answer("yes");
    // The same answer a second time: while the step runs, and after the end.
    assert_eq!(
        run.reply(open.clone(), answer_of("eve", "no")),
        Err(Refusal::NotOpen(open.clone()))
    );
    run.exit(1);
    let status = run.status();
    assert_eq!(run.reply(open.clone(), answer_of("eve", "no")), Err(Refusal::NotOpen(open)));
    assert_eq!(run.status(), status);
    let refused = run.trace().iter().filter(|line| line.starts_with("refused eve")).count();
    assert_eq!(refused, 6);
}

#[test]
fn the_first_valid_answer_wins() {
    let mut run = Run::start(steps([
        gated(command("a"), confirm("one?")),
        gated(command("b"), confirm("two?")),
    ]));
    let first = run.question().id.clone();
    run.answer("skip");
    // An answer to the first question cannot answer the second.
    let second = run.question().id.clone();
    assert_ne!(first, second);
    assert_eq!(
        run.reply(first.clone(), answer_of("eve", "yes")),
        Err(Refusal::OtherQuestion(first, second))
    );
}

#[test]
fn who_may_answer() {
    let refused =
        |run: &mut Run, answer: Answer| matches!(run.say(answer), Err(Refusal::NotAllowed(_)));
    let human = || gate(Ask { by: By::Human, ..confirm("go?") });
    for prompter in [Channel::Assistant, Channel::Memory, Channel::Override, Channel::Notification]
    {
        assert!(refused(&mut human(), through(prompter, "ann")), "{prompter:?}");
    }
    for prompter in [
        Channel::Terminal,
        Channel::Command,
        Channel::Desktop,
        Channel::Zenity,
        Channel::Kdialog,
        Channel::Editor,
        Channel::Web,
    ] {
        human().say(through(prompter, "ann")).unwrap();
    }
    let named = || gate(Ask { by: By::Names(vec!["ann".to_owned()]), ..confirm("go?") });
    assert!(refused(&mut named(), through(Channel::Terminal, "bob")));
    assert!(refused(&mut named(), through(Channel::Assistant, "ann")));
    named().say(through(Channel::Web, "ann")).unwrap();
    // An assistant relays where anyone may answer.
    gate(confirm("go?")).say(through(Channel::Assistant, "ann")).unwrap();
    // Memory only where the skill lets it, and never before something destructive.
    assert!(refused(&mut gate(confirm("go?")), through(Channel::Memory, "ann")));
    let remembered = || Ask { remember: true, ..confirm("go?") };
    gate(remembered()).say(through(Channel::Memory, "ann")).unwrap();
    let destructive = Step { destructive: true, ..command("a") };
    let mut run = Run::start(steps([gated(destructive, remembered())]));
    assert!(refused(&mut run, through(Channel::Memory, "ann")));
}

#[test]
fn what_a_button_of_a_notification_may_answer() {
    let press = |run: &mut Run, value: &str| {
        run.say(Answer::new(value, "ann", Channel::Notification)).is_ok()
    };
    assert!(press(&mut gate(confirm("go?")), "yes"), "a relayed word would do");
    assert!(press(&mut gate(confirm("go?")), "no"), "declining ends the run");
    let destructive = || {
        let step = Step { destructive: true, ..command("a") };
        Run::start(steps([gated(step, confirm("go?"))]))
    };
    assert!(destructive().question().destructive);
    assert!(!press(&mut destructive(), "yes"), "what follows cannot be undone");
    assert!(press(&mut destructive(), "no"));
    for guarded in [
        Ask { by: By::Human, ..confirm("go?") },
        Ask { reauth: true, ..confirm("go?") },
        Ask { typed: Some(t("prod")), ..confirm("go?") },
        Ask { approvals: 2, ..confirm("go?") },
    ] {
        assert!(!press(&mut gate(guarded.clone()), "yes"), "{guarded:?}");
        let mut run = gate(guarded.clone());
        let file = Answer::new("no", "ann", Channel::DropBox);
        assert!(run.say(file).is_err(), "a file answers nothing that is guarded: {guarded:?}");
        assert!(press(&mut run, "no"), "declining ends the run: {guarded:?}");
        assert!(matches!(run.machine.state().phase, Phase::Ended(_)), "{guarded:?}");
    }
    let named = Ask { by: By::Names(vec!["ann".to_owned()]), ..confirm("go?") };
    assert!(!press(&mut gate(named), "no"), "nobody but ann answers it");
}

#[test]
fn several_different_people_have_to_agree_on_the_same() {
    let ask = || Ask { approvals: 2, remember: true, ..choose("which?", &["a", "b"]) };
    let mut run = Run::start(steps([asking("q", ask())]));
    run.answer("a");
    assert_eq!(run.say(answer_of("ann", "a")), Err(Refusal::AlreadyAgreed("ann".to_owned())));
    assert_eq!(run.say(answer_of("bob", "b")), Err(Refusal::Disagrees("a".to_owned())));
    // A rule is not a person.
    for prompter in [Channel::Memory, Channel::Override] {
        let rule = Answer { prompter, ..answer_of("bob", "a") };
        assert!(matches!(run.say(rule), Err(Refusal::NotAllowed(_))));
    }
    run.crash();
    run.attach();
    run.say(answer_of("bob", "a")).unwrap();
    assert_eq!(run.tail(2), ["q done", "completed"]);
    // One no is enough.
    let mut run = gate(Ask { approvals: 3, ..confirm("go?") });
    run.answer("yes");
    run.say(answer_of("bob", "no")).unwrap();
    assert_eq!(run.tail(1), ["cancelled declined"]);
}

#[test]
fn typed_text_and_codes_are_needed_for_a_yes_only() {
    let ask = || Ask { typed: Some(t("{{ skill.name }}")), reauth: true, ..confirm("go?") };
    let mut run = gate(ask());
    assert_eq!(run.question().typed.as_deref(), Some("test"));
    let typed = |text: &str| Answer { typed: Some(text.to_owned()), ..answer_of("ann", "yes") };
    assert_eq!(run.say(answer_of("ann", "yes")), Err(Refusal::NotTyped("test".to_owned())));
    assert_eq!(run.say(typed("Test")), Err(Refusal::NotTyped("test".to_owned())));
    assert_eq!(run.say(typed("test")), Err(Refusal::NoReauth));
    run.say(Answer { reauth: true, ..typed("test") }).unwrap();
    assert_eq!(run.tail(1), ["a start"]);
    let mut run = gate(ask());
    run.answer("no");
    assert_eq!(run.tail(1), ["cancelled declined"]);
}

#[test]
fn yes_answers_where_it_may_and_is_recorded() {
    let mut run = Run::yes(steps([
        gated(command("a"), expiring(confirm("go?"), 10, Some("no"))),
        asking("q", Ask { default: Some(t("y")), ..choose("which?", &["x", "y"]) }),
        asking("n", Ask { default: Some(t("7")), ..input("n?") }),
    ]));
    assert_eq!(run.trace(), ["a ask gate", "ann says yes (override)", "a start"]);
    run.exit(0);
    assert_eq!(run.tail(1), ["completed"]);
    let outputs = &run.machine.state().outputs;
    assert_eq!((&outputs["q"], &outputs["n"]), (&json!("y"), &json!("7")));
}

#[test]
fn a_choice_without_a_default_has_no_yes() {
    let run = Run::yes(steps([asking("r", choose("which?", &["x", "y"]))]));
    assert_eq!(run.tail(1), ["r ask ask"]);
}

#[test]
fn gates_that_want_more_ignore_yes() {
    let asks = [
        Ask { overridable: false, ..confirm("go?") },
        Ask { by: By::Human, ..confirm("go?") },
        Ask { by: By::Names(vec!["ann".to_owned()]), ..confirm("go?") },
        Ask { reauth: true, ..confirm("go?") },
        Ask { approvals: 2, ..confirm("go?") },
        Ask { typed: Some(t("x")), ..confirm("go?") },
        input("no default"),
        Ask { options: vec![], ..confirm("nothing to choose") },
    ];
    for ask in asks {
        let run = Run::yes(steps([gated(command("a"), ask)]));
        assert_eq!(run.trace(), ["a ask gate"], "{:?}", run.question());
    }
    // A default that declines is not yes either.
    let decline = Ask {
        options: vec![crate::build::choice("no", aye_core::skill::ChoiceAction::Cancel)],
        default: Some(t("no")),
        ..confirm("go?")
    };
    assert_eq!(Run::yes(steps([gated(command("a"), decline)])).trace(), ["a ask gate"]);
}

#[test]
fn yes_holds_after_a_crash_between_question_and_answer() {
    let mut run = Run::yes(steps([gated(command("a"), confirm("go?"))]));
    run.events.truncate(2);
    run.crash();
    run.attach();
    assert_eq!(run.trace(), ["a ask gate", "resumed", "ann says yes (override)", "a start"]);
}

#[test]
fn yes_never_decides_about_a_step_that_failed() {
    let mut run = Run::yes(steps([on_error(command("a"), OnError::Ask)]));
    run.exit(1);
    assert_eq!(run.tail(1), ["a ask recover"]);
}

/// What could not be asked was not agreed to: the run does not go past it,
/// whatever a failure of the step means otherwise.
#[test]
fn a_question_that_cannot_be_rendered_ends_the_run() {
    let program = program("a", "{{ nope }}", &[]);
    for (step, part) in [
        (gated(command("a"), confirm("{{ nope }}")), "confirmation"),
        (asking("a", confirm("{{ nope }}")), "question"),
        (gated(program.clone(), confirm("?")), "confirmation"),
        (Step { condition: Some(t("nope")), ..asking("a", confirm("go?")) }, "condition"),
        (program, "command"),
    ] {
        let tolerated = on_error(step, OnError::Continue);
        let mut run = Run::start(steps([tolerated, command("b")]));
        let messages: Vec<&str> = run
            .events
            .iter()
            .filter_map(|event| match &event.kind {
                EventKind::StepFailed(failed) => Some(failed.message.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(messages, [format!("{part}: `nope` is not defined")]);
        if part == "command" {
            assert_eq!(run.tail(2), ["a failure", "b start"], "nobody was to be asked");
        } else {
            assert_eq!(run.tail(2), ["a failure", "failed step_failed"], "{part}");
            assert_eq!(run.send(Input::Tick { shown: true }), Err(Refusal::Ended));
        }
    }
}

#[test]
fn a_yes_to_a_step_is_for_what_it_leads_to() {
    let names = std::sync::Arc::new(crate::build::Fakes::default());
    names.set("branch", "one");
    let skill = steps([
        asking("ok", confirm("go?")),
        when(command("never"), "false"),
        when(program("go", "deploy", &["{{ branch }}"]), "ok == 'yes'"),
    ]);
    let mut run = Run::start_in(skill, crate::build::start(), names);
    assert_eq!(run.question().follows.as_deref(), Some("deploy one"));
    run.names.set("branch", "two");
    run.answer("yes");
    assert_eq!(run.process().argv, ["deploy", "one"]);
    // A no needs nothing further.
    let skill = steps([asking("ok", confirm("go?")), program("go", "deploy", &["{{ branch }}"])]);
    let mut run = Run::start(skill);
    assert_eq!(run.question().follows, None, "nobody knows the branch yet");
    run.names.set("branch", "two");
    run.answer("no");
    assert_eq!(run.status(), aye_core::journal::RunStatus::Cancelled);
}

/// What a question is about has no limit; the question itself has one.
#[test]
fn details_are_shown_below_the_message_and_bound_to_the_answer() {
    let asked = |details: &str| {
        let ask = Ask { details: Some(t(details)), ..confirm("Apply?") };
        gate(ask).question().clone()
    };
    let long = "+ line\n".repeat(5000);
    let question = asked(&long);
    assert_eq!(question.message, format!("Apply?\n\n{}", long.trim_end()));
    assert_ne!(question.digest, asked(&long[..long.len() - 7]).digest);
    assert_eq!(asked("{{ '' }}").message, "Apply?");
}
