//! In place of the worker's thread where the feature `tools` is off: named commands work, servers
//! do not.

use std::io;
use std::os::fd::BorrowedFd;

use crate::settings::ToolSettings;

use super::event::ToolEvent;
use super::hub::{Reply, WorkerCommand, World};

/// There is none.
#[derive(Debug)]
pub(super) enum Worker {}

impl Worker {
    pub(super) fn start(_: &ToolSettings, _: &World, _may_ask: bool) -> io::Result<Self> {
        Err(io::Error::other("this program is built without the feature `tools`"))
    }

    pub(super) fn send(&self, _: WorkerCommand) -> bool {
        match *self {}
    }

    pub(super) fn reply(&self, _ask: u64, _: Reply) {
        match *self {}
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        match *self {}
    }

    pub(super) fn next(&self) -> Option<ToolEvent> {
        match *self {}
    }
}
