//! `aye tools list`.

use aye_core::error_code::ErrorCode;

use serde_json::{Map, Value, json};

use crate::cli::Context;
use crate::cli::commands::confirm::Consent;
use crate::cli::commands::output::{print, print_json};
use crate::paint::{Paint, Tone, escape_control_line, plural};
use crate::report::Verbosity;
use aye_runtime::error::Error;
use aye_runtime::tools::{ListedTool, ToolError, ToolEvent};

use super::agree::{agree, is_agreed, launch};
use super::{no_server, tools};

/// A server and what became of asking it.
struct Found {
    name: String,
    command: String,
    protocol: Option<String>,
    tools: Result<Vec<ListedTool>, ToolError>,
}

pub(super) fn run(only: Option<&str>, context: &Context) -> Result<u8, Error> {
    let settings = &context.settings.tools;
    if let Some(name) = only.filter(|name| !settings.servers.contains_key(*name)) {
        return Err(no_server(name, context));
    }
    if settings.is_empty() && !context.json {
        return Err(Error::not_found(
            "this project has no tools",
            "`[tools.NAME]` in `aye.toml` names MCP servers and commands",
        ));
    }
    let mut found = Vec::new();
    let names = settings.servers.keys().filter(|name| only.is_none_or(|only| only == *name));
    for name in names {
        match agreed(name, only.is_some(), context)? {
            Ok(server) => found.push(server),
            Err(code) => return Ok(code),
        }
    }
    ask_all(&mut found, context);
    if let (Some(_), Some(Found { tools: Err(error), .. })) = (only, found.first()) {
        return Err(Error::Tool(error.clone()));
    }
    match context.json {
        true => print_json(&as_json(&found, only.is_none(), context))?,
        false => print(&as_text(&found, only.is_none(), context))?,
    }
    // One of many that is not trusted yet is not a failure of the list.
    Ok(u8::from(found.iter().any(is_broken)))
}

fn is_broken(server: &Found) -> bool {
    server.tools.as_ref().is_err_and(|error| error.code != ErrorCode::NotTrusted)
}

/// A server before it was asked; the exit code if someone left the question.
fn agreed(name: &str, must: bool, context: &Context) -> Result<Result<Found, u8>, Error> {
    let launch = match launch(name, context) {
        Ok(launch) => launch,
        Err(error) if must => return Err(error),
        Err(error) => {
            let (message, hint) = (error.to_string(), error.hint());
            let tools = Err(ToolError { code: ErrorCode::ToolServer, message, hint });
            let (name, command) = (name.to_owned(), String::new());
            return Ok(Ok(Found { name, command, protocol: None, tools }));
        }
    };
    let command = launch.command_line();
    if !is_agreed(&launch, context)? {
        match agree(&launch, false, context) {
            Ok(Consent::Yes) => {}
            Ok(Consent::No) if must => return Ok(Err(5)),
            Ok(Consent::Left(code)) => return Ok(Err(code)),
            Ok(Consent::No) => return not_trusted(name, command),
            Err(Error::Unattended { .. }) if !must => return not_trusted(name, command),
            Err(error) => return Err(error),
        }
    }
    Ok(Ok(Found { name: name.to_owned(), command, protocol: None, tools: Ok(Vec::new()) }))
}

fn not_trusted(name: &str, command: String) -> Result<Result<Found, u8>, Error> {
    let error = ToolError {
        code: ErrorCode::NotTrusted,
        message: "not trusted yet".to_owned(),
        hint: Some("aye trust".to_owned()),
    };
    Ok(Ok(Found { name: name.to_owned(), command, protocol: None, tools: Err(error) }))
}

/// Starts these servers, and says how many tools each has.
pub(super) fn try_servers(
    names: Vec<String>,
    context: &Context,
) -> Vec<(String, Result<usize, ToolError>)> {
    let unasked =
        |name| Found { name, command: String::new(), protocol: None, tools: Ok(Vec::new()) };
    let mut found: Vec<Found> = names.into_iter().map(unasked).collect();
    ask_all(&mut found, context);
    found.into_iter().map(|one| (one.name, one.tools.map(|tools| tools.len()))).collect()
}

/// Asks all at once and waits for the slowest.
fn ask_all(found: &mut [Found], context: &Context) {
    let mut tools = tools(context);
    let mut open = 0;
    for server in found.iter().filter(|server| server.tools.is_ok()) {
        tools.list(&server.name);
        open += 1;
    }
    while open > 0 {
        let Some(event) = tools.wait(None) else {
            return;
        };
        match event {
            ToolEvent::Listed { server, result } => {
                open -= 1;
                if let Some(asked) = found.iter_mut().find(|asked| asked.name == server) {
                    asked.tools = result;
                }
            }
            ToolEvent::Started { server, protocol } => {
                if let Some(asked) = found.iter_mut().find(|asked| asked.name == server) {
                    asked.protocol = Some(protocol);
                }
            }
            ToolEvent::Log { server, line } if context.verbosity == Verbosity::Verbose => {
                crate::cli::say(&format!("{server}: {}\n", escape_control_line(&line)));
            }
            ToolEvent::Log { .. }
            | ToolEvent::Restarted { .. }
            | ToolEvent::Progress { .. }
            | ToolEvent::Asks { .. }
            | ToolEvent::AsksNoMore { .. }
            | ToolEvent::Declined { .. }
            | ToolEvent::Done { .. } => {}
        }
    }
}

