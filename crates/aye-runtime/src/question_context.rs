//! What others are told of a question and of its run: enough to advise, little
//! enough to read, and nothing that is secret. No IO.
//!
//! Who gets what:
//!
//! - **The advisor**, a program beside a terminal, gets [`question_context`]: one
//!   JSON document of at most [`BUDGET`] bytes, whatever the values are.
//! - **Assistants** get what `usecases/question_facts` finds, as `mcp/asking_run`
//!   of `aye` tells it. [`recent_steps`] and [`failure`] are for them.
//! - **Both** go through one [`Redactor`]. The state of a run has its secrets masked
//!   already; what has become a secret since is masked there, before anything is cut.

mod budget;
mod cut;

use aye_core::journal::{State, StepRecord, StepStatus};
use aye_core::question::{Offer, Question};
use aye_core::secrets::Secrets;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use budget::{Budget, size};
pub use cut::Redactor;

/// The version of the document.
pub const VERSION: u32 = 1;
/// As many bytes of JSON as it has at most.
pub const BUDGET: usize = 4096;
/// As many characters as a value has at most.
pub const VALUE: usize = 200;
/// How many steps back it goes.
pub const STEPS: usize = 5;

/// What the options may take together, in bytes.
const OPTIONS: usize = 700;
/// What the facts that decide may take, in bytes.
const COVERS: usize = 800;
/// What is kept free to say that something was left out.
const LEFT_OUT: usize = 160;
/// How many characters of a step's output are told.
const OUTPUT: usize = 300;
/// How many of them when it has failed and nothing else is told of it.
const TAIL: usize = 600;
/// How many characters of an error, and of its hint.
const ERROR: usize = 900;
const HINT: usize = 300;

/// Tells an advisor about a question. `secrets` are those of the process
/// that drives the run; a reader of the journal has none and needs none. The
/// fields take at most `bytes` of JSON: [`BUDGET`], less what the caller adds.
pub fn question_context(
    question: &Question,
    run: Option<&State>,
    secrets: Option<&Secrets>,
    bytes: usize,
) -> Map<String, Value> {
    let redactor = Redactor::new(secrets);
    let mut budget = Budget::new(bytes.min(BUDGET).saturating_sub(LEFT_OUT));
    budget.add("version", VERSION.into());
    if let Some(run) = run {
        budget.add("skill", redactor.start(&run.started.skill, 100, 150).into());
        if let Some(environment) = &run.started.environment {
            budget.add("environment", redactor.start(environment, 100, 150).into());
        }
    }
    budget.add("step", redactor.start(&question.step, 100, 150).into());
    budget.add("kind", json!(question.kind));
    budget.add("purpose", json!(question.purpose));
    if let Some(title) = question.own_title() {
        budget.add("title", redactor.start(title, 150, 200).into());
    }
    budget.add("message", redactor.start(&question.message, 900, 1000).into());
    if let (Some(default), false) = (&question.default, question.secret) {
        budget.add("default", redactor.start(default, 100, 150).into());
    }
    if let Some(follows) = &question.follows {
        budget.add("follows", redactor.start(follows, 400, 500).into());
    }
    let mut left_out = Map::new();
    let told = |line: String| Some(Value::from(redactor.start(&line, VALUE, VALUE + 50)));
    let changed = question.changed.iter().map(|change| told(change.line()));
    let facts = question.facts.iter().flatten();
    for (name, all, most) in [
        ("changed", changed.collect::<Vec<_>>(), COVERS / 2),
        ("covers", facts.map(|fact| told(fact.line())).collect(), COVERS),
        ("not_covered", question.not_covered.iter().cloned().map(told).collect(), COVERS / 2),
    ] {
        let count = all.len();
        let some = some(all.into_iter(), most.min(budget.left() / 2));
        note(&mut left_out, name, count - some.len());
        if !some.is_empty() {
            budget.add(name, some.into());
        }
    }
    let options =
        some(question.options.iter().map(|offer| option(question, offer, &redactor)), OPTIONS);
    note(&mut left_out, "options", question.options.len() - options.len());
    if !options.is_empty() {
        budget.add("options", options.into());
    }
    if let Some(run) = run {
        let (steps, missed) = steps(run, &question.step, budget.left() * 3 / 5, &redactor);
        note(&mut left_out, "steps", missed);
        if !steps.is_empty() {
            budget.add("steps", steps.into());
        }
        // Half for the inputs, and for the results whatever they leave.
        for (name, values, share) in
            [("inputs", &run.started.inputs, 2), ("results", &*run.outputs, 1)]
        {
            let told = named(values, budget.left() / share, &redactor);
            note(&mut left_out, name, values.len() - told.len());
            if !told.is_empty() {
                budget.add(name, told.into());
            }
        }
    }
    let mut fields = budget.into_fields();
    if !left_out.is_empty() {
        fields.insert("left_out".to_owned(), left_out.into());
    }
    fields
}

