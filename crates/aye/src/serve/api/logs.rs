//! What steps wrote: as lines with their steps, or the bytes of one step.

use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use aye_core::nested::Item;
use aye_process::Stream;
use aye_process::lines::Lines;
use aye_runtime::error::Error;
use aye_runtime::people::Right;
use aye_runtime::usecases::{LogItem, LogMatches, LogRequest, search_log};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{Sender, channel};

use crate::report::{StepSource, output_json, result_json};
use crate::serve::identity::Identity;
use crate::serve::problem::{Code, Problem};
use crate::serve::server::Server;

use super::extract::{Params, Path};
use super::reply::{Lines as LogLines, LogBytes, Reply, reply, stream};

/// How many pieces wait for a client that is slower than the log.
const WAITING: usize = 16;
/// The longest piece of a log that is sent at once.
const PIECE: usize = 64 * 1024;
/// The longest range that is sent in one answer.
const LONGEST: u64 = 16 << 20;

/// Which logs are wanted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LogsQuery {
    /// Only those of this step.
    step: Option<String>,
    /// Continue for as long as a process drives the run.
    #[serde(default)]
    follow: bool,
}

/// `GET /api/v1/runs/{run}/logs`: `step_output` messages, one a line.
pub(super) async fn lines(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    Path(run): Path<String>,
    Params(query): Params<LogsQuery>,
) -> Result<LogLines, Problem> {
    identity.must(Right::Read)?;
    let (pieces, received) = channel(WAITING);
    let found = {
        let (run, identity) = (run.clone(), identity.clone());
        server.blocking(move |server| server.run(&server.journal()?, &run, &identity)).await?
    };
    let reading = Arc::clone(&server);
    let place = server.follower()?;
    tokio::task::spawn_blocking(move || {
        let _place = place;
        let tell = |piece: String| match piece.is_empty() {
            true => !pieces.is_closed(),
            false => pieces.blocking_send(piece.into()).is_ok(),
        };
        // Who has gone away wants nothing more.
        let _ = follow(&reading, found.id.as_str(), query.step.as_deref(), query.follow, tell);
    });
    Ok(LogLines(received))
}

/// Tells the logs of a run as messages until `tell` says that nobody listens; it
/// is asked now and then with nothing.
pub(in crate::serve) fn follow(
    server: &Server,
    run: &str,
    step: Option<&str>,
    follow: bool,
    mut tell: impl FnMut(String) -> bool,
) -> Result<(), Error> {
    let journal = server.runtime.journal()?;
    let row = journal.find_run(run)?;
    let mut current = Writer::default();
    let mut feeds = [Lines::default(), Lines::default()];
    let gone = || Error::Output(std::io::ErrorKind::BrokenPipe.into());
    let request = LogRequest { run: &row, step, follow };
    journal.logs(&request, &mut |item| {
        let mut said = String::new();
        let mut line = |stream, text: &str, current: &Writer| {
            said.push_str(&output_json(&current.source(), stream, text));
            said.push('\n');
        };
        match item {
            LogItem::Began { run, around, item, step, .. } => {
                current = Writer {
                    run: run.to_string(),
                    path: around.to_vec(),
                    item: item.cloned(),
                    step: step.to_owned(),
                };
                feeds = [Lines::default(), Lines::default()];
            }
            LogItem::Output(stream, bytes) => {
                let feed = &mut feeds[usize::from(stream == Stream::Stderr)];
                feed.push(bytes, &mut |text| line(stream, text, &current));
            }
            LogItem::Result(value) => {
                said.push_str(&result_json(&current.source(), value));
                said.push('\n');
            }
            LogItem::Ended => {
                for (feed, stream) in feeds.iter_mut().zip([Stream::Stdout, Stream::Stderr]) {
                    feed.finish(&mut |text| line(stream, text, &current));
                }
            }
            LogItem::CaughtUp => return Ok(()),
            LogItem::Idle | LogItem::NotKept => {}
        }
        match tell(said) {
            true => Ok(()),
            false => Err(gone()),
        }
    })?;
    Ok(())
}

