//! Runs in the background.
//!
//! The caller checks everything it can, starts the program that its
//! [`BackgroundProgram`](crate::runtime::BackgroundProgram) names and hands
//! over through a pipe what is to be run: nothing of it, secrets least of all,
//! stands on a command line or in a file. That process has a session of its
//! own, so that no terminal's end reaches it. Until its run is committed and
//! locked it answers with one JSON message a line: warnings, then `started` or
//! `refused`. Then it lets go of every pipe.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use aye_core::id::RunId;
use aye_core::question::{Answer, Edits};
use aye_process::Signals;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Failure};
use crate::prompter::{AssistantPrompter, InboxPrompter, Prompter};
use crate::report::{Silent, Unbuffered};
use crate::runtime::Runtime;
use crate::store::RunRow;
use crate::trust::StartedBy;

use super::active_run::{ActiveRun, Surface};
use super::desktop::DesktopPrompters;
use super::prepare::Prepared;
use super::resume::{ResumeRequest, RetryRequest};
use super::start::StartRequest;
use super::warning::Warning;

/// What the background process is to do.
#[derive(Debug, Serialize, Deserialize)]
pub struct BackgroundCommand {
    /// On whose word. An assistant reaches no other files through the run than
    /// by itself, and relays what the run asks.
    pub started_by: StartedBy,
    task: Task,
}

#[derive(Debug, Serialize, Deserialize)]
enum Task {
    Start(Box<StartRequest>),
    Resume {
        run: RunId,
        secrets: IndexMap<String, String>,
    },
    /// The same for a run whose driver died, which nobody asked for.
    TakeUp {
        run: RunId,
    },
    Retry {
        run: RunId,
        step: String,
        edits: Option<Edits>,
        answer: Box<Answer>,
    },
}

/// What the background process says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Message {
    /// Someone should know this.
    Warning(Warning),
    /// The run is committed and locked; nothing more is said.
    Started,
    /// The run did not begin.
    Refused(Failure),
}

impl Runtime {
    /// Starts a run in a process of its own, which outlives this one, and
    /// returns once the run is committed.
    pub fn start_detached(
        &self,
        prepared: Prepared,
        warn: &mut dyn FnMut(Warning),
    ) -> Result<RunId, Error> {
        let request = self.detached_request(prepared)?;
        let run = request.run.clone();
        self.start_request_detached(request, warn)?;
        Ok(run)
    }

    /// What another process is to start, as data.
    pub(super) fn detached_request(&self, prepared: Prepared) -> Result<StartRequest, Error> {
        prepared.must_have_results()?;
        self.must_find_what_it_calls(&prepared.skill, prepared.range.as_ref())?;
        Ok(StartRequest::new(prepared, self))
    }

    /// The same for a request whose id, person and way in the caller has chosen.
    pub(super) fn start_request_detached(
        &self,
        request: StartRequest,
        warn: &mut dyn FnMut(Warning),
    ) -> Result<(), Error> {
        self.detach(Task::Start(Box::new(request)), warn)
    }

    /// The same for a skill that no file holds. It has to be valid: nobody
    /// could change it.
    pub(super) fn start_text_detached(
        &self,
        request: StartRequest,
        warn: &mut dyn FnMut(Warning),
    ) -> Result<RunId, Error> {
        request.must_check()?;
        let run = request.run.clone();
        self.start_request_detached(request, warn)?;
        Ok(run)
    }

    /// Tries the failed step of a run that has ended again, in a process of its own.
    pub(super) fn retry_detached(
        &self,
        row: &RunRow,
        step: String,
        edits: Option<Edits>,
        answer: Answer,
        warn: &mut dyn FnMut(Warning),
    ) -> Result<(), Error> {
        let there = self.at(&row.workspace)?;
        there.must_be_trusted()?;
        self.journal()?.load(row, &there)?.must_know(&IndexMap::new())?;
        let (run, answer) = (row.id.clone(), Box::new(answer));
        self.detach(Task::Retry { run, step, edits, answer }, warn)
    }

