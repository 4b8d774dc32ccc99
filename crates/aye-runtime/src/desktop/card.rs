//! A question as the text of a window: what every program shows, each in its
//! own markup. What the skill says and what Aye says are kept apart, so that no
//! message can pass for a line of Aye's.
//!
//! Touches nothing; `zenity`, `kdialog` and `osascript` show it.

use aye_core::advice::Advice;
use aye_core::facts::{Fact, FactKind};
use aye_core::journal::{State, StepStatus};
use aye_core::nested::Parent;
use aye_core::question::{Purpose, Question, Reader};
use aye_core::skill::By;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::fmt::{escape_control_line, width};
use crate::prompter::{AskedQuestion, expiry_words};

use super::text::{escape_markup, wrap};

/// How wide text is.
const COLUMNS: usize = 84;
/// More lines than this have a window of their own.
const MOST_LINES: usize = 24;
/// How many lines of each part a short version has.
const BRIEF: usize = 3;
/// How wide the title of a window is.
const HEADING: usize = 60;
/// How many of the last steps are told.
const STEPS: usize = 5;
/// What stands above the words of an assistant.
pub(super) const ADVICE: &str = "Advice (does not count)";

/// The text of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Card {
    /// The heading.
    pub(super) title: String,
    /// Skill and step.
    pub(super) place: Option<String>,
    /// Why it is asked again.
    pub(super) notice: Option<String>,
    /// What to write or do in this window.
    pub(super) task: Option<String>,
    /// Everything else, from top to bottom.
    pub(super) parts: Vec<Part>,
}

/// What a card says that may be different while it is shown.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standing {
    pub(super) deadline: Option<Timestamp>,
    agreed: Vec<String>,
    advice: Vec<Advice>,
}

impl Standing {
    /// As it is now.
    pub(super) fn of(asked: &AskedQuestion<'_>) -> Self {
        let (agreed, advice) = (asked.agreed.to_vec(), asked.advice.to_vec());
        Self { deadline: asked.deadline, agreed, advice }
    }

    /// Whether someone agreed or advised since.
    pub(super) fn has_news(&self, now: &Self) -> bool {
        (&self.agreed, &self.advice) != (&now.agreed, &now.advice)
    }
}

/// A piece of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// The skill's own words.
    Message(Vec<String>),
    /// What is run or used, under a heading of ours.
    Code(&'static str, Vec<String>),
    /// What stands out.
    Warning(Vec<String>),
    /// The rest of our words.
    Note(Vec<String>),
}

impl Part {
    fn lines(&self) -> &[String] {
        match self {
            Self::Message(lines) | Self::Code(_, lines) => lines,
            Self::Warning(lines) | Self::Note(lines) => lines,
        }
    }

    fn lines_mut(&mut self) -> &mut Vec<String> {
        match self {
            Self::Message(lines) | Self::Code(_, lines) => lines,
            Self::Warning(lines) | Self::Note(lines) => lines,
        }
    }
}

impl Card {
    /// The text of a question at this moment.
    pub(super) fn of(asked: &AskedQuestion<'_>, now: Timestamp, zone: &TimeZone) -> Self {
        let question = asked.question;
        let place = asked.run.map(|run| place(run, asked.around, &question.step));
        let title = question.own_title().or(place.as_deref());
        let mut parts = vec![Part::Message(wrap(&question.message, COLUMNS))];
        parts.extend(changed(question));
        if let Some(follows) = &question.follows {
            let heading = match question.purpose {
                Purpose::Recover => "The command",
                Purpose::Gate | Purpose::Ask => "Then runs",
            };
            parts.push(Part::Code(heading, wrap(follows, COLUMNS)));
        }
        parts.extend(covers(asked));
        parts.extend(known(asked));
        parts.extend(advice(asked));
        parts.extend(rules(asked));
        let notes = [
            asked.run.map(surroundings),
            asked.run.and_then(|run| so_far(run, &question.step)),
            until(asked, now, zone),
            asked.among.map(|(at, all)| format!("Question {at} of {all}")),
        ];
        let notes: Vec<String> =
            notes.into_iter().flatten().flat_map(|note| note_lines(&note)).collect();
        parts.push(Part::Note(notes));
        parts.retain(|part| !part.lines().is_empty());
        Self {
            title: title.map_or_else(|| "Aye asks".to_owned(), escape_control_line),
            place: place.filter(|_| question.own_title().is_some()),
            notice: None,
            task: None,
            parts,
        }
    }

