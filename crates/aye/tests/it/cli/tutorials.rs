//! The tutorials and how-to guides: their skills are run as the pages say, and what the pages
//! show is what the program prints. `AYE_UPDATE=1` writes the output anew.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::harness::{AYE, Place, Ran};
use crate::prompt::pty::type_to_confirm;

/// The run of a page, whichever it is.
const RUN: &str = "k3f9x2m8qa";

fn path(page: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page)
}

/// Output as a page shows it: whatever differs from run to run is made the same.
fn shown(ran: &Ran) -> String {
    let all = ran.all();
    let text = all.strip_prefix("--- stdout\n").unwrap_or_default();
    let text = text.rsplit_once("--- exit ").map_or("", |(text, _)| text);
    let text = text.replace("by USER on HOST", "by ann on laptop").replace("by USER", "by ann");
    // A limit is the same each time.
    let text = text.replace("at most DURATION", "at most 2m");
    let text = text.replace("DURATION left", "9m 59s left");
    let text = text.replace("DURATION", "20ms").replace("TIME", "2026-11-17 09:00:00 UTC");
    let text = text.replace("N MB, ", "").replace("RUN", RUN);
    // A run inside another.
    let inside = regex_lite::Regex::new(r"\b[0-9a-z]{10}(_\d+_\d+)\b").unwrap();
    let text = inside.replace_all(&text, format!("{RUN}$1"));
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Does what a line of a session says, in the place of the tutorial.
fn does(place: &Place, line: &str) -> Ran {
    let run = line.contains(RUN).then(|| place.last());
    let line = line.replace(RUN, run.as_deref().unwrap_or_default());
    let own = Path::new(AYE).parent().unwrap();
    let mut command = Command::new("sh");
    // What it says and what it prints come in one order.
    command.arg("-c").arg(format!("{{ {line}\n}} 2>&1")).current_dir(place.work());
    command.env_clear().env("PATH", format!("{}:/usr/bin:/bin", own.display()));
    command.env("HOME", place.path()).env("AYE_HOME", place.home()).env("LANG", "C.UTF-8");
    Ran::of(command.stdin(std::process::Stdio::null()).output().unwrap(), place)
}

/// A session as it goes: its commands, each with what it really prints.
fn session(place: &Place, block: &str) -> String {
    let mut text = String::new();
    let mut lines = block.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(command) = line.strip_prefix("$ ") else { continue };
        text.push_str(&format!("$ {command}\n"));
        let mut typed = Vec::new();
        while let Some(next) = lines.next_if(|next| next.starts_with("> ")) {
            text.push_str(&format!("{next}\n"));
            typed.push(&next[2..]);
        }
        // Someone types at a prompt; how that looks is on another page.
        match typed.split_last() {
            Some((last, before)) => {
                let question = command.strip_prefix("aye answer ").unwrap();
                let question = question.replace(RUN, &place.last());
                let keys = before.first().map(|keys| format!("{keys}\r"));
                type_to_confirm(place, &question, keys.as_deref(), last, false);
            }
            None => text.push_str(&shown(&does(place, command))),
        }
    }
    text
}

/// Follows a page from its top to its end.
fn follow(page: &str) {
    let place = Place::new();
    let written = std::fs::read_to_string(path(page)).unwrap();
    let mut real = String::new();
    let mut lines = written.lines();
    while let Some(line) = lines.next() {
        real.push_str(&format!("{line}\n"));
        let Some(info) = line.strip_prefix("```") else { continue };
        let block: String = lines
            .by_ref()
            .take_while(|line| *line != "```")
            .map(|line| format!("{line}\n"))
            .collect();
        match info.split_once(' ') {
            Some((language, file)) => {
                let path = place.write(file, &block);
                if language == "sh" {
                    let mode = std::fs::Permissions::from_mode(0o755);
                    std::fs::set_permissions(path, mode).unwrap();
                }
                real.push_str(&block);
            }
            None if info == "console" => real.push_str(&session(&place, &block)),
            // Shown, and not run.
            None => real.push_str(&block),
        }
        real.push_str("```\n");
    }
    if std::env::var("AYE_UPDATE").is_ok_and(|update| update == "1") {
        std::fs::write(path(page), &real).unwrap();
        return;
    }
    similar_asserts(page, &written, &real);
}

/// Compares line by line: a long page is hard to read as one value.
#[track_caller]
fn similar_asserts(page: &str, written: &str, real: &str) {
    for (number, (written, real)) in written.lines().zip(real.lines()).enumerate() {
        assert_eq!(written, real, "{page}:{}; `AYE_UPDATE=1` writes it anew", number + 1);
    }
    assert_eq!(written.lines().count(), real.lines().count(), "{page}");
}

#[test]
fn a_migration_that_asks_fails_and_recovers() {
    follow("tutorials/migration.md");
}

#[test]
fn a_rolling_restart_with_a_host_that_fails() {
    follow("tutorials/rolling-restart.md");
}

#[test]
fn a_state_machine_with_a_loop() {
    follow("tutorials/canary.md");
}

#[test]
fn a_first_skill() {
    follow("tutorials/first-skill.md");
}

#[test]
fn a_first_question() {
    follow("tutorials/first-question.md");
}

#[test]
fn a_question_in_front_of_a_makefile() {
    follow("how-to/makefile.md");
}

#[test]
fn a_secret_from_the_environment() {
    follow("how-to/secrets.md");
}

#[test]
fn keys_of_other_tools_are_named() {
    follow("how-to/moving.md");
}

#[test]
fn a_program_that_may_not_run() {
    follow("how-to/policies.md");
}

#[test]
fn every_exit_code() {
    follow("reference/exit-codes.md");
}

#[test]
fn a_decision_that_two_people_make() {
    follow("how-to/two-approvers.md");
}

#[test]
fn three_assistants_are_connected() {
    follow("how-to/assistants.md");
}
