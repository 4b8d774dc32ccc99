//! An advisor at work: started once for a question, ended with it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use aye_core::advice::Advice;
use aye_core::journal::State;
use aye_core::question::{Purpose, Question};
use aye_process::{Exit, Happening, Outcome, Running, Spec, Stdin, signal_words};

use crate::fmt::{duration, escape_control_line};
use crate::prompter::AskedQuestion;
use crate::settings::PolicySettings;

use super::document::document;
use super::reply::{AdvisorState, AskedAdvisor, read};

/// How long one that took too long may continue before it is killed.
const GRACE: Duration = Duration::from_secs(1);
/// How often it is looked at, and how long a look may take.
const LOOK: Duration = Duration::from_millis(50);
const TURN: Duration = Duration::from_millis(1);
/// More than this is not advice.
const MOST: usize = 64 * 1024;
/// How many characters of its name, or of its last words, are shown.
const NAME: usize = 24;
const LAST_WORDS: usize = 100;

/// The program of `[advisor]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advisor {
    /// The program and its arguments. No shell sees them.
    pub argv: Vec<String>,
    /// How long it may take.
    pub timeout: Duration,
    /// The project whose runs it is told about.
    pub root: PathBuf,
    /// What may be run there.
    pub policy: PolicySettings,
}

/// An advisor beside one question. Dropping it ends its program at once.
pub struct Advising {
    advisor: AskedAdvisor,
    work: Work,
}

enum Work {
    /// It starts when there is nothing else to do: the question comes first.
    Due(Advisor),
    Running(Box<Running>, Duration),
    Over,
}

impl Advising {
    /// An advisor for this question, if it is to have one.
    pub fn of(asked: &AskedQuestion<'_>, advisor: Option<&Advisor>) -> Option<Self> {
        let wanted = asked.question.ai_assist || asked.question.purpose == Purpose::Recover;
        let advisor = advisor.filter(|_| wanted && !asked.question.secret)?;
        // Whatever it starts has to be known for a program that Aye started.
        if cfg!(target_os = "linux") && aye_process::guard::pid() == 0 {
            return None;
        }
        // A project's advisor is for the project's runs: standing in another
        // directory tells nobody about this one, and starts nothing of it.
        let workspace = Path::new(&asked.run?.started.workspace).canonicalize().ok()?;
        workspace.starts_with(advisor.root.canonicalize().ok()?).then(|| Self {
            advisor: AskedAdvisor { name: advisor.name(), state: AdvisorState::Awaited },
            work: Work::Due(advisor.clone()),
        })
    }

    /// What is to be shown.
    pub fn advisor(&self) -> &AskedAdvisor {
        &self.advisor
    }

    /// Starts the program if it is due, and takes in what it said.
    pub fn poll(&mut self, asked: &AskedQuestion<'_>) -> Option<Advice> {
        if let Work::Due(advisor) = &self.work {
            match asked.run.ok_or_else(String::new).and_then(|run| advisor.start(asked, run)) {
                Ok(child) => self.work = Work::Running(Box::new(child), advisor.timeout),
                Err(why) => self.conclude(AdvisorState::Failed(why)),
            }
            return None;
        }
        let Work::Running(child, limit) = &mut self.work else { return None };
        // One turn: what is ready is taken in, nothing is waited for.
        match aye_process::wait_aside(child, &[], Some(Instant::now() + TURN)) {
            Ok(Happening::Exited(_, exit)) => {
                let limit = *limit;
                match understand(&exit, &self.advisor.name, asked.question, limit) {
                    Ok(advice) => {
                        self.conclude(AdvisorState::Over);
                        return Some(advice);
                    }
                    Err(why) => self.conclude(AdvisorState::Failed(why)),
                }
            }
            Ok(_) => {}
            Err(error) => self.conclude(AdvisorState::Failed(error.to_string())),
        }
        None
    }

    /// When there is something to look at again, as long as its advice is
    /// awaited.
    pub fn look_at(&self) -> Option<Instant> {
        match &self.work {
            Work::Due(_) => Some(Instant::now()),
            Work::Running(..) => Some(Instant::now() + LOOK),
            Work::Over => None,
        }
    }

    /// The question is answered: nobody waits any more.
    pub fn end(&mut self) {
        if self.advisor.state == AdvisorState::Awaited {
            self.conclude(AdvisorState::Over);
        }
    }

    /// Aye is about to be stopped, and everything with it.
    pub fn pause(&mut self) {
        if let Work::Running(child, _) = &mut self.work {
            child.pause();
        }
    }

    /// Aye continues.
    pub fn resume(&mut self) {
        if let Work::Running(child, _) = &mut self.work {
            child.resume();
        }
    }

    fn conclude(&mut self, state: AdvisorState) {
        self.advisor.state = state;
        self.work = Work::Over;
    }
}

impl Advisor {
    /// What people call it: the program without its folder.
    fn name(&self) -> String {
        let program = self.argv.first().map_or("", String::as_str);
        let name = program.rsplit('/').find(|part| !part.is_empty()).unwrap_or("advisor");
        short(name, NAME)
    }

    fn start(&self, asked: &AskedQuestion<'_>, run: &State) -> Result<Running, String> {
        let (program, args) = self.argv.split_first().ok_or("no program is named")?;
        let workspace = Path::new(&run.started.workspace);
        let mut spec = Spec::new(program).args(args).without_own_variables(&["AYE_HOME"]);
        spec.cwd = Some(workspace.to_owned());
        spec.stdin = Stdin::Bytes(document(asked.question, Some(run), asked.secrets).into());
        spec.timeout = Some(self.timeout);
        spec.grace = GRACE.min(aye_process::grace());
        spec.tail_limit = MOST;
        spec.aside = true;
        // What survives a crash is looked for by the run that holds the others.
        spec.run = Some(run.run.outermost().to_string());
        let found = aye_process::resolve(&spec).map_err(|error| error.to_string())?;
        let policy = self.policy.for_run(workspace);
        policy.check(&spec, &found).map_err(|refusal| refusal.to_string())?;
        aye_process::spawn(spec).map_err(|error| error.to_string())
    }
}

fn understand(
    exit: &Exit,
    by: &str,
    question: &Question,
    limit: Duration,
) -> Result<Advice, String> {
    let failed = |how: String| {
        let words = exit.stderr.text_of_last(4 * LAST_WORDS);
        let last = words.lines().rev().find(|line| !line.trim().is_empty());
        Err(match last {
            Some(last) => format!("{how}: {}", short(last.trim(), LAST_WORDS)),
            None => how,
        })
    };
    match exit.outcome {
        Outcome::Exited(0) if exit.stdout.dropped() > 0 => {
            failed(format!("it wrote more than {} KB", MOST / 1024))
        }
        Outcome::Exited(0) => match read(&exit.stdout.text(), by, question) {
            Some(advice) => Ok(advice),
            None => failed("it said nothing".to_owned()),
        },
        Outcome::Exited(code) => failed(format!("it ended with exit code {code}")),
        Outcome::Signaled(signal) => failed(format!("{} ended it", signal_words(signal))),
        Outcome::TimedOut => failed(format!("it took longer than {}", duration(limit))),
        Outcome::Cancelled | Outcome::Interrupted => failed("it was ended".to_owned()),
    }
}

/// The beginning of a text on one line, harmless.
fn short(text: &str, most: usize) -> String {
    let escaped = escape_control_line(text);
    match escaped.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &escaped[..at]),
        None => escaped,
    }
}
