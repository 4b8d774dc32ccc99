//! Something changes between a yes and the start: it is asked again, with the
//! difference, or runs as it was shown.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::harness::{Place, Ran, until};

const SCRIPT: &str = "#!/bin/sh\necho one >> ran.txt\n";
const OTHER: &str = "#!/bin/sh\necho two >> ran.txt\n";

fn program(place: &Place, name: &str, text: &str) {
    let path = place.write(name, text);
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

fn gated(step: &str) -> String {
    format!(
        "name: s\nsteps:\n  - name: act\n    {step}\n    confirmation: {{ message: 'Go?', timeout: 0 }}\n"
    )
}

/// The open question.
fn open(place: &Place) -> Value {
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    assert_eq!(inbox.as_array().map(Vec::len), Some(1), "{inbox}");
    inbox[0].clone()
}

fn answer(place: &Place, value: &str) {
    let id = open(place)["question"].as_str().unwrap().to_owned();
    place.aye(&["answer", &id, value]).ok();
}

/// Asks, changes something, says yes, and takes the run up.
fn yes_after(place: &Place, skill: &str, change: impl FnOnce()) -> Ran {
    place.write("s.yaml", skill);
    let ran = place.aye(&["run", "s.yaml"]);
    assert_eq!(ran.code, 6, "{}", ran.all());
    change();
    answer(place, "yes");
    place.aye(&["resume", "last"])
}

/// It asks again, says what has changed, and nothing has run.
fn asks_again(place: &Place, ran: &Ran, what: &str) {
    assert_eq!(ran.code, 6, "{}", ran.all());
    assert!(!place.work().join("ran.txt").exists(), "{}", ran.all());
    let question = &open(place)["details"];
    let changed = question["changed"].to_string();
    assert!(changed.contains(what), "{what} in {question}");
    // A yes to what it is now is enough.
    answer(place, "yes");
    let ran = place.aye(&["resume", "last"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(place.work().join("ran.txt").exists());
}

#[test]
fn the_contents_of_a_script() {
    let place = Place::new();
    place.write("deploy.sh", SCRIPT);
    let skill = gated("command: sh\n    args: [deploy.sh]");
    let ran = yes_after(&place, &skill, || drop(place.write("deploy.sh", OTHER)));
    asks_again(&place, &ran, "deploy.sh");
    assert_eq!(place.read("ran.txt"), "two\n");
}

#[test]
fn the_contents_of_the_program() {
    let place = Place::new();
    program(&place, "deploy", SCRIPT);
    let ran = yes_after(&place, &gated("command: ./deploy"), || program(&place, "deploy", OTHER));
    asks_again(&place, &ran, "program");
}

#[test]
fn a_program_that_an_argument_names() {
    let place = Place::new();
    program(&place, "deploy", SCRIPT);
    let skill = gated("command: env\n    args: [./deploy]");
    let ran = yes_after(&place, &skill, || program(&place, "deploy", OTHER));
    asks_again(&place, &ran, "./deploy");
}

/// `env`, `timeout` and the like start another program: that counts, where they start it.
#[test]
fn a_program_behind_a_wrapper() {
    for step in [
        "command: env\n    args: [FOO=1, deploy-tool]",
        "command: timeout\n    args: ['5', deploy-tool]",
        "command: env\n    args: [-C, bin, ./deploy-tool]",
        "command: env\n    args: [--chdir=bin, sh, deploy-tool]",
        "shell: env -C bin ./deploy-tool",
    ] {
        let place = Place::new();
        std::fs::create_dir(place.work().join("bin")).unwrap();
        let ran = place.work().join("ran.txt");
        let script = |text: &str| text.replace("ran.txt", &ran.to_string_lossy());
        program(&place, "bin/deploy-tool", &script(SCRIPT));
        let skill = gated(&format!("{step}\n    env: {{ PATH: 'bin:/usr/bin:/bin' }}"));
        let ran = yes_after(&place, &skill, || {
            program(&place, "bin/deploy-tool", &script(OTHER));
        });
        asks_again(&place, &ran, "deploy-tool");
    }
    let place = Place::new();
    place.write("s.yaml", &gated("command: env\n    args: [-S, 'sh x.sh']"));
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 6);
    let listed = open(&place)["details"]["not_covered"].to_string();
    assert!(listed.contains("the program that `env` starts"), "{listed}");
}

#[test]
fn a_script_that_a_shell_step_starts() {
    let place = Place::new();
    program(&place, "deploy", SCRIPT);
    let ran = yes_after(&place, &gated("shell: 'cd . && ./deploy'"), || {
        program(&place, "deploy", OTHER);
    });
    asks_again(&place, &ran, "./deploy");
}

#[test]
fn a_script_that_a_shell_step_names_with_a_value() {
    for shell in ["./{{ inputs.f }}", "sh {{ inputs.f }}", "'./'\"{{ inputs.f }}\""] {
        let place = Place::new();
        program(&place, "deploy", SCRIPT);
        let inputs = "inputs: [{ name: f, default: deploy }]\nsteps:";
        let skill = gated(&format!("shell: |\n      {shell}")).replacen("steps:", inputs, 1);
        let ran = yes_after(&place, &skill, || program(&place, "deploy", OTHER));
        asks_again(&place, &ran, "deploy");
    }
}

#[test]
fn a_script_in_a_directory_that_a_shell_step_enters() {
    for shell in ["cd sub && ./deploy", "(cd {{ inputs.d }}; sh deploy)"] {
        let place = Place::new();
        std::fs::create_dir(place.work().join("sub")).unwrap();
        let script = |text: &str| program(&place, "sub/deploy", &text.replace(" ran", " ../ran"));
        script(SCRIPT);
        let inputs = "inputs: [{ name: d, default: sub }]\nsteps:";
        let skill = gated(&format!("shell: '{shell}'")).replacen("steps:", inputs, 1);
        let ran = yes_after(&place, &skill, || script(OTHER));
        asks_again(&place, &ran, "sub/deploy");
    }
}

/// What only the shell knows, and data that arguments name, is listed at the question.
#[test]
fn what_a_command_line_names_and_a_yes_does_not_cover_is_listed() {
    let place = Place::new();
    program(&place, "deploy", SCRIPT);
    place.write("site.yaml", "replicas: 1\n");
    for (step, note) in [
        ("shell: 'f=deploy; ./$f'", "files that the script names only when it runs: `./$f`"),
        ("command: cat\n    args: [-n, site.yaml]", "the contents of `site.yaml`"),
        ("shell: 'cat --number site.yaml'", "the contents of `site.yaml`"),
    ] {
        place.write("s.yaml", &gated(step));
        assert_eq!(place.aye(&["run", "s.yaml"]).code, 6);
        let listed = &open(&place)["details"]["not_covered"];
        assert!(listed.as_array().unwrap().contains(&note.into()), "{step}: {listed}");
        answer(&place, "no");
    }
}

#[test]
fn a_link_to_the_program() {
    let place = Place::new();
    program(&place, "one", SCRIPT);
    program(&place, "two", SCRIPT);
    let link = place.work().join("deploy");
    symlink("one", &link).unwrap();
    let ran = yes_after(&place, &gated("command: ./deploy"), || {
        std::fs::remove_file(&link).unwrap();
        symlink("two", &link).unwrap();
    });
    asks_again(&place, &ran, "program");
}

#[test]
fn the_program_that_path_leads_to() {
    let place = Place::new();
    for folder in ["a", "b"] {
        std::fs::create_dir(place.work().join(folder)).unwrap();
    }
    program(&place, "b/deploy-tool", SCRIPT);
    place.write("s.yaml", &gated("command: deploy-tool"));
    let path = |place: &Place| {
        let usual = std::env::var("PATH").unwrap();
        let work = place.work();
        format!("{}:{}:{usual}", work.join("a").display(), work.join("b").display())
    };
    let aye = |args: &[&str]| {
        let output = place.command(args).env("PATH", path(&place)).output().unwrap();
        Ran::of(output, &place)
    };
    assert_eq!(aye(&["run", "s.yaml"]).code, 6);
    program(&place, "a/deploy-tool", OTHER);
    answer(&place, "yes");
    let ran = aye(&["resume", "last"]);
    assert_eq!(ran.code, 6, "{}", ran.all());
    assert!(open(&place)["details"]["changed"].to_string().contains("program"));
    assert!(!place.work().join("ran.txt").exists());
}

#[test]
fn a_link_behind_the_working_directory() {
    let place = Place::new();
    for folder in ["stage", "production"] {
        std::fs::create_dir(place.work().join(folder)).unwrap();
    }
    let link = place.work().join("current");
    symlink("stage", &link).unwrap();
    let skill = gated("shell: 'echo x >> ../ran.txt'\n    cwd: current");
    let ran = yes_after(&place, &skill, || {
        std::fs::remove_file(&link).unwrap();
        symlink("production", &link).unwrap();
    });
    asks_again(&place, &ran, "directory");
}

#[test]
fn the_file_of_a_sub_skill() {
    let place = Place::new();
    let inner = |text: &str| {
        format!("name: inner\nsteps:\n  - {{ name: a, shell: 'echo {text} >> ran.txt' }}\n")
    };
    place.write("inner.yaml", &inner("one"));
    let ran = yes_after(&place, &gated("skill: inner.yaml"), || {
        place.write("inner.yaml", &inner("two"));
    });
    asks_again(&place, &ran, "skill");
    assert_eq!(place.read("ran.txt"), "two\n");
}

#[test]
fn the_definition_of_a_tool_and_its_program() {
    for change in ["definition", "program"] {
        let place = Place::new();
        program(&place, "one", SCRIPT);
        program(&place, "two", OTHER);
        let tool = |program: &str| format!("[tools.ship]\ncommand = [\"./{program}\"]\n");
        place.write("aye.toml", &tool("one"));
        place.aye(&["trust", "--yes"]);
        let ran = yes_after(&place, &gated("tool: ship"), || match change {
            "definition" => drop(place.write("aye.toml", &tool("two"))),
            _ => program(&place, "one", OTHER),
        });
        asks_again(&place, &ran, if change == "program" { "program" } else { "tool" });
    }
}

#[test]
fn how_the_server_of_a_tool_is_started() {
    let place = Place::new();
    let server = |name: &str| {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/tools/server.sh");
        let text = format!("[tools.own]\nserver = [\"/bin/sh\", {script:?}, \"{name}\"]\n");
        place.write("aye.toml", &format!("{text}legacy = true\n"));
        place.aye(&["tools", "trust", "--yes"]).ok();
    };
    server("one");
    let ran = yes_after(&place, &gated("tool: own.fine"), || server("two"));
    assert_eq!(ran.code, 6, "{}", ran.all());
    assert!(!place.work().join("two.pid").exists(), "it was not started");
    let changed = open(&place)["details"]["changed"].to_string();
    assert!(changed.contains("tool") && changed.contains("two"), "{changed}");
    answer(&place, "yes");
    place.aye(&["resume", "last"]).ok();
}

#[test]
fn what_a_heal_rule_did_to_the_script() {
    let place = Place::new();
    program(&place, "deploy", "#!/bin/sh\necho 'no login' >&2\nexit 1\n");
    place.write("healed", OTHER);
    let heal = "heal:\n  - { name: login, match: { error: ['no login'] }, repair: { shell: 'cp healed deploy' } }\n";
    let gate = gated("command: ./deploy\n    on_error: auto_heal");
    place.write("s.yaml", &gate.replace("steps:\n", &format!("{heal}steps:\n")));
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 6);
    answer(&place, "yes");
    let ran = place.aye(&["resume", "last"]);
    asks_again(&place, &ran, "program");
}

#[test]
fn a_question_covers_a_later_step_that_uses_its_answer() {
    let place = Place::new();
    program(&place, "deploy", SCRIPT);
    let skill = "name: s\nsteps:\n  - { name: ok, confirm: { message: 'Go?', timeout: 0 } }\n  - { name: build, command: cp, args: [other, deploy] }\n  - { name: act, command: ./deploy, condition: ok == 'proceed' }\n";
    program(&place, "other", OTHER);
    place.write("s.yaml", skill);
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 6);
    answer(&place, "proceed");
    let ran = place.aye(&["resume", "last"]);
    assert_eq!(ran.code, 6, "{}", ran.all());
    let question = &open(&place)["details"];
    assert!(question["changed"].to_string().contains("program"), "{question}");
    assert!(!place.work().join("ran.txt").exists());
}

