//! What the driver sees of the tools.

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aye_core::digest::digest;
use aye_process::SpawnError;
use aye_process::policy::Policy;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Map, Value};

use crate::settings::{ReadOnlyTools, ToolSettings};
use crate::trust::TrustFile;

use super::command::{self, CommandTool};
use super::described::Descriptions;
use super::error::ToolError;
use super::event::ToolEvent;
use super::launch::Launch;
use super::names::{self, Known};
use super::thread::Worker;

/// A call of a server's tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Names the call in events; the caller's choice.
    pub id: u64,
    /// `server.tool`, or a tool that only one server has.
    pub name: String,
    /// Its arguments.
    pub args: Map<String, Value>,
    /// How long it may take, the start of the server included; `None` is what
    /// the server's settings say, else for ever.
    pub timeout: Option<Duration>,
    /// How long it may take if neither the call nor the settings say.
    pub usual: Option<Duration>,
    /// How long it may take at most, whatever a step or a setting says.
    pub most: Option<Duration>,
    /// What is left of the run, in which people may be asked as well.
    pub run: Option<Duration>,
}

/// Where tools are used: the same for all servers of a run.
#[derive(Debug, Clone)]
pub struct World {
    /// Where servers work, and what they are told as their root.
    pub workspace: PathBuf,
    /// The user's environment; servers get little of it.
    pub environment: Arc<BTreeMap<String, String>>,
    /// Who decides what may be started.
    pub trust: TrustFile,
    /// What may run at all.
    pub policy: Policy,
    /// Tags the processes of servers, so that a later start finds what is left of them.
    pub run: Option<String>,
    /// Where it is kept what servers say of tools that fail.
    pub descriptions: Option<Descriptions>,
}

/// What a tool is: what decides what a call of it does, beside its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The command as the settings have it, or what starts the server.
    pub shown: String,
    /// Of all that the settings say.
    pub digest: String,
    /// What would be started, if that can be told.
    pub argv: Vec<String>,
    /// Where it would work, if the settings say.
    pub cwd: Option<PathBuf>,
    /// What is not a part of it, a sentence each.
    pub not_covered: Vec<String>,
}

/// What becomes of a server's question.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Someone answered.
    Accept(Map<String, Value>),
    /// Someone said no, or nobody can be asked.
    Decline,
    /// It is no longer of interest.
    Cancel,
}

/// What the worker is to do.
pub(super) enum WorkerCommand {
    Call(Call),
    List(String),
    Cancel(u64),
}

/// The tools of a run. No thread, no runtime and no server before the first
/// call; dropping it ends them all.
#[derive(Debug)]
pub struct Tools {
    settings: ToolSettings,
    world: World,
    at_work: Option<Worker>,
    /// Calls that failed before there was a worker.
    stillborn: Option<ToolEvent>,
    /// Someone is there whom servers may ask.
    may_ask: bool,
    /// Tools that only look.
    read_only: ReadOnlyTools,
}

impl Tools {
    /// The tools of `aye.toml` in this world.
    pub fn new(settings: &ToolSettings, world: World) -> Self {
        Self {
            settings: settings.clone(),
            world,
            at_work: None,
            stillborn: None,
            may_ask: false,
            read_only: ReadOnlyTools::default(),
        }
    }

    /// The same, where these tools only look.
    pub fn with_read_only(self, read_only: ReadOnlyTools) -> Self {
        Self { read_only, ..self }
    }

    /// Whether a tool only looks: someone who is believed says so.
    pub fn is_read_only(&self, name: &str) -> bool {
        self.read_only.contains(name)
    }

    /// Lets servers ask in the middle of a call. The caller answers each
    /// [`ToolEvent::Asks`]. Call this before the first call of a tool.
    pub fn let_servers_ask(&mut self) {
        self.may_ask = true;
    }

    /// Answers a server.
    pub fn reply(&self, ask: u64, reply: Reply) {
        if let Some(worker) = &self.at_work {
            worker.reply(ask, reply);
        }
    }

    /// What a name stands for, without starting anything.
    pub fn knows(&self, name: &str) -> Known {
        names::look_up(&self.settings, name)
    }

    /// The error for a name that stands for nothing, `None` for all others.
    pub fn unknown(&self, name: &str) -> Option<ToolError> {
        match self.knows(name) {
            Known::Unknown { hint } => Some(names::unknown(name, hint)),
            Known::Server { .. } | Known::Command | Known::BuiltIn | Known::Perhaps => None,
        }
    }

