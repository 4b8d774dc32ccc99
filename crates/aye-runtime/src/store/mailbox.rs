//! The mailbox: how a process that does not drive a run reaches the one that
//! does.
//!
//! Every request gets a verdict: from the driver, together with the events it
//! leads to, or from the store itself once the run has ended and nobody will
//! read its mail again.

use std::fmt;

use aye_core::id::RunId;
use aye_core::input::Request;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::change::Failure;
use super::{Store, StoreError, runs};

/// Identifies a request; never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub i64);

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It was taken.
    Accepted,
    /// It was not, and why.
    Refused(String),
}

impl Verdict {
    fn text(&self) -> String {
        match self {
            Self::Accepted => ACCEPTED.to_owned(),
            Self::Refused(why) => format!("{REFUSED}{why}"),
        }
    }

    fn from_text(text: &str) -> Self {
        if text == ACCEPTED {
            Self::Accepted
        } else {
            Self::Refused(text.strip_prefix(REFUSED).unwrap_or(text).to_owned())
        }
    }
}

const ACCEPTED: &str = "accepted";
const REFUSED: &str = "refused: ";
/// Why a request to a run that has ended is refused.
pub const ENDED: &str = "the run has ended";

/// A request that waits for its verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    /// Which run it is for.
    pub run: RunId,
    /// To give the verdict with.
    pub id: RequestId,
    /// When it was sent.
    pub at: Timestamp,
    /// Who sent it, in words.
    pub sender: String,
    /// What is wanted.
    pub request: Request,
}

impl Store {
    /// Leaves a request for whoever drives `run`, and rings. To a run that has
    /// ended it is refused at once.
    pub fn send(
        &mut self,
        run: &RunId,
        request: &Request,
        sender: &str,
        at: Timestamp,
    ) -> Result<RequestId, StoreError> {
        let id = self.commit(|change| {
            let row = runs::load(change, run.as_str())?
                .ok_or_else(|| StoreError::NoRun { run: run.clone() })?;
            let verdict = row.status.is_ended().then(|| Verdict::Refused(ENDED.to_owned()).text());
            // Nobody will read it: what it says, a code perhaps, is not kept.
            let body = match &verdict {
                Some(_) => String::new(),
                None => serde_json::to_string(request).map_err(|error| StoreError::Io {
                    path: "request".into(),
                    message: error.to_string(),
                })?,
            };
            change
                .prepare_cached(
                    "INSERT INTO requests (run, at, sender, body, verdict)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute(params![run.as_str(), at.as_millisecond(), sender, body, verdict])?;
            Ok(RequestId(change.last_insert_rowid()))
        })?;
        self.mail_bell.ring();
        Ok(id)
    }

    /// The requests to `run` that have no verdict, in order. One that cannot
    /// be understood, from a newer Aye, is refused here.
    pub fn pending(&mut self, run: &RunId) -> Result<Vec<Pending>, StoreError> {
        self.pending_for(run, false)
    }

    /// The same for `run` and all runs inside it.
    pub fn pending_within(&mut self, run: &RunId) -> Result<Vec<Pending>, StoreError> {
        self.pending_for(run, true)
    }

    fn pending_for(&mut self, run: &RunId, within: bool) -> Result<Vec<Pending>, StoreError> {
        let (pending, strange) =
            load_pending(&self.db, run, within).map_err(|e| self.failed(&e))?;
        if !strange.is_empty() {
            self.commit(|change| settle(change, &strange))?;
        }
        Ok(pending)
    }

    /// What became of a request; `None` while nothing has.
    pub fn verdict(&self, id: RequestId) -> Result<Option<Verdict>, StoreError> {
        let found = self
            .db
            .prepare_cached("SELECT verdict FROM requests WHERE id = ?1")
            .and_then(|mut query| {
                query.query_row([id.0], |row| row.get::<_, Option<String>>(0)).optional()
            })
            .map_err(|error| self.failed(&error))?;
        match found {
            Some(verdict) => Ok(verdict.as_deref().map(Verdict::from_text)),
            None => Err(StoreError::NoRequest { id: id.0 }),
        }
    }
}

type Strange = Vec<(RequestId, Verdict)>;

fn load_pending(
    db: &Connection,
    run: &RunId,
    within: bool,
) -> Result<(Vec<Pending>, Strange), rusqlite::Error> {
    // The ids of runs inside another begin with its id.
    let beyond = if within { format!("{run}`") } else { format!("{run}\u{0}") };
    let mut query = db.prepare_cached(
        "SELECT id, at, sender, body, run FROM requests
         WHERE run >= ?1 AND run < ?2 AND verdict IS NULL ORDER BY id",
    )?;
    let mut rows = query.query([run.as_str(), &beyond])?;
    let mut pending = Vec::new();
    let mut strange = Vec::new();
    while let Some(row) = rows.next()? {
        let id = RequestId(row.get(0)?);
        match serde_json::from_str(row.get_ref(3)?.as_str()?) {
            Ok(request) => {
                let run: String = row.get(4)?;
                let run = RunId::new(run).map_err(|error| runs::unexpected(4, error))?;
                let at = runs::time(row, 1)?;
                pending.push(Pending { run, id, at, sender: row.get(2)?, request });
            }
            Err(error) => strange.push((id, Verdict::Refused(error.to_string()))),
        }
    }
    Ok((pending, strange))
}

/// Gives verdicts; the first one a request gets stands. What was asked for has
/// become events or nothing: the letter itself is not kept.
pub(super) fn settle(db: &Connection, verdicts: &[(RequestId, Verdict)]) -> Result<(), Failure> {
    for (id, verdict) in verdicts {
        db.prepare_cached(
            "UPDATE requests SET verdict = ?2, body = '' WHERE id = ?1 AND verdict IS NULL",
        )?
        .execute(params![id.0, verdict.text()])?;
    }
    Ok(())
}

/// Refuses what nobody will read any more.
pub(super) fn refuse_rest(db: &Connection, run: &RunId) -> Result<(), rusqlite::Error> {
    db.prepare_cached(
        "UPDATE requests SET verdict = ?2, body = '' WHERE run = ?1 AND verdict IS NULL",
    )?
    .execute(params![run.as_str(), Verdict::Refused(ENDED.to_owned()).text()])?;
    Ok(())
}
