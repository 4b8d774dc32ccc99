//! What every use case needs to know of the world it works in, given as
//! explicit parts: a program that embeds Aye decides each of them.
//!
//! Touches the clock and the environment that it was given. Every use case is a method of it
//! and hands these parts to the driver.

mod secret_source;
mod skill_loader;
mod user;

pub use user::account_name;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use aye_core::event::{self, Driver};
use aye_core::id::RunId;
use aye_core::machine::Limits;
use aye_core::text::{Names, World};
use jiff::Timestamp;

use crate::advisor::Advisor;
use crate::clock::{Clock, SystemClock};
use crate::error::Error;
use crate::fmt::escape_control_line;
use crate::memory::{Memory, MemoryFiles, OpenMemory};
use crate::origin;
use crate::outside::Outside;
use crate::ownership;
use crate::secret_reader::{SecretReader, SystemSecrets};
use crate::settings::Settings;
use crate::skills::{Library, Reach};
use crate::store::{Holder, OpenStore, Sqlite, Store};
use crate::tools::{self, Tools};
use crate::trust::{Granted, StartedBy, TrustFile, load_settings};

/// The parts of a [`Runtime`].
#[derive(Clone)]
pub struct Parts {
    /// Where journal, logs and memory are: `AYE_HOME`.
    pub home: PathBuf,
    /// The working directory, in a project or a project itself.
    pub directory: PathBuf,
    /// The environment that steps and templates see.
    pub env: Arc<BTreeMap<String, String>>,
    /// The file of the user's own settings.
    pub user_settings: Option<PathBuf>,
    /// The time.
    pub clock: Arc<dyn Clock + Send + Sync>,
    /// On whose word something is started.
    pub started_by: StartedBy,
    /// Whether a person started it at a terminal, or a script did.
    pub at_terminal: bool,
    /// What this process is called in the lock of a run, such as `aye run`.
    pub command: String,
    /// How a process is started that drives a run in the background.
    pub background: BackgroundProgram,
    /// What opens the journal of the home.
    pub stores: Arc<dyn OpenStore>,
    /// What opens memory.
    pub memories: Arc<dyn OpenMemory>,
    /// What reads secrets where skills say they are.
    pub secrets: Arc<dyn SecretReader>,
}

impl Parts {
    /// For a program that embeds Aye: a person started it, nothing of the
    /// environment is seen by templates, and no run goes to the background.
    pub fn new(home: impl Into<PathBuf>, directory: impl Into<PathBuf>) -> Self {
        Self {
            home: home.into(),
            directory: directory.into(),
            env: Arc::default(),
            user_settings: None,
            clock: Arc::new(SystemClock::default()),
            started_by: StartedBy::Person,
            at_terminal: false,
            command: "embedded".to_owned(),
            background: BackgroundProgram::default(),
            stores: Arc::new(Sqlite),
            memories: Arc::new(MemoryFiles),
            secrets: Arc::new(SystemSecrets),
        }
    }
}

/// The program that is started to drive a run in the background. It has to
/// answer as `usecases::background` says.
#[derive(Debug, Clone, Default)]
pub struct BackgroundProgram {
    /// The program; none if this process cannot start one.
    pub program: Option<PathBuf>,
    /// Its arguments.
    pub args: Vec<OsString>,
}

/// Runs skills: the use cases are its methods.
#[derive(Clone)]
pub struct Runtime {
    parts: Parts,
    /// What project and user set.
    pub settings: Arc<Settings>,
    /// Whether a schedule started it.
    by_clock: bool,
    /// Whether this process drives a run away from any terminal.
    detached: bool,
    /// Nobody asked for it: its driver had died.
    taken_up: bool,
    /// What of the settings counts; looked up once.
    granted: OnceLock<Arc<Granted>>,
}

impl Deref for Runtime {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.parts
    }
}

