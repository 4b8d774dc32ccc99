//! `aye run --dry-run`: what would happen; nothing does.

use insta::assert_snapshot;

use super::harness::{Place, assert_says};

const SKILL: &str = "\
name: plan
inputs:
  - { name: where, default: stage }
  - { name: token, type: secret, required: false }
steps:
  - name: look
    shell: |
      touch ran
      echo {{ inputs.where }} {{ inputs.token }}
    output: seen
    timeout: 1m
  - name: never
    command: echo
    args: [no]
    condition: inputs.where == 'moon'
    confirmation: Really?
  - name: wipe
    command: rm
    args: [-rf, 'the {{ seen }} of {{ inputs.where }}', 'a b']
    destructive: true
";

#[test]
fn the_plan_is_shown_and_nothing_runs() {
    let place = Place::new();
    place.write("plan.yaml", SKILL);
    let ran = place.aye(&["run", "plan.yaml", "--dry-run", "-i", "token=hunter2"]);
    assert_snapshot!(ran.all(), @r#"
    --- stdout
    plan  dry run: nothing is run, nobody is asked
      where = "stage"
      token = "***"
      1. look at most DURATION
         ▸ touch ran
           echo stage '***'
      2. never at most DURATION (default)
         if inputs.where == 'moon' (does not hold: would be skipped)
         ? Really?
           within DURATION, then no
         ▸ echo no
         no -> the run ends (cancelled)
      3. wipe destructive at most DURATION (default)
         ▸ rm -rf "the {{ seen }} of stage" 'a b'
    3 steps, no questions
    warning: `wipe` is destructive and has no question before it
    warning: `wipe` uses `rm -rf`
    --- exit 0
    "#);
    assert!(!place.work().join("ran").exists());
    assert!(!place.home().exists(), "no journal either");
}

#[test]
fn a_script_is_shown_as_it_would_run() {
    let place = Place::new();
    let skill = "name: s\ninputs: [{ name: x, default: 'a; b' }]\nsteps:\n- {name: a, shell: 'echo {{ inputs.x }}'}\n- {name: b, shell: 'echo {{ a }} {{ inputs.x }}'}\n";
    place.write("s.yaml", skill);
    let plan = place.aye(&["run", "s.yaml", "--dry-run", "--json"]).ok().json();
    assert_eq!(plan["steps"][0]["command"], "echo 'a; b'");
    // What is known is filled in beside what is not.
    assert_eq!(plan["steps"][1]["command"], "echo {{ a }} 'a; b'");
    let run = place.aye(&["run", "s.yaml", "--json"]).ok().stdout;
    assert!(run.contains(r#""command":"echo 'a; b'""#), "{run}");
}

#[test]
fn the_plan_as_json() {
    let place = Place::new();
    place.write("plan.yaml", SKILL);
    let ran = place.aye(&["run", "plan.yaml", "--dry-run", "--json", "--only", "wipe"]);
    assert_snapshot!(ran.all(), @r#"
    --- stdout
    {
      "skill": "plan",
      "inputs": {
        "where": "stage",
        "token": null
      },
      "steps": [
        {
          "step": "wipe",
          "kind": "command",
          "command": "rm -rf \"the {{ seen }} of stage\" 'a b'",
          "timeout": "DURATION",
          "default_timeout": true,
          "destructive": true
        }
      ],
      "questions": 0,
      "warnings": [
        "`wipe` is destructive and has no question before it",
        "`wipe` uses `rm -rf`",
        "step `wipe` needs `seen`, and step `look`, which gives it, is left out",
        "`wipe` alone leaves out the question of `never` before it"
      ]
    }
    --- exit 0
    "#);
}

#[test]
fn a_part_of_the_plan() {
    let place = Place::new();
    place.write("plan.yaml", SKILL);
    let ran = place.aye(&["run", "plan.yaml", "--dry-run", "--from", "never", "-i", "where=moon"]);
    assert_snapshot!(ran.all(), @r#"
    --- stdout
    plan  dry run: nothing is run, nobody is asked
      where = "moon"
      token = null
      1. never at most DURATION (default)
         if inputs.where == 'moon' (holds)
         ? Really?
           within DURATION, then no
         ▸ echo no
         no -> the run ends (cancelled)
      2. wipe destructive at most DURATION (default)
         ▸ rm -rf "the {{ seen }} of moon" 'a b'
    2 steps, 1 question
    warning: `wipe` is destructive and has no question before it
    warning: `wipe` uses `rm -rf`
    warning: step `wipe` needs `seen`, and step `look`, which gives it, is left out
    --- exit 0
    "#);
    let ran = place.aye(&["run", "plan.yaml", "--dry-run", "--from", "nevr"]);
    assert_snapshot!(ran.all(), @r"
    --- stderr
    error: the skill has no step `nevr`
    hint: did you mean `never`?
    --- exit 3
    ");
}

#[test]
fn a_way_that_goes_round_is_cut() {
    let place = Place::new();
    let skill = "name: round\ninitial: a\nstates:\n  a: { shell: echo a, transitions: { success: b } }\n  b: { confirm: Again?, transitions: { success: a, declined: end } }\n  end: { type: final }\n";
    place.write("round.yaml", skill);
    assert_snapshot!(place.aye(&["run", "round.yaml", "--dry-run"]).all(), @r"
    --- stdout
    round  dry run: nothing is run, nobody is asked
      1. a at most DURATION (default)
         ▸ echo a
      2. b
         ? Again?
           within DURATION, then no
         declined -> end
         other ends: end (cancelled)
    2 steps, 1 question, further questions if it comes to `b`
    warning: loops back to `a`; the plan ends here
    --- stderr
    warning[cycle]: cycle: a -> b -> a
      --> round.yaml:4:3
       |
     4 |   a: { shell: echo a, transitions: { success: b } }
       |   ^

    --- exit 0
    ");
}

#[test]
fn an_early_end_and_what_is_asked_inside_are_in_the_plan() {
    let place = Place::new();
    place.write(
        "plan.yaml",
        "\
name: plan
defaults: { who: ada }
inputs: [{ name: quick, type: boolean, default: false }]
steps:
  - { name: look, shell: ls }
  - name: empty
    condition: look == ''
    then: [{ return: 'nothing for {{ defaults.who }}' }]
  - name: fast
    condition: inputs.quick
    then: [{ return: done quickly }]
  - name: wipe
    foreach: '{{ look }}'
    command: rm
    args: ['{{ item }}']
    destructive: true
    confirmation: 'Remove {{ item }}?'
  - { name: rest, skill: 'other.yaml' }
",
    );
    let ran = place.aye(&["run", "plan.yaml", "--dry-run"]);
    assert_snapshot!(ran.all(), @r#"
    --- stdout
    plan  dry run: nothing is run, nobody is asked
      quick = false
      1. look at most DURATION (default)
         ▸ ls
      2. empty
         if look == ''
      3. empty.return
         ▸ return nothing for ada
      4. fast
         if inputs.quick (does not hold: would be skipped)
      5. wipe destructive
         ▸ for each item of {{ look }}:
           wipe destructive at most DURATION (default)
              ? Remove {{ item }}?
                within DURATION, then no
              ▸ rm "{{ item }}"
              no -> the item is left out
      6. rest
         ▸ other.yaml
    6 steps, questions for each item of `wipe`, questions that `other.yaml` may ask
    --- stderr
    warning[unknown-skill]: there is no file `other.yaml`
       --> plan.yaml:18:26
        |
     18 |   - { name: rest, skill: 'other.yaml' }
        |                          ^^^^^^^^^^^^ looked for from here

    --- exit 0
    "#);
}

#[test]
fn a_guard_behind_a_condition_does_not_go_round() {
    let place = Place::new();
    place.write(
        "plan.yaml",
        "\
name: plan
initial: look
states:
  look: { shell: ls, on_success: build }
  build:
    command: make
    condition: look != ''
    validate: { command: test, args: [-f, app] }
    on_success: tell
  tell: { command: echo, on_success: done }
  done: { type: final }
",
    );
    let ran = place.aye(&["run", "plan.yaml", "--dry-run"]).ok();
    assert!(ran.stdout.contains("ends in done\n4 steps, no questions\n"), "{}", ran.all());
    assert!(!ran.stdout.contains("loops back"), "{}", ran.all());
}

const UNKNOWN: &str = "\
name: unknown
inputs: [{ name: where, default: stage }]
steps:
  - { name: find, shell: pwd, output: place }
  - { name: wipe, command: rm, args: [-rf, \"/srv/{{ place | default('') }}\"] }
  - { name: say, shell: \"echo {{ 'found' if place is defined else 'lost' }} in {{ inputs.where }}\" }
  - { name: maybe, command: 'true', condition: place is defined }
  - name: each
    foreach: [a, b]
    as: item
    steps: [{ name: inside, command: echo, args: [\"{{ item | default('none') }}\"] }]
";

#[test]
fn what_only_the_run_can_know_is_shown_as_written() {
    let place = Place::new();
    place.write("unknown.yaml", UNKNOWN);
    assert_snapshot!(place.aye(&["run", "unknown.yaml", "--dry-run"]).all(), @r#"
    --- stdout
    unknown  dry run: nothing is run, nobody is asked
      where = "stage"
      1. find at most DURATION (default)
         ▸ pwd
      2. wipe at most DURATION (default)
         ▸ rm -rf "/srv/{{ place | default('') }}"
      3. say at most DURATION (default)
         ▸ echo {{ 'found' if place is defined else 'lost' }} in stage
      4. maybe at most DURATION (default)
         if place is defined
         ▸ true
      5. each
         ▸ for each item of ["a","b"]:
           inside at most DURATION (default)
              ▸ echo "{{ item | default('none') }}"
    5 steps, no questions
    warning: `wipe` uses `rm -rf`
    --- exit 0
    "#);
    // What is left out will have no value: that is known.
    let only = place.aye(&["run", "unknown.yaml", "--dry-run", "--only", "wipe"]).all();
    assert!(only.contains("rm -rf /srv/\n"), "{only}");
    let from = place.aye(&["run", "unknown.yaml", "--dry-run", "--from", "say"]).all();
    assert!(from.contains("echo lost in stage"), "{from}");
    assert!(from.contains("does not hold"), "{from}");
}

/// Everything that may go wrong or ask, off the way of success too.
const RISKS: &str = "
name: risks
initial: build
states:
  build: { command: no-such-program, timeout: 10s, transitions: { success: scan, failure: failed } }
  scan: { command: curl, args: [example.com], transitions: { success: watch, failure: rollback } }
  watch: { shell: 'true', transitions: { success: done, 75: again, timeout: failed } } # aye: allow cycle
  again: { confirm: { message: Look again? }, transitions: { success: watch, declined: done } }
  rollback: { command: 'true', transitions: { success: failed } }
  done: { type: final }
  failed: { type: final, status: failed }
";

#[test]
fn a_plan_names_what_may_go_wrong_and_what_may_ask() {
    let place = Place::new();
    place.write("risks.yaml", RISKS);
    place.write("aye.toml", "[policy]\nallow = [\"sh\", \"true\", \"no-such-program\"]\n");
    let ran = place.aye(&["run", "risks.yaml", "--dry-run"]);
    let parts = [
        // The limits that apply, the step's own and the default.
        "1. build at most 10s\n",
        "2. scan at most 2m (default)\n",
        // Where failures and other ends lead.
        "failure -> failed",
        "failure -> rollback",
        "75 -> again",
        "timeout -> failed",
        // Where the way ends, and where else it may.
        "ends in done",
        "other ends: failed (failed)",
        // A loop off the way may ask: there is no `no questions`.
        "further questions if it comes to `again`",
        // A program that is not there, and one that the policy refuses.
        "warning: `build` cannot run: command `no-such-program` not found",
        "warning: `scan` cannot run: command `curl` is not allowed",
    ];
    assert_says(&[(&ran.stdout, &parts)]);
    assert!(!ran.stdout.contains("no questions"), "{}", ran.stdout);
    let plan = place.aye(&["run", "risks.yaml", "--dry-run", "--json"]).json();
    assert_eq!(plan["may_ask"], serde_json::json!(["again"]), "{plan}");
    assert_eq!(plan["questions"], 0, "{plan}");
}

#[test]
fn a_choice_off_the_way_may_ask() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\ninitial: a\nstates:\n  a: { shell: 'exit 3', transitions: { success: done, 3: pick } }\n  pick: { choose: { message: Where?, options: [x, y] }, transitions: { success: done } }\n  done: { type: final }\n",
    );
    let plan = place.aye(&["run", "s.yaml", "--dry-run"]).ok().stdout;
    assert!(plan.contains("1 step, further questions if it comes to `pick`\n"), "{plan}");
}

#[test]
fn a_question_says_what_happens_at_its_limit_and_where_a_no_leads() {
    let place = Place::new();
    place.write(
        "q.yaml",
        "\
name: q
initial: ask
states:
  ask: { command: echo, confirmation: Go?, transitions: { success: pick, failure: undo } }
  pick: { choose: { message: Where?, options: [a, b], default: a, timeout: 1m }, transitions: { success: sure } }
  sure: { confirm: { message: Sure?, default: no, timeout: 0 }, transitions: { success: done, declined: done } }
  undo: { command: echo, transitions: { success: done } }
  done: { type: final }
",
    );
    let plan = place.aye(&["run", "q.yaml", "--dry-run", "--json"]).ok().json();
    let step = |at: usize| {
        let step = &plan["steps"][at];
        (step["answer_within"].clone(), step["on_expiry"].clone(), step["otherwise"].to_string())
    };
    let ways = r#"["failure -> undo","no -> undo"]"#.to_owned();
    assert_eq!(step(0), ("30s".into(), "no".into(), ways));
    let ways = r#"["no -> the run ends (cancelled)"]"#.to_owned();
    assert_eq!(step(1), ("1m".into(), "`a`, if a prompt shows it then".into(), ways));
    let ways = r#"["declined -> done"]"#.to_owned();
    assert_eq!(step(2), (serde_json::Value::Null, serde_json::Value::Null, ways));
    // Nothing follows one step alone, whatever the skill says of it.
    let alone = place.aye(&["run", "q.yaml", "--dry-run", "--json", "--only", "ask"]).ok().json();
    let ways = &alone["steps"][0]["otherwise"];
    assert_eq!(*ways, serde_json::json!(["no -> the run ends (cancelled)"]), "{alone}");
    let shown = place.aye(&["run", "q.yaml", "--dry-run"]).ok().stdout;
    assert!(shown.contains("? Go?\n       within 30s, then no\n"), "{shown}");
    assert!(shown.contains("? Sure?\n       no time limit\n"), "{shown}");
}

/// What a plain step says, wherever it stands.
const FACTS: &str = "\
name: facts
timeout: 1h
inputs: [{ name: where, default: stage }]
steps:
  - name: plain
    command: no-such-program
    args: ['{{ inputs.where }}']
    retry: { attempts: 3, backoff: 5s }
    on_error: ask
    timeout: 10s
    confirmation: { message: 'Go to {{ inputs.where }}?', type_to_confirm: '{{ inputs.where }}', by: human }
  - name: each
    foreach: [a, b]
    parallel: 4
    steps:
      - name: inner
        command: no-such-program
        args: ['{{ inputs.where }}', '{{ item }}']
        retry: { attempts: 3, backoff: 5s }
        on_error: ask
        timeout: 10s
        confirmation: { message: 'Go to {{ inputs.where }}?', type_to_confirm: '{{ inputs.where }}', by: human }
      - { name: block, compute: 'return 1' }
      - name: deeper
        foreach: [c]
        as: other
        steps:
          - { name: fetch, command: curl, args: ['{{ other }}'] }
          - { name: wipe, shell: 'rm -rf /srv/{{ inputs.where }}/{{ other }}', destructive: true }
  - name: group
    command: 'true'
    condition: each != ''
    then:
      - { name: member, command: not-there-either, on_error: continue }
  - { name: other, skill: other.yaml, inputs: { place: '{{ inputs.where }}' } }
";

const CALLED: &str = "\
name: other
inputs: [{ name: place }]
initial: work
states:
  work: { command: echo, args: ['{{ inputs.place }}'], transitions: { success: done, failure: undo } }
  undo: { command: no-such-undo, transitions: { success: done } }
  done: { type: final }
";

#[test]
fn a_step_says_the_same_wherever_it_stands() {
    let place = Place::new();
    place.write("facts.yaml", FACTS);
    place.write("other.yaml", CALLED);
    place.write(
        "aye.toml",
        "[policy]\nallow = [\"sh\", \"true\", \"echo\", \"no-such-program\", \"not-there-either\", \"no-such-undo\"]\n",
    );
    let plan = place.aye(&["run", "facts.yaml", "--dry-run", "--json"]).ok().json();
    let (plain, each) = (&plan["steps"][0], &plan["steps"][1]);
    let inner = &each["inside"][0];
    for fact in ["message", "rules", "answer_within", "on_expiry", "timeout", "retry", "on_error"] {
        assert!(!plain[fact].is_null(), "{fact}: {plan:#}");
        assert_eq!(plain[fact], inner[fact], "{fact}: {plan:#}");
    }
    assert_eq!(plain["rules"][0], "type `stage` to agree");
    assert_eq!(inner["command"], "no-such-program stage \"{{ item }}\"");
    assert_eq!(plan["timeout"], "1h");
    let shown = place.aye(&["run", "facts.yaml", "--dry-run"]).ok().stdout;
    let parts = [
        "at most 1h for the whole run\n",
        "     ▸ for each item of [\"a\",\"b\"], 4 at once:\n       inner at most 10s\n          ? Go to stage?\n",
        "            type `stage` to agree\n",
        "          up to 3 attempts, 5s apart at first\n",
        "failure -> a question, no -> the item is left out\n",
        "       block at most 10s (default)\n",
        "               ▸ rm -rf /srv/stage/{{ other }}\n",
        "failure -> the next step\n",
        "     ▸ other.yaml place=stage\n       work at most 2m (default)\n          ▸ echo stage\n",
        ", 1 question, questions for each item of `each`, a question if `plain` fails\n",
        "warning: `plain` cannot run: command `no-such-program` not found",
        "warning: `inner` cannot run: command `no-such-program` not found",
        "warning: `fetch` cannot run: command `curl` is not allowed",
        "warning: `wipe` is destructive and has no question before it",
        "warning: `wipe` uses `rm -rf`",
        "warning: `member` cannot run: command `not-there-either` not found",
        "warning: in `other.yaml`: `undo` cannot run: command `no-such-undo` not found",
    ];
    assert_says(&[(&shown, &parts)]);
}

#[test]
fn steps_off_the_way_are_in_the_plan() {
    let place = Place::new();
    place.write(
        "risks.yaml",
        &RISKS.replace(
            "rollback: { command: 'true'",
            "rollback: { command: no-such-undo, retry: 2, on_error: ask",
        ),
    );
    let plan = place.aye(&["run", "risks.yaml", "--dry-run"]).ok().stdout;
    let parts = [
        "after a failure or another answer:\n   - again\n     ? Look again?\n",
        "   - rollback at most 2m (default)\n     ▸ no-such-undo\n     up to 2 attempts, 1s apart\n",
        "a question if `rollback` fails",
        "warning: `rollback` cannot run: command `no-such-undo` not found",
    ];
    assert_says(&[(&plan, &parts)]);
}

#[test]
fn a_skill_that_calls_itself_is_planned_once() {
    let place = Place::new();
    place.write("s.yaml", "name: s\nsteps:\n- { name: a, command: echo, condition: env.NEVER is defined }\n- { name: b, skill: s.yaml }\n");
    let plan = place.aye(&["run", "s.yaml", "--dry-run"]).ok().stdout;
    assert!(plan.contains("2 steps, questions that `s.yaml` may ask\n"), "{plan}");
}

#[test]
fn a_program_behind_a_tool_and_questions_inside_a_handler_are_told() {
    let place = Place::new();
    place.write(
        "aye.toml",
        "[tools.gone]\ncommand = [\"no-such-tool\"]\n[tools.slow]\ncommand = [\"true\"]\ntimeout = \"7m\"\n",
    );
    place.write(
        "s.yaml",
        "\
name: s
initial: a
cleanup: 3m
states:
  a: { tool: gone, on_error: fail, transitions: { success: done, failure: undo } }
  undo: { foreach: [x], command: echo, confirmation: 'Undo {{ item }}?', transitions: { success: done } }
  done: { type: final }
finally:
  - { name: b, tool: slow }
",
    );
    let plan = place.aye(&["run", "s.yaml", "--dry-run"]).ok().stdout;
    let parts = [
        "warning: `a` cannot call `gone`: command `no-such-tool` not found",
        "further questions if it comes to `undo`",
        "finally, however it ends (at most 3m in all):\n  2. b at most 7m (default)\n",
    ];
    assert_says(&[(&plan, &parts)]);
    assert!(!plan.contains("no questions"), "{plan}");
    let finally = &plan[plan.find("2. b at most").unwrap()..];
    assert!(!finally.contains("->"), "the next step follows, however it ends: {plan}");
}

#[test]
fn a_limit_says_where_it_comes_from_and_is_not_rounded() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\nsteps:\n  - { name: a, shell: 'true' }\n  \
         - { name: b, shell: 'true', timeout: 1.5s }\n  \
         - { name: c, shell: 'true', timeout: 1h, confirmation: { message: Go?, timeout: 45.5s } }\n",
    );
    place.write("aye.toml", "[run]\nmax_step_timeout = \"90.5s\"\n");
    let plan = place.aye(&["run", "s.yaml", "--dry-run"]).ok().stdout;
    for part in [
        "1. a at most 1m 30.5s (`max_step_timeout`)\n",
        "2. b at most 1.5s\n",
        "3. c at most 1m 30.5s (`max_step_timeout`)\n",
        "within 45.5s, ",
    ] {
        assert!(plan.contains(part), "{part}: {plan}");
    }
}

#[test]
fn a_no_with_a_transition_is_the_only_way_to_decline() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s
initial: sure
states:
  sure: { confirm: { message: Really?, timeout: 3s }, transitions: { proceed: good, cancel: bad } }
  good: { shell: echo good, transitions: { success: done } }
  bad: { shell: echo bad, transitions: { success: done } }
  done: { type: final }
",
    );
    let plan = place.aye(&["run", "s.yaml", "--dry-run"]).ok().stdout;
    let ways = "     proceed -> good, cancel -> bad, no answer -> bad\n";
    assert!(plan.contains(ways), "{plan}");
    let graph = place.aye(&["graph", "s.yaml"]).ok().stdout;
    assert!(graph.contains("cancel") && !graph.contains("declined"), "{graph}");
}
