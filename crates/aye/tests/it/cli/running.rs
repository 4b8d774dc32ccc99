//! `aye run`: both forms, parts of a skill, how much is said.

use insta::assert_snapshot;

use super::harness::Place;

const STEPS: &str = "\
name: two
description: Two steps
steps:
  - name: first
    command: echo
    args: [hello, 'big world']
    output: greeting
  - name: second
    shell: |
      echo out
      echo err >&2
outputs:
  - { name: said, value: '{{ greeting }}' }
";

const STATES: &str = "\
name: ways
initial: look
states:
  look: { shell: exit 3, transitions: { success: done, failure: failed, 3: repair } }
  repair: { shell: echo repairing, transitions: { success: done, failure: failed } }
  done: { type: final }
  failed: { type: final, status: failed }
";

const ASKS: &str = "\
name: asks
steps:
  - name: gate
    confirm: { message: 'Continue?', timeout: 0 }
  - name: after
    shell: echo went on
";

fn place() -> Place {
    let place = Place::new();
    place.write("two.yaml", STEPS);
    place.write("ways.yaml", STATES);
    place.write("asks.yaml", ASKS);
    place
}

#[test]
fn steps_run_one_after_the_other() {
    assert_snapshot!(place().aye(&["run", "two.yaml"]).all(), @r"
    --- stdout
    first | hello big world
    second | out
    --- stderr
    two  run RUN
    ▸ first  echo hello 'big world'
    ✓ first  DURATION
    ▸ second  echo out …
    second | err
    ✓ second  DURATION
    ✓ two completed in DURATION  2 steps done
      said: hello big world
    --- exit 0
    ");
}

#[test]
fn states_run_along_their_transitions() {
    assert_snapshot!(place().aye(&["run", "ways.yaml"]).all(), @r"
    --- stdout
    repair | repairing
    --- stderr
    ways  run RUN
    ▸ look  exit 3
    → look  exit code 3, which leads to `repair`, after DURATION
    ▸ repair  echo repairing
    ✓ repair  DURATION
    ✓ ways completed in DURATION at `done`  2 steps done
    --- exit 0
    ");
}

#[test]
fn quiet_leaves_only_what_the_steps_wrote() {
    assert_snapshot!(place().aye(&["-q", "run", "two.yaml"]).all(), @r"
    --- stdout
    hello big world
    out
    --- stderr
    err
    --- exit 0
    ");
    assert_snapshot!(place().aye(&["run", "two.yaml", "--quiet"]).all(), @r"
    --- stdout
    hello big world
    out
    --- stderr
    err
    --- exit 0
    ");
}

#[test]
fn verbose_adds_the_events() {
    let ran = place().aye(&["run", "two.yaml", "-v", "--only", "first"]).ok();
    assert_eq!(ran.stdout, "first | hello big world\n");
    let begins: Vec<String> = ran
        .stderr
        .lines()
        .map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
        .collect();
    let own = ["two run", "▸ first", "✓ first", "✓ two"];
    let events = ["#1 skill_started", "#2 step_started", "#3 step_completed", "#4 skill_completed"];
    let expected: Vec<&str> = events.into_iter().zip(own).flat_map(<[&str; 2]>::from).collect();
    assert_eq!(begins, expected, "{}", ran.stderr);
}

#[test]
fn a_run_can_begin_later_or_be_one_step() {
    let place = place();
    let ran = place.aye(&["run", "ways.yaml", "--from", "repair"]);
    assert_snapshot!(ran.all(), @r"
    --- stdout
    repair | repairing
    --- stderr
    ways  run RUN
    ▸ repair  echo repairing
    ✓ repair  DURATION
    ✓ ways completed in DURATION at `done`  1 step done
    --- exit 0
    ");
    let ran = place.aye(&["run", "two.yaml", "--only", "first"]);
    assert_snapshot!(ran.all(), @r"
    --- stdout
    first | hello big world
    --- stderr
    two  run RUN
    ▸ first  echo hello 'big world'
    ✓ first  DURATION
    ✓ two completed in DURATION  1 step done
    --- exit 0
    ");
    let ran = place.aye(&["run", "two.yaml", "--only", "frist"]);
    assert_snapshot!(ran.all(), @r"
    --- stderr
    error: the skill has no step `frist`
    hint: did you mean `first`?
    --- exit 3
    ");
    let ran = place.aye(&["run", "two.yaml", "--from", "third-and-last"]);
    assert_snapshot!(ran.all(), @r"
    --- stderr
    error: the skill has no step `third-and-last`
    hint: `--dry-run` shows its steps
    --- exit 3
    ");
}

#[test]
fn a_part_that_needs_what_was_left_out_is_refused() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\nsteps:\n- {name: a, shell: echo 1}\n- {name: b, shell: 'echo {{ a }}'}\n",
    );
    assert_snapshot!(place.aye(&["run", "s.yaml", "--from", "b"]).all(), @r"
    --- stderr
    error: step `b` needs `a`, and step `a`, which gives it, is left out
    hint: begin earlier: `--from a`; if a result may be missing, write `a | default('')` where it is used
    --- exit 2
    ");
    assert!(!place.home().exists(), "nothing was begun");
    // States too, however far ahead; what may be missing, or is given on the way, is fine.
    let states = "\
name: t
initial: a
states:
  a: { shell: echo 1, on_success: b }
  b: { shell: echo 2, on_success: c }
  c: { command: echo, args: ['{{ b }}', \"{{ a | default('none') }}\"], on_success: d }
  d: { shell: 'echo {{ a }}', condition: inputs.all, on_success: e }
  e: { shell: 'echo {{ undone }}', on_success: end, on_failure: undone }
  undone: { shell: 'echo {{ e }}', on_success: e }
  end: { type: final }
inputs: [{ name: all, type: boolean, default: false }]
";
    place.write("t.yaml", states);
    place.aye(&["run", "t.yaml", "--from", "b", "--dry-run"]).ok();
    let refused = place.aye(&["run", "t.yaml", "--from", "c"]);
    assert_eq!(refused.code, 2, "{}", refused.all());
    assert!(refused.stderr.contains("step `c` needs `b`"), "{}", refused.all());
    assert!(refused.stderr.contains("`--from b`"), "{}", refused.all());
    let detached = place.aye(&["run", "t.yaml", "--from", "c", "--detach"]);
    assert_eq!(detached.code, 2, "{}", detached.all());
    // What the run gives in the end counts as well.
    place.write("o.yaml", "name: o\nsteps:\n- {name: a, shell: echo 1}\n- {name: b, shell: echo 2}\noutputs: [{ name: x, value: '{{ a }}' }]\n");
    let refused = place.aye(&["run", "o.yaml", "--from", "b"]);
    assert!(refused.stderr.contains("output `x` needs `a`"), "{}", refused.all());
    place.aye(&["run", "o.yaml", "--only", "b"]).ok();
}

#[test]
fn a_question_that_nobody_can_answer_pauses_the_run() {
    let place = place();
    assert_snapshot!(place.aye(&["run", "asks.yaml", "--no-input"]).all(), @r"
    --- stderr
    asks  run RUN
    ‖ nobody can be asked here: `--no-input` was given
    ‖ asks waits for an answer: Continue?  0 steps done
      command of `after`: echo went on
      not covered: programs that the script finds in `PATH`
      yes → the run continues, no → the run ends (cancelled)
      answer  aye answer RUN-1 (proceed|cancel) --resume
      inbox   aye inbox
      wait    aye resume RUN --detach
      resume  aye resume RUN
      cancel  aye cancel RUN
    --- exit 6
    ");
    assert_eq!(place.aye(&["run", "asks.yaml"]).code, 6, "no terminal is the same");
    let ran = place.aye(&["run", "asks.yaml", "--no-input", "-q"]);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("aye answer"), "quiet does not hide that it waits: {}", ran.all());
}

#[test]
fn yes_answers_and_is_recorded_as_that() {
    let place = place();
    assert_snapshot!(place.aye(&["run", "asks.yaml", "--yes"]).all(), @r"
    --- stdout
    after | went on
    --- stderr
    asks  run RUN
    ● gate  Continue?  Proceed  answered by --yes after DURATION
    ✓ gate
    ▸ after  echo went on
    ✓ after  DURATION
    ✓ asks completed in DURATION  2 steps done
    --- exit 0
    ");
    let shown = place.aye(&["show", "last", "--json"]).ok().json();
    let answered = shown["events"].as_array().unwrap();
    let answered = answered.iter().find(|event| event["type"] == "confirmation_answered").unwrap();
    assert_eq!(answered["answer"]["prompter"], "override");
}

#[test]
fn an_answer_from_elsewhere_lets_the_run_go_on_or_ends_it() {
    let place = place();
    place.aye(&["run", "asks.yaml", "--no-input"]);
    let question = format!("{}-1", place.last());
    let ran = place.aye(&["answer", &question, "cancel", "--reason", "not today", "--resume"]);
    assert_eq!(ran.code, 5, "{}", ran.all());
    assert_eq!(place.status(), "cancelled");
    let show = place.aye(&["show", "last"]).ok();
    assert!(show.stdout.contains("(not today)"), "{}", show.all());
    place.aye(&["run", "asks.yaml", "--no-input"]);
    let question = format!("{}-1", place.last());
    assert_eq!(place.aye(&["answer", &question, "proceed", "--resume"]).code, 0);
    assert_eq!(place.status(), "completed");
}

#[test]
fn several_skills_in_a_file_are_named_with_it() {
    let place = Place::new();
    let two = "workflows:\n  a: { steps: [{ name: x, shell: echo a }] }\n  b: { steps: [{ name: x, shell: echo b }] }\n";
    place.write("both.yaml", two);
    place.write("skills/pair.yaml", two);
    assert_snapshot!(place.aye(&["run", "both.yaml"]).all(), @r"
    --- stderr
    error: `both.yaml` holds 2 skills: a, b
    hint: name one: `both.yaml#a`
    --- exit 2
    ");
    assert_snapshot!(place.aye(&["run", "both.yaml#c"]).all(), @r"
    --- stderr
    error: `both.yaml` has no skill `c`
    hint: it has: a, b
    --- exit 3
    ");
    assert_eq!(place.aye(&["-q", "run", "both.yaml#b"]).ok().stdout, "b\n");
    assert_eq!(place.aye(&["-q", "run", "a"]).ok().stdout, "a\n");
    // A file whose path has a `#` in it comes first.
    let one = "name: one\nsteps: [{ name: x, shell: echo one }]\n";
    place.write("odd#folder/one.yaml", one);
    place.write("odd#folder/both.yaml", two);
    assert_eq!(place.aye(&["-q", "run", "odd#folder/one.yaml"]).ok().stdout, "one\n");
    assert_eq!(place.aye(&["-q", "run", "odd#folder/both.yaml#b"]).ok().stdout, "b\n");
    assert!(place.aye(&["graph", "odd#folder/one.yaml"]).ok().stdout.contains("one"));
    place.write("both.yaml#b", one);
    assert_eq!(place.aye(&["-q", "run", "both.yaml#b"]).ok().stdout, "b\n", "not YAML by name");
}

#[test]
fn a_skill_that_is_not_there_or_broken_is_not_run() {
    let place = place();
    place.write("skills/release.yaml", STEPS);
    place.write("broken.yaml", "name: broken\nstps: []\n");
    assert_snapshot!(place.aye(&["run", "relaese"]).all(), @r"
    --- stderr
    error: there is no skill `relaese`
    hint: did you mean `release`?
    --- exit 3
    ");
    assert_snapshot!(place.aye(&["run", "nosuch.yaml"]).all(), @r"
    --- stderr
    error: there is no file `nosuch.yaml`
    hint: check the path, or give the name of a skill that `aye list` shows
    --- exit 3
    ");
    assert_snapshot!(place.aye(&["run", "broken.yaml"]).all(), @r"
    --- stderr
    error[unknown-key]: unknown key `stps` in skill `broken`
      --> broken.yaml:2:1
       |
     2 | stps: []
       | ^^^^ did you mean `steps`?

    error: `broken.yaml` cannot be run
    --- exit 2
    ");
    assert!(!place.home().exists(), "nothing was written");
}

#[test]
fn output_without_a_line_end_and_tabs_come_as_they_are() {
    let place = Place::new();
    place.write("s.yaml", "name: s\nsteps:\n- {name: a, shell: 'printf \"a\\tb\\nhalf\"'}\n");
    assert_eq!(place.aye(&["-q", "run", "s.yaml"]).ok().stdout, "a\tb\nhalf\n");
}

#[test]
fn the_environment_variables_of_options_work() {
    let place = place();
    let run = |name: &str, value: &str, args: &[&str]| {
        let output = place.command(args).env(name, value).output().unwrap();
        super::harness::Ran::of(output, &place)
    };
    assert_eq!(run("AYE_NO_INPUT", "true", &["run", "asks.yaml"]).code, 6);
    assert_eq!(run("AYE_QUIET", "1", &["run", "two.yaml"]).stderr, "err\n");
    assert!(run("AYE_QUIET", "1", &["-v", "run", "two.yaml"]).stderr.contains("skill_started"));
    assert!(run("AYE_JSON", "1", &["run", "two.yaml"]).stdout.starts_with('{'));
    assert!(run("AYE_DRY_RUN", "1", &["run", "two.yaml"]).stdout.contains("dry run"));
    assert!(run("AYE_PLAIN", "1", &["run", "two.yaml"]).stderr.contains("+ first"));
    assert_eq!(run("AYE_COLOR", "sometimes", &["list"]).code, 2);
}

#[test]
fn no_variable_consents_or_changes_which_steps_run() {
    let place = place();
    let run = |name: &str, args: &[&str]| {
        let output = place.command(args).env(name, "first").output().unwrap();
        super::harness::Ran::of(output, &place)
    };
    let (asks, two) = (["run", "asks.yaml"], ["-q", "run", "two.yaml"]);
    let without = place.aye(&two).ok();
    for (name, instead) in aye::cli::environment::IGNORED {
        let warning = format!("warning: `{name}` has no effect: {instead}\n");
        let paused = run(name, &asks);
        assert_eq!(paused.code, 6, "{name}: {}", paused.all());
        assert!(paused.stderr.starts_with(&warning), "{name}: {}", paused.all());
        let ran = run(name, &two).ok();
        assert_eq!(ran.stdout, without.stdout, "{name}");
        assert_eq!(ran.stderr, warning + &without.stderr, "{name}");
    }
    let set_to_nothing = place.command(&two).env("AYE_YES", "").output().unwrap();
    let set_to_nothing = super::harness::Ran::of(set_to_nothing, &place);
    assert_eq!(set_to_nothing.all(), without.all());
}

#[test]
fn a_part_of_a_run_says_which_questions_it_leaves_out() {
    let place = Place::new();
    place.write(
        "gated.yaml",
        "name: gated\nsteps:\n- {name: gate, confirm: Go?}\n- {name: second, command: 'true', confirmation: Sure?}\n- {name: act, command: 'true'}\n",
    );
    let warned = |args: &[&str]| {
        let ran = place.aye(&[&["run", "gated.yaml"], args].concat());
        ran.all().lines().find(|line| line.contains("warning")).unwrap_or_default().to_owned()
    };
    assert_snapshot!(warned(&["--only", "act"]), @"warning: `act` alone leaves out the questions of `gate`, `second` before it");
    assert_snapshot!(warned(&["--from", "second", "--yes"]), @"warning: beginning at `second` leaves out the question of `gate` before it");
    assert_snapshot!(warned(&["--from", "act", "--dry-run"]), @"warning: beginning at `act` leaves out the questions of `gate`, `second` before it");
    assert_eq!(warned(&["--from", "gate", "--yes"]), "");
}
