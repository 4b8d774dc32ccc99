//! One connection to a server: hands shaken, tools listed, calls made.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, InputRequest, InputRequests,
    InputResponses, PaginatedRequestParams, ProtocolVersion, ServerResult, Tool,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, Peer, PeerRequestOptions,
    RequestHandle, RoleClient, RunningService, ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use super::error::ToolError;
use super::event::ListedTool;
use super::handler::Shared;
use super::http::Http;
use super::probe::Probed;
use super::program::{LAST_WORDS, PipeTransport, Program};
use super::result::ToolResult;

/// More pages than any honest list has.
const PAGES: usize = 100;
/// How often a server may ask before it answers one call.
const ROUNDS: usize = 10;

/// One connection.
pub(super) struct Link {
    peer: Peer<RoleClient>,
    running: Mutex<Option<RunningService<RoleClient, Shared>>>,
    program: Option<Program>,
    tools: Mutex<Option<Arc<Vec<ListedTool>>>>,
    shared: Shared,
}

impl Link {
    /// Shakes hands with a program, which may be slow to start.
    pub(super) async fn with_program(
        transport: PipeTransport,
        program: Program,
        shared: Shared,
        legacy: bool,
        probe: Duration,
    ) -> Result<Self, ToolError> {
        let ended = async {
            program.end().await;
            tokio::time::sleep(LAST_WORDS).await;
        };
        let served = async {
            let (transport, mode) = match legacy {
                true => Probed::legacy(transport),
                false => Probed::ask(transport, &shared, probe).await.ok_or(None)?,
            };
            shared.clone().serve_with_lifecycle(transport, mode).await.map_err(Some)
        };
        let served = tokio::select! {
            served = served => served,
            () = ended => Err(None),
        };
        if served.is_err() {
            program.settle().await;
        }
        Self::connected(served, Some(program), shared, legacy)
    }

