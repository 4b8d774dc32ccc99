//! `docs/explanation/trust.md` names the test behind each promise: every one of them exists.

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

#[test]
fn every_test_that_the_page_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/explanation/trust.md")).unwrap();
    let named: Vec<&str> =
        page.split('`').skip(1).step_by(2).filter(|word| word.contains("::")).collect();
    assert!(named.len() > 30, "only {} are named", named.len());
    for named in named.into_iter().filter(|named| *named != "module::test") {
        let (files, test) = places(&root, named);
        assert!(!files.is_empty(), "`{named}` is not a module of the tests");
        if let Some(test) = test {
            let line = format!("fn {test}()");
            let holds = |path: &PathBuf| std::fs::read_to_string(path).unwrap().contains(&line);
            assert!(files.iter().any(holds), "`{named}` is not a test");
        }
    }
}
