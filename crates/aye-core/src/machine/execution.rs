//! From a step to the command it runs, everything resolved.

use std::time::Duration;

use indexmap::IndexMap;
use jiff::Timestamp;

use crate::effect::Execution;
use crate::journal::Phase;
use crate::skill::{Action, Step, StepTimeout};
use crate::text::{self, Scope, TextError, World};

use super::run::{Machine, after};

impl Machine {
    /// The running action with everything resolved, secrets included.
    pub fn execution(&self, world: &World) -> Result<Option<Execution>, TextError> {
        let Phase::Running { step, execution, attempt, .. } = &self.state.phase else {
            return Ok(None);
        };
        let Some((_, node)) = self.node(step) else {
            return Ok(None);
        };
        let scope = self.scope(world);
        let step = &node.step;
        let render = |template: &Option<crate::skill::Template>| {
            template.as_ref().map(|template| text::text(template, &scope)).transpose()
        };
        let mut env = IndexMap::new();
        for (name, template) in &step.env {
            env.insert(name.clone(), render(template)?);
        }
        let until = self.step_deadline(step, world.now);
        // Nothing is left, rather than less than nothing.
        let timeout =
            until.map(|until| until.duration_since(world.now).try_into().unwrap_or(Duration::ZERO));
        Ok(Some(Execution {
            execution: *execution,
            step: step.name.value.clone(),
            attempt: *attempt,
            argv: argv(&step.action, &scope)?,
            env,
            cwd: render(&step.cwd)?,
            stdin: render(&step.stdin)?,
            interactive: step.interactive,
            tty: step.tty,
            max_memory: step.max_memory,
            max_cpu: step.max_cpu,
            timeout,
        }))
    }

    /// When a step that starts now has to be over.
    pub(super) fn step_deadline(&self, step: &Step, now: Timestamp) -> Option<Timestamp> {
        let own = match step.timeout {
            StepTimeout::After(limit) => Some(limit),
            StepTimeout::Unlimited => None,
            StepTimeout::Default if step.interactive => None,
            StepTimeout::Default => self.limits.step_timeout,
        };
        let own = own.map(|limit| after(now, limit));
        [own, self.state.deadline()].into_iter().flatten().min()
    }

    /// The resolved command line as a person would type it, and everything
    /// that decides what happens, for the digest. Secrets are masked in both:
    /// a short one could be found by trying until the digest fits.
    pub(super) fn command_line(
        &self,
        step: &Step,
        scope: &Scope,
    ) -> Result<(String, Vec<String>), TextError> {
        let argv = argv(&step.action, scope)?;
        // Masked before it is quoted: quoting changes what a secret looks like.
        let argv: Vec<String> = argv.iter().map(|word| self.secrets.mask(word)).collect();
        let shown = match &step.action {
            Action::Shell { .. } => argv.last().cloned().unwrap_or_default(),
            Action::Command { .. } | Action::Ask(_) | Action::Note => {
                argv.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
            }
        };
        // What else decides what happens has to render too, before anything runs.
        let mut words = argv;
        for (name, template) in &step.env {
            let value =
                template.as_ref().map(|template| text::text(template, scope)).transpose()?;
            let value = value.map(|value| self.secrets.mask(&value));
            words.push(format!("{name}={}", value.as_deref().unwrap_or("\u{0}")));
        }
        for template in [&step.cwd, &step.stdin].into_iter().flatten() {
            words.push(self.secrets.mask(&text::text(template, scope)?));
        }
        Ok((shown, words))
    }
}

fn argv(action: &Action, scope: &Scope) -> Result<Vec<String>, TextError> {
    match action {
        Action::Command { program, args } => {
            let mut argv = vec![text::text(program, scope)?];
            for arg in args {
                argv.push(text::text(arg, scope)?);
            }
            Ok(argv)
        }
        Action::Shell { script } => {
            Ok(vec!["sh".to_owned(), "-c".to_owned(), text::text(script, scope)?])
        }
        Action::Ask(_) | Action::Note => Ok(Vec::new()),
    }
}

/// A word as a shell would want it, for people to read and copy.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,~^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
