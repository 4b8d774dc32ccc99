//! Where a question is asked: skill, items and step.

use aye_core::journal::State;
use aye_core::nested::Parent;
use aye_runtime::prompter::AskedQuestion;

use crate::paint::{Glyph, escape_control};
use crate::term;
use crate::words::place_words;

use super::Look;

/// A place in words.
pub(super) struct Place {
    skill: String,
    /// The runs around, from the outside in, and the step.
    words: Vec<String>,
    is_inside: bool,
    dot: String,
    ellipsis: &'static str,
}

/// The place of a question of this run.
pub(super) fn place(asked: &AskedQuestion<'_>, run: &State, look: Look) -> Place {
    let own = run.started.parent.as_deref();
    // What is not told of the runs around knows at least its own, and its item.
    let mut around = asked.around.to_vec();
    let untold = around.is_empty();
    around.extend(own.filter(|_| untold).cloned());
    let mut words = place_words(&around, &asked.question.step);
    let index = own.filter(|_| untold).and_then(item_around);
    if let Some((first, index)) = words.first_mut().zip(index) {
        *first = format!("[{index}] {first}");
    }
    Place {
        skill: escape_control(&run.started.skill),
        words,
        is_inside: own.is_some(),
        dot: format!(" {} ", look.paint.glyph(Glyph::Dot)),
        ellipsis: look.ellipsis(),
    }
}

impl Place {
    /// `release · roll[1] web-2 · ship`, shortened in the middle where there is less room.
    pub(super) fn whole(&self, room: usize) -> String {
        self.shortened(Some(&self.skill), room)
    }

    /// The same without the skill, for a run inside another.
    pub(super) fn inside(&self, room: usize) -> Option<String> {
        self.is_inside.then(|| self.shortened(None, room))
    }

    /// Leaves out what says least, and no item: which of many it is about has to be seen.
    fn shortened(&self, skill: Option<&String>, room: usize) -> String {
        let last = self.words.len().saturating_sub(1);
        let join = |left_out: &dyn Fn(usize, &str) -> bool| {
            let mut words: Vec<&str> = skill.map(String::as_str).into_iter().collect();
            for (at, word) in self.words.iter().enumerate() {
                match left_out(at, word) {
                    false => words.push(word),
                    true if words.last() == Some(&self.ellipsis) => {}
                    true => words.push(self.ellipsis),
                }
            }
            words.join(&self.dot)
        };
        let all = join(&|_, _| false);
        let shortened = join(&|at, word| at != last && !word.contains('['));
        // What is broken into lines all the same is said whole.
        if term::width(&all) > room && term::width(&shortened) <= room { shortened } else { all }
    }
}

/// The item that the run of a sub-skill is inside of, as far as its id tells:
/// all that a run knows of the runs around it is the id of the next one.
fn item_around(parent: &Parent) -> Option<&str> {
    parent.run.index().filter(|_| parent.depth == 2 && parent.item.is_none())
}
