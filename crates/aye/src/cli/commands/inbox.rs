//! `aye inbox`.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use aye_core::question::Question;
use aye_process::{Signal, Signals};
use clap::Args;
use clap::builder::FalseyValueParser;
use jiff::Timestamp;
use serde::Serialize;

use crate::cli::Context;
use crate::error::Error;
use crate::paint::{Glyph, Tone, duration, inert_line};
use crate::prompt::screen::{Painted, Screen};
use crate::store::{QuestionRow, RunLock, Store};

use super::output::{print, print_json, print_line};
use super::runs::ago;

/// How often a list that shows times is painted.
const LOOK: Duration = Duration::from_secs(1);

/// Options of `aye inbox`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  aye inbox\n  aye inbox --watch\n  \
    aye inbox --json | jq -r '.[].id'")]
pub struct InboxArgs {
    /// Go on and show what comes and goes
    #[arg(
        short,
        long,
        env = "AYE_WATCH",
        hide_env_values = true,
        value_parser = FalseyValueParser::new()
    )]
    pub watch: bool,
}

/// An open question, for programs.
#[derive(Debug, Serialize)]
struct Waiting {
    id: String,
    run: String,
    skill: String,
    step: String,
    kind: String,
    title: String,
    message: String,
    options: Vec<String>,
    asked: Timestamp,
    deadline: Option<Timestamp>,
    driven: bool,
}

pub(super) fn run(args: &InboxArgs, context: &Context) -> Result<u8, Error> {
    if args.watch {
        return watch(context);
    }
    let open = match &context.store_to_read()? {
        Some(store) => open(store)?,
        None => Vec::new(),
    };
    if context.json {
        print_json(&open)?;
    } else {
        print(&list(&open, context))?;
    }
    Ok(0)
}

fn open(store: &Store) -> Result<Vec<Waiting>, Error> {
    let mut waiting = Vec::new();
    for row in store.open_questions()? {
        let options = options(store, &row)?;
        let driven = RunLock::holder(store.home(), &row.run)?.is_some();
        waiting.push(Waiting {
            id: row.id.to_string(),
            run: row.run.to_string(),
            skill: row.skill,
            step: row.step,
            kind: row.kind,
            title: row.title,
            message: row.message,
            options,
            asked: row.asked,
            deadline: row.deadline,
            driven,
        });
    }
    Ok(waiting)
}

fn options(store: &Store, row: &QuestionRow) -> Result<Vec<String>, Error> {
    Ok(store.asked(&row.id)?.map(|asked| choices(&asked)).unwrap_or_default())
}

/// What `aye answer` takes.
fn choices(question: &Question) -> Vec<String> {
    match question.options.as_slice() {
        [] => vec!["TEXT".to_owned()],
        options => options.iter().map(|offer| offer.value.clone()).collect(),
    }
}

fn list(open: &[Waiting], context: &Context) -> String {
    let paint = context.paint_out;
    if open.is_empty() {
        return format!("{}\n", paint.text(Tone::Dim, "nothing waits for an answer"));
    }
    let now = context.now();
    let mut text = String::new();
    for one in open {
        let mark = paint.text(Tone::Ask, paint.glyph(Glyph::Asking));
        let waited = format!("asked {}", ago(one.asked, now));
        let left = match one.deadline {
            Some(deadline) if deadline <= now => "its time is up".to_owned(),
            Some(deadline) => format!("{} left", since(now, deadline)),
            None => "no time limit".to_owned(),
        };
        let driven = if one.driven { "" } else { ", nobody drives the run" };
        text.push_str(&format!(
            "{mark} {}  {} {} {}\n  {}\n  {}\n  aye answer {} {}\n",
            paint.text(Tone::Strong, &one.id),
            inert_line(&one.skill),
            paint.glyph(Glyph::Dot),
            inert_line(&one.step),
            inert_line(&one.message),
            paint.text(Tone::Dim, &format!("{waited}, {left}{driven}")),
            one.id,
            inert_line(&one.options.join("|")),
        ));
    }
    text
}

