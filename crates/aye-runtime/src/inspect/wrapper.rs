//! Programs that start the one that their arguments name: `env FOO=1 tool`, `timeout 5 tool`.

use std::path::PathBuf;

use super::word::base_name;

/// How many of them inside each other are looked through.
const DEEPEST: usize = 8;

/// A program, its options that take a word of their own, those without, and how many words
/// come before the program.
struct Wrapper {
    name: &'static str,
    with_value: &'static [&'static str],
    alone: &'static [&'static str],
    before: usize,
}

const fn wrapper(
    name: &'static str,
    with_value: &'static [&'static str],
    alone: &'static [&'static str],
    before: usize,
) -> Wrapper {
    Wrapper { name, with_value, alone, before }
}

const WRAPPERS: [Wrapper; 8] = [
    wrapper(
        "env",
        &["-u", "--unset", "-C", "--chdir"],
        &["-i", "-", "--ignore-environment", "-v", "--debug"],
        0,
    ),
    wrapper(
        "timeout",
        &["-s", "--signal", "-k", "--kill-after"],
        &["--foreground", "--preserve-status", "-v", "--verbose"],
        1,
    ),
    wrapper("nice", &["-n", "--adjustment"], &[], 0),
    wrapper("nohup", &[], &[], 0),
    wrapper("setsid", &[], &["-w", "--wait", "-c", "--ctty", "-f", "--fork"], 0),
    wrapper("stdbuf", &["-i", "--input", "-o", "--output", "-e", "--error"], &[], 0),
    wrapper("ionice", &["-c", "--class", "-n", "--classdata"], &["-t", "--ignore"], 0),
    wrapper("time", &[], &["-p"], 0),
];

/// Those of which it is not told here what they start, and where.
const OPAQUE: [&str; 52] = [
    "sudo",
    "doas",
    "pkexec",
    "su",
    "runuser",
    "gosu",
    "setpriv",
    "capsh",
    "chroot",
    "unshare",
    "nsenter",
    "bwrap",
    "firejail",
    "fakeroot",
    "xargs",
    "parallel",
    "find",
    "fd",
    "run-parts",
    "entr",
    "watch",
    "flock",
    "script",
    "expect",
    "unbuffer",
    "busybox",
    "ssh",
    "systemd-run",
    "at",
    "batch",
    "taskset",
    "numactl",
    "prlimit",
    "chrt",
    "cpulimit",
    "setarch",
    "faketime",
    "strace",
    "ltrace",
    "gdb",
    "valgrind",
    "perf",
    "tini",
    "dumb-init",
    "xvfb-run",
    "dbus-run-session",
    "npx",
    "bunx",
    "poetry",
    "pipenv",
    "mise",
    "direnv",
];

/// Whether it is not told here what this program starts.
pub(super) fn is_opaque(word: &str) -> bool {
    OPAQUE.contains(&base_name(word))
}

/// What a command line starts in the end.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Wrapped {
    /// The place of its program; none if it starts none.
    pub(super) program: Option<usize>,
    /// Where that starts, from where the first one does.
    pub(super) directory: Option<PathBuf>,
    /// Variables that are set for it.
    pub(super) env: Vec<(String, String)>,
    /// Of this one it is not known what it starts.
    pub(super) opaque: Option<String>,
}

impl Wrapped {
    /// Looks through the programs that start others.
    pub(super) fn of(argv: &[String]) -> Self {
        let mut found = Self::default();
        let mut at = 0;
        for _ in 0..DEEPEST {
            let Some(word) = argv.get(at) else { break };
            let name = base_name(word);
            if is_opaque(word) {
                found.opaque = Some(name.to_owned());
                return found;
            }
            let Some(wrapper) = WRAPPERS.iter().find(|one| one.name == name) else { break };
            match found.behind(wrapper, argv, at + 1) {
                Some(next) if next < argv.len() => {
                    found.program = Some(next);
                    at = next;
                }
                Some(_) => {
                    found.program = None;
                    break;
                }
                None => {
                    found.opaque = Some(name.to_owned());
                    return found;
                }
            }
        }
        found
    }

    /// The place of what a wrapper starts; none if that cannot be told.
    fn behind(&mut self, wrapper: &Wrapper, argv: &[String], mut at: usize) -> Option<usize> {
        while let Some(word) = argv.get(at).filter(|word| word.starts_with('-')) {
            at += 1;
            if word == "--" {
                break;
            }
            let (option, joined) = split(word);
            let has_value = wrapper.with_value.contains(&option);
            match (has_value, joined) {
                (true, Some(value)) => self.set(option, value),
                (true, None) => {
                    let value = argv.get(at)?;
                    self.set(option, value);
                    at += 1;
                }
                (false, _) if wrapper.alone.contains(&word.as_str()) => {}
                // `nice -5`.
                (false, _) if wrapper.name == "nice" && word[1..].parse::<u8>().is_ok() => {}
                (false, _) => return None,
            }
        }
        let set = |at: usize| argv.get(at)?.split_once('=').filter(|_| wrapper.name == "env");
        while let Some((name, value)) = set(at) {
            self.env.push((name.to_owned(), value.to_owned()));
            at += 1;
        }
        Some(at + wrapper.before)
    }

    fn set(&mut self, option: &str, value: &str) {
        if matches!(option, "-C" | "--chdir") {
            self.directory = Some(self.directory.take().unwrap_or_default().join(value));
        }
    }
}

/// An option and the value in the same word: `--chdir=sub`, `-Csub`.
fn split(word: &str) -> (&str, Option<&str>) {
    match word.split_once('=') {
        Some((option, value)) if word.starts_with("--") => (option, Some(value)),
        _ if word.starts_with("--") => (word, None),
        _ => match word.split_at_checked(2) {
            Some((option, value)) if !value.is_empty() => (option, Some(value)),
            _ => (word, None),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Wrapped {
        Wrapped::of(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_started_in_the_end_is_found() {
        for (line, program, directory) in [
            ("env FOO=1 tool x", "tool", ""),
            ("timeout 5 tool", "tool", ""),
            ("timeout -k 5 --signal=INT 5 tool", "tool", ""),
            ("/usr/bin/env -i -u A -- tool", "tool", ""),
            ("env -C sub ./x", "./x", "sub"),
            ("env --chdir=sub sh x.sh", "sh", "sub"),
            ("env -Csub timeout 5 env -C deep nice -n 5 tool", "tool", "sub/deep"),
            ("nohup setsid -w stdbuf -oL tool", "tool", ""),
            ("nice -5 tool", "tool", ""),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            let found = of(line);
            assert_eq!(found.opaque, None, "{line}");
            assert_eq!(found.program.map(|at| words[at]), Some(program), "{line}");
            let place = found.directory.unwrap_or_default();
            assert_eq!(place, PathBuf::from(directory), "{line}");
        }
        assert_eq!(of("env PATH=b tool").env, [("PATH".to_owned(), "b".to_owned())]);
        assert_eq!(of("tool env x"), Wrapped::default());
        assert_eq!(of("env A=1").program, None);
    }

    #[test]
    fn what_cannot_be_told_is_said() {
        for (line, name) in [
            ("env -S x", "env"),
            ("sudo tool", "sudo"),
            ("env A=1 xargs tool", "xargs"),
            ("timeout --new 5 tool", "timeout"),
            ("taskset 1 tool", "taskset"),
            ("nice setpriv --no-new-privs tool", "setpriv"),
            ("prlimit --core=0 tool", "prlimit"),
            ("chrt -b 0 tool", "chrt"),
        ] {
            assert_eq!(of(line).opaque.as_deref(), Some(name), "{line}");
        }
    }
}
