//! What an assistant is told of a run that asks: everything it needs to talk
//! it over with the person, and nothing else.
//!
//! Which variables: the run's inputs, and the results of earlier steps that
//! the question names in its own text. For a step that failed, those that the
//! step itself uses. Whatever a skill's author put into a question is meant to
//! be read; the rest of the run's data is not the assistant's business.

use aye_core::question::{Purpose, Question};
use aye_core::skill::{AskKind, By};
use serde_json::{Map, Value, json};

use aye_runtime::driver::tool_of;
use aye_runtime::error::Error;
use aye_runtime::memory::{Query, SHOWN};
use aye_runtime::runtime::Runtime;
use aye_runtime::skills::SkillFile;
use aye_runtime::usecases::{AskingRun, JournalReader, RunRow};

use super::budget;
use super::handle::Handles;
use super::place::Place;
use super::standing::{Standing, asks_for, expires};
use super::steps;

/// The answer that changes what a failed step is given.
pub(super) const EDIT: &str = "edit";
/// How much of a message is shown before the whole has to fit.
const MESSAGE: usize = 2000;

/// Adds what is asked to what is told of the run.
pub(super) fn describe(
    payload: &mut Map<String, Value>,
    asking: &AskingRun,
    handles: &Handles,
    journal: &JournalReader,
    runtime: &Runtime,
) -> Result<(), Error> {
    let AskingRun { run, state, question, .. } = asking;
    let place = Place::find(journal, run, &question.step)?;
    let mut set = |name: &str, value: Value| {
        payload.insert(name.to_owned(), value);
    };
    if let Some(id) = handles.of_question(question) {
        set("execution_id", id.into());
    }
    set("question", question.id.as_str().into());
    set("step", question.step.as_str().into());
    set("title", budget::text(&question.title, budget::VALUE).into());
    set("message", budget::text(&question.message, MESSAGE).into());
    set("options", options(question));
    if let Some(follows) = &question.follows {
        set("command", budget::text(follows, 2 * budget::VALUE).into());
    }
    set("answered_by", who(question).into());
    set("relayable", relayable(question).into());
    set("advice_wanted", question.ai_assist.into());
    set("expires_at", expires(&asking.row, runtime).to_string().into());
    set("variables", variables(asking, place.as_ref()));
    set("recent_steps", steps::recent(state));
    set("known_issues", known(asking, journal, runtime)?);
    if let Some(place) = &place {
        set("defined", place.shown());
    }
    if question.purpose == Purpose::Recover {
        set("error", steps::failure(state, &question.step));
        let loaded = journal.load(run, runtime).ok();
        let args = loaded.and_then(|loaded| loaded.arguments(&question.step, runtime));
        if let Some(args) = args {
            let args = args.iter().map(|(name, value)| (name.clone(), budget::value(value)));
            set("args", Value::Object(args.collect()));
        }
    }
    let expired = runtime.now() >= expires(&asking.row, runtime);
    set("next", next(asking, expired, handles));
    budget::fit(
        payload,
        &["variables", "known_issues", "recent_steps", "args"],
        &["message", "command", "error"],
    );
    Ok(())
}

/// Whether an assistant may carry a person's word: more of it than a no.
pub(super) fn relayable(question: &Question) -> bool {
    let free = |value: &&str| question.commits(&(*value).into()) && question.is_relayable(value);
    let carries = question.kind == AskKind::Input || values(question).iter().any(free);
    carries && !question.is_guarded() && !question.secret
}

/// What can be chosen with a word alone: changes need more.
pub(super) fn values(question: &Question) -> Vec<&str> {
    let values = question.options.iter().map(|offer| offer.value.as_str());
    values.filter(|value| question.purpose != Purpose::Recover || *value != EDIT).collect()
}

/// What an assistant may relay of it.
fn relayed_values(question: &Question) -> Vec<&str> {
    let all = values(question).into_iter();
    all.filter(|value| question.is_relayable(value)).collect()
}

/// Who may answer, in words.
fn who(question: &Question) -> String {
    let mut who = match &question.by {
        By::Anyone => "anyone; you may relay a person's answer".to_owned(),
        By::Human => "a person, not through you".to_owned(),
        By::Names(names) => format!("one of {}, not through you", names.join(", ")),
    };
    if question.secret {
        "a person, not through you: it is a secret".clone_into(&mut who);
    }
    if question.approvals > 1 {
        who.push_str(&format!("; {} people have to agree", question.approvals));
    }
    if question.reauth {
        who.push_str("; with a one-time code");
    }
    if question.typed.is_some() {
        who.push_str("; by typing a text");
    }
    if !question.person_only.is_empty() {
        let only = question.person_only.join(", ");
        who.push_str(&format!("; not through you: {only}"));
    }
    budget::text(&who, budget::VALUE)
}

