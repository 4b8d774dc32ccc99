//! What memory knows about a step before it runs and when it fails, and what
//! is learned from how it went.

use aye_core::event::{BadOutcome, Event, Fact, MemoryKind, Remembered, RetryReason, StepFailed};
use aye_core::heal::{Act, KnownFix};
use aye_core::input::{End, Finished, Input};
use aye_core::journal::{Between, Ended, Phase, StepStatus};
use aye_core::machine::{Machine, USUALLY_FAILS};
use aye_core::question::{Edits, FixScope, Purpose};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::memory::{
    Change, Ending, ErrorText, Fix, Keep, Level, NewFix, Origin, OriginKind, Query, SHOWN, Seen,
    Warning, generalise,
};
use crate::paint::inert_line;

use super::drive::Driver;
use super::known::{sentence, tool_of};
use super::lane::{LaneId, ROOT};

/// A failure that is not over yet.
pub(super) struct Trouble {
    lane: LaneId,
    step: String,
    tool: String,
    args: Value,
    error: String,
    /// Why it is tried again.
    again: Option<RetryReason>,
    /// What was changed because of which error, in order.
    edits: Vec<(String, Edits)>,
}

/// A fix whose outcome is not known yet.
pub(super) struct Tried {
    lane: LaneId,
    step: String,
    fix: String,
}

/// A warning that was given before a step.
pub(super) struct Warned {
    lane: LaneId,
    step: String,
    id: String,
}

