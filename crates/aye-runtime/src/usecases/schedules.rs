//! Schedules: a skill that the system's scheduler starts by the clock.

use std::path::{Path, PathBuf};

use aye_core::skill::{Given, InputSpec, InputType};
use indexmap::IndexMap;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::error::Error;
use crate::fmt::{escape_control_line, shell_word};
use crate::runtime::Runtime;
use crate::schedules::{Calendar, Cron, Registry, Schedule, Scheduler, Systemd};

use super::prepare::SkillError;

/// A skill that is to be run by the clock.
pub struct ScheduleRequest {
    /// The skill: its name, or a path.
    pub skill: String,
    /// When, such as `Mon 09:00`.
    pub at: String,
    /// Its inputs, `NAME=VALUE`, as they are written down.
    pub inputs: Vec<String>,
    /// The same, as they are checked.
    pub given: IndexMap<String, Given>,
    /// The schedule's name; the skill's, if there is none.
    pub name: Option<String>,
    /// The environment that it runs against.
    pub environment: Option<String>,
    /// What is to start it; systemd where it runs, else cron, if nothing is said.
    pub with: Option<Scheduler>,
}

/// A schedule as it stands.
#[derive(Debug, Serialize)]
pub struct ListedSchedule {
    /// What was added.
    #[serde(flatten)]
    pub schedule: Schedule,
    /// When it is due next.
    pub next: Option<Timestamp>,
    /// Whether its timer or its line is still there.
    pub installed: bool,
    /// Why the timer does not run yet, right after it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_running: Option<String>,
}

impl Runtime {
    /// Writes a timer, or a line of the crontab.
    pub fn add_schedule(&self, request: ScheduleRequest) -> Result<ListedSchedule, Error> {
        let calendar = Calendar::parse(&request.at)
            .map_err(|error| Error::usage(error.to_string(), error.hint()))?;
        self.require_trust()?;
        let skill = self.check_skill(&request.skill).map_err(SkillError::into_error)?;
        let specs = &skill.flow.skill.inputs;
        specs.iter().try_for_each(|spec| secret_is_readable(spec, &request.given))?;
        self.complete_inputs(&skill.flow, request.given).map_err(Error::Inputs)?;
        let name = match request.name {
            Some(name) => checked(name)?,
            None => checked(skill.flow.skill.name.value.replace(|c: char| !is_plain(c), "-"))?,
        };
        let registry = Registry::of(&self.home);
        let with = match request.with {
            Some(with) => with,
            None => self.scheduler()?,
        };
        if registry.find(&name).is_some() || self.is_installed(&name, with)? {
            let hint = format!("give another `--name`, or `aye schedule remove {name}` first");
            return Err(Error::usage(format!("there is a schedule `{name}` already"), hint));
        }
        let schedule = Schedule {
            name,
            skill: request.skill,
            at: calendar.to_string(),
            directory: self.directory.clone(),
            inputs: request.inputs,
            environment: request.environment,
            with,
            added: self.now(),
        };
        let program = self.program()?;
        let (program, home) = (text_of(&program)?, text_of(&self.home)?);
        let not_running = match with {
            Scheduler::Systemd => self.systemd()?.add(&schedule, &calendar, (program, home))?,
            Scheduler::Cron => {
                self.cron().add(&schedule, &calendar, (program, home))?;
                None
            }
        };
        registry.keep(&schedule)?;
        let listed = self.listed(schedule)?;
        Ok(ListedSchedule { not_running, ..listed })
    }

    /// Every schedule of this home, by name.
    pub fn schedules(&self) -> Result<Vec<ListedSchedule>, Error> {
        Registry::of(&self.home).all().into_iter().map(|one| self.listed(one)).collect()
    }

    /// Removes a schedule. Runs that it started are left alone.
    pub fn remove_schedule(&self, name: &str) -> Result<Schedule, Error> {
        let registry = Registry::of(&self.home);
        let schedule = registry.find(name).ok_or_else(|| {
            let message = format!("there is no schedule `{}`", escape_control_line(name));
            Error::not_found(message, "`aye schedule list` lists them")
        })?;
        match schedule.with {
            Scheduler::Systemd => self.systemd()?.remove(name)?,
            Scheduler::Cron => self.cron().remove(name)?,
        }
        registry.forget(name)?;
        Ok(schedule)
    }

    /// The same runtime, on the word of a schedule: its runs say so.
    pub fn by_schedule(&self) -> Result<Self, Error> {
        self.require_trust()?;
        Ok(self.scheduled())
    }

    /// The systemd unit of a server with these options.
    pub fn server_unit(&self, options: &[String]) -> Result<String, Error> {
        let (program, home) = (self.program()?, self.home.to_string_lossy());
        let place = (&*program.to_string_lossy(), &*home);
        Ok(self.systemd()?.server_unit(&self.directory, place, options))
    }

