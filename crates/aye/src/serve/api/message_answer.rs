//! Answering from a message: a token in place of a session.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use aye_core::question::Channel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::serve::problem::{Code, Problem};
use crate::serve::server::Server;

use super::extract::Body;
use super::reply::Json;

/// What a button of a message sends.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MessageAnswerBody {
    /// It says who, which question and which option.
    token: String,
}

/// What became of an answer from a message.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MessageAnswerView {
    /// The question.
    question: String,
    /// Where it stands.
    state: String,
}

/// `POST /api/v1/answer-token`: nothing but the token is looked at.
pub(super) async fn answer(
    State(server): State<Arc<Server>>,
    Body(body): Body<MessageAnswerBody>,
) -> Result<Json<MessageAnswerView>, Problem> {
    let taken = server
        .blocking(move |server| {
            let through = Channel::Message;
            Ok(server.runtime.answer_with_token(&body.token, None, None, through)?)
        })
        .await;
    // Only wrong tokens are counted: a right one answers after any number of wrong ones.
    let taken = taken.map_err(|problem| match problem.code {
        Code::NotFound if !server.rates.lets_guess(Instant::now()) => {
            Problem::new(Code::RateLimited, "too many answers from messages at once")
        }
        _ => problem,
    })?;
    Ok(Json(MessageAnswerView {
        question: taken.question.id.to_string(),
        state: taken.question.state.word().to_owned(),
    }))
}
