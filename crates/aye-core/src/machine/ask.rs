//! From a question as written to a question as asked.

use serde_json::json;

use crate::digest::digest;
use crate::error_code::ErrorCode;
use crate::event::{ProcessRecord, RetryReason};
use crate::facts::FactKind;
use crate::id::QuestionId;
use crate::journal::{Phase, Transition, UnknownOutcome};
use crate::question::{Offer, Purpose, Question};
use crate::skill::{Action, Ask, AskKind, Body, By, ChoiceAction, Step, is_production};
use crate::text::{self, TextError, World};

use super::covers::{BuiltQuestion, Covered};
use super::edit::MOST_EDITS;
use super::follows::Follows;
use super::run::Machine;
use super::variables::recording;

/// An option of a recovery question: value, label, description, action.
type RecoveryOption = (&'static str, &'static str, &'static str, ChoiceAction);

const RETRY: RecoveryOption = ("retry", "Retry", "run the step again", ChoiceAction::Proceed);
const EDIT: RecoveryOption =
    ("edit", "Retry with changes", "edit its arguments", ChoiceAction::Proceed);
const FIX: RecoveryOption =
    ("fix", "Apply the proposed change", "in this run only", ChoiceAction::Proceed);
const DONE: RecoveryOption =
    ("done", "It was done", "continue as if it had succeeded", ChoiceAction::Proceed);
const SKIP: RecoveryOption = ("skip", "Skip", "skip the step and continue", ChoiceAction::Skip);
const ABORT: RecoveryOption = ("abort", "Abort", "end the run as failed", ChoiceAction::Cancel);

impl Machine {
    /// The question of a step: its gate, or itself.
    pub(super) fn build_question(
        &self,
        step: &Step,
        ask: &Ask,
        purpose: Purpose,
        with_facts: bool,
        world: &World,
    ) -> Result<BuiltQuestion, TextError> {
        self.showing().question_as_shown(step, ask, purpose, with_facts, world)
    }

    fn question_as_shown(
        &self,
        step: &Step,
        ask: &Ask,
        purpose: Purpose,
        with_facts: bool,
        world: &World,
    ) -> Result<BuiltQuestion, TextError> {
        let (scope, recorder) = recording(self.scope_of(&step.name, world));
        let show = |template: &str| {
            let text = text::text(template, &scope)?;
            Ok(self.mask_seen(&text, &recorder))
        };
        let mut options = Vec::new();
        for choice in &ask.options {
            options.push(Offer {
                value: choice.value.clone(),
                label: show(&choice.label)?,
                description: choice.description.as_ref().map(|text| show(text)).transpose()?,
                action: choice.action,
            });
        }
        let followed = match purpose {
            Purpose::Gate => self.gate_follows(step, &scope)?,
            Purpose::Ask => {
                let follows = self.what_follows(step, ask, &scope);
                Follows { destructive: step.destructive || follows.destructive, ..follows }
            }
            Purpose::Recover => Follows { destructive: step.destructive, ..Follows::default() },
        };
        let certain = followed.is_certain();
        let Follows {
            command: follows,
            mut words,
            destructive,
            coverage,
            unknown,
            later,
            later_repairs,
            ..
        } = followed;
        let title = match &ask.title {
            Some(title) => show(title)?,
            None => ask.kind.usual_title().to_owned(),
        };
        let limit = self.limits.ask.wait(ask.timeout, purpose == Purpose::Gate);
        let secret = ask.secret && ask.kind == AskKind::Input;
        // A secret's default would stand in the journal.
        let default = ask.default.as_ref().filter(|_| !secret);
        let mut question = Question {
            purpose,
            step: step.name.value.clone(),
            title,
            options,
            default: default.map(|text| show(text)).transpose()?,
            deadline: self.question_limit(limit, world.now),
            pattern: ask.pattern.as_ref().map(|pattern| pattern.value.clone()),
            secret,
            by: ask.by.clone(),
            approvals: ask.approvals.max(1),
            not_starter: ask.not_starter,
            reauth: ask.reauth,
            typed: ask.typed.as_ref().map(|text| show(text)).transpose()?,
            overridable: ask.overridable,
            remember: ask.remember && certain && self.may_remember(purpose),
            ai_assist: ask.ai_assist,
            destructive: destructive || self.may_destroy(&step.name),
            follows,
            ..Question::new(self.next_question(), ask.kind, show(&ask.message)?)
        };
        check_question(&question)?;
        let details = ask.details.as_ref().map(|details| show(details)).transpose()?;
        question.message = with_details(question.message, details);
        if let Some(node) = self.flow.find(&step.name) {
            question.leads = self.leads(node, ask, purpose);
        }
        if question.remember {
            question.not_remembered = question.unbound_answers();
        }
        let changes = match purpose {
            Purpose::Gate => self.changes(step, &scope),
            Purpose::Ask | Purpose::Recover => Vec::new(),
        };
        if !changes.is_empty() {
            // Nobody said yes to this in advance, and nobody does for later.
            question.overridable = false;
            question.remember = false;
            if self.is_unseen(step) {
                let goes_on = |offer: &&Offer| offer.action != ChoiceAction::Cancel;
                let options = question.options.iter().filter(goes_on);
                question.person_only = options.map(|offer| offer.value.clone()).collect();
            }
            question.message.push_str("\n\nChanged since it failed:");
            for line in changes {
                question.message.push_str(&format!("\n  {line}"));
            }
        }
        // A yes in advance is for whatever comes.
        let in_advance = self.state.yes && question.takes_yes();
        if with_facts && !in_advance {
            // What someone types at this very question decides, and nobody knows it.
            let unknown = unknown.iter().filter(|name| **name != step.name.value);
            let unknown = unknown.map(|name| format!("`{name}`: what it does is not known yet"));
            let later = named("later steps", &later);
            let repairs = named("repairs of later steps", &later_repairs);
            let outside = self.follows_outside(step, &question);
            question.not_covered = unknown.chain(later).chain(repairs).chain(outside).collect();
        }
        if let Some(coverage) = coverage.filter(|_| with_facts && !in_advance) {
            let seen = recorder.seen();
            let covered = match self.covered(coverage, &seen, world) {
                Ok(covered) => covered,
                Err(inspection) => return Ok(BuiltQuestion::Inspect(inspection)),
            };
            let Covered { facts, not_covered, destructive, uncertain, missing } = covered;
            // Nobody can agree to what nobody can read.
            if let Some(missing) = missing.filter(|_| purpose == Purpose::Gate) {
                let error = TextError::new(format!("the skill {missing}"));
                return Err(TextError { code: ErrorCode::Nested, ..error });
            }
            question.not_covered.splice(..0, not_covered);
            question.outside = self.kept_outside(seen, &facts, (&question.message, step));
            words = facts.iter().map(|fact| json!(fact).to_string()).collect();
            let settled = facts.iter().all(|fact| fact.kind != FactKind::Unsettled);
            question.remember &= settled && !destructive && !uncertain;
            question.destructive |= destructive;
            question.facts = Some(facts);
        }
        if question.remember {
            question.recall = self.recall(step, ask, &question, &scope);
            question.remember = question.recall.is_some();
            question.any.clone_from(&ask.any);
        }
        question.digest = bind(&question, &words);
        Ok(BuiltQuestion::Question(Box::new(question)))
    }

    /// What to do about a step whose outcome is not known.
    pub(super) fn pose_unknown_outcome(&self, unknown: &UnknownOutcome, world: &World) -> Question {
        let step = &unknown.step;
        let message = if unknown.interrupted {
            format!("`{step}` was stopped before it ended. It may have done part of its work.")
        } else {
            format!("Aye ended while `{step}` ran. It may or may not have done its work.")
        };
        let offers = [RETRY, DONE, SKIP, ABORT];
        self.recovery(step, "Outcome unknown", message, &offers, world)
    }

    /// What to do about a step that failed.
    pub(super) fn pose_failed(&self, step: &str, world: &World) -> Question {
        let record = self.state.steps.get(step);
        let why = record.and_then(|record| record.message.as_deref()).unwrap_or("no reason known");
        if self.is_blocked(step) {
            let offers =
                [("retry", "Run it", "it may go well", ChoiceAction::Proceed), SKIP, ABORT];
            let title = "This usually fails";
            let question = self.recovery(step, title, why.to_owned(), &offers, world);
            let by = match question.by {
                By::Anyone => By::Human,
                by => by,
            };
            return Question { by, ..question };
        }
        let mut message = format!("`{step}` failed: {why}");
        if let Some(said) = record.and_then(|record| last_words(record.process.as_ref()?)) {
            message.push_str(&format!("\n\n{said}"));
        }
        let left = record.and_then(|record| record.process.as_ref()).map_or(0, |p| p.left_running);
        if left > 0 {
            message.push_str(&format!("\n\n{left} of its processes could not be ended."));
        }
        let mut offers = vec![RETRY];
        if let Some(proposal) = record.and_then(|record| record.proposal.as_ref()) {
            message.push_str(&format!("\n\n{}\n{}", proposal.why, proposal.diff.trim_end()));
            offers.push(FIX);
        }
        let edited = record.map_or(0, |record| record.edited);
        if self.is_editable(step) && edited < MOST_EDITS {
            offers.push(EDIT);
        }
        // A question that could not be put was not answered, and is not left out either.
        if self.asked_itself(step).is_none() {
            offers.extend([DONE, SKIP]);
        }
        offers.push(ABORT);
        let question = self.recovery(step, "Step failed", message, &offers, world);
        self.rememberable(question, world)
    }

    /// Lets an answer about a failure be remembered, where the skill allows it
    /// and anyone may give it. A changed step is no longer the skill's own.
    fn rememberable(&self, question: Question, world: &World) -> Question {
        let Some((_, node)) = self.node(&question.step) else { return question };
        let Some(any) = &node.step.remember_recovery else { return question };
        let environment = self.state.started.environment.as_deref();
        let record = self.state.steps.get(&question.step);
        let asked_each_time = question.destructive
            || self.may_destroy_anyhow()
            || question.is_guarded()
            || environment.is_some_and(is_production)
            || record.is_some_and(|record| record.edits.is_some());
        let scope = self.scope_of(&node.step.name, world);
        let recall = self.showing().recall_failure(&node.step, any, &scope);
        match recall.filter(|_| !asked_each_time) {
            Some(recall) => Question {
                remember: true,
                not_remembered: self.unbound_past(&node.step),
                any: any.clone(),
                recall: Some(recall),
                ..question
            },
            None => question,
        }
    }

    /// The answers that let the run continue without this step, unless all that comes then is the
    /// same in every run or asked about.
    fn unbound_past(&self, step: &Step) -> Vec<String> {
        let varies = match self.state.started.parent {
            Some(_) => true,
            None => self.may_vary_past(step),
        };
        let past = ["skip", "done"].map(str::to_owned);
        if varies { past.into() } else { Vec::new() }
    }

    /// The question that a step consists of.
    fn asked_itself(&self, step: &str) -> Option<&Ask> {
        self.node(step)?.1.step.action.ask()
    }

    fn recovery(
        &self,
        step: &str,
        title: &str,
        message: String,
        offers: &[RecoveryOption],
        world: &World,
    ) -> Question {
        let offer = |(value, label, description, action): &RecoveryOption| Offer {
            value: (*value).to_owned(),
            label: (*label).to_owned(),
            description: Some((*description).to_owned()),
            action: *action,
        };
        let follows = self.state.steps.get(step).and_then(|record| record.command.clone());
        // The people who may let a step run also decide about its failure, in the same way.
        let about = self.node(step).map(|(_, node)| &node.step);
        let gate = about.and_then(|step| step.confirmation.as_ref());
        let kept = gate.is_some() || about.is_some_and(|step| step.destructive);
        let gate = gate.or_else(|| self.asked_itself(step));
        let by = match gate.map(|gate| &gate.by) {
            Some(By::Anyone) | None if kept => By::Human,
            Some(by) => by.clone(),
            None => By::Anyone,
        };
        let typed = gate.and_then(|gate| gate.typed.as_ref()).map(|template| {
            // One that cannot be rendered is typed as it is written.
            let typed = text::text(template, &self.scope(world)).ok();
            let typed = typed.filter(|typed| !typed.trim().is_empty());
            self.secrets.mask(&typed.unwrap_or_else(|| template.value.clone()))
        });
        let may_edit = about.is_some_and(|step| step.assistant_may_edit && !self.is_bound(step));
        let person_only = offers.iter().map(|(value, ..)| *value).filter(|value| match *value {
            "done" | "skip" => true,
            "fix" => !may_edit,
            _ => false,
        });
        let mut question = Question {
            purpose: Purpose::Recover,
            step: step.to_owned(),
            title: title.to_owned(),
            options: offers.iter().map(offer).collect(),
            by,
            approvals: gate.map_or(1, |gate| gate.approvals.max(1)),
            not_starter: gate.is_some_and(|gate| gate.not_starter),
            reauth: gate.is_some_and(|gate| gate.reauth),
            typed,
            person_only: person_only.map(str::to_owned).collect(),
            destructive: about.is_some_and(|step| step.destructive) || self.may_destroy(step),
            follows,
            ..Question::new(self.next_question(), AskKind::Recover, message)
        };
        question.digest = bind(&question, &[]);
        question
    }

    /// Whether something that cannot be undone may come after this step without a
    /// question of its own. What runs inside or around this run is not known
    /// here, so it may.
    fn may_destroy(&self, step: &str) -> bool {
        let in_order = matches!(self.flow.skill.body, Body::Steps(_));
        let here = self.flow.nodes.iter().position(|node| node.step.name.value == step);
        let comes = |at: usize| !in_order || here.is_none_or(|here| at > here);
        let harmful = |step: &Step| {
            step.confirmation.is_none() && (step.destructive || step.action.is_nested())
        };
        let mut nodes = self.flow.nodes.iter().enumerate();
        self.state.started.parent.is_some()
            || nodes.any(|(at, node)| comes(at) && harmful(&node.step))
    }

    /// That an answer inside another run also leads to what comes after it there.
    fn follows_outside(&self, step: &Step, question: &Question) -> Option<String> {
        let parent = self.state.started.parent.as_deref()?;
        let asks = step.action.ask().is_some() && question.kind != AskKind::Input;
        let is_called = parent.form.is_none() && !parent.repair;
        let around = &parent.step;
        (asks && is_called).then(|| format!("what comes after `{around}`, which asks this"))
    }

    /// Whether an answer to a question of this run may be remembered at all. What an answer inside
    /// another run leads to there is not known here.
    fn may_remember(&self, purpose: Purpose) -> bool {
        let leads_outside = purpose == Purpose::Ask && self.state.started.parent.is_some();
        // What a fix did, a person looks at.
        let is_fixed = matches!(
            &self.state.phase,
            Phase::Transition(Transition::Retrying { why: RetryReason::Fixed, .. })
        );
        !leads_outside && !is_fixed && !self.may_destroy_anyhow()
    }

    /// Whether something that cannot be undone may happen whatever comes next: in `finally`, or
    /// as a repair.
    fn may_destroy_anyhow(&self) -> bool {
        let nodes = self.flow.nodes.iter().enumerate();
        let finally = nodes.filter(|(at, _)| self.flow.is_in_finally(*at));
        let finally = finally.map(|(_, node)| &node.step);
        let finally = finally.filter(|step| step.confirmation.is_none());
        let repairs = self.rules().map(|rule| &rule.repair);
        // What a skill does is not known here.
        finally.chain(repairs).any(|step| {
            let skill = matches!(step.action, Action::Skill { .. });
            step.destroys() || skill || step.holds_a_skill()
        })
    }

    fn next_question(&self) -> QuestionId {
        QuestionId::new(&self.state.run, self.state.questions + 1)
    }
}

/// One line that names the first of these: ``later steps: `a`, `b` and 3 more``.
pub(super) fn named(what: &str, names: &[String]) -> Option<String> {
    const MOST: usize = 5;
    let shown: Vec<String> = names.iter().take(MOST).map(|name| format!("`{name}`")).collect();
    let more = match names.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!shown.is_empty()).then(|| format!("{what}: {}{more}", shown.join(", ")))
}