impl Driver<'_> {
    /// Says what people wrote about the tools of this run.
    pub(super) fn warn_before_run(&mut self) -> Result<(), Error> {
        let flow = self.lane(ROOT).machine.flow();
        let mut tools: Vec<String> = Vec::new();
        for node in &flow.nodes {
            let named = match &node.step.action {
                aye_core::skill::Action::Tool { tool, .. } => Some(tool.value.clone()),
                aye_core::skill::Action::Command { program, .. } => Some(program.value.clone()),
                _ => None,
            };
            let named = named.map(|name| name.rsplit('/').next().unwrap_or_default().to_owned());
            tools.extend(named.filter(|name| !name.is_empty() && !name.contains('{')));
        }
        let names: Vec<&str> = tools.iter().map(String::as_str).collect();
        let known = self.parts.memory.issues_before(&names);
        for issue in known.iter().take(SHOWN) {
            let what = Remembered {
                kind: MemoryKind::Issue,
                id: Some(issue.value.id.clone()),
                step: None,
                message: sentence(&issue.value),
                fix: None,
            };
            self.tell(ROOT, Input::Remembered { learned: false, what }, None)?;
        }
        Ok(())
    }

    /// Looks whether such a call usually fails. If that is nearly certain, the
    /// step ends before it begins, and waits for a person's word.
    pub(super) fn warn_before_step(
        &mut self,
        id: LaneId,
        step: &str,
        attempt: u32,
    ) -> Result<Option<End>, Error> {
        let machine = &self.lane(id).machine;
        let tool = tool_of(machine.flow(), machine.state(), step);
        // What failed and is tried again was told before; a person's word lets it begin.
        let failed = self.troubles.iter().any(|t| t.lane == id && t.step == step);
        if tool.is_empty() || failed || !self.parts.memory.has_usage(&tool) {
            return Ok(None);
        }
        let args = machine.arguments(step, &self.world()).map_or(Value::Null, Value::Object);
        let mask = |text: &str| machine.secrets().mask(text);
        let now = self.parts.clock.now();
        let warnings = self.parts.memory.check_before(&tool, &args, &mask, now);
        let Some(first) = warnings.first() else { return Ok(None) };
        let said = told(first);
        let block = first.level == Level::Block && attempt == 1;
        let again = attempt > 1;
        for warning in &warnings {
            let (step, id_of) = (step.to_owned(), warning.id.clone());
            self.warned.push(Warned { lane: id, step, id: id_of });
        }
        if block {
            return Ok(Some(End::Failed {
                code: USUALLY_FAILS.to_owned(),
                message: said,
                hint: Some(format!("`aye memory forget {}` if that is wrong", warnings[0].id)),
                proposal: None,
            }));
        }
        if again {
            return Ok(None);
        }
        let what = Remembered {
            kind: MemoryKind::Usage,
            id: Some(warnings[0].id.clone()),
            step: Some(step.to_owned()),
            message: said,
            fix: None,
        };
        self.tell(id, Input::Remembered { learned: false, what }, None)?;
        Ok(None)
    }

    /// Tells a machine how a step ended, and what memory has to do with it.
    pub(super) fn tell_end(&mut self, id: LaneId, finished: Finished) -> Result<(), Error> {
        let finished = self.with_memory(id, finished);
        self.tell(id, Input::Finished(finished), None)?;
        Ok(())
    }

    fn with_memory(&self, id: LaneId, mut finished: Finished) -> Finished {
        let machine = &self.lane(id).machine;
        let Phase::Running { step, healing: None, .. } = &machine.state().phase else {
            return finished;
        };
        match error_of(&finished) {
            Some(error) => finished.known = self.known_fix(machine, step, &error).map(Box::new),
            None => finished.learned.extend(self.remember_edits(machine, step)),
        }
        finished
    }

    /// The fix that memory has for a failure.
    fn known_fix(&self, machine: &Machine, step: &str, error: &str) -> Option<KnownFix> {
        if !self.parts.memory.has_fixes() {
            return None;
        }
        let tool = tool_of(machine.flow(), machine.state(), step);
        let args = machine.arguments(step, &self.world());
        let query = Query {
            tool: &tool,
            skill: Some(&machine.state().started.skill),
            step: Some(step),
            error,
            args: args.as_ref(),
        };
        let fix = self.parts.memory.fix_for(&query)?;
        let act = |act: &crate::memory::Act| Act {
            command: act.command.clone(),
            tool: act.tool.clone(),
            skill: act.skill.clone(),
            with: act.with.clone(),
        };
        Some(KnownFix {
            message: recalled(&fix),
            args: fix.change.args.clone(),
            first: fix.change.first.as_ref().map(act),
            replace: fix.change.replace.as_ref().map(act),
            max_uses: fix.max_uses,
            id: fix.id,
        })
    }

    /// What somebody changed worked, and they wanted it kept.
    fn remember_edits(&self, machine: &Machine, step: &str) -> Vec<Remembered> {
        let is_this = |trouble: &&Trouble| trouble.step == step && trouble.is_of(machine, self);
        let Some(trouble) = self.troubles.iter().find(is_this) else { return Vec::new() };
        let relayed = trouble.again == Some(RetryReason::Relayed);
        let mut old = machine.original_arguments(step, &self.world()).unwrap_or_default();
        let mut learned = Vec::new();
        for (error, edits) in &trouble.edits {
            if let Some(scope) = edits.remember {
                let kept = self.new_fix(machine, trouble, error, &old, edits, scope, relayed);
                learned.push(self.keep_fix(machine, step, kept, relayed));
            }
            old.extend(edits.set.clone());
        }
        learned
    }

    fn keep_fix(&self, machine: &Machine, step: &str, kept: NewFix, relayed: bool) -> Remembered {
        let mask = |text: &str| machine.secrets().mask(text);
        let (id, message) = match self.parts.memory.remember_fix(kept, &mask) {
            Ok(id) if relayed => {
                let said = format!("proposed `{id}`; `aye memory agree {id}` lets it be used");
                (Some(id), said)
            }
            Ok(id) => {
                let said = format!("remembered as `{id}`; `aye memory forget {id}` takes it back");
                (Some(id), said)
            }
            Err(error) => (None, format!("the fix was not remembered: {error}")),
        };
        let step = Some(step.to_owned());
        Remembered { kind: MemoryKind::Fix, id, step, message, fix: None }
    }

    #[expect(clippy::too_many_arguments, reason = "what a fix is made of")]
    fn new_fix(
        &self,
        machine: &Machine,
        trouble: &Trouble,
        error: &str,
        old: &Map<String, Value>,
        edits: &Edits,
        scope: FixScope,
        relayed: bool,
    ) -> NewFix {
        let rule = generalise(old, &edits.set);
        let (state, step) = (machine.state(), trouble.step.as_str());
        let tool = Some(trouble.tool.clone()).filter(|tool| !tool.is_empty());
        // What an interpreter is given says nothing about its next script.
        let telling = tool.as_ref().is_some_and(|tool| !runs_others(tool));
        let of_step = scope == FixScope::Step || !telling;
        NewFix {
            skill: of_step.then(|| state.started.skill.clone()),
            step: of_step.then(|| step.to_owned()),
            tool,
            error: ErrorText::Seen(without(error, old, &edits.set)),
            only_for: rule.only_for,
            change: Change { args: rule.args, ..Change::default() },
            about: Some(changed(old, &edits.set)),
            from: Origin {
                kind: if relayed { OriginKind::Assistant } else { OriginKind::Person },
                by: self.lane(ROOT).machine.state().started.driver.user.clone(),
                run: Some(state.run.to_string()),
                at: self.parts.clock.now(),
                other: Map::new(),
            },
            keep: Keep::Auto,
        }
    }

    /// A failure that another process has seen and that is not over yet.
    pub(super) fn take_up_trouble(&mut self, id: LaneId) {
        let machine = &self.lane(id).machine;
        let state = machine.state();
        let step = match &state.phase {
            Phase::Asking { question, .. } => Some(question.step.clone()),
            Phase::Between(Between::Retrying { step, .. }) => Some(step.clone()),
            Phase::Between(Between::Resolved { question, .. }) => Some(question.step.clone()),
            Phase::Between(_) | Phase::Running { .. } => None,
            Phase::Ended(_) => state.failed_step().map(str::to_owned),
        };
        // A fix that waits behind a gate; one that did not help has been counted.
        let waits = match &state.phase {
            Phase::Asking { question, .. } | Phase::Between(Between::Resolved { question, .. }) => {
                question.purpose == Purpose::Gate
            }
            Phase::Between(Between::Retrying { .. }) => true,
            Phase::Between(_) | Phase::Running { .. } | Phase::Ended(_) => false,
        };
        let fix = step.as_ref().and_then(|step| state.steps.get(step)?.fix.clone());
        if let (Some(step), Some(fix), true) = (step.clone(), fix, waits) {
            self.tried.push(Tried { lane: id, step, fix });
        }
        let machine = &self.lane(id).machine;
        let state = machine.state();
        let failed = step.filter(|step| {
            let status = state.steps.get(step).map(|record| record.status);
            matches!(status, Some(StepStatus::Failed | StepStatus::TimedOut | StepStatus::Waiting))
                && !machine.error_of(step).is_empty()
                && state.steps.get(step).is_none_or(|r| r.code.as_deref() != Some(USUALLY_FAILS))
        });
        if let Some(step) = failed {
            let error = machine.error_of(&step);
            self.trouble(id, step, error);
        }
    }

    fn trouble(&mut self, id: LaneId, step: String, error: String) {
        if let Some(known) = self.troubles.iter_mut().find(|t| t.lane == id && t.step == step) {
            // The same error again: what was changed because of it did not help.
            known.edits.retain(|(about, _)| pattern(about) != pattern(&error));
            known.error = error;
            return;
        }
        let machine = &self.lane(id).machine;
        let tool = tool_of(machine.flow(), machine.state(), &step);
        let args = machine.original_arguments(&step, &self.world());
        let args = args.map_or(Value::Null, Value::Object);
        let edits = Vec::new();
        self.troubles.push(Trouble { lane: id, step, tool, args, error, again: None, edits });
    }

    /// Learns from what has just been recorded.
    pub(super) fn learn(&mut self, id: LaneId, events: &[Event]) {
        for event in events {
            match &event.fact {
                Fact::StepFailed(failed) => self.saw_failed(id, failed),
                Fact::StepRetried { step, why, fix, edits, .. } => {
                    self.tries(id, step, fix.as_ref());
                    for trouble in &mut self.troubles {
                        if trouble.lane == id && trouble.step == *step {
                            trouble.again = Some(*why);
                            let by_answer =
                                matches!(why, RetryReason::Answer | RetryReason::Relayed);
                            let edits = edits.clone().filter(|_| by_answer);
                            trouble.edits.extend(edits.map(|e| (trouble.error.clone(), e)));
                        }
                    }
                }
                Fact::StepCompleted(done) => self.saw_completed(id, &done.step),
                Fact::AutoHealTriggered(heal) => {
                    self.tries(id, &heal.step, heal.fix.as_ref().map(|fix| &fix.id));
                }
                Fact::AutoHealCompleted { step, healed: false, .. } => {
                    self.fix_ended(id, step, false);
                }
                _ => {}
            }
        }
        self.conclude_troubles(id);
    }

    fn saw_failed(&mut self, id: LaneId, failed: &StepFailed) {
        if !matches!(failed.outcome, BadOutcome::Failure | BadOutcome::Timeout) {
            return;
        }
        self.fix_ended(id, &failed.step, false);
        if failed.code.as_deref() == Some(USUALLY_FAILS) {
            return;
        }
        let said = failed.process.as_ref().map(|process| match process.stderr.trim() {
            "" => process.stdout.trim(),
            stderr => stderr,
        });
        let error = format!("{}\n{}", failed.message, said.unwrap_or_default());
        self.trouble(id, failed.step.clone(), error.trim().to_owned());
    }

    fn saw_completed(&mut self, id: LaneId, step: &str) {
        self.fix_ended(id, step, true);
        let of_step = |warned: &Warned| warned.lane == id && warned.step == step;
        let wrong: Vec<Warned> = self.warned.extract_if(.., |warned| of_step(warned)).collect();
        let recovered = self.troubles.iter().any(|t| t.lane == id && t.step == step);
        for warned in wrong {
            // Whatever cannot be written down is not worth stopping for.
            let _ = self.parts.memory.warning_was_wrong(&warned.id);
        }
        let machine = &self.lane(id).machine;
        let tool = tool_of(machine.flow(), machine.state(), step);
        if !recovered && !tool.is_empty() && self.parts.memory.has_usage(&tool) {
            let args = machine.arguments(step, &self.world()).map_or(Value::Null, Value::Object);
            let mask = |text: &str| machine.secrets().mask(text);
            let _ = self.parts.memory.saw_success(&tool, &args, &mask);
        }
    }

    /// A fix is about to be tried, or none.
    fn tries(&mut self, id: LaneId, step: &str, fix: Option<&String>) {
        self.tried.retain(|tried| tried.lane != id || tried.step != step);
        let step = step.to_owned();
        self.tried.extend(fix.map(|fix| Tried { lane: id, step, fix: fix.clone() }));
    }

    /// How the step ended tells whether the fix that was tried for it helps.
    fn fix_ended(&mut self, id: LaneId, step: &str, worked: bool) {
        let of_step = |tried: &mut Tried| tried.lane == id && tried.step == step;
        let Some(Tried { fix, .. }) = self.tried.extract_if(.., of_step).next() else { return };
        let fix = fix.as_str();
        let now = self.parts.clock.now();
        let said = match worked {
            true => self.parts.memory.fix_worked(fix, now).map(|()| None),
            false => self.parts.memory.fix_failed(fix, now).map(|suspended| {
                suspended.then(|| {
                    format!("`{fix}` failed twice in a row and is not used any more; `aye memory agree {fix}` lets it be used again")
                })
            }),
        };
        let line = match said {
            Ok(line) => line,
            Err(error) => Some(format!("memory: {error}")),
        };
        self.note(ROOT, &line.into_iter().collect::<Vec<_>>());
    }

    /// What is over is learned from.
    fn conclude_troubles(&mut self, id: LaneId) {
        let Some(lane) = self.lanes.get(id).and_then(Option::as_ref) else { return };
        let state = lane.machine.state();
        let still = |step: &str| match &state.phase {
            Phase::Asking { question, .. } => question.step == step,
            Phase::Running { step: running, .. } => running == step,
            Phase::Between(Between::Retrying { step: again, .. }) => again == step,
            Phase::Between(_) | Phase::Ended(_) => false,
        };
        let over: Vec<Trouble> =
            self.troubles.extract_if(.., |t| t.lane == id && !still(&t.step)).collect();
        for trouble in over {
            self.conclude_trouble(id, &trouble);
        }
    }

    fn conclude_trouble(&self, id: LaneId, trouble: &Trouble) {
        let machine = &self.lane(id).machine;
        let state = machine.state();
        let record = state.steps.get(&trouble.step);
        let ending = match (record.map(|record| record.status), &state.phase) {
            (Some(StepStatus::Completed), _) => match trouble.again {
                Some(RetryReason::Answer | RetryReason::Relayed) | None => Ending::Recovered,
                Some(_) => Ending::Healed,
            },
            (_, Phase::Ended(Ended::Failed(_))) => Ending::Failed,
            (_, _) => Ending::Swallowed,
        };
        let edits = record.and_then(|record| record.edits.as_ref());
        let old = trouble.args.as_object().cloned().unwrap_or_default();
        let helped = match (ending, edits) {
            (Ending::Recovered, Some(edits)) => Some(changed(&old, &edits.set)),
            (Ending::Healed, _) => record.and_then(|record| record.fix.clone()),
            (_, _) => None,
        };
        let seen = Seen {
            tool: &trouble.tool,
            args: &trouble.args,
            error: &trouble.error,
            skill: Some(&state.started.skill),
            step: Some(&trouble.step),
            run: Some(state.run.as_str()),
            ending,
            fix: helped.as_deref(),
            now: self.parts.clock.now(),
        };
        let mask = |text: &str| machine.secrets().mask(text);
        // A memory that cannot be written is told by `aye memory`; the run goes on.
        let _ = self.parts.memory.saw_failure(&seen, &mask);
    }
}

