//! The prompt in its frame, key by key.

use std::io;
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use aye_core::id::QuestionId;
use jiff::Timestamp;

use crate::paint::{Paint, Tone};
use crate::screen::{Painted, Screen, at_once};
use aye_runtime::advisor::Advising;
use aye_runtime::clock::Clock;
use aye_runtime::prompter::AskedQuestion;

use super::dialog::{Dialog, Escape, Reply};
use super::hold::Hold;
use super::key::{Decoder, Key};
use super::poll::poll;
use super::style::Styled;
use super::terminal::{PromptConfig, TerminalEvent, until};
use super::tty::{Mode, Tty};
use super::typeahead_guard::TypeaheadGuard;
use super::view::{Look, head, view_below};

/// An Escape that nothing follows for so long was the key.
const ESCAPE: Duration = Duration::from_millis(100);
/// How often the spinner moves.
const BEAT: Duration = Duration::from_millis(200);
/// Beyond this, nobody watches the seconds.
const FAR: Duration = Duration::from_secs(600);

/// A question on the terminal.
pub(super) struct Framed {
    tty: Tty,
    id: QuestionId,
    paint: Paint,
    escape: Escape,
    dialog: Dialog,
    decoder: Decoder,
    /// Until then an Escape may be the beginning of more.
    escape_until: Option<Instant>,
    screen: Screen,
    opened: Instant,
    /// A countdown moves.
    counts: bool,
    hold: Hold,
    /// An answer was handed out; if it is asked on, it was one of several.
    answered: bool,
    /// The head as it is painted in a window of this size.
    head: Option<((usize, usize), Vec<Painted>)>,
    /// The head is in the scrollback, because the window is too small for it.
    head_printed: bool,
    details_printed: bool,
    /// How many lines of the body, which say what an answer does, had no room either.
    body_printed: usize,
    /// Who is asked for advice.
    advising: Option<Advising>,
}

impl Framed {
    pub(super) fn open(
        mut tty: Tty,
        asked: &AskedQuestion<'_>,
        config: &PromptConfig,
    ) -> Result<Self, String> {
        tty.take(Mode::Keys).map_err(|error| format!("the terminal cannot be used: {error}"))?;
        Ok(Self {
            tty,
            id: asked.question.id.clone(),
            paint: config.paint,
            escape: config.escape,
            dialog: Dialog::new(asked.question, config.escape),
            decoder: Decoder::default(),
            escape_until: None,
            screen: Screen::default(),
            opened: Instant::now(),
            counts: false,
            hold: Hold::default(),
            answered: false,
            head: None,
            head_printed: false,
            details_printed: false,
            body_printed: 0,
            advising: Advising::of(asked, config.advisor.as_ref()),
        })
    }

    pub(super) fn is_for(&self, question: &QuestionId) -> bool {
        self.id == *question
    }

    /// Whether it is painted where someone sits.
    pub(super) fn is_visible(&self) -> bool {
        !self.screen.is_empty() && self.tty.is_foreground()
    }

    /// Takes in what was typed and paints what has changed.
    pub(super) fn turn(
        &mut self,
        asked: &AskedQuestion<'_>,
        clock: &dyn Clock,
        tail: &mut TypeaheadGuard,
    ) -> Option<TerminalEvent> {
        let unavailable = |why: &str| Some(TerminalEvent::Unavailable(why.to_owned()));
        if std::mem::take(&mut self.answered) {
            self.dialog = Dialog::new(asked.question, self.escape);
        }
        if !self.tty.is_foreground() {
            return unavailable("this process is in the background");
        }
        // Nobody answers what is not painted yet.
        if self.head.is_some() {
            let ready = poll(self.tty.as_fd(), &[], Instant::now());
            if ready.gone {
                return unavailable("the terminal has gone away");
            }
            let keys = match self.keys(ready.typed) {
                Ok(keys) => keys,
                Err(error) => {
                    return unavailable(&format!("the terminal cannot be read: {error}"));
                }
            };
            if let Some(event) = self.take(asked, keys, clock.now(), tail) {
                return Some(event);
            }
            let advising = self.advising.as_mut();
            if let Some(advice) = advising.and_then(|advising| advising.poll(asked)) {
                return Some(TerminalEvent::Advised(advice));
            }
        }
        let now = clock.now();
        self.counts = asked.deadline.is_some_and(|deadline| until(deadline, now) <= FAR);
        match self.paint(asked, now) {
            Ok(()) => None,
            Err(error) => unavailable(&format!("the terminal cannot be written to: {error}")),
        }
    }

