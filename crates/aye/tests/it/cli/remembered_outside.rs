//! A remembered yes is not for what stands outside of the skill: variables, the branch, what
//! sub-skills and loops look up, steps after the next one.

use super::harness::{Place, Ran};

const ASK: &str = "{ name: ok, confirm: { message: 'Go?', remember: true, timeout: 0 } }";
const GATE: &str = "confirmation: { message: 'Go?', remember: true, timeout: 0 }";

fn gated(step: &str) -> String {
    format!("name: s\nsteps:\n  - name: act\n    {step}\n    {GATE}\n")
}

fn asked(steps: &str) -> String {
    format!("name: s\nsteps: [{ASK}, {steps}]\n")
}

/// A workspace with a branch.
fn place(skill: &str) -> Place {
    let place = Place::new();
    std::fs::create_dir(place.work().join(".git")).unwrap();
    on(&place, "stage");
    place.write("s.yaml", skill);
    place
}

fn on(place: &Place, branch: &str) {
    place.write(".git/HEAD", &format!("ref: refs/heads/{branch}\n"));
}

fn run(place: &Place, args: &[&str], target: &str) -> Ran {
    Ran::of(place.command(args).env("TARGET", target).output().unwrap(), place)
}

/// Says yes in `stage` and has that remembered, if it may be. What the question lists as not
/// covered.
fn yes_in_stage(place: &Place) -> String {
    let ran = run(place, &["run", "s.yaml", "--no-input"], "stage");
    assert_eq!(ran.code, 6, "{}", ran.all());
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    let id = inbox[0]["question"].as_str().unwrap().to_owned();
    let done = run(place, &["answer", &id, "proceed", "--remember", "--resume"], "stage");
    assert_eq!(done.code, 0, "{}", done.all());
    inbox[0]["details"]["not_covered"].to_string()
}

/// It is asked about again with another variable and branch; with the same, only if it is
/// `known` what a yes is for.
fn asks_in_production(skill: &str, known: bool) -> String {
    let place = place(skill);
    let not_covered = yes_in_stage(&place);
    let same = run(&place, &["run", "s.yaml", "--no-input"], "stage");
    assert_eq!(same.code, if known { 0 } else { 6 }, "{skill}: {}", same.all());
    on(&place, "production");
    let other = run(&place, &["run", "s.yaml", "--no-input"], "production");
    assert_eq!(other.code, 6, "{skill}: {}", other.all());
    not_covered
}

#[test]
fn a_block_that_reads_variables_and_the_branch() {
    for code in [
        "result = env.TARGET",
        "result = env['TARGET']",
        "result = os.environ['TARGET']",
        "result = os.environ.get('TARGET', 'x')",
        "result = os.getenv('TARGET')",
        "result = branch",
    ] {
        let listed = asks_in_production(&gated(&format!("compute: {code}")), true);
        assert!(!listed.contains("what `act` reads"), "{code}: {listed}");
    }
    for code in ["n = 'TAR' + 'GET'\n      result = env[n]", "result = str(memory.read('k'))"] {
        let listed = asks_in_production(&gated(&format!("compute: |\n      {code}")), false);
        assert!(listed.contains("what `act` reads of `"), "{code}: {listed}");
    }
}

#[test]
fn a_block_or_a_loop_that_reads_how_a_step_ended() {
    let first = "{ name: t, shell: 'echo \"$TARGET\"' }";
    let gate = "confirmation: { message: 'Go?', remember: true, timeout: 0 }";
    for skill in [
        format!(
            "name: s\nsteps: [{first}, {{ name: act, compute: result = steps.t.stdout, {gate} }}]\n"
        ),
        format!(
            "name: s\nsteps: [{first}, {ASK}, {{ name: act, foreach: [a], shell: 'echo {{{{ steps.t.stdout }}}}' }}]\n"
        ),
    ] {
        asks_in_production(&skill, true);
    }
}

