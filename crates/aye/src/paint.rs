//! Colours and glyphs, and when not to use them.

use std::time::Duration;

use aye_core::diagnostic::visible;
pub use aye_process::text::shell_word;

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
    /// Somebody should look.
    Warn,
    /// Somebody is asked.
    Ask,
    /// A name.
    Strong,
    /// Less important.
    Dim,
}

/// Paints text, or leaves it alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paint {
    /// Whether to use colours.
    pub color: bool,
    /// Whether to use glyphs beyond ASCII.
    pub unicode: bool,
}

impl Paint {
    /// Text in a tone.
    pub fn text(self, tone: Tone, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Warn => "33",
            Tone::Ask => "36",
            Tone::Strong => "1",
            Tone::Dim => "2",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
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
        }
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
    /// Somebody is asked.
    Asking,
    /// Somebody has answered.
    Answered,
    /// Nobody drives it.
    Paused,
    /// In front of a step's output.
    Bar,
    /// Between parts of a line.
    Dot,
    /// Something was cut.
    Ellipsis,
}

/// A duration as people say it: `340ms`, `2.3s`, `1m 5s`, `2h 10m`.
pub fn duration(duration: Duration) -> String {
    let ms = duration.as_millis();
    let secs = duration.as_secs();
    match secs {
        0 => format!("{ms}ms"),
        1..=9 => format!("{}.{}s", secs, (ms % 1000) / 100),
        10..=59 => format!("{secs}s"),
        60..=3599 => format!("{}m {}s", secs / 60, secs % 60),
        3600..=86_399 => format!("{}h {}m", secs / 3600, secs % 3600 / 60),
        _ => format!("{}d {}h", secs / 86_400, secs % 86_400 / 3600),
    }
}

/// `1 file`, `2 files`, `3 processes`.
pub fn plural(count: usize, word: &str) -> String {
    match (count, word.ends_with('s')) {
        (1, _) => format!("{count} {word}"),
        (_, true) => format!("{count} {word}es"),
        (_, false) => format!("{count} {word}s"),
    }
}

/// Text made safe for a terminal: control, bidirectional and zero-width
/// characters are shown as escapes; nothing in it can move the cursor.
pub fn escape_control(text: &str) -> String {
    visible(text).into_owned()
}

/// The same, line by line.
pub fn inert_lines(text: &str) -> String {
    text.lines().map(escape_control).collect::<Vec<_>>().join("\n")
}

/// The same on one line.
pub fn escape_control_line(text: &str) -> String {
    escape_control(&text.lines().collect::<Vec<_>>().join(" "))
}
