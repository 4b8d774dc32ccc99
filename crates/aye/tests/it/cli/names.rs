//! Conditions, names and final states, as a user meets them.

use super::harness::{Place, assert_says};

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
    assert!(ran.all().contains("write `failures | float > 0`"), "{}", ran.all());
    assert!(!place.work().join("alarmed").exists());
    place.write("count.yaml", &skill.replace("failures > 0", "failures | float > 0"));
    let ran = place.aye(&["run", "count.yaml"]);
    assert_eq!((ran.code, ran.stderr.contains("warning")), (0, false), "{}", ran.all());
}

/// Every case of `cases` that a skill with this second step gets wrong: it is
/// refused with these words, and nothing has run.
#[track_caller]
fn assert_refused_before_the_first_step(cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (later, said) in cases {
        let place = Place::new();
        let skill = format!(
            "name: sure\nsteps:\n  - {{ name: build, command: touch, args: [ran], output: image }}\n  - {later}\n"
        );
        place.write("sure.yaml", &skill);
        let ran = place.aye(&["run", "sure.yaml"]);
        let has_run = place.work().join("ran").exists();
        if ran.code != 2 || !ran.stderr.contains(said) || has_run {
            wrong.push(format!("{later}: {}", ran.all()));
        }
        // Where such names are empty it is a warning.
        place.write("lenient.yaml", &format!("undefined: lenient\n{skill}"));
        place.aye(&["check", "lenient.yaml"]).ok();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_name_that_no_step_gives_is_refused_in_a_template() {
    assert_refused_before_the_first_step(&[
        (
            "{ name: b, command: echo, args: ['{{ nothing }}'] }",
            "`nothing` is not defined anywhere",
        ),
        (
            "{ name: b, command: echo, args: ['{{ inputs.nothing }}'] }",
            "`inputs.nothing` is not defined anywhere",
        ),
        (
            "{ name: b, command: echo, args: [\"{{ inputs['nothing'] }}\"] }",
            "declare it: `inputs: [{ name: nothing }]`",
        ),
        ("{ name: b, command: 'true', condition: nothing }", "`nothing` is not defined anywhere"),
    ]);
}

#[test]
fn a_name_that_no_step_gives_is_refused_in_a_block() {
    assert_refused_before_the_first_step(&[
        ("{ name: b, compute: 'result = len(nothing)' }", "`nothing` is not defined anywhere"),
        ("{ name: b, compute: 'result = inputs.nothing' }", "`inputs.nothing` is not defined"),
        ("{ name: b, compute: 'result = inputs[\"nothing\"]' }", "`inputs.nothing` is not defined"),
    ]);
}

#[test]
fn a_step_whose_result_has_another_name_gets_that_name() {
    assert_refused_before_the_first_step(&[
        (
            "{ name: b, command: echo, args: ['{{ build }}'] }",
            "step `build` gives its result as `image`: write `{{ image }}`",
        ),
        (
            "{ name: b, command: echo, args: ['{{ steps.image.stdout }}'] }",
            "did you mean `steps.build`?",
        ),
        ("{ name: b, compute: 'result = build' }", "did you mean `image`?"),
    ]);
}

#[test]
fn a_step_that_hides_a_built_in_name_is_an_error_where_it_is_used() {
    let place = Place::new();
    for step in [
        "{ name: b, command: echo, args: ['{{ env }}'] }",
        "{ name: b, command: echo, condition: env }",
        "{ name: b, compute: 'result = env' }",
    ] {
        let skill = format!(
            "name: hides\nsteps:\n  - {{ name: env, command: touch, args: [ran] }}\n  - {step}\n"
        );
        place.write("hides.yaml", &skill);
        let ran = place.aye(&["run", "hides.yaml"]);
        assert_eq!(ran.code, 2, "{}", ran.all());
        let said = "error[built-in-name]";
        assert_says(&[(&ran.stderr, &[said, "hides.yaml:4:", "output: env_result"])]);
        assert!(!place.work().join("ran").exists(), "nothing runs");
    }
}

#[test]
fn a_run_prints_the_warnings_of_check() {
    let place = Place::new();
    let skill = "name: r\ninitial: a\nstates:\n  a: { command: 'true', transitions: { success: d } }\n  b: { command: 'true', transitions: { success: d } }\n  d: { type: final }\n";
    place.write("r.yaml", skill);
    let checked = place.aye(&["check", "r.yaml"]).ok().stdout;
    let warning = checked.split("\n\n").next().unwrap();
    assert!(warning.starts_with("warning[unreachable]: state `b`"), "{checked}");
    let ran = place.aye(&["run", "r.yaml"]).ok();
    assert!(ran.stderr.contains(warning), "{}", ran.all());
}

/// Those of the skills that it calls and of the tools that it uses are among them.
#[test]
fn a_run_prints_the_warnings_of_what_it_calls() {
    let place = Place::new();
    place.write(
        "aye.toml",
        "[tools.used]\ncommand = ['sh', '-c', 'true {{ args.x }}']\nargs = { x = {} }\n[tools.other]\ncommand = ['sh', '-c', 'true {{ args.x }}']\nargs = { x = {} }\n",
    );
    place.write(
        "inner.yaml",
        "name: inner\nsteps: [{ name: a, tool: used, args: { x: y } }, { name: n, shell: echo 3, on_error: auto_heal }]\n",
    );
    place.write("outer.yaml", "name: outer\nsteps: [{ name: call, skill: ./inner.yaml }]\n");
    let ran = place.aye(&["run", "outer.yaml"]).ok();
    assert_says(&[(
        &ran.stderr,
        &[
            "warning[no-heal-rule]: no heal rule is for step `n`\n  --> inner.yaml:2:",
            "warning[shell-argument]: tool `used` hands `x` to `sh`, which may run it\n  --> aye.toml:2:",
        ],
    )]);
    assert!(!ran.stderr.contains("tool `other`"), "{}", ran.all());
}

/// What is wrong with a skill that another calls is told in lines.
#[test]
fn a_broken_skill_that_is_called_is_told_in_lines() {
    let place = Place::new();
    place.write(
        "broken.yaml",
        "name: broken\nsteps: [{ name: a, comand: x }, { name: b, foo: x }]\n",
    );
    place.write("outer.yaml", "name: outer\nsteps: [{ name: call, skill: ./broken.yaml }]\n");
    let ran = place.aye(&["run", "outer.yaml"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert_says(&[(
        &ran.stderr,
        &[
            "error: `outer.yaml` is certain to fail\n",
            "unknown key `comand` in step `a`\n    --> outer.yaml:2:",
            "  hint: 1 more error\n",
        ],
    )]);
    assert!(!ran.stderr.contains("\\n"), "{}", ran.all());
}

#[test]
fn names_of_a_block_are_its_own() {
    let place = Place::new();
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
    // What leads to the same final state: how it ends, and what is said of it.
    for (step, code, said) in [
        ("shell: exit 0", 0, "flow completed in"),
        ("shell: exit 1", 1, "flow failed: ended in `over`: step `start`: exit code 1"),
        ("shell: sleep 100, timeout: 1s", 1, "flow failed: ended in `over`: step `start`: timed"),
        ("shell: exit 75", 0, "flow completed in"),
    ] {
        let ways = "{ success: over, failure: over, timeout: over, 75: over }";
        place.write(
            "flow.yaml",
            &format!(
                "name: flow\ninitial: start\nstates:\n  start: {{ {step}, transitions: {ways} }}\n  over: {{ type: final }}\n"
            ),
        );
        let ran = place.aye(&["run", "flow.yaml"]);
        assert_eq!(ran.code, code, "{step}: {}", ran.all());
        assert!(ran.stderr.contains(said), "{step}: {}", ran.all());
    }
}

#[test]
fn an_input_that_is_not_declared_is_told_how() {
    let place = Place::new();
    place.write("plain.yaml", "name: plain\nsteps: [{ name: one, command: echo }]\n");
    let ran = place.aye(&["run", "plain.yaml", "-i", "tag=v1"]);
    let said = "declare it in the skill: `- { name: tag, type: string }` under `inputs:`";
    assert!(ran.stderr.contains(said), "{}", ran.all());
}

#[test]
fn a_state_after_the_skill_names_from() {
    let place = Place::new();
    place.write("plain.yaml", "name: plain\nsteps: [{ name: one, command: echo }]\n");
    let ran = place.aye(&["run", "plain.yaml", "one"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("`--from one`"), "{}", ran.all());
}

#[test]
fn words_of_other_tools_get_the_right_hint() {
    let place = Place::new();
    let hint = |step: &str| {
        let skill = format!("name: words\ninitial: a\nstates:\n  a: {{ {step} }}\n");
        place.write("words.yaml", &skill);
        place.aye(&["check", "words.yaml"]).stdout
    };
    let found = [
        (
            "command: make, on: { success: b }",
            "hint: write `transitions: { success: …, failure: … }`",
        ),
        (
            "command: make, condition: always()",
            "hint: a step runs only if those before it did not fail",
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
    ]
    .map(|(step, said)| (hint(step), [said]));
    let found: Vec<(&str, &[&str])> =
        found.iter().map(|(text, said)| (text.as_str(), &said[..])).collect();
    assert_says(&found);
    assert!(
        !hint("command: git commit, args: [-m, x]").contains("shell:"),
        "it would lose the arguments"
    );
}

/// The hint for a command line beside arguments, typed as it stands.
#[test]
fn the_hint_for_a_command_line_works() {
    let place = Place::new();
    place.write(
        "line.yaml",
        "name: line\nsteps:\n  - { name: a, command: echo -n, args: ['a  b', c] }\n",
    );
    let said = place.aye(&["check", "line.yaml"]).stdout;
    let command = said.lines().skip_while(|line| !line.starts_with("hint:")).skip(1);
    let step: String = command.take(2).map(|line| format!("    {}\n", line.trim_start())).collect();
    place.write("line.yaml", &format!("name: line\nsteps:\n  - name: a\n{step}"));
    let ran = place.aye(&["run", "line.yaml", "-q"]).ok();
    assert_eq!(ran.stdout.trim_end(), "a  b c", "{}", ran.all());
}

#[test]
fn single_braces_get_the_right_spelling() {
    let place = Place::new();
    place.write(
        "braces.yaml",
        "name: braces\ninputs: [{ name: feature_name, default: x }]\nsteps:\n  - { name: a, command: echo, args: ['{feature_name} on {branch}', '{other}'] }\n",
    );
    let said = place.aye(&["check", "braces.yaml"]).ok().stdout;
    assert_says(&[(
        &said,
        &[
            "warning[single-braces]: `{feature_name}` stays as it is\n  --> braces.yaml:4:",
            "hint: write `{{ inputs.feature_name }}`",
            "warning[single-braces]: `{branch}` stays as it is",
            "hint: write `{{ branch }}`",
        ],
    )]);
    assert!(!said.contains("{other}` stays"), "{said}");
}

#[test]
fn settings_in_the_wrong_place_get_the_right_hint() {
    let place = Place::new();
    place.write("plain.yaml", "name: plain\nsteps: [{ name: one, command: echo }]\n");
    let found = [
        ("[policy]\nundefined = \"lenient\"\n", "it belongs under `[run]`"),
        ("[run]\nallow = [\"git\"]\n", "it belongs under `[policy]`"),
        ("[run]\nskills = [\"x\"]\n", "at the top of the file, before the first `[table]`"),
        ("[run]\nstep_timeout = 30\n", "`\"30s\"` for seconds, `\"30ms\"` for milliseconds"),
        ("[journal]\nkeep = 30\n", "`\"30d\"` for days"),
        ("[run]\nmax_result = 1000000\n", "write a size with its unit, in quotes: `\"977KiB\"`"),
        ("[ask.after]\ndesktop = 30\n", "`\"30s\"` for seconds"),
        ("[notify]\nbell = false\n", "expected a table"),
        ("[tools]\nmax_processes = 3\n", "it belongs under `[run]`"),
        ("[run]\nmax_processes = \"4\"\n", "expected a whole number"),
        ("[heal]\nname = \"x\"\n", "write `[[heal]]`, once for each"),
        (
            "[run]\ntimeout = \"5m\"\n",
            "write `step_timeout` for steps, or `timeout` under `[ask]` for questions",
        ),
        (
            "timeout = \"5m\"\n",
            "write `step_timeout` under `[run]` for steps, or `timeout` under `[ask]`",
        ),
        ("[policy]\nallow = [\"^git .*\"]\n", "`*` stands for any characters but `/`"),
    ]
    .map(|(settings, said)| {
        place.write("aye.toml", settings);
        (place.aye(&["run", "plain.yaml"]).stderr, [said])
    });
    let found: Vec<(&str, &[&str])> =
        found.iter().map(|(text, said)| (text.as_str(), &said[..])).collect();
    assert_says(&found);
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
    let rule = "heal:\n  - { name: again, match: { step: one }, repair: { command: 'true' } }\n";
    place.write("healed.yaml", &format!("{skill}{rule}"));
    let said = place.aye(&["check", "healed.yaml"]);
    assert!(!said.stdout.contains("no-heal-rule"), "{}", said.all());
}

#[test]
fn a_failure_says_that_no_heal_rule_is_for_it() {
    let place = Place::new();
    let step = "{ name: one, shell: exit 3, on_error: auto_heal }";
    place.write("heals.yaml", &format!("name: heals\nsteps:\n  - {step}\n"));
    let ran = place.aye(&["run", "heals.yaml", "--no-input"]);
    let said = "`on_error: auto_heal`, but no heal rule is for it";
    assert!(ran.stderr.contains(&format!("exit code 3 ({said})")), "{}", ran.all());
}

#[test]
fn python_knows_memory_log_and_emit() {
    crate::needs::program("python3");
    let place = Place::new();
    let skill = "\
name: real
steps:
  - name: more
    python: true
    compute: |
      log('seen')
      emit('told', {'plan': 1})
      known = memory.check_known_issues('make', 'no rule to make target')
      result = [known['has_known_issues'], memory.read('x')]
";
    place.write("real.yaml", skill);
    place.aye(&["run", "real.yaml"]).ok();
    let told = place.aye(&["logs", "last", "more"]).ok().stdout;
    assert_says(&[(&told, &["seen\n", "told: {\"plan\": 1}\n"])]);
    assert!(!told.contains("aye-result"), "{told}");
    let shown = place.aye(&["show", "last", "--json"]).ok().stdout;
    assert!(!shown.contains("aye-result"), "{shown}");
    place.aye(&["audit"]).ok();
}

/// What a block says is printed by the run too, and what Aye says to Python is not.
#[test]
fn log_and_emit_of_python_are_printed_by_the_run() {
    crate::needs::program("python3");
    let place = Place::new();
    place.write(
        "said.yaml",
        "name: said\nsteps:\n  - name: more\n    python: true\n    compute: |\n      log('seen')\n      emit('told', {'plan': 1})\n      result = 3\n",
    );
    let ran = place.aye(&["run", "said.yaml"]).ok();
    assert_eq!(ran.stdout, "more | seen\nmore | told: {\"plan\": 1}\n", "{}", ran.all());
    let logs = place.aye(&["logs", "last", "more"]).ok().stdout;
    assert_eq!(logs, "seen\ntold: {\"plan\": 1}\n3\n");
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
      result = plan
  - name: added
    python: true
    compute: |
      plan += 2
      def add():
          global more
          more += 10
          return more
      result = [plan, add()]
outputs: [{ name: more }, { name: added }]
";
    place.write("real.yaml", skill);
    let ran = place.aye(&["run", "real.yaml"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let shown = place.aye(&["show", "last", "--json"]).ok().json();
    assert_eq!(shown["outputs"]["more"], 2, "{shown}");
    assert_eq!(shown["outputs"]["added"], serde_json::json!([3, 12]), "{shown}");
}
