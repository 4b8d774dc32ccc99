//! The nodes of a document.

use serde_json::{Map, Value};

use super::scalar::Typed;
use crate::span::Span;

/// The place of a node in its [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodeId(pub(super) u32);

/// One document. An alias is the node it stands for: nodes may be shared, but
/// never contain themselves.
#[derive(Debug, Clone)]
pub struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) root: NodeId,
}

/// A value and where it was written.
#[derive(Debug, Clone)]
pub struct Node {
    /// Where.
    pub span: Span,
    /// What.
    pub kind: Kind,
}

/// The three kinds of YAML nodes.
#[derive(Debug, Clone)]
pub enum Kind {
    /// Text, a number, a truth value or nothing.
    Scalar(Scalar),
    /// A list.
    List(Vec<NodeId>),
    /// Keys (always scalars) and values, in file order, without duplicates.
    Mapping(Vec<(NodeId, NodeId)>),
}

/// A scalar as written.
#[derive(Debug, Clone)]
pub struct Scalar {
    /// The text, quotes and escapes resolved.
    pub text: String,
    /// Whether it may be anything but text: no quotes, no `!!str`, no block.
    pub plain: bool,
}

impl Tree {
    /// The node the document consists of.
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// A node. An id of another tree gives the root.
    pub fn node(&self, id: NodeId) -> &Node {
        let root = self.root.0 as usize;
        self.nodes.get(id.0 as usize).unwrap_or(&self.nodes[root])
    }

    /// The text of a scalar; `None` for collections.
    pub fn text(&self, id: NodeId) -> Option<&str> {
        match &self.node(id).kind {
            Kind::Scalar(scalar) => Some(&scalar.text),
            Kind::List(_) | Kind::Mapping(_) => None,
        }
    }

    /// The entries of a mapping; none for anything else.
    pub fn entries(&self, id: NodeId) -> &[(NodeId, NodeId)] {
        match &self.node(id).kind {
            Kind::Mapping(entries) => entries,
            Kind::Scalar(_) | Kind::List(_) => &[],
        }
    }

    /// The entry with this key.
    pub fn entry(&self, id: NodeId, key: &str) -> Option<(NodeId, NodeId)> {
        self.entries(id).iter().copied().find(|(k, _)| self.text(*k) == Some(key))
    }

    /// The node as plain data.
    pub fn value(&self, id: NodeId) -> Value {
        match &self.node(id).kind {
            Kind::Scalar(scalar) => match scalar.typed() {
                Typed::Null => Value::Null,
                Typed::Bool(value) => value.into(),
                Typed::Int(value) => value.into(),
                Typed::Unsigned(value) => value.into(),
                // JSON has no infinity; the text is the honest rest.
                Typed::Float(value) if !value.is_finite() => scalar.text.clone().into(),
                Typed::Float(value) => value.into(),
                Typed::Text(text) => text.into(),
            },
            Kind::List(items) => items.iter().map(|item| self.value(*item)).collect(),
            Kind::Mapping(entries) => {
                let entry = |&(key, value): &(NodeId, NodeId)| {
                    (self.text(key).unwrap_or_default().to_owned(), self.value(value))
                };
                Value::Object(entries.iter().map(entry).collect::<Map<_, _>>())
            }
        }
    }
}
