//! Giving an answer to a run, as what it is: relayed, or from a form.

use aye_core::question::{AnswerScope, Channel, Edits, Question};

use crate::paint::escape_control_line;
use aye_runtime::error::Error;
use aye_runtime::usecases::{
    AfterAnswer, AnswerError, AnswerRequest, Answerer, QuestionRow, Warning,
};

use super::asking_run::relayable;
use super::handle::Handle;
use super::run_status;
use super::server_state::ServerState;

/// What is answered.
pub(super) struct Word {
    pub(super) value: String,
    pub(super) reason: Option<String>,
    pub(super) edits: Option<Edits>,
    /// How far it is to be given again; only a person's is.
    pub(super) remember: Option<AnswerScope>,
    /// Who: the client and the user it works for.
    pub(super) by: String,
    pub(super) prompter: Channel,
}

/// Sends an answer to the driver of the run. A note, if something is to be said,
/// such as what becomes of a run that no process drives.
pub(super) fn answer(
    server: &ServerState,
    handle: &Handle,
    word: Word,
) -> Result<Option<String>, Error> {
    let runtime = &server.runtime;
    let (row, question) = handle.open_question()?;
    runtime.at(&handle.outer.workspace)?.must_be_trusted()?;
    if runtime.now() >= run_status::expires(row, runtime) {
        return Err(Error::Refused {
            message: format!("the execution id of question `{}` has expired", row.id),
            hint: Some(format!("the person can still answer: `aye answer {}`", row.id)),
        });
    }
    let elicited = word.prompter == Channel::Elicited;
    // A secret must not be written into a request; everything else that an
    // assistant may not answer is refused, and recorded, by the run itself.
    if question.secret {
        return Err(not_through_you(row, "it asks for a secret"));
    }
    // Nobody was sent such a form.
    if elicited && !counts(server, question) {
        return Err(not_through_you(row, "it is not asked with a form of the client"));
    }
    let request = AnswerRequest {
        digest: Some(question.digest.clone()),
        reason: word.reason,
        remember: word.remember,
        edits: word.edits,
        record_late: true,
        ..AnswerRequest::new(&question.id, word.value)
    };
    let by = Answerer {
        name: word.by,
        proof: None,
        channel: word.prompter,
        vouched: elicited && runtime.settings.mcp.elicited_is_person,
    };
    // What is said while the run is taken up: its driver is silent.
    let mut notes = Vec::new();
    let mut warn = |warning: Warning| notes.push(warning.message(&runtime.directory));
    match runtime.answer(&request, &by, &mut warn) {
        Ok(taken) => {
            notes.extend(match taken.after {
                Some(AfterAnswer::Continues { rested: false }) => {
                    Some("nobody drove the run; it continues in the background".to_owned())
                }
                after => after.and_then(|after| after.obstacle()).map(|why| {
                    let why = escape_control_line(&why);
                    format!("the answer was taken, but the run was not resumed: {why}")
                }),
            });
            Ok((!notes.is_empty()).then(|| notes.join("; ")))
        }
        Err(AnswerError::Refused { why, .. }) => {
            if !relayable(question) {
                return Err(not_through_you(row, &why));
            }
            Err(Error::Refused {
                message: format!(
                    "the answer to `{}` was refused: {}",
                    row.id,
                    escape_control_line(&why)
                ),
                hint: Some("`skill_status` shows the question and which answers count".to_owned()),
            })
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether a form that the client shows may answer this question. Names,
/// several people, codes and typed texts never go through an assistant.
pub(super) fn counts(server: &ServerState, question: &Question) -> bool {
    let plain = question.approvals <= 1 && !question.reauth && question.typed.is_none();
    let by = match question.by {
        aye_core::skill::By::Anyone => true,
        aye_core::skill::By::Human => server.runtime.settings.mcp.elicited_is_person,
        aye_core::skill::By::Names(_) => false,
    };
    plain && by && !question.secret
}

fn not_through_you(row: &QuestionRow, why: &str) -> Error {
    Error::Refused {
        message: format!(
            "question `{}` has to be answered by a person, not through an assistant: {}",
            row.id,
            escape_control_line(why)
        ),
        hint: Some(format!(
            "tell the person to run `aye inbox` or `aye answer {}` themselves; do not run it for \
             them",
            row.id
        )),
    }
}
