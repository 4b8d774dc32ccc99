//! What memory knows before something is run.

use aye_core::error_code::ErrorCode;
use aye_core::event::{MemoryKind, Remembered};
use aye_core::input::{End, Input};
use aye_core::journal::{StepRecord, StepStatus};
use aye_core::machine::Machine;
use serde_json::Value;

use crate::error::Error;
use crate::fmt::escape_control_line;
use crate::memory::{Level, SHOWN, Warning};

use super::drive::Driver;
use super::known::{sentence, tool_of};
use super::lane::{LaneId, ROOT};

impl Driver<'_> {
    /// Says what people wrote about the tools of this run.
    pub(super) fn warn_before_run(&mut self) -> Result<(), Error> {
        let flow = self.lane(ROOT).machine.flow();
        let mut tools: Vec<String> = Vec::new();
        for node in &flow.nodes {
            let action = &node.step.action;
            let program = action.command_program().map(|program| program.as_str());
            let named = action.tool().or(program);
            let named = named.map(|name| name.rsplit('/').next().unwrap_or_default().to_owned());
            tools.extend(named.filter(|name| !name.is_empty() && !name.contains('{')));
        }
        let names: Vec<&str> = tools.iter().map(String::as_str).collect();
        let known = self.parts.memory.issues_before(&names);
        for issue in known.iter().take(SHOWN) {
            let what = Remembered {
                id: Some(issue.value.id.clone()),
                ..Remembered::told(MemoryKind::Issue, sentence(&issue.value))
            };
            self.apply(ROOT, Input::Remembered { learned: false, what }, None)?;
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
        let failed = self.lessons.has_failed(id, step);
        if tool.is_empty() || failed || !self.parts.memory.has_usage(&tool) {
            return Ok(None);
        }
        let args = machine.arguments(step, &self.world()).map_or(Value::Null, Value::Object);
        let mask = |text: &str| machine.secrets().mask(text);
        let now = self.parts.clock.now();
        let mut warnings = self.parts.memory.check_before(&tool, &args, &mask, now);
        // What has to come first has come.
        warnings.retain(|warning| {
            warning.after.as_ref().is_none_or(|before| !has_called(machine, before))
        });
        let Some(first) = warnings.first() else { return Ok(None) };
        let said = told(first);
        let block = first.level == Level::Block && attempt == 1;
        let again = attempt > 1;
        for warning in &warnings {
            self.lessons.warned(id, step, &warning.id);
        }
        if block {
            return Ok(Some(End::Failed {
                code: ErrorCode::UsuallyFails,
                message: escape_control_line(&said),
                hint: Some(format!("`aye memory forget {}` if that is wrong", warnings[0].id)),
                proposal: None,
            }));
        }
        if again {
            return Ok(None);
        }
        let said = format!("{said}; `aye memory forget {}` takes it back", warnings[0].id);
        let what = Remembered {
            id: Some(warnings[0].id.clone()),
            step: Some(step.to_owned()),
            ..Remembered::told(MemoryKind::Usage, escape_control_line(&said))
        };
        self.apply(id, Input::Remembered { learned: false, what }, None)?;
        Ok(None)
    }
}

/// Whether a step of the run has used this tool, and it went well.
fn has_called(machine: &Machine, tool: &str) -> bool {
    let state = machine.state();
    let done = |(_, record): &(&String, &StepRecord)| record.status == StepStatus::Completed;
    let mut steps = state.steps.iter().filter(done);
    steps.any(|(step, _)| tool_of(machine.flow(), state, step) == tool)
}

/// A warning in one line.
fn told(warning: &Warning) -> String {
    let mut said = format!(
        "this usually fails because {} (seen {} times): {}",
        warning.mistake.because(),
        warning.sightings,
        warning.error
    );
    said.push_str(&warning.more());
    said
}
