//! What the environment can set, and what it cannot.
//!
//! Settings have a variable, so that a profile or a CI job can hold them. Consent and the scope of
//! a run have none: a variable outlives the moment someone thought of it, and every program
//! below inherits it.

use std::collections::BTreeMap;

/// `--home`.
pub(crate) const HOME: &str = "AYE_HOME";
/// `--color`.
pub(crate) const COLOR: &str = "AYE_COLOR";
/// `--json`.
pub(crate) const JSON: &str = "AYE_JSON";
/// `--quiet`.
pub(crate) const QUIET: &str = "AYE_QUIET";
/// `--verbose`.
pub(crate) const VERBOSE: &str = "AYE_VERBOSE";
/// `--plain`.
pub(crate) const PLAIN: &str = "AYE_PLAIN";
/// `--no-input`.
pub(crate) const NO_INPUT: &str = "AYE_NO_INPUT";
/// `--output`.
pub(crate) const OUTPUT: &str = "AYE_OUTPUT";
/// `--dry-run`.
pub(crate) const DRY_RUN: &str = "AYE_DRY_RUN";
/// `--environment`.
pub(crate) const ENVIRONMENT: &str = "AYE_ENVIRONMENT";
/// `--input`.
pub(crate) const INPUT: &str = "AYE_INPUT";
/// `--inputs`.
pub(crate) const INPUTS: &str = "AYE_INPUTS";

/// Every variable that stands in for an option, and its meaning.
pub const SETTINGS: [(&str, &str); 12] = [
    (HOME, "`--home`: where the journal and the logs are kept"),
    (COLOR, "`--color`: `auto`, `always` or `never`"),
    (JSON, "`--json`: print JSON for programs"),
    (QUIET, "`--quiet`: print less"),
    (VERBOSE, "`--verbose`: print more"),
    (PLAIN, "`--plain`: plain ASCII lines"),
    (NO_INPUT, "`--no-input`: never ask on this terminal"),
    (OUTPUT, "`--output`: `full`, `failed` or `none`"),
    (DRY_RUN, "`--dry-run`: show what would happen"),
    (ENVIRONMENT, "`--environment`: the environment a skill runs against"),
    (INPUT, "`--input`: one input, `NAME=VALUE`"),
    (INPUTS, "`--inputs`: a JSON file with inputs"),
];

/// Variables of others that Aye reads.
pub const OTHERS: [(&str, &str); 9] = [
    ("CI", "if set, Aye asks nobody here: questions wait in the inbox"),
    ("CLICOLOR_FORCE", "use colours, also in a pipe"),
    ("DISPLAY, WAYLAND_DISPLAY", "the desktop on which Aye may ask"),
    ("NO_COLOR", "no colours"),
    ("TERM", "`dumb` or unset: plain ASCII lines without colours"),
    ("TZ", "the time zone for times on the screen"),
    ("VISUAL, EDITOR", "the editor for the arguments of a failed step"),
    ("XDG_CONFIG_HOME", "your settings are in its `aye/config.toml`; default `~/.config`"),
    (
        "XDG_STATE_HOME",
        "without `AYE_HOME`, the journal and the logs are in its `aye`; default \
         `~/.local/state`",
    ),
];

/// Variables that look like an option and have no effect, and what to do instead.
pub const IGNORED: [(&str, &str); 13] = [
    ("AYE_YES", "use `--yes`"),
    ("AYE_TYPE", "type the text where the question is asked"),
    ("AYE_CODE", "use `--code`"),
    ("AYE_REPLACE", "use `--replace`"),
    ("AYE_REMEMBER", "use `--remember`"),
    ("AYE_FORCE", "use the options of the command"),
    ("AYE_DEFAULT", "use `--default`"),
    ("AYE_DEFAULT_ON_NO_TERMINAL", "use `--default-on-no-terminal`"),
    ("AYE_TRUST", "use `aye trust`"),
    ("AYE_INSTALL", "use `aye mcp install`"),
    ("AYE_PATCH", "use `aye patch`"),
    ("AYE_FROM", "use `--from`"),
    ("AYE_ONLY", "use `--only`"),
];

/// The variables that have no effect, in one sentence.
pub fn without_effect() -> String {
    let names: Vec<String> = IGNORED.iter().map(|(name, _)| format!("`{name}`")).collect();
    format!(
        "No variable can consent or change which steps run: {} have no effect, and Aye warns if \
         one is set.",
        names.join(", ")
    )
}

/// A sentence for each variable that is set and has no effect.
pub(super) fn ignored(env: &BTreeMap<String, String>) -> impl Iterator<Item = String> {
    let set = |name: &str| env.get(name).is_some_and(|value| !value.is_empty());
    IGNORED
        .iter()
        .filter(move |(name, _)| set(name))
        .map(|(name, instead)| format!("`{name}` has no effect: {instead}"))
}
