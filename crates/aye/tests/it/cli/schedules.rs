//! `aye schedule`: timers and lines of a crontab that start runs.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::{Value, json};

use super::harness::{AYE, Place, Ran, until};
use crate::needs;

const SKILL: &str = "\
name: hello
inputs:
  - { name: who, required: true }
  - { name: token, type: secret, required: false, from: { env: TOKEN } }
steps:
  - { name: greet, shell: 'echo {{ inputs.who }} > greeted' }
";

/// A trusted project with a skill that wants to know whom to greet.
fn place() -> Place {
    let place = Place::new();
    place.write("skills/hello.yaml", SKILL);
    place.aye(&["trust", "--yes"]).ok();
    place
}

fn add(place: &Place, args: &[&str]) -> Ran {
    let args = [&["schedule", "add", "hello", "--with", "systemd"][..], args].concat();
    place.aye(&args)
}

fn list(place: &Place) -> Vec<Value> {
    place.aye(&["schedule", "list", "--json"]).ok().json().as_array().unwrap().clone()
}

/// What started the newest run, as its journal has it.
fn started_by(place: &Place) -> Value {
    let shown = place.aye(&["show", "last", "--json"]).ok().json();
    shown["events"][0]["started_by"].clone()
}

#[test]
fn a_timer_is_written_checked_listed_and_removed() {
    needs::program("systemd-analyze");
    let place = place();
    let input = "who=ada \"$HOME\" 5% \\";
    let added = add(&place, &["--at", "mon 9:00", "-i", input, "--name", "weekly", "--json"]).ok();
    let added = added.json();
    assert_eq!((&added["schedule"], &added["at"]), (&json!("weekly"), &json!("Mon 09:00")));
    let units = place.path().join(".config/systemd/user");
    let file = |name: &str| units.join(name);
    let (service, timer) = (file("aye-schedule-weekly.service"), file("aye-schedule-weekly.timer"));
    let text = std::fs::read_to_string(&service).unwrap();
    assert!(text.contains("\nKillMode=process\n"), "{text}");
    let text = std::fs::read_to_string(&timer).unwrap();
    assert!(text.contains("\nOnCalendar=Mon *-*-* 09:00:00\n"), "{text}");
    let link = file("timers.target.wants/aye-schedule-weekly.timer");
    assert_eq!(std::fs::read_link(&link).unwrap(), timer);
    // Systemd itself reads them.
    let verified = Command::new("systemd-analyze")
        .args(["--user", "verify"])
        .args([&service, &timer])
        .env("XDG_RUNTIME_DIR", place.path())
        .output()
        .unwrap();
    assert!(verified.status.success(), "{verified:?}");
    let listed = list(&place);
    assert_eq!(listed.len(), 1);
    assert_eq!((&listed[0]["installed"], &listed[0]["inputs"]), (&json!(true), &json!([input])));
    assert!(listed[0]["next"].is_string(), "{listed:?}");
    let again = add(&place, &["--at", "daily", "-i", "who=x", "--name", "weekly"]);
    assert_eq!(again.code, 2, "{}", again.all());
    assert!(again.stderr.contains("there is a schedule `weekly` already"), "{}", again.all());
    place.aye(&["schedule", "remove", "weekly"]).ok();
    assert!(!service.exists() && !timer.exists() && link.symlink_metadata().is_err());
    assert_eq!(list(&place), [] as [Value; 0]);
    let gone = place.aye(&["schedule", "remove", "weekly"]);
    assert_eq!(gone.code, 3, "{}", gone.all());
}

