//! Whether a program that failed wanted the terminal, by what it said.

/// What programs say that find no terminal, in lower case.
const SAYINGS: [&str; 12] = [
    // Shells, `gpg`, `ssh`, `git`: what they could not open.
    "/dev/tty",
    // `sudo`, old and new.
    "no tty present",
    "a terminal is required",
    "a password is required",
    // `docker`, `ssh -t`, full-screen programs.
    "not a tty",
    "not a terminal",
    "no controlling terminal",
    "inappropriate ioctl for device",
    // `ssh` asks about an unknown host, and then for a password.
    "ssh_askpass",
    "host key verification failed",
    // `git` over HTTPS.
    "could not read username",
    "could not read password",
];

/// How much of what it said last is looked at.
pub(crate) const LAST_WORDS: usize = 4096;

/// Whether the last words of a program suggest that it wanted the terminal.
pub(crate) fn wanted_terminal(words: &str) -> bool {
    let words = words.to_lowercase();
    SAYINGS.iter().any(|saying| words.contains(saying))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_real_programs_say() {
        for words in [
            "sh: 1: cannot open /dev/tty: No such device or address",
            "sudo: a terminal is required to read the password; either use the -S option",
            "sudo: no tty present and no askpass program specified",
            "gpg: signing failed: Inappropriate ioctl for device",
            "the input device is not a TTY",
            "fatal: could not read Username for 'https://example.com': No such device or address",
            "Host key verification failed.",
        ] {
            assert!(wanted_terminal(words), "{words}");
        }
        for words in ["", "error: no such file", "3 tests failed", "exit status 1"] {
            assert!(!wanted_terminal(words), "{words}");
        }
    }
}
