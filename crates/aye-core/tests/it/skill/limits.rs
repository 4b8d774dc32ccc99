//! What is refused before it can cost anything.

use std::time::{Duration, Instant};

use super::{check, codes};

/// Far more than any refusal takes, far less than a bomb would.
const AT_MOST: Duration = Duration::from_secs(20);

#[expect(clippy::disallowed_methods, reason = "a test may look at the clock")]
fn quickly(text: &str) -> Vec<&'static str> {
    let start = Instant::now();
    let codes = codes(text);
    assert!(start.elapsed() < AT_MOST, "took {:?}", start.elapsed());
    codes
}

#[test]
fn ten_megabytes() {
    let text = "a: 1\n".repeat(2 * 1024 * 1024);
    assert_eq!(quickly(&text), ["too-large"]);
    insta::assert_snapshot!(check(&text[..2 * 1024 * 1024]), @"
    error[too-large]: the file has 2048 KiB, the limit is 1024 KiB
      --> demo.yaml
    hint: a skill is a short text; keep data in files of its own

    1 error
    ");
}

#[test]
fn a_billion_laughs() {
    let mut text = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
    for level in 1..10 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    assert_eq!(quickly(&text), ["too-many-values"]);
    insta::assert_snapshot!(check(&text), @"
    error[too-many-values]: the file has more than 100000 values, aliases counted in full
      --> demo.yaml:5:45
       |
     5 | a4: &a4 [*a3, *a3, *a3, *a3, *a3, *a3, *a3, *a3, *a3, *a3]
       |                                             ^^^ the limit is reached here

    1 error
    ");
}

#[test]
fn one_long_text_many_times() {
    let text = format!("a: &a {}\nb: [{}]\n", "x".repeat(500_000), "*a, ".repeat(1000));
    assert_eq!(quickly(&text), ["too-many-values"]);
}

#[test]
fn deep_nesting() {
    for text in [
        format!("a: {}", "[".repeat(100_000)),
        format!("a: {}", "{a: ".repeat(100_000)),
        "- ".repeat(100_000),
        "? ".repeat(100_000),
        (0..500).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect(),
    ] {
        assert_eq!(quickly(&text), ["too-deep"]);
    }
    insta::assert_snapshot!(check(&format!("name: demo\ntags: {}", "[".repeat(70))), @"
    error[too-deep]: lists and mappings are nested more than 64 deep
      --> demo.yaml:2:72
       |
     2 | tags: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
       |                                                                        ^ one too deep

    1 error
    ");
}

#[test]
fn deep_nesting_by_aliases() {
    let mut text = String::from("a0: &a0 [[[[[[[[1]]]]]]]]\n");
    for level in 1..10 {
        text.push_str(&format!("a{level}: &a{level} [[[[[[[[*a{}]]]]]]]]\n", level - 1));
    }
    assert_eq!(quickly(&text), ["too-deep"]);
}

#[test]
fn a_control_character() {
    insta::assert_snapshot!(check("name: demo\ndescription: a\u{1b}[31mb\n"), @r"
    error[control-character]: control character U+001B in the file
      --> demo.yaml:2:15
       |
     2 | description: a\u{1b}[31mb
       |               ^^^^^^ not allowed in YAML
       |
    hint: if it is meant, write `\x1b` inside double quotes

    1 error
    ");
    insta::assert_snapshot!(check("PK\u{3}\u{4}\0\0"), @r"
    error[control-character]: control character U+0003 in the file
      --> demo.yaml:1:3
       |
     1 | PK\u{3}\u{4}\u{0}\u{0}
       |   ^^^^^ not allowed in YAML
       |
    hint: if it is meant, write `\x03` inside double quotes

    1 error
    ");
}

#[test]
fn more_problems_than_anybody_reads() {
    let keys: String = (0..10_000).map(|number| format!("key{number}: 1\n")).collect();
    let found = quickly(&keys);
    assert_eq!(found.len(), 101);
    assert_eq!(found.last(), Some(&"too-many-problems"));
    let said = check(&keys);
    let end = said.find("error[too-many-problems]").expect("the last one");
    insta::assert_snapshot!(&said[end..], @"
    error[too-many-problems]: 9901 more problems are not shown
          --> demo.yaml:10001:1
           |
     10001 |
           | ^

    101 errors
    ");
}

#[test]
fn thousands_of_states_with_wrong_targets() {
    let states: String =
        (0..10_000).map(|n| format!("  s{n}: {{ command: x, on_success: t{n} }}\n")).collect();
    let found = quickly(&format!("name: demo\ninitial: s1\nstates:\n{states}"));
    assert_eq!(found.len(), 101);
}

#[test]
fn a_line_as_long_as_a_file() {
    let text = format!("name: demo\nsteps: [{}]\n", "{ name: one, comand: make }, ".repeat(10_000));
    let rendered = check(&text);
    assert!(rendered.lines().all(|line| line.chars().count() < 200));
}
