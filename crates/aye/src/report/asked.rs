//! Which question an event is about: an answer names only its id.

use std::collections::HashMap;

use aye_core::event::{Event, EventKind};
use aye_core::id::QuestionId;
use aye_core::journal::State;
use aye_core::question::{Question, Reader};
use aye_runtime::origin::host_name;
use jiff::Timestamp;

use crate::paint::{Glyph, Paint, Tone, escape_control_line, shell_word};
use crate::prompt::markup::asking_line;
use crate::prompt::style::Styled;
use crate::prompt::view::covered;

use super::step_line::step_line;

/// What a message asks, in plain words: its first line that is not a title, without the
/// marks of Markdown.
pub fn first_words(message: &str) -> String {
    let first = asking_line(message);
    // `***` is a secret that is hidden, not Markdown.
    let parts = first.trim_start_matches('#').trim_start().split("***");
    let parts: Vec<String> = parts.map(|part| part.replace("**", "")).collect();
    escape_control_line(&parts.join("***"))
}

/// What a yes to an open question covers, a line for each part; how to see what is
/// cut.
pub fn covered_text(
    question: &Question,
    run: &str,
    workspace: Option<&str>,
    room: usize,
    paint: Paint,
) -> String {
    let rest = format!("`aye show {run} {}`", shell_word(&escape_control_line(&question.step)));
    let host = host_name();
    let reader = Reader { workspace, host: Some(&host) };
    let lines = covered(question, reader, &rest, room, paint);
    let line = |line: &Styled| format!("  {}", line.render(paint)).trim_end().to_owned() + "\n";
    lines.iter().map(line).collect()
}

/// The longest question in a line.
const SHORT: usize = 60;

/// The questions that are open, as far as a report has seen them.
#[derive(Debug, Default)]
pub(super) struct AskedQuestions(HashMap<QuestionId, Asked>);

#[derive(Debug)]
struct Asked {
    step: String,
    message: String,
    /// When its time, or that of the run, is up.
    ends: Option<Timestamp>,
}

impl AskedQuestions {
    /// What someone has to know of an answer or of a question that `--yes`
    /// does not answer, however little else is said.
    pub(super) fn line(&mut self, event: &Event, state: &State, paint: Paint) -> Option<String> {
        let line = match &event.kind {
            EventKind::ConfirmationRequired(question) => {
                self.note(question, state, paint);
                state.yes.then(|| self.not_counted(question, paint))?
            }
            EventKind::ConfirmationAnswered(answered) if answered.refused.is_none() => {
                self.closing(&answered.question, event, paint)
            }
            EventKind::ConfirmationExpired { question, .. } => self.closing(question, event, paint),
            _ => None,
        };
        // A run that is taken up may ask what was asked before.
        if let Some(question) = state.asking() {
            self.note(question, state, paint);
        }
        line
    }

    fn note(&mut self, question: &Question, state: &State, paint: Paint) {
        let message = paint.cut(&first_words(&question.message), SHORT);
        let (step, ends) = (escape_control_line(&question.step), state.question_deadline());
        let asked = Asked { step, message, ends };
        self.0.insert(question.id.clone(), asked);
    }

    /// The line of the event, with the step and the question in front.
    fn closing(&self, question: &QuestionId, event: &Event, paint: Paint) -> Option<String> {
        let line = step_line(event, paint)?;
        let Some(Asked { step, message, ends }) = self.0.get(question) else { return Some(line) };
        let (mark, rest) = line.split_once(' ')?;
        // In `finally` a question is not left open: its step is left out.
        let unasked = matches!(
            event.kind,
            EventKind::ConfirmationExpired { applied: None, withdrawn: false, .. }
        ) && ends.is_none_or(|ends| event.at < ends);
        let rest = if unasked { "nobody can be asked here: counts as no" } else { rest };
        Some(format!("{mark} {}  {message}  {rest}", paint.text(Tone::Strong, step)))
    }

    fn not_counted(&self, question: &Question, paint: Paint) -> Option<String> {
        let why = question.why_no_yes()?;
        let Asked { step, message, .. } = self.0.get(&question.id)?;
        let mark = paint.text(Tone::Warn, paint.glyph(Glyph::Asking));
        let step = paint.text(Tone::Strong, step);
        Some(format!("{mark} {step}  {message}  --yes does not answer this: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::first_words;

    #[test]
    fn what_is_hidden_stays_visible_as_hidden() {
        assert_eq!(first_words("## Use ***, **now**?\nmore"), "Use ***, now?");
        assert_eq!(first_words("# Heading\n\nGo **bold**?"), "Go bold?");
    }
}
