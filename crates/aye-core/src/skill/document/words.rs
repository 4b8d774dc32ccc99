//! Words that mean something although they are no key of this version.

/// Kinds of steps of coming versions.
pub(in crate::skill) const RESERVED_STEPS: &[&str] =
    &["tool", "compute", "skill", "python", "foreach"];

/// Other keys of coming versions.
pub(in crate::skill) const RESERVED: &[&str] = &[
    "retry",
    "validate",
    "then",
    "heal",
    "files",
    "undefined",
    "defaults",
    "error_patterns",
    "personas",
];

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
pub(in crate::skill) const STEP_KEYS: &[&str] = &["name"];

/// Older names of keys: the type in the schema, the key, the older name.
pub(in crate::skill) const ALIASES: &[(&str, &str, &str)] = &[
    ("Skill", "initial", "initialState"),
    ("Skill", "timeout", "globalTimeout"),
    ("Question", "remember", "learn_preference"),
];

/// The key meant by the word that other tools use for it.
pub(in crate::skill) fn other_word(key: &str) -> Option<&'static str> {
    Some(match key {
        "run" | "script" | "sh" | "bash" => "shell",
        "cmd" | "exec" | "program" => "command",
        "arguments" | "argv" | "params" => "args",
        "id" | "key" => "name",
        "if" | "when" | "only_if" => "condition",
        "environment" | "vars" => "env",
        "dir" | "workdir" | "working_directory" | "working-directory" | "chdir" => "cwd",
        "prompt" | "question" | "text" => "message",
        "choices" | "answers" => "options",
        "pattern" | "regex" => "match",
        "register" | "save_as" => "output",
        "start" | "first" | "entry" => "initial",
        "next" | "goto" => "transitions",
        "approvers" | "who" => "by",
        _ => return None,
    })
}
