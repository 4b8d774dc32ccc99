//! `[advisor]`: a program that advises the person who is asked.

use std::path::Path;
use std::time::Duration;

use aye_core::diagnostic::Diagnostic;
use serde::Deserialize;
use toml::Spanned;

use super::tools::{duration, program, wrong};

/// How long it may take unless the project says otherwise.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The program that advises.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdvisorSettings {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// How long it may take.
    pub timeout: Duration,
}

/// `[advisor]` as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AdvisorSection {
    command: Option<Spanned<toml::Value>>,
    timeout: Option<Spanned<String>>,
}

const EXAMPLE: &str = "`command = [\"claude\", \"-p\"]`";

impl AdvisorSettings {
    pub(super) fn read(
        root: &Path,
        section: Option<Spanned<AdvisorSection>>,
    ) -> Result<Option<Self>, Diagnostic> {
        let Some(section) = section else { return Ok(None) };
        let place = section.span();
        let section = section.into_inner();
        let Some(command) = section.command else {
            return Err(wrong("`[advisor]` needs a `command`", place).hint(EXAMPLE));
        };
        let place = command.span();
        let argv: Vec<String> = command.into_inner().try_into().map_err(|_| {
            wrong("`command` is a list: the program and its arguments", place.clone()).hint(EXAMPLE)
        })?;
        let mut argv = program(Spanned::new(place, argv))?;
        // Anyone who writes `./advise` means the one beside `aye.toml`.
        if let Some(name) = argv.first_mut().filter(|name| name.contains('/')) {
            *name = root.join(&*name).to_string_lossy().into_owned();
        }
        let timeout = match &section.timeout {
            None => TIMEOUT,
            Some(text) => duration(text)?.ok_or_else(|| {
                wrong("the advisor needs a timeout", text.span())
                    .hint("write `30s`; to turn it off, remove `[advisor]`")
            })?,
        };
        Ok(Some(Self { argv, timeout }))
    }
}
