//! Asking in windows: one process for each question that is shown.

use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aye_core::id::QuestionId;
use aye_core::question::{Answer, Question};
use aye_process::{Happening, Running, Spec, Stdin};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::clock::Clock;
use crate::prompter::{AskedQuestion, PresenceKind, PromptEvent, Prompter, Withdrawn};

use super::available::{Surroundings, obstacle, programs};
use super::card::{Card, Standing};
use super::conversation::{Draft, Next, Stage, first};
use super::display::{Probe, displays};
use super::program::{DialogProgram, Ended, exit_code};
use super::window::{Closed, Window};

/// How long a window takes until someone can see it.
const APPEARS: Duration = Duration::from_secs(1);
/// How long a window stands before another names a deadline that has moved.
const STANDS: Duration = Duration::from_secs(10);
/// How many windows one run has open at a time.
const MOST: usize = 3;
/// How often a window is looked at where its end is not told, and where it is.
const LOOK: Duration = Duration::from_millis(50);
const GLANCE: Duration = Duration::from_secs(1);
/// How long a look may take.
const TURN: Duration = Duration::from_millis(1);
/// More than this nobody writes into a window.
const LONGEST: usize = 1 << 20;

/// How the desktop is to be used.
#[derive(Debug, Clone)]
pub struct DesktopConfig {
    /// Where this process runs.
    pub surroundings: Surroundings,
    /// Who sits there.
    pub user: String,
    /// Questions are shown one at a time, as at the terminal beside it.
    pub one_at_a_time: bool,
}

/// Asks in windows of the desktop. Nothing is tried before there is a question.
pub struct DesktopPrompter {
    config: DesktopConfig,
    clock: Arc<dyn Clock + Send + Sync>,
    obstacle: Option<String>,
    open: Vec<Open>,
}

/// A question that is asked here.
struct Open {
    question: QuestionId,
    /// What was asked: another question may take its place.
    digest: String,
    stage: Option<Stage>,
    /// What the next window says about the last one.
    notice: Option<String>,
    /// The programs that have not failed yet, with their files.
    programs: Vec<(&'static dyn DialogProgram, PathBuf)>,
    doing: Doing,
}

enum Doing {
    /// A display was greeted.
    Greeted(Probe),
    /// A window is to be shown.
    Due,
    /// A window is shown.
    Shown(Box<Shown>),
    /// An answer was handed over.
    Answered,
}

struct Shown {
    child: Running,
    window: Window,
    since: Instant,
    /// What its text says that may be different by now.
    says: Standing,
}

impl Shown {
    /// Whether another window has to say what is true now. No program changes a text that
    /// it shows: the window is closed and opened again. Not while someone may be writing in
    /// it, and not each time that someone who looks elsewhere holds the deadline.
    fn is_stale(&self, standing: &Standing, now: Timestamp) -> bool {
        let writes = matches!(self.window, Window::Write { .. });
        let named = self.says.deadline.is_some_and(|deadline| deadline <= now);
        let moved = self.says.deadline != standing.deadline;
        moved && named
            || !writes && self.says.has_news(standing)
            || !writes && moved && self.since.elapsed() >= STANDS
    }
}

impl DesktopPrompter {
    /// A prompter for this session.
    pub fn new(config: DesktopConfig, clock: Arc<dyn Clock + Send + Sync>) -> Self {
        let obstacle = obstacle(&config.surroundings);
        Self { config, clock, obstacle, open: Vec::new() }
    }

    /// Looks for a display and a program for a question that is new here.
    fn begin(&self, question: &Question) -> Result<Open, String> {
        let surroundings = &self.config.surroundings;
        if let Some(why) = self.obstacle.clone() {
            return Err(why);
        }
        let programs = programs(&surroundings.env)?;
        let doing = match cfg!(target_os = "macos") {
            true => Doing::Due,
            false => Doing::Greeted(Probe::start(displays(&surroundings.env)?, Instant::now())?),
        };
        Ok(Open {
            question: question.id.clone(),
            digest: question.digest.clone(),
            stage: None,
            notice: None,
            programs,
            doing,
        })
    }

