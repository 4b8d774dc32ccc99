//! How alike two errors are, once what varies is replaced.

/// From this on they are the same.
pub const SAME: f64 = 0.70;

/// More words than this say no more.
const WORDS: usize = 200;

/// 0 for nothing in common, 1 for the same words in the same order: twice the
/// longest common sequence of words by the number of all words.
pub fn similarity(one: &str, other: &str) -> f64 {
    let (one, other) = (words(one), words(other));
    let total = one.len() + other.len();
    if total == 0 {
        return 1.0;
    }
    // One row of the table is enough for its length.
    let mut row = vec![0usize; other.len() + 1];
    for word in &one {
        let mut diagonal = 0;
        for (column, candidate) in other.iter().enumerate() {
            let above = row[column + 1];
            row[column + 1] = if word == candidate { diagonal + 1 } else { above.max(row[column]) };
            diagonal = above;
        }
    }
    2.0 * row[other.len()] as f64 / total as f64
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !(c.is_alphanumeric() || "_<>-".contains(c)))
        .filter(|word| !word.is_empty())
        .take(WORDS)
        .map(str::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_is_one_and_nothing_in_common_is_zero() {
        assert_eq!(similarity("a b c", "A, b: c!"), 1.0);
        assert_eq!(similarity("a b c", "x y z"), 0.0);
        assert_eq!(similarity("", ""), 1.0);
        assert_eq!(similarity("a", ""), 0.0);
    }

    #[test]
    fn it_counts_words_in_order() {
        // Three of four and four words: 6 / 8.
        assert_eq!(similarity("a b c d", "a b c x"), 0.75);
        assert!(similarity("push before commit", "commit before push") < SAME);
    }

    #[test]
    fn it_does_not_matter_which_comes_first() {
        let (one, other) = ("image <hash> not found in registry", "image <hash> was not found");
        assert_eq!(similarity(one, other), similarity(other, one));
        assert!(similarity(one, other) >= SAME);
    }
}
