//! Which tools only look: `read_only` in `[tools.NAME]`.
//!
//! Only the settings say so. What a server says of its own tools (its
//! annotations) grants nothing.

use std::collections::{BTreeMap, BTreeSet};

use aye_core::diagnostic::{Diagnostic, quote};
use serde::Deserialize;
use serde_json::json;
use toml::Spanned;

use crate::fmt::shell_word;

use super::tools::{ToolSettings, wrong};

/// `read_only` of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ReadOnly {
    /// None of its tools is marked.
    #[default]
    Nothing,
    /// All of them are.
    Everything,
    /// These are.
    Tools(BTreeSet<String>),
}

/// `read_only` as written.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "`read_only` is `true`, `false` or a list of tools")]
pub(super) enum ReadOnlyWord {
    All(bool),
    Tools(Vec<String>),
}

/// Tools that change nothing, as far as someone who is believed says so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOnlyTools {
    servers: BTreeMap<String, ReadOnly>,
    commands: BTreeSet<String>,
}

/// Whose settings mark a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkedBy {
    /// The user's own settings.
    User,
    /// The project's.
    Project,
}

impl ReadOnlyTools {
    /// Whether this tool is one of them: `SERVER.TOOL`, or a command. A tool
    /// without its server is not: nobody knows yet which server has it.
    pub fn contains(&self, tool: &str) -> bool {
        if self.commands.contains(tool) {
            return true;
        }
        let Some((server, tool)) = tool.split_once('.') else { return false };
        match self.servers.get(server) {
            Some(ReadOnly::Everything) => true,
            Some(ReadOnly::Tools(tools)) => tools.contains(tool),
            Some(ReadOnly::Nothing) | None => false,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty() && self.commands.is_empty()
    }

    /// These and the others.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.servers.extend(other.servers);
        self.commands.extend(other.commands);
        self
    }
}

impl ToolSettings {
    /// What one of the two marks.
    pub fn read_only(&self, by: MarkedBy) -> ReadOnlyTools {
        let whose = |own: bool| (by == MarkedBy::User) == own;
        let servers = self
            .servers
            .iter()
            .filter(|(_, server)| whose(server.own) && server.read_only != ReadOnly::Nothing);
        let commands =
            self.commands.iter().filter(|(_, command)| whose(command.own) && command.read_only);
        ReadOnlyTools {
            servers: servers
                .map(|(name, server)| (name.clone(), server.read_only.clone()))
                .collect(),
            commands: commands.map(|(name, _)| name.clone()).collect(),
        }
    }

    /// What the project marks, a line for each, with what it would run.
    pub(crate) fn read_only_shown(&self) -> Vec<String> {
        let marked = self.read_only(MarkedBy::Project);
        let servers = marked.servers.iter().flat_map(|(name, mark)| match mark {
            ReadOnly::Nothing => Vec::new(),
            ReadOnly::Everything => vec![format!("{name}.*")],
            ReadOnly::Tools(tools) => {
                tools.iter().map(|tool| format!("{name}.{tool}")).collect::<Vec<_>>()
            }
        });
        let commands = marked.commands.iter().filter_map(|name| {
            let command = self.commands.get(name)?;
            let words = command.argv.iter().map(|word| shell_word(word));
            let variables = command.env.iter().map(|(name, value)| format!("{name}={value}"));
            let words: Vec<_> = variables.chain(words).collect();
            let place = command.cwd.as_ref().map(|cwd| format!(" in {}", cwd.display()));
            // What the arguments may be is part of what it does.
            let takes = command.schema.get("properties").filter(|all| **all != json!({}));
            let takes = takes.map(|takes| {
                let required = command.schema.get("required").cloned().unwrap_or_default();
                format!("; arguments: {takes}, required: {required}")
            });
            let (place, takes) = (place.unwrap_or_default(), takes.unwrap_or_default());
            Some(format!("{name}: {}{place}{takes}", words.join(" ")))
        });
        servers.chain(commands).collect()
    }
}

/// `read_only` of a server.
pub(super) fn of_server(word: Option<Spanned<ReadOnlyWord>>) -> Result<ReadOnly, Diagnostic> {
    let Some(word) = word else { return Ok(ReadOnly::Nothing) };
    let place = word.span();
    match word.into_inner() {
        ReadOnlyWord::All(true) => Ok(ReadOnly::Everything),
        ReadOnlyWord::All(false) => Ok(ReadOnly::Nothing),
        ReadOnlyWord::Tools(tools) => {
            let bad = tools.iter().find(|tool| tool.is_empty() || tool.contains(['*', '/', ' ']));
            if tools.is_empty() || bad.is_some() {
                let message = match bad {
                    Some(bad) => format!("{} in `read_only` is not the name of a tool", quote(bad)),
                    None => "`read_only` names no tool".to_owned(),
                };
                return Err(wrong(message, place).hint(
                    "name tools of the server, `read_only = [\"tags\"]`, or write `read_only = true` \
                     for all of them",
                ));
            }
            Ok(ReadOnly::Tools(tools.into_iter().collect()))
        }
    }
}

/// `read_only` of a command.
pub(super) fn of_command(
    word: Option<Spanned<ReadOnlyWord>>,
    destructive: bool,
) -> Result<bool, Diagnostic> {
    let Some(word) = word else { return Ok(false) };
    let place = word.span();
    match word.into_inner() {
        ReadOnlyWord::All(true) if destructive => {
            Err(wrong("a command is `read_only` or `destructive`, not both", place)
                .hint("remove one of them"))
        }
        ReadOnlyWord::All(marked) => Ok(marked),
        ReadOnlyWord::Tools(_) => {
            Err(wrong("`read_only` of a command is `true` or `false`", place)
                .hint("a list of tools is for MCP servers"))
        }
    }
}
