//! Names that nothing gives to a block.

use super::error::ComputeError;

/// A name that a block uses and that nothing gives it.
pub struct UnknownName {
    /// The name, dotted for one of `inputs`.
    pub name: String,
    /// It need not fail: the block has a `try`, or the name is a slip for one
    /// of its own, which can be put right when it comes to it.
    pub caught: bool,
    /// An error that has the place.
    pub place: ComputeError,
}
