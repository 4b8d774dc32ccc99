//! Small helpers for messages: quoting, lists, "did you mean".

use super::visible;

/// Names longer than this are no typing mistakes of one another.
const LONGEST: usize = 64;
/// Longer values are cut when they are quoted in a message.
const LONGEST_QUOTE: usize = 60;

/// The candidate that a misspelt word was probably meant to be.
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let length = word.chars().count();
    if length == 0 || length > LONGEST {
        return None;
    }
    let allowed = match length {
        1..=2 => 1,
        3..=5 => 2,
        6..=9 => 3,
        _ => 4,
    };
    let folded = fold(word);
    candidates
        .into_iter()
        .filter(|candidate| candidate.len().abs_diff(word.len()) <= allowed + 2)
        .map(|candidate| (strsim::osa_distance(&folded, &fold(candidate)), candidate))
        // A distance as long as the word replaces all of it.
        .filter(|(distance, _)| *distance <= allowed && *distance < length)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Case and the choice between `_`, `-` and nothing are no differences.
fn fold(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

/// A value for a message: in backticks, on one line, cut if it is long.
pub fn quote(value: &str) -> String {
    let shown = visible(value);
    if shown.chars().count() <= LONGEST_QUOTE {
        return format!("`{shown}`");
    }
    let cut: String = shown.chars().take(LONGEST_QUOTE - 1).collect();
    format!("`{cut}…`")
}

/// Words for a message: `` `a`, `b` or `c` ``.
pub fn quote_list<'a>(words: impl IntoIterator<Item = &'a str>, joint: &str) -> String {
    let mut quoted: Vec<String> = words.into_iter().map(quote).collect();
    match quoted.pop() {
        None => String::new(),
        Some(last) if quoted.is_empty() => last,
        Some(last) => format!("{} {joint} {last}", quoted.join(", ")),
    }
}