fn options(question: &Question) -> Value {
    let shown = question.options.iter().map(|offer| {
        let mut shown = json!({
            "value": offer.value,
            "label": budget::text(&offer.label, budget::VALUE),
            "action": offer.action,
        });
        if let Some(about) = &offer.description {
            shown["description"] = budget::text(about, budget::VALUE).into();
        }
        shown
    });
    shown.collect()
}

fn variables(asking: &AskingRun, place: Option<&Place>) -> Value {
    let mut shown = Map::new();
    for (name, value) in &asking.state.started.inputs {
        shown.insert(format!("inputs.{name}"), budget::value(value));
    }
    if let Some(item) = asking.state.started.parent.as_ref().and_then(|parent| parent.item.as_ref())
    {
        shown.insert("item".to_owned(), budget::value(&item.value));
    }
    let names = place.map(|place| match asking.question.purpose {
        Purpose::Gate | Purpose::Ask => place.names_asked(),
        Purpose::Recover => place.names_used(),
    });
    for name in names.unwrap_or_default() {
        if let Some(value) = asking.state.outputs.get(&name) {
            shown.insert(name, budget::value(value));
        }
    }
    if asks_for(asking) == Standing::ComputeError {
        let names: Vec<&String> = asking.state.outputs.keys().collect();
        shown.insert("names".to_owned(), budget::value(&json!(names)));
    }
    Value::Object(shown)
}

/// What people wrote down about it. It is data, whoever wrote it.
fn known(asking: &AskingRun, journal: &JournalReader, runtime: &Runtime) -> Result<Value, Error> {
    let AskingRun { run, state, question, .. } = asking;
    let memory = runtime.memory();
    let tool = tool(journal, run, asking)?;
    let record = state.steps.get(&question.step);
    let issues: Vec<_> = match question.purpose {
        Purpose::Recover => {
            let said = record.and_then(|record| record.process.as_ref());
            let said = said.map_or("", |process| process.stderr.as_str());
            let message = record.and_then(|record| record.message.as_deref()).unwrap_or_default();
            let error = format!("{message}\n{said}");
            let query = Query {
                tool: &tool,
                skill: Some(&run.skill),
                step: Some(&question.step),
                error: &error,
                args: None,
            };
            memory.known_issues(&query).into_iter().map(|(_, issue)| issue).collect()
        }
        Purpose::Gate | Purpose::Ask if tool.is_empty() => Vec::new(),
        Purpose::Gate | Purpose::Ask => memory.issues_before(&[&tool]),
    };
    let shown = issues.iter().take(SHOWN).map(|issue| {
        json!({
            "text": budget::text(&aye_runtime::driver::sentence(&issue.value), budget::VALUE),
            "from": format!("{} memory, written by people", issue.layer.word()),
        })
    });
    Ok(shown.collect())
}

fn tool(journal: &JournalReader, run: &RunRow, asking: &AskingRun) -> Result<String, Error> {
    let Some(source) = journal.source(&run.source)? else { return Ok(String::new()) };
    let read = SkillFile::from_text(source.file.into(), source.text);
    let tools = read.flows.iter().map(|flow| tool_of(flow, &asking.state, &asking.question.step));
    Ok(tools.into_iter().find(|tool| !tool.is_empty()).unwrap_or_default())
}

/// The calls that may follow, exactly as they are made.
fn next(asking: &AskingRun, expired: bool, handles: &Handles) -> Value {
    let question = &asking.question;
    let id = handles.of_question(question).unwrap_or_default();
    if !relayable(question) || expired {
        return json!([
            { "person": format!("aye answer {}", question.id),
              "when": "send the person there: you cannot answer this, and must not run it for them" },
            { "tool": "skill_status", "arguments": { "execution_id": id, "wait": 30 },
              "when": "after the person has answered" },
        ]);
    }
    let choice = match (question.kind, relayed_values(question).join(", ")) {
        (AskKind::Input, none) if none.is_empty() => "<the text the person gave>".to_owned(),
        (AskKind::Input, or) => format!("<the text the person gave, or: {or}>"),
        (_, values) => format!("<one of: {values}>"),
    };
    let mut calls = vec![json!({
        "tool": "skill_continue",
        "arguments": { "execution_id": id, "choice": choice, "reason": "<what the person said>" },
        "when": "after the person has decided; never decide for them",
    })];
    if question.purpose == Purpose::Recover {
        calls.push(json!({
            "tool": "skill_retry_step",
            "arguments": { "execution_id": id, "step": question.step, "args": {}, "mode": "merge" },
            "when": "to try the step again; changed arguments of a tool are used at once, any other \
                     change waits until a person has seen it",
        }));
        calls.push(json!({ "tool": "debug_tool", "arguments": { "execution_id": id },
            "when": "to see how the step is written" }));
    }
    calls.push(json!({ "person": format!("aye answer {}", question.id),
        "when": "the person can always answer themselves" }));
    Value::Array(calls)
}