/// Whose output follows.
#[derive(Default)]
struct Writer {
    run: String,
    path: Vec<String>,
    item: Option<Item>,
    step: String,
}

impl Writer {
    fn source(&self) -> StepSource<'_> {
        let Self { run, path, item, step } = self;
        StepSource { run, path, item: item.as_ref(), step }
    }
}

/// Which log of a step is wanted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LogQuery {
    /// Which start of it; without it the last one.
    execution: Option<u32>,
    /// `stdout` or `stderr`; without it both, as they came.
    stream: Option<String>,
}

/// `GET /api/v1/runs/{run}/steps/{step}/log`: the bytes, or a range of them.
pub(super) async fn bytes(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    Path((run, step)): Path<(String, String)>,
    headers: HeaderMap,
    Params(query): Params<LogQuery>,
) -> Result<LogBytes, Problem> {
    identity.must(Right::Read)?;
    let wanted = headers.get(header::RANGE).map(|range| range.to_str().unwrap_or_default());
    let wanted = wanted.map(Range::parse).transpose()?;
    let only = match query.stream.as_deref() {
        None => None,
        Some("stdout") => Some(Stream::Stdout),
        Some("stderr") => Some(Stream::Stderr),
        Some(_) => return Err(Problem::new(Code::Invalid, "`stream` is `stdout` or `stderr`")),
    };
    let log = Log { run, step, execution: query.execution, only };
    let Some(wanted) = wanted else {
        let (pieces, received) = channel(WAITING);
        let checked = log.clone();
        let seen = identity.clone();
        server.blocking(move |server| checked.find(server, &seen).map(|_| ())).await?;
        let reading = Arc::clone(&server);
        tokio::task::spawn_blocking(move || log.pour(&reading, &identity, &pieces));
        let mut response = stream("text/plain; charset=utf-8", received);
        response.headers_mut().insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        return Ok(LogBytes(response));
    };
    let part = server.blocking(move |server| log.range(server, &identity, wanted)).await?;
    Ok(LogBytes(part))
}

/// What is looked for in a log.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchQuery {
    /// In upper or lower case.
    text: String,
    /// The byte at which the first line begins that is looked at.
    #[serde(default)]
    from: u64,
    /// Which start of the step; without it the last one.
    execution: Option<u32>,
}

/// Where a text is in a log.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FoundLines {
    /// The bytes at which the lines with it begin. A line of more than 16 KiB counts as several.
    lines: Vec<u64>,
    /// `from` of the next search: this one looked at a part of the log, or found enough;
    /// `null` at the end.
    next: Option<u64>,
}

/// `GET /api/v1/runs/{run}/steps/{step}/log/search`
pub(super) async fn search(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
    Path((run, step)): Path<(String, String)>,
    Params(query): Params<SearchQuery>,
) -> Reply<FoundLines> {
    identity.must(Right::Read)?;
    let SearchQuery { text, from, execution } = query;
    if text.is_empty() {
        return Err(Problem::new(Code::Invalid, "`text` is empty"));
    }
    let log = Log { run, step, execution, only: None };
    reply(&server, move |server| {
        let LogMatches { lines, next } = search_log(log.find(server, &identity)?, &text, from)?;
        Ok(FoundLines { lines, next })
    })
    .await
}

/// A part of a log.
#[derive(Debug, Clone, Copy)]
enum Range {
    From(u64, Option<u64>),
    Last(u64),
}

impl Range {
    fn parse(text: &str) -> Result<Self, Problem> {
        let wrong = || Problem::new(Code::Range, "`Range` is `bytes=FROM-[TO]` or `bytes=-LAST`");
        let (from, to) = text
            .strip_prefix("bytes=")
            .and_then(|range| range.split_once('-'))
            .ok_or_else(wrong)?;
        let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
        Ok(match (from.is_empty(), to.is_empty()) {
            (true, _) => Self::Last(number(to)?),
            (false, true) => Self::From(number(from)?, None),
            (false, false) => Self::From(number(from)?, Some(number(to)?)),
        })
    }
}

