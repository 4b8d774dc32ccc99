//! Starting a skill, and trying a failed run again, on the word of someone who is
//! not at this process.

use std::path::Path;

use aye_core::event::{self, EventKind};
use aye_core::id::RunId;
use aye_core::question::{Answer, Edits};
use aye_core::skill::Given;
use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::error::Error;
use crate::runtime::Runtime;
use crate::trust::StartedBy;

use super::answer::{AnswerError, AnswerRequest, Answerer, key_digest, same_inputs};
use super::prepare::{Prepared, SkillError};
use super::resume::RetryTarget;
use super::warning::Warning;

/// A skill that is to be started.
#[derive(Debug, Clone, PartialEq)]
pub struct StartSkill {
    /// Its name, as it is listed.
    pub skill: String,
    /// What it is given.
    pub inputs: Map<String, Value>,
    /// The environment it runs against.
    pub environment: Option<String>,
    /// The key under which the client sends it: sent again, it is the same run.
    pub key: Option<String>,
    /// Through what it is started, as the journal records it.
    pub through: event::StartedBy,
}

/// A failed step that is to be tried again.
#[derive(Debug, Clone, PartialEq)]
pub struct RetryStep {
    /// The run, or the beginning of its id.
    pub run: String,
    /// The step, if several failed.
    pub step: Option<String>,
    /// What it is given differently.
    pub edits: Option<Edits>,
    /// The digest of the question about the failure, as the person saw it.
    pub digest: Option<String>,
    /// The key under which the client sends it: sent again, it counts once.
    pub key: Option<String>,
}

impl RetryStep {
    fn choice(&self) -> &'static str {
        if self.edits.is_some() { "edit" } else { "retry" }
    }
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedRun {
    /// The run.
    pub run: RunId,
    /// The same request was sent before.
    pub repeated: bool,
    /// What someone should know.
    pub warnings: Vec<Warning>,
}

/// Why nothing was started.
#[derive(Debug, thiserror::Error)]
pub enum StartSkillError {
    /// The key was used for something else.
    #[error("the key was used for another start: run `{0}`")]
    OtherRequest(RunId),
    /// It cannot be started.
    #[error(transparent)]
    Failed(#[from] Error),
}

impl Runtime {
    /// Starts a skill of this project in a process of its own.
    pub fn start_skill(&self, start: &StartSkill, by: &str) -> Result<StartedRun, StartSkillError> {
        let run = match &start.key {
            Some(key) => run_of_key(by, key),
            None => self.new_run_id(),
        };
        if let Some(started) = self.started_before(start, &run)? {
            return Ok(started);
        }
        match self.start_new(start.clone(), &run, by) {
            // The first may have been on its way when we looked.
            Err(error) => self.started_before(start, &run)?.ok_or(error),
            started => started,
        }
    }

    /// The run that was started under the same key.
    fn started_before(
        &self,
        start: &StartSkill,
        run: &RunId,
    ) -> Result<Option<StartedRun>, StartSkillError> {
        let journal = self.journal_if_any()?.filter(|_| start.key.is_some());
        let Some(journal) = journal else { return Ok(None) };
        if journal.run(run)?.is_none() {
            return Ok(None);
        }
        let started = journal.state(run)?.started;
        let same = started.skill == skill_part(&start.skill)
            && Path::new(&started.workspace) == self.directory
            && start.environment == started.environment
            && self.has_same_inputs(start, &started.inputs);
        match same {
            true => Ok(Some(StartedRun { run: run.clone(), repeated: true, warnings: Vec::new() })),
            false => Err(StartSkillError::OtherRequest(run.clone())),
        }
    }

    fn start_new(
        &self,
        start: StartSkill,
        run: &RunId,
        by: &str,
    ) -> Result<StartedRun, StartSkillError> {
        let skill = self.check_skill(&start.skill).map_err(SkillError::with_places)?;
        let given = start.inputs.into_iter().map(|(name, value)| (name, Given::Data(value)));
        let prepared = self.prepare(skill, given.collect())?;
        let prepared = Prepared { environment: start.environment, ..prepared };
        let mut warnings = Vec::new();
        let starter = Some(by.to_owned()).filter(|name| *name != self.driver().user);
        let mut warn = |warning| warnings.push(warning);
        let mut request = self.detached_request(prepared)?;
        request.run = run.clone();
        request.started_by = start.through;
        request.starter = starter.or(request.starter);
        self.start_request_detached(request, &mut warn)?;
        Ok(StartedRun { run: run.clone(), repeated: false, warnings })
    }

