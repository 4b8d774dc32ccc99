//! Secrets in a text with escape sequences: they are looked for in what a
//! terminal shows.

use std::borrow::Cow;

/// From so many bytes on, a form is found over the ends of lines.
const LONG: usize = 8;

/// The text with every form of a secret in what is shown replaced by `***`;
/// escape sequences inside stay behind it. The same as `aye-process` does to
/// output as it comes.
pub(super) fn mask_shown(text: &str, forms: &[String]) -> String {
    mask_in(parts(text, is_hidden), forms.iter().map(String::as_str))
}

/// The same for forms that the end of a line cuts, if they are long. Ends of lines stay.
pub(super) fn mask_over_lines(text: &str, forms: &[String]) -> String {
    let long: Vec<Cow<'_, str>> =
        forms.iter().filter(|form| form.len() >= LONG).map(|form| joined(form)).collect();
    let long = long.iter().map(|form| &**form).filter(|form| form.len() >= LONG);
    mask_in(parts(text, |c| is_hidden(c) || is_break(c)), long)
}

/// A form without the ends of its own lines.
fn joined(form: &str) -> Cow<'_, str> {
    match form.contains(is_break) {
        true => Cow::Owned(form.replace(is_break, "")),
        false => Cow::Borrowed(form),
    }
}

fn mask_in<'a>(parts: Vec<Part<'_>>, forms: impl Iterator<Item = &'a str>) -> String {
    let shown: String = parts.iter().filter(|part| part.shown).map(|part| part.text).collect();
    let mut hidden = vec![false; shown.len()];
    for form in forms {
        for (at, _) in shown.match_indices(form) {
            hidden[at..at + form.len()].fill(true);
        }
    }
    let (mut masked, mut at, mut inside) = (String::new(), 0, false);
    for part in parts {
        if !part.shown {
            // What has no shape is not needed inside a secret.
            if !inside || part.text.starts_with(|c| begins_sequence(c) || c == '\n') {
                masked.push_str(part.text);
            }
            continue;
        }
        for letter in part.text.chars() {
            match (hidden[at], inside) {
                (false, _) => masked.push(letter),
                (true, false) => masked.push_str(super::HIDDEN),
                (true, true) => {}
            }
            inside = hidden[at];
            at += letter.len_utf8();
        }
    }
    masked
}

/// Whether a text has something in it that a terminal does not show.
pub(super) fn has_hidden(text: &str) -> bool {
    text.contains(is_hidden)
}

/// Whether a text has more than one line.
pub(super) fn has_lines(text: &str) -> bool {
    text.contains(is_break)
}

fn is_break(letter: char) -> bool {
    matches!(letter, '\n' | '\r')
}

fn is_hidden(letter: char) -> bool {
    is_shapeless(letter) || begins_sequence(letter)
}

/// Whether a sequence begins with it; all but the first are its second letter in one.
fn begins_sequence(letter: char) -> bool {
    letter == '\u{1b}' || in_one(letter).is_some()
}

/// What follows the escape where a sequence does not begin with one letter.
fn in_one(letter: char) -> Option<char> {
    match letter {
        '\u{9b}' => Some('['),
        '\u{9d}' => Some(']'),
        '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}' => Some('P'),
        _ => None,
    }
}

fn is_shapeless(letter: char) -> bool {
    match letter {
        '\0'..='\u{7}' | '\u{e}'..='\u{1a}' | '\u{1c}'..='\u{1f}' | '\u{7f}' => true,
        // The next line.
        '\u{85}' => false,
        '\u{80}'..='\u{9f}' => in_one(letter).is_none(),
        _ => false,
    }
}

/// A piece of a text, and whether a terminal shows it.
struct Part<'a> {
    text: &'a str,
    shown: bool,
}

fn parts(text: &str, hides: impl Fn(char) -> bool) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(&hides) {
        let (before, after) = rest.split_at(at);
        let (sequence, after) = after.split_at(length(after));
        parts.push(Part { text: before, shown: true });
        parts.push(Part { text: sequence, shown: false });
        rest = after;
    }
    parts.push(Part { text: rest, shown: true });
    parts
}

