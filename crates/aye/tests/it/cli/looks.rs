//! Colours, plain lines, pipes that close, completions and manual pages.

use std::process::{Command, Stdio};

use insta::assert_snapshot;

use super::harness::{AYE, Place, Ran};

const SKILL: &str = "name: s\nsteps:\n- {name: a, shell: 'printf \"\\033[31mred\\033[0m\\n\"'}\n";

fn place() -> Place {
    let place = Place::new();
    place.write("s.yaml", SKILL);
    place
}

fn with(env: &[(&str, &str)], args: &[&str]) -> Ran {
    let place = place();
    Ran::of(place.command(args).envs(env.iter().copied()).output().unwrap(), &place)
}

#[test]
fn colours_only_where_they_are_wanted() {
    let colored = |ran: &Ran| {
        let both = [ran.stdout.contains('\u{1b}'), ran.stderr.contains('\u{1b}')];
        assert_eq!(both[0], both[1], "{}", ran.all());
        both[0]
    };
    let run = ["run", "s.yaml"];
    assert!(!colored(&with(&[], &run)), "a pipe has none");
    assert!(colored(&with(&[("CLICOLOR_FORCE", "1")], &run)));
    assert!(!colored(&with(&[("CLICOLOR_FORCE", "0")], &run)));
    assert!(!colored(&with(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], &run)));
    assert!(colored(&with(&[("NO_COLOR", "1")], &["--color", "always", "run", "s.yaml"])));
    assert!(colored(&with(&[("AYE_COLOR", "always")], &run)));
    assert!(!colored(&with(&[("AYE_COLOR", "always")], &["--color", "never", "run", "s.yaml"])));
    assert!(!colored(&with(&[("AYE_COLOR", "always")], &["--plain", "run", "s.yaml"])));
    let error = with(&[("CLICOLOR_FORCE", "1")], &["run", "nosuch"]);
    assert!(error.stderr.starts_with("\u{1b}[31merror:\u{1b}[0m "), "{:?}", error.stderr);
}

#[test]
fn plain_is_ascii() {
    let ran = with(&[], &["--plain", "run", "s.yaml"]);
    assert_snapshot!(ran.all(), @r#"
    --- stdout
    a | red
    --- stderr
    s  run RUN
    > a  printf "\033[31mred\033[DURATION\n"
    + a  DURATION
    + s completed in DURATION  1 step done
    --- exit 0
    "#);
    for args in [&["--plain", "run", "s.yaml"][..], &["--plain", "graph", "s.yaml"]] {
        assert!(with(&[], args).all().is_ascii());
    }
    assert!(with(&[("LC_ALL", "C")], &["run", "s.yaml"]).stderr.contains("+ a"));
}

/// A shell line with `aye` on the path.
fn shell(place: &Place, line: &str) -> Ran {
    let directory = std::path::Path::new(AYE).parent().unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", directory.display());
    let mut command = Command::new("bash");
    command.args(["-c", line]).current_dir(place.work()).env("AYE_HOME", place.home());
    Ran::of(command.env("PATH", path).stdin(Stdio::null()).output().unwrap(), place)
}

#[test]
fn a_pipe_that_closes_is_no_panic() {
    let place = place();
    place.aye(&["run", "s.yaml"]).ok();
    // The reader is gone before the first byte: its end is closed at once.
    for command in ["runs", "show", "schema", "audit", "logs", "--help", "completions bash", "list"]
    {
        let ran = shell(
            &place,
            &format!("aye {command} > >(exec 0<&-; exit 0); :; aye {command} | head -0"),
        );
        assert!(!ran.stderr.contains("panicked"), "{command}: {}", ran.all());
    }
    let ran = shell(
        &place,
        "{ aye run s.yaml; echo $? > code; } 2>&1 | (exec 0<&-; true); until [ -s code ]; do sleep 0.02; done; cat code",
    );
    assert_eq!(ran.stdout, "0\n", "the run goes on without a reader: {}", ran.all());
    let ran = shell(
        &place,
        "{ aye nosuch; echo $? > code2; } 2>&1 | (exec 0<&-; true); until [ -s code2 ]; do sleep 0.02; done; cat code2",
    );
    assert_eq!(ran.stdout, "2\n", "{}", ran.all());
}

#[test]
fn completions_can_be_loaded() {
    let place = place();
    let ran = shell(&place, "source <(aye completions bash) && complete -p aye");
    assert!(ran.stdout.contains("_aye"), "{}", ran.all());
    assert!(ran.stdout.trim_end().ends_with("aye"), "{}", ran.all());
    let words = "source <(aye completions bash); COMP_WORDS=(aye res); COMP_CWORD=1; _aye aye res aye; echo ${COMPREPLY[@]}";
    assert_eq!(shell(&place, words).stdout, "resume\n");
    let zsh = place.aye(&["completions", "zsh"]).ok().stdout;
    assert!(zsh.starts_with("#compdef aye"));
    let fish = place.aye(&["completions", "fish"]).ok().stdout;
    assert!(fish.contains("complete -c aye"));
    for text in [&zsh, &fish] {
        for verb in ["run", "resume", "prune", "audit"] {
            assert!(text.contains(verb), "{verb}");
        }
    }
    assert_snapshot!(place.aye(&["completions", "tcsh"]).all(), @r"
    --- stderr
    error: `tcsh` does not fit `<SHELL>`
    hint: did you mean `zsh`?
    --- exit 2
    ");
}

#[test]
fn the_manual_can_be_read() {
    let place = place();
    let page = place.aye(&["man"]).ok().stdout;
    assert!(page.contains(".TH aye 1"), "{page}");
    place.aye(&["man", "--out", "pages"]).ok();
    let pages = std::fs::read_dir(place.work().join("pages")).unwrap().count();
    assert!(pages > 15, "a page for each command: {pages}");
    assert!(place.read("pages/aye-run.1").contains("aye\\-run"));
    let shown = shell(
        &place,
        "command -v man >/dev/null || exit 77; aye man > aye.1; MANWIDTH=80 man -l aye.1 | col -b",
    );
    if shown.code != 77 && !shown.stdout.is_empty() {
        assert!(shown.stdout.contains("Runbooks that ask first"), "{}", shown.all());
        assert!(!shown.stderr.contains("warning"), "{}", shown.all());
    }
}
