//! A topic of an ntfy server: published as JSON, deleted when the question is
//! decided.

use aye_core::secrets::Secrets;
use hyper::Method;
use serde_json::{Value, json};

use crate::settings::{NtfyChannel, check_address, is_topic};
use crate::store::Occasion;

use super::webhook::request;
use super::{Channel, Delivered, Delivery, DeliveryError, Message};

/// ntfy makes a file of a longer message.
const LONGEST: usize = 3_800;
/// ntfy shows three.
const BUTTONS: usize = 3;

pub(super) fn deliver(
    channel: &Channel,
    ntfy: &NtfyChannel,
    delivery: &Delivery,
    secrets: &mut Secrets,
) -> Result<Delivered, DeliveryError> {
    let url = channel.read("url", &ntfy.url)?;
    let topic = channel.read("topic", &ntfy.topic)?;
    secrets.insert("topic", topic.clone());
    if !is_topic(&topic) {
        return Err(DeliveryError::new("that is not a topic of ntfy"));
    }
    let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    if let Some(token) = channel.read_optional("token", ntfy.token.as_ref())? {
        secrets.insert("token", token.clone());
        headers.push(("authorization".to_owned(), format!("Bearer {token}")));
    }
    let address = |path: &str| {
        let full = format!("{}{path}", url.trim_end_matches('/'));
        check_address(&full).map_err(|why| DeliveryError::new(format!("the `url` {why}")))
    };
    match delivery {
        Delivery::Send(message) => {
            // A message that was sent twice replaces itself.
            let sequence = format!("aye-{}-{}", message.run, message.id);
            let body = published(message, &topic, &sequence).to_string().into_bytes();
            request(&Method::POST, &address("/")?, &headers, body)?;
            Ok(Delivered { receipt: Some(sequence) })
        }
        Delivery::Retract(sequence) => {
            let uri = address(&format!("/{topic}/{sequence}"))?;
            request(&Method::DELETE, &uri, &headers, Vec::new())?;
            Ok(Delivered::default())
        }
    }
}

fn published(message: &Message, topic: &str, sequence: &str) -> Value {
    let (text, cut) = message.text_within(LONGEST);
    let mut actions: Vec<Value> = message
        .buttons_with(cut)
        .take(BUTTONS)
        .map(|button| {
            json!({
                "action": "http", "label": button.label, "url": button.url, "method": "POST",
                "headers": { "Content-Type": "application/json" }, "body": button.body, "clear": true,
            })
        })
        .collect();
    if let Some(link) = message.link.as_ref().filter(|_| actions.len() < BUTTONS) {
        actions.push(json!({ "action": "view", "label": "Open", "url": link }));
    }
    let mut value = json!({
        "topic": topic,
        "title": message.title,
        "message": text,
        "priority": message.priority(),
        "tags": [tag(message.occasion)],
        "sequence_id": sequence,
        "actions": actions,
    });
    if let Some(link) = &message.link {
        value["click"] = json!(link);
    }
    value
}

fn tag(occasion: Occasion) -> &'static str {
    match occasion {
        Occasion::Question | Occasion::Reminder | Occasion::Escalation => "question",
        Occasion::Expiring => "hourglass_flowing_sand",
        Occasion::Failed => "x",
        Occasion::Completed => "white_check_mark",
        Occasion::Cancelled => "stop_sign",
    }
}
