//! Execution ids: what an assistant holds of a run.
//!
//! `RUN-N-MAC`: the run (or one inside it), which of its questions, and a code
//! that only this machine's key makes, bound to what that question asks. `N`
//! is 0 for the run as such. Nothing is stored: the journal tells whether the
//! question is still open, so an id can be used once, by one.

use aye_core::digest::hex;
use aye_core::id::{QuestionId, RunId};
use aye_core::question::Question;
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use sha2::Sha256;

use aye_runtime::error::Error;
use aye_runtime::usecases::{JournalReader, QuestionRow, QuestionState, RunRow};

/// Bytes of the code: 96 bits.
const CODE: usize = 12;
/// No id is longer; what is, need not be looked at.
const LONGEST: usize = 220;

/// Makes and checks ids.
pub(super) struct Handles {
    key: String,
}

/// An id that this machine made.
pub(super) struct Handle {
    /// The run that someone started.
    pub(super) outer: RunRow,
    /// The run that the id names: the outer one, or one inside it.
    pub(super) row: RunRow,
    /// The question, if it names one.
    pub(super) question: Option<(QuestionRow, Question)>,
}

/// What an id is good for: one cannot be used as the other.
#[derive(Debug, Clone, Copy)]
enum Use<'a> {
    Handle,
    /// `requestState` of a form: the moment it was asked for, and the call.
    Form(i64, &'a str),
    /// The key of a form of a task.
    TaskForm,
}

impl Handles {
    pub(super) fn new(key: String) -> Self {
        Self { key }
    }

    /// The id of a run.
    pub(super) fn of_run(&self, run: &RunId) -> String {
        self.seal(run, 0, "", Use::Handle)
    }

    /// The id of a question.
    pub(super) fn of_question(&self, question: &Question) -> Option<String> {
        let (run, number) = (question.id.run()?, question.id.number()?);
        Some(self.seal(&run, number, &question.digest, Use::Handle))
    }

    /// What a client echoes when a form was filled in.
    /// `call` is the call it came with: it does for no other.
    pub(super) fn form(&self, question: &Question, call: &str, now: Timestamp) -> Option<String> {
        let (run, number) = (question.id.run()?, question.id.number()?);
        let at = now.as_millisecond();
        Some(format!("{at}-{}", self.seal(&run, number, &question.digest, Use::Form(at, call))))
    }

    /// The key of the form that a task shows for a question: the same however
    /// often the client asks, so that it shows the form once.
    pub(super) fn task_form(&self, question: &Question) -> Option<String> {
        let (run, number) = (question.id.run()?, question.id.number()?);
        Some(self.seal(&run, number, &question.digest, Use::TaskForm))
    }

    /// The run and question of an id.
    ///
    /// # Errors
    /// When it was not made here, or what it names is gone.
    pub(super) fn open(&self, text: &str, journal: &JournalReader) -> Result<Handle, Error> {
        self.unseal(text, Use::Handle, journal)
    }

    /// The question of a form, and when it was asked for.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(super) fn open_form(
        &self,
        text: &str,
        call: &str,
        journal: &JournalReader,
    ) -> Result<(Handle, Timestamp), Error> {
        let (at, rest) = text.split_once('-').ok_or_else(unknown)?;
        let at: i64 = at.parse().map_err(|_| unknown())?;
        let asked = Timestamp::from_millisecond(at).map_err(|_| unknown())?;
        Ok((self.unseal(rest, Use::Form(at, call), journal)?, asked))
    }

    /// The question of a task's form.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(super) fn open_task_form(
        &self,
        text: &str,
        journal: &JournalReader,
    ) -> Result<Handle, Error> {
        self.unseal(text, Use::TaskForm, journal)
    }

    fn unseal(&self, text: &str, used: Use<'_>, journal: &JournalReader) -> Result<Handle, Error> {
        let sane = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        if text.len() > LONGEST || !text.bytes().all(sane) {
            return Err(unknown());
        }
        let (named, code) = text.rsplit_once('-').ok_or_else(unknown)?;
        let (run, number) = named.rsplit_once('-').ok_or_else(unknown)?;
        let run = RunId::new(run).map_err(|_| unknown())?;
        let number: u32 = number.parse().map_err(|_| unknown())?;
        let question = match number {
            0 => None,
            number => Some(find(journal, &QuestionId::new(&run, number))?),
        };
        let digest = question.as_ref().map_or("", |(_, asked)| asked.digest.as_str());
        let code = unhex(code).ok_or_else(unknown)?;
        self.mac(&run, number, digest, used)?
            .verify_truncated_left(&code)
            .map_err(|_| unknown())?;
        let row = journal.run(&run)?.ok_or_else(unknown)?;
        let outer = journal.outermost(&run)?.ok_or_else(unknown)?;
        Ok(Handle { outer, row, question })
    }

    fn seal(&self, run: &RunId, number: u32, digest: &str, used: Use<'_>) -> String {
        let code = self.mac(run, number, digest, used).map(|mac| mac.finalize().into_bytes());
        let code = code.map(|bytes| hex(&bytes[..CODE])).unwrap_or_default();
        format!("{run}-{number}-{code}")
    }

    fn mac(
        &self,
        run: &RunId,
        number: u32,
        digest: &str,
        used: Use<'_>,
    ) -> Result<Hmac<Sha256>, Error> {
        let mut mac = Hmac::new_from_slice(self.key.as_bytes()).map_err(|_| unknown())?;
        let used = match used {
            Use::Handle => "handle".to_owned(),
            Use::Form(at, call) => format!("form {at} {call}"),
            Use::TaskForm => "task form".to_owned(),
        };
        // No part can hold a line break, so borders cannot move.
        mac.update(format!("{used}\n{run}\n{number}\n{digest}").as_bytes());
        Ok(mac)
    }
}

impl Handle {
    /// The question, if it can still be answered.
    ///
    /// # Errors
    /// When the id names none, or it is closed: why.
    pub(super) fn open_question(&self) -> Result<(&QuestionRow, &Question), Error> {
        let Some((row, asked)) = &self.question else {
            return Err(Error::Refused {
                message: "this execution id names no question".to_owned(),
                hint: Some("`skill_status` shows the run and its question".to_owned()),
            });
        };
        if row.state == QuestionState::Open {
            return Ok((row, asked));
        }
        let by = match (&row.answered_by, &row.prompter) {
            (Some(by), Some(prompter)) => format!(" by {by} ({prompter})"),
            (Some(by), None) => format!(" by {by}"),
            (None, _) => String::new(),
        };
        let became = match row.state {
            QuestionState::Expired => "has expired".to_owned(),
            state => format!("was {}{by} already", state.word()),
        };
        Err(Error::Refused {
            message: format!("question `{}` {became}: an execution id can be used once", row.id),
            hint: Some("`skill_status` shows the run".to_owned()),
        })
    }
}

fn find(journal: &JournalReader, id: &QuestionId) -> Result<(QuestionRow, Question), Error> {
    let asked = journal.asked(id)?.ok_or_else(unknown)?;
    Ok((journal.question(id)?.ok_or_else(unknown)?, asked))
}

fn unknown() -> Error {
    Error::not_found(
        "there is no such execution id here",
        "use the `execution_id` of the last result as it is; `inbox` and `skill_list` show what \
         there is",
    )
}

fn unhex(text: &str) -> Option<[u8; CODE]> {
    if text.len() != CODE * 2 || !text.is_ascii() {
        return None;
    }
    let mut bytes = [0; CODE];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok()?;
    }
    Some(bytes)
}
