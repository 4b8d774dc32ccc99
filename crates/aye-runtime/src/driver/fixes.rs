//! Fixes: looked up when a step fails, counted when they were tried, kept when
//! someone wants that.

use aye_core::event::{MemoryKind, Remembered};
use aye_core::fix::{Act, KnownFix};
use aye_core::journal::Changed;
use aye_core::machine::Machine;
use aye_core::question::FixScope;
use serde_json::{Map, Value};

use crate::fmt::escape_control_line;
use crate::memory::{
    Change, ErrorText, Fix, Keep, NewFix, Origin, OriginKind, Query, generalise, look_up_obstacle,
};

use super::drive::Driver;
use super::known::{program, tool_of};
use super::lane::ROOT;

impl Driver<'_> {
    /// The fix that memory has for a failure.
    pub(super) fn known_fix(&self, machine: &Machine, step: &str, error: &str) -> Option<KnownFix> {
        if !self.parts.memory.has_fixes() {
            return None;
        }
        let tool = tool_of(machine.flow(), machine.state(), step);
        let args = machine.arguments(step, &self.world());
        let skill = &machine.state().started.skill;
        let query = Query { args: args.as_ref(), ..Query::at(&tool, skill, step, error) };
        let fix = self.parts.memory.fix_for(&query)?;
        let short = self.parts.memory.short_id(&fix.id);
        let obstacle = self.obstacle(&fix);
        let act = |act: &crate::memory::Act| Act {
            command: act.command.clone(),
            tool: act.tool.clone(),
            skill: act.skill.clone(),
            with: act.with.clone(),
        };
        Some(KnownFix {
            message: recalled(&fix, &short),
            short,
            obstacle,
            args: fix.change.args.clone(),
            first: fix.change.first.as_ref().map(act),
            replace: fix.change.replace.as_ref().map(act),
            max_uses: fix.max_uses,
            id: fix.id,
        })
    }

    /// What keeps a fix from being used here: it may only look with tools that
    /// someone who is believed says only look.
    fn obstacle(&self, fix: &Fix) -> Option<String> {
        let tool = fix.change.first.as_ref()?.tool.as_ref()?;
        (!self.parts.tools.is_read_only(tool)).then(|| look_up_obstacle(tool))
    }

    /// What someone changed worked, and they wanted it kept.
    pub(super) fn remember_edits(&self, machine: &Machine, step: &str) -> Vec<Remembered> {
        let Some(record) = machine.state().steps.get(step) else { return Vec::new() };
        let mut old = machine.original_arguments(step, &self.world()).unwrap_or_default();
        let mut learned = Vec::new();
        let errors: Vec<String> = record.changes.iter().map(|one| pattern(&one.error)).collect();
        for (n, change) in record.changes.iter().enumerate() {
            // The same error again: what was changed because of it did not help.
            let helped = errors.get(n + 1).is_none_or(|next| *next != errors[n]);
            if let (true, Some(scope)) = (helped, change.edits.remember) {
                let kept = self.new_fix(machine, step, change, &old, scope);
                learned.push(self.keep_fix(machine, step, kept, change.relayed));
            }
            old.extend(change.edits.set.clone());
        }
        learned
    }

    fn keep_fix(&self, machine: &Machine, step: &str, kept: NewFix, relayed: bool) -> Remembered {
        let mask = |text: &str| machine.secrets().mask(text);
        let (id, message, lesson) = match self.parts.memory.fix_lesson(kept, &mask) {
            Ok((id, lesson)) => {
                let short = self.parts.memory.short_id(&id);
                let does = escape_control_line(&lesson.summary().unwrap_or_default());
                let said = match relayed {
                    true => format!(
                        "proposed `{short}`: {does}; `aye memory agree {short}` lets it be used"
                    ),
                    false => {
                        format!(
                            "remembered as `{short}`; `aye memory forget {short}` takes it back"
                        )
                    }
                };
                (Some(id), said, lesson.to_value())
            }
            Err(error) => {
                let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
                (None, format!("the fix was not remembered: {error}{hint}"), None)
            }
        };
        let step = Some(step.to_owned());
        Remembered { id, step, lesson, ..Remembered::told(MemoryKind::Fix, message) }
    }

    fn new_fix(
        &self,
        machine: &Machine,
        step: &str,
        change: &Changed,
        old: &Map<String, Value>,
        scope: FixScope,
    ) -> NewFix {
        let Changed { error, edits, relayed, by } = change;
        let rule = generalise(old, &edits.set);
        let state = machine.state();
        // The program that failed, not the one that was put in its place.
        let failed = old.get("0").and_then(Value::as_str).map(program);
        let tool = failed.unwrap_or_else(|| tool_of(machine.flow(), state, step));
        let tool = Some(tool).filter(|tool| !tool.is_empty());
        // What an interpreter is given says nothing about its next script.
        let is_own_program = tool.as_ref().is_some_and(|tool| !runs_others(tool));
        let of_step = scope == FixScope::Step || !is_own_program;
        NewFix {
            skill: of_step.then(|| state.started.skill.clone()),
            step: of_step.then(|| step.to_owned()),
            tool,
            error: recognised_by(error, old, &edits.set),
            only_for: rule.only_for,
            change: Change { args: rule.args, ..Change::default() },
            about: Some(changed(old, &edits.set)),
            from: Origin {
                kind: if *relayed { OriginKind::Assistant } else { OriginKind::Person },
                by: by
                    .clone()
                    .unwrap_or_else(|| self.lane(ROOT).machine.state().started.driver.user.clone()),
                run: Some(state.run.to_string()),
                at: self.parts.clock.now(),
                other: Map::new(),
            },
            keep: Keep::Auto,
        }
    }
}