#[test]
fn a_branch_and_a_variable_are_as_they_were_shown() {
    let place = Place::new();
    std::fs::create_dir(place.work().join(".git")).unwrap();
    place.write(".git/HEAD", "ref: refs/heads/one\n");
    place.write("s.yaml", &gated("shell: 'echo {{ branch }} {{ env.TARGET }} >> ran.txt'"));
    let aye = |args: &[&str], target: &str| {
        let output = place.command(args).env("TARGET", target).output().unwrap();
        Ran::of(output, &place)
    };
    assert_eq!(aye(&["run", "s.yaml"], "stage").code, 6);
    place.write(".git/HEAD", "ref: refs/heads/two\n");
    answer(&place, "yes");
    let ran = aye(&["resume", "last"], "production");
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(place.read("ran.txt"), "one stage\n");
}

#[test]
fn the_skill_itself_is_the_one_that_was_asked_about() {
    let place = Place::new();
    let ran = yes_after(&place, &gated("shell: 'echo one >> ran.txt'"), || {
        place.write("s.yaml", &gated("shell: 'echo two >> ran.txt'"));
    });
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(place.read("ran.txt"), "one\n");
}

#[test]
fn a_policy_that_became_stricter_meanwhile_counts() {
    let place = Place::new();
    program(&place, "deploy", SCRIPT);
    let ran = yes_after(&place, &gated("command: ./deploy"), || {
        place.write("aye.toml", "[policy]\nallow = [\"true\"]\n");
    });
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(!place.work().join("ran.txt").exists());
}

