//! Parts of a secret beside the place where a message was cut: `ghp_abcdefgh…`.
//!
//! Values are quoted and shortened in many places, most of which know no secrets. What is left
//! of one there is no form of it any more; the mark beside it says where to look.

/// What stands where a text was cut.
const CUT: &str = "…";
/// The end of the line in front of an output whose beginning was dropped.
const DROPPED: &str = " bytes dropped]\n";

/// Shorter parts say too little, and are found where no secret is.
const SHORTEST: usize = 8;

/// No message is longer; output that programs wrote is, and is not cut with a mark.
const LONGEST_MESSAGE: usize = 256 * 1024;

/// The text with the parts of secrets replaced that end or begin at a cut; `None` if there are
/// none.
pub(super) fn mask_beside_cuts(text: &str, forms: &[String]) -> Option<String> {
    let is_cut = text.contains(CUT) || text.contains(DROPPED);
    if !is_cut || text.len() > LONGEST_MESSAGE {
        return None;
    }
    let before = text.match_indices(CUT).map(|(at, _)| (at, longest_end(&text[..at], forms)));
    let before = before.map(|(at, length)| at - length..at);
    let marks = text.match_indices(CUT).chain(text.match_indices(DROPPED));
    let after = marks.map(|(at, mark)| at + mark.len());
    let after = after.map(|at| at..at + longest_beginning(&text[at..], forms));
    let mut found: Vec<_> = before.chain(after).filter(|part| !part.is_empty()).collect();
    if found.is_empty() {
        return None;
    }
    found.sort_by_key(|part| part.start);
    let (mut masked, mut at) = (String::new(), 0);
    for part in found {
        if part.start >= at {
            masked.push_str(&text[at..part.start]);
            masked.push_str(super::HIDDEN);
        }
        at = at.max(part.end);
    }
    masked.push_str(&text[at..]);
    Some(masked)
}

/// How many bytes at the end of a text are the beginning of a secret.
fn longest_end(text: &str, forms: &[String]) -> usize {
    let of = |form: &String| {
        let form = form.as_bytes();
        let most = text.len().min(form.len().saturating_sub(1));
        let end = &text.as_bytes()[text.len() - most..];
        let begins = form.get(..SHORTEST)?;
        let mut places = end.windows(SHORTEST).enumerate().filter(|(_, part)| *part == begins);
        let whole = |at: &usize| form.starts_with(&end[*at..]);
        places.find_map(|(at, _)| Some(at).filter(whole)).map(|at| most - at)
    };
    forms.iter().filter_map(of).max().unwrap_or(0)
}

/// How many bytes at the beginning of a text are the end of a secret.
fn longest_beginning(text: &str, forms: &[String]) -> usize {
    let Some(begins) = text.as_bytes().get(..SHORTEST) else { return 0 };
    let of = |form: &String| {
        let form = form.as_bytes();
        let mut places = form.windows(SHORTEST).enumerate().filter(|(_, part)| *part == begins);
        let whole = |at: &usize| text.as_bytes().starts_with(&form[*at..]);
        places.find_map(|(at, _)| Some(at).filter(whole)).map(|at| form.len() - at)
    };
    forms.iter().filter_map(of).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::quote;
    use crate::secrets::Secrets;

    fn secrets(values: &[&str]) -> Secrets {
        let mut secrets = Secrets::default();
        for (at, value) in values.iter().enumerate() {
            secrets.insert(format!("s{at}"), *value);
        }
        secrets
    }

    /// No eight letters in a row of any of them.
    fn tells_nothing(secrets: &[&str], text: &str) {
        for secret in secrets {
            let letters: Vec<char> = secret.chars().collect();
            for part in letters.windows(super::SHORTEST) {
                let part: String = part.iter().collect();
                assert!(!text.contains(&part), "{part:?} in {text}");
            }
        }
    }

    #[test]
    fn what_is_left_of_a_secret_at_a_cut() {
        let long = |length: usize| -> String {
            (0..length).map(|at| format!("{at:x}-")).collect::<String>()[..length].to_owned()
        };
        for length in [61, 98, 300, 5000] {
            let secret = format!("ghp_{}", long(length));
            let known = secrets(&[&secret]);
            for lead in ["", "https://me:", "é "] {
                let value = format!("{lead}{secret}");
                let quoted = quote(&value);
                assert!(quoted.ends_with("…`"), "{quoted}");
                tells_nothing(&[&secret], &known.mask(&format!("{quoted} does not match")));
                let dropped = format!("[12 bytes dropped]\n{} and", &secret[20..]);
                assert_eq!(known.mask(&dropped), "[12 bytes dropped]\n*** and");
            }
        }
    }

    #[test]
    fn what_a_message_escapes_and_cuts() {
        for secret in
            ["abcdWXYZ\u{1b}efgh1234", "it's\na \"key\"\nof lines", "tab\tand\u{200b}nothing é"]
        {
            let known = secrets(&[secret]);
            let long = format!("{secret}{}", "x".repeat(80));
            let longer = secrets(&[&long]);
            for (known, secret) in [(&known, secret), (&longer, &long)] {
                let escaped = secret.escape_debug().to_string();
                for text in [quote(secret), format!("`{escaped}`"), format!("{secret:?}")] {
                    let parts: Vec<&str> = secret.split(|c: char| !c.is_alphanumeric()).collect();
                    tells_nothing(&parts, &known.mask(&text));
                    tells_nothing(&[&escaped, secret], &known.mask(&text));
                }
            }
        }
    }

    #[test]
    fn other_texts_with_a_cut_stay() {
        let known = secrets(&["hunter2-swordfish-and-more"]);
        for text in ["hunter…", "a hunter2-x…", "…fish-and", "…", "nothing", "é…hunter2-"]
        {
            assert_eq!(known.mask(text), text);
        }
        assert_eq!(known.mask("a hunter2-sword… b"), "a ***… b");
        assert_eq!(known.mask("…fish-and-more b"), "…*** b");
        assert_eq!(known.mask("…hunter2-swordfish-and-more…"), "…***…");
    }
}
