//! `from` of a secret input.

use super::{Checker, is_template};
use crate::diagnostic::Diagnostic;
use crate::skill::document::{InputDoc, SourceDoc};
use crate::skill::{InputType, SecretSource};
use crate::span::{Span, Spanned};

impl Checker<'_> {
    /// The source that an input names, if it is a good one.
    pub(super) fn secret_source(
        &mut self,
        doc: &InputDoc,
        kind: InputType,
        place: &str,
    ) -> Option<SecretSource> {
        let key = doc.from.key()?;
        if kind != InputType::Secret {
            self.report.push(
                Diagnostic::error("stray-key", format!("`from` of {place}, which is not a secret"))
                    .label(key, "only for `type: secret`")
                    .hint("write `type: secret`, or a `default:` such as `{{ env.NAME }}`"),
            );
            return None;
        }
        if let Some(default) = doc.default.key() {
            self.report.push(
                Diagnostic::error("stray-key", format!("{place} has both `from` and `default`"))
                    .label(default, "leave one of them out"),
            );
        }
        let from = doc.from.get()?;
        let SourceDoc { env, file, command } = &from.value;
        let found: Vec<Span> =
            [env.key(), file.key(), command.key()].into_iter().flatten().collect();
        if found.len() != 1 {
            let names = if found.is_empty() { "no source" } else { "several sources" };
            self.report.push(
                Diagnostic::error("bad-source", format!("`from` of {place} names {names}"))
                    .label(from.span, "")
                    .hint("write one of `env: NAME`, `file: PATH`, `command: [PROGRAM, ARGUMENT]`"),
            );
            return None;
        }
        let texts: Vec<&Spanned<String>> = match command.get() {
            Some(argv) => argv.value.iter().filter_map(|word| word.get()).collect(),
            None => [env.get(), file.get()].into_iter().flatten().collect(),
        };
        if let Some(template) = texts.iter().find(|text| is_template(&text.value)) {
            self.report.push(
                Diagnostic::error("bad-source", format!("`from` of {place} has a template"))
                    .label(template.span, "nothing has a value yet when it is read"),
            );
        }
        let empty = texts.first().is_none_or(|text| text.value.trim().is_empty());
        let bad_name = env.get().is_some_and(|name| name.value.contains(['=', '\0']));
        if empty || bad_name {
            self.report.push(
                Diagnostic::error("bad-source", format!("`from` of {place} names nothing"))
                    .label(from.span, ""),
            );
            return None;
        }
        let first = || texts.first().map(|text| text.value.clone());
        match (env.get(), file.get()) {
            (Some(_), _) => first().map(SecretSource::Env),
            (None, Some(_)) => first().map(SecretSource::File),
            (None, None) => {
                let argv = texts.iter().map(|text| text.value.clone()).collect();
                Some(SecretSource::Command(argv))
            }
        }
    }
}
