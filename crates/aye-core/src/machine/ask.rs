//! From a question as written to a question as asked.

use serde_json::json;

use crate::digest::digest;
use crate::id::QuestionId;
use crate::journal::Unsure;
use crate::question::{Offer, Purpose, Question};
use crate::skill::{Ask, AskKind, By, ChoiceAction, Step};
use crate::text::{self, TextError, World};

use super::run::{Machine, after};

impl Machine {
    /// The question of a step: its gate, or itself.
    pub(super) fn pose(
        &self,
        step: &Step,
        ask: &Ask,
        purpose: Purpose,
        world: &World,
    ) -> Result<Question, TextError> {
        let scope = self.scope(world);
        let show = |template: &str| Ok(self.secrets.mask(&text::text(template, &scope)?));
        let mut options = Vec::new();
        for choice in &ask.options {
            options.push(Offer {
                value: choice.value.clone(),
                label: show(&choice.label)?,
                description: choice.description.as_ref().map(|text| show(text)).transpose()?,
                action: choice.action,
            });
        }
        let (follows, words) = match purpose {
            Purpose::Gate => {
                let (line, words) = self.command_line(step, &scope)?;
                ((!line.is_empty()).then_some(line), words)
            }
            Purpose::Ask | Purpose::Recover => (None, Vec::new()),
        };
        let title = match &ask.title {
            Some(title) => show(title)?,
            None => match ask.kind {
                AskKind::Confirm => "Confirmation required".to_owned(),
                AskKind::Choose => "Choice required".to_owned(),
                AskKind::Input => "Input required".to_owned(),
                AskKind::Recover => "Decision required".to_owned(),
            },
        };
        let secret = ask.secret && ask.kind == AskKind::Input;
        // A secret's default would stand in the journal.
        let default = ask.default.as_ref().filter(|_| !secret);
        let mut question = Question {
            id: self.next_question(),
            kind: ask.kind,
            purpose,
            step: step.name.value.clone(),
            title,
            message: show(&ask.message)?,
            options,
            default: default.map(|text| show(text)).transpose()?,
            deadline: ask.timeout.map(|limit| after(world.now, limit)),
            pattern: ask.pattern.as_ref().map(|pattern| pattern.value.clone()),
            secret,
            by: ask.by.clone(),
            approvals: ask.approvals.max(1),
            reauth: ask.reauth,
            typed: ask.typed.as_ref().map(|text| show(text)).transpose()?,
            overridable: ask.overridable,
            remember: ask.remember && !step.destructive,
            ai_assist: ask.ai_assist,
            follows,
            digest: String::new(),
        };
        sound(&question)?;
        question.digest = bind(&question, &words);
        Ok(question)
    }

    /// What to do about a step whose outcome is not known.
    pub(super) fn pose_unsure(&self, unsure: &Unsure) -> Question {
        let step = &unsure.step;
        let message = if unsure.interrupted {
            format!("`{step}` was stopped before it ended. It may have done part of its work.")
        } else {
            format!("Aye ended while `{step}` ran. It may or may not have done its work.")
        };
        self.recovery(step, "Outcome unknown", message)
    }

    /// What to do about a step that failed.
    pub(super) fn pose_failed(&self, step: &str) -> Question {
        let why = self.state.steps.get(step).and_then(|record| record.message.as_deref());
        let why = why.unwrap_or("no reason known");
        self.recovery(step, "Step failed", format!("`{step}` failed: {why}"))
    }

    fn recovery(&self, step: &str, title: &str, message: String) -> Question {
        let offer = |value: &str, label: &str, description: &str, action| Offer {
            value: value.to_owned(),
            label: label.to_owned(),
            description: Some(description.to_owned()),
            action,
        };
        let follows = self.state.steps.get(step).and_then(|record| record.command.clone());
        // Whoever may let a step run may say what becomes of it, nobody else.
        let gate = self.node(step).and_then(|(_, node)| node.step.confirmation.as_ref());
        let by = gate.map_or(By::Anyone, |gate| gate.by.clone());
        let mut question = Question {
            id: self.next_question(),
            kind: AskKind::Recover,
            purpose: Purpose::Recover,
            step: step.to_owned(),
            title: title.to_owned(),
            message,
            options: vec![
                offer("retry", "Retry", "run the step again", ChoiceAction::Proceed),
                offer("done", "It was done", "go on as if it had succeeded", ChoiceAction::Proceed),
                offer("skip", "Skip", "leave the step out and go on", ChoiceAction::Skip),
                offer("abort", "Abort", "end the run as failed", ChoiceAction::Cancel),
            ],
            default: None,
            deadline: None,
            pattern: None,
            secret: false,
            by,
            approvals: 1,
            reauth: false,
            typed: None,
            overridable: false,
            remember: false,
            ai_assist: false,
            follows,
            digest: String::new(),
        };
        question.digest = bind(&question, &[]);
        question
    }

    fn next_question(&self) -> QuestionId {
        QuestionId::new(&self.state.run, self.state.questions + 1)
    }
}

/// What only shows once everything is rendered: a question must ask
/// something, and a text to type must be one.
fn sound(question: &Question) -> Result<(), TextError> {
    const LONGEST_GATE: usize = 500;
    let problem = if question.message.trim().is_empty() {
        "the message is empty"
    } else if question.typed.as_ref().is_some_and(|typed| typed.trim().is_empty()) {
        "the text that has to be typed is empty"
    } else if question.purpose == Purpose::Gate && question.message.chars().count() > LONGEST_GATE {
        "the message is longer than 500 characters; a `confirm` step has no limit"
    } else {
        return Ok(());
    };
    Err(TextError::new(problem))
}

/// The digest of what is asked and of what a yes starts.
fn bind(question: &Question, words: &[String]) -> String {
    let asked = json!({
        "step": question.step,
        "title": question.title,
        "message": question.message,
        "options": question.options,
        "typed": question.typed,
    })
    .to_string();
    let mut parts: Vec<&[u8]> = vec![asked.as_bytes()];
    parts.extend(words.iter().map(String::as_bytes));
    digest(&parts)
}
