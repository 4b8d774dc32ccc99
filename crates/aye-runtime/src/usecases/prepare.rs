//! Everything that can be known before a run: the skill, its inputs, the way
//! it would take.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aye_core::diagnostic::Diagnostic;
use aye_core::event::Range;
use aye_core::flow::{Flow, LeftOut};
use aye_core::machine::StartError;
use aye_core::nested::DEEPEST;
use aye_core::skill::{Action, Body, Given, InputError, Inputs, Step, resolve_inputs};
use aye_core::text;
use indexmap::IndexMap;
use serde_json::Value;

use crate::compute::PythonExpressions;
use crate::driver::{Skills as _, scope_of};
use crate::dry_run::{self, Plan, Planned, Setting};
use crate::error::Error;
use crate::invalid_skill::InvalidSkill;
use crate::runtime::Runtime;
use crate::skills::{Reach, SkillFile};
use crate::trust::StartedBy;

use super::list_skills::FoundSkill;

/// A skill that can be run.
pub struct CheckedSkill {
    /// Where it is.
    pub path: PathBuf,
    /// What it does.
    pub flow: Arc<Flow>,
    /// The whole file.
    pub text: String,
    /// What its author should look at.
    pub warnings: Vec<Diagnostic>,
}

/// Why a skill cannot be run.
pub enum SkillError {
    /// It has errors.
    Invalid(Box<SkillFile>),
    /// It was not found, cannot be read, or may not be run.
    Failed(Error),
}

impl From<Error> for SkillError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl SkillError {
    /// In short, without the places.
    pub fn into_error(self) -> Error {
        self.into_error_by(|message, _| InvalidSkill::Said(message))
    }

    /// With the places of its errors, for callers that show no file.
    pub fn with_places(self) -> Error {
        self.into_error_by(|message, file| file.invalid(message))
    }

    fn into_error_by(self, why: impl FnOnce(String, &SkillFile) -> InvalidSkill) -> Error {
        match self {
            Self::Failed(error) => error,
            Self::Invalid(file) => {
                let message = format!("`{}` cannot be run", file.path.display());
                Error::InvalidSkill(why(message, &file))
            }
        }
    }
}

/// A skill with everything that a run of it depends on.
pub struct Prepared {
    /// The skill.
    pub skill: CheckedSkill,
    /// Its inputs, complete and checked.
    pub inputs: Inputs,
    /// The environment it runs against.
    pub environment: Option<String>,
    /// The part of it that is run.
    pub range: Option<Range>,
    /// Yes to every question that allows it.
    pub yes: bool,
    /// Refuse instead of waiting where another run has the name of its
    /// `concurrency`.
    pub no_wait: bool,
}

impl Runtime {
    /// Finds a skill by its name or path and checks it.
    pub fn check_skill(&self, wanted: &str) -> Result<CheckedSkill, SkillError> {
        if self.directory.to_str().is_none() {
            let message = format!("`{}` is not a UTF-8 path", self.directory.display());
            return Err(
                Error::usage(message, "run it from a directory whose path is valid UTF-8").into()
            );
        }
        self.must_be_trusted()?;
        let FoundSkill { mut file, name } = self.read_skill(wanted)?;
        let path = file.path.clone();
        if name.is_none() && file.declared.len() > 1 && file.valid() > 0 {
            return Err(file.several().into());
        }
        if file.has_errors() {
            return Err(SkillError::Invalid(Box::new(file)));
        }
        let warnings = std::mem::take(&mut file.diagnostics);
        let (flow, text) = file.into_flow(name.as_deref())?;
        let skill = CheckedSkill { path, flow: Arc::new(flow), text, warnings };
        if self.started_by != StartedBy::Person
            && let Some(step) = self.interactive_step(&skill)
        {
            let refused = Error::Refused {
                message: format!("step `{step}` is interactive: it needs a person's terminal"),
                hint: Some(format!("ask the person to run it: `aye run {wanted}`")),
            };
            return Err(refused.into());
        }
        Ok(skill)
    }

    /// Inputs with their defaults, checked.
    pub fn complete_inputs(
        &self,
        flow: &Flow,
        given: IndexMap<String, Given>,
    ) -> Result<Inputs, Vec<InputError>> {
        let world = self.world(&self.directory);
        let scope = scope_of(flow, &world);
        let render = |value: &Value| text::render_value(value, &scope).map_err(|e| e.to_string());
        resolve_inputs(&flow.skill.inputs, given, render)
    }

    /// The whole skill with these inputs, every question asked.
    pub fn prepare(
        &self,
        skill: CheckedSkill,
        given: IndexMap<String, Given>,
    ) -> Result<Prepared, Error> {
        let inputs = self.complete_inputs(&skill.flow, given).map_err(Error::Inputs)?;
        Ok(Prepared { skill, inputs, environment: None, range: None, yes: false, no_wait: false })
    }

