//! A message as people get it: pure. Everything in it comes from the journal,
//! where secrets are masked already.

use aye_core::facts::{Change, Fact};
use aye_core::question::Question;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::fmt::{escape_control_line, escape_control_lines};
use crate::settings::Detail;
use crate::store::{MessageRow, Occasion, QuestionRow, RunRow};

use super::Channel;

/// What a message is made from.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The run.
    pub run: RunRow,
    /// The question, as asked and as it stands.
    pub question: Option<(Question, QuestionRow)>,
    /// The address of the server, if people reach one.
    pub link: Option<String>,
    /// Who is told.
    pub person: Option<String>,
    /// The machine.
    pub host: String,
}

/// A message, ready for any channel.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Its number in the outbox: the same if it is sent twice.
    pub id: i64,
    /// What it tells.
    pub occasion: Occasion,
    /// When it was made.
    pub at: Timestamp,
    /// One line.
    pub title: String,
    /// All of it.
    pub text: String,
    /// Where the card is.
    pub link: Option<String>,
    /// What answers it.
    pub buttons: Vec<Button>,
    /// The name of its request, in a drop-box.
    pub request: Option<String>,
    /// What can be answered there.
    pub answerable: Vec<String>,
    /// Who is told.
    pub person: Option<String>,
    /// Something may follow that cannot be undone.
    pub destructive: bool,
    /// What the channel returned for the last message about the same question: this one
    /// may take its place.
    pub replaces: Option<String>,
    /// The run.
    pub run: String,
    /// Everything about it that programs may want, as far as it is told.
    pub details: Value,
}

/// A button that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Button {
    /// What it says.
    pub label: String,
    /// The value that it answers with.
    pub choice: String,
    /// Whether it lets something run.
    pub commits: bool,
    /// Where it is sent, with POST and nothing else.
    pub url: String,
    /// What is sent there: the right to answer.
    pub body: String,
}

impl Message {
    /// The message of a row.
    pub fn new(row: &MessageRow, facts: &Facts, show: Detail, now: Timestamp) -> Self {
        let Facts { run, question, link, person, host } = facts;
        let asked = question.as_ref();
        let (title, text) = match asked {
            Some((question, open)) => asking(row.occasion, run, question, open, show),
            None => ended(row.occasion, run, show),
        };
        let link = link.as_ref().map(|base| match &row.question {
            Some(question) => format!("{base}/#/questions/{question}"),
            None => format!("{base}/#/runs/{}", row.run),
        });
        let (title, text) = (escape_control_line(&title), escape_control_lines(&text));
        let mut details = json!({
            "v": 1,
            "message": row.id,
            "event": row.occasion.word(),
            "at": now.to_string(),
            "run": row.run.to_string(),
            "question": row.question.as_ref().map(ToString::to_string),
            "title": title,
            "text": text,
            "link": link,
            "person": person,
            "host": host,
        });
        if show != Detail::Pointer {
            details["skill"] = json!(run.skill);
            details["environment"] = json!(run.environment);
            details["step"] =
                json!(asked.map_or(run.step.as_ref(), |(question, _)| Some(&question.step)));
        }
        if let (Detail::Full, Some((question, open))) = (show, asked) {
            details["asked"] = json!({
                "kind": question.kind,
                "title": question.own_title(),
                "message": question.message,
                "options": question.options,
                "follows": question.follows,
                "facts": question.facts,
                "changed": question.changed,
                "not_covered": question.not_covered,
                "deadline": open.deadline,
                "default": question.default,
            });
        }
        Self {
            id: row.id,
            occasion: row.occasion,
            at: now,
            title,
            text,
            link,
            buttons: Vec::new(),
            request: None,
            answerable: Vec::new(),
            destructive: asked.is_some_and(|(question, _)| question.destructive),
            replaces: None,
            person: person.clone(),
            run: row.run.to_string(),
            details,
        }
    }

    /// A message that says only that the channel works.
    pub fn test(channel: &Channel, now: Timestamp, server: Option<String>) -> Self {
        let title = "Aye: this is a test".to_owned();
        let text = format!("The channel `{}` works.", channel.name);
        let link = channel.settings.link.clone().or(server);
        let details = json!({
            "v": 1, "message": 0, "event": "test", "at": now.to_string(), "run": null,
            "question": null, "title": title, "text": text, "link": link,
            "person": channel.settings.person,
        });
        Self {
            id: 0,
            occasion: Occasion::Completed,
            at: now,
            title,
            text,
            link,
            buttons: Vec::new(),
            request: None,
            answerable: Vec::new(),
            destructive: false,
            replaces: None,
            person: channel.settings.person.clone(),
            run: "test".to_owned(),
            details,
        }
    }

