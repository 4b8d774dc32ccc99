//! One sign and one colour for each standing: every view of the terminal takes them from
//! here, and `views/signs.js` of the page has the same.
//!
//! Green is done, red failed, cyan acts, yellow asks or wants a look; what needs nobody is dim:
//! not reached, queued, skipped, cancelled.

use aye_core::event::{BadOutcome, StepFailed};
use aye_core::journal::StepStatus;
use aye_runtime::usecases::RunStanding;

use crate::paint::{Glyph, Tone};

/// A step that waits for a slot.
pub const QUEUED: (Glyph, Tone) = (Glyph::Paused, Tone::Dim);

/// A step whose exit code leads elsewhere.
pub const LED: (Glyph, Tone) = (Glyph::Arrow, Tone::Mark);

/// A step that stands like this.
pub fn of_step(status: StepStatus) -> (Glyph, Tone) {
    match status {
        StepStatus::Waiting => (Glyph::Asking, Tone::Ask),
        StepStatus::Running => (Glyph::Running, Tone::Mark),
        StepStatus::Completed => (Glyph::Done, Tone::Good),
        StepStatus::Skipped => (Glyph::Skipped, Tone::Dim),
        StepStatus::Failed | StepStatus::TimedOut => (Glyph::Failed, Tone::Bad),
        StepStatus::Cancelled => (Glyph::Failed, Tone::Dim),
        // It may have been done or not.
        StepStatus::Interrupted | StepStatus::Unknown => (Glyph::Asking, Tone::Warn),
    }
}

/// A step that did not end well.
pub fn of_failure(failed: &StepFailed) -> (Glyph, Tone) {
    match failed.outcome {
        // Its exit code has told the way: nothing went wrong.
        BadOutcome::Failure if failed.leads_to.is_some() => LED,
        outcome => of_step(outcome.into()),
    }
}

/// A run that stands like this.
pub fn of_run(standing: RunStanding) -> (Glyph, Tone) {
    match standing {
        RunStanding::Running => (Glyph::Running, Tone::Mark),
        RunStanding::Queued => QUEUED,
        RunStanding::Waiting => (Glyph::Asking, Tone::Ask),
        RunStanding::Paused => (Glyph::Paused, Tone::Warn),
        RunStanding::CutOff => (Glyph::Asking, Tone::Warn),
        RunStanding::Completed => (Glyph::Done, Tone::Good),
        RunStanding::Failed => (Glyph::Failed, Tone::Bad),
        RunStanding::Cancelled => (Glyph::Failed, Tone::Dim),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::paint::Paint;

    const PAGE: &str = include_str!("serve/page/views/signs.js");
    const THEME: &str = include_str!("serve/page/theme.css");
    const PAINT: Paint = Paint { color: true, bold: false, unicode: true };

    /// A table of the page: the sign and the tone of each standing.
    fn table(name: &str) -> BTreeMap<&'static str, (&'static str, &'static str)> {
        let begin = format!("export const {name} = {{\n");
        let rows = PAGE.split_once(&begin).unwrap().1.split_once("\n};").unwrap().0;
        let quoted = |row: &'static str, name: &str| {
            row.split_once(&format!("{name}: \"")).unwrap().1.split_once('"').unwrap().0
        };
        let row = |row: &'static str| {
            let standing = row.trim().split_once(": {").unwrap().0.trim_matches('"');
            (standing, (quoted(row, "sign"), quoted(row, "tone")))
        };
        rows.lines().map(row).collect()
    }

    /// What the page calls a tone.
    fn name(tone: Tone) -> &'static str {
        match tone {
            Tone::Good => "good",
            Tone::Bad => "bad",
            Tone::Warn | Tone::Ask => "ask",
            Tone::Mark | Tone::Code => "link",
            Tone::Dim => "soft",
            Tone::Strong | Tone::Bold => "ink",
        }
    }

    fn shown((glyph, tone): (Glyph, Tone)) -> (&'static str, &'static str) {
        (PAINT.glyph(glyph), name(tone))
    }

    #[test]
    fn the_page_has_the_signs_and_tones_of_the_terminal() {
        let steps = [
            ("asking", of_step(StepStatus::Waiting)),
            ("running", of_step(StepStatus::Running)),
            ("completed", of_step(StepStatus::Completed)),
            ("skipped", of_step(StepStatus::Skipped)),
            ("failed", of_step(StepStatus::Failed)),
            ("timed_out", of_step(StepStatus::TimedOut)),
            ("cancelled", of_step(StepStatus::Cancelled)),
            ("interrupted", of_step(StepStatus::Interrupted)),
            ("unknown", of_step(StepStatus::Unknown)),
            ("queued", QUEUED),
            ("pending", (Glyph::Pending, Tone::Dim)),
            // It runs again by itself.
            ("waiting", (Glyph::Ellipsis, Tone::Dim)),
        ];
        assert_eq!(table("SIGNS"), steps.map(|(word, sign)| (word, shown(sign))).into());
        let runs = RunStanding::ALL.map(|standing| (standing.word(), shown(of_run(standing))));
        assert_eq!(table("RUN_SIGNS"), runs.into());
    }

    /// The angle of a colour on the wheel, from 0 (red) over 120 (green) to 240 (blue).
    fn hue(hex: &str) -> f64 {
        let part = |at: usize| f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap());
        let (red, green, blue) = (part(1), part(3), part(5));
        let most = red.max(green).max(blue);
        let spread = most - red.min(green).min(blue);
        assert!(spread > 60.0, "{hex} is grey");
        let sixth = match most {
            _ if most == red => (green - blue) / spread,
            _ if most == green => 2.0 + (blue - red) / spread,
            _ => 4.0 + (red - green) / spread,
        };
        (sixth * 60.0).rem_euclid(360.0)
    }

    #[test]
    fn a_tone_has_the_same_colour_on_the_page() {
        // Red, green, yellow, and blue for cyan: the letters of ANSI, and what a browser shows.
        let colours = [
            (Tone::Bad, "31", -15.0..15.0),
            (Tone::Good, "32", 90.0..165.0),
            (Tone::Ask, "33", 20.0..60.0),
            (Tone::Warn, "33", 20.0..60.0),
            (Tone::Mark, "36", 170.0..250.0),
        ];
        for (tone, ansi, hues) in colours {
            assert_eq!(PAINT.text(tone, "x"), format!("\u{1b}[{ansi}mx\u{1b}[0m"));
            let variable = format!("--{}: ", name(tone));
            let found: Vec<&str> = THEME.split(&variable).skip(1).map(|rest| &rest[..7]).collect();
            assert_eq!(found.len(), 2, "{variable} of light and of dark");
            let class = format!("\n.{0} {{ color: var(--{0}); }}\n", name(tone));
            assert!(THEME.contains(&class), "{class}");
            for hex in found {
                let hue = hue(hex);
                let near = hues.contains(&hue) || hues.contains(&(hue - 360.0));
                assert!(near, "{variable}{hex} has the hue {hue}");
            }
        }
    }
}
