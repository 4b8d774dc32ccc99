//! `aye show`.

use aye_core::diagnostic::did_you_mean;
use aye_core::event::{Event, EventKind};
use aye_core::id::{QuestionId, RunId};
use aye_core::journal::{Phase, StepStatus};
use clap::Args;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::cli::Context;
use crate::paint::escape_control_line;
use crate::report::{
    Now, RunContext, decisions, markdown, ran_for, standing, step_markdown, step_report,
    stopped_inside,
};
use aye_runtime::clock::ms_between;
use aye_runtime::error::Error;
use aye_runtime::usecases::{
    MessageRow, MessageState, RunDetails, RunHistory, RunStanding, process_of,
};

use super::notify::{message_json, message_line};
use super::output::{print, print_json, print_words};

// Options of `aye show`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  aye show last\n  aye show k3f9 deploy\n  \
    aye show k3f9 --json\n  aye show last --markdown > report.md")]
pub struct ShowArgs {
    /// A run's id, the beginning of one, or last
    #[arg(default_value = "last")]
    pub run: String,
    /// Only this step, in full: every visit and attempt, what was asked, what it wrote
    pub step: Option<String>,
    /// As Markdown, for a ticket or a chat
    #[arg(long)]
    pub markdown: bool,
}

pub(super) fn run(args: &ShowArgs, context: &Context) -> Result<u8, Error> {
    let RunDetails { history, outer, driven, waiting } = context.journal()?.details(&args.run)?;
    let lost = if driven { Vec::new() } else { context.lost_secrets(&outer) };
    let inside = stopped_inside(&history);
    let user = context.driver().user;
    let run_context =
        RunContext { outer: &outer, driven, waiting, inside, lost: &lost, user: &user };
    let process = |run: &RunId, execution| process_of(run, execution);
    let now = Now { time: context.now(), driven, process: &process };
    if let Some(step) = &args.step {
        if let Some((inside, step)) = history.find(step) {
            return show_step(inside, step, args.markdown, now, context);
        }
        let inside = history.find_inside(step).ok_or_else(|| no_such_step(&history, step))?;
        let run_inside = inside.state.run.to_string();
        let args = ShowArgs { run: run_inside, step: None, markdown: args.markdown };
        return run(&args, context);
    }
    let messages = context.messages(&history.state.run)?;
    if context.json {
        let mut value = as_json(&history, driven.then(|| context.now()));
        value["driven"] = driven.into();
        value["status"] = json!(RunStanding::of_state(&history.state, driven, waiting));
        let messages: Vec<Value> = messages.iter().map(message_json).collect();
        if !messages.is_empty() {
            value["messages"] = messages.into();
        }
        print_json(&value)?;
    } else if args.markdown {
        print(&markdown(&history, driven.then(|| context.now())))?;
    } else {
        let text = crate::report::run_report(&history, now, context.paint_out);
        print_words(&(text + &standing(&history.state, run_context, context.paint_out)))?;
        for row in messages.iter().filter(|row| is_news(row)) {
            print(&message_line(row, context.paint_out, context.now()))?;
        }
    }
    Ok(0)
}

/// What was told, and what could not be; not what is due later or was not needed.
fn is_news(row: &MessageRow) -> bool {
    match row.state {
        MessageState::Sent | MessageState::Retracted | MessageState::Failed => true,
        MessageState::Waiting => row.attempts > 0,
        MessageState::Withdrawn => false,
    }
}

/// One step in full.
fn show_step(
    history: &RunHistory,
    step: &str,
    as_markdown: bool,
    now: Now<'_>,
    context: &Context,
) -> Result<u8, Error> {
    if as_markdown && !context.json {
        print(&step_markdown(history, step))?;
        return Ok(0);
    }
    if !context.json {
        print_words(&step_report(history, step, now, context.paint_out))?;
        return Ok(0);
    }
    let record = history.state.steps.get(step);
    let mut value = json!(record.map_or(Value::Null, |record| json!(record)));
    if value.is_null() {
        value = json!({ "status": "not_reached" });
    }
    value["run"] = json!(history.state.run);
    value["step"] = json!(step);
    if let Some(record) = record.filter(|record| record.status == StepStatus::Running) {
        value["pid"] = json!((now.process)(&history.state.run, record.execution));
        if let (true, Some(started)) = (now.driven && !record.queued, record.started) {
            value["elapsed_ms"] = json!(ms_between(started, now.time));
        }
        if let Phase::Running { deadline: Some(deadline), .. } = &history.state.phase {
            value["deadline"] = json!(deadline);
            value["remaining_ms"] = json!(ms_between(now.time, *deadline));
        }
    }
    // What became of a question names the question alone.
    let mut asked: Vec<&QuestionId> = Vec::new();
    let mut events: Vec<&Event> = Vec::new();
    for event in &history.events {
        let own = match &event.kind {
            EventKind::ConfirmationRequired(question) if question.step == step => {
                asked.push(&question.id);
                true
            }
            EventKind::ConfirmationAnswered(answered) => asked.contains(&&answered.question),
            EventKind::ConfirmationExpired { question, .. } => asked.contains(&question),
            kind => kind.step() == Some(step),
        };
        events.extend(own.then_some(event));
    }
    value["events"] = json!(events);
    let until = now.driven.then_some(now.time);
    let told = |inside| as_json(inside, until);
    let inside = record.map(|record| history.inside_of(step, record).map(told).collect());
    let inside: Vec<Value> = inside.unwrap_or_default();
    if !inside.is_empty() {
        value["runs"] = Value::Array(inside);
    }
    print_json(&value)?;
    Ok(0)
}

fn no_such_step(history: &RunHistory, step: &str) -> Error {
    let known = history.state.steps.keys().map(String::as_str).chain(history.unreached());
    let hint = match did_you_mean(step, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("`aye show {}` lists its steps", history.state.run),
    };
    let step = escape_control_line(step);
    Error::not_found(format!("run `{}` has no step `{step}`", history.state.run), hint)
}

fn as_json(history: &RunHistory, now: Option<Timestamp>) -> Value {
    let RunHistory { state, events, inside } = history;
    let inside: Vec<Value> = inside.iter().map(|inside| as_json(inside, now)).collect();
    let unreached = history.unreached();
    let mut value = json!({
        "run": state.run,
        "skill": state.started.skill,
        "file": state.started.file,
        "status": RunStanding::of_events(state),
        "final_state": state.final_state,
        "message": state.end_message,
        "inputs": state.started.inputs,
        "environment": state.started.environment,
        "workspace": state.started.workspace,
        "driver": state.started.driver,
        "started_by": state.started.started_by,
        "started": state.started_at,
        "updated": state.updated_at,
        "duration_ms": u64::try_from(ran_for(history, now).as_millis()).unwrap_or(u64::MAX),
        "steps": &*state.steps,
        "not_reached": unreached,
        "outputs": state.results,
        "decisions": decisions(history),
        "events": events,
    });
    if let Some(claim) = &state.claim {
        let waits = claim.waiting.as_ref();
        value["concurrency"] = json!({
            "name": claim.name,
            "held": claim.held,
            "waits_for": waits.map(|waiting| &waiting.holder),
            "since": waits.map(|waiting| waiting.since),
        });
    }
    if let Some(item) = state.started.parent.as_ref().and_then(|parent| parent.item.as_ref()) {
        value["item"] = json!(item);
    }
    if let (Some(map), false) = (value.as_object_mut(), inside.is_empty()) {
        map.insert("runs".to_owned(), Value::Array(inside));
    }
    value
}
