//! What the driver sees of the tools.

use std::os::fd::BorrowedFd;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use aye_process::SpawnError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Map, Value};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::settings::ToolSettings;

use super::asking::Reply;
use super::command::{self, CommandTool};
use super::error::ToolError;
use super::launch::Launch;
use super::names::{self, Known};
use super::outbox::{Outbox, ToolEvent};
use super::server::World;
use super::worker::{self, Order};

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
    /// How long it may take at the most, whatever anybody says.
    pub most: Option<Duration>,
    /// What is left of the run, in which people may be asked as well.
    pub run: Option<Duration>,
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
    /// Somebody is there whom servers may ask.
    may_ask: bool,
}

#[derive(Debug)]
struct Worker {
    orders: Option<UnboundedSender<Order>>,
    outbox: Outbox,
    thread: Option<JoinHandle<()>>,
}

impl Tools {
    /// The tools of `aye.toml` in this world.
    pub fn new(settings: &ToolSettings, world: World) -> Self {
        Self { settings: settings.clone(), world, at_work: None, stillborn: None, may_ask: false }
    }

    /// Servers may ask in the middle of a call: whoever says so answers each
    /// [`ToolEvent::Asks`]. To be said before the first call.
    pub fn let_servers_ask(&mut self) {
        self.may_ask = true;
    }

    /// Answers a server.
    pub fn reply(&self, ask: u64, reply: Reply) {
        if let Some(worker) = &self.at_work {
            worker.outbox.questions().reply(ask, reply);
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
            Known::Server { .. } | Known::Command | Known::Perhaps => None,
        }
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

    /// Calls a tool; [`ToolEvent::Done`] follows, whatever happens.
    pub fn call(&mut self, call: Call) {
        let id = call.id;
        if let Err(error) = self.order(Order::Call(call)) {
            self.stillborn = Some(ToolEvent::Done { call: id, result: Err(error) });
        }
    }

    /// Asks what a server offers; [`ToolEvent::Listed`] follows.
    pub fn list(&mut self, server: &str) {
        if let Err(error) = self.order(Order::List(server.to_owned())) {
            let server = server.to_owned();
            self.stillborn = Some(ToolEvent::Listed { server, result: Err(error) });
        }
    }

    /// Gives a call up: the server is told, the result is `CANCELLED`. One
    /// that has ended already stays as it is.
    pub fn cancel(&mut self, call: u64) {
        if self.at_work.is_some() {
            // Without a worker there is nothing to cancel.
            let _ = self.order(Order::Cancel(call));
        }
    }

    /// Readable when [`next`](Self::next) has something; `None` before the first call.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.at_work.as_ref().map(|worker| worker.outbox.fd())
    }

    /// The next thing that happened, if any.
    #[expect(clippy::should_implement_trait, reason = "there may be more after `None`")]
    pub fn next(&mut self) -> Option<ToolEvent> {
        if let Some(event) = self.stillborn.take() {
            return Some(event);
        }
        self.at_work.as_ref()?.outbox.next()
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

    fn order(&mut self, order: Order) -> Result<(), ToolError> {
        if self.at_work.is_none() {
            self.at_work =
                Some(self.start().map_err(|error| {
                    ToolError::server(format!("tools cannot be used: {error}"))
                })?);
        }
        let orders = self.at_work.as_ref().and_then(|worker| worker.orders.as_ref());
        match orders.map(|orders| orders.send(order).is_ok()) {
            Some(true) => Ok(()),
            _ => Err(ToolError::server("tools cannot be used: their thread has ended")),
        }
    }

    fn start(&self) -> std::io::Result<Worker> {
        let outbox = Outbox::new(self.may_ask)?;
        let (orders, received) = unbounded_channel();
        let (settings, world) = (self.settings.clone(), self.world.clone());
        let events = outbox.clone();
        let thread = std::thread::Builder::new()
            .name("aye-tools".to_owned())
            .spawn(move || worker::work(settings, world, events, received))?;
        Ok(Worker { orders: Some(orders), outbox, thread: Some(thread) })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Without orders it ends its servers and itself, within seconds.
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
