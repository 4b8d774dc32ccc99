//! Types that ask the decoder for more than a value. Each decodes only from a
//! [`Tree`](crate::yaml::Tree); in the schema it is the type inside.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::span::{Span, Spanned};
use crate::yaml::NodeId;

pub(super) const FIELD: &str = "$aye::Field";
pub(super) const RAW: &str = "$aye::Raw";
pub(super) const TEXT: &str = "$aye::Text";
pub(super) const EITHER: &str = "$aye::Either";

/// The value of an optional key. A value that does not fit is reported on its
/// own and is then as good as none, so that the other keys are still read.
#[derive(Debug, Clone)]
pub struct Field<T> {
    key: Option<Span>,
    value: Option<Spanned<T>>,
}

impl<T> Default for Field<T> {
    fn default() -> Self {
        Self { key: None, value: None }
    }
}

impl<T> Field<T> {
    /// Whether the key is not there; a bad value is there.
    pub fn is_absent(&self) -> bool {
        self.key.is_none()
    }

    /// Where the key stands.
    pub fn key(&self) -> Option<Span> {
        self.key
    }

    /// The value, if there is a good one.
    pub fn get(&self) -> Option<&Spanned<T>> {
        self.value.as_ref()
    }

    /// The value itself, if there is a good one.
    pub fn take(self) -> Option<Spanned<T>> {
        self.value
    }
}

/// A node to be decoded later, by itself, as `T`.
pub struct Raw<T> {
    /// The node.
    pub id: NodeId,
    wanted: PhantomData<fn() -> T>,
}

impl<T> Raw<T> {
    /// A node to be decoded as `T`.
    pub fn new(id: NodeId) -> Self {
        Self { id, wanted: PhantomData }
    }
}

impl<T> Clone for Raw<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Raw<T> {}

impl<T> fmt::Debug for Raw<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Raw({})", self.id.0)
    }
}

/// Text, or a number or truth value exactly as it is written: `1.10` stays
/// `1.10`.
#[derive(Debug, Clone, PartialEq)]
pub struct Text(pub String);

/// A short form that is a scalar, or a long form that is a list or mapping.
#[derive(Debug, Clone)]
pub enum Either<S, L> {
    /// The scalar.
    Short(S),
    /// The list or mapping.
    Long(L),
}

/// A mapping with names of the author's choice, in file order.
#[derive(Debug, Clone)]
pub struct Mapping<T>(pub Vec<(Spanned<String>, T)>);

struct FieldVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for FieldVisitor<T> {
    type Value = Field<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Field<T>, A::Error> {
        let key = next_span(&mut seq)?;
        let span = next_span(&mut seq)?;
        let value = seq.next_element()?.map(|value| Spanned::new(value, span));
        Ok(Field { key: Some(key), value })
    }
}

fn next_span<'de, A: SeqAccess<'de>>(seq: &mut A) -> Result<Span, A::Error> {
    let mut number = || seq.next_element::<usize>()?.ok_or_else(|| A::Error::custom("no place"));
    Ok(Span { start: number()?, end: number()? })
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(FIELD, FieldVisitor(PhantomData))
    }
}

struct RawVisitor<T>(PhantomData<fn() -> T>);

impl<T> Visitor<'_> for RawVisitor<T> {
    type Value = Raw<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a node")
    }

    fn visit_u32<E: Error>(self, id: u32) -> Result<Raw<T>, E> {
        Ok(Raw::new(NodeId(id)))
    }
}

impl<'de, T> Deserialize<'de> for Raw<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(RAW, RawVisitor(PhantomData))
    }
}

impl Text {
    /// Decodes text of a special kind; the kind is named if it is not text.
    pub fn expecting<'de, D: Deserializer<'de>>(
        expected: &'static str,
        deserializer: D,
    ) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(TEXT, TextVisitor { expected })
    }
}

struct TextVisitor {
    expected: &'static str,
}

impl Visitor<'_> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Text, E> {
        Ok(Text(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::expecting("text", deserializer)
    }
}

struct EitherVisitor<S, L>(PhantomData<(S, L)>);

impl<'de, S: Deserialize<'de>, L: Deserialize<'de>> Visitor<'de> for EitherVisitor<S, L> {
    type Value = Either<S, L>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Either<S, L>, A::Error> {
        let value = if seq.next_element()? == Some(true) {
            seq.next_element()?.map(Either::Long)
        } else {
            seq.next_element()?.map(Either::Short)
        };
        value.ok_or_else(|| A::Error::custom("no value"))
    }
}

impl<'de, S: Deserialize<'de>, L: Deserialize<'de>> Deserialize<'de> for Either<S, L> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(EITHER, EitherVisitor(PhantomData))
    }
}

struct MappingVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for MappingVisitor<T> {
    type Value = Mapping<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Mapping<T>, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Mapping(entries))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Mapping<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MappingVisitor(PhantomData))
    }
}

/// In the schema a wrapper is what it wraps.
macro_rules! schema_of_inner {
    ($($wrapper:ident),*) => {$(
        impl<T: JsonSchema> JsonSchema for $wrapper<T> {
            fn inline_schema() -> bool {
                T::inline_schema()
            }

            fn schema_name() -> Cow<'static, str> {
                T::schema_name()
            }

            fn schema_id() -> Cow<'static, str> {
                T::schema_id()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                T::json_schema(generator)
            }
        }
    )*};
}

schema_of_inner!(Field, Raw, Spanned);

impl JsonSchema for Text {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Text".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number", "boolean"] })
    }
}

impl<S: JsonSchema, L: JsonSchema> JsonSchema for Either<S, L> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}Or{}", S::schema_name(), L::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (short, long) = (generator.subschema_for::<S>(), generator.subschema_for::<L>());
        json_schema!({ "anyOf": [short, long] })
    }
}

impl<T: JsonSchema> JsonSchema for Mapping<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("MappingOf{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let values = generator.subschema_for::<T>();
        json_schema!({ "type": "object", "additionalProperties": values })
    }
}
