//! Places in a skill file.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

/// A range of bytes in the source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// Whether another place is inside of this one.
    pub fn holds(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// Where the lines of a file begin.
///
/// All are equal, as values are wherever they stand.
#[derive(Debug, Clone, Default)]
pub struct LineStarts(Arc<[usize]>);

impl LineStarts {
    /// Those of this text.
    pub fn of(text: &str) -> Self {
        let next = text.match_indices('\n').map(|(at, _)| at + 1);
        Self(std::iter::once(0).chain(next).collect())
    }

    /// The line, from 1, of a place; `None` if there is no file.
    pub fn line(&self, place: Span) -> Option<usize> {
        Some(self.0.partition_point(|start| *start <= place.start)).filter(|line| *line > 0)
    }
}

impl PartialEq for LineStarts {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A value with the place where it was written.
///
/// Two values are equal when they say the same, wherever they stand.
#[derive(Debug, Clone, Default)]
pub struct Spanned<T> {
    /// What was written.
    pub value: T,
    /// Where.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// A value with its place.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

impl<T> From<T> for Spanned<T> {
    fn from(value: T) -> Self {
        Self { value, span: Span::default() }
    }
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T> std::ops::Deref for Spanned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// The name by which the YAML decoder knows that a value wants its place.
pub(crate) const SPANNED: &str = "$aye::Spanned";

struct SpannedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for SpannedVisitor<T> {
    type Value = Spanned<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value with its place")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Spanned<T>, A::Error> {
        let missing = || A::Error::custom("a value without its place");
        let start = seq.next_element()?.ok_or_else(missing)?;
        let end = seq.next_element()?.ok_or_else(missing)?;
        let value = seq.next_element()?.ok_or_else(missing)?;
        Ok(Spanned::new(value, Span { start, end }))
    }
}

/// Only from a skill file: other formats have no places.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(SPANNED, SpannedVisitor(PhantomData))
    }
}
