//! The forms in which a secret may show: as it is, encoded, escaped.

use crate::diagnostic::visible;

/// Parts of an encoding shorter than this say too little, and are found where
/// no secret is.
const SALIENT: usize = 8;

/// The most lines of a secret that are masked one by one.
const MOST_LINES: usize = 5_000;

/// What is shorter is found everywhere: masking it would mask everything.
const SHORTEST: usize = 3;

/// What encoders for addresses leave as it is, beside letters and digits: all
/// that a path has (Python), a part of an address, a whole address
/// (JavaScript), a form.
const UNTOUCHED: [&str; 5] = ["-._~", "-._~/", "-._~!'()*", "-._~!'()*;,/?:@&=+$#", "-._*"];

/// How long the lines are that `base64` and keys in files have.
const WIDTHS: [usize; 2] = [76, 64];

/// Every form of a secret, the secret itself first; none if it is too short.
pub(super) fn forms(secret: &str) -> Vec<String> {
    // Without the line break that a file or a paste brings along.
    let secret = secret.trim();
    if secret.chars().count() < SHORTEST {
        return Vec::new();
    }
    let mut forms = vec![secret.to_owned()];
    // A key of many lines may be shown in parts.
    let lines = secret.lines().map(str::trim).filter(|line| line.len() >= SALIENT);
    forms.extend(lines.take(MOST_LINES).map(str::to_owned));
    forms.extend(base64(secret.as_bytes()));
    for untouched in UNTOUCHED {
        for lower in [false, true] {
            let encoded = percent(secret, untouched, lower);
            forms.extend([encoded.replace("%20", "+"), encoded]);
        }
    }
    forms.extend(escaped(secret));
    let mut known = std::collections::HashSet::new();
    forms.retain(|form| known.insert(form.clone()));
    forms
}

/// The secret inside the quotes of JSON, of Python, of a shell and of our own messages.
fn escaped(secret: &str) -> Vec<String> {
    let json = serde_json::Value::from(secret).to_string();
    // Without its own quotes, but with one that the secret ends with.
    let json = json[1..json.len() - 1].to_owned();
    // As the engine of the templates does it, for pages.
    let page = each_char(&json, |c| matches!(c, '<' | '>' | '&' | '\'').then(|| unicode(c, false)));
    let ascii = |text: &str, upper| each_char(text, |c| (!c.is_ascii()).then(|| unicode(c, upper)));
    let python = each_char(secret, |c| match c {
        '\\' => Some("\\\\".to_owned()),
        '\n' => Some("\\n".to_owned()),
        '\r' => Some("\\r".to_owned()),
        '\t' => Some("\\t".to_owned()),
        // Only where both quotes are there is one of them escaped.
        '\'' if secret.contains('"') => Some("\\'".to_owned()),
        _ => None,
    });
    let python_ascii = each_char(&python, |c| match u32::from(c) {
        0..0x80 => None,
        code @ 0x80..0x100 => Some(format!("\\x{code:02x}")),
        code @ 0x100..0x1_0000 => Some(format!("\\u{code:04x}")),
        code => Some(format!("\\U{code:08x}")),
    });
    let python_bytes = each_char(&python, |c| {
        let mut bytes = [0; 4];
        let bytes = c.encode_utf8(&mut bytes).bytes();
        (!c.is_ascii()).then(|| bytes.map(|byte| format!("\\x{byte:02x}")).collect())
    });
    // As PHP and others write a slash, with and without letters beyond ASCII.
    let slashed = |text: &str| text.replace('/', "\\/");
    // JSON as a text in JSON.
    let twice = |text: &str| {
        let text = serde_json::Value::from(text).to_string();
        text[1..text.len() - 1].to_owned()
    };
    let every = |upper| each_char(secret, |c| Some(unicode(c, upper)));
    let plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,\n".contains(c);
    let shell = each_char(secret, |c| (!plain(c)).then(|| format!("\\{c}")));
    let in_quotes =
        each_char(secret, |c| matches!(c, '"' | '$' | '`' | '\\').then(|| format!("\\{c}")));
    let quoted = format!("{secret:?}");
    vec![
        visible(secret).into_owned(),
        quoted[1..quoted.len() - 1].to_owned(),
        secret.escape_debug().to_string(),
        secret.escape_default().to_string(),
        every(false),
        every(true),
        twice(&json),
        twice(&ascii(&json, false)),
        twice(&slashed(&json)),
        slashed(&json),
        slashed(&ascii(&json, false)),
        ascii(&json, false),
        ascii(&json, true),
        ascii(&page, false),
        json,
        page,
        python_ascii,
        python_bytes,
        python,
        secret.replace('\'', "'\\''"),
        secret.replace('\'', "'\"'\"'"),
        in_quotes,
        shell,
    ]
}

/// The text with some of its characters written in another way.
fn each_char(text: &str, other: impl Fn(char) -> Option<String>) -> String {
    text.chars().map(|c| other(c).unwrap_or_else(|| c.to_string())).collect()
}

/// `\u00e4`, in two parts where it has to be.
fn unicode(c: char, upper: bool) -> String {
    let part = |unit: &u16| if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") };
    c.encode_utf16(&mut [0; 2]).iter().map(part).collect()
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
            // And those that end a text together with the secret.
            let open: String = (first..bits.div_ceil(6)).map(letter).collect();
            let padded = format!("{open}{}", "=".repeat((3 - bytes.len() % 3) % 3));
            for form in [&text, &padded] {
                if before == 0 && alphabet == STANDARD {
                    found.extend(WIDTHS.into_iter().flat_map(|width| wrapped(form, width)));
                }
            }
            if text.len() >= SALIENT {
                found.extend([padded, open, text]);
            }
        }
    }
    found
}

