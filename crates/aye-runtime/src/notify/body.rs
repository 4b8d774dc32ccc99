//! What the body of a webhook looks like: pure. Texts of others are values of
//! JSON, and escaped where a service gives characters a meaning.

use minijinja::{Environment, UndefinedBehavior};
use serde_json::{Value, json};

use crate::settings::Template;

use super::{DeliveryError, Message};

/// The longest text that a chat takes, in bytes.
const CHAT: usize = 2_900;
const DISCORD: usize = 1_800;
/// How much work a template of the user may be.
const FUEL: u64 = 200_000;

/// The body of a message, and its content type.
pub(super) fn body(
    template: &Template,
    message: &Message,
) -> Result<(Vec<u8>, String), DeliveryError> {
    let value = match template {
        Template::Aye => whole(message, false),
        Template::Slack => slack(message),
        Template::Teams => teams(message),
        Template::Discord => discord(message),
        Template::Telegram { chat } => telegram(message, chat),
        Template::Own { body, content_type } => {
            return Ok((own(body, message)?.into_bytes(), content_type.clone()));
        }
    };
    Ok((value.to_string().into_bytes(), "application/json".to_owned()))
}

/// Everything, as programs get it; the buttons are those that go with a text of which a part
/// may be cut.
pub(super) fn whole(message: &Message, cut: bool) -> Value {
    let mut value = message.details.clone();
    if !message.buttons.is_empty() {
        let buttons = message.buttons_with(cut).map(|button| {
            json!({
                "label": button.label, "choice": button.choice,
                "method": "POST", "url": button.url, "body": button.body,
            })
        });
        value["buttons"] = buttons.collect();
    }
    value
}

/// A body of the user's own. One that does not hold the whole text gets no button that agrees.
fn own(body: &str, message: &Message) -> Result<String, DeliveryError> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    let render = |body: &str, cut: bool| {
        let rendered = environment.render_str(body, minijinja::value::Serde(whole(message, cut)));
        rendered.map_err(|error| DeliveryError::new(format!("the template `body`: {error}")))
    };
    let rendered = render(body, false)?;
    if message.buttons_with(true).count() == message.buttons.len() {
        return Ok(rendered);
    }
    let json = render("{{ text | tojson }}", true)?;
    let is_whole =
        [message.text.as_str(), json.trim_matches('"')].iter().any(|text| rendered.contains(text));
    if is_whole { Ok(rendered) } else { render(body, true) }
}

/// Slack gives `&`, `<` and `>` a meaning: `<!channel>` notifies everyone in the channel.
fn slack_text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn slack(message: &Message) -> Value {
    let (text, _) = message.text_within(CHAT);
    let mut blocks = vec![
        json!({ "type": "header", "text": { "type": "plain_text", "text": short(&message.title, 150), "emoji": false } }),
        // Plain text has no markup and no mentions.
        json!({ "type": "section", "text": { "type": "plain_text", "text": text, "emoji": false } }),
    ];
    if let Some(link) = &message.link {
        let label = json!({ "type": "plain_text", "text": "Open the card" });
        let button = json!({ "type": "button", "text": label, "url": link });
        blocks.push(json!({ "type": "actions", "elements": [button] }));
    }
    json!({ "text": slack_text(&message.title), "blocks": blocks })
}

/// An adaptive card; a text run has no markup.
fn teams(message: &Message) -> Value {
    let (text, _) = message.text_within(CHAT);
    let run = |text: &str, weight: &str| json!({ "type": "RichTextBlock", "inlines": [{ "type": "TextRun", "text": text, "weight": weight }] });
    let mut body = vec![run(&message.title, "Bolder")];
    body.extend(text.split("\n\n").map(|part| run(part, "Default")));
    let mut card = json!({
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": body,
    });
    if let Some(link) = &message.link {
        card["actions"] =
            json!([{ "type": "Action.OpenUrl", "title": "Open the card", "url": link }]);
    }
    json!({
        "type": "message",
        "attachments": [{ "contentType": "application/vnd.microsoft.card.adaptive", "content": card }],
    })
}

/// A code block shows texts as they are; nobody is mentioned whatever they say.
fn discord(message: &Message) -> Value {
    let (text, _) = message.text_within(DISCORD);
    // Three of them end the block: others that look alike take their place.
    let unfenced = |text: &str| text.replace("```", "\u{2cb}\u{2cb}\u{2cb}");
    let text = unfenced(&text);
    let link = message.link.as_ref().map(|link| format!("\n<{link}>")).unwrap_or_default();
    json!({
        "content": format!("```\n{}\n\n{text}\n```{link}", unfenced(&short(&message.title, 100))),
        "allowed_mentions": { "parse": [] },
    })
}

/// Without a parse mode nothing in a text has a meaning.
fn telegram(message: &Message, chat: &str) -> Value {
    let (text, _) = message.text_within(CHAT);
    let link = message.link.as_ref().map(|link| format!("\n\n{link}")).unwrap_or_default();
    json!({
        "chat_id": chat,
        "text": format!("{}\n\n{text}{link}", short(&message.title, 150)),
        "link_preview_options": { "is_disabled": true },
    })
}

fn short(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
