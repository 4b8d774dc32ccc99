//! A fix for a block, as data.

/// A block as it was probably meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// All of its code.
    pub code: String,
    /// Why, in one sentence. It may name keys of values, never what they hold.
    pub why: String,
    /// The lines that differ; there are as many lines as before.
    pub changes: Vec<Change>,
}

/// A line that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The line of the block, from 1.
    pub line: usize,
    /// What it is.
    pub before: String,
    /// What it would be.
    pub after: String,
}
