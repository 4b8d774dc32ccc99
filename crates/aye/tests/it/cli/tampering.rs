//! Attacks on what is recorded: each shows in `aye audit`, alone or against
//! heads that were kept elsewhere.

mod file;
mod removed;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use insta::assert_snapshot;
use lz4_flex::frame::FrameEncoder;
use rusqlite::Connection;
use rustix::process::{Pid, Signal, kill_process};

use super::harness::{AYE, Place, Ran, until};

const SKILL: &str = "name: s
steps:
- {name: short, shell: echo a; echo b >&2}
- {name: long, shell: seq 1 5000}
";

const ASKS: &str = "name: asks
steps:
- {name: first, shell: echo a}
- {name: go, confirm: Really?}
- {name: second, shell: echo b}
";

pub(super) fn filled() -> Place {
    let place = Place::new();
    place.write("s.yaml", SKILL);
    place.write("asks.yaml", ASKS);
    place.aye(&["run", "s.yaml"]).ok();
    place
}

pub(super) fn journal(place: &Place) -> Connection {
    Connection::open(place.home().join("journal.db")).unwrap()
}

/// Changes the journal behind Aye's back.
pub(super) fn attack(place: &Place, sql: &str) {
    journal(place).execute_batch(sql).unwrap();
}

/// The file of a log of the newest run.
fn log(place: &Place, name: &str) -> PathBuf {
    place.home().join("logs").join(place.last()).join(name)
}

pub(super) fn found(place: &Place, args: &[&str]) -> Vec<String> {
    let ran = place.aye(&[&["audit", "--json"], args].concat());
    let json = ran.json();
    let findings = json["findings"].as_array().unwrap();
    assert_eq!(ran.code, i32::from(!findings.is_empty()), "{}", ran.all());
    findings.iter().map(|finding| finding.as_str().unwrap().to_owned()).collect()
}

/// Forgets every finished run.
pub(super) fn prune(place: &Place) -> Ran {
    let mut command = place.command(&["runs", "prune"]);
    let pruned = Ran::of(command.env("AYE_TEST_DAYS", "60").output().unwrap(), place).ok();
    assert!(pruned.stdout.starts_with("forgot "), "{}", pruned.all());
    pruned
}

/// A run whose logs are compressed.
fn compressed() -> Place {
    let place = filled();
    place.aye(&["runs", "prune"]).ok();
    place
}

