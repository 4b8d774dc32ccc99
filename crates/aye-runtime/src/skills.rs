//! Reading skill files; `library` finds them.

mod library;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use aye_core::diagnostic::{self, Diagnostic, Source};
use aye_core::flow::{Flow, lint};
use aye_core::skill::{self, Action, Skill, Step};
use aye_core::span::Span;
use aye_core::yaml::{MAX_BYTES, too_large};

use crate::compute::{self, Block, ComputeError, PythonExpressions};
use crate::error::Error;
use crate::settings::ToolSettings;

pub use library::{Library, Reach, relative_to};

/// How long all compute blocks of a file may take to be checked: they take
/// milliseconds, and no file may keep others from being listed.
const CHECKING: Duration = Duration::from_secs(2);

/// A skill file as read: its text, its skills as flows, and what is to be
/// said about them.
#[derive(Debug)]
pub struct SkillFile {
    /// Where it is.
    pub path: PathBuf,
    /// What is in it.
    pub text: String,
    /// The skills without an error.
    pub flows: Vec<Flow>,
    /// Errors and warnings, sorted by place.
    pub diagnostics: Vec<Diagnostic>,
}

impl SkillFile {
    /// Reads and checks a file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::File { doing: "read", path: path.to_path_buf(), source };
        // A pipe or a device may never end.
        let about = std::fs::metadata(path).map_err(failed)?;
        if !about.is_file() {
            let message = format!("`{}` is not a file", path.display());
            return Err(Error::usage(message, "name a skill file"));
        }
        // What is too large need not be read to be refused.
        if let Some(refused) = too_large(about.len()) {
            let (text, flows) = (String::new(), Vec::new());
            return Ok(Self { path: path.to_path_buf(), text, flows, diagnostics: vec![refused] });
        }
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).map_err(failed)?;
        // One more than there was: what grows meanwhile is refused all the same.
        file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
        let text = String::from_utf8(bytes).map_err(|error| Error::File {
            doing: "read",
            path: path.to_path_buf(),
            source: std::io::Error::new(std::io::ErrorKind::InvalidData, error.utf8_error()),
        })?;
        Ok(Self::from_text(path.to_path_buf(), text))
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
            found.extend(blocks(&flow, &text, until));
            let sound = !found.iter().any(Diagnostic::is_error);
            diagnostics.extend(found);
            if sound {
                flows.push(flow);
            }
        }
        diagnostic::sort(&mut diagnostics);
        Self { path, text, flows, diagnostics }
    }

    /// What undefined names mean in skills that do not say.
    #[must_use]
    pub fn or_lenient(mut self, lenient: bool) -> Self {
        for flow in &mut self.flows {
            flow.skill.lenient.get_or_insert(lenient);
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

    /// Its diagnostics as text.
    pub fn render(&self, color: bool) -> String {
        let name = self.path.to_string_lossy();
        let source = Source::new(&name, &self.text);
        self.diagnostics.iter().map(|d| diagnostic::render(d, &source, color) + "\n").collect()
    }

    /// Takes the one flow that is meant.
    pub fn into_flow(self, name: Option<&str>) -> Result<(Flow, String), Error> {
        let names: Vec<String> =
            self.flows.iter().map(|flow| skill_name(flow).to_owned()).collect();
        let path = self.path.display().to_string();
        let index = match name {
            None if names.len() == 1 => 0,
            None => {
                let hint =
                    format!("name one: `{path}#{}`", names.first().map_or("", String::as_str));
                let message =
                    format!("`{path}` holds {} skills: {}", names.len(), names.join(", "));
                return Err(Error::usage(message, hint));
            }
            Some(name) => names.iter().position(|known| known == name).ok_or_else(|| {
                let message = format!("`{path}` has no skill `{name}`");
                Error::not_found(message, format!("it has: {}", names.join(", ")))
            })?,
        };
        let mut flows = self.flows;
        Ok((flows.swap_remove(index), self.text))
    }
}

/// What cannot be read in the compute steps of a flow, or is sure to fail. It is said by `until`.
fn blocks(flow: &Flow, text: &str, until: Instant) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut steps: Vec<&Step> = flow.nodes.iter().map(|node| &node.step).collect();
    while let Some(step) = steps.pop() {
        if let Action::ForEach(each) = &step.action {
            steps.extend(&each.body);
        }
        let Action::Compute { code, python: false, .. } = &step.action else { continue };
        let output = step.output.as_ref().unwrap_or(&step.name).value.clone();
        let block = Block { code: code.value.clone(), output: Some(output), ..Block::default() };
        let message = |error: &ComputeError| {
            format!("`compute` of step `{}`: {}", step.name.value, error.message)
        };
        let (mut diagnostic, error) =
            match compute::check(&block, until.saturating_duration_since(Instant::now())) {
                Err(error) => (Diagnostic::error("bad-code", message(&error)), error),
                Ok(()) => match compute::missing_module(&block) {
                    Some(error) => (Diagnostic::warning("missing-module", message(&error)), error),
                    None => continue,
                },
            };
        diagnostic = match place_in(text, code.span, &error) {
            Some(span) => diagnostic.label(span, ""),
            None => {
                let line = error.place.as_ref().map(|place| place.line);
                let line = line.map(|line| format!("line {line} of the block"));
                diagnostic.label(code.span, line.unwrap_or_default())
            }
        };
        found.push(match error.hint {
            Some(hint) => diagnostic.hint(hint.into_string()),
            None => diagnostic,
        });
    }
    found
}

/// Where the line of a block that an error is about stands in the file; `None`
/// if the block is not written line by line.
fn place_in(text: &str, block: Span, error: &ComputeError) -> Option<Span> {
    let place = error.place.as_deref()?;
    let source = place.source.as_str();
    let mut start = block.start;
    for _ in 1..place.line {
        start += text.get(start..)?.find('\n')? + 1;
    }
    let written = text.get(start..)?.lines().next()?;
    let at = start + written.find(source.trim_end()).filter(|_| !source.trim().is_empty())?;
    let bytes = |column: usize| source.chars().take(column).map(char::len_utf8).sum::<usize>();
    Some(Span { start: at + bytes(place.columns.start), end: at + bytes(place.columns.end) })
}

/// The name of a flow's skill.
pub fn skill_name(flow: &Flow) -> &str {
    let Skill { name, .. } = &flow.skill;
    name.as_str()
}