    /// Writes that unit, once systemd has read it; where it is.
    pub fn install_server(&self, options: &[String]) -> Result<PathBuf, Error> {
        self.systemd()?.write_server(&self.server_unit(options)?)
    }

    /// Nobody is there when a schedule is due: the project has to be trusted.
    fn require_trust(&self) -> Result<(), Error> {
        if self.trust_file().read()?.trusted {
            return Ok(());
        }
        let root = self.settings.root.display().to_string();
        Err(Error::Refused {
            message: format!("the project `{root}` is not trusted: no schedule starts its skills"),
            hint: Some(format!("trust it: `aye trust {}`", shell_word(&root))),
        })
    }

    fn listed(&self, schedule: Schedule) -> Result<ListedSchedule, Error> {
        let now = self.now().to_zoned(TimeZone::system());
        let next = Calendar::parse(&schedule.at).ok().and_then(|calendar| calendar.next(&now));
        let installed = self.is_installed(&schedule.name, schedule.with)?;
        let next = next.map(|next| next.timestamp()).filter(|_| installed);
        Ok(ListedSchedule { schedule, next, installed, not_running: None })
    }

    fn is_installed(&self, name: &str, with: Scheduler) -> Result<bool, Error> {
        Ok(match with {
            Scheduler::Systemd => self.systemd()?.has(name),
            Scheduler::Cron => self.cron().has(name)?,
        })
    }

    /// What starts runs on this machine.
    fn scheduler(&self) -> Result<Scheduler, Error> {
        match (self.systemd()?.is_running(), self.cron().is_there()) {
            (true, _) => Ok(Scheduler::Systemd),
            (false, true) => Ok(Scheduler::Cron),
            (false, false) => Err(Error::not_found(
                "this machine has neither systemd nor cron",
                "install cron, or call `aye run SKILL --detach` from another scheduler",
            )),
        }
    }

    fn path(&self) -> Option<&str> {
        self.env.get("PATH").map(String::as_str)
    }

    fn cron(&self) -> Cron<'_> {
        Cron { path: self.path() }
    }

    fn systemd(&self) -> Result<Systemd<'_>, Error> {
        let config = self.env.get("XDG_CONFIG_HOME").map(PathBuf::from);
        let config = config.filter(|path| path.is_absolute());
        let home = || self.env.get("HOME").map(|home| Path::new(home).join(".config"));
        let config = config.or_else(home).ok_or_else(|| {
            Error::usage("there is no home directory for the units", "set `HOME`")
        })?;
        Ok(Systemd {
            directory: config.join("systemd/user"),
            path: self.path(),
            runtime_directory: self.env.get("XDG_RUNTIME_DIR").map(String::as_str),
            scratch: self.home.join("schedules/verify"),
        })
    }

    fn program(&self) -> Result<PathBuf, Error> {
        self.background.program.clone().ok_or_else(|| Error::no_program("start runs"))
    }
}

/// Nobody is asked for a secret by the clock, and none is written into a file.
fn secret_is_readable(spec: &InputSpec, given: &IndexMap<String, Given>) -> Result<(), Error> {
    let name = &spec.name.value;
    if spec.kind != InputType::Secret {
        return Ok(());
    }
    let hint = format!(
        "say in the skill where it is read: `{{ name: {name}, type: secret, from: {{ env: … }} }}`"
    );
    if given.contains_key(name) {
        let message =
            format!("secret input `{name}` would be written to a file that others may read");
        return Err(Error::usage(message, hint));
    }
    if spec.required && spec.from.is_none() {
        let message = format!("secret input `{name}` has no `from`, and nobody is there to ask");
        return Err(Error::usage(message, hint));
    }
    Ok(())
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_')
}

/// The longest name of a schedule: units and files have up to 255 letters, more words in them.
const LONGEST_NAME: usize = 100;

/// A name that can be that of a unit and of a file.
fn checked(name: String) -> Result<String, Error> {
    let shown: String = escape_control_line(&name).chars().take(40).collect();
    let message = format!("`{shown}` cannot be the name of a schedule");
    if name.is_empty() || !name.chars().all(is_plain) {
        return Err(Error::usage(message, "use letters, digits, `-` and `_`"));
    }
    // Programs would read it as an option.
    if name.starts_with('-') {
        return Err(Error::usage(message, "begin it with a letter, a digit or `_`"));
    }
    if name.len() > LONGEST_NAME {
        let message = format!("the name `{shown}…` has {} letters", name.len());
        return Err(Error::usage(message, format!("use at most {LONGEST_NAME}: `--name NAME`")));
    }
    Ok(name)
}

fn text_of(path: &Path) -> Result<&str, Error> {
    path.to_str().filter(|path| !path.contains('\n')).ok_or_else(|| {
        let message = format!("`{}` cannot stand in a unit", path.display());
        Error::usage(message, "move it to a path that is text")
    })
}