fn lz4(text: &str) -> Vec<u8> {
    let mut encoder = FrameEncoder::new(Vec::new());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_log_that_was_changed_shortened_or_deleted_is_named() {
    let place = filled();
    let run = place.last();
    let file = log(&place, "0001-short.out");
    let of = format!("the log of step `short` (start 1) of run `{run}`");
    for (text, named) in [
        (Some("x\n"), format!("{of} was changed: standard output")),
        (Some("a\nmore\n"), format!("{of} was changed: standard output")),
        (Some("a"), format!("{of} was shortened: standard output has 1 of 2 bytes")),
        (None, format!("{of} is missing: standard output")),
    ] {
        match text {
            Some(text) => std::fs::write(&file, text).unwrap(),
            None => std::fs::remove_file(&file).unwrap(),
        }
        assert_eq!(found(&place, &[]), [named.as_str()]);
        assert_eq!(found(&place, &["last"]), [named.as_str()]);
    }
    std::fs::write(&file, "a\n").unwrap();
    assert_eq!(found(&place, &[]), Vec::<String>::new());
    // How the two streams were interleaved is a part of it, and so is silence.
    std::fs::write(log(&place, "0001-short.order"), "o 1\n").unwrap();
    assert_eq!(found(&place, &[]), [format!("{of} was changed: the order of its streams")]);
    std::fs::write(log(&place, "0001-short.order"), "o 2\n").unwrap();
    std::fs::write(log(&place, "0002-long.err"), "it said this, too\n").unwrap();
    let added = "was changed: standard error was added";
    let of = format!("the log of step `long` (start 2) of run `{run}`");
    assert_eq!(found(&place, &[]), [format!("{of} {added}")]);
}

#[test]
fn a_compressed_log_that_was_replaced_is_named() {
    let place = compressed();
    let file = log(&place, "0002-long.out.lz4");
    let whole = std::fs::read(&file).unwrap();
    let text: String = (1..=5000).map(|n| format!("{n}\n")).collect();
    let of = format!("the log of step `long` (start 2) of run `{}`", place.last());
    let named = |rest: &str| vec![format!("{of} {rest}")];
    // Compressed in another way, the bytes are the same.
    std::fs::write(&file, lz4(&text)).unwrap();
    assert_eq!(found(&place, &[]), Vec::<String>::new());
    std::fs::write(&file, lz4(&text.replace("4711", "0815"))).unwrap();
    assert_eq!(found(&place, &[]), named("was changed: standard output"));
    std::fs::write(&file, lz4(&text[..100])).unwrap();
    let bytes = text.len();
    let shortened = format!("was shortened: standard output has 100 of {bytes} bytes");
    assert_eq!(found(&place, &[]), named(&shortened));
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    std::fs::write(&file, flipped).unwrap();
    let changed = found(&place, &[]);
    assert!(changed.len() == 1 && changed[0].starts_with(&of), "{changed:?}");
    std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let changed = found(&place, &[]);
    assert!(changed.len() == 1 && changed[0].starts_with(&of), "{changed:?}");
    std::fs::remove_file(&file).unwrap();
    assert_eq!(found(&place, &[]), named("is missing: standard output"));
}

/// What an audit finds that may wait for something that never comes.
fn found_in_time(place: &Place) -> Vec<String> {
    let mut command = Command::new("timeout");
    command.args(["20", AYE, "audit", "--json"]).env("AYE_HOME", place.home());
    let ran = Ran::of(command.current_dir(place.work()).output().unwrap(), place);
    assert_eq!(ran.code, 1, "{}", ran.all());
    serde_json::from_value(ran.json()["findings"].take()).unwrap()
}

#[test]
fn what_is_not_a_plain_file_is_named_and_not_read() {
    let place = compressed();
    let of = format!("of run `{}` was changed: standard output", place.last());
    for (name, step) in
        [("0001-short.out", "`short` (start 1)"), ("0002-long.out.lz4", "`long` (start 2)")]
    {
        let file = log(&place, name);
        let kept = file.with_extension("kept");
        std::fs::rename(&file, &kept).unwrap();
        let target = kept.to_str().unwrap();
        for put in [&["mkfifo"][..], &["ln", "-s", "/dev/zero"], &["ln", "-s", target], &["mkdir"]]
        {
            let made = Command::new(put[0]).args(&put[1..]).arg(&file).status().unwrap();
            assert!(made.success(), "{put:?}");
            let named = format!("the log of step {step} {of}: it is not a plain file");
            assert_eq!(found_in_time(&place), [named], "{put:?}");
            match put[0] {
                "mkdir" => std::fs::remove_dir(&file).unwrap(),
                _ => std::fs::remove_file(&file).unwrap(),
            }
        }
        std::fs::rename(&kept, &file).unwrap();
        assert_eq!(found(&place, &[]), Vec::<String>::new());
    }
}

#[test]
fn a_log_that_grows_when_it_is_decompressed_is_not_read_to_its_end() {
    let place = compressed();
    // Its end is cut off: whoever reads up to it says so.
    let bomb = lz4(&"0".repeat(5_000_000));
    std::fs::write(log(&place, "0002-long.out.lz4"), &bomb[..bomb.len() - 8]).unwrap();
    let of = format!("the log of step `long` (start 2) of run `{}`", place.last());
    assert_eq!(found(&place, &[]), [format!("{of} was changed: standard output")]);
}

#[test]
fn the_log_of_a_step_that_was_cut_off_is_not_sealed() {
    let place = Place::new();
    place.write("s.yaml", "name: s\nsteps:\n- {name: a, shell: echo a; touch began; sleep 60}\n");
    let driver = place.start_until(&["run", "s.yaml"], "began");
    let lock = place.home().join("locks").join(format!("{}.lock", place.last()));
    let holder: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(lock).unwrap()).unwrap();
    let engine = i32::try_from(holder["pid"].as_i64().unwrap()).unwrap();
    kill_process(Pid::from_raw(engine).unwrap(), Signal::KILL).unwrap();
    place.finish(driver);
    place.aye(&["resume", "last", "--no-input"]);
    let audited = place.aye(&["audit"]);
    assert!(
        audited.stdout.contains("(1 more not sealed): nothing was changed"),
        "{}",
        audited.all()
    );
    std::fs::write(log(&place, "0001-a.out"), "whatever\n").unwrap();
    assert_eq!(found(&place, &[]), Vec::<String>::new());
}

