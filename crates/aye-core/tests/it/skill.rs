//! Skill files: what is read, and what is said about what is wrong.

mod good;
mod inputs;
mod keys;
mod limits;
mod patch;
mod places;
mod questions;
mod robust;
mod schema;
mod states;
mod steps;
mod syntax;
mod top;
mod whole;

use aye_core::diagnostic::{Source, render, summary};
use aye_core::skill::{Skill, parse};

/// Everything said about a file, as a person reads it. The text may be
/// indented with the test around it.
fn check(text: &str) -> String {
    let text = dedent(text);
    let parsed = parse("demo.yaml", &text);
    let source = Source::new("demo.yaml", &text);
    let mut said: Vec<String> =
        parsed.diagnostics.iter().map(|found| render(found, &source, false)).collect();
    let total = summary(&parsed.diagnostics).unwrap_or_else(|| "nothing to say".to_owned());
    assert!(parsed.has_errors() || !parsed.skills.is_empty(), "{total}");
    said.push(total);
    said.join("\n")
}

fn dedent(text: &str) -> String {
    let text = text.strip_prefix('\n').unwrap_or(text);
    let blank = |line: &&str| line.trim().is_empty();
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let least = text.lines().filter(|line| !blank(line)).map(indent).min().unwrap_or(0);
    let lines = text.lines().map(|line| line.get(least..).unwrap_or_default());
    let mut out: String = lines.flat_map(|line| [line, "\n"]).collect();
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// The only skill of a file that has nothing wrong with it.
fn sound(text: &str) -> Skill {
    let mut parsed = parse("demo.yaml", &dedent(text));
    assert_eq!(parsed.diagnostics, []);
    assert_eq!(parsed.skills.len(), 1);
    parsed.skills.remove(0)
}

/// The codes of everything said about a file.
fn codes(text: &str) -> Vec<&'static str> {
    parse("demo.yaml", text).diagnostics.iter().map(|found| found.code).collect()
}
