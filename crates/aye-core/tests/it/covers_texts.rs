//! A yes is bound to what steps say where their values alone do not tell: the steps of a loop,
//! and templates that look at an input which may be anything.

use std::collections::BTreeSet;

use aye_core::facts::FactKind;
use aye_core::machine::Start;
use aye_core::skill::{Action, Ask, ForEach, Guard, GuardCheck, Skill, Step, StepTimeout};
use serde_json::json;

use crate::build::{Run, asking, command, confirm, gated, program, start, step, steps, t, when};

fn each(body: Vec<Step>) -> Step {
    let each = ForEach {
        items: json!(["web", "worker"]),
        span: Default::default(),
        name: "item".to_owned(),
        label: None,
        parallel: 1,
        fail_fast: None,
        body,
    };
    step("each", Action::ForEach(Box::new(each)))
}

fn remembered(message: &str) -> Ask {
    Ask { remember: true, ..confirm(message) }
}

/// May be remembered for any `inputs.tag`.
fn for_any_tag() -> Ask {
    Ask { any: vec!["tag".to_owned()], ..remembered("Ship?") }
}

fn recall(skill: Skill, tag: &str, target: &str) -> Option<String> {
    let inputs = [("tag", tag), ("target", target)];
    let inputs = inputs.map(|(name, value)| (name.to_owned(), json!(value)));
    let run = Run::start_as(skill, Start { inputs: inputs.into_iter().collect(), ..start() });
    run.question().recall.clone()
}

fn lint() -> Step {
    program("lint", "echo", &["linting {{ item }}"])
}

fn must(check: GuardCheck) -> Step {
    Step { guards: vec![Guard { check, message: None }], ..lint() }
}

/// What is shown of a loop with this step in it.
fn code(body: Step) -> String {
    let run = Run::start(steps([gated(each(vec![body]), confirm("go?"))]));
    let facts = run.question().facts.clone().unwrap();
    facts.iter().find(|fact| fact.kind == FactKind::Code).unwrap().value.clone()
}

#[test]
fn the_steps_of_a_loop_are_shown_and_bound() {
    let before = |body: Step| {
        steps([asking("ask", remembered("Continue?")), when(each(vec![body]), "ask == 'yes'")])
    };
    let at_gate = |body: Step| steps([gated(each(vec![body]), remembered("Continue?"))]);
    let belonging = |body: Step| {
        let then = vec![each(vec![body])];
        steps([gated(Step { then, ..command("a") }, remembered("Continue?"))])
    };
    let bodies = [
        program("lint", "rm", &["-rf", "/srv/{{ item }}"]),
        Step { stdin: Some(t("drop")), ..lint() },
        Step { cwd: Some(t("/srv")), ..lint() },
        Step {
            env: [("TARGET".to_owned(), Some(t("production")))].into_iter().collect(),
            ..lint()
        },
        when(lint(), "item == 'web'"),
        Step { then: vec![command("more")], ..lint() },
        each(vec![lint()]),
        gated(lint(), confirm("sure?")),
        Step { output: Some(t("where")), ..lint() },
        Step { timeout: StepTimeout::Unlimited, ..lint() },
        Step { interactive: true, ..lint() },
        must(GuardCheck::Condition(t("ship"))),
        must(GuardCheck::Command { program: t("ship"), args: Vec::new(), cwd: None }),
        asking("lint", confirm("sure?")),
        asking("lint", Ask { default: Some(t("yes")), ..confirm("sure?") }),
        asking("lint", Ask { options: Vec::new(), ..confirm("sure?") }),
        asking("lint", Ask { approvals: 2, ..confirm("sure?") }),
        asking("lint", Ask { reauth: true, ..confirm("sure?") }),
    ];
    // Each says something else, too.
    let said: BTreeSet<_> = bodies.iter().map(|body| code(body.clone())).collect();
    assert_eq!(said.len(), bodies.len(), "{said:#?}");
    for skill in [&before as &dyn Fn(Step) -> Skill, &at_gate, &belonging] {
        let run = Run::start(skill(lint()));
        let facts = run.question().facts.clone().unwrap();
        let shown = facts.iter().find(|fact| fact.kind == FactKind::Code).unwrap();
        assert_eq!(shown.value, "lint\n  command: echo \"linting {{ item }}\"");
        let same = run.question().recall.clone();
        assert!(same.is_some());
        assert_eq!(same, Run::start(skill(lint())).question().recall);
        for body in &bodies {
            assert_ne!(Run::start(skill(body.clone())).question().recall, same, "{body:?}");
        }
    }
}

#[test]
fn words_of_a_command_in_a_loop_are_told_apart() {
    let code = |args: &[&str]| code(program("a", "rm", args));
    assert_ne!(code(&["a b"]), code(&["a", "b"]));
    assert_ne!(code(&["\"a b\""]), code(&["a b"]));
    assert_ne!(code(&[""]), code(&[]));
}

#[test]
fn another_value_of_an_open_input_cannot_lead_elsewhere_in_a_text() {
    let ship = |script: &str| {
        let ship = step("ship", Action::Shell { script: t(script) });
        steps([gated(ship, for_any_tag())])
    };
    let branching = "{% if inputs.tag.startswith('v') %}deploy {{ inputs.tag }} to \
                     {{ inputs.target }}{% else %}build {{ inputs.tag }}{% endif %}";
    let stage = recall(ship(branching), "v1.2", "stage");
    assert!(stage.is_some());
    assert_eq!(recall(ship(branching), "v1.3", "stage"), stage);
    assert_ne!(recall(ship(branching), "v1.3", "production"), stage);
    let rewritten = branching.replace("deploy", "destroy");
    assert_ne!(recall(ship(&rewritten), "v1.3", "stage"), stage);
    // What is read in a way that does not say which may be any of them.
    for script in [
        "echo {% for name in inputs %}{{ inputs[name] }}{% endfor %}",
        "echo {% if inputs.tag == 'x' %}{{ inputs.items() }}{% endif %}",
        "echo {% if inputs.tag == 'x' %}{{ inputs['tar' ~ 'get'] }}{% endif %}",
    ] {
        assert_ne!(recall(ship(script), "v1", "stage"), recall(ship(script), "v1", "production"));
    }
    // An input that nothing reads may be anything.
    let plain = "build {{ inputs.tag }}";
    assert!(recall(ship(plain), "v1", "stage").is_some());
    assert_eq!(recall(ship(plain), "v1", "stage"), recall(ship(plain), "v2", "production"));
}

#[test]
fn another_value_of_an_open_input_cannot_start_other_steps() {
    let deploy = || when(program("deploy", "d", &["{{ inputs.target }}"]), "inputs.tag == 'v1'");
    let then = || Step { then: vec![deploy()], ..command("a") };
    let skill = || steps([gated(then(), for_any_tag())]);
    assert!(recall(skill(), "v0", "stage").is_some());
    // That it runs is not known without the tag, so no yes is remembered for it.
    assert_eq!(recall(skill(), "v1", "stage"), None);
    let before = || steps([asking("ask", for_any_tag()), deploy()]);
    assert_eq!(recall(before(), "v1", "stage"), None);
}
