//! `aye mcp install`: tells a client of the server, in the project's own files.

use aye_core::text::diff;
use clap::{Args, ValueEnum};
use serde::Serialize as _;
use serde_json::{Map, Value, json};

use crate::cli::commands::confirm::{Default as OnEnter, consent, must_have_person};
use crate::cli::commands::output::{print_json, print_line};
use crate::cli::commands::trust::also_trust;
use crate::cli::{Context, say, warn_line};
use crate::paint::{Tone, escape_control};
use aye_runtime::error::Error;
use aye_runtime::replace::{refuse_links, replace};
use aye_runtime::skills::relative_to;

use super::super::doctor::on_path;

/// What the server is called there.
const NAME: &str = "aye";

/// How an editor names the project to a server.
const HERE: [&str; 3] = ["mcp", "--workspace", "${workspaceFolder}"];

// Options of `aye mcp install`.
#[derive(Debug, Args)]
pub struct InstallArgs {
    /// For which client
    pub client: Which,
    /// Write the file and trust the project without a question, for scripts
    #[arg(short, long)]
    pub yes: bool,
}

/// The clients whose files are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Which {
    /// Claude Code: `.mcp.json`
    Claude,
    /// Cursor: `.cursor/mcp.json`
    Cursor,
    /// VS Code: `.vscode/mcp.json`
    Vscode,
}

impl Which {
    fn file(self) -> &'static str {
        match self {
            Self::Claude => ".mcp.json",
            Self::Cursor => ".cursor/mcp.json",
            Self::Vscode => ".vscode/mcp.json",
        }
    }

    /// The key whose entries are servers.
    fn key(self) -> &'static str {
        match self {
            Self::Claude | Self::Cursor => "mcpServers",
            Self::Vscode => "servers",
        }
    }
}

pub(super) fn run(args: &InstallArgs, context: &Context) -> Result<u8, Error> {
    let path = context.settings.root.join(args.client.file());
    let shown = relative_to(&path, &context.directory);
    refuse_links(&context.settings.root, &path)?;
    let old = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(source) => return Err(Error::File { doing: "read", path, source }),
    };
    let new = changed(&old, args.client, &program(context)).map_err(|why| {
        Error::usage(
            format!("`{}` cannot be changed: {why}", shown.display()),
            format!("add it yourself: `\"{NAME}\": {}`", entry(args.client, NAME)),
        )
    })?;
    if new == old {
        if !context.json {
            print_line(&format!("{} names the server already", shown.display()))?;
        }
        return trusted(&json!({ "file": shown, "changed": false }), args.yes, context);
    }
    let paint = context.paint_err;
    let mut text = format!("{}\n", paint.text(Tone::Strong, &shown.to_string_lossy()));
    for line in diff(&old, &new) {
        let tone = if line.starts_with('-') { Tone::Bad } else { Tone::Good };
        text.push_str(&format!("{}\n", paint.text(tone, &escape_control(&line))));
    }
    say(&text);
    if !args.yes {
        must_have_person("nobody can be asked here", "`--yes` writes without asking", context)?;
        let question = format!("Write `{}`?", shown.display());
        if let Some(code) = consent(&question, OnEnter::Yes, context)?.refusal(1) {
            return Ok(code);
        }
    }
    replace(&path, &new, 0o666).map_err(Error::file("write", &path))?;
    if !context.json {
        print_line(&format!("wrote {}", shown.display()))?;
    }
    trusted(&json!({ "file": shown, "changed": true }), args.yes, context)
}

/// The server is of use in a project that is trusted: asks for that, too. Without it
/// the file is there all the same.
fn trusted(report: &Value, yes: bool, context: &Context) -> Result<u8, Error> {
    let trusted = match also_trust(yes, context) {
        Ok(trusted) => trusted,
        Err(Error::Unattended { .. }) => false,
        Err(error) => return Err(error),
    };
    if context.json {
        let mut report = report.clone();
        report["trusted"] = trusted.into();
        print_json(&report)?;
    } else if !trusted {
        let text = "this project is not trusted: assistants can list its skills and start none\n\
                    hint: `aye trust` shows what that means and asks";
        warn_line(text, context);
    }
    Ok(0)
}