    /// Resumes a run that no process drives in a process of its own, and returns
    /// once that process holds the run.
    pub fn resume_detached(
        &self,
        row: &RunRow,
        secrets: IndexMap<String, String>,
        warn: &mut dyn FnMut(Warning),
    ) -> Result<(), Error> {
        let there = self.at(&row.workspace)?;
        self.journal()?.load(row, &there)?.must_know(&secrets)?;
        self.take_up_detached(row, secrets, warn)
    }

    /// Drives a run whose driver died in a process of its own, though nobody asked for it.
    pub fn take_up_abandoned(&self, row: &RunRow) -> Result<(), Error> {
        let there = self.at(&row.workspace)?;
        self.journal()?.load(row, &there)?.must_know(&IndexMap::new())?;
        there.must_be_trusted()?;
        self.detach(Task::TakeUp { run: row.id.clone() }, &mut |_| {})
    }

    /// Resumes a run that needs only some of its secrets, such as one that is cancelled.
    pub(super) fn take_up_detached(
        &self,
        row: &RunRow,
        secrets: IndexMap<String, String>,
        warn: &mut dyn FnMut(Warning),
    ) -> Result<(), Error> {
        let there = self.at(&row.workspace)?;
        there.must_be_trusted()?;
        self.journal()?.load(row, &there)?.secrets(&secrets)?;
        self.detach(Task::Resume { run: row.id.clone(), secrets }, warn)
    }

    fn detach(&self, task: Task, warn: &mut dyn FnMut(Warning)) -> Result<(), Error> {
        let mut child = self.spawn_background()?;
        let command = BackgroundCommand { started_by: self.started_by, task };
        if let Some(mut pipe) = child.stdin.take() {
            // If it does not listen it has ended, and says why.
            let _ = serde_json::to_writer(&mut pipe, &command);
        }
        let said = child.stdout.take().map(BufReader::new);
        for line in said.into_iter().flat_map(BufRead::lines).map_while(Result::ok) {
            match serde_json::from_str(&line) {
                Ok(Message::Warning(warning)) => warn(warning),
                Ok(Message::Started) => {
                    aye_process::reap(child);
                    return Ok(());
                }
                Ok(Message::Refused(failure)) => {
                    aye_process::reap(child);
                    return Err(Error::Remote(failure));
                }
                // Not a word of the protocol: as if it had said nothing.
                Err(_) => break,
            }
        }
        let failed = Error::system("wait for the background process");
        let ended = child.wait_with_output().map_err(failed)?;
        let last = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
        let status = ended.status;
        Err(Error::Refused {
            message: format!("the background process ended before the run began ({status})"),
            hint: (!last.is_empty()).then(|| format!("its last output: {last}")),
        })
    }

    fn spawn_background(&self) -> Result<Child, Error> {
        let program = self.background.program.as_ref();
        let program = program.ok_or_else(|| Error::no_program("drive the run"))?;
        let mut command = Command::new(program);
        command.current_dir(&self.directory).args(&self.background.args);
        aye_process::withhold(&mut command);
        // A guard of it may outlive the message: no stream of ours is inherited.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().map_err(Error::system("start the background process"))
    }

    /// What the background process does: takes the run, tells the caller, lets
    /// go of it and drives; the exit code. What goes wrong before that is for
    /// [`refuse`].
    pub fn run_in_background(&self, command: BackgroundCommand) -> Result<u8, Error> {
        let runtime = self.started_by(command.started_by).in_background();
        let attended = command.started_by == StartedBy::Assistant;
        let mut warn = |warning| say(&Message::Warning(warning));
        let active = match command.task {
            Task::Start(request) => runtime.start_requested(*request, attended, &mut warn)?,
            Task::Resume { run, secrets } => {
                let row = runtime.journal()?.find_run(run.as_str())?;
                runtime.resume(&ResumeRequest { row, secrets, attended }, &mut warn)?
            }
            Task::TakeUp { run } => {
                let row = runtime.journal()?.find_run(run.as_str())?;
                let request = ResumeRequest { row, secrets: IndexMap::new(), attended };
                runtime.taking_up().resume(&request, &mut warn)?
            }
            Task::Retry { run, step, edits, answer } => {
                let row = runtime.journal()?.find_run(run.as_str())?;
                let resume = ResumeRequest { row, secrets: IndexMap::new(), attended };
                let request = RetryRequest { resume, step, edits };
                runtime.retry_with(request, *answer, &mut warn)?
            }
        };
        let run = active.run().clone();
        let_go()?;
        let desktop = runtime.desktop(|| runtime.person(), false);
        let driven = drive(active, command.started_by, desktop);
        if let Err(error) = &driven {
            runtime.leave_note(&run, error);
        }
        driven
    }