    /// Whether it needs a window that scrolls.
    pub(super) fn is_long(&self) -> bool {
        let lines: usize = self.parts.iter().map(|part| part.lines().len() + 1).sum();
        lines > MOST_LINES
    }

    /// The beginning of each part, for windows that come after the whole text.
    pub(super) fn brief(mut self) -> Self {
        for part in &mut self.parts {
            let lines = part.lines_mut();
            if lines.len() > BRIEF {
                lines.truncate(BRIEF);
                lines.push("… (the window before showed the rest)".to_owned());
            }
        }
        self
    }

    /// The title of the window.
    pub(super) fn heading(&self) -> String {
        format!("Aye: {}", crate::fmt::cut(&self.title, HEADING))
    }

    /// Whether that shows the whole title.
    pub(super) fn is_heading_whole(&self) -> bool {
        crate::fmt::cut(&self.title, HEADING) == self.title
    }

    /// How wide its longest line is, and how many lines it has.
    pub(super) fn size(&self) -> (usize, usize) {
        let lines = self.parts.iter().flat_map(Part::lines);
        let widest = lines.map(|line| width(line)).max().unwrap_or(0).max(width(&self.title));
        let rows: usize = self.parts.iter().map(|part| part.lines().len() + 1).sum();
        (widest, rows + 3)
    }

    /// In Pango's markup, as zenity reads it.
    pub(super) fn pango(&self) -> String {
        let dim = |text: &str| format!("<span alpha=\"70%\">{}</span>", escape_markup(text));
        let mut blocks = Vec::new();
        let title =
            format!("<span size=\"x-large\" weight=\"bold\">{}</span>", escape_markup(&self.title));
        blocks.push(match &self.place {
            Some(place) => format!("{title}\n{}", dim(place)),
            None => title,
        });
        let strong = |text: &String| format!("<b>{}</b>", escape_markup(text));
        blocks.extend(self.notice.as_ref().map(strong));
        blocks.extend(self.parts.iter().map(|part| {
            let text = part.lines().join("\n");
            match part {
                Part::Message(_) => escape_markup(&text),
                Part::Code(heading, _) => {
                    format!("<b>{heading}</b>\n<tt>{}</tt>", escape_markup(&text))
                }
                Part::Warning(_) => format!("<b>{}</b>", escape_markup(&text)),
                Part::Note(_) => dim(&text),
            }
        }));
        blocks.extend(self.task.as_ref().map(strong));
        blocks.join("\n\n")
    }

    /// In Qt's rich text, as KDialog reads it.
    pub(super) fn rich(&self) -> String {
        // KDialog reads escapes in its texts: `\n` would be a new line, and `\\` one backslash.
        let escape_markup = |text: &str| escape_markup(text).replace('\\', "&#92;");
        let dim = |text: &str| format!("<span style=\"color:gray\">{text}</span>");
        let lines = |lines: &[String]| {
            let line = |line: &String| escape_markup(line).replace("  ", "&nbsp; ");
            lines.iter().map(line).collect::<Vec<_>>().join("<br/>")
        };
        let mut text = String::from("<qt>");
        let title = escape_markup(&self.title);
        text.push_str(&format!(
            "<p align=\"left\"><span style=\"font-size:x-large\"><b>{title}</b></span>"
        ));
        if let Some(place) = &self.place {
            text.push_str(&format!("<br/>{}", dim(&escape_markup(place))));
        }
        text.push_str("</p>");
        let mut block = |inner: String| text.push_str(&format!("<p align=\"left\">{inner}</p>"));
        if let Some(notice) = &self.notice {
            block(format!("<b>{}</b>", escape_markup(notice)));
        }
        for part in &self.parts {
            block(match part {
                Part::Message(said) => lines(said),
                Part::Code(heading, code) => {
                    let code = lines(code).replace(' ', "&nbsp;");
                    format!("<b>{heading}</b><br/><tt>{code}</tt>")
                }
                Part::Warning(warned) => format!("<b>{}</b>", lines(warned)),
                Part::Note(notes) => dim(&lines(notes)),
            });
        }
        if let Some(task) = &self.task {
            block(format!("<b>{}</b>", escape_markup(task)));
        }
        text.push_str("</qt>");
        text
    }

