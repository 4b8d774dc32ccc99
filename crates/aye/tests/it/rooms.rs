//! The modules of a crate keep their order: no two reach into each other, and
//! what is kept apart stays apart.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Every source file of a crate, by its path in `src`, without its tests.
fn texts(krate: &str) -> Vec<(PathBuf, String)> {
    let root = crates().join(krate).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 3, "the files of {krate}");
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("readable");
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default().to_owned();
        (path.strip_prefix(&root).expect("below src").to_path_buf(), code)
    };
    files.into_iter().map(read).collect()
}

/// The names that follow `crate::` in a text, also in a group: `crate::{one, other::Thing}`.
fn named(text: &str) -> BTreeSet<&str> {
    let ends = |c: char| !(c.is_ascii_lowercase() || c == '_');
    let mut names = BTreeSet::new();
    for rest in text.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            None => names.extend(rest.split(ends).next()),
            Some(group) => {
                let mut depth = 0_u32;
                let inside = group.split_inclusive(['{', '}', ',']);
                for part in inside {
                    if depth == 0 {
                        names.extend(part.trim_start().split(ends).next());
                    }
                    match part.chars().last() {
                        Some('{') => depth += 1,
                        Some('}') if depth == 0 => break,
                        Some('}') => depth -= 1,
                        _ => {}
                    }
                }
            }
        }
    }
    names.remove("");
    names
}

#[test]
fn names_in_a_group_are_found_too() {
    let text = "use crate::one::Thing;\nuse crate::{two, three::{a, b}, four::Other};\nuse x;";
    assert_eq!(named(text), BTreeSet::from(["one", "two", "three", "four"]));
}

#[test]
fn no_two_modules_reach_into_each_other() {
    for krate in ["aye", "aye-core", "aye-process", "aye-runtime"] {
        let texts = texts(krate);
        let mut uses: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for (path, text) in &texts {
            let room = path.iter().next().expect("a name").to_string_lossy();
            let room = room.trim_end_matches(".rs").to_owned();
            uses.entry(room).or_default().extend(named(text));
        }
        let both: Vec<_> = uses
            .iter()
            .flat_map(|(room, others)| others.iter().map(move |other| (room.as_str(), *other)))
            .filter(|(room, other)| room < other)
            .filter(|(room, other)| uses.get(*other).is_some_and(|back| back.contains(room)))
            .collect();
        assert!(both.is_empty(), "{krate}: {both:?}");
        assert!(uses.values().any(|others| others.len() > 2), "{krate}: nothing was found");
    }
}

#[test]
fn sqlite_is_named_below_one_folder() {
    for krate in ["aye", "aye-core", "aye-process", "aye-runtime"] {
        for (path, text) in texts(krate) {
            let here = krate == "aye-runtime" && path.starts_with("store/sqlite");
            assert!(here || !text.contains("rusqlite::"), "{krate}: {}", path.display());
        }
    }
}

/// The commands that start the other front ends.
const DISPATCH: [&str; 2] = ["cli/commands/mcp.rs", "cli/commands/serve.rs"];

#[test]
fn front_ends_do_not_use_each_other() {
    let front_ends = ["cli", "mcp", "serve"];
    let mut dispatching = Vec::new();
    for (path, text) in texts("aye") {
        let uses = named(&text);
        let reached = front_ends.iter().find(|one| !path.starts_with(one) && uses.contains(**one));
        let is_front_end = front_ends.iter().any(|one| path.starts_with(one));
        let Some(other) = reached.filter(|_| is_front_end) else { continue };
        let path = path.to_string_lossy().into_owned();
        assert!(DISPATCH.contains(&path.as_str()), "{path} uses {other}");
        dispatching.push(path);
    }
    dispatching.sort();
    assert_eq!(dispatching, DISPATCH);
}