    /// Nobody reads the errors of a background process; they are kept next to the
    /// logs of its steps.
    fn leave_note(&self, run: &RunId, error: &Error) {
        let Ok(directory) = self.store().and_then(|store| Ok(store.create_logs(run)?)) else {
            return;
        };
        let file = directory.join("background.err");
        if let Ok(mut file) = OpenOptions::new().append(true).create(true).open(file) {
            let hint = error.hint().map(|hint| format!("\n  {hint}")).unwrap_or_default();
            let _ = writeln!(file, "{}: {error}{hint}", self.now());
        }
    }
}

/// How long a run in the background waits for an answer before it rests.
const REST_AFTER: Duration = Duration::from_mins(10);

/// Drives a run that nobody sees: its questions wait in the inbox, and are asked on the
/// desktop if there is one.
fn drive(
    mut active: ActiveRun,
    started_by: StartedBy,
    mut desktop: DesktopPrompters,
) -> Result<u8, Error> {
    let mut prompters: Vec<&mut dyn Prompter> = Vec::new();
    let (mut assistant, mut inbox) = (AssistantPrompter, InboxPrompter);
    if started_by == StartedBy::Assistant {
        prompters.push(&mut assistant);
    }
    prompters.push(&mut inbox);
    prompters.extend(desktop.iter_mut());
    active.rest_after = Some(REST_AFTER);
    let mut finished = active.drive(Surface {
        report: &mut Silent,
        sink: &Unbuffered,
        prompters,
        signals: &mut Signals::catch().map_err(Error::Signals)?,
    })?;
    finished.tidy_up();
    Ok(finished.exit_code())
}

/// The background process leaves the terminal's session: what happens to the
/// terminal does not reach it any more. It has to be done before a guard is
/// started.
pub fn leave_session() {
    // Who leads a session already has left.
    let _ = rustix::process::setsid();
}

/// Reads what this background process is to do.
pub fn receive() -> Result<BackgroundCommand, Error> {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.map_err(Error::system("listen to the background process"))?;
    serde_json::from_str(&text).map_err(|_| {
        Error::usage(
            "`aye background` is internal",
            "`aye run SKILL --detach` runs in the background",
        )
    })
}

/// Tells the caller that the run did not begin, and why.
pub fn refuse(error: &Error) {
    say(&Message::Refused(Failure::from(error)));
}

fn say(message: &Message) {
    let Ok(mut line) = serde_json::to_vec(message) else { return };
    line.push(b'\n');
    let mut out = std::io::stdout().lock();
    // If nobody listens any more, the run continues all the same.
    let _ = out.write_all(&line).and_then(|()| out.flush());
}

/// The run is committed and ours: says so and lets go of the caller.
fn let_go() -> Result<(), Error> {
    let nowhere = OpenOptions::new().read(true).write(true).open("/dev/null");
    let failed = Error::system("let go of the background process");
    let nowhere: File = nowhere.map_err(failed)?;
    say(&Message::Started);
    let replaced = rustix::stdio::dup2_stdin(&nowhere)
        .and_then(|()| rustix::stdio::dup2_stdout(&nowhere))
        .and_then(|()| rustix::stdio::dup2_stderr(&nowhere));
    replaced.map_err(|error| failed(error.into()))
}
