//! What Aye says, folded for a terminal.

use crate::term;

use super::sanitizer::{bare, painted_width};

/// Breaks lines that are longer than the terminal where words end; what
/// follows is indented below what the line says. Without columns, as in a
/// pipe, nothing is broken. Neither is code beside a rail, which keeps its sense
/// only as a whole. A command that people copy continues as a shell reads it.
pub fn fold(text: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns.filter(|columns| *columns > 0) else { return text.to_owned() };
    text.split_inclusive('\n').map(|line| fold_line(line, columns, false)).collect()
}

/// The same where every row has to stay below what the line says: a word that is longer
/// than a row, such as a sentence in Chinese, is broken inside.
pub(super) fn fold_rows(text: &str, columns: usize) -> String {
    text.split_inclusive('\n').map(|line| fold_line(line, columns, true)).collect()
}

fn fold_line(line: &str, columns: usize, breaks_words: bool) -> String {
    if painted_width(line.trim_end()) <= columns {
        return line.to_owned();
    }
    let Some(Hang { indent, is_command }) = Hang::of(&bare(line), columns) else {
        return line.to_owned();
    };
    let (end, words) = match is_command {
        true => (" \\", unquoted_words(line)),
        false => ("", line.split(' ').collect()),
    };
    let mut folded = String::new();
    let (mut used, mut gap, mut empty) = (0, 0, true);
    let last = words.len() - 1;
    for (index, word) in words.into_iter().enumerate() {
        gap += usize::from(index > 0);
        if word.is_empty() {
            continue;
        }
        let wide = painted_width(word.trim_end());
        let room = columns.saturating_sub(if index == last { 0 } else { end.len() });
        if breaks_words && !is_command && wide > room.saturating_sub(indent) {
            // It begins where the line is, unless hardly anything fits there.
            if !empty && used + gap + MIN_PIECE > room {
                folded.push('\n');
                (used, gap) = (0, indent);
            }
            folded.push_str(&" ".repeat(gap));
            used = push_broken(&mut folded, word, used + gap, indent, room);
            (gap, empty) = (0, false);
            continue;
        }
        if !empty && used + gap + wide > room {
            folded.push_str(end);
            folded.push('\n');
            (used, gap) = (0, indent);
        }
        folded.push_str(&" ".repeat(gap));
        folded.push_str(word);
        used += gap + wide;
        (gap, empty) = (0, false);
    }
    folded
}

/// The fewest columns of a broken word that are worth a row.
const MIN_PIECE: usize = 8;

/// Adds a word that begins in column `at`, broken wherever a row ends; says where it ends.
fn push_broken(to: &mut String, word: &str, at: usize, indent: usize, room: usize) -> usize {
    let (mut used, mut is_code) = (at, false);
    for c in word.chars() {
        is_code |= c == '\u{1b}';
        let wide = if is_code { 0 } else { term::char_width(c) };
        if used + wide > room && used > indent && c != '\n' {
            to.push('\n');
            to.push_str(&" ".repeat(indent));
            used = indent;
        }
        used += wide;
        to.push(c);
        is_code &= !c.is_ascii_alphabetic();
    }
    used
}

/// The words of a command; what is quoted stays together.
fn unquoted_words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut from, mut quote) = (0, None);
    for (at, letter) in line.char_indices() {
        match (quote, letter) {
            (None, ' ') => {
                words.push(&line[from..at]);
                from = at + 1;
            }
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None | Some(_), _) => {}
        }
    }
    words.push(&line[from..]);
    words
}

/// A text in lines of at most so many columns, broken where words end; a word
/// that is longer than a line is broken inside. Blanks at its beginning stay.
pub(super) fn wrap_words(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let text = text.trim_end();
    let lead = text.len() - text.trim_start_matches(' ').len();
    let mut line = " ".repeat(lead.min(columns / 2));
    let mut lines = Vec::new();
    let mut empty = true;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let gap = usize::from(!empty);
        if !empty && term::width(&line) + gap + term::width(word) > columns {
            lines.push(std::mem::take(&mut line));
        } else if !empty {
            line.push(' ');
        }
        for c in word.chars() {
            if !line.is_empty() && term::width(&line) + term::char_width(c) > columns {
                lines.push(std::mem::take(&mut line));
            }
            line.push(c);
        }
        empty = false;
    }
    lines.push(line);
    lines
}

/// How a line that is too long continues.
struct Hang {
    /// Where what follows begins: below what stands behind `hint:` or behind the
    /// name at the beginning.
    indent: usize,
    is_command: bool,
}

