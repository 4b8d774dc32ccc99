//! Runs: listed, told, started, cancelled, tried again.

use std::path::Path as FilePath;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use aye_core::question::Edits;
use aye_runtime::people::Right;
use aye_runtime::usecases::{RetryStep, RetryTarget, RunFilter, RunStanding, Sent, StartSkill};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::serve::identity::{ClientKind, Identity};
use crate::serve::metrics::Metrics;
use crate::serve::problem::{Code, Problem};
use crate::serve::server::Server;
use crate::serve::views::{JournalEvent, RunDetailView, RunView};

use super::extract::{Body, Key, Params, Path, no_key};
use super::questions::{must_know_nonce, session_secret};
use super::reply::{Created, Reply, reply};

/// How many are listed unless someone says.
const PAGE: u32 = 50;
/// The longest list.
const LONGEST: u32 = 1000;

/// Which runs are listed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunsQuery {
    /// Only runs with this status.
    status: Option<String>,
    /// Only runs of this skill.
    skill: Option<String>,
    /// Only runs that this person or account started, or that were started like this:
    /// `terminal`, `script`, `assistant`, `schedule`, `web`, `editor` or `api`.
    by: Option<String>,
    /// Only runs with this text in their id, skill, step, message, environment or starter.
    text: Option<String>,
    /// Only runs older than this one: `n` of the last one on the page before.
    before: Option<u64>,
    /// At most so many.
    limit: Option<u32>,
}

/// Runs, the newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RunsPage {
    runs: Vec<RunView>,
    /// `before` for the next page; `null` at the end.
    next: Option<u64>,
}

/// `GET /api/v1/runs`
pub(super) async fn list(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    Params(query): Params<RunsQuery>,
) -> Reply<RunsPage> {
    identity.must(Right::Read)?;
    reply(&server, move |server| runs(server, &identity, &query)).await
}

fn runs(server: &Server, identity: &Identity, query: &RunsQuery) -> Result<RunsPage, Problem> {
    let limit = query.limit.unwrap_or(PAGE).clamp(1, LONGEST);
    let standing = query.status.as_deref().map(|word| {
        RunStanding::from_word(word).ok_or_else(|| {
            let words = RunStanding::ALL.map(RunStanding::word).join(", ");
            Problem::new(Code::Invalid, format!("`status` is one of {words}"))
        })
    });
    let sees = |run: &aye_runtime::usecases::ListedRun| {
        identity.sees(std::path::Path::new(&run.row.workspace))
    };
    let standing = standing.transpose()?;
    let mut filter = RunFilter {
        skill: query.skill.clone(),
        by: query.by.clone(),
        text: query.text.clone(),
        before: query.before,
        limit: limit + 1,
        ..RunFilter::default()
    };
    let mut found = Vec::new();
    loop {
        let listed = match standing {
            Some(standing) => server.runtime.runs_that_stand(standing, &filter)?,
            None => server.runtime.runs(&filter)?,
        };
        filter.before = listed.last().map(|run| run.row.n);
        let is_end = listed.len() <= limit as usize;
        found.extend(listed.into_iter().filter(sees));
        if is_end || found.len() > limit as usize {
            let more = found.len() > limit as usize;
            found.truncate(limit as usize);
            return Ok(page(&found, more));
        }
    }
}

fn page(found: &[aye_runtime::usecases::ListedRun], more: bool) -> RunsPage {
    let runs: Vec<RunView> = found.iter().map(RunView::of).collect();
    let next = runs.last().filter(|_| more).map(|run| run.n);
    RunsPage { runs, next }
}

/// `GET /api/v1/runs/{run}`
pub(super) async fn one(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    Path(run): Path<String>,
) -> Reply<RunDetailView> {
    identity.must(Right::Read)?;
    reply(&server, move |server| {
        let journal = server.journal()?;
        let row = server.run(&journal, &run, &identity)?;
        let listed = journal.listed(row)?;
        RunDetailView::read(&journal, &listed)
    })
    .await
}

/// Which events are wanted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EventsQuery {
    /// Only events with greater numbers.
    #[serde(default)]
    after: u64,
    /// At most so many.
    limit: Option<u32>,
}

/// Events in the order of the journal.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct EventsPage {
    events: Vec<JournalEvent>,
    /// The number of the last event that was looked at: `after` for the next page.
    n: u64,
}

/// `GET /api/v1/runs/{run}/events`: of the run and the runs inside it.
pub(super) async fn events(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    Path(run): Path<String>,
    Params(query): Params<EventsQuery>,
) -> Reply<EventsPage> {
    identity.must(Right::Read)?;
    reply(&server, move |server| {
        let journal = server.journal()?;
        let row = server.run(&journal, &run, &identity)?;
        let mut events = journal.events_within(&row.id)?;
        events.retain(|(n, _)| *n > query.after);
        events.truncate(query.limit.unwrap_or(LONGEST).clamp(1, LONGEST) as usize);
        let n = events.last().map_or(query.after, |(n, _)| *n);
        let events = events.into_iter().map(|(n, event)| JournalEvent::of(n, event)).collect();
        Ok(EventsPage { events, n })
    })
    .await
}

