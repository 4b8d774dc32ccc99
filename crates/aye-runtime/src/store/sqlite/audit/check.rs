//! Checking one run, event by event.

use aye_core::event::Event;
use rusqlite::Connection;

use crate::store::chain::Hash;
use crate::store::derive::{self, Derived, Placed};
use crate::store::sqlite::error::BadCell;
use crate::store::sqlite::walk::Stored;
use crate::store::sqlite::{journal, questions, runs};
use crate::store::{Finding, RunRow};

/// The check of one run, as far as it has come.
#[derive(Debug)]
pub(super) struct Check {
    run: String,
    last: u64,
    kind: String,
    /// The hash of the last event; unknown after a gap.
    before: Before,
    /// What the events make; `None` before the first.
    derived: Option<Derived>,
    /// Whether the events could be trusted so far.
    intact: bool,
}

#[derive(Debug)]
enum Before {
    Nothing,
    Known(Hash),
    Unknown,
}

impl Check {
    pub(super) fn new(run: &str) -> Self {
        Self {
            run: run.to_owned(),
            last: 0,
            kind: String::new(),
            before: Before::Nothing,
            derived: None,
            intact: true,
        }
    }

    pub(super) fn run(&self) -> &str {
        &self.run
    }

    pub(super) fn next(&mut self, stored: &Stored<'_>, report: &mut dyn FnMut(Finding)) {
        let link = &stored.link;
        if link.seq != self.last + 1 {
            self.intact = false;
            self.before = Before::Unknown;
            report(Finding::Missing {
                run: self.run.clone(),
                first: self.last + 1,
                last: link.seq.saturating_sub(1),
            });
        }
        self.last = link.seq;
        link.kind.clone_into(&mut self.kind);
        let hash = match self.before {
            Before::Nothing => Some(link.hash(None)),
            Before::Known(before) => Some(link.hash(Some(&before))),
            // Nothing to compare with: the gap is reported already.
            Before::Unknown => stored.hash,
        };
        let unchanged = stored.hash.is_some() && hash == stored.hash;
        self.before = stored.hash.map_or(Before::Unknown, Before::Known);
        match journal::parse(link.run, link.seq, link.body) {
            Ok(event) if unchanged && agrees(&event, stored) => self.fold(stored, &event),
            Err(error) if unchanged => {
                self.intact = false;
                report(Finding::Unreadable {
                    run: self.run.clone(),
                    seq: link.seq,
                    kind: link.kind.to_owned(),
                    message: error.to_string(),
                });
            }
            Ok(_) | Err(_) => self.changed(report),
        }
    }

    fn changed(&mut self, report: &mut dyn FnMut(Finding)) {
        self.intact = false;
        report(Finding::Changed { run: self.run.clone(), seq: self.last, kind: self.kind.clone() });
    }

    fn fold(&mut self, stored: &Stored<'_>, event: &Event) {
        if !self.intact {
            return;
        }
        let next = Placed { n: stored.n, hash: stored.hash.unwrap_or_default(), event };
        match derive::fold(self.derived.take(), next) {
            Ok(derived) => self.derived = Some(derived),
            Err(_) => self.intact = false,
        }
    }

    /// Compares the end of the chain and the derived rows. Rows are not
    /// compared with events that are already known to be wrong.
    pub(super) fn finish(
        mut self,
        db: &Connection,
        report: &mut dyn FnMut(Finding),
    ) -> Result<(), rusqlite::Error> {
        let row = match runs::load(db, &self.run) {
            Ok(row) => row,
            Err(error) => {
                let BadCell(message) = BadCell::of(error)?;
                self.disagree(message, report);
                return Ok(());
            }
        };
        let Some(row) = row else {
            self.disagree("it is missing".to_owned(), report);
            return Ok(());
        };
        if self.last < row.last_seq {
            report(Finding::Truncated { run: self.run, last: self.last, recorded: row.last_seq });
            return Ok(());
        }
        let head_differs = match self.before {
            Before::Known(head) => head != row.head,
            Before::Nothing | Before::Unknown => false,
        };
        if self.intact && self.last == row.last_seq && head_differs {
            self.changed(report);
        }
        if !self.intact {
            return Ok(());
        }
        let Some(derived) = self.derived.take() else {
            return Ok(());
        };
        let columns = differences(&derived.run, &row);
        if !columns.is_empty() {
            self.disagree(columns.join(", "), report);
        }
        self.compare_questions(db, &derived, report)
    }

    fn compare_questions(
        &self,
        db: &Connection,
        derived: &Derived,
        report: &mut dyn FnMut(Finding),
    ) -> Result<(), rusqlite::Error> {
        let mut rows = match questions::load_all(db, &self.run) {
            Ok(rows) => rows,
            Err(error) => {
                let BadCell(message) = BadCell::of(error)?;
                report(Finding::Row { table: "questions", message });
                return Ok(());
            }
        };
        let mut found = |question: &str| {
            report(Finding::Question { run: self.run.clone(), question: question.to_owned() });
        };
        for expected in &derived.questions {
            match rows.iter().position(|row| row.n == expected.n) {
                Some(place) if rows.swap_remove(place) == *expected => {}
                _ => found(expected.id.as_str()),
            }
        }
        for extra in rows {
            found(extra.id.as_str());
        }
        Ok(())
    }

    fn disagree(&self, columns: String, report: &mut dyn FnMut(Finding)) {
        report(Finding::Run { run: self.run.clone(), columns });
    }
}

/// Whether the columns of an event say what its text says.
fn agrees(event: &Event, stored: &Stored<'_>) -> bool {
    event.run.as_str() == stored.link.run
        && event.seq == stored.link.seq
        && event.at.as_millisecond() == stored.link.at
        && event.kind.name() == stored.link.kind
}

/// The columns of a run's row that are not what its events make them.
fn differences(expected: &RunRow, found: &RunRow) -> Vec<&'static str> {
    // Each column is named, so that none is forgotten.
    let RunRow {
        n,
        id,
        skill,
        file,
        source,
        workspace,
        environment,
        parent,
        driver,
        started_by,
        starter,
        steps,
        status,
        why,
        message,
        concurrency,
        claim,
        step,
        waiting,
        started,
        updated,
        ended,
        last_seq,
        head,
    } = expected;
    [
        ("n", *n == found.n),
        ("id", *id == found.id),
        ("skill", *skill == found.skill),
        ("file", *file == found.file),
        ("source", *source == found.source),
        ("workspace", *workspace == found.workspace),
        ("parent", *parent == found.parent),
        ("environment", *environment == found.environment),
        ("driver", *driver == found.driver),
        ("started_by", *started_by == found.started_by),
        ("starter", *starter == found.starter),
        ("steps", *steps == found.steps),
        ("status", *status == found.status),
        ("why", *why == found.why),
        ("message", *message == found.message),
        ("concurrency", *concurrency == found.concurrency),
        ("claim", *claim == found.claim),
        ("step", *step == found.step),
        ("waiting", *waiting == found.waiting),
        ("started", *started == found.started),
        ("updated", *updated == found.updated),
        ("ended", *ended == found.ended),
        ("last_seq", *last_seq == found.last_seq),
        ("head", *head == found.head),
    ]
    .into_iter()
    .filter_map(|(column, same)| (!same).then_some(column))
    .collect()
}
