//! Telling of questions in notifications, whose buttons may answer some of them.

use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use aye_core::id::QuestionId;
use aye_core::question::{Answer, Channel, Proof};
use aye_process::{Exit, Happening, Outcome, Running, Spec, Stop, Stream};
use jiff::tz::TimeZone;

use crate::clock::Clock;
use crate::prompter::{AskedQuestion, JoinRequests, PromptEvent, Prompter, Withdrawn};

use super::available::{Surroundings, obstacle, on_path};
use super::card::Standing;
use super::click::{Click, Opening};
use super::notice::{Notice, NoticeEvent, PROGRAM};
use super::program::{Ended, exit_code};

/// How long a look may take, and how long a notification may take to go away.
const TURN: Duration = Duration::from_millis(1);
const FAREWELL: Duration = Duration::from_millis(500);
/// How often it is looked at where its end is not told, and where it is.
const LOOK: Duration = Duration::from_millis(50);
const GLANCE: Duration = Duration::from_secs(1);
/// How long a question to the bus may take, and until a notification is shown.
const LIMIT: Duration = Duration::from_secs(10);
/// How often it is asked whether the service that shows it is still there: nobody tells the
/// program that waits.
const PULSE: Duration = Duration::from_secs(5);
/// More than this no notification says.
const LONGEST: usize = 64 * 1024;

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
/// What asks the bus under which name the service is connected; another one after a restart.
pub(super) const OWNER: [&str; 7] = [
    "--session",
    "--print-reply=literal",
    "--reply-timeout=3000",
    "--dest=org.freedesktop.DBus",
    "/org/freedesktop/DBus",
    "org.freedesktop.DBus.GetNameOwner",
    "string:org.freedesktop.Notifications",
];
const NOBODY: &str = "no notification service answers";

/// How notifications are to be used.
#[derive(Debug, Clone)]
pub struct NotificationConfig {
    /// Where this process runs.
    pub surroundings: Surroundings,
    /// Who sits there.
    pub user: String,
    /// Where a server says where it is.
    pub home: PathBuf,
    /// A window joins where a click can open nothing else.
    pub has_windows: bool,
}

/// Shows a notification for each question.
pub struct NotificationPrompter {
    config: NotificationConfig,
    clock: Arc<dyn Clock + Send + Sync>,
    obstacle: Option<String>,
    /// Where a click asks a window to join.
    calls: JoinRequests,
    open: Vec<Open>,
    /// Questions that someone wants to see.
    opening: Vec<(QuestionId, Click)>,
}

struct Open {
    question: QuestionId,
    /// What is asked there: a button answers this and nothing else.
    digest: String,
    /// What it says that may be different by now.
    says: Standing,
    notice: Notice,
    program: PathBuf,
    asks: PathBuf,
    /// The run that it belongs to.
    run: Option<String>,
    /// The number under which the service shows it.
    number: Option<u32>,
    /// The service that does.
    owner: String,
    doing: Doing,
}

enum Doing {
    /// The service is asked whether it is there: the program waits for ever for one that
    /// is not.
    Greets(Box<Running>),
    /// The bus is asked which one it is.
    Names(Box<Running>),
    /// It is shown.
    Shown(Box<Shown>),
    /// It has said what it had to say.
    Done,
}

struct Shown {
    child: Running,
    since: Instant,
    /// What the program wrote: a number, then what was pressed.
    said: String,
    /// Asks whether the service is still there.
    pulse: Option<Running>,
    /// When it was asked last.
    asked: Instant,
}

impl NotificationPrompter {
    /// Notifications of this session; a click on one goes to `calls`.
    pub fn new(
        config: NotificationConfig,
        clock: Arc<dyn Clock + Send + Sync>,
        calls: JoinRequests,
    ) -> Self {
        let obstacle = obstacle(&config.surroundings).or_else(|| no_bus(&config.surroundings));
        Self { config, clock, obstacle, calls, open: Vec::new(), opening: Vec::new() }
    }

