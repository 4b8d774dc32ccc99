//! Named commands that hand an argument to a shell: the one way in which a
//! value can become more than a word.

use serde_json::Value;

use crate::settings::CommandSettings;

use super::command::arguments_of;

/// An argument that something reads as code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellArgument {
    /// The arguments; empty if the template takes all of them.
    pub arguments: Vec<String>,
    /// The program that reads them: `sh`, `ssh`.
    pub program: String,
    /// What to write instead.
    pub hint: &'static str,
}

const SHELLS: [&str; 12] =
    ["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "yash", "fish", "csh", "tcsh", "rbash"];
/// Programs that hand the word after one of these options to a shell or to
/// themselves.
const BY_OPTION: [(&str, &[&str]); 15] = [
    ("su", &["-c", "--command", "--session-command"]),
    ("runuser", &["-c", "--command", "--session-command"]),
    ("script", &["-c", "--command"]),
    ("flock", &["-c", "--command"]),
    ("sg", &["-c"]),
    ("env", &["-S", "--split-string"]),
    ("python", &["-c"]),
    ("python3", &["-c"]),
    ("perl", &["-e", "-E"]),
    ("ruby", &["-e"]),
    ("node", &["-e", "--eval", "-p", "--print"]),
    ("php", &["-r"]),
    ("lua", &["-e"]),
    ("pwsh", &["-c", "-Command"]),
    ("osascript", &["-e"]),
];
/// Programs that make one script of all their words.
const JOINS: [&str; 4] = ["eval", "watch", "parallel", "rsh"];
/// Options of `ssh` that take the next word.
const SSH_VALUES: &str = "BbcDEeFIiJLlmOoPpQRSWw";

const AFTER_THE_SCRIPT: &str = "a value is safe as a word after the script: \
    `[\"sh\", \"-c\", \"… \\\"$1\\\"\", \"sh\", \"{{ args.NAME }}\"]`; or limit it with `enum`";
const LIMITED: &str = "limit the argument with `enum`, or with a `match` of letters and digits";
const NO_OPTION: &str = "put `\"--\"` before it, so that it cannot be an option; \
    `-oProxyCommand=…` runs a command";

/// The argument that a command hands to a shell, if it does.
pub fn shell_argument(command: &CommandSettings) -> Option<ShellArgument> {
    let risky = |word: &String| risky_arguments(command, word);
    for (at, word) in command.argv.iter().enumerate() {
        let (program, rest) = (base(word), &command.argv[at + 1..]);
        let (read, hint): (Vec<&String>, _) = match program {
            _ if is_template(word) => continue,
            _ if SHELLS.contains(&program) => {
                (operand(rest).into_iter().collect(), AFTER_THE_SCRIPT)
            }
            "ssh" | "autossh" | "slogin" => match host_and_words(rest) {
                (Some(host), _) if host.starts_with("{{") && risky(host).is_some() => {
                    (vec![host], NO_OPTION)
                }
                (_, words) => (words, LIMITED),
            },
            _ if JOINS.contains(&program) => (rest.iter().collect(), LIMITED),
            _ => match BY_OPTION.iter().find(|(name, _)| *name == program) {
                Some((_, options)) => (after_options(rest, options), LIMITED),
                None => continue,
            },
        };
        let has_script = SHELLS.contains(&program) && !read.is_empty();
        if let Some(arguments) = read.into_iter().find_map(risky) {
            return Some(ShellArgument { arguments, program: program.to_owned(), hint });
        }
        // What follows a script is its words, whatever they are called.
        if has_script {
            break;
        }
    }
    None
}

/// The name of a program, wherever it is.
fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn is_template(word: &str) -> bool {
    word.contains("{{") || word.contains("{%")
}

/// What a shell runs: the script of `-c`, or the file of one. What stands
/// where an option could stand may be one.
fn operand(words: &[String]) -> Option<&String> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if is_template(word) || !word.starts_with(['-', '+']) || word.len() == 1 {
            return Some(word);
        }
        if word == "--" {
            return words.next();
        }
        let takes_value = match word.starts_with("--") {
            true => matches!(word.as_str(), "--rcfile" | "--init-file"),
            false => word.ends_with(['o', 'O']),
        };
        if takes_value {
            words.next();
        }
    }
    None
}

