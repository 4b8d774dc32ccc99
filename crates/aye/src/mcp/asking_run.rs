//! A run that asks, as an assistant is told of it: the question, what belongs
//! to it, and the calls that may follow.

use aye_core::advice::Advice;
use aye_core::facts::Fact;
use aye_core::question::{Purpose, Question};
use aye_core::skill::{AskKind, By};
use serde_json::{Map, Value, json};

use aye_runtime::error::Error;
use aye_runtime::question_context::{QuestionContext, RecentStep};
use aye_runtime::runtime::Runtime;
use aye_runtime::usecases::{AskingRun, JournalReader};

use super::budget;
use super::done::for_people;
use super::forms::assistant_first;
use super::handle::Handles;
use super::run_status::expires;

/// The answer that changes what a failed step is given.
pub(super) const EDIT: &str = "edit";
/// What says that the message was cut.
const REST: &str = "message_cut";
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
    let question = &asking.question;
    let facts = journal.question_facts(asking, runtime)?;
    let context = &facts.context;
    let mut set = |name: &str, value: Value| {
        payload.insert(name.to_owned(), value);
    };
    if let Some(id) = handles.of_question(question) {
        set("execution_id", id.into());
    }
    set("question", question.id.as_str().into());
    set("step", context.step.as_str().into());
    if let Some(title) = &context.title {
        set("title", budget::text(title, budget::VALUE).into());
    }
    let whole = without_error(asking).unwrap_or_else(|| context.message.clone());
    set("message", budget::text(&whole, MESSAGE).into());
    if whole.chars().count() > MESSAGE / 2 {
        set(REST, rest_of(&whole, question).into());
    }
    set("options", options(context, question));
    // Of a step that failed, its arguments say the same.
    let told = question.purpose == Purpose::Recover && facts.args.is_some();
    if let Some(follows) = context.follows.as_ref().filter(|_| !told) {
        set("command", budget::text(follows, 2 * budget::VALUE).into());
    }
    for (name, lines) in covers(context) {
        if !lines.is_empty() {
            set(name, lines.into());
        }
    }
    let expired = runtime.now() >= expires(&asking.row, runtime);
    set("answered_by", who(question, expired).into());
    if question.remember {
        set("remember", remember(question));
    }
    // In the words of the skill's file.
    if question.approvals > 1 {
        set("approvals", question.approvals.into());
    }
    if question.reauth {
        set("reauth", true.into());
    }
    if question.typed.is_some() {
        set("type_to_confirm", true.into());
    }
    set("relayable", (relayable(question) && !expired).into());
    set("advice_wanted", assistant_first(question).into());
    let advice = told_advice(asking.state.advice(), question);
    if !advice.is_empty() {
        set("advice", advice.into());
    }
    let shown = journal.shown(&question.id, runtime.now())?;
    if !shown.is_empty() {
        let places = shown.iter().map(|one| format!("{} of {}", one.kind.word(), one.client));
        let places = places.collect::<Vec<_>>().join(", ");
        set("shown_at", budget::line(&places, budget::VALUE).into());
    }
    set("expires_at", expires(&asking.row, runtime).to_string().into());
    if let Some(words) = on_expiry(question) {
        set("on_expiry", words.into());
    }
    set("variables", variables(context).into());
    set("recent_steps", steps_before(context).into());
    let known = facts.known_issues.into_iter().map(|issue| {
        json!({ "text": issue.text, "from": format!("{} memory, written by people", issue.layer) })
    });
    set("known_issues", known.collect());
    if !facts.unused_fixes.is_empty() {
        set("unused_fixes", facts.unused_fixes.into());
    }
    if let Some(place) = &facts.place {
        let (line, end_line) = place.lines;
        set("defined", json!({ "file": place.file, "line": line, "end_line": end_line }));
    }
    if let Some(failure) = &context.failure {
        set("error", failure.in_words(for_people).into());
    }
    if let Some(args) = facts.args {
        set("args", args.into());
    }
    if let Some(tool) = facts.tool {
        set("tool", budget::masked(&tool.to_json()));
    }
    if let Some(left) = facts.edits_left {
        set("edits_left", left.into());
    }
    set("next", next(asking, expired, facts.edits_left, handles));
    Ok(())
}

/// Leaves out what matters least until both the data and the text that is made of
/// it fit; returns the text.
pub(super) fn fit(
    payload: &mut Map<String, Value>,
    in_words: impl Fn(&Map<String, Value>) -> String,
) -> String {
    const LEAST: [&str; 16] = [
        "tool",
        "variables",
        "known_issues",
        "unused_fixes",
        "recent_steps",
        "memory",
        "decisions",
        "proposals",
        "args",
        "advice",
        "remember",
        "covers",
        "not_covered",
        "changed",
        "next",
        "options",
    ];
    const TEXTS: [&str; 10] = [
        "message",
        "command",
        "error",
        "note",
        "title",
        "shown_at",
        "on_expiry",
        "answered_by",
        "environment",
        "step",
    ];
    let rest = payload.get(REST).cloned();
    let mut room = budget::WHOLE;
    loop {
        if let Some(rest) = &rest {
            payload.insert(REST.to_owned(), rest.clone());
        }
        budget::fit(payload, room, &LEAST, &TEXTS);
        // What was not cut needs no word about it.
        let message = payload.get("message").and_then(Value::as_str);
        if !message.is_some_and(|message| message.ends_with('…')) {
            payload.shift_remove(REST);
        }
        let text = in_words(payload);
        let over = text.len().saturating_sub(budget::WHOLE);
        // The text says less than the data where it is this short.
        if over == 0 || room < budget::WHOLE / 4 {
            return budget::bytes(&text, budget::WHOLE);
        }
        room = room.saturating_sub(over.max(64));
    }
}

