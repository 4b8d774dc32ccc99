//! Whether someone can be asked at all.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;

/// Why nobody can be asked on a terminal, as far as that is known before
/// trying; `None` if it can be tried.
pub fn obstacle(env: &BTreeMap<String, String>, may_ask: bool) -> Option<String> {
    let set = |name: &str| {
        env.get(name).is_some_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
    };
    if !may_ask {
        return Some("`--no-input` was given".to_owned());
    }
    if set("CI") {
        return Some("this is a CI job (`CI` is set)".to_owned());
    }
    if !std::io::stdin().is_terminal() && !std::io::stderr().is_terminal() {
        return Some("neither standard input nor standard error is a terminal".to_owned());
    }
    None
}

/// Whether the terminal can move its cursor.
pub fn is_capable(env: &BTreeMap<String, String>) -> bool {
    env.get("TERM").is_some_and(|term| !matches!(term.as_str(), "" | "dumb"))
}
