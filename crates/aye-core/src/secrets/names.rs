//! Names that say that their value is a secret.

/// Words that say so.
const WORDS: [&str; 10] = [
    "TOKEN",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "KEY",
    "APIKEY",
    "CREDENTIAL",
    "CREDENTIALS",
];

/// Ends of words that say so: `GITHUBTOKEN`.
const ENDS: [&str; 4] = ["TOKEN", "SECRET", "PASSWORD", "APIKEY"];

/// Last words of names for something about a secret that is none itself.
const ABOUT: [&str; 14] = [
    "FILE",
    "PATH",
    "DIR",
    "ID",
    "NAME",
    "URL",
    "URI",
    "TYPE",
    "TTL",
    "LENGTH",
    "SIZE",
    "VERSION",
    "COUNT",
    "ALGORITHM",
];

/// Whether a variable of this name holds a secret, as far as a name tells:
/// `DEPLOY_TOKEN`, not `KEYBOARD` and not `KEY_FILE`.
pub fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let words: Vec<&str> = name.split(['_', '-', '.']).filter(|word| !word.is_empty()).collect();
    let says = |word: &&str| WORDS.contains(word) || ENDS.iter().any(|end| word.ends_with(end));
    words.iter().any(says) && words.last().is_some_and(|last| !ABOUT.contains(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell() {
        for name in [
            "TOKEN",
            "GH_TOKEN",
            "githubToken",
            "DB_PASSWORD_1",
            "API_KEY",
            "AWS_SECRET_ACCESS_KEY",
        ] {
            assert!(names_secret(name), "{name}");
        }
        for name in
            ["KEYBOARD", "MONKEY", "SSH_KEY_FILE", "AWS_ACCESS_KEY_ID", "PATH", "TOKENS_USED", ""]
        {
            assert!(!names_secret(name), "{name}");
        }
    }
}
