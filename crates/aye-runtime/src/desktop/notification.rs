//! Telling of questions in notifications, whose buttons may answer some of them.

use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use aye_core::id::QuestionId;
use aye_core::question::{Answer, Channel, Proof};
use aye_process::{Happening, Outcome, Running, Spec, Stop};
use jiff::tz::TimeZone;

use crate::announced_server::AnnouncedServer;
use crate::clock::Clock;
use crate::prompter::{JoinRequests, PromptEvent, Prompter, QuestionContext, Withdrawn};

use super::available::{Surroundings, obstacle, on_path};
use super::notice::{Heard, Notice, PROGRAM};
use super::program::Ended;

/// How long a look may take, and how long a notification may take to go away.
const TURN: Duration = Duration::from_millis(1);
const FAREWELL: Duration = Duration::from_millis(500);
/// How often it is looked at where its end is not told, and where it is.
const LOOK: Duration = Duration::from_millis(50);
const GLANCE: Duration = Duration::from_secs(1);
/// More than this no notification says.
const LONGEST: usize = 64 * 1024;
/// Programs that open an address.
const OPENERS: [&str; 2] = ["xdg-open", "open"];

/// What asks the service for its name, and how.
pub(super) const ASKS: &str = "dbus-send";
pub(super) const SERVICE: [&str; 6] = [
    "--session",
    "--print-reply",
    "--reply-timeout=3000",
    "--dest=org.freedesktop.Notifications",
    "/org/freedesktop/Notifications",
    "org.freedesktop.Notifications.GetServerInformation",
];

/// How notifications are to be used.
#[derive(Debug, Clone)]
pub struct NotificationConfig {
    /// Where this process runs.
    pub surroundings: Surroundings,
    /// Who sits there.
    pub user: String,
    /// Where a server says where it is.
    pub home: PathBuf,
}

/// Shows a notification for each question.
pub struct NotificationPrompter {
    config: NotificationConfig,
    clock: Arc<dyn Clock + Send + Sync>,
    obstacle: Option<String>,
    /// Where a click asks a window to join.
    calls: JoinRequests,
    open: Vec<Open>,
}

struct Open {
    question: QuestionId,
    /// How many had agreed when it was shown.
    agreed: usize,
    notice: Notice,
    program: PathBuf,
    /// The run that it belongs to.
    run: Option<String>,
    /// The service has answered: the program waits for ever for one that is not there.
    answered: bool,
    /// Nothing once it has said what it had to say.
    child: Option<Box<Running>>,
}

impl NotificationPrompter {
    /// Notifications of this session; a click on one goes to `calls`.
    pub fn new(
        config: NotificationConfig,
        clock: Arc<dyn Clock + Send + Sync>,
        calls: JoinRequests,
    ) -> Self {
        let obstacle = obstacle(&config.surroundings).or_else(|| no_bus(&config.surroundings));
        Self { config, clock, obstacle, calls, open: Vec::new() }
    }

    fn show(&self, posed: &QuestionContext<'_>) -> Result<Open, String> {
        if let Some(why) =
            self.obstacle.clone().or_else(|| super::available::container(&self.config.surroundings))
        {
            return Err(why);
        }
        let program = on_path(PROGRAM, &self.config.surroundings.env);
        let program = program.ok_or_else(|| format!("`{PROGRAM}` is not installed"))?;
        let notice = Notice::of(posed, self.clock.now(), &TimeZone::system());
        let run = posed.run.map(|run| run.run.outermost().to_string());
        let mut open = Open {
            question: posed.question.id.clone(),
            agreed: posed.agreed.len(),
            notice,
            program,
            run,
            answered: false,
            child: None,
        };
        let asks = on_path(ASKS, &self.config.surroundings.env);
        let child = match &asks {
            Some(asks) => open.spawn(asks, SERVICE.map(str::to_owned).to_vec()),
            None => open.show(),
        };
        open.child = Some(Box::new(child?));
        open.answered = asks.is_none();
        Ok(open)
    }

    /// Someone wants to see the question: its card, else the terminal it is asked at,
    /// else a window.
    fn clicked(&self, question: &QuestionId) {
        let env = &self.config.surroundings.env;
        if let Some(server) = AnnouncedServer::running(&self.config.home)
            && let Some(opener) = OPENERS.iter().find_map(|name| on_path(name, env))
            && start(Command::new(opener).arg(format!("{}/#/inbox", server.url)))
        {
            return;
        }
        let window = env.get("WINDOWID").and_then(|id| id.parse::<u64>().ok());
        if let Some(window) = window {
            let window = window.to_string();
            let tools = [
                ("xdotool", vec!["windowactivate", &window]),
                ("wmctrl", vec!["-i", "-a", &window]),
            ];
            for (name, args) in tools {
                if on_path(name, env).is_some_and(|path| start(Command::new(path).args(args))) {
                    return;
                }
            }
        }
        self.calls.join(question);
    }
}

