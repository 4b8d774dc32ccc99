//! A server that is a program of ours: its process and its pipes.

use std::collections::VecDeque;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aye_process::{Pipes, Service, Spec};
use rmcp::service::RoleClient;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;

use super::error::ToolError;
use super::handler::Shared;
use super::watched::{Fault, Watched};

/// How many of the last lines on standard error an error shows.
const TAIL: usize = 5;
/// The longest line of standard error that is kept whole.
const LONGEST_LINE: usize = 2000;
/// How long the end and the last words of a server may take to arrive.
pub(super) const LAST_WORDS: Duration = Duration::from_millis(300);
/// How long a server whose input was closed may take to end by itself.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long it may take after `SIGTERM`.
const GRACE: Duration = Duration::from_secs(2);

/// The transport over a program's pipes.
pub(super) type PipeTransport = AsyncRwTransport<RoleClient, Watched<pipe::Receiver>, pipe::Sender>;

/// A running server program.
#[derive(Debug)]
pub(super) struct Program {
    service: Mutex<Service>,
    tail: Arc<Mutex<VecDeque<String>>>,
    fault: Fault,
    ended: tokio::sync::watch::Receiver<bool>,
    watcher: tokio::task::JoinHandle<()>,
    /// Its standard output once more, until it has answered: what a program
    /// says that is not a server says why.
    unread: Mutex<Option<OwnedFd>>,
    /// True when all of standard error was read.
    words: tokio::sync::watch::Receiver<bool>,
}

impl Program {
    /// Starts it; the transport is to be served.
    pub(super) fn start(spec: &Spec, shared: &Shared) -> Result<(Self, PipeTransport), ToolError> {
        let (service, pipes) = aye_process::serve(spec).map_err(|error| {
            let failed = ToolError::server(format!(
                "the server `{}` cannot be started: {error}",
                shared.server
            ));
            match error.hint() {
                Some(hint) => failed.hint(hint),
                None => failed,
            }
        })?;
        let unusable = |error: std::io::Error| {
            ToolError::server(format!("the pipes of `{}` cannot be used: {error}", shared.server))
        };
        let Pipes { stdin, stdout, stderr } = pipes;
        let unread = Mutex::new(stdout.try_clone().ok());
        let stdin = sender(stdin).map_err(unusable)?;
        let stdout = receiver(stdout).map_err(unusable)?;
        let stderr = receiver(stderr).map_err(unusable)?;
        let (tail, fault) = (Arc::default(), Fault::default());
        let (heard, words) = tokio::sync::watch::channel(false);
        tokio::spawn(read_lines(stderr, shared.clone(), Arc::clone(&tail), heard));
        let (told, ended) = tokio::sync::watch::channel(false);
        let watcher = tokio::spawn(watch(handle_of(&service), told));
        let watched = Watched::new(stdout, shared.clone(), Arc::clone(&fault));
        let transport = AsyncRwTransport::new(watched, stdin).with_max_line_length(usize::MAX);
        let service = Mutex::new(service);
        Ok((Self { service, tail, fault, ended, watcher, unread, words }, transport))
    }