    /// The text within a limit of bytes; whether something had to go. What is cut
    /// is said, and must not be agreed to unseen.
    pub(super) fn text_within(&self, limit: usize) -> (String, bool) {
        const REST: &str = "\n… the rest is on the card";
        if self.text.len() <= limit {
            return (self.text.clone(), false);
        }
        let end = self.text.floor_char_boundary(limit.saturating_sub(REST.len()));
        (format!("{}{REST}", &self.text[..end]), true)
    }

    /// The buttons that may go with a text, of which a part may be cut.
    pub(super) fn buttons_with(&self, cut: bool) -> impl Iterator<Item = &Button> {
        self.buttons.iter().filter(move |button| !cut || !button.commits)
    }

    /// How urgent it is, from 1 to 5 as ntfy counts.
    pub(super) fn priority(&self) -> u8 {
        match self.occasion {
            Occasion::Question | Occasion::Reminder | Occasion::Failed => 4,
            Occasion::Escalation | Occasion::Expiring => 5,
            Occasion::Completed | Occasion::Cancelled => 3,
        }
    }
}

fn asking(
    occasion: Occasion,
    run: &RunRow,
    question: &Question,
    open: &QuestionRow,
    show: Detail,
) -> (String, String) {
    let id = &question.id;
    let still = match occasion {
        Occasion::Reminder => "still waits",
        Occasion::Escalation => "waits, and nobody has answered",
        Occasion::Expiring => "is about to expire",
        Occasion::Question | Occasion::Failed | Occasion::Completed | Occasion::Cancelled => {
            "waits"
        }
    };
    let how = format!("`aye answer {id} CHOICE` answers.");
    if show == Detail::Pointer {
        return (format!("Aye: question {id} {still}"), how);
    }
    let environment = run.environment.as_ref().map(|one| format!(" ({one})")).unwrap_or_default();
    let heading = question.own_title().unwrap_or(&question.step);
    let title = format!("{}{environment}: {heading}", run.skill);
    let first = format!("Question {id} of step {} {still}.", question.step);
    if show == Detail::Title {
        return (title, format!("{first}\n{how}"));
    }
    let mut parts = vec![question.message.clone()];
    let list = |heading: &str, lines: Vec<String>| {
        // Lines after the first stand below it, and look like none of ours.
        let lines = lines.iter().map(|line| format!("- {}", line.replace('\n', "\n  ")));
        let lines: Vec<String> = lines.collect();
        (!lines.is_empty()).then(|| format!("{heading}:\n{}", lines.join("\n")))
    };
    let changed = question.changed.iter().map(Change::line).collect();
    parts.extend(list("Changed since the last yes", changed));
    if let Some(follows) = &question.follows {
        parts.push(format!("What a yes runs:\n{follows}"));
    }
    parts.extend(list("A yes covers", question.deciding().map(Fact::line).collect()));
    parts.extend(list("A yes does not cover", question.not_covered.clone()));
    let options: Vec<String> = question
        .options
        .iter()
        .map(|offer| {
            let about =
                offer.description.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
            format!("- {} (`{}`){about}", offer.label, offer.value)
        })
        .collect();
    if !options.is_empty() {
        parts.push(options.join("\n"));
    }
    if let Some(deadline) = open.deadline {
        let minutes = deadline.to_string();
        parts.push(format!(
            "It expires at {}.",
            minutes.split('.').next().unwrap_or(&minutes).trim_end_matches('Z')
        ));
    }
    parts.push(format!("{first}\n{how}"));
    (title, parts.join("\n\n"))
}

fn ended(occasion: Occasion, run: &RunRow, show: Detail) -> (String, String) {
    let how = match occasion {
        Occasion::Failed => "failed",
        Occasion::Cancelled => "was cancelled",
        Occasion::Completed
        | Occasion::Question
        | Occasion::Reminder
        | Occasion::Escalation
        | Occasion::Expiring => "completed",
    };
    let look = format!("`aye show {}` shows more.", run.id);
    if show == Detail::Pointer {
        return (format!("Aye: run {} {how}", run.id), look);
    }
    let environment = run.environment.as_ref().map(|one| format!(" ({one})")).unwrap_or_default();
    let title = format!("{}{environment} {how}", run.skill);
    let at = run.step.as_ref().filter(|_| occasion == Occasion::Failed);
    let at = at.map(|step| format!(" at step {step}")).unwrap_or_default();
    let first = format!("Run {} {how}{at}.", run.id);
    let why = run.message.as_ref().filter(|_| show == Detail::Full);
    let parts: Vec<String> =
        [Some(first), why.cloned(), Some(look)].into_iter().flatten().collect();
    (title, parts.join("\n\n"))
}
