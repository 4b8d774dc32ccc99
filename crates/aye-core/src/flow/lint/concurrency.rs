//! The name of `concurrency`: it is known before the first step, and everyone
//! may see it.

use std::collections::BTreeSet;

use crate::diagnostic::Diagnostic;
use crate::text;

use super::super::graph::Flow;
use super::super::locate;
use super::super::texts::Kind;
use super::TemplateLinter;
use super::arguments::secret_inputs;
use super::names::asks_first;

impl TemplateLinter<'_> {
    pub(super) fn concurrency(&self, flow: &Flow) -> Vec<Diagnostic> {
        let Some(template) = &flow.skill.concurrency else { return Vec::new() };
        let used = text::names_in_with(template, self.expressions).unwrap_or_default();
        let secrets: BTreeSet<String> = secret_inputs(flow).collect();
        let is_late = |name: &String| {
            let first = name.split('.').next().unwrap_or(name);
            first == "steps" || self.known.results.iter().any(|result| result == first)
        };
        let place = |name: &String| locate::name_in(self.source, template.span, name);
        let said = |name: &String, why: &str| {
            Diagnostic::error("bad-concurrency", format!("the name of `concurrency` uses `{name}`"))
                .label(place(name), why)
        };
        if let Some(name) = used.iter().find(|name| secrets.contains(*name)) {
            return vec![
                said(name, "a secret, and everyone sees the name")
                    .hint("use inputs that are not secret"),
            ];
        }
        if let Some(name) = used.iter().find(|name| is_late(name)).filter(|_| !asks_first(template))
        {
            return vec![
                said(name, "no step has a result when the run begins")
                    .hint("use `inputs` and built-in names"),
            ];
        }
        self.lint(template, Kind::Template, &BTreeSet::new())
    }
}
