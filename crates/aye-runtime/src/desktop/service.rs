//! Notifications that nobody waits on: shown, replaced in place, taken away.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use aye_process::{Outcome, Spec};

use super::available::{Surroundings, on_path};
use super::notice::{PROGRAM, body_argument, no_markup};
use super::notification::{ASKS, OWNER, SERVICE, no_bus};

/// How long a call may take.
const LIMIT: Duration = Duration::from_secs(10);
/// More than this none of them says.
const KEPT: usize = 4 * 1024;

/// What is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) icon: &'static str,
    pub(crate) summary: String,
    pub(crate) body: String,
    /// It stands out, and stays.
    pub(crate) urgent: bool,
    /// The receipt of one whose place it takes.
    pub(crate) replaces: Option<String>,
}

impl Note {
    fn args(&self, replaced: Option<u32>) -> Vec<String> {
        let urgency = if self.urgent { "critical" } else { "normal" };
        let mut args = vec![
            "--app-name=Aye".to_owned(),
            format!("--icon={}", self.icon),
            format!("--urgency={urgency}"),
            "--expire-time=0".to_owned(),
            "--hint=string:sound-name:message-new-instant".to_owned(),
            "--print-id".to_owned(),
        ];
        args.extend(replaced.map(|id| format!("--replace-id={id}")));
        args.extend(["--".to_owned(), no_markup(&self.summary), body_argument(&self.body)]);
        args
    }
}

/// The notification service of a session.
#[derive(Debug)]
pub(crate) struct NotificationService<'a> {
    env: &'a BTreeMap<String, String>,
    shows: PathBuf,
    asks: PathBuf,
}

impl<'a> NotificationService<'a> {
    /// The one of this environment.
    pub(crate) fn find(env: &'a BTreeMap<String, String>) -> Result<Self, String> {
        // A channel names the desktop: someone who writes that over ssh means it.
        let surroundings = Surroundings { env: Arc::new(env.clone()), named: true };
        if let Some(why) = no_bus(&surroundings) {
            return Err(why);
        }
        let program = |name| on_path(name, env).ok_or_else(|| format!("`{name}` is not installed"));
        Ok(Self { env, shows: program(PROGRAM)?, asks: program(ASKS)? })
    }

    /// Shows a notification; what is needed to take it away.
    pub(crate) fn show(&self, note: &Note) -> Result<String, String> {
        let owner = self.owner()?;
        let replaced = note.replaces.as_deref().and_then(|receipt| number(receipt, &owner));
        let said = self.run(&self.shows, note.args(replaced))?;
        let id: u32 = said.trim().parse().map_err(|_| format!("`{PROGRAM}` says no number"))?;
        Ok(format!("{id} {owner}"))
    }

    /// Takes away what was shown, if it is still there.
    pub(crate) fn close(&self, receipt: &str) -> Result<(), String> {
        let owner = self.owner()?;
        // Another service has other numbers, and nothing of ours.
        let Some(id) = number(receipt, &owner) else { return Ok(()) };
        let call = [
            "--session",
            "--print-reply",
            "--reply-timeout=3000",
            "--dest=org.freedesktop.Notifications",
            "/org/freedesktop/Notifications",
            "org.freedesktop.Notifications.CloseNotification",
        ];
        let mut args: Vec<String> = call.map(str::to_owned).to_vec();
        args.push(format!("uint32:{id}"));
        // The person may have closed it: some services say so with an error.
        let _ = self.run(&self.asks, args);
        Ok(())
    }

    /// The name under which the service is connected to the bus; it is another one after
    /// a restart. `notify-send` waits for ever for a service that is not there.
    fn owner(&self) -> Result<String, String> {
        let gone = |_| "no notification service answers".to_owned();
        self.run(&self.asks, SERVICE.map(str::to_owned).to_vec()).map_err(gone)?;
        let said = self.run(&self.asks, OWNER.map(str::to_owned).to_vec()).map_err(gone)?;
        Ok(said.trim().to_owned())
    }

    fn run(&self, program: &Path, args: Vec<String>) -> Result<String, String> {
        let mut spec = Spec::new(program).args(args).without_own_variables(&[]);
        for name in ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"] {
            spec.env.extend(self.env.get(name).map(|value| (name.into(), Some(value.into()))));
        }
        spec.timeout = Some(LIMIT);
        spec.tail_limit = KEPT;
        spec.aside = true;
        let mut child = aye_process::spawn(spec).map_err(|error| error.to_string())?;
        let ended = aye_process::wait_to_end(&mut child, Instant::now() + LIMIT * 2);
        let exit = ended.map_err(|error| error.to_string())?.ok_or("it does not end")?;
        if exit.outcome == Outcome::Exited(0) {
            return Ok(exit.stdout.text());
        }
        let words = exit.stderr.text();
        let last = words.lines().rev().find(|line| !line.trim().is_empty());
        Err(last.unwrap_or("it failed").trim().to_owned())
    }
}

/// The number in a receipt, if it is one of this service.
fn number(receipt: &str, owner: &str) -> Option<u32> {
    let (id, of) = receipt.split_once(' ')?;
    (of == owner).then(|| id.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_no_option_and_no_markup() {
        let note = Note {
            icon: "dialog-question",
            summary: "--help".to_owned(),
            body: r"<b>Ship</b> & go \074i\076".to_owned(),
            urgent: true,
            replaces: None,
        };
        insta::assert_debug_snapshot!(note.args(Some(7)), @r#"
        [
            "--app-name=Aye",
            "--icon=dialog-question",
            "--urgency=critical",
            "--expire-time=0",
            "--hint=string:sound-name:message-new-instant",
            "--print-id",
            "--replace-id=7",
            "--",
            "--help",
            "‹b›Ship‹/b› + go \\\\074i\\\\076",
        ]
        "#);
    }

    #[test]
    fn a_number_of_another_service_is_not_used() {
        assert_eq!(number("7 :1.4", ":1.4"), Some(7));
        assert_eq!(number("7 :1.4", ":1.9"), None);
        assert_eq!(number("seven :1.4", ":1.4"), None);
    }
}
