//! Our side of the conversation: what a server may ask and tell us.

// Roots and logging are deprecated in the protocol of 2026 and needed in the
// one of 2025.
#![expect(deprecated, reason = "servers of 2025 ask for roots and send log messages")]

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use aye_core::text::percent_encoded;
use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
    CustomRequest, CustomResult, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, ErrorCode, ErrorData, FormElicitationCapability, Implementation,
    ListRootsResult, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
    ProtocolVersion, Root, RootsCapabilities,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};

use super::event::ToolEvent;
use super::outbox::Outbox;

/// What all parts of one connection share.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    pub(super) server: String,
    pub(super) workspace: PathBuf,
    pub(super) outbox: Outbox,
    /// Which call a progress message is about.
    calls: Arc<Mutex<HashMap<ProgressToken, u64>>>,
    /// The list of tools has changed.
    stale: Arc<AtomicBool>,
}

impl Shared {
    pub(super) fn new(server: &str, workspace: PathBuf, outbox: Outbox) -> Self {
        Self {
            server: server.to_owned(),
            workspace,
            outbox,
            calls: Arc::default(),
            stale: Arc::default(),
        }
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, HashMap<ProgressToken, u64>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn follow(&self, token: ProgressToken, call: u64) {
        self.calls().insert(token, call);
    }

    pub(super) fn unfollow(&self, token: &ProgressToken) {
        self.calls().remove(token);
    }

    /// Whether the list has changed since the last look.
    pub(super) fn take_stale(&self) -> bool {
        self.stale.swap(false, Ordering::Relaxed)
    }

    /// What a server may know of where we are.
    pub(super) fn roots(&self) -> ListRootsResult {
        ListRootsResult::new(vec![Root::new(file_address(&self.workspace))])
    }

    pub(super) fn log(&self, line: impl Into<String>) {
        self.outbox.send(ToolEvent::Log { server: self.server.clone(), line: line.into() });
    }
}

impl ClientHandler for Shared {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = Some(RootsCapabilities::default());
        if self.outbox.may_ask() {
            let form = FormElicitationCapability::default();
            capabilities.elicitation = Some(ElicitationCapability::new().with_form(form));
        }
        let about = Implementation::new("aye", env!("CARGO_PKG_VERSION"));
        // Only the handshake of 2025 says a version here.
        ClientConfig::new(capabilities, about).with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(self.roots())
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.log("asked Aye to call a language model; Aye has none");
        let message = "Aye does not support sampling";
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let calls = self.calls().values().copied().collect();
        tokio::select! {
            answer = self.ask(calls, &params) => Ok(answer),
            () = context.ct.cancelled() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        // A question whose form is none that can be read comes here.
        if request.method == "elicitation/create" {
            let why = "what it wants to know is not a flat form".to_owned();
            self.outbox.send(ToolEvent::Declined { server: self.server.clone(), why });
            return Ok(CustomResult::new(serde_json::json!({ "action": "decline" })));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let Some(call) = self.calls().get(&params.progress_token).copied() else {
            return;
        };
        let fraction = params
            .total
            .filter(|total| *total > 0.0)
            .map(|total| (params.progress / total).clamp(0.0, 1.0))
            .filter(|fraction| fraction.is_finite());
        let text = params.message.unwrap_or_else(|| match params.total {
            Some(total) => format!("{} of {total}", params.progress),
            None => params.progress.to_string(),
        });
        self.outbox.send(ToolEvent::Progress { call, text, fraction });
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let said = params.data.as_str().map_or_else(|| params.data.to_string(), str::to_owned);
        self.log(said);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.stale.store(true, Ordering::Relaxed);
    }
}

/// A path as a `file:` address; everything but plain characters is escaped.
fn file_address(path: &std::path::Path) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    format!("file://{}", percent_encoded(path.as_os_str().as_bytes(), "/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_blanks_is_an_address() {
        let path = std::path::Path::new("/a b/ü");
        assert_eq!(file_address(path), "file:///a%20b/%C3%BC");
    }
}
