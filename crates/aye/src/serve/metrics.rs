//! Counts for Prometheus.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use aye_runtime::error::Error;
use aye_runtime::usecases::RunStatus;

use super::server::Server;

/// What this process has counted since it began.
#[derive(Default)]
pub(super) struct Metrics {
    pub(super) requests: AtomicU64,
    pub(super) refused: AtomicU64,
    pub(super) answers: AtomicU64,
    pub(super) starts: AtomicU64,
    pub(super) messages: AtomicU64,
    pub(super) dropped: AtomicU64,
}

impl Metrics {
    pub(super) fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// The text that Prometheus reads.
pub(super) fn exposition(server: &Server) -> Result<String, Error> {
    let Metrics { requests, refused, answers, starts, messages, dropped } = &server.metrics;
    let mut text = String::new();
    let mut line = |name: &str, kind: &str, help: &str, value: u64| {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "# HELP aye_{name} {help}\n# TYPE aye_{name} {kind}\naye_{name} {value}"
        );
    };
    let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    line("http_requests_total", "counter", "HTTP requests.", get(requests));
    line(
        "http_refused_total",
        "counter",
        "Requests without a valid token or session, or from a foreign place.",
        get(refused),
    );
    line("answers_total", "counter", "Answers that were taken.", get(answers));
    line("starts_total", "counter", "Runs that were started.", get(starts));
    line("socket_messages_total", "counter", "Messages of socket clients.", get(messages));
    line("socket_dropped_total", "counter", "Socket clients that were too slow.", get(dropped));
    line("socket_clients", "gauge", "Connected socket clients.", server.clients.count() as u64);
    let (mut position, mut open, mut unfinished) = (0, 0, 0);
    if let Some(journal) = server.runtime.journal_if_any()? {
        position = journal.position()?;
        open = journal.count_open()?;
        for status in [RunStatus::Running, RunStatus::Paused] {
            unfinished += journal.count_runs(status)?;
        }
    }
    line("journal_position", "gauge", "Number of the newest event.", position);
    line("questions_open", "gauge", "Questions that wait for an answer.", open);
    line("runs_unfinished", "gauge", "Runs that have not ended.", unfinished);
    Ok(text)
}
