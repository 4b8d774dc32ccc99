//! The port of leases: the right to drive a run.
//!
//! There is one lease for an outermost run; it covers the runs inside it. Each
//! time it changes hands its epoch grows, and every append names the epoch of
//! its writer. So a driver that lost its lease without noticing cannot write.

use std::fmt;

use aye_core::id::RunId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::StoreError;

/// Who drives what.
pub trait Leases {
    /// Takes the lease of an outermost run with the next epoch, or says who
    /// holds it. A run that has not started gets epoch 1.
    fn acquire(&mut self, run: &RunId, holder: &Holder) -> Result<Lease, LeaseError>;

    /// Who holds the lease of an outermost run now, if a process does.
    fn holder(&self, run: &RunId) -> Result<Option<Held>, StoreError>;

    /// Every lease that is held now.
    fn held(&self) -> Result<Vec<Held>, StoreError>;
}

/// The right to drive a run and the runs inside it; given back when dropped.
#[derive(Debug)]
pub struct Lease {
    run: RunId,
    epoch: u64,
    _hold: Box<dyn Hold>,
}

/// What an adapter holds for a lease. Dropping it gives the lease back.
pub trait Hold: fmt::Debug + Send {}

impl<T: fmt::Debug + Send> Hold for T {}

impl Lease {
    /// A lease, made by the adapter that grants it. The store checks the epoch
    /// with every append: one of an earlier epoch writes nothing.
    pub fn new(run: RunId, epoch: u64, hold: impl Hold + 'static) -> Self {
        Self { run, epoch, _hold: Box::new(hold) }
    }

    /// The outermost run.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// How often the lease has changed hands, this time included.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Whether the lease allows writing to `run`.
    pub fn covers(&self, run: &RunId) -> bool {
        run.is_within(&self.run)
    }
}

/// Who holds a lease, for those who would like to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The operating system's user.
    pub user: String,
    /// The machine.
    pub host: String,
    /// The process.
    pub pid: u32,
    /// What it was called with.
    pub command: String,
    /// Since when.
    pub since: Timestamp,
}

/// Someone else drives the run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("run `{run}` is driven by {}", describe(holder.as_ref()))]
pub struct Held {
    /// The run.
    pub run: RunId,
    /// Who; unknown in the moment between taking it and writing it down.
    pub holder: Option<Holder>,
}

fn describe(holder: Option<&Holder>) -> String {
    match holder {
        Some(holder) => format!(
            "`{}` on `{}` (process {}, `{}`) since {}",
            holder.user, holder.host, holder.pid, holder.command, holder.since
        ),
        None => "another process".to_owned(),
    }
}

/// Why a lease was not granted.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// Someone else has it.
    #[error(transparent)]
    Held(#[from] Held),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl LeaseError {
    /// What someone can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Held(_) => "watch it with `aye watch`, or answer and cancel from here",
            Self::Store(error) => error.hint(),
        }
    }
}
