//! What steps write down: data for the journal first, files later.

use std::sync::Arc;

use aye_core::effect::ToolCall;
use aye_core::error_code::ErrorCode;
use aye_core::event::{MemoryKind, Remembered};
use aye_core::input::{End, Finished};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::memory::{
    Change, ErrorText, Keep, Lesson, NewFix, Origin, OriginKind, Provenance, ToldFix, View,
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
        let written = changes.into_iter().map(|change| {
            let message = format!("memory: {}", change.summary());
            let (id, step) = (Some(change.key.to_string()), step.clone());
            let lesson = Lesson::State { change: Box::new(change) }.to_value();
            Remembered { id, step, lesson, ..Remembered::told(MemoryKind::State, message) }
        });
        let mut learned: Vec<Remembered> = written.collect();
        learned.extend(fixes.into_iter().map(|fix| self.told_fix(id, &from, fix)));
        learned
    }

    /// What a step says about an error is a proposal: shown, and never carried out.
    fn told_fix(&self, id: LaneId, from: &Provenance, told: ToldFix) -> Remembered {
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
                other: Map::new(),
            },
            keep: Keep::Auto,
        };
        let mask = |text: &str| machine.secrets().mask(text);
        let (id, message, lesson) = match self.parts.memory.fix_lesson(new, &mask) {
            Ok((id, lesson)) => {
                let short = self.parts.memory.short_id(&id);
                let said = format!("noted as `{short}`; `aye memory forget {short}` takes it back");
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
