//! Where `aye check` points at, and what `undefined` means.

use insta::assert_snapshot;

use super::harness::Place;

#[test]
fn a_place_inside_a_text() {
    let place = Place::new();
    let skill = "\
name: places
inputs: [{ name: persona }]
steps:
  - name: ask
    tool: knowledge
    args:
      persona: all
      question: \"about {{ persona }}\"
  - name: count
    condition: \"'ask' in dir() and asked and inputs.get('persona')\"
    compute: |
      total = 1
      count_of_all = 2
  - name: load
    compute: |
      try:
          import yaml
      except ImportError:
          yaml = None
      from scripts.loader import load
      result = load()
outputs:
  - name: report
    value: |
      The result is here.
      {% if result %}yes{% endif %}
";
    place.write("places.yaml", skill);
    let said = place.aye(&["check", "places.yaml"]).stdout;
    for expected in [
        // The name, not the key of the same name.
        "--> places.yaml:8:27\n",
        "^^^^^^^ did you mean `inputs.persona`?",
        "--> places.yaml:10:36\n",
        // A line of a block, and what was set last.
        "--> places.yaml:13:7\n",
        "hint: write `result = count_of_all` at its end",
        // An import that nothing catches.
        "there is no module `scripts.loader` in the sandbox\n   --> places.yaml:20:7\n",
        // A name of a text is not a word of it.
        "--> places.yaml:26:13\n",
    ] {
        assert!(said.contains(expected), "no {expected:?} in:\n{said}");
    }
    assert!(said.ends_with("0 valid skills in 1 file: 4 errors, 1 warning\n"), "{said}");
}

