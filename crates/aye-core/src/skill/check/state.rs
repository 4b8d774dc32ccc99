//! States and where they lead.

use indexmap::{IndexMap, IndexSet};

use super::Checker;
use crate::diagnostic::{Diagnostic, quote, surely_meant};
use crate::skill::document::{STEP_KEYS, StateItem, StepDoc, Targets};
use crate::skill::{Body, State, Transitions};
use crate::span::{Span, Spanned};
use crate::yaml::NodeId;
use crate::yaml::decode::{Field, Mapping, Raw};

/// The outcomes a transition may be named for.
pub(super) const OUTCOMES: &[&str] = &["success", "failure", "timeout", "declined", "cancelled"];

/// Keys of transitions and where they lead.
pub(super) type Targeted = Vec<(Spanned<String>, Field<Option<String>>)>;

/// The names of all states, in file order.
pub(super) type Names = IndexSet<String>;

impl Checker<'_> {
    pub(super) fn states(
        &mut self,
        mapping: Spanned<Mapping<Raw<StateItem>>>,
        initial: Field<String>,
        id: NodeId,
    ) -> Option<Body> {
        let entries = mapping.value.0;
        let names: Names = entries.iter().map(|(name, _)| name.value.clone()).collect();
        if entries.is_empty() {
            self.report.push(
                Diagnostic::error("no-steps", "`states` is empty")
                    .label(mapping.span, "")
                    .hint("a skill has at least one state"),
            );
        }
        // A misspelt `initial` is not a missing one.
        let first = entries.first().filter(|_| !self.is_misspelt(id, "initial"));
        let first = first.map(|(name, _)| name.clone());
        let absent = initial.is_absent();
        let initial = initial.take().or(first.filter(|_| absent));
        if let Some(initial) = &initial
            && !names.is_empty()
        {
            self.target(initial, &names, "`initial`");
        }
        let mut states = Vec::new();
        for (name, raw) in entries {
            self.name(&name, "a state");
            states.extend(self.state(raw.id, name, &names));
        }
        Some(Body::States { initial: initial?, states })
    }

    fn state(&mut self, id: NodeId, name: Spanned<String>, names: &Names) -> Option<State> {
        let place = format!("state {}", quote(&name));
        let mut doc = self.step_doc(id, &place, STEP_KEYS)?;
        if let Some(key) = doc.name.key() {
            self.report.push(
                Diagnostic::error("misplaced-key", format!("`name` in {place}"))
                    .label(key, "a state is named by its key"),
            );
        }
        if let Some(key) = doc.then.key() {
            self.report.push(
                Diagnostic::error("stray-key", format!("`then` in {place}"))
                    .label(key, "it would not run: transitions say what follows a state")
                    .hint(
                        "make its steps states, and name the first in \
                         `transitions: { success: NAME }`",
                    ),
            );
        }
        let is_final = doc.kind.get().is_some();
        if let (Some(status), true) = (doc.status.key(), doc.kind.is_absent()) {
            self.report.push(
                Diagnostic::error("stray-key", format!("`status` in {place}, which is not final"))
                    .label(status, "")
                    .hint("add `type: final` if the run ends here"),
            );
        }
        if is_final {
            self.final_without_transitions(&doc, &place);
        }
        let ends = is_final.then(|| doc.status.get().map(|word| word.value).unwrap_or_default());
        let (mut transitions, others) = self.transitions(&mut doc, names, &place);
        if let Some(target) = transitions.cancelled.as_ref().filter(|to| to.value == name.value) {
            self.report.push(
                Diagnostic::error("cancelled-itself", format!("a cancel starts {place} again"))
                    .label(target.span, "the transition `cancelled` leads back here")
                    .hint(
                        "name the state that cleans up, or remove `cancelled`: then the run ends",
                    ),
            );
        }
        let step = self.step(doc, name, id, &place, is_final)?;
        self.codes_and_answers(others, &step, &mut transitions, names, &place);
        Some(State { step, transitions, ends })
    }

    fn final_without_transitions(&mut self, doc: &StepDoc, place: &str) {
        let keys = [
            doc.transitions.key(),
            doc.on_success.key(),
            doc.on_failure.key(),
            doc.on_timeout.key(),
            doc.on_declined.key(),
            doc.on_cancelled.key(),
        ];
        if let Some(key) = keys.into_iter().flatten().next() {
            let diagnostic =
                Diagnostic::error("final-transitions", format!("{place} is final and leads on"))
                    .label(key, "the run ends before this");
            self.report.push(match doc.kind.key() {
                Some(kind) => diagnostic.label(kind, "because of this"),
                None => diagnostic,
            });
        }
    }

    /// Transitions by outcome, and the keys that name no outcome: what those
    /// mean depends on what the state does.
    fn transitions(
        &mut self,
        doc: &mut StepDoc,
        names: &Names,
        place: &str,
    ) -> (Transitions, Targeted) {
        let mut found: IndexMap<String, (Span, Option<Spanned<String>>)> = IndexMap::new();
        let Targets(mapping) = match std::mem::take(&mut doc.transitions).take() {
            Some(targets) => targets.value,
            None => Targets(Mapping(Vec::new())),
        };
        let mut transitions = Transitions::default();
        let mut others = Vec::new();
        for (key, target) in mapping.0 {
            match OUTCOMES.contains(&key.as_str()) {
                true => drop(found.insert(key.value, (key.span, named(target)))),
                false => others.push((key, target)),
            }
        }
        let short = [
            ("success", std::mem::take(&mut doc.on_success)),
            ("failure", std::mem::take(&mut doc.on_failure)),
            ("timeout", std::mem::take(&mut doc.on_timeout)),
            ("declined", std::mem::take(&mut doc.on_declined)),
            ("cancelled", std::mem::take(&mut doc.on_cancelled)),
        ];
        for (outcome, field) in short {
            let Some(key) = field.key() else { continue };
            if let Some((first, _)) = found.get(outcome) {
                let message = format!("the transition `{outcome}` of {place} is given twice");
                self.report.push(
                    Diagnostic::error("duplicate-key", message)
                        .label(key, "again here")
                        .label(*first, "first here"),
                );
                continue;
            }
            found.insert(outcome.to_owned(), (key, named(field)));
        }
        for (outcome, (_, target)) in found {
            if let Some(target) = &target {
                self.target(target, names, &format!("the transition `{outcome}`"));
            }
            match outcome.as_str() {
                "success" => transitions.success = target,
                "failure" => transitions.failure = target,
                "timeout" => transitions.timeout = target,
                "declined" => transitions.declined = target,
                _ => transitions.cancelled = target,
            }
        }
        (transitions, others)
    }

    /// Reports a target that is not a state.
    pub(super) fn target(&mut self, target: &Spanned<String>, names: &Names, what: &str) {
        if names.contains(target.as_str()) {
            return;
        }
        let message = format!("{what} leads to {}, which is not a state", quote(target));
        let diagnostic = Diagnostic::error("unknown-state", message);
        self.report.push(match self.report.suggestion(target, names.iter().map(String::as_str)) {
            Some(meant) => {
                let said = diagnostic.label(target.span, format!("did you mean `{meant}`?"));
                match surely_meant(target, names.iter().map(String::as_str)) == Some(meant) {
                    true => said.fix(target.span, meant),
                    false => said,
                }
            }
            None => diagnostic.label(target.span, "no state has this name"),
        });
    }
}

/// A target, if it names one; `null` does not.
pub(super) fn named(field: Field<Option<String>>) -> Option<Spanned<String>> {
    let target = field.take()?;
    target.value.map(|name| Spanned::new(name, target.span))
}
