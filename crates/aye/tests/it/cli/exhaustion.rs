//! Files and blocks that would take all time or memory there is.

use std::time::{Duration, Instant};

use super::harness::{Place, until};

/// Skill files of which each would hang, or end, whoever lists it.
fn hostile() -> Vec<(&'static str, String)> {
    let step = |what: &str| format!("name: it\nsteps:\n  - name: a\n    {what}\n");
    let defs: String = (0..40).map(|i| format!("      {}def f{i}(a):\n", " ".repeat(i))).collect();
    let block = |code: &str| step(&format!("compute: |\n{code}"));
    let template = |text: &str| step(&format!("command: echo\n    args: [\"{text}\"]"));
    let laughs: String = (0..40)
        .map(|i| format!("a{}: &a{} [{}]\n", i + 1, i + 1, vec![format!("*a{i}"); 9].join(",")))
        .collect();
    vec![
        ("defs", block(&format!("{defs}{}pass\n      result = 1\n", " ".repeat(46)))),
        ("many", {
            let steps: String = (0..200)
                .map(|i| format!("  - name: a{i}\n    compute: |\n{defs}{}pass\n", " ".repeat(46)))
                .collect();
            format!("name: it\nsteps:\n{steps}")
        }),
        ("lambdas", block(&format!("      result = {}1\n", "lambda a: ".repeat(5000)))),
        ("dots", block(&format!("      result = os{}\n", ".path".repeat(40_000)))),
        ("chain", template(&format!("{{{{ 1{} }}}}", " + 1".repeat(50_000)))),
        ("keys", template(&format!("{{{{ a{} }}}}", ".b".repeat(50_000)))),
        ("elif", template(&format!("{{% if a %}}{}{{% endif %}}", "{% elif b %}".repeat(20_000)))),
        ("fold", template(&"{{ 'a' * 99999999 }}".repeat(400))),
        ("tuple", template(&"{{ (1, 2) * 50000000 }}".repeat(400))),
        ("python", template(&format!("{{{{ {}1 }}}}", "lambda a: ".repeat(300)))),
        ("laughs", format!("a0: &a0 lol\n{laughs}name: it\nsteps: *a40\n")),
        ("deep", format!("name: it\nsteps: {}\n", "[".repeat(100_000))),
        ("flow", format!("name: it\nsteps: {}{}\n", "{a: ".repeat(50_000), "}".repeat(50_000))),
        ("regex", step("shell: 'true'\n    retry: { on: '(((((a{1000}){1000}){1000}){1000}){1000})' }")),
        ("match", "name: it\nheal:\n  - match: '(((((a{1000}){1000}){1000}){1000}){1000})'\n    steps: [{ name: b, shell: 'true' }]\nsteps:\n  - { name: a, shell: 'true' }\n".to_owned()),
        ("default", format!(
            "name: it\ninputs: [{{ name: a, match: '^(\\w{{1,1000}}){{1,5}}$', default: '{}!' }}]\n{}",
            "a".repeat(200_000),
            step("shell: 'true'").trim_start_matches("name: it\n"),
        )),
        ("patterns", {
            let inputs: String = (0..20_000)
                .map(|i| format!("  - {{ name: a{i}, match: '(a{{1000}}){{9}}' }}\n"))
                .collect();
            format!("name: it\ninputs:\n{inputs}steps: [{{ name: a, shell: 'true' }}]\n")
        }),
        ("steps", {
            let steps: String = (0..20_000).map(|i| format!("  - {{ name: a{i}, shell: x }}\n")).collect();
            format!("name: it\nsteps:\n{steps}")
        }),
    ]
}

