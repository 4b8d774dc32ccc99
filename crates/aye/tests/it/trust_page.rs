//! `docs/explanation/trust.md` names the test behind each promise, and the comparison in the
//! README the test behind each claim about Aye: every one of them exists.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// `cli::trusting::name` as the files that may hold it, and the test, if one is named.
fn places(root: &Path, named: &str) -> (Vec<PathBuf>, Option<String>) {
    let parts: Vec<&str> = named.split("::").collect();
    let crates = ["aye", "aye-runtime", "aye-process", "aye-core"];
    let mut found = Vec::new();
    for (length, test) in [(parts.len(), None), (parts.len() - 1, parts.last())] {
        let module = parts[..length].join("/");
        for name in crates {
            let base = root.join("crates").join(name).join("tests/it");
            for file in [format!("{module}.rs"), format!("{module}/mod.rs")] {
                let path = base.join(file);
                if path.is_file() && length > 0 {
                    found.push(path);
                }
            }
        }
        if !found.is_empty() {
            return (found, test.map(|test| (*test).to_owned()));
        }
    }
    (found, None)
}

/// The tests that a text names, each in backticks; fails if one does not exist.
fn named_tests<'a>(root: &Path, text: &'a str) -> Vec<&'a str> {
    let quoted = text.split('`').skip(1).step_by(2);
    let named: Vec<&str> = quoted.filter(|named| *named != "module::test").collect();
    for named in &named {
        let (files, test) = places(root, named);
        assert!(!files.is_empty(), "`{named}` is not a module of the tests");
        if let Some(test) = test {
            let line = format!("fn {test}()");
            let holds = |path: &PathBuf| std::fs::read_to_string(path).unwrap().contains(&line);
            assert!(files.iter().any(holds), "`{named}` is not a test");
        }
    }
    named
}

#[test]
fn every_test_that_the_page_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/explanation/trust.md")).unwrap();
    let quoted = page.split('`').skip(1).step_by(2).filter(|word| word.contains("::"));
    let quoted: String = quoted.map(|word| format!("`{word}` ")).collect();
    let named = named_tests(&root, &quoted);
    assert!(named.len() > 30, "only {} are named", named.len());
}

/// The rows of a table, without its head, as cells.
fn rows<'a>(page: &'a str, head: &str) -> Vec<Vec<&'a str>> {
    let table = page.lines().skip_while(|line| !line.starts_with(head)).skip(2);
    let rows = table.take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

#[test]
fn every_claim_of_the_comparison_names_its_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let compared = rows(&readme, "| | best at | what Aye adds |");
    assert!(compared.len() >= 6, "{compared:?}");
    let mut claimed = BTreeSet::new();
    for row in &compared {
        let [other, best, adds, better] = row[..] else { panic!("four cells: {row:?}") };
        assert!(![other, best, adds, better].contains(&""), "{row:?}");
        claimed.extend(adds.split("; "));
    }
    let mut shown = BTreeSet::new();
    for row in rows(&readme, "| claim | tests |") {
        let [claim, tests] = row[..] else { panic!("two cells: {row:?}") };
        assert!(!named_tests(&root, tests).is_empty(), "`{claim}` names no test");
        shown.insert(claim);
    }
    assert_eq!(claimed, shown, "each claim about Aye has its tests, and no other has");
}
