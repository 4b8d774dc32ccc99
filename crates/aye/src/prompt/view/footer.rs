//! The last line: how long is left, what happens then, and which keys help.

use aye_core::skill::AskKind;
use jiff::Timestamp;

use crate::paint::{Glyph, Tone};
use crate::prompt::dialog::{Dialog, Escape, Stage};
use crate::prompt::list::List;
use crate::prompt::style::Styled;
use crate::prompt::wrap::wrap;
use aye_runtime::advisor::AskedAdvisor;
use aye_runtime::prompter::{AskedQuestion, expiry_words};

use super::{Look, Part, advice};

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const PLAIN_SPINNER: [&str; 4] = ["|", "/", "-", "\\"];

const FILTER: &str = "type to filter";
const REMEMBER: &str = "Ctrl-R";

/// From so many seconds on, what is left stands out.
const SOON: i64 = 10;

pub(super) fn footer(
    asked: &AskedQuestion<'_>,
    dialog: &Dialog,
    advisor: Option<&AskedAdvisor>,
    look: Look,
    now: Timestamp,
    beat: usize,
) -> Vec<Styled> {
    let among =
        asked.among.map(|(at, all)| Styled::new().tone(Tone::Strong, format!("{at} of {all}")));
    let mut left = Vec::new();
    if let Some(deadline) = asked.deadline {
        let seconds = seconds_left(deadline, now);
        let tone = if seconds <= SOON { Tone::Warn } else { Tone::Strong };
        let spinner = match look.paint.unicode {
            true => SPINNER[beat % SPINNER.len()],
            false => PLAIN_SPINNER[beat % PLAIN_SPINNER.len()],
        };
        let countdown = Styled::new()
            .tone(Tone::Ask, format!("{spinner} "))
            .tone(tone, format!("{} left", left_in_words(seconds)));
        let outcome = Styled::new().tone(Tone::Dim, format!(", {}", expiry_words(asked)));
        left = vec![countdown.then(outcome)];
    }
    let between = format!(" {} ", look.paint.glyph(Glyph::Dot));
    let join = |parts: &[Styled]| {
        let mut line = look.bar(Part::Last);
        for (index, part) in parts.iter().enumerate() {
            let before = if index == 0 { "" } else { between.as_str() };
            line = line.tone(Tone::Dim, before).then(part.clone());
        }
        line
    };
    // Words are left out before keys are: first how a key is said to help, one by one, then
    // how much time is left, which moves to a line of its own, then the last keys.
    let mut hints = hints(asked, dialog, look);
    let mut words_left = 0..hints.len();
    let mut above = Vec::new();
    let line = loop {
        let keys = hints.iter().filter(|hint| !hint.is_empty());
        let keys = keys.map(|hint| Styled::new().tone(Tone::Dim, hint.as_str()));
        let first = among.clone().into_iter().chain(left.first().cloned());
        let parts: Vec<Styled> = first.chain(keys).collect();
        let line = join(&parts);
        if line.width() < look.columns {
            break line;
        }
        if let Some(next) = words_left.next() {
            hints[next] = key_of(&hints[next]).to_owned();
        } else if !left.is_empty() {
            // What silence does is never left out: it has a line of its own.
            let told = wrap(&left[0], look.room(), 2, true).into_iter();
            above = told.map(|line| look.bar(Part::Plain).then(line)).collect();
            left.clear();
        } else if parts.len() > 1 {
            hints.pop();
        } else {
            break line;
        }
    };
    let fits = |line: Styled| line.cut(look.columns.saturating_sub(1), look.ellipsis());
    let Some(awaited) = advice::awaited(advisor, look) else {
        above.push(fits(line));
        return above;
    };
    // No key gives way to it.
    let awaited = Styled::new().tone(Tone::Dim, awaited);
    let longer = line.clone().tone(Tone::Dim, between).then(awaited.clone());
    match longer.width() < look.columns {
        true => above.push(longer),
        false => above.extend([fits(look.bar(Part::Plain).then(awaited)), fits(line)]),
    }
    above
}

