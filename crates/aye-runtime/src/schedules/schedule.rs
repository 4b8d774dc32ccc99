//! A schedule, as data.

use std::path::PathBuf;

use aye_core::word_enum;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A skill that is run by the clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// Its own name.
    #[serde(rename = "schedule")]
    pub name: String,
    /// The skill, as it was named.
    pub skill: String,
    /// When, as [`Calendar`](super::Calendar) writes it.
    pub at: String,
    /// Where it is run.
    pub directory: PathBuf,
    /// Its inputs, `NAME=VALUE`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// The environment that it runs against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// What starts it.
    pub with: Scheduler,
    /// Since when there is this schedule.
    pub added: Timestamp,
}

word_enum! {
    /// What starts runs by the clock.
    pub enum Scheduler {
        /// A timer of the user's systemd.
        Systemd = "systemd",
        /// A line in the user's crontab.
        Cron = "cron",
    }
}

impl Schedule {
    /// The words that start a run of it.
    pub(super) fn argv(&self, program: &str, home: &str) -> Vec<String> {
        let mut words: Vec<&str> = vec![program, "run", &self.skill, "--detach"];
        words.extend(["--schedule", &self.name, "--home", home]);
        if let Some(environment) = &self.environment {
            words.extend(["--environment", environment]);
        }
        for input in &self.inputs {
            words.extend(["--input", input]);
        }
        words.into_iter().map(str::to_owned).collect()
    }
}