impl Prompter for NotificationPrompter {
    fn ask(&mut self, posed: &QuestionContext<'_>) -> Option<PromptEvent> {
        let question = posed.question;
        let known = self.open.iter().position(|open| open.question == question.id);
        // One that says less than is true is replaced.
        let stale = known.is_some_and(|at| self.open[at].agreed != posed.agreed.len());
        if stale {
            self.withdraw(&question.id, &Withdrawn::Gone);
        }
        let at = match known.filter(|_| !stale) {
            Some(at) => at,
            None => match self.show(posed) {
                Ok(open) => {
                    self.open.push(open);
                    self.open.len() - 1
                }
                Err(why) => return Some(PromptEvent::Left(why)),
            },
        };
        match self.open[at].hear()? {
            Heard::Gone => Some(PromptEvent::Left("its notification was closed".to_owned())),
            Heard::Failed(why) => {
                Some(PromptEvent::Left(format!("`{PROGRAM}` could not show it: {why}")))
            }
            Heard::Click => {
                self.clicked(&question.id);
                Some(PromptEvent::Engaged)
            }
            Heard::Button(option) => {
                let value = question.options.get(option)?.value.clone();
                let answer = Answer {
                    digest: Some(question.digest.clone()),
                    proof: Some(Proof::Relayed),
                    ..Answer::new(value, &self.config.user, Channel::Notification)
                };
                Some(PromptEvent::Answered { answer, code: None })
            }
        }
    }

    // A notification that someone may have seen is not a question before their eyes.
    fn is_showing(&self, _: &QuestionId) -> bool {
        false
    }

    fn refused(&mut self, question: &QuestionId, _: &str) {
        // It is shown anew; what it offers is what counts now.
        self.open.retain(|open| open.question != *question);
    }

    fn withdraw(&mut self, question: &QuestionId, _: &Withdrawn) {
        for open in self.open.extract_if(.., |open| open.question == *question) {
            open.close();
        }
    }

    fn wakes(&self) -> Vec<BorrowedFd<'_>> {
        self.open.iter().filter_map(|open| open.child.as_ref()?.wake()).collect()
    }

    fn look_at(&self) -> Option<Instant> {
        let waits = self.open.iter().filter_map(|open| open.child.as_ref());
        let every = waits.map(|child| if child.wake().is_some() { GLANCE } else { LOOK }).min()?;
        Some(Instant::now() + every)
    }

    fn obstacle(&self) -> Option<&str> {
        self.obstacle.as_deref()
    }
}

impl Drop for NotificationPrompter {
    fn drop(&mut self) {
        self.open.drain(..).for_each(Open::close);
    }
}

impl Open {
    fn show(&self) -> Result<Running, String> {
        self.spawn(&self.program, self.notice.args())
    }

    fn spawn(&self, program: &Path, args: Vec<String>) -> Result<Running, String> {
        let mut spec = Spec::new(program).args(args);
        let own = std::env::vars_os().map(|(name, _)| name);
        let own = own.filter(|name| name.to_string_lossy().starts_with("AYE_"));
        spec.env = own.map(|name| (name, None)).collect();
        spec.tail_limit = LONGEST;
        spec.aside = true;
        spec.run.clone_from(&self.run);
        aye_process::spawn(spec).map_err(|error| error.to_string())
    }

    fn hear(&mut self) -> Option<Heard> {
        let answered = self.answered;
        let child = self.child.as_mut()?;
        let happened = aye_process::wait_aside(child, &[], Some(Instant::now() + TURN));
        let heard = match happened {
            Ok(Happening::Exited(_, exit)) if !answered => {
                if exit.outcome != Outcome::Exited(0) {
                    return Some(Heard::Failed("no notification service answers".to_owned()));
                }
                self.answered = true;
                match self.show() {
                    Ok(child) => {
                        self.child = Some(Box::new(child));
                        return None;
                    }
                    Err(why) => Heard::Failed(why),
                }
            }
            Ok(Happening::Exited(_, exit)) => self.notice.read(&Ended {
                code: match exit.outcome {
                    Outcome::Exited(code) => Some(code),
                    Outcome::Signaled(_)
                    | Outcome::TimedOut
                    | Outcome::Cancelled
                    | Outcome::Interrupted => None,
                },
                stdout: exit.stdout.text(),
                stderr: exit.stderr.text(),
            }),
            Ok(_) => return None,
            Err(error) => Heard::Failed(error.to_string()),
        };
        self.child = None;
        Some(heard)
    }

    /// Takes it off the screen: told to stop, the program closes what it shows.
    fn close(mut self) {
        if let Some(child) = &mut self.child {
            child.stop(Stop::Interrupt);
            let _ = aye_process::wait_aside(child, &[], Some(Instant::now() + FAREWELL));
        }
    }
}

/// Why nobody would hear of it.
pub(super) fn no_bus(surroundings: &Surroundings) -> Option<String> {
    let set = |name: &str| surroundings.env.get(name).filter(|value| !value.is_empty());
    let bus = set("DBUS_SESSION_BUS_ADDRESS").is_some()
        || set("XDG_RUNTIME_DIR")
            .is_some_and(|runtime| PathBuf::from(runtime).join("bus").exists());
    (!bus).then(|| "there is no session bus".to_owned())
}

/// Starts a program that continues without us, and says whether it could be.
fn start(command: &mut Command) -> bool {
    aye_process::withhold(command);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        Ok(mut child) => {
            let waiting = std::thread::Builder::new().name("reap".to_owned());
            // Without a thread its entry stays until this process ends: no harm done.
            let _ = waiting.spawn(move || child.wait());
            true
        }
        Err(_) => false,
    }
}
