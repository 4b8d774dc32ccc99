//! What skills refer to: tools of the project and other skills.

use std::path::Path;

use aye_core::diagnostic::{self, Diagnostic, Severity, did_you_mean};
use aye_core::event::Range;
use aye_core::flow::{Flow, Inside, Node, decline_fails};
use aye_core::skill::{Action, HealRule, InputSpec, OnError, Step};

use crate::driver::Skills as _;
use crate::error::Error;
use crate::invalid_skill::InvalidSkill;
use crate::runtime::Runtime;
use crate::skills::Reach;
use crate::tools::Tools;

use super::prepare::CheckedSkill;

impl Runtime {
    /// What a file refers to and is not there, or not as it is meant. Only warnings:
    /// it may be there by the time it is run.
    pub fn references(&self, flows: &[Flow], path: &Path) -> Vec<Diagnostic> {
        let tools = self.tools(&self.directory, &self.new_run_id());
        let rules = self.limits().heal;
        let mut found = Vec::new();
        for flow in flows {
            found.extend(
                flow.body().iter().filter_map(|node| self.declined_inside(flow, node, path)),
            );
            let mut steps: Vec<&Step> = flow.nodes.iter().map(|node| &node.step).collect();
            steps.extend(flow.skill.heal.iter().map(|rule| &rule.repair));
            while let Some(step) = steps.pop() {
                found.extend(never_healed(step, flow, &rules));
                found.extend(self.called(step, path, &tools));
                match &step.action {
                    Action::ForEach(each) => steps.extend(&each.body),
                    Action::Tool { .. } => found.extend(remembered(step, self)),
                    Action::Skill { .. }
                    | Action::Command { .. }
                    | Action::Shell { .. }
                    | Action::Ask(_)
                    | Action::Compute { .. }
                    | Action::Return { .. }
                    | Action::Note => {}
                }
            }
        }
        found
    }

    /// A state that calls a skill with a question, and whose failure is handled where a
    /// refusal is not.
    fn declined_inside(&self, flow: &Flow, node: &Node, path: &Path) -> Option<Diagnostic> {
        let Action::Skill { skill, .. } = &node.step.action else { return None };
        // Asked itself, it has been said of it.
        if node.can_decline() {
            return None;
        }
        let concern = decline_fails(flow, node, Inside::Skill)?;
        let (called, _) = self.load(skill, path, Reach::AnyFile).ok()?;
        let asks = called.body().iter().any(|node| {
            node.can_decline() && node.routes.declined.or(node.routes.failure).is_none()
        });
        asks.then(|| concern.diagnostic())
    }

    /// Refuses a skill that is certain to fail, before its first step: a step that
    /// nothing leaves out calls what is not there, and nothing before it could
    /// have made it.
    pub fn must_find_what_it_calls(
        &self,
        skill: &CheckedSkill,
        range: Option<&Range>,
    ) -> Result<(), Error> {
        let CheckedSkill { flow, path, text, .. } = skill;
        let certain = flow.certain(range);
        if !certain.iter().any(|node| calls(&node.step)) {
            return Ok(());
        }
        let tools = self.tools(&self.directory, &self.new_run_id());
        let rules = self.limits().heal;
        let mut found = Vec::new();
        let mut may_make_files = false;
        for node in certain {
            let step = &node.step;
            let mut heals = flow.skill.heal.iter().chain(rules.iter());
            let tool = step.action.tool();
            if node.must_succeed() && !heals.any(|rule| rule.when.could_fit(&step.name, tool, None))
            {
                let missing = self.called(step, path, &tools).into_iter();
                let made = |one: &Diagnostic| may_make_files && one.code == UNKNOWN_SKILL;
                found.extend(missing.filter(|one| !made(one)));
            }
            may_make_files |= !matches!(step.action, Action::Ask(_) | Action::Note);
        }
        let mut found = diagnostic::without_allowed(found, text);
        if found.is_empty() {
            return Ok(());
        }
        found.iter_mut().for_each(|one| one.severity = Severity::Error);
        let file = path.to_string_lossy().into_owned();
        let message = format!("`{file}` is certain to fail");
        let text = text.clone();
        Err(Error::InvalidSkill(InvalidSkill::Found { message, file, text, diagnostics: found }))
    }

