//! How a skill did over its last runs: durations, failures, waiting times.

use std::collections::HashSet;

use aye_core::event::{Answered, BadOutcome, Event, EventKind, ProcessRecord};
use aye_core::id::{QuestionId, RunId};
use aye_core::question::Channel;
use aye_core::step_kind::StepKind;
use indexmap::IndexMap;
use jiff::Timestamp;
use serde::Serialize;

use crate::clock::ms_between;
use crate::error::Error;
use crate::fmt::escape_control_line;
use crate::invalid_skill::InvalidSkill;
use crate::runtime::Runtime;
use crate::skills::SkillFile;
use crate::store::{RunFilter, RunRow, RunStatus};

/// How many runs are listed at once.
const PAGE: u32 = 200;

/// Which runs of a skill are looked at.
pub struct StatsRequest {
    /// The skill's name.
    pub skill: String,
    /// At most so many, the newest.
    pub last: usize,
    /// Only those that began since then.
    pub since: Option<Timestamp>,
}

/// How a skill did.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct SkillStats {
    /// The skill.
    pub skill: String,
    /// Its runs, the oldest first.
    pub runs: Vec<RunFigures>,
    /// How long runs took that have ended: with the time in which someone was asked, without
    /// the time in which another run held their name.
    pub duration_ms: Spread,
    /// How long runs waited for answers and for the name of their `concurrency`, of those that
    /// waited.
    pub waiting_ms: Spread,
    /// Its steps, in the order in which they first came.
    pub steps: Vec<StepFigures>,
    /// The steps that asked something, in the same order.
    pub questions: Vec<QuestionFigures>,
}

/// One run in figures.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct RunFigures {
    /// Which.
    pub run: RunId,
    /// When it began.
    pub started: Timestamp,
    /// Where it stands.
    pub status: &'static str,
    /// How long it took once it had the name of its `concurrency`; nothing while it has not
    /// ended.
    pub duration_ms: Option<u64>,
    /// How long it waited for that name, and its questions for answers, those inside it
    /// included.
    pub waiting_ms: u64,
    /// The step that it failed at.
    pub failed_step: Option<String>,
}

/// One step over all runs.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct StepFigures {
    /// Which.
    pub step: String,
    /// How often it ended, well or badly.
    pub count: usize,
    /// How often badly.
    pub failed: usize,
    /// How long it took.
    pub duration_ms: Spread,
}

/// The questions of one step over all runs.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct QuestionFigures {
    /// Whose.
    pub step: String,
    /// How many were put to someone and answered, or ran out of time.
    pub count: usize,
    /// How many nobody answered in time.
    pub expired: usize,
    /// How long they waited.
    pub latency_ms: Spread,
}

/// How values spread.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Spread {
    /// The one in the middle.
    pub median: Option<u64>,
    /// Nine of ten are not a larger.
    pub p90: Option<u64>,
    /// The largest.
    pub max: Option<u64>,
}

impl Spread {
    fn of(mut values: Vec<u64>) -> Self {
        values.sort_unstable();
        // The smallest value that so many of a hundred do not exceed.
        let at = |percent: usize| {
            let rank = (values.len() * percent).div_ceil(100);
            values.get(rank.saturating_sub(1)).copied()
        };
        Self { median: at(50), p90: at(90), max: values.last().copied() }
    }
}

impl Runtime {
    /// The name of the skill that a name, a file, or `FILE#NAME` stands for. It
    /// need not be valid, and one that is given by its name need not be there.
    pub fn name_of_skill(&self, wanted: &str) -> Result<String, Error> {
        let (file, name) = match wanted.rsplit_once('#') {
            Some((_, name)) => return Ok(name.to_owned()),
            None => (wanted, wanted),
        };
        if !(file.contains('/') || file.ends_with(".yaml") || file.ends_with(".yml")) {
            return Ok(name.to_owned());
        }
        let (path, _) = self.library().find(file)?;
        let file = SkillFile::read(&self.directory.join(&path))?;
        match &file.declared[..] {
            [one] => Ok(one.value.clone()),
            [] => {
                let words = format!("`{}` holds no skill", path.display());
                Err(Error::InvalidSkill(InvalidSkill::Said(words)))
            }
            _ => Err(SkillFile { path, ..file }.several()),
        }
    }

