//! `from:`: secrets that each driver reads for itself.

use insta::assert_snapshot;
use rustix::process::Signal;

use super::traces::{files, forms, silent};
use crate::cli::harness::{Place, Ran, signal, until};

const SECRET: &str = "hunter2/and more";

/// A skill whose secret comes from there; it waits in the middle.
fn skill(from: &str) -> String {
    format!(
        "name: s\ninputs: [{{ name: token, type: secret, required: true, from: {from} }}]\nsteps:\n\
         - {{ name: first, shell: 'printf %s {{{{ inputs.token }}}} > first' }}\n\
         - {{ name: wait, shell: 'touch began; while [ ! -e go ]; do sleep 0.02; done', idempotent: true }}\n\
         - {{ name: second, shell: 'printf %s {{{{ inputs.token }}}} > second' }}\n"
    )
}

fn aye(place: &Place, args: &[&str], token: &str) -> Ran {
    Ran::of(place.command(args).env("TOKEN_FOR_TEST", token).output().unwrap(), place)
}

/// Interrupts a run in its middle and takes it up in another process.
fn resumed(place: &Place, from: &str, change: impl Fn(&Place)) {
    place.write("s.yaml", &skill(from));
    let mut command = place.command(&["run", "s.yaml"]);
    command.env("TOKEN_FOR_TEST", SECRET).stderr(std::process::Stdio::piped());
    let child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    until("the middle", || place.work().join("began").exists());
    signal(&child, Signal::INT);
    assert_eq!(place.finish(child).code, 130);
    assert_eq!(place.read("first"), SECRET);
    change(place);
    place.write("go", "");
    aye(place, &["resume", "last", "--detach", "-q"], "another secret").ok();
    until("the end", || place.status() == "completed");
    assert_eq!(place.read("second"), "another secret", "it was read anew");
    let needles = [forms(SECRET), forms("another secret")].concat();
    silent(&files(&place.home()), &needles);
}

#[test]
fn a_variable_is_read_anew() {
    resumed(&Place::new(), "{ env: TOKEN_FOR_TEST }", |_| {});
}

#[test]
fn a_file_is_read_anew() {
    let place = Place::new();
    place.write("token.txt", &format!("{SECRET}\n"));
    resumed(&place, "{ file: token.txt }", |place| {
        place.write("token.txt", "another secret\r\n");
    });
}

#[test]
fn a_command_is_asked_anew() {
    let place = Place::new();
    place.write("token.txt", SECRET);
    resumed(&place, "{ command: [sh, -c, 'cat token.txt; echo'] }", |place| {
        place.write("token.txt", "another secret");
    });
}

#[test]
fn what_cannot_be_read_is_said_and_nothing_begins() {
    let place = Place::new();
    place.write("large", &"x".repeat(70_000));
    let pipe = std::process::Command::new("mkfifo").arg(place.work().join("pipe")).status();
    assert!(pipe.unwrap().success());
    let (set, file, command) = ("set the variable", "put the secret", "run the command yourself");
    for (from, why, hint) in [
        (
            "{ env: NOT_SET_AT_ALL }",
            "environment variable `NOT_SET_AT_ALL`: it is not there, or empty",
            set,
        ),
        ("{ file: none.txt }", "file `none.txt`: it is not there, or empty", file),
        ("{ file: /tmp }", "file `/tmp`: it is not a file", file),
        ("{ file: pipe }", "file `pipe`: it is not a file", file),
        ("{ file: large }", "file `large`: it is longer than 64 KiB", file),
        ("{ command: ['false'] }", "command `false`: it ended with exit code 1", command),
        ("{ command: [no-such-program] }", "command `no-such-program`", command),
    ] {
        place.write("s.yaml", &skill(from));
        let ran = place.aye(&["run", "s.yaml", "--no-input"]);
        assert_eq!(ran.code, 2, "{from}: {}", ran.all());
        assert!(ran.stderr.contains(why), "{from}: {}", ran.all());
        assert!(ran.stderr.contains(hint), "{from}: {}", ran.all());
        assert!(!ran.stderr.contains("-i token"), "{from}: {}", ran.all());
    }
    assert_eq!(place.aye(&["runs", "--json"]).ok().json().as_array().unwrap().len(), 0);
    // What is given goes before it.
    place.write("go", "");
    place.aye(&["run", "s.yaml", "-i", "token=given"]).ok();
    assert_eq!(place.read("second"), "given");
}

