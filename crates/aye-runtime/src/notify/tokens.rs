//! Rights to answer from a message: which answers may be had that way, and the
//! tokens that carry them.

use aye_core::digest::digest;
use aye_core::question::{Channel as Through, Offer, Question};
use aye_core::skill::AskKind;

use crate::fmt::escape_control_line;
use crate::random::random_hex;
use crate::settings::{ChannelKind, ChannelSettings, Detail};
use crate::store::{AnswerToken, Store};

use super::{Button, Facts, Message};

/// What is kept of a token. It has 256 random bits, so a plain digest hides it.
pub fn token_digest(token: &str) -> String {
    digest(&[b"aye answer", token.as_bytes()])
}

/// The options that a message may answer with. Declining has to end the run or
/// leave the step out; agreeing has to be possible on a relayed word, and
/// nothing destructive may follow. A file cannot answer a guarded question.
/// The core refuses the same once more.
pub fn answers(question: &Question, through: Through) -> Vec<&Offer> {
    let file = through == Through::DropBox;
    if question.kind == AskKind::Input || question.secret || file && question.is_guarded() {
        return Vec::new();
    }
    question.options.iter().filter(|offer| question.takes_button(&offer.value)).collect()
}

/// Whether a message of a channel holds everything that decides, as far as the channel does
/// not cut it. Who has not got the text agrees to nothing from there.
fn is_whole(channel: &ChannelSettings, question: &Question) -> bool {
    channel.show == Detail::Full && question.is_whole()
}

/// The options that a message of a channel may answer with.
fn answers_of<'q>(
    channel: &ChannelSettings,
    question: &'q Question,
    through: Through,
) -> Vec<&'q Offer> {
    let mut offers = answers(question, through);
    let whole = is_whole(channel, question);
    offers.retain(|offer| whole || !question.commits(&offer.value.as_str().into()));
    offers
}

/// Gives a message what its receiver may answer with.
pub(super) fn mint(
    store: &mut dyn Store,
    channel: &ChannelSettings,
    facts: &Facts,
    message: &mut Message,
) -> Result<(), String> {
    let Some((question, _)) = &facts.question else { return Ok(()) };
    let person = facts.person.clone().unwrap_or_default();
    if matches!(channel.kind, ChannelKind::DropBox(_)) {
        let values = answers_of(channel, question, Through::DropBox)
            .into_iter()
            .map(|offer| offer.value.clone());
        let mut values: Vec<String> = values.collect();
        // A right to everything would be more than the message offers. Without any value there
        // is nothing that this one is good for.
        let bound = (!is_whole(channel, question)).then(|| {
            values.truncate(1);
            values.first().cloned().unwrap_or_default()
        });
        message.request = Some(keep(store, question, bound, &person)?);
        message.answerable = values;
        return Ok(());
    }
    // Mail carries links only, and a button needs a server that takes the answer.
    let carries = match channel.kind {
        ChannelKind::Ntfy(_) | ChannelKind::Webhook(_) | ChannelKind::Command(_) => true,
        ChannelKind::Email(_) | ChannelKind::Desktop | ChannelKind::DropBox(_) => false,
    };
    let Some(link) = facts.link.as_ref().filter(|_| channel.buttons && carries) else {
        return Ok(());
    };
    for offer in answers_of(channel, question, Through::Message) {
        let token = keep(store, question, Some(offer.value.clone()), &person)?;
        message.buttons.push(Button {
            label: escape_control_line(&offer.label),
            choice: offer.value.clone(),
            commits: question.commits(&offer.value.as_str().into()),
            url: format!("{link}/api/v1/answer-token"),
            body: serde_json::json!({ "token": token }).to_string(),
        });
    }
    Ok(())
}

fn keep(
    store: &mut dyn Store,
    question: &Question,
    choice: Option<String>,
    person: &str,
) -> Result<String, String> {
    let token = random_hex(32).map_err(|error| error.to_string())?;
    let kept = AnswerToken {
        digest: token_digest(&token),
        question: question.id.clone(),
        shown: question.digest.clone(),
        choice,
        person: person.to_owned(),
        used: None,
    };
    store.keep_token(&kept).map_err(|error| error.to_string())?;
    Ok(token)
}