    /// Shakes hands with an address.
    pub(super) async fn with_address(
        transport: StreamableHttpClientTransport<Http>,
        shared: Shared,
        legacy: bool,
    ) -> Result<Self, ToolError> {
        let mode = match legacy {
            true => ClientLifecycleMode::Initialize,
            false => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: Some(ProtocolVersion::V_2025_11_25),
            },
        };
        let served = shared.clone().serve_with_lifecycle(transport, mode).await.map_err(Some);
        Self::connected(served, None, shared, legacy)
    }

    fn connected(
        served: Result<RunningService<RoleClient, Shared>, Option<ClientInitializeError>>,
        program: Option<Program>,
        shared: Shared,
        legacy: bool,
    ) -> Result<Self, ToolError> {
        match served {
            Ok(running) => {
                if let Some(program) = &program {
                    program.has_answered();
                }
                let peer = running.peer().clone();
                let running = Mutex::new(Some(running));
                Ok(Self { peer, running, program, tools: Mutex::default(), shared })
            }
            Err(error) => {
                Err(not_connected(&shared.server, error.as_ref(), program.as_ref(), legacy))
            }
        }
    }

    /// The version of the protocol that both speak.
    pub(super) fn protocol(&self) -> String {
        let info = self.peer.peer_info();
        info.map_or_else(String::new, |info| info.protocol_version.to_string())
    }

    /// Whether nothing can be sent any more.
    pub(super) fn is_dead(&self) -> bool {
        self.peer.is_transport_closed() || self.program.as_ref().is_some_and(Program::has_ended)
    }

    /// How it ended.
    pub(super) fn why(&self) -> String {
        match &self.program {
            Some(program) => program.why(),
            None => "the connection was closed".to_owned(),
        }
    }

    /// What the server wrote last.
    pub(super) fn last_words(&self) -> Option<String> {
        self.program.as_ref().and_then(Program::last_words)
    }

    /// Ends the connection and, if there is one, the program.
    pub(super) async fn close(&self) {
        if let Some(mut running) = self.running.lock().await.take() {
            let _ = running.close_with_timeout(Duration::from_secs(1)).await;
        }
        if let Some(program) = &self.program {
            program.stop().await;
        }
    }

    /// What the server offers; asked for once, and again after it said that it changed.
    pub(super) async fn tools(&self) -> Result<Arc<Vec<ListedTool>>, ToolError> {
        let mut known = self.tools.lock().await;
        if self.shared.take_stale() {
            *known = None;
        }
        if let Some(tools) = &*known {
            return Ok(Arc::clone(tools));
        }
        let mut all = Vec::new();
        let mut cursor = None;
        for _ in 0..PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let listed = self.peer.list_tools(Some(params));
            let page = match self.while_alive(listed).await? {
                Ok(page) => page,
                Err(error) => {
                    let what = format!("`{}` does not list its tools", self.shared.server);
                    return Err(self.broken(&error, &what).await);
                }
            };
            all.extend(page.tools.into_iter().map(listed_tool));
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        let all = Arc::new(all);
        *known = Some(Arc::clone(&all));
        Ok(all)
    }

    /// One call. Dropping it tells the server that nobody waits any more.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        call: u64,
    ) -> Result<ToolResult, ToolError> {
        let full = format!("{}.{tool}", self.shared.server);
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        for _ in 0..ROUNDS {
            match self.call_once(&full, params.clone(), call).await? {
                ServerResult::CallToolResult(result) => {
                    return ToolResult::from_server(&full, result);
                }
                ServerResult::InputRequiredResult(wanted) => {
                    params.input_responses =
                        Some(self.inform(&full, wanted.input_requests, call).await?);
                    params.request_state = wanted.request_state;
                }
                _ => {
                    let message = format!("`{full}` gave an answer that is not a result");
                    return Err(ToolError::server(message));
                }
            }
        }
        Err(ToolError::failed(format!("`{full}` asked {ROUNDS} times and gave no result")))
    }

    /// What a server of 2026 wants to know before it answers.
    async fn inform(
        &self,
        full: &str,
        wanted: Option<InputRequests>,
        call: u64,
    ) -> Result<InputResponses, ToolError> {
        let mut responses = InputResponses::new();
        for (key, request) in wanted.unwrap_or_default() {
            let response = match request {
                InputRequest::Elicitation(request) => {
                    let asked = self.shared.ask(vec![call], &request.params);
                    serde_json::to_value(self.while_alive(asked).await?)
                }
                InputRequest::ListRoots(_) => serde_json::to_value(self.shared.roots()),
                _ => {
                    let message = format!("`{full}` asks Aye to call a language model (sampling)");
                    return Err(ToolError::failed(message).hint("Aye has no language model"));
                }
            };
            let unsent = |error| ToolError::server(format!("`{full}` cannot be answered: {error}"));
            responses.insert(key, response.map_err(unsent)?);
        }
        Ok(responses)
    }

    async fn call_once(
        &self,
        full: &str,
        params: CallToolRequestParams,
        call: u64,
    ) -> Result<ServerResult, ToolError> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let sent = self.peer.send_request_with_option(request, PeerRequestOptions::no_options());
        let handle = match sent.await {
            Ok(handle) => handle,
            Err(error) => {
                return Err(self.broken(&error, &format!("`{full}` cannot be called")).await);
            }
        };
        self.shared.follow(handle.progress_token.clone(), call);
        let mut flight = Flight { handle: Some(handle), shared: &self.shared };
        let answered = self.while_alive(flight.response()).await?;
        flight.land();
        match answered {
            Ok(answer) => Ok(answer),
            Err(error) => Err(self.broken(&error, &format!("`{full}` failed")).await),
        }
    }

    /// Waits for an answer, but not for one from the dead.
    async fn while_alive<T>(&self, answer: impl Future<Output = T>) -> Result<T, ToolError> {
        let Some(program) = &self.program else {
            return Ok(answer.await);
        };
        let ended = async {
            program.end().await;
            tokio::time::sleep(LAST_WORDS).await;
        };
        tokio::select! {
            biased;
            answer = answer => Ok(answer),
            () = ended => Err(self.died().await),
        }
    }

    async fn died(&self) -> ToolError {
        if let Some(program) = &self.program {
            program.settle().await;
        }
        let message =
            format!("the server `{}` ended during the call: {}", self.shared.server, self.why());
        let error = ToolError::server(message);
        match self.last_words() {
            Some(words) => error.hint(words),
            None => error,
        }
    }

    async fn broken(&self, error: &ServiceError, what: &str) -> ToolError {
        match error {
            ServiceError::McpError(error) => {
                ToolError::failed(format!("{what}: {}", error.message))
            }
            ServiceError::TransportClosed => self.died().await,
            ServiceError::TransportSend(_) if self.program.is_some() => self.died().await,
            other => ToolError::server(format!("{what}: {other}")),
        }
    }
}