/// Says how many of something are missing, if any are.
fn note(left_out: &mut Map<String, Value>, name: &str, count: usize) {
    if count > 0 {
        left_out.insert(name.to_owned(), count.min(9999).into());
    }
}

/// As many of them as there is room for; `None` is one that cannot be told.
fn some(values: impl Iterator<Item = Option<Value>>, room: usize) -> Vec<Value> {
    let mut left = room;
    let mut told = Vec::new();
    for value in values.flatten() {
        let taken = size(&value) + 1;
        if taken <= left {
            left -= taken;
            told.push(value);
        }
    }
    told
}

/// One that can be suggested has its value in full.
fn option(question: &Question, offer: &Offer, redactor: &Redactor<'_>) -> Option<Value> {
    if redactor.start(&offer.value, 100, 200) != offer.value {
        return None;
    }
    let mut option = Map::new();
    option.insert("value".to_owned(), offer.value.clone().into());
    option.insert("label".to_owned(), redactor.start(&offer.label, 80, 120).into());
    if let Some(description) = &offer.description {
        option.insert("description".to_owned(), redactor.start(description, 100, 150).into());
    }
    option.insert("action".to_owned(), json!(offer.action));
    if let Some(lead) = question.lead(&offer.value) {
        option.insert("leads_to".to_owned(), redactor.start(&lead.to_string(), 100, 150).into());
    }
    Some(option.into())
}

/// The last steps, the newest last, and how many there was no room for.
fn steps(run: &State, asked: &str, room: usize, redactor: &Redactor<'_>) -> (Vec<Value>, usize) {
    let met = run
        .steps
        .iter()
        .filter(|(name, record)| *name != asked || record.status != StepStatus::Waiting);
    let last: Vec<(&String, &StepRecord)> = met.rev().take(STEPS).collect();
    let mut left = room.saturating_sub(20);
    let mut told = Vec::new();
    for (name, record) in &last {
        let short = step(name, record, redactor);
        let mut long = short.clone();
        if let Some(output) = output(record, redactor) {
            long.insert("output".to_owned(), output.into());
        }
        let fits = [long, short].into_iter().map(Value::from).find(|one| size(one) < left);
        let Some(one) = fits else { break };
        left -= size(&one) + 1;
        told.push(one);
    }
    told.reverse();
    let missed = last.len() - told.len();
    (told, missed)
}

fn step(name: &str, record: &StepRecord, redactor: &Redactor<'_>) -> Map<String, Value> {
    let mut step = Map::new();
    step.insert("step".to_owned(), redactor.start(name, 80, 120).into());
    step.insert("outcome".to_owned(), record.standing().into());
    if let Some(code) = record.process.as_ref().and_then(|process| process.exit_code) {
        step.insert("exit_code".to_owned(), code.into());
    }
    if let Some(message) = &record.message {
        step.insert("message".to_owned(), redactor.start(message, 150, 200).into());
    }
    step
}

/// The end of what it wrote; of what went wrong, if it failed.
fn output(record: &StepRecord, redactor: &Redactor<'_>) -> Option<String> {
    let process = record.process.as_ref()?;
    let failed = record.status != StepStatus::Completed;
    let text = match failed && !process.stderr.trim().is_empty() {
        true => &process.stderr,
        false => &process.stdout,
    };
    let end = redactor.end(text.trim_end(), OUTPUT, OUTPUT + 100);
    (!end.is_empty()).then_some(end)
}