/// The line that systemd would execute, as a shell reads it.
#[test]
fn the_service_starts_a_run_in_the_background() {
    let place = place();
    let added = add(&place, &["--at", "daily 03:00", "-i", "who=ada lovelace"]).ok();
    // Where no manager runs, the hint names the unit that was written.
    let starts = added.stderr.lines().find(|line| line.contains("systemctl"));
    let named = |line: &str| line.contains("`systemctl --user start aye-schedule-hello.timer`");
    assert!(starts.is_none_or(named), "{}", added.all());
    let service = place.path().join(".config/systemd/user/aye-schedule-hello.service");
    let text = std::fs::read_to_string(service).unwrap();
    let line = |key: &str| {
        let mut lines = text.lines();
        lines.find_map(|line| line.strip_prefix(key)).expect("the service has it").to_owned()
    };
    let mut command = Command::new("sh");
    command.args(["-c", &line("ExecStart=")]).current_dir(line("WorkingDirectory="));
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", place.path());
    let ran = Ran::of(command.output().unwrap(), &place).ok();
    let run = ran.stdout.trim().to_owned();
    until("the run has ended", || place.status() == "completed");
    assert_eq!(place.last(), run);
    assert_eq!(place.read("greeted"), "ada lovelace\n");
    assert_eq!(started_by(&place), "schedule");
    let shown = place.aye(&["show", "last"]).ok().stdout;
    assert!(shown.contains(", started by a schedule"), "{shown}");
}

/// A manager of the user's units, as a session has one. The run continues when
/// the service has ended.
#[test]
fn a_real_user_manager_starts_the_run_and_leaves_it_alone() {
    const MANAGER: &str = "/lib/systemd/systemd";
    if !needs::root("a manager of units in namespaces of its own") {
        return;
    }
    needs::program("unshare");
    needs::program(MANAGER);
    let place = place();
    let slow = SKILL.replace("shell: 'echo", "shell: 'sleep 1; echo");
    place.write("skills/hello.yaml", &slow);
    let script = format!(
        "mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system $XDG_RUNTIME_DIR
         {MANAGER} --user >manager.log 2>&1 &
         for try in $(seq 200); do systemctl --user list-timers >/dev/null 2>&1 && break; sleep 0.1; done
         {AYE} schedule add hello --at 'Mon 09:00' -i 'who=5% $HOME \"ada\"' || exit 1
         systemctl --user list-timers --no-pager --all || exit 1
         systemctl --user start aye-schedule-hello.service || exit 1
         for try in $(seq 300); do [ -e greeted ] && break; sleep 0.1; done
         {AYE} schedule remove hello || exit 1
         systemctl --user list-timers --no-pager --all --legend=false"
    );
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c"]);
    command.arg(&script).current_dir(place.work()).env_clear();
    let aye = place.command(&[]);
    for (name, value) in aye.get_envs() {
        command.env(name, value.unwrap());
    }
    command.env("XDG_RUNTIME_DIR", place.path().join("runtime"));
    let ran = Ran::of(command.output().unwrap(), &place);
    let log = || place.read("manager.log");
    assert_eq!(ran.code, 0, "{}\n{}", ran.all(), log());
    assert!(!ran.stderr.contains("does not run yet"), "{}\n{}", ran.all(), log());
    assert!(ran.stdout.contains("aye-schedule-hello.timer"), "{}", ran.all());
    assert!(ran.stdout.ends_with("removed schedule hello\n"), "{}", ran.all());
    assert_eq!(place.read("greeted"), "5% $HOME \"ada\"\n");
    assert_eq!(started_by(&place), "schedule");
}