    /// Without any markup. What the skill says is behind a bar, which nothing of
    /// ours is.
    pub(super) fn plain(&self) -> String {
        let mut blocks = Vec::new();
        blocks.push(match &self.place {
            Some(place) => format!("{}\n{place}", self.title),
            None => self.title.clone(),
        });
        blocks.extend(self.notice.clone());
        blocks.extend(self.parts.iter().map(|part| {
            let bar = |lines: &[String]| {
                lines.iter().map(|line| format!("│ {line}")).collect::<Vec<_>>().join("\n")
            };
            match part {
                Part::Message(lines) => bar(lines),
                Part::Code(heading, lines) => format!("{heading}\n{}", bar(lines)),
                Part::Warning(lines) | Part::Note(lines) => lines.join("\n"),
            }
        }));
        blocks.extend(self.task.clone());
        blocks.join("\n\n")
    }
}

/// `release · roll[1] · ship`.
fn place(run: &State, around: &[Parent], step: &str) -> String {
    // What is not told of the runs around knows at least its own.
    let own = run.started.parent.as_deref().map(std::slice::from_ref);
    let around = if around.is_empty() { own.unwrap_or_default() } else { around };
    let around = around.iter().map(|Parent { step, item, .. }| match item {
        Some(item) => {
            format!("{step}[{}]", item.label.clone().unwrap_or_else(|| item.index.to_string()))
        }
        None => step.clone(),
    });
    let words = std::iter::once(run.started.skill.clone()).chain(around);
    let words = words.chain([step.to_owned()]);
    let words: Vec<String> = words.map(|word| escape_control_line(&word)).collect();
    words.join(" · ")
}

/// Where it happens.
fn surroundings(run: &State) -> String {
    let mut text = format!("In {} on {}", run.started.workspace, run.driver.host);
    if let Some(environment) = &run.started.environment {
        text.push_str(&format!(", environment {environment}"));
    }
    text.push_str(&format!("; started by {}", run.started.starter()));
    text
}

/// How the last steps ended.
fn so_far(run: &State, step: &str) -> Option<String> {
    let met: Vec<String> = run
        .steps
        .iter()
        .filter(|(name, _)| *name != step)
        .filter_map(|(name, record)| {
            let mark = match record.status {
                StepStatus::Completed => "✓",
                StepStatus::Failed | StepStatus::TimedOut | StepStatus::Cancelled => "✗",
                StepStatus::Skipped => "skipped",
                StepStatus::Interrupted | StepStatus::Unknown => "?",
                StepStatus::Waiting | StepStatus::Running => return None,
            };
            Some(format!("{mark} {name}"))
        })
        .collect();
    let last = &met[met.len().saturating_sub(STEPS)..];
    (!last.is_empty()).then(|| format!("So far: {}", last.join(", ")))
}

/// A note of ours: no word in it begins a line of its own.
fn note_lines(note: &str) -> Vec<String> {
    wrap(&escape_control_line(note), COLUMNS)
}

/// When time is up, and what happens then.
pub(super) fn until(asked: &AskedQuestion<'_>, now: Timestamp, zone: &TimeZone) -> Option<String> {
    let deadline = asked.deadline?;
    let at = deadline.to_zoned(zone.clone()).strftime("%H:%M:%S").to_string();
    let left = std::time::Duration::try_from(deadline.duration_since(now)).unwrap_or_default();
    let left =
        std::time::Duration::from_secs(left.as_millis().div_ceil(1000).try_into().unwrap_or(0));
    let left = crate::fmt::duration(left);
    Some(format!("Answer by {at} ({left} left), {}", then(asked)))
}

