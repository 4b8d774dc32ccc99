//! Which results can be read by anything that comes later.

use aye_core::flow::{Flow, question_names, step_names};
use aye_core::skill::parse;

fn flow(text: &str) -> Flow {
    let mut parsed = parse("demo.yaml", text);
    assert_eq!(parsed.diagnostics, [], "{text}");
    Flow::compile(parsed.skills.remove(0))
}

/// Whether `build` can be read where this follows it.
fn reads(more: &str) -> bool {
    flow(&format!("name: s\nsteps:\n- {{ name: build, command: make }}\n{more}\n")).reads("build")
}

#[test]
fn whatever_names_a_result_reads_it() {
    let readers = [
        "- { name: b, command: echo, args: ['{{ build }}'] }",
        "- { name: b, command: '{{ build }}' }",
        "- { name: b, shell: 'echo {{build|length}}' }",
        "- { name: b, shell: '{% if \"x\" in build %}true{% endif %}' }",
        "- { name: b, shell: '{% for line in build.splitlines() %}{{ line }}{% endfor %}' }",
        "- { name: b, shell: \"{%- set x=build -%} echo {{ x }}\" }",
        "- { name: b, command: cat, stdin: '{{ build }}' }",
        "- { name: b, command: cat, cwd: '{{ build }}' }",
        "- { name: b, command: cat, env: { X: '{{ build }}' } }",
        "- { name: b, command: cat, condition: \"'ok' in build\" }",
        "- { name: b, command: cat, validate: [{ condition: build }] }",
        "- { name: b, command: cat, validate: [{ command: test, args: ['{{ build }}'] }] }",
        "- { name: b, command: cat, validate: [{ expect_success: true, error_message: '{{ build }}' }] }",
        "- { name: b, command: cat, confirmation: { message: 'Continue with {{ build }}?' } }",
        "- { name: b, confirm: 'Is it {{ build }}?' }",
        "- { name: b, input: { message: Which?, default: '{{ build }}' } }",
        "- { name: b, compute: 'result = len(build)' }",
        "- { name: b, compute: 'result = len(build)', python: true }",
        "- { name: b, tool: x.y, args: { deep: [{ in: '{{ build }}' }] } }",
        "- { name: b, skill: other, inputs: { x: '{{ build }}' } }",
        "- { name: b, skill: '{{ build }}' }",
        "- { name: b, description: 'It says {{ build }}' }",
        "- { name: b, foreach: '{{ build }}', command: echo }",
        "- { name: b, foreach: [1], command: echo, args: ['{{ build }}'] }",
        "- { name: b, foreach: [1], steps: [{ name: c, foreach: [2], shell: 'echo {{ build }}' }] }",
        "- { name: b, foreach: [1], steps: [{ name: c, command: x, then: [{ return: '{{ build }}' }] }] }",
        "- { name: b, command: x, then: [{ return: '{{ build }}' }] }",
        "outputs: [{ name: build }]",
        "outputs: [{ name: b, value: { deep: ['{{ build }}'] } }]",
        "heal: [{ name: h, match: { error: x }, repair: { command: echo, args: ['{{ build }}'] } }]",
        // What gives every name gives this one.
        "- { name: b, compute: 'result = globals()[\"bu\" + \"ild\"]' }",
        "- { name: b, compute: 'result = [n for n in vars()]' }",
        "- { name: b, shell: 'echo {{ [locals()[n] for n in inputs.names] }}' }",
        // In quotes it is taken for a name too.
        "- { name: b, shell: \"echo {{ 'build' }}\" }",
        // A brace in quotes ends nothing.
        "- { name: b, shell: \"echo {{ '}}' ~ build }}\" }",
        "- { name: b, shell: 'echo {{ 1 }} and {{ build-1 }}' }",
    ];
    for reader in readers {
        assert!(reads(reader), "{reader}");
    }
}

#[test]
fn what_only_looks_like_it_does_not() {
    let others = [
        "- { name: b, command: build }",
        "- { name: b, shell: make build }",
        "- { name: b, shell: 'make build {{ inputs.flags }} && build' }",
        "- { name: b, shell: 'echo {# build #}' }",
        "- { name: rebuild, command: x }\n- { name: b, shell: 'echo {{ rebuild }}' }",
        "- { name: build_all, command: x }\n- { name: b, shell: 'echo {{ build_all }}' }",
        "- { name: build2, command: x }\n- { name: b, compute: 'result = build2' }",
        // What is known of a step has its own, shorter text.
        "- { name: b, command: x, condition: steps.build.status == 'completed' }",
        "- { name: b, shell: '{% for s in steps %}{{ steps[s].stdout }}{% endfor %}' }",
        "- { name: b, command: x, description: build }",
        "- { name: b, skill: build }",
        "outputs: [{ name: build, value: done }]",
    ];
    for other in others {
        assert!(!reads(other), "{other}");
    }
}

#[test]
fn a_result_goes_by_its_output() {
    let text = "name: s\nsteps:\n- { name: build, command: make, output: made }\n";
    let named = flow(&format!("{text}- {{ name: b, shell: 'echo {{{{ made }}}}' }}\n"));
    assert!(named.reads("made"));
    assert!(!named.reads("build"));
}

#[test]
fn a_state_reads_what_it_gave_when_it_comes_round_again() {
    let text = "name: s\ninitial: build\nstates:\n  build:\n    shell: 'make {{ build | default }}'\n    transitions: { failure: build, success: end }\n  end: { type: final }\n";
    assert!(flow(text).reads("build"));
    assert!(flow(text).may_end_with("build"));
}

#[test]
fn the_result_of_an_item_is_that_of_its_last_step_or_of_what_belongs_to_it() {
    let flow = flow(
        "name: s\nsteps:\n- { name: a, command: x }\n- { name: b, command: x, then: [{ name: c, command: x }] }\n",
    );
    assert_eq!(["a", "b", "c"].map(|step| flow.may_end_with(step)), [false, true, true]);
}

/// Looks at step `b`, as it is written here.
fn with_step<T>(step: &str, look: impl Fn(&aye_core::skill::Step) -> T) -> T {
    let flow = flow(&format!("name: s\nsteps:\n- {step}\n"));
    look(&flow.nodes[flow.find("b").unwrap()].step)
}

#[test]
fn what_a_question_names_is_told_apart_from_what_its_step_names() {
    for (step, asks, does) in [
        ("{ name: b, input: { message: Which?, default: '{{ build }}' } }", true, true),
        ("{ name: b, confirm: { message: Go?, type_to_confirm: '{{ build }}' } }", true, true),
        ("{ name: b, command: x, confirmation: { message: '{{ build }}?' } }", true, true),
        ("{ name: b, command: '{{ build }}', confirmation: { message: Go? } }", false, true),
        ("{ name: b, command: x, condition: build == 1, confirmation: Go? }", false, true),
        (
            "{ name: b, command: x, validate: [{ condition: build }], confirmation: Go? }",
            false,
            true,
        ),
        (
            "{ name: b, command: x, validate: [{ command: test, args: ['{{ build }}'] }], confirmation: Go? }",
            false,
            true,
        ),
        (
            "{ name: b, command: x, validate: [{ expect_success: true, error_message: '{{ build }}' }], confirmation: Go? }",
            false,
            true,
        ),
        ("{ name: b, confirm: 'build {{ rebuild }} {{ steps.build.status }}?' }", false, false),
    ] {
        let asked = with_step(step, |step| question_names(step.question().unwrap(), "build"));
        assert_eq!(
            (asked, with_step(step, |step| step_names(step, "build"))),
            (asks, does),
            "{step}"
        );
    }
}
