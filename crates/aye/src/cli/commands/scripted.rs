//! What `confirm`, `choose` and `input` share: a question without a run, or in
//! a run of its own (`journalled`).
//!
//! Touches the terminal; the answer goes to standard output or the exit code.

mod journalled;

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use aye_core::id::{QuestionId, RunId};
use aye_core::question::{Channel, Question};
use aye_core::skill::{AskKind, AskLimits, StepTimeout, parse_duration};
use clap::Args;
use clap::builder::FalseyValueParser;
use serde_json::json;

use crate::cli::{Context, environment};
use crate::paint::{Glyph, Tone, duration, escape_control_line};
use crate::prompt::{AskOutcome, Escape, LocalQuestion, ask_alone, say};
use aye_runtime::error::Error;
use aye_runtime::prompter::AskedQuestion;

use super::output::{print_answer, print_json_line};

/// The exit code of a prompt that was left with Esc.
const CANCELLED: u8 = 5;
/// The exit code of a prompt that nobody answered.
const TIMED_OUT: u8 = 124;

/// The longest question and answer in the line that stays.
const SHORT: usize = 60;

// Options of every question a script asks.
#[derive(Debug, Default, Args)]
pub struct Asking {
    /// A heading above the message
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// How long to wait, such as 30s; then take the default or exit with 124. 0 is no limit
    /// [default: 5m]
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<String>,
    /// Do not ask: `confirm` answers yes, `choose` and `input` take `--default`
    #[arg(short, long)]
    pub yes: bool,
    /// Take the default when there is no terminal, instead of exit code 6
    #[arg(long, conflicts_with = "journal")]
    pub default_on_no_terminal: bool,
    /// Record it as a run: `aye inbox` lists it, and the first answer from anywhere wins
    #[arg(long)]
    pub journal: bool,
    /// Never ask on this terminal
    #[arg(long, env = environment::NO_INPUT, hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub no_input: bool,
}

/// How an answer came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// Someone gave it.
    Given,
    /// `--yes`.
    Override,
    /// Nobody answered in time; it is the default.
    Expired,
    /// There is no terminal; it is the default.
    Unattended,
}

/// What came of a script's question.
pub(super) enum Asked {
    /// A value.
    Value(Taken),
    /// No value; the exit code says why.
    Nothing(u8),
}

/// A value that a script gets.
pub(super) struct Taken {
    pub(super) value: String,
    how: How,
    /// What the journal knows of it.
    recorded: Option<Recorded>,
}

/// A question in the journal.
struct Recorded {
    run: RunId,
    question: Option<QuestionId>,
    /// Who answered, and through what; nobody where the time ran out.
    by: Option<(String, Channel)>,
}

/// A question with the usual parts; the caller adds what its kind needs.
pub(super) fn question(
    kind: AskKind,
    message: &str,
    title: Option<&str>,
) -> Result<Question, Error> {
    if message.trim().is_empty() {
        return Err(Error::usage("the message is empty", "say what is asked"));
    }
    Ok(Question {
        title: title.unwrap_or_default().to_owned(),
        overridable: true,
        ..Question::new(QuestionId::from_text("script"), kind, message)
    })
}

/// Asks; `yes` is what `--yes` stands for.
pub(super) fn ask(
    question: &Question,
    yes: Option<&str>,
    asking: &Asking,
    context: &Context,
) -> Result<Asked, Error> {
    let limit = limit(asking, &context.settings.ask)?;
    if asking.yes && yes.is_none() {
        let hint = "give a `--default` as well";
        return Err(Error::usage("`--yes` has no answer to give", hint));
    }
    let began = Instant::now();
    if asking.journal {
        return Ok(match journalled::ask(question, limit, asking, context)? {
            Asked::Value(taken) => closed(question, taken, began, context),
            Asked::Nothing(code) => nothing(question, code, context),
        });
    }
    if let Some(value) = yes.filter(|_| asking.yes) {
        let taken = Taken { value: value.to_owned(), how: How::Override, recorded: None };
        return Ok(closed(question, taken, began, context));
    }
    let mut here = LocalQuestion::within(limit, context.now());
    let asked = AskedQuestion::alone(question, here.deadline());
    let config = context.config(Escape::Dismisses, !asking.no_input);
    let fallback = |how| question.default.clone().map(|value| (value, how));
    let (value, how) = match ask_alone(&asked, config, &context.clock, &mut here)? {
        AskOutcome::Answered(given) => (given.value, How::Given),
        AskOutcome::Cancelled | AskOutcome::Closed => return Ok(Asked::Nothing(CANCELLED)),
        // As at `read`: the shell that runs the script sees it and stops as well.
        AskOutcome::Stopped(signal) => aye_process::end_by(signal),
        AskOutcome::TimedOut => match fallback(How::Expired) {
            Some(taken) => taken,
            None => return Ok(nothing(question, TIMED_OUT, context)),
        },
        AskOutcome::Unavailable(why) => {
            match fallback(How::Unattended).filter(|_| asking.default_on_no_terminal) {
                Some(taken) => taken,
                None => return Err(unattended(&why, question)),
            }
        }
    };
    Ok(closed(question, Taken { value, how, recorded: None }, began, context))
}