/// A request that was sent and not answered yet.
struct Flight<'l> {
    handle: Option<RequestHandle<RoleClient>>,
    shared: &'l Shared,
}

impl Flight<'_> {
    async fn response(&mut self) -> Result<ServerResult, ServiceError> {
        match &mut self.handle {
            Some(handle) => (&mut handle.rx).await.unwrap_or(Err(ServiceError::TransportClosed)),
            None => Err(ServiceError::TransportClosed),
        }
    }

    fn land(&mut self) {
        if let Some(handle) = self.handle.take() {
            self.shared.unfollow(&handle.progress_token);
        }
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        let Some(handle) = self.handle.take() else {
            return;
        };
        self.shared.unfollow(&handle.progress_token);
        tokio::spawn(handle.cancel(Some("nobody waits for it any more".to_owned())));
    }
}

fn listed_tool(tool: Tool) -> ListedTool {
    let hints = tool.annotations.unwrap_or_default();
    let read_only = hints.read_only_hint == Some(true);
    ListedTool {
        name: tool.name.into_owned(),
        description: tool.description.map(std::borrow::Cow::into_owned),
        schema: tool.input_schema,
        output: tool.output_schema,
        read_only,
        destructive: !read_only && hints.destructive_hint != Some(false),
    }
}

fn not_connected(
    server: &str,
    error: Option<&ClientInitializeError>,
    program: Option<&Program>,
    legacy: bool,
) -> ToolError {
    if error.is_some_and(ClientInitializeError::is_authorization_required) {
        return ToolError::server(format!("the server `{server}` requires a token")).hint(format!(
            "`token_env = \"NAME\"` in `[tools.{server}]` sends the token of a variable"
        ));
    }
    let closed = matches!(error, None | Some(ClientInitializeError::ConnectionClosed(_)));
    let why = match (program, error) {
        (Some(program), _) if closed || program.has_ended() => program.why(),
        (_, Some(error)) => in_short(error),
        (_, None) => "it ended".to_owned(),
    };
    let strange = program.and_then(Program::strange_line);
    let hint = match (program.and_then(Program::last_words), strange) {
        (Some(words), _) => words,
        (None, Some(line)) => {
            format!("it wrote to its standard output what is not a message: {line}")
        }
        (None, None) if program.is_none() => {
            format!("is it running, and is the `url` in `[tools.{server}]` right?")
        }
        (None, None) if legacy => "does it speak MCP?".to_owned(),
        (None, None) => format!(
            "does it speak MCP? An older server may need `legacy = true` in `[tools.{server}]`"
        ),
    };
    ToolError::server(format!("the server `{server}` does not answer: {why}")).hint(hint)
}

/// The handshake's error without the debug print of whole messages.
fn in_short(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_) => {
            "its answer to the handshake is not valid".to_owned()
        }
        ClientInitializeError::JsonRpcError(error) => error.message.to_string(),
        ClientInitializeError::TransportError { error, .. } => {
            let text = error.error.to_string();
            text.strip_prefix("Client error: ").map_or(text.clone(), str::to_owned)
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => in_short(fallback),
        other => other.to_string(),
    }
}
