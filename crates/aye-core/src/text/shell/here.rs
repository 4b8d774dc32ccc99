//! Here-documents.

/// A here-document whose body begins at the next line.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Pending {
    pub(super) delimiter: String,
    /// `<<-`: tabs before the delimiter do not count.
    pub(super) strip: bool,
    /// The delimiter was quoted: nothing in the body expands.
    pub(super) quoted: bool,
}

/// The body of one.
pub(super) struct Here {
    pub(super) doc: Pending,
    /// Those that follow it.
    pub(super) next: Vec<Pending>,
}

impl Pending {
    /// Whether a line, without its line break, is the delimiter.
    pub(super) fn ends_at(&self, line: &str) -> bool {
        let line = if self.strip { line.trim_start_matches('\t') } else { line };
        line == self.delimiter
    }
}