/// What happens then. Buttons have labels here, and not yes and no.
fn then(asked: &AskedQuestion<'_>) -> String {
    let question = asked.question;
    let words = expiry_words(asked);
    let label = |at: usize| format!("then {}", escape_control_line(&question.options[at].label));
    match (question.yes_and_no(), words.as_str()) {
        (Some((yes, _)), "then yes") => label(yes),
        (Some((_, no)), "then no") => label(no),
        (Some(_) | None, _) => words,
    }
}

/// What is different from what someone agreed to.
fn changed(question: &Question) -> Option<Part> {
    let first = "Changed since the last yes:".to_owned();
    let changes = question.changed.iter().flat_map(|change| wrap(&change.line(), COLUMNS));
    let lines: Vec<String> = std::iter::once(first).chain(changes).collect();
    (lines.len() > 1).then_some(Part::Warning(lines))
}

/// The facts to read; the window names the machine.
fn told<'a>(asked: &AskedQuestion<'a>) -> Vec<&'a Fact> {
    let reader = asked.run.map(|run| Reader {
        workspace: Some(&run.started.workspace),
        host: Some(&run.driver.host),
    });
    asked.question.told_to(reader.unwrap_or_default())
}

/// What else decides what runs, and what is not covered.
fn covers(asked: &AskedQuestion<'_>) -> impl Iterator<Item = Part> {
    let question = asked.question;
    let told = told(asked).into_iter();
    let told = told.filter(|fact| {
        fact.kind != FactKind::Command || question.follows.as_ref() != Some(&fact.value)
    });
    let facts = told.map(Fact::line).flat_map(|line| wrap(&line, COLUMNS)).collect();
    let not = question.not_covered.iter().flat_map(|note| wrap(note, COLUMNS)).collect();
    let parts = [("A yes covers", facts), ("Not covered", not)];
    let said = |(_, lines): &(_, Vec<String>)| !lines.is_empty();
    parts.into_iter().filter(said).map(|(heading, lines)| Part::Code(heading, lines))
}

/// What people wrote down about it, apart from our own words.
fn known(asked: &AskedQuestion<'_>) -> Option<Part> {
    let lines = asked.known.iter().flat_map(|issue| wrap(issue, COLUMNS));
    Some(Part::Code("From memory", lines.collect()))
}

/// What assistants think of it, each apart from our own words: no line of theirs passes for
/// one of ours.
fn advice(asked: &AskedQuestion<'_>) -> impl Iterator<Item = Part> {
    asked.advice.iter().map(|advice| {
        let suggests = advice.label(asked.question).map(|label| format!(" suggests {label}"));
        let by = format!("{}{}:", advice.by, suggests.unwrap_or_default());
        let lines = wrap(&escape_control_line(&by), COLUMNS).into_iter();
        Part::Code(ADVICE, lines.chain(wrap(&advice.text, COLUMNS)).collect())
    })
}

/// Who has to agree, and how.
fn rules(asked: &AskedQuestion<'_>) -> Option<Part> {
    let question = asked.question;
    let mut rules = Vec::new();
    // Inside another run it is not known what follows, and so it always may.
    let inside = asked.run.is_some_and(|run| run.started.parent.is_some());
    if question.destructive && !inside {
        rules.push("It may lead to something that cannot be undone.".to_owned());
    }
    if let Some(people) = question.people_words(asked.run.map(|run| run.started.starter())) {
        let so_far = match asked.agreed {
            [] => String::new(),
            agreed => format!("; so far: {}", agreed.join(", ")),
        };
        let mut letters = people.chars();
        let first = letters.next().map(|letter| letter.to_uppercase().to_string());
        rules.push(format!("{}{}{so_far}.", first.unwrap_or_default(), letters.as_str()));
    }
    if let By::Names(names) = &question.by {
        rules.push(format!("Only {} may answer.", names.join(", ")));
    }
    let lines = rules.iter().flat_map(|rule| wrap(rule, COLUMNS));
    Some(Part::Warning(lines.collect()))
}

#[cfg(test)]
mod tests;
