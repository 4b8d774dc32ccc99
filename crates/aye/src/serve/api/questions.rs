//! Questions: listed, held, answered.

use std::path::Path as FilePath;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use aye_core::digest::digest;
use aye_core::question::{AnswerScope, Edits};
use aye_runtime::people::Right;
use aye_runtime::usecases::{AnswerRequest, JournalReader, OpenQuestion, QuestionState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::serve::guard::SECRET;
use crate::serve::identity::{ClientKind, Identity};
use crate::serve::metrics::Metrics;
use crate::serve::problem::{Code, Problem};
use crate::serve::server::Server;
use crate::serve::views::{AskedAs, QuestionView};
use aye_core::digest::is_same;

use super::extract::{Body, Key, Params, Path};
use super::reply::{Reply, reply};

/// How many are listed unless someone says.
const PAGE: u32 = 50;
/// The longest list.
const LONGEST: u32 = 500;

/// Which questions are listed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct QuestionsQuery {
    /// Only questions that were asked later: `n` of the last one on the page before.
    #[serde(default)]
    after: u64,
    /// At most so many.
    limit: Option<u32>,
}

/// Open questions, the oldest first.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct QuestionsPage {
    questions: Vec<QuestionView>,
    /// How many are open in all.
    open: u64,
    /// `after` for the next page; `null` at the end.
    next: Option<u64>,
}

/// `GET /api/v1/questions`: the open ones, the oldest first.
pub(super) async fn list(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    headers: HeaderMap,
    Params(query): Params<QuestionsQuery>,
) -> Reply<QuestionsPage> {
    identity.must(Right::Read)?;
    let secret = session_secret(&headers, &identity);
    reply(&server, move |server| {
        let Some(journal) = server.runtime.journal_if_any()? else {
            return Ok(QuestionsPage::default());
        };
        let limit = query.limit.unwrap_or(PAGE).clamp(1, LONGEST);
        let mut shown = Vec::new();
        let mut after = query.after;
        let mut more = true;
        while more && shown.len() < limit as usize {
            let page = journal.open_questions_after(after, limit)?;
            more = page.len() == limit as usize;
            for open in page {
                after = open.row.n;
                shown.extend(visible(&journal, open, &identity)?);
                if shown.len() == limit as usize {
                    break;
                }
            }
        }
        for view in &mut shown {
            view.nonce = secret.as_ref().and_then(|secret| nonce_of(secret, view));
        }
        let next = more.then_some(after);
        let open = match identity.projects().is_empty() {
            true => journal.count_open()?,
            false => count_visible(&journal, &identity)?,
        };
        Ok(QuestionsPage { questions: shown, open, next })
    })
    .await
}

/// How many open questions there are in the projects that they are limited to.
fn count_visible(journal: &JournalReader, identity: &Identity) -> Result<u64, Problem> {
    let mut count = 0;
    for open in journal.open_questions_after(0, u32::MAX)? {
        let run = journal.run(&open.row.run)?;
        count += u64::from(run.is_some_and(|run| identity.sees(FilePath::new(&run.workspace))));
    }
    Ok(count)
}

/// A question as this person sees it, if they do.
pub(super) fn visible(
    journal: &JournalReader,
    open: OpenQuestion,
    identity: &Identity,
) -> Result<Option<QuestionView>, Problem> {
    let Some(run) = journal.run(&open.row.run)? else { return Ok(None) };
    let sees = identity.sees(FilePath::new(&run.workspace));
    Ok(sees.then(|| QuestionView::of(open, run.workspace)))
}

/// `GET /api/v1/questions/{question}`
pub(super) async fn one(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    headers: HeaderMap,
    Path(question): Path<String>,
) -> Reply<QuestionView> {
    identity.must(Right::Read)?;
    let secret = session_secret(&headers, &identity);
    reply(&server, move |server| {
        let journal = server.journal()?;
        let row = server.question(&journal, &question, &identity)?;
        let whole = journal.whole_question(row)?;
        let mut view = visible(&journal, whole, &identity)?
            .ok_or_else(|| Problem::not_found("question", &question))?;
        view.nonce = secret.as_ref().and_then(|secret| nonce_of(secret, &view));
        Ok(view)
    })
    .await
}

/// The origin's half of a browser's session.
pub(super) fn session_secret(headers: &HeaderMap, identity: &Identity) -> Option<String> {
    let secret = headers.get(SECRET)?.to_str().ok()?;
    identity.is_session().then(|| secret.to_owned())
}

/// What a browser sends with its answer: only who has the origin's half of the
/// session and has read this very question can know it.
pub(in crate::serve) fn nonce(secret: &str, question: &str, asked: &str) -> String {
    let mut text = digest(&[b"nonce", secret.as_bytes(), question.as_bytes(), asked.as_bytes()]);
    text.truncate(32);
    text
}

/// Refuses a browser that has not read this very question.
pub(super) fn must_know_nonce(
    secret: &str,
    question: &str,
    shown: &str,
    given: Option<&str>,
) -> Result<(), Problem> {
    let expected = nonce(secret, question, shown);
    match is_same(given.unwrap_or_default().as_bytes(), expected.as_bytes()) {
        true => Ok(()),
        false => Err(Problem::new(Code::Forbidden, "the nonce is not that of the question")
            .hint("read the question again and send its `nonce`")),
    }
}

