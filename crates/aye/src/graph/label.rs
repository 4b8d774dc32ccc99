//! Words from a skill, made fit for one line of a drawing.

use aye_core::diagnostic::is_hidden;
use aye_core::skill::{Action, Step};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Stands for a character that must not reach a screen.
const NEUTRAL: char = '\u{fffd}';

/// The text on one line: white space joined, and whatever would move a
/// cursor, turn the reading direction or hide itself replaced.
pub(super) fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().map(|c| if acts(c) { NEUTRAL } else { c }).collect()
}

/// Whether a character does something other than being seen. Characters that
/// XML forbids are among them.
fn acts(c: char) -> bool {
    c.is_control() || is_hidden(c) || matches!(c, '\u{fffe}' | '\u{ffff}')
}

/// At most `width` columns of `text`, with `mark` at the end if some is missing.
pub(super) fn cut(text: &str, width: usize, mark: &str) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(mark.width());
    let mut used = 0;
    let mut kept: String = text
        .chars()
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= room
        })
        .collect();
    // Characters that join their neighbours may need more room together.
    while kept.width() > room {
        kept.pop();
    }
    let mut kept = kept.trim_end().to_owned();
    kept.push_str(&cut(mark, width, ""));
    kept
}

/// What a step does, as written: its command line, script or question.
pub(super) fn detail(step: &Step) -> String {
    match &step.action {
        Action::Command { program, args } => {
            let words: Vec<String> =
                std::iter::once(program).chain(args).map(|word| quoted(word)).collect();
            words.join(" ")
        }
        Action::Shell { script } => first_line(script),
        Action::Ask(ask) => plain(&ask.message),
        Action::Tool { tool, .. } => plain(&format!("tool {}", tool.value)),
        Action::Skill { skill, .. } => plain(&format!("skill {}", skill.value)),
        Action::Compute { code, .. } => first_line(code),
        Action::ForEach(each) => {
            let items = match &each.items {
                serde_json::Value::String(text) => text.clone(),
                items => items.to_string(),
            };
            let inside: Vec<String> = each.body.iter().map(detail).collect();
            plain(&format!("for each {} of {items}: {}", each.name, inside.join("; ")))
        }
        Action::Return { text } => format!("return {}", first_line(text)),
        Action::Note => step.description.as_deref().map(plain).unwrap_or_default(),
    }
}

fn first_line(script: &str) -> String {
    let mut lines = script.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().map(plain).unwrap_or_default();
    if lines.next().is_some() { format!("{first} …") } else { first }
}

/// An argument; in quotes if it would not be seen to be one.
fn quoted(word: &str) -> String {
    let mut depth = 0_usize;
    let mut loose = word.is_empty();
    let mut last = ' ';
    for c in word.chars() {
        match (last, c) {
            ('{', '{' | '%') => depth += 1,
            ('}' | '%', '}') => depth = depth.saturating_sub(1),
            (_, c) if depth == 0 => loose |= c.is_whitespace(),
            _ => {}
        }
        last = c;
    }
    if loose { format!("'{}'", plain(word)) } else { plain(word) }
}