#[test]
fn a_sub_skill_that_reads_variables_and_the_branch() {
    for inner in [
        "inputs: [{ name: t, default: '{{ env.TARGET }}' }]\nsteps: [{ name: p, command: echo, args: ['{{ inputs.t }}'] }]",
        "steps: [{ name: p, command: echo, args: ['{{ env.TARGET }}'] }]",
        "steps: [{ name: p, command: echo, args: ['{{ branch }}'] }]",
        "steps: [{ name: p, foreach: [a], compute: 'result = env.TARGET' }]",
        "steps: [{ name: p, skill: deep.yaml }]",
    ] {
        let place = place(&gated("skill: inner.yaml"));
        place.write("inner.yaml", &format!("name: inner\n{inner}\n"));
        place.write(
            "deep.yaml",
            "name: deep\nsteps: [{ name: p, command: echo, args: ['{{ env.TARGET }}'] }]\n",
        );
        let listed = yes_in_stage(&place);
        assert!(listed.contains("what `inner.yaml` reads from outside: `"), "{inner}: {listed}");
        on(&place, "production");
        let other = run(&place, &["run", "s.yaml", "--no-input"], "production");
        assert_eq!(other.code, 6, "{inner}: {}", other.all());
    }
}

/// What a sub-skill acts against is what its own input says.
#[test]
fn a_sub_skill_says_itself_that_it_is_production() {
    let inner = |default: &str| {
        format!(
            "name: inner\nenvironment: inputs.t\ninputs: [{{ name: t, default: '{default}' }}]\nsteps: [{{ name: p, command: 'true' }}]\n"
        )
    };
    for (default, given, known) in [
        ("production", "", false),
        ("stage", "inputs: { t: production }", false),
        ("stage", "", true),
        ("production", "inputs: { t: stage }", true),
    ] {
        let place = place(&gated(&format!("skill: inner.yaml\n    {given}")));
        place.write("inner.yaml", &inner(default));
        yes_in_stage(&place);
        let again = run(&place, &["run", "s.yaml", "--no-input"], "stage");
        assert_eq!(again.code, if known { 0 } else { 6 }, "{default} {given}: {}", again.all());
    }
}

#[test]
fn a_loop_that_reads_variables_and_the_branch() {
    for inner in ["{{ env.TARGET }}", "{{ branch }}"] {
        let act = format!("{{ name: act, foreach: [a], shell: 'echo {inner}' }}");
        asks_in_production(&asked(&act), true);
    }
    let dynamic = "{ name: act, foreach: [TARGET], shell: 'echo {{ env[item] }}' }";
    let listed = asks_in_production(&asked(dynamic), false);
    assert!(listed.contains("what `act` reads of `env`"), "{listed}");
}

#[test]
fn a_tool_inside_a_loop_is_asked_about_each_time() {
    let place = place(&asked("{ name: act, foreach: [a], tool: ship }"));
    place.write("aye.toml", "[tools.ship]\ncommand = ['echo', 'one']\n");
    place.aye(&["trust", "--yes"]).ok();
    let listed = yes_in_stage(&place);
    assert!(listed.contains("skills, tools, programs and scripts"), "{listed}");
    assert_eq!(run(&place, &["run", "s.yaml", "--no-input"], "stage").code, 6);
}

/// A note is nothing that happens; what comes after the next step is named.
#[test]
fn steps_after_the_next_one_are_named_and_asked_about_each_time() {
    let act = "{ name: act, command: echo, args: ['{{ env.TARGET }}'] }";
    let note = format!("{{ name: n, description: a note }}, {act}");
    let listed = asks_in_production(&asked(&note), true);
    assert!(!listed.contains("later steps"), "{listed}");
    for between in ["command: 'true'", "compute: result = 1"] {
        let steps = format!("{{ name: n, {between} }}, {act}, {{ name: z, command: 'true' }}");
        let listed = asks_in_production(&asked(&steps), false);
        assert!(listed.contains("later steps: `act`, `z`"), "{between}: {listed}");
    }
    // What another question is for is that question's.
    let steps = format!("{{ name: n, command: 'true' }}, {{ name: k, confirm: Sure? }}, {act}");
    let place = place(&asked(&steps));
    assert_eq!(run(&place, &["run", "s.yaml", "--no-input"], "stage").code, 6);
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    assert!(!inbox[0]["details"].to_string().contains("later steps"), "{inbox}");
}