    /// What a step calls and is not there, or not as it is meant.
    fn called(&self, step: &Step, path: &Path, tools: &Tools) -> Vec<Diagnostic> {
        match &step.action {
            Action::Tool { tool, .. } => unknown_tool(tool, tools, self).into_iter().collect(),
            Action::Skill { skill, inputs, span } if !skill.contains("{{") => {
                match self.load(skill, path, Reach::AnyFile) {
                    Err(error) => {
                        let said = match error {
                            Error::InvalidSkill(why) => why.to_warning(UNKNOWN_SKILL),
                            other => Diagnostic::warning(UNKNOWN_SKILL, other.to_string()),
                        };
                        vec![said.label(skill.span, "looked for from here")]
                    }
                    Ok((called, _)) => {
                        let names: Vec<&str> = inputs.keys().map(String::as_str).collect();
                        inputs_of(&called, &names, *span)
                    }
                }
            }
            // What a template names is known only then.
            Action::Skill { .. }
            | Action::ForEach(_)
            | Action::Command { .. }
            | Action::Shell { .. }
            | Action::Ask(_)
            | Action::Compute { .. }
            | Action::Return { .. }
            | Action::Note => Vec::new(),
        }
    }
}

const UNKNOWN_SKILL: &str = "unknown-skill";

fn calls(step: &Step) -> bool {
    matches!(step.action, Action::Tool { .. } | Action::Skill { .. })
}

/// `on_error: auto_heal` where no rule is for the step.
fn never_healed(step: &Step, flow: &Flow, rules: &[HealRule]) -> Option<Diagnostic> {
    if step.on_error != Some(OnError::AutoHeal) {
        return None;
    }
    let shell = matches!(step.action, Action::Shell { .. }).then_some("sh");
    let program = step.action.command_program().map(|program| program.as_str()).or(shell);
    let tool = step.action.tool();
    // What a template gives is known only then.
    let open = program.is_some_and(|program| program.contains("{{"));
    let mut all = flow.skill.heal.iter().chain(rules);
    let healed = all.any(|rule| open || rule.when.could_fit(&step.name, tool, program));
    (!healed).then(|| {
        let message = format!("no heal rule is for step `{}`", step.name.value);
        Diagnostic::warning("no-heal-rule", message)
            .label(step.name.span, "`on_error: auto_heal` does what `fail` does here")
            .hint("add a rule under `heal:`, or to `[[heal]]` in `aye.toml`")
    })
}

fn unknown_tool(
    tool: &aye_core::span::Spanned<String>,
    tools: &Tools,
    runtime: &Runtime,
) -> Option<Diagnostic> {
    let error = tools.unknown(tool)?;
    // A project that names no tools may get them from elsewhere; what is written
    // in another way here is not among them.
    if runtime.settings.tools.is_empty() && !Tools::is_written_otherwise(tool) {
        return None;
    }
    let said = Diagnostic::warning("unknown-tool", error.message).label(tool.span, "");
    Some(said.hint_if(error.hint))
}

/// A yes to what the settings call destructive that wants to be remembered.
fn remembered(step: &Step, runtime: &Runtime) -> Option<Diagnostic> {
    let Action::Tool { tool, .. } = &step.action else { return None };
    let marked = runtime.settings.tools.commands.get(&tool.value)?.destructive;
    let remembers = step.confirmation.as_ref().is_some_and(|ask| ask.remember);
    (marked && remembers).then(|| {
        let message = format!("the answer to step `{}` is not remembered", step.name.value);
        Diagnostic::warning("remember-refused", message)
            .label(tool.span, "`aye.toml` says that it is destructive")
            .hint("remove `remember`; it has to be asked each time")
    })
}

/// Inputs that the called skill does not have, or wants and does not get.
fn inputs_of(called: &Flow, given: &[&str], span: aye_core::span::Span) -> Vec<Diagnostic> {
    let name = &called.skill.name.value;
    let specs: &[InputSpec] = &called.skill.inputs;
    let known = || specs.iter().map(|spec| spec.name.as_str());
    let unknown = given.iter().filter(|given| !known().any(|known| known == **given));
    let unknown = unknown.map(|given| {
        let message = format!("skill `{name}` has no input `{given}`");
        let near = did_you_mean(given, known());
        let label = near.map(|near| format!("did you mean `{near}`?")).unwrap_or_default();
        Diagnostic::warning("unknown-input", message).label(span, label)
    });
    let missing = specs
        .iter()
        .filter(|spec| spec.has_to_be_given())
        .filter(|spec| !given.contains(&spec.name.as_str()))
        .map(|spec| {
            let message = format!("skill `{name}` needs input `{}`", spec.name.value);
            Diagnostic::warning("missing-input", message)
                .label(span, "")
                .hint(format!("add `inputs: {{ {}: … }}`", spec.name.value))
        });
    unknown.chain(missing).collect()
}
