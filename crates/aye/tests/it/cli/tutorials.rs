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
    let text = text.replace("asked DURATION ago", "asked just now");
    let text = text.replace("DURATION", "20ms").replace("TIME", "2026-11-17 09:00:00 UTC");
    let text = text.replace("N MB, ", "").replace("AGO", "just now").replace("RUN", RUN);
    let machine = regex_lite::Regex::new(r"(?m)(covers: machine): .*$").unwrap();
    let text = machine.replace_all(&text, "$1: laptop");
    let text = text.replace("PLACE/work", "/srv/app");
    // A run inside another.
    let inside = regex_lite::Regex::new(r"\b[0-9a-z]{10}(_\d+_\d+)\b").unwrap();
    let text = inside.replace_all(&text, format!("{RUN}$1"));
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// What someone does before a command of a page; returns what is really run.
type Before<'a> = dyn FnMut(&Place, &str) -> String + 'a;

/// What the person who follows a page has around them and does beside its commands.
#[derive(Default)]
pub(super) struct Around<'a> {
    /// Variables of every command.
    pub(super) env: Vec<(String, String)>,
    /// Done before each command.
    pub(super) before: Option<&'a mut Before<'a>>,
    /// What is the same on every machine in the output of a command.
    pub(super) tidy: Option<&'a dyn Fn(&str) -> String>,
}

/// Does what a line of a session says, in the place of the tutorial.
fn does(place: &Place, line: &str, around: &mut Around<'_>) -> Ran {
    let line = match &mut around.before {
        Some(before) => before(place, line),
        None => line.to_owned(),
    };
    let run = line.contains(RUN).then(|| place.last());
    let line = line.replace(RUN, run.as_deref().unwrap_or_default());
    let own = Path::new(AYE).parent().unwrap();
    let mut command = Command::new("sh");
    // What it says and what it prints come in one order.
    command.arg("-c").arg(format!("{{ {line}\n}} 2>&1")).current_dir(place.work());
    command.env_clear().env("PATH", format!("{}:/usr/bin:/bin", own.display()));
    command.env("HOME", place.path()).env("AYE_HOME", place.home()).env("LANG", "C.UTF-8");
    command.envs(around.env.iter().map(|(name, value)| (name, value)));
    Ran::of(command.stdin(std::process::Stdio::null()).output().unwrap(), place)
}

/// A session as it goes: its commands, each with what it really prints.
fn session(place: &Place, block: &str, around: &mut Around<'_>) -> String {
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
            None => {
                let real = shown(&does(place, command, around));
                text.push_str(&around.tidy.map_or_else(|| real.clone(), |tidy| tidy(&real)));
            }
        }
    }
    text
}

/// Follows a page from its top to its end.
fn follow(page: &str) {
    follow_with(page, &Place::new(), &mut Around::default());
}

/// Writes a file of a page, in the working directory or, with `~`, in the home directory.
fn write_file(place: &Place, language: &str, file: &str, text: &str) {
    let (path, mode) = match file.strip_prefix("~/") {
        Some(below) => (place.write(&format!("../{below}"), text), 0o600),
        None => (place.write(file, text), if language == "sh" { 0o755 } else { 0o644 }),
    };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// The blocks of a page: what stands after the fence, and the text.
fn fenced(text: &str) -> Vec<(&str, String)> {
    let mut lines = text.lines();
    let mut blocks = Vec::new();
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            let block = lines.by_ref().take_while(|line| *line != "```");
            blocks.push((info, block.map(|line| format!("{line}\n")).collect()));
        }
    }
    blocks
}

/// Writes the files of a page that is followed before this one.
pub(super) fn files_of(page: &str, place: &Place) {
    let text = std::fs::read_to_string(path(page)).unwrap();
    for (info, block) in fenced(&text) {
        if let Some((language, file)) = info.split_once(' ') {
            write_file(place, language, file, &block);
        }
    }
}

/// The same, in a place and with things around it.
pub(super) fn follow_with(page: &str, place: &Place, around: &mut Around<'_>) {
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
                write_file(place, language, file, &block);
                real.push_str(&block);
            }
            None if info == "console" => real.push_str(&session(place, &block, around)),
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
fn three_assistants_are_connected() {
    follow("how-to/assistants.md");
}

#[test]
fn a_failed_step_is_tried_again() {
    follow("how-to/retry.md");
}

#[test]
fn a_remembered_yes_is_taken_back() {
    follow("how-to/remember.md");
}

#[test]
fn one_run_at_a_time_and_a_clean_up() {
    follow("how-to/one-at-a-time.md");
}

#[test]
fn who_approved_what() {
    let place = Place::new();
    files_of("tutorials/first-question.md", &place);
    follow_with("how-to/who-approved.md", &place, &mut Around::default());
}

#[test]
fn an_example_as_its_page_shows_it() {
    let place = crate::examples::project();
    follow_with("../examples/README.md", &place, &mut Around::default());
}
