//! `skill_run`, `skill_status`, `skill_continue`, `skill_retry_step`,
//! `skill_cancel`, `skill_change`, `tool_try`, `run_list` and `inbox`.

use std::time::Duration;

use aye_core::advice::Advice;
use aye_core::id::{QuestionId, RunId};
use aye_core::input::Request;
use aye_core::machine::MOST_EDITS;
use aye_core::question::{Channel, Edits, FixScope, Purpose};
use aye_core::skill::Given;
use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, CallToolResponse};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::mcp::answer::{self, Word};
use crate::mcp::asking_run::{EDIT, relayable};
use crate::mcp::call::{Call, finish, read};
use crate::mcp::handle::Handle;
use crate::mcp::report::{self, ToolReply, refused};
use crate::mcp::server_state::ServerState;
use crate::mcp::{budget, catalog};
use aye_runtime::error::Error;
use aye_runtime::usecases::{
    ChangeRequest, Prepared, QuestionState, RunFilter, RunStanding, Sent, SkillError, Warning,
};

/// How many questions are listed.
const MOST: usize = 50;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    skill: String,
    #[serde(default)]
    inputs: Map<String, Value>,
    #[serde(default)]
    dry_run: bool,
    environment: Option<String>,
}

/// What came of a call that begins or continues with a run.
enum Begun {
    /// It only told something.
    Told(ToolReply),
    /// A run continues; a note, if something is to be said.
    Run(RunId, Option<String>),
    /// The assistant has seen this question of the run and leaves it to the person.
    Seen(RunId, QuestionId, &'static str),
}

pub(super) async fn run(
    call: &Call<'_>,
    request: CallToolRequestParams,
) -> Result<CallToolResponse, ErrorData> {
    let begun = work(call, request, |server, args: Run, _| {
        let runtime = &server.runtime;
        let mut again = json!({ "skill": args.skill, "inputs": args.inputs });
        if let Some(environment) = &args.environment {
            again["environment"] = environment.as_str().into();
        }
        let skill = runtime.check_skill(&args.skill).map_err(SkillError::with_places)?;
        let given = args.inputs.into_iter().map(|(name, value)| (name, Given::Data(value)));
        let prepared = runtime.prepare(skill, given.collect())?;
        let prepared = Prepared { environment: args.environment, ..prepared };
        if args.dry_run {
            return Ok(Begun::Told(planned(&runtime.plan(&prepared)?, &again)?));
        }
        // What was left out of the settings is said: the run itself is silent.
        let mut notes = Vec::new();
        let mut warn = |warning: Warning| notes.push(warning.message(&runtime.directory));
        let run = runtime.start_detached(prepared, &mut warn)?;
        Ok(Begun::Run(run, (!notes.is_empty()).then(|| notes.join("; "))))
    });
    go(call, begun.await?).await
}

/// Reads what was given and does it, on behalf of the caller.
async fn work<A: DeserializeOwned + Send + 'static, T: Send + 'static>(
    call: &Call<'_>,
    request: CallToolRequestParams,
    work: impl FnOnce(&ServerState, A, String) -> Result<T, Error> + Send + 'static,
) -> Result<Result<T, Error>, ErrorData> {
    let args = match read(request.arguments) {
        Ok(args) => args,
        Err(error) => return Ok(Err(error)),
    };
    let by = call.who.clone();
    call.assistant.blocking(move |server| work(server, args, by)).await
}

/// Stays with the run that was begun or continues.
async fn go(call: &Call<'_>, begun: Result<Begun, Error>) -> Result<CallToolResponse, ErrorData> {
    match begun {
        Ok(Begun::Run(run, note)) => call.follow_and_ask(run, note, None).await,
        Ok(Begun::Seen(run, question, note)) => {
            call.follow_and_ask(run, Some(note.to_owned()), Some(&question)).await
        }
        Ok(Begun::Told(told)) => Ok(finish(Ok(told))),
        Err(error) => Ok(refused(&error).into()),
    }
}

fn planned(plan: &aye_runtime::dry_run::Plan, run: &Value) -> Result<ToolReply, Error> {
    let shown =
        serde_json::to_value(plan).map_err(|source| Error::Json { what: "the plan", source })?;
    let text = crate::plan_view::plan_view(
        plan,
        crate::paint::Paint { color: false, bold: false, unicode: true },
    );
    let data = json!({
        "status": catalog::PLANNED, "skill": plan.skill, "plan": shown,
        "message": "nothing was run: this is what would happen",
        "next": [{ "tool": "skill_run", "arguments": run, "when": "if the person agrees" }],
    });
    let text = budget::quoted(&text);
    Ok(ToolReply { data, text: format!("nothing was run; this is what would happen:\n{text}") })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeSkill {
    skill: String,
    old: String,
    new: String,
    about: String,
}

/// Proposes a change of a skill's file; a person accepts it or does not.
pub(super) async fn change(
    call: &Call<'_>,
    request: CallToolRequestParams,
) -> Result<CallToolResponse, ErrorData> {
    let begun = work(call, request, |server, args: ChangeSkill, by| {
        let ChangeSkill { skill, old, new, about } = args;
        let request = ChangeRequest { skill, old, new, about, by };
        let run = server.runtime.propose_change(&request, &mut |_| {})?;
        Ok(Begun::Run(run, Some("the file changes only if the person accepts this".to_owned())))
    });
    go(call, begun.await?).await
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TryTool {
    tool: String,
    #[serde(default)]
    args: Map<String, Value>,
}

/// Calls a tool that only looks, in a run of its own.
pub(super) async fn try_tool(
    call: &Call<'_>,
    request: CallToolRequestParams,
) -> Result<CallToolResponse, ErrorData> {
    let begun = work(call, request, |server, args: TryTool, _| {
        let run = server.runtime.try_tool(&args.tool, &args.args, &mut |_| {})?;
        Ok(Begun::Run(run, None))
    });
    go(call, begun.await?).await
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Status {
    execution_id: String,
    #[serde(default)]
    wait: u64,
}

pub(super) async fn status(
    call: &Call<'_>,
    request: CallToolRequestParams,
) -> Result<CallToolResponse, ErrorData> {
    let found = work(call, request, |server, args: Status, _| {
        let handle = server.handles.open(&args.execution_id, &server.runtime.journal()?)?;
        // The question whose id this is is not news; any other one is.
        let open = handle.question.filter(|(row, _)| row.state == QuestionState::Open);
        Ok((handle.outer.id, open.map(|(row, _)| row.id.to_string()), args.wait))
    });
    let (run, known, wait) = match found.await? {
        Ok(found) => found,
        Err(error) => return Ok(refused(&error).into()),
    };
    if wait > 0 {
        let patience = Duration::from_secs(wait).min(call.patience());
        if let Err(error) = call.follow(run.clone(), patience, known).await? {
            return Ok(refused(&error).into());
        }
    }
    call.tell(run, None).await
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Continue {
    execution_id: String,
    choice: Option<String>,
    reason: Option<String>,
    advice: Option<String>,
}

pub(super) async fn go_on(
    call: &Call<'_>,
    request: CallToolRequestParams,
) -> Result<CallToolResponse, ErrorData> {
    let begun = work(call, request, |server, args: Continue, by| {
        let handle = server.handles.open(&args.execution_id, &server.runtime.journal()?)?;
        if let Some(text) = args.advice.filter(|text| !text.trim().is_empty()) {
            advise(server, &handle, Advice { by: by.clone(), option: None, text })?;
        }
        match args.choice {
            Some(choice) => relay(server, handle, choice, args.reason, None, by),
            None => {
                let question = handle.open_question()?.1;
                let note = match relayable(question) {
                    true => "it is for the person to decide: ask them, and relay what they say",
                    false => "the person has to answer this themselves, not through you",
                };
                let question = question.id.clone();
                Ok(Begun::Seen(handle.outer.id, question, note))
            }
        }
    });
    go(call, begun.await?).await
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Advise {
    execution_id: String,
    advice: String,
    suggestion: Option<String>,
}

/// Records what the assistant thinks; the run still waits for the person.
pub(super) fn record_advice(
    server: &ServerState,
    args: &Advise,
    by: &str,
) -> Result<ToolReply, Error> {
    let journal = server.runtime.journal()?;
    let handle = server.handles.open(&args.execution_id, &journal)?;
    let (option, text) = (args.suggestion.clone(), args.advice.clone());
    advise(server, &handle, Advice { by: by.to_owned(), option, text })?;
    let note = "your advice is recorded and shown beside the question; it counts for nothing";
    report::run(server, &journal, &handle.outer.id, Some(note))
}

fn advise(server: &ServerState, handle: &Handle, advice: Advice) -> Result<(), Error> {
    let (row, question) = handle.open_question()?;
    server.runtime.at(&handle.outer.workspace)?.must_be_trusted()?;
    if let Some(option) = advice.option.as_deref().filter(|value| question.offer(value).is_none()) {
        let offered: Vec<&str> = question.options.iter().map(|offer| &*offer.value).collect();
        return Err(Error::Refused {
            message: format!("`{}` is not offered", crate::paint::escape_control_line(option)),
            hint: Some(format!("suggest one of: {}", offered.join(", "))),
        });
    }
    let request = Request::Advise { question: question.id.clone(), advice };
    match server.runtime.submit(&handle.row, &request)? {
        Sent::Accepted | Sent::AcceptedUndriven => Ok(()),
        Sent::Refused(why) => Err(Error::Refused {
            message: format!("the advice on `{}` was not taken: {why}", row.id),
            hint: Some("`skill_status` shows the run".to_owned()),
        }),
    }
}

/// Hands on what a person said; the run continues with it.
fn relay(
    server: &ServerState,
    handle: Handle,
    value: String,
    reason: Option<String>,
    edits: Option<Edits>,
    by: String,
) -> Result<Begun, Error> {
    let word = Word { value, reason, edits, remember: None, by, prompter: Channel::Assistant };
    let note = answer::answer(server, &handle, word)?;
    Ok(Begun::Run(handle.outer.id, note))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Retry {
    execution_id: String,
    step: String,
    #[serde(default)]
    args: Map<String, Value>,
    #[serde(default)]
    mode: Mode,
    remember: Option<FixScope>,
    reason: Option<String>,
}

#[derive(Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Mode {
    #[default]
    Merge,
    Replace,
}

pub(super) async fn retry(
    call: &Call<'_>,
    request: CallToolRequestParams,
) -> Result<CallToolResponse, ErrorData> {
    let begun = work(call, request, |server, args: Retry, by| {
        let handle = server.handles.open(&args.execution_id, &server.runtime.journal()?)?;
        let (_, question) = handle.open_question()?;
        if question.purpose != Purpose::Recover || question.step != args.step {
            let message = format!("the run does not ask what to do about step `{}`", args.step);
            return Err(Error::Refused {
                message: crate::paint::escape_control_line(&message),
                hint: Some(format!("it is at step `{}`; see `skill_status`", question.step)),
            });
        }
        let edited = !args.args.is_empty() || args.mode == Mode::Replace;
        let state = server.runtime.journal()?.state(&handle.row.id)?;
        let changed = state.steps.get(&args.step).map_or(0, |record| record.edited);
        if edited && changed >= MOST_EDITS {
            let step = crate::paint::escape_control_line(&args.step);
            return Err(Error::Refused {
                message: format!("`{step}` was changed {changed} times: it takes no more changes"),
                hint: Some(
                    "call without `args` to try it once more as it is, propose a change of the \
                     skill with `skill_change`, or leave it to the person"
                        .to_owned(),
                ),
            });
        }
        let edits = edited.then(|| Edits {
            set: args.args,
            only: args.mode == Mode::Replace,
            // What works is proposed; a person decides whether it is used.
            remember: args.remember.or(Some(FixScope::Step)),
        });
        let value = if edited { EDIT } else { "retry" };
        relay(server, handle, value.to_owned(), args.reason, edits, by)
    });
    go(call, begun.await?).await
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cancel {
    execution_id: String,
    reason: Option<String>,
}

pub(super) async fn cancel(
    call: &Call<'_>,
    request: CallToolRequestParams,
) -> Result<CallToolResponse, ErrorData> {
    let begun = work(call, request, |server, args: Cancel, by| {
        let outer = server.handles.open(&args.execution_id, &server.runtime.journal()?)?.outer;
        if outer.status.is_ended() {
            return Ok(Begun::Run(outer.id, Some("the run had ended already".to_owned())));
        }
        match server.runtime.cancel_detached(&outer, by, args.reason)? {
            Sent::Accepted | Sent::AcceptedUndriven => Ok(Begun::Run(outer.id, None)),
            Sent::Refused(why) => Err(Error::Refused {
                message: format!("run `{}` was not cancelled: {why}", outer.id),
                hint: None,
            }),
        }
    });
    match begun.await? {
        // Its clean-up may ask; a cancelled run is told as it is.
        Ok(Begun::Run(run, note)) => {
            if let Err(error) = call.follow(run.clone(), call.patience(), None).await? {
                return Ok(refused(&error).into());
            }
            call.tell(run, note).await
        }
        other => go(call, other).await,
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunList {
    skill: Option<String>,
    status: Option<String>,
    limit: Option<usize>,
}

/// The runs of this project, the newest first.
pub(super) fn list(server: &ServerState, args: &RunList) -> Result<ToolReply, Error> {
    /// More than these are not looked at: an assistant's context is not for lists.
    const LOOKED_AT: u32 = 1000;
    let limit = args.limit.unwrap_or(20).clamp(1, MOST);
    if server.runtime.journal_if_any()?.is_none() {
        return Ok(ToolReply {
            data: json!({ "runs": [] }),
            text: "nothing was run here".to_owned(),
        });
    }
    let filter = RunFilter { skill: args.skill.clone(), limit: LOOKED_AT, ..RunFilter::default() };
    let found = match args.status.as_deref() {
        None => server.runtime.runs(&filter)?,
        Some(word) => match RunStanding::from_word(word) {
            Some(standing) => server.runtime.runs_that_stand(standing, &filter)?,
            None => return Err(no_such_status(word)),
        },
    };
    let mut runs = Vec::new();
    let mut lines = Vec::new();
    for run in found.into_iter().filter(|run| server.is_here(&run.row)) {
        let (status, row) = (run.standing().word(), run.row);
        if runs.len() == limit {
            lines.push("and more: narrow it down with skill and status".to_owned());
            break;
        }
        let message = budget::line(row.message.as_deref().unwrap_or_default(), budget::VALUE);
        let id = server.handles.of_run(&row.id);
        let part = |words: &str, value: Option<String>| {
            value.map(|value| format!(", {words}{value}")).unwrap_or_default()
        };
        let line = format!(
            "- {status}: {} ({}{}{}, started {}{}), execution_id {id}{}{message}",
            row.skill,
            row.id,
            part("environment ", row.environment.clone()),
            part("at step ", row.step.clone().filter(|step| !step.is_empty())),
            row.started,
            part("ended ", row.ended.map(|at| at.to_string())),
            if message.is_empty() { "" } else { ": " },
        );
        lines.push(crate::paint::escape_control_line(&line));
        runs.push(json!({
            "run": row.id.as_str(), "skill": row.skill, "status": status, "step": row.step,
            "started": row.started.to_string(), "ended": row.ended.map(|at| at.to_string()),
            "environment": row.environment, "message": message, "execution_id": id,
        }));
    }
    let text = if lines.is_empty() { "no run fits".to_owned() } else { lines.join("\n") };
    Ok(ToolReply { data: json!({ "runs": runs }), text })
}

fn no_such_status(word: &str) -> Error {
    let known = RunStanding::ALL.map(RunStanding::word).join(", ");
    let word = crate::paint::escape_control_line(word);
    Error::usage(format!("no run is `{word}`"), format!("`status` is one of: {known}"))
}

pub(super) fn inbox(server: &ServerState) -> Result<ToolReply, Error> {
    let Some(journal) = server.runtime.journal_if_any()? else {
        return Ok(ToolReply {
            data: json!({ "questions": [] }),
            text: "nothing waits".to_owned(),
        });
    };
    let mut found = Vec::new();
    let mut lines = Vec::new();
    let mut open = Vec::new();
    for one in journal.open_questions()? {
        if journal.run(&one.row.run)?.is_some_and(|run| server.is_here(&run)) {
            open.push((one.row, one.question));
        }
    }
    for (row, question) in open.iter().take(MOST) {
        let Some(question) = question else { continue };
        let message = budget::line(&row.message, budget::VALUE);
        let expires = crate::mcp::run_status::expires(row, &server.runtime);
        let may = relayable(question) && server.runtime.now() < expires;
        let options = crate::mcp::asking_run::values(question);
        let mut shown = json!({
            "question": row.id.as_str(), "run": row.run.as_str(), "skill": row.skill, "step": row.step,
            "message": message, "relayable": may, "asked": row.asked.to_string(),
            "expires_at": expires.to_string(),
            "options": options,
            "person": format!("aye answer {}", row.id),
        });
        if let Some(id) = server.handles.of_question(question) {
            shown["execution_id"] = id.as_str().into();
            let person = match may {
                true => String::new(),
                false => format!("; for a person: aye answer {}", row.id),
            };
            let choices = match options.is_empty() {
                true => String::new(),
                false => format!("options {}; ", options.join(", ")),
            };
            let line = format!(
                "- {} · {}: {message} ({choices}until {expires}; execution_id {id}{person})",
                row.skill, row.step
            );
            lines.push(crate::paint::escape_control_line(&line));
        }
        let state = journal.state(&row.run)?;
        let advice = crate::mcp::asking_run::told_advice(state.advice(), question);
        if !advice.is_empty() {
            lines.extend(advice.iter().map(|one| format!("  {}", report::advice_line(one))));
            shown["advice"] = advice.into();
        }
        found.push(shown);
    }
    if open.len() > MOST {
        lines.push(format!("and {} more", open.len() - MOST));
    }
    let text = if lines.is_empty() { "nothing waits".to_owned() } else { lines.join("\n") };
    Ok(ToolReply { data: json!({ "questions": found }), text })
}
