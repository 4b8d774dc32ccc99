//! YAML with places and limits.
//!
//! `text -> read (events, limits) -> Tree (nodes with byte spans) -> decode
//! (serde) -> any type that derives Deserialize`. Reading reports what is not
//! YAML or exceeds a limit; decoding reports what does not fit the type, all of
//! it at once, as data ([`decode::Problem`]). Scalars are typed by the YAML 1.2
//! core schema: `no` is text, `0o17` is a number.
//!
//! Touches nothing. `skill` reads skill files with it.

pub mod decode;
mod merge;
mod read;
mod scalar;
mod syntax;
mod tree;

pub use read::{MAX_BYTES, MAX_DEPTH, MAX_NODES, read};
pub use scalar::Typed;
pub use syntax::too_large;
pub use tree::{Kind, Node, NodeId, Scalar, Tree};
