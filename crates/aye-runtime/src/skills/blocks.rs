//! Compute blocks of a skill, looked over before it runs.

use std::collections::BTreeSet;
use std::time::Instant;

use aye_core::diagnostic::{Diagnostic, Severity, did_you_mean};
use aye_core::flow::{Flow, UNKNOWN_NAME, results_of};
use aye_core::skill::{Action, Step};
use aye_core::span::Span;
use aye_core::text::BUILT_IN;

use crate::compute::{self, Block, ComputeError};
use crate::memory::{is_function, no_function};

/// What cannot be read in the compute steps of a flow, or is sure to fail. It is said by `until`.
pub(super) fn check(flow: &Flow, text: &str, until: Instant) -> Vec<Diagnostic> {
    let mut known: BTreeSet<String> =
        flow.nodes.iter().flat_map(|node| results_of(&node.step)).collect();
    if !flow.skill.defaults.is_null() {
        known.insert("defaults".to_owned());
    }
    let blocks = Blocks { flow, text, until };
    let mut found = Vec::new();
    for node in &flow.nodes {
        blocks.look_at(&node.step, &known, &mut found);
    }
    found
}

struct Blocks<'a> {
    flow: &'a Flow,
    text: &'a str,
    until: Instant,
}

impl Blocks<'_> {
    fn look_at(&self, step: &Step, known: &BTreeSet<String>, found: &mut Vec<Diagnostic>) {
        if let Action::ForEach(each) = &step.action {
            let mut inside = known.clone();
            inside.extend([each.name.clone(), "index".to_owned()]);
            inside.extend(each.body.iter().flat_map(with_then).flat_map(results_of));
            for step in each.body.iter().flat_map(with_then) {
                self.look_at(step, &inside, found);
            }
        }
        let Action::Compute { code, python, .. } = &step.action else { return };
        let output = step.output.as_ref().unwrap_or(&step.name).value.clone();
        let block = Block { code: code.value.clone(), output: Some(output), ..Block::default() };
        let wrong = match python {
            true => None,
            false => self.unreadable(step, &block, code.span),
        };
        let unread = wrong.as_ref().is_some_and(Diagnostic::is_error);
        found.extend(wrong);
        if !unread {
            found.extend(self.text_as_number(step, &block, code.span));
            found.extend(self.unknown_name(step, &block, code.span, known));
            found.extend(self.hidden_result(step, &block, code.span, known));
            found.extend(self.unknown_function(step, &block, code.span));
        }
    }

    /// A block that cannot be read, or that needs a module that is not there.
    fn unreadable(&self, step: &Step, block: &Block, span: Span) -> Option<Diagnostic> {
        let time = self.until.saturating_duration_since(Instant::now());
        let said = |error: &ComputeError| words(step, &error.message);
        let (diagnostic, error) = match compute::check(block, time) {
            Err(error) => (Diagnostic::error("bad-code", said(&error)), error),
            Ok(()) => {
                let error = compute::missing_module(block)?;
                (Diagnostic::warning("missing-module", said(&error)), error)
            }
        };
        Some(self.placed(diagnostic, span, error))
    }

    /// What a program printed is text, and Python says no more than False when it is compared
    /// with a number.
    fn text_as_number(&self, step: &Step, block: &Block, span: Span) -> Option<Diagnostic> {
        let prints =
            |step: &Step| matches!(step.action, Action::Command { .. } | Action::Shell { .. });
        let named =
            |step: &Step, name: &str| step.output.as_ref().unwrap_or(&step.name).value == name;
        let is_text = |name: &str| {
            let mut gives =
                self.flow.nodes.iter().filter(|node| named(&node.step, name)).peekable();
            gives.peek().is_some() && gives.all(|node| prints(&node.step))
        };
        let error = compute::text_as_number(block, &is_text)?;
        let said = Diagnostic::warning("text-as-number", words(step, &error.message));
        Some(self.placed(said, span, error))
    }

    /// A name that nothing defines: the block fails where it uses it.
    fn unknown_name(
        &self,
        step: &Step,
        block: &Block,
        span: Span,
        known: &BTreeSet<String>,
    ) -> Option<Diagnostic> {
        let inputs = || self.flow.skill.inputs.iter().map(|input| input.name.as_str());
        let is_known = |dotted: &str| match dotted.split_once('.') {
            Some(("inputs", key)) => inputs().any(|input| input == key),
            Some((name, _)) => known.contains(name),
            None => known.contains(dotted),
        };
        let unknown = compute::unknown_name(block, &is_known)?;
        let name = unknown.name;
        let renamed = self.flow.nodes.iter().find(|node| node.step.name.value == name);
        let renamed = renamed.and_then(|node| node.step.output.as_ref());
        let near = match (name.strip_prefix("inputs."), renamed) {
            (Some(key), _) => did_you_mean(key, inputs()).map(|near| format!("inputs.{near}")),
            (None, Some(output)) => Some(output.value.clone()),
            (None, None) if inputs().any(|input| input == name) => Some(format!("inputs.{name}")),
            (None, None) => {
                did_you_mean(&name, known.iter().map(String::as_str)).map(str::to_owned)
            }
        };
        let message = words(step, &format!("`{name}` is not defined anywhere"));
        let mut said = Diagnostic::error(UNKNOWN_NAME, message);
        if unknown.caught || self.flow.skill.lenient == Some(true) {
            said.severity = Severity::Warning;
        }
        let said = self.placed(said, span, unknown.place);
        Some(match near {
            Some(near) => said.hint(format!("did you mean `{near}`?")),
            None => said.hint("no step gives it, and the block does not set it"),
        })
    }

    /// A built-in name where the result of a step with that name was meant.
    fn hidden_result(
        &self,
        step: &Step,
        block: &Block,
        span: Span,
        known: &BTreeSet<String>,
    ) -> Option<Diagnostic> {
        let hidden = |name: &str| known.contains(name) && BUILT_IN.contains(&name);
        let found = compute::first_use(block, &hidden)?;
        let name = found.name;
        let message = words(step, &format!("`{name}` is not the result of step `{name}`"));
        let said = self.placed(Diagnostic::error("built-in-name", message), span, found.place);
        Some(said.hint(format!("add `output: {name}_result` to the step and use `{name}_result`")))
    }

    /// A function that `memory` does not have: the block fails where it calls it.
    fn unknown_function(&self, step: &Step, block: &Block, span: Span) -> Option<Diagnostic> {
        let function = |dotted: &str| dotted.strip_prefix("memory.").map(str::to_owned);
        let unknown = |dotted: &str| function(dotted).is_some_and(|name| !is_function(&name));
        let found = compute::first_use(block, &unknown)?;
        let message = words(step, &no_function(&function(&found.name)?));
        Some(self.placed(Diagnostic::warning("unknown-function", message), span, found.place))
    }

    fn placed(&self, diagnostic: Diagnostic, block: Span, error: ComputeError) -> Diagnostic {
        let diagnostic = match place_in(self.text, block, &error) {
            Some(span) => diagnostic.label(span, ""),
            None => {
                let line = error.place.as_ref().map(|place| place.line);
                let line = line.map(|line| format!("line {line} of the block"));
                diagnostic.label(block, line.unwrap_or_default())
            }
        };
        diagnostic.hint_if(error.hint)
    }
}

fn words(step: &Step, message: &str) -> String {
    format!("`compute` of step `{}`: {message}", step.name.value)
}

fn with_then(step: &Step) -> Vec<&Step> {
    std::iter::once(step).chain(step.then.iter().flat_map(with_then)).collect()
}

/// Where the line of a block that an error is about stands in the file; `None`
/// if the block is not written line by line.
fn place_in(text: &str, block: Span, error: &ComputeError) -> Option<Span> {
    let place = error.place.as_deref()?;
    let source = place.source.as_str();
    let mut start = block.start;
    for _ in 1..place.line {
        start += text.get(start..)?.find('\n')? + 1;
    }
    let written = text.get(start..)?.lines().next()?;
    let at = start + written.find(source.trim_end()).filter(|_| !source.trim().is_empty())?;
    let bytes = |column: usize| source.chars().take(column).map(char::len_utf8).sum::<usize>();
    Some(Span { start: at + bytes(place.columns.start), end: at + bytes(place.columns.end) })
}