/// The host of `ssh`, unless no option can be there, and every word that a
/// shell reads.
fn host_and_words(words: &[String]) -> (Option<&String>, Vec<&String>) {
    let mut read = Vec::new();
    let mut at = 0;
    let mut ended = false;
    while let Some(word) = words.get(at) {
        at += 1;
        let option = word.strip_prefix('-').filter(|rest| !rest.is_empty() && !ended);
        match option {
            None => {
                read.extend(&words[at..]);
                return (Some(word).filter(|_| !ended), read);
            }
            Some("-") => ended = true,
            Some(option) => {
                let value = option.find(|c| SSH_VALUES.contains(c));
                if value.is_some_and(|value| value + 1 == option.len()) {
                    at += 1;
                }
                // `ProxyCommand` and others are run by a shell of this machine.
                if option.contains('o') {
                    read.push(words.get(at - 1).unwrap_or(word));
                }
            }
        }
    }
    (None, read)
}

/// The words that follow one of these options, also in the same word.
fn after_options<'a>(words: &'a [String], options: &[&str]) -> Vec<&'a String> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if options.contains(&word.as_str()) {
            found.extend(words.get(at + 1));
        } else if options.iter().any(|option| word.starts_with(option)) {
            found.push(word);
        }
    }
    found
}

/// The arguments in a word that could be anything; `None` if there are none.
fn risky_arguments(command: &CommandSettings, word: &str) -> Option<Vec<String>> {
    if !is_template(word) {
        return None;
    }
    // What cannot be told may be all of them.
    let Some(names) = arguments_of(word) else { return Some(Vec::new()) };
    let properties = command.schema.get("properties");
    let risky = |name: &String| !properties.and_then(|all| all.get(name)).is_some_and(is_limited);
    let risky: Vec<String> = names.into_iter().filter(risky).collect();
    (!risky.is_empty()).then_some(risky)
}

/// Whether no value of an argument means anything to a shell.
fn is_limited(schema: &Value) -> bool {
    let kind = schema.get("type").and_then(Value::as_str);
    matches!(kind, Some("integer" | "number" | "boolean"))
        || schema.get("enum").is_some()
        || schema.get("pattern").and_then(Value::as_str).is_some_and(is_plain)
}

/// Whether a regular expression is for the whole value and lets only letters,
/// digits and `_-./:@%+,=` through.
fn is_plain(pattern: &str) -> bool {
    let inner = pattern.strip_prefix('^').and_then(|rest| rest.strip_suffix('$'));
    // An alternative would be outside of `^` or `$`.
    let Some(inner) = inner.filter(|inner| !inner.contains('|')) else { return false };
    let mut in_class = false;
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        let plain = match c {
            '\\' => chars.next().is_some_and(|c| "dw.-/+".contains(c)),
            '[' => {
                in_class = true;
                chars.peek() != Some(&'^')
            }
            ']' => {
                in_class = false;
                true
            }
            '.' => in_class,
            // Ranges such as `!-~` begin with what is not plain itself.
            c => c.is_ascii_alphanumeric() || "_-/:@%+,=?*{}".contains(c),
        };
        // `A-z` and `+-=` have more in between than they show.
        let range = in_class && c != '[' && chars.peek() == Some(&'-');
        if !plain || range && !is_plain_range(c, chars.clone().nth(1)) {
            return false;
        }
    }
    true
}

