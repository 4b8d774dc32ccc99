//! How much of what a program writes is its step's result.

use std::process::Stdio;

use serde_json::{Value, json};

use super::harness::{Place, Ran};

/// A script that writes so many bytes; a line has 160, and a last line end would go.
fn writes(bytes: usize) -> String {
    format!("yes {:0>159} | head -c {bytes}", "")
}

/// What a step of the newest run gave, as the journal has it.
fn journalled(place: &Place, step: &str) -> Value {
    let shown = place.aye(&["show", "last", "--json"]).ok().json();
    let mut events = shown["events"].as_array().unwrap().iter();
    let completed =
        events.find(|event| event["type"] == "step_completed" && event["step"] == step).unwrap();
    completed["value"].clone()
}

/// What its step `count` has counted.
fn counted(place: &Place) -> usize {
    journalled(place, "count").as_str().unwrap().parse().unwrap()
}

/// The bytes of the journal, without logs.
fn journal(place: &Place) -> u64 {
    let files = ["journal.db", "journal.db-wal"].map(|name| place.home().join(name));
    files.iter().filter_map(|file| Some(file.metadata().ok()?.len())).sum()
}

const CUT: usize = "[134465 bytes dropped]\n".len() + 65_536;

#[test]
fn what_nobody_reads_costs_neither_memory_nor_journal() {
    let run = |bytes: usize| {
        let place = Place::new();
        let (big, peak) = (writes(bytes), "grep VmHWM /proc/$PPID/status | tr -dc 0-9 > peak");
        let step = |name: &str, script: &str| format!("- name: {name}\n  shell: {script:?}\n");
        let steps = [step("a", &big), step("last", peak)].concat();
        place.write("s.yaml", &format!("name: s\nsteps:\n{steps}"));
        let mut run = place.command(&["run", "s.yaml"]);
        assert!(run.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success());
        let peak: u64 = place.read("peak").parse().unwrap();
        (peak, journal(&place))
    };
    let ((small, short), (large, long)) = (run(1), run(20_000_001));
    assert!(large * 2 < small * 3, "{large} kB, and with next to no output {small} kB");
    assert!(long < short + 1_000_000, "{long} bytes, and with next to no output {short}");
}

#[test]
fn what_is_read_is_there_in_full() {
    let place = Place::new();
    let big = writes(12_000_001);
    place.write(
        "s.yaml",
        &format!("name: s\nsteps:\n- {{ name: big, shell: {big:?} }}\n- {{ name: count, command: wc, args: [-c], stdin: '{{{{ big }}}}' }}\n"),
    );
    place.aye(&["run", "s.yaml", "-q"]).ok();
    assert_eq!(counted(&place), (10 << 20) + "[1514241 bytes dropped]\n".len());
    let shown = place.aye(&["show", "last"]).ok();
    let remark = "its result is the last 10 MB of its output; the log has all of it";
    assert!(shown.stdout.contains(remark), "{}", shown.stdout);
}

#[test]
fn whoever_could_read_it_gets_all_of_it() {
    let big = writes(200_001);
    let step = |keys: &str| format!("- {{ name: big, shell: {big:?}, output: made{keys} }}\n");
    let cases = [
        // By a name that only turns up when it runs.
        (step(""), "- { name: b, compute: 'result = len(globals()[\"ma\" + \"de\"])' }", 200_001),
        (step(", validate: { condition: made | length == 200001 }"), "- shell: echo 1", 1),
        (
            step(""),
            "- { name: b, foreach: [1], command: wc, args: [-c], stdin: '{{ made }}' }",
            200_001,
        ),
        (step(", foreach: [1]"), "- { name: b, compute: 'result = len(made[0])' }", 200_001),
    ];
    for (first, then, expected) in cases {
        let place = Place::new();
        let then = then.replacen("- shell", "- name: b\n  shell", 1);
        let outputs = "outputs: [{ name: b }]";
        place.write("s.yaml", &format!("name: s\nsteps:\n{first}{then}\n{outputs}\n"));
        place.aye(&["run", "s.yaml", "-q"]).ok();
        let shown = place.aye(&["show", "last", "--json"]).ok().json();
        let found = shown["outputs"]["b"].to_string();
        let digits: String = found.chars().filter(char::is_ascii_digit).collect();
        assert_eq!(digits, expected.to_string(), "{first}{then}");
    }
}