    fn show(&self, asked: &AskedQuestion<'_>) -> Result<Open, String> {
        let surroundings = &self.config.surroundings;
        if let Some(why) = self.obstacle.clone() {
            return Err(why);
        }
        let (program, asks) = programs(surroundings)?;
        let run = asked.run.map(|run| run.run.outermost().to_string());
        let mut open = Open {
            question: asked.question.id.clone(),
            digest: asked.question.digest.clone(),
            says: Standing::of(asked),
            notice: self.notice(asked),
            program,
            asks,
            run,
            number: None,
            owner: String::new(),
            doing: Doing::Done,
        };
        open.greet()?;
        Ok(open)
    }

    fn notice(&self, asked: &AskedQuestion<'_>) -> Notice {
        Notice::of(asked, self.clock.now(), &TimeZone::system())
    }

    /// Whether what a click opens is there; if nothing can be opened, a window is shown.
    fn opens(&mut self, question: &QuestionId) -> Option<PromptEvent> {
        let at = self.opening.iter().position(|(id, _)| id == question)?;
        match self.opening[at].1.turn(Instant::now()) {
            Opening::Tries => None,
            Opening::Opened => {
                self.opening.remove(at);
                None
            }
            Opening::Nothing => {
                self.opening.remove(at);
                match self.config.has_windows {
                    true => self.calls.join(question),
                    // The click took it away: it is shown once more.
                    false => self.open.retain(|open| open.question != *question),
                }
                Some(PromptEvent::Engaged)
            }
        }
    }
}