#[test]
fn what_keeps_changing_is_named_and_nothing_runs() {
    let place = Place::new();
    program(&place, "deploy", SCRIPT);
    let mut ran = yes_after(&place, &gated("command: ./deploy"), || {
        program(&place, "deploy", "#!/bin/sh\n: 0\n");
    });
    for n in 1..4 {
        assert_eq!(ran.code, 6, "{n}: {}", ran.all());
        program(&place, "deploy", &format!("#!/bin/sh\n: {n}\n"));
        answer(&place, "yes");
        ran = place.aye(&["resume", "last"]);
    }
    assert_eq!(ran.code, 1, "{}", ran.all());
    // Four questions: the first, and three because something had changed.
    let said = "Aye has asked again 3 times, and what was agreed to keeps changing: program";
    assert!(ran.all().contains(said), "{}", ran.all());
    let asked = place.aye(&["show", "last", "--json"]).ok().json()["decisions"].clone();
    assert_eq!(asked.as_array().map(Vec::len), Some(4), "{asked}");
}

/// Who answers by copying a line sees what that line agrees to, and what has changed.
#[test]
fn what_decides_is_shown_wherever_an_answer_is_offered() {
    let place = Place::new();
    program(&place, "deploy.sh", SCRIPT);
    let long = "x".repeat(300);
    let step = format!(
        "command: ./deploy.sh\n    args: [stage]\n    stdin: 'drop database stage;'\n    env: {{ LONG: {long} }}"
    );
    place.write("s.yaml", &gated(&step));
    let views = |first: Ran| {
        let others = [&["inbox"][..], &["show", "last"]].map(|args| place.aye(args).ok());
        [first.all()].into_iter().chain(others.map(|ran| ran.stdout))
    };
    for text in views(place.aye(&["run", "s.yaml"])) {
        for part in [
            "  command: ./deploy.sh stage\n",
            "  stdin: drop database stage;\n",
            "  env `LONG`: xxx",
            "  not covered: files that `./deploy.sh` reads, imports or starts\n",
            "act` shows the rest\n",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(!text.contains(&long) && !text.contains("Changed"), "{text}");
    }
    let step = place.aye(&["show", "last", "act"]).ok().stdout;
    assert!(step.contains(&format!("covers: env `LONG`: {long}\n")), "{step}");
    program(&place, "deploy.sh", OTHER);
    let id = open(&place)["question"].as_str().unwrap().to_owned();
    for text in views(place.aye(&["answer", &id, "yes", "--resume"])) {
        let changed = text.split_once("Changed since the last yes:\n").map(|(_, after)| after);
        let line = changed.and_then(|after| after.lines().next()).unwrap_or_default();
        assert!(line.contains("program: ") && line.contains(" -> "), "{text}");
    }
}

/// A name that leads elsewhere, and what a tool is, stand in the question itself.
#[test]
fn a_program_that_is_not_what_the_command_says_is_shown() {
    let place = Place::new();
    program(&place, "real", SCRIPT);
    symlink("real", place.work().join("deploy")).unwrap();
    place.write("aye.toml", "[tools.ship]\ncommand = [\"./real\", \"--all\"]\n");
    place.aye(&["trust", "--yes"]);
    for (step, line) in [
        ("command: ./deploy", Some(("\n  program: ", "/work/real (sha256 "))),
        ("tool: ship", Some(("\n  tool: ", "./real --all (sha256 "))),
        ("command: ./real", None),
    ] {
        place.write("s.yaml", &gated(step));
        let paused = place.aye(&["run", "s.yaml"]).all();
        for text in [paused, place.aye(&["inbox"]).ok().stdout] {
            match line {
                Some((what, value)) => {
                    let line = text.split_once(what).map(|(_, line)| line);
                    let line = line.and_then(|line| line.lines().next());
                    assert!(line.is_some_and(|line| line.contains(value)), "{what} in {text}");
                }
                None => assert!(!text.contains("program: "), "{text}"),
            }
        }
        let all = place.aye(&["show", "last", "act"]).ok().stdout;
        assert!(all.contains("covers: machine: ") && all.contains("covers: program: "), "{all}");
        answer(&place, "no");
    }
}

/// What is hidden is not compared; what no argument names is not mentioned.
#[test]
fn secrets_beside_the_arguments_are_listed_as_not_covered() {
    let place = Place::new();
    let step = "command: cat\n    stdin: 'x {{ inputs.tok }}'\n    env: { P: '{{ inputs.tok }}' }";
    let inputs = "inputs: [{ name: tok, type: secret }]\nsteps:";
    place.write("s.yaml", &gated(step).replacen("steps:", inputs, 1));
    assert_eq!(place.aye(&["run", "s.yaml", "-i", "tok=hunter2-swordfish"]).code, 6);
    let listed = &open(&place)["details"]["not_covered"];
    let hidden = "the values of secrets, which are shown as ***";
    assert_eq!(*listed, serde_json::json!([hidden]));
    answer(&place, "no");
    // What a shell reads from there is a script, and names files.
    place.write("s.yaml", &place.read("s.yaml").replace("command: cat", "command: sh"));
    assert_eq!(place.aye(&["run", "s.yaml", "-i", "tok=hunter2-swordfish"]).code, 6);
    let listed = &open(&place)["details"]["not_covered"];
    let named = "files that an argument or a script with a secret in it names";
    let found = "programs that the script finds in `PATH`";
    assert_eq!(*listed, serde_json::json!([found, named, hidden]));
}

/// Once a shared mapping has been written to, the kernel notices no more writes to it until it
/// saves the page: the times of the file stay.
#[test]
fn a_script_that_only_a_mapping_writes_to() {
    let place = Place::new();
    place.write("x.sh", "echo one >> ran.txt\n");
    let maps = "import mmap, sys\n\
        file = open('x.sh', 'r+b'); view = mmap.mmap(file.fileno(), 0)\n\
        for text in [b'one', b'two']:\n\
        \x20 view[5:8] = text; print('written', flush=True); sys.stdin.readline()";
    let mut writer = Command::new("python3")
        .args(["-c", maps])
        .current_dir(place.work())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(writer.stdout.take().unwrap()).lines();
    let mut asked = writer.stdin.take().unwrap();
    said.next().unwrap().unwrap();
    place.write("s.yaml", &gated("command: sh\n    args: [x.sh]"));
    // For this driver the file is a day old, and not one that has just changed.
    let mut detached = place.command(&["run", "s.yaml", "--detach"]);
    assert!(detached.env("AYE_TEST_DAYS", "1").status().unwrap().success());
    let inbox = || place.aye(&["inbox", "--json"]).ok().json();
    until("the question", || inbox().as_array().is_some_and(|open| open.len() == 1));
    asked.write_all(b"\n").unwrap();
    said.next().unwrap().unwrap();
    let first = open(&place)["question"].clone();
    place.aye(&["answer", first.as_str().unwrap(), "yes"]).ok();
    until("another question", || {
        let open = inbox();
        assert!(!place.work().join("ran.txt").exists(), "it ran");
        open[0]["question"].is_string() && open[0]["question"] != first
    });
    let changed = open(&place)["details"]["changed"].to_string();
    assert!(changed.contains("x.sh"), "{changed}");
    place.aye(&["cancel", "last"]);
    asked.write_all(b"\n").unwrap();
    writer.wait().unwrap();
}

/// A step that a `confirm` covers runs, fails, is mended by another state and runs again.
#[test]
fn a_second_visit_under_the_same_yes() {
    let skill = |args: &str| {
        format!(
            "name: s
initial: ask
states:
  ask: {{ confirm: {{ message: 'Go?', timeout: 0 }}, transitions: {{ success: act }} }}
  act: {{ command: sh, args: {args}, transitions: {{ success: done, failure: fix }} }}
  # aye: allow cycle
  fix: {{ shell: 'printf \"echo two >> ran.txt\" > x.sh; echo b', output: next, transitions: {{ success: act }} }}
  done: {{ type: final }}
"
        )
    };
    let failing = "echo one >> ran.txt; exit 3\n";
    for (args, what) in [
        ("[x.sh]", "x.sh"),
        ("['-c', 'echo $0 >> ran.txt; test $0 = b', \"{{ next | default('a') }}\"]", "command"),
    ] {
        let place = Place::new();
        place.write("x.sh", failing);
        let ran = yes_after(&place, &skill(args), || {});
        assert_eq!(ran.code, 6, "{}", ran.all());
        let first = place.read("ran.txt");
        assert_eq!(first.lines().count(), 1, "{first}");
        let question = &open(&place)["details"];
        let changed = question["changed"].to_string();
        assert!(changed.contains(what), "{what} in {question}");
        answer(&place, "yes");
        let ran = place.aye(&["resume", "last"]);
        assert_eq!(ran.code, 0, "{}", ran.all());
        assert_eq!(place.read("ran.txt").lines().count(), 2);
    }
}

/// No text of a question, a record or a report has what a variable with the name of a secret
/// holds, nor the secret that the name of a skill has in it.
#[test]
fn a_secret_in_a_command_or_in_the_name_of_a_skill_is_masked() {
    const SECRET: &str = "hunter42secret";
    for (step, inputs) in [
        ("shell: 'true u:{{ env.MY_PASSWORD }} https://x'", ""),
        ("command: 'true'\n    args: ['u:{{ env.MY_PASSWORD }}']", ""),
        (
            "skill: 'x/{{ inputs.token }}.yaml'",
            "inputs: [{ name: token, type: secret, required: true }]\n",
        ),
    ] {
        for gate in ["confirmation: { message: 'Go?', timeout: 0 }", "timeout: 5"] {
            let place = Place::new();
            let skill = format!("name: s\n{inputs}steps:\n  - name: a\n    {step}\n    {gate}\n");
            place.write("s.yaml", &skill);
            let run = |args: &[&str]| {
                let given = format!("token={SECRET}");
                let more = if inputs.is_empty() { vec![] } else { vec!["-i", &given] };
                let mut command = place.command(&[args, &more].concat());
                Ran::of(command.env("MY_PASSWORD", SECRET).output().unwrap(), &place)
            };
            let ran = run(&["run", "s.yaml"]);
            let mut shown = ran.all();
            let views: [&[&str]; 5] = [
                &["inbox", "--json"],
                &["show", "last"],
                &["show", "last", "--json"],
                &["show", "last", "--markdown"],
                &["watch", "last", "--json"],
            ];
            if ran.code == 6 {
                views.iter().for_each(|args| shown += &place.aye(args).all());
                answer(&place, "yes");
                shown += &run(&["resume", "last"]).all();
            }
            views[1..].iter().for_each(|args| shown += &place.aye(args).all());
            assert!(!shown.contains(SECRET), "{step}: {shown}");
            let db = std::fs::read(place.home().join("journal.db")).unwrap_or_default();
            let wal = std::fs::read(place.home().join("journal.db-wal")).unwrap_or_default();
            for bytes in [db, wal] {
                let found = bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
                assert!(!found, "{step}: in the journal");
            }
        }
    }
}

/// A variable names the skill: what was shown runs, and what cannot be loaded is not asked
/// about.
#[test]
fn a_skill_that_a_variable_names() {
    let place = Place::new();
    for name in ["one", "two"] {
        let inner =
            format!("name: {name}\nsteps: [{{ name: a, shell: 'echo {name} >> ran.txt' }}]\n");
        place.write(&format!("skills/{name}.yaml"), &inner);
    }
    place.write("s.yaml", &gated("skill: '{{ env.WHICH }}'"));
    let run = |args: &[&str], which: &str| {
        Ran::of(place.command(args).env("WHICH", which).output().unwrap(), &place)
    };
    let ran = run(&["run", "s.yaml"], "one");
    assert_eq!(ran.code, 6, "{}", ran.all());
    answer(&place, "yes");
    let ran = run(&["resume", "last"], "two");
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(place.read("ran.txt"), "one\n");
    let ran = run(&["run", "s.yaml"], "three");
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.all().contains("the skill cannot be loaded: there is no skill `three`"));
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    assert_eq!(inbox, Value::Array(Vec::new()));
}

