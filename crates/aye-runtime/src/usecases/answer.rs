//! Giving an answer to a question, for every front end.

use aye_core::digest::digest;
use aye_core::event::{Answered, EventKind};
use aye_core::id::QuestionId;
use aye_core::input::Request;
use aye_core::question::{Answer, AnswerScope, Channel, Edits, Proof};
use aye_core::value::as_text;
use indexmap::IndexMap;
use serde_json::Value;

use crate::error::Error;
use crate::runtime::Runtime;
use crate::store::{QuestionRow, QuestionState, RunRow};

use super::journal_reader::JournalReader;
use super::submit::Sent;
use super::take_up::AfterAnswer;
use super::warning::Warning;

/// Who answers, and how strongly that is proven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answerer {
    /// Their name.
    pub name: String,
    /// How that is known; nothing where an assistant passes their answer on.
    pub proof: Option<Proof>,
    /// Through what they answer.
    pub channel: Channel,
    /// The machine's policy takes an elicited answer for a person's.
    pub vouched: bool,
}

/// An answer to an open question.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerRequest {
    /// The question, or the beginning of its id.
    pub question: String,
    /// The digest of the question that the person saw; without it, of the one
    /// that is open now.
    pub digest: Option<String>,
    /// The value of an option, or the text that was asked for.
    pub choice: String,
    /// Why.
    pub reason: Option<String>,
    /// The text that has to be typed to agree.
    pub typed: Option<String>,
    /// A one-time code.
    pub code: Option<String>,
    /// How far it is to be given again.
    pub remember: Option<AnswerScope>,
    /// What a failed step is given differently.
    pub edits: Option<Edits>,
    /// The key under which the client sends it: sent again, it is answered the
    /// same and counts once.
    pub key: Option<String>,
    /// Whether the journal records an answer to a question that is decided, as refused.
    pub record_late: bool,
}

impl AnswerRequest {
    /// A choice and nothing else.
    pub fn new(question: &QuestionId, choice: impl Into<String>) -> Self {
        Self {
            question: question.to_string(),
            digest: None,
            choice: choice.into(),
            reason: None,
            typed: None,
            code: None,
            remember: None,
            edits: None,
            key: None,
            record_late: false,
        }
    }
}

/// What came of an answer that was taken.
#[derive(Debug, Clone, PartialEq)]
pub struct TakenAnswer {
    /// The question as it is now.
    pub question: QuestionRow,
    /// The same request was sent before.
    pub repeated: bool,
    /// The outermost run, if no process drove it.
    pub undriven: Option<RunRow>,
    /// What became of it then.
    pub after: Option<AfterAnswer>,
    /// Whether it is given again, where that was wanted: only some questions allow it.
    pub remembered: Option<bool>,
}

/// Why an answer was not taken.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// It was given to something else than what is asked.
    #[error("question `{question}` has changed since it was shown")]
    Changed {
        /// The question.
        question: String,
        /// Its digest now.
        digest: String,
    },
    /// Someone else was quicker, or nobody in time.
    #[error(transparent)]
    Decided(Error),
    /// The key was used for another answer.
    #[error("the key was used for another answer to `{question}`")]
    OtherRequest {
        /// The question.
        question: String,
    },
    /// The key was used for another request about the run.
    #[error("the key was used for another request about run `{run}`")]
    OtherRetry {
        /// The run.
        run: String,
    },
    /// It does not count, and why.
    #[error("the answer to `{question}` was refused: {why}")]
    Refused {
        /// The question.
        question: String,
        /// In words.
        why: String,
    },
    /// It could not be sent.
    #[error(transparent)]
    Failed(#[from] Error),
}

impl From<AnswerError> for Error {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::Decided(error) | AnswerError::Failed(error) => error,
            AnswerError::Changed { .. }
            | AnswerError::OtherRequest { .. }
            | AnswerError::OtherRetry { .. }
            | AnswerError::Refused { .. } => {
                Self::Refused { message: error.to_string(), hint: None }
            }
        }
    }
}

impl Runtime {
    /// Gives an answer; if no process drives the run, it continues in a process of its own,
    /// unless it was stopped at a terminal.
    pub fn answer(
        &self,
        request: &AnswerRequest,
        by: &Answerer,
        warn: &mut dyn FnMut(Warning),
    ) -> Result<TakenAnswer, AnswerError> {
        let taken = self.give_answer(request, by)?;
        let after = taken.undriven.as_ref().map(|run| self.continue_answered(run, warn));
        Ok(TakenAnswer { after, ..taken })
    }

    /// Gives an answer to the process that drives the run. If none does, it counts all the
    /// same, and the caller says what becomes of the run.
    pub fn give_answer(
        &self,
        request: &AnswerRequest,
        by: &Answerer,
    ) -> Result<TakenAnswer, AnswerError> {
        let journal = self.journal()?;
        let question = journal.find_question(&request.question)?;
        let key = request.key.as_ref().map(|key| key_digest(&by.name, key));
        let earlier = || sent_before(&journal, &question, key.as_ref()?);
        if let Some(earlier) = earlier() {
            return repeated(&journal, &question, request, &earlier);
        }
        match self.give_new(&journal, &question, request, by, key.clone()) {
            // The first may have been on its way when we looked.
            Err(error @ (AnswerError::Decided(_) | AnswerError::Refused { .. })) => {
                match earlier() {
                    Some(earlier) => repeated(&journal, &question, request, &earlier),
                    None => Err(error),
                }
            }
            given => given,
        }
    }