/// How the client starts the server: by name where that finds this program.
fn program(context: &Context) -> String {
    let here = std::env::current_exe().and_then(|path| path.canonicalize()).ok();
    let named = on_path(NAME, &context.env).and_then(|path| path.canonicalize().ok());
    match here {
        Some(here) if named.as_ref() != Some(&here) => here.to_string_lossy().into_owned(),
        _ => NAME.to_owned(),
    }
}

fn entry(client: Which, program: &str) -> Value {
    match client {
        // It starts servers in the project's own directory; the others may not.
        Which::Claude => json!({ "command": program, "args": ["mcp"] }),
        Which::Cursor => json!({ "command": program, "args": HERE }),
        Which::Vscode => json!({ "type": "stdio", "command": program, "args": HERE }),
    }
}

/// The file with the server in it; everything else stays as it is.
fn changed(old: &str, client: Which, program: &str) -> Result<String, String> {
    let mut whole: Value = match old.trim() {
        "" => json!({}),
        text => serde_json::from_str(text).map_err(|error| error.to_string())?,
    };
    let map = whole.as_object_mut().ok_or("it is not an object")?;
    let servers = map.entry(client.key()).or_insert_with(|| json!({}));
    let servers: &mut Map<String, Value> =
        servers.as_object_mut().ok_or_else(|| format!("`{}` is not an object", client.key()))?;
    let mut wanted = entry(client, program);
    // What someone added to it, variables for example, is theirs.
    if let (Some(Value::Object(there)), Some(ours)) = (servers.get(NAME), wanted.as_object()) {
        let mut there = there.clone();
        there.extend(ours.clone());
        wanted = Value::Object(there);
    }
    if servers.get(NAME) == Some(&wanted) {
        return Ok(old.to_owned());
    }
    servers.insert(NAME.to_owned(), wanted);
    let indent = indent_of(old);
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
    let mut writer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    whole.serialize(&mut writer).map_err(|error| error.to_string())?;
    bytes.push(b'\n');
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

/// How the file is indented.
fn indent_of(text: &str) -> String {
    let indented = text.lines().find(|line| line.starts_with([' ', '\t']));
    let indent = indented.map(|line| &line[..line.len() - line.trim_start().len()]);
    indent.filter(|indent| indent.len() <= 8).unwrap_or("  ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_else_stays() {
        let old =
            "{\n\t\"mcpServers\": {\n\t\t\"git\": {\"command\": \"x\"}\n\t},\n\t\"z\": 1\n}\n";
        let new = changed(old, Which::Claude, "aye").expect("it is changed");
        assert!(new.contains("\n\t\t\"git\": {"), "{new}");
        assert!(new.find("\"git\"") < new.find("\"aye\""), "{new}");
        assert!(new.find("\"aye\"") < new.find("\"z\""), "{new}");
        assert_eq!(changed(&new, Which::Claude, "aye").as_deref(), Ok(new.as_str()));
    }

    #[test]
    fn what_somebody_added_to_the_entry_stays() {
        let old = r#"{"servers":{"aye":{"command":"old","env":{"AYE_HOME":"/x"}}}}"#;
        let new = changed(old, Which::Vscode, "aye").expect("it is changed");
        let new: Value = serde_json::from_str(&new).expect("it is JSON");
        let aye = &new["servers"]["aye"];
        assert_eq!(aye["env"]["AYE_HOME"], "/x");
        assert_eq!((&aye["command"], &aye["type"]), (&json!("aye"), &json!("stdio")));
    }

    #[test]
    fn what_cannot_be_read_is_not_changed() {
        for old in ["// notes\n{}", "[]", r#"{"servers": 1}"#] {
            assert!(changed(old, Which::Vscode, "aye").is_err(), "{old}");
        }
    }
}