fn is_plain_range(from: char, to: Option<char>) -> bool {
    match to {
        None | Some(']') => true,
        Some(to) => {
            let same = |test: fn(&char) -> bool| test(&from) && test(&to);
            same(char::is_ascii_lowercase)
                || same(char::is_ascii_uppercase)
                || same(char::is_ascii_digit)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::settings::OutputKind;

    fn found(argv: &[&str]) -> Option<ShellArgument> {
        let schema = json!({ "properties": {
            "x": { "type": "string" },
            "many": { "type": "array" },
            "n": { "type": "integer" },
            "where": { "type": "string", "enum": ["stage", "production"] },
            "branch": { "type": "string", "pattern": "^[A-Za-z0-9._/-]+$" },
            "loose": { "type": "string", "pattern": "[a-z]+" },
        }});
        shell_argument(&CommandSettings {
            argv: argv.iter().map(|word| (*word).to_owned()).collect(),
            place: None,
            description: None,
            schema: schema.as_object().cloned().unwrap_or_default(),
            output: OutputKind::Text,
            cwd: None,
            env: BTreeMap::new(),
            timeout: None,
            destructive: false,
            read_only: false,
            own: false,
        })
    }

    #[test]
    fn code_with_an_argument_in_it_is_found_behind_every_wrapper() {
        let x = "echo {{ args.x }}";
        for argv in [
            &["sh", "-c", x][..],
            &["/bin/bash", "-ec", x],
            &["bash", "-e", "-o", "pipefail", "-c", x],
            &["bash", "-eo", "pipefail", "-c", x],
            &["bash", "--rcfile", "f", "-c", x],
            &["bash", "-c", "--", x],
            &["env", "A=1", "sh", "-c", x],
            &["env", "-S", x],
            &["sudo", "-u", "root", "sh", "-c", x],
            &["xargs", "-n1", "sh", "-c", x],
            &["timeout", "5", "dash", "-c", x],
            &["docker", "exec", "web", "sh", "-c", x],
            &["find", ".", "-exec", "sh", "-c", x, ";"],
            &["eval", x],
            &["ssh", "host", x],
            &["ssh", "-p", "22", "-i", "key", "host", "ls", "{{ args.x }}"],
            &["ssh", "-o", "ProxyCommand={{ args.x }}", "host", "ls"],
            &["ssh", "-oProxyCommand={{ args.x }}", "host", "ls"],
            &["ssh", "{{ args.x }}", "uptime"],
            &["su", "-c", x, "bob"],
            &["su", "bob", "--command={{ args.x }}"],
            &["python3", "-c", "print('{{ args.x }}')"],
            &["sh", "-c", "{{ args.many | join(' ') }}"],
            &["sh", "-c", "echo {{ args.loose }}"],
            &["sh", "-c", "echo {{ args }}"],
            &["sh", "-c", "{% if args.x %}{{ args.x }}{% endif %}"],
            &["sh", "{{ args.x }}"],
            &["sh", "{{ args.many }}", "-c", "true"],
        ] {
            assert!(found(argv).is_some(), "{argv:?}");
        }
        let told = found(&["sudo", "sh", "-c", "echo {{ args.n }} {{ args.x }}"]).expect("it");
        assert_eq!((told.program.as_str(), told.arguments), ("sh", vec!["x".to_owned()]));
    }

    #[test]
    fn words_and_limited_values_are_not() {
        for argv in [
            &["./deploy", "{{ args.x }}"][..],
            &["sh", "-c", "echo \"$1\"", "sh", "{{ args.x }}"],
            &["sh", "script.sh", "{{ args.x }}"],
            &["sh", "-c", "sleep {{ args.n }}"],
            &["sh", "-c", "./deploy {{ args.where }}"],
            &["sh", "-c", "git checkout {{ args.branch }}"],
            &["sh", "-c", "echo {{ 1 + 1 }}"],
            &["ssh", "host", "uptime"],
            &["ssh", "--", "{{ args.x }}", "uptime"],
            &["ssh", "host", "./deploy {{ args.where }}"],
            &["env", "A=1", "./deploy", "{{ args.x }}"],
            &["python3", "run.py", "{{ args.x }}"],
        ] {
            assert_eq!(found(argv), None, "{argv:?}");
        }
    }

    #[test]
    fn a_pattern_is_plain_only_if_nothing_gets_past_it() {
        for plain in ["^[a-z]+$", "^v\\d+\\.\\d+$", "^[0-9a-f]{40}$", "^[A-Za-z0-9._/-]+$"] {
            assert!(is_plain(plain), "{plain}");
        }
        for loose in [
            "[a-z]+",
            "^[a-z]+",
            "^.*$",
            "^[^;]+$",
            "^\\S+$",
            "^[a-z ]+$",
            "^a|b$",
            "^[!-~]+$",
            "^[A-z]+$",
            "^[+-z]+$",
            "^\\w+;?$",
            "^[%-@]+$",
            "^(a)$",
        ] {
            assert!(!is_plain(loose), "{loose}");
        }
    }
}
