//! Names that do not exist.

use std::collections::BTreeMap;
use std::ops::Range;

use aye_core::diagnostic::surely_meant;
use aye_core::text::BUILT_IN;
use ruff_python_ast::{AnyNodeRef, ExprContext};
use ruff_text_size::Ranged;

use super::super::context::{BUILTINS, FUNCTIONS, is_builtin};
use super::super::source::{provided, provides};
use super::Fix;
use super::code::{Code, bytes_of, same};
use super::keys::reads_as_attribute;

/// What people write who come from another language.
const ELSEWHERE: [(&str, &str); 5] =
    [("true", "True"), ("false", "False"), ("null", "None"), ("nil", "None"), ("none", "None")];

/// How a name is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// `name(…)`
    Called,
    /// `name.x` or `name[x]`
    Base,
    /// `f(name)`
    Argument,
    /// `except name`, `raise name`
    Exception,
    /// Anything else.
    Value,
}

/// A name that nobody has defined.
pub(super) fn misspelt(code: &Code<'_>, place: &Range<usize>, name: &str) -> Option<Fix> {
    // A name that is set later or on another path is not misspelt, one that
    // Python has is not in the sandbox, and the others are said to be missing.
    if !code.analyze.is_free(name)
        || is_builtin(name)
        || provides(name)
        || BUILT_IN.contains(&name)
        || ["exec", "eval", "exit", "quit"].contains(&name)
        || code.scope.lost_secret(&[name.to_owned()]).is_some()
    {
        return None;
    }
    let index = first_use(code, place, name)?;
    let node = code.node(index);
    let replace = |with: &str| {
        Fix::new(format!("there is no `{name}`, but there is `{with}`"))
            .edit(bytes_of(node.range()), with)
            .suggest(with)
    };
    let role = role(code, index);
    if let Some((_, constant)) = ELSEWHERE.iter().find(|(other, _)| *other == name) {
        return (role != Role::Called).then(|| replace(constant));
    }
    let mut names = candidates(code, index, role);
    // Inputs are one step away.
    if role != Role::Called && code.analyze.is_free("inputs") {
        for input in code.scope.inputs.keys() {
            let with = match reads_as_attribute(input) {
                true => Some(format!("inputs.{input}")),
                false => code.string(index, input).map(|key| format!("inputs[{key}]")),
            };
            if let Some(with) = with {
                if input == name {
                    return Some(replace(&with));
                }
                names.entry(input.clone()).or_insert(with);
            }
        }
    }
    let meant = surely_meant(name, names.keys().map(String::as_str))?;
    Some(replace(names.get(meant)?))
}

/// The first use of a name at a place. Every use of it is wrong.
fn first_use(code: &Code<'_>, place: &Range<usize>, name: &str) -> Option<usize> {
    let used = code.loads(name).iter().copied().find(|index| {
        let range = bytes_of(code.node(*index).range());
        range.start == place.start || (place.start <= range.start && range.end <= place.end)
    });
    used.filter(|index| !code.shows_itself(*index))
}

fn role(code: &Code<'_>, index: usize) -> Role {
    if code.is_called(index) {
        return Role::Called;
    }
    match code.parent(index).map(|parent| code.node(parent)) {
        Some(AnyNodeRef::ExprAttribute(_)) => Role::Base,
        Some(AnyNodeRef::ExprSubscript(subscript)) if same(&subscript.value, code.node(index)) => {
            Role::Base
        }
        Some(AnyNodeRef::Arguments(_) | AnyNodeRef::Keyword(_)) => Role::Argument,
        Some(AnyNodeRef::ExceptHandlerExceptHandler(_) | AnyNodeRef::StmtRaise(_)) => {
            Role::Exception
        }
        Some(AnyNodeRef::ExprTuple(_))
            if code.around(index).nth(1).is_some_and(|outer| {
                matches!(code.node(outer), AnyNodeRef::ExceptHandlerExceptHandler(_))
            }) =>
        {
            Role::Exception
        }
        _ => Role::Value,
    }
}

/// Names that can stand in this role, and what to write for them.
fn candidates(code: &Code<'_>, index: usize, role: Role) -> BTreeMap<String, String> {
    let mut names: Vec<String> = Vec::new();
    let is_exception = |name: &str| name.starts_with(|c: char| c.is_ascii_uppercase());
    if role != Role::Exception {
        let own = code.visible(index).into_iter();
        let fits = own.filter(|own| role != Role::Called || own.callable != Some(false));
        names.extend(fits.map(|own| own.name.to_owned()));
    }
    // What a run has is data: nothing to call.
    if matches!(role, Role::Base | Role::Argument | Role::Value) {
        let results = code.scope.names_in_scope().into_iter();
        names.extend(results.filter(|name| code.analyze.is_free(name)));
        names.extend(BUILT_IN.map(str::to_owned).into_iter().filter(|n| code.analyze.is_free(n)));
    }
    let python = BUILTINS.iter().filter(|name| !name.starts_with("__"));
    let python = python.filter(|name| match role {
        Role::Called => true,
        Role::Argument => !is_exception(name),
        Role::Exception => is_exception(name),
        Role::Base | Role::Value => false,
    });
    let given = provided().filter(|(_, module)| match role {
        Role::Called => !module,
        Role::Base => true,
        Role::Argument | Role::Exception | Role::Value => false,
    });
    let ours = FUNCTIONS.iter().filter(|_| role == Role::Called);
    let foreign = python.chain(ours).copied().chain(given.map(|(name, _)| name));
    names.extend(foreign.filter(|name| code.analyze.is_free(name)).map(str::to_owned));
    if matches!(role, Role::Argument | Role::Value) {
        names.extend(["True", "False", "None"].map(str::to_owned));
    }
    names.into_iter().map(|name| (name.clone(), name)).collect()
}

/// A block that sets a variable which is nearly the one that counts.
pub(super) fn result(code: &Code<'_>) -> Option<Fix> {
    let wanted: Vec<&str> = code.output.into_iter().chain(["result"]).collect();
    let mut found = code.analyze.variables().filter_map(|name| {
        let meant = surely_meant(name, wanted.iter().copied())?;
        let &[binding] = code.bindings(name) else { return None };
        let unused = code.loads(name).is_empty();
        match code.node(binding) {
            AnyNodeRef::ExprName(node) if unused && node.ctx == ExprContext::Store => {
                Some((name, node, meant))
            }
            _ => None,
        }
    });
    let (Some((name, node, meant)), None) = (found.next(), found.next()) else { return None };
    let why = format!("the result is looked for in `{meant}`, but the block sets `{name}`");
    Some(Fix::new(why).edit(bytes_of(node.range), meant).suggest(meant))
}
