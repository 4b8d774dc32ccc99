//! `aye trust`, the user's own settings, and what is left out without trust.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;

use aye_runtime::settings::Settings;
use insta::assert_snapshot;

use crate::needs;

use super::harness::{Place, Ran};

const USE: &str =
    "name: s\nsteps:\n  - { name: use, command: cat, args: [token], on_error: auto_heal }\n";
const HEAL: &str = "[[heal]]\nname = \"login\"\nmatch = { command = \"cat\" }\n\
    repair = { shell = \"touch token healed\" }\n";
const CONFIG: &str = "../.config/aye/config.toml";

#[test]
fn typing_it_runs_the_steps_and_leaves_out_the_rest() {
    let place = Place::new();
    place.write("s.yaml", USE);
    let server = "[tools.own]\nserver = ['/bin/sh', '-c', 'touch started']\n";
    let advisor = "[advisor]\ncommand = ['./advise']\n";
    place.write("aye.toml", &format!("{server}{advisor}{HEAL}"));
    let ran = place.aye(&["run", "s.yaml"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    let said = "warning: `aye.toml` is not trusted; left out: heal rules, advisor, server `own`\n\
        hint: `aye trust` shows it and asks\n";
    assert!(ran.stderr.contains(said), "{}", ran.all());
    assert!(!place.work().join("healed").exists() && !place.work().join("started").exists());
    // In the background, and when it continues, too.
    let ran = place.aye(&["run", "s.yaml", "--detach"]);
    assert!(ran.stderr.contains(said), "{}", ran.all());

    assert_snapshot!(place.aye(&["trust", "--yes"]).all(), @r#"
    --- stdout
    PLACE/work
    heal
      {"match":{"command":"cat"},"name":"login","repair":{"shell":"touch token healed"}}
    advisor
      PLACE/work/./advise
    server own
      /bin/sh -c 'touch started'
    PLACE/work is trusted
    --- exit 0
    "#);
    let ran = place.aye(&["run", "s.yaml"]).ok();
    assert!(!ran.stderr.contains("left out"), "{}", ran.all());
    assert!(place.work().join("healed").exists());
}

#[test]
fn a_policy_that_was_agreed_to_holds_until_somebody_agrees_to_less() {
    let place = Place::new();
    place.write("s.yaml", "name: s\nsteps:\n  - { name: go, command: touch, args: [went] }\n");
    place.write("aye.toml", "[policy]\nallow = ['echo']\nworkspace_only = true\n");
    place.aye(&["trust", "--yes"]).ok();
    for looser in ["", "[policy]\nallow = ['echo', 'touch']\nworkspace_only = true\n"] {
        place.write("aye.toml", looser);
        let ran = place.aye(&["run", "s.yaml"]);
        assert_eq!(ran.code, 1, "{}", ran.all());
        assert!(ran.stderr.contains("command `touch went` is not allowed"), "{}", ran.all());
        let said = "`aye.toml` has changed since it was trusted; left out: looser policy";
        assert!(ran.stderr.contains(said), "{}", ran.all());
    }
    // Less of it needs nobody.
    place.write(
        "aye.toml",
        "[policy]\nallow = ['echo']\nworkspace_only = true\ncheck_shell_values = true\n",
    );
    assert!(!place.aye(&["run", "s.yaml"]).stderr.contains("left out"));
    place.write("aye.toml", "[policy]\nallow = ['echo', 'touch']\n");
    assert_snapshot!(place.aye(&["trust", "--yes"]).all(), @r#"
    --- stdout
    PLACE/work
    policy
      - allow = ["echo"]
      - workspace_only = true
      + allow = ["echo", "touch"]
    PLACE/work is trusted
    --- exit 0
    "#);
    place.aye(&["run", "s.yaml"]).ok();
    place.write("aye.toml", "");
    assert_snapshot!(place.aye(&["trust", "--yes"]).all(), @r#"
    --- stdout
    PLACE/work
    policy
      - allow = ["echo", "touch"]
    PLACE/work is trusted
    --- exit 0
    "#);
    assert_snapshot!(place.aye(&["trust"]).all(), @r#"
    --- stdout
    PLACE/work is trusted already
    --- exit 0
    "#);
}

#[test]
fn the_users_own_settings_count_everywhere() {
    let place = Place::new();
    place.write("s.yaml", USE);
    place.write(CONFIG, &format!("skills = ['mine']\n[policy]\nallow = ['cat', 'sh', 'touch']\n[run]\nstep_timeout = '7s'\n{HEAL}"));
    place.write(
        "../.config/aye/mine/own.yaml",
        "name: own\nsteps:\n  - { name: a, command: cat, args: [/dev/null] }\n",
    );
    // Its rules need nobody's trust, and its skills are there.
    let ran = place.aye(&["run", "s.yaml"]).ok();
    assert!(!ran.stderr.contains("left out"), "{}", ran.all());
    assert!(place.work().join("healed").exists());
    place.aye(&["run", "own"]).ok();
    // Both policies hold.
    place.write("aye.toml", "[policy]\nallow = ['cat', 'echo']\n[run]\nstep_timeout = '9s'\n");
    for (program, allowed) in [("cat", true), ("echo", false), ("touch", false)] {
        place.write(
            "p.yaml",
            &format!(
                "name: p\nsteps:\n  - {{ name: go, command: {program}, args: [/dev/null] }}\n"
            ),
        );
        let ran = place.aye(&["run", "p.yaml"]);
        assert_eq!(ran.code == 0, allowed, "{program}: {}", ran.all());
    }
    // A project that nobody trusts does not get more time than the user allows.
    let plan = place.aye(&["run", "p.yaml", "--dry-run"]).ok();
    assert!(plan.stdout.contains("at most 7s (default)"), "{}", plan.all());
    // A mistake in it is told with its place.
    place.write(CONFIG, "[run]\nstep_timeot = '7s'\n");
    let ran = place.aye(&["list"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.stderr.contains("config.toml:2:1"), "{}", ran.all());
    // So is one that others can change.
    let path = place.write(CONFIG, "");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o666)).expect("mode");
    let ran = place.aye(&["list"]);
    assert!(ran.stderr.contains("can be written by everyone"), "{}", ran.all());
}

#[test]
fn a_home_that_everyone_can_write_to_is_refused() {
    let place = Place::new();
    place.write("s.yaml", "name: s\nsteps:\n  - { name: a, command: touch, args: [went] }\n");
    place.aye(&["trust", "--yes"]).ok();
    for mode in [0o777, 0o1777, 0o703] {
        let private = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(place.home(), private).expect("mode");
        for args in [&["run", "s.yaml"][..], &["trust", "--list"], &["runs"], &["mcp"]] {
            let ran = place.aye(args);
            assert_eq!(ran.code, 1, "{args:?}: {}", ran.all());
            assert!(
                ran.stderr.contains("`PLACE/home` can be written by everyone"),
                "{}",
                ran.all()
            );
            assert!(ran.stderr.contains("chmod 700 PLACE/home"), "{}", ran.all());
        }
    }
    assert!(!place.work().join("went").exists());
    std::fs::set_permissions(place.home(), std::fs::Permissions::from_mode(0o700)).expect("mode");
    place.aye(&["run", "s.yaml"]).ok();
}

/// Another user could have written what it says, or can exchange it.
#[test]
fn a_home_that_another_user_could_have_made_or_can_change_is_refused() {
    const OTHER: u32 = 65_533;
    if !needs::root("a home that belongs to another user") {
        return;
    }
    let steps = "name: s\nsteps:\n  - { name: a, command: touch, args: [went] }\n";
    // What is changed below the place, its owner, group and mode; and what is said of it.
    let attacks = [
        ("home", Some(OTHER), None, 0o755, "`PLACE/home` belongs to another user"),
        ("home", Some(OTHER), None, 0o777, "`PLACE/home` belongs to another user"),
        ("home", None, Some(OTHER), 0o770, "`PLACE/home` can be written by group 65533"),
        ("home", None, Some(OTHER), 0o1770, "`PLACE/home` can be written by group 65533"),
        ("home/journal.db", Some(OTHER), None, 0o666, "`PLACE/home/journal.db` belongs to"),
        ("home/journal.db", None, Some(OTHER), 0o660, "journal.db` can be written by group 65533"),
        ("home/journal.db-wal", None, None, 0o606, "journal.db-wal` can be written by everyone"),
        ("", None, None, 0o777, "`PLACE` can be written by everyone"),
        ("", None, Some(OTHER), 0o775, "`PLACE` can be written by group 65533"),
        ("", Some(OTHER), None, 0o1755, "`PLACE` belongs to another user"),
    ];
    for uid in [0, 65_534] {
        for (name, owner, group, mode, said) in attacks {
            let place = Place::new();
            place.write("s.yaml", steps);
            for path in [place.path().to_owned(), place.work()] {
                chown(path, Some(uid), Some(uid)).expect("given");
            }
            let aye = |args: &[&str]| {
                let output = place.command(args).uid(uid).gid(uid).output().expect("it runs");
                Ran::of(output, &place)
            };
            aye(&["run", "s.yaml"]).ok();
            let went = place.work().join("went");
            std::fs::remove_file(&went).expect("it ran");
            let path = place.path().join(name);
            chown(&path, owner, group).expect("given away");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("mode");
            // A user who cannot look into the home has no use for it either.
            for args in [&["run", "s.yaml"][..], &["runs"], &["answer", "q", "yes"], &["mcp"]] {
                let ran = aye(args);
                assert_eq!(ran.code, 1, "{uid} {name} {args:?}: {}", ran.all());
                assert!(ran.stderr.contains(said), "{uid} {name} {args:?}: {}", ran.all());
            }
            assert!(!went.exists(), "{uid} {name}");
        }
    }
}

#[test]
fn a_home_that_only_its_user_can_change_is_taken() {
    let place = Place::new();
    place.write("s.yaml", "name: s\nsteps:\n  - { name: a, command: touch, args: [went] }\n");
    let mode = |path: &std::path::Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("mode");
    };
    // As `/tmp` is.
    mode(place.path(), 0o1777);
    place.aye(&["run", "s.yaml"]).ok();
    // The user's own group, which nobody else is in.
    mode(place.path(), 0o775);
    mode(&place.home(), 0o770);
    place.aye(&["run", "s.yaml"]).ok();
    // A home is not made where everyone could exchange it.
    mode(place.path(), 0o777);
    let ran = place.aye(&["--home", "../new/home", "run", "s.yaml"]);
    assert!(ran.stderr.contains("`PLACE` can be written by everyone"), "{}", ran.all());
    assert!(ran.stderr.contains("chmod go-w PLACE"), "{}", ran.all());
    assert!(!place.path().join("new").exists());
}

#[test]
fn what_earlier_versions_wrote_is_read() {
    let place = Place::new();
    place.write("aye.toml", "[tools.own]\nserver = ['/bin/sh', '-c', 'exit 3']\n");
    place.aye(&["tools", "trust", "--yes"]).ok();
    let path = place.home().join("trust.json");
    let kept = std::fs::read_to_string(&path).expect("it is there");
    let kept: serde_json::Value = serde_json::from_str(&kept).expect("JSON");
    let (root, all) =
        kept["agreements"].as_object().expect("by project").iter().next().expect("one");
    let one = &all["server own"];
    let old = serde_json::json!({ "tools": { root: { "own": {
        "digest": one["digest"], "command": one["shown"], "at": one["at"],
    } } } });
    std::fs::write(&path, old.to_string()).expect("written");
    let trusted = place.aye(&["tools", "trust"]).ok();
    assert!(trusted.stdout.contains("own is trusted already"), "{}", trusted.all());
    // What is added does not lose it.
    place.write("other/aye.toml", "");
    place.aye(&["trust", "other", "--yes"]).ok();
    place.aye(&["tools", "trust"]).ok();
    assert_snapshot!(place.aye(&["trust", "--list"]).all(), @r#"
    --- stdout
    PLACE/work/other
    --- exit 0
    "#);
    assert_snapshot!(place.aye(&["trust", "--remove", "other"]).all(), @r#"
    --- stdout
    PLACE/work/other is not trusted any more
    --- exit 0
    "#);
    assert_snapshot!(place.aye(&["trust", "--remove", "other"]).all(), @r#"
    --- stderr
    error: `PLACE/work/other` is not trusted
    hint: `aye trust --list` lists what is
    --- exit 3
    "#);
}

#[test]
fn settings_of_another_user_are_left_out_for_an_ordinary_user_too() {
    const USER: u32 = 65_534;
    if !needs::root("settings of another user") {
        return;
    }
    let place = Place::new();
    let skill = place.write("s.yaml", USE);
    let settings = place.write("aye.toml", HEAL);
    let given = [place.path().to_owned(), place.work(), skill, settings.clone()];
    for path in given {
        chown(path, Some(USER), Some(USER)).expect("given away");
    }
    let aye = |args: &[&str]| {
        let output = place.command(args).uid(USER).gid(USER).output().expect("it runs");
        Ran::of(output, &place)
    };
    aye(&["trust", "--yes"]).ok();
    aye(&["run", "s.yaml"]).ok();
    assert!(place.work().join("healed").exists());
    for file in ["token", "healed"] {
        std::fs::remove_file(place.work().join(file)).expect("it is there");
    }
    // The same words, put there by someone else.
    chown(&settings, Some(USER - 1), None).expect("given away");
    let ran = aye(&["run", "s.yaml"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.stderr.contains("is not trusted; left out: heal rules"), "{}", ran.all());
    assert!(!place.work().join("healed").exists());
    aye(&["trust", "--yes"]).ok();
    aye(&["run", "s.yaml"]).ok();
    assert!(place.work().join("healed").exists());
}

/// The journal is shared: what a clone says of keeping runs is not for others,
/// and shortens nothing before it is trusted.
#[test]
fn an_untrusted_project_forgets_no_runs() {
    let place = Place::new();
    for project in ["mine", "clone"] {
        let skill = format!("name: {project}\nsteps: [{{ name: a, command: 'true' }}]\n");
        place.write(&format!("{project}/s.yaml"), &skill);
    }
    place.write("clone/aye.toml", "[journal]\nkeep = '1ms'\n");
    let aye = |project: &str, days: &str, args: &[&str]| {
        let mut command = place.command(args);
        let command = command.current_dir(place.work().join(project)).env("AYE_TEST_DAYS", days);
        Ran::of(command.output().expect("it runs"), &place).ok()
    };
    let left = || {
        let runs = place.aye(&["runs", "--json"]).ok().json();
        let skill = |run: &serde_json::Value| run["skill"].as_str().unwrap_or_default().to_owned();
        let mut skills: Vec<String> = runs.as_array().expect("runs").iter().map(skill).collect();
        skills.sort();
        skills
    };
    aye("mine", "0", &["run", "s.yaml"]);
    let ran = aye("clone", "0", &["run", "s.yaml"]);
    assert!(ran.stderr.contains("is not trusted; left out: `keep`"), "{}", ran.all());
    // A day later a millisecond is over, and thirty days are not.
    for args in [&["runs", "prune"][..], &["run", "s.yaml"]] {
        aye("clone", "1", args);
        let all: &[&str] = if args == ["runs", "prune"] {
            &["clone", "mine"]
        } else {
            &["clone", "clone", "mine"]
        };
        assert_eq!(left(), all, "{args:?}");
    }
    // Wherever it is typed, each run is kept as its own project says.
    aye("clone", "0", &["trust", "--yes"]);
    let forgot = aye("mine", "3", &["runs", "prune"]).stdout;
    assert_eq!(forgot, "forgot 2 runs with 8 events\n");
    assert_eq!(left(), ["mine"]);
    // Keeping for longer needs nobody's trust.
    aye("clone", "0", &["trust", "--remove"]);
    place.write("clone/aye.toml", "[journal]\nkeep = '0s'\n");
    aye("clone", "0", &["run", "s.yaml"]);
    aye("mine", "60", &["runs", "prune"]);
    assert_eq!(left(), ["clone"]);
}

/// A skill of the user's own means the user's own tools, wherever it is run.
#[test]
fn an_untrusted_project_cannot_exchange_your_tools() {
    let place = Place::new();
    let tool = |said: &str| format!("[tools.notify]\ncommand = ['echo', '{said}']\n");
    place.write(CONFIG, &format!("skills = ['mine']\n{}", tool("mine")));
    let skill = "name: own\nsteps: [{ name: a, tool: notify }]\n";
    place.write("../.config/aye/mine/own.yaml", skill);
    place.write("aye.toml", &tool("theirs"));
    let ran = place.aye(&["run", "own"]).ok();
    assert!(ran.stdout.contains("mine") && !ran.stdout.contains("theirs"), "{}", ran.all());
    assert!(ran.stderr.contains("is not trusted; left out: `tools.notify`"), "{}", ran.all());
    place.aye(&["trust", "--yes"]).ok();
    let ran = place.aye(&["run", "own"]).ok();
    assert!(ran.stdout.contains("theirs"), "{}", ran.all());
}

#[test]
fn an_untrusted_project_makes_limits_stricter_only() {
    let place = Place::new();
    place.write(
        CONFIG,
        "[run]\nstep_timeout = '1m'\ngrace = '5s'\nmax_processes = 4\nmax_step_timeout = '1h'\nmax_result = '1MiB'\n[journal]\nkeep = '9d'\n",
    );
    let config = place.work().join(CONFIG);
    let load = |text: &str, trusted: bool| {
        place.write("aye.toml", text);
        Settings::load(&place.work(), Some(&config), |_| trusted).expect("valid settings")
    };
    let own = load("", false);
    let keys = [
        ("run", "step_timeout", "'59s'", "'61s'"),
        ("run", "step_timeout", "'59s'", "'0s'"),
        ("run", "grace", "'4s'", "'6s'"),
        ("run", "grace", "'0s'", "'1h'"),
        ("run", "max_processes", "3", "5"),
        ("run", "max_step_timeout", "'59m'", "'2h'"),
        ("run", "max_step_timeout", "'1s'", "'0s'"),
        ("run", "max_result", "'64KiB'", "'2MiB'"),
        ("journal", "keep", "'10d'", "'8d'"),
        ("journal", "keep", "'0s'", "'1ms'"),
        ("journal", "durability", "'power'", "'process'"),
        ("ask", "prompters", "['terminal']", "['terminal', 'notification']"),
        ("ask", "prompters", "[]", "['terminal', 'desktop']"),
    ];
    for (table, key, stricter, looser) in keys {
        let stricter = format!("[{table}]\n{key} = {stricter}\n");
        assert_eq!(load(&stricter, false), load(&stricter, true), "{stricter}");
        let looser = format!("[{table}]\n{key} = {looser}\n");
        let trusted = load(&looser, true);
        assert!(trusted.left_out.is_empty() && trusted != own, "{looser}");
        let left_out = load(&looser, false);
        assert_eq!(left_out.left_out, [key], "{looser}");
        assert_eq!(Settings { left_out: Vec::new(), ..left_out }, own, "{looser}");
    }
    // And so in a run.
    place.write(CONFIG, "[run]\nstep_timeout = '50ms'\n");
    place.write("aye.toml", "[run]\nstep_timeout = '0s'\n");
    place.write("s.yaml", "name: s\nsteps: [{ name: a, command: sleep, args: ['600'] }]\n");
    let ran = place.aye(&["run", "s.yaml"]);
    assert_eq!(ran.code, 124, "{}", ran.all());
    assert!(ran.stderr.contains("is not trusted; left out: `step_timeout`"), "{}", ran.all());
}
