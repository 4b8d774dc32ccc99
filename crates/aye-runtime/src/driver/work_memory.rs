//! What steps write down: data for the journal first, files later.

use std::sync::Arc;

use aye_core::effect::ToolCall;
use aye_core::error_code::ErrorCode;
use aye_core::event::{MemoryKind, Remembered};
use aye_core::input::{End, Finished};
use serde_json::{Map, Value};

use crate::compute::MemoryCall;
use crate::error::Error;
use crate::memory::{
    Change, ErrorText, Keep, Lesson, NewFix, Origin, OriginKind, PROPOSED, Provenance, ToldByState,
    ToldFix, View,
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
        let looks_like: Vec<(String, ToldByState)> = changes
            .iter()
            .flat_map(|change| change.told().into_iter().map(|told| (change.key.to_string(), told)))
            .collect();
        let written = changes.into_iter().map(|change| {
            let message = change.summary();
            let (id, step) = (Some(change.key.to_string()), step.clone());
            let lesson = Lesson::State { change: Box::new(change) }.to_value();
            Remembered { id, step, lesson, ..Remembered::told(MemoryKind::State, message) }
        });
        let mut learned: Vec<Remembered> = written.collect();
        learned.extend(fixes.into_iter().map(|fix| self.told_fix(id, &from, fix, false)));
        learned.extend(
            looks_like.into_iter().map(|(key, told)| self.proposed_by(id, &from, &key, told)),
        );
        learned
    }

    /// What a step wrote where Aye keeps its own counts for nothing before a person says so.
    fn proposed_by(
        &self,
        id: LaneId,
        from: &Provenance,
        key: &str,
        told: ToldByState,
    ) -> Remembered {
        let message = match told {
            ToldByState::Fix(fix) => return self.told_fix(id, from, fix, true),
            ToldByState::Issue(issue) => {
                let mask = |text: &str| self.lane(id).machine.secrets().mask(text);
                format!(
                    "`{key}` looks like a known issue; it is not used before you add it: \
                     `aye memory learn --error '{}' --fix '{}'`",
                    mask(&issue.error),
                    mask(if issue.fix.is_empty() { &issue.cause } else { &issue.fix }),
                )
            }
            ToldByState::Preference => format!(
                "`{key}` looks like a remembered answer; it is not used: answer the question and \
                 let it be remembered"
            ),
        };
        let step = Some(from.step.clone());
        Remembered { step, ..Remembered::told(MemoryKind::State, message) }
    }

    /// What a step says about an error is a proposal: shown, and never carried out.
    fn told_fix(&self, id: LaneId, from: &Provenance, told: ToldFix, proposed: bool) -> Remembered {
        let machine = &self.lane(id).machine;
        let ToldFix { tool, error, cause, fix } = told;
        let new = NewFix {
            tool: Some(tool).filter(|tool| !tool.is_empty()),
            skill: None,
            step: None,
            error: ErrorText::Pattern(error),
            only_for: Map::<String, Value>::new(),
            change: Change::default(),
            about: Some(match cause.is_empty() {
                true => fix,
                false => format!("{cause}: {fix}"),
            }),
            from: Origin {
                kind: OriginKind::Skill,
                by: from.skill.clone(),
                run: Some(from.run.clone()),
                at: from.at,
                other: proposed.then(|| (PROPOSED.to_owned(), true.into())).into_iter().collect(),
            },
            keep: Keep::Auto,
        };
        let mask = |text: &str| machine.secrets().mask(text);
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
                (Some(id), said, lesson.to_value())
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