    /// Whether what other systems have as a tool of this name is written in
    /// another way here; the hint of [`unknown`](Self::unknown) says how.
    pub fn is_written_otherwise(name: &str) -> bool {
        names::written_otherwise(name).is_some()
    }

    /// What agreeing to this server would mean; `None` if there is no such server.
    ///
    /// # Errors
    /// When its program is not there.
    pub fn launch(&self, server: &str) -> Option<Result<Launch, SpawnError>> {
        self.settings.launch(server, &self.world.workspace, &self.world.environment)
    }

    /// A named command, ready to be run like any step; `None` if the name is none.
    pub fn command(
        &self,
        name: &str,
        args: Map<String, Value>,
    ) -> Option<Result<CommandTool, ToolError>> {
        let settings = self.settings.commands.get(name)?;
        Some(command::prepare(name, settings, args))
    }

    /// What a tool is, without starting anything; `None` for a name that
    /// stands for nothing.
    pub fn definition(&self, name: &str, args: Map<String, Value>) -> Option<Definition> {
        if let Some(settings) = self.settings.commands.get(name) {
            let call = command::prepare(name, settings, args).ok();
            return Some(Definition {
                shown: settings.argv.join(" "),
                digest: digest(&[format!("{settings:?}").as_bytes()]),
                cwd: call.as_ref().and_then(|call| call.cwd.clone()),
                argv: call.map(|call| call.argv).unwrap_or_default(),
                not_covered: Vec::new(),
            });
        }
        let server = match self.knows(name) {
            Known::Server { server, .. } => server,
            Known::BuiltIn => {
                return Some(Definition {
                    shown: format!("{name} (built in)"),
                    digest: digest(&[b"built in", name.as_bytes()]),
                    argv: Vec::new(),
                    cwd: None,
                    not_covered: Vec::new(),
                });
            }
            Known::Command | Known::Perhaps | Known::Unknown { .. } => return None,
        };
        let launch = self.launch(&server)?.ok()?;
        Some(Definition {
            shown: launch.command_line(),
            digest: launch.digest.clone(),
            cwd: launch.cwd.clone(),
            argv: launch.command.clone(),
            not_covered: vec![format!("what the server `{server}` does when it is called")],
        })
    }

    /// Calls a tool; [`ToolEvent::Done`] follows, whatever happens.
    pub fn call(&mut self, call: Call) {
        let id = call.id;
        if let Err(error) = self.send(WorkerCommand::Call(call)) {
            self.stillborn = Some(ToolEvent::Done { call: id, result: Err(error) });
        }
    }

    /// Asks what a server offers; [`ToolEvent::Listed`] follows.
    pub fn list(&mut self, server: &str) {
        if let Err(error) = self.send(WorkerCommand::List(server.to_owned())) {
            let server = server.to_owned();
            self.stillborn = Some(ToolEvent::Listed { server, result: Err(error) });
        }
    }

    /// Gives a call up: the server is told, the result is `CANCELLED`. One
    /// that has ended already stays as it is.
    pub fn cancel(&mut self, call: u64) {
        if self.at_work.is_some() {
            // Without a worker there is nothing to cancel.
            let _ = self.send(WorkerCommand::Cancel(call));
        }
    }

    /// Readable when [`next`](Self::next) has something; `None` before the first call.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.at_work.as_ref().map(Worker::fd)
    }

    /// The next thing that happened, if any.
    #[expect(clippy::should_implement_trait, reason = "there may be more after `None`")]
    pub fn next(&mut self) -> Option<ToolEvent> {
        if let Some(event) = self.stillborn.take() {
            return Some(event);
        }
        self.at_work.as_ref()?.next()
    }

    /// Waits for the next thing; `None` when the time is up or nothing can come.
    pub fn wait(&mut self, until: Option<Instant>) -> Option<ToolEvent> {
        loop {
            if let Some(event) = self.next() {
                return Some(event);
            }
            let fd = self.fd()?;
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return None;
            }
            let left = left.map(|left| Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(left.subsec_nanos()),
            });
            // An interruption only means that we look again sooner.
            let _ = poll(&mut [PollFd::new(&fd, PollFlags::IN)], left.as_ref());
        }
    }

    fn send(&mut self, command: WorkerCommand) -> Result<(), ToolError> {
        let worker = match self.at_work.take() {
            Some(worker) => worker,
            None => Worker::start(&self.settings, &self.world, self.may_ask)
                .map_err(|error| ToolError::server(format!("tools cannot be used: {error}")))?,
        };
        match self.at_work.insert(worker).send(command) {
            true => Ok(()),
            false => Err(ToolError::server("tools cannot be used: their thread has ended")),
        }
    }
}
