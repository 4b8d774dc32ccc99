//! Where a question is asked: skill, item and step.

use aye_core::journal::State;
use aye_core::nested::Parent;

use crate::paint::{Glyph, escape_control};
use crate::words::place_words;

use super::Look;

/// A place in words.
pub(super) struct Place {
    /// `release · roll[1] web-2 · ship`.
    pub(super) whole: String,
    /// The same without the skill, for a run inside another.
    pub(super) inside: Option<String>,
}

/// The place of a question at `step`.
pub(super) fn place(run: &State, step: &str, look: Look) -> Place {
    let dot = format!(" {} ", look.paint.glyph(Glyph::Dot));
    let parent = run.started.parent.as_deref();
    let around: Vec<Parent> = parent.cloned().into_iter().collect();
    let mut words = place_words(&around, step);
    if let Some((first, index)) = words.first_mut().zip(parent.and_then(item_around)) {
        *first = format!("[{index}] {first}");
    }
    let place = words.join(&dot);
    let whole = format!("{}{dot}{place}", escape_control(&run.started.skill));
    Place { whole, inside: parent.map(|_| place) }
}

/// The item that the run of a sub-skill is inside of, as far as its id tells:
/// all that a run knows of the runs around it is the id of the next one.
fn item_around(parent: &Parent) -> Option<&str> {
    parent.run.index().filter(|_| parent.depth == 2 && parent.item.is_none())
}