#[test]
fn no_file_keeps_others_from_being_listed() {
    for (name, text) in hostile() {
        let place = Place::new();
        place.write("skills/good.yaml", "name: good\nsteps:\n  - { name: a, shell: 'true' }\n");
        place.write(&format!("skills/{name}.yaml"), &text);
        for args in [&["list"][..], &["check"], &["check", "skills/good.yaml"]] {
            let started = Instant::now();
            // Memory as well: what needs more than a gigabyte of address space breaks down.
            let mut command = place.command(args);
            let limited = format!("ulimit -v 1200000; exec \"$0\" {}", args.join(" "));
            let program = command.get_program().to_owned();
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", &limited]).arg(program).env_clear().current_dir(place.work());
            shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
            command = shell;
            let ran = super::harness::Ran::of(command.output().unwrap(), &place);
            let took = started.elapsed();
            assert!(took < Duration::from_secs(6), "{name} {args:?}: {took:?}");
            assert!(
                (0..=2).contains(&ran.code),
                "{name} {args:?}: {}",
                &ran.all()[..ran.all().len().min(2000)]
            );
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert!(args[0] == "check" || said.contains("good"), "{name}: {said:.300}");
        }
    }
}

/// The workers that a process has started, by their numbers.
fn workers_below(pid: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let mut open = vec![pid];
    while let Some(pid) = open.pop() {
        let threads =
            std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        for thread in threads {
            let text = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            for child in text.split_whitespace().filter_map(|pid| pid.parse().ok()) {
                let line = std::fs::read_to_string(format!("/proc/{child}/cmdline"));
                if line.unwrap_or_default().contains("compute-worker") {
                    found.push(child);
                }
                open.push(child);
            }
        }
    }
    found
}

fn is_there(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

const ENDLESS: &str = "name: endless\nsteps:\n  - name: a\n    timeout: 1h\n    compute: |\n      result = 1\n      while True:\n          result = result + 1\n";

#[test]
fn no_evaluation_outlives_its_parent() {
    let place = Place::new();
    place.write("endless.yaml", ENDLESS);
    let mut child = place.start(&["run", "endless.yaml", "--no-input"]);
    let mut workers = Vec::new();
    until("a worker works", || {
        workers = workers_below(child.id());
        workers.iter().any(|pid| cpu(*pid) > 5)
    });
    // Everything at once: nobody is left to end it.
    let mut all = vec![child.id()];
    let mut at = 0;
    while at < all.len() {
        let text = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", all[at]));
        all.extend(
            text.unwrap_or_default().split_whitespace().filter_map(|p| p.parse::<u32>().ok()),
        );
        at += 1;
    }
    for pid in all.iter().filter(|pid| !workers.contains(pid)) {
        let pid = rustix::process::Pid::from_raw(i32::try_from(*pid).unwrap()).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    let _ = child.wait();
    let since = Instant::now();
    until("the workers are gone", || !workers.iter().any(|pid| is_there(*pid)));
    assert!(since.elapsed() < Duration::from_secs(2), "{:?}", since.elapsed());
}

/// Processor time of a process, in ticks.
fn cpu(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.split(' ').nth(13).and_then(|ticks| ticks.parse().ok()).unwrap_or_default()
}

#[test]
fn a_worker_that_is_killed_fails_the_step_and_not_the_run() {
    let place = Place::new();
    place.write(
        "endless.yaml",
        &format!("{ENDLESS}    on_error: continue\n  - name: b\n    compute: result = 2 + 3\n  - {{ name: c, shell: 'echo got {{{{ b }}}} > out' }}\n"),
    );
    let mut child = place.start(&["run", "endless.yaml", "--no-input"]);
    until("a worker works, and is killed", || {
        let workers = workers_below(child.id());
        let working = workers.into_iter().find(|pid| cpu(*pid) > 5);
        working.is_some_and(|pid| {
            let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).is_ok()
        })
    });
    until("the run ends", || child.try_wait().unwrap().is_some());
    let ran = place.finish(child);
    assert_eq!(place.read("out"), "got 5\n", "{}", ran.all());
    assert!(ran.all().contains("interpreter crashed"), "{}", ran.all());
}
