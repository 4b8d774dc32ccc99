//! Commands of clients: each is one use case, and its result is one message.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::harmless::json_line;
use crate::serve::api::{ChangedRun, RetryProof, follow_logs, hold_question, resume_run};
use crate::serve::identity::Identity;
use crate::serve::problem::{Code, Problem};
use crate::serve::server::Server;

use super::connection::Connection;
use super::message::{ClientMessage, CommandReply, CommandResult};
use super::snapshot::snapshot;

/// How often a question is held again while someone looks at it.
const HOLD: Duration = Duration::from_secs(10);
/// How many runs one client follows, and how many questions it holds.
const MOST: usize = 20;

/// Carries out what a client says. What takes time is done elsewhere.
pub(super) fn take(connection: &mut Connection, message: ClientMessage) {
    let kind = connection.kind;
    match message {
        ClientMessage::Hello(hello) => {
            let id = hello.id;
            connection.introduce(hello);
            acknowledge(connection, id);
        }
        ClientMessage::Show(show) => {
            connection.shows(show.question, show.notified);
            acknowledge(connection, show.id);
        }
        ClientMessage::Answer(answer) => work(connection, answer.id, move |server, identity| {
            let taken = answer.body.answer(server, identity, &answer.question, kind, None)?;
            Ok(CommandReply::Answered(taken))
        }),
        ClientMessage::Hold(hold) => self::hold(connection, hold.id, hold.question),
        ClientMessage::Release(release) => {
            match connection.holds.remove(&release.question) {
                Some(held) if !held.is_finished() => {
                    held.abort();
                    acknowledge(connection, Some(release.id));
                }
                // It was refused, is decided, or was held for as long as it can be.
                Some(_) | None => {
                    let detail = "this connection does not hold the question";
                    let problem = Problem::new(Code::NotFound, detail);
                    connection.result(&CommandResult::of(Some(release.id), Err(problem)));
                }
            }
        }
        ClientMessage::Cancel(cancel) => work(connection, cancel.id, move |server, identity| {
            Ok(CommandReply::Run(cancel.body.cancel(server, identity, &cancel.run)?))
        }),
        ClientMessage::Resume(resume) => work(connection, resume.id, move |server, identity| {
            Ok(CommandReply::Run(resume_run(server, identity, &resume.run)?))
        }),
        ClientMessage::Retry(retry) => work(connection, retry.id, move |server, identity| {
            let proof = (retry.key, &RetryProof::Socket);
            Ok(CommandReply::Run(retry.body.retry(server, identity, &retry.run, kind, proof)?))
        }),
        ClientMessage::Start(start) => work(connection, start.id, move |server, identity| {
            Ok(CommandReply::Started(start.body.start(server, identity, kind, start.key)?))
        }),
        ClientMessage::Follow(wanted) => follow(connection, wanted.id, wanted.run, wanted.step),
        ClientMessage::Unfollow(unwanted) => {
            if let Some(stop) = connection.follows.remove(&unwanted.run) {
                stop.store(true, Ordering::Relaxed);
            }
            acknowledge(connection, Some(unwanted.id));
        }
        ClientMessage::Snapshot(wanted) => {
            work(connection, wanted.id, move |server, identity| {
                let (_, text) = snapshot(server, identity)?;
                let snapshot = serde_json::from_str(&text).unwrap_or_default();
                Ok(CommandReply::Snapshot { snapshot })
            });
        }
    }
}

fn acknowledge(connection: &Connection, id: Option<u64>) {
    if id.is_some() {
        connection.result(&CommandResult::done(id));
    }
}

