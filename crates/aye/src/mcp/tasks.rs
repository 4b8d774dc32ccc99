//! Tasks, for clients that declare them: a call whose run outlasts its patience
//! becomes one.
//!
//! A task is the run itself under its execution id, so it is as durable as the
//! run: no server has to remember it. It ends when the run does, and also when
//! the run asks something that no form may answer: then the result is the
//! question, and the assistant takes it from there.

use std::collections::BTreeMap;
use std::time::Duration;

use aye_core::id::RunId;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CallToolResult, CreateTaskResult, DetailedTask, ElicitRequest, ElicitResult,
    GetTaskResult, InputRequest, Task, TaskPayload, TaskStatus, UpdateTaskParams,
};
use serde_json::Value;

use aye_runtime::error::Error;
use aye_runtime::usecases::Overview;

use super::call::Call;
use super::forms::{Asked, Form, Returned, read};
use super::report;
use super::run_status::{Standing, standing};
use super::server_state::ServerState;

/// How often a client should ask.
const POLL: Duration = Duration::from_secs(2);
/// A form of a task is there for as long as the client likes: a decline counts
/// as one that nobody saw, and the question stays open.
const UNSEEN: Duration = Duration::ZERO;

impl Call<'_> {
    pub(super) fn understands_tasks(&self) -> bool {
        self.cx.client_capabilities().is_some_and(|can| can.supports_tasks())
    }

    /// A run that continues, as a task.
    pub(super) async fn as_task(&self, run: RunId) -> Result<CallToolResponse, ErrorData> {
        let made = self.assistant.blocking(move |server| {
            let look = server.runtime.journal()?.overview(&run)?;
            Ok(head(server, &look))
        });
        match made.await? {
            Ok(task) => Ok(CreateTaskResult::new(task).into()),
            Err(error) => Ok(report::refused(&error).into()),
        }
    }

    /// Where a task stands.
    pub(super) async fn task(&self, id: String) -> Result<GetTaskResult, ErrorData> {
        let run = self.run_of(id).await?;
        let form = self.form_of(&run, None).await?;
        let server = self.assistant.server();
        let keyed = |form: Form| Some((server.handles.task_form(&form.question)?, form.params));
        let form = form.and_then(keyed).filter(|(key, _)| !server.is_noted(key));
        let told = self.assistant.blocking(move |server| {
            let journal = server.runtime.journal()?;
            let look = journal.overview(&run)?;
            let payload = match (standing(&look), form) {
                (Standing::Running | Standing::Queued, _) => TaskPayload::Working,
                (Standing::Cancelled, _) => TaskPayload::Cancelled,
                (_, Some((key, params))) => {
                    let request = InputRequest::Elicitation(ElicitRequest::new(params));
                    let input_requests = BTreeMap::from([(key, request)]);
                    TaskPayload::InputRequired { input_requests }
                }
                _ => {
                    let result = CallToolResult::from(report::run(server, &journal, &run, None)?);
                    let result = serde_json::to_value(result);
                    match result.map_err(|source| Error::Json { what: "the result", source })? {
                        Value::Object(result) => TaskPayload::Completed { result },
                        _ => TaskPayload::Working,
                    }
                }
            };
            Ok(DetailedTask::new(head(server, &look), payload))
        });
        Ok(GetTaskResult::new(told.await?.map_err(|error| unable(&error))?))
    }

    /// Forms of a task that were filled in, or not.
    pub(super) async fn update_task(&self, request: UpdateTaskParams) -> Result<(), ErrorData> {
        let run = self.run_of(request.task_id).await?;
        for (key, response) in request.input_responses {
            let form = key.clone();
            let returned = self.returned(move |server, journal| {
                Ok((server.handles.open_task_form(&form, journal)?, UNSEEN))
            });
            let Returned { run: outer, question, waited } =
                returned.await?.map_err(|error| unable(&error))?;
            if outer != run {
                return Err(ErrorData::invalid_params("this is a form of another task", None));
            }
            if self.assistant.server().is_noted(&key) {
                return Err(ErrorData::invalid_params("this form was given back already", None));
            }
            let result: ElicitResult = serde_json::from_value(response)
                .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
            match self.take(read(&result, waited), &question).await? {
                Asked::Answered(_) => {}
                // It is not shown again here; the assistant is told instead.
                Asked::Not(_) | Asked::Form(_) => {
                    self.assistant.server().is_new(key);
                }
            }
        }
        Ok(())
    }

    /// Stops the run of a task.
    pub(super) async fn cancel_task(&self, id: String) -> Result<(), ErrorData> {
        let run = self.run_of(id).await?;
        let by = self.who.clone();
        let stopped = self.assistant.blocking(move |server| {
            let row = server.runtime.journal()?.run(&run)?.filter(|row| !row.status.is_ended());
            let Some(row) = row else { return Ok(()) };
            let reason = Some("the task was cancelled".to_owned());
            server.runtime.cancel_detached(&row, by, reason).map(drop)
        });
        stopped.await?.map_err(|error| unable(&error))
    }

    async fn run_of(&self, id: String) -> Result<RunId, ErrorData> {
        let found = self.assistant.blocking(move |server| {
            Ok(server.handles.open(&id, &server.runtime.journal()?)?.outer.id)
        });
        found.await?.map_err(|error| unable(&error))
    }
}

fn head(server: &ServerState, look: &Overview) -> Task {
    let row = &look.row;
    let id = server.handles.of_run(&row.id);
    let (began, updated) = (row.started.to_string(), row.updated.to_string());
    let step = row.step.as_deref().unwrap_or("its first step");
    let poll = u64::try_from(POLL.as_millis()).unwrap_or(u64::MAX);
    Task::new(id, TaskStatus::Working, began, updated)
        .with_status_message(crate::paint::escape_control_line(&format!(
            "{} is at {step}",
            row.skill
        )))
        .with_poll_interval_ms(poll)
}

fn unable(error: &Error) -> ErrorData {
    ErrorData::invalid_params(error.to_string(), None)
}
