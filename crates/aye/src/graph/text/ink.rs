//! Glyphs and colours.

use std::fmt::Write as _;

use aye_core::skill::EndStatus;
use unicode_width::UnicodeWidthStr;

use super::super::diagram::What;
use super::super::label::cut;

/// The characters a page is drawn with.
pub(super) struct Glyphs {
    unicode: bool,
    pub(super) bar: &'static str,
    pub(super) tee: &'static str,
    pub(super) corner: &'static str,
    pub(super) turn: &'static str,
    pub(super) gate: &'static str,
    pub(super) arrow: &'static str,
    pub(super) again: &'static str,
    pub(super) said_again: &'static str,
    pub(super) between: &'static str,
    pub(super) cut: &'static str,
}

impl Glyphs {
    pub(super) fn new(unicode: bool) -> Self {
        if unicode {
            Self {
                unicode,
                bar: "│",
                tee: "├",
                corner: "└",
                turn: "╰ ",
                gate: "⚑",
                arrow: "→ ",
                again: "↻ ",
                said_again: "",
                between: " · ",
                cut: "…",
            }
        } else {
            Self {
                unicode,
                bar: "|",
                tee: "|-",
                corner: "`-",
                turn: "`",
                gate: "!",
                arrow: "-> ",
                again: "-> ",
                said_again: " (again)",
                between: ", ",
                cut: "..",
            }
        }
    }

    /// The words themselves may hold marks that are not the author's.
    fn words(&self, text: &str) -> String {
        if self.unicode {
            text.to_owned()
        } else {
            text.replace('…', "..").replace('\u{fffd}', "?")
        }
    }

    pub(super) fn of(&self, what: What) -> &'static str {
        match (what, self.unicode) {
            (What::Command, true) => "▸",
            (What::Command, false) => ">",
            (What::Shell, _) => "$",
            (What::Question, _) => "?",
            (What::Note, true) => "·",
            (What::Note, false) => "-",
            (What::End(_), true) => "■",
            (What::End(_), false) => "#",
        }
    }
}

/// What a piece of text is for; a colour, if there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Strong,
    Faint,
    Mark,
    Ask,
    Good,
    Bad,
}

impl Tone {
    pub(super) fn of_end(status: EndStatus) -> Self {
        match status {
            EndStatus::Completed | EndStatus::ByOutcome => Self::Good,
            EndStatus::Failed => Self::Bad,
            EndStatus::Cancelled => Self::Ask,
        }
    }

    /// The parameters of `ESC [ … m`.
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Strong => "1",
            Self::Faint => "2",
            Self::Mark => "36",
            Self::Ask => "33",
            Self::Good => "32",
            Self::Bad => "31",
        }
    }
}

/// One line, in pieces.
#[derive(Debug, Default)]
pub(super) struct Row(Vec<(Tone, String)>);

impl Row {
    pub(super) fn add(mut self, tone: Tone, text: &str) -> Self {
        self.0.push((tone, text.to_owned()));
        self
    }

    /// The row beneath a step, behind its bar.
    pub(super) fn indented(mut self, bar: &str) -> Self {
        self.0.insert(0, (Tone::Faint, format!("  {bar} ")));
        self
    }

    /// The line, at most `width` columns of it, and its end.
    pub(super) fn print(&self, width: usize, colour: bool, glyphs: &Glyphs) -> String {
        let mark = glyphs.cut;
        let pieces: Vec<(Tone, String)> =
            self.0.iter().map(|(tone, text)| (*tone, glyphs.words(text))).collect();
        let whole: usize = pieces.iter().map(|(_, text)| text.width()).sum();
        let mut room = if whole > width { width - mark.width() } else { width };
        let mut line = String::new();
        for (tone, text) in &pieces {
            let kept = cut(text, room, "");
            room -= kept.width();
            let code = tone.code();
            if colour && !code.is_empty() && !kept.trim().is_empty() {
                let _ = write!(line, "\x1b[{code}m{kept}\x1b[0m");
            } else {
                line.push_str(&kept);
            }
            if kept.len() < text.len() {
                break;
            }
        }
        if whole > width {
            line.push_str(mark);
        }
        let mut line = line.trim_end().to_owned();
        line.push('\n');
        line
    }
}
