//! The same question as plain lines.

use aye_core::advice::Advice;
use aye_core::question::Question;
use aye_core::skill::AskKind;
use jiff::Timestamp;

use crate::paint::{Paint, escape_control};
use crate::prompt::answers::{Wanted, can_remember};
use crate::prompt::dialog::default_offer;
use crate::prompt::style::Styled;
use aye_runtime::advisor::{AdvisorState, AskedAdvisor};
use aye_runtime::prompter::{AskedQuestion, expiry_words};

use super::footer::{left_in_words, seconds_left};
use super::{Look, Part, advice, details, head, known, rules};

fn render(lines: &[Styled], look: Look) -> Vec<String> {
    let paint = Paint { color: false, bold: false, ..look.paint };
    lines.iter().map(|line| line.render(paint).trim_end().to_owned()).collect()
}

/// The question and its options.
pub fn plain_question(asked: &AskedQuestion<'_>, look: Look) -> Vec<String> {
    // Empty lines carry nothing when they are read out.
    let look = Look { rows: 0, ..look };
    let mut lines = head(asked, look);
    let question = asked.question;
    let listed = question.kind != AskKind::Input && question.yes_and_no().is_none();
    if listed {
        lines.push(look.bar(Part::Divided).plain("Options"));
        for (index, offer) in question.options.iter().enumerate() {
            let mut text = format!("{} {}", index + 1, escape_control(&offer.label));
            if let Some(description) = &offer.description {
                text.push_str(&format!(": {}", escape_control(description)));
            }
            for line in super::wrap(&Styled::new().plain(text), look.room(), 2, true) {
                lines.push(look.bar(Part::Plain).then(line));
            }
        }
    }
    lines.extend(known::known(asked, look));
    lines.extend(rules::rules(asked, look));
    render(&lines, look)
}

/// What `?` shows.
pub fn plain_details(
    asked: &AskedQuestion<'_>,
    advisor: Option<&AskedAdvisor>,
    look: Look,
    now: Timestamp,
) -> Vec<String> {
    // What came was shown in full when it came.
    let missing = advisor.filter(|advisor| matches!(advisor.state, AdvisorState::Failed(_)));
    render(&details::details(asked, missing, look, now), look)
}

/// What was advised, and that an advisor is asked.
pub fn plain_advice(
    question: &Question,
    said: &[Advice],
    advisor: Option<&AskedAdvisor>,
    look: Look,
) -> Vec<String> {
    let mut lines = advice::plain(question, said, look);
    let awaited = advice::awaited(advisor, look);
    lines.extend(awaited.map(|awaited| look.bar(Part::Plain).plain(awaited)));
    render(&lines, look)
}

/// What stands in front of the cursor.
pub fn plain_ask(asked: &AskedQuestion<'_>, wanted: Wanted, look: Look, now: Timestamp) -> String {
    let question = asked.question;
    let default = default_offer(question);
    let typed = question.typed.as_deref().unwrap_or_default();
    let mut ask = match (wanted, question.yes_and_no(), question.kind) {
        (Wanted::Typed, _, _) => format!("To agree, type {}", escape_control(typed)),
        (Wanted::Code, _, _) => "One-time code".to_owned(),
        (Wanted::Answer, Some((yes, _)), _) => {
            let keys = match default {
                Some(default) if default == yes => "[Y/n]",
                Some(_) => "[y/N]",
                None => "[y/n]",
            };
            format!("Proceed? {keys}")
        }
        (Wanted::Answer, None, AskKind::Input) => match (&question.default, question.secret) {
            (Some(_), true) => "Not shown, Enter takes the default".to_owned(),
            (None, true) => "Not shown".to_owned(),
            (Some(default), false) => format!("Text, Enter takes `{}`", escape_control(default)),
            (None, false) => "Text".to_owned(),
        },
        (Wanted::Answer, None, _) => match default {
            Some(default) => format!("Number or name, Enter takes {}", default + 1),
            None => "Number or name".to_owned(),
        },
    };
    if let (Wanted::Answer, AskKind::Input, Some(no)) = (wanted, question.kind, question.decline())
    {
        ask.push_str(&format!(", `{}` declines", no.value));
    }
    if wanted == Wanted::Answer && can_remember(question) {
        ask.push_str(", `remember` first keeps the answer");
    }
    if let Some((at, all)) = asked.among {
        ask = format!("{at} of {all}: {ask}");
    }
    if let Some(deadline) = asked.deadline {
        let left = left_in_words(seconds_left(deadline, now));
        ask.push_str(&format!(", within {left}, {}", expiry_words(asked)));
    }
    let bar = look.bar(Part::Last).render(Paint { color: false, bold: false, ..look.paint });
    format!("{bar}{ask}: ")
}