/// What follows a step because of the same yes: it is shown, and compared before it starts.
#[test]
fn what_belongs_to_a_step_with_a_gate() {
    let skill = |shell: &str, belongs: &str| {
        format!(
            "name: s\nsteps:\n  - name: cache\n    shell: \"{shell}\"\n    confirmation: {{ message: 'Refresh the cache?', timeout: 0 }}\n    {belongs}\n"
        )
    };
    let then = "then: [{ name: t, command: sh, args: [x.sh], stdin: 'echo drop database' }]";
    let check = "validate: [{ command: sh, args: [x.sh] }]";
    for (belongs, name) in [(then, "t"), (check, "cache.check")] {
        let place = Place::new();
        place.write("x.sh", SCRIPT);
        let file = format!("file `x.sh` of `{name}`");
        let ran = yes_after(&place, &skill("true", belongs), || drop(place.write("x.sh", OTHER)));
        asks_again(&place, &ran, &file);
        // The step itself changes what comes next.
        let place = Place::new();
        place.write("x.sh", SCRIPT);
        let writes = "printf 'echo two >> ran.txt' > x.sh";
        let ran = yes_after(&place, &skill(writes, belongs), || {});
        asks_again(&place, &ran, "file `x.sh`");
    }
    let place = Place::new();
    place.write("x.sh", SCRIPT);
    place.write("s.yaml", &skill("true", then));
    let ran = place.aye(&["run", "s.yaml"]);
    assert!(ran.all().contains("stdin of `t`: echo drop database"), "{}", ran.all());
}

