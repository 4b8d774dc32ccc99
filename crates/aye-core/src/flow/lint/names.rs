//! Names that nothing defines.

use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostic, Severity, did_you_mean, surely_meant};
use crate::skill::Template;
use crate::text::keys;

use super::super::locate;
use super::hidden::OF_RUN;
use super::{TemplateLinter, UNKNOWN_NAME};

/// Functions of GitHub's conditions.
const STATUS_FUNCTIONS: [&str; 4] = ["always", "success", "failure", "cancelled"];

impl TemplateLinter<'_> {
    /// `steps.a.output` and `a.stdout`: other programs keep results there.
    pub(super) fn no_such_key(&self, dotted: &str, template: &Template) -> Option<Diagnostic> {
        let parts: Vec<&str> = dotted.split('.').collect();
        let hint = match parts.as_slice() {
            ["steps", step, key, ..] => keys::of_step(step, key),
            [result, key, ..] => keys::of_text(result, self.known.texts.get(result)?, key),
            _ => None,
        }?;
        if asks_first(template) {
            return None;
        }
        let span = locate::name_in(self.source, template.span, dotted);
        let said = self.undefined(format!("`{dotted}` is never defined")).label(span, "");
        let said = match parts.as_slice() {
            [result, key]
                if keys::is_only_of_step(key)
                    && self.source.get(span.start..span.end) == Some(dotted) =>
            {
                let step = self.known.texts.get(result)?;
                said.fix(span, format!("steps.{step}.{key}"))
            }
            _ => said,
        };
        Some(said.hint(hint))
    }

    /// `run.status` and the like: how a run ends is known in `finally` only.
    pub(super) fn ahead_of_the_end(&self, dotted: &str, template: &Template) -> Option<Diagnostic> {
        let key = dotted.strip_prefix("run.")?.split('.').next()?;
        let in_finally = self.at != usize::MAX && self.at >= self.known.finally;
        if in_finally || !["status", "error", "failed_step"].contains(&key) || asks_first(template)
        {
            return None;
        }
        let span = locate::name_in(self.source, template.span, dotted);
        let message = format!("`run.{key}` is known in `finally` only");
        Some(self.undefined(message).label(span, ""))
    }

    /// The result of a step that discards what it writes.
    pub(super) fn discarded(&self, dotted: &str, template: &Template) -> Option<Diagnostic> {
        let known = &self.known.discarded;
        let step = match dotted.split('.').collect::<Vec<_>>().as_slice() {
            ["steps", step, "stdout", ..] => known.values().find(|one| *one == step),
            [result, ..] => known.get(result),
            [] => None,
        }?;
        let span = locate::name_in(self.source, template.span, dotted);
        Some(
            Diagnostic::warning("always-empty", format!("`{dotted}` is always empty"))
                .label(span, format!("step `{step}` discards its standard output"))
                .hint(format!("take `stdout: discard` out of step `{step}`, or do not use it")),
        )
    }

    /// A name that nothing can ever define; `local` are the names of its place alone.
    pub(super) fn unknown(
        &self,
        dotted: &str,
        template: &Template,
        local: &BTreeSet<String>,
    ) -> Option<Diagnostic> {
        let mut parts = dotted.split('.');
        let (first, second) = (parts.next()?, parts.next());
        let known = self.known;
        let inside = |key: &str, keys: &BTreeSet<&str>| {
            let near = did_you_mean(key, keys.iter().copied());
            (format!("{first}.{key}"), near.map(|near| format!("{first}.{near}")))
        };
        let (missing, near) = match (first, second) {
            ("inputs", Some(key)) if !known.inputs.contains(key) => inside(key, &known.inputs),
            ("steps", Some(key)) if !known.steps.contains(key) => {
                // The name of a result is not the name of its step.
                let step = known.renamed.iter().find(|(_, output)| **output == key);
                match step {
                    Some((step, _)) => (format!("steps.{key}"), Some(format!("steps.{step}"))),
                    None => inside(key, &known.steps),
                }
            }
            ("run", Some(key)) if !OF_RUN.contains(&key) => inside(key, &OF_RUN.into()),
            (name, _) if known.has(name) => return None,
            // `commit` for `inputs.commit` is the slip people make most.
            (name, _) if known.inputs.contains(name) => {
                (name.to_owned(), Some(format!("inputs.{name}")))
            }
            // Other languages' word for nothing.
            (name @ ("null" | "nil"), _) => (name.to_owned(), Some("none".to_owned())),
            (name, _) if known.renamed.contains_key(name) => {
                (name.to_owned(), known.renamed.get(name).map(|&output| output.to_owned()))
            }
            (name, _) => {
                let inputs = known.inputs.iter().map(|input| format!("inputs.{input}"));
                let results = known.results.iter().cloned();
                let names = known.names.iter().map(|&name| name.to_owned());
                let local = local.iter().cloned();
                let all: Vec<String> = local.chain(names).chain(results).chain(inputs).collect();
                let near = did_you_mean(name, all.iter().map(String::as_str));
                (name.to_owned(), near.map(str::to_owned))
            }
        };
        let span = locate::name_in(self.source, template.span, &missing);
        let message = format!("`{missing}` is not defined anywhere");
        let said = match asks_first(template) {
            true => Diagnostic::warning(UNKNOWN_NAME, message),
            false => self.undefined(message),
        };
        // Where it stands as it is written, and what is meant is plain.
        let exact = self.source.get(span.start..span.end) == Some(missing.as_str());
        let nothing = near.as_deref() == Some("none");
        let certain = nothing
            || known.inputs.contains(first)
            || known.renamed.contains_key(first)
            || near.is_some() && !asks_first(template) && self.surely(first, second, local) == near;
        let said = match &near {
            Some(near) if exact && certain => said.fix(span, near.clone()),
            _ => said,
        };
        let label = near.as_ref().map(|near| format!("did you mean `{near}`?"));
        let said = said.label(span, label.unwrap_or_default());
        Some(match known.renamed.get(first) {
            _ if STATUS_FUNCTIONS.contains(&first) && template.contains(&format!("{first}(")) => {
                said.hint(
                    "a step runs only if those before it did not fail; write `on_error: continue` \
                     at the one that may, and test `steps.NAME.status` here",
                )
            }
            Some(output) => said.hint(format!(
                "step `{first}` gives its result as `{output}`: write `{{{{ {output} }}}}`"
            )),
            None if near.is_none() && first == "inputs" => {
                said.hint(format!("declare it: `inputs: [{{ name: {} }}]`", second.unwrap_or("…")))
            }
            None if near.is_none() => said.hint(format!(
                "no step gives it; write `{missing} | default('')` if it may be missing"
            )),
            None => said,
        })
    }

    /// The name that a misspelt one was surely meant to be.
    fn surely(
        &self,
        first: &str,
        second: Option<&str>,
        local: &BTreeSet<String>,
    ) -> Option<String> {
        let known = self.known;
        let inside = |key: &str, keys: &BTreeSet<&str>| {
            Some(format!("{first}.{}", surely_meant(key, keys.iter().copied())?))
        };
        match (first, second) {
            ("inputs", Some(key)) => inside(key, &known.inputs),
            ("steps", Some(key)) => inside(key, &known.steps),
            ("run", Some(key)) => inside(key, &OF_RUN.into()),
            _ => {
                let names = known.names.iter().copied();
                let all = names.chain(known.results.iter().chain(local).map(String::as_str));
                surely_meant(first, all.chain(known.inputs.iter().copied())).map(str::to_owned)
            }
        }
    }

    /// What uses such a name fails, unless such names are empty.
    fn undefined(&self, message: String) -> Diagnostic {
        let said = Diagnostic::error(UNKNOWN_NAME, message);
        Diagnostic {
            severity: if self.lenient { Severity::Warning } else { said.severity },
            ..said
        }
    }
}

/// Whether a template asks if a name is there: its author knows.
pub(in crate::flow) fn asks_first(template: &str) -> bool {
    template.contains("default") || template.contains("defined")
}