    fn give_new(
        &self,
        journal: &JournalReader,
        question: &QuestionRow,
        request: &AnswerRequest,
        by: &Answerer,
        key: Option<String>,
    ) -> Result<TakenAnswer, AnswerError> {
        let asked = journal.asked(&question.id)?;
        let now = asked.as_ref().map(|asked| asked.digest.clone()).unwrap_or_default();
        if request.digest.as_ref().is_some_and(|shown| *shown != now) {
            let question = question.id.to_string();
            return Err(AnswerError::Changed { question, digest: now });
        }
        if !request.record_late
            && question.state != QuestionState::Open
            && let Some(late) = journal.late_answer(&question.id, self.now())?
        {
            return Err(AnswerError::Decided(late));
        }
        let row = journal.find_run(question.run.as_str())?;
        let answer = Answer {
            reason: request.reason.clone(),
            typed: request.typed.clone(),
            digest: Some(now),
            remember: request.remember.filter(|_| request.edits.is_none()),
            edits: request.edits.clone(),
            vouched: by.vouched,
            proof: by.proof,
            key,
            ..Answer::new(request.choice.clone(), by.name.clone(), by.channel)
        };
        let allowed = |scope| {
            let value = answer.value.as_str().unwrap_or_default();
            answer.remember.is_some()
                && asked.is_some_and(|asked| {
                    asked.remember && asked.remember_obstacle(value, scope).is_none()
                })
        };
        let remembered = request.remember.map(allowed);
        let code = request.code.clone();
        let sent = Request::Answer { question: question.id.clone(), answer, code };
        let undriven = match self.submit(&row, &sent)? {
            Sent::Accepted => None,
            Sent::AcceptedUndriven => {
                Some(journal.outermost(&row.id)?.unwrap_or_else(|| row.clone()))
            }
            Sent::Refused(why) => {
                if let Some(late) = journal.late_answer(&question.id, self.now())? {
                    return Err(AnswerError::Decided(late));
                }
                return Err(AnswerError::Refused { question: question.id.to_string(), why });
            }
        };
        let question = journal.find_question(question.id.as_str())?;
        Ok(TakenAnswer { question, repeated: false, undriven, after: None, remembered })
    }

    /// Holds the deadline of a question: someone is looking at it.
    pub fn hold(&self, question: &str, by: &str) -> Result<(), AnswerError> {
        let journal = self.journal()?;
        let question = journal.find_question(question)?;
        let row = journal.find_run(question.run.as_str())?;
        let request = Request::Hold { question: question.id.clone(), by: by.to_owned() };
        match self.submit(&row, &request)? {
            Sent::Accepted | Sent::AcceptedUndriven => Ok(()),
            Sent::Refused(why) => match journal.late_answer(&question.id, self.now())? {
                Some(late) => Err(AnswerError::Decided(late)),
                None => Err(AnswerError::Refused { question: question.id.to_string(), why }),
            },
        }
    }
}

/// What a client's key becomes in the journal: another client may use the same key.
pub(super) fn key_digest(name: &str, key: &str) -> String {
    let mut text = digest(&[name.as_bytes(), key.as_bytes()]);
    text.truncate(32);
    text
}

/// The answer that was sent under this key before.
fn sent_before(journal: &JournalReader, question: &QuestionRow, key: &str) -> Option<Answered> {
    let events = journal.events(&question.run).ok()?;
    events.into_iter().rev().find_map(|event| match event.kind {
        EventKind::ConfirmationAnswered(answered)
            if answered.question == question.id && answered.answer.key.as_deref() == Some(key) =>
        {
            Some(*answered)
        }
        _ => None,
    })
}

fn repeated(
    journal: &JournalReader,
    question: &QuestionRow,
    request: &AnswerRequest,
    earlier: &Answered,
) -> Result<TakenAnswer, AnswerError> {
    let said = &earlier.answer;
    // A text that is secret is not recorded.
    let is_same = said.value.as_str() == Some(request.choice.as_str())
        || aye_core::secrets::is_secret(&said.value);
    if !is_same || said.reason != request.reason || said.edits != request.edits {
        return Err(AnswerError::OtherRequest { question: question.id.to_string() });
    }
    match &earlier.refused {
        Some(why) => {
            let (question, why) = (question.id.to_string(), why.clone());
            Err(AnswerError::Refused { question, why })
        }
        None => {
            let question = journal.find_question(question.id.as_str())?;
            Ok(TakenAnswer {
                question,
                repeated: true,
                undriven: None,
                after: None,
                remembered: None,
            })
        }
    }
}

/// Whether what is given now is what a run was started with: the same names, and
/// values that are the same as far as they are recorded.
pub(super) fn same_inputs(
    given: &IndexMap<String, Value>,
    recorded: &IndexMap<String, Value>,
) -> bool {
    let is_same = |known: &Value, value: &Value| {
        aye_core::secrets::is_secret(known) || known == value || as_text(known) == as_text(value)
    };
    let mut names = recorded.keys().chain(given.keys());
    names.all(|name| match (recorded.get(name), given.get(name)) {
        (Some(known), Some(value)) => is_same(known, value),
        (Some(one), None) | (None, Some(one)) => one.is_null(),
        (None, None) => true,
    })
}
