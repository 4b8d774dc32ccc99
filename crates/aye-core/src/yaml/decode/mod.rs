//! A serde deserializer over a [`Tree`].
//!
//! Types derive `Deserialize` as usual. Two things are different from other
//! formats. Problems are data with a place ([`Problem`]), so that the caller
//! words them. And they are collected instead of ending the decoding: unknown
//! keys of a struct are reported and passed over, and the wrappers
//! ([`Field`], [`Raw`], [`Text`], [`Either`], [`Mapping`]) keep
//! what is wrong with one value from hiding what is wrong with the next.
//!
//! Touches nothing. `skill` turns the problems into diagnostics.

mod access;
mod deserializer;
mod problem;
mod wrap;

use std::cell::RefCell;

use serde::Deserialize;

use super::{NodeId, Tree};
use deserializer::Decoder;

pub use problem::{Fault, Problem};
pub use wrap::{Either, Field, Mapping, Raw, Text};

/// Decodes a node. Without a value there is at least one problem; with one
/// there may be some.
pub fn decode<'t, T: Deserialize<'t>>(tree: &'t Tree, node: NodeId) -> (Option<T>, Vec<Problem>) {
    let problems = RefCell::new(Vec::new());
    let result = T::deserialize(Decoder::new(tree, node, &problems));
    let mut problems = problems.into_inner();
    let value = match result {
        Ok(value) => Some(value),
        Err(problem) => {
            problems.push(problem);
            None
        }
    };
    (value, problems)
}
