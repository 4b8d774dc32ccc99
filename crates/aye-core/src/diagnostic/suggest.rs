//! Small helpers for messages: quoting, lists, "did you mean".

use super::visible;

/// Names longer than this are not a typing mistakes of one another.
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

/// The candidate that a misspelt word was surely meant to be: closer than a
/// hint has to be, nearer than any other, and with the same digits, because
/// `node1` is not a slip for `node2`.
pub fn surely_meant<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let length = word.chars().count();
    let allowed = match length {
        0..=2 => 0,
        3..=5 => 1,
        6..=9 => 2,
        _ => 3,
    };
    if length == 0 || length > LONGEST {
        return None;
    }
    let digits = |word: &str| word.chars().filter(char::is_ascii_digit).collect::<String>();
    let (folded, own_digits) = (fold(word), digits(word));
    let mut near: Vec<((usize, usize), &str)> = candidates
        .into_iter()
        .filter(|candidate| *candidate != word && candidate.len().abs_diff(word.len()) <= 8)
        .filter(|candidate| digits(candidate) == own_digits)
        .map(|candidate| {
            let distance = strsim::osa_distance(&folded, &fold(candidate));
            ((distance, strsim::osa_distance(word, candidate)), candidate)
        })
        .filter(|((distance, _), _)| *distance <= allowed)
        .collect();
    near.sort_unstable();
    near.dedup();
    match near.as_slice() {
        [(_, only)] => Some(*only),
        [(best, nearest), (next, _), ..] if best < next => Some(*nearest),
        _ => None,
    }
}

/// Case and the choice between `_`, `-` and nothing are not differences.
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

#[cfg(test)]
mod tests {
    use super::surely_meant;

    #[test]
    fn only_what_is_surely_meant() {
        let names =
            ["commit", "commit_sha", "image", "node2", "tags", "tag", "n", "Total", "total"];
        let meant = |word| surely_meant(word, names);
        assert_eq!(meant("comit"), Some("commit"));
        assert_eq!(meant("commitSha"), Some("commit_sha"));
        assert_eq!(meant("imgae"), Some("image"));
        assert_eq!(meant("totl"), Some("total"));
        assert_eq!(surely_meant("bead", ["beat", "bear"]), None, "both are as near");
        assert_eq!(meant("node1"), None, "another number is another thing");
        assert_eq!(meant("m"), None, "too short to be a slip");
        assert_eq!(meant("N"), Some("n"));
        assert_eq!(meant("tagz"), None, "both are as near");
        assert_eq!(meant("lag"), Some("tag"));
        assert_eq!(meant("image"), None);
        assert_eq!(meant("picture"), None);
        assert_eq!(meant(""), None);
    }
}