    /// When the next [`turn`](Self::turn) is due, without a key.
    pub(super) fn look_at(&self) -> Option<Instant> {
        let now = Instant::now();
        let beat = self.counts.then(|| now + self.next_beat(now));
        let advice = self.advising.as_ref().and_then(Advising::look_at);
        [beat, self.escape_until, advice].into_iter().flatten().min()
    }

    /// The keys that were typed; an Escape that nothing follows is one.
    fn keys(&mut self, typed: bool) -> io::Result<Vec<Key>> {
        let mut keys = self.read(typed)?;
        if !self.decoder.is_waiting() {
            self.escape_until = None;
        } else if typed || self.escape_until.is_none() {
            self.escape_until = Some(Instant::now() + ESCAPE);
        } else if self.escape_until.is_some_and(|until| Instant::now() >= until) {
            keys = self.decoder.flush();
            self.escape_until = None;
        }
        Ok(keys)
    }

    fn read(&mut self, typed: bool) -> io::Result<Vec<Key>> {
        if !typed {
            return Ok(Vec::new());
        }
        let mut buffer = [0; 4096];
        let count = self.tty.read(&mut buffer)?;
        Ok(self.decoder.push(&buffer[..count]))
    }

    fn take(
        &mut self,
        asked: &AskedQuestion<'_>,
        mut keys: Vec<Key>,
        now: Timestamp,
        tail: &mut TypeaheadGuard,
    ) -> Option<TerminalEvent> {
        tail.strip(&mut keys, Instant::now());
        if keys.is_empty() {
            return None;
        }
        let details = self.dialog.details;
        let reply = self.dialog.keys(asked.question, &keys);
        self.details_printed &= self.dialog.details == details;
        match reply {
            // Whatever key it was, someone is there.
            Reply::Stay | Reply::Typing => {
                self.hold.is_due(asked.deadline, now).then_some(TerminalEvent::Typing)
            }
            Reply::Answer(given) => {
                if let [key] = keys.as_slice() {
                    tail.begin(key, Instant::now());
                }
                self.answered = true;
                self.advising.iter_mut().for_each(Advising::end);
                Some(TerminalEvent::Given(given))
            }
            Reply::Dismissed => Some(TerminalEvent::Dismissed),
        }
    }

    fn next_beat(&self, now: Instant) -> Duration {
        let beat = BEAT.as_micros();
        let gone = now.duration_since(self.opened).as_micros() % beat;
        Duration::from_micros(u64::try_from(beat - gone).unwrap_or(0))
    }

