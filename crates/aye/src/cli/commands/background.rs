//! Runs in the background.
//!
//! `aye run --detach` checks everything it can, starts `aye background` and
//! hands over through a pipe what is to be run: nothing of it, secrets least
//! of all, stands on a command line or in a file. The background process has
//! a session of its own, so that no terminal's end reaches it, and a guard of
//! its own. Until its run is committed and locked, what goes wrong is told
//! by whoever called; then it lets go of every pipe.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aye_core::id::RunId;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::cli::args::BACKGROUND;
use crate::cli::{Context, say};
use crate::paint::{Glyph, Tone, escape_control_line};
use crate::report::Verbosity;
use aye_runtime::error::Error;
use aye_runtime::store::{Home, Logs as _};
use aye_runtime::trust::StartedBy;

use super::drive::AskMode;
use super::output::{print_json_line, print_line};
use super::{resume, run as starting};

/// Nobody hears us any more.
static ALONE: AtomicBool = AtomicBool::new(false);

/// What the background process is to do.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum BackgroundCommand {
    /// Begin a run.
    Start {
        /// What.
        order: Box<starting::StartRequest>,
        /// An assistant relays what it asks.
        relayed: bool,
    },
    /// Go on with one.
    Resume {
        /// Which.
        run: RunId,
        /// Its skill.
        skill: String,
        /// The secrets given again, NAME=VALUE.
        inputs: Vec<String>,
        /// An assistant relays what it asks.
        relayed: bool,
    },
}

impl BackgroundCommand {
    fn run(&self) -> &RunId {
        match self {
            Self::Start { order, .. } => &order.run,
            Self::Resume { run, .. } => run,
        }
    }

    fn relayed(&self) -> bool {
        match self {
            Self::Start { relayed, .. } | Self::Resume { relayed, .. } => *relayed,
        }
    }

    fn skill(&self) -> &str {
        match self {
            Self::Start { order, .. } => &order.skill,
            Self::Resume { skill, .. } => skill,
        }
    }
}

/// Starts a background process, says what goes on and how to follow it.
pub(super) fn detach(orders: &BackgroundCommand, context: &Context) -> Result<u8, Error> {
    let begun = start(orders, context)?;
    say(&begun.said);
    match begun.code {
        Some(code) => Ok(code),
        None => tell(orders, context).map(|()| 0),
    }
}

/// What came of starting a background process.
pub(super) struct Begun {
    /// What it had to say until then: warnings, or what went wrong.
    pub(super) said: String,
    /// The exit code, if its run did not begin.
    pub(super) code: Option<u8>,
    /// The process, for whoever stays around to hear of its end.
    pub(super) child: Child,
}

/// Starts a background process and returns once its run is committed, or with
/// what went wrong.
pub(super) fn start(orders: &BackgroundCommand, context: &Context) -> Result<Begun, Error> {
    let mut child = spawn(context)?;
    hand_over(&mut child, orders);
    let started = child.stdout.take().is_some_and(|out| {
        let mut line = String::new();
        // No line is an answer too.
        let _ = BufReader::new(out).read_line(&mut line);
        line.trim_end() == orders.run().as_str()
    });
    let errors = child.stderr.take();
    if started {
        let said = errors.map(said_so_far).unwrap_or_default();
        return Ok(Begun { said, code: None, child });
    }
    let mut said = String::new();
    if let Some(mut errors) = errors {
        let _ = errors.read_to_string(&mut said);
    }
    let status = child.wait().map_err(|source| failed("wait for", source))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok()).filter(|code| *code > 0);
    Ok(Begun { said, code: Some(code.unwrap_or(1)), child })
}

fn spawn(context: &Context) -> Result<Child, Error> {
    let program = std::env::current_exe().map_err(|source| failed("find", source))?;
    let mut command = Command::new(program);
    command.current_dir(&context.directory);
    command.arg(BACKGROUND).arg("--home").arg(&context.home);
    command.arg("--color").arg(if context.paint_err.color { "always" } else { "never" });
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().map_err(|source| failed("start", source))
}

fn hand_over(child: &mut Child, orders: &BackgroundCommand) {
    let text = serde_json::to_vec(orders).unwrap_or_default();
    if let Some(mut pipe) = child.stdin.take() {
        // If it does not listen it has ended, and its own words say why.
        let _ = pipe.write_all(&text);
    }
}