/// Does something that waits, and sends what became of it.
fn work(
    connection: &Connection,
    id: u64,
    work: impl FnOnce(&Server, &Identity) -> Result<CommandReply, Problem> + Send + 'static,
) {
    let Ok(permit) = Arc::clone(&connection.busy).try_acquire_owned() else {
        let problem =
            Problem::new(Code::RateLimited, "too many commands at once; wait for a result");
        return connection.result(&CommandResult::of(Some(id), Err(problem)));
    };
    let (server, identity) = (Arc::clone(&connection.server), connection.identity.clone());
    let out = connection.out.clone();
    tokio::spawn(async move {
        let done = server.blocking(move |server| work(server, &identity)).await;
        drop(permit);
        // A client that has gone does not wait for it.
        let _ = out.send(json_line(&CommandResult::of(Some(id), done))).await;
    });
}

/// Holds a question, again and again, until it is released, decided or was held
/// for as long as it can be.
fn hold(connection: &mut Connection, id: u64, question: String) {
    if connection.holds.len() >= MOST {
        connection.holds.retain(|_, held| !held.is_finished());
    }
    if connection.holds.len() >= MOST {
        let problem = Problem::new(Code::RateLimited, format!("{MOST} questions are held already"));
        return connection.result(&CommandResult::of(Some(id), Err(problem)));
    }
    let (server, identity) = (Arc::clone(&connection.server), connection.identity.clone());
    let (out, held) = (connection.out.clone(), question.clone());
    let task = tokio::spawn(async move {
        let again = || {
            let (identity, question) = (identity.clone(), held.clone());
            server.blocking(move |server| {
                Ok(CommandReply::Held(hold_question(server, &identity, &question)?))
            })
        };
        let first = again().await;
        let is_held = first.is_ok();
        let _ = out.send(json_line(&CommandResult::of(Some(id), first))).await;
        if !is_held {
            return;
        }
        loop {
            tokio::time::sleep(HOLD).await;
            if again().await.is_err() {
                return;
            }
        }
    });
    if let Some(before) = connection.holds.insert(question, task.abort_handle()) {
        before.abort();
    }
}

/// Sends what the steps of a run write, until it has ended.
fn follow(connection: &mut Connection, id: u64, run: String, step: Option<String>) {
    // Those that failed or came to their end take no place.
    connection.follows.retain(|_, stop| !stop.load(Ordering::Relaxed));
    if connection.follows.len() >= MOST {
        let problem = Problem::new(Code::RateLimited, format!("{MOST} runs are followed already"));
        return connection.result(&CommandResult::of(Some(id), Err(problem)));
    }
    let stop = Arc::new(AtomicBool::new(false));
    let (server, identity) = (Arc::clone(&connection.server), connection.identity.clone());
    let (out, stopped, name) = (connection.out.clone(), Arc::clone(&stop), run.clone());
    tokio::spawn(async move {
        let found = server
            .blocking(move |server| {
                identity.must(aye_runtime::people::Right::Read)?;
                let run = server.run(&server.journal()?, &name, &identity)?.id;
                Ok((run, server.follower()?))
            })
            .await;
        let (found, place) = match found {
            Ok((run, place)) => (Ok(run), Some(place)),
            Err(problem) => (Err(problem), None),
        };
        let row = found.as_ref().ok().cloned();
        let told = found.map(|run| CommandReply::Run(ChangedRun { run: run.to_string() }));
        let _ = out.send(json_line(&CommandResult::of(Some(id), told))).await;
        let Some(row) = row else {
            return stopped.store(true, Ordering::Relaxed);
        };
        let reading = Arc::clone(&server);
        tokio::task::spawn_blocking(move || {
            let _place = place;
            let tell = |lines: String| {
                let goes_on = || !stopped.load(Ordering::Relaxed) && !out.is_closed();
                goes_on() && lines.lines().all(|line| out.blocking_send(line.into()).is_ok())
            };
            // Who has gone away wants nothing more.
            let _ = follow_logs(&reading, row.as_str(), step.as_deref(), true, tell);
            stopped.store(true, Ordering::Relaxed);
        });
    });
    if let Some(before) = connection.follows.insert(run, stop) {
        before.store(true, Ordering::Relaxed);
    }
}
