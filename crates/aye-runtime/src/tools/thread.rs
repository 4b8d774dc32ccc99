//! The thread of the worker, as the hub holds it.

use std::io;
use std::os::fd::BorrowedFd;
use std::thread::JoinHandle;

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::settings::ToolSettings;

use super::event::ToolEvent;
use super::hub::{Reply, WorkerCommand, World};
use super::outbox::Outbox;
use super::worker;

/// The thread on which servers are talked to; dropping it ends them all.
#[derive(Debug)]
pub(super) struct Worker {
    commands: Option<UnboundedSender<WorkerCommand>>,
    outbox: Outbox,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    pub(super) fn start(settings: &ToolSettings, world: &World, may_ask: bool) -> io::Result<Self> {
        let outbox = Outbox::new(may_ask)?;
        let (commands, received) = unbounded_channel();
        let (settings, world, events) = (settings.clone(), world.clone(), outbox.clone());
        let thread = std::thread::Builder::new()
            .name("aye-tools".to_owned())
            .spawn(move || worker::work(settings, world, events, received))?;
        Ok(Self { commands: Some(commands), outbox, thread: Some(thread) })
    }

    /// Whether it takes the command: it does unless it has ended.
    pub(super) fn send(&self, command: WorkerCommand) -> bool {
        self.commands.as_ref().is_some_and(|commands| commands.send(command).is_ok())
    }

    pub(super) fn reply(&self, ask: u64, reply: Reply) {
        self.outbox.questions().reply(ask, reply);
    }

    /// Readable when [`next`](Self::next) has something.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.outbox.fd()
    }

    pub(super) fn next(&self) -> Option<ToolEvent> {
        self.outbox.next()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Without commands it ends its servers and itself, within seconds.
        self.commands = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
