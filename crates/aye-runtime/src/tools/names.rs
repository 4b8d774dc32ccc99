//! What the name of a tool stands for.

use aye_core::diagnostic::{did_you_mean, quote, quote_list};

use crate::memory::is_builtin_tool;
use crate::settings::ToolSettings;

use super::error::ToolError;

/// What a name stands for, as far as `aye.toml` tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    /// A tool of an MCP server; whether the server has it is known once it runs.
    Server {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// A command of `aye.toml`.
    Command,
    /// A tool that Aye itself has: memory's.
    BuiltIn,
    /// No server is named; one of them may have it.
    Perhaps,
    /// Nothing.
    Unknown {
        /// What was probably meant.
        hint: Option<String>,
    },
}

/// What a name stands for.
pub(super) fn look_up(settings: &ToolSettings, name: &str) -> Known {
    if settings.commands.contains_key(name) {
        return Known::Command;
    }
    // A server's tool of that name is called with its server.
    if is_builtin_tool(name) {
        return Known::BuiltIn;
    }
    if let Some(hint) = written_otherwise(name) {
        return Known::Unknown { hint: Some(hint.to_owned()) };
    }
    match name.split_once('.') {
        Some((server, tool)) if settings.servers.contains_key(server) && !tool.is_empty() => {
            Known::Server { server: server.to_owned(), tool: tool.to_owned() }
        }
        Some((server, tool)) => {
            let near = did_you_mean(server, settings.servers.keys().map(String::as_str));
            let hint = match near {
                Some(near) if near != server => Some(format!("did you mean `{near}.{tool}`?")),
                _ => servers_hint(settings),
            };
            Known::Unknown { hint }
        }
        None if settings.servers.contains_key(name) => {
            let hint = format!(
                "`{name}` is a server: write `{name}.TOOL`; `aye tools list {name}` shows them"
            );
            Known::Unknown { hint: Some(hint) }
        }
        None if settings.servers.is_empty() => {
            let near = did_you_mean(name, settings.commands.keys().map(String::as_str));
            let hint = near.map(|near| format!("did you mean `{near}`?"));
            Known::Unknown { hint: hint.or_else(|| servers_hint(settings)) }
        }
        None => Known::Perhaps,
    }
}

/// What a skill of the original system calls as a tool and is something else here.
pub(super) fn written_otherwise(name: &str) -> Option<&'static str> {
    Some(match name {
        "skill_run" => {
            "a skill is called with `skill: NAME` and `inputs: { … }` at the step, not as a tool"
        }
        "knowledge_update" | "knowledge_learn" => {
            "write it with `tool: memory_write` and `key: knowledge/PERSONA/PROJECT`"
        }
        "knowledge_load" | "knowledge_list" => {
            "read it with `tool: knowledge_query` and `project: NAME`"
        }
        "memory_stats" => "`aye memory stats` shows them",
        _ => return None,
    })
}

fn servers_hint(settings: &ToolSettings) -> Option<String> {
    if settings.is_empty() {
        return Some("`[tools.NAME]` in `aye.toml` names tools and MCP servers".to_owned());
    }
    Some(format!("`aye.toml` has {}", quote_list(settings.names(), "and")))
}

/// The error for a name that stands for nothing.
pub(super) fn unknown(name: &str, hint: Option<String>) -> ToolError {
    let error = ToolError::not_found(format!("there is no tool {}", quote(name)));
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

/// The error for a tool that its server does not have.
pub(super) fn missing(server: &str, tool: &str, has: &[&str]) -> ToolError {
    let message = format!("the server `{server}` has no tool {}", quote(tool));
    let hint = match did_you_mean(tool, has.iter().copied()) {
        Some(near) => format!("did you mean `{server}.{near}`?"),
        None if has.is_empty() => "it has none at all".to_owned(),
        None => format!("`aye tools list {server}` shows what it has"),
    };
    ToolError::not_found(message).hint(hint)
}

/// Which of the servers that have a tool of this name is meant; `all` are the
/// full names of everything there is.
pub(super) fn choose(name: &str, having: &[String], all: &[String]) -> Result<String, ToolError> {
    match having {
        [one] => Ok(one.clone()),
        [] => {
            let last = |full: &&String| full.rsplit('.').next().unwrap_or_default().to_owned();
            let tools: Vec<String> = all.iter().map(|full| last(&full)).collect();
            let near = did_you_mean(name, tools.iter().map(String::as_str));
            let full = near.and_then(|near| all.iter().find(|full| last(full) == near));
            let hint = match full {
                Some(full) => format!("did you mean `{full}`?"),
                None => "`aye tools list` shows all".to_owned(),
            };
            Err(unknown(name, Some(hint)))
        }
        several => {
            let full: Vec<String> =
                several.iter().map(|server| format!("{server}.{name}")).collect();
            let message = format!("several servers have a tool {}", quote(name));
            let all = quote_list(full.iter().map(String::as_str), "or");
            Err(ToolError::not_found(message).hint(format!("write {all}")))
        }
    }
}