impl Runtime {
    /// Reads the settings of the project that `directory` is in.
    pub fn new(parts: Parts) -> Result<Self, Error> {
        ownership::require_private_home(&parts.home)?;
        Ok(Self {
            settings: Arc::new(load_settings(
                &parts.directory,
                parts.user_settings.as_deref(),
                &parts.home,
            )?),
            parts,
            by_clock: false,
            detached: false,
            taken_up: false,
            granted: OnceLock::new(),
        })
    }

    /// The same, seen from where a run was begun: the settings of its project
    /// say what may run, from wherever it is resumed.
    pub fn at(&self, workspace: &str) -> Result<Self, Error> {
        let directory = PathBuf::from(workspace);
        if directory == self.directory {
            return Ok(self.clone());
        }
        self.reading_settings_at(directory)
    }

    /// The same with the settings as they are now, for processes that stay.
    pub(crate) fn reading_settings_at(&self, directory: PathBuf) -> Result<Self, Error> {
        let user = self.user_settings.as_deref();
        let settings = Arc::new(load_settings(&directory, user, &self.home)?);
        let parts = Parts { directory, ..self.parts.clone() };
        Ok(Self { parts, settings, granted: OnceLock::new(), ..self.clone() })
    }

    /// The same on someone else's word.
    #[must_use]
    pub fn started_by(&self, started_by: StartedBy) -> Self {
        let parts = Parts { started_by, ..self.parts.clone() };
        Self { parts, granted: OnceLock::new(), ..self.clone() }
    }

    /// The same, started by the clock.
    pub(crate) fn scheduled(&self) -> Self {
        Self { by_clock: true, ..self.clone() }
    }

    /// The same, in a process that drives a run in the background.
    pub(crate) fn in_background(&self) -> Self {
        Self { detached: true, ..self.clone() }
    }

    /// The same, in a process that takes up a run by itself.
    pub(crate) fn taking_up(&self) -> Self {
        Self { taken_up: true, ..self.clone() }
    }

