//! Resuming a run, where it is or at the step that failed.

use std::path::Path;
use std::sync::Arc;

use aye_core::event::Driver;
use aye_core::input::{Input, Retry};
use aye_core::journal::State;
use aye_core::question::{Answer, Channel, Edits, Purpose};
use aye_core::secrets::is_secret;
use aye_process::Signals;
use indexmap::IndexMap;
use serde_json::Value;

use crate::driver::InsideSecrets;
use crate::error::Error;
use crate::fmt::{escape_control_line, plural, shell_word};
use crate::runtime::Runtime;
use crate::store::{QuestionRow, RunRow};

use super::active_run::{ActiveRun, Beginning};
use super::journal_reader::JournalReader;
use super::loaded_run::LoadedRun;
use super::warning::Warning;

/// A run that is to be resumed.
pub struct ResumeRequest {
    /// Which.
    pub row: RunRow,
    /// The secrets that the journal does not keep.
    pub secrets: IndexMap<String, String>,
    /// Someone is there who can be asked about a failure.
    pub attended: bool,
}

/// A run that failed and is to be tried again.
pub struct RetryRequest {
    /// The run.
    pub resume: ResumeRequest,
    /// The step that failed.
    pub step: String,
    /// What the step is given differently.
    pub edits: Option<Edits>,
}

/// What trying a failed step again means.
pub enum RetryTarget {
    /// The run asks what to do: this question is to be answered.
    Question(Box<QuestionRow>),
    /// The run has ended with this step.
    Ended {
        /// The run.
        run: Box<LoadedRun>,
        /// The step.
        step: String,
    },
}

impl Runtime {
    /// The run that someone wants to resume: the outermost, if it has not ended.
    pub fn resumable(&self, name: &str) -> Result<LoadedRun, Error> {
        let journal = self.journal()?;
        let named = journal.find_run(name)?;
        let row = journal.outermost(&named.id)?.unwrap_or(named);
        let run = journal.load(&row, &self.at(&row.workspace)?)?;
        if row.status.is_ended() {
            return Err(run.has_ended(match run.state.failed_step() {
                Some(_) => format!("try its last step again with `aye retry {}`", row.id),
                None => {
                    let lost: Vec<String> = run.lost_secrets().map(str::to_owned).collect();
                    format!("start again with `{}`", run_command(&run.state, &lost))
                }
            }));
        }
        Ok(run)
    }

    /// What trying a failed step again means here.
    pub fn retryable(&self, name: &str, step: Option<&str>) -> Result<RetryTarget, Error> {
        let journal = self.journal()?;
        let named = journal.find_run(name)?;
        let mut waiting = open_recoveries(&journal, &named, step)?;
        match waiting.len() {
            0 => {}
            1 => return Ok(RetryTarget::Question(Box::new(waiting.remove(0)))),
            several => {
                let ids: Vec<&str> = waiting.iter().map(|one| one.id.as_str()).collect();
                return Err(Error::usage(
                    format!("{several} failed steps of run `{}` wait", named.id),
                    format!("answer one of them: `aye answer ID edit --set …`: {}", ids.join(", ")),
                ));
            }
        }
        let row = journal.outermost(&named.id)?.unwrap_or_else(|| named.clone());
        let hint = match named.parent.is_some() {
            true => Some(format!("the run around it is `{}`", row.id)),
            false if !row.status.is_ended() => {
                Some(format!("`aye show {}` shows its state", row.id))
            }
            false => None,
        };
        if hint.is_some() {
            let message = format!("no failed step of run `{}` waits for an answer", named.id);
            return Err(Error::Refused { message, hint });
        }
        let run = Box::new(journal.load(&row, &self.at(&row.workspace)?)?);
        match (run.state.failed_step().map(str::to_owned), step) {
            (None, _) => Err(run
                .has_ended("only a run that ended because a step failed can continue".to_owned())),
            (Some(failed), Some(step)) if failed != step => {
                Err(run.has_ended(format!("the step that failed is `{failed}`")))
            }
            (Some(step), _) => Ok(RetryTarget::Ended { run, step }),
        }
    }

    /// Takes up a run that no process drives.
    pub fn resume(
        &self,
        request: &ResumeRequest,
        warn: &mut dyn FnMut(Warning),
    ) -> Result<ActiveRun, Error> {
        let driver = Driver { attended: request.attended, ..self.driver() };
        self.take_up(request, Beginning::Resumed(driver), warn)
    }

    /// Takes up a run that failed, at the step that did.
    pub fn retry(
        &self,
        request: RetryRequest,
        warn: &mut dyn FnMut(Warning),
    ) -> Result<ActiveRun, Error> {
        let value = if request.edits.is_some() { "edit" } else { "retry" };
        let answer = Answer {
            origin: Some(self.origin()),
            ..Answer::local(value, self.person(), Channel::Command)
        };
        self.retry_with(request, answer, warn)
    }

    /// The same, on the word of the person who gave this answer.
    pub(super) fn retry_with(
        &self,
        request: RetryRequest,
        answer: Answer,
        warn: &mut dyn FnMut(Warning),
    ) -> Result<ActiveRun, Error> {
        let RetryRequest { resume, step, edits } = request;
        let driver = Driver { attended: resume.attended, ..self.driver() };
        let answer = Some(Box::new(answer));
        // Which epoch this is, is known once the run is locked.
        let retry = Retry { driver, epoch: 0, step: Some(step), edits, turn: None, answer };
        self.take_up(&resume, Beginning::Retried(Box::new(retry)), warn)
    }

