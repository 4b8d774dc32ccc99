//! The mailbox: a table of requests.

use aye_core::id::RunId;
use aye_core::input::Request;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::change::Failure;
use super::{Durability, SqliteStore, runs};
use crate::store::{Mailbox, Pending, RequestId, StoreError, Verdict};

const ACCEPTED: &str = "accepted";
const REFUSED: &str = "refused: ";

fn text(verdict: &Verdict) -> String {
    match verdict.refusal() {
        None => ACCEPTED.to_owned(),
        Some(why) => format!("{REFUSED}{why}"),
    }
}

fn from_text(written: &str) -> Verdict {
    // As every version has written it.
    if let Some(verdict) =
        [Verdict::Accepted, Verdict::Ended].into_iter().find(|v| text(v) == written)
    {
        return verdict;
    }
    Verdict::Refused(written.strip_prefix(REFUSED).unwrap_or(written).to_owned())
}

impl Mailbox for SqliteStore {
    fn send(
        &mut self,
        run: &RunId,
        request: &Request,
        sender: &str,
        at: Timestamp,
    ) -> Result<RequestId, StoreError> {
        // The driver's commit, which is what counts, makes the request durable
        // too; syncing it on its own would only make the answer later.
        self.sync(Durability::Process)?;
        let sent = self.commit(|change| {
            let row = runs::load(change, run.as_str())?
                .ok_or_else(|| StoreError::NoRun { run: run.clone() })?;
            let verdict = row.status.is_ended().then(|| text(&Verdict::Ended));
            // Nobody will read it: what it says, a code perhaps, is not kept.
            let body = match &verdict {
                Some(_) => String::new(),
                None => serde_json::to_string(request)
                    .map_err(|source| StoreError::Json { what: "the request", source })?,
            };
            change
                .prepare_cached(
                    "INSERT INTO requests (run, at, sender, body, verdict)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute(params![run.as_str(), at.as_millisecond(), sender, body, verdict])?;
            Ok(RequestId(change.last_insert_rowid()))
        });
        self.sync(self.durability)?;
        self.notify_of_request(run);
        sent
    }

    fn pending(&mut self, run: &RunId) -> Result<Vec<Pending>, StoreError> {
        self.pending_for(run, false)
    }

    fn pending_within(&mut self, run: &RunId) -> Result<Vec<Pending>, StoreError> {
        self.pending_for(run, true)
    }

    fn verdict(&self, id: RequestId) -> Result<Option<Verdict>, StoreError> {
        let found = self
            .db
            .prepare_cached("SELECT verdict FROM requests WHERE id = ?1")
            .and_then(|mut query| {
                query.query_row([id.0], |row| row.get::<_, Option<String>>(0)).optional()
            })
            .map_err(|error| self.failed(&error))?;
        match found {
            Some(verdict) => Ok(verdict.as_deref().map(from_text)),
            None => Err(StoreError::NoRequest { id: id.0 }),
        }
    }
}

impl SqliteStore {
    fn pending_for(&mut self, run: &RunId, within: bool) -> Result<Vec<Pending>, StoreError> {
        let (pending, unreadable) =
            load_pending(&self.db, run, within).map_err(|e| self.failed(&e))?;
        if !unreadable.is_empty() {
            self.commit(|change| settle(change, &unreadable))?;
        }
        Ok(pending)
    }
}

type UnreadableRequests = Vec<(RequestId, Verdict)>;

fn load_pending(
    db: &Connection,
    run: &RunId,
    within: bool,
) -> Result<(Vec<Pending>, UnreadableRequests), rusqlite::Error> {
    let inside = match within {
        true => run.inside(),
        false => String::new()..String::new(),
    };
    let mut query = db.prepare_cached(
        "SELECT id, at, sender, body, run FROM requests
         WHERE (run = ?1 OR (run >= ?2 AND run < ?3)) AND verdict IS NULL ORDER BY id",
    )?;
    let mut rows = query.query([run.as_str(), &inside.start, &inside.end])?;
    let mut pending = Vec::new();
    let mut unreadable = Vec::new();
    while let Some(row) = rows.next()? {
        let id = RequestId(row.get(0)?);
        match serde_json::from_str(row.get_ref(3)?.as_str()?) {
            Ok(request) => {
                let run: String = row.get(4)?;
                let run = RunId::new(run).map_err(|error| runs::unexpected(4, error))?;
                let at = runs::time(row, 1)?;
                pending.push(Pending { run, id, at, sender: row.get(2)?, request });
            }
            Err(error) => unreadable.push((id, Verdict::Refused(error.to_string()))),
        }
    }
    Ok((pending, unreadable))
}

/// Gives verdicts; the first one a request gets stands. What was asked for has
/// become events or nothing: the request itself is not kept.
pub(super) fn settle(db: &Connection, verdicts: &[(RequestId, Verdict)]) -> Result<(), Failure> {
    for (id, verdict) in verdicts {
        db.prepare_cached(
            "UPDATE requests SET verdict = ?2, body = '' WHERE id = ?1 AND verdict IS NULL",
        )?
        .execute(params![id.0, text(verdict)])?;
    }
    Ok(())
}

/// Refuses what nobody will read any more.
pub(super) fn refuse_rest(db: &Connection, run: &RunId) -> Result<(), rusqlite::Error> {
    db.prepare_cached(
        "UPDATE requests SET verdict = ?2, body = '' WHERE run = ?1 AND verdict IS NULL",
    )?
    .execute(params![run.as_str(), text(&Verdict::Ended)])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Other versions of Aye read and write the same table.
    #[test]
    fn verdicts_are_written_as_before() {
        let refused = || Verdict::Refused("not now".to_owned());
        for (verdict, written) in [
            (Verdict::Accepted, "accepted"),
            (refused(), "refused: not now"),
            (Verdict::Ended, "refused: the run has ended"),
        ] {
            assert_eq!(text(&verdict), written);
            assert_eq!(from_text(written), verdict);
        }
        assert_eq!(from_text("not now"), refused());
    }
}
