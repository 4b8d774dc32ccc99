//! What `confirm`, `choose` and `input` share: a question without a run.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use aye_core::id::QuestionId;
use aye_core::question::Question;
use aye_core::skill::{AskKind, AskLimits, StepTimeout, parse_duration};
use clap::Args;
use clap::builder::FalseyValueParser;
use serde_json::json;

use crate::cli::{Context, environment};
use crate::paint::{Glyph, Tone, duration, escape_control_line};
use crate::prompt::{AskOutcome, Escape, Nowhere, ask_alone, say};
use crate::report::Verbosity;
use aye_runtime::error::Error;
use aye_runtime::prompter::QuestionContext;

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
    /// How long to wait, such as 30s; then the default, or exit code 124. 0 waits [default: 5m]
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<String>,
    /// Do not ask: answer yes, or the default
    #[arg(short, long)]
    pub yes: bool,
    /// Take the default when there is no terminal, instead of exit code 6
    #[arg(long)]
    pub default_on_no_terminal: bool,
    /// Never ask on this terminal
    #[arg(long, env = environment::NO_INPUT, hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub no_input: bool,
}

/// How an answer came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// Somebody gave it.
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
    /// This value, in this way.
    Value(String, How),
    /// No value; the exit code says why.
    Nothing(u8),
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
    if asking.yes {
        let value = yes.ok_or_else(|| {
            Error::usage("`--yes` has nothing to answer with", "give a `--default` as well")
        })?;
        closing(question, value, How::Override, None, context);
        return Ok(Asked::Value(value.to_owned(), How::Override));
    }
    let began = Instant::now();
    let mut here = Nowhere::within(limit, context.now());
    let posed = QuestionContext::alone(question, here.deadline());
    let config = context.config(Escape::Dismisses, !asking.no_input);
    let fallback = |how| question.default.clone().map(|value| (value, how));
    let (value, how) = match ask_alone(&posed, config, &context.clock, &mut here)? {
        AskOutcome::Answered(given) => (given.value, How::Given),
        AskOutcome::Cancelled | AskOutcome::Closed => return Ok(Asked::Nothing(CANCELLED)),
        // As at `read`: the shell that runs the script sees it and stops as well.
        AskOutcome::Stopped(signal) => aye_process::end_by(signal),
        AskOutcome::TimedOut => match fallback(How::Expired) {
            Some(taken) => taken,
            None => {
                closing(question, "", How::Expired, None, context);
                return Ok(Asked::Nothing(TIMED_OUT));
            }
        },
        AskOutcome::Unavailable(why) => {
            match fallback(How::Unattended).filter(|_| asking.default_on_no_terminal) {
                Some(taken) => taken,
                None => return Err(unattended(&why, question)),
            }
        }
    };
    closing(question, &value, how, Some(began.elapsed()), context);
    Ok(Asked::Value(value, how))
}

/// Prints the result for the script.
pub(super) fn print_result(
    shown: &str,
    value: &serde_json::Value,
    how: How,
    context: &Context,
) -> Result<(), Error> {
    if !context.json {
        return print_answer(shown);
    }
    let how = match how {
        How::Given => "answered",
        How::Override => "override",
        How::Expired => "expired",
        How::Unattended => "unattended",
    };
    print_json_line(&json!({ "value": value, "how": how }))
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
fn closing(question: &Question, value: &str, how: How, after: Option<Duration>, context: &Context) {
    if context.verbosity == Verbosity::Quiet || context.json {
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
        How::Given => (Glyph::Answered, Tone::Ask),
        How::Override | How::Expired | How::Unattended => (Glyph::Asking, Tone::Warn),
    };
    let note = match how {
        How::Given => format!("after {}", duration(after.unwrap_or_default())),
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
        How::Given if twice => {}
        How::Given => say(&line),
        How::Override | How::Expired | How::Unattended => crate::cli::say(&format!("{line}\n")),
    }
}