#[test]
fn a_loop_that_nobody_reads_and_the_steps_before_its_last_are_cut() {
    let place = Place::new();
    let big = writes(200_001);
    let body = format!(
        "  foreach: [1]\n  steps:\n  - {{ name: one, shell: {big:?} }}\n  - {{ name: two, shell: {big:?} }}\n"
    );
    place.write(
        "s.yaml",
        &format!("name: s\nsteps:\n- name: lost\n{body}- name: made\n{body}- {{ name: end, compute: 'result = [len(x) for x in made]' }}\noutputs: [{{ name: end }}]\n"),
    );
    place.aye(&["run", "s.yaml", "-q"]).ok();
    let shown = place.aye(&["show", "last", "--json"]).ok().json();
    assert_eq!(shown["outputs"]["end"], json!([200_001]));
    let lengths = |step: &str| {
        let inside = shown["runs"].as_array().unwrap().iter();
        let run = inside.map(|run| run["run"].as_str().unwrap()).collect::<Vec<_>>();
        let of = |run: &&str| place.aye(&["show", run, "--json"]).ok().json()["events"].clone();
        let events: Vec<Value> = run.iter().map(of).collect();
        let completed = |events: &Value| {
            let found = events
                .as_array()
                .unwrap()
                .iter()
                .find(|event| event["type"] == "step_completed" && event["step"] == step);
            found.unwrap()["value"].as_str().unwrap().len()
        };
        events.iter().map(completed).collect::<Vec<_>>()
    };
    assert_eq!(lengths("one"), [CUT, CUT]);
    assert_eq!(lengths("two"), [CUT, 200_001]);
}

#[test]
fn a_skill_inside_gives_its_outputs_in_full() {
    let place = Place::new();
    let big = writes(200_001);
    let inner = format!("- {{ name: made, shell: {big:?} }}\noutputs: [{{ name: made }}]\n");
    let outer = "- { name: call, skill: inner.yaml }\n- { name: b, compute: 'len(call.made)' }\n";
    place.write("inner.yaml", &format!("name: inner\nsteps:\n{inner}"));
    place.write("s.yaml", &format!("name: outer\nsteps:\n{outer}"));
    place.aye(&["run", "s.yaml", "-q"]).ok();
    assert_eq!(journalled(&place, "b"), 200_001);
}

#[test]
fn results_that_are_too_much_together_are_cut_and_that_is_said() {
    let place = Place::new();
    let big = writes(10_000_001);
    let steps: String = (1..=7).map(|n| format!("- {{ name: s{n}, shell: {big:?} }}\n")).collect();
    let all = "s1 and s2 and s3 and s4 and s5 and s6 and s7";
    place.write(
        "s.yaml",
        &format!("name: s\nsteps:\n{steps}- {{ name: count, shell: wc -c > count, stdin: '{{{{ s6 | length }}}} {{{{ s7 }}}}', condition: {all} }}\n"),
    );
    let ran = place.command(&["run", "s.yaml"]).stdout(Stdio::null()).output().unwrap();
    let ran = Ran::of(ran, &place).ok();
    let cut = "[9934465 bytes dropped]\n".len() + 65_536;
    assert_eq!(place.read("count").trim(), format!("{}", "10000001 ".len() + cut));
    let remark = "its result is the last 64 KB of its output, because a run holds at most 64 MB of results; the log has all of it";
    assert_eq!(ran.stderr.matches(remark).count(), 1, "{}", ran.stderr);
}

