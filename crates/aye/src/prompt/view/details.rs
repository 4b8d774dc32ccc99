//! What someone may want to know before answering.

use aye_core::journal::{State, StepRecord, StepStatus};
use aye_core::question::{Purpose, Question};
use aye_core::skill::{By, ChoiceAction};
use jiff::Timestamp;
use std::time::Duration;

use crate::paint::{Tone, duration, escape_control};
use crate::prompt::markup::harmless;
use crate::prompt::style::Styled;
use crate::prompt::wrap::wrap;
use crate::signs;
use aye_runtime::advisor::AskedAdvisor;
use aye_runtime::prompter::{AskedQuestion, expiry_words};

use super::{Look, Part, advice, covers};

/// How many steps back one looks.
const STEPS: usize = 5;
/// How many lines of a failed step's output are shown.
const OUTPUT: usize = 5;
/// The column in which the details' text begins.
const COLUMN: usize = 10;

pub(super) fn details(
    asked: &AskedQuestion<'_>,
    advisor: Option<&AskedAdvisor>,
    look: Look,
    now: Timestamp,
) -> Vec<Styled> {
    let question = asked.question;
    let mut rows = Rows { look, lines: Vec::new() };
    rows.lines.push(look.bar(Part::Divided).tone(Tone::Strong, "Details"));
    if let Some(follows) = &question.follows {
        let name = if question.purpose == Purpose::Recover { "command" } else { "then runs" };
        rows.row(name, follows, None);
    }
    for (name, fact) in covers::all(question) {
        rows.row(name, &fact, None);
    }
    if let Some(run) = asked.run {
        rows.row("step", &format!("{} of {}", question.step, run.started.skill), None);
        if let Some(inside) = super::place::place(asked, run, look).inside(usize::MAX) {
            rows.row("inside", &inside, None);
        }
        rows.row("where", &place(run), None);
    }
    for offer in &question.options {
        let says = match (&offer.description, offer.action) {
            (Some(description), _) => description.clone(),
            (None, ChoiceAction::Proceed) => "continues".to_owned(),
            (None, ChoiceAction::Cancel) => "declines".to_owned(),
            (None, ChoiceAction::Skip) => "leaves the step out".to_owned(),
        };
        rows.row("option", &format!("{}: {says}", offer.label), None);
    }
    if let Some(pattern) = &question.pattern {
        rows.row("match", pattern, None);
    }
    if let Some(who) = who(question) {
        rows.row("who", &who, None);
    }
    if let Some(deadline) = asked.deadline {
        let at: String = deadline.to_string().chars().skip(11).take(8).collect();
        rows.row("until", &format!("{at} UTC, {}", expiry_words(asked)), None);
    }
    if let Some(run) = asked.run {
        rows.row("id", question.id.as_str(), None);
        so_far(&mut rows, run, &question.step, now);
    }
    if let Some(missing) = advice::missing(advisor) {
        rows.row("advice", &missing, Some(Tone::Dim));
    }
    rows.lines.extend(advice::rest(asked, look));
    rows.lines
}

struct Rows {
    look: Look,
    lines: Vec<Styled>,
}

impl Rows {
    /// `name  text`, the text wrapped beside the name.
    fn row(&mut self, name: &str, text: &str, tone: Option<Tone>) {
        self.styled(name, &harmless(Styled::new(), text, tone));
    }

    fn styled(&mut self, name: &str, text: &Styled) {
        let column = COLUMN.min(self.look.room() / 3);
        let room = self.look.room().saturating_sub(column).max(1);
        for (index, line) in wrap(text, room, 0, true).into_iter().enumerate() {
            let name = if index == 0 { name } else { "" };
            let name = Styled::new().tone(Tone::Dim, name).cut(column.saturating_sub(1), "");
            let gap = " ".repeat(column.saturating_sub(name.width()));
            let bar = self.look.bar(Part::Plain);
            self.lines.push(bar.then(name).plain(gap).then(line));
        }
    }
}

fn place(run: &State) -> String {
    let mut place = run.started.workspace.clone();
    if let Some(environment) = &run.started.environment {
        place.push_str(&format!(", environment {environment}"));
    }
    place
}

fn who(question: &Question) -> Option<String> {
    let mut rules = Vec::new();
    match &question.by {
        By::Anyone => {}
        By::Human => rules.push("a person".to_owned()),
        By::Names(names) => rules.push(names.join(", ")),
    }
    if question.approvals > 1 {
        rules.push(format!("{} different people", question.approvals));
    }
    if question.not_starter {
        rules.push("not the one who started the run".to_owned());
    }
    (!rules.is_empty()).then(|| rules.join("; "))
}

/// The last steps, and what a failed one wrote.
fn so_far(rows: &mut Rows, run: &State, step: &str, now: Timestamp) {
    let met: Vec<(&String, &StepRecord)> = run
        .steps
        .iter()
        .filter(|(name, record)| *name != step || record.status != StepStatus::Waiting)
        .collect();
    for (index, (name, record)) in met.iter().skip(met.len().saturating_sub(STEPS)).enumerate() {
        let (glyph, tone) = signs::of_step(record.status);
        let glyph = rows.look.paint.glyph(glyph);
        let mut line = Styled::new().tone(tone, glyph).plain(format!(" {}", escape_control(name)));
        if let Some(took) = took(record, now) {
            line = line.tone(Tone::Dim, format!(" {}", duration(took)));
        }
        if let Some(message) = &record.message {
            line = harmless(line.plain("  "), message, Some(Tone::Dim));
        }
        rows.styled(if index == 0 { "so far" } else { "" }, &line);
    }
    let failed = run.steps.get(step).and_then(|record| record.process.as_ref());
    if let Some(process) = failed {
        let text = process.said();
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        for (index, line) in lines.iter().skip(lines.len().saturating_sub(OUTPUT)).enumerate() {
            rows.row(if index == 0 { "it wrote" } else { "" }, line, None);
        }
    }
}

/// How long a step took, as every other view says it, or has run.
fn took(record: &StepRecord, now: Timestamp) -> Option<Duration> {
    match record.status {
        StepStatus::Running => Duration::try_from(now.duration_since(record.started?)).ok(),
        _ => crate::words::took(record),
    }
}