/// How long the sequence or character is that a text begins with.
fn length(text: &str) -> usize {
    let mut letters = text.char_indices();
    let (_, first) = letters.next().unwrap_or_default();
    if is_shapeless(first) || is_break(first) {
        return first.len_utf8();
    }
    let second = in_one(first).or_else(|| letters.next().map(|(_, c)| c));
    let rest = letters.as_str();
    let start = text.len() - rest.len();
    let until = |end: &dyn Fn(char) -> bool| rest.find(end).unwrap_or(rest.len());
    match second {
        // The second begins anew.
        Some('\u{1b}') => first.len_utf8(),
        Some('[') => {
            // A terminal acts on control characters inside, and continues with the sequence.
            let inside = |c: char| match c {
                '\n' | '\r' | '\u{18}' | '\u{1a}' | '\u{1b}' => false,
                c => c <= '?' || c == '\u{7f}',
            };
            let at = until(&|c| !inside(c));
            let last = rest[at..].chars().next().filter(|c| ('@'..='~').contains(c));
            start + at + last.map_or(0, char::len_utf8)
        }
        // A bell ends titles and links; two characters break any of them off.
        Some(kind @ (']' | 'P' | 'X' | '^' | '_')) => {
            let ends = |c| matches!(c, '\u{18}' | '\u{1a}' | '\u{1b}' | '\u{9c}');
            let at = until(&|c| ends(c) || c == '\u{7}' && kind == ']');
            let rest = &rest[at..];
            let broken_off = rest.starts_with('\u{1b}') && !rest.starts_with("\u{1b}\\");
            let end = match rest.chars().next().filter(|_| !broken_off) {
                Some('\u{1b}') => 2,
                Some(end) => end.len_utf8(),
                None => 0,
            };
            start + at + end
        }
        Some(' '..='/') => {
            let at = until(&|c| !(' '..='/').contains(&c));
            start + at + rest[at..].chars().next().map_or(0, char::len_utf8)
        }
        Some(_) | None => start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_lines_do_not_hide_a_long_secret() {
        let forms = ["hunter2-swordfish".to_owned(), "hunter2".to_owned()];
        for (text, shown) in [
            ("a hunter\n2-swo\r\nrdfish b\nc", "a ***\n\n b\nc"),
            ("hunter2-\u{1b}[31m\nswordfish", "***\u{1b}[31m\n"),
            ("hunt\ner2", "hunt\ner2"),
        ] {
            assert_eq!(mask_over_lines(text, &forms), shown);
        }
    }

    #[test]
    fn escape_sequences_do_not_hide_a_secret() {
        let forms = ["hunter2".to_owned(), "hunter".to_owned()];
        for (text, shown) in [
            ("a hun\u{1b}[1;31mter\u{1b}[0m2 b", "a ***\u{1b}[1;31m\u{1b}[0m b"),
            ("h\u{1b}]8;;http://x\u{7}unter2", "***\u{1b}]8;;http://x\u{7}"),
            ("h\u{1b}]0;t\u{1b}\\unter2ö", "***\u{1b}]0;t\u{1b}\\ö"),
            ("h\0u\u{7}n\u{1b}(Bt\u{9b}0me\u{7f}r2.", "***\u{1b}(B\u{9b}0m."),
            ("hun\u{1b}[31mt, hunt\u{1b}", "hun\u{1b}[31mt, hunt\u{1b}"),
            ("\u{1b}", "\u{1b}"),
            ("\u{1b}]open", "\u{1b}]open"),
            ("ü\u{1b}[0mhunter\u{1b}[ö", "ü\u{1b}[0m***\u{1b}[ö"),
            ("hunt\u{1b}\u{1b}[31mer2", "***\u{1b}\u{1b}[31m"),
            ("hun\u{1}t\u{5}er\u{18}2", "***"),
            ("h\u{1b}Pa\u{7}b\u{1b}\\unter2ö", "***\u{1b}Pa\u{7}b\u{1b}\\ö"),
            ("h\u{1b}[3\u{1};\u{7f}1munter2", "***\u{1b}[3\u{1};\u{7f}1m"),
            ("h\u{1b}_a\u{18}unter2", "***\u{1b}_a\u{18}"),
            ("h\u{9d}0;t\u{9c}un\u{84}ter2", "***\u{9d}0;t\u{9c}"),
            ("h\u{90}a\u{7}b\u{1b}[31munter2", "***\u{90}a\u{7}b\u{1b}[31m"),
        ] {
            assert!(has_hidden(text));
            assert_eq!(mask_shown(text, &forms), shown);
        }
    }
}
