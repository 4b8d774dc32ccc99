//! Conditions, names and final states, as a user meets them.

use super::harness::Place;

#[test]
fn a_wrong_comparison_takes_no_branch() {
    let place = Place::new();
    let skill = "\
name: count
steps:
  - { name: failures, shell: echo 0 }
  - { name: alarm, command: touch, args: [alarmed], condition: failures > 0 }
";
    place.write("count.yaml", skill);
    let ran = place.aye(&["run", "count.yaml"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.stderr.contains("warning[text-as-number]"), "{}", ran.all());
    assert!(ran.all().contains("`failures > 0` compares text with a number"), "{}", ran.all());
    assert!(ran.all().contains("write `failures | int > 0`"), "{}", ran.all());
    assert!(!place.work().join("alarmed").exists());
    place.write("count.yaml", &skill.replace("failures > 0", "failures | int > 0"));
    let ran = place.aye(&["run", "count.yaml"]);
    assert_eq!((ran.code, ran.stderr.contains("warning")), (0, false), "{}", ran.all());
}

#[test]
fn what_is_certain_to_fail_runs_nothing() {
    let place = Place::new();
    for (later, said) in [
        (
            "{ name: b, command: echo, args: ['{{ nothing }}'] }",
            "`nothing` is not defined anywhere",
        ),
        ("{ name: b, compute: 'result = len(nothing)' }", "`nothing` is not defined anywhere"),
        ("{ name: b, compute: 'result = inputs.nothing' }", "`inputs.nothing` is not defined"),
        ("{ name: b, compute: 'result = build' }", "did you mean `image`?"),
    ] {
        let skill = format!(
            "name: sure\nsteps:\n  - {{ name: build, command: touch, args: [ran], output: image }}\n  - {later}\n"
        );
        place.write("sure.yaml", &skill);
        let ran = place.aye(&["run", "sure.yaml"]);
        assert_eq!(ran.code, 2, "{}", ran.all());
        assert!(ran.stderr.contains(said), "{later}: {}", ran.all());
        assert!(!place.work().join("ran").exists(), "nothing runs");
        // Where such names are empty it is a warning.
        place.write("lenient.yaml", &format!("undefined: lenient\n{skill}"));
        let said = place.aye(&["check", "lenient.yaml"]);
        assert_eq!(said.code, 0, "{}", said.all());
    }
    // Names that a block gives itself, or looks for, are its own.
    let skill = "\
name: fine
steps:
  - name: a
    compute: |
      def double(n):
          return n * 2
      found = {name: double(n) for name, n in [('x', 1)]}
      other = missing if 'missing' in dir() else None
      result = sorted(found, key=lambda name: found[name])
";
    place.write("fine.yaml", skill);
    let said = place.aye(&["check", "fine.yaml"]);
    assert_eq!(said.code, 0, "{}", said.all());
    assert!(said.stdout.ends_with("1 valid skill in 1 file\n"), "{}", said.all());
}

#[test]
fn a_broken_skill_does_not_block_its_siblings() {
    let place = Place::new();
    let file = "\
workflows:
  broken:
    steps: [{ name: a, comand: make }]
  whole:
    steps: [{ name: a, command: echo, args: [fine] }]
";
    place.write("skills/both.yaml", file);
    for wanted in ["whole", "skills/both.yaml#whole"] {
        let ran = place.aye(&["run", wanted]);
        assert_eq!(ran.code, 0, "{}", ran.all());
        assert!(!ran.stderr.contains("comand"), "{}", ran.all());
    }
    let ran = place.aye(&["run", "skills/both.yaml#broken"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.stderr.contains("unknown key `comand`"), "{}", ran.all());
    let ran = place.aye(&["run", "skills/both.yaml"]);
    assert!(ran.stderr.contains("holds 2 skills: broken, whole"), "{}", ran.all());
}

#[test]
fn a_workflow_of_states_ends_as_its_way_there_says() {
    let place = Place::new();
    let skill = |command: &str, gate: &str| {
        format!(
            "name: flow\nstates:\n  start:\n    command: sh\n    args: [-c, '{command}']\n{gate}    on_success: over\n    on_failure: over\n  over: {{ type: final }}\n"
        )
    };
    let gate = "    confirmation: { message: Go on?, default: no, timeout: 1s }\n";
    place.write("good.yaml", &skill("exit 0", ""));
    place.write("bad.yaml", &skill("exit 1", ""));
    place.write("asks.yaml", &skill("exit 0", gate));
    let ran = place.aye(&["run", "good.yaml"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.all().contains("flow completed in"), "{}", ran.all());
    assert!(ran.all().contains("at `over`"), "{}", ran.all());
    let ran = place.aye(&["run", "bad.yaml"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.all().contains("ended in `over`: step `start`: exit code 1"), "{}", ran.all());
}

#[test]
fn an_input_that_is_not_declared_and_a_state_after_the_skill() {
    let place = Place::new();
    place.write("plain.yaml", "name: plain\nsteps: [{ name: one, command: echo }]\n");
    let ran = place.aye(&["run", "plain.yaml", "-i", "tag=v1"]);
    assert!(
        ran.stderr
            .contains("declare it in the skill: `- { name: tag, type: string }` under `inputs:`"),
        "{}",
        ran.all()
    );
    let ran = place.aye(&["run", "plain.yaml", "one"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("`--from one`"), "{}", ran.all());
}

#[test]
fn words_of_other_tools_get_the_right_hint() {
    let place = Place::new();
    let hint = |step: &str| {
        place.write("words.yaml", &format!("name: words\nstates:\n  a: {{ {step} }}\n"));
        place.aye(&["check", "words.yaml"]).stdout
    };
    for (step, said) in [
        (
            "command: make, on: { success: b }",
            "hint: write `transitions: { success: …, failure: … }`",
        ),
        ("command: make, timeout: none", "hint: write `0` for no limit"),
        ("command: make, confirmation: { defaultResponse: false }", "did you mean `default`?"),
        (
            "command: make, confirmation: { showProgress: true }",
            "the time left is always shown: leave it out",
        ),
        (
            "command: make, stdin: 'null'",
            "remove it; a step's input is empty unless `stdin` holds text",
        ),
        (
            "command: git commit, args: [-m, 'a b']",
            "command: git\n      args: [commit, -m, \"a b\"]",
        ),
    ] {
        let found = hint(step);
        assert!(found.contains(said), "{step}: no {said:?} in\n{found}");
    }
    assert!(
        !hint("command: git commit, args: [-m, x]").contains("shell:"),
        "it would lose the arguments"
    );
}

#[test]
fn settings_in_the_wrong_place_get_the_right_hint() {
    let place = Place::new();
    place.write("plain.yaml", "name: plain\nsteps: [{ name: one, command: echo }]\n");
    for (settings, said) in [
        ("[policy]\nundefined = \"lenient\"\n", "it belongs under `[run]`"),
        ("[run]\nallow = [\"git\"]\n", "it belongs under `[policy]`"),
        ("[run]\nskills = [\"x\"]\n", "at the top of the file, before the first `[table]`"),
        ("[run]\nstep_timeout = 30\n", "`\"30s\"` for seconds, `\"30ms\"` for milliseconds"),
        ("[policy]\nallow = [\"^git .*\"]\n", "`*` stands for any characters but `/`"),
    ] {
        place.write("aye.toml", settings);
        let ran = place.aye(&["run", "plain.yaml"]);
        assert!(ran.stderr.contains(said), "{settings}: {}", ran.all());
    }
}

#[test]
fn auto_heal_without_a_rule_is_told() {
    let place = Place::new();
    let skill = "\
name: heals
steps:
  - { name: one, shell: exit 3, on_error: auto_heal }
";
    place.write("heals.yaml", skill);
    let said = place.aye(&["check", "heals.yaml"]);
    assert!(
        said.stdout.contains("warning[no-heal-rule]: no heal rule is for step `one`"),
        "{}",
        said.all()
    );
    let ran = place.aye(&["run", "heals.yaml", "--no-input"]);
    assert!(
        ran.all().contains("`on_error: auto_heal`, but no heal rule is for it"),
        "{}",
        ran.all()
    );
    let rule = "heal:\n  - { name: again, match: { step: one }, repair: { command: 'true' } }\n";
    place.write("healed.yaml", &format!("{skill}{rule}"));
    let said = place.aye(&["check", "healed.yaml"]);
    assert!(!said.stdout.contains("no-heal-rule"), "{}", said.all());
}

#[test]
fn python_sees_every_name_that_the_block_reads() {
    crate::needs::program("python3");
    let place = Place::new();
    let skill = "\
name: real
steps:
  - { name: plan, compute: 'result = 1' }
  - name: more
    python: true
    compute: |
      plan = plan + 1
      log('seen', plan)
      emit('told', {'plan': plan})
      known = memory.check_known_issues('make', 'no rule to make target')
      result = [plan, known['has_known_issues'], memory.read('x')]
outputs: [{ name: more }]
";
    place.write("real.yaml", skill);
    let ran = place.aye(&["run", "real.yaml"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.all().contains('2'), "{}", ran.all());
}

#[test]
fn modules_that_the_sandbox_lacks_are_named() {
    let place = Place::new();
    for module in ["textwrap", "shutil", "getpass", "zoneinfo", "yaml"] {
        place.write(
            "module.yaml",
            &format!("name: module\nsteps:\n  - {{ name: a, compute: \"import {module}\\nresult = 1\" }}\n"),
        );
        let said = place.aye(&["check", "module.yaml"]).stdout;
        assert!(said.contains(&format!("there is no module `{module}` in the sandbox")), "{said}");
    }
}