#[test]
fn logs_of_blocks_loops_and_detached_runs_are_sealed() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\nsteps:\n- name: each\n  foreach: [1, 2]\n  steps:\n  - {name: in, shell: echo in}\n\
         - {name: block, compute: \"print('said')\"}\n",
    );
    place.aye(&["run", "s.yaml", "--detach"]).ok();
    until("it is over", || place.status() == "completed");
    assert_eq!(found(&place, &[]), Vec::<String>::new());
    assert_eq!(place.aye(&["audit", "--json"]).json()["logs"], 3);
    let run = place.last();
    assert_eq!(place.aye(&["audit", &run, "--json"]).json()["logs"], 3);
    let logs = place.home().join("logs");
    std::fs::write(logs.join(format!("{run}_1_1/0001-in.out")), "no\n").unwrap();
    std::fs::write(logs.join(&run).join("0002-block.out"), "Said\n").unwrap();
    let both = [
        format!("the log of step `in` (start 1) of run `{run}_1_1` was changed: standard output"),
        format!("the log of step `block` (start 2) of run `{run}` was changed: standard output"),
    ];
    assert_eq!(found(&place, &[]), both);
    assert_eq!(found(&place, &[&run]), both);
}

#[test]
fn a_pruned_run_leaves_an_entry_and_is_not_missed() {
    let place = filled();
    place.write("heads", &place.aye(&["audit", "--head"]).ok().stdout);
    prune(&place);
    assert_eq!(found(&place, &["--against", "heads"]), Vec::<String>::new());
    assert_snapshot!(place.aye(&["audit", "--head"]).all(), @r"
    --- stdout
    pruned 1 DIGEST
    --- exit 0
    ");
}

#[test]
fn heads_are_printed_for_people_and_for_programs() {
    let place = filled();
    assert_snapshot!(place.aye(&["audit", "--head"]).all(), @r"
    --- stdout
    run RUN 6 DIGEST
    pruned 0 DIGEST
    --- exit 0
    ");
    assert_snapshot!(place.aye(&["audit", "--head", "--json"]).all(), @r#"
    --- stdout
    {
      "runs": [
        {
          "run": "RUN",
          "events": 6,
          "head": "DIGEST"
        }
      ],
      "pruned": {
        "entries": 0,
        "head": "DIGEST"
      }
    }
    --- exit 0
    "#);
    let heads = place.aye(&["audit", "--head"]).ok().stdout;
    place.aye(&["run", "s.yaml"]).ok();
    place.aye_with_input(&["audit", "--against", "-"], &heads).ok();
    place.write("heads.json", &place.aye(&["audit", "--head", "--json"]).ok().stdout);
    place.aye(&["audit", "--against", "heads.json"]).ok();
    place.write("other", "not heads\n");
    assert_snapshot!(place.aye(&["audit", "--against", "other"]).all(), @r"
    --- stderr
    error: `other` does not hold heads: line 1 is not a head: `not heads`
    hint: keep what `aye audit --head` prints, and name that file
    --- exit 2
    ");
    place.write("cut", "");
    assert_snapshot!(place.aye(&["audit", "--against", "cut"]).all(), @r"
    --- stderr
    error: `cut` does not hold heads: the line `pruned` is missing
    hint: keep what `aye audit --head` prints, and name that file
    --- exit 2
    ");
    assert_snapshot!(place.aye(&["audit", "--against", "nowhere"]).all(), @r"
    --- stderr
    error: cannot read `nowhere`: No such file or directory (os error 2)
    hint: check the path
    --- exit 3
    ");
}

#[test]
fn heads_that_cannot_be_are_refused_and_long_lines_are_cut() {
    let place = filled();
    let heads = place.aye(&["audit", "--head"]).ok().stdout;
    let many = format!(" {} ", u64::MAX);
    place.write("huge", &heads.replacen(" 6 ", &many, 1));
    assert_snapshot!(place.aye(&["audit", "--against", "huge"]).all(), @r"
    --- stderr
    error: `huge` does not hold heads: no journal has 18446744073709551615 events or entries
    hint: keep what `aye audit --head` prints, and name that file
    --- exit 2
    ");
    let json = place.aye(&["audit", "--head", "--json"]).ok().stdout;
    place.write("huge", &json.replacen("\"entries\": 0", &format!("\"entries\":{many}"), 1));
    let refused = place.aye(&["audit", "--against", "huge"]);
    assert_eq!(refused.code, 2, "{}", refused.all());
    assert!(refused.stderr.contains("no journal has 18446744073709551615 "), "{}", refused.all());
    let long = "\u{200b}x".repeat(1_000_000);
    for text in [format!("run {long}\n{heads}"), format!("{{\"{long}")] {
        place.write("long", &text);
        let refused = place.aye(&["audit", "--against", "long"]);
        assert_eq!(refused.code, 2, "{} bytes", refused.stderr.len());
        assert!(refused.stderr.len() < 2_000, "{} bytes", refused.stderr.len());
    }
    place.write(
        "long",
        &json.replacen("\"runs\": [", &format!("\"runs\": [{{\"run\": \"{long}\"}},"), 1),
    );
    let refused = place.aye(&["audit", "--against", "long"]);
    assert!(refused.code == 2 && refused.stderr.len() < 2_000, "{} bytes", refused.stderr.len());
}

const REMOVE: &str = "
    DELETE FROM events WHERE run = 'RUN'; DELETE FROM runs WHERE id = 'RUN';
    DELETE FROM questions WHERE run = 'RUN'; DELETE FROM requests WHERE run = 'RUN';";

#[test]
fn a_run_that_was_removed_is_missed() {
    let place = filled();
    let first = place.last();
    place.aye(&["run", "s.yaml"]).ok();
    let second = place.last();
    place.write("heads", &place.aye(&["audit", "--head"]).ok().stdout);
    attack(&place, &REMOVE.replace("RUN", &first));
    assert_eq!(
        found(&place, &[]),
        ["6 events are missing, and no entry says that their runs were pruned"]
    );
    // The newest takes its numbers with it: only heads that were kept tell.
    attack(&place, &REMOVE.replace("RUN", &second));
    attack(&place, "UPDATE floor SET unlisted = 0");
    assert_eq!(found(&place, &[]), Vec::<String>::new());
    assert_eq!(
        found(&place, &["--against", "heads"]),
        [first, second]
            .map(|run| format!("run `{run}` is gone, and no entry says that it was pruned"))
    );
    // With the whole file it is the same.
    for file in ["journal.db", "journal.db-wal", "journal.db-shm"] {
        std::fs::remove_file(place.home().join(file)).unwrap();
    }
    assert_eq!(found(&place, &["--against", "heads"]).len(), 2);
}

#[test]
fn an_older_copy_of_the_journal_shows_against_heads() {
    let place = filled();
    place.aye(&["run", "asks.yaml", "--no-input"]);
    let asks = place.last();
    journal(&place).execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let copy = std::fs::read(place.home().join("journal.db")).unwrap();
    place.aye(&["answer", &format!("{asks}-1"), "yes", "--resume"]).ok();
    place.aye(&["run", "s.yaml"]).ok();
    let last = place.last();
    place.write("heads", &place.aye(&["audit", "--head"]).ok().stdout);
    assert_eq!(found(&place, &["--against", "heads"]), Vec::<String>::new());
    for file in ["journal.db-wal", "journal.db-shm"] {
        std::fs::remove_file(place.home().join(file)).unwrap();
    }
    std::fs::write(place.home().join("journal.db"), copy).unwrap();
    // The file alone is as it was written.
    assert_eq!(found(&place, &[]), Vec::<String>::new());
    let shown = found(&place, &["--against", "heads"]);
    assert_eq!(shown.len(), 2, "{shown:?}");
    assert!(shown[0].starts_with(&format!("run `{asks}` has ")), "{shown:?}");
    assert_eq!(shown[1], format!("run `{last}` is gone, and no entry says that it was pruned"));
    // Another past than the one that was recorded shows too.
    place.aye(&["cancel", &asks]).ok();
    place.aye(&["runs"]).ok();
    let events = "SELECT count(*) FROM events WHERE run = ?1";
    let count: u64 = journal(&place).query_row(events, [&asks], |row| row.get(0)).unwrap();
    let heads = place.read("heads");
    let line = heads.lines().find(|line| line.starts_with(&format!("run {asks} "))).unwrap();
    let words: Vec<&str> = line.split(' ').collect();
    place.write("heads", &heads.replace(line, &format!("run {asks} {count} {}", words[3])));
    let shown = found(&place, &["--against", "heads"]);
    let replaced = format!("run `{asks}` is not what it was: event {count} has another hash");
    assert_eq!(shown[0], replaced);
}

#[test]
fn entries_of_pruned_runs_cannot_be_edited_or_deleted_unseen() {
    for (attacked, named) in [
        (
            "UPDATE pruned SET who = 'eve' WHERE n = 1",
            "entry 1 of the pruned runs (run `RUN`) was changed",
        ),
        (
            "UPDATE pruned SET run = 'another123' WHERE n = 2",
            "entry 2 of the pruned runs (run `another123`) was changed",
        ),
        (
            "UPDATE pruned SET hash = zeroblob(32) WHERE n = 2",
            "entry 2 of the pruned runs (run `RUN`) was changed",
        ),
        ("DELETE FROM pruned WHERE n = 1", "entries 1 to 1 of the pruned runs are missing"),
        ("DELETE FROM pruned WHERE n = 2", "entries 2 to 2 of the pruned runs are missing"),
    ] {
        let place = filled();
        place.aye(&["run", "s.yaml"]).ok();
        prune(&place);
        place.write("heads", &place.aye(&["audit", "--head"]).ok().stdout);
        assert_eq!(found(&place, &[]), Vec::<String>::new());
        let runs = "SELECT run FROM pruned ORDER BY n";
        let runs: Vec<String> = journal(&place)
            .prepare(runs)
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        attack(&place, attacked);
        let place_of = if named.starts_with("entry 1") { 0 } else { 1 };
        let shown = found(&place, &[]);
        assert_eq!(shown[0], named.replace("RUN", &runs[place_of]), "{attacked}");
        // Anyone who hides the end of the chain too is found by its head.
        if attacked.starts_with("DELETE FROM pruned WHERE n = 2") {
            attack(
                &place,
                "UPDATE floor SET entries = 1, unlisted = 6, head = (SELECT hash FROM pruned)",
            );
            let shown = found(&place, &["--against", "heads"]);
            assert!(shown.contains(&named.to_owned()), "{shown:?}");
        }
    }
}

#[test]
fn triggers_and_tables_of_others_do_not_act_and_are_named() {
    let place = filled();
    attack(
        &place,
        "CREATE TRIGGER quiet BEFORE INSERT ON events WHEN NEW.type = 'step_failed'
             BEGIN SELECT RAISE(IGNORE); END;
         CREATE TRIGGER clean AFTER UPDATE ON runs BEGIN DELETE FROM events WHERE run = NEW.id; END;
         CREATE TABLE notes (text TEXT);
         CREATE VIEW empty AS SELECT 1;
         DROP INDEX runs_skill;",
    );
    place.write("fails.yaml", "name: fails\nsteps:\n- {name: a, shell: exit 3}\n");
    let failed = place.aye(&["run", "fails.yaml"]);
    assert_eq!(failed.code, 1, "{}", failed.all());
    let kinds = "SELECT group_concat(type, ' ') FROM events WHERE run = ?1";
    let kinds: String = journal(&place).query_row(kinds, [place.last()], |row| row.get(0)).unwrap();
    assert_eq!(kinds, "skill_started step_started step_failed skill_failed memory_learned");
    assert_eq!(
        found(&place, &[]),
        [
            "table `notes` in the file is not Aye's",
            "trigger `clean` in the file is not Aye's",
            "trigger `quiet` in the file is not Aye's",
            "view `empty` in the file is not Aye's",
            "index `runs_skill` in the file is missing",
        ]
    );
}

#[test]
fn a_run_whose_events_were_changed_is_not_resumed() {
    let place = filled();
    place.aye(&["run", "asks.yaml", "--no-input"]);
    let run = place.last();
    let question = format!("{run}-1");
    let answer = ["answer", &question, "yes"];
    for (attacked, undone) in [
        (
            "UPDATE events SET body = replace(body, 'echo a', 'echo z') WHERE seq = 2 AND run = 'RUN'",
            "UPDATE events SET body = replace(body, 'echo z', 'echo a') WHERE seq = 2 AND run = 'RUN'",
        ),
        (
            "UPDATE runs SET last_seq = last_seq + 1 WHERE id = 'RUN'",
            "UPDATE runs SET last_seq = last_seq - 1 WHERE id = 'RUN'",
        ),
    ] {
        attack(&place, &attacked.replace("RUN", &run));
        for args in [&["resume", &run, "--no-input"][..], &answer, &["cancel", &run]] {
            let refused = place.aye(args);
            assert_eq!(refused.code, 4, "{args:?}: {}", refused.all());
            let why = format!("the journal of run `{run}` is not what was written: ");
            assert!(refused.stderr.contains(&why), "{}", refused.all());
        }
        attack(&place, &undone.replace("RUN", &run));
    }
    attack(&place, "UPDATE events SET at = at + 1 WHERE type = 'skill_paused'");
    assert_snapshot!(place.aye(&["resume", &run, "--no-input"]).all(), @r"
    --- stderr
    error: the journal of run `RUN` is not what was written: event 6 (`skill_paused`) of run `RUN` was changed
    hint: see `aye audit`; put a backup of the journal in its place, or start the skill again
    --- exit 4
    ");
    attack(&place, "UPDATE events SET at = at - 1 WHERE type = 'skill_paused'");
    place.aye(&["answer", &question, "yes", "--resume"]).ok();
}
