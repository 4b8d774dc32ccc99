//! `[tools.NAME]`: MCP servers, and commands with a name and typed arguments.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use aye_core::diagnostic::{Diagnostic, quote};
use aye_core::span::Span;
use serde::Deserialize;
use serde_json::{Map, Value};
use toml::Spanned;

use super::read_only::{self, ReadOnly, ReadOnlyWord};
use super::span;
use super::tool_args::schema;

/// How long a server may take until it answers for the first time.
const START: Duration = Duration::from_secs(60);

/// All `[tools.*]` of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolSettings {
    /// The directory of `aye.toml`: what relative paths are relative to.
    pub root: PathBuf,
    /// MCP servers by name.
    pub servers: BTreeMap<String, ServerSettings>,
    /// Commands by name.
    pub commands: BTreeMap<String, CommandSettings>,
}

/// An MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSettings {
    /// How to reach it.
    pub reach: Reach,
    /// Speak only the protocol of 2025: no probe for the one of 2026.
    pub legacy: bool,
    /// The time-out of a call that names none.
    pub timeout: Option<Duration>,
    /// How long it may take until it answers for the first time.
    pub start_timeout: Duration,
    /// Which of its tools only look.
    pub read_only: ReadOnly,
    /// It stands in the user's own settings: nobody else has to agree to it.
    pub own: bool,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// A program of ours, through its pipes.
    Program {
        /// The program and its arguments.
        argv: Vec<String>,
        /// Where it works; the workspace if not given.
        cwd: Option<PathBuf>,
        /// Variables it gets.
        env: BTreeMap<String, String>,
        /// Variables of ours it gets as they are.
        pass_env: Vec<String>,
    },
    /// An address.
    Http {
        /// `https://…`, or `http://` on this machine.
        url: String,
        /// The variable that holds the bearer token.
        token_env: Option<String>,
    },
}

/// A command with a name and typed arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSettings {
    /// The program and its arguments, templates over `args`.
    pub argv: Vec<String>,
    /// Where that stands in the project's file.
    pub place: Option<Span>,
    /// What it is for.
    pub description: Option<String>,
    /// Its arguments, as a JSON schema.
    pub schema: Map<String, Value>,
    /// What its output is.
    pub output: OutputKind,
    /// Where it works; the workspace if not given.
    pub cwd: Option<PathBuf>,
    /// Variables it gets in addition.
    pub env: BTreeMap<String, String>,
    /// Its time-out, if the step names none.
    pub timeout: Option<Duration>,
    /// It changes what cannot be changed back.
    pub destructive: bool,
    /// It only looks.
    pub read_only: bool,
    /// It stands in the user's own settings.
    pub own: bool,
}

/// What a command prints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputKind {
    /// Text.
    #[default]
    Text,
    /// One JSON value.
    Json,
}

/// `[tools.NAME]` as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ToolSection {
    server: Option<Spanned<Vec<String>>>,
    url: Option<Spanned<String>>,
    command: Option<Spanned<toml::Value>>,
    args: Option<Spanned<toml::Value>>,
    description: Option<String>,
    output: Option<Spanned<OutputKind>>,
    cwd: Option<PathBuf>,
    env: BTreeMap<String, String>,
    pass_env: Option<Spanned<Vec<String>>>,
    token_env: Option<Spanned<String>>,
    timeout: Option<Spanned<String>>,
    start_timeout: Option<Spanned<String>>,
    legacy: Option<Spanned<bool>>,
    destructive: Option<Spanned<bool>>,
    read_only: Option<Spanned<ReadOnlyWord>>,
}

impl ToolSettings {
    /// The time-out that is named for a tool: a command's own, or its server's.
    pub fn timeout(&self, tool: &str) -> Option<Duration> {
        match self.commands.get(tool) {
            Some(command) => command.timeout,
            None => self.servers.get(tool.split_once('.')?.0)?.timeout,
        }
    }

