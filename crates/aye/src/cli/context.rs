//! What every command needs to know of the world it runs in.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use aye_core::diagnostic;
use aye_core::event::Driver;
use aye_core::flow::Flow;
use aye_core::id::RunId;
use aye_core::machine::Limits;
use aye_core::text::Names;
use jiff::Timestamp;

use crate::paint::{ColorChoice, Paint, Tone, escape_control_line, shell_word};
use crate::prompt::{self, Escape, PromptConfig};
use crate::report::Verbosity;
use aye_runtime::advisor::Advisor;
use aye_runtime::clock::{Clock, SystemClock};
use aye_runtime::driver::Skills;
use aye_runtime::error::Error;
use aye_runtime::memory::Memory;
use aye_runtime::origin;
use aye_runtime::outside::Outside;
use aye_runtime::ownership;
use aye_runtime::settings::Settings;
use aye_runtime::skills::{self, Library, Reach, SkillFile};
use aye_runtime::store::{Found, LockInfo, RunRow, Source, Store};
use aye_runtime::tools::{self, Tools, Trust};
use aye_runtime::trust::{Granted, StartedBy, TrustFile};

use super::Global;

/// The world of one command.
#[derive(Clone)]
pub struct Context {
    /// The working directory.
    pub directory: PathBuf,
    /// The environment, as it was when Aye started.
    pub env: BTreeMap<String, String>,
    /// Where journal and logs are.
    pub home: PathBuf,
    /// What the project sets.
    pub settings: Settings,
    /// Colours of standard output.
    pub paint_out: Paint,
    /// Colours of standard error.
    pub paint_err: Paint,
    /// JSON for programs.
    pub json: bool,
    /// Plain lines only.
    pub plain: bool,
    /// How much to say.
    pub verbosity: Verbosity,
    /// The file of the user's own settings.
    pub user_settings: Option<PathBuf>,
    /// On whose word something is started.
    pub started_by: StartedBy,
    /// What of the settings counts; looked up once.
    granted: OnceLock<Arc<Granted>>,
    /// The time.
    pub clock: SystemClock,
}

impl Context {
    /// Looks around. A command that can be given `anywhere` does without a
    /// directory that was deleted.
    pub fn new(global: &Global, anywhere: bool) -> Result<Self, Error> {
        let env = environment();
        let directory = match std::env::current_dir() {
            Ok(directory) => directory,
            Err(_) if anywhere && !global.home.as_ref().is_some_and(|home| home.is_relative()) => {
                PathBuf::from("/")
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(Error::usage(
                    "the current directory does not exist any more",
                    "go to one that does, such as with `cd`",
                ));
            }
            Err(source) => {
                return Err(Error::File { doing: "read", path: PathBuf::from("."), source });
            }
        };
        let home = match (&global.home, env.get("XDG_STATE_HOME"), env.get("HOME")) {
            (Some(home), _, _) => directory.join(home),
            (None, Some(state), _) if Path::new(state).is_absolute() => {
                Path::new(state).join("aye")
            }
            (None, _, Some(home)) => Path::new(home).join(".local/state/aye"),
            (None, _, None) => {
                return Err(Error::usage(
                    "there is no home directory to keep the journal in",
                    "set `AYE_HOME` or give `--home DIR`",
                ));
            }
        };
        let paint = |is_terminal: bool| Paint {
            color: !global.plain && use_color(global.color, &env, is_terminal),
            unicode: !global.plain && speaks_unicode(&env),
        };
        ownership::require_private_home(&home)?;
        let user_settings = match (env.get("XDG_CONFIG_HOME"), env.get("HOME")) {
            (Some(config), _) if Path::new(config).is_absolute() => Some(Path::new(config).into()),
            (_, Some(home)) => Some(Path::new(home).join(".config")),
            (_, None) => None,
        };
        let user_settings = user_settings.map(|config: PathBuf| config.join("aye/config.toml"));
        Ok(Self {
            settings: Settings::load(&directory, user_settings.as_deref())?,
            home,
            paint_out: paint(std::io::stdout().is_terminal()),
            paint_err: paint(std::io::stderr().is_terminal()),
            json: global.json,
            plain: global.plain,
            verbosity: match (global.quiet, global.verbose) {
                (true, _) => Verbosity::Quiet,
                (false, true) => Verbosity::Verbose,
                (false, false) => Verbosity::Normal,
            },
            user_settings,
            started_by: StartedBy::Person,
            granted: OnceLock::new(),
            clock: SystemClock::of(&env),
            directory,
            env,
        })
    }

