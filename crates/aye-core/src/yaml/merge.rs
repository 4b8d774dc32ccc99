//! The entries of a mapping: duplicates refused, merge keys followed.

use std::collections::HashMap;

use super::tree::{Kind, Node, NodeId};
use crate::diagnostic::{Diagnostic, quote};
use crate::span::Span;

/// The code for a key that is not a scalar.
pub(super) const BAD_KEY: &str = "bad-key";

/// The entries read so far.
#[derive(Default)]
pub(super) struct Entries {
    entries: Vec<(NodeId, NodeId)>,
    seen: HashMap<String, Span>,
    /// Values of `<<`, with the place where each is used.
    merges: Vec<(NodeId, Span)>,
}

impl Entries {
    /// Adds an entry. `span` is where the value stands, which for an alias is
    /// not where it was written.
    pub(super) fn push(
        &mut self,
        key: NodeId,
        value: NodeId,
        span: Span,
        nodes: &[Node],
        report: &mut Vec<Diagnostic>,
    ) {
        let node = &nodes[key.0 as usize];
        let Kind::Scalar(scalar) = &node.kind else {
            report.push(
                Diagnostic::error(BAD_KEY, "a key must be a word, not a list or a mapping")
                    .label(node.span, "")
                    .hint("put text that starts with `{` or `[` in quotes"),
            );
            return;
        };
        if let Some(first) = self.seen.get(&scalar.text) {
            report.push(
                Diagnostic::error(
                    "duplicate-key",
                    format!("key {} is given twice", quote(&scalar.text)),
                )
                .label(node.span, "again here")
                .label(*first, "first here"),
            );
            return;
        }
        self.seen.insert(scalar.text.clone(), node.span);
        if scalar.plain && scalar.text == "<<" {
            self.merges.push((value, span));
        } else {
            self.entries.push((key, value));
        }
    }
}

/// The entries with those of merge keys added; what is written out wins.
pub(super) fn resolve(
    mut mapping: Entries,
    nodes: &[Node],
    report: &mut Vec<Diagnostic>,
) -> Vec<(NodeId, NodeId)> {
    for (value, span) in std::mem::take(&mut mapping.merges) {
        let sources: &[NodeId] = match &nodes[value.0 as usize].kind {
            Kind::List(items) => items,
            Kind::Scalar(_) | Kind::Mapping(_) => &[value],
        };
        for source in sources {
            let Kind::Mapping(entries) = &nodes[source.0 as usize].kind else {
                report.push(
                    Diagnostic::error("bad-merge", "`<<` needs a mapping, or a list of mappings")
                        .label(span, ""),
                );
                continue;
            };
            for (key, value) in entries {
                let Kind::Scalar(scalar) = &nodes[key.0 as usize].kind else {
                    continue;
                };
                if !mapping.seen.contains_key(&scalar.text) {
                    mapping.seen.insert(scalar.text.clone(), span);
                    mapping.entries.push((*key, *value));
                }
            }
        }
    }
    mapping.entries
}