impl Trouble {
    fn is_of(&self, machine: &Machine, driver: &Driver<'_>) -> bool {
        driver.lane(self.lane).machine.state().run == machine.state().run
    }
}

/// What went wrong with a step, if it did.
fn error_of(finished: &Finished) -> Option<String> {
    let said = finished.process.as_ref().map(|process| match process.stderr.trim() {
        "" => process.stdout.trim(),
        stderr => stderr,
    });
    let message = match &finished.end {
        End::Exited { .. } => {
            let code = finished.process.as_ref().and_then(|process| process.exit_code);
            format!("exit code {}", code.filter(|code| *code != 0)?)
        }
        End::Failed { code, .. } if code == USUALLY_FAILS => return None,
        End::Failed { message, .. } | End::NotStarted { message, .. } => message.clone(),
        End::TimedOut => "timed out".to_owned(),
        End::Declined { .. } | End::Stopped => return None,
    };
    Some(format!("{message}\n{}", said.unwrap_or_default()).trim().to_owned())
}

/// A fix from memory in one line.
fn recalled(fix: &Fix) -> String {
    let mut said = format!("known error: `{}` is tried", fix.id);
    if let Some(about) = &fix.about {
        said.push_str(&format!("; it was learned from {about}"));
    }
    match fix.verified {
        0 => {}
        1 => said.push_str("; it has helped once"),
        many => said.push_str(&format!("; it has helped {many} times")),
    }
    inert_line(&said)
}