    /// The same, seen from where a run was begun: the settings of its project
    /// say what may run, from wherever somebody goes on with it.
    pub fn at(&self, workspace: &str) -> Result<Self, Error> {
        let directory = PathBuf::from(workspace);
        if directory == self.directory {
            return Ok(self.clone());
        }
        let settings = Settings::load(&directory, self.user_settings.as_deref())?;
        Ok(Self { settings, directory, granted: OnceLock::new(), ..self.clone() })
    }

    /// Now.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The skills that whoever we work for can name.
    pub fn library(&self) -> Library<'_> {
        let Self { directory, settings, home, .. } = self;
        let (reach, outside) = match self.started_by {
            StartedBy::Person => (Reach::AnyFile, Vec::new()),
            StartedBy::Assistant => (Reach::Listed, self.granted().skills.clone()),
        };
        Library { directory, settings, home, reach, outside }
    }

    /// The same on somebody else's word.
    #[must_use]
    pub fn started_by(&self, started_by: StartedBy) -> Self {
        Self { started_by, granted: OnceLock::new(), ..self.clone() }
    }

    /// What was agreed to about this project.
    pub fn trust_book(&self) -> TrustFile {
        TrustFile::new(&self.home, &self.settings.root)
    }

    /// What of the project's settings counts.
    pub fn granted(&self) -> Arc<Granted> {
        let look = || Arc::new(Granted::of(&self.settings, &self.home, self.started_by));
        match self.started_by {
            StartedBy::Person => Arc::clone(self.granted.get_or_init(look)),
            // A server stays for long, and somebody may trust the project meanwhile.
            StartedBy::Assistant => look(),
        }
    }

    /// Nothing of a project that nobody trusts is started where nobody typed it.
    pub fn must_be_trusted(&self) -> Result<(), Error> {
        if self.started_by == StartedBy::Person || self.trust_book().read()?.trusted {
            return Ok(());
        }
        let root = self.settings.root.display();
        Err(Error::Refused {
            message: format!(
                "the project `{root}` is not trusted: its skills can be listed and described, \
                 and none is started for an assistant"
            ),
            hint: Some(format!(
                "a person says that it is theirs to run with `aye trust {}`; do not do that for \
                 them",
                shell_word(&root.to_string())
            )),
        })
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

    /// Says what of `aye.toml` does not count.
    pub fn say_left_out(&self) {
        if let Some(words) = self.left_out() {
            let mark = self.paint_err.text(Tone::Warn, "warning:");
            super::say(&format!("{mark} {words}\nhint: `aye trust` shows it and asks\n"));
        }
    }

    /// Opens the journal to write.
    pub fn store(&self) -> Result<Store, Error> {
        Ok(Store::open(&self.home, self.settings.durability)?)
    }

    /// Opens the journal to read; `None` if nothing was ever run.
    pub fn store_to_read(&self) -> Result<Option<Store>, Error> {
        Ok(Store::open_to_read(&self.home)?)
    }

    /// Who we are.
    pub fn driver(&self) -> Driver {
        let system = rustix::system::uname();
        Driver {
            user: user_name(),
            host: system.nodename().to_string_lossy().into_owned(),
            pid: std::process::id(),
            attended: false,
            namespaces: origin::namespaces(),
        }
    }

    /// Who we are, for the holder of a lock.
    pub fn lock_info(&self) -> LockInfo {
        let Driver { user, host, pid, .. } = self.driver();
        let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
        let command = command_shown(words);
        LockInfo { user, host, pid, command, since: self.now() }
    }

    /// How to ask on this terminal, and whether.
    pub fn config(&self, escape: Escape, may_ask: bool) -> PromptConfig {
        PromptConfig {
            paint: self.paint_err,
            plain: self.plain || !prompt::is_capable(&self.env),
            escape,
            user: self.driver().user,
            home: self.home.clone(),
            obstacle: prompt::obstacle(&self.env, may_ask),
            opened_with: None,
            advisor: self.advisor(),
        }
    }

    /// Who advises whoever is asked.
    fn advisor(&self) -> Option<Advisor> {
        let Settings { project, user, .. } = &self.settings;
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
        Arc::new(Outside::new(self.env.clone(), workspace.to_path_buf(), today))
    }

    /// The tools of the project, for a run there.
    pub fn tools(&self, workspace: &Path, run: &RunId) -> Tools {
        let trust = Trust::File(self.trust_book());
        let world = tools::World {
            workspace: workspace.to_path_buf(),
            environment: self.env.clone(),
            trust,
            policy: self.granted().policy.for_run(workspace),
            run: Some(run.to_string()),
        };
        Tools::new(&self.settings.tools, world)
    }

    /// What was learned: the project's memory over the user's. No file is
    /// touched before something is looked up.
    pub fn memory(&self) -> Memory {
        Memory::open(Some(&self.settings.root), &self.home.join("memory"))
    }

    /// What the configuration limits.
    pub fn limits(&self) -> Limits {
        let granted = self.granted();
        Limits {
            step_timeout: self.settings.step_timeout,
            verbatim: granted.policy.verbatim,
            heal: Arc::clone(&granted.heal),
        }
    }

    /// A new run's id.
    pub fn new_run_id(&self) -> RunId {
        let mut bytes = [0u8; 8];
        // The kernel's generator does not fail once the machine is up.
        let _ = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
        RunId::from_random(u64::from_le_bytes(bytes))
    }

    /// The run that a name, the beginning of one, or `last` stands for.
    pub fn find_run(&self, store: &Store, name: &str) -> Result<RunRow, Error> {
        match store.find_run(name)? {
            Found::One(row) => Ok(row),
            Found::None if name == "last" => {
                Err(Error::not_found("there are no runs yet", "start one with `aye run SKILL`"))
            }
            Found::None => {
                let message = format!("there is no run `{name}`");
                Err(Error::not_found(message, "`aye runs` lists them"))
            }
            Found::Several(rows) => {
                let names: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
                let message = format!("`{name}` stands for several runs: {}", names.join(", "));
                Err(Error::usage(message, "write more letters of the id"))
            }
        }
    }

    /// The skill of the same file that is meant, by its name or as `#NAME`.
    fn in_same_file(&self, wanted: &str, file: &Path) -> Result<Option<(Flow, Source)>, Error> {
        let (name, sure) = match wanted.strip_prefix('#') {
            Some(name) => (name, true),
            None => (wanted, false),
        };
        if name.contains(['/', '#', '.']) {
            return Ok(None);
        }
        let path = self.directory.join(file);
        let mut read = match SkillFile::read(&path) {
            Ok(read) => read.or_lenient(self.settings.lenient),
            Err(error) if sure => return Err(error),
            Err(_) => return Ok(None),
        };
        if !sure && !read.flows.iter().any(|flow| skills::skill_name(flow) == name) {
            return Ok(None);
        }
        let shown = skills::relative_to(&path, &self.directory);
        read.path.clone_from(&shown);
        let (flow, text) = read.into_flow(Some(name))?;
        Ok(Some((flow, Source::new(shown.to_string_lossy(), text))))
    }

    /// The error for a journal that is not there yet.
    pub fn no_journal() -> Error {
        Error::not_found("there are no runs yet", "start one with `aye run SKILL`")
    }
}

