//! Signing a browser in and out, and who someone is.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use aye_runtime::people::{Device, Owner};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::serve::guard::cookie_name;
use crate::serve::identity::{Access, Identity};
use crate::serve::problem::{Code, Problem};
use crate::serve::server::Server;

use super::extract::{Body, Path};
use super::reply::{Done, Json, Reply};

/// A link that is redeemed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SignInBody {
    /// What follows `#signin=` in the link.
    link: String,
}

/// Who someone is.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WhoView {
    /// The name that answers carry.
    name: String,
    /// What they may do.
    rights: Vec<String>,
    /// The projects they are limited to; none means all.
    projects: Vec<String>,
    /// `local` or `token`: what their answers prove.
    proof: String,
    /// The id of the device, for a browser that is signed in.
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<String>,
    /// The half of the session that belongs to the origin: told once, when a
    /// link is redeemed.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

impl WhoView {
    fn of(identity: &Identity) -> Self {
        Self {
            name: identity.name.clone(),
            rights: identity.rights().iter().map(|right| right.word().to_owned()).collect(),
            projects: identity.projects().iter().map(|root| root.display().to_string()).collect(),
            proof: identity.proof().word().to_owned(),
            device: match &identity.access {
                Access::Session { device } => Some(device.clone()),
                Access::ServerToken | Access::Token(_) | Access::Account => None,
            },
            secret: None,
        }
    }
}

/// A browser that is signed in now: who it is, and its cookie.
pub(super) struct SignedIn {
    view: WhoView,
    cookie: String,
}

impl IntoResponse for SignedIn {
    fn into_response(self) -> Response {
        let mut response = Json(self.view).into_response();
        if let Ok(cookie) = HeaderValue::from_str(&self.cookie) {
            response.headers_mut().insert(header::SET_COOKIE, cookie);
        }
        response
    }
}

/// `POST /api/v1/session`: redeems a link, once.
pub(super) async fn sign_in(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
    Body(body): Body<SignInBody>,
) -> Result<SignedIn, Problem> {
    let label = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    let label = label.unwrap_or_default().to_owned();
    if !server.rates.lets_sign_in(std::time::Instant::now()) {
        return Err(Problem::new(Code::RateLimited, "too many requests without a valid link"));
    }
    let name = cookie_name(&server);
    let secure = if server.place.scheme == "https" { "; Secure" } else { "" };
    let (view, cookie) = server
        .blocking(move |server| {
            let signed = server.people_file().redeem(&body.link, &label, server.runtime.now())?;
            let people = server.people()?;
            let identity = server
                .of_owner(&people, &signed.owner, &signed.device)
                .ok_or_else(|| Problem::new(Code::DeadLink, "the person was removed"))?;
            let view = WhoView { secret: Some(signed.session.secret), ..WhoView::of(&identity) };
            Ok((view, signed.session.cookie))
        })
        .await?;
    let cookie = format!("{name}={cookie}; Path=/; HttpOnly; SameSite=Strict{secure}");
    Ok(SignedIn { view, cookie })
}

/// `GET /api/v1/session`: who someone is.
pub(super) async fn who(Extension(identity): Extension<Identity>) -> Json<WhoView> {
    Json(WhoView::of(&identity))
}

/// `DELETE /api/v1/session`: signs out this device.
pub(super) async fn sign_out(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
) -> Result<Done, Problem> {
    let Access::Session { device } = identity.access else {
        return Err(Problem::new(Code::Invalid, "only a device that is signed in has a session"));
    };
    server.blocking(move |server| Ok(server.people_file().sign_out(&device)?)).await?;
    Ok(Done)
}

/// A device: a browser that is signed in.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DeviceView {
    /// Its id.
    device: String,
    /// What it says it is.
    label: String,
    /// Since when.
    since: Timestamp,
}

/// Devices that are signed in.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DevicesView {
    devices: Vec<DeviceView>,
}

impl DeviceView {
    pub(super) fn of(device: &Device) -> Self {
        let Device { id, label, since, .. } = device;
        Self { device: id.clone(), label: label.clone(), since: *since }
    }
}

/// `GET /api/v1/devices`: one's own.
pub(super) async fn devices(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
) -> Reply<DevicesView> {
    let owner = identity.owner();
    let own = server.blocking(move |server| own_devices(server, &owner)).await?;
    Ok(Json(DevicesView { devices: own.iter().map(DeviceView::of).collect() }))
}

/// `DELETE /api/v1/devices/{device}`: signs out one of your own devices; the
/// account of the server signs out anyone's.
pub(super) async fn revoke(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    Path(device): Path<String>,
) -> Result<Done, Problem> {
    server
        .blocking(move |server| {
            let owner = identity.owner();
            if !identity.is_local()
                && !own_devices(server, &owner)?.iter().any(|one| one.id == device)
            {
                return Err(Problem::not_found("device", &device));
            }
            Ok(server.people_file().sign_out(&device)?)
        })
        .await?;
    Ok(Done)
}

fn own_devices(server: &Server, owner: &Owner) -> Result<Vec<Device>, Problem> {
    let mut devices = server.people_file().devices()?;
    devices.retain(|device| device.owner == *owner);
    Ok(devices)
}
