//! `aye inbox`.

use std::time::Duration;

use clap::Args;
use jiff::Timestamp;
use serde::Serialize;

use crate::cli::Context;
use crate::error::Error;
use crate::paint::{Glyph, Tone, duration, inert_line};
use crate::store::{QuestionRow, RunLock, Store};

use super::output::{print, print_json};

/// Options of `aye inbox`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  aye inbox\n  aye inbox --json | jq -r '.[].id'")]
pub struct InboxArgs {}

/// An open question, for programs.
#[derive(Debug, Serialize)]
struct Waiting<'a> {
    id: &'a str,
    run: &'a str,
    skill: &'a str,
    step: &'a str,
    kind: &'a str,
    title: &'a str,
    message: &'a str,
    options: Vec<String>,
    asked: Timestamp,
    deadline: Option<Timestamp>,
    driven: bool,
}

pub(super) fn run(_: &InboxArgs, context: &Context) -> Result<u8, Error> {
    let store = context.store_to_read()?;
    let open = match &store {
        Some(store) => store.open_questions()?,
        None => Vec::new(),
    };
    if context.json {
        let mut waiting = Vec::new();
        for row in &open {
            waiting.push(Waiting {
                id: row.id.as_str(),
                run: row.run.as_str(),
                skill: &row.skill,
                step: &row.step,
                kind: &row.kind,
                title: &row.title,
                message: &row.message,
                options: options(store.as_ref(), row)?,
                asked: row.asked,
                deadline: row.deadline,
                driven: is_driven(store.as_ref(), row)?,
            });
        }
        print_json(&waiting)?;
        return Ok(0);
    }
    let paint = context.paint_out;
    if open.is_empty() {
        print(&format!("{}\n", paint.text(Tone::Dim, "nothing waits for an answer")))?;
        return Ok(0);
    }
    let now = context.now();
    let mut text = String::new();
    for row in &open {
        let mark = paint.text(Tone::Ask, paint.glyph(Glyph::Asking));
        let waited = format!("asked {} ago", since(row.asked, now));
        let left = match row.deadline {
            Some(deadline) if deadline <= now => "its time is up".to_owned(),
            Some(deadline) => format!("{} left", since(now, deadline)),
            None => "no time limit".to_owned(),
        };
        let driven = if is_driven(store.as_ref(), row)? { "" } else { ", nobody drives the run" };
        text.push_str(&format!(
            "{mark} {}  {} {} {}\n  {}\n  {}\n  aye answer {} {}\n",
            paint.text(Tone::Strong, row.id.as_str()),
            row.skill,
            paint.glyph(Glyph::Dot),
            row.step,
            inert_line(&row.message),
            paint.text(Tone::Dim, &format!("{waited}, {left}{driven}")),
            row.id,
            options(store.as_ref(), row)?.join("|"),
        ));
    }
    print(&text)?;
    Ok(0)
}

fn options(store: Option<&Store>, row: &QuestionRow) -> Result<Vec<String>, Error> {
    let Some(store) = store else { return Ok(Vec::new()) };
    let asked = store.asked(&row.id)?;
    let values: Vec<String> = asked
        .map(|asked| asked.options.iter().map(|offer| offer.value.clone()).collect())
        .unwrap_or_default();
    Ok(if values.is_empty() { vec!["TEXT".to_owned()] } else { values })
}

fn is_driven(store: Option<&Store>, row: &QuestionRow) -> Result<bool, Error> {
    match store {
        Some(store) => Ok(RunLock::holder(store.home(), &row.run)?.is_some()),
        None => Ok(false),
    }
}

/// The time from one moment to another, as people say it.
pub(super) fn since(from: Timestamp, to: Timestamp) -> String {
    let ms = to.as_millisecond() - from.as_millisecond();
    duration(Duration::from_millis(u64::try_from(ms).unwrap_or(0)))
}
