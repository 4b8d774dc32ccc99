//! A report that shares its terminal with a prompt.

use aye_core::event::{Event, EventKind};
use aye_core::journal::State;
use aye_process::Stream;
use aye_runtime::report::{Place, Report, Tick, Wants};

use super::shared_screen::SharedScreen;

/// Takes the prompt off the screen before the report prints; the prompter
/// brings it back. Nothing is printed into a frame whose beginning is in the scrollback.
pub struct ScreenReport<'a> {
    report: Box<dyn Report + 'a>,
    screen: SharedScreen,
}

impl<'a> ScreenReport<'a> {
    /// A report on this screen.
    pub fn new(report: Box<dyn Report + 'a>, screen: SharedScreen) -> Self {
        Self { report, screen }
    }

    /// Takes the prompt off the screen; what cannot be taken away for the moment stays
    /// whole, and the report waits for its end.
    fn hide(&mut self) {
        self.screen.hide();
        self.report.hold(self.screen.is_tall());
    }

    /// The prompt is over for now.
    fn finish(&mut self) {
        self.screen.finish();
        self.report.hold(false);
    }
}

impl Report for ScreenReport<'_> {
    fn event(&mut self, place: Place<'_>, event: &Event, state: &State) {
        // A live view says nothing of a hold; the prompt need not blink.
        let held = matches!(
            event.kind,
            EventKind::ConfirmationHeld { .. } | EventKind::ConfirmationAdvised { .. }
        );
        match &event.kind {
            _ if held && self.report.wants().ticks => {}
            EventKind::ConfirmationAnswered(_)
            | EventKind::ConfirmationExpired { .. }
            | EventKind::SkillPaused { .. }
            | EventKind::SkillCancelled { .. }
            | EventKind::SkillFailed { .. } => self.finish(),
            _ => self.hide(),
        }
        self.report.event(place, event, state);
    }

    fn output(&mut self, lane: usize, stream: Stream, bytes: &[u8]) {
        if self.report.wants().printed {
            self.hide();
        }
        self.report.output(lane, stream, bytes);
    }

    fn wants(&self) -> Wants {
        self.report.wants()
    }

    fn step_begins(&mut self, lane: usize, interactive: bool) {
        if interactive {
            self.screen.lend(lane);
            self.report.hold(false);
        }
        self.report.step_begins(lane, interactive);
    }

    fn step_ends(&mut self, lane: usize) {
        self.hide();
        self.report.step_ends(lane);
        self.screen.take_back(lane);
    }

    fn ended_before(&mut self, lane: usize, well: bool) {
        self.report.ended_before(lane, well);
    }

    fn tick(&mut self, tick: Tick<'_>) {
        if !self.screen.has_prompt() {
            self.report.tick(tick);
        }
    }

    fn stopping(&mut self, words: &str) {
        self.finish();
        self.report.stopping(words);
    }

    fn note(&mut self, words: &str) {
        self.hide();
        self.report.note(words);
    }

    fn pause(&mut self) {
        self.report.hold(self.screen.is_tall());
        self.report.pause();
    }

    fn suspended(&mut self) {
        // What took the terminal last gives it back first.
        self.screen.rest();
        self.report.hold(false);
        self.report.suspended();
    }

    fn continued(&mut self) {
        self.report.continued();
        self.screen.redraw();
    }

    fn resized(&mut self) {
        self.report.resized();
        self.screen.resized();
    }
}

impl Drop for ScreenReport<'_> {
    fn drop(&mut self) {
        self.screen.rest();
        self.report.hold(false);
    }
}