/// A repair is part of what a yes starts: one that is something else meanwhile is not run.
#[test]
fn the_repair_of_a_step_with_a_gate() {
    let skill = |shell: &str| {
        format!(
            "name: s\nheal: [{{ name: h, match: {{ exit_code: 3 }}, repair: {{ command: sh, args: [x.sh] }} }}]\nsteps:\n  - name: act\n    shell: \"{shell}\"\n    on_error: auto_heal\n    confirmation: {{ message: 'Go?', timeout: 0 }}\n"
        )
    };
    let place = Place::new();
    place.write("x.sh", SCRIPT);
    let shell = skill("test -e ran.txt || exit 3");
    let ran = yes_after(&place, &shell, || drop(place.write("x.sh", OTHER)));
    asks_again(&place, &ran, "file `x.sh` of the repair `h`");
    assert_eq!(place.read("ran.txt"), "two\n");
    let place = Place::new();
    place.write("x.sh", SCRIPT);
    let writes = skill("printf 'echo two >> ran.txt' > x.sh; exit 3");
    let ran = yes_after(&place, &writes, || {});
    assert_eq!(ran.code, 6, "{}", ran.all());
    assert!(ran.all().contains("The repair `h` is not what was agreed to"), "{}", ran.all());
    assert!(ran.all().contains("file `x.sh` of the repair `h`"), "{}", ran.all());
    assert!(!place.work().join("ran.txt").exists());
}