/// A message with what it is about below it: one text, which every prompter
/// shows and the digest covers.
pub(super) fn with_details(message: String, details: Option<String>) -> String {
    match details.filter(|details| !details.trim().is_empty()) {
        Some(details) => format!("{}\n\n{}", message.trim_end(), details.trim_end()),
        None => message,
    }
}

/// The last line that a program wrote about what is wrong.
fn last_words(process: &ProcessRecord) -> Option<String> {
    const LONGEST: usize = 300;
    let line = process.said().lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(LONGEST).collect())
}

/// What only shows once everything is rendered: a question must ask
/// something, and a text to type must be one.
fn check_question(question: &Question) -> Result<(), TextError> {
    const LONGEST_GATE: usize = 500;
    let problem = if question.message.trim().is_empty() {
        "the message is empty"
    } else if question.typed.as_ref().is_some_and(|typed| typed.trim().is_empty()) {
        "the text that has to be typed is empty"
    } else if question.purpose == Purpose::Gate && question.message.chars().count() > LONGEST_GATE {
        "the message is longer than 500 characters; `details` has no limit"
    } else {
        return Ok(());
    };
    Err(TextError::new(problem))
}

/// The digest of what is asked and of what a yes starts.
pub(super) fn bind(question: &Question, words: &[String]) -> String {
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
