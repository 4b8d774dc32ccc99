//! Phrases that readers stumbled over do not come back.

use std::path::{Path, PathBuf};

/// What not to write, and what to write instead.
const PHRASES: [(&str, &str); 6] = [
    ("go on with", "continue with"),
    ("goes on with", "continues with"),
    ("sound skill", "valid skill"),
    ("` is too much", "unexpected argument"),
    ("was given up", "was abandoned, or stopped"),
    (" mended", "fixed"),
];

/// Words not to write anywhere, comments included.
const WORDS: [(&str, &str); 4] = [
    ("whoever", "everyone who, or the person who, or name the process"),
    ("everybody", "everyone"),
    ("anybody", "anyone"),
    ("somebody", "someone"),
];

/// What not to write where users read it: in pages and messages. Comments may.
const READ: [(&str, &str); 20] = [
    ("yours to run", "trusted"),
    ("asked about", "Aye asks, or waiting for an answer"),
    ("taken up", "resumed"),
    ("takes it up", "resumes it"),
    ("nobody drives", "no process drives"),
    ("old ones count no more", "old ones stop working"),
    ("has the name `", "holds the name"),
    ("are gone through", "the limit is"),
    ("last words", "last output"),
    ("go on ", "continue"),
    ("goes on ", "continues"),
    ("went well with", "succeeded with"),
    ("makes no sense", "is not valid"),
    ("be told ", "be notified, or see"),
    ("are told ", "see, or get"),
    ("is told ", "sees, or gets"),
    ("tells more", "shows more"),
    ("the original system", "redhat-ai-workflow"),
    ("theirs to run", "trusted"),
    ("counted by none", "does not count"),
];

/// Pages beside those of `docs`.
const PAGES: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"];

/// Pages that only quote: what was, or what the program says elsewhere.
const QUOTES: [&str; 2] = ["CHANGELOG.md", "transcripts.md"];

/// Whether users read the line: a page, or what is not a comment in a source file.
fn is_read(path: &Path, line: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let code = path.extension().is_some_and(|kind| kind != "md");
    // Names of tests hold words between underscores, and tests say things of their own.
    let own = ["//", "/*", "*", "fn ", "assert", "#[expect"];
    let is_comment = code && own.iter().any(|start| line.trim().starts_with(start));
    !QUOTES.contains(&name) && !is_comment
}

/// After these, `is no` is how one says it.
const FINE_AFTER: [&str; 2] = ["there", "There"];
const FINE_BEFORE: [&str; 24] = [
    "longer",
    "more",
    "such",
    "other",
    "need",
    "way",
    "room",
    "doubt",
    "matter",
    "use",
    "further",
    "less",
    "better",
    "later",
    "earlier",
    "reason",
    "danger",
    "exception",
    "effect",
    "difference",
    "harm",
    "default",
    "limit",
    "change",
];

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let kind = path.extension().and_then(|kind| kind.to_str());
        if path.is_dir() {
            if !path.ends_with("vendor") && !path.ends_with("decisions") {
                files(&path, found);
            }
        } else if matches!(kind, Some("rs" | "md" | "js" | "ts" | "css" | "yaml")) {
            found.push(path);
        }
    }
}

/// `x is no list`, where `x is not a list` is meant.
fn says_is_no(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.windows(4).any(|four| {
        let bare = |word: &str| {
            let mut parts = word.rsplit(|c: char| !c.is_alphabetic());
            parts.find(|part| !part.is_empty()).unwrap_or_default().to_owned()
        };
        ["is", "was"].contains(&four[1])
            && four[2] == "no"
            && !FINE_AFTER.contains(&bare(four[0]).as_str())
            && !FINE_BEFORE.contains(&bare(four[3]).as_str())
    })
}

