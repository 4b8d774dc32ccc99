//! Reading skill files; `library` finds them.
//!
//! Touches files, for reading. The text goes to `aye_core::skill`, a checked skill to the use
//! cases.

mod blocks;
mod fix;
mod input_schema;
mod library;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use aye_core::diagnostic::{self, Diagnostic, Severity, Source};
use aye_core::flow::{Flow, UNKNOWN_NAME, lint};
use aye_core::skill::{self, Skill};
use aye_core::span::Spanned;
use aye_core::yaml::{MAX_BYTES, too_large};

use crate::compute::PythonExpressions;
use crate::error::Error;
use crate::invalid_skill::InvalidSkill;
use crate::settings::ToolSettings;

pub use fix::{Fixed, fix};
pub use input_schema::input_schema;
pub use library::{Library, Listing, Reach, relative_to};

/// How long all compute blocks of a file may take to be checked: they take
/// milliseconds, and no file may keep others from being listed.
const CHECKING: Duration = Duration::from_secs(2);

/// The text of a file, or why it is too large to be read.
fn read_text(path: &Path) -> Result<Result<String, Box<Diagnostic>>, Error> {
    let failed = Error::file("read", path);
    // A pipe or a device may never end.
    let about = std::fs::metadata(path).map_err(failed)?;
    if !about.is_file() {
        let message = format!("`{}` is not a file", path.display());
        return Err(Error::usage(message, "name a skill file"));
    }
    // What is too large need not be read to be refused.
    if let Some(refused) = too_large(about.len()) {
        return Ok(Err(Box::new(refused)));
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    // One more than there was: what grows meanwhile is refused all the same.
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        failed(std::io::Error::new(std::io::ErrorKind::InvalidData, error.utf8_error()))
    })?;
    Ok(Ok(text))
}

/// A skill file as read: its text, its skills as flows, and what is to be
/// said about them.
#[derive(Debug)]
pub struct SkillFile {
    /// Where it is.
    pub path: PathBuf,
    /// What is in it.
    pub text: String,
    /// The skills that can be read. One that uses a name nobody defines is
    /// among them: a run of it may have begun before that was looked for.
    pub flows: Vec<Flow>,
    /// Every skill there is, by its name, with the whole of it as its place.
    pub declared: Vec<Spanned<String>>,
    /// Errors and warnings, sorted by place.
    pub diagnostics: Vec<Diagnostic>,
}

