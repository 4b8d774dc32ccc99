//! What can go wrong with the store, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use aye_core::id::RunId;
use aye_core::journal::Blocked;

use super::{Finding, Held};

/// Why the store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The home directory could not be made.
    #[error("cannot create `{}`: {source}", path.display())]
    Home {
        /// What could not be made.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The journal or its directory cannot be written to.
    #[error("`{}` cannot be written to", path.display())]
    ReadOnly {
        /// The journal.
        path: PathBuf,
    },
    /// There is no room: disk, quota or file size.
    #[error("no room left to write `{}`", path.display())]
    Full {
        /// The journal.
        path: PathBuf,
    },
    /// The file is not a database, or a broken one.
    #[error("`{}` is damaged: {message}", path.display())]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// What SQLite says.
        message: String,
    },
    /// A database, but not one of Aye's.
    #[error("`{}` is a database of another program", path.display())]
    Foreign {
        /// The journal.
        path: PathBuf,
    },
    /// The journal's layout is newer than this program.
    #[error("`{}` was written by a newer Aye (layout {found}, this one knows {known})", path.display())]
    Newer {
        /// The journal.
        path: PathBuf,
        /// Its layout.
        found: i64,
        /// The newest layout known here.
        known: i64,
    },
    /// Other processes kept the journal locked for too long.
    #[error("`{}` stayed locked by another process", path.display())]
    Busy {
        /// The journal.
        path: PathBuf,
    },
    /// Someone else appended to the run, or its events are out of order.
    #[error("run `{run}` has event {last} as its last; event {got} does not follow it")]
    Conflict {
        /// The run.
        run: RunId,
        /// The last event in the journal, 0 if there is none.
        last: u64,
        /// The event that was to be appended.
        got: u64,
    },
    /// The writer's lease has passed to someone else.
    #[error(
        "the lease of run `{run}` has passed to another process (epoch {epoch}, now {current})"
    )]
    Fenced {
        /// The outermost run.
        run: RunId,
        /// The writer's epoch.
        epoch: u64,
        /// The newest epoch.
        current: u64,
    },
    /// Another run has the name of a run's `concurrency`.
    #[error("run `{}` holds the name `{name}`", blocked.holder)]
    NameTaken {
        /// The name.
        name: String,
        /// Who has it, and how many wait for it.
        blocked: Blocked,
    },
    /// Waiting for a name would never end.
    #[error("run `{holder}` holds the name `{name}` and waits for this run")]
    NameDeadlock {
        /// The name.
        name: String,
        /// Who has it.
        holder: RunId,
    },
    /// The writer's lease is for another run.
    #[error("the lease of run `{lease}` does not cover run `{run}`")]
    NotCovered {
        /// The run that was to be written to.
        run: RunId,
        /// The run of the lease.
        lease: RunId,
    },
    /// The journal has an older layout, and an older Aye still drives a run.
    #[error("`{}` was written by an older Aye, and {held}", path.display())]
    OlderDriver {
        /// The journal.
        path: PathBuf,
        /// The run and who drives it.
        held: Box<Held>,
    },
    /// A journal has to begin with `skill_started`.
    #[error("run `{run}` does not begin with `skill_started`")]
    NotStarted {
        /// The run.
        run: RunId,
    },
    /// There is no such run.
    #[error("there is no run `{run}`")]
    NoRun {
        /// What was asked for.
        run: RunId,
    },
    /// There is no such request, or its run is pruned.
    #[error("there is no request {id}")]
    NoRequest {
        /// What was asked for.
        id: i64,
    },
    /// The text of a skill is not the one its digest was made of.
    #[error("the text of `{file}` does not have the digest `{digest}`")]
    Source {
        /// Where the file was.
        file: String,
        /// The digest it was to have.
        digest: String,
    },
    /// What is recorded of a run is not what was written.
    #[error("the journal of run `{run}` is not what was written: {finding}")]
    Tampered {
        /// The run.
        run: RunId,
        /// What is wrong.
        finding: Box<Finding>,
    },
    /// The database took an event and did not keep it.
    #[error("`{}` did not keep event {seq} of run `{run}`", path.display())]
    Dropped {
        /// The journal.
        path: PathBuf,
        /// The run.
        run: RunId,
        /// The event.
        seq: u64,
    },
    /// A recorded event cannot be understood.
    #[error("event {seq} of run `{run}` cannot be read: {message}")]
    Unreadable {
        /// The run.
        run: String,
        /// The event.
        seq: u64,
        /// Why.
        message: String,
    },
    /// A recorded event is of a newer vocabulary.
    #[error("event {seq} of run `{run}` was written by a newer Aye (version {found})")]
    NewerEvent {
        /// The run.
        run: String,
        /// The event.
        seq: u64,
        /// Its version.
        found: u64,
    },
    /// Something cannot be written as JSON.
    #[error("cannot write {what} as JSON: {source}")]
    Json {
        /// What.
        what: &'static str,
        /// Why.
        source: serde_json::Error,
    },
    /// Waiting for news failed.
    #[error("cannot listen for news of the journal: {0}")]
    Listen(#[source] io::Error),
    /// Reading or writing failed in another way.
    #[error("cannot use `{}`: {message}", path.display())]
    Io {
        /// What was used.
        path: PathBuf,
        /// Why.
        message: String,
    },
}