/// The unit of the server is not one of a schedule, whatever that is called; systemd reads
/// it, and it says where programs are.
#[test]
fn the_unit_of_the_server_is_written_and_checked() {
    needs::program("systemd-analyze");
    let place = place();
    let printed = place.aye(&["serve", "install", "--print", "--socket", "a b.sock"]).ok().stdout;
    let units = place.path().join(".config/systemd/user");
    let unit = units.join("aye-serve.service");
    assert!(!unit.exists(), "--print writes nothing");
    let told = place.aye(&["serve", "install", "--socket", "a b.sock", "--json"]).ok().json();
    assert_eq!(told["unit"], "PLACE/.config/systemd/user/aye-serve.service");
    let written = std::fs::read_to_string(&unit).unwrap();
    assert!(written.contains("\nKillMode=process\n"), "{written}");
    let path = "/usr/local/bin:/usr/bin:/bin";
    assert!(written.contains(&format!("\nEnvironment=\"PATH={path}\"\n")), "{written}");
    assert_eq!(printed.lines().count(), written.lines().count());
    let verified = Command::new("systemd-analyze")
        .args(["--user", "verify"])
        .arg(&unit)
        .env("XDG_RUNTIME_DIR", place.path())
        .output()
        .unwrap();
    assert!(verified.status.success(), "{verified:?}");
    add(&place, &["--at", "daily", "-i", "who=x", "--name", "serve"]).ok();
    assert_eq!(std::fs::read_to_string(&unit).unwrap(), written);
    place.aye(&["schedule", "remove", "serve"]).ok();
    assert!(unit.exists());
    // What systemd does not read is not installed.
    let script = "#!/bin/sh\necho 'aye-serve.service: bad' >&2\nexit 1\n";
    let analyze = place.write("bin/systemd-analyze", script);
    std::fs::set_permissions(&analyze, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = place.command(&["serve", "install", "--listen", "127.0.0.1:1"]);
    command.env("PATH", format!("{}:{path}", place.work().join("bin").display()));
    let refused = Ran::of(command.output().unwrap(), &place);
    assert_eq!(refused.code, 1, "{}", refused.all());
    assert!(refused.stderr.contains("aye-serve.service: bad"), "{}", refused.all());
    assert_eq!(std::fs::read_to_string(&unit).unwrap(), written);
}

#[test]
fn what_cannot_work_without_anybody_is_refused() {
    let place = place();
    place.write("skills/secret.yaml", "name: secret\ninputs: [{ name: key, type: secret, required: true }]\nsteps: [{ name: a, command: 'true' }]\n");
    for (args, code, said) in [
        (&["hello", "--at", "Mon 25:00"][..], 2, "`25:00` is not a time of day"),
        (&["hello", "--at", "Mon"], 2, "hint: write `Mon 09:00`"),
        (&["hello", "--at", "0 9 * * 1"], 2, "is the time of a crontab"),
        (&["hello", "--at", "daily"], 2, "input `who` is missing"),
        (
            &["hello", "--at", "daily", "-i", "who=a", "-i", "token=x"],
            2,
            "would be written to a file",
        ),
        (&["secret", "--at", "daily"], 2, "secret input `key` has no `from`"),
        (&["nothing", "--at", "daily"], 3, "nothing"),
        (&["hello", "--at", "daily", "-i", "who=a", "--name", "a/b"], 2, "cannot be the name"),
    ] {
        let ran = place.aye(&[&["schedule", "add", "--with", "systemd"][..], args].concat());
        assert_eq!(ran.code, code, "{args:?}: {}", ran.all());
        assert!(ran.stderr.contains(said), "{args:?}: {}", ran.all());
    }
    assert!(!place.path().join(".config/systemd").exists());
}

/// A program would read it as an option; units and files have names of limited length.
#[test]
fn a_name_that_no_unit_can_have_is_refused() {
    let place = place();
    for (name, why) in [("-x", "begin it with a letter"), (&*"n".repeat(300), "at most 100")] {
        let name = format!("--name={name}");
        let ran = add(&place, &["--at", "daily", "-i", "who=a", &name]);
        assert_eq!(ran.code, 2, "{}", ran.all());
        assert!(ran.stderr.contains(why) && ran.stderr.len() < 300, "{}", ran.all());
    }
    assert!(list(&place).is_empty());
}

#[test]
fn a_project_that_nobody_trusts_is_not_scheduled_and_not_run() {
    let place = Place::new();
    place.write("skills/hello.yaml", SKILL);
    let ran = add(&place, &["--at", "daily", "-i", "who=a"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.stderr.contains("is not trusted"), "{}", ran.all());
    assert!(ran.stderr.contains("hint: trust it: `aye trust"), "{}", ran.all());
    // Nor is one that was trusted when the schedule was added.
    let ran = place.aye(&["run", "hello", "-i", "who=a", "--detach", "--schedule", "x"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert_eq!(place.read("greeted"), "");
}

/// A program that stands in for one of the system's.
fn stand_in(place: &Place, name: &str, script: &str) -> String {
    let program = place.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:/usr/bin:/bin", place.work().join("bin").display())
}

#[test]
fn units_that_systemd_refuses_are_taken_back() {
    let place = place();
    let path = stand_in(&place, "systemd-analyze", "echo 'bad unit file setting' >&2; exit 1");
    let args = ["schedule", "add", "hello", "--at", "daily", "-i", "who=a", "--with", "systemd"];
    let ran = Ran::of(place.command(&args).env("PATH", path).output().unwrap(), &place);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.stderr.contains("refuses the units: bad unit file setting"), "{}", ran.all());
    assert!(!place.path().join(".config/systemd/user/aye-schedule-hello.timer").exists());
    assert_eq!(list(&place), [] as [Value; 0]);
}

const CRON: [&str; 9] =
    ["schedule", "add", "hello", "--at", "every 15m", "-i", "who=5% ada", "--with", "cron"];

#[test]
fn a_crontab_keeps_its_other_lines() {
    let place = place();
    let path = stand_in(
        &place,
        "crontab",
        "case $1 in -l) cat tab 2>/dev/null || { echo 'no crontab for ada' >&2; exit 1; } ;; -) cat > tab ;; esac",
    );
    let aye =
        |args: &[&str]| Ran::of(place.command(args).env("PATH", &path).output().unwrap(), &place);
    aye(&CRON).ok();
    assert!(place.read("tab").starts_with("*/15 * * * * cd "), "{}", place.read("tab"));
    aye(&["schedule", "remove", "hello"]).ok();
    assert_eq!(place.read("tab"), "");
    // Where there is no systemd, cron is chosen by itself.
    if !std::path::Path::new("/run/systemd/system").is_dir() {
        let added = aye(&[&CRON[..7], &["--json"]].concat()).ok().json();
        assert_eq!(added["with"], "cron", "{added}");
        aye(&["schedule", "remove", "hello"]).ok();
    }
    let before = "MAILTO=ada\n5 4 * * * backup # nightly\n";
    place.write("tab", before);
    aye(&CRON).ok();
    let text = place.read("tab");
    let line = text.strip_prefix(before).expect("the others are as they were").to_owned();
    assert_eq!(aye(&["schedule", "list", "--json"]).ok().json()[0]["installed"], true);
    aye(&["schedule", "remove", "hello"]).ok();
    assert_eq!(place.read("tab"), before);
    // The line does what it says; cron takes the backslash before a `%` away.
    let command = line.trim_start_matches("*/15 * * * * ").replace("\\%", "%");
    let ran = Command::new("sh").args(["-c", &command]).env_clear().output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    until("the run has ended", || place.status() == "completed");
    assert_eq!(place.read("greeted"), "5% ada\n");
    assert_eq!(started_by(&place), "schedule");
}

/// The real program, with a spool of its own.
#[test]
fn a_real_crontab_takes_the_line() {
    if !needs::root("a crontab in a spool that nobody else sees") {
        return;
    }
    needs::program("crontab");
    needs::program("unshare");
    let place = place();
    let script = format!(
        "mount -t tmpfs -o mode=1730 tmpfs /var/spool/cron/crontabs && \
         {AYE} schedule add hello --at 'Mon 09:00' -i who=ada --with cron >/dev/null && \
         crontab -l && {AYE} schedule remove hello && {{ crontab -l || true; }}"
    );
    let mut command = Command::new("unshare");
    let aye = place.command(&[]);
    command.args(["--mount", "sh", "-c", &script]).current_dir(place.work()).env_clear();
    for (name, value) in aye.get_envs() {
        command.env(name, value.unwrap());
    }
    let ran = Ran::of(command.output().unwrap(), &place).ok();
    let lines: Vec<&str> = ran.stdout.lines().filter(|line| !line.starts_with("# ")).collect();
    assert_eq!(lines.len(), 2, "{}", ran.all());
    assert!(lines[0].starts_with("0 9 * * 1 cd PLACE/work && "), "{}", ran.all());
    assert!(lines[0].ends_with(" # aye:hello"), "{}", ran.all());
    assert_eq!(lines[1], "removed schedule hello");
}

#[test]
fn names_are_completed() {
    let place = place();
    add(&place, &["--at", "daily", "-i", "who=a", "--name", "nightly"]).ok();
    let offered = |words: &[&str]| {
        place.aye(&[&["candidates", "aye", "schedule"][..], words].concat()).ok().stdout
    };
    assert_eq!(offered(&["add", "h"]), "hello\n");
    assert!(offered(&["add", "hello", "--at", "daily", "-i", "w"]).starts_with("who="));
    assert_eq!(offered(&["remove", ""]), "nightly\tdaily 00:00, hello\n");
}
