//! The deserializer proper.

use std::cell::RefCell;

use serde::de::{self, Visitor, value::StrDeserializer};
use serde::forward_to_deserialize_any;

use super::access::{EitherAccess, FieldAccess, ListAccess, MappingAccess, SpannedAccess};
use super::problem::{Fault, Problem};
use super::wrap;
use crate::span::{SPANNED, Span};
use crate::yaml::{Kind, Node, NodeId, Tree, Typed};

/// A node on its way to a value.
#[derive(Clone, Copy)]
pub(super) struct Decoder<'t, 'p> {
    pub(super) tree: &'t Tree,
    pub(super) id: NodeId,
    pub(super) problems: &'p RefCell<Vec<Problem>>,
    /// The key whose value this is, and its place.
    pub(super) key: Option<(&'t str, Span)>,
}

impl<'t, 'p> Decoder<'t, 'p> {
    pub(super) fn new(tree: &'t Tree, id: NodeId, problems: &'p RefCell<Vec<Problem>>) -> Self {
        Self { tree, id, problems, key: None }
    }

    pub(super) fn node(&self) -> &'t Node {
        self.tree.node(self.id)
    }

    /// The same, for a node inside this one.
    pub(super) fn inside(&self, id: NodeId) -> Self {
        Self { id, ..*self }
    }

    pub(super) fn report(&self, problem: Problem) {
        self.problems.borrow_mut().push(problem);
    }

    /// Gives an error from inside the place of this node, unless it has one.
    pub(super) fn placed(&self, problem: Problem) -> Problem {
        problem.at(self.node().span, self.key.map(|(key, _)| key))
    }

    fn visit_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Problem> {
        match &self.node().kind {
            Kind::Scalar(scalar) => match scalar.typed() {
                Typed::Null => visitor.visit_unit(),
                Typed::Bool(value) => visitor.visit_bool(value),
                Typed::Int(value) => visitor.visit_i64(value),
                Typed::Unsigned(value) => visitor.visit_u64(value),
                Typed::Float(value) => visitor.visit_f64(value),
                Typed::Text(text) => visitor.visit_borrowed_str(text),
            },
            Kind::List(items) => visitor.visit_seq(ListAccess::new(self, items)),
            Kind::Mapping(entries) => visitor.visit_map(MappingAccess::new(self, entries, None)),
        }
    }
}

impl<'de> de::Deserializer<'de> for Decoder<'de, '_> {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.visit_any(visitor).map_err(|problem| self.placed(problem))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match &self.node().kind {
            Kind::Scalar(scalar) if scalar.is_null() => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        let result = match name {
            SPANNED => visitor.visit_seq(SpannedAccess::new(self)),
            wrap::FIELD => visitor.visit_seq(FieldAccess::new(self)),
            wrap::RAW => visitor.visit_u32(self.id.0),
            wrap::EITHER => visitor.visit_seq(EitherAccess::new(self)),
            wrap::TEXT => match &self.node().kind {
                Kind::Scalar(scalar) if !scalar.is_null() => {
                    visitor.visit_borrowed_str(&scalar.text)
                }
                _ => self.visit_any(visitor),
            },
            _ => visitor.visit_newtype_struct(self),
        };
        result.map_err(|problem| self.placed(problem))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        let Kind::Mapping(entries) = &self.node().kind else {
            return self.deserialize_any(visitor);
        };
        let last = std::cell::Cell::new(None);
        let access = MappingAccess::new(self, entries, Some((fields, &last)));
        visitor.visit_map(access).map_err(|problem| match (last.get(), &problem.fault) {
            // Only the mapping itself knows which of its keys was one too many.
            (Some(span), Fault::RepeatedKey { .. }) => problem.at(span, None),
            _ => self.placed(problem),
        })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        let Kind::Scalar(scalar) = &self.node().kind else {
            return self.deserialize_any(visitor);
        };
        let word: StrDeserializer<'_, Problem> = StrDeserializer::new(&scalar.text);
        visitor.visit_enum(word).map_err(|problem| self.placed(problem))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string
        bytes byte_buf unit unit_struct seq tuple tuple_struct map identifier
    }
}