    fn has_room(&self) -> bool {
        let shown = |open: &&Open| matches!(open.doing, Doing::Shown(_));
        self.open.iter().filter(shown).count() < MOST
    }
}

impl Prompter for DesktopPrompter {
    fn ask(&mut self, asked: &AskedQuestion<'_>) -> Option<PromptEvent> {
        let question = asked.question;
        // A question that stands for this one, such as a change to agree to.
        self.open.retain(|open| open.question != question.id || open.digest == question.digest);
        let at = match self.open.iter().position(|open| open.question == question.id) {
            Some(at) => at,
            None => match self.begin(question) {
                Ok(open) => {
                    self.open.push(open);
                    self.open.len() - 1
                }
                Err(why) => return Some(PromptEvent::Left(why)),
            },
        };
        let room = self.has_room();
        let now = self.clock.now();
        self.open[at].turn(asked, now, room, &self.config.user)
    }

    fn is_showing(&self, question: &QuestionId) -> bool {
        self.open.iter().any(|open| match &open.doing {
            Doing::Shown(shown) => open.question == *question && shown.since.elapsed() >= APPEARS,
            Doing::Greeted(_) | Doing::Due | Doing::Answered => false,
        })
    }

    fn presence(&self) -> Option<PresenceKind> {
        Some(PresenceKind::Desktop)
    }

    fn refused(&mut self, question: &QuestionId, why: &str) {
        if let Some(open) = self.open.iter_mut().find(|open| open.question == *question) {
            open.notice = Some(crate::fmt::escape_control_line(why));
            open.doing = Doing::Due;
        }
    }

    // Anyone who looks at the window sees it close; the run's report says why.
    fn withdraw(&mut self, question: &QuestionId, _: &Withdrawn) {
        self.open.retain(|open| open.question != *question);
    }

    fn wakes(&self) -> Vec<BorrowedFd<'_>> {
        self.open.iter().filter_map(Open::wake).collect()
    }

    fn look_at(&self) -> Option<Instant> {
        self.open.iter().filter_map(Open::look_at).min()
    }

    fn obstacle(&self) -> Option<&str> {
        self.obstacle.as_deref()
    }

    fn one_at_a_time(&self) -> bool {
        self.config.one_at_a_time
    }
}

impl Open {
    /// Looks what has happened, shows what is due.
    fn turn(
        &mut self,
        asked: &AskedQuestion<'_>,
        now: Timestamp,
        room: bool,
        user: &str,
    ) -> Option<PromptEvent> {
        match &mut self.doing {
            Doing::Answered => None,
            Doing::Due => self.show(asked, now, room),
            Doing::Greeted(probe) => match probe.check(Instant::now())? {
                Ok(()) => {
                    self.doing = Doing::Due;
                    self.show(asked, now, room)
                }
                Err(why) => Some(PromptEvent::Left(why)),
            },
            Doing::Shown(shown) => {
                let ended = match aye_process::wait_aside(
                    &mut shown.child,
                    &[],
                    Some(Instant::now() + TURN),
                ) {
                    Ok(Happening::Exited(_, exit)) => Ok(Ended {
                        code: exit_code(exit.outcome),
                        stdout: exit.stdout.text(),
                        stderr: exit.stderr.text(),
                    }),
                    Ok(_) => {
                        if shown.is_stale(&Standing::of(asked), now) {
                            self.stage = self.stage.as_ref().map(Stage::reopened);
                            self.doing = Doing::Due;
                        }
                        return None;
                    }
                    Err(error) => Err(error.to_string()),
                };
                let window = shown.window.clone();
                let picks = match (&window, self.programs.first()) {
                    (Window::Pick(rows), Some((program, _))) => program.typing_picks(rows),
                    _ => false,
                };
                let closed = match (ended, self.programs.first()) {
                    (Ok(ended), Some((program, _))) => program.read(&window, &ended),
                    (Err(why), _) => Closed::Failed(why),
                    (Ok(_), None) => Closed::Failed("there is no program".to_owned()),
                };
                self.closed(asked, closed, picks, user)
            }
        }
    }