#[test]
fn a_dry_run_reads_nothing() {
    let place = Place::new();
    place.write("s.yaml", &skill("{ command: [sh, -c, 'touch ran; echo x'] }"));
    let ran = place.aye(&["run", "s.yaml", "--dry-run"]).ok();
    assert!(ran.stdout.contains("*** from command `sh -c touch ran; echo x`"), "{}", ran.all());
    place.aye(&["check", "s.yaml"]).ok();
    place.aye(&["list", "s.yaml"]);
    assert!(!place.work().join("ran").exists());
}

#[test]
fn a_sub_skill_reads_its_own() {
    let place = Place::new();
    place.write("go", "");
    place.write("inner.yaml", &skill("{ env: TOKEN_FOR_TEST }"));
    place.write("s.yaml", "name: outer\nsteps:\n  - { name: sub, skill: inner.yaml }\n");
    aye(&place, &["run", "s.yaml"], SECRET).ok();
    assert_eq!(place.read("second"), SECRET);
    silent(&files(&place.home()), &forms(SECRET));
}

#[test]
fn without_a_source_a_run_is_not_taken_up_by_itself() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\nsteps:\n  - { name: code, input: { message: 'Code?', secret: true, timeout: 0 } }\n  \
         - { name: wait, confirm: { message: 'Continue?', timeout: 0 } }\n  \
         - { name: use, shell: 'printf %s {{ code }} > used' }\n",
    );
    place.aye(&["run", "s.yaml", "--detach", "-q"]).ok();
    let open = |step: &str| {
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        let row = inbox.as_array().unwrap().iter().find(|row| row["step"] == step)?;
        row["question"].as_str().map(str::to_owned)
    };
    until("the question", || open("code").is_some());
    place.aye(&["answer", &open("code").unwrap(), SECRET, "--no-input"]).ok();
    until("the next question", || open("wait").is_some());
    let pid = crate::cli::detach::driver(&place, &place.last()).unwrap();
    rustix::process::kill_process(pid, Signal::KILL).unwrap();
    until("no process drives it", || crate::cli::detach::driver(&place, &place.last()).is_none());
    let journalled = place.aye(&["show", "last", "--json"]).ok().stdout;
    assert_snapshot!(place.aye(&["resume", "last", "--detach", "--no-input"]).all(), @r"
    --- stderr
    error: secret answer `code` is not kept in the journal
    hint: `aye resume RUN` on a terminal asks for it; a script gives it with `-i code=…`
    --- exit 2
    ");
    // Nor in the foreground, where nobody can be asked.
    for args in [&["resume", "last", "--no-input"][..], &["resume", "last"]] {
        let refused = place.aye(args);
        assert_eq!(refused.code, 2, "{}", refused.all());
        let why = "secret answer `code` is not kept in the journal";
        assert!(refused.stderr.contains(why), "{}", refused.all());
    }
    assert_eq!(place.aye(&["show", "last", "--json"]).ok().stdout, journalled);
    let given = format!("code={SECRET}");
    place.aye(&["resume", "last", "--detach", "-q", "-i", &given]).ok();
    place.aye(&["answer", &open("wait").unwrap(), "yes", "--no-input"]).ok();
    until("the end", || place.status() == "completed");
    assert_eq!(place.read("used"), SECRET);
}