impl SkillFile {
    /// Reads and checks a file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Ok(match read_text(path)? {
            Ok(text) => Self::from_text(path.to_path_buf(), text),
            Err(refused) => Self {
                path: path.to_path_buf(),
                text: String::new(),
                flows: Vec::new(),
                declared: Vec::new(),
                diagnostics: vec![*refused],
            },
        })
    }

    /// Checks a text that has been read already.
    pub fn from_text(path: PathBuf, text: String) -> Self {
        let parsed = skill::parse(&path.to_string_lossy(), &text);
        let mut diagnostics = parsed.diagnostics;
        let mut flows = Vec::new();
        let until = Instant::now() + CHECKING;
        for skill in parsed.skills {
            let flow = Flow::compile(skill);
            let mut found = lint(&flow, &text, Some(&PythonExpressions));
            found.extend(blocks::check(&flow, &text, until));
            let readable = !found.iter().any(|one| one.is_error() && one.code != UNKNOWN_NAME);
            diagnostics.extend(found);
            if readable {
                flows.push(flow);
            }
        }
        diagnostic::sort(&mut diagnostics);
        let diagnostics = diagnostic::without_allowed(diagnostics, &text);
        Self { path, text, flows, declared: parsed.declared, diagnostics }
    }

    /// What concerns one of several skills: the errors of its siblings do not.
    #[must_use]
    pub fn only(mut self, name: Option<&str>) -> Self {
        let wanted = match (name, &self.declared[..]) {
            (Some(name), declared) => declared.iter().find(|skill| skill.value == name),
            (None, _) => None,
        };
        let Some(wanted) = wanted.map(|skill| skill.span) else { return self };
        let others: Vec<_> =
            self.declared.iter().map(|skill| skill.span).filter(|span| *span != wanted).collect();
        self.diagnostics.retain(|found| !others.iter().any(|other| other.holds(found.span())));
        self
    }

    /// What undefined names mean in skills that do not say.
    #[must_use]
    pub fn or_lenient(mut self, lenient: bool) -> Self {
        for flow in &mut self.flows {
            let own = flow.skill.lenient.is_some();
            flow.skill.lenient.get_or_insert(lenient);
            if own || !lenient {
                continue;
            }
            // Such a name is empty here: nothing fails because of it.
            let names = self.diagnostics.iter_mut().filter(|found| found.code == UNKNOWN_NAME);
            for found in names.filter(|found| flow.skill.span.holds(found.span())) {
                found.severity = Severity::Warning;
            }
        }
        self
    }

    /// Steps that call what the project calls destructive are destructive.
    #[must_use]
    pub fn marked(mut self, tools: &ToolSettings) -> Self {
        let destructive = tools.destructive();
        for flow in self.flows.iter_mut().filter(|_| !destructive.is_empty()) {
            flow.mark_destructive(&destructive);
        }
        self
    }

    /// Whether anything in it cannot be used.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// How many errors it has.
    pub fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|found| found.is_error()).count()
    }

    /// How many of its skills can be run.
    pub fn valid(&self) -> usize {
        let errors = || self.diagnostics.iter().filter(|found| found.is_error());
        let whole = |flow: &&Flow| !errors().any(|found| flow.skill.span.holds(found.span()));
        self.flows.iter().filter(whole).count()
    }

    /// Its diagnostics as text.
    pub fn render(&self, color: bool) -> String {
        self.render_within(color, None)
    }

    /// Its diagnostics as text, for a terminal of this width if there is one.
    pub fn render_within(&self, color: bool, columns: Option<usize>) -> String {
        let name = self.path.to_string_lossy();
        let source = Source::new(&name, &self.text);
        let columns = columns.unwrap_or(usize::MAX);
        let render = |one| diagnostic::render_within(one, &source, color, columns) + "\n";
        self.diagnostics.iter().map(render).collect()
    }

    /// The error with everything that was found in it.
    pub(crate) fn invalid(&self, message: impl Into<String>) -> InvalidSkill {
        InvalidSkill::Found {
            message: message.into(),
            file: self.path.to_string_lossy().into_owned(),
            text: self.text.clone(),
            diagnostics: self.diagnostics.clone(),
        }
    }

    /// Several skills are there, and none was named.
    pub fn several(&self) -> Error {
        let names: Vec<&str> = self.declared.iter().map(|skill| skill.as_str()).collect();
        let path = self.path.display();
        let hint = format!("name one: `{path}#{}`", names.first().copied().unwrap_or(""));
        Error::usage(format!("`{path}` holds {} skills: {}", names.len(), names.join(", ")), hint)
    }

    /// Takes the one flow that is meant.
    pub fn into_flow(self, name: Option<&str>) -> Result<(Flow, String), Error> {
        let names: Vec<&str> = self.declared.iter().map(|skill| skill.as_str()).collect();
        let path = self.path.display().to_string();
        let name = match name {
            None if names.len() == 1 => names[0],
            None => return Err(self.several()),
            Some(name) if !names.contains(&name) => {
                let message = format!("`{path}` has no skill `{name}`");
                return Err(Error::not_found(message, format!("it has: {}", names.join(", "))));
            }
            Some(name) => name,
        };
        let found = self.flows.iter().position(|flow| skill_name(flow) == name);
        let index = found.ok_or_else(|| {
            let words = format!("skill `{name}` of `{path}` has errors");
            Error::InvalidSkill(InvalidSkill::Said(words))
        })?;
        let mut flows = self.flows;
        Ok((flows.swap_remove(index), self.text))
    }
}

/// What a skill is about. Without a description its name stands in for one: that says nothing.
pub fn skill_about(flow: &Flow) -> Option<&str> {
    flow.skill.description.as_deref().filter(|about| *about != skill_name(flow))
}

/// The name of a flow's skill.
pub fn skill_name(flow: &Flow) -> &str {
    let Skill { name, .. } = &flow.skill;
    name.as_str()
}