fn as_json(found: &[Found], with_commands: bool, context: &Context) -> Value {
    let servers: Vec<Value> = found
        .iter()
        .map(|server| {
            let mut shown = json!({ "name": server.name, "command": server.command });
            match &server.tools {
                Ok(tools) => {
                    shown["protocol"] = json!(server.protocol);
                    let marked = |tool: &ListedTool| {
                        let full = format!("{}.{}", server.name, tool.name);
                        context.granted().read_only.contains(&full)
                    };
                    shown["tools"] =
                        tools.iter().map(|tool| tool_json(tool, marked(tool))).collect();
                }
                Err(error) => {
                    shown["error"] = json!({
                        "code": error.code, "message": error.message, "hint": error.hint,
                    });
                }
            }
            shown
        })
        .collect();
    if !with_commands {
        return json!({ "servers": servers });
    }
    let commands = context.settings.tools.commands.iter().map(|(name, command)| {
        json!({
            "name": name,
            "description": command.description,
            "input_schema": command.schema,
            "destructive": command.destructive,
            "counts_as_read_only": context.granted().read_only.contains(name),
        })
    });
    json!({ "servers": servers, "commands": commands.collect::<Vec<_>>() })
}

fn tool_json(tool: &ListedTool, marked: bool) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "input_schema": *tool.schema,
        "output_schema": tool.output.as_deref(),
        // What the server says of itself; the next is what counts.
        "read_only": tool.read_only,
        "counts_as_read_only": marked,
        "destructive": tool.destructive,
    })
}

fn as_text(found: &[Found], with_commands: bool, context: &Context) -> String {
    let paint = context.paint_out;
    let mut text = String::new();
    for server in found {
        let (name, command) =
            (escape_control_line(&server.name), escape_control_line(&server.command));
        let summary = match &server.tools {
            Ok(tools) => plural(tools.len(), "tool"),
            Err(error) => paint.text(Tone::Warn, &escape_control_line(&error.message)),
        };
        text.push_str(&format!(
            "{}  {summary}  {}\n",
            paint.text(Tone::Strong, &name),
            paint.text(Tone::Dim, &command)
        ));
        match &server.tools {
            Ok(tools) => {
                for tool in tools {
                    let full = format!("{}.{}", server.name, tool.name);
                    entry(&full, tool.description.as_deref(), &tool.schema, paint, &mut text);
                }
            }
            Err(error) => {
                if let Some(hint) = &error.hint {
                    text.push_str(&format!("  {}\n", escape_control_line(hint)));
                }
            }
        }
    }
    let commands = &context.settings.tools.commands;
    if with_commands && !commands.is_empty() {
        let title = plural(commands.len(), "command");
        text.push_str(&format!("{}\n", paint.text(Tone::Strong, &title)));
        for (name, command) in commands {
            entry(name, command.description.as_deref(), &command.schema, paint, &mut text);
        }
    }
    text
}

/// A tool: its name, the first line of what it says about itself, its arguments.
fn entry(
    name: &str,
    description: Option<&str>,
    schema: &Map<String, Value>,
    paint: Paint,
    text: &mut String,
) {
    let first = description.unwrap_or_default().trim().lines().next().unwrap_or_default();
    let first = crate::term::fit(&escape_control_line(first), 100);
    text.push_str(format!("  {}  {first}", escape_control_line(name)).trim_end());
    text.push('\n');
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let required = |name: &str| {
        let all = schema.get("required").and_then(Value::as_array);
        all.is_some_and(|all| all.iter().any(|one| one == name))
    };
    for (name, property) in properties {
        let mut words = vec![kind(property)];
        if required(name) {
            words.push("required".to_owned());
        }
        if let Some(default) = property.get("default").filter(|default| !default.is_null()) {
            words.push(format!("default {default}"));
        }
        if let Some(about) = property.get("description").and_then(Value::as_str) {
            words.push(about.trim().lines().next().unwrap_or_default().to_owned());
        }
        let about = crate::term::fit(&escape_control_line(&words.join(", ")), 100);
        text.push_str(&format!(
            "    {}  {}\n",
            escape_control_line(name),
            paint.text(Tone::Dim, &about)
        ));
    }
}

/// The type of an argument, in a word or two.
fn kind(property: &Value) -> String {
    if let Some(choices) = property.get("enum").and_then(Value::as_array) {
        let shown: Vec<String> = choices
            .iter()
            .map(|choice| choice.as_str().map_or_else(|| choice.to_string(), str::to_owned))
            .collect();
        return shown.join("|");
    }
    match property.get("type") {
        Some(Value::String(one)) => one.clone(),
        Some(Value::Array(many)) => {
            many.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|")
        }
        _ => {
            let members = property.get("anyOf").and_then(Value::as_array);
            let kinds: Vec<String> = members.into_iter().flatten().map(kind).collect();
            if kinds.is_empty() { "any".to_owned() } else { kinds.join("|") }
        }
    }
}