/// An open question in two lines, for somebody who watches its run.
pub(super) fn entry(question: &Question, context: &Context) -> String {
    let paint = context.paint_err;
    let message = question.message.trim().lines().next().unwrap_or_default();
    format!(
        "{} {}  {}\n  {} aye answer {} {}\n",
        paint.text(Tone::Ask, paint.glyph(Glyph::Asking)),
        paint.text(Tone::Strong, &inert_line(&question.step)),
        inert_line(message),
        paint.text(Tone::Dim, "answer"),
        question.id,
        inert_line(&choices(question).join("|")),
    )
}

/// The list, again whenever it changes, until somebody has seen enough.
fn watch(context: &Context) -> Result<u8, Error> {
    let store = context.store()?;
    let mut bell = store.listen()?;
    let mut signals = Signals::catch().map_err(|source| Error::File {
        doing: "catch signals of",
        path: "aye".into(),
        source,
    })?;
    let failed = |source| Error::File { doing: "listen to", path: store.home().bell(), source };
    let moving = !context.json
        && !context.plain
        && std::io::stdout().is_terminal()
        && crate::prompt::is_capable(&context.env);
    let mut screen = Screen::default();
    let mut known: Option<Vec<String>> = None;
    loop {
        bell.drain().map_err(failed)?;
        let open = open(&store)?;
        let ids: Vec<String> = open.iter().map(|one| one.id.clone()).collect();
        let changed = known.as_ref() != Some(&ids);
        if moving {
            repaint(&mut screen, &list(&open, context))?;
        } else if changed && context.json {
            print_line(&serde_json::to_string(&open).unwrap_or_default())?;
        } else if changed {
            print(&list(&open, context))?;
        }
        known = Some(ids);
        while let Some(signal) = signals.next() {
            match signal {
                Signal::Interrupt | Signal::Terminate | Signal::Hangup | Signal::Quit => {
                    if moving {
                        print("\n")?;
                    }
                    return Ok(u8::try_from(signal.exit_code()).unwrap_or(1));
                }
                Signal::Suspend => aye_process::suspend(&mut []),
                Signal::Continue => screen.forget(),
                Signal::Resize => {}
            }
        }
        bell.wait(LOOK).map_err(failed)?;
    }
}

/// Shows as much of the list as the window holds, in place of the last one.
fn repaint(screen: &mut Screen, text: &str) -> Result<(), Error> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    let (columns, rows) = size
        .filter(|size| size.ws_col > 0 && size.ws_row > 0)
        .map_or((80, 24), |size| (usize::from(size.ws_col), usize::from(size.ws_row)));
    let all: Vec<&str> = text.lines().collect();
    let room = rows.saturating_sub(1).max(1);
    let mut lines: Vec<Painted> = Vec::new();
    for line in &all {
        // Colours end where the text is cut; they take no columns.
        let bare = without_colours(line);
        let width = crate::term::width(&bare);
        lines.push(match width < columns {
            true => Painted { text: (*line).to_owned(), width },
            false => {
                let text = crate::term::cut(&bare, columns.saturating_sub(1));
                Painted { width: crate::term::width(&text), text }
            }
        });
    }
    if lines.len() > room {
        lines.truncate(room.saturating_sub(1));
        let text = format!("and {} more lines", all.len() - lines.len());
        lines.push(Painted { width: text.len(), text });
    }
    let mut out = String::new();
    screen.fit(columns);
    let last = lines.len().saturating_sub(1);
    let cursor = (last, lines[last].width);
    screen.show(lines, cursor, &mut out);
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(out.as_bytes()).and_then(|()| stdout.flush()).map_err(Error::Output)
}

fn without_colours(line: &str) -> String {
    let mut bare = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('\u{1b}') {
        bare.push_str(&rest[..at]);
        rest = rest[at..].find('m').map_or("", |end| &rest[at + end + 1..]);
    }
    bare + rest
}

/// The time from one moment to another, as people say it.
pub(super) fn since(from: Timestamp, to: Timestamp) -> String {
    let ms = to.as_millisecond() - from.as_millisecond();
    duration(Duration::from_millis(u64::try_from(ms).unwrap_or(0)))
}
