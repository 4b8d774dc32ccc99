//! Which stream is meant.

/// One of the two output streams of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// File descriptor 1. A child with [`Spec::tty`](crate::Spec::tty) has only this one.
    Stdout,
    /// File descriptor 2.
    Stderr,
}

impl Stream {
    pub(crate) fn index(self) -> usize {
        match self {
            Self::Stdout => 0,
            Self::Stderr => 1,
        }
    }
}
