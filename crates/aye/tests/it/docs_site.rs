//! The documentation: every link leads somewhere, and mdBook builds the site.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::needs;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The pages that people read: the site, and what stands in the root and beside the examples.
fn pages() -> Vec<PathBuf> {
    fn add(directory: &Path, pages: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                add(&path, pages);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    let root = root();
    let mut pages: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md"]
            .iter()
            .map(|name| root.join(name))
            .collect();
    add(&root.join("docs"), &mut pages);
    pages
}

/// The text without its blocks and its `code`: what looks like a link there is none.
fn prose(text: &str) -> String {
    let mut inside = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if !inside {
            let parts = line.split('`').enumerate().filter(|(number, _)| number % 2 == 0);
            parts.for_each(|(_, part)| prose.push_str(part));
            prose.push('\n');
        }
    }
    prose
}

/// The fragments that the headings of a page give.
fn anchors(text: &str) -> Vec<String> {
    let heading = |line: &&str| line.starts_with('#');
    let name = |line: &str| {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = |c: &char| c.is_alphanumeric() || "-_ ".contains(*c);
        words.chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    text.lines().filter(heading).map(name).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut seen = 0;
    for page in pages() {
        let text = prose(&std::fs::read_to_string(&page).unwrap());
        let whole = std::fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
            if file.contains("://") {
                continue;
            }
            seen += 1;
            let target = page.parent().unwrap().join(file);
            let found = file.is_empty() || target.exists();
            assert!(found, "{} links to {link}, which does not exist", page.display());
            if !fragment.is_empty() {
                let text = if file.is_empty() {
                    whole.clone()
                } else {
                    std::fs::read_to_string(&target).unwrap_or_default()
                };
                let known = anchors(&text);
                let found = known.iter().any(|anchor| anchor == fragment);
                assert!(found, "{} links to {link}; its headings: {known:?}", page.display());
            }
        }
    }
    assert!(seen > 60, "only {seen} links");
}

#[test]
fn every_page_of_the_site_is_in_its_summary() {
    let docs = root().join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    for page in pages() {
        let Ok(name) = page.strip_prefix(&docs) else { continue };
        let name = name.to_str().unwrap();
        // Decisions are for developers; they are read in the repository.
        let outside = name == "SUMMARY.md" || name.starts_with("decisions/");
        assert!(outside || summary.contains(&format!("({name})")), "{name} is not in SUMMARY.md");
    }
}

#[test]
fn mdbook_builds_the_site_without_complaint() {
    let mdbook = needs::installed("mdbook/bin/mdbook");
    let built = tempfile::tempdir().unwrap();
    let mut command = Command::new(mdbook);
    let ran = command.arg("build").arg("--dest-dir").arg(built.path()).current_dir(root());
    let output = ran.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(!said.contains("WARN") && !said.contains("ERROR"), "{said}");
    for page in ["introduction.html", "tutorials/first-skill.html", "reference/skills.html"] {
        assert!(built.path().join(page).is_file(), "{page} is missing");
    }
}