    /// The way a run would take; nothing is run.
    pub fn plan(&self, prepared: &Prepared) -> Result<Plan, Error> {
        let Prepared { skill, inputs, environment, range, .. } = prepared;
        let world = self.world(&self.directory);
        let policy = self.granted().policy.for_run(&self.directory);
        let refuses = |program: &str, cwd: Option<&str>| {
            dry_run::refusal(&policy, &self.directory, program, cwd)
        };
        let destructive = self.settings.tools.destructive();
        let load = |skill: &str, file: &Path| {
            let (mut flow, source) = self.load(skill, file, Reach::AnyFile).ok()?;
            flow.mark_destructive(&destructive);
            Some((flow, source.file.into()))
        };
        let setting = Setting {
            step_timeout: self.settings.step_timeout,
            longest_step: self.settings.max_step_timeout,
            ask: self.settings.ask,
            refuses: &refuses,
            refuses_tool: &|tool| {
                dry_run::tool_refusal(&self.settings.tools, &policy, &self.directory, tool)
            },
            tool_timeout: &|tool| self.settings.tools.timeout(tool),
            load: &load,
        };
        let planned = Planned {
            flow: &skill.flow,
            file: &skill.path,
            inputs,
            range: range.as_ref(),
            environment: environment.as_deref(),
        };
        let plan = dry_run::plan(&planned, &world, &setting);
        let mut plan = plan.map_err(|error| no_such_step(&error))?;
        if let (Some(name), Some(journal)) = (&plan.concurrency, self.journal_if_any()?) {
            plan.waits_for = journal.holder_of_name(name)?.map(|run| run.to_string());
        }
        plan.warnings.extend(prepared.left_out().iter().map(needs));
        plan.warnings.extend(prepared.questions_left_out());
        Ok(plan)
    }

    /// The first step that needs a terminal, in the skill or in one it calls.
    fn interactive_step(&self, skill: &CheckedSkill) -> Option<String> {
        let steps: Vec<Step> = skill.flow.nodes.iter().map(|node| node.step.clone()).collect();
        let mut open = vec![(0, skill.path.clone(), steps)];
        let mut seen: Vec<String> = Vec::new();
        while let Some((depth, path, steps)) = open.pop() {
            for step in steps {
                if step.interactive {
                    return Some(step.name.value);
                }
                match step.action {
                    Action::ForEach(each) => open.push((depth, path.clone(), each.body)),
                    // One whose name is only known later is looked at when it begins.
                    Action::Skill { skill, .. }
                        if depth < DEEPEST && !seen.contains(&skill.value) =>
                    {
                        seen.push(skill.value.clone());
                        if let Ok((flow, source)) = self.load(&skill.value, &path, Reach::AnyFile) {
                            let steps = flow.nodes.into_iter().map(|node| node.step).collect();
                            open.push((depth + 1, source.file.into(), steps));
                        }
                    }
                    Action::Command { .. }
                    | Action::Shell { .. }
                    | Action::Ask(_)
                    | Action::Tool { .. }
                    | Action::Compute { .. }
                    | Action::Skill { .. }
                    | Action::Return { .. }
                    | Action::Note => {}
                }
                if !step.then.is_empty() {
                    open.push((depth, path.clone(), step.then));
                }
            }
        }
        None
    }
}

impl Prepared {
    /// What a part of a run is certain not to have.
    fn left_out(&self) -> Vec<LeftOut> {
        let range = self.range.as_ref();
        range.map_or_else(Vec::new, |range| {
            self.skill.flow.left_out(range, Some(&PythonExpressions))
        })
    }

    /// Refuses a part of a run that is certain to fail for want of a result.
    pub(super) fn must_have_results(&self) -> Result<(), Error> {
        let missing = self.left_out();
        let Some(first) = missing.first() else { return Ok(()) };
        let flow = &self.skill.flow;
        let givers = missing.iter().filter_map(|one| flow.find(&one.given_by));
        let earliest = givers.min().map(|node| flow.nodes[node].step.name.as_str());
        let begin = earliest.unwrap_or(&first.given_by);
        let message: Vec<String> = missing.iter().map(needs).collect();
        let hint = format!(
            "begin earlier: `--from {begin}`; if a result may be missing, write \
             `{} | default('')` where it is used",
            first.result
        );
        Err(Error::usage(message.join("\n"), hint))
    }

    /// A part of a run may begin behind the questions that lead up to it.
    pub fn questions_left_out(&self) -> Option<String> {
        let (flow, range) = (&self.skill.flow, self.range.as_ref()?);
        let Body::Steps(_) = flow.skill.body else { return None };
        let before = flow.nodes[..flow.find(range.step())?].iter().map(|node| &node.step);
        let names: Vec<&str> = before
            .filter(|step| step.question().is_some())
            .map(|step| step.name.as_str())
            .collect();
        let what = match names[..] {
            [] => return None,
            [one] => format!("the question of `{one}` before it"),
            _ => format!("the questions of `{}` before it", names.join("`, `")),
        };
        Some(match range {
            Range::From(step) => format!("beginning at `{step}` leaves out {what}"),
            Range::Only(step) => format!("`{step}` alone leaves out {what}"),
        })
    }
}

fn needs(missing: &LeftOut) -> String {
    let LeftOut { needed_by, result, given_by } = missing;
    format!("{needed_by} needs `{result}`, and step `{given_by}`, which gives it, is left out")
}

/// The error for a range that begins where no run can begin.
pub fn no_such_step(error: &StartError) -> Error {
    let hint = match error {
        StartError::NoSuchStep { nearest: Some(near), .. } => format!("did you mean `{near}`?"),
        StartError::NoSuchStep { nearest: None, .. } => "`--dry-run` shows its steps".to_owned(),
        StartError::Concurrency { hint, .. } => {
            let (message, hint) = (error.to_string(), hint.clone());
            return Error::Usage { message, hint };
        }
        StartError::InFinally { .. } => {
            let hint = "begin at one of the steps before it; `finally` follows automatically";
            return Error::usage(error.to_string(), hint);
        }
    };
    Error::not_found(error.to_string(), hint)
}
