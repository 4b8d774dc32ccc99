//! The front door: text in, sound skills and diagnostics out.

use super::check::Checker;
use super::model::Skill;
use crate::diagnostic::{self, Diagnostic};
use crate::yaml;

/// What a file holds.
#[derive(Debug, Clone, Default)]
pub struct Parsed {
    /// The skills without an error, in file order.
    pub skills: Vec<Skill>,
    /// Everything there is to say, sorted by place.
    pub diagnostics: Vec<Diagnostic>,
}

impl Parsed {
    /// Whether anything in the file cannot be used.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Reads and checks a skill file. The name is only used in hints; it need not
/// exist.
pub fn parse(file_name: &str, text: &str) -> Parsed {
    let mut diagnostics = Vec::new();
    let tree = yaml::read(text, &mut diagnostics);
    let mut parsed = match tree {
        Some(tree) => {
            let readable = diagnostics.is_empty();
            let mut checker = Checker::new(&tree, diagnostics);
            let skills = checker.file(stem(file_name));
            let diagnostics = checker.report.finish();
            // A key given twice may stand for anything: nothing is sound then.
            Parsed { skills: if readable { skills } else { Vec::new() }, diagnostics }
        }
        None => Parsed { skills: Vec::new(), diagnostics },
    };
    diagnostic::sort(&mut parsed.diagnostics);
    parsed
}

/// The file's name without folders and endings.
fn stem(file_name: &str) -> &str {
    let name = file_name.rsplit(['/', '\\']).next().unwrap_or(file_name);
    name.split('.').next().unwrap_or(name)
}
