//! Homes that cannot be used, and settings that make no sense.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;

use super::harness::{Place, Ran};

const SKILL: &str = "name: s\nsteps:\n- {name: a, shell: touch ran}\n";

fn with_home(place: &Place, home: &str, args: &[&str]) -> Ran {
    Ran::of(place.command(args).env("AYE_HOME", home).output().unwrap(), place)
}

fn place() -> Place {
    let place = Place::new();
    place.write("s.yaml", SKILL);
    place
}

#[test]
fn a_file_in_the_place_of_the_home_is_told() {
    let place = place();
    std::fs::write(place.home(), "not a directory").unwrap();
    assert_snapshot!(place.aye(&["run", "s.yaml"]).all(), @r"
    --- stderr
    error: `PLACE/home` is not a directory
    hint: set `AYE_HOME` or `--home` to the directory to keep the journal in
    --- exit 2
    ");
    assert_eq!(place.aye(&["runs"]).code, 2);
    assert!(!place.work().join("ran").exists());
}

#[test]
fn a_home_that_cannot_be_made_or_written_stops_the_run_before_it_acts() {
    let place = place();
    // Nobody can make anything in there, root neither.
    assert_snapshot!(with_home(&place, "/proc/aye", &["run", "s.yaml"]).all(), @r"
    --- stderr
    error: cannot create `/proc/aye`: No such file or directory (os error 2)
    hint: set AYE_HOME to a directory you can write to
    --- exit 4
    ");
    let ran = with_home(&place, "/proc", &["run", "s.yaml"]);
    assert_eq!(ran.code, 4, "{}", ran.all());
    assert!(ran.stderr.contains("hint: "), "{}", ran.all());
    assert!(!place.work().join("ran").exists());
}

/// Sets the modes of a directory and everything in it, from the bottom up.
fn set_modes(path: &Path, directories: u32, files: u32) {
    if path.is_dir() {
        std::fs::set_permissions(path, Permissions::from_mode(0o700)).unwrap();
        for entry in std::fs::read_dir(path).unwrap() {
            set_modes(&entry.unwrap().path(), directories, files);
        }
    }
    let mode = if path.is_dir() { directories } else { files };
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_read_only_home_can_be_read() {
    let place = place();
    place.aye(&["run", "s.yaml"]).ok();
    std::fs::remove_file(place.work().join("ran")).unwrap();
    set_modes(&place.home(), 0o500, 0o400);
    let root = rustix::process::getuid().is_root();
    let aye = |args: &[&str]| {
        let mut command = place.command(args);
        // Root may write everywhere: only others can be kept out.
        if root {
            command.uid(65_534).gid(65_534);
        }
        Ran::of(command.output().unwrap(), &place)
    };
    if root {
        let own = Command::new("chown").args(["-R", "65534:65534"]).arg(place.path()).status();
        assert!(own.unwrap().success());
    }
    let (listed, ran) = (aye(&["runs", "--json"]), aye(&["run", "s.yaml"]));
    set_modes(&place.home(), 0o700, 0o600);
    assert_eq!(listed.ok().json().as_array().unwrap().len(), 1);
    assert_eq!(ran.code, 4, "{}", ran.all());
    assert!(ran.stderr.contains("cannot be written to\nhint: "), "{}", ran.all());
    assert!(!place.work().join("ran").exists());
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let place = place();
    std::fs::create_dir(place.home()).unwrap();
    let path = place.home().join("journal.db");
    let other = place.journal_db();
    other.execute_batch("CREATE TABLE other (x); PRAGMA application_id = 7;").unwrap();
    drop(other);
    let before = std::fs::read(&path).unwrap();
    assert_snapshot!(place.aye(&["run", "s.yaml"]).all(), @r"
    --- stderr
    error: `PLACE/home/journal.db` is a database of another program
    hint: set AYE_HOME to a directory of Aye's own
    --- exit 4
    ");
    assert_eq!(place.aye(&["runs"]).code, 4);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_damaged_database_is_told() {
    let place = place();
    std::fs::create_dir(place.home()).unwrap();
    std::fs::write(place.home().join("journal.db"), "this is not a database, it only has its name")
        .unwrap();
    assert_snapshot!(place.aye(&["run", "s.yaml"]).all(), @r"
    --- stderr
    error: `PLACE/home/journal.db` is damaged: file is not a database
    hint: move `journal.db` and `journal.db-wal` away, then restore a backup or start with an empty journal
    --- exit 4
    ");
    assert!(!place.work().join("ran").exists());
}

#[test]
fn without_any_home_it_says_what_to_set() {
    let place = place();
    let mut command = place.command(&["runs"]);
    command.env_remove("HOME").env_remove("AYE_HOME");
    assert_snapshot!(Ran::of(command.output().unwrap(), &place).all(), @r"
    --- stderr
    error: cannot find a home directory for the journal
    hint: set `AYE_HOME` or give `--home DIR`
    --- exit 2
    ");
}

#[test]
fn the_home_is_where_the_options_and_the_system_say() {
    let place = place();
    place.aye(&["--home", "here", "run", "s.yaml"]).ok();
    assert!(place.work().join("here/journal.db").exists());
    for (name, value, path) in
        [("HOME", "h", "h/.local/state/aye"), ("XDG_STATE_HOME", "x", "x/aye")]
    {
        let mut command = place.command(&["run", "s.yaml"]);
        command.env_remove("AYE_HOME").env(name, place.path().join(value));
        assert!(command.output().unwrap().status.success());
        assert!(place.path().join(path).join("journal.db").exists(), "{path}");
    }
}

#[test]
fn mistakes_in_the_settings_are_placed() {
    let place = place();
    let with = |text: &str| {
        place.write("aye.toml", text);
        place.aye(&["list"]).all()
    };
    assert_snapshot!(with("# mine\nskils = [\"x\"]\n"), @r#"
    --- stderr
    error: unknown key `skils`, expected one of `skills`, `run`, `journal`, `policy`, `tools`, `advisor`, `heal`, `mcp`, `ask`, `notify`
      --> aye.toml:2:1
       |
     2 | skils = ["x"]
       | ^^^^^
    hint: `aye init` in an empty directory makes an `aye.toml` with every key
    --- exit 2
    "#);
    assert_snapshot!(with("[run\n"), @r"
    --- stderr
    error: unclosed table, expected `]`
      --> aye.toml:1:5
       |
     1 | [run
       |     ^
    hint: `aye init` in an empty directory makes an `aye.toml` with every key
    --- exit 2
    ");
    assert_snapshot!(with("[run]\nstep_timeout = \"5\"\n"), @r#"
    --- stderr
    error: `5` has no unit
      --> aye.toml:2:16
       |
     2 | step_timeout = "5"
       |                ^^^ write `DURATION`, `DURATION` or `1h30m`
    hint: `aye init` in an empty directory makes an `aye.toml` with every key
    --- exit 2
    "#);
    assert_snapshot!(with("[journal]\nkeep = 3\n"), @r#"
    --- stderr
    error: invalid type: integer `3`, expected a string
      --> aye.toml:2:8
       |
     2 | keep = 3
       |        ^
       |
    hint: write a time with its unit, in quotes: `"3d"` for days
    hint: `aye init` in an empty directory makes an `aye.toml` with every key
    --- exit 2
    "#);
    assert_snapshot!(with("[journal]\ndurability = \"none\"\n"), @r#"
    --- stderr
    error: unknown variant `none`, expected `power` or `process`
      --> aye.toml:2:14
       |
     2 | durability = "none"
       |              ^^^^^^
    hint: `aye init` in an empty directory makes an `aye.toml` with every key
    --- exit 2
    "#);
}

#[test]
fn settings_are_used() {
    let place = Place::new();
    place.write("aye.toml", "[run]\nstep_timeout = \"100ms\"\n");
    place.write("s.yaml", "name: s\nsteps:\n- {name: a, shell: sleep 100}\n");
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 124);
}
