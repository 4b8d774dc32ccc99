//! A fix for a simple mistake in a block.
//!
//! A misspelt name, a missing key, an attribute of a mapping: what was
//! probably meant can be read from the code and the names in scope. A proposal
//! changes the one expression at fault, found in the syntax tree, and nothing
//! else; strings and comments stay as they are. Where it is not certain what
//! was meant there is none. Only a person decides whether it is used.
//!
//! Touches nothing. The proposal becomes an option of the recovery question.

mod code;
mod keys;
mod methods;
mod names;
mod nothing;
mod shape;
mod values;
mod visible;

use std::ops::Range;

use aye_core::text::Scope;

use super::error::ComputeError;
use super::proposal::{Change, Proposal};
use super::run::roomy;
use super::source;
use code::Code;

/// Proposes what to write instead, for an error of a block with this code and
/// `output`, run with this scope.
pub fn propose(
    code: &str,
    output: Option<&str>,
    error: &ComputeError,
    scope: &Scope,
) -> Option<Proposal> {
    let proposal = roomy(code, || {
        let (parsed, analyze) = source::tree(code).ok()?;
        let code = Code::new(code, &parsed, &analyze, output, scope);
        let proposal = fix(&code, error)?.apply(code.text)?;
        // It may be no worse to read than what it replaces.
        source::tree(&proposal.code).ok()?;
        Some(proposal)
    });
    proposal.ok()?
}

/// What an error can say beyond its message.
#[derive(Debug, Default)]
pub(super) struct Look {
    /// Names that the block has set before, and their types.
    pub(super) names: Vec<(String, String)>,
    /// What was probably meant.
    pub(super) meant: Option<String>,
}

/// Looks closer at an error.
pub(super) fn look(code: &str, output: Option<&str>, error: &ComputeError, scope: &Scope) -> Look {
    let look = roomy(code, || {
        let Ok((parsed, analyze)) = source::tree(code) else { return Look::default() };
        let code = Code::new(code, &parsed, &analyze, output, scope);
        let meant = fix(&code, error).and_then(|fix| fix.meant);
        let at = error.place.as_deref().map_or(code.text.len(), |place| code.bytes(place).start);
        Look { names: code.own_names(at), meant }
    });
    look.unwrap_or_default()
}

/// What to change.
#[derive(Debug)]
struct Fix {
    /// Places of the code and what to write there, in order.
    edits: Vec<(Range<usize>, String)>,
    why: String,
    /// The name or key that was meant, if there is one.
    meant: Option<String>,
}

impl Fix {
    fn new(why: impl Into<String>) -> Self {
        Self { edits: Vec::new(), why: why.into(), meant: None }
    }

    fn edit(mut self, place: Range<usize>, with: impl Into<String>) -> Self {
        self.edits.push((place, with.into()));
        self
    }

    fn suggest(mut self, meant: impl Into<String>) -> Self {
        self.meant = Some(meant.into());
        self
    }

    fn apply(self, code: &str) -> Option<Proposal> {
        let mut changed = code.to_owned();
        for (place, with) in self.edits.iter().rev() {
            changed.replace_range(place.clone(), with);
        }
        let (before, after) = (code.split('\n'), changed.split('\n'));
        if before.clone().count() != after.clone().count() {
            return None;
        }
        let changes: Vec<Change> = before
            .zip(after)
            .enumerate()
            .filter(|(_, (before, after))| before != after)
            .map(|(index, (before, after))| Change {
                line: index + 1,
                before: before.to_owned(),
                after: after.to_owned(),
            })
            .collect();
        (!changes.is_empty()).then_some(Proposal { code: changed, why: self.why, changes })
    }
}

fn fix(code: &Code<'_>, error: &ComputeError) -> Option<Fix> {
    let message = error.message.as_str();
    let place = error.place.as_deref().map(|place| code.bytes(place));
    match (error.kind.as_str(), place) {
        ("NameError", Some(place)) => names::misspelt(code, &place, quoted(message)?),
        ("Result", _) if message.starts_with("the block sets") => names::result(code),
        ("KeyError", Some(place)) => keys::missing(code, &place, message),
        ("AttributeError", Some(place)) if message.starts_with("the mapping has no key") => {
            keys::attribute(code, &place, quoted(message)?, message)
        }
        ("AttributeError", Some(place)) => {
            let (owner, rest) = message.split_once(" object has no attribute ")?;
            methods::missing(code, &place, owner.trim_matches('\''), quoted(rest)?)
        }
        ("TypeError", Some(place)) if methods::is_function(message) => {
            methods::handed_on(code, &place)
        }
        ("Result", None) if message.contains("has a function") => {
            methods::handed_on(code, &(0..code.text.len()))
        }
        _ => None,
    }
}

/// What stands in the first quotes.
pub(super) fn quoted(message: &str) -> Option<&str> {
    let start = message.find('\'')? + 1;
    let end = start + message[start..].find('\'')?;
    Some(&message[start..end])
}
