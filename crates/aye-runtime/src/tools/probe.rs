//! Which era of the protocol a program speaks.
//!
//! rmcp can find out by itself, but gives up on a server that takes longer
//! than ten seconds to start and then trips over its late answer. `npx` and
//! `uvx` take longer than that whenever they download. Here the question has
//! more time, and an answer that comes too late is dropped.

use std::borrow::Cow;
use std::time::Duration;

use rmcp::ClientHandler as _;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, DiscoverRequest, NumberOrString, ProtocolVersion,
    RequestMetaObject, ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::{ClientLifecycleMode, RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

use super::handler::Shared;

/// The number of our question; rmcp counts from 0.
const QUESTION: NumberOrString = NumberOrString::Number(1_000_000_000);

/// A transport that drops the answer to our question if it comes late.
pub(super) struct Probed<T>(T);

impl<T: Transport<RoleClient>> Probed<T> {
    /// Finds out what the other side speaks; `None` if it has gone.
    pub(super) async fn ask(
        mut transport: T,
        shared: &Shared,
        limit: Duration,
    ) -> Option<(Self, ClientLifecycleMode)> {
        let about = shared.get_info();
        let mut request = DiscoverRequest::default();
        request.extensions.insert(RequestMetaObject::with_client_context(
            ProtocolVersion::V_2026_07_28,
            about.client_info,
            about.capabilities,
        ));
        let request = ClientRequest::DiscoverRequest(request);
        transport.send(ClientJsonRpcMessage::request(request, QUESTION)).await.ok()?;
        let answer = async {
            loop {
                let message = transport.receive().await?;
                if is_answer(&message) {
                    return Some(speaks_of_2026(&message));
                }
            }
        };
        let modern = match tokio::time::timeout(limit, answer).await {
            Ok(Some(modern)) => modern,
            Ok(None) => return None,
            // It may be one that does not answer what it does not know.
            Err(_) => false,
        };
        let mode = match modern {
            true => ClientLifecycleMode::Discover {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            },
            false => ClientLifecycleMode::Initialize,
        };
        Some((Self(transport), mode))
    }

    /// Asks nothing: it speaks of 2025.
    pub(super) fn legacy(transport: T) -> (Self, ClientLifecycleMode) {
        (Self(transport), ClientLifecycleMode::Initialize)
    }
}

fn is_answer(message: &ServerJsonRpcMessage) -> bool {
    match message {
        ServerJsonRpcMessage::Response(response) => response.id == QUESTION,
        // Some cannot say what they could not read.
        ServerJsonRpcMessage::Error(error) => error.id.as_ref().is_none_or(|id| *id == QUESTION),
        ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => false,
    }
}

fn speaks_of_2026(message: &ServerJsonRpcMessage) -> bool {
    matches!(message, ServerJsonRpcMessage::Response(response)
        if matches!(&response.result, ServerResult::DiscoverResult(found)
            if found.supported_versions.contains(&ProtocolVersion::V_2026_07_28)))
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Probed<T> {
    type Error = T::Error;

    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.0.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = self.0.receive().await?;
            let late = match &message {
                ServerJsonRpcMessage::Response(response) => response.id == QUESTION,
                ServerJsonRpcMessage::Error(error) => error.id.as_ref() == Some(&QUESTION),
                ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => false,
            };
            if !late {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.0.close().await
    }
}