/// Later steps that say the same in every run do not keep a yes from being remembered; it is
/// bound to what they say.
#[test]
fn later_steps_that_never_vary_are_part_of_what_is_remembered() {
    let steps = |last: &str| {
        asked(&format!(
            "{{ name: n, command: 'true' }}, {{ name: m, shell: echo {last} }}, {{ name: z, command: echo, args: [{last}] }}"
        ))
    };
    let place = place(&steps("one"));
    let listed = yes_in_stage(&place);
    assert!(listed.contains("later steps: `m`, `z`"), "{listed}");
    assert_eq!(run(&place, &["run", "s.yaml", "--no-input"], "stage").code, 0);
    place.write("s.yaml", &steps("two"));
    assert_eq!(run(&place, &["run", "s.yaml", "--no-input"], "stage").code, 6);
}

#[test]
fn a_step_that_a_variable_leaves_out() {
    for act in [
        "{ name: act, command: echo, condition: \"env.TARGET == 'production'\" }",
        "{ name: n, description: hey, condition: \"branch == 'production'\", then: [{ name: act, command: echo }] }",
    ] {
        asks_in_production(&asked(act), true);
    }
}

/// What cannot be undone is asked about each time, also where it happens at the end or as a
/// repair.
#[test]
fn what_destroys_something_at_the_end_or_as_a_repair() {
    let act = format!("steps: [{{ name: act, command: 'true', {GATE} }}]");
    for rest in [
        "finally: [{ name: z, command: echo, destructive: true }]",
        "heal: [{ name: h, match: { error: ['x'] }, repair: { command: echo, destructive: true } }]",
    ] {
        let place = place(&format!("name: s\n{act}\n{rest}\n"));
        yes_in_stage(&place);
        let again = run(&place, &["run", "s.yaml", "--no-input"], "stage");
        assert_eq!(again.code, 6, "{rest}: {}", again.all());
    }
}

/// The same within one run: it is asked again, or runs with what was shown.
#[test]
fn what_changes_before_the_yes_counts() {
    for (skill, again) in [
        (gated("compute: result = env.TARGET"), false),
        (gated("compute: result = branch"), false),
        (asked("{ name: act, foreach: [a], shell: 'echo {{ env.TARGET }} > ran.txt' }"), true),
        (asked("{ name: act, foreach: [a], shell: 'echo {{ branch }} > ran.txt' }"), true),
        (
            asked(
                "{ name: act, shell: 'echo x > ran.txt', condition: \"branch == 'production'\" }",
            ),
            true,
        ),
        (
            asked(
                "{ name: act, shell: 'echo x > ran.txt', condition: \"env.TARGET == 'production'\" }",
            ),
            true,
        ),
    ] {
        let place = place(&skill);
        assert_eq!(run(&place, &["run", "s.yaml", "--no-input"], "stage").code, 6);
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        let id = inbox[0]["question"].as_str().unwrap().to_owned();
        on(&place, "production");
        let ran = run(&place, &["answer", &id, "proceed", "--resume"], "production");
        assert_eq!(ran.code, if again { 6 } else { 0 }, "{skill}: {}", ran.all());
        assert!(!place.work().join("ran.txt").exists(), "{skill}");
        if !again {
            let shown = place.aye(&["show", "last", "--json"]).ok().json().to_string();
            assert!(!shown.contains("\"value\":\"production\""), "{skill}: {shown}");
        }
    }
}
