//! Lines of styled text.

use crate::paint::{Paint, Tone};
use crate::term::width;

/// A stretch of text in one tone. The text is harmless: code that makes a span
/// of foreign text passes it through [`super::markup`] or [`crate::paint::escape_control`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// How it is painted.
    pub tone: Option<Tone>,
    /// What it says.
    pub text: String,
}

/// A line on the screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Styled {
    /// Its parts, from left to right.
    pub spans: Vec<Span>,
}

impl Styled {
    /// An empty line.
    pub fn new() -> Self {
        Self::default()
    }

    /// The line with more text.
    #[must_use]
    pub fn plain(self, text: impl Into<String>) -> Self {
        self.with(None, text)
    }

    /// The line with more text in a tone.
    #[must_use]
    pub fn tone(self, tone: Tone, text: impl Into<String>) -> Self {
        self.with(Some(tone), text)
    }

    /// The line with another one behind it.
    #[must_use]
    pub fn then(mut self, other: Self) -> Self {
        self.spans.extend(other.spans);
        self
    }

    fn with(mut self, tone: Option<Tone>, text: impl Into<String>) -> Self {
        let text = text.into();
        if !text.is_empty() {
            self.spans.push(Span { tone, text });
        }
        self
    }

    /// How many columns it takes.
    pub fn width(&self) -> usize {
        self.spans.iter().map(|span| width(&span.text)).sum()
    }

    /// The line with its colours, or without.
    pub fn render(&self, paint: Paint) -> String {
        self.spans
            .iter()
            .map(|span| match span.tone {
                Some(tone) => paint.text(tone, &span.text),
                None => span.text.clone(),
            })
            .collect()
    }

    /// The same cut to a number of columns.
    #[must_use]
    pub fn cut(&self, columns: usize, ellipsis: &str) -> Self {
        if self.width() <= columns {
            return self.clone();
        }
        let room = columns.saturating_sub(width(ellipsis));
        let mut line = super::wrap::wrap(self, room.max(1), 0, false).swap_remove(0);
        line.spans.push(Span { tone: Some(Tone::Dim), text: ellipsis.to_owned() });
        line
    }
}
