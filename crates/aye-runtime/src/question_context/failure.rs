//! Why a step failed.

use aye_core::journal::State;

use super::Redactor;

/// How many characters of what it wrote are told.
const TAIL: usize = 600;
/// How many characters of an error, and of its hint.
const ERROR: usize = 900;
const HINT: usize = 300;

/// What is known of a step that failed. Only the hint is Aye's word for certain: a message
/// may be what a tool or a block said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepFailure {
    /// What went wrong, after the code of the error if it has one.
    pub message: String,
    /// What to do about it, in Aye's words.
    pub hint: Option<String>,
    /// The end of what the step wrote.
    pub output: Option<String>,
}

impl StepFailure {
    /// In one text; `own` words what Aye says itself.
    pub fn in_words(&self, own: impl Fn(&str) -> String) -> String {
        let message = Some(self.message.clone()).filter(|message| !message.is_empty());
        let hint = self.hint.as_ref().map(|hint| format!("hint: {}", own(hint)));
        let output = self.output.as_ref().map(|output| format!("output: {output}"));
        let parts: Vec<String> = [message, hint, output].into_iter().flatten().collect();
        parts.join("\n")
    }
}

/// Why a step failed; nothing of one that has not been started.
pub fn failure(run: &State, step: &str, redactor: &Redactor<'_>) -> StepFailure {
    let Some(record) = run.steps.get(step) else { return StepFailure::default() };
    let code = record.code.as_ref().map(|code| format!("[{code}]"));
    let message: Vec<String> = code.into_iter().chain(record.message.clone()).collect();
    let output = record.process.as_ref().map(|process| process.said().trim_end());
    let output = output.filter(|output| !output.is_empty());
    StepFailure {
        message: redactor.start(&message.join("\n"), ERROR + 1, usize::MAX),
        hint: record.hint.as_ref().map(|hint| redactor.start(hint, HINT + 1, usize::MAX)),
        output: output.map(|output| redactor.end(output, TAIL + 1, usize::MAX)),
    }
}
