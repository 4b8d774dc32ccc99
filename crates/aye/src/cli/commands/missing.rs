//! Asking for what a run needs and nobody gave.

use aye_core::id::QuestionId;
use aye_core::question::{Offer, Question};
use aye_core::skill::{AskKind, ChoiceAction, Given, InputError, InputSpec, InputType, Inputs};
use aye_core::value::as_text;
use indexmap::IndexMap;

use crate::cli::{Context, warn_line};
use crate::paint::escape_control_line;
use crate::prompt::{AskOutcome, Escape, LocalQuestion, ask_alone};
use aye_runtime::error::Error;
use aye_runtime::prompter::AskedQuestion;

use super::scripted::question;

/// How often a value that does not fit is asked for again.
const TRIES: usize = 3;

/// What came of asking for a value.
pub(super) enum InputOutcome {
    /// This.
    Value(String),
    /// Nobody can be asked here.
    Nobody,
    /// The person who was asked stopped here: the exit code.
    Leave(u8),
}

/// What came of resolving inputs with someone there.
pub(super) enum Resolved {
    /// They are complete.
    Inputs(Box<Inputs>),
    /// The person who was asked stopped here: the exit code.
    Leave(u8),
}

/// Resolves inputs, and asks for those that are missing where someone is there.
pub(super) fn resolve(
    specs: &[InputSpec],
    mut given: IndexMap<String, Given>,
    may_ask: bool,
    context: &Context,
    resolve: impl Fn(IndexMap<String, Given>) -> Result<Inputs, Vec<InputError>>,
) -> Result<Resolved, Error> {
    let mut asked: Vec<String> = Vec::new();
    for _ in 0..TRIES {
        let errors = match resolve(given.clone()) {
            Ok(inputs) => return Ok(Resolved::Inputs(Box::new(inputs))),
            Err(errors) => errors,
        };
        // What someone wrote wrongly elsewhere is theirs to mend.
        let wanted = |error: &InputError| match error {
            InputError::Missing(name) | InputError::MissingSecret(name) => Some(name.clone()),
            InputError::Invalid { name, .. } => asked.contains(name).then(|| name.clone()),
            InputError::Unknown { .. } => None,
        };
        let names: Vec<String> = errors.iter().filter_map(wanted).collect();
        if !may_ask || names.len() < errors.len() {
            return Err(Error::Inputs(errors));
        }
        for error in errors.iter().filter(|error| matches!(error, InputError::Invalid { .. })) {
            warn_line(&escape_control_line(&error.to_string()), context);
        }
        for spec in specs.iter().filter(|spec| names.contains(&spec.name.value)) {
            match ask(&wording(spec)?, context)? {
                InputOutcome::Value(value) => {
                    asked.push(spec.name.value.clone());
                    given.insert(spec.name.value.clone(), Given::Text(value));
                }
                InputOutcome::Nobody => return Err(Error::Inputs(errors)),
                InputOutcome::Leave(code) => return Ok(Resolved::Leave(code)),
            }
        }
    }
    match resolve(given) {
        Ok(inputs) => Ok(Resolved::Inputs(Box::new(inputs))),
        Err(errors) => Err(Error::Inputs(errors)),
    }
}

/// Asks for something that must not be shown.
pub(super) fn secret(name: &str, why: &str, context: &Context) -> Result<InputOutcome, Error> {
    let mut question = question(AskKind::Input, why, Some(&format!("Input {name}")))?;
    question.secret = true;
    ask(&question, context)
}

/// The question for an input.
fn wording(spec: &InputSpec) -> Result<Question, Error> {
    let name = &spec.name.value;
    let words = spec.description.clone().unwrap_or_else(|| format!("A value for `{name}`?"));
    let title = format!("Input {name}");
    let choices: Vec<String> = match spec.kind {
        InputType::Boolean => vec!["true".to_owned(), "false".to_owned()],
        _ => spec.choices.iter().map(as_text).collect(),
    };
    if choices.is_empty() {
        let mut question = question(AskKind::Input, &words, Some(&title))?;
        question.pattern = spec.pattern.as_ref().map(|pattern| pattern.value.clone());
        question.secret = spec.kind == InputType::Secret;
        return Ok(question);
    }
    let mut question = question(AskKind::Choose, &words, Some(&title))?;
    let offer = |value: String| Offer::new(value.clone(), value, ChoiceAction::Proceed);
    question.options = choices.into_iter().map(offer).collect();
    Ok(question)
}

fn ask(question: &Question, context: &Context) -> Result<InputOutcome, Error> {
    let question = Question { id: QuestionId::from_text("input"), ..question.clone() };
    let asked = AskedQuestion::alone(&question, None);
    let config = context.config(Escape::Dismisses, true);
    match ask_alone(&asked, config, &context.clock, &mut LocalQuestion::default())? {
        AskOutcome::Answered(given) => Ok(InputOutcome::Value(given.value)),
        AskOutcome::Unavailable(_) => Ok(InputOutcome::Nobody),
        AskOutcome::Cancelled | AskOutcome::TimedOut | AskOutcome::Closed => {
            Ok(InputOutcome::Leave(5))
        }
        AskOutcome::Stopped(signal) => {
            Ok(InputOutcome::Leave(u8::try_from(128 + signal).unwrap_or(1)))
        }
    }
}