/// `GET /api/v1/events`: of every run.
pub(super) async fn all_events(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    Params(query): Params<EventsQuery>,
) -> Reply<EventsPage> {
    identity.must(Right::Read)?;
    reply(&server, move |server| {
        let Some(journal) = server.runtime.journal_if_any()? else {
            return Ok(EventsPage::default());
        };
        let limit = query.limit.unwrap_or(LONGEST).clamp(1, LONGEST);
        let events = journal.events_after(query.after, limit)?;
        let n = events.last().map_or(query.after, |(n, _)| *n);
        let mut shown = Vec::new();
        for (n, event) in events {
            let run = journal.run(&event.run)?;
            if run.is_some_and(|run| identity.sees(std::path::Path::new(&run.workspace))) {
                shown.push(JournalEvent::of(n, event));
            }
        }
        Ok(EventsPage { events: shown, n })
    })
    .await
}

/// A skill that is to be started.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::serve) struct StartBody {
    /// The skill's name.
    pub(in crate::serve) skill: String,
    /// Its project's directory; without it, the first project that has the skill.
    pub(in crate::serve) project: Option<String>,
    /// What it is given.
    #[serde(default)]
    pub(in crate::serve) inputs: Map<String, Value>,
    /// What it runs against.
    pub(in crate::serve) environment: Option<String>,
}

/// A run that was started.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(in crate::serve) struct Started {
    /// The run.
    pub(in crate::serve) run: String,
    /// The same request was sent before.
    pub(in crate::serve) repeated: bool,
    /// What someone should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::serve) warnings: Vec<String>,
}

impl StartBody {
    /// Starts the skill.
    pub(in crate::serve) fn start(
        self,
        server: &Server,
        identity: &Identity,
        kind: ClientKind,
        key: Option<String>,
    ) -> Result<Started, Problem> {
        server.must_act(identity, Right::Start)?;
        let runtime = server.project_of(&self.skill, self.project.as_deref(), identity)?;
        if let Err(untrusted) = runtime.must_be_trusted() {
            return Err(Problem { code: Code::NotTrusted, ..untrusted.into() });
        }
        let Self { skill, inputs, environment, .. } = self;
        let through = identity.started_by(kind);
        let start = StartSkill { skill, inputs, environment, key, through };
        let turn = server.starts.turn()?;
        let started = runtime.start_skill(&start, &identity.name)?;
        drop(turn);
        if !started.repeated {
            Metrics::count(&server.metrics.starts);
        }
        let warnings = started.warnings.iter();
        Ok(Started {
            run: started.run.to_string(),
            repeated: started.repeated,
            warnings: warnings.map(|warning| warning.message(&runtime.directory)).collect(),
        })
    }
}

/// `POST /api/v1/runs`
pub(super) async fn start(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    Key(key): Key,
    Body(body): Body<StartBody>,
) -> Result<Created<Started>, Problem> {
    let kind = ClientKind::Program;
    let started = server.blocking(move |server| body.start(server, &identity, kind, key)).await?;
    Ok(Created { repeated: started.repeated, value: started })
}

/// A run that was cancelled or is tried again.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(in crate::serve) struct ChangedRun {
    /// The run.
    pub(in crate::serve) run: String,
}

/// Why a run is cancelled.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::serve) struct CancelBody {
    /// In words; recorded in the journal.
    pub(in crate::serve) reason: Option<String>,
}

impl CancelBody {
    /// Cancels the run.
    pub(in crate::serve) fn cancel(
        self,
        server: &Server,
        identity: &Identity,
        run: &str,
    ) -> Result<ChangedRun, Problem> {
        server.must_act(identity, Right::Start)?;
        let journal = server.journal()?;
        let row = server.run(&journal, run, identity)?;
        match server.runtime.cancel_detached(&row, identity.name.clone(), self.reason)? {
            Sent::Accepted | Sent::AcceptedUndriven => Ok(ChangedRun { run: row.id.to_string() }),
            Sent::Refused(why) => {
                let detail = format!("run `{}` was not cancelled: {why}", row.id);
                Err(Problem::new(Code::Refused, detail))
            }
        }
    }
}

/// `POST /api/v1/runs/{run}/cancel`
pub(super) async fn cancel(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    Path(run): Path<String>,
    Body(body): Body<CancelBody>,
) -> Reply<ChangedRun> {
    reply(&server, move |server| body.cancel(server, &identity, &run)).await
}

/// Continues a run that no process drives, in a process of its own.
pub(in crate::serve) fn resume_run(
    server: &Server,
    identity: &Identity,
    run: &str,
) -> Result<ChangedRun, Problem> {
    server.must_act(identity, Right::Start)?;
    let named = server.run(&server.journal()?, run, identity)?;
    let row = server.runtime.resumable(named.id.as_str())?.row;
    let runtime = server.runtime.served_at(FilePath::new(&row.workspace))?;
    runtime.continue_undriven(&row, &mut |_| {})?;
    Ok(ChangedRun { run: row.id.to_string() })
}

