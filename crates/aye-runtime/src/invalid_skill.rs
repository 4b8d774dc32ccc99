//! A skill that cannot be used, and why.

use std::fmt;

use aye_core::diagnostic::{Diagnostic, JsonDiagnostic, Source, render, to_json};

/// Why a skill cannot be used.
#[derive(Debug)]
pub enum InvalidSkill {
    /// In words; its diagnostics are shown elsewhere, or there are none.
    Said(String),
    /// All that was found in its file.
    Found {
        /// What cannot be done; empty where the diagnostics say everything.
        message: String,
        /// The file's name.
        file: String,
        /// Its text.
        text: String,
        /// What was found in it.
        diagnostics: Vec<Diagnostic>,
    },
    /// Another skill calls it: its first error.
    Called {
        /// The error.
        first: Box<JsonDiagnostic>,
        /// How many more there are.
        more: usize,
    },
}

impl InvalidSkill {
    /// The first error of what was found in a file that another skill names.
    pub(crate) fn called(name: &str, text: &str, found: &[Diagnostic]) -> Self {
        let mut errors = found.iter().filter(|found| found.is_error());
        let Some(first) = errors.next() else { return Self::Said(cannot_be_run(name)) };
        let first = Box::new(to_json(first, &Source::new(name, text)));
        Self::Called { first, more: errors.count() }
    }

    /// The same about the step that calls it.
    pub(crate) fn to_warning(&self, code: &'static str) -> Diagnostic {
        let Self::Called { first, more } = self else {
            return Diagnostic::warning(code, self.to_string());
        };
        let said = Diagnostic::warning(code, first_line(first));
        let hints: Vec<String> = first.hint.iter().cloned().chain(more_errors(*more)).collect();
        if hints.is_empty() { said } else { said.hint(hints.join("\n")) }
    }
}

impl fmt::Display for InvalidSkill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Said(message) => f.write_str(message),
            Self::Found { message, file, text, diagnostics } => {
                let source = Source::new(file, text);
                let found = diagnostics.iter().map(|one| render(one, &source, false) + "\n");
                let found: String = found.collect();
                let gap = if message.is_empty() { "" } else { "\n" };
                write!(f, "{message}{gap}{}", found.trim_end())
            }
            Self::Called { first, more } => {
                f.write_str(&first_line(first))?;
                if let Some(hint) = &first.hint {
                    write!(f, "\nhint: {hint}")?;
                }
                more_errors(*more).map_or(Ok(()), |more| write!(f, "\n{more}"))
            }
        }
    }
}

fn cannot_be_run(name: &str) -> String {
    format!("`{name}` cannot be run")
}

fn first_line(JsonDiagnostic { file, line, column, message, .. }: &JsonDiagnostic) -> String {
    format!("{}: {file}:{line}:{column}: {message}", cannot_be_run(file))
}

fn more_errors(more: usize) -> Option<String> {
    (more > 0).then(|| format!("{more} more error{}", if more == 1 { "" } else { "s" }))
}