impl StoreError {
    /// What someone can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Home { .. } => "set AYE_HOME to a directory you can write to",
            Self::ReadOnly { .. } => {
                "make the directory and the files in it writable, or set AYE_HOME to another one"
            }
            Self::Full { .. } => {
                "free some space (`aye runs prune`, disk, quota, `ulimit -f`), or check the disk; \
                 nothing was half written, and `aye resume` continues the run"
            }
            Self::Damaged { .. } => {
                "move `journal.db` and `journal.db-wal` away, then restore a backup or start with \
                 an empty journal"
            }
            Self::Foreign { .. } => "set AYE_HOME to a directory of Aye's own",
            Self::Newer { .. } | Self::NewerEvent { .. } => "upgrade this Aye",
            Self::Busy { .. } => "try again; another program holds the journal",
            Self::Conflict { .. } => {
                "another process appended to this run; see `aye show`, then `aye resume`"
            }
            Self::NameTaken { .. } => "one run at a time can hold it; see `aye runs`",
            Self::NameDeadlock { .. } => "cancel one of the two runs",
            Self::Fenced { .. } | Self::NotCovered { .. } => {
                "another process drives this run now; see `aye show`"
            }
            Self::OlderDriver { .. } => {
                "wait until that run has ended, or stop it (Ctrl-C, or `kill` with that process \
                 number) and resume it with this Aye"
            }
            Self::NotStarted { .. } | Self::Unreadable { .. } => "see `aye audit`",
            Self::Tampered { .. } => {
                "see `aye audit`; put a backup of the journal in its place, or start the skill \
                 again"
            }
            Self::Dropped { .. } => "see `aye audit`: something in the file is not Aye's",
            Self::NoRun { .. } => "`aye runs` lists them",
            Self::NoRequest { .. } => "its run may have been pruned; `aye runs` lists what is left",
            Self::Source { .. } => "run the skill from its file again; see `aye audit`",
            Self::Json { .. } => "this is a bug in Aye; please report it",
            Self::Listen(_) => {
                "check whether too many processes watch files (`fs.inotify.max_user_watches`)"
            }
            Self::Io { .. } => "check the disk and the directory",
        }
    }

    /// What an error of the file system means for `path`.
    pub(super) fn io(path: &Path, error: &io::Error) -> Self {
        let path = path.to_path_buf();
        match error.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Self::Full { path },
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::ReadOnly { path }
            }
            _ => Self::Io { path, message: error.to_string() },
        }
    }
}
