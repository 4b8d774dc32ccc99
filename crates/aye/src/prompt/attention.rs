//! Calling someone back to the terminal: the bell, the window's title, and a
//! notification of the terminal itself where it knows one.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::time::Duration;

/// A run of this time is one that people turn away from.
pub const LONG: Duration = Duration::from_secs(60);
/// More does not fit a title bar.
const LONGEST: usize = 80;

/// How this terminal is made to call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attention {
    notification: Notification,
    /// Whether it keeps titles on a stack.
    title: bool,
}

/// The sequence by which a terminal shows a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notification {
    /// `OSC 9`.
    Osc9,
    /// `OSC 777`.
    Osc777,
    /// None that is known.
    None,
}

impl Attention {
    /// For the terminal that the environment describes; none for one that can do
    /// nothing.
    pub fn of(env: &BTreeMap<String, String>) -> Option<Self> {
        let get = |name: &str| env.get(name).map(String::as_str).unwrap_or_default();
        let term = get("TERM");
        if matches!(term, "" | "dumb") {
            return None;
        }
        // Inside a multiplexer sequences for the terminal around it do not pass.
        let inside =
            !get("TMUX").is_empty() || term.starts_with("screen") || term.starts_with("tmux");
        let notification = match (get("TERM_PROGRAM"), term) {
            _ if inside => Notification::None,
            ("iTerm.app" | "WezTerm" | "ghostty", _) => Notification::Osc9,
            (_, "xterm-kitty" | "xterm-ghostty" | "wezterm") => Notification::Osc9,
            (_, term) if term.starts_with("foot") || term.starts_with("rxvt-unicode") => {
                Notification::Osc777
            }
            _ => Notification::None,
        };
        let title = !inside && !matches!(term, "linux" | "vt100" | "vt220");
        Some(Self { notification, title })
    }

    /// The same with nothing but the bell: escapes are noise in a log, and are read out.
    #[must_use]
    pub fn bell_only(self) -> Self {
        Self { notification: Notification::None, title: false }
    }

    /// A question has opened: bell, title and notification.
    pub fn opened(self, about: &str) -> String {
        let text = harmless(about);
        let title =
            if self.title { format!("\u{1b}[22;2t\u{1b}]2;{text}\u{7}") } else { String::new() };
        format!("{title}{}\u{7}", self.notification(&text))
    }

    /// The question is gone: the title that was there before.
    pub fn closed(self) -> &'static str {
        if self.title { "\u{1b}[23;2t" } else { "" }
    }

    /// Something has ended that took long.
    pub fn ended(self, about: &str) {
        let text = format!("{}\u{7}", self.notification(&harmless(about)));
        // Without a terminal there is nobody to call.
        if let Ok(mut terminal) = OpenOptions::new().write(true).open("/dev/tty")
            && aye_process::group::in_foreground(&terminal)
        {
            let _ = terminal.write_all(text.as_bytes());
        }
    }

    fn notification(self, text: &str) -> String {
        match self.notification {
            Notification::Osc9 => format!("\u{1b}]9;{text}\u{7}"),
            Notification::Osc777 => format!("\u{1b}]777;notify;aye;{text}\u{7}"),
            Notification::None => String::new(),
        }
    }
}

/// One short line in which nothing ends the sequence or begins another field.
fn harmless(text: &str) -> String {
    let plain = text.chars().map(|c| if c.is_control() || c == ';' { ' ' } else { c });
    let shown: String =
        plain.filter(|c| !('\u{80}'..='\u{9f}').contains(c)).take(LONGEST).collect();
    crate::paint::escape_control(&shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Option<Attention> {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Attention::of(&pairs.iter().map(own).collect())
    }

    #[test]
    fn a_terminal_gets_what_it_knows() {
        let xterm = of(&[("TERM", "xterm-256color")]).expect("a terminal");
        assert_eq!(xterm.bell_only().opened("gate"), "\u{7}");
        assert_eq!(xterm.bell_only().closed(), "");
        assert_eq!(xterm.opened("gate"), "\u{1b}[22;2t\u{1b}]2;gate\u{7}\u{7}");
        assert_eq!(xterm.closed(), "\u{1b}[23;2t");
        let iterm = of(&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")]).expect("one");
        assert!(iterm.opened("gate").contains("\u{1b}]9;gate\u{7}"));
        let foot = of(&[("TERM", "foot")]).expect("one");
        assert!(foot.opened("gate").contains("\u{1b}]777;notify;aye;gate\u{7}"));
        let tmux = of(&[("TERM", "tmux-256color"), ("TMUX", "x"), ("TERM_PROGRAM", "WezTerm")]);
        assert_eq!(tmux.expect("one").opened("gate"), "\u{7}");
        assert_eq!(of(&[("TERM", "dumb")]), None);
    }

    #[test]
    fn a_text_of_others_ends_no_sequence() {
        let foot = of(&[("TERM", "foot")]).expect("one");
        let said = foot.opened("a\u{7}b\u{1b}]0;c\u{9c}d;e");
        assert_eq!(said.matches('\u{7}').count(), 3, "{said:?}");
        assert!(said.contains("a b ]0 c"), "{said:?}");
    }
}
