//! A value that is written down, or says where it is read.

use std::fmt;

use aye_core::diagnostic::Diagnostic;
use aye_core::skill::SecretSource;
use serde::Deserialize;
use toml::Spanned;

use crate::fmt::shell_word;

use super::super::tools::wrong;

/// A text, or where it is read each time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sourced {
    /// It is written down.
    Plain(String),
    /// It is read there.
    From(SecretSource),
}

impl Sourced {
    /// The text, or where it is read.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Plain(text) => shell_word(text),
            Self::From(_) => self.source(),
        }
    }

    /// Where it is read, never the text.
    pub(super) fn source(&self) -> String {
        match self {
            Self::Plain(_) => "written in the settings".to_owned(),
            Self::From(SecretSource::Env(name)) => {
                format!("from the environment variable {}", shell_word(name))
            }
            Self::From(SecretSource::File(path)) => format!("from the file {}", shell_word(path)),
            Self::From(SecretSource::Command(argv)) => {
                let words: Vec<String> = argv.iter().map(|word| shell_word(word)).collect();
                format!("from the command {}", words.join(" "))
            }
        }
    }
}

impl fmt::Display for Sourced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(text) => f.write_str(text),
            Self::From(source) => write!(f, "({source})"),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    env: Option<String>,
    file: Option<String>,
    command: Option<Vec<String>>,
}

/// Reads `"text"` or `{ env = "NAME" }`.
pub(super) fn sourced(key: &str, value: Spanned<toml::Value>) -> Result<Sourced, Diagnostic> {
    let place = value.span();
    let hint = format!(
        "write `{key} = \"…\"`, or where it is: `{key} = {{ env = \"NAME\" }}`, \
         `{{ file = \"PATH\" }}`, `{{ command = [\"PROGRAM\", \"ARGUMENT\"] }}`"
    );
    let bad = || wrong(format!("`{key}` is a text, or says where it is read"), place.clone());
    match value.into_inner() {
        toml::Value::String(text) if !text.is_empty() => Ok(Sourced::Plain(text)),
        toml::Value::Table(table) => {
            let written: Written =
                toml::Value::Table(table).try_into().map_err(|_| bad().hint(hint.clone()))?;
            Ok(Sourced::From(match (written.env, written.file, written.command) {
                (Some(name), None, None) if !name.is_empty() => SecretSource::Env(name),
                (None, Some(path), None) if !path.is_empty() => SecretSource::File(path),
                (None, None, Some(argv)) if argv.first().is_some_and(|name| !name.is_empty()) => {
                    SecretSource::Command(argv)
                }
                _ => return Err(bad().hint(hint)),
            }))
        }
        _ => Err(bad().hint(hint)),
    }
}