#[test]
fn a_bad_source_is_told() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\ninputs:\n  - { name: a, from: { env: A } }\n  - { name: b, type: secret, from: {} }\n  \
         - { name: c, type: secret, from: { env: C, file: c } }\n  \
         - { name: d, type: secret, default: x, from: { env: D } }\n  \
         - { name: e, type: secret, from: { file: '{{ inputs.a }}' } }\n\
         steps:\n  - { name: x, command: 'true' }\n",
    );
    assert_snapshot!(place.aye(&["check", "s.yaml"]).all(), @r"
    --- stdout
    error[stray-key]: `from` of input `a`, which is not a secret
      --> s.yaml:3:16
       |
     3 |   - { name: a, from: { env: A } }
       |                ^^^^ only for `type: secret`
       |
    hint: write `type: secret`, or a `default:` such as `{{ env.NAME }}`

    error[bad-source]: `from` of input `b` names no source
      --> s.yaml:4:36
       |
     4 |   - { name: b, type: secret, from: {} }
       |                                    ^^
       |
    hint: write one of `env: NAME`, `file: PATH`, `command: [PROGRAM, ARGUMENT]`

    error[bad-source]: `from` of input `c` names several sources
      --> s.yaml:5:36
       |
     5 |   - { name: c, type: secret, from: { env: C, file: c } }
       |                                    ^^^^^^^^^^^^^^^^^^^
       |
    hint: write one of `env: NAME`, `file: PATH`, `command: [PROGRAM, ARGUMENT]`

    error[stray-key]: input `d` has both `from` and `default`
      --> s.yaml:6:30
       |
     6 |   - { name: d, type: secret, default: x, from: { env: D } }
       |                              ^^^^^^^ leave one of them out

    error[bad-source]: `from` of input `e` has a template
      --> s.yaml:7:44
       |
     7 |   - { name: e, type: secret, from: { file: '{{ inputs.a }}' } }
       |                                            ^^^^^^^^^^^^^^^^ nothing has a value yet when it is read

    ✗ 0 valid skills in 1 file: 5 errors
    --- exit 2
    ");
}

#[test]
fn carriers_and_limits_are_not_inherited() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\ninputs: [{ name: token, type: secret }, { name: other }]\nsteps:\n  \
         - { name: a, shell: 'env > env.txt; ulimit -c > limit; grep core /proc/$PPID/limits > ours' }\n  \
         - { name: b, command: echo, args: ['{{ env.AYE_INPUT | default(\"nothing\") }}'] }\n",
    );
    place.write("in.json", "{\"other\": \"x\"}");
    let script = "ulimit -Sc 4096; exec \"$@\"";
    let mut command = place.command(&[]);
    let aye = command.get_program().to_owned();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script, "sh"]).arg(aye).args(["run", "s.yaml"]).env_clear();
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.current_dir(place.work());
    shell.env("AYE_INPUT", format!("token={SECRET}")).env("AYE_INPUTS", "in.json");
    let ran = Ran::of(shell.output().unwrap(), &place).ok();
    let env = place.read("env.txt");
    assert!(env.contains("AYE_HOME="), "{env}");
    for name in ["AYE_INPUT", "AYE_INPUTS", SECRET] {
        assert!(!env.contains(name), "{env}");
    }
    assert!(ran.stdout.contains("nothing"), "{}", ran.all());
    assert_eq!(place.read("limit").trim(), "4096", "a step has the limit back");
    let ours = place.read("ours");
    let soft = ours.split_whitespace().nth(4).unwrap().to_owned();
    assert_eq!(soft, "1", "Aye itself writes no dump: {ours}");
    // A run in the background gives it back too.
    command = std::process::Command::new("sh");
    command.args(["-c", script, "sh"]).arg(shell.get_args().nth(3).unwrap());
    command.args(["run", "s.yaml", "--detach", "-q"]).env_clear().current_dir(place.work());
    command.envs(shell.get_envs().filter_map(|(name, value)| Some((name, value?))));
    std::fs::remove_file(place.work().join("limit")).unwrap();
    command.status().unwrap();
    until("the end", || place.status() == "completed");
    assert_eq!(place.read("limit").trim(), "4096");
}

/// What a program of the run was started with: `env`, and its limit for dumps.
#[track_caller]
fn inherits_nothing(place: &Place, who: &str) {
    let env = place.read(&format!("{who}.env"));
    assert!(env.contains("PATH="), "{who}: {env}");
    for carried in ["AYE_INPUT", "AYE_CODE", SECRET, "123456"] {
        assert!(!env.contains(carried), "{who}: {env}");
    }
    assert_eq!(place.read(&format!("{who}.limit")).trim(), "4096", "{who}");
}

