//! The overview of the verbs, grouped by job.

use clap::Command;
use clap::builder::Styles;

/// What people want to do, and the verbs for it. One that is in none of them
/// stands at the end.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Run skills", &["run", "resume", "retry", "cancel", "schedule"]),
    ("Answer questions", &["inbox", "answer", "auth"]),
    ("Inspect runs", &["runs", "show", "logs", "watch", "stats", "audit"]),
    ("Write skills", &["init", "list", "check", "graph", "patch", "schema"]),
    ("Ask in shell scripts", &["confirm", "choose", "input"]),
    ("Assistants, tools, memory and server", &["mcp", "tools", "memory", "serve", "people"]),
    ("Set up", &["doctor", "trust", "notify", "completions", "man"]),
];
const OTHERS: &str = "More";

/// The command with an overview that groups its verbs.
pub(super) fn grouped(mut command: Command) -> Command {
    let verbs: Vec<(String, String)> = command
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set())
        .map(|verb| {
            let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
            (verb.get_name().to_owned(), about)
        })
        .collect();
    let text = overview(&verbs);
    // The list without groups is left out.
    for (name, _) in &verbs {
        command = command.mut_subcommand(name, |verb| verb.hide(true));
    }
    command.override_usage("aye [OPTIONS] <COMMAND>").help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{text}{{all-args}}{{after-help}}"
    ))
}

fn overview(verbs: &[(String, String)]) -> String {
    let styles = Styles::default();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let widest = verbs.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let others: Vec<&str> = verbs
        .iter()
        .map(|(name, _)| name.as_str())
        .filter(|name| !grouped.contains(name))
        .collect();
    let mut text = String::new();
    for (job, names) in GROUPS.into_iter().chain([(OTHERS, &others[..])]) {
        let about = |wanted: &&str| verbs.iter().find(|(name, _)| name == wanted);
        let found: Vec<&(String, String)> = names.iter().filter_map(about).collect();
        if found.is_empty() {
            continue;
        }
        text.push_str(&format!("{header}{job}:{header:#}\n"));
        for (name, about) in found {
            let space = " ".repeat(widest - name.len() + 2);
            text.push_str(&format!("  {literal}{name}{literal:#}{space}{about}\n"));
        }
        text.push('\n');
    }
    text
}
