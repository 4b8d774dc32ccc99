//! What a client says of itself.

use aye_runtime::assistant_clients::Client;
use jiff::Timestamp;
use rmcp::RoleServer;
use rmcp::service::RequestContext;

use crate::paint::escape_control_line;

/// What a request tells of its client.
pub(super) fn of(cx: &RequestContext<RoleServer>, now: Timestamp) -> Option<Client> {
    let short = |text: &str| escape_control_line(text).chars().take(80).collect::<String>();
    let info = cx.client_info()?;
    let can = cx.client_capabilities().unwrap_or_default();
    let forms = can.elicitation.clone();
    Some(Client {
        name: short(&info.name),
        version: short(&info.version),
        protocol: cx.protocol_version().map(|version| short(version.as_str())).unwrap_or_default(),
        forms: forms.as_ref().is_some_and(|can| can.form.is_some() || can.url.is_none()),
        pages: forms.is_some_and(|can| can.url.is_some()),
        tasks: can.supports_tasks(),
        seen: now,
    })
}
