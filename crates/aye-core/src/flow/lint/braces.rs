//! `{name}` in single braces, as other tools write a value.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::diagnostic::Diagnostic;
use crate::skill::Template;

use super::super::locate;

/// Names of other tools, and ours.
const OTHERS: [(&str, &str); 3] =
    [("timestamp", "now"), ("workflow", "skill.name"), ("workflow_name", "skill.name")];
/// Built-in names that are one value.
const VALUES: [&str; 5] = ["branch", "workspace", "worktree", "now", "today"];

/// What each name in single braces was meant to be.
pub(super) fn braces(
    template: &Template,
    inputs: &BTreeSet<&str>,
    results: &BTreeSet<&str>,
    source: &str,
) -> Vec<Diagnostic> {
    let said = |at: Range<usize>| {
        let name = &template[at.start + 1..at.end - 1];
        let meant = match name {
            _ if inputs.contains(name) => format!("inputs.{name}"),
            _ if results.contains(name) || VALUES.contains(&name) => name.to_owned(),
            _ => OTHERS.iter().find(|(theirs, _)| *theirs == name)?.1.to_owned(),
        };
        let written = &template[at.clone()];
        let span = locate::text_at(source, template, at.start, written);
        let right = format!("{{{{ {meant} }}}}");
        let said = Diagnostic::warning("single-braces", format!("`{written}` stays as it is"))
            .label(span.unwrap_or(template.span), "a value has two braces")
            .hint(format!("write `{right}`"));
        Some(said.fix(span, right))
    };
    single(template).filter_map(said).collect()
}

/// Where `{name}` stands that is neither a template nor a shell's variable.
fn single(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.match_indices('{').filter_map(move |(at, _)| {
        let rest = &text[at + 1..];
        let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
        let before = text[..at].chars().next_back();
        // The character after the name may be of any length.
        let after = rest[length..].strip_prefix('}')?;
        let doubled = after.starts_with('}') || matches!(before, Some('{' | '$'));
        (length > 0 && !doubled).then_some(at..at + length + 2)
    })
}

#[cfg(test)]
mod tests {
    use super::single;

    #[test]
    fn a_name_in_single_braces_is_found_beside_any_character() {
        let found = |text: &str| single(text).map(|at| text[at].to_owned()).collect::<Vec<_>>();
        assert_eq!(found("{a} {{ b }} ${c} {{d}} {} {e}é{f}"), ["{a}", "{e}", "{f}"]);
        assert_eq!(found("{\u{fffd} x }} {y\u{fffd}} {"), Vec::<String>::new());
    }
}
