//! Timers of the user's systemd.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};

use super::calendar::Calendar;
use super::program::{call, is_there, last_words};
use super::schedule::Schedule;
use super::units::{self, Surroundings, unit_name};
use crate::error::Error;
use crate::replace::replace;

/// The user's systemd.
pub(crate) struct Systemd<'a> {
    /// Where the user's units are: `~/.config/systemd/user`.
    pub(crate) directory: PathBuf,
    /// Where programs are looked for.
    pub(crate) path: Option<&'a str>,
    /// Where the user's manager keeps what goes with the session, if there is one.
    pub(crate) runtime_directory: Option<&'a str>,
    /// A directory that is made and removed, in place of that one.
    pub(crate) scratch: PathBuf,
}

impl Systemd<'_> {
    /// Whether this machine was started by systemd.
    pub(crate) fn is_running(&self) -> bool {
        Path::new("/run/systemd/system").is_dir() && is_there("systemctl", self.path)
    }

    /// Whether there is a timer of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.file(name, "timer").exists()
    }

    /// Writes the units, has them checked, and starts the timer. Returns what
    /// keeps the timer from running now: it is started with the user's session.
    pub(crate) fn add(
        &self,
        schedule: &Schedule,
        calendar: &Calendar,
        (program, home): (&str, &str),
    ) -> Result<Option<String>, Error> {
        let surroundings = Surroundings { program, home, path: self.path };
        let (service, timer) =
            (self.file(&schedule.name, "service"), self.file(&schedule.name, "timer"));
        write(&service, &units::service(schedule, &surroundings))?;
        write(&timer, &units::timer(schedule, calendar))?;
        if let Err(why) = self.verify(&[&service, &timer]) {
            self.remove(&schedule.name)?;
            let hint = "nothing was scheduled; `--with cron` uses the crontab";
            return Err(Error::Refused { message: why, hint: Some(hint.to_owned()) });
        }
        let link = self.wanted(&schedule.name);
        let failed = Error::file("create", &link);
        link.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
        remove_file(&link)?;
        symlink(&timer, &link).map_err(failed)?;
        Ok(self.tell(&["daemon-reload"]).err().or_else(|| {
            self.tell(&["restart", &format!("{}.timer", unit_name(&schedule.name))]).err()
        }))
    }

    /// What the unit of the server says.
    pub(crate) fn server_unit(
        &self,
        directory: &Path,
        (program, home): (&str, &str),
        options: &[String],
    ) -> String {
        let surroundings = Surroundings { program, home, path: self.path };
        units::server(&directory.to_string_lossy(), &surroundings, options)
    }

    /// Writes the unit of the server and has it checked; where it is. One that systemd
    /// does not read leaves what was there.
    pub(crate) fn write_server(&self, unit: &str) -> Result<PathBuf, Error> {
        let path = self.directory.join(units::SERVER);
        let before = fs::read_to_string(&path);
        write(&path, unit)?;
        if let Err(why) = self.verify(&[&path]) {
            match before {
                Ok(before) => write(&path, &before)?,
                Err(_) => remove_file(&path)?,
            }
            let hint = "nothing was installed; `aye serve install --print` prints the unit";
            return Err(Error::Refused { message: why, hint: Some(hint.to_owned()) });
        }
        Ok(path)
    }

    /// Stops the timer and removes the units. A run that continues is left alone.
    pub(crate) fn remove(&self, name: &str) -> Result<(), Error> {
        // A user manager that cannot be reached has no timer either.
        let _ = self.tell(&["stop", &format!("{}.timer", unit_name(name))]);
        remove_file(&self.wanted(name))?;
        remove_file(&self.file(name, "timer"))?;
        remove_file(&self.file(name, "service"))?;
        let _ = self.tell(&["daemon-reload"]);
        Ok(())
    }

    fn file(&self, name: &str, kind: &str) -> PathBuf {
        self.directory.join(format!("{}.{kind}", unit_name(name)))
    }

    /// The link that makes the timer start with the session.
    fn wanted(&self, name: &str) -> PathBuf {
        self.directory.join("timers.target.wants").join(format!("{}.timer", unit_name(name)))
    }

    /// Lets systemd read the units, where it has a program for that.
    fn verify(&self, files: &[&Path]) -> Result<(), String> {
        const ANALYZE: &str = "systemd-analyze";
        if !is_there(ANALYZE, self.path) {
            return Ok(());
        }
        let names: Vec<String> = files.iter().map(|file| file.to_string_lossy().into()).collect();
        let args: Vec<&str> =
            ["--user", "verify"].into_iter().chain(names.iter().map(String::as_str)).collect();
        // Without a session it still wants to know where one would be.
        let scratch = Scratch::make(&self.scratch).map_err(|error| error.to_string())?;
        let runtime = self.runtime_directory.or_else(|| scratch.0.to_str());
        let env = [("PATH", self.path), ("XDG_RUNTIME_DIR", runtime)];
        let output = call(ANALYZE, &args, &env, "").map_err(|error| error.to_string())?;
        match output.status.success() {
            true => Ok(()),
            false => Err(format!("`{ANALYZE} verify` refuses the units: {}", last_words(&output))),
        }
    }

    /// Tells the user's manager something; an error says why it does not listen.
    fn tell(&self, args: &[&str]) -> Result<(), String> {
        let args: Vec<&str> = ["--user"].into_iter().chain(args.iter().copied()).collect();
        match call("systemctl", &args, &[("PATH", self.path)], "") {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(last_words(&output)),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// A directory that goes when it is no longer needed.
struct Scratch<'a>(&'a Path);

impl<'a> Scratch<'a> {
    fn make(path: &'a Path) -> Result<Self, Error> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(Error::file("create", path))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        // What stays behind is in the way of nobody.
        let _ = fs::remove_dir_all(self.0);
    }
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    replace(path, text, 0o644).map_err(Error::file("write", path))
}

fn remove_file(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::File { doing: "remove", path: path.to_path_buf(), source })
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