    fn take_up(
        &self,
        request: &ResumeRequest,
        mut beginning: Beginning,
        warn: &mut dyn FnMut(Warning),
    ) -> Result<ActiveRun, Error> {
        let row = &request.row;
        let runtime = self.at(&row.workspace)?;
        let mut store = runtime.store()?;
        let delivery_worker = runtime.announce(&mut *store, request.attended);
        let lease = store.acquire(&row.id, &runtime.holder())?;
        store.verify(&row.id)?;
        let loaded = LoadedRun::read(&*store, row, &runtime)?;
        let mut secrets = loaded.secrets(&request.secrets)?;
        // What is left to be cleaned up may need only some of them.
        if loaded.state.winding_down.is_none() {
            loaded.must_know(&request.secrets)?;
        }
        loaded.read_secrets(&mut secrets, &runtime)?;
        loaded.read_hidden(&request.secrets, &mut secrets)?;
        loaded.changed().into_iter().for_each(&mut *warn);
        runtime.left_out().map(Warning::SettingsLeftOut).into_iter().for_each(&mut *warn);
        let ended = end_survivors(row, warn)?;
        let mut machine = loaded.machine(&runtime, secrets)?;
        let world = runtime.world(Path::new(&row.workspace));
        InsideSecrets::new((&*store, &runtime), runtime.limits(), &world, true)
            .learn(&mut machine)?;
        machine.ended_survivors(ended);
        if let Beginning::Retried(retry) = &mut beginning {
            retry.epoch = lease.epoch();
            // The process that waits for the verdict gets the refusal: nobody reads the
            // errors of a driver in the background.
            let tried = machine.clone().handle(Input::Retry((**retry).clone()), &world);
            if let Some(refusal) = tried.refusal {
                return Err(Error::Refused { message: refusal.to_string(), hint: None });
            }
        }
        let (memory, flow, rest_after) = (Arc::new(runtime.memory()), loaded.flow, None);
        Ok(ActiveRun {
            runtime,
            flow,
            store,
            lease,
            machine,
            beginning,
            memory,
            delivery_worker,
            rest_after,
        })
    }
}

/// Nothing is run again while something of the old run may still be at it.
pub(super) fn end_survivors(row: &RunRow, warn: &mut dyn FnMut(Warning)) -> Result<u32, Error> {
    let found = aye_process::survivors::find(row.id.as_str());
    if found.is_empty() {
        return Ok(0);
    }
    let mut signals = Signals::catch().map_err(Error::Signals)?;
    warn(Warning::Survivors(found.len()));
    let grace = aye_process::DEFAULT_GRACE;
    let ended = aye_process::survivors::end(row.id.as_str(), grace, &mut signals);
    drop(signals);
    let left = ended.left;
    if left > 0 {
        let pids: Vec<String> = found.iter().map(|one| one.identity.pid.to_string()).collect();
        return Err(Error::Refused {
            message: format!("{left} processes of run `{}` cannot be ended", row.id),
            hint: Some(format!("look at processes {}", pids.join(", "))),
        });
    }
    if let Some(signal) = ended.stop {
        let count = plural(found.len(), "process");
        let message = format!("stopped ({}); {count} of run `{}` killed", signal.name(), row.id);
        let hint = Some(format!("`aye resume {}` continues", row.id));
        return Err(Error::Interrupted { signal, message, hint });
    }
    Ok(u32::try_from(found.len()).unwrap_or(u32::MAX))
}

/// The questions about failed steps, in the run or inside it.
fn open_recoveries(
    journal: &JournalReader,
    row: &RunRow,
    step: Option<&str>,
) -> Result<Vec<QuestionRow>, Error> {
    let fits = |question: &QuestionRow| {
        question.run.is_within(&row.id)
            && question.purpose == Purpose::Recover
            && step.is_none_or(|step| step == question.step)
    };
    let open = journal.open_questions()?.into_iter().map(|open| open.row);
    Ok(open.filter(fits).collect())
}

/// What to type to run the skill again with the same inputs. Of its secrets only those
/// are given again that nothing says where to read.
pub fn run_command(state: &State, lost: &[String]) -> String {
    let started = &state.started;
    // The question of a script stands in no file.
    if started.file.is_empty() {
        return match started.skill.as_str() {
            script @ ("confirm" | "choose" | "input") => format!("aye {script} MESSAGE --journal"),
            _ => format!("aye show {}", state.run),
        };
    }
    let path = Path::new(&started.file);
    let own_file = path.file_stem().is_some_and(|stem| stem == started.skill.as_str());
    let among_skills = path.parent().is_some_and(|parent| parent.ends_with("skills"));
    let skill = match (own_file, among_skills) {
        (true, true) => started.skill.clone(),
        (true, false) => started.file.clone(),
        (false, _) => format!("{}#{}", started.file, started.skill),
    };
    let mut words = vec!["aye".to_owned(), "run".to_owned(), shell_word(&skill)];
    for (name, value) in &started.inputs {
        let value = match value {
            Value::Null => continue,
            value if is_secret(value) && !lost.contains(name) => continue,
            value if is_secret(value) => {
                words.push(format!("-i {name}=…"));
                continue;
            }
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        words.push(format!("-i {}", shell_word(&format!("{name}={value}"))));
    }
    if let Some(environment) = &started.environment {
        words.push(format!("--environment {}", shell_word(environment)));
    }
    escape_control_line(&words.join(" "))
}