/// The log of one execution of a step.
#[derive(Debug, Clone)]
struct Log {
    run: String,
    step: String,
    execution: Option<u32>,
    only: Option<Stream>,
}

impl Log {
    fn find(
        &self,
        server: &Server,
        identity: &Identity,
    ) -> Result<aye_process::LogReader, Problem> {
        let journal = server.journal()?;
        let row = server.run(&journal, &self.run, identity)?;
        let state = journal.state(&row.id)?;
        let record = state.steps.get(&self.step);
        let record = record.ok_or_else(|| Problem::not_found("step", &self.step))?;
        let execution = self.execution.unwrap_or(record.execution);
        Ok(journal.log(&row.id, execution, &self.step))
    }

    fn pour(&self, server: &Server, identity: &Identity, pieces: &Sender<Bytes>) {
        let Ok(mut reader) = self.find(server, identity) else { return };
        let mut buffer = vec![0; PIECE];
        while let Ok(Some((stream, length))) = reader.read(&mut buffer) {
            let wanted = self.only.is_none_or(|only| only == stream);
            if wanted && pieces.blocking_send(Bytes::copy_from_slice(&buffer[..length])).is_err() {
                return;
            }
        }
    }

    fn range(
        &self,
        server: &Server,
        identity: &Identity,
        wanted: Range,
    ) -> Result<Response, Problem> {
        let total = self.read(server, identity, 0..0, &mut Vec::new())?;
        if total == 0 {
            // It has no ranges; that it is empty is not an error.
            return Ok(plain(StatusCode::OK, Vec::new()));
        }
        let (from, to) = match wanted {
            Range::Last(last) => (total.saturating_sub(last), total),
            Range::From(from, to) => (from, to.map_or(total, |to| to.saturating_add(1)).min(total)),
        };
        if from >= to {
            let all = format!("bytes */{total}");
            let mut refused =
                Problem::new(Code::Range, format!("the log has {total} bytes")).into_response();
            if let Ok(all) = HeaderValue::from_str(&all) {
                refused.headers_mut().insert(header::CONTENT_RANGE, all);
            }
            return Ok(refused);
        }
        let to = to.min(from.saturating_add(LONGEST));
        let mut bytes = Vec::new();
        self.read(server, identity, from..to, &mut bytes)?;
        Ok(part(bytes, from, total))
    }

    /// Reads a part of it; how long all of it is.
    fn read(
        &self,
        server: &Server,
        identity: &Identity,
        wanted: std::ops::Range<u64>,
        bytes: &mut Vec<u8>,
    ) -> Result<u64, Problem> {
        let mut reader = self.find(server, identity)?;
        let mut buffer = vec![0; PIECE];
        let mut at = 0u64;
        loop {
            // What is not wanted is passed over: a log may be long.
            let inside = wanted.contains(&at);
            let next = match inside {
                true => reader.read(&mut buffer).map(|read| read.map(|(one, n)| (one, n as u64))),
                false if at < wanted.start => reader.skip(wanted.start - at),
                false => reader.skip(u64::MAX),
            };
            let Some((stream, length)) = next.map_err(Error::Log)? else { return Ok(at) };
            if self.only.is_some_and(|only| only != stream) {
                continue;
            }
            if inside {
                let most = usize::try_from(length.min(wanted.end - at)).unwrap_or(usize::MAX);
                bytes.extend_from_slice(&buffer[..most]);
            }
            at += length;
        }
    }
}

fn plain(status: StatusCode, bytes: Vec<u8>) -> Response {
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    (status, [(header::CONTENT_TYPE, kind)], bytes).into_response()
}

fn part(bytes: Vec<u8>, from: u64, total: u64) -> Response {
    let last = from + bytes.len() as u64 - 1;
    let mut response = plain(StatusCode::PARTIAL_CONTENT, bytes);
    if let Ok(range) = HeaderValue::from_str(&format!("bytes {from}-{last}/{total}")) {
        response.headers_mut().insert(header::CONTENT_RANGE, range);
    }
    response
}