#[test]
fn what_would_only_fail_in_the_middle_of_a_run_is_found_before() {
    let place = Place::new();
    let skill = "\
name: late
inputs: [{ name: x, default: a }, { name: y, default: \"{{ inputs.x }}\" }]
steps:
  - { name: a, command: echo, args: [\"{{ b }}\", \"{{ b | default('') }}\"] }
  - { name: b, command: echo, args: [\"{{ 1 | nofilter }}\"], condition: \"{{ 1 }} > 0\" }
  - { name: c, command: echo, args: [\"{{ steps.nope.status }}\"], condition: a is nosuch }
  - { name: d, command: echo, args: [\"{{ inputs.zip }} {{ steps.a.status }}\"] }
  - name: e
    compute: result = 1
    validate: { condition: e == 1 and d | urlencode is string }
";
    place.write("late.yaml", skill);
    let said = place.aye(&["check", "late.yaml"]).stdout;
    for expected in [
        "the default of input `y` uses `inputs.x`\n  --> late.yaml:2:43\n",
        "`b` has no value yet\n  --> late.yaml:4:42\n",
        "- this step gives it, and it comes later",
        "there is no filter `nofilter`\n  --> late.yaml:5:46\n",
        "hint: drop the braces",
        "`steps.nope` is not defined anywhere\n  --> late.yaml:6:42\n",
        "there is no test `nosuch`\n  --> late.yaml:6:",
        "`inputs.zip` is not defined anywhere\n  --> late.yaml:7:42\n",
    ] {
        assert!(said.contains(expected), "no {expected:?} in:\n{said}");
    }
    assert!(said.ends_with("0 valid skills in 1 file: 7 errors\n"), "{said}");
}

#[test]
fn the_project_says_what_undefined_names_mean() {
    let skill = "\
steps:
  - { name: never, condition: \"false\", command: echo, output: answer }
  - { name: use, command: echo, args: [\"got {{ answer.text }}.\"] }
";
    let place = Place::new();
    place.write("open.yaml", &format!("name: open\n{skill}"));
    place.write("strict.yaml", &format!("name: strict\nundefined: strict\n{skill}"));
    assert_eq!(place.aye(&["run", "open.yaml"]).code, 1);
    place.write("aye.toml", "[run]\nundefined = \"lenient\"\n");
    let ran = place.aye(&["run", "open.yaml"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("got ."), "{}", ran.stdout);
    // What a skill says itself counts.
    assert_eq!(place.aye(&["run", "strict.yaml"]).code, 1);
    place.write("aye.toml", "[run]\nundefined = \"loose\"\n");
    let ran = place.aye(&["run", "open.yaml"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("`strict` or `lenient`"), "{}", ran.stderr);
}

#[test]
fn a_file_that_is_too_large_is_refused_by_its_size() {
    let place = Place::new();
    // No character begins where five million bytes end.
    place.write("large.yaml", &format!("name: large # {}", "日".repeat(2_000_000)));
    assert_snapshot!(place.aye(&["check", "large.yaml"]).all(), @r"
    --- stdout
    error[too-large]: the file has 5859 KiB, the limit is 1024 KiB
      --> large.yaml
    hint: a skill is a short text; keep data in files of its own

    ✗ 0 valid skills in 1 file: 1 error
    --- exit 2
    ");
}

#[test]
fn what_is_found_in_texts_blocks_and_calls() {
    let place = Place::new();
    let said = "\
name: said
steps:
  - { name: early, command: echo, args: [\"{{ late }}\"] }
  - { name: late, command: echo, args: [\"{{ nobody }}\"] }
  - { name: open, command: echo, args: [\"{% if x %}\"] }
  - { name: code, compute: \"x = = 1\" }
  - { name: module, compute: \"import subprocess\" }
";
    let calls = "\
name: calls
steps:
  - { name: lost, tool: sya }
  - { name: inner, skill: inner.yaml, inputs: { hots: web-1 } }
";
    let round = "\
name: round
initial: a
states:
  a: { command: \"true\", transitions: { success: a } }
";
    let inner = "name: inner\ninputs: [{ name: host, required: true }]\nsteps: [{ name: a, command: make }]\n";
    place.write("said.yaml", said);
    place.write("calls.yaml", calls);
    place.write("round.yaml", round);
    place.write("inner.yaml", inner);
    place.write("aye.toml", "[tools.say]\ncommand = [\"echo\"]\n");
    let ran = place.aye(&["check", "said.yaml", "calls.yaml", "round.yaml"]);
    assert_snapshot!(ran.all(), @r#"
    --- stdout
    error[used-too-early]: `late` has no value yet
      --> said.yaml:3:46
       |
     3 |   - { name: early, command: echo, args: ["{{ late }}"] }
       |                                              ^^^^ used here
     4 |   - { name: late, command: echo, args: ["{{ nobody }}"] }
       |             ---- this step gives it, and it comes later

    error[unknown-name]: `nobody` is not defined anywhere
      --> said.yaml:4:45
       |
     4 |   - { name: late, command: echo, args: ["{{ nobody }}"] }
       |                                             ^^^^^^
       |
    hint: no step gives it; write `nobody | default('')` if it may be missing

    error[bad-template]: this template cannot be read: syntax error: unexpected end of input, expected end of block
      --> said.yaml:5:42
       |
     5 |   - { name: open, command: echo, args: ["{% if x %}"] }
       |                                          ^^^^^^^^^^ here
       |
    hint: write `{{ name }}` for a value, and `{{ '{{' }}` for two braces

    error[bad-code]: `compute` of step `code`: Expected an expression
      --> said.yaml:6:33
       |
     6 |   - { name: code, compute: "x = = 1" }
       |                                 ^

    warning[missing-module]: `compute` of step `module`: there is no module `subprocess` in the sandbox
      --> said.yaml:7:31
       |
     7 |   - { name: module, compute: "import subprocess" }
       |                               ^^^^^^^^^^^^^^^^^
       |
    hint: it has `re`, `json`, `datetime` and a few more; `python: true` at the step runs the block with python3

    warning[unknown-tool]: there is no tool `sya`
      --> calls.yaml:3:25
       |
     3 |   - { name: lost, tool: sya }
       |                         ^^^
       |
    hint: did you mean `say`?

    warning[unknown-input]: skill `inner` has no input `hots`
      --> calls.yaml:4:47
       |
     4 |   - { name: inner, skill: inner.yaml, inputs: { hots: web-1 } }
       |                                               ^^^^^^^^^^^^^^^ did you mean `host`?

    warning[missing-input]: skill `inner` needs input `host`
      --> calls.yaml:4:47
       |
     4 |   - { name: inner, skill: inner.yaml, inputs: { hots: web-1 } }
       |                                               ^^^^^^^^^^^^^^^
       |
    hint: add `inputs: { host: … }`

    warning[no-end]: no path leads to a final state
      --> round.yaml:2:10
       |
     2 | initial: a
       |          ^

    warning[cycle]: cycle: a -> a
      --> round.yaml:4:3
       |
     4 |   a: { command: "true", transitions: { success: a } }
       |   ^

    ✗ 2 valid skills in 3 files: 4 errors, 6 warnings
    --- exit 2
    "#);
}

#[test]
fn results_are_looked_for_where_they_are() {
    let place = Place::new();
    let skill = "\
name: r
steps:
  - { name: a, command: echo, args: [x] }
  - { name: b, shell: 'echo {{ a.stdout }}' }
  - { name: c, shell: 'echo {{ steps.a.output }}' }
  - { name: d, shell: 'echo {{ steps.a.exitcode }} {{ steps.b.stdout }}' }
  - { name: e, shell: 'echo {{ a.exit_code }}' }
  - { name: f, shell: 'echo {{ a.strip() }} {{ steps.a.exit_code }}' }
  - { name: g, command: echo, args: ['${{ a }}'] }
";
    place.write("r.yaml", skill);
    let ran = place.aye(&["check", "--strict", "r.yaml"]);
    assert_eq!(ran.code, 2);
    let said: Vec<&str> =
        ran.stdout.lines().filter(|line| line.starts_with(['w', 'e', 'h'])).collect();
    assert_eq!(
        said,
        [
            "error[unknown-name]: `a.stdout` is never defined",
            "hint: `a` is the text itself: write `{{ a }}` or `{{ steps.a.stdout }}`",
            "error[unknown-name]: `steps.a.output` is never defined",
            "hint: write `{{ a }}` for its result, or `{{ steps.a.stdout }}`",
            "error[unknown-name]: `steps.a.exitcode` is never defined",
            "hint: a step has status, exit_code, stdout, stderr, attempt, visits, message, duration_ms",
            "error[unknown-name]: `a.exit_code` is never defined",
            "hint: write `{{ steps.a.exit_code }}`",
            "warning[dollar-template]: the `$` of `${{ … }}` stays before the value",
            "hint: write `{{ … }}` alone",
        ]
    );
    // The same when it is run.
    let ran = place.aye(&["run", "r.yaml"]);
    assert!(ran.stderr.contains("hint: `a` is the text itself: write `{{ a }}`"), "{}", ran.all());
}

#[test]
fn what_follows_a_step_of_a_loop_is_looked_at_too() {
    let place = Place::new();
    place.write(
        "l.yaml",
        "name: l\nsteps:\n- name: e\n  foreach: [1]\n  steps:\n  - name: x\n    command: echo\n    then:\n    - { name: z, command: echo, args: ['{{ x }}', '{{ nobody }}'] }\n    - return: '{{ z }}'\n",
    );
    let ran = place.aye(&["check", "l.yaml"]);
    let found: Vec<&str> = ran.stdout.lines().filter(|line| line.contains("[")).collect();
    assert_eq!(found[0], "error[unknown-name]: `nobody` is not defined anywhere");
    assert!(ran.stdout.ends_with("0 valid skills in 1 file: 1 error\n"), "{}", ran.stdout);
}

#[test]
fn modules_that_the_sandbox_lacks_are_named() {
    let place = Place::new();
    for module in ["textwrap", "shutil", "getpass", "zoneinfo", "yaml"] {
        place.write(
            "m.yaml",
            &format!("name: m\nsteps:\n  - name: a\n    compute: |\n      import {module}\n      result = 1\n"),
        );
        let ran = place.aye(&["check", "m.yaml"]);
        let said = format!("`compute` of step `a`: there is no module `{module}` in the sandbox");
        assert!(ran.stdout.contains(&said), "{module}: {}", ran.all());
        assert!(ran.stdout.contains("`python: true` at the step runs"), "{module}: {}", ran.all());
        // Before the run fails there, not only where someone asks.
        let ran = place.aye(&["run", "m.yaml", "--dry-run"]);
        assert!(ran.stderr.contains(&said), "{module}: {}", ran.all());
        let ran = place.aye(&["run", "m.yaml"]);
        let warned = ran.stderr.find(&said);
        assert!(
            warned.is_some() && warned < ran.stderr.find("ModuleNotFoundError"),
            "{}",
            ran.all()
        );
    }
}

#[test]
fn a_function_that_memory_does_not_have_is_warned_about() {
    let place = Place::new();
    let skill = |code: &str| format!("name: c\nsteps:\n  - name: a\n    compute: {code}\n");
    place.write("c.yaml", &skill("result = memory.wirte('x', 1)"));
    let ran = place.aye(&["check", "c.yaml"]);
    assert!(ran.stdout.contains("warning[unknown-function]"), "{}", ran.all());
    assert!(ran.stdout.contains("did you mean `memory.write`?"), "{}", ran.all());
    for code in ["result = memory.write_memory('x', {})", "result = (lambda memory: memory.x)(1)"] {
        place.write("c.yaml", &skill(code));
        let ran = place.aye(&["check", "c.yaml"]);
        assert!(!ran.stdout.contains("unknown-function"), "{code}: {}", ran.all());
    }
}

#[test]
fn a_block_that_compares_what_a_program_printed_with_a_number_is_warned_about() {
    let place = Place::new();
    let skill = |code: &str| {
        format!(
            "name: c\nsteps:\n  - {{ name: count, shell: echo 0 }}\n  - name: none\n    compute: |\n      {code}\n"
        )
    };
    for code in
        ["result = count == 0", "result = 3 > count", "result = [n for n in 'ab' if count != 1.5]"]
    {
        place.write("c.yaml", &skill(code));
        let ran = place.aye(&["check", "c.yaml"]);
        assert!(ran.stdout.contains("warning[text-as-number]"), "{code}: {}", ran.all());
        assert!(ran.stdout.contains("`int(count)`"), "{code}: {}", ran.all());
    }
    for code in
        ["result = int(count) == 0", "count = 1; result = count == 1", "result = count == '0'"]
    {
        place.write("c.yaml", &skill(code));
        let ran = place.aye(&["check", "c.yaml"]);
        assert!(!ran.stdout.contains("text-as-number"), "{code}: {}", ran.all());
    }
    // A block is Python: what it compares, it compares as Python does.
    place.write("c.yaml", &skill("result = count == 0"));
    place.aye(&["run", "c.yaml"]).ok();
    assert_eq!(place.aye(&["logs", "last", "none"]).ok().stdout, "false\n");
}

#[test]
fn an_unknown_name_of_a_block_is_shown_where_it_is_used() {
    let place = Place::new();
    place.write(
        "n.yaml",
        "name: n\nsteps:\n  - name: a\n    compute: |\n      # parsers is there in other engines\n      result = parsers.find('x')\n",
    );
    let ran = place.aye(&["check", "n.yaml"]);
    assert!(ran.stdout.contains("--> n.yaml:6:16\n"), "{}", ran.all());
}