/// The question is answered: one line says so.
fn closed(question: &Question, taken: Taken, began: Instant, context: &Context) -> Asked {
    closing(question, &taken, began.elapsed(), context);
    Asked::Value(taken)
}

/// There is no answer; that nobody gave one in time is said.
fn nothing(question: &Question, code: u8, context: &Context) -> Asked {
    if code == TIMED_OUT {
        let taken = Taken { value: String::new(), how: How::Expired, recorded: None };
        closing(question, &taken, Duration::ZERO, context);
    }
    Asked::Nothing(code)
}

/// Prints the result for the script.
pub(super) fn print_result(
    shown: &str,
    value: &serde_json::Value,
    taken: &Taken,
    context: &Context,
) -> Result<(), Error> {
    if !context.json {
        return print_answer(shown);
    }
    let mut line = json!({ "value": value });
    if let Some(Recorded { run, question, by }) = &taken.recorded {
        line["run"] = json!(run);
        line["question"] = json!(question);
        if let Some((by, _)) = by {
            line["by"] = json!(by);
        }
    }
    match taken.how {
        How::Given => line["prompter"] = json!(taken.through()),
        How::Override => line["prompter"] = json!(Channel::Override),
        How::Expired => line["expired"] = true.into(),
        How::Unattended => line["unattended"] = true.into(),
    }
    print_json_line(&line)
}

impl Taken {
    /// Through what it came: this terminal, where the journal does not say.
    fn through(&self) -> Channel {
        let by = self.recorded.as_ref().and_then(|recorded| recorded.by.as_ref());
        by.map_or(Channel::Terminal, |(_, prompter)| *prompter)
    }

    /// Who gave it elsewhere, in words.
    fn elsewhere(&self) -> Option<String> {
        let (by, prompter) = self.recorded.as_ref()?.by.as_ref()?;
        let words = || format!("by {} through {}", escape_control_line(by), prompter.spoken());
        (*prompter != Channel::Terminal).then(words)
    }
}

/// How long to wait, by the rules for questions of a skill.
fn limit(asking: &Asking, limits: &AskLimits) -> Result<Option<Duration>, Error> {
    let written = match asking.timeout.as_deref().map(parse_duration).transpose() {
        Ok(None) => StepTimeout::Default,
        Ok(Some(limit)) if limit.is_zero() => StepTimeout::Unlimited,
        Ok(Some(limit)) => StepTimeout::After(limit),
        Err(error) => return Err(Error::usage(error.to_string(), error.hint())),
    };
    Ok(limits.wait(written, false))
}

fn unattended(why: &str, question: &Question) -> Error {
    let mut hint = "run it on a terminal, or answer with `--yes`".to_owned();
    if question.default.is_some() {
        hint.push_str("; `--default-on-no-terminal` takes the default");
    }
    Error::Unattended { message: format!("nobody can be asked: {why}"), hint: Some(hint) }
}

/// One line that stays on the terminal: the question and what became of it.
fn closing(question: &Question, taken: &Taken, after: Duration, context: &Context) {
    let Taken { value, how, .. } = taken;
    // What was decided is said with `-q`, too.
    if context.json {
        return;
    }
    let paint = context.paint_err;
    let asked = escape_control_line(question.message.trim().lines().next().unwrap_or_default());
    let asked = crate::term::cut(&asked, SHORT);
    let answer = match question.offer(value) {
        Some(offer) => escape_control_line(&offer.label),
        None if question.secret => "***".to_owned(),
        None => escape_control_line(value),
    };
    let answer = crate::term::cut(&answer, SHORT);
    let (glyph, tone) = match how {
        How::Given => (Glyph::Answered, Tone::Mark),
        How::Override | How::Expired | How::Unattended => (Glyph::Asking, Tone::Warn),
    };
    let note = match how {
        How::Given => {
            let elsewhere = taken.elsewhere().map(|words| format!("{words} "));
            format!("{}after {}", elsewhere.unwrap_or_default(), duration(after))
        }
        How::Override => "because of --yes".to_owned(),
        How::Expired => "nobody answered in time".to_owned(),
        How::Unattended => "there is no terminal".to_owned(),
    };
    let line = format!(
        "{} {asked}  {}  {}",
        paint.text(tone, paint.glyph(glyph)),
        paint.text(Tone::Strong, &answer),
        paint.text(Tone::Dim, &note)
    );
    // The answer itself follows on standard output.
    let twice = std::io::stdout().is_terminal() && question.kind != AskKind::Confirm;
    match how {
        How::Given if twice && taken.elsewhere().is_none() => {}
        How::Given => say(&line),
        How::Override | How::Expired | How::Unattended => crate::cli::say(&format!("{line}\n")),
    }
}
