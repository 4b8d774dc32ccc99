//! One call of a tool: who makes it, and what it does while it waits.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use aye_core::digest::digest;
use aye_core::id::{QuestionId, RunId};
use rmcp::model::{CallToolRequestParams, CallToolResponse, ProgressNotificationParam};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::sync::mpsc::unbounded_channel;

use aye_runtime::error::Error;

use super::follow::{FollowOutcome, Following, Progress, follow};
use super::forms::Asked;
use super::report::{self, ToolReply, refused};
use super::server_state::ServerState;
use super::service::Assistant;

/// A call with everything around it.
pub(super) struct Call<'a> {
    pub(super) assistant: &'a Assistant,
    pub(super) cx: RequestContext<RoleServer>,
    /// Who calls: the client, and the user it works for.
    pub(super) who: String,
    pub(super) stop: Arc<AtomicBool>,
    /// The last event of the journal that was told, or was there before.
    pub(super) after: Arc<AtomicU64>,
    /// Digest of the tool and its arguments.
    pub(super) bound: String,
    /// When it came.
    pub(super) since: Instant,
}

/// A call that was answered late still hears whether its run ends at once.
const LEAST: Duration = Duration::from_secs(2);
/// A form that is there for less time than this is not worth showing.
const GLANCE: Duration = Duration::from_secs(5);

impl Call<'_> {
    /// How long a call waits for a run.
    pub(super) fn patience(&self) -> Duration {
        self.assistant.server().runtime.settings.mcp.patience
    }

    /// How long a form may be waited for, if one is worth showing. Clients give
    /// a call up after a minute or so, and a call that was abandoned would stop
    /// the run: the whole must not take longer.
    pub(super) fn time_for_a_form(&self) -> Option<Duration> {
        let settings = &self.assistant.server().runtime.settings.mcp;
        let whole = settings.patience.max(settings.form_timeout);
        let left = whole.saturating_sub(self.since.elapsed());
        (left >= GLANCE.min(settings.form_timeout)).then(|| left.min(settings.form_timeout))
    }

    /// Follows a run until it asks, ends or rests, and tells where it stands.
    /// Where the client can show a form, the person is asked directly; what the
    /// assistant is to see first, once it has `seen` it.
    pub(super) async fn follow_and_ask(
        &self,
        run: RunId,
        mut note: Option<String>,
        seen: Option<&QuestionId>,
    ) -> Result<CallToolResponse, ErrorData> {
        loop {
            let patience = self
                .patience()
                .saturating_sub(self.since.elapsed())
                .max(LEAST.min(self.patience()));
            let outcome = match self.follow(run.clone(), patience, None).await? {
                Ok(outcome) => outcome,
                Err(error) => return Ok(refused(&error).into()),
            };
            if outcome == FollowOutcome::Stopped {
                self.stop_run(run.clone()).await?;
            }
            if outcome == FollowOutcome::Rests {
                match self.ask_person(&run, seen).await? {
                    Asked::Answered(said) => {
                        note = said;
                        continue;
                    }
                    Asked::Form(form) => return Ok(form.into()),
                    Asked::Not(said) => note = said.or(note),
                }
            }
            if outcome == FollowOutcome::GoesOn && self.understands_tasks() {
                return self.as_task(run).await;
            }
            return self.tell(run, note).await;
        }
    }

    /// Where a run stands now.
    pub(super) async fn tell(
        &self,
        run: RunId,
        note: Option<String>,
    ) -> Result<CallToolResponse, ErrorData> {
        let told = self.assistant.blocking(move |server| {
            report::run(server, &server.runtime.journal()?, &run, note.as_deref())
        });
        Ok(finish(told.await?))
    }

    /// Waits for a run, and tells the client how far it is meanwhile.
    pub(super) async fn follow(
        &self,
        run: RunId,
        patience: Duration,
        known: Option<String>,
    ) -> Result<Result<FollowOutcome, Error>, ErrorData> {
        let (news, mut heard) = unbounded_channel();
        let stop = Arc::clone(&self.stop);
        let after = Arc::clone(&self.after);
        let following = Following { run, patience, known, stop, after, news };
        let waiting = self.assistant.blocking(move |server| follow(server, &following));
        tokio::pin!(waiting);
        let mut count = 0;
        loop {
            tokio::select! {
                outcome = &mut waiting => {
                    // What happened last is told before how it ended.
                    while let Ok(news) = heard.try_recv() {
                        count += 1;
                        self.progress(count, news).await;
                    }
                    return outcome;
                }
                Some(news) = heard.recv() => {
                    count += 1;
                    self.progress(count, news).await;
                }
            }
        }
    }

    async fn progress(&self, count: u32, news: Progress) {
        let Some(token) = self.cx.meta.get_progress_token() else { return };
        // It has to grow each time, also while the run is at the same step.
        let at = f64::from(news.step) + f64::from(count) / 1000.0;
        let total = f64::from(news.steps.max(news.step)) + 1.0;
        let param = ProgressNotificationParam::new(token, at.min(total))
            .with_total(total)
            .with_message(crate::paint::escape_control_line(&news.words));
        // A client that does not listen any more has the journal.
        let _ = self.cx.peer.notify_progress(param).await;
    }

    /// The client took its request back: the run is stopped in order.
    async fn stop_run(&self, run: RunId) -> Result<(), ErrorData> {
        let by = self.who.clone();
        let stopped = self.assistant.blocking(move |server| {
            let Some(row) = server.runtime.journal()?.run(&run)? else { return Ok(()) };
            let reason = Some("the request was cancelled".to_owned());
            server.runtime.cancel_detached(&row, by, reason).map(drop)
        });
        // Nobody waits for the answer any more.
        let _ = stopped.await?;
        Ok(())
    }
}

/// A result, or an error the model can do something about.
pub(super) fn finish(told: Result<ToolReply, Error>) -> CallToolResponse {
    match told {
        Ok(told) => CallToolResponse::Complete(told.into()),
        Err(error) => CallToolResponse::Complete(refused(&error)),
    }
}

/// The arguments of a call.
pub(super) fn read<T: DeserializeOwned>(arguments: Option<Map<String, Value>>) -> Result<T, Error> {
    serde_json::from_value(Value::Object(arguments.unwrap_or_default())).map_err(|error| {
        Error::usage(format!("the arguments do not fit: {error}"), "see the tool's input schema")
    })
}

/// The digest of a call: the tool and its arguments, whatever their order.
pub(super) fn digest_of(request: &CallToolRequestParams) -> String {
    let arguments = request.arguments.clone().map(Value::Object).unwrap_or_default();
    let arguments = sorted(arguments).to_string();
    digest(&[request.name.as_bytes(), arguments.as_bytes()])
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let map: BTreeMap<String, Value> =
                map.into_iter().map(|(name, value)| (name, sorted(value))).collect();
            Value::Object(map.into_iter().collect())
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        other => other,
    }
}

/// The client's name and the user it works for, e.g. `claude-code for ada`.
pub(super) fn who(cx: &RequestContext<RoleServer>, server: &ServerState) -> String {
    const LONGEST: usize = 60;
    let name = cx.client_info().map(|info| info.name).unwrap_or_default();
    let name: String =
        crate::paint::escape_control_line(name.trim()).chars().take(LONGEST).collect();
    let name = if name.is_empty() { "an assistant" } else { &name };
    format!("{name} for {}", server.runtime.driver().user)
}
