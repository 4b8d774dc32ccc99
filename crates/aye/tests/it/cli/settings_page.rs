//! `docs/reference/settings.md` and `aye init` against the keys that the program reads.
//!
//! The program itself lists them: an unknown key is refused with those that it knows.

use std::collections::BTreeMap;

use super::harness::Place;
use super::pages::{blocks, page};

const PAGE: &str = "docs/reference/settings.md";

/// Each table: its heading on the page, and a file that has the key `unknown` in it.
const TABLES: [(&str, &str); 10] = [
    ("Top of the file", "unknown = 1\n"),
    ("[run]", "[run]\nunknown = 1\n"),
    ("[ask]", "[ask]\nunknown = 1\n"),
    ("[journal]", "[journal]\nunknown = 1\n"),
    ("[policy]", "[policy]\nunknown = 1\n"),
    ("[advisor]", "[advisor]\nunknown = 1\n"),
    ("[mcp]", "[mcp]\nunknown = 1\n"),
    ("[tools.NAME]", "[tools.x]\nunknown = 1\n"),
    ("Arguments of a command", "[tools.x]\ncommand = [\"true\"]\nargs = { a = { unknown = 1 } }\n"),
    ("[notify.NAME]", "[notify.x]\nunknown = 1\n"),
];

/// The keys of a table, as the error about an unknown one lists them.
fn keys(place: &Place, settings: &str) -> Vec<String> {
    place.write("aye.toml", settings);
    let ran = place.aye(&["runs"]);
    assert_eq!(ran.code, 2, "{settings}: {}", ran.all());
    let (_, known) = ran.stderr.split_once("expected ").expect("it lists what it knows");
    let line = known.lines().next().unwrap_or_default();
    let keys: Vec<String> = line.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    assert!(keys.len() > 1, "{settings}: {}", ran.all());
    keys
}

/// The parts of the page, by heading.
fn parts(page: &str) -> BTreeMap<&str, &str> {
    let parts = page.split("\n## ").skip(1);
    parts.map(|part| part.split_once('\n').unwrap_or((part, ""))).collect()
}

#[test]
fn the_page_has_every_key_with_a_default_and_an_example() {
    let text = page(PAGE);
    let parts = parts(&text);
    let place = Place::new();
    let mut seen = 0;
    for (heading, settings) in TABLES {
        let part = parts.get(heading).unwrap_or_else(|| panic!("{PAGE} has no `## {heading}`"));
        let example = blocks(part, "toml").concat();
        for key in keys(&place, settings) {
            let row = part.lines().find(|line| line.starts_with(&format!("| `{key}` |")));
            let row = row.unwrap_or_else(|| panic!("`{key}` is not in `## {heading}` of {PAGE}"));
            assert_eq!(row.matches(" |").count(), 3, "key, meaning and default: {row}");
            assert!(example.contains(&key), "no example has `{key}` in `## {heading}`");
            seen += 1;
        }
        // No key is described that does not exist.
        let known = keys(&place, settings);
        for row in part.lines().filter(|line| line.starts_with("| `")) {
            let key = row.split('`').nth(1).unwrap_or_default();
            assert!(known.iter().any(|one| one == key), "`{key}` in `## {heading}` is unknown");
        }
    }
    assert!(seen > 80, "{seen}");
}

#[test]
fn every_example_of_the_page_is_valid() {
    let examples = blocks(&page(PAGE), "toml");
    assert!(examples.len() >= TABLES.len(), "{}", examples.len());
    let place = Place::new();
    for example in examples {
        place.write("aye.toml", &example);
        let ran = place.aye(&["runs"]);
        assert_eq!(ran.code, 0, "{example}\n{}", ran.all());
    }
}

#[test]
fn init_writes_every_table_and_the_keys_of_those_without_a_name() {
    let place = Place::new();
    place.aye(&["init"]).ok();
    let made = place.read("aye.toml");
    // A setting that is commented out: `# key = value` or `# [table]`.
    let is_setting = |line: &str| {
        let key = line.split(" = ").next().unwrap_or_default();
        let name = |c: char| c.is_ascii_lowercase() || c == '_';
        line.starts_with('[') || (line.contains(" = ") && key.chars().all(name))
    };
    let settings: String = made
        .lines()
        .map(|line| line.strip_prefix("# ").filter(|line| is_setting(line)).unwrap_or(line))
        .map(|line| format!("{line}\n"))
        .collect();
    for (heading, unknown) in TABLES {
        let each = keys(&place, unknown);
        match heading {
            "Top of the file" => {
                for table in each.iter().filter(|key| *key != "skills") {
                    assert!(settings.contains(&format!("[{table}")), "`{table}`:\n{settings}");
                }
            }
            "[tools.NAME]" | "[notify.NAME]" | "Arguments of a command" => {}
            _ => {
                for key in each {
                    assert!(settings.contains(&format!("\n{key} = ")), "{heading} `{key}`");
                }
            }
        }
    }
    place.write("aye.toml", &settings);
    let ran = place.aye(&["runs"]);
    assert_eq!(ran.code, 0, "{settings}\n{}", ran.all());
}
