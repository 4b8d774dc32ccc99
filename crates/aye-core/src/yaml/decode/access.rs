//! Lists, mappings and the wrappers' views of a node, one element at a time.

use std::cell::Cell;
use std::slice;

use serde::de::{DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess};

use super::deserializer::Decoder;
use super::problem::{Fault, Problem};
use crate::span::Span;
use crate::yaml::NodeId;

/// The items of a list.
pub(super) struct ListAccess<'t, 'p> {
    list: Decoder<'t, 'p>,
    items: slice::Iter<'t, NodeId>,
}

impl<'t, 'p> ListAccess<'t, 'p> {
    pub(super) fn new(list: Decoder<'t, 'p>, items: &'t [NodeId]) -> Self {
        Self { list, items: items.iter() }
    }
}

impl<'de> SeqAccess<'de> for ListAccess<'de, '_> {
    type Error = Problem;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Problem> {
        self.items.next().map(|item| seed.deserialize(self.list.inside(*item))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

/// The fields of a struct, and where to note the key read last.
type Known<'k> = (&'static [&'static str], &'k Cell<Option<Span>>);

/// The entries of a mapping. For a struct, keys it does not have are reported
/// and passed over.
pub(super) struct MappingAccess<'t, 'p, 'k> {
    mapping: Decoder<'t, 'p>,
    entries: slice::Iter<'t, (NodeId, NodeId)>,
    known: Option<Known<'k>>,
    value: Option<Decoder<'t, 'p>>,
}

impl<'t, 'p, 'k> MappingAccess<'t, 'p, 'k> {
    pub(super) fn new(
        mapping: Decoder<'t, 'p>,
        entries: &'t [(NodeId, NodeId)],
        known: Option<Known<'k>>,
    ) -> Self {
        Self { mapping, entries: entries.iter(), known, value: None }
    }
}

impl<'de> MapAccess<'de> for MappingAccess<'de, '_, '_> {
    type Error = Problem;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Problem> {
        for (key, value) in self.entries.by_ref() {
            let tree = self.mapping.tree;
            let text = tree.text(*key).unwrap_or_default();
            let span = tree.node(*key).span;
            if let Some((fields, last)) = self.known {
                last.set(Some(span));
                if !fields.contains(&text) {
                    let fault = Fault::UnknownKey { key: text.to_owned(), known: fields };
                    self.mapping.report(Problem::new(fault).at(span, None));
                    continue;
                }
            }
            self.value = Some(Decoder { key: Some((text, span)), ..self.mapping.inside(*value) });
            let key = Decoder { key: None, ..self.mapping.inside(*key) };
            return seed.deserialize(KeyDecoder { key, text }).map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Problem> {
        match self.value.take() {
            Some(value) => seed.deserialize(value),
            None => Err(Problem::new(Fault::Other("a value was read before its key".to_owned()))),
        }
    }
}

/// A key is always text, whatever it looks like: `101` and `true` are names.
struct KeyDecoder<'t, 'p> {
    key: Decoder<'t, 'p>,
    text: &'t str,
}

impl<'de> serde::Deserializer<'de> for KeyDecoder<'de, '_> {
    type Error = Problem;

    fn deserialize_any<V: serde::de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_borrowed_str(self.text).map_err(|problem| self.key.placed(problem))
    }

    fn deserialize_newtype_struct<V: serde::de::Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        if name == crate::span::SPANNED {
            let span = self.key.node().span;
            return visitor
                .visit_seq(KeyAccess { text: Some(self.text), numbers: numbers(&[span]) });
        }
        visitor.visit_newtype_struct(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string
        bytes byte_buf option unit unit_struct seq tuple tuple_struct map struct
        enum identifier ignored_any
    }
}

/// Numbers handed out before the value itself.
type Numbers = std::vec::IntoIter<usize>;

fn numbers(spans: &[Span]) -> Numbers {
    spans.iter().flat_map(|span| [span.start, span.end]).collect::<Vec<_>>().into_iter()
}

struct KeyAccess<'t> {
    numbers: Numbers,
    text: Option<&'t str>,
}

impl<'de> SeqAccess<'de> for KeyAccess<'de> {
    type Error = Problem;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Problem> {
        if let Some(number) = self.numbers.next() {
            return seed.deserialize(number.into_deserializer()).map(Some);
        }
        let text = self.text.take();
        text.map(|text| seed.deserialize(serde::de::value::BorrowedStrDeserializer::new(text)))
            .transpose()
    }
}

/// Start, end, value: see [`crate::span::Spanned`].
pub(super) struct SpannedAccess<'t, 'p> {
    numbers: Numbers,
    value: Option<Decoder<'t, 'p>>,
}

impl<'t, 'p> SpannedAccess<'t, 'p> {
    pub(super) fn new(value: Decoder<'t, 'p>) -> Self {
        Self { numbers: numbers(&[value.node().span]), value: Some(value) }
    }
}

impl<'de> SeqAccess<'de> for SpannedAccess<'de, '_> {
    type Error = Problem;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Problem> {
        if let Some(number) = self.numbers.next() {
            return seed.deserialize(number.into_deserializer()).map(Some);
        }
        self.value.take().map(|value| seed.deserialize(value)).transpose()
    }
}

/// Start and end of the key, start and end of the value, and the value, or
/// nothing if it was bad: then it has been reported. See [`super::Field`].
pub(super) struct FieldAccess<'t, 'p> {
    numbers: Numbers,
    value: Option<Decoder<'t, 'p>>,
}

impl<'t, 'p> FieldAccess<'t, 'p> {
    pub(super) fn new(value: Decoder<'t, 'p>) -> Self {
        let span = value.node().span;
        let key = value.key.map_or(span, |(_, key)| key);
        Self { numbers: numbers(&[key, span]), value: Some(value) }
    }
}

impl<'de> SeqAccess<'de> for FieldAccess<'de, '_> {
    type Error = Problem;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Problem> {
        if let Some(number) = self.numbers.next() {
            return seed.deserialize(number.into_deserializer()).map(Some);
        }
        let Some(value) = self.value.take() else {
            return Ok(None);
        };
        Ok(seed.deserialize(value).map_err(|problem| value.report(value.placed(problem))).ok())
    }
}

/// Whether it is a collection, then the value. See [`super::Either`].
pub(super) struct EitherAccess<'t, 'p> {
    value: Decoder<'t, 'p>,
    asked: usize,
}

impl<'t, 'p> EitherAccess<'t, 'p> {
    pub(super) fn new(value: Decoder<'t, 'p>) -> Self {
        Self { value, asked: 0 }
    }
}

impl<'de> SeqAccess<'de> for EitherAccess<'de, '_> {
    type Error = Problem;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Problem> {
        self.asked += 1;
        match self.asked {
            1 => {
                let collection = self.value.tree.text(self.value.id).is_none();
                seed.deserialize(collection.into_deserializer()).map(Some)
            }
            2 => seed.deserialize(self.value).map(Some),
            _ => Ok(None),
        }
    }
}
