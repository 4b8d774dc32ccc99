//! Heal rules.

use super::{Checker, template};
use crate::diagnostic::{Diagnostic, quote};
use crate::heal::HealMatch;
use crate::skill::Action;
use crate::skill::HealRule;
use crate::skill::document::{HealDoc, HealMatchDoc, STATE_KEYS};
use crate::span::Spanned;
use crate::yaml::decode::{Either, Field, Raw};

const MOST_RETRIES: u32 = 10;

impl Checker<'_> {
    pub(super) fn heal(&mut self, rules: Field<Vec<Raw<HealDoc>>>) -> Vec<HealRule> {
        let rules = rules.take().map(|list| list.value).unwrap_or_default();
        let mut names = Vec::new();
        let mut found = Vec::new();
        for (index, raw) in rules.into_iter().enumerate() {
            let place = format!("heal rule {}", index + 1);
            let Some(doc) = self.decode_raw(raw, &place) else { continue };
            if let Some(name) = doc.name.get() {
                names.push((name.value.clone(), name.span));
            }
            found.extend(self.heal_rule(doc, raw, &place));
        }
        let names = names.iter().map(|(name, span)| (name.as_str(), *span));
        self.unique(names, "duplicate-name", "heal rule");
        found
    }

    fn heal_rule(&mut self, doc: HealDoc, raw: Raw<HealDoc>, place: &str) -> Option<HealRule> {
        for (key, absent, hint) in [
            ("name", doc.name.is_absent(), "add `name: …`, it is what the journal calls the rule"),
            ("match", doc.when.is_absent(), "add `match: { error: … }`: which failures it is for"),
            (
                "repair",
                doc.repair.is_absent(),
                "add `repair: { command: … }`: what is done about them",
            ),
        ] {
            if absent {
                self.missing(raw.id, key, place, hint);
            }
        }
        let name = doc.name.take()?;
        self.name(&name, "a heal rule");
        let place = format!("heal rule {}", quote(&name));
        let when = self.heal_match(doc.when, &place)?;
        let repair = doc.repair.take()?.value.id;
        let step_place = format!("`repair` of {place}");
        let step = self.step_doc(repair, &step_place, STATE_KEYS)?;
        let own = Spanned::new(name.value.clone(), name.span);
        let repair = self.step(step, own, repair, &step_place, false)?;
        if matches!(repair.action, Action::Note) {
            self.report.push(
                Diagnostic::error("no-action", format!("{step_place} does nothing"))
                    .label(repair.span, "")
                    .hint("give it `command`, `shell`, `tool` or `skill`"),
            );
        }
        let retries = doc.retries.get().map_or(1, |retries| retries.value);
        if let Some(given) = doc.retries.get()
            && !(1..=MOST_RETRIES).contains(&retries)
        {
            let message = format!("`retries` of {place} must be from 1 to {MOST_RETRIES}");
            self.report.push(Diagnostic::error("bad-value", message).label(given.span, ""));
        }
        let backoff = doc.backoff.get().and_then(|period| self.duration(period));
        let backoff = backoff.unwrap_or_default();
        Some(HealRule { name: name.value, when, repair, retries, backoff })
    }

    fn heal_match(&mut self, when: Field<Raw<HealMatchDoc>>, place: &str) -> Option<HealMatch> {
        let raw = when.take()?;
        let doc = self.decode_raw(raw.value, &format!("`match` of {place}"))?;
        let text = |field: Field<String>| field.take().map(|text| text.value);
        let errors = match doc.error.take().map(|error| (error.span, error.value)) {
            None => Vec::new(),
            Some((span, Either::Short(text))) => vec![Spanned::new(text.0, span)],
            Some((_, Either::Long(list))) => {
                list.into_iter().filter_map(|text| text.take().map(template)).collect()
            }
        };
        for error in &errors {
            self.not_empty(error, &format!("`error` in `match` of {place}"));
        }
        let codes = match doc.exit_code.take().map(|code| code.value) {
            None => Vec::new(),
            Some(Either::Short(code)) => vec![code],
            Some(Either::Long(list)) => {
                list.into_iter().filter_map(|code| code.take().map(|code| code.value)).collect()
            }
        };
        let found = HealMatch {
            tool: text(doc.tool),
            command: text(doc.command),
            step: text(doc.step),
            errors: errors.into_iter().map(|error| error.value).collect(),
            codes,
            category: doc.category.take().map(|word| word.value),
        };
        if found.is_empty() && !self.misspelt.contains_key(&raw.value.id) {
            self.report.push(
                Diagnostic::error("empty-match", format!("`match` of {place} is for everything"))
                    .label(raw.span, "")
                    .hint("say which errors: `error: …`, `exit_code: …`, `category: auth`"),
            );
        }
        Some(found)
    }
}