    /// A window has ended; `picks` is whether typing may have picked a row of it.
    fn closed(
        &mut self,
        asked: &AskedQuestion<'_>,
        closed: Closed,
        picks: bool,
        user: &str,
    ) -> Option<PromptEvent> {
        let stage = self.stage.clone()?;
        let row = match closed {
            Closed::Row(at) if picks => Some(at),
            _ => None,
        };
        let next = match (stage.next(asked.question, closed), row) {
            (Next::Answer(..), Some(at)) => stage.sure(at),
            (next, _) => next,
        };
        match next {
            Next::Left => Some(PromptEvent::Left("its window was closed".to_owned())),
            Next::Failed(why) => {
                let failed = self.programs.remove(0).0.name();
                self.doing = Doing::Due;
                let left = self.programs.is_empty();
                left.then(|| PromptEvent::Left(format!("`{failed}` could not show it: {why}")))
            }
            Next::Show(stage, notice) => {
                (self.stage, self.notice, self.doing) = (Some(stage), notice, Doing::Due);
                Some(PromptEvent::Engaged)
            }
            Next::Answer(draft, code) => {
                let channel = self.programs.first()?.0.channel();
                self.stage = Some(stage.again());
                self.doing = Doing::Answered;
                let Draft { value, typed, remember } = draft;
                let answer = Answer {
                    typed,
                    remember,
                    digest: Some(asked.question.digest.clone()),
                    ..Answer::local(value, user, channel)
                };
                Some(PromptEvent::Answered { answer, code })
            }
        }
    }

    /// Starts the program that shows the next window.
    fn show(
        &mut self,
        asked: &AskedQuestion<'_>,
        now: Timestamp,
        room: bool,
    ) -> Option<PromptEvent> {
        if !room {
            return None;
        }
        let question = asked.question;
        let card = Card::of(asked, now, &TimeZone::system());
        let stage = self.stage.get_or_insert_with(|| first(&card)).clone();
        let (window, card) = stage.window(question, card);
        let card = Card { notice: self.notice.take(), ..card };
        while let Some((program, path)) = self.programs.first() {
            match spawn(*program, path, &window, &card, asked) {
                Ok(child) => {
                    let (since, says) = (Instant::now(), Standing::of(asked));
                    self.doing = Doing::Shown(Box::new(Shown { child, window, since, says }));
                    return None;
                }
                Err(why) => {
                    let failed = self.programs.remove(0).0.name();
                    if self.programs.is_empty() {
                        return Some(PromptEvent::Left(format!(
                            "`{failed}` could not be started: {why}"
                        )));
                    }
                }
            }
        }
        Some(PromptEvent::Left("no program shows windows here".to_owned()))
    }

    fn wake(&self) -> Option<BorrowedFd<'_>> {
        match &self.doing {
            Doing::Greeted(probe) => Some(probe.wake()),
            Doing::Shown(shown) => shown.child.wake(),
            Doing::Due | Doing::Answered => None,
        }
    }

    fn look_at(&self) -> Option<Instant> {
        match &self.doing {
            Doing::Greeted(probe) => Some(probe.until()),
            // There was no room, or a look has just made it due.
            Doing::Due => Some(Instant::now() + LOOK),
            Doing::Shown(shown) => {
                let every = if shown.child.wake().is_some() { GLANCE } else { LOOK };
                Some(Instant::now() + every)
            }
            Doing::Answered => None,
        }
    }
}

fn spawn(
    program: &dyn DialogProgram,
    path: &std::path::Path,
    window: &Window,
    card: &Card,
    asked: &AskedQuestion<'_>,
) -> Result<Running, String> {
    let launch = program.launch(window, card);
    let mut spec = Spec::new(path).args(launch.args).without_own_variables(&[]);
    spec.env.extend(launch.env.iter().map(|(name, value)| ((*name).into(), Some((*value).into()))));
    spec.stdin = Stdin::Bytes(launch.stdin.into_bytes());
    spec.tail_limit = LONGEST;
    spec.aside = true;
    spec.run = asked.run.map(|run| run.run.outermost().to_string());
    aye_process::spawn(spec).map_err(|error| error.to_string())
}