#[test]
fn tool_servers_and_named_commands_inherit_no_carriers_either() {
    let place = Place::new();
    let tells = |who: &str| format!("env > {who}.env; ulimit -c > {who}.limit; cat > /dev/null");
    place.write(
        "aye.toml",
        &format!(
            "[tools.own]\nserver = ['sh', '-c', '{}']\npass_env = ['AYE_INPUT', 'AYE_CODE']\n\
             [tools.named]\ncommand = ['sh', '-c', '{}']\n",
            tells("server"),
            tells("command"),
        ),
    );
    place.aye(&["trust", "--yes"]).ok();
    place.write(
        "s.yaml",
        "name: s\ninputs: [{ name: token, type: secret }]\nsteps:\n  \
         - { name: named, tool: named }\n  \
         - { name: own, tool: own.x, timeout: 3s, on_error: continue }\n",
    );
    let aye = place.command(&[]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "ulimit -Sc 4096; exec \"$@\"", "sh"]).arg(aye.get_program());
    shell.args(["run", "s.yaml", "--no-input"]).env_clear().current_dir(place.work());
    shell.envs(aye.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.env("AYE_INPUT", format!("token={SECRET}")).env("AYE_CODE", "123456");
    let ran = Ran::of(shell.output().unwrap(), &place);
    assert!(place.work().join("server.limit").exists(), "{}", ran.all());
    inherits_nothing(&place, "command");
    inherits_nothing(&place, "server");
}

/// Whether a process that dies of a signal leaves its memory in its directory.
fn leaves_dumps(place: &Place) -> bool {
    let script = "ulimit -c unlimited; kill -ABRT $$";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script]).current_dir(place.work()).status().unwrap();
    dumps(place) > 0
}

fn dumps(place: &Place) -> usize {
    let names = std::fs::read_dir(place.work()).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().starts_with("core")).count()
}

#[test]
fn a_crash_of_the_driver_leaves_no_memory_behind() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\ninputs: [{ name: token, type: secret }]\nsteps:\n  \
         - { name: a, shell: 'touch began; exec sleep 60' }\n",
    );
    let aye = place.command(&[]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "ulimit -c unlimited; exec \"$@\"", "sh"]).arg(aye.get_program());
    shell.args(["run", "s.yaml", "-i", &format!("token={SECRET}")]).env_clear();
    shell.envs(aye.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.current_dir(place.work()).stdin(std::process::Stdio::null());
    shell.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut driver = shell.spawn().unwrap();
    until("the step", || place.work().join("began").exists());
    let engine = crate::cli::detach::driver(&place, &place.last()).unwrap();
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", engine.as_raw_nonzero()));
    let limits = limits.unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_whitespace().nth(4), Some("1"), "{core}");
    rustix::process::kill_process(engine, Signal::ABORT).unwrap();
    driver.wait().unwrap();
    until("no process drives it", || crate::cli::detach::driver(&place, &place.last()).is_none());
    assert_eq!(dumps(&place), 0);
    // Another program dumps its memory here, unless the system collects dumps elsewhere.
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap();
    let elsewhere = pattern.starts_with(['|', '/']);
    assert!(leaves_dumps(&place) || elsewhere, "dumps are written as `{pattern}`");
}

/// What is read where `from` says is not given again.
#[test]
fn the_command_to_try_again_names_only_what_has_to_be_given() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\ninputs:\n  - { name: token, type: secret, from: { env: TOKEN_FOR_TEST } }\n  \
         - { name: other, type: secret }\nsteps: [{ name: a, command: echo, args: ['{{ 1 // 0 }}'] }]\n",
    );
    let ran = aye(&place, &["run", "s.yaml", "-i", "other=correct-horse"], SECRET);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.all().contains("aye run s.yaml -i other=…\n"), "{}", ran.all());
}
