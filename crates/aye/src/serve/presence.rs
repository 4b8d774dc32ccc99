//! Tells every process which questions clients of the socket show.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aye_core::id::QuestionId;
use aye_core::question::Agreement;
use aye_runtime::people::Right;
use aye_runtime::usecases::{JournalReader, QuestionRow, QuestionState, Showing, ShowingProcess};

use super::clients::QuestionViewer;
use super::problem::Problem;
use super::server::Server;

/// How often it is looked whether clients show other questions.
const LOOK: Duration = Duration::from_millis(250);
/// How often what they show is said again.
const AGAIN: Duration = Duration::from_secs(5);
/// A client that was not heard for so long may be a machine that sleeps: heartbeats
/// are answered by clients that are there.
const HEARD: Duration = Duration::from_secs(25);

/// Says what is shown for as long as the server runs.
pub(super) async fn tell(server: Arc<Server>) {
    let (mut before, mut at) = (BTreeSet::new(), Instant::now());
    loop {
        tokio::time::sleep(LOOK).await;
        let viewers = server.clients.viewers(HEARD);
        if viewers.is_empty() && before.is_empty() {
            continue;
        }
        let is_due = at.elapsed() >= AGAIN;
        let known = before.clone();
        let told = server.blocking(move |server| say(server, &viewers, &known, is_due)).await;
        // A journal that cannot be written to for now is tried again.
        if let Ok(shown) = told {
            if is_due || shown != before {
                at = Instant::now();
            }
            before = shown;
        }
    }
}

/// Says what is shown, if that is news or due; returns what is.
fn say(
    server: &Server,
    viewers: &[QuestionViewer],
    before: &BTreeSet<Showing>,
    is_due: bool,
) -> Result<BTreeSet<Showing>, Problem> {
    let mut shown = BTreeSet::new();
    for viewer in viewers {
        shown.extend(showing(server, viewer)?);
    }
    if shown != *before || is_due {
        let pid = std::process::id();
        let process = ShowingProcess { name: format!("server {pid}"), pid };
        let all: Vec<Showing> = shown.iter().cloned().collect();
        server.runtime.shows(&process, &all)?;
    }
    Ok(shown)
}

/// Whether this person is among those whom the question asks.
fn may_agree(journal: &JournalReader, row: &QuestionRow, name: &str) -> Result<bool, Problem> {
    let Some(asked) = journal.asked(&row.id)? else { return Ok(false) };
    if asked.approvals <= 1 && !asked.not_starter {
        return Ok(asked.may_be_agreed_to_by(name, &Agreement::default()));
    }
    // Only the whole run says who has agreed, and who started it.
    let state = journal.state(&row.run)?;
    let asks = state.asking().is_some_and(|question| question.id == row.id);
    Ok(asks && asked.may_be_agreed_to_by(name, &state.agreement()))
}

/// What a client shows, if it is an open question that its person may answer: who
/// cannot say yes or no has not been asked.
fn showing(server: &Server, viewer: &QuestionViewer) -> Result<Option<Showing>, Problem> {
    let QuestionViewer { identity, kind, question } = viewer;
    let question = QuestionId::from_text(question);
    if identity.must(Right::Answer).is_err() || question.run().is_none() {
        return Ok(None);
    }
    let Some(journal) = server.runtime.journal_if_any()? else { return Ok(None) };
    let Ok(row) = journal.find_question(question.as_str()) else { return Ok(None) };
    let Some(run) = journal.run(&row.run)? else { return Ok(None) };
    let counts = row.id == question
        && row.state == QuestionState::Open
        && identity.sees(Path::new(&run.workspace))
        && may_agree(&journal, &row, &identity.name)?;
    Ok(counts.then(|| Showing { question, kind: *kind, client: identity.name.clone() }))
}
