//! `aye inbox`.
//!
//! Lists the open questions; `watch` keeps the list on the terminal. Touches the journal, through the runtime. The list goes to standard output; an answer
//! goes to the run's driver as a request.

mod watch;

use std::io::IsTerminal as _;
use std::time::Duration;

use aye_core::advice::Advice;
use aye_core::journal::State;
use aye_core::nested::{Item, Parent};
use aye_core::question::Question;
use aye_core::skill::AskKind;
use aye_process::{Signal, Signals};
use clap::Args;
use jiff::Timestamp;
use serde::Serialize;

use crate::cli::Context;
use crate::paint::{Glyph, Paint, Tone, duration, escape_control_line};
use crate::prompt::markup;
use crate::prompt::style::Styled;
use crate::prompt::view::{Look, plain_advice};
use crate::report::{Offered, covered_text, first_words};
use crate::words::{lead_words, place_words};
use aye_runtime::clock::ms_between;
use aye_runtime::error::Error;
use aye_runtime::memory::WaitingProposal;
use aye_runtime::usecases::{JournalReader, OpenQuestion, is_change};

use super::answer::silence;
use super::output::{print_json, print_json_line, print_words};
use super::runs::ago;

/// How many lines of a message a list shows; the question itself shows them all.
const LONGEST: usize = 12;

/// How often a list that shows times is painted.
const LOOK: Duration = Duration::from_secs(1);

// Options of `aye inbox`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  aye inbox\n  aye inbox --watch\n  \
    aye inbox --json | jq -r '.[].question // empty'")]
pub struct InboxArgs {
    /// Keep the list up to date; on a terminal, answer from the list
    #[arg(short, long)]
    pub watch: bool,
}

/// An open question, for programs.
#[derive(Debug, Serialize)]
pub(super) struct Waiting {
    /// Its name, for `aye answer`.
    #[serde(rename = "question")]
    id: String,
    run: String,
    skill: String,
    step: String,
    /// The runs around it, from the outside in: `deploy[web3]`.
    path: Vec<String>,
    /// The item it is about, where it is inside a list.
    item: Option<Item>,
    kind: AskKind,
    /// Its heading, where the skill gives it one.
    title: Option<String>,
    message: String,
    /// What `aye answer` takes from this user now; `details` has all options.
    answers: Vec<String>,
    asked: Timestamp,
    deadline: Option<Timestamp>,
    driven: bool,
    /// The directory that the run is about.
    #[serde(skip)]
    workspace: Option<String>,
    /// Its answer takes the run up.
    #[serde(skip)]
    rests: bool,
    /// How many people have agreed.
    agreed: u32,
    /// Another person than this user has to agree.
    #[serde(skip)]
    needs_another: bool,
    /// What assistants think of it: it counts for nothing.
    advice: Vec<Advice>,
    /// All of it, as the journal has it: who may answer, the default, what follows.
    details: Option<Question>,
    /// What to type to answer it, or what else there is to do.
    #[serde(skip)]
    command: String,
    /// Where each answer leads.
    #[serde(skip)]
    leads: String,
    /// Where it is, in words.
    #[serde(skip)]
    place: Vec<String>,
}

impl Waiting {
    /// Whether silence would let the run continue: it does so only where someone
    /// sees the question.
    fn is_unseen_yes(&self) -> bool {
        self.details.as_ref().is_some_and(Question::default_proceeds)
    }

    /// The time that the skill declares, if it does.
    fn limit(&self) -> Option<String> {
        let deadline = self.details.as_ref()?.deadline?;
        Some(since(self.asked, deadline))
    }

    /// Its time begins again when someone sees it.
    fn until_seen(&self) -> String {
        let time = self.limit().map_or_else(String::new, |limit| format!(", then has {limit}"));
        format!("waits until someone sees it{time}")
    }

    /// How long it waits and how long it may.
    fn note(&self, now: Timestamp) -> Vec<String> {
        let mut note = vec![format!("asked {}", ago(self.asked, now))];
        note.push(match self.deadline {
            Some(deadline) if deadline <= now && !self.is_unseen_yes() => {
                "its time is up".to_owned()
            }
            Some(deadline) if deadline <= now => self.until_seen(),
            Some(deadline) => format!("{} left", since(now, deadline)),
            // Nobody could see it when its time ran out, or it waits behind another.
            None if self.limit().is_some() => self.until_seen(),
            None => "no time limit".to_owned(),
        });
        let all = self.details.as_ref().map_or(1, |question| question.approvals);
        note.extend((self.agreed > 0).then(|| format!("{} of {all} agreed", self.agreed)));
        note.extend(self.needs_another.then(|| "another person has to agree".to_owned()));
        let left = !self.driven && !self.rests;
        note.extend(left.then(|| "no process drives the run".to_owned()));
        note
    }
}