fn nonce_of(secret: &str, view: &QuestionView) -> Option<String> {
    match &view.asked_as {
        AskedAs::Known(asked) => Some(nonce(secret, asked.id.as_str(), &asked.digest)),
        AskedAs::Unknown { .. } => None,
    }
}

/// An answer.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::serve) struct AnswerBody {
    /// The value of an option, or the text that was asked for.
    pub(in crate::serve) choice: String,
    /// The digest of the question that was shown.
    pub(in crate::serve) digest: Option<String>,
    /// Why; recorded in the journal.
    pub(in crate::serve) reason: Option<String>,
    /// How far it is to be given again: `error` (of a failed step), `step`, `skill` or `always`.
    pub(in crate::serve) remember: Option<AnswerScope>,
    /// The text that has to be typed to agree.
    pub(in crate::serve) typed: Option<String>,
    /// A one-time code.
    pub(in crate::serve) code: Option<String>,
    /// What a failed step is given differently, with the choice `edit`.
    #[serde(default)]
    pub(in crate::serve) set: Map<String, Value>,
    /// From the question, for browsers.
    pub(in crate::serve) nonce: Option<String>,
}

/// An answer that was taken.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(in crate::serve) struct Taken {
    /// The question.
    pub(in crate::serve) question: String,
    /// `answered`; `open` while others have to agree.
    pub(in crate::serve) state: String,
    /// How many more people have to agree.
    pub(in crate::serve) missing: u32,
    /// The same request was sent before.
    pub(in crate::serve) repeated: bool,
    /// Whether it is given again, where that was wanted: only some questions allow it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::serve) remembered: Option<bool>,
    /// The run around all others: its own, unless that is inside another.
    pub(in crate::serve) outermost: String,
    /// Nobody drove the run, and why it does not continue now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::serve) not_resumed: Option<String>,
}

impl AnswerBody {
    /// Gives the answer.
    pub(in crate::serve) fn answer(
        self,
        server: &Server,
        identity: &Identity,
        question: &str,
        kind: ClientKind,
        key: Option<String>,
    ) -> Result<Taken, Problem> {
        server.must_act(identity, Right::Answer)?;
        let journal = server.journal()?;
        let row = server.question(&journal, question, identity)?;
        let edits = !self.set.is_empty() || self.choice == "edit";
        let request = AnswerRequest {
            digest: self.digest,
            reason: self.reason,
            typed: self.typed,
            code: self.code,
            remember: self.remember,
            edits: edits.then(|| Edits { set: self.set, ..Edits::default() }),
            key,
            ..AnswerRequest::new(&row.id, self.choice)
        };
        let taken = server.runtime.answer(&request, &identity.answerer(kind), &mut |_| {})?;
        if !taken.repeated {
            Metrics::count(&server.metrics.answers);
        }
        Ok(Taken {
            question: taken.question.id.to_string(),
            state: taken.question.state.word().to_owned(),
            missing: match taken.question.state {
                QuestionState::Open => taken.question.missing,
                QuestionState::Answered | QuestionState::Expired | QuestionState::Withdrawn => 0,
            },
            repeated: taken.repeated,
            remembered: taken.remembered,
            outermost: row.run.outermost().to_string(),
            not_resumed: taken.after.and_then(|after| after.obstacle()),
        })
    }
}

/// `POST /api/v1/questions/{question}/answer`
pub(super) async fn answer(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    headers: HeaderMap,
    Key(key): Key,
    Path(question): Path<String>,
    Body(body): Body<AnswerBody>,
) -> Reply<Taken> {
    let Some(shown) = &body.digest else {
        return Err(Problem::new(Code::Invalid, "`digest` is missing")
            .hint("send the digest of the question that was shown"));
    };
    let kind = match session_secret(&headers, &identity) {
        None => ClientKind::Program,
        Some(secret) => {
            must_know_nonce(&secret, &question, shown, body.nonce.as_deref())?;
            ClientKind::Page
        }
    };
    reply(&server, move |server| body.answer(server, &identity, &question, kind, key)).await
}

/// A question whose deadline was held.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(in crate::serve) struct HeldQuestion {
    /// The question.
    pub(in crate::serve) question: String,
}

/// Holds the deadline of a question.
pub(in crate::serve) fn hold_question(
    server: &Server,
    identity: &Identity,
    question: &str,
) -> Result<HeldQuestion, Problem> {
    server.must_act(identity, Right::Answer)?;
    let journal = server.journal()?;
    let row = server.question(&journal, question, identity)?;
    server.runtime.hold(row.id.as_str(), &identity.name)?;
    Ok(HeldQuestion { question: row.id.to_string() })
}

/// `POST /api/v1/questions/{question}/hold`: someone is looking.
pub(super) async fn hold(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    Path(question): Path<String>,
) -> Reply<HeldQuestion> {
    reply(&server, move |server| hold_question(server, &identity, &question)).await
}