/// What was called, without what was given to it: inputs may be secret.
fn command_shown(words: impl Iterator<Item = String>) -> String {
    let plain = words.skip(1).take_while(|word| !word.starts_with('-')).take(2);
    std::iter::once("aye".to_owned()).chain(plain).collect::<Vec<_>>().join(" ")
}

fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// The colours of standard error before the options are known.
pub(super) fn paint_of_errors() -> Paint {
    let env = environment();
    Paint {
        color: use_color(ColorChoice::Auto, &env, std::io::stderr().is_terminal()),
        unicode: speaks_unicode(&env),
    }
}

fn use_color(choice: ColorChoice, env: &BTreeMap<String, String>, is_terminal: bool) -> bool {
    let set = |name: &str| env.get(name).is_some_and(|value| !value.is_empty() && value != "0");
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if set("NO_COLOR") => false,
        ColorChoice::Auto if set("CLICOLOR_FORCE") => true,
        ColorChoice::Auto => is_terminal && env.get("TERM").is_none_or(|term| term != "dumb"),
    }
}

fn speaks_unicode(env: &BTreeMap<String, String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| env.get(name).filter(|value| !value.is_empty()));
    // Most systems speak it today; only a locale that says otherwise counts.
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf") || !(locale == "c" || locale == "posix" || locale.contains("8859"))
    })
}