/// The key of a hint alone; typing needs none.
fn key_of(hint: &str) -> &str {
    match hint {
        FILTER => "",
        hint if hint.contains(REMEMBER) => REMEMBER,
        hint => hint.split(' ').next().unwrap_or(hint),
    }
}

/// Whole seconds, counted up: the last one shows as 1.
pub(in crate::prompt) fn seconds_left(deadline: Timestamp, now: Timestamp) -> i64 {
    let ms = deadline.as_millisecond() - now.as_millisecond();
    (ms.max(0) + 999) / 1000
}

/// `30s`, `1m 5s`, `2h 10m`, `3d 4h`.
pub(super) fn left_in_words(seconds: i64) -> String {
    match seconds {
        ..60 => format!("{seconds}s"),
        60..3600 => format!("{}m {}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h {}m", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{}d {}h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

fn hints(asked: &AskedQuestion<'_>, dialog: &Dialog, look: Look) -> Vec<String> {
    // In a text, `?` is a character.
    let details = if dialog.details { "? less" } else { "? details" };
    let details = (!dialog.is_writing()).then(|| details.to_owned());
    let out = match (dialog.escape(), asked.run) {
        _ if dialog.is_writing() => Some("Esc empties it"),
        (Escape::Declines, Some(_)) if asked.question.decline_starts().is_some() => None,
        (Escape::Declines, Some(_)) => asked.question.decline().map(|_| {
            if asked.question.kind == AskKind::Recover { "Esc aborts" } else { "Esc declines" }
        }),
        (Escape::Dismisses, Some(_)) => Some("Esc leaves it open"),
        (Escape::Declines | Escape::Dismisses, None) => Some("Esc cancels"),
    };
    let out = out.unwrap_or("Ctrl-C pauses").to_owned();
    let next = dialog.next_scope(asked.question);
    let remember = asked.question.remember.then(|| match (dialog.remember, next) {
        (None, _) => format!("{REMEMBER} remembers"),
        (Some(scope), Some(next)) => {
            format!("remembered {}: {REMEMBER} {}", scope.reach(), next.reach())
        }
        (Some(scope), None) => format!("remembered {}: {REMEMBER} takes it back", scope.reach()),
    });
    let mut hints = stage_hints(asked, dialog, look, details, out);
    hints.extend(remember);
    hints
}

fn stage_hints(
    asked: &AskedQuestion<'_>,
    dialog: &Dialog,
    look: Look,
    details: Option<String>,
    out: String,
) -> Vec<String> {
    match &dialog.stage {
        Stage::Key(..) => details.into_iter().chain([out]).collect(),
        Stage::Word(..) => {
            ["Enter answers".to_owned()].into_iter().chain(details).chain([out]).collect()
        }
        Stage::Typed(_, line) => {
            let goes_back = line.is_empty() && asked.question.yes_and_no().is_none();
            let out = if goes_back { "Esc goes back".to_owned() } else { out };
            let enter = if goes_back { "Enter chooses" } else { "Enter agrees" };
            vec![enter.to_owned(), out].into_iter().chain(details).collect()
        }
        Stage::Code(_, line) => {
            let back = if line.is_empty() { "Esc goes back".to_owned() } else { out };
            vec!["Enter agrees".to_owned(), back]
        }
        Stage::Input(line) => {
            let mut hints = vec!["Enter answers".to_owned()];
            if line.is_empty() && asked.question.default.is_some() && !asked.question.secret {
                hints.push("Tab edits".to_owned());
            }
            hints.extend(details.into_iter().chain([out]));
            hints
        }
        Stage::List(list) => list_hints(list, look, details, out),
    }
}

fn list_hints(list: &List, look: Look, details: Option<String>, out: String) -> Vec<String> {
    if list.filtering || !list.filter.is_empty() {
        return vec!["Enter chooses".to_owned(), "Esc shows all".to_owned()];
    }
    let arrows = if look.paint.unicode { "↑↓ move" } else { "arrows move" };
    let hints = [arrows.to_owned(), "Enter chooses".to_owned(), FILTER.to_owned()];
    hints.into_iter().chain(details).chain([out]).collect()
}
