//! `aye answer`.

use std::os::fd::{AsFd as _, BorrowedFd};

use aye_core::advice::Advice;
use aye_core::event::{Event, EventKind};
use aye_core::id::QuestionId;
use aye_core::input::Request;
use aye_core::journal::Phase;
use aye_core::question::{AnswerScope, Channel, Edits, Proof, Question};
use aye_core::skill::AskKind;
use clap::Args;
use clap::builder::FalseyValueParser;
use indexmap::IndexMap;
use jiff::Timestamp;

use crate::cli::{Context, environment, say, warn_line};
use crate::paint::{Tone, escape_control_line};
use crate::prompt::dialog::meaning;
use crate::prompt::key::Key;
use crate::prompt::{AskOutcome, Escape, Given, PromptConfig, RemoteQuestion, Update, ask_alone};
use crate::report::{event_json, given_again};
use aye_runtime::error::Error;
use aye_runtime::prompter::AskedQuestion;
use aye_runtime::usecases::{
    AfterAnswer, AnswerError, AnswerRequest, Answerer, JournalReader, QuestionRow, QuestionState,
    RunRow, Subscription, TextArguments,
};

use super::answer_secrets::secrets_to_resume;
use super::changes::Changes;
use super::confirm;
use super::drive::warn;
use super::output::{print_line, tell_people};
use super::resume::{self, ResumeArgs};
use super::shown_output::ShownOutput;
use super::words::one_of;

const EXAMPLES: &str = "\
Examples:
  aye inbox
  aye answer k3f9x2m7q1-1 proceed
  aye answer k3f9x2m7q1-1              shows the question and asks here
  aye answer k3f9x2m7q1-1 cancel --reason 'not on a Friday'
  aye answer k3f9 proceed --resume     resume the run if no process drives it
  aye answer k3f9 edit --set tag=v1.2  retry a step with another argument";

/// How far a remembered answer reaches.
pub(super) const SCOPES: [(&str, AnswerScope, &str); 4] = [
    ("error", AnswerScope::Error, "This step, when it fails with this error"),
    ("step", AnswerScope::Step, "This step"),
    ("skill", AnswerScope::Skill, "The same question at any step of the skill"),
    ("always", AnswerScope::Always, "The same question in any skill"),
];

// Options of `aye answer`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct AnswerArgs {
    /// A question's id, or the beginning of one
    pub question: String,
    /// The value of an option, or a text; without it, Aye asks here
    pub choice: Option<String>,
    /// Why; recorded in the journal
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// A one-time code, if the question needs one
    #[arg(long, value_name = "CODE")]
    pub code: Option<String>,
    /// Remember the answer: for this error, for this step, for the skill, or always; without
    /// SCOPE as narrowly as possible
    #[arg(long, value_name = "SCOPE", value_parser = one_of(SCOPES))]
    pub remember: Option<Option<AnswerScope>>,
    /// With the choice `edit`
    #[command(flatten)]
    pub changes: Changes,
    /// Resume the run if no process drives it
    #[arg(long)]
    pub resume: bool,
    /// With `--resume`: set a secret input again, NAME=VALUE
    #[arg(short, long = "input", value_name = "NAME=VALUE", requires = "resume")]
    pub inputs: Vec<String>,
    /// Never ask on this terminal
    #[arg(long, env = environment::NO_INPUT, hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub no_input: bool,
    /// The key that opened the question, where one did.
    #[arg(skip)]
    pub opened_with: Option<Key>,
}

impl AnswerArgs {
    /// A question of the inbox that was opened with Enter.
    pub(super) fn asking(question: &str) -> Self {
        Self {
            question: question.to_owned(),
            choice: None,
            reason: None,
            code: None,
            remember: None,
            changes: Changes::default(),
            resume: false,
            inputs: Vec::new(),
            no_input: false,
            opened_with: Some(Key::Enter),
        }
    }
}

/// What came of an attempt to answer.
#[derive(Debug)]
pub(super) enum Came {
    /// It was taken.
    Taken {
        /// What was answered, in words.
        label: String,
        /// Nobody drives the run.
        undriven: bool,
    },
    /// The person left without an answer.
    Left,
    /// A signal asked us to stop.
    Stopped(i32),
}

