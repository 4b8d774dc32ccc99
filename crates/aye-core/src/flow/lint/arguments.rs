//! Secrets in the arguments of programs, where every account can read them.

use std::collections::BTreeSet;

use crate::diagnostic::Diagnostic;
use crate::skill::{Action, InputType, Step};
use crate::text::{self, Expressions};

use super::super::graph::Flow;
use super::super::locate;
use super::all_steps;

/// The inputs that are secrets, as templates name them.
pub(super) fn secret_inputs(flow: &Flow) -> impl Iterator<Item = String> {
    let secret = flow.skill.inputs.iter().filter(|input| input.kind == InputType::Secret);
    secret.map(|input| format!("inputs.{}", input.name.value))
}

/// A warning for each argument with a secret in it.
pub(super) fn secrets_in_arguments(
    flow: &Flow,
    source: &str,
    expressions: Option<&dyn Expressions>,
) -> Vec<Diagnostic> {
    let steps = all_steps(flow);
    let inputs = secret_inputs(flow);
    let asks = |step: &&&Step| matches!(&step.action, Action::Ask(ask) if ask.secret);
    let answers = steps.iter().filter(asks);
    let answers = answers.map(|step| step.output.as_ref().unwrap_or(&step.name).value.clone());
    let secrets: BTreeSet<String> = inputs.chain(answers).collect();
    if secrets.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for step in steps {
        let Action::Command { program, args } = &step.action else { continue };
        for argument in args {
            let used = text::names_in_with(argument, expressions).unwrap_or_default();
            let Some(name) = used.into_iter().find(|name| secrets.contains(name)) else { continue };
            let message = format!("the secret `{name}` is an argument of `{}`", program.value);
            found.push(
                Diagnostic::warning("secret-in-arguments", message)
                    .label(
                        locate::name_in(source, argument.span, &name),
                        "every account of the machine can read it while the program runs",
                    )
                    .hint(format!(
                        "let the program read it: `stdin: '{{{{ {name} }}}}'`, or `env:` with a \
                         variable that it knows"
                    )),
            );
        }
    }
    found
}