/// A fix from memory in one line.
fn recalled(fix: &Fix, id: &str) -> String {
    let mut said = format!("known error: trying `{id}`");
    if let Some(about) = &fix.about {
        // What someone changed in a run says where it is from; other words say themselves.
        let word = if fix.from.run.is_some() { "it was learned from " } else { "" };
        said.push_str(&format!("; {word}{about}"));
    }
    match fix.verified {
        0 => {}
        1 => said.push_str("; it has helped once"),
        many => said.push_str(&format!("; it has helped {many} times")),
    }
    said.push_str(&format!("; from {}", fix.from.by));
    if let Some(run) = &fix.from.run {
        said.push_str(&format!(" in run {run}"));
    }
    if let Some(agreed) = &fix.agreed {
        said.push_str(&format!(", {} agreed", agreed.by));
    }
    said.push_str(&format!("; `aye memory forget {id}` takes it back"));
    escape_control_line(&said)
}

/// What an error is recognised by, as far as one error is like another.
fn pattern(error: &str) -> String {
    crate::memory::pattern_of(error).map_or_else(|_| error.to_owned(), |p| p.to_string())
}

/// What the next such error is recognised by. Values that were wrong are left out: the next
/// one has others.
fn recognised_by(error: &str, old: &Map<String, Value>, new: &Map<String, Value>) -> ErrorText {
    let wrong: Vec<&str> = new
        .keys()
        .filter_map(|name| old.get(name)?.as_str())
        .map(str::trim)
        .filter(|value| value.chars().count() > 1)
        .collect();
    if let Some(pattern) = crate::memory::around_values(error, &wrong) {
        return ErrorText::Pattern(pattern);
    }
    let mut lines = Vec::new();
    for line in error.lines() {
        let fingerprinted = crate::memory::fingerprint(line);
        let shown = wrong.iter().find(|value| fingerprinted.contains(**value));
        lines.push(match shown {
            // The longer part around it says enough.
            Some(value) => line.split(value).max_by_key(|part| part.len()).unwrap_or(line).trim(),
            None => line,
        });
    }
    ErrorText::Seen(lines.join("\n"))
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
pub(super) fn changed(old: &Map<String, Value>, new: &Map<String, Value>) -> String {
    let short = |value: &Value| match value {
        Value::String(text) => crate::fmt::cut(text.lines().next().unwrap_or_default(), 60),
        other => crate::fmt::cut(&other.to_string(), 60),
    };
    let one = |(name, new): (&String, &Value)| match old.get(name) {
        Some(old) => format!("{name}: {} -> {}", short(old), short(new)),
        None => format!("{name}: {}", short(new)),
    };
    new.iter().map(one).collect::<Vec<_>>().join(", ")
}