/// Where the rest of a message that was cut can be read.
fn rest_of(whole: &str, question: &Question) -> String {
    let step = budget::line(&question.step, budget::VALUE);
    format!(
        "cut: {} characters in all; skill_logs with step `{step}` has more of it, and the person \
         sees all of it wherever the question is shown",
        whole.chars().count()
    )
}

/// The message of a question about a failure without the error and without what the step
/// wrote, which are told beside it.
fn without_error(asking: &AskingRun) -> Option<String> {
    let question = &asking.question;
    let record = asking.state.steps.get(&question.step);
    let record = record.filter(|_| question.purpose == Purpose::Recover)?;
    let message = match record.message.as_deref().filter(|error| !error.is_empty()) {
        Some(error) => question.message.replacen(error, "see `error`", 1),
        None => question.message.clone(),
    };
    let written = record.process.as_ref().map_or("", |process| process.said());
    let mut parts = message.split("\n\n");
    let first = parts.next().into_iter();
    let own = first.chain(parts.filter(|part| !written.contains(part))).collect::<Vec<_>>();
    Some(budget::redactor().whole(&own.join("\n\n")))
}

/// The last steps; of the one that is asked about only what is told nowhere else.
fn steps_before(context: &QuestionContext) -> Vec<Value> {
    let failed = |step: &&RecentStep| {
        context.purpose == Purpose::Recover && step.step == context.step && !step.is_around
    };
    let steps = context.steps.iter().map(|step| match failed(&step) {
        true => told_step(&RecentStep { message: None, ..step.clone() }),
        false => told_step(step),
    });
    steps.collect()
}

/// What became of a step.
pub(super) fn told_step(step: &RecentStep) -> Value {
    let mut told = json!({ "step": step.step, "status": step.status });
    if step.is_around {
        told["in"] = "the run around".into();
    }
    if step.queued {
        told["status"] = step.standing().into();
    }
    if let Some(message) = &step.message {
        told["message"] = budget::text(message, budget::VALUE).into();
    }
    if let Some(result) = &step.result {
        told["result"] = result.clone();
    }
    told
}