pub(super) fn run(args: &AnswerArgs, context: &Context) -> Result<u8, Error> {
    let secrets = match secrets_to_resume(args, context)? {
        Ok(secrets) => secrets,
        Err(code) => return Ok(code),
    };
    let (row, question, came) = answer(args, context)?;
    match came {
        Came::Taken { label, undriven } => {
            if context.json {
                print_line(&as_recorded(&question, context)?)?;
            } else {
                let more = still_missing(&question, context)?;
                let asked = question.message.lines().next().unwrap_or_default();
                print_line(&format!(
                    "answered {}: {}{more}  ({}: {})",
                    question.id,
                    escape_control_line(&label),
                    escape_control_line(&question.step),
                    escape_control_line(asked),
                ))?;
            }
            if undriven { go_on(&row, args, secrets, context) } else { Ok(0) }
        }
        Came::Left => Ok(5),
        Came::Stopped(signal) => Ok(u8::try_from(128 + signal).unwrap_or(1)),
    }
}

/// The answer as the journal has it, in the words of `aye run --json`.
fn as_recorded(question: &QuestionRow, context: &Context) -> Result<String, Error> {
    let ours = |event: &&Event| match &event.kind {
        EventKind::ConfirmationAnswered(one) => {
            one.question == question.id && one.refused.is_none()
        }
        _ => false,
    };
    let events = context.journal()?.events(&question.run)?;
    Ok(events.iter().rev().find(ours).map(event_json).unwrap_or_default())
}

/// Who else has to agree, once an answer was taken.
fn still_missing(question: &QuestionRow, context: &Context) -> Result<String, Error> {
    let Some(journal) = context.journal_if_any()? else { return Ok(String::new()) };
    Ok(match journal.find_question(question.id.as_str())? {
        QuestionRow { state: QuestionState::Open, missing: 1, .. } => {
            "; one more person has to agree".to_owned()
        }
        QuestionRow { state: QuestionState::Open, missing, .. } => {
            format!("; {missing} more people have to agree")
        }
        QuestionRow { .. } => String::new(),
    })
}

