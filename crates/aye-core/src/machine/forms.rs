//! The forms in which a secret may show: as it is, encoded, escaped.

/// Parts of an encoding shorter than this say too little, and are found where
/// no secret is.
const TELLING: usize = 8;

/// The most lines of a secret that are masked one by one.
const MOST_LINES: usize = 200;

/// Every form of a secret, the secret itself first.
pub(super) fn forms(secret: &str) -> Vec<String> {
    // Without the line break that a file or a paste brings along.
    let secret = secret.trim();
    let mut forms = vec![secret.to_owned()];
    // A key of many lines may be shown in parts.
    let lines = secret.lines().map(str::trim).filter(|line| line.len() >= TELLING);
    forms.extend(lines.take(MOST_LINES).map(str::to_owned));
    forms.extend(base64(secret.as_bytes()));
    forms.extend([percent(secret, false), percent(secret, true), form_field(secret)]);
    let escaped = serde_json::Value::from(secret).to_string();
    forms.push(escaped.trim_matches('"').to_owned());
    forms.retain(|form| !form.is_empty());
    let mut known = std::collections::HashSet::new();
    forms.retain(|form| known.insert(form.clone()));
    forms
}

/// The secret in Base64, in both alphabets, wherever in a longer text it
/// stood: what of it does not depend on its neighbours.
fn base64(secret: &[u8]) -> Vec<String> {
    const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const FOR_URLS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut found = Vec::new();
    for alphabet in [STANDARD, FOR_URLS] {
        for before in 0..3_usize {
            let mut bytes = vec![0; before];
            bytes.extend_from_slice(secret);
            let bits = bytes.len() * 8;
            let letter = |at: usize| {
                let bit = |i: usize| bytes.get(i / 8).map_or(0, |byte| (byte >> (7 - i % 8)) & 1);
                let index = (at * 6..at * 6 + 6).fold(0, |all, i| all << 1 | bit(i));
                char::from(alphabet[usize::from(index)])
            };
            // Only letters all of whose bits are the secret's own.
            let first = (before * 8).div_ceil(6);
            let text: String = (first..bits / 6).map(letter).collect();
            if text.len() >= TELLING {
                found.push(text);
            }
        }
    }
    found
}

/// As in an address; whoever encodes decides about the case of the digits.
fn percent(secret: &str, lower: bool) -> String {
    let mut text = String::new();
    for byte in secret.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                text.push(char::from(byte));
            }
            other if lower => text.push_str(&format!("%{other:02x}")),
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    text
}

/// As in the body of a form, where a blank is a plus.
fn form_field(secret: &str) -> String {
    percent(secret, false).replace("%20", "+")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_known_in_every_form() {
        let all = forms("s3cret pass/word+\"é\n");
        for form in [
            "s3cret pass/word+\"é",
            "s3cret%20pass%2Fword%2B%22%C3%A9",
            "s3cret%20pass%2fword%2b%22%c3%a9",
            "s3cret+pass%2Fword%2B%22%C3%A9",
            "s3cret pass/word+\\\"é",
            // base64 of it, of "x" and it, of "xx" and it, as far as they are its own
            "czNjcmV0IHBhc3Mvd29yZCsiw6",
        ] {
            assert!(all.contains(&form.to_owned()), "{form} in {all:?}");
        }
        let basic = "dXNlcjpzM2NyZXQgcGFzcy93b3JkKyLDqQ=="; // user:s3cret pass/word+"é
        assert!(all.iter().any(|form| basic.contains(form.as_str())), "{all:?}");
    }

    #[test]
    fn short_secrets_have_no_parts_that_are_found_everywhere() {
        assert_eq!(forms("1234"), ["1234"]);
        assert_eq!(forms("  \n"), Vec::<String>::new());
    }

    #[test]
    fn lines_of_a_key_are_masked_one_by_one() {
        let all = forms("-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nabc\n-----END KEY-----\n");
        assert!(all.contains(&"MIIEvQIBADANBgkq".to_owned()));
        assert!(!all.contains(&"abc".to_owned()));
    }
}