/// A long text in lines, all together and one by one.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some((line, after)) =
        rest.split_at_checked(width).filter(|(_, after)| !after.is_empty())
    {
        lines.push(line);
        rest = after;
    }
    if lines.is_empty() {
        return Vec::new();
    }
    lines.push(rest);
    let whole = lines.join("\n");
    let telling = lines.into_iter().filter(|line| line.len() >= SALIENT).take(MOST_LINES);
    std::iter::once(whole).chain(telling.map(str::to_owned)).collect()
}

/// As in an address; programs differ in the case of the digits.
fn percent(secret: &str, untouched: &str, lower: bool) -> String {
    let mut text = String::new();
    for byte in secret.bytes() {
        match byte {
            _ if byte.is_ascii_alphanumeric() || untouched.as_bytes().contains(&byte) => {
                text.push(char::from(byte));
            }
            other if lower => text.push_str(&format!("%{other:02x}")),
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    text
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
            "s3cret pass\\/word+\\\"\\u00e9",
            "s3cret pass/word+\\\\\\\"é",
            "\\u0073\\u0033\\u0063\\u0072\\u0065\\u0074\\u0020\\u0070\\u0061\\u0073\\u0073\\u002f\\u0077\\u006f\\u0072\\u0064\\u002b\\u0022\\u00e9",
            // base64 of it, of "x" and it, of "xx" and it, as far as they are its own
            "czNjcmV0IHBhc3Mvd29yZCsiw6",
        ] {
            assert!(all.contains(&form.to_owned()), "{form} in {all:?}");
        }
        let basic = "dXNlcjpzM2NyZXQgcGFzcy93b3JkKyLDqQ=="; // user:s3cret pass/word+"é
        assert!(all.iter().any(|form| basic.contains(form.as_str())), "{all:?}");
    }

    #[test]
    fn nothing_is_left_of_base64_that_ends_with_the_secret() {
        // `printf … | base64`, alone and after `xx`; with and without padding.
        let all = forms("hunter2-swordfish");
        for whole in ["aHVudGVyMi1zd29yZGZpc2g=", "aHVudGVyMi1zd29yZGZpc2g"] {
            assert!(all.contains(&whole.to_owned()), "{whole} in {all:?}");
        }
        let after = "eHhodW50ZXIyLXN3b3JkZmlzaA==";
        let end = all.iter().find(|form| after.ends_with(form.as_str()));
        assert!(end.is_some_and(|form| form.len() > 20), "{all:?}");
    }

    #[test]
    fn short_secrets_have_no_parts_that_are_found_everywhere() {
        assert_eq!(forms("1234"), ["1234", r"\u0031\u0032\u0033\u0034"]);
        for nothing in ["  \n", "1", "ab\n", "é1"] {
            assert_eq!(forms(nothing), Vec::<String>::new());
        }
    }

    #[test]
    fn lines_of_a_key_are_masked_one_by_one() {
        let all = forms("-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nabc\n-----END KEY-----\n");
        assert!(all.contains(&"MIIEvQIBADANBgkq".to_owned()));
        assert!(!all.contains(&"abc".to_owned()));
    }

    #[test]
    fn every_line_of_a_long_secret_is_masked() {
        let lines: Vec<String> = (0..1_000).map(|line| format!("secret line {line}")).collect();
        let all = forms(&lines.join("\n"));
        assert!(lines.iter().all(|line| all.contains(line)));
    }

    #[test]
    fn base64_is_known_in_lines() {
        // 70 bytes: `printf … | base64`, which makes lines of 76.
        let all = forms("0123456789".repeat(7).as_str());
        let first = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2";
        assert!(all.contains(&first.to_owned()), "{all:?}");
        assert!(all.contains(&first[..64].to_owned()), "{all:?}");
        let whole = format!("{first}\nNzg5MDEyMzQ1Njc4O");
        assert!(all.contains(&whole), "{all:?}");
        assert!(all.contains(&"Nzg5MDEyMzQ1Njc4O".to_owned()), "{all:?}");
    }

    #[test]
    fn addresses_and_quotes_are_known_as_others_write_them() {
        let known = |secret: &str, shown: &[&str]| {
            let all = forms(secret);
            for form in shown {
                assert!(all.contains(&(*form).to_owned()), "{form} in {all:?}");
            }
        };
        // quote() of Python, encodeURIComponent() and encodeURI() of JavaScript
        known("ab/cd+ef/gh ij", &["ab/cd%2Bef/gh%20ij", "ab/cd+ef/gh%20ij"]);
        known("it's(a)b/c&d", &["it's(a)b%2Fc%26d", "it's(a)b/c&d"]);
        known("pässword-99", &["p\\u00e4ssword-99", "p\\u00E4ssword-99", "p\\xe4ssword-99"]);
        known("pässword-99", &["p\\xc3\\xa4ssword-99"]);
        known("key-🔑-99", &["key-\\ud83d\\udd11-99", "key-\\U0001f511-99"]);
        let both = "a'b\"c<d>&e\\f";
        known(both, &["a\\'b\"c<d>&e\\\\f"]); // repr() of Python
        known(both, &["a\\u0027b\\\"c\\u003cd\\u003e\\u0026e\\\\f"]); // tojson
        known(both, &["a'\\''b\"c<d>&e\\f", "a'\"'\"'b\"c<d>&e\\f"]); // a shell
        known(both, &["a'b\\\"c<d>&e\\\\f", "a\\'b\\\"c\\<d\\>\\&e\\\\f"]);
        known("ends with\"", &["ends with\\\""]);
    }
}
