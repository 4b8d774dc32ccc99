//! Trying out whether a window or a notification could be shown, without showing one.

use std::path::Path;
use std::time::{Duration, Instant};

use aye_process::{Outcome, Spec};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::available::{Surroundings, obstacle, programs};
use super::display::{Probe, displays};
use super::notification::{SERVICE, no_bus, programs as notification_programs};

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
    if let Some(why) = obstacle(surroundings) {
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

/// Asks the notification service for its name, and the program that shows notifications for
/// its version.
pub fn try_out_notifications(surroundings: &Surroundings) -> Trial {
    if let Some(why) = obstacle(surroundings).or_else(|| no_bus(surroundings)) {
        return Trial::Absent(why);
    }
    let (shows, asks) = match notification_programs(surroundings) {
        Ok(programs) => programs,
        Err(why) => return Trial::Absent(why),
    };
    let service = match ask(&asks, &SERVICE) {
        Ok(said) => service_name(&said),
        Err(_) => return Trial::Broken("no notification service answers".to_owned()),
    };
    match version(&shows) {
        Ok(version) => Trial::Works(format!("{version}; {service}")),
        Err(why) => Trial::Broken(format!("`{}` does not start: {why}", shows.display())),
    }
}

/// The name in what a service says of itself.
fn service_name(said: &str) -> String {
    let name = said.lines().find_map(|line| line.trim().strip_prefix("string \""));
    let name = name.map(|name| name.trim_end_matches('"'));
    crate::fmt::escape_control_line(name.unwrap_or("a service without a name"))
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
    let said = ask(path, &["--version"])?;
    let line = said.lines().find(|line| !line.trim().is_empty());
    Ok(crate::fmt::escape_control_line(line.unwrap_or_default().trim()))
}

/// What a program says.
fn ask(path: &Path, args: &[&str]) -> Result<String, String> {
    let mut spec = Spec::new(path).args(args.iter().copied());
    spec.timeout = Some(PATIENCE);
    spec.aside = true;
    let mut child = aye_process::spawn(spec).map_err(|error| error.to_string())?;
    let ended = aye_process::wait_to_end(&mut child, Instant::now() + PATIENCE * 2);
    let exit = ended.map_err(|error| error.to_string())?.ok_or("no answer")?;
    match exit.outcome {
        Outcome::Exited(0) => Ok(exit.stdout.text()),
        Outcome::Exited(_) | Outcome::Signaled(_) => {
            let words = exit.stderr.text();
            let line = words.lines().find(|line| !line.trim().is_empty());
            Err(crate::fmt::escape_control_line(line.unwrap_or_default().trim()))
        }
        Outcome::TimedOut | Outcome::Cancelled | Outcome::Interrupted => {
            Err(format!("no answer within {}", crate::fmt::duration(PATIENCE)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::service_name;

    #[test]
    fn a_service_says_its_name_first() {
        let said = "method return time=1.2 sender=:1.0 -> destination=:1.1 serial=3 reply_serial=2\n   \
                    string \"dunst\"\n   string \"knopwob\"\n   string \"1.9.0\"\n";
        assert_eq!(service_name(said), "dunst");
        assert_eq!(service_name(""), "a service without a name");
    }
}
