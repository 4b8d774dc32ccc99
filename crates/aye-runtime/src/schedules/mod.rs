//! Runs that begin by the clock: systemd timers of the user, or lines of a
//! crontab where there is no systemd. Aye itself waits for nothing; it writes
//! what the system's own scheduler reads.
//!
//! ```text
//! calendar (`Mon 09:00`) --> units   --> systemd  (unit files, systemctl --user)
//!                        \-> crontab --> cron     (crontab -l, crontab -)
//! registry: what was added, one file each below AYE_HOME/schedules
//! ```
//!
//! Touches unit files of the user, `systemctl`, `crontab` and files below `AYE_HOME`. The scheduler
//! then starts `aye run --detach`.

mod calendar;
mod cron;
mod crontab;
mod program;
mod registry;
mod schedule;
mod systemd;
mod units;

pub use calendar::{Calendar, CalendarError};
pub use registry::Registry;
pub use schedule::{Schedule, Scheduler};

pub(crate) use cron::Cron;
pub(crate) use systemd::Systemd;
