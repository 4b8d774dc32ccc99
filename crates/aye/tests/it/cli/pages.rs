//! The pages people read: what they show works.

use std::path::{Path, PathBuf};

use aye::cli::environment::{OTHERS, SETTINGS, without_effect};
use clap::CommandFactory as _;

use super::harness::Place;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(super) fn page(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The fenced blocks of a language.
pub(super) fn blocks(page: &str, language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if line.trim() == format!("```{language}") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| line.trim() != "```").collect();
            blocks.push(block.join("\n") + "\n");
        }
    }
    blocks
}

#[test]
fn the_skill_of_the_readme_runs() {
    let readme = page("README.md");
    let skills = blocks(&readme, "yaml");
    assert_eq!(skills.len(), 1);
    let place = Place::new();
    place.aye(&["init"]).ok();
    // What the page shows is what whoever follows it gets.
    let made = place.read("skills/hello.yaml");
    let comments = made.lines().take_while(|line| line.starts_with('#')).count();
    let skill: String = made.split_inclusive('\n').skip(comments).collect();
    assert_eq!(skill, skills[0]);
    // Its first line tells editors where the schema is.
    let named = made.lines().next().unwrap().split("$schema=").nth(1).unwrap();
    let schema = std::fs::read_to_string(place.work().join("skills").join(named)).unwrap();
    assert_eq!(schema, place.aye(&["schema"]).ok().stdout);
    place.aye(&["check", "--strict"]).ok();
    let ran = place.aye(&["-q", "run", "hello", "--yes"]).ok();
    assert_eq!(ran.stdout, "Hello, world!\nHello, world!\n");
}

#[test]
fn the_commands_of_the_readme_work() {
    let readme = page("README.md");
    let place = Place::new();
    let first = &blocks(&readme, "sh")[1];
    assert!(first.starts_with("aye init"), "{first}");
    for line in first.lines() {
        let command = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        let ran = place.aye(&words);
        // It asks before it greets, and nobody is here to be asked.
        assert_eq!(ran.code, if words[0] == "run" { 6 } else { 0 }, "{line}: {}", ran.all());
    }
    let table = readme.lines().filter(|line| line.starts_with("| `aye "));
    let commands: Vec<&str> =
        table.flat_map(|line| line.split('`')).filter(|part| part.starts_with("aye ")).collect();
    assert!(commands.len() > 8, "{commands:?}");
    for command in commands {
        let question = format!("{}-1", place.last());
        let command = command.replace("ID", &question);
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        let ran = place.aye(&words);
        let ended = ["resume", "retry", "cancel"].contains(&words[0]);
        let fine = if ended { [0, 1] } else { [0, 0] };
        assert!(fine.contains(&ran.code), "{command}: {}", ran.all());
        assert!(!ran.stderr.contains("there is no"), "{command}: {}", ran.all());
    }
}

#[test]
fn the_examples_are_sound_and_run() {
    let mut seen = 0;
    for entry in std::fs::read_dir(root().join("examples")).unwrap() {
        let path = entry.unwrap().path();
        // The shell script has a test of its own.
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let name = path.to_str().unwrap();
        let place = Place::new();
        place.aye(&["check", name]).ok();
        let ran = place.aye(&["run", name, "--yes"]).ok();
        assert!(ran.stderr.contains("completed in"), "{}", ran.all());
        place.aye(&["run", name, "--dry-run"]).ok();
        for format in ["text", "mermaid", "dot", "svg"] {
            place.aye(&["graph", name, "-f", format]).ok();
        }
        seen += 1;
    }
    assert!(seen >= 2);
}

#[test]
fn every_skill_in_the_guide_is_sound() {
    let guide = page("docs/reference/skills.md");
    let skills = blocks(&guide, "yaml");
    assert!(skills.len() >= 10, "{}", skills.len());
    let place = Place::new();
    for (number, skill) in skills.iter().enumerate() {
        let name = format!("block-{number}.yaml");
        place.write(&name, skill);
        let ran = place.aye(&["check", &name]);
        assert_eq!(ran.code, 0, "{skill}\n{}", ran.all());
        // What a block calls stands in other files.
        let warnings = ran.stdout.matches("warning[").count();
        assert_eq!(warnings, ran.stdout.matches("warning[unknown-skill]").count(), "{}", ran.all());
        assert!(ran.stdout.contains("valid skill"), "{}", ran.all());
    }
    for settings in blocks(&guide, "toml") {
        place.write("aye.toml", &settings);
        let ran = place.aye(&["runs"]);
        assert_eq!(ran.code, 0, "{settings}\n{}", ran.all());
    }
}