/// A warning in one line.
fn told(warning: &Warning) -> String {
    let mut said = format!(
        "this usually fails because {} (seen {} times): {}",
        warning.mistake.because(),
        warning.sightings,
        warning.error
    );
    if let Some(advice) = &warning.advice {
        said.push_str(&format!("; what helped: {advice}"));
    }
    inert_line(&said)
}

/// What an error is recognised by, as far as one error is like another.
fn pattern(error: &str) -> String {
    crate::memory::pattern_of(error).map_or_else(|_| error.to_owned(), |p| p.to_string())
}

/// The error without the values that were wrong: the next one has others.
fn without(error: &str, old: &Map<String, Value>, new: &Map<String, Value>) -> String {
    let mut error = error.to_owned();
    for name in new.keys() {
        if let Some(Value::String(wrong)) = old.get(name)
            && wrong.trim().chars().count() > 1
        {
            error = error.replace(wrong.trim(), "<name>");
        }
    }
    error
}

/// Programs that run what they are given.
fn runs_others(tool: &str) -> bool {
    const OTHERS: [&str; 22] = [
        "sh", "bash", "dash", "zsh", "fish", "ksh", "busybox", "python", "python3", "node", "deno",
        "ruby", "perl", "php", "env", "sudo", "doas", "xargs", "nice", "timeout", "ssh", "eval",
    ];
    OTHERS.contains(&tool)
}

/// What was changed, in one line.
fn changed(old: &Map<String, Value>, new: &Map<String, Value>) -> String {
    let short = |value: &Value| match value {
        Value::String(text) => crate::term::cut(text.lines().next().unwrap_or_default(), 60),
        other => crate::term::cut(&other.to_string(), 60),
    };
    let one = |(name, new): (&String, &Value)| match old.get(name) {
        Some(old) => format!("{name}: {} -> {}", short(old), short(new)),
        None => format!("{name}: {}", short(new)),
    };
    new.iter().map(one).collect::<Vec<_>>().join(", ")
}