pub(super) fn run(args: &InboxArgs, context: &Context) -> Result<u8, Error> {
    if args.watch {
        let moving = !context.json && std::io::stdout().is_terminal();
        return match moving.then(|| watch::sit_down(context)) {
            Some(Some(left)) => left,
            Some(None) | None => stream(context),
        };
    }
    let open = match &context.journal_if_any()? {
        Some(journal) => open(journal, context)?,
        None => Vec::new(),
    };
    let proposed = proposals(context);
    if context.json {
        print_json(&entries(&open, &proposed))?;
    } else {
        print_words(&list(&open, context))?;
        print_words(&proposal_lines(&proposed, context))?;
    }
    Ok(0)
}

fn open(journal: &JournalReader, context: &Context) -> Result<Vec<Waiting>, Error> {
    let (user, now) = (context.driver().user, context.now());
    let mut waiting = Vec::new();
    for one in journal.open_questions()? {
        let offered = offered(&one, &user, now);
        let state = journal.state(&one.row.run).ok();
        let OpenQuestion { row, question: asked, driven, rests, around, .. } = one;
        let leads = asked.as_ref().map(|asked| lead_words(asked, context.paint_out).join(", "));
        let item = around.iter().rev().find_map(|parent| parent.item.as_ref());
        waiting.push(Waiting {
            id: row.id.to_string(),
            run: row.run.to_string(),
            place: place_words(&around, &row.step),
            path: around.iter().map(Parent::label).collect(),
            item: item.cloned(),
            workspace: state.as_ref().map(|state| state.started.workspace.clone()),
            skill: row.skill,
            step: row.step,
            kind: row.kind,
            title: asked.as_ref().and_then(|asked| asked.own_title()).map(str::to_owned),
            message: row.message,
            command: offered.words().to_owned(),
            needs_another: offered.needs_another,
            answers: offered.values,
            leads: leads.unwrap_or_default(),
            advice: state.as_ref().map(|state| state.advice().to_vec()).unwrap_or_default(),
            agreed: asked.as_ref().map_or(0, |asked| asked.approvals.saturating_sub(row.missing)),
            details: asked,
            asked: row.asked,
            // The time of the run, or of its `finally`, may be up before its own.
            deadline: [row.deadline, state.and_then(|state| state.question_deadline())]
                .into_iter()
                .flatten()
                .min(),
            driven,
            rests,
        });
    }
    Ok(waiting)
}

/// What this user can answer now.
fn offered(open: &OpenQuestion, user: &str, now: Timestamp) -> Offered {
    let nothing = |why| Offered { values: Vec::new(), command: Err(why), needs_another: false };
    let Some(asked) = &open.question else {
        return nothing(format!("aye answer {} TEXT", open.row.id));
    };
    let run = open.around.first().map_or(&open.row.run, |parent| &parent.run);
    let expired = open.row.deadline.is_some_and(|deadline| deadline <= now);
    if expired && !open.driven && !asked.default_proceeds() {
        let taken = silence(asked);
        return nothing(format!("nobody answered in time, {taken}: aye resume {run}"));
    }
    if asked.secret && !open.driven {
        return nothing(format!("it asks for a secret, where the run is driven: aye resume {run}"));
    }
    Offered::to(user, asked, &open.agreement)
}

fn list(open: &[Waiting], context: &Context) -> String {
    let paint = context.paint_out;
    if open.is_empty() {
        return format!("{}\n", paint.text(Tone::Dim, "nothing waits for an answer"));
    }
    let now = context.now();
    let dot = format!(" {} ", paint.glyph(Glyph::Dot));
    let mut text = String::new();
    for one in open {
        let mark = paint.text(Tone::Ask, paint.glyph(Glyph::Asking));
        let note = one.note(now).join(", ");
        let leads = match one.leads.as_str() {
            "" => String::new(),
            leads => format!("  {}\n", paint.text(Tone::Dim, leads)),
        };
        text.push_str(&format!(
            "{mark} {}  {}{dot}{}\n{}{leads}  {}\n  {}\n",
            paint.text(Tone::Strong, &one.id),
            escape_control_line(&one.skill),
            one.place.join(&dot),
            message_lines(one, paint) + &covered_lines(one, paint) + &advice_lines(one, paint),
            paint.text(Tone::Dim, &note),
            one.command,
        ));
    }
    text
}

/// What a proposal is, in words.
fn proposal_words(one: &WaitingProposal) -> String {
    let what = match one.kind {
        "fix" => "proposed fix: ",
        _ => "proposed by a skill: ",
    };
    format!("{what}{}", one.message)
}

