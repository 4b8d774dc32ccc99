//! The protocol's requests, and which part of the server answers each.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aye_core::id::RunId;
use aye_core::input::Request;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelledNotificationParam, Implementation,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, RequestId,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::sync::mpsc::unbounded_channel;

use crate::cli::assist;
use crate::error::Error;

use super::asking::Asked;
use super::catalog;
use super::follow::{Came, Following, follow};
use super::report::{self, Told, refused};
use super::tools;
use super::world::World;

/// One connection.
#[derive(Clone)]
pub(super) struct Assistant {
    world: Arc<World>,
    /// The calls under way that can be cancelled.
    calls: Arc<Mutex<HashMap<RequestId, Arc<AtomicBool>>>>,
}

/// A call with everything around it.
pub(super) struct Call<'a> {
    pub(super) assistant: &'a Assistant,
    pub(super) cx: RequestContext<RoleServer>,
    /// Who calls: the client, and the user it works for.
    pub(super) who: String,
    pub(super) stop: Arc<AtomicBool>,
    /// The last event of the journal that was told, or was there before.
    pub(super) after: Arc<AtomicU64>,
}

impl Assistant {
    pub(super) fn new(world: Arc<World>) -> Self {
        Self { world, calls: Arc::default() }
    }

    pub(super) fn world(&self) -> Arc<World> {
        Arc::clone(&self.world)
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, Arc<AtomicBool>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something that blocks, on a thread where it may.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&World) -> Result<T, Error> + Send + 'static,
    ) -> Result<Result<T, Error>, ErrorData> {
        let world = self.world();
        tokio::task::spawn_blocking(move || work(&world))
            .await
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }
}

impl ServerHandler for Assistant {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let mut about = Implementation::new("aye", env!("CARGO_PKG_VERSION"));
        about.title = Some("Aye: runbooks that ask first".to_owned());
        ServerConfig::new(capabilities)
            .with_server_info(about)
            .with_instructions(catalog::INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _cx: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(catalog::tools()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        catalog::find(name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let stop = Arc::new(AtomicBool::new(false));
        let id = cx.id.clone();
        self.calls().insert(id.clone(), Arc::clone(&stop));
        let who = who(&cx, &self.world);
        let position = self.blocking(World::position).await?.unwrap_or_default();
        let after = Arc::new(AtomicU64::new(position));
        let call = Call { assistant: self, cx, who, stop, after };
        let answered = tools::call(call, request).await;
        self.calls().remove(&id);
        answered
    }

    async fn on_cancelled(
        &self,
        notification: CancelledNotificationParam,
        _cx: NotificationContext<RoleServer>,
    ) {
        let call = notification.request_id.and_then(|id| self.calls().get(&id).cloned());
        if let Some(stop) = call {
            stop.store(true, Ordering::Relaxed);
        }
    }
}

impl Call<'_> {
    /// How long a call waits for a run.
    pub(super) fn patience(&self) -> Duration {
        self.assistant.world.context.settings.mcp.patience
    }

    /// Follows a run until it asks, ends or rests, and tells where it stands.
    /// Where the client can show a form, the person is asked directly.
    pub(super) async fn attend(
        &self,
        run: RunId,
        mut note: Option<String>,
    ) -> Result<CallToolResponse, ErrorData> {
        loop {
            let came = match self.follow(run.clone(), self.patience(), None).await? {
                Ok(came) => came,
                Err(error) => return Ok(refused(&error).into()),
            };
            if came == Came::Stopped {
                self.stop_run(run.clone()).await?;
            }
            if came == Came::Rests {
                match self.ask_person(&run).await? {
                    Asked::Answered(said) => {
                        note = said;
                        continue;
                    }
                    Asked::Form(form) => return Ok(form.into()),
                    Asked::Not(said) => note = said.or(note),
                }
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
        let told = self
            .assistant
            .blocking(move |world| report::run(world, &world.journal()?, &run, note.as_deref()));
        Ok(finish(told.await?))
    }

    /// Waits for a run, and tells the client how far it is meanwhile.
    pub(super) async fn follow(
        &self,
        run: RunId,
        patience: Duration,
        known: Option<String>,
    ) -> Result<Result<Came, Error>, ErrorData> {
        let (news, mut heard) = unbounded_channel();
        let stop = Arc::clone(&self.stop);
        let after = Arc::clone(&self.after);
        let following = Following { run, patience, known, stop, after, news };
        let waiting = self.assistant.blocking(move |world| follow(world, &following));
        tokio::pin!(waiting);
        let mut count = 0.0;
        loop {
            tokio::select! {
                came = &mut waiting => return came,
                Some(words) = heard.recv() => {
                    count += 1.0;
                    self.progress(count, words).await;
                }
            }
        }
    }

    async fn progress(&self, count: f64, words: String) {
        let Some(token) = self.cx.meta.get_progress_token() else { return };
        let param = ProgressNotificationParam::new(token, count).with_message(words);
        // A client that does not listen any more has the journal.
        let _ = self.cx.peer.notify_progress(param).await;
    }

    /// The client took its request back: the run is stopped in order.
    async fn stop_run(&self, run: RunId) -> Result<(), ErrorData> {
        let by = self.who.clone();
        let stopped = self.assistant.blocking(move |world| {
            let request =
                Request::Cancel { by, reason: Some("the request was cancelled".to_owned()) };
            let row = world.journal()?.run(&run)?;
            match row {
                Some(row) => assist::cancel(&row, &request, &world.context).map(drop),
                None => Ok(()),
            }
        });
        // Nobody waits for the answer any more.
        let _ = stopped.await?;
        Ok(())
    }
}

/// A result, or an error the model can do something about.
pub(super) fn finish(told: Result<Told, Error>) -> CallToolResponse {
    match told {
        Ok(told) => CallToolResponse::Complete(told.into()),
        Err(error) => CallToolResponse::Complete(refused(&error)),
    }
}

/// The arguments of a call.
pub(super) fn read<T: DeserializeOwned>(arguments: Option<Map<String, Value>>) -> Result<T, Error> {
    serde_json::from_value(Value::Object(arguments.unwrap_or_default())).map_err(|error| {
        Error::usage(
            format!("the arguments do not fit: {error}"),
            "the tool's input schema tells what it takes",
        )
    })
}

/// The client's name and the user it works for, e.g. `claude-code for ada`.
fn who(cx: &RequestContext<RoleServer>, world: &World) -> String {
    const LONGEST: usize = 60;
    let name = cx.client_info().map(|info| info.name).unwrap_or_default();
    let name: String = crate::paint::inert_line(name.trim()).chars().take(LONGEST).collect();
    let name = if name.is_empty() { "an assistant" } else { &name };
    format!("{name} for {}", world.context.driver().user)
}
