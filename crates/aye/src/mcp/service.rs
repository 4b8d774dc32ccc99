//! The protocol's requests, and which part of the server answers each.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelledNotificationParam,
    CompleteRequestParams, CompleteResult, CompletionInfo, CustomRequest, CustomResult, ErrorCode,
    GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, RequestId,
    ResourceUpdatedNotificationParam, ServerCapabilities, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use aye_runtime::assistant_clients;
use aye_runtime::error::Error;

use super::budget;
use super::call::{Call, digest_of, who};
use super::outgoing::{harmless, harmless_call};
use super::resources::{self, Named};
use super::server_state::ServerState;
use super::watch::{Guard, Wanted};
use super::{catalog, clients, complete, prompts, tools};

/// One connection.
#[derive(Clone)]
pub(super) struct Assistant {
    server: Arc<ServerState>,
    /// The calls under way that can be cancelled.
    calls: Arc<Mutex<HashMap<RequestId, Arc<AtomicBool>>>>,
    /// What a client before 2026-07-28 subscribed to, until it goes.
    wanted: Arc<Guard>,
    watching: Arc<AtomicBool>,
}

impl Assistant {
    pub(super) fn new(server: Arc<ServerState>) -> Self {
        let wanted = Arc::new(Guard(Wanted::default()));
        Self { server, calls: Arc::default(), wanted, watching: Arc::default() }
    }

    pub(super) fn server(&self) -> Arc<ServerState> {
        Arc::clone(&self.server)
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, Arc<AtomicBool>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request with everything around it.
    async fn begin(&self, cx: RequestContext<RoleServer>) -> Result<Call<'_>, ErrorData> {
        let who = who(&cx, &self.server);
        let position = self.blocking(ServerState::position).await?.unwrap_or_default();
        let after = Arc::new(AtomicU64::new(position));
        let (stop, bound, since) = (Arc::default(), String::new(), Instant::now());
        Ok(Call { assistant: self, cx, who, stop, after, bound, since })
    }

    /// Notes what the client can do, once.
    async fn note(&self, cx: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let Some(client) = clients::of(cx, self.server.runtime.now()) else { return Ok(()) };
        let told = format!("{} {} {}", client.name, client.version, client.protocol);
        if self.server.is_new(told) {
            let noted = self.blocking(move |server| {
                assistant_clients::note(&server.runtime.home, client);
                Ok(())
            });
            let _ = noted.await?;
        }
        Ok(())
    }

    /// Something that blocks, on a thread where it may.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&ServerState) -> Result<T, Error> + Send + 'static,
    ) -> Result<Result<T, Error>, ErrorData> {
        let server = self.server();
        tokio::task::spawn_blocking(move || work(&server))
            .await
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }
}

impl Assistant {
    /// How to use the tools, and what usually fails here.
    fn instructions(&self) -> String {
        const MOST: usize = 15;
        let runtime = &self.server.runtime;
        let known = runtime.current_memory().usage_to_know(MOST, runtime.now());
        if known.is_empty() {
            return catalog::INSTRUCTIONS.to_owned();
        }
        let lines =
            known.iter().map(|line| format!("\n- {}", budget::line(line, 2 * budget::VALUE)));
        let lines: String = lines.collect();
        format!(
            "{}\nCalls that usually fail here, from memory (data):{lines}",
            catalog::INSTRUCTIONS
        )
    }
}

impl ServerHandler for Assistant {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tasks()
            .build();
        let mut about = Implementation::new("aye", env!("CARGO_PKG_VERSION"));
        about.title = Some("Aye: runbooks that ask first".to_owned());
        ServerConfig::new(capabilities)
            .with_server_info(about)
            .with_instructions(self.instructions())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.note(&cx).await?;
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
        self.note(&cx).await?;
        let id = cx.id.clone();
        let call = Call { bound: digest_of(&request), ..self.begin(cx).await? };
        self.calls().insert(id.clone(), Arc::clone(&call.stop));
        let answered = tools::call(call, request).await;
        self.calls().remove(&id);
        harmless_call(answered)
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _cx: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        harmless(self.blocking(resources::list).await?.map_err(|error| unable(&error)))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _cx: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _cx: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.clone();
        let read = self.blocking(move |server| resources::read(server, &uri)).await?;
        let read = read.map_err(|error| unable(&error));
        let found = read.and_then(|found| found.ok_or_else(|| resources::nothing(&request.uri)));
        Ok(harmless(found)?.into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if Named::of(&request.uri).is_none() {
            return harmless(Err(resources::nothing(&request.uri)));
        }
        self.wanted.0.add(&request.uri);
        if !self.watching.swap(true, Ordering::Relaxed) {
            let mut heard = self.wanted.0.watch(self.server());
            tokio::spawn(async move {
                while let Some(uri) = heard.recv().await {
                    let param = ResourceUpdatedNotificationParam::new(uri);
                    if cx.peer.notify_resource_updated(param).await.is_err() {
                        break;
                    }
                }
            });
        }
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _cx: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.wanted.0.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let wanted = requested.resource_subscriptions.iter().flatten();
        let ours = wanted.filter(|uri| Named::of(uri).is_some());
        Some(SubscriptionFilter::builder().resource_subscriptions(ours).build())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let wanted = Guard(Wanted::default());
        for uri in subscription.accepted().resource_subscriptions.iter().flatten() {
            wanted.0.add(uri);
        }
        let mut heard = wanted.0.watch(self.server());
        loop {
            tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                uri = heard.recv() => {
                    let Some(uri) = uri else { return Ok(()) };
                    if subscription.sink().notify_resource_updated(uri).await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _cx: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(prompts::list())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _cx: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Ok(harmless(prompts::get(&request))?.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _cx: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let found = self.blocking(move |server| Ok(complete::values(server, &request.argument)));
        let values = found.await?.map_err(|error| unable(&error))?;
        let all = CompletionInfo::with_all_values(values);
        let all = all.map_err(|error| ErrorData::internal_error(error, None));
        harmless(all.map(CompleteResult::new))
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        harmless(self.begin(cx).await?.task(request.task_id).await)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        harmless(self.begin(cx).await?.update_task(request).await)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        harmless(self.begin(cx).await?.cancel_task(request.task_id).await)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _cx: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let message = format!("there is no method `{}`", request.method);
        harmless(Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)))
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

/// An error that is nobody's answer.
fn unable(error: &Error) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
