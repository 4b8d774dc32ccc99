//! What steps write down: data for the journal first, files later.

use std::sync::Arc;

use aye_core::effect::ToolCall;
use aye_core::error_code::ErrorCode;
use aye_core::event::{MemoryKind, Remembered};
use aye_core::input::{End, Finished};
use serde_json::Map;

use crate::compute::MemoryCall;
use crate::error::Error;
use crate::memory::{
    LearnedClaim, LearnedFix, Lesson, Origin, OriginKind, PROPOSED, Provenance, View,
    looks_like_regex,
};

use super::drive::Driver;
use super::lane::{LaneId, ROOT};

impl Driver<'_> {
    /// Calls a tool that is a function of memory.
    pub(super) fn call_memory(
        &mut self,
        id: LaneId,
        execution: u32,
        call: &ToolCall,
    ) -> Result<(), Error> {
        let mut view = View::new(Arc::clone(&self.parts.memory), self.parts.clock.now());
        let (end, learned) = match view.call(&call.tool, &[], &call.args) {
            Ok(value) => (End::Exited { value, parsed: None }, self.written(id, execution, view)),
            Err(message) => {
                let (code, hint, proposal) = (ErrorCode::ToolArguments, None, None);
                (End::Failed { code, message, hint, proposal }, Vec::new())
            }
        };
        self.tell_end(id, Finished { learned, ..Finished::bare(execution, end, None) })
    }

    /// What a block of `python3` that went well wants written down: its calls are made again
    /// on memory as it is now.
    pub(super) fn wants_written(
        &self,
        id: LaneId,
        execution: u32,
        end: End,
        calls: &[MemoryCall],
    ) -> (End, Vec<Remembered>) {
        let mut view = View::new(Arc::clone(&self.parts.memory), self.parts.clock.now());
        for MemoryCall(function, args, named) in calls {
            if let Err(message) = view.call(function, args, named) {
                let (code, hint, proposal) = (ErrorCode::Compute, None, None);
                return (End::Failed { code, message, hint, proposal }, Vec::new());
            }
        }
        (end, self.written(id, execution, view))
    }

    /// What a step that went well wants written down, one lesson for each file.
    pub(super) fn written(&self, id: LaneId, execution: u32, view: View) -> Vec<Remembered> {
        let state = self.lane(id).machine.state();
        let from = Provenance {
            run: state.run.to_string(),
            skill: state.started.skill.clone(),
            step: state.current.clone().unwrap_or_default(),
            execution,
            by: self.lane(ROOT).machine.state().started.driver.user.clone(),
            at: self.parts.clock.now(),
        };
        let (changes, fixes) = view.into_changes(&from);
        let step = Some(from.step.clone());
        let looks_like: Vec<(String, LearnedClaim)> = changes
            .iter()
            .flat_map(|change| {
                change.claims().into_iter().map(|claim| (change.key.to_string(), claim))
            })
            .collect();
        let mask = |text: &str| self.lane(id).machine.secrets().mask(text);
        let written = changes.into_iter().map(|change| {
            let (key, step) = (change.key.to_string(), step.clone());
            let message = change.summary();
            if mask(&key) != key {
                // The journal would have another name for it than the file.
                let message = format!(
                    "`{}` was not written: the name of a file of memory must not hold a secret",
                    mask(&key)
                );
                return Remembered { step, ..Remembered::told(MemoryKind::State, message) };
            }
            let id = Some(key);
            let lesson = Lesson::State { change: Box::new(change) }.to_value();
            Remembered { id, step, lesson, ..Remembered::told(MemoryKind::State, message) }
        });
        let mut learned: Vec<Remembered> = written.collect();
        learned.extend(fixes.into_iter().map(|fix| self.learned_fix(id, &from, fix, false)));
        learned.extend(
            looks_like.into_iter().map(|(key, claim)| self.proposed_by(id, &from, &key, claim)),
        );
        learned
    }

    /// What a step wrote where Aye keeps its own counts for nothing before a person says so.
    fn proposed_by(
        &self,
        id: LaneId,
        from: &Provenance,
        key: &str,
        claim: LearnedClaim,
    ) -> Remembered {
        let mask = |text: &str| self.lane(id).machine.secrets().mask(text);
        let memory = &self.parts.memory;
        let (what, proposal) = match claim {
            LearnedClaim::Fix(fix) => return self.learned_fix(id, from, fix, true),
            LearnedClaim::Issue { issue, family } => {
                let family = family.as_deref();
                let proposal = memory.issue_proposal(&issue, family, origin(from), &mask);
                ("a known issue", proposal.map_err(|error| error.to_string()))
            }
            LearnedClaim::Preference { question, entry } => {
                let proposal = memory.answer_proposal(&question, &entry, origin(from), &mask);
                let why = "it is not called `SKILL:STEP`, or has other fields".to_owned();
                ("a remembered answer", proposal.ok_or(why))
            }
        };
        let key = mask(key);
        let (proposed, message, lesson) = match proposal {
            Ok(proposal) => {
                let name = proposal.id.clone();
                let message = format!(
                    "`{key}` looks like {what}: proposed as `{name}`; it is not used before a \
                     person agrees: `aye memory agree {name}`"
                );
                (Some(name), message, Lesson::from(proposal).to_value())
            }
            Err(why) => {
                (None, format!("`{key}` looks like {what} and is not proposed: {why}"), None)
            }
        };
        let step = Some(from.step.clone());
        let told = Remembered::told(MemoryKind::State, message);
        Remembered { id: proposed, step, lesson, ..told }
    }

    /// What a step says about an error is a proposal: shown, and never carried out.
    fn learned_fix(
        &self,
        id: LaneId,
        from: &Provenance,
        learned: LearnedFix,
        proposed: bool,
    ) -> Remembered {
        let machine = &self.lane(id).machine;
        let mask = |text: &str| machine.secrets().mask(text);
        // A fix that could be carried out waits for a person, wherever it comes from.
        let proposed = proposed || !learned.change.is_empty();
        let looks_like = looks_like_regex(&learned.error).then(|| {
            let error = mask(&learned.error);
            format!(
                "; `{error}` is looked for as it stands: write `/{error}/` if it is a regular \
                 expression"
            )
        });
        let new = learned.into_fix(Origin {
            other: proposed.then(|| (PROPOSED.to_owned(), true.into())).into_iter().collect(),
            ..origin(from)
        });
        let (id, message, lesson) = match self.parts.memory.fix_lesson(new, &mask) {
            Ok((id, lesson)) => {
                let short = self.parts.memory.short_id(&id);
                let said = match proposed {
                    true => format!(
                        "proposed as `{short}`; it is not used before a person agrees: \
                         `aye memory agree {short}`"
                    ),
                    false => {
                        format!("noted as `{short}`; `aye memory forget {short}` takes it back")
                    }
                };
                (Some(id), said + &looks_like.unwrap_or_default(), lesson.to_value())
            }
            Err(error) => {
                let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
                (None, format!("the fix was not noted: {error}{hint}"), None)
            }
        };
        let step = Some(from.step.clone());
        Remembered { id, step, lesson, ..Remembered::told(MemoryKind::State, message) }
    }
}

/// Which step proposes something.
fn origin(from: &Provenance) -> Origin {
    Origin {
        kind: OriginKind::Skill,
        by: from.skill.clone(),
        run: Some(from.run.clone()),
        at: from.at,
        other: Map::new(),
    }
}
