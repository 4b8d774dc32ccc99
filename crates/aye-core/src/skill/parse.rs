//! The front door: text in, valid skills and diagnostics out.

use super::check::Checker;
use super::model::Skill;
use crate::diagnostic::{self, Diagnostic};
use crate::span::{Span, Spanned};
use crate::yaml;

/// What a file holds.
#[derive(Debug, Clone, Default)]
pub struct Parsed {
    /// The skills without an error, in file order.
    pub skills: Vec<Skill>,
    /// Every skill there is, also those with an error: its name and where the
    /// whole of it stands.
    pub declared: Vec<Spanned<String>>,
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
            let broken: Vec<Span> = diagnostics.iter().map(Diagnostic::span).collect();
            let mut checker = Checker::new(&tree, text, diagnostics);
            let mut skills = checker.file(stem(file_name));
            let (declared, diagnostics) = (checker.declared, checker.report.finish());
            // A key given twice may stand for anything: its skill is not sound.
            let in_a_skill = |span: &Span| declared.iter().any(|skill| skill.span.holds(*span));
            let readable = broken.iter().all(in_a_skill);
            skills.retain(|skill| readable && !broken.iter().any(|span| skill.span.holds(*span)));
            Parsed { skills, declared, diagnostics }
        }
        None => Parsed { diagnostics, ..Parsed::default() },
    };
    diagnostic::sort(&mut parsed.diagnostics);
    parsed
}

/// The file's name without folders and endings.
fn stem(file_name: &str) -> &str {
    let name = file_name.rsplit(['/', '\\']).next().unwrap_or(file_name);
    name.split('.').next().unwrap_or(name)
}