    pub(super) fn read(
        root: &Path,
        sections: BTreeMap<Spanned<String>, ToolSection>,
    ) -> Result<Self, Diagnostic> {
        let mut all = Self { root: root.to_path_buf(), ..Self::default() };
        for (name, section) in sections {
            let place = name.span();
            let name = name.into_inner();
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            if name.is_empty() || !name.chars().all(plain) {
                return Err(wrong(format!("{} cannot name a tool", quote(&name)), place)
                    .hint("use letters, digits, `_` and `-`"));
            }
            match (section.server.is_some(), section.url.is_some(), section.command.is_some()) {
                (true, false, false) | (false, true, false) => {
                    let server = section.into_server(&name, root)?;
                    all.servers.insert(name, server);
                }
                (false, false, true) => {
                    all.commands.insert(name, section.into_command(root)?);
                }
                _ => {
                    let message = format!("`tools.{name}` needs one of `server`, `url`, `command`");
                    return Err(wrong(message, place).hint(
                        "`server = [\"npx\", \"…\"]` starts an MCP server, `url = \"https://…\"` \
                         connects to one, `command = [\"./script\"]` names a command",
                    ));
                }
            }
        }
        Ok(all)
    }

    /// These, and the user's own where these have none of the name.
    pub(super) fn or_own(mut self, own: Self) -> Self {
        let taken: Vec<String> = self.names().map(str::to_owned).collect();
        let free = |name: &String| !taken.contains(name);
        // A program beside the user's settings, not one that the workspace has.
        let anchored = |argv: &mut Vec<String>| {
            if let Some(program) = argv.first_mut().filter(|program| program.contains('/')) {
                *program = own.root.join(&*program).to_string_lossy().into_owned();
            }
        };
        for (name, mut server) in own.servers.into_iter().filter(|(name, _)| free(name)) {
            if let Reach::Program { argv, .. } = &mut server.reach {
                anchored(argv);
            }
            self.servers.insert(name, ServerSettings { own: true, ..server });
        }
        for (name, mut command) in own.commands.into_iter().filter(|(name, _)| free(name)) {
            anchored(&mut command.argv);
            command.place = None;
            command.own = true;
            self.commands.insert(name, command);
        }
        self
    }

    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty() && self.commands.is_empty()
    }

    /// The commands that change what cannot be changed back.
    pub fn destructive(&self) -> Vec<String> {
        let marked = self.commands.iter().filter(|(_, command)| command.destructive);
        marked.map(|(name, _)| name.clone()).collect()
    }

    /// Every name, servers first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.servers.keys().chain(self.commands.keys()).map(String::as_str)
    }
}

impl ToolSection {
    fn into_server(self, name: &str, root: &Path) -> Result<ServerSettings, Diagnostic> {
        let misplaced = [
            ("args", self.args.as_ref().map(Spanned::span)),
            ("output", self.output.as_ref().map(Spanned::span)),
            ("destructive", self.destructive.as_ref().map(Spanned::span)),
        ];
        if let Some((key, place)) = misplaced.into_iter().find_map(|(key, at)| Some((key, at?))) {
            return Err(wrong(format!("`{key}` is for commands, not for MCP servers"), place)
                .hint("an MCP server describes its own tools"));
        }
        let reach = match (self.server, self.url) {
            (Some(argv), _) => {
                if let Some(token) = self.token_env {
                    return Err(wrong("`token_env` is for servers with a `url`", token.span())
                        .hint("`pass_env = [\"NAME\"]` hands a variable to a program"));
                }
                let pass_env = self.pass_env.map(Spanned::into_inner).unwrap_or_default();
                Reach::Program {
                    argv: program(argv)?,
                    cwd: self.cwd.map(|cwd| root.join(cwd)),
                    env: self.env,
                    pass_env,
                }
            }
            (None, url) => {
                if let Some(pass) = self.pass_env {
                    return Err(wrong("`pass_env` is for servers that are started", pass.span())
                        .hint("`token_env = \"NAME\"` sends a variable as bearer token"));
                }
                let url = url.map_or_else(|| Ok(String::new()), |url| address(name, url))?;
                Reach::Http { url, token_env: self.token_env.map(Spanned::into_inner) }
            }
        };
        Ok(ServerSettings {
            reach,
            read_only: read_only::of_server(self.read_only)?,
            own: false,
            legacy: self.legacy.is_some_and(Spanned::into_inner),
            timeout: self.timeout.as_ref().map(duration).transpose()?.flatten(),
            start_timeout: match &self.start_timeout {
                None => START,
                Some(text) => duration(text)?.unwrap_or(START),
            },
        })
    }

