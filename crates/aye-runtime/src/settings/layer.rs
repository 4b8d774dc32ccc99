//! One file of settings as read: a project's, or the user's own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use aye_core::diagnostic::{Diagnostic, quote};
use aye_core::skill::parse_size;
use aye_core::text::Verbatim;
use serde::Deserialize;
use toml::Spanned;

use crate::report::OutputMode;
use crate::store::Durability;

use super::advisor::{AdvisorSection, AdvisorSettings};
use super::ask::{AskLayer, AskSection};
use super::heal::HealSettings;
use super::mcp::{McpLayer, McpSection};
use super::notify::{self, Channels, NotifySection};
use super::policy::PolicySettings;
use super::span;
use super::tools::{ToolSection, ToolSettings, duration};

/// The file as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    skills: Option<Vec<PathBuf>>,
    run: RunSection,
    journal: JournalSection,
    policy: PolicySection,
    tools: BTreeMap<Spanned<String>, ToolSection>,
    advisor: Option<Spanned<AdvisorSection>>,
    heal: Option<Spanned<Vec<serde_json::Value>>>,
    mcp: McpSection,
    ask: AskSection,
    notify: BTreeMap<Spanned<String>, NotifySection>,
}

/// What every result has room for.
const LEAST_RESULT: usize = 64 << 10;
/// What the results of a run have room for together.
const MOST_RESULT: usize = 64 << 20;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RunSection {
    step_timeout: Option<Spanned<String>>,
    max_step_timeout: Option<Spanned<String>>,
    max_result: Option<Spanned<String>>,
    grace: Option<Spanned<String>>,
    max_processes: Option<Spanned<usize>>,
    undefined: Option<UndefinedWord>,
    output: Option<OutputMode>,
    bell: Option<bool>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum UndefinedWord {
    Strict,
    Lenient,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct JournalSection {
    durability: Option<Durability>,
    keep: Option<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct PolicySection {
    allow: Option<Spanned<Vec<String>>>,
    workspace_only: bool,
    check_shell_values: bool,
}

/// What a file sets; `None` where it does not say. A time of `Some(None)` is
/// no limit.
#[derive(Debug, Default)]
pub(super) struct Layer {
    pub(super) skills: Option<Vec<PathBuf>>,
    pub(super) durability: Option<Durability>,
    pub(super) lenient: Option<bool>,
    pub(super) step_timeout: Option<Option<Duration>>,
    pub(super) max_step_timeout: Option<Option<Duration>>,
    pub(super) max_result: Option<usize>,
    pub(super) keep: Option<Option<Duration>>,
    pub(super) grace: Option<Option<Duration>>,
    pub(super) max_processes: Option<usize>,
    pub(super) output: Option<OutputMode>,
    pub(super) bell: Option<bool>,
    pub(super) policy: PolicySettings,
    pub(super) tools: ToolSettings,
    pub(super) advisor: Option<AdvisorSettings>,
    pub(super) heal: HealSettings,
    pub(super) mcp: McpLayer,
    pub(super) ask: AskLayer,
    pub(super) notify: Channels,
}

impl File {
    /// Checks what is written; relative paths begin at `root`.
    pub(super) fn read(self, root: &Path) -> Result<Layer, Diagnostic> {
        let time = |text: &Option<Spanned<String>>| text.as_ref().map(duration).transpose();
        let max_processes = match &self.run.max_processes {
            Some(count) if *count.get_ref() == 0 => {
                let message = "`max_processes` is 0: nothing could run";
                return Err(Diagnostic::error("settings", message)
                    .label(span(count.span()), "give 1 or more"));
            }
            count => count.as_ref().map(|count| *count.get_ref()),
        };
        Ok(Layer {
            policy: self.policy.read(root)?,
            tools: ToolSettings::read(root, self.tools)?,
            advisor: AdvisorSettings::read(root, self.advisor)?,
            heal: HealSettings::read(self.heal)?,
            mcp: self.mcp.read()?,
            ask: self.ask.read()?,
            notify: notify::read(root, self.notify)?,
            max_processes,
            output: self.run.output,
            bell: self.run.bell,
            skills: self.skills.map(|all| all.into_iter().map(|dir| root.join(dir)).collect()),
            durability: self.journal.durability,
            lenient: self.run.undefined.map(|word| word == UndefinedWord::Lenient),
            step_timeout: time(&self.run.step_timeout)?,
            max_step_timeout: time(&self.run.max_step_timeout)?,
            max_result: self.run.max_result.as_ref().map(result_size).transpose()?,
            grace: time(&self.run.grace)?,
            keep: time(&self.journal.keep)?,
        })
    }
}

/// How much of a step's output its result may be.
fn result_size(text: &Spanned<String>) -> Result<usize, Diagnostic> {
    let bad = |message: String, hint: String| {
        Diagnostic::error("settings", message).label(span(text.span()), "").hint(hint)
    };
    let size = parse_size(text.get_ref()).map_err(|error| bad(error.to_string(), error.hint()))?;
    match usize::try_from(size) {
        Ok(size) if (LEAST_RESULT..=MOST_RESULT).contains(&size) => Ok(size),
        _ => {
            let message = "`max_result` is outside of `64KiB` to `64MiB`".to_owned();
            Err(bad(message, "a run holds results of 64 MiB in all; logs have no limit".to_owned()))
        }
    }
}

impl PolicySection {
    fn read(self, root: &Path) -> Result<PolicySettings, Diagnostic> {
        let place = self.allow.as_ref().map(Spanned::span).unwrap_or_default();
        let allow = match self.allow.map(Spanned::into_inner) {
            None => Vec::new(),
            // Nobody who writes it means "everything".
            Some(list) if list.is_empty() || list.iter().any(String::is_empty) => {
                let message = "`allow` names no program; leave it out to allow all";
                return Err(Diagnostic::error("settings", message)
                    .label(span(place), "name the programs that may run"));
            }
            Some(list) if list.iter().any(|entry| is_pattern(entry)) => {
                let entry = list.iter().find(|entry| is_pattern(entry)).cloned();
                let message = format!(
                    "{} in `allow` is a regular expression",
                    quote(&entry.unwrap_or_default())
                );
                return Err(Diagnostic::error("settings", message)
                    .label(span(place), "no program has such a name")
                    .hint(
                        "name programs: `\"git\"`, `\"./deploy\"`; `*` stands for any characters \
                         but `/`, as in `\"kubectl-*\"`. Arguments are not looked at",
                    ));
            }
            Some(list) => vec![list.into_iter().map(|entry| anchored(entry, root)).collect()],
        };
        Ok(PolicySettings {
            allow,
            workspace_only: self.workspace_only,
            verbatim: if self.check_shell_values {
                Verbatim::PlainWord
            } else {
                Verbatim::Anything
            },
        })
    }
}

/// Whether an entry is written as a regular expression, which it is not.
fn is_pattern(entry: &str) -> bool {
    entry.starts_with('^')
        || entry.ends_with('$')
        || [".*", ".+", "\\", "(?", "[a-", "[0-", "|"].iter().any(|sign| entry.contains(sign))
}

/// An entry like `./tool` means the file below the directory of the settings.
fn anchored(entry: String, root: &Path) -> String {
    if entry.starts_with('/') || !entry.contains('/') {
        return entry;
    }
    let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
    let below = entry.trim_start_matches("./");
    root.join(below).to_string_lossy().into_owned()
}
