//! What assistants think of the question: beside it, each under its own name.
//!
//! Every line of it stands behind a mark of its own and the frame's bar, so
//! that nothing in it can look like a line of the prompt.

use crate::paint::{Tone, escape_control};
use crate::prompt::markup::harmless;
use crate::prompt::style::Styled;
use crate::prompt::wrap::wrap;
use aye_core::advice::Advice;
use aye_core::question::Question;
use aye_runtime::advisor::{AdvisorState, AskedAdvisor};
use aye_runtime::prompter::AskedQuestion;

use super::{Look, Part};

/// As many lines as it may take beside the question; less in a low window.
const LINES: usize = 8;

/// The advice as it stands beside the question: the last word of each. What
/// has no room there is in the details, in full, and then not here as well.
pub(super) fn advice(asked: &AskedQuestion<'_>, details: bool, look: Look) -> Vec<Styled> {
    let mut lines = Vec::new();
    for advice in last_words(asked) {
        let mut own = whole(advice, asked.question, look);
        if own.len() > most(look) {
            if details {
                continue;
            }
            own.truncate(most(look) - 1);
            let more = format!("{} ? shows the rest", look.ellipsis());
            let more = Styled::new().tone(Tone::Dim, more);
            own.push(more.cut(look.room().saturating_sub(2), ""));
        }
        lines.extend(framed(&advice.by, own, look));
    }
    lines
}

/// All of it, for the details, where the question has no room for it.
pub(super) fn rest(asked: &AskedQuestion<'_>, look: Look) -> Vec<Styled> {
    let mut lines = Vec::new();
    for advice in last_words(asked) {
        let own = whole(advice, asked.question, look);
        if own.len() > most(look) {
            lines.extend(framed(&advice.by, own, look));
        }
    }
    lines
}

/// What each of them said last.
fn last_words<'a>(asked: &AskedQuestion<'a>) -> impl Iterator<Item = &'a Advice> {
    let all = asked.advice;
    let later = move |at: usize, by: &str| all[at + 1..].iter().any(|next| next.by == by);
    all.iter().enumerate().filter(move |(at, one)| !later(*at, &one.by)).map(|(_, one)| one)
}

fn most(look: Look) -> usize {
    (look.rows / 3).clamp(2, LINES)
}

/// All of it as lines for people who do not want anything to move.
pub(super) fn plain(question: &Question, said: &[Advice], look: Look) -> Vec<Styled> {
    let framed = |advice: &Advice| framed(&advice.by, whole(advice, question, look), look);
    said.iter().flat_map(framed).collect()
}

/// That it is waited for.
pub(super) fn awaited(advisor: Option<&AskedAdvisor>, look: Look) -> Option<String> {
    let AskedAdvisor { name, state } = advisor?;
    (*state == AdvisorState::Awaited)
        .then(|| format!("asking {} for advice{}", escape_control(name), look.ellipsis()))
}

/// Why there is none.
pub(super) fn missing(advisor: Option<&AskedAdvisor>) -> Option<String> {
    match advisor? {
        AskedAdvisor { name, state: AdvisorState::Failed(why) } => {
            Some(format!("none from {name}: {why}"))
        }
        AskedAdvisor { .. } => None,
    }
}

fn framed(name: &str, lines: Vec<Styled>, look: Look) -> Vec<Styled> {
    let who = format!("advice from {} (an assistant; it does not decide)", escape_control(name));
    let who = Styled::new().tone(Tone::Dim, who);
    let who = wrap(&who, look.room(), 2, true).into_iter().enumerate().map(|(index, line)| {
        let part = if index == 0 { Part::Divided } else { Part::Plain };
        look.bar(part).then(line)
    });
    let lines = lines.into_iter().map(|line| {
        look.bar(Part::Plain)
            .tone(Tone::Dim, if look.paint.unicode { "┊ " } else { ": " })
            .then(line)
    });
    who.chain(lines).collect()
}

/// What it says, as lines that fit behind their mark.
fn whole(advice: &Advice, question: &Question, look: Look) -> Vec<Styled> {
    let room = look.room().saturating_sub(2).max(1);
    let option = advice.label(question).into_iter().map(|option| {
        harmless(Styled::new().tone(Tone::Dim, "suggests "), option, Some(Tone::Strong))
    });
    let said = advice.text.lines().filter(|line| !line.trim().is_empty());
    let said = said.map(|line| harmless(Styled::new(), line, None));
    option.chain(said).flat_map(|line| wrap(&line, room, 0, true)).collect()
}