    fn service(&self) -> std::sync::MutexGuard<'_, Service> {
        self.service.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether its process has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.service().try_wait().is_some()
    }

    /// Returns when its process has ended; where the system does not tell, never.
    pub(super) async fn end(&self) {
        let mut ended = self.ended.clone();
        if ended.wait_for(|ended| *ended).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Waits a little for its end and its last output: what closed first is chance.
    pub(super) async fn settle(&self) {
        let mut words = self.words.clone();
        let settled = async {
            self.end().await;
            let _ = words.wait_for(|heard| *heard).await;
        };
        let _ = tokio::time::timeout(LAST_WORDS, settled).await;
    }

    /// How it ended or what it did wrong, in words.
    pub(super) fn why(&self) -> String {
        let fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner).fatal.clone();
        let status = self.service().try_wait();
        let ended = match status {
            Some(aye_process::Status::Exited(code)) => {
                Some(format!("it ended with exit code {code}"))
            }
            Some(aye_process::Status::Signaled(signal)) => {
                Some(format!("it was ended by {}", aye_process::signal_words(signal)))
            }
            Some(aye_process::Status::Lost) => Some("it ended".to_owned()),
            None => None,
        };
        match (ended, fault) {
            (Some(ended), Some(fault)) => format!("{ended}; {fault}"),
            (one, other) => one.or(other).unwrap_or_else(|| "it closed its output".to_owned()),
        }
    }

    /// It has answered: it is a server.
    pub(super) fn has_answered(&self) {
        *self.unread.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The first line on its standard output that was not a message.
    pub(super) fn strange_line(&self) -> Option<String> {
        let seen = self.fault.lock().unwrap_or_else(PoisonError::into_inner).strange.clone();
        let unread = || {
            let unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner).take()?;
            let mut bytes = [0_u8; 2000];
            // Nothing is there, or it would block: then there is nothing to show.
            let count = rustix::io::read(&unread, &mut bytes).ok()?;
            let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
            let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
            (!line.starts_with(['{', '['])).then(|| line.to_owned())
        };
        seen.or_else(unread)
    }

    /// The last lines it wrote to standard error.
    pub(super) fn last_words(&self) -> Option<String> {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let skipped = tail.len().saturating_sub(TAIL);
        let lines: Vec<&str> = tail.iter().skip(skipped).map(String::as_str).collect();
        (!lines.is_empty()).then(|| format!("its last output: {}", lines.join("\n    ")))
    }

    /// Ends it. Its input is closed already: it may end by itself, then is
    /// asked to, then is killed.
    pub(super) async fn stop(&self) {
        if self.gone_within(PATIENCE).await {
            return;
        }
        self.service().terminate();
        if !self.gone_within(GRACE).await {
            self.service().kill();
            self.gone_within(GRACE).await;
        }
    }

    async fn gone_within(&self, limit: Duration) -> bool {
        let give_up = tokio::time::Instant::now() + limit;
        while !self.has_ended() {
            if tokio::time::Instant::now() >= give_up {
                return false;
            }
            tokio::select! {
                () = self.end() => {}
                // For systems that do not tell.
                () = tokio::time::sleep(Duration::from_millis(20)) => {}
            }
        }
        true
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.watcher.abort();
    }
}

fn sender(fd: OwnedFd) -> std::io::Result<pipe::Sender> {
    rustix::io::ioctl_fionbio(&fd, true)?;
    pipe::Sender::from_owned_fd(fd)
}

fn receiver(fd: OwnedFd) -> std::io::Result<pipe::Receiver> {
    rustix::io::ioctl_fionbio(&fd, true)?;
    pipe::Receiver::from_owned_fd(fd)
}

fn handle_of(service: &Service) -> Option<OwnedFd> {
    service.handle().and_then(|handle: BorrowedFd<'_>| handle.try_clone_to_owned().ok())
}

/// Says when the process has ended.
async fn watch(handle: Option<OwnedFd>, told: tokio::sync::watch::Sender<bool>) {
    let Some(handle) = handle else {
        return;
    };
    // No pipe, but what is waited for is the same: that it becomes readable.
    if let Ok(handle) = pipe::Receiver::from_owned_fd_unchecked(handle)
        && handle.readable().await.is_ok()
    {
        let _ = told.send(true);
    }
}

/// Standard error, line by line, however long the lines are.
async fn read_lines(
    mut pipe: pipe::Receiver,
    shared: Shared,
    tail: Arc<Mutex<VecDeque<String>>>,
    heard: tokio::sync::watch::Sender<bool>,
) {
    let mut line = Vec::new();
    let mut bytes = [0_u8; 4096];
    loop {
        let count = pipe.read(&mut bytes).await.unwrap_or(0);
        for &byte in &bytes[..count] {
            if byte != b'\n' {
                if line.len() < LONGEST_LINE {
                    line.push(byte);
                }
                continue;
            }
            told(&mut line, &shared, &tail);
        }
        if count == 0 {
            told(&mut line, &shared, &tail);
            let _ = heard.send(true);
            return;
        }
    }
}

fn told(line: &mut Vec<u8>, shared: &Shared, tail: &Mutex<VecDeque<String>>) {
    let text = aye_process::text::plain(String::from_utf8_lossy(line).trim_end());
    line.clear();
    if text.is_empty() {
        return;
    }
    {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        if tail.len() >= 2 * TAIL {
            tail.pop_front();
        }
        tail.push_back(text.clone());
    }
    shared.log(text);
}
