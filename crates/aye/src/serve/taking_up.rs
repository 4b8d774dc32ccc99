//! Takes up runs whose driver died.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aye_core::id::RunId;

use crate::paint::escape_control_line;

use super::problem::Problem;
use super::server::Server;

/// How often it is looked for such runs.
const LOOK: Duration = Duration::from_secs(2);
/// How soon one that could not be taken up is tried again, and the longest pause.
const FIRST_PAUSE: Duration = Duration::from_secs(4);
const LONGEST_PAUSE: Duration = Duration::from_secs(5 * 60);

/// Looks for as long as the server runs. It holds no lease: each run gets a process
/// of its own.
pub(super) async fn look(server: Arc<Server>) {
    let mut refused = Refused::default();
    loop {
        let known = refused.clone();
        if let Ok(now) = server.blocking(move |server| take_up(server, known)).await {
            refused = now;
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Takes up what can be. What could not be, for want of a secret or of trust, waits for a
/// person, who reads why; it is tried again later.
fn take_up(server: &Server, mut refused: Refused) -> Result<Refused, Problem> {
    let abandoned = server.runtime.abandoned_runs()?;
    refused.keep(|run| abandoned.iter().any(|row| row.id == *run));
    for row in abandoned {
        if refused.has_to_wait(&row.id, Instant::now()) {
            continue;
        }
        let there = server.runtime.served_at(Path::new(&row.workspace));
        match there.and_then(|runtime| runtime.take_up_abandoned(&row)) {
            Ok(()) => refused.keep(|run| *run != row.id),
            Err(error) => {
                let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
                let why = format!("run `{}` was not resumed: {error}{hint}", row.id);
                if refused.add(&row.id, &why, Instant::now()) {
                    say(&why);
                }
            }
        }
    }
    Ok(refused)
}

/// Tells the person who keeps the server, on standard error or in the system's journal.
fn say(why: &str) {
    // Where nobody can read it there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "warning: {}", escape_control_line(why));
}

/// Runs that could not be taken up.
#[derive(Debug, Clone, Default)]
struct Refused(HashMap<RunId, Failure>);

#[derive(Debug, Clone)]
struct Failure {
    why: String,
    pause: Duration,
    until: Instant,
}

impl Refused {
    fn has_to_wait(&self, run: &RunId, now: Instant) -> bool {
        self.0.get(run).is_some_and(|failure| now < failure.until)
    }

    /// Notes that a run could not be taken up; whether nobody was told of this reason.
    fn add(&mut self, run: &RunId, why: &str, now: Instant) -> bool {
        let before = self.0.get(run);
        let is_new = before.is_none_or(|failure| failure.why != why);
        let pause = before.map_or(FIRST_PAUSE, |failure| (failure.pause * 2).min(LONGEST_PAUSE));
        let failure = Failure { why: why.to_owned(), pause, until: now + pause };
        self.0.insert(run.clone(), failure);
        is_new
    }

    fn keep(&mut self, is_kept: impl Fn(&RunId) -> bool) {
        self.0.retain(|run, _| is_kept(run));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_cannot_be_taken_up_is_tried_again_after_growing_pauses() {
        let (run, mut refused, mut now) =
            (RunId::from_random(1), Refused::default(), Instant::now());
        assert!(!refused.has_to_wait(&run, now));
        assert!(refused.add(&run, "no secret", now));
        let mut pauses = Vec::new();
        for _ in 0..9 {
            let began = now;
            while refused.has_to_wait(&run, now) {
                now += Duration::from_secs(1);
            }
            pauses.push((now - began).as_secs());
            assert!(!refused.add(&run, "no secret", now), "it is said once");
        }
        assert_eq!(pauses, [4, 8, 16, 32, 64, 128, 256, 300, 300]);
        assert!(refused.add(&run, "not trusted", now), "another reason is said");
        refused.keep(|_| false);
        assert!(!refused.has_to_wait(&run, now));
    }
}
