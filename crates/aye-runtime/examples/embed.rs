//! A program of your own runs a skill: `cargo run --example embed -- DIRECTORY SKILL`.

use std::path::Path;

use aye_core::id::QuestionId;
use aye_core::question::{Answer, Channel};
use aye_process::Signals;
use aye_runtime::driver::Outcome;
use aye_runtime::prompter::{AskedQuestion, PromptEvent, Prompter, Withdrawn};
use aye_runtime::report::{Silent, Unbuffered};
use aye_runtime::runtime::{Parts, Runtime};
use aye_runtime::usecases::{SkillError, Surface};

struct First;

impl Prompter for First {
    fn ask(&mut self, asked: &AskedQuestion<'_>) -> Option<PromptEvent> {
        let choice = asked.question.options.first()?.value.as_str();
        let answer = Answer::new(choice, "me".to_owned(), Channel::Command);
        Some(PromptEvent::Answered { answer, code: None })
    }
    fn is_showing(&self, _: &QuestionId) -> bool {
        true
    }
    fn refused(&mut self, _: &QuestionId, _: &str) {}
    fn withdraw(&mut self, _: &QuestionId, _: &Withdrawn) {}
}

pub(crate) fn embed(directory: &Path, skill: &str) -> Result<Outcome, Box<dyn std::error::Error>> {
    let runtime = Runtime::new(Parts::new(directory.join("home"), directory))?;
    let skill = runtime.check_skill(skill).map_err(SkillError::into_error)?;
    let run = runtime.start(runtime.prepare(skill, Default::default())?, true, &mut |_| {})?;
    let (report, signals, first) = (&mut Silent, &mut Signals::catch()?, &mut First);
    let surface = Surface { report, sink: &Unbuffered, prompters: vec![first], signals };
    Ok(run.drive(surface)?.outcome)
}
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let word = |at| std::env::args().nth(at).ok_or("give DIRECTORY and SKILL");
    embed(Path::new(&word(1)?), &word(2)?).map(drop)
}
