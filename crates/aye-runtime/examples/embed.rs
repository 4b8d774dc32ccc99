//! Runs a skill in a program of your own and answers what it asks:
//! `cargo run -p aye-runtime --example embed -- DIRECTORY SKILL`.

use std::os::fd::BorrowedFd;
use std::path::Path;

use aye_core::question::{Answer, Prompter as Through};
use aye_process::Signals;
use aye_runtime::driver::{Asked, Outcome, Prompter, QuestionContext};
use aye_runtime::error::Error;
use aye_runtime::report::{Silent, Unbuffered};
use aye_runtime::runtime::{Parts, Runtime};
use aye_runtime::usecases::{Prepared, SkillError, Surface};

/// Chooses the first option of every question.
struct First;

impl Prompter for First {
    fn ask(&mut self, posed: &QuestionContext<'_>, _: &[BorrowedFd<'_>]) -> Result<Asked, Error> {
        let choice = posed.question.options.first().map_or("", |offer| &offer.value);
        let answer = Answer::new(choice, "me".to_owned(), Through::Command);
        Ok(Asked::Answered { answer, code: None, remember: false })
    }
}

pub(crate) fn embed(directory: &Path, skill: &str) -> Result<Outcome, Box<dyn std::error::Error>> {
    let runtime = Runtime::new(Parts::new(directory.join("home"), directory))?;
    let skill = runtime.check_skill(skill).map_err(SkillError::into_error)?;
    let inputs = runtime.complete_inputs(&skill.flow, Default::default()).map_err(Error::Inputs)?;
    let run = runtime.start(Prepared::new(skill, inputs), true, &mut |_| {})?;
    let (report, prompter) = (&mut Silent, Some(&mut First as &mut dyn Prompter));
    let signals = &mut Signals::catch()?;
    Ok(run.drive(Surface { report, sink: &Unbuffered, prompter, signals })?.outcome)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [directory, skill] = &words[..] else { return Err("give DIRECTORY and SKILL".into()) };
    Ok(println!("{:?}", embed(Path::new(directory), skill)?))
}