/// The last steps of a run and of the runs `around` it (the nearest first), the newest
/// last: what became of each.
pub fn recent_steps(run: &State, around: &[State], redactor: &Redactor<'_>) -> Vec<Value> {
    let runs = around.iter().rev().map(|run| (run, true)).chain([(run, false)]);
    let met = runs.flat_map(|(run, is_around)| {
        let met = run.steps.iter().filter(|(_, record)| record.visits > 0);
        met.map(move |(name, record)| (run, is_around, name, record))
    });
    let mut steps: Vec<_> = met.collect();
    steps.sort_by_key(|(.., record)| record.ended.or(record.started));
    let shown = steps.iter().rev().take(STEPS).rev().map(|(run, is_around, name, record)| {
        let mut shown = json!({ "step": name, "status": record.status });
        if *is_around {
            shown["in"] = "the run around".into();
        }
        if record.queued {
            shown["status"] = record.standing().into();
        }
        if let Some(message) = &record.message {
            shown["message"] = redactor.start(message, VALUE + 1, usize::MAX).into();
        }
        let result = given(run, name, record);
        if let Some(result) = result.filter(|value| !value.is_null() && **value != json!("")) {
            shown["result"] = redactor.value(result, VALUE);
        }
        shown
    });
    shown.collect()
}

/// The result of a step, if the value of that name is the one that it gave: another
/// step, or a later start of this one, may have used the name since.
fn given<'a>(run: &'a State, step: &str, record: &StepRecord) -> Option<&'a Value> {
    let output = record.output.as_ref().filter(|_| record.status == StepStatus::Completed)?;
    let used = run.steps.iter().filter(|(_, other)| other.output.as_ref() == Some(output));
    let last = used.max_by_key(|(_, other)| (other.ended.or(other.started), other.execution))?;
    run.outputs.get(output).filter(|_| last.0 == step)
}

/// What is known of a step that failed. Only the hint is Aye's word for certain: a message
/// may be what a tool or a block said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepFailure {
    /// What went wrong, after the code of the error if it has one.
    pub message: String,
    /// What to do about it, in Aye's words.
    pub hint: Option<String>,
    /// The end of what the step wrote.
    pub output: Option<String>,
}

impl StepFailure {
    /// In one text; `own` words what Aye says itself.
    pub fn in_words(&self, own: impl Fn(&str) -> String) -> String {
        let message = Some(self.message.clone()).filter(|message| !message.is_empty());
        let hint = self.hint.as_ref().map(|hint| format!("hint: {}", own(hint)));
        let output = self.output.as_ref().map(|output| format!("output: {output}"));
        let parts: Vec<String> = [message, hint, output].into_iter().flatten().collect();
        parts.join("\n")
    }
}

/// Why a step failed; nothing of one that has not been started.
pub fn failure(run: &State, step: &str, redactor: &Redactor<'_>) -> StepFailure {
    let Some(record) = run.steps.get(step) else { return StepFailure::default() };
    let code = record.code.as_ref().map(|code| format!("[{code}]"));
    let message: Vec<String> = code.into_iter().chain(record.message.clone()).collect();
    let output = record.process.as_ref().map(|process| process.said().trim_end());
    let output = output.filter(|output| !output.is_empty());
    StepFailure {
        message: redactor.start(&message.join("\n"), ERROR + 1, usize::MAX),
        hint: record.hint.as_ref().map(|hint| redactor.start(hint, HINT + 1, usize::MAX)),
        output: output.map(|output| redactor.end(output, TAIL + 1, usize::MAX)),
    }
}

/// As many named values as there is room for, in their order.
fn named(
    values: &IndexMap<String, Value>,
    room: usize,
    redactor: &Redactor<'_>,
) -> Map<String, Value> {
    let mut budget = Budget::new(room.saturating_sub(20));
    for (name, value) in values {
        // With no room for the shortest, nobody has to look at the rest.
        if budget.left() < 8 {
            break;
        }
        let name = redactor.start(name, 80, 120);
        if !budget.has(&name) {
            budget.add(&name, redactor.value(value, VALUE));
        }
    }
    budget.into_fields()
}
