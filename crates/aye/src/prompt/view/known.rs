//! What people wrote down about what the question is about.

use crate::paint::Tone;
use crate::prompt::style::Styled;
use crate::prompt::wrap::wrap;
use aye_runtime::prompter::AskedQuestion;

use super::{Look, Part};

/// Known issues, each behind the frame's bar: they are data, and not of the prompt.
pub(super) fn known(asked: &AskedQuestion<'_>, look: Look) -> Vec<Styled> {
    let told = asked.known.iter().map(|line| format!("memory: {line}"));
    let lines =
        told.flat_map(|line| wrap(&Styled::new().tone(Tone::Dim, line), look.room(), 2, true));
    lines.map(|line| look.bar(Part::Plain).then(line)).collect()
}
