//! Trying out whether a window could be shown, without showing one.

use std::path::Path;
use std::time::{Duration, Instant};

use aye_process::{Happening, Outcome, Spec};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::available::{Surroundings, container, obstacle, programs};
use super::display::{Probe, displays};

/// How long a program may take to say its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trial {
    /// The display answered and this program reached it: its file and version.
    Works(String),
    /// Nothing is wrong; there is no desktop here, and why.
    Absent(String),
    /// Something is, and what.
    Broken(String),
}

/// Greets the display and asks the program for its version, which it only says
/// once it has reached the display.
pub fn try_out(surroundings: &Surroundings) -> Trial {
    if let Some(why) = obstacle(surroundings).or_else(|| container(surroundings)) {
        return Trial::Absent(why);
    }
    let programs = match programs(&surroundings.env) {
        Ok(programs) => programs,
        Err(why) => return Trial::Absent(why),
    };
    if !cfg!(target_os = "macos")
        && let Err(why) = displays(&surroundings.env).and_then(greet)
    {
        return Trial::Broken(why);
    }
    let mut last = String::new();
    for (program, path) in programs {
        match version(&path) {
            Ok(version) => return Trial::Works(format!("{}, {version}", path.display())),
            Err(why) => last = format!("`{}` does not start: {why}", program.name()),
        }
    }
    Trial::Broken(last)
}

fn greet(displays: Vec<super::display::Display>) -> Result<(), String> {
    let mut probe = Probe::start(displays, Instant::now())?;
    loop {
        if let Some(answer) = probe.check(Instant::now()) {
            return answer;
        }
        let left = probe.until().saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).unwrap_or_default();
        let wake = probe.wake();
        // Whatever it says, the next look tells.
        let _ = poll(&mut [PollFd::new(&wake, PollFlags::IN)], Some(&left));
    }
}

fn version(path: &Path) -> Result<String, String> {
    let mut spec = Spec::new(path).args(["--version"]);
    spec.timeout = Some(PATIENCE);
    spec.aside = true;
    let mut child = aye_process::spawn(spec).map_err(|error| error.to_string())?;
    loop {
        let happened =
            aye_process::wait_aside(&mut child, &[], Some(Instant::now() + PATIENCE * 2));
        match happened.map_err(|error| error.to_string())? {
            Happening::Exited(_, exit) => {
                let line = |text: &str| {
                    let line = text.lines().find(|line| !line.trim().is_empty());
                    crate::fmt::escape_control_line(line.unwrap_or_default().trim())
                };
                return match exit.outcome {
                    Outcome::Exited(0) => Ok(line(&exit.stdout.text())),
                    Outcome::Exited(_) | Outcome::Signaled(_) => Err(line(&exit.stderr.text())),
                    Outcome::TimedOut | Outcome::Cancelled | Outcome::Interrupted => {
                        Err(format!("no answer within {}", crate::fmt::duration(PATIENCE)))
                    }
                };
            }
            Happening::Deadline => return Err("no answer".to_owned()),
            Happening::Wake(_) | Happening::GuardLost | Happening::Idle => {}
        }
    }
}