/// `POST /api/v1/runs/{run}/resume`
pub(super) async fn resume(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    Path(run): Path<String>,
) -> Reply<ChangedRun> {
    reply(&server, move |server| resume_run(server, &identity, &run)).await
}

/// What a step is given.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct StepArguments {
    /// By the names that `set` of a retry takes, secrets masked. Empty for a step that is
    /// given nothing, and where only the process that drives the run knows it.
    arguments: Map<String, Value>,
}

/// `GET /api/v1/runs/{run}/steps/{step}/arguments`
pub(super) async fn arguments(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    Path((run, step)): Path<(String, String)>,
) -> Reply<StepArguments> {
    identity.must(Right::Read)?;
    reply(&server, move |server| {
        let journal = server.journal()?;
        let row = server.run(&journal, &run, &identity)?;
        let runtime = server.runtime.served_at(FilePath::new(&row.workspace))?;
        let arguments = journal.arguments(&row, &step, &runtime).unwrap_or_default();
        Ok(StepArguments { arguments })
    })
    .await
}

/// How a failed step is tried again.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::serve) struct RetryBody {
    /// The step, if several failed.
    pub(in crate::serve) step: Option<String>,
    /// What it is given differently, by name.
    #[serde(default)]
    pub(in crate::serve) set: Map<String, Value>,
    /// The digest of the question about the failure, if one is open.
    pub(in crate::serve) digest: Option<String>,
    /// From that question, for browsers.
    pub(in crate::serve) nonce: Option<String>,
}

/// What shows that a client means the failure that it saw.
#[derive(Debug, Clone)]
pub(in crate::serve) enum RetryProof {
    /// A command of the socket says what it likes to.
    Socket,
    /// A program has to send the digest.
    Bearer,
    /// A browser has to send the nonce too: the secret of its session.
    Browser(String),
}

impl RetryBody {
    /// Tries the step again.
    pub(in crate::serve) fn retry(
        self,
        server: &Server,
        identity: &Identity,
        run: &str,
        kind: ClientKind,
        (key, proof): (Option<String>, &RetryProof),
    ) -> Result<ChangedRun, Problem> {
        server.must_act(identity, Right::Start)?;
        let journal = server.journal()?;
        let row = server.run(&journal, run, identity)?;
        let by = identity.answerer(kind);
        let edits = (!self.set.is_empty()).then(|| Edits { set: self.set, ..Edits::default() });
        let retry =
            RetryStep { run: row.id.to_string(), step: self.step, edits, digest: self.digest, key };
        if let Some(run) = server.runtime.retried_before(&retry, &by)? {
            return Ok(ChangedRun { run: run.to_string() });
        }
        // A change decides what runs, and a question about a failure is a question.
        let target = server.runtime.retryable(row.id.as_str(), retry.step.as_deref())?;
        if retry.edits.is_some() || matches!(target, RetryTarget::Question(_)) {
            server.must_act(identity, Right::Answer)?;
        }
        proof.fits(&target, &retry, self.nonce.as_deref())?;
        let run = server.runtime.retry_step(retry, &by)?;
        Ok(ChangedRun { run: run.to_string() })
    }
}

impl RetryProof {
    /// Whether a request is for the failure that the client saw: sent twice, it must not
    /// try the next failure again.
    fn fits(
        &self,
        target: &RetryTarget,
        retry: &RetryStep,
        nonce: Option<&str>,
    ) -> Result<(), Problem> {
        match (self, target) {
            (Self::Socket, _) | (Self::Bearer, RetryTarget::Ended { .. }) => Ok(()),
            (Self::Browser(_), RetryTarget::Ended { .. }) => match &retry.key {
                Some(_) => Ok(()),
                None => Err(no_key()),
            },
            (Self::Bearer, RetryTarget::Question(_)) => shown_digest(retry).map(drop),
            (Self::Browser(secret), RetryTarget::Question(question)) => {
                must_know_nonce(secret, question.id.as_str(), shown_digest(retry)?, nonce)
            }
        }
    }
}

fn shown_digest(retry: &RetryStep) -> Result<&str, Problem> {
    retry.digest.as_deref().ok_or_else(|| {
        Problem::new(Code::Invalid, "`digest` is missing: a question about the failure is open")
            .hint("send the digest of that question")
    })
}

/// `POST /api/v1/runs/{run}/retry`
pub(super) async fn retry(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    headers: HeaderMap,
    Key(key): Key,
    Path(run): Path<String>,
    Body(body): Body<RetryBody>,
) -> Reply<ChangedRun> {
    let (kind, proof) = match session_secret(&headers, &identity) {
        None => (ClientKind::Program, RetryProof::Bearer),
        Some(secret) => (ClientKind::Page, RetryProof::Browser(secret)),
    };
    reply(&server, move |server| body.retry(server, &identity, &run, kind, (key, &proof))).await
}
