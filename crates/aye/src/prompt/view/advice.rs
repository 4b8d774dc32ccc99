//! What an assistant thinks of the question: beside it, under its own name.
//!
//! Every line of it stands behind a mark of its own and the frame's bar, so
//! that nothing in it can look like a line of the prompt.

use crate::paint::{Tone, escape_control};
use crate::prompt::markup::harmless;
use crate::prompt::style::Styled;
use crate::prompt::wrap::wrap;
use aye_runtime::advisor::{Advice, Beside, News};

use super::{Look, Part};

/// As many lines as it may take beside the question; less in a low window.
const LINES: usize = 8;

/// The advice as it stands beside the question. What has no room there is in
/// the details, in full, and then not here as well.
pub(super) fn advice(beside: Option<&Beside>, details: bool, look: Look) -> Vec<Styled> {
    let Some((name, advice)) = came(beside) else { return Vec::new() };
    let mut lines = whole(advice, look);
    if lines.len() > most(look) {
        if details {
            return Vec::new();
        }
        lines.truncate(most(look) - 1);
        let more = Styled::new().tone(Tone::Dim, format!("{} ? shows the rest", look.ellipsis()));
        lines.push(more.cut(look.room().saturating_sub(2), ""));
    }
    framed(name, lines, look)
}

/// All of it, for the details, where the question has no room for it.
pub(super) fn rest(beside: Option<&Beside>, look: Look) -> Vec<Styled> {
    let Some((name, advice)) = came(beside) else { return Vec::new() };
    let lines = whole(advice, look);
    match lines.len() > most(look) {
        true => framed(name, lines, look),
        false => Vec::new(),
    }
}

fn most(look: Look) -> usize {
    (look.rows / 3).clamp(2, LINES)
}

/// All of it as lines for people who do not want anything to move.
pub(super) fn plain(beside: &Beside, look: Look) -> Vec<Styled> {
    match came(Some(beside)) {
        Some((name, advice)) => framed(name, whole(advice, look), look),
        None => Vec::new(),
    }
}

/// That it is waited for.
pub(super) fn awaited(beside: Option<&Beside>, look: Look) -> Option<String> {
    let Beside { name, news } = beside?;
    (*news == News::Awaited)
        .then(|| format!("asking {} for advice{}", escape_control(name), look.ellipsis()))
}

/// Why there is none.
pub(super) fn missing(beside: Option<&Beside>) -> Option<String> {
    match beside? {
        Beside { name, news: News::Failed(why) } => Some(format!("{name} gave none: {why}")),
        Beside { .. } => None,
    }
}

fn came(beside: Option<&Beside>) -> Option<(&str, &Advice)> {
    match beside? {
        Beside { name, news: News::Came(advice) } => Some((name, advice)),
        Beside { .. } => None,
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
fn whole(advice: &Advice, look: Look) -> Vec<Styled> {
    let room = look.room().saturating_sub(2).max(1);
    let option = advice.option.iter().map(|option| {
        harmless(Styled::new().tone(Tone::Dim, "suggests "), option, Some(Tone::Strong))
    });
    let said = advice.lines.iter().map(|line| harmless(Styled::new(), line, None));
    option.chain(said).flat_map(|line| wrap(&line, room, 0, true)).collect()
}
