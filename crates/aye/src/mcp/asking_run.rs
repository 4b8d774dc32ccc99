//! A run that asks, as an assistant is told of it: the question, what belongs
//! to it, and the calls that may follow.

use aye_core::advice::Advice;
use aye_core::journal::Phase;
use aye_core::question::{Purpose, Question};
use aye_core::skill::{AskKind, By};
use serde_json::{Map, Value, json};

use aye_runtime::error::Error;
use aye_runtime::runtime::Runtime;
use aye_runtime::usecases::{AskingRun, JournalReader};

use super::budget;
use super::forms::assistant_first;
use super::handle::Handles;
use super::run_status::expires;

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
    let question = &asking.question;
    let facts = journal.question_facts(asking, runtime)?;
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
    for (name, lines) in covers(question) {
        if !lines.is_empty() {
            set(name, lines.into());
        }
    }
    set("answered_by", who(question).into());
    let expired = runtime.now() >= expires(&asking.row, runtime);
    set("relayable", (relayable(question) && !expired).into());
    set("advice_wanted", assistant_first(question).into());
    if let Phase::Asking { advice, .. } = &asking.state.phase
        && !advice.is_empty()
    {
        set("advice", advice.iter().map(|advice| told_advice(advice, question)).collect());
    }
    set("expires_at", expires(&asking.row, runtime).to_string().into());
    if let Some(words) = on_expiry(question) {
        set("on_expiry", words.into());
    }
    set("variables", facts.variables.into());
    set("recent_steps", facts.recent_steps.into());
    let known = facts.known_issues.into_iter().map(|issue| {
        json!({ "text": issue.text, "from": format!("{} memory, written by people", issue.layer) })
    });
    set("known_issues", known.collect());
    if let Some(place) = &facts.place {
        let (line, end_line) = place.lines;
        set("defined", json!({ "file": place.file, "line": line, "end_line": end_line }));
    }
    if let Some(failure) = facts.failure {
        set("error", failure.into());
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
    set("next", next(asking, expired, handles));
    budget::fit(
        payload,
        &["tool", "variables", "known_issues", "recent_steps", "args", "advice"],
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

/// What a yes covers, what of it has changed since somebody agreed, and what it
/// does not cover.
fn covers(question: &Question) -> [(&'static str, Vec<String>); 3] {
    const MOST: usize = 20;
    let told = |line: String| budget::text(&line, budget::VALUE);
    let facts = question.facts.iter().flatten().map(|fact| told(fact.line()));
    let changed = question.changed.iter().map(|change| told(change.line()));
    let not = question.not_covered.iter().cloned().map(told);
    [
        ("changed", changed.take(MOST).collect()),
        ("covers", facts.take(MOST).collect()),
        ("not_covered", not.take(MOST).collect()),
    ]
}

/// What becomes of the question if nobody answers in time.
fn on_expiry(question: &Question) -> Option<String> {
    question.deadline?;
    Some(match &question.default {
        Some(value) if question.default_proceeds() => {
            format!("`{value}` is taken if somebody could see the question, else it stays open")
        }
        Some(value) => format!("`{value}` is taken"),
        None => "that counts as no".to_owned(),
    })
}

/// Advice as it is told to others.
fn told_advice(advice: &Advice, question: &Question) -> Value {
    let mut told = json!({
        "by": budget::line(&advice.by, budget::VALUE),
        "text": budget::text(&advice.text, 2 * budget::VALUE),
    });
    if let Some(option) = advice.label(question) {
        told["suggests"] = budget::line(option, budget::VALUE).into();
    }
    told
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
    // A change is made with another call.
    let offered = values(question);
    let offers = question.options.iter().filter(|offer| offered.contains(&&*offer.value));
    let shown = offers.map(|offer| {
        let mut shown = json!({
            "value": offer.value,
            "label": budget::text(&offer.label, budget::VALUE),
            "action": offer.action,
        });
        if let Some(about) = &offer.description {
            shown["description"] = budget::text(about, budget::VALUE).into();
        }
        if let Some(lead) = question.lead(&offer.value) {
            shown["leads_to"] = budget::text(&lead.to_string(), budget::VALUE).into();
        }
        shown
    });
    shown.collect()
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
    let mut calls = Vec::new();
    if assistant_first(question) {
        calls.push(json!({
            "tool": "skill_continue",
            "arguments": { "execution_id": id, "advice": "<what you think, for the person>" },
            "when": "now that you have looked: the person is asked, with your advice beside it",
        }));
    }
    calls.push(json!({
        "tool": "skill_continue",
        "arguments": { "execution_id": id, "choice": choice, "reason": "<what the person said>" },
        "when": "after the person has decided; never decide for them",
    }));
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