    fn paint(&mut self, asked: &AskedQuestion<'_>, now: Timestamp) -> io::Result<()> {
        let (columns, rows) = self.tty.size();
        let look = Look { paint: self.paint, columns, rows };
        let beat = usize::try_from(self.opened.elapsed().as_millis() / BEAT.as_millis());
        let ready = |lines: &[Styled]| -> Vec<Painted> {
            // A line that the terminal breaks would reach the first column.
            let fits = |line: &Styled| line.cut(columns.saturating_sub(1).max(1), "");
            let paint =
                |line: Styled| Painted { text: line.render(look.paint), width: line.width() };
            lines.iter().map(fits).map(paint).collect()
        };
        let whole = match self.head.take() {
            Some((window, head)) if window == (columns, rows) => head,
            Some(_) | None => {
                self.body_printed = 0;
                ready(&head(asked, look))
            }
        };
        let head = &whole[..];
        let beat = beat.unwrap_or(0);
        let advisor = self.advising.as_ref().map(Advising::advisor);
        let view = view_below(head.len(), asked, &self.dialog, advisor, look, now, beat);
        let mut out = String::new();
        self.screen.fit(columns);
        let (details, mut body) = (ready(&view.details), ready(&view.body));
        let room = rows.saturating_sub(1).max(1);
        let mut cursor = (view.cursor.0, view.cursor.1.min(columns.saturating_sub(1)));
        let wanted = |head_printed: bool, details_printed: bool| {
            body.len()
                + if head_printed { 0 } else { head.len() }
                + if details_printed { 0 } else { details.len() }
        };
        if !self.head_printed && wanted(false, self.details_printed) > room {
            self.screen.print(head, &mut out);
            self.head_printed = true;
        }
        if !self.details_printed && wanted(self.head_printed, false) > room {
            self.screen.print(&details, &mut out);
            self.details_printed = true;
        }
        // What stands above the answer is printed; below it, the first lines give way.
        let cut = body.len().saturating_sub(room);
        let above = self.body_printed..cut.min(cursor.0);
        if !above.is_empty() {
            self.screen.print(&body[above.clone()], &mut out);
            self.body_printed = above.end;
        }
        let cut = cut.max(self.body_printed.min(cursor.0));
        body.drain(..cut);
        cursor.0 = cursor.0.saturating_sub(cut);
        let mut lines = Vec::with_capacity(body.len());
        if !self.head_printed {
            lines.extend(head.iter().cloned());
        }
        if !self.details_printed {
            lines.extend(details);
        }
        cursor.0 += lines.len();
        lines.extend(body);
        self.screen.show(lines, cursor, &mut out);
        self.head = Some(((columns, rows), whole));
        if out.is_empty() { Ok(()) } else { self.tty.write(&at_once(&out)) }
    }

    pub(super) fn refused(&mut self, why: &str) {
        self.answered = false;
        self.dialog.refused(why);
    }

    pub(super) fn hide(&mut self) {
        let mut out = String::new();
        self.screen.fit(self.tty.size().0);
        self.screen.erase(&mut out);
        if !out.is_empty() && self.tty.is_foreground() {
            // A terminal that has gone away has nothing to erase.
            let _ = self.tty.write(&at_once(&out));
        }
    }

    /// Leaves nothing of it, or a closed frame where its first rows cannot be
    /// taken away any more. Asked on, it is painted as a whole.
    pub(super) fn finish(&mut self) {
        self.hide();
        let stays = self.head_printed || self.details_printed;
        if stays && self.tty.is_foreground() {
            let corner = if self.paint.unicode { "╰─" } else { "+-" };
            let _ = self.tty.write(&format!("{}\r\n", self.paint.text(Tone::Ask, corner)));
        }
        self.begin_anew();
    }

    /// Whether its first rows cannot be taken away for the moment.
    pub(super) fn is_tall(&self) -> bool {
        self.head_printed || self.details_printed || self.body_printed > 0
    }

    /// Nothing of it is on the terminal.
    fn begin_anew(&mut self) {
        self.head_printed = false;
        self.details_printed = false;
        self.body_printed = 0;
    }

    pub(super) fn rest(&mut self) {
        self.advising.iter_mut().for_each(Advising::pause);
        self.finish();
        self.tty.give_back();
        self.decoder.reset();
    }

    pub(super) fn redraw(&mut self) {
        self.advising.iter_mut().for_each(Advising::resume);
        if !self.tty.is_foreground() {
            return;
        }
        // Someone else has used the terminal meanwhile.
        self.screen.forget();
        self.begin_anew();
        self.tty.retake();
    }

    pub(super) fn close(mut self) {
        self.finish();
        self.tty.give_back();
    }
}

impl Drop for Framed {
    fn drop(&mut self) {
        self.hide();
    }
}