#[test]
fn what_the_guide_shows_does_what_it_says() {
    let guide = page("docs/reference/skills.md");
    let place = Place::new();
    // What needs nothing of a project of its own, and a line that it prints.
    let shown = [
        ("names", "Hello WORLD"),
        ("forgiving", "[]"),
        ("compute", "completed in"),
        ("each", "2: c"),
        ("early", "result: nothing to do"),
        ("guards", "completed in"),
        ("again", "ready"),
        ("failures", "completed in"),
        ("twice", "wiped"),
    ];
    let skills = blocks(&guide, "yaml");
    for (name, line) in shown {
        let named = format!("name: {name}\n");
        let skill = skills.iter().find(|skill| skill.starts_with(&named));
        place.write(&format!("{name}.yaml"), skill.unwrap_or_else(|| panic!("no block {name}")));
        let ran = place.aye(&["run", &format!("{name}.yaml"), "--yes"]).ok();
        assert!(ran.stdout.contains(line) || ran.stderr.contains(line), "{name}: {}", ran.all());
    }
    let shown = place.aye(&["run", "each.yaml", "--json"]).ok();
    assert!(shown.stdout.contains(r#""value":["0: a",null,"2: c"]"#), "{}", shown.stdout);
}

#[test]
fn the_guide_names_every_key_of_the_schema() {
    let guide = page("docs/reference/skills.md");
    let schema: serde_json::Value =
        serde_json::from_str(&page("docs/reference/skill.schema.json")).unwrap();
    let mut seen = 0;
    for (kind, definition) in schema["$defs"].as_object().unwrap() {
        let Some(keys) = definition["properties"].as_object() else { continue };
        for key in keys.keys() {
            let named = guide.contains(&format!("{key}:")) || guide.contains(&format!("`{key}`"));
            assert!(named, "`{key}` of {kind} is not in docs/reference/skills.md");
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen}");
}

/// Guides and reference: every whole skill passes `aye check`, and every block of settings is read.
#[test]
fn every_skill_and_setting_of_the_pages_is_valid() {
    let (mut skills, mut settings) = (0, 0);
    for folder in ["tutorials", "how-to", "reference", "explanation"] {
        for entry in std::fs::read_dir(root().join("docs").join(folder)).unwrap() {
            let path = entry.unwrap().path();
            // The pages that are followed from top to end show what goes wrong, too.
            if path.extension().is_none_or(|kind| kind != "md") || path.ends_with("moving.md") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let place = Place::new();
            for skill in blocks(&text, "yaml").iter().filter(|block| block.starts_with("name: ")) {
                place.write("skill.yaml", skill);
                let ran = place.aye(&["check", "skill.yaml"]);
                assert_eq!(ran.code, 0, "{}\n{skill}\n{}", path.display(), ran.all());
                skills += 1;
            }
            for block in blocks(&text, "toml") {
                place.write("aye.toml", &block);
                let ran = place.aye(&["runs"]);
                assert_eq!(ran.code, 0, "{}\n{block}\n{}", path.display(), ran.all());
                settings += 1;
            }
        }
    }
    assert!(skills > 20 && settings > 20, "{skills} skills, {settings} settings");
}

/// The reference of every command, from the options themselves.
fn reference() -> String {
    fn add(text: &mut String, path: &str, command: &mut clap::Command) {
        let shown = if path == "aye" { aye::cli::Cli::overview() } else { command.clone() };
        let help = shown.term_width(100).render_help().to_string();
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        let help = help.join("\n").replacen(
            &format!("Usage: {}", command.get_name()),
            &format!("Usage: {path}"),
            1,
        );
        text.push_str(&format!("\n## {path}\n\n```text\n{}\n```\n", help.trim()));
        let shown = command.get_subcommands().filter(|below| !below.is_hide_set());
        let names: Vec<String> = shown.map(|below| below.get_name().to_owned()).collect();
        for name in names {
            if let Some(below) = command.find_subcommand_mut(&name) {
                add(text, &format!("{path} {name}"), below);
            }
        }
    }
    let mut cli = aye::cli::Cli::command();
    cli.build();
    let mut text = "# The command line\n\nWritten by the program itself: `AYE_UPDATE=1 cargo test -p aye the_reference`.\n".to_owned();
    add(&mut text, "aye", &mut cli);
    text.push_str(
        "\n## Environment\n\nAn option takes precedence over its variable.\n\n| variable | |\n|---|---|\n",
    );
    for (name, about) in SETTINGS.iter().chain(&OTHERS) {
        text.push_str(&format!("| `{}` | {about} |\n", name.replace(", ", "`, `")));
    }
    text + "\n" + &without_effect() + "\n"
}

#[test]
fn the_reference_is_what_the_program_says() {
    let path = root().join("docs/reference/cli.md");
    let wanted = reference();
    if std::env::var_os("AYE_UPDATE").is_some() {
        std::fs::write(&path, &wanted).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "docs/reference/cli.md is not what the options say: AYE_UPDATE=1 rewrites it"
    );
}
