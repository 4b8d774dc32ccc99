//! What would be started or connected to, so that a person can agree to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use aye_core::digest::digest;
use aye_process::{CARRIERS, SpawnError, Spec};

use crate::fmt::shell_word;
use crate::settings::{Reach, ServerSettings, ToolSettings};

/// Variables that a server gets from us unasked: what programs need to find
/// themselves and their files. No secret lives in any of them.
const PASSED: [&str; 16] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "TERM",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// A server as it would be started or reached now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The server's name in `aye.toml`.
    pub server: String,
    /// The program as a path and its arguments; or the address.
    pub command: Vec<String>,
    /// Where it works, if `aye.toml` says.
    pub cwd: Option<PathBuf>,
    /// Variables it gets beside the usual ones: names, and where from.
    pub variables: Vec<String>,
    /// Of all of it. An agreement is to this, and to nothing else.
    pub digest: String,
}

impl Launch {
    pub(super) fn of(
        name: &str,
        server: &ServerSettings,
        workspace: &Path,
        environment: &BTreeMap<String, String>,
    ) -> Result<Self, SpawnError> {
        let (command, cwd, variables, values) = match &server.reach {
            Reach::Program { argv, cwd, env, pass_env } => {
                let spec = spec(argv, cwd.as_deref(), env, pass_env, workspace, environment);
                let program = aye_process::resolve(&spec)?.to_string_lossy().into_owned();
                let command = std::iter::once(program).chain(argv.iter().skip(1).cloned());
                let set = env.keys().map(|name| format!("{name} (set in aye.toml)"));
                let passed = pass_env.iter().map(|name| format!("{name} (yours)"));
                // What a variable of `aye.toml` is set to counts; yours do not.
                let values: Vec<&str> = env.values().map(String::as_str).collect();
                (command.collect::<Vec<_>>(), cwd.clone(), set.chain(passed).collect(), values)
            }
            Reach::Http { url, token_env } => {
                let variables: Vec<String> =
                    token_env.iter().map(|name| format!("{name} (yours, sent as token)")).collect();
                (vec![url.clone()], None, variables, Vec::new())
            }
        };
        let kind: &[u8] = match &server.reach {
            Reach::Program { .. } => b"program",
            Reach::Http { .. } => b"http",
        };
        let place = cwd.as_deref().map(|cwd| cwd.to_string_lossy().into_owned());
        let count = |list: &[String]| list.len().to_string();
        let (words, names) = (count(&command), count(&variables));
        let mut parts: Vec<&[u8]> = vec![kind, words.as_bytes()];
        parts.extend(command.iter().map(String::as_bytes));
        parts.push(names.as_bytes());
        parts.extend(variables.iter().map(String::as_bytes));
        parts.extend(values.iter().map(|value| value.as_bytes()));
        parts.push(place.as_deref().unwrap_or_default().as_bytes());
        let digest = digest(&parts);
        Ok(Self { server: name.to_owned(), command, cwd, variables, digest })
    }

    /// The command line, or the address, on one line.
    pub fn command_line(&self) -> String {
        let words: Vec<String> = self.command.iter().map(|word| shell_word(word)).collect();
        words.join(" ")
    }
}

impl ToolSettings {
    /// What starting a server means now; `None` if there is none of that name.
    ///
    /// # Errors
    /// When its program is not there.
    pub fn launch(
        &self,
        server: &str,
        workspace: &Path,
        environment: &BTreeMap<String, String>,
    ) -> Option<Result<Launch, SpawnError>> {
        let settings = self.servers.get(server)?;
        Some(Launch::of(server, settings, workspace, environment))
    }
}

/// What starts a server's program: of our environment only what it is meant to get.
pub(super) fn spec(
    argv: &[String],
    cwd: Option<&Path>,
    env: &BTreeMap<String, String>,
    pass_env: &[String],
    workspace: &Path,
    environment: &BTreeMap<String, String>,
) -> Spec {
    let (program, args) = match argv.split_first() {
        Some((program, args)) => (program.as_str(), args),
        None => ("", [].as_slice()),
    };
    let mut spec = Spec::new(program).args(args);
    spec.cwd = Some(cwd.unwrap_or(workspace).to_path_buf());
    let usual = |name: &str| PASSED.contains(&name) || name.starts_with("LC_");
    let named = |name: &str| pass_env.iter().any(|one| one == name) && !CARRIERS.contains(&name);
    let passed = |name: &str| usual(name) || named(name);
    // Also those that are not text, which `environment` does not have.
    let ours = std::env::vars_os().map(|(name, _)| name);
    let withheld = ours.filter(|name| !name.to_str().is_some_and(passed));
    spec.env.extend(withheld.map(|name| (name, None)));
    let given = environment.iter().filter(|(name, _)| passed(name));
    spec.env.extend(given.chain(env).map(|(name, value)| (name.into(), Some(value.into()))));
    spec
}
