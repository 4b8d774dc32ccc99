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

/// What a run shows of its steps' output in a pipe: of the good one, and of the bad one.
fn output_shown(ran: &Ran) -> [[bool; 2]; 2] {
    assert_eq!(ran.code, 1, "{}", ran.all());
    let all = [&ran.stdout, &ran.stderr];
    ["good", "bad"].map(|step| {
        let line = |stream: &str| format!("{step} | {stream}\n");
        [all[0].contains(&line("out")), all[1].contains(&line("err"))]
    })
}

#[test]
fn a_pipe_gets_the_output_that_is_wanted() {
    let skill = "name: s\nsteps:\n- {name: good, shell: echo out; echo err >&2}\n\
                 - {name: bad, shell: echo out; echo err >&2; exit 3}\n";
    let (yes, no) = ([true; 2], [false; 2]);
    for (output, shown) in [("full", [yes, yes]), ("failed", [no, yes]), ("none", [no, no])] {
        let place = Place::new();
        place.write("s.yaml", skill);
        let run = |args: &[&str], env: &[(&str, &str)]| {
            let mut command = place.command(&[&["run", "s.yaml"], args].concat());
            output_shown(&Ran::of(command.envs(env.iter().copied()).output().unwrap(), &place))
        };
        assert_eq!(run(&[], &[]), [yes, yes], "the default is all of it");
        assert_eq!(run(&["--output", output], &[]), shown, "--output {output}");
        assert_eq!(run(&[], &[("AYE_OUTPUT", output)]), shown, "AYE_OUTPUT={output}");
        let setting = format!("[run]\noutput = \"{output}\"\n");
        place.write("../.config/aye/config.toml", &setting);
        assert_eq!(run(&[], &[]), shown, "the user's `output = {output}`");
        place.write("../.config/aye/config.toml", "[run]\noutput = \"full\"\n");
        place.write("aye.toml", &setting);
        assert_eq!(run(&[], &[]), shown, "the project's `output = {output}`");
        // The nearest counts: the option, then the shell, then the project.
        for other in ["full", "none"] {
            let by_shell = run(&[], &[("AYE_OUTPUT", other)]);
            assert_eq!(by_shell, if other == "full" { [yes; 2] } else { [no; 2] });
            assert_eq!(run(&["--output", output], &[("AYE_OUTPUT", other)]), shown);
        }
    }
}

#[test]
fn a_long_failure_in_a_pipe_begins_with_a_whole_line_and_says_what_is_missing() {
    for (log, rest) in [("", "`aye logs` has all"), (", log: false", "the rest was not kept")] {
        let place = Place::new();
        let step = format!("{{name: b, shell: 'seq 100000; exit 3'{log}}}");
        place.write("s.yaml", &format!("name: s\nsteps:\n- {step}\n"));
        for (verbosity, prefix) in [("--color=never", "b | "), ("-q", "")] {
            let ran = place.aye(&["run", "s.yaml", "--output", "failed", verbosity]);
            assert_eq!(ran.code, 1, "{}", ran.stderr);
            let said = ran.stderr.lines().find_map(|line| line.strip_prefix("b: the last "));
            let (count, where_) = said.and_then(|said| said.split_once(" lines; ")).unwrap();
            assert_eq!(where_, rest);
            let kept: usize = count.replace(',', "").parse().unwrap();
            let wanted = (100_001 - kept..=100_000).map(|at| format!("{prefix}{at}\n"));
            assert!(ran.stdout == wanted.collect::<String>(), "{:.80}", ran.stdout);
        }
    }
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
    let place = Place::new();
    place.write(
        "skills/t.yaml",
        "name: t\ninputs: [{ name: tok, type: secret, required: true }]\n\
         steps: [{ name: a, shell: exit 1 }]\n",
    );
    for args in [&["list"][..], &["list", "t"], &["run", "t", "-i", "tok=correct-horse"]] {
        let said = place.aye(&[&["--plain"], args].concat()).all();
        assert!(said.is_ascii() && said.contains("-i tok=..."), "{said}");
    }
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
    assert_eq!(ran.stdout, "0\n", "the run continues without a reader: {}", ran.all());
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
    hint: it is one of: bash, elvish, fish, powershell, zsh
    --- exit 2
    ");
}

