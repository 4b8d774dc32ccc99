//! A webhook: one signed POST. Redirects are not followed: a message goes where
//! the settings say.

use std::time::Duration;

use aye_core::secrets::Secrets;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::{Method, Request, StatusCode, Uri, header};

use crate::http_client::send;
use crate::settings::{WebhookChannel, check_address};

use super::body::body;
use super::sign::signature;
use super::{Channel, Delivered, Delivery, DeliveryError};

/// How long a request may take from the first byte to the last.
const PATIENCE: Duration = Duration::from_secs(15);
/// How much of a response is read.
const READ: usize = 64 * 1024;

pub(super) fn deliver(
    channel: &Channel,
    hook: &WebhookChannel,
    delivery: &Delivery,
    secrets: &mut Secrets,
) -> Result<Delivered, DeliveryError> {
    let Delivery::Send(message) = delivery else { return Ok(Delivered::default()) };
    let url = channel.read("url", &hook.url)?;
    secrets.insert("url", url.clone());
    let uri = check_address(&url).map_err(|why| DeliveryError::new(format!("the `url` {why}")))?;
    // A short one would mask what is not a secret.
    if uri.path().len() > 8 {
        secrets.insert("path", uri.path().to_owned());
    }
    let (body, content_type) = body(&hook.template, message)?;
    let mut headers = vec![("content-type".to_owned(), content_type)];
    if let Some(secret) = channel.read_optional("secret", hook.secret.as_ref())? {
        secrets.insert("secret", secret.clone());
        headers
            .push(("aye-signature".to_owned(), signature(&secret, message.at.as_second(), &body)));
    }
    if let Some(token) = channel.read_optional("token", hook.token.as_ref())? {
        secrets.insert("token", token.clone());
        headers.push(("authorization".to_owned(), format!("Bearer {token}")));
    }
    // The receiver of a message that came twice can tell.
    headers.push(("idempotency-key".to_owned(), format!("aye-{}-{}", message.run, message.id)));
    request(&Method::POST, &uri, &headers, body).map(|_| Delivered::default())
}

/// One request; what came back if it was taken.
pub(super) fn request(
    method: &Method,
    uri: &Uri,
    headers: &[(String, String)],
    body: Vec<u8>,
) -> Result<Vec<u8>, DeliveryError> {
    let failed = |why: String| DeliveryError::new(why);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| failed(error.to_string()))?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let host = uri.authority().map_or("", |authority| authority.as_str());
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, host)
        .header(header::USER_AGENT, concat!("aye/", env!("CARGO_PKG_VERSION")));
    for (name, value) in headers {
        request = request.header(name, value);
    }
    // The reason of a bad header would repeat what is in it.
    let request = request
        .body(Full::new(Bytes::from(body)))
        .map_err(|_| failed("a secret or a name in the request is not plain text".to_owned()))?;
    let exchange = async {
        let response = send(uri, request).await.map_err(|error| failed(error.to_string()))?;
        let status = response.status();
        let said = Limited::new(response.into_body(), READ).collect().await;
        let said = said.map(|body| body.to_bytes().to_vec()).unwrap_or_default();
        Ok((status, said))
    };
    let done = runtime.block_on(async { tokio::time::timeout(PATIENCE, exchange).await });
    // A lookup that hangs must not hold this thread up.
    runtime.shutdown_background();
    let (status, said) =
        done.map_err(|_| failed(format!("no answer within {} s", PATIENCE.as_secs())))??;
    if status.is_success() {
        return Ok(said);
    }
    if status.is_redirection() {
        return Err(failed(format!(
            "{} redirects (HTTP {}); redirects are not followed",
            host,
            status.as_u16()
        )));
    }
    let said = String::from_utf8_lossy(&said);
    let said = said.trim();
    let more = if said.is_empty() { String::new() } else { format!(": {said}") };
    Err(failed(format!("{host} says HTTP {}{more}", shown(status))))
}

fn shown(status: StatusCode) -> String {
    let reason = status.canonical_reason().map(|words| format!(" {words}")).unwrap_or_default();
    format!("{}{reason}", status.as_u16())
}
