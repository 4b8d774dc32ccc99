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
        } else if matches!(kind, Some("rs" | "md" | "js")) {
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
    files(&root.join("docs"), &mut all);
    all.extend(["README.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(|name| root.join(name)));
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
            // Names of tests hold words between underscores.
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            if words.any(|word| matches!(word, "somebody" | "Somebody")) {
                wrong.push(format!("{}\n  `somebody`: write someone", place()));
            }
            if says_is_no(line) {
                wrong.push(format!("{}\n  `is no`: write `is not a`", place()));
            }
        }
    }
    assert!(all.len() > 500, "{}", all.len());
    assert!(wrong.is_empty(), "{} places:\n{}", wrong.len(), wrong.join("\n"));
}
