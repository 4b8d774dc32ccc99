//! The user's crontab, for machines without systemd.

use super::calendar::Calendar;
use super::crontab;
use super::program::{call, is_there, last_words};
use super::schedule::Schedule;
use super::units::Surroundings;
use crate::error::Error;

const CRONTAB: &str = "crontab";

/// The user's crontab.
pub(crate) struct Cron<'a> {
    /// Where programs are looked for.
    pub(crate) path: Option<&'a str>,
}

impl Cron<'_> {
    /// Whether there is a cron.
    pub(crate) fn is_there(&self) -> bool {
        is_there(CRONTAB, self.path)
    }

    /// Whether there is a line of this name.
    pub(crate) fn has(&self, name: &str) -> Result<bool, Error> {
        Ok(self.is_there() && crontab::has(&self.read()?, name))
    }

    /// Adds the line of a schedule, in place of an older one.
    pub(crate) fn add(
        &self,
        schedule: &Schedule,
        calendar: &Calendar,
        (program, home): (&str, &str),
    ) -> Result<(), Error> {
        let surroundings = Surroundings { program, home, path: self.path };
        let line = crontab::line(schedule, calendar, &surroundings);
        if line.contains('\n') {
            let message = "an input holds a line break, and a crontab has one line for a command";
            return Err(Error::usage(message, "leave it out"));
        }
        self.write(&crontab::with(&self.read()?, &schedule.name, &line))
    }

    /// Removes the line of a schedule.
    pub(crate) fn remove(&self, name: &str) -> Result<(), Error> {
        let before = self.read()?;
        let after = crontab::without(&before, name);
        if before == after { Ok(()) } else { self.write(&after) }
    }

    fn read(&self) -> Result<String, Error> {
        let output = call(CRONTAB, &["-l"], &[("PATH", self.path)], "")?;
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            // Anyone who has none gets an error.
            false if said.contains("no crontab") => Ok(String::new()),
            false => Err(refused("cannot be read", &last_words(&output))),
        }
    }

    fn write(&self, text: &str) -> Result<(), Error> {
        let output = call(CRONTAB, &["-"], &[("PATH", self.path)], text)?;
        match output.status.success() {
            true => Ok(()),
            false => Err(refused("was not changed", &last_words(&output))),
        }
    }
}

fn refused(what: &str, why: &str) -> Error {
    Error::Refused { message: format!("the crontab {what}: {why}"), hint: None }
}
