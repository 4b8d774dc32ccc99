//! Colours and glyphs, and when not to use them.

pub use aye_runtime::fmt::{
    duration, escape_control, escape_control_line, escape_control_lines, plural, shell_word,
};

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What a stretch of text means; each meaning has one colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// It went well.
    Good,
    /// It went wrong.
    Bad,
    /// Someone should look.
    Warn,
    /// Someone is asked.
    Ask,
    /// It acts, or only stands out.
    Mark,
    /// A name.
    Strong,
    /// Less important.
    Dim,
    /// Its writer marked it as a heading or as bold.
    Bold,
    /// Its writer marked it as code.
    Code,
}

/// Paints text, or leaves it alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paint {
    /// Whether to use colours.
    pub color: bool,
    /// Whether text that its writer marked may be bold or underlined without colours.
    pub bold: bool,
    /// Whether to use glyphs beyond ASCII.
    pub unicode: bool,
}

impl Paint {
    /// Text in a tone.
    pub fn text(self, tone: Tone, text: &str) -> String {
        let is_marked = matches!(tone, Tone::Bold | Tone::Code);
        if !(self.color || is_marked && self.bold) || text.is_empty() {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Warn | Tone::Ask => "33",
            Tone::Code if !self.color => "4",
            Tone::Mark | Tone::Code => "36",
            Tone::Strong | Tone::Bold => "1",
            Tone::Dim => "2",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// Whether text that its writer marked looks different, so that the marks can go.
    pub fn shows_marked(self) -> bool {
        self.color || self.bold
    }

    /// A glyph, or its ASCII stand-in.
    pub fn glyph(self, glyph: Glyph) -> &'static str {
        match (glyph, self.unicode) {
            (Glyph::Done, true) => "✓",
            (Glyph::Done, false) => "+",
            (Glyph::Failed, true) => "✗",
            (Glyph::Failed, false) => "x",
            (Glyph::Skipped, true) => "−",
            (Glyph::Skipped, false) => "-",
            (Glyph::Running, true) => "▸",
            (Glyph::Running, false) => ">",
            (Glyph::Asking, _) => "?",
            (Glyph::Answered, true) => "●",
            (Glyph::Answered, false) => "*",
            (Glyph::Paused, true) => "‖",
            (Glyph::Paused, false) => "=",
            (Glyph::Bar, true) => "│",
            (Glyph::Bar, false) => "|",
            (Glyph::Dot, true) => "·",
            (Glyph::Dot, false) => "-",
            (Glyph::Ellipsis, true) => "…",
            (Glyph::Ellipsis, false) => "...",
            (Glyph::Pending, true) => "·",
            (Glyph::Pending, false) => ".",
            (Glyph::Arrow, true) => "→",
            (Glyph::Arrow, false) => "->",
            (Glyph::Inside, true) => "›",
            (Glyph::Inside, false) => ">",
            (Glyph::ErrorBar, true) => "┃",
            (Glyph::ErrorBar, false) => "!",
        }
    }

    /// The text cut to a number of columns, with an ellipsis if something is lost.
    pub fn cut(self, text: &str, columns: usize) -> String {
        if self.unicode || crate::term::width(text) <= columns {
            return crate::term::cut(text, columns);
        }
        let dots = self.glyph(Glyph::Ellipsis);
        let kept = crate::term::cut(text, columns.saturating_sub(dots.len() - 1));
        format!("{}{dots}", kept.trim_end_matches('…'))
    }
}

/// The glyphs in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glyph {
    /// Ended well.
    Done,
    /// Ended badly.
    Failed,
    /// Left out.
    Skipped,
    /// Acts.
    Running,
    /// Someone is asked.
    Asking,
    /// Someone has answered.
    Answered,
    /// Nobody drives it.
    Paused,
    /// In front of a step's output.
    Bar,
    /// Between parts of a line.
    Dot,
    /// Something was cut.
    Ellipsis,
    /// Not reached.
    Pending,
    /// Where something leads, or what came of it.
    Arrow,
    /// Between a run and what is inside it.
    Inside,
    /// In front of what a step wrote to standard error.
    ErrorBar,
}
