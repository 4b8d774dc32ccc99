//! `--help`, and what is said about command lines that make no sense.

use std::collections::BTreeSet;

use aye::cli::environment::{IGNORED, SETTINGS};
use clap::CommandFactory as _;
use insta::assert_snapshot;

use super::harness::Place;

#[test]
fn the_overview() {
    assert_snapshot!(Place::new().aye(&["--help"]).all(), @r"
    --- stdout
    Runbooks that ask first

    Usage: aye [OPTIONS] <COMMAND>

    Run skills:
      run          Run a skill
      resume       Resume a paused, interrupted or killed run
      retry        Try a failed step again, as it is or with other arguments
      cancel       Cancel a run, whichever process drives it
      schedule     Run a skill on a schedule: add, list and remove schedules

    Answer questions:
      inbox        List the questions that wait for an answer
      answer       Answer a question from anywhere
      auth         Set up a second factor for questions that need one

    Inspect runs:
      runs         List runs, or prune old ones
      show         Show a run: its steps, decisions and outputs
      logs         Show what the steps of a run wrote
      watch        Follow a run that another process drives
      stats        Show durations, failures and waiting times of a skill
      audit        Check whether someone changed the journal

    Write skills:
      init         Create a first skill
      list         List the skills of this project
      check        Check skill files, and fix what is certain
      graph        Draw a skill
      patch        Write a change that fixed a run into the skill's file
      schema       Print the JSON schema of skill files

    Ask in shell scripts:
      confirm      Ask yes or no, for shell scripts
      choose       Ask for one of several options, for shell scripts
      input        Ask for text, for shell scripts

    Assistants, tools, memory and server:
      mcp          Serve assistants over the Model Context Protocol
      tools        List and call the tools of this project
      memory       Show, add and remove what Aye has learned
      serve        Serve runs, questions and skills over HTTP and a socket
      people       Add, list and remove the people who may use the server

    Set up:
      doctor       Check the setup, and which assistants have connected
      trust        Let assistants, schedules and the server run a project's skills
      notify       Test notification channels and list what was sent
      completions  Print completions for a shell
      man          Print the manual page, or write one for each command

    Options of every command:
          --home <DIR>    Where journal and logs are kept [default: ~/.local/state/aye] [env: AYE_HOME]
          --color <WHEN>  When to use colours: auto, always or never [env: AYE_COLOR] [default: auto]
          --json          Print JSON for programs [env: AYE_JSON]
      -q, --quiet         Print less: only the output of steps, and problems [env: AYE_QUIET]
      -v, --verbose       Print more: every event [env: AYE_VERBOSE]
          --plain         Plain ASCII lines, no live display: for screen readers and logs [env:
                          AYE_PLAIN]
      -h, --help          Print help
      -V, --version       Print version

    Examples:
      aye init                            create a first skill
      aye run release -i commit=abc123    run a skill by name
      aye run deploy.yaml --dry-run       see what would happen
      aye inbox                           what waits for an answer
      aye answer RUN-1 proceed     answer from anywhere
      aye resume last                     continue after a crash or a pause

    Exit codes: 0 done, 1 failed, 2 usage or invalid skill, 3 not found, 4
    unreadable, 5 declined or cancelled, 6 paused and waiting, 124 timed out,
    126/127 command not executable/found, 130 interrupted.
    --- exit 0
    ");
}

#[test]
fn every_command_helps_with_examples() {
    let place = Place::new();
    let mut cli = aye::cli::Cli::command();
    cli.build();
    let mut paths: Vec<Vec<&str>> = Vec::new();
    for command in cli.get_subcommands() {
        paths.push(vec![command.get_name()]);
        // What Aye calls itself is not shown to people.
        let shown = command.get_subcommands().filter(|below| !below.is_hide_set());
        paths.extend(shown.map(|below| vec![command.get_name(), below.get_name()]));
    }
    assert!(paths.len() > 15);
    for path in paths {
        let ran = place.aye(&[&path[..], &["--help"]].concat()).ok();
        assert!(ran.stdout.contains("\nExamples:\n  "), "{path:?}:\n{}", ran.stdout);
        assert!(ran.stdout.contains(&format!("Usage: aye {}", path.join(" "))), "{path:?}");
        assert_eq!(ran.stdout, place.aye(&[&path[..], &["-h"]].concat()).stdout);
        assert!(ran.stdout.lines().all(|line| line.chars().count() <= 100), "{path:?}");
    }
}

/// Every verb is in the overview once, under a job, and its line fits 80 columns.
/// Clap breaks longer ones once more.
#[test]
fn notes_fit_a_usual_terminal() {
    fn look_at(command: &clap::Command) {
        let notes = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for line in notes.lines() {
            assert!(line.chars().count() <= 78, "{}: {line}", command.get_name());
        }
        command.get_subcommands().for_each(look_at);
    }
    look_at(&aye::cli::Cli::command());
}

#[test]
fn the_overview_groups_the_verbs_by_job() {
    let overview = Place::new().aye(&["--help"]).ok().stdout;
    let mut cli = aye::cli::Cli::command();
    cli.build();
    for verb in cli.get_subcommands() {
        let name = format!("  {} ", verb.get_name());
        let lines: Vec<&str> = overview.lines().filter(|line| line.starts_with(&name)).collect();
        assert_eq!(lines.len(), 1, "{name}: {overview}");
        assert!(lines[0].chars().count() <= 80, "{}", lines[0]);
    }
    assert!(!overview.contains("\nMore:\n"), "a verb is in no group: {overview}");
    assert!(!overview.contains("\nCommands:\n"), "{overview}");
}

/// The variables of a command's options and of those below it, with the options.
fn variables(command: &clap::Command) -> BTreeSet<(String, String)> {
    let own = command.get_arguments().filter_map(|option| {
        Some((option.get_env()?.to_str()?.to_owned(), option.get_long()?.to_owned()))
    });
    own.chain(command.get_subcommands().flat_map(variables)).collect()
}

#[test]
fn settings_have_a_variable_and_nothing_else_has() {
    let mut cli = aye::cli::Cli::command();
    cli.build();
    let found = variables(&cli);
    let names: BTreeSet<&str> = found.iter().map(|(variable, _)| variable.as_str()).collect();
    assert_eq!(names, SETTINGS.iter().map(|(name, _)| *name).collect());
    assert_eq!(found.len(), names.len(), "a variable means two options: {found:?}");
    for (variable, option) in &found {
        assert_eq!(*variable, format!("AYE_{}", option.to_uppercase().replace('-', "_")));
        assert!(IGNORED.iter().all(|(ignored, _)| ignored != variable), "{variable}");
    }
}

#[test]
fn without_a_command_there_is_help() {
    let ran = Place::new().aye(&[]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("Usage: aye"), "{}", ran.all());
}

#[test]
fn the_version() {
    let version = format!("aye {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(Place::new().aye(&["--version"]).ok().stdout, version);
    assert_eq!(Place::new().aye(&["-V"]).ok().stdout, version);
}

#[test]
fn mistakes_are_one_error_and_one_hint() {
    let place = Place::new();
    let said = |args: &[&str]| place.aye(args).all();
    assert_snapshot!(said(&["resum"]), @r"
    --- stderr
    error: there is no command `resum`
    hint: did you mean `resume`?
    --- exit 2
    ");
    assert_snapshot!(said(&["frobnicate"]), @r"
    --- stderr
    error: there is no command `frobnicate`
    hint: see `aye --help`
    --- exit 2
    ");
    assert_snapshot!(said(&["run"]), @r"
    --- stderr
    error: `<SKILL>` is missing
    hint: no skills found; `aye init` makes a first one, or give a path
    --- exit 2
    ");
    assert_snapshot!(said(&["run", "a", "b"]), @"
    --- stderr
    error: unexpected argument `b`
    hint: a run begins at a step with `--from b`
    --- exit 2
    ");
    assert_snapshot!(said(&["run", "a", "--form", "x"]), @r"
    --- stderr
    error: there is no option `--form`
    hint: did you mean `--from`?
    --- exit 2
    ");
    assert_snapshot!(said(&["run", "a", "--from"]), @r"
    --- stderr
    error: `--from <STEP>` needs a value
    hint: see `aye --help`
    --- exit 2
    ");
    assert_snapshot!(said(&["run", "a", "--from", "x", "--only", "y"]), @r"
    --- stderr
    error: `--from <STEP>` cannot be used together with `--only <STEP>`
    hint: leave one of them out
    --- exit 2
    ");
    assert_snapshot!(said(&["--color", "neverr", "list"]), @r"
    --- stderr
    error: `neverr` does not fit `--color <WHEN>`
    hint: did you mean `never`?
    --- exit 2
    ");
    assert_snapshot!(said(&["runs", "prun"]), @r"
    --- stderr
    error: there is no command `prun`
    hint: did you mean `prune`?
    --- exit 2
    ");
    assert_snapshot!(said(&["graph"]), @r"
    --- stderr
    error: `<SKILL>` is missing
    hint: no skills found; `aye init` makes a first one, or give a path
    --- exit 2
    ");
}

#[test]
fn every_mistake_ends_with_2_and_is_printed_once() {
    let place = Place::new();
    for args in
        [&["nosuch"][..], &["run"], &["--nope"], &["runs", "-n", "-1"], &["graph", "a", "-f", "x"]]
    {
        let ran = place.aye(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}");
        assert_eq!(ran.stderr.matches("error:").count(), 1, "{}", ran.all());
        assert_eq!(ran.stderr.matches("hint:").count(), 1, "{}", ran.all());
    }
}

#[test]
fn help_is_a_verb_too() {
    let place = Place::new();
    assert_eq!(place.aye(&["help"]).ok().all(), place.aye(&["--help"]).all());
    assert_eq!(place.aye(&["help", "run"]).ok().all(), place.aye(&["run", "--help"]).all());
    let deep = [place.aye(&["help", "tools", "list"]), place.aye(&["tools", "list", "--help"])];
    assert_eq!(deep[0].all(), deep[1].all());
    let ran = place.aye(&["help", "rum"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.stderr.contains("there is no command `rum`"), "{}", ran.all());
}

#[test]
fn what_other_programs_call_it_is_understood() {
    let place = Place::new();
    let release = "name: release\ninputs: [{name: version}]\nsteps: [{name: a, command: make}]\n";
    place.write("skills/release.yaml", release);
    place.write("skills/two.yaml", "name: other\nsteps: [{name: a, command: make}]\n");
    place.write("skills/broken.yaml", "name: broken\nsteps: 3\n");
    for (typed, meant) in [
        ("validate", "did you mean `aye check`?"),
        ("lint", "did you mean `aye check`?"),
        ("status", "did you mean `aye runs`?"),
        ("prune", "did you mean `aye runs prune`?"),
        ("kill", "did you mean `aye cancel`?"),
        ("rn", "did you mean `aye run`?"),
        ("tail", "did you mean `aye logs -f`?"),
        ("version", "did you mean `aye --version`?"),
        ("lits", "did you mean `list`?"),
        // Alike, but nothing that anybody means.
        ("joint", "see `aye --help`"),
        ("release -i version=v1", "did you mean `aye run release`?"),
        ("other", "did you mean `aye run other`?"),
        ("skills/two.yaml", "did you mean `aye run skills/two.yaml`?"),
        ("runs release", "did you mean `aye runs --skill release`?"),
        ("runs nosuch", "see `aye runs --help`"),
        ("run release version=v1", "an input is given as `-i version=v1`"),
        ("run release --version v1", "an input is given as `-i version=v1`"),
        ("run release --version=v1", "an input is given as `-i version=v1`"),
        ("run other --version v1", "see `aye run --help`"),
        ("run release --var version=v1", "an input is given as `-i version=v1`"),
        ("run release --set=version=v1", "an input is given as `-i version=v1`"),
        ("run release --var", "an input is given as `-i NAME=VALUE`"),
        ("run release -e stage", "did you mean `--environment`?"),
        ("run release --env stage", "did you mean `--environment`?"),
        ("run release -n", "did you mean `--dry-run`?"),
        ("run release --background", "did you mean `--detach`?"),
        ("run", "it is one of: broken, release, other; `aye list` says more"),
        (
            "resume last --yes",
            "answer its question: `aye answer QUESTION proceed --resume`; `aye inbox` lists them",
        ),
    ] {
        let ran = place.aye(&typed.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.code, 2, "{typed}");
        let hint = ran.stderr.lines().last().unwrap_or_default();
        assert_eq!(hint, format!("hint: {meant}"), "{typed}");
    }
}