/// The warnings that were written before the run began.
fn said_so_far(mut errors: ChildStderr) -> String {
    let waiting = rustix::io::ioctl_fionread(&errors).unwrap_or(0);
    let mut said = vec![0; usize::try_from(waiting).unwrap_or(0)];
    match errors.read_exact(&mut said) {
        Ok(()) => String::from_utf8_lossy(&said).into_owned(),
        Err(_) => String::new(),
    }
}

/// Says what goes on and how to follow it.
fn tell(orders: &BackgroundCommand, context: &Context) -> Result<(), Error> {
    let (run, skill) = (orders.run(), orders.skill());
    if context.json {
        return print_json_line(&json!({ "run": run, "skill": skill }));
    }
    print_line(run.as_str())?;
    if context.verbosity == Verbosity::Quiet {
        return Ok(());
    }
    let paint = context.paint_err;
    let mut text = format!(
        "{} {} goes on in the background\n",
        paint.text(Tone::Ask, paint.glyph(Glyph::Running)),
        paint.text(Tone::Strong, &escape_control_line(skill)),
    );
    for (what, command) in [
        ("follow", format!("aye watch {run}")),
        ("answer", "aye inbox --watch".to_owned()),
        ("stop", format!("aye cancel {run}")),
    ] {
        text.push_str(&format!("  {}  {command}\n", paint.text(Tone::Dim, &format!("{what:6}"))));
    }
    say(&text);
    Ok(())
}

/// The background process leaves the terminal's session: what happens to the
/// terminal does not reach it any more. The guard comes after.
pub(super) fn leave_session() {
    // Who leads a session already has left.
    let _ = rustix::process::setsid();
}

/// `aye background`: does as told.
pub(super) fn run(context: &Context) -> Result<u8, Error> {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.map_err(|source| failed("listen to", source))?;
    let orders: BackgroundCommand = serde_json::from_str(&text).map_err(|_| {
        Error::usage("there are no orders", "`aye run SKILL --detach` runs in the background")
    })?;
    let id = orders.run().clone();
    let ask_mode = |relayed| if relayed { AskMode::Assistant } else { AskMode::Inbox };
    // An assistant reaches no other files through the run than by itself.
    let by = if orders.relayed() { StartedBy::Assistant } else { StartedBy::Person };
    let context = &context.started_by(by);
    let result = match orders {
        BackgroundCommand::Start { order, relayed } => {
            let flow = Arc::new(order.flow(context)?);
            starting::begin(*order, &flow, ask_mode(relayed), context)
        }
        BackgroundCommand::Resume { run, inputs, relayed, .. } => {
            let reader = context.journal()?;
            let row = context.find_run(&*reader, run.as_str())?;
            drop(reader);
            resume::go_on(&row, &inputs, ask_mode(relayed), context)
        }
    };
    if let (Err(error), true) = (&result, ALONE.load(Ordering::Relaxed)) {
        leave_note(&id, error, context);
    }
    result
}

/// The run is committed and ours: says so and lets go of whoever called.
pub(super) fn let_go(run: &RunId) -> Result<(), Error> {
    let nowhere = OpenOptions::new().read(true).write(true).open("/dev/null");
    let nowhere: File = nowhere.map_err(|source| failed("let go of", source))?;
    // If nobody listens any more, the run goes on all the same.
    let _ = print_line(run.as_str());
    ALONE.store(true, Ordering::Relaxed);
    let replaced = rustix::stdio::dup2_stdin(&nowhere)
        .and_then(|()| rustix::stdio::dup2_stdout(&nowhere))
        .and_then(|()| rustix::stdio::dup2_stderr(&nowhere));
    replaced.map_err(|error| failed("let go of", error.into()))
}

/// Nobody reads the errors of a background process; they are kept next to the
/// logs of its steps.
fn leave_note(run: &RunId, error: &Error, context: &Context) {
    let home = Home::new(&context.home);
    let Ok(directory) = home.create_logs(run) else { return };
    let file = OpenOptions::new().append(true).create(true).open(directory.join("background.err"));
    if let Ok(mut file) = file {
        let hint = error.hint().map(|hint| format!("\n  {hint}")).unwrap_or_default();
        let _ = writeln!(file, "{}: {error}{hint}", context.now());
    }
}

fn failed(doing: &'static str, source: std::io::Error) -> Error {
    Error::Background { doing, source }
}
