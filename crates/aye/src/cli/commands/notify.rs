//! `aye notify`.

use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::cli::Context;
use crate::paint::{Glyph, Paint, Tone, escape_control_line};
use aye_runtime::error::Error;
use aye_runtime::usecases::{MessageRow, MessageState};

use super::output::{print, print_json, print_words};

const EXAMPLES: &str = "\
Examples:
  aye notify test            send a test message through every channel
  aye notify test phone      through one of them
  aye notify list            list the newest messages and whether they arrived

A channel is a table in `~/.config/aye/config.toml`, or in the `aye.toml` of a
project that you trust. Its kind is webhook, ntfy, email, command, desktop or
dropbox:

  [notify.phone]
  kind = \"ntfy\"
  topic = { env = \"NTFY_TOPIC\" }
  on = [\"question\", \"failed\"]";

// Options of `aye notify`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct NotifyArgs {
    #[command(subcommand)]
    command: NotifyCommand,
}

#[derive(Debug, Subcommand)]
enum NotifyCommand {
    /// Send a test message through one channel, or through all of them
    #[command(after_help = "Examples:\n  aye notify test\n  aye notify test phone\n\n\
        Exit codes: 0 every channel accepted it, 1 at least one did not, 3 there is no such \
        channel.")]
    Test {
        /// The channel's name
        channel: Option<String>,
    },
    /// List the newest messages and their delivery status
    #[command(after_help = "Examples:\n  aye notify list\n  aye notify list --json")]
    List,
}

pub(super) fn run(args: &NotifyArgs, context: &Context) -> Result<u8, Error> {
    match &args.command {
        NotifyCommand::Test { channel } => test(channel.as_deref(), context),
        NotifyCommand::List => list(context),
    }
}

fn test(channel: Option<&str>, context: &Context) -> Result<u8, Error> {
    let names: Vec<String> = match channel {
        Some(name) => vec![name.to_owned()],
        None => {
            let usable = context.channels()?.into_iter().filter(|channel| channel.granted);
            usable.map(|channel| channel.name).collect()
        }
    };
    if names.is_empty() {
        return Err(Error::not_found(
            "no notification channel is set up",
            "write `[notify.NAME]` into your own `config.toml`, or `aye trust` the project that \
             has one",
        ));
    }
    let paint = context.paint_out;
    let (mut all, mut failed) = (Vec::new(), false);
    for name in names {
        let result = context.try_channel(&name)?;
        failed |= result.is_err();
        let why = result.as_ref().err().map(ToString::to_string);
        if !context.json {
            let (glyph, tone) = match &why {
                None => (Glyph::Done, Tone::Good),
                Some(_) => (Glyph::Failed, Tone::Bad),
            };
            let mark = paint.text(tone, paint.glyph(glyph));
            let about = why.as_deref().unwrap_or("sent");
            print_words(&format!("{mark} {name:<15} {}\n", escape_control_line(about)))?;
        }
        all.push(json!({ "channel": name, "sent": why.is_none(), "error": why }));
    }
    if context.json {
        print_json(&all)?;
    }
    Ok(u8::from(failed))
}

fn list(context: &Context) -> Result<u8, Error> {
    const NEWEST: u32 = 50;
    let rows = context.newest_messages(NEWEST)?;
    if context.json {
        print_json(&rows.iter().map(message_json).collect::<Vec<_>>())?;
        return Ok(0);
    }
    if rows.is_empty() {
        print_words("no messages yet\n")?;
    }
    for row in rows.iter().rev() {
        print(&message_line(row, context.paint_out, context.now()))?;
    }
    Ok(0)
}

/// A message in JSON.
pub(super) fn message_json(row: &MessageRow) -> Value {
    json!({
        "message": row.id,
        "run": row.run,
        "question": row.question,
        "event": row.occasion.word(),
        "channel": row.channel,
        "state": row.state.word(),
        "attempts": row.attempts,
        "due": row.due,
        "tried": row.tried,
        "result": row.result,
    })
}

/// A message as one line.
pub(super) fn message_line(row: &MessageRow, paint: Paint, now: Timestamp) -> String {
    let (glyph, tone) = match row.state {
        MessageState::Sent | MessageState::Retracted => (Glyph::Done, Tone::Good),
        MessageState::Failed => (Glyph::Failed, Tone::Bad),
        MessageState::Waiting if row.attempts > 0 => (Glyph::Failed, Tone::Bad),
        MessageState::Waiting | MessageState::Withdrawn => (Glyph::Skipped, Tone::Dim),
    };
    let about = row.question.as_ref().map_or_else(|| row.run.to_string(), ToString::to_string);
    let result = row.result.as_deref().filter(|_| row.state != MessageState::Sent);
    let result = result.map(|text| format!(": {}", escape_control_line(text))).unwrap_or_default();
    let state = match row.state {
        MessageState::Waiting if row.attempts > 0 => "not sent yet".to_owned(),
        MessageState::Waiting if row.due > now => format!("due {}", at(row.due)),
        MessageState::Sent | MessageState::Retracted => {
            format!("{} {}", row.state.word(), row.tried.map(at).unwrap_or_default())
        }
        MessageState::Waiting | MessageState::Withdrawn | MessageState::Failed => {
            row.state.word().to_owned()
        }
    };
    let mark = paint.text(tone, paint.glyph(glyph));
    format!(
        "{mark} {} {about} through {}: {state}{result}\n",
        row.occasion.word(),
        escape_control_line(&row.channel)
    )
}

fn at(time: Timestamp) -> String {
    let zoned = time.to_zoned(jiff::tz::TimeZone::system());
    zoned.strftime("%Y-%m-%d %H:%M:%S").to_string()
}