    /// Figures of the last runs of a skill.
    pub fn stats(&self, request: &StatsRequest) -> Result<SkillStats, Error> {
        if request.last == 0 {
            return Err(Error::usage("no run is among the last 0", "use `--last 1` or more"));
        }
        let journal = self.journal()?;
        let mut rows: Vec<RunRow> = Vec::new();
        let mut before = None;
        while rows.len() < request.last {
            let filter = RunFilter {
                skill: Some(request.skill.clone()),
                before,
                limit: PAGE,
                ..RunFilter::default()
            };
            let page = journal.runs(&filter)?;
            let Some(oldest) = page.last().map(|row| row.n) else { break };
            before = Some(oldest);
            rows.extend(page);
        }
        rows.retain(|row| request.since.is_none_or(|since| row.started >= since));
        rows.truncate(request.last);
        if rows.is_empty() {
            let skill = escape_control_line(&request.skill);
            let message = match request.since {
                None => format!("there are no runs of `{skill}`"),
                Some(_) => format!("there are no runs of `{skill}` since then"),
            };
            return Err(Error::not_found(message, "`aye runs` lists the runs of every skill"));
        }
        let mut figures = Collected::default();
        for row in rows.iter().rev() {
            let events = journal.events_within(&row.id)?;
            figures.add(row, events.iter().map(|(_, event)| event));
        }
        Ok(figures.finish(request.skill.clone()))
    }
}

#[derive(Default)]
struct Collected {
    runs: Vec<RunFigures>,
    steps: IndexMap<String, StepValues>,
    questions: IndexMap<String, QuestionValues>,
}

#[derive(Default)]
struct StepValues {
    count: usize,
    failed: usize,
    durations: Vec<u64>,
}

#[derive(Default)]
struct QuestionValues {
    expired: usize,
    latencies: Vec<u64>,
}

