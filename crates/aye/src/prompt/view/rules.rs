//! Where each answer leads, and who has to agree if the person at this
//! terminal is not enough.

use aye_core::skill::By;

use crate::paint::{Tone, escape_control};
use crate::prompt::style::Styled;
use crate::prompt::wrap::wrap;
use crate::words::lead_words;
use aye_runtime::prompter::AskedQuestion;

use super::{Look, Part};

pub(super) fn rules(asked: &AskedQuestion<'_>, look: Look) -> Vec<Styled> {
    let question = asked.question;
    let mut rules = Vec::new();
    let starter = asked.run.map(|run| run.started.starter());
    if let Some(mut rule) = question.people_words(starter) {
        rule = escape_control(&rule);
        if !asked.agreed.is_empty() {
            rule.push_str(&format!("; so far: {}", escape_control(&asked.agreed.join(", "))));
        }
        rules.push(rule);
    }
    if let By::Names(names) = &question.by {
        rules.push(format!("only {} may answer", escape_control(&names.join(", "))));
    }
    if question.reauth {
        rules.push("agreeing needs a one-time code".to_owned());
    }
    let leads = lead_words(question, look.paint).join(", ");
    let leads = (!leads.is_empty()).then(|| Styled::new().tone(Tone::Dim, leads));
    let rules = rules.into_iter().map(|rule| Styled::new().tone(Tone::Warn, rule));
    let mut lines = Vec::new();
    for rule in leads.into_iter().chain(rules) {
        let rule = wrap(&rule, look.room(), 2, true);
        for (index, line) in rule.into_iter().enumerate() {
            let part = if index == 0 { Part::Divided } else { Part::Plain };
            lines.push(look.bar(part).then(line));
        }
    }
    lines
}
