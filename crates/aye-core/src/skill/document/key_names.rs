//! Words that mean something although they are not a key of this version.

use crate::diagnostic::did_you_mean;

/// Keys of states that steps do not have.
pub(in crate::skill) const STATE_KEYS: &[&str] = &[
    "type",
    "status",
    "transitions",
    "on_success",
    "on_failure",
    "on_timeout",
    "on_declined",
    "on_cancelled",
];

/// Keys of steps that states do not have.
pub(in crate::skill) const STEP_KEYS: &[&str] = &["name", "then"];

/// Older names of keys: the type in the schema, the key, the older name.
pub(in crate::skill) const ALIASES: &[(&str, &str, &str)] = &[
    ("Skill", "initial", "initialState"),
    ("Skill", "timeout", "globalTimeout"),
    ("Question", "remember", "learn_preference"),
    ("Question", "type_to_confirm", "type"),
];

/// Words that other tools use, and ours.
const OTHER_WORDS: &[(&str, &[&str])] = &[
    ("shell", &["run", "script", "sh", "bash", "cmds", "commands"]),
    ("command", &["cmd", "exec", "program", "entrypoint"]),
    ("args", &["arguments", "argv", "params"]),
    ("name", &["id", "key"]),
    ("description", &["desc", "summary"]),
    ("condition", &["if", "when", "only_if"]),
    ("env", &["environment", "vars", "variables"]),
    ("cwd", &["dir", "directory", "workdir", "working_directory", "working_dir", "chdir"]),
    ("confirm", &["ask", "prompt", "question", "approval"]),
    ("message", &["prompt", "question", "text"]),
    ("default", &["defaultResponse", "default_response", "default_value"]),
    ("options", &["choices", "answers"]),
    ("match", &["pattern", "regex"]),
    ("output", &["register", "save_as"]),
    ("skill", &["uses", "task", "workflow"]),
    ("inputs", &["with", "params", "parameters"]),
    ("steps", &["tasks", "jobs", "stages"]),
    ("timeout", &["timeout-minutes", "timeout_minutes"]),
    ("on_error", &["continue-on-error", "continueOn", "ignore_errors", "allow_failure"]),
    ("initial", &["start", "first", "entry"]),
    ("transitions", &["next", "goto"]),
    ("by", &["approvers", "who"]),
    ("enum", &["options", "choices", "values", "allowed"]),
    ("foreach", &["loop", "with_items", "each", "items", "matrix", "strategy"]),
    ("retry", &["retryPolicy"]),
    ("attempts", &["max_attempts", "max_retries", "retries", "times"]),
    ("backoff", &["delay", "wait", "interval"]),
    ("max_memory", &["memory", "mem", "memory_limit"]),
    ("max_cpu", &["cpu", "cpu_limit", "cpu_time"]),
];

/// What to write for words of other tools where another key is not all of it:
/// where the place has a key, the words, and what to write.
const INSTEAD: &[(&str, &[&str], &str)] = &[
    (
        "shell",
        &["cmds", "commands"],
        "write one step for each, or `shell: |` with one line for each",
    ),
    (
        "command",
        &["needs", "depends", "depends_on", "deps", "dependencies"],
        "steps run in the order in which they are written: leave it out",
    ),
    (
        "on_error",
        &["continue-on-error", "continueOn", "ignore_errors", "ignore_error", "allow_failure"],
        "write `on_error: continue`",
    ),
    ("skill", &["uses"], "`skill: NAME` runs another skill; for everything else write the command"),
    ("skill", &["task"], "write `skill: NAME`"),
    (
        "confirm",
        &["options", "choices", "message", "default", "by", "approvals", "match", "remember"],
        "it belongs to the question: `choose: { message: …, options: [a, b], default: a }`",
    ),
    ("command", &["become"], "leave it out, or write `command: sudo` and `args: [PROGRAM, …]`"),
    (
        "step_limit",
        &["tasks", "jobs", "stages", "services"],
        "write one list, in order:\nsteps:\n  - name: …\n    shell: …",
    ),
    (
        "step_limit",
        &["env", "environment", "vars", "variables"],
        "variables of programs are given to a step: `env: { NAME: value }`; values for templates \
         go under `defaults:`, or `inputs:` if they are given with each run",
    ),
    ("transitions", &["on"], "write `transitions: { success: …, failure: … }`"),
    (
        "command",
        &["on", "runs-on", "hosts"],
        "steps run on this machine, one after the other: leave it out",
    ),
    (
        "ai_assist",
        &["showProgress", "show_progress", "progressInterval"],
        "the time left is always shown: leave it out",
    ),
    (
        "step_limit",
        &["on", "schedule", "cron"],
        "a skill runs when you start it: leave it out; a person can schedule it with `aye schedule add`",
    ),
    ("step_limit", &["hosts", "runs-on"], "a skill runs on this machine: leave it out"),
];

/// What to write for a word of another tool, at a place with these keys.
pub(in crate::skill) fn instead_of(word: &str, known: &[&str]) -> Option<&'static str> {
    let fits =
        |(here, words, _): &&(&str, &[&str], &str)| known.contains(here) && words.contains(&word);
    INSTEAD.iter().find(fits).map(|(_, _, hint)| *hint)
}

/// Values that other tools use, by key, and ours.
const OTHER_VALUES: &[(&str, &str, &[&str])] = &[
    ("type", "string", &["str", "text"]),
    ("type", "integer", &["int"]),
    ("type", "number", &["float", "double"]),
    ("type", "boolean", &["bool"]),
    ("type", "array", &["list", "sequence"]),
    ("type", "object", &["dict", "map", "mapping"]),
    ("type", "secret", &["password", "token"]),
    ("on_error", "continue", &["ignore", "skip", "warn", "log"]),
    ("on_error", "fail", &["stop", "abort", "exit", "raise"]),
    ("on_error", "auto_heal", &["retry", "heal"]),
];

/// The value of a key that another tool's word stands for.
pub(in crate::skill) fn other_value(key: &str, word: &str) -> Option<&'static str> {
    let fits = |(of, _, words): &&(&str, &str, &[&str])| *of == key && words.contains(&word);
    OTHER_VALUES.iter().find(fits).map(|(_, ours, _)| *ours)
}

/// The key that another tool's word stands for.
pub(in crate::skill) fn other_word(key: &str, known: &[&str]) -> Option<&'static str> {
    others(known).find(|(word, _)| *word == key).map(|(_, ours)| ours)
}

/// The same for a word that is misspelt.
pub(in crate::skill) fn misspelt_other_word(key: &str, known: &[&str]) -> Option<&'static str> {
    let theirs = did_you_mean(key, others(known).map(|(word, _)| word))?;
    other_word(theirs, known)
}

/// Other tools' words and ours, for the keys there are.
fn others(known: &[&str]) -> impl Iterator<Item = (&'static str, &'static str)> {
    let here = OTHER_WORDS.iter().filter(|(ours, _)| known.contains(ours));
    here.flat_map(|(ours, words)| words.iter().map(|word| (*word, *ours)))
}