/// Answers one question, asking here for what is not given. The run that is
/// returned is the one to continue with: the outermost.
pub(super) fn answer(
    args: &AnswerArgs,
    context: &Context,
) -> Result<(RunRow, QuestionRow, Came), Error> {
    let journal = context.journal()?;
    let question = journal.find_question(&args.question)?;
    let row = journal.find_run(question.run.as_str())?;
    let asked = journal.asked(&question.id)?;
    let outer = journal.outermost(&row.id)?.unwrap_or_else(|| row.clone());
    loop {
        let given = match (&args.choice, &asked) {
            (Some(choice), _) => Given {
                code: args.code.clone(),
                ..Given::of(&offered_value(choice, asked.as_ref()))
            },
            (None, Some(asked)) => match ask_here(&journal, &row, asked, args, context)? {
                AskOutcome::Answered(given) => given,
                AskOutcome::Cancelled => return Ok((outer, question, Came::Left)),
                AskOutcome::TimedOut => {
                    return Err(time_is_up(&journal, &question, asked, &outer, context.now())?);
                }
                AskOutcome::Closed => return Err(closed(&journal, &question.id, context.now())?),
                AskOutcome::Stopped(signal) => return Ok((outer, question, Came::Stopped(signal))),
                AskOutcome::Unavailable(why) => return Err(say_what(&question, &why)),
            },
            (None, None) => return Err(say_what(&question, "the question is not in the journal")),
        };
        let label = match &asked {
            Some(asked) if asked.secret => "***".to_owned(),
            Some(asked) => {
                asked.offer(&given.value).map_or(given.value.clone(), |o| o.label.clone())
            }
            None => given.value.clone(),
        };
        let choice = given.value.clone();
        let text = || journal.text_arguments(&row, &question.step, context);
        let edits = edits(args, &choice, text)?;
        let narrowest = asked.as_ref().and_then(|asked| asked.remember_scopes().first().copied());
        let scope = args.remember.map(|scope| scope.or(narrowest).unwrap_or(AnswerScope::Step));
        let scope = scope.or(given.remember);
        let code = code_for(&question, asked.as_ref(), &given)?;
        let coded = code.is_some();
        // A change that works is remembered as a fix.
        let remembers = scope.is_some() && edits.is_none();
        let request = AnswerRequest {
            digest: asked.as_ref().map(|asked| asked.digest.clone()),
            reason: args.reason.clone().or(given.reason),
            typed: given.typed,
            code,
            remember: scope,
            edits,
            record_late: true,
            ..AnswerRequest::new(&question.id, given.value)
        };
        let by = Answerer {
            name: context.person(),
            proof: Some(Proof::Local),
            channel: Channel::Command,
            vouched: false,
        };
        match context.give_answer(&request, &by) {
            Ok(taken) => {
                if remembers {
                    tell_remembered(&journal, &question, context)?;
                }
                let undriven = taken.undriven.is_some();
                return Ok((outer, question, Came::Taken { label, undriven }));
            }
            Err(AnswerError::Refused { why, .. }) => {
                let error = refused(&question, asked.as_ref(), &why);
                // The code may have been mistyped: asked again, here.
                if args.choice.is_some() || !coded {
                    return Err(error);
                }
                say(&format!("{} {error}\n", context.paint_err.text(Tone::Bad, "error:")));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// What a failed step is given differently.
fn edits(
    args: &AnswerArgs,
    choice: &str,
    text: impl FnOnce() -> TextArguments,
) -> Result<Option<Edits>, Error> {
    let scope = args.remember.map(|scope| scope.unwrap_or(AnswerScope::Step));
    match (args.changes.edits(scope, text)?, choice) {
        (Some(_), choice) if choice != "edit" => {
            let hint = format!("write `aye answer {} edit --set …`", args.question);
            Err(Error::usage("`--set` goes with the choice `edit`", hint))
        }
        (None, "edit") => Err(Error::usage(
            "`edit` needs what to change",
            "write `--set NAME=VALUE`; `aye show RUN` has the names",
        )),
        (edits, _) => Ok(edits),
    }
}

/// Says what became of the wish to have the answer remembered.
fn tell_remembered(
    journal: &JournalReader,
    question: &QuestionRow,
    context: &Context,
) -> Result<(), Error> {
    match journal.remembered_answer(question)? {
        Some(what) if what.id.is_some() => tell_people(&what.message, context),
        Some(what) => {
            let said = escape_control_line(&what.message);
            warn_line(&format!("the answer counts, but it was {said}"), context);
            Ok(())
        }
        None => Ok(()),
    }
}

/// The one-time code, where one is wanted: the process that applies the answer
/// checks it. Saying no needs none.
fn code_for(
    question: &QuestionRow,
    asked: Option<&Question>,
    given: &Given,
) -> Result<Option<String>, Error> {
    let wanted =
        asked.is_some_and(|asked| asked.reauth && asked.commits(&given.value.as_str().into()));
    match &given.code {
        code @ Some(_) if wanted => Ok(code.clone()),
        None if wanted => {
            // A secret is not written where others may read it.
            let secret = asked.is_some_and(|asked| asked.secret);
            let value = if secret { "TEXT" } else { given.value.as_str() };
            Err(Error::usage(
                format!("`{}` needs a one-time code", question.id),
                format!("`aye answer {} {value} --code CODE`", question.id),
            ))
        }
        Some(_) | None => Ok(None),
    }
}

fn refused(question: &QuestionRow, asked: Option<&Question>, why: &str) -> Error {
    let typed = asked.is_some_and(|asked| asked.typed.is_some());
    Error::Refused {
        message: format!(
            "the answer to `{}` was refused: {}",
            question.id,
            escape_control_line(why)
        ),
        hint: typed
            .then(|| format!("type it at a terminal: `aye answer {}` asks for it", question.id)),
    }
}

/// Someone else was quicker.
fn closed(journal: &JournalReader, question: &QuestionId, now: Timestamp) -> Result<Error, Error> {
    let not_open = || Error::Refused {
        message: format!("question `{question}` is not open"),
        hint: Some("`aye inbox` lists the open ones".to_owned()),
    };
    Ok(journal.late_answer(question, now)?.unwrap_or_else(not_open))
}

/// Nobody answered in time: what was decided, or what will be.
fn time_is_up(
    journal: &JournalReader,
    question: &QuestionRow,
    asked: &Question,
    outer: &RunRow,
    now: Timestamp,
) -> Result<Error, Error> {
    if let Some(late) = journal.late_answer(&question.id, now)? {
        return Ok(late);
    }
    let deadline = journal.question(&question.id)?.and_then(|row| row.deadline);
    let own = ends(asked, deadline, None).is_some_and(|deadline| deadline <= now);
    let why = match own {
        true => format!("nobody answered in time, {}", silence(asked)),
        false => "its run timed out".to_owned(),
    };
    let run = &outer.id;
    let hint = match journal.is_driven(run)? {
        true => format!("`aye cancel {run}` stops the run"),
        false => format!("no process drives the run: `aye resume {run}` continues it"),
    };
    let message = format!("question `{}` is closed: {why}", question.id);
    Ok(Error::Refused { message, hint: Some(hint) })
}

/// What it means that nobody answered in time.
pub(super) fn silence(asked: &Question) -> String {
    match &asked.default {
        Some(default) => format!("`{}` is taken", escape_control_line(default)),
        None => "that counts as no".to_owned(),
    }
}

fn say_what(question: &QuestionRow, why: &str) -> Error {
    Error::Unattended {
        message: format!("nobody can be asked here: {why}"),
        hint: Some(format!("give the answer: `aye answer {} CHOICE`", question.id)),
    }
}

/// Shows the question on this terminal, as the run would.
fn ask_here(
    journal: &JournalReader,
    row: &RunRow,
    asked: &Question,
    args: &AnswerArgs,
    context: &Context,
) -> Result<AskOutcome, Error> {
    let state = journal.state(&row.id)?;
    let (deadline, agreed) = match &state.phase {
        Phase::Asking { question, agreed, .. } if question.id == asked.id => {
            (ends(asked, question.deadline, state.deadline()), agreed.clone())
        }
        Phase::Asking { .. } | Phase::Transition(_) | Phase::Running { .. } | Phase::Ended(_) => {
            return Err(closed(journal, &asked.id, context.now())?);
        }
    };
    // Only who drives the run knows what the step is given; elsewhere it is `--set`.
    let mut shown = asked.clone();
    if shown.kind == AskKind::Recover {
        shown.options.retain(|offer| offer.value != "edit");
    }
    let known = journal.known_about(row, &state, asked, context)?;
    let around = journal.around(&row.id)?;
    let here = AskedQuestion {
        question: &shown,
        deadline,
        agreed: &agreed,
        advice: &[],
        known: &known,
        run: Some(&state),
        around: &around,
        secrets: None,
        among: None,
        shown: false,
    };
    let config = context.config(Escape::Dismisses, !args.no_input);
    let config = PromptConfig { opened_with: args.opened_with.clone(), ..config };
    let mut remote = Journalled {
        subscription: journal.subscribe_to_run(&row.id, 0)?,
        journal,
        row,
        asked,
        advice: Vec::new(),
        run_ends: state.deadline(),
        context,
    };
    ask_alone(&here, config, &context.clock, &mut remote)
}

/// When it is over with a question. Anyone who drives the run takes a default that
/// proceeds only if a prompt of its own shows it: elsewhere it has no end.
fn ends(
    asked: &Question,
    deadline: Option<Timestamp>,
    run_ends: Option<Timestamp>,
) -> Option<Timestamp> {
    let own = deadline.filter(|_| !asked.default_proceeds());
    [own, run_ends].into_iter().flatten().min()
}

/// The question as the journal has it, while it is shown here.
struct Journalled<'a> {
    journal: &'a JournalReader,
    subscription: Subscription<'a>,
    row: &'a RunRow,
    asked: &'a Question,
    advice: Vec<Advice>,
    run_ends: Option<Timestamp>,
    context: &'a Context,
}

impl RemoteQuestion for Journalled<'_> {
    fn wake(&self) -> Option<BorrowedFd<'_>> {
        Some(self.subscription.as_fd())
    }

    fn update(&mut self) -> Result<Update, Error> {
        for (_, event) in self.subscription.events()? {
            if let EventKind::ConfirmationAdvised { question, advice } = event.kind
                && question == self.asked.id
            {
                self.advice.push(*advice);
            }
        }
        Ok(match self.journal.question(&self.asked.id)? {
            Some(row) if row.state == QuestionState::Open => {
                Update::Open(ends(self.asked, row.deadline, self.run_ends))
            }
            Some(_) | None => Update::Closed,
        })
    }

    fn advice(&self) -> &[Advice] {
        &self.advice
    }

    fn advise(&mut self, advice: Advice) -> Result<(), Error> {
        let request = Request::Advise { question: self.asked.id.clone(), advice };
        self.context.submit_unheard(self.row, &request)
    }

    fn hold(&mut self, _now: Timestamp) -> Result<(), Error> {
        let by = self.context.driver().user;
        let request = Request::Hold { question: self.asked.id.clone(), by };
        self.context.submit_unheard(self.row, &request)
    }
}

/// Nobody drives the run: offers to.
fn go_on(
    row: &RunRow,
    args: &AnswerArgs,
    secrets: IndexMap<String, String>,
    context: &Context,
) -> Result<u8, Error> {
    // With a guard, which ends what we start, the person resumes it: it had a
    // driver when we looked.
    let guarded = aye_process::guard::pid() != 0;
    if !args.resume && !guarded && take_up(row, context)? {
        return Ok(0);
    }
    if args.resume {
        // What the answer led to is in the journal; the run is the same.
        let row = context.resumable(row.id.as_str())?.row;
        return resume::resume_here(row, secrets, false, context);
    }
    if wants_to_go_on(row, args, context)? {
        let run = row.id.to_string();
        let shown = ShownOutput { output: context.output };
        let (inputs, no_input, detach) = (Vec::new(), false, false);
        let args = ResumeArgs { run, inputs, no_input, detach, no_wait: false, shown };
        return resume::run(&args, context);
    }
    tell_people(&to_resume(row, context), context)?;
    Ok(0)
}

fn to_resume(row: &RunRow, context: &Context) -> String {
    let again = given_again(&context.lost_secrets(&row.id));
    format!("no process drives the run; resume it with: aye resume {}{again}", row.id)
}

/// Whether the answer to a question takes its run up in the background. What cannot be
/// read does not: that is told later.
pub(super) fn takes_up(args: &AnswerArgs, context: &Context) -> bool {
    let continues = || -> Result<bool, Error> {
        let journal = context.journal()?;
        let question = journal.find_question(&args.question)?;
        let row = journal.find_run(question.run.as_str())?;
        let outer = journal.outermost(&row.id)?.unwrap_or(row);
        let continues = !journal.is_driven(&outer.id)? && journal.continues_unseen(&outer)?;
        // Secrets that are lost are asked for here, and the run continues here.
        Ok(continues && context.lost_secrets(&outer.id).is_empty())
    };
    !args.resume && continues().unwrap_or(false)
}

/// A run that nobody sat at continues in the background, as it was before. Whether that
/// is settled; if not, it is for the person to say.
pub(super) fn take_up(row: &RunRow, context: &Context) -> Result<bool, Error> {
    let after = context.continue_answered(row, &mut |warning| warn(&warning, context));
    match after {
        AfterAnswer::Ended => Ok(true),
        AfterAnswer::Continues { .. } => {
            let words = format!("the run continues in the background: aye watch {}", row.id);
            tell_people(&words, context)?;
            Ok(true)
        }
        AfterAnswer::LeftToPerson(_) => Ok(false),
        AfterAnswer::NotResumed(why) => {
            let why = escape_control_line(&why);
            warn_line(&format!("the run was not resumed: {why}"), context);
            tell_people(&to_resume(row, context), context)?;
            Ok(true)
        }
    }
}

fn wants_to_go_on(row: &RunRow, args: &AnswerArgs, context: &Context) -> Result<bool, Error> {
    let message = format!("No process drives run `{}` of {}. Resume it here?", row.id, row.skill);
    let may_ask = !args.no_input && !context.json;
    Ok(confirm::says_yes(&message, Some(confirm::Default::Yes), may_ask, context)? == Some(true))
}

/// `yes` and `no` for a plain yes or no, unless an option is called that.
fn offered_value(choice: &str, asked: Option<&Question>) -> String {
    let plain = asked.filter(|asked| asked.offer(choice).is_none()).and_then(|asked| {
        let (yes, no) = asked.yes_and_no()?;
        let index = if meaning(choice)? { yes } else { no };
        asked.options.get(index)
    });
    plain.map_or_else(|| choice.to_owned(), |offer| offer.value.clone())
}
