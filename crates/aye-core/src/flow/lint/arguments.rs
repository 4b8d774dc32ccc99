//! Secrets in the arguments of programs, where every account can read them.

use crate::diagnostic::Diagnostic;
use crate::skill::InputType;
use crate::text::Expressions;

use super::super::graph::Flow;
use super::super::locate;

/// The code of a secret that becomes an argument of a program.
pub const SECRET_IN_ARGUMENTS: &str = "secret-in-arguments";

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
    let found = flow.secret_uses(None, expressions).arguments.into_iter().map(|argument| {
        let (name, secret, program) = (argument.name, argument.secret, argument.program);
        let message = match name == secret {
            true => format!("the secret `{name}` is an argument of `{program}`"),
            false => format!(
                "`{name}` is made from the secret `{secret}` and is an argument of `{program}`"
            ),
        };
        Diagnostic::warning(SECRET_IN_ARGUMENTS, message)
            .label(
                locate::name_in(source, argument.span, &name),
                "every account of the machine can read it while the program runs",
            )
            .hint(format!(
                "let the program read it: `stdin: '{{{{ {name} }}}}'`, or `env:` with a variable \
                 that it knows"
            ))
    });
    found.collect()
}
