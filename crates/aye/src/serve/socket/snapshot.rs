//! The first message: what runs, what is asked and who is there.

use std::path::Path;

use aye_runtime::usecases::{RunFilter, RunStatus};

use crate::harmless::json_line;
use crate::serve::identity::Identity;
use crate::serve::problem::Problem;
use crate::serve::server::Server;
use crate::serve::views::{QuestionView, RunDetailView, Snapshot};

/// How many runs and how many questions are listed.
const RUNS: u32 = 200;
const QUESTIONS: u32 = 200;
/// How often it is tried again when something happens meanwhile.
const TRIES: u32 = 5;

/// A snapshot for this person, and the number of the newest event it knows of.
pub(super) fn snapshot(server: &Server, identity: &Identity) -> Result<(u64, String), Problem> {
    let journal = server.runtime.journal_to_watch()?;
    let sees_all = identity.projects().is_empty();
    let mut tries = 0;
    loop {
        let n = journal.position()?;
        let mut runs = Vec::new();
        let mut runs_in_all = 0;
        for status in [RunStatus::Running, RunStatus::Paused] {
            // Who does not see every project needs all of them: theirs are counted, and those
            // of others must not take their room.
            let limit = if sees_all { RUNS } else { u32::MAX };
            let filter = RunFilter { status: Some(status), limit, ..RunFilter::default() };
            let rows = journal.runs(&filter)?.into_iter();
            let seen: Vec<_> =
                rows.filter(|row| identity.sees(Path::new(&row.workspace))).collect();
            runs_in_all += match sees_all {
                true => journal.count_runs(status)?,
                false => seen.len() as u64,
            };
            for row in seen {
                if runs.len() < RUNS as usize {
                    runs.push(RunDetailView::read(&journal, &journal.listed(row)?)?);
                }
            }
        }
        let mut questions = Vec::new();
        let limit = if sees_all { QUESTIONS } else { u32::MAX };
        for open in journal.open_questions_after(0, limit)? {
            if let Some(run) = journal.run(&open.row.run)?
                && identity.sees(Path::new(&run.workspace))
            {
                questions.push(QuestionView::of(open, run.workspace));
            }
        }
        let open = if sees_all { journal.count_open()? } else { questions.len() as u64 };
        questions.truncate(QUESTIONS as usize);
        let mut clients = server.clients.list();
        for client in clients.iter_mut().filter(|_| !sees_all) {
            let seen = |id: &String| questions.iter().any(|question| question.id() == id);
            client.question = client.question.take().filter(seen);
        }
        // What happened meanwhile may be in it or not: it has to be of one moment. On
        // a busy journal the older number is told; who hears an event twice is told of
        // nothing new.
        tries += 1;
        if journal.position()? != n && tries < TRIES {
            continue;
        }
        let told = Snapshot {
            r#type: "snapshot",
            n,
            runs: &runs,
            runs_in_all,
            questions: &questions,
            questions_open: open,
            clients,
            you: &identity.name,
        };
        return Ok((n, json_line(&told)));
    }
}