impl Hang {
    /// `None` if the line stays whole.
    fn of(line: &str, columns: usize) -> Option<Self> {
        let text = line.trim_start();
        let lead = term::width(line) - term::width(text);
        let code = text.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        if code.starts_with('|') {
            return None;
        }
        let label = match (text.find("  "), text.find(' ')) {
            (Some(end), _) if end <= columns / 3 => {
                term::width(&text[..end]) + text[end..].len() - text[end..].trim_start().len()
            }
            (_, Some(end)) if text[..end].ends_with(':') || is_number(&text[..end]) => end + 1,
            _ => 2,
        };
        let said = text.chars().skip(label).collect::<String>();
        let is_command = text.starts_with("aye ") || said.starts_with("aye ");
        Some(Self { indent: (lead + label).min(columns / 2), is_command })
    }
}

/// Whether a word is the number of an entry in a list: `12.`.
fn is_number(word: &str) -> bool {
    let digits = word.strip_suffix('.').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{fold, wrap_words};

    fn at_30(text: &str) -> String {
        fold(text, Some(30))
    }

    #[test]
    fn words_stay_whole_below_what_the_line_says() {
        let hint = "hint: give it a name that nobody else has\n";
        assert_eq!(at_30(hint), "hint: give it a name that\n      nobody else has\n");
        let listed = "  after  one two three four five six\n";
        assert_eq!(at_30(listed), "  after  one two three four\n         five six\n");
        let marked = "? release waits for an answer: continue\n";
        assert_eq!(at_30(marked), "? release waits for an answer:\n  continue\n");
        let numbered = " 12. release destructive at most 2m\n";
        assert_eq!(at_30(numbered), " 12. release destructive at\n     most 2m\n");
        assert_eq!(at_30("short\n\n  too\n"), "short\n\n  too\n");
        let long = format!("{} b\n", "a".repeat(40));
        assert_eq!(at_30(&long), format!("{}\n  b\n", "a".repeat(40)));
    }

    #[test]
    fn long_words_stay_below_what_the_line_says_where_rows_count() {
        let cjk = format!("● ask  {}  Proceed", "漢字".repeat(10));
        let folded = super::fold_rows(&cjk, 30);
        assert_eq!(
            folded,
            "● ask  漢字漢字漢字漢字漢字漢\n       字漢字漢字漢字漢字\n       Proceed"
        );
        let painted = format!("ask  \u{1b}[1m{}\u{1b}[0m b", "a".repeat(40));
        assert_eq!(
            super::fold_rows(&painted, 30),
            format!("ask  \u{1b}[1m{}\n     {}\u{1b}[0m b", "a".repeat(25), "a".repeat(15))
        );
    }

    #[test]
    fn words_are_kept_whole_where_that_is_possible() {
        assert_eq!(wrap_words("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap_words("  one two", 6), ["  one", "two"]);
        assert_eq!(wrap_words("a unbreakable b", 5), ["a", "unbre", "akabl", "e b"]);
        assert_eq!(wrap_words("", 5), [""]);
    }

    #[test]
    fn colours_take_no_room() {
        let line = "\u{1b}[36mhint:\u{1b}[0m exactly thirty columns w\n";
        assert_eq!(at_30(line), line);
        let more = "\u{1b}[36mhint:\u{1b}[0m exactly thirty columns wide\n";
        assert_eq!(at_30(more), "\u{1b}[36mhint:\u{1b}[0m exactly thirty columns\n      wide\n");
    }

    /// Words stay whole, and what is copied is still one command.
    #[test]
    fn a_command_continues_as_a_shell_reads_it() {
        let labelled = "  again  aye run release -i version=v1.0.0\n";
        assert_eq!(at_30(labelled), "  again  aye run release -i \\\n         version=v1.0.0\n");
        let bare = "  aye answer k3f9x2m7q1-1 proceed|cancel\n";
        assert_eq!(at_30(bare), "  aye answer k3f9x2m7q1-1 \\\n    proceed|cancel\n");
        let quoted = "  aye run release -i 'a b c d e f'\n";
        assert_eq!(at_30(quoted), "  aye run release -i \\\n    'a b c d e f'\n");
        let fits = "  aye answer k3f9x2m7q1-1 yes\n";
        assert_eq!(at_30(fits), fits);
    }

    #[test]
    fn code_and_pipes_stay_as_they_are() {
        for line in [
            " 12 |     command: npm run build and more\n",
            "    |              ^^^^^^^^ no program is called so\n",
        ] {
            assert_eq!(at_30(line), line);
        }
        let hint = "hint: give it a name that nobody else has\n";
        assert_eq!(fold(hint, None), hint);
    }
}