    /// Whether a run was started with what is given now, defaults included.
    fn has_same_inputs(&self, start: &StartSkill, recorded: &IndexMap<String, Value>) -> bool {
        let given = start.inputs.clone().into_iter();
        let given = given.map(|(name, value)| (name, Given::Data(value))).collect();
        let prepared = self.check_skill(&start.skill).ok().map(|skill| self.prepare(skill, given));
        match prepared {
            Some(Ok(prepared)) => same_inputs(&prepared.inputs.values, recorded),
            // The file has changed: what is given has to be what was given.
            Some(Err(_)) | None => {
                let given: IndexMap<String, Value> = start.inputs.clone().into_iter().collect();
                same_inputs(&given, recorded)
            }
        }
    }

    /// Tries a failed step again: answers the question about it, or takes the
    /// run up that ended with it, in a process of its own.
    pub fn retry_step(&self, retry: RetryStep, by: &Answerer) -> Result<RunId, AnswerError> {
        if let Some(run) = self.retried_before(&retry, by)? {
            return Ok(run);
        }
        let choice = retry.choice();
        let RetryStep { run, step, edits, digest, key } = retry;
        match self.retryable(&run, step.as_deref())? {
            RetryTarget::Question(question) => {
                let request = AnswerRequest {
                    digest,
                    edits,
                    key,
                    ..AnswerRequest::new(&question.id, choice)
                };
                self.answer(&request, by, &mut |_| {})?;
                Ok(question.run)
            }
            RetryTarget::Ended { run, step } => {
                let answer = Answer {
                    origin: Some(self.origin()),
                    proof: by.proof,
                    key: key.map(|key| key_digest(&by.name, &key)),
                    ..Answer::new(choice, by.name.clone(), by.channel)
                };
                self.retry_detached(&run.row, step, edits, answer, &mut |_| {})?;
                Ok(run.row.id)
            }
        }
    }

    /// The run that the same request under the same key was for: it counts once,
    /// whatever became of the step since.
    pub fn retried_before(
        &self,
        retry: &RetryStep,
        by: &Answerer,
    ) -> Result<Option<RunId>, AnswerError> {
        let Some(key) = retry.key.as_ref().map(|key| key_digest(&by.name, key)) else {
            return Ok(None);
        };
        let journal = self.journal()?;
        let named = journal.find_run(&retry.run)?;
        let outer = journal.outermost(&named.id)?.map_or_else(|| named.id.clone(), |row| row.id);
        for (_, event) in journal.events_within(&outer)?.into_iter().rev() {
            let (answer, edits, refused) = match event.kind {
                EventKind::ConfirmationAnswered(answered) => {
                    let edits = answered.answer.edits.clone();
                    let question = answered.question.to_string();
                    let refused = answered.refused.map(|why| (question, why));
                    (answered.answer, edits, refused)
                }
                EventKind::StepRetried { answer: Some(answer), edits, .. } => {
                    (*answer, edits, None)
                }
                _ => continue,
            };
            if answer.key.as_ref() != Some(&key) {
                continue;
            }
            if answer.value.as_str() != Some(retry.choice()) || edits != retry.edits {
                return Err(AnswerError::OtherRetry { run: event.run.to_string() });
            }
            return match refused {
                Some((question, why)) => Err(AnswerError::Refused { question, why }),
                None => Ok(Some(event.run)),
            };
        }
        Ok(None)
    }

    /// The same, seen from a project that is served: nobody typed it there.
    pub fn served_at(&self, root: &Path) -> Result<Self, Error> {
        let root = root.to_str().ok_or_else(|| {
            let message = format!("`{}` is not a UTF-8 path", root.display());
            Error::usage(message, "serve a directory whose path is valid UTF-8")
        })?;
        Ok(self.at(root)?.started_by(StartedBy::Server))
    }
}

/// The run that a key stands for.
fn run_of_key(by: &str, key: &str) -> RunId {
    let digest = key_digest(by, key);
    RunId::from_random(u64::from_str_radix(&digest[..16], 16).unwrap_or_default())
}

/// `FILE#NAME` is the skill `NAME`.
fn skill_part(wanted: &str) -> &str {
    wanted.rsplit_once('#').map_or(wanted, |(_, name)| name)
}