#[test]
fn what_readers_stumbled_over_does_not_come_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = Vec::new();
    for name in ["aye", "aye-core", "aye-process", "aye-runtime"] {
        files(&root.join("crates").join(name).join("src"), &mut all);
    }
    for name in ["docs", "bench", "examples", "editors/vscode/src"] {
        files(&root.join(name), &mut all);
    }
    all.extend(PAGES.map(|name| root.join(name)));
    let mut wrong = Vec::new();
    for path in &all {
        let text = std::fs::read_to_string(path).unwrap();
        for (number, line) in text.lines().enumerate() {
            let place = || format!("{}:{}: {}", path.display(), number + 1, line.trim());
            for (phrase, better) in PHRASES {
                if line.contains(phrase) {
                    wrong.push(format!("{}\n  `{phrase}`: write {better}", place()));
                }
            }
            let read = if is_read(path, line) { &READ[..] } else { &[] };
            for (phrase, better) in read {
                if line.contains(phrase) {
                    wrong.push(format!("{}\n  `{phrase}`: write {better}", place()));
                }
            }
            // Names of tests hold words between underscores.
            for word in line.split(|c: char| !c.is_alphanumeric() && c != '_') {
                for (bad, better) in WORDS {
                    if word.eq_ignore_ascii_case(bad) {
                        wrong.push(format!("{}\n  `{word}`: write {better}", place()));
                    }
                }
            }
            if says_is_no(line) {
                wrong.push(format!("{}\n  `is no`: write `is not a`", place()));
            }
        }
    }
    assert!(all.len() > 500, "{}", all.len());
    assert!(wrong.is_empty(), "{} places:\n{}", wrong.len(), wrong.join("\n"));
}

/// The file that explains a folder: `mod.rs` or `lib.rs` in it, or `folder.rs` beside it.
fn explains(folder: &Path) -> Option<PathBuf> {
    let inside = ["mod.rs", "lib.rs"].map(|name| folder.join(name));
    inside.into_iter().chain([folder.with_extension("rs")]).find(|path| path.is_file())
}

fn folders(folder: &Path, found: &mut Vec<PathBuf>) {
    found.push(folder.to_path_buf());
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // The page has modules of a browser.
        if path.is_dir() && !path.ends_with("serve/page") {
            folders(&path, found);
        }
    }
}

/// Words that say what becomes of the data.
const FLOWS: [&str; 28] = [
    "go", "goes", "come", "comes", "hands", "returns", "reads", "read", "writes", "shows", "show",
    "draws", "prints", "paints", "sends", "commits", "binds", "starts", "becomes", "asks", "ask",
    "turns", "get", "renders", "masked", "compiled", "woken", "decide",
];

/// What is said after the place where a text says what it touches.
fn after_touching(said: &str) -> Option<&str> {
    let at = ["ouches", "No IO", "no IO"].iter().filter_map(|word| said.rfind(word)).max()?;
    let rest = &said[at..];
    Some(rest.find([';', '.', ':']).map_or("", |end| &rest[end + 1..]))
}

#[test]
fn every_folder_says_what_lives_there_what_it_touches_and_where_the_data_goes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
    let mut all = Vec::new();
    for name in ["aye", "aye-core", "aye-process", "aye-runtime"] {
        folders(&root.join(name).join("src"), &mut all);
    }
    let mut seen = 0;
    for folder in &all {
        let Some(path) = explains(folder) else { continue };
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = text.lines().take_while(|line| line.starts_with("//!"));
        let said: String = lines.map(|line| line.trim_start_matches("//!")).collect();
        assert!(said.len() > 100, "{}: says too little: {said}", path.display());
        let next = after_touching(&said);
        let next =
            next.unwrap_or_else(|| panic!("{}: does not say what it touches", path.display()));
        let mut words = next.split(|c: char| !c.is_alphanumeric());
        assert!(
            words.any(|word| FLOWS.contains(&word)),
            "{}: does not say where the data goes next: {said}",
            path.display()
        );
        seen += 1;
    }
    assert!(seen > 60, "{seen}");
}