#[test]
fn completions_know_the_names_that_are_there() {
    let place = place();
    let skill = "name: hello\ninputs: [{name: who, description: To whom, default: x}, {name: how, default: x}]\n\
        steps: [{name: first, command: 'true'}, {name: gate, confirm: {message: 'Go?', timeout: 0}}]\n";
    place.write("skills/hello.yaml", skill);
    let offered = |words: &[&str]| {
        let ran = place.aye(&[&["candidates", "aye"], words].concat()).ok();
        assert_eq!(ran.stderr, "", "never loud");
        ran.stdout
    };
    assert_eq!(offered(&["run", ""]), "hello\n");
    assert_eq!(offered(&["--plain", "run", "--yes", "he"]), "hello\n");
    assert_eq!(offered(&["run", "hello", "-i", ""]), "who=\tTo whom\nhow=\n");
    assert_eq!(offered(&["run", "hello", "--only", "g"]), "gate\n");
    assert_eq!(offered(&["run", "--environment", "stage", ""]), "hello\n");
    for words in [
        &[][..],
        &["frobnicate", ""],
        &["run", "nosuch", "-i", ""],
        &["run", "hello", ""],
        &["run", "-"],
        &["run", "--environment", ""],
        &["show", ""],
    ] {
        assert_eq!(offered(words), "", "{words:?}");
    }
    assert!(!place.home().exists(), "nothing is written");
    assert_eq!(place.aye(&["run", "hello"]).code, 6);
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 0);
    let runs = offered(&["show", ""]);
    assert!(runs.starts_with("last\tthe newest: s\n"), "{runs}");
    assert_eq!(runs.lines().count(), 3, "{runs}");
    let resumed = offered(&["resume", ""]);
    assert!(resumed.ends_with("\thello, paused\n"), "what can be resumed: {resumed}");
    assert_eq!(resumed.lines().count(), 1, "{resumed}");
    assert!(offered(&["answer", ""]).ends_with("-1\tGo?\n"));
    let home = place.home();
    let elsewhere = ["--home", "/nonexistent", "show", ""];
    assert_eq!(offered(&elsewhere), "");
    assert_eq!(offered(&["--home", home.to_str().unwrap(), "show", "la"]).lines().count(), 1);
    // The scripts can be read, and ask for them.
    for name in ["bash", "zsh", "fish"] {
        let line = format!(
            "command -v {name} >/dev/null || exit 77; aye completions {name} > script; {name} -n script"
        );
        let ran = shell(&place, &line);
        assert!([0, 77].contains(&ran.code), "{name}: {}", ran.all());
        assert!(
            place.aye(&["completions", name]).ok().stdout.contains("aye candidates "),
            "{name}"
        );
    }
    let fish = "command -v fish >/dev/null || exit 77; HOME=$PWD fish -c 'aye completions fish | source; complete -C \"aye run hello -i w\"'";
    let ran = shell(&place, fish);
    assert!(ran.code == 77 || ran.stdout == "who=\tTo whom\n", "{}", ran.all());
}

#[test]
fn times_are_local_for_people_and_utc_for_programs() {
    let place = place();
    place.aye(&["run", "s.yaml"]).ok();
    let show = |args: &[&str]| {
        let output = place.command(args).env("TZ", "ABC-2").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let shown = show(&["show"]);
    let head = shown.lines().next().unwrap();
    assert!(head.ends_with(" ABC") && !head.contains('.'), "{head}");
    assert!(!show(&["show", "--json"]).contains("ABC"));
    let started =
        place.aye(&["show", "--json"]).ok().json()["started"].as_str().unwrap().to_owned();
    let started: jiff::Timestamp = started.parse().unwrap();
    let there = started.checked_add(jiff::SignedDuration::from_hours(2)).unwrap().to_string();
    let there = there[..19].replace('T', " ");
    assert!(head.contains(&there), "{there} in {head}");
}

#[test]
fn the_manual_can_be_read() {
    let place = place();
    let page = place.aye(&["man"]).ok().stdout;
    assert!(page.contains(".TH aye 1"), "{page}");
    let sections: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
    assert_eq!(
        sections,
        [
            "NAME",
            "SYNOPSIS",
            "DESCRIPTION",
            "\"OPTIONS OF EVERY COMMAND\"",
            "SUBCOMMANDS",
            "EXAMPLES",
            "\"EXIT STATUS\"",
            "ENVIRONMENT"
        ]
    );
    assert!(page.contains(".TP\n\\fB124\\fR\ntimed out\n"), "{page}");
    for (name, _) in aye::cli::environment::SETTINGS {
        assert!(page.contains(&format!(".TP\n\\fB{name}\\fR\n")), "{name}: {page}");
    }
    assert!(!page.contains(".TP\n\\fBAYE_YES"), "{page}");
    place.aye(&["man", "--out", "pages"]).ok();
    let pages = std::fs::read_dir(place.work().join("pages")).unwrap().count();
    assert!(pages > 15, "a page for each command: {pages}");
    let run = place.read("pages/aye-run.1");
    assert!(run.contains("aye\\-run"));
    assert!(run.contains(".SH EXAMPLES\n.nf\n  aye run release \\-i commit=abc123"), "{run}");
    assert!(run.contains("\\fBAYE_DRY_RUN\\fR"), "{run}");
    assert!(!place.read("pages/aye-list.1").contains("\\fBAYE_DRY_RUN\\fR"));
    let shown = shell(
        &place,
        "command -v man >/dev/null || exit 77; aye man > aye.1; MANWIDTH=80 man -l aye.1 | col -b",
    );
    if shown.code != 77 && !shown.stdout.is_empty() {
        assert!(shown.stdout.contains("Runbooks that ask first"), "{}", shown.all());
        assert!(!shown.stderr.contains("warning"), "{}", shown.all());
    }
}