impl Collected {
    /// Takes in one run, with the events inside it.
    fn add<'a>(&mut self, row: &RunRow, events: impl Iterator<Item = &'a Event>) {
        let mut open: IndexMap<&QuestionId, (&str, Timestamp)> = IndexMap::new();
        let (mut waiting, mut failed_step) = (0, None);
        let (mut queued, mut queued_since) = (0, None);
        // A question has figures of its own.
        let mut asking: Vec<&str> = Vec::new();
        // What was interrupted and then cancelled has two ends, and ran once.
        let mut seen: HashSet<(&str, u32)> = HashSet::new();
        for event in events {
            let own = event.run == row.id;
            match &event.kind {
                EventKind::SkillStarted(started) if own => {
                    let steps = started.step_list.iter().filter(|step| is_question(&step.kind));
                    asking = steps.map(|step| step.name.as_str()).collect();
                }
                EventKind::ConcurrencyWaiting { .. } if own => {
                    queued_since.get_or_insert(event.at);
                }
                // A run that ends before it has the name has waited all the same.
                EventKind::ConcurrencyAcquired { .. }
                | EventKind::SkillPaused { .. }
                | EventKind::SkillFailed { .. }
                | EventKind::SkillCancelled { .. }
                    if own =>
                {
                    queued += queued_since.take().map_or(0, |since| ms_between(since, event.at));
                }
                EventKind::StepCompleted(done) if own && !asking.contains(&done.step.as_str()) => {
                    let first = done.execution == 0 || seen.insert((&done.step, done.execution));
                    let took = took(done.process.as_ref(), done.duration_ms);
                    self.step(&done.step, first, false, took);
                }
                EventKind::StepFailed(failed) if own => {
                    failed_step = Some(failed.step.clone());
                    let ran = matches!(failed.outcome, BadOutcome::Failure | BadOutcome::Timeout);
                    // An exit code with a way of its own is an answer, not a failure.
                    let bad = ran && failed.leads_to.is_none();
                    let first = match failed.execution {
                        0 => ran,
                        execution => seen.insert((&failed.step, execution)),
                    };
                    // How long it ran until someone stopped it says nothing about the step.
                    let took = took(failed.process.as_ref(), failed.duration_ms).filter(|_| ran);
                    self.step(&failed.step, first, bad, took);
                }
                EventKind::ConfirmationRequired(question) => {
                    open.insert(&question.id, (&question.step, event.at));
                }
                EventKind::ConfirmationAnswered(answered) if was_asked(answered) => {
                    let Some((step, _)) = open.get(&answered.question) else { continue };
                    waiting += answered.latency_ms;
                    let values = self.questions.entry((*step).to_owned()).or_default();
                    values.latencies.push(answered.latency_ms);
                }
                EventKind::ConfirmationExpired { question, withdrawn, .. } => {
                    let Some((step, asked)) = open.shift_remove(question) else { continue };
                    let latency = ms_between(asked, event.at);
                    waiting += latency;
                    if *withdrawn {
                        continue;
                    }
                    let values = self.questions.entry(step.to_owned()).or_default();
                    values.latencies.push(latency);
                    values.expired += 1;
                }
                _ => {}
            }
        }
        self.runs.push(RunFigures {
            run: row.id.clone(),
            started: row.started,
            status: row.status.word(),
            duration_ms: row.ended.map(|end| ms_between(row.started, end).saturating_sub(queued)),
            waiting_ms: waiting + queued,
            failed_step: failed_step.filter(|_| row.status == RunStatus::Failed),
        });
    }

    fn step(&mut self, step: &str, first: bool, failed: bool, took: Option<u64>) {
        let values = self.steps.entry(step.to_owned()).or_default();
        values.count += usize::from(first);
        values.failed += usize::from(failed);
        values.durations.extend(took);
    }

    fn finish(self, skill: String) -> SkillStats {
        let Self { runs, steps, questions } = self;
        let durations = runs.iter().filter_map(|run| run.duration_ms).collect();
        let waits = runs.iter().map(|run| run.waiting_ms).filter(|waited| *waited > 0).collect();
        SkillStats {
            skill,
            duration_ms: Spread::of(durations),
            waiting_ms: Spread::of(waits),
            runs,
            steps: (steps.into_iter())
                .map(|(step, StepValues { count, failed, durations })| {
                    let duration_ms = Spread::of(durations);
                    StepFigures { step, count, failed, duration_ms }
                })
                .collect(),
            questions: (questions.into_iter())
                .map(|(step, QuestionValues { expired, latencies })| {
                    let count = latencies.len();
                    QuestionFigures { step, count, expired, latency_ms: Spread::of(latencies) }
                })
                .collect(),
        }
    }
}

/// Whether someone was asked: not where `--yes` or memory answered.
fn was_asked(answered: &Answered) -> bool {
    answered.refused.is_none()
        && !matches!(answered.answer.prompter, Channel::Override | Channel::Memory)
}

fn is_question(kind: &StepKind) -> bool {
    matches!(kind, StepKind::Confirm | StepKind::Choose | StepKind::Input)
}

fn took(process: Option<&ProcessRecord>, other: Option<u64>) -> Option<u64> {
    process.map(|process| process.duration_ms).or(other)
}

#[cfg(test)]
mod tests {
    use super::Spread;

    #[test]
    fn a_spread_is_made_of_values_that_were_there() {
        let spread = |values: &[u64]| {
            let Spread { median, p90, max } = Spread::of(values.to_vec());
            (median, p90, max)
        };
        assert_eq!(spread(&[]), (None, None, None));
        assert_eq!(spread(&[7]), (Some(7), Some(7), Some(7)));
        assert_eq!(spread(&[4, 1, 3, 2]), (Some(2), Some(4), Some(4)));
        let hundred: Vec<u64> = (1..=100).rev().collect();
        assert_eq!(spread(&hundred), (Some(50), Some(90), Some(100)));
    }
}