/// An entry of the list, for programs.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Entry<'a> {
    Question(&'a Waiting),
    Proposal(&'a WaitingProposal),
}

fn entries<'a>(open: &'a [Waiting], proposed: &'a [WaitingProposal]) -> Vec<Entry<'a>> {
    let questions = open.iter().map(Entry::Question);
    questions.chain(proposed.iter().map(Entry::Proposal)).collect()
}

/// What waits for someone to agree: after the questions, which wait for more.
fn proposals(context: &Context) -> Vec<WaitingProposal> {
    context.current_memory().waiting_proposals()
}

fn proposal_lines(proposed: &[WaitingProposal], context: &Context) -> String {
    let paint = context.paint_out;
    let line = |one: &WaitingProposal| {
        format!(
            "{} {}  {}\n  {}\n",
            paint.text(Tone::Ask, paint.glyph(Glyph::Asking)),
            paint.text(Tone::Strong, &one.short),
            proposal_words(one),
            one.command,
        )
    };
    proposed.iter().map(line).collect()
}

/// The lines of a message: on a terminal wrapped, the first of many. A proposed
/// change is read as a whole.
fn message_lines(one: &Waiting, paint: Paint) -> String {
    let columns = crate::term::columns(std::io::stdout());
    let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(3));
    let message = one.message.trim_start_matches('\n');
    let mut lines = match columns {
        Some(_) => markup::message(message, room, paint),
        // What reads a pipe may know Markdown.
        None => message
            .trim_end()
            .lines()
            .map(|line| markup::harmless(Styled::new(), line, None))
            .collect(),
    };
    let more = lines.len().saturating_sub(LONGEST);
    if columns.is_some() && more > 1 && !is_change(&one.skill) {
        lines.truncate(LONGEST);
        lines.push(rest(one, more, paint));
    }
    let line = |line: &Styled| format!("  {}", line.render(paint)).trim_end().to_owned() + "\n";
    lines.iter().map(line).collect()
}

/// Where the lines are that a list leaves out.
fn rest(one: &Waiting, more: usize, paint: Paint) -> Styled {
    let dots = paint.glyph(Glyph::Ellipsis);
    let words = format!("{dots} {more} more lines, see `aye answer {}`", one.id);
    Styled::new().tone(Tone::Dim, words)
}

/// What assistants think of it, marked as at the prompt: the first of many lines.
fn advice_lines(one: &Waiting, paint: Paint) -> String {
    let Some(question) = &one.details else { return String::new() };
    let terminal = crate::term::columns(std::io::stdout());
    let columns = terminal.map_or(usize::MAX, |columns| columns.saturating_sub(2));
    let mut lines =
        plain_advice(question, &one.advice, None, Look { paint, columns, rows: usize::MAX });
    let more = lines.len().saturating_sub(LONGEST);
    if terminal.is_some() && more > 1 {
        lines.truncate(LONGEST);
        lines.push(rest(one, more, paint).render(paint));
    }
    lines.iter().map(|line| format!("  {}\n", line.trim_end())).collect()
}

/// What a yes covers: the question is answered by the line below it.
fn covered_lines(one: &Waiting, paint: Paint) -> String {
    let Some(question) = &one.details else { return String::new() };
    let columns = crate::term::columns(std::io::stdout());
    let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(3));
    covered_text(question, &one.run, one.workspace.as_deref(), room, paint)
}

/// An open question in a few lines, for someone who watches its run.
pub(super) fn entry(question: &Question, state: &State, context: &Context) -> String {
    let paint = context.paint_err;
    let offered = Offered::to(&context.driver().user, question, &state.agreement());
    let run = question.id.run().map(|run| run.to_string()).unwrap_or_default();
    format!(
        "{} {}  {}\n{}  {} {}\n",
        paint.text(Tone::Ask, paint.glyph(Glyph::Asking)),
        paint.text(Tone::Strong, &escape_control_line(&question.step)),
        first_words(&question.message),
        covered_text(question, &run, None, usize::MAX, paint),
        paint.text(Tone::Dim, "answer"),
        offered.words(),
    )
}

/// The list, again whenever it changes, until someone has seen enough: lines
/// for programs and screen readers.
fn stream(context: &Context) -> Result<u8, Error> {
    let journal = context.journal_to_watch()?;
    let mut subscription = journal.subscribe(0)?;
    let mut signals = catch_signals()?;
    // What was shown last: each with how much was advised on it.
    let mut known: Option<Vec<(String, usize)>> = None;
    loop {
        subscription.drain()?;
        let open = open(&journal, context)?;
        let proposed = proposals(context);
        let names = proposed.iter().map(|one| (one.id.clone(), 0));
        let asked = open.iter().map(|one| (one.id.clone(), one.advice.len()));
        let shown: Vec<(String, usize)> = asked.chain(names).collect();
        let changed = known.as_ref() != Some(&shown);
        if changed && context.json {
            print_json_line(&entries(&open, &proposed))?;
        } else if changed {
            print_words(&list(&open, context))?;
            print_words(&proposal_lines(&proposed, context))?;
        }
        known = Some(shown);
        while let Some(signal) = signals.next() {
            match signal {
                Signal::Interrupt | Signal::Terminate | Signal::Hangup | Signal::Quit => {
                    return Ok(u8::try_from(signal.exit_code()).unwrap_or(1));
                }
                Signal::Suspend => aye_process::suspend(&mut []),
                Signal::Continue | Signal::Resize => {}
            }
        }
        subscription.wait(LOOK)?;
    }
}

pub(super) fn catch_signals() -> Result<Signals, Error> {
    Signals::catch().map_err(Error::Signals)
}

/// The time from one moment to another, as people say it.
pub(super) fn since(from: Timestamp, to: Timestamp) -> String {
    duration(Duration::from_millis(ms_between(from, to)))
}