    /// Now.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The skills that can be named here.
    pub fn library(&self) -> Library<'_> {
        let (Parts { directory, home, .. }, settings) = (&self.parts, &self.settings);
        let (reach, outside) = match self.started_by {
            StartedBy::Person => (Reach::AnyFile, Vec::new()),
            StartedBy::Assistant | StartedBy::Server => {
                (Reach::Listed, self.granted().skills.clone())
            }
        };
        Library { directory, settings, home, reach, outside }
    }

    /// What was agreed to about this project.
    pub fn trust_file(&self) -> TrustFile {
        TrustFile::new(&self.home, &self.settings.root)
    }

    /// What of the project's settings counts.
    pub fn granted(&self) -> Arc<Granted> {
        let look = || Arc::new(Granted::of(&self.settings, &self.home, self.started_by));
        match self.started_by {
            StartedBy::Person => Arc::clone(self.granted.get_or_init(look)),
            // A server stays for long, and someone may trust the project meanwhile.
            StartedBy::Assistant | StartedBy::Server => look(),
        }
    }

    /// Nothing of a project that nobody trusts is started where nobody typed it.
    pub fn must_be_trusted(&self) -> Result<(), Error> {
        self.trust_file().must_be_trusted(self.started_by)
    }

    /// What of `aye.toml` does not count, and why; nothing if all of it does.
    pub fn left_out(&self) -> Option<String> {
        let granted = self.granted();
        let what = granted.left_out.join(", ");
        let why = match granted.trusted {
            true => "has changed since it was trusted",
            false => "is not trusted",
        };
        let left = || format!("`aye.toml` {why}; left out: {}", escape_control_line(&what));
        (!what.is_empty()).then(left)
    }

    /// What reads secrets.
    pub(crate) fn secret_reader(&self) -> Arc<dyn SecretReader> {
        Arc::clone(&self.secrets)
    }

    /// Opens the journal to write.
    pub(crate) fn store(&self) -> Result<Box<dyn Store>, Error> {
        Ok(self.stores.open(&self.home, self.settings.durability)?)
    }

    /// Opens the journal to read; `None` if nothing was ever run.
    pub(crate) fn store_to_read(&self) -> Result<Option<Box<dyn Store>>, Error> {
        Ok(self.stores.open_to_read(&self.home)?)
    }

    /// Who or what starts a run from here, as the journal records it.
    pub fn started_from(&self) -> event::StartedBy {
        match (self.started_by, self.at_terminal) {
            (StartedBy::Assistant, _) => event::StartedBy::Assistant,
            (StartedBy::Person, _) if self.by_clock => event::StartedBy::Schedule,
            (StartedBy::Server, _) => event::StartedBy::Web,
            (StartedBy::Person, true) => event::StartedBy::Terminal,
            (StartedBy::Person, false) => event::StartedBy::Script,
        }
    }

    /// Who we are.
    pub fn driver(&self) -> Driver {
        Driver {
            user: user::name(),
            host: origin::host_name(),
            pid: std::process::id(),
            attended: false,
            detached: self.detached,
            taken_up: self.taken_up,
            namespaces: origin::namespaces(),
        }
    }

    /// Who we are, as the holder of a lease.
    pub fn holder(&self) -> Holder {
        let Driver { user, host, pid, .. } = self.driver();
        Holder { user, host, pid, command: self.command.clone(), since: self.now() }
    }

    /// Who advises the person who is asked.
    pub fn advisor(&self) -> Option<Advisor> {
        let Settings { project, user, .. } = &*self.settings;
        // Without one there is nothing to look up.
        if project.advisor.is_none() && user.advisor.is_none() {
            return None;
        }
        let granted = self.granted();
        granted.advisor.clone().map(|(advisor, root)| Advisor {
            argv: advisor.argv,
            timeout: advisor.timeout,
            root,
            policy: granted.policy.clone(),
        })
    }

    /// What templates can look up.
    pub fn names(&self, workspace: &Path) -> Arc<dyn Names> {
        let today = self.now().to_string().chars().take(10).collect();
        let outside = Outside::new(self.env.clone(), workspace.to_path_buf(), today);
        Arc::new(outside.with_memory(self.memory()))
    }

    /// Time and names, as a machine is told of them.
    pub fn world(&self, workspace: &Path) -> World {
        World { now: self.now(), names: self.names(workspace) }
    }

    /// What servers said of tools that failed here.
    pub fn tool_descriptions(&self) -> tools::Descriptions {
        tools::Descriptions::new(&self.home, &self.settings.root)
    }

    /// The tools of the project, for a run there.
    pub fn tools(&self, workspace: &Path, run: &RunId) -> Tools {
        let trust = self.trust_file();
        let world = tools::World {
            workspace: workspace.to_path_buf(),
            environment: self.env.clone(),
            trust,
            policy: self.granted().policy.for_run(workspace),
            run: Some(run.to_string()),
            descriptions: Some(self.tool_descriptions()),
        };
        let read_only = self.granted().read_only.clone();
        Tools::new(&self.settings.tools, world).with_read_only(read_only)
    }

    /// What was learned: the project's memory over the user's.
    pub fn memory(&self) -> Memory {
        self.memories.open(&self.settings.root, &self.home)
    }

    /// What the configuration limits.
    pub fn limits(&self) -> Limits {
        let granted = self.granted();
        Limits {
            step_timeout: self.settings.step_timeout,
            longest_step: self.settings.max_step_timeout,
            verbatim: granted.policy.verbatim,
            heal: Arc::clone(&granted.heal),
            ask: self.settings.ask,
        }
    }

    /// A new run's id.
    pub fn new_run_id(&self) -> RunId {
        let mut bytes = [0u8; 8];
        // The kernel's generator does not fail once the machine is up.
        let _ = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
        RunId::from_random(u64::from_le_bytes(bytes))
    }

    /// The error for a journal that is not there yet.
    pub(crate) fn no_journal() -> Error {
        Error::not_found("there are no runs yet", "start one with `aye run SKILL`")
    }
}