/// What the question or the step speaks of, by name.
fn variables(context: &QuestionContext) -> Map<String, Value> {
    let inputs = context.inputs.iter().map(|(name, value)| (format!("inputs.{name}"), value));
    let item = context.item.iter().map(|item| ("item".to_owned(), item));
    let others = context.results.iter().chain(&context.outside);
    let others = others.map(|(name, value)| (name.clone(), value));
    let mut told = Map::new();
    for (name, value) in inputs.chain(item).chain(others) {
        told.entry(name).or_insert_with(|| value.clone());
    }
    if !context.names.is_empty() {
        told.insert("names".to_owned(), budget::value(&json!(context.names)));
    }
    told
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

/// What a yes covers, what of it has changed since someone agreed, and what it
/// does not cover.
fn covers(context: &QuestionContext) -> [(&'static str, Vec<String>); 3] {
    const MOST: usize = 20;
    let told = |lines: &[String]| {
        lines.iter().take(MOST).map(|line| budget::text(line, budget::VALUE)).collect()
    };
    [
        ("changed", told(&context.changed)),
        ("covers", told(&context.covers)),
        ("not_covered", told(&context.not_covered)),
    ]
}

/// What a yes covers; what it starts is told by itself.
pub(super) fn covered(question: &Question) -> impl Iterator<Item = String> {
    question.deciding().map(Fact::line)
}

/// How far the person may have the answer remembered; an assistant cannot.
fn remember(question: &Question) -> Value {
    let scopes = question.remember_scopes().iter();
    let covers: Map<String, Value> = scopes
        .map(|scope| (scope.word().to_owned(), question.remember_covers(*scope).into()))
        .collect();
    let person = format!("aye answer {} VALUE --remember SCOPE", question.id);
    json!({ "scopes": covers, "person": person, "when": "if the person wants it given again" })
}

/// What becomes of the question if nobody answers in time.
fn on_expiry(question: &Question) -> Option<String> {
    question.deadline?;
    Some(match &question.default {
        Some(value) if question.default_proceeds() => {
            format!("`{value}` is taken if someone could see the question, else it stays open")
        }
        Some(value) => format!("`{value}` is taken"),
        None => "that counts as no".to_owned(),
    })
}

/// Advice as it is told to others.
pub(super) fn told_advice(advice: &[Advice], question: &Question) -> Vec<Value> {
    let told = |advice: &Advice| {
        let mut told = json!({
            "by": budget::line(&advice.by, budget::VALUE),
            "text": budget::text(&advice.text, 2 * budget::VALUE),
        });
        if let Some(option) = advice.label(question) {
            told["suggests"] = budget::line(option, budget::VALUE).into();
        }
        told
    };
    advice.iter().map(told).collect()
}

/// Who may answer, in words.
fn who(question: &Question, expired: bool) -> String {
    let mut who = match &question.by {
        By::Anyone if expired && relayable(question) => {
            "a person, not through you: the time of this id is up".to_owned()
        }
        By::Anyone if !relayable(question) => "a person, not through you".to_owned(),
        By::Anyone => "anyone; you may relay a person's answer".to_owned(),
        By::Human => "a person, not through you".to_owned(),
        By::Names(names) => format!("one of {}, not through you", names.join(", ")),
    };
    if question.secret {
        "a person, not through you: it is a secret".clone_into(&mut who);
    }
    if question.approvals > 1 {
        who.push_str(&format!("; {} people have to agree (approvals)", question.approvals));
    }
    if question.not_starter {
        who.push_str("; not the person who started the run (not_starter)");
    }
    if question.reauth {
        who.push_str("; with a one-time code (reauth)");
    }
    if question.typed.is_some() {
        who.push_str("; by typing a text (type_to_confirm)");
    }
    if !question.person_only.is_empty() && relayable(question) && !expired {
        let only = question.person_only.join(", ");
        who.push_str(&format!("; not through you: {only}"));
    }
    budget::text(&who, budget::VALUE)
}

fn options(context: &QuestionContext, question: &Question) -> Value {
    // A change is made with another call.
    let offered = values(question);
    let text = |text: &String| Value::from(budget::text(text, budget::VALUE));
    let shown = context.options.iter().filter_map(|option| {
        let value = option.value.as_deref().filter(|value| offered.contains(value))?;
        let label = text(&option.label);
        let mut shown = json!({ "value": value, "label": label, "action": option.action });
        if let Some(about) = &option.description {
            shown["description"] = text(about);
        }
        if let Some(lead) = &option.leads_to {
            shown["leads_to"] = text(lead);
        }
        Some(shown)
    });
    shown.collect()
}

/// As many options get a call of their own; of more, the value is named.
const CALLS: usize = 5;

/// The calls that may follow, each as it can be made.
fn next(asking: &AskingRun, expired: bool, edits_left: Option<u32>, handles: &Handles) -> Value {
    let question = &asking.question;
    let id = handles.of_question(question).unwrap_or_default();
    let call = |tool: &str, more: Value, when: &str| {
        let mut arguments = json!({ "execution_id": id });
        if let (Some(all), Value::Object(more)) = (arguments.as_object_mut(), more) {
            all.extend(more);
        }
        json!({ "tool": tool, "arguments": arguments, "when": when })
    };
    let person =
        |when: &str| json!({ "person": format!("aye answer {}", question.id), "when": when });
    let debug = call("debug_tool", json!({}), "to see how the step is written");
    let recover = question.purpose == Purpose::Recover;
    let advised = !asking.state.advice().is_empty();
    let mut calls = Vec::new();
    if !relayable(question) || expired {
        calls.push(person(match assistant_first(question) && !expired && !advised {
            true => "send the person there, your view first (skill_advise): do not answer for them",
            false => "send the person there: do not answer for them",
        }));
        calls.push(call("skill_status", json!({ "wait": 30 }), "until the person has answered"));
        calls.extend(recover.then_some(debug));
        return Value::Array(calls);
    }
    if assistant_first(question) {
        let when = match advised {
            true => "the person is asked, with the advice beside the question",
            false => "once you have looked: the person is asked; add `advice`",
        };
        calls.push(call("skill_continue", json!({}), when));
    }
    let mut values = relayed_values(question);
    // That is what `skill_retry_step` does.
    values.retain(|value| !recover || *value != "retry");
    if question.kind == AskKind::Input {
        let when = "add `choice`: the text that the person gave";
        calls.push(call("skill_continue", json!({}), when));
    } else if values.len() > CALLS {
        let when = "add `choice`: the value of the option that the person chose";
        calls.push(call("skill_continue", json!({}), when));
    }
    if values.len() <= CALLS {
        let chosen = |value: &&str| {
            call("skill_continue", json!({ "choice": value }), "if the person chose that")
        };
        calls.extend(values.iter().map(chosen));
    }
    if recover {
        let when = match edits_left {
            Some(0) => "if the person wants it tried again; it takes no more changes",
            _ => {
                "if the person wants it tried again; add `args` to change what it is given: a \
                 tool's are used at once, other changes wait until a person has seen them"
            }
        };
        calls.push(call("skill_retry_step", json!({ "step": question.step }), when));
        calls.push(debug);
    }
    calls.push(person("the person can always answer there"));
    Value::Array(calls)
}