/// The operating system's user, not what the environment or a user namespace claims. Looked
/// up once.
fn user_name() -> String {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(look_up_user).clone()
}

fn look_up_user() -> String {
    let uid = origin::real_user().to_string();
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid).then(|| name.to_owned())
    });
    name.unwrap_or(uid)
}

/// Why a skill that another calls cannot be run: its first error.
fn why_not(read: &SkillFile, shown: &Path) -> String {
    let name = shown.to_string_lossy();
    let mut message = format!("`{name}` cannot be run");
    let source = diagnostic::Source::new(&name, &read.text);
    let errors: Vec<_> = read.diagnostics.iter().filter(|found| found.is_error()).collect();
    if let Some(first) = errors.first() {
        let first = diagnostic::to_json(first, &source);
        message += &format!(": {name}:{}:{}: {}", first.line, first.column, first.message);
        if let Some(hint) = first.hint {
            message += &format!("\nhint: {hint}");
        }
    }
    if errors.len() > 1 {
        message += &format!("\n{} more: `aye check {name}`", errors.len() - 1);
    }
    message
}

impl Skills for Context {
    fn load(&self, wanted: &str, file: &Path, reach: Reach) -> Result<(Flow, Source), Error> {
        // A skill of the same file needs no file, and goes before all others.
        if let Some(found) = self.in_same_file(wanted, file)? {
            return Ok(found);
        }
        // A path is meant from the file that says it, and from where the run began.
        let beside = file.parent().map(|folder| self.directory.join(folder));
        let directory = beside
            .filter(|folder| folder.join(wanted.split('#').next().unwrap_or(wanted)).is_file())
            .unwrap_or_else(|| self.directory.clone());
        let mut library = Library { directory: &directory, ..self.library() };
        if reach == Reach::Listed {
            library.reach = reach;
        }
        let (path, name) = library.find(wanted)?;
        let path = directory.join(path);
        let read = SkillFile::read(&path)?.or_lenient(self.settings.lenient);
        if read.has_errors() {
            let shown = skills::relative_to(&path, &self.directory);
            return Err(Error::InvalidSkill(why_not(&read, &shown)));
        }
        let shown = skills::relative_to(&path, &self.directory);
        let (flow, text) = read.into_flow(name.as_deref())?;
        Ok((flow, Source::new(shown.to_string_lossy(), text)))
    }

    fn lenient(&self) -> bool {
        self.settings.lenient
    }
}