    fn into_command(self, root: &Path) -> Result<CommandSettings, Diagnostic> {
        let misplaced = [
            ("pass_env", self.pass_env.as_ref().map(Spanned::span)),
            ("token_env", self.token_env.as_ref().map(Spanned::span)),
            ("start_timeout", self.start_timeout.as_ref().map(Spanned::span)),
            ("legacy", self.legacy.as_ref().map(Spanned::span)),
        ];
        if let Some((key, place)) = misplaced.into_iter().find_map(|(key, at)| Some((key, at?))) {
            return Err(wrong(format!("`{key}` is for MCP servers, not for commands"), place)
                .hint("an MCP server is written `server = [\"program\", \"argument\"]`"));
        }
        let Some(command) = self.command else {
            return Err(Diagnostic::error("settings", "a command names its program"));
        };
        let place = command.span();
        let argv: Vec<String> = command.into_inner().try_into().map_err(|_| {
            wrong("`command` is a list: the program and its arguments", place.clone()).hint(
                "`command = [\"./script\", \"{{ args.name }}\"]`; an MCP server is written \
                 `server = [\"program\", \"argument\"]`",
            )
        })?;
        let destructive = self.destructive.is_some_and(Spanned::into_inner);
        Ok(CommandSettings {
            place: Some(span(place.clone())),
            argv: program(Spanned::new(place, argv))?,
            description: self.description,
            schema: schema(self.args)?,
            output: self.output.map(Spanned::into_inner).unwrap_or_default(),
            cwd: self.cwd.map(|cwd| root.join(cwd)),
            env: self.env,
            timeout: self.timeout.as_ref().map(duration).transpose()?.flatten(),
            destructive,
            read_only: read_only::of_command(self.read_only, destructive)?,
            own: false,
        })
    }
}

pub(super) fn wrong(message: impl Into<String>, place: std::ops::Range<usize>) -> Diagnostic {
    Diagnostic::error("settings", message).label(span(place), "")
}

pub(super) fn program(argv: Spanned<Vec<String>>) -> Result<Vec<String>, Diagnostic> {
    let place = argv.span();
    let argv = argv.into_inner();
    if argv.first().is_none_or(String::is_empty) {
        return Err(wrong("the list names no program", place).hint("`[\"program\", \"argument\"]`"));
    }
    Ok(argv)
}

/// Zero is none.
pub(super) fn duration(text: &Spanned<String>) -> Result<Option<Duration>, Diagnostic> {
    match aye_core::skill::parse_duration(text.get_ref()) {
        Ok(limit) => Ok((!limit.is_zero()).then_some(limit)),
        Err(error) => Err(Diagnostic::error("settings", error.to_string())
            .label(span(text.span()), "write `30s`, `5m` or `1h30m`")),
    }
}

/// Encrypted, or on this machine; and no password in a file that is shared.
fn address(name: &str, url: Spanned<String>) -> Result<String, Diagnostic> {
    let place = url.span();
    let text = url.into_inner();
    let parsed: http::Uri = text.parse().map_err(|_| {
        wrong(format!("{} is not an address", quote(&text)), place.clone())
            .hint("write `https://host/path`")
    })?;
    let Some(authority) = parsed.authority() else {
        return Err(wrong(format!("{} names no host", quote(&text)), place)
            .hint("write `https://host/path`"));
    };
    if authority.as_str().contains('@') {
        // Without the line: it would show the password.
        let message = format!("the `url` of `tools.{name}` holds a user or password");
        return Err(Diagnostic::error("settings", message)
            .hint("`token_env = \"NAME\"` sends the token that a variable holds"));
    }
    match parsed.scheme_str() {
        Some("https") => Ok(text),
        Some("http") if is_loopback(authority.host()) => Ok(text),
        Some("http") => Err(wrong(format!("{} is not encrypted", quote(&text)), place).hint(
            "use `https://`; plain `http://` is for this machine: `http://127.0.0.1:PORT/…`",
        )),
        _ => Err(wrong(format!("{} is not an address of a server", quote(&text)), place)
            .hint("write `https://host/path`")),
    }
}

/// Whether a host is this machine.
pub fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