impl Prompter for NotificationPrompter {
    fn ask(&mut self, asked: &AskedQuestion<'_>) -> Option<PromptEvent> {
        let question = asked.question;
        if let Some(event) = self.opens(&question.id) {
            return Some(event);
        }
        // A question that stands for this one, such as a change to agree to.
        self.open.retain(|open| open.question != question.id || open.digest == question.digest);
        let at = match self.open.iter().position(|open| open.question == question.id) {
            Some(at) => at,
            None => match self.show(asked) {
                Ok(open) => {
                    self.open.push(open);
                    self.open.len() - 1
                }
                Err(why) => return Some(PromptEvent::Left(why)),
            },
        };
        let says = Standing::of(asked);
        if self.open[at].says != says && self.open[at].is_replaceable() {
            let notice = self.notice(asked);
            if let Err(why) = self.open[at].replace(notice, says) {
                return Some(PromptEvent::Left(failed(&why)));
            }
        }
        match self.open[at].hear()? {
            NoticeEvent::Gone => Some(PromptEvent::Left("its notification was closed".to_owned())),
            NoticeEvent::Failed(why) => Some(PromptEvent::Left(failed(&why))),
            NoticeEvent::Click => {
                let config = &self.config;
                let click = Click::new(&config.home, &config.surroundings.env, &question.id);
                self.opening.push((question.id.clone(), click));
                Some(PromptEvent::Engaged)
            }
            NoticeEvent::Button(option) => {
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
        self.opening.retain(|(id, _)| id != question);
        for open in self.open.extract_if(.., |open| open.question == *question) {
            open.close();
        }
    }

    fn wakes(&self) -> Vec<BorrowedFd<'_>> {
        self.open.iter().flat_map(Open::children).filter_map(Running::wake).collect()
    }

    fn look_at(&self) -> Option<Instant> {
        let waits = self.open.iter().flat_map(Open::children);
        let every = waits.map(|child| if child.wake().is_some() { GLANCE } else { LOOK });
        let every = every.chain((!self.opening.is_empty()).then_some(LOOK)).min()?;
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
    /// Asks the service whether it is there.
    fn greet(&mut self) -> Result<(), String> {
        let child = self.asks(&SERVICE)?;
        self.doing = Doing::Greets(Box::new(child));
        Ok(())
    }

    /// Shows it, in the place of what the service showed before.
    fn show(&mut self) -> Result<(), String> {
        let mut spec = self.spec(&self.program, self.notice.args(self.number));
        // Into a pipe it writes the number only when it ends.
        spec.tty = true;
        let child = aye_process::spawn(spec).map_err(|error| error.to_string())?;
        let since = Instant::now();
        let shown = Shown { child, since, said: String::new(), pulse: None, asked: since };
        self.doing = Doing::Shown(Box::new(shown));
        Ok(())
    }

    /// Asks the service or the bus something.
    fn asks(&self, question: &[&str]) -> Result<Running, String> {
        let words = question.iter().map(|&word| word.to_owned()).collect();
        let mut spec = self.spec(&self.asks, words);
        spec.timeout = Some(LIMIT);
        aye_process::spawn(spec).map_err(|error| error.to_string())
    }

    fn spec(&self, program: &Path, args: Vec<String>) -> Spec {
        let mut spec = Spec::new(program).args(args).without_own_variables(&[]);
        spec.tail_limit = LONGEST;
        spec.aside = true;
        spec.live = true;
        spec.run.clone_from(&self.run);
        spec
    }

    fn children(&self) -> impl Iterator<Item = &Running> {
        let (first, second) = match &self.doing {
            Doing::Greets(child) | Doing::Names(child) => (Some(&**child), None),
            Doing::Shown(shown) => (Some(&shown.child), shown.pulse.as_ref()),
            Doing::Done => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// Whether another can take its place: its number is known.
    fn is_replaceable(&self) -> bool {
        matches!(self.doing, Doing::Shown(_)) && self.number.is_some()
    }

    /// Says what is true now. The program that waits for the old one is killed: told to
    /// stop, it would close the notification.
    fn replace(&mut self, notice: Notice, says: Standing) -> Result<(), String> {
        (self.notice, self.says, self.doing) = (notice, says, Doing::Done);
        self.show()
    }

    fn hear(&mut self) -> Option<NoticeEvent> {
        let heard = match &mut self.doing {
            Doing::Done => return None,
            Doing::Greets(child) => match ended(child, &mut String::new()) {
                Ok(None) => return None,
                Ok(Some(exit)) if exit.outcome == Outcome::Exited(0) => match self.asks(&OWNER) {
                    Ok(child) => {
                        self.doing = Doing::Names(Box::new(child));
                        return None;
                    }
                    Err(why) => NoticeEvent::Failed(why),
                },
                Ok(Some(_)) => NoticeEvent::Failed(NOBODY.to_owned()),
                Err(why) => NoticeEvent::Failed(why),
            },
            Doing::Names(child) => match ended(child, &mut String::new()) {
                Ok(None) => return None,
                Ok(Some(exit)) if exit.outcome == Outcome::Exited(0) => {
                    exit.stdout.text().trim().clone_into(&mut self.owner);
                    match self.show() {
                        Ok(()) => return None,
                        Err(why) => NoticeEvent::Failed(why),
                    }
                }
                Ok(Some(_)) => NoticeEvent::Failed(NOBODY.to_owned()),
                Err(why) => NoticeEvent::Failed(why),
            },
            Doing::Shown(shown) => {
                let exit = match ended(&mut shown.child, &mut shown.said) {
                    Ok(exit) => exit,
                    Err(why) => return Some(self.done(NoticeEvent::Failed(why))),
                };
                let (number, pressed) = read(&shown.said);
                self.number = number.or(self.number);
                match exit {
                    Some(exit) => self.notice.read(&Ended {
                        code: exit_code(exit.outcome),
                        stdout: pressed.to_owned(),
                        stderr: shown.said.clone(),
                    }),
                    None if number.is_none() && shown.since.elapsed() > LIMIT => {
                        NoticeEvent::Failed(NOBODY.to_owned())
                    }
                    None => match self.feel_pulse() {
                        Ok(()) => return None,
                        Err(why) => NoticeEvent::Failed(why),
                    },
                }
            }
        };
        Some(self.done(heard))
    }

    fn done(&mut self, heard: NoticeEvent) -> NoticeEvent {
        self.doing = Doing::Done;
        heard
    }

    /// Finds out whether the service that shows it is still there. Another one has taken
    /// its place: that one shows it too.
    fn feel_pulse(&mut self) -> Result<(), String> {
        let Doing::Shown(shown) = &mut self.doing else { return Ok(()) };
        let exit = match &mut shown.pulse {
            Some(pulse) => match ended(pulse, &mut String::new())? {
                Some(exit) => exit,
                None => return Ok(()),
            },
            None if shown.asked.elapsed() < PULSE => return Ok(()),
            None => {
                let pulse = self.asks(&OWNER)?;
                if let Doing::Shown(shown) = &mut self.doing {
                    (shown.pulse, shown.asked) = (Some(pulse), Instant::now());
                }
                return Ok(());
            }
        };
        shown.pulse = None;
        if exit.outcome != Outcome::Exited(0) {
            return Err("the notification service has gone".to_owned());
        }
        if exit.stdout.text().trim() != self.owner {
            self.number = None;
            self.greet()?;
        }
        Ok(())
    }

    /// Takes it off the screen: told to stop, the program closes what it shows.
    fn close(mut self) {
        if let Doing::Shown(shown) = &mut self.doing {
            shown.child.stop(Stop::Interrupt);
            let until = Some(Instant::now() + FAREWELL);
            let _ = aye_process::wait_aside(&mut shown.child, &[], until);
        }
    }
}

/// What the program wrote: the number of the notification, and what was pressed after that.
/// It may complain about something first.
fn read(said: &str) -> (Option<u32>, &str) {
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    let number = lines.find_map(|line| line.parse().ok());
    (number, lines.next_back().unwrap_or_default())
}

/// How a program has ended, if it has; what it wrote meanwhile.
fn ended(child: &mut Running, said: &mut String) -> Result<Option<Exit>, String> {
    let mut note = |_: usize, stream: Stream, bytes: &[u8]| {
        if stream == Stream::Stdout && said.len() < LONGEST {
            said.push_str(&String::from_utf8_lossy(bytes));
        }
    };
    let until = Some(Instant::now() + TURN);
    match aye_process::wait_aside_with(child, &[], until, &mut note) {
        Ok(Happening::Exited(_, exit)) => Ok(Some(*exit)),
        Ok(_) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

fn failed(why: &str) -> String {
    format!("`{PROGRAM}` could not show it: {why}")
}

/// The programs that show notifications and ask for the service.
pub(super) fn programs(surroundings: &Surroundings) -> Result<(PathBuf, PathBuf), String> {
    let find =
        |name| on_path(name, &surroundings.env).ok_or_else(|| format!("`{name}` is not installed"));
    Ok((find(PROGRAM)?, find(ASKS)?))
}

/// Why nobody would hear of it.
pub(super) fn no_bus(surroundings: &Surroundings) -> Option<String> {
    let set = |name: &str| surroundings.env.get(name).filter(|value| !value.is_empty());
    let bus = set("DBUS_SESSION_BUS_ADDRESS").is_some()
        || set("XDG_RUNTIME_DIR")
            .is_some_and(|runtime| PathBuf::from(runtime).join("bus").exists());
    (!bus).then(|| "there is no session bus".to_owned())
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn the_number_comes_before_what_was_pressed() {
        assert_eq!(read(""), (None, ""));
        assert_eq!(read("12\r\n"), (Some(12), ""));
        assert_eq!(read("12\r\n0\r\n"), (Some(12), "0"));
        assert_eq!(read("(notify-send:7): warning\r\n12\r\ndefault\r\n"), (Some(12), "default"));
    }
}