#[test]
fn a_result_outlives_the_process_that_read_it() {
    let place = Place::new();
    let dies = "test -e died || { touch died; kill -9 $PPID; sleep 600; }";
    let big = writes(200_001);
    place.write(
        "s.yaml",
        &format!("name: s\nsteps:\n- {{ name: big, shell: {big:?} }}\n- {{ name: lost, shell: {big:?} }}\n- {{ name: dies, shell: {dies:?}, idempotent: true }}\n- {{ name: count, command: wc, args: [-c], stdin: '{{{{ big }}}}' }}\n"),
    );
    assert_eq!(place.aye(&["run", "s.yaml", "-q"]).code, -1);
    place.aye(&["resume", "last", "-q"]).ok();
    assert_eq!(counted(&place), 200_001);
    assert_eq!(journalled(&place, "lost").as_str().unwrap().len(), CUT);
}

#[test]
fn a_long_result_with_a_secret_in_it_is_whole_for_later_steps_alone() {
    let place = Place::new();
    let big = format!("{}; printf %s \"$TOKEN\"", writes(70_000));
    place.write(
        "s.yaml",
        &format!("name: s\ninputs: [{{ name: token, type: secret }}]\nsteps:\n- {{ name: big, shell: {big:?}, env: {{ TOKEN: '{{{{ inputs.token }}}}' }} }}\n- {{ name: count, command: wc, args: [-c], stdin: '{{{{ big }}}}' }}\n"),
    );
    place.aye(&["run", "s.yaml", "-q", "-i", "token=hush-hush-hush"]).ok();
    assert_eq!(counted(&place), 70_000 + "hush-hush-hush".len());
    assert!(journalled(&place, "big").as_str().unwrap().ends_with("0***"));
}

#[test]
fn the_settings_say_how_much_of_it_is_kept_and_how_long_a_step_may_take() {
    let place = Place::new();
    place.write("aye.toml", "[run]\nmax_result = '64KiB'\nmax_step_timeout = '300ms'\n");
    let big = writes(200_001);
    place.write(
        "s.yaml",
        &format!("name: s\nsteps:\n- {{ name: big, shell: {big:?} }}\n- {{ name: count, command: wc, args: [-c], stdin: '{{{{ big }}}}' }}\n"),
    );
    let ran = place.aye(&["run", "s.yaml"]).ok();
    assert!(ran.all().contains("its result is the last 64 KB of its output"), "{}", ran.all());
    assert!(counted(&place) <= CUT, "{}", counted(&place));
    for limit in ["timeout: 1h", "timeout: 0s"] {
        let skill =
            format!("name: s\nsteps:\n- {{ name: a, command: sleep, args: ['600'], {limit} }}\n");
        place.write("s.yaml", &skill);
        let planned = place.aye(&["run", "s.yaml", "--dry-run"]).ok();
        assert!(planned.stdout.contains("at most 300ms"), "{}", planned.all());
        let ran = place.aye(&["run", "s.yaml"]);
        assert_eq!(ran.code, 124, "{}", ran.all());
        let why = "timed out after DURATION (`max_step_timeout`)";
        assert!(ran.all().contains(why), "{}", ran.all());
    }
}

#[test]
fn an_output_of_several_lines_keeps_them() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s
steps:
- { name: list, shell: 'echo web-1 ok; echo; echo web-2 ok' }
- { name: one, shell: echo all }
outputs: [{ name: list }, { name: one }]
",
    );
    let lines = "  list:\n    web-1 ok\n\n    web-2 ok\n  one: all\n";
    let ran = place.aye(&["run", "s.yaml"]).ok();
    assert!(ran.all().contains(lines), "{}", ran.all());
    let shown = place.aye(&["show", "last"]).ok();
    assert!(shown.all().contains(lines), "{}", shown.all());
}
