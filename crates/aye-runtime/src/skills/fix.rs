//! `aye check --fix`: the changes that certainly put a file right.

use std::cmp::{Ordering, Reverse};
use std::path::Path;

use aye_core::diagnostic::{Diagnostic, Fix, Unit};
use aye_core::flow::{Flow, lint};
use aye_core::skill;

use crate::compute::PythonExpressions;

use super::SkillFile;

/// How often a file is looked over: what is put right may uncover more.
const ROUNDS: usize = 20;

/// A file with what is certain put right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixed {
    /// The text as it is now; comments and layout are as they were.
    pub text: String,
    /// How many places were changed.
    pub edits: usize,
    /// How many times have no unit, and nobody said which is meant.
    pub without_unit: usize,
}

/// Puts right what is certain. `unit` is what numbers without one are meant in.
pub fn fix(path: &Path, text: &str, unit: Option<Unit>) -> Fixed {
    let mut fixed = Fixed { text: text.to_owned(), edits: 0, without_unit: 0 };
    for _ in 0..ROUNDS {
        let file = SkillFile::from_text(path.to_path_buf(), fixed.text.clone());
        let certain =
            |found: &Diagnostic| found.fixes.iter().find(|fix| fix.is_certain(unit)).cloned();
        let open = |found: &&Diagnostic| !found.fixes.is_empty() && certain(found).is_none();
        fixed.without_unit = file.diagnostics.iter().filter(open).count();
        let mut fixes: Vec<Fix> = file.diagnostics.iter().filter_map(certain).collect();
        // From the end, so that the places before stay where they are.
        fixes.sort_by_key(|fix| Reverse(fix.span().start));
        fixes.dedup();
        let before = fixed.edits;
        let mut untouched = usize::MAX;
        for fix in &fixes {
            if fix.span().end > untouched {
                continue;
            }
            if let Some(changed) =
                fix.apply(&fixed.text).filter(|new| helps(path, fix, &fixed.text, new))
            {
                (fixed.text, fixed.edits, untouched) =
                    (changed, fixed.edits + fix.edits.len(), fix.span().start);
            }
        }
        if fixed.edits == before {
            break;
        }
    }
    fixed
}

/// Whether a change makes a file better: fewer errors, or as many and fewer
/// things to look at. What a change uncovers may take another one: a key has to
/// be spelt right before its value is looked at, and a skill has to be read
/// before its names are.
fn helps(path: &Path, fix: &Fix, before: &str, after: &str) -> bool {
    let (was, is) = (Found::of(path, before), Found::of(path, after));
    if fix.unit.is_some() {
        // The unit was named: what is wrong with the time then is another matter.
        return is.errors() <= was.errors();
    }
    if is.read_errors != was.read_errors {
        return is.read_errors < was.read_errors;
    }
    let better = match is.errors().cmp(&was.errors()) {
        Ordering::Less => true,
        Ordering::Equal => is.all.len() < was.all.len(),
        Ordering::Greater => false,
    };
    better || is.all.len() <= was.all.len() && uncovers_fixable(&was.all, &is.all)
}

/// Whether something is put right, and everything that is new can be, too.
fn uncovers_fixable(was: &[Diagnostic], is: &[Diagnostic]) -> bool {
    let same = |one: &Diagnostic, other: &Diagnostic| {
        (one.code, &one.message) == (other.code, &other.message)
    };
    let gone = was.iter().any(|old| !is.iter().any(|new| same(old, new)));
    let mut new = is.iter().filter(|new| !was.iter().any(|old| same(old, new)));
    gone && new.all(|new| !new.fixes.is_empty())
}

/// Everything there is to say about a text.
struct Found {
    all: Vec<Diagnostic>,
    /// How many errors there are in what is read, before names are looked at.
    read_errors: usize,
}

impl Found {
    fn of(path: &Path, text: &str) -> Self {
        let parsed = skill::parse(&path.to_string_lossy(), text);
        let read_errors = parsed.diagnostics.iter().filter(|one| one.is_error()).count();
        let flows = parsed.skills.into_iter().map(Flow::compile);
        let linted = flows.flat_map(|flow| lint(&flow, text, Some(&PythonExpressions)));
        Self { all: parsed.diagnostics.into_iter().chain(linted).collect(), read_errors }
    }

    fn errors(&self) -> usize {
        self.all.iter().filter(|one| one.is_error()).count()
    }
}
