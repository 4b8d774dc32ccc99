//! Names that a shell would obey, completed in real shells: the word that comes
//! out is the name, one word, and nothing is executed.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::needs;

use super::harness::{AYE, Place, until};

/// The ends of names of skills, each behind letters of its own.
const HOSTILE: [&str; 16] = [
    "$(touch pwned)",
    "`touch pwned`",
    ";touch pwned",
    "&touch pwned&",
    "|touch pwned",
    ">pwned",
    "two words",
    "it's",
    "say \"x\"",
    "$HOME",
    "*",
    "!!",
    "a\\b",
    "#x",
    "{a,b}",
    "(x)",
];

fn place() -> Place {
    let place = Place::new();
    for (at, name) in HOSTILE.iter().enumerate() {
        // One that cannot be read is called like its file.
        place.write(&format!("skills/{}{name}.yaml", letters(at)), "name: [");
    }
    place
}

fn letters(at: usize) -> String {
    format!("{}x", char::from(b'a' + u8::try_from(at).unwrap()))
}

/// A shell in a terminal of its own, with `aye` that notes what it is called with.
struct Shell<'a> {
    place: &'a Place,
}

impl<'a> Shell<'a> {
    fn start(place: &'a Place, name: &str) -> Self {
        needs::program("tmux");
        needs::program(name);
        let script = place.aye(&["completions", name]).ok().stdout;
        place.write("rc/script", &script);
        let notes = "for word; do printf '<%s>' \"$word\"; done > note; mv note called";
        let wrapper = format!("#!/bin/sh\n[ \"$1\" = candidates ] && exec {AYE} \"$@\"\n{notes}\n");
        let program = place.write("rc/bin/aye", &wrapper);
        std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let rc = place.work().join("rc");
        let at = rc.display();
        place.write("rc/bashrc", &format!("PS1='READY> '\nsource {at}/script\n"));
        place.write(
            "rc/.zshrc",
            &format!("PS1='READY> '\nautoload -Uz compinit\ncompinit -u -d {at}/dump\nsource {at}/script\n"),
        );
        place.write(
            "rc/fish/config.fish",
            &format!("function fish_prompt; echo -n 'READY> '; end\nsource {at}/script\n"),
        );
        let start = match name {
            "bash" => format!("bash --noprofile --rcfile {at}/bashrc -i"),
            "zsh" => format!("ZDOTDIR={at} zsh -d -i"),
            _ => "fish -i".to_owned(),
        };
        let shell = Self { place };
        let path = format!("PATH={at}/bin:/usr/local/bin:/usr/bin:/bin");
        let config = format!("XDG_CONFIG_HOME={at}");
        let start = format!("exec env HISTFILE=/dev/null {path} {config} {start}");
        shell.tmux(&["new-session", "-d", "-x", "200", "-y", "50", &start]);
        until("a prompt", || shell.screen().contains("READY>"));
        shell
    }

    fn tmux(&self, args: &[&str]) -> String {
        let own = self.place.command(&[]);
        let mut tmux = Command::new("tmux");
        tmux.current_dir(self.place.work()).env_clear();
        tmux.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
        tmux.args(["-f", "/dev/null", "-S"]).arg(self.place.path().join("tmux")).args(args);
        String::from_utf8_lossy(&tmux.output().unwrap().stdout).into_owned()
    }

    fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// What `aye` is called with after Tab and Enter behind this.
    fn completed(&self, line: &str) -> String {
        let called = self.place.work().join("called");
        let _ = std::fs::remove_file(&called);
        self.tmux(&["send-keys", "-l", line]);
        self.tmux(&["send-keys", "Tab", "Enter"]);
        until(&format!("a call after `{line}`: {}", self.screen()), || called.exists());
        std::fs::read_to_string(called).unwrap()
    }
}

impl Drop for Shell<'_> {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[track_caller]
fn names_are_words(shell: &str) {
    let place = place();
    let shell = Shell::start(&place, shell);
    for (at, name) in HOSTILE.iter().enumerate() {
        let begun = letters(at);
        let called = shell.completed(&format!("aye run {begun}"));
        assert_eq!(called, format!("<run><{begun}{name}>"), "{}", shell.screen());
        assert!(!place.work().join("pwned").exists(), "{name} was executed");
    }
}

#[test]
fn names_are_words_in_bash() {
    names_are_words("bash");
}

#[test]
fn names_are_words_in_zsh() {
    names_are_words("zsh");
}

#[test]
fn names_are_words_in_fish() {
    names_are_words("fish");
}

#[test]
fn names_that_cannot_be_typed_or_are_options_are_not_offered() {
    let place = Place::new();
    for name in ["new\nline", "escape\u{1b}[2J", "bidi\u{202e}", "tab\tx", "--yes", "-y", "fine"] {
        place.write(&format!("skills/{name}.yaml"), "name: [");
    }
    assert_eq!(place.aye(&["candidates", "aye", "run", ""]).ok().stdout, "fine\n");
}
