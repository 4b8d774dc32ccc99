//! One client: a task that sends what it should hear and takes its commands.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Bytes;
use aye_core::id::QuestionId;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::harmless::json_line;
use crate::serve::clients::{Client, LastHeard};
use crate::serve::guard::{HalfSession, must_be_here};
use crate::serve::hub::{Events, Frame};
use crate::serve::identity::{ClientKind, Identity};
use crate::serve::metrics::Metrics;
use crate::serve::problem::{Code, Problem};
use crate::serve::server::Server;

use super::catch_up::{Later, read_on};
use super::client_queue::{ClientQueue, Waiting};
use super::command;
use super::message::{ClientMessage, CommandResult, Hello, Notice};
use super::snapshot::snapshot;
use super::wire::{Broken, Incoming, Wire, text_frame};

/// How long a client may take to read a message.
const SLOW: Duration = Duration::from_secs(10);
/// How long a browser may take to say its secret.
const HELLO: Duration = Duration::from_secs(10);
/// How long a client may take to read why its connection ends.
const GOODBYE: Duration = Duration::from_secs(1);
/// How many results and lines of output wait for a client.
const WAITING: usize = 32;
/// How many commands of one client are carried out at once.
const AT_ONCE: usize = 16;
/// Of how many questions one client may have told its person.
const NOTIFIED: usize = 20;

/// Why a connection was closed, as the protocol numbers it.
const POLICY: u16 = 1008;
const TOO_SLOW: u16 = 1013;

/// Who speaks on a new connection.
pub(super) enum Speaker {
    /// Someone who has shown a token, or both halves of a session.
    Known(Identity),
    /// A browser that has to say the other half first.
    Session(HalfSession),
}

/// The connection ends, and why.
pub(super) enum End {
    /// The client has gone.
    Gone,
    /// It does not read.
    Slow,
    /// It may not continue.
    Refused(Problem),
}

/// What a client's task does next.
enum Next {
    Waiting,
    Result(String),
    Incoming(Incoming),
}

/// A connection.
pub(super) struct Connection {
    pub(super) server: Arc<Server>,
    pub(super) identity: Identity,
    pub(super) kind: ClientKind,
    /// What the hub has for the client, and up to which event the client has heard.
    queue: Arc<ClientQueue>,
    id: u64,
    /// Results and output on their way to the client.
    pub(super) out: mpsc::Sender<String>,
    /// Questions that it holds.
    pub(super) holds: HashMap<String, AbortHandle>,
    /// Runs whose output it follows.
    pub(super) follows: HashMap<String, Arc<AtomicBool>>,
    /// Commands that are carried out.
    pub(super) busy: Arc<tokio::sync::Semaphore>,
    heard: LastHeard,
}

impl Connection {
    /// Attends to a client until it has gone.
    pub(super) async fn serve(
        server: Arc<Server>,
        mut socket: Wire,
        speaker: Speaker,
        after: Option<u64>,
    ) {
        // What is rare or short takes memory of its own while it lasts: there may be
        // thousands of clients that only wait.
        let (identity, hello) = match speaker {
            Speaker::Known(identity) => (identity, None),
            Speaker::Session(half) => {
                match Box::pin(introduce(&server, &mut socket, &half)).await {
                    Ok((identity, hello)) => (identity, Some(hello)),
                    Err(end) => return Box::pin(close(&server, socket, end)).await,
                }
            }
        };
        let kind = hello.as_ref().and_then(|hello| hello.kind).unwrap_or_default();
        let kind = if identity.is_session() { ClientKind::Page } else { kind };
        let question = hello.as_ref().and_then(|hello| hello.question.clone());
        let name = identity.name.clone();
        let heard = LastHeard::now();
        let question = question.and_then(question_id);
        let client = Client { name, kind, question, notified: BTreeSet::new() };
        let id = server.clients.join(client, identity.clone(), heard.clone());
        let (out, results) = mpsc::channel(WAITING);
        let mut connection = Self {
            identity,
            kind,
            queue: Arc::clone(socket.queue()),
            id,
            out,
            holds: HashMap::new(),
            follows: HashMap::new(),
            busy: Arc::new(tokio::sync::Semaphore::new(AT_ONCE)),
            heard,
            server,
        };
        let end = connection.run(&mut socket, results, after).await;
        let server = Arc::clone(&connection.server);
        drop(connection);
        Box::pin(close(&server, socket, end)).await;
    }

    async fn run(
        &mut self,
        socket: &mut Wire,
        mut results: mpsc::Receiver<String>,
        after: Option<u64>,
    ) -> End {
        // Heard from now on, so that nothing is missed between the journal and the hub.
        self.server.hub.join(&self.queue);
        self.queue.set_sees_all(self.sees_all());
        if let Err(end) = Box::pin(self.begin(socket, after)).await {
            return end;
        }
        let queue = Arc::clone(&self.queue);
        loop {
            let next = tokio::select! {
                () = queue.filled() => Next::Waiting,
                Some(text) = results.recv() => Next::Result(text),
                said = socket.next() => Next::Incoming(said),
            };
            for waiting in queue.take() {
                if let Err(end) = Box::pin(self.tell(socket, waiting)).await {
                    return end;
                }
            }
            let done = match next {
                Next::Waiting => Ok(()),
                Next::Result(text) => Box::pin(send(socket, text_frame(text))).await,
                Next::Incoming(said) => self.hear(said),
            };
            if let Err(end) = done {
                return end;
            }
        }
    }

    /// A snapshot, and what the client has missed.
    async fn begin(&mut self, socket: &mut Wire, after: Option<u64>) -> Result<(), End> {
        if let Some(after) = after {
            self.queue.set_last(after);
            if let Later::Gap(from) = self.later().await? {
                self.tell_gap(socket, from).await?;
                return self.tell_snapshot(socket).await;
            }
        }
        let n = self.queue.last();
        self.tell_snapshot(socket).await?;
        if after.is_some() {
            self.queue.set_last(n);
            self.catch_up(socket).await?;
        }
        Ok(())
    }

    async fn tell_snapshot(&mut self, socket: &mut Wire) -> Result<(), End> {
        let identity = self.identity.clone();
        let made = self.server.blocking(move |server| snapshot(server, &identity)).await;
        let (n, text) = made.map_err(End::Refused)?;
        self.queue.set_last(n);
        send(socket, text_frame(text)).await
    }

    async fn tell_gap(&mut self, socket: &mut Wire, from: Option<u64>) -> Result<(), End> {
        let told = Notice::Gap { after: self.queue.last(), from };
        send(socket, text_frame(json_line(&told))).await
    }

    async fn later(&self) -> Result<Later, End> {
        let (identity, after) = (self.identity.clone(), self.queue.last());
        let read = self.server.blocking(move |server| read_on(server, &identity, after)).await;
        read.map_err(End::Refused)
    }

    /// Everything that is in the journal and was not sent.
    async fn catch_up(&mut self, socket: &mut Wire) -> Result<(), End> {
        loop {
            match self.later().await? {
                Later::Events(messages, last) => {
                    for message in messages {
                        send(socket, message).await?;
                    }
                    self.queue.set_last(last);
                }
                Later::Nothing => return Ok(()),
                Later::Gap(from) => {
                    self.tell_gap(socket, from).await?;
                    self.tell_snapshot(socket).await?;
                }
            }
        }
    }

    /// Sends what waited.
    async fn tell(&mut self, socket: &mut Wire, waiting: Waiting) -> Result<(), End> {
        let frame = match waiting {
            Waiting::Bytes(bytes) => return send(socket, bytes).await,
            Waiting::Frame(frame) => frame,
            // The journal has what no longer waits.
            Waiting::Lagged => return Box::pin(self.catch_up(socket)).await,
        };
        match &*frame {
            Frame::Events(events) => self.tell_events(socket, events).await,
            Frame::Notice { all, limited } => {
                // As good a moment as any to see whether it is still welcome, and there.
                self.renew()?;
                if self.heard.elapsed() > self.server.limits.silent {
                    return Err(End::Gone);
                }
                let text = if self.sees_all() { all } else { limited };
                send(socket, text.clone()).await?;
                in_time(socket.ping()).await
            }
        }
    }

    async fn tell_events(&mut self, socket: &mut Wire, events: &Events) -> Result<(), End> {
        for event in &events.each {
            let last = self.queue.last();
            if event.n > last + 1 {
                Box::pin(self.catch_up(socket)).await?;
            } else if event.n == last + 1 {
                self.queue.set_last(event.n);
                if self.identity.sees(&event.workspace) {
                    send(socket, event.message.clone()).await?;
                }
            }
        }
        Ok(())
    }

    fn sees_all(&self) -> bool {
        self.identity.projects().is_empty()
    }

    /// Who speaks, as it is now.
    fn renew(&mut self) -> Result<(), End> {
        self.identity = self.server.renewed(&self.identity).ok_or_else(|| {
            End::Refused(Problem::new(Code::Unauthorized, "the token or the session was revoked"))
        })?;
        self.queue.set_sees_all(self.sees_all());
        Ok(())
    }

    /// Takes what the client says.
    fn hear(&mut self, said: Incoming) -> Result<(), End> {
        self.heard.again();
        let text = match said {
            Incoming::Text(text) => text,
            Incoming::Alive => return Ok(()),
            Incoming::Binary => {
                let problem = Problem::new(Code::Invalid, "messages are JSON text");
                self.result(&CommandResult::of(None, Err(problem)));
                return Ok(());
            }
            Incoming::Gone => return Err(End::Gone),
        };
        Metrics::count(&self.server.metrics.messages);
        match ClientMessage::read(&text) {
            Ok(message) => {
                self.renew()?;
                command::take(self, message);
            }
            Err((id, problem)) => self.result(&CommandResult::of(id, Err(problem))),
        }
        Ok(())
    }

    /// Says what the client is and which question it shows.
    pub(super) fn introduce(&mut self, hello: Hello) {
        if let Some(kind) = hello.kind.filter(|_| !self.identity.is_session()) {
            self.kind = kind;
        }
        let kind = self.kind;
        self.server.clients.update(self.id, |client| client.kind = kind);
        self.shows(hello.question, hello.notified);
    }

    /// Which question the client shows, and which it has told its person of.
    pub(super) fn shows(&self, question: Option<String>, notified: Vec<String>) {
        let question = question.and_then(question_id);
        let notified = notified.into_iter().filter_map(question_id).take(NOTIFIED).collect();
        self.server.clients.update(self.id, |client| {
            client.question = question;
            client.notified = notified;
        });
    }

    /// Sends what became of a command.
    pub(super) fn result(&self, result: &CommandResult) {
        let (out, text) = (self.out.clone(), json_line(result));
        if let Err(mpsc::error::TrySendError::Full(text)) = self.out.try_send(text) {
            tokio::spawn(async move { out.send(text).await });
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.server.clients.leave(self.id);
        self.holds.values().for_each(AbortHandle::abort);
        self.follows.values().for_each(|stop| stop.store(true, Ordering::Relaxed));
    }
}

/// What can be the id of a question: others are told of it.
fn question_id(text: String) -> Option<String> {
    QuestionId::from_text(text.as_str()).run().map(|_| text)
}

/// The first message of a browser: the half of the session that no other port has.
async fn introduce(
    server: &Arc<Server>,
    socket: &mut Wire,
    half: &HalfSession,
) -> Result<(Identity, Hello), End> {
    let unknown = |detail: &str| End::Refused(Problem::new(Code::Unauthorized, detail));
    let said = tokio::time::timeout(HELLO, socket.next()).await;
    let said = said.map_err(|_| unknown("`hello` took too long"))?;
    let Incoming::Text(text) = said else { return Err(End::Gone) };
    let Ok(ClientMessage::Hello(hello)) = ClientMessage::read(&text) else {
        return Err(unknown("the first message has to be `hello` with the session's secret"));
    };
    let secret = hello.secret.clone().unwrap_or_default();
    match server.of_session(&half.cookie, &secret) {
        Ok(Some(identity)) => match must_be_here(&identity, half.elsewhere) {
            Ok(()) => Ok((identity, hello)),
            Err(problem) => Err(End::Refused(problem)),
        },
        Ok(None) => Err(unknown("the session is not valid")),
        Err(problem) => Err(End::Refused(problem)),
    }
}

/// Sends a message. A client that does not read is not waited for.
async fn send(socket: &mut Wire, message: Bytes) -> Result<(), End> {
    in_time(socket.send(message)).await
}

async fn in_time(sending: impl Future<Output = Result<(), Broken>>) -> Result<(), End> {
    match tokio::time::timeout(SLOW, sending).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(Broken)) => Err(End::Gone),
        Err(_) => Err(End::Slow),
    }
}

/// Says why and closes.
async fn close(server: &Server, mut socket: Wire, end: End) {
    let reason = match &end {
        End::Gone => None,
        End::Slow => {
            Metrics::count(&server.metrics.dropped);
            Some((TOO_SLOW, "too slow"))
        }
        End::Refused(problem) => Some((POLICY, problem.detail.as_str())),
    };
    let goodbye = async {
        // What was begun comes to its end, and a goodbye is answered.
        for waiting in socket.queue().take() {
            if let Waiting::Bytes(bytes) = waiting {
                socket.send(bytes).await?;
            }
        }
        let Some((code, reason)) = reason else { return Ok(()) };
        // The protocol has room for 123 bytes.
        let reason: String = reason.chars().filter(char::is_ascii).take(120).collect();
        socket.close(code, reason).await
    };
    let _: Result<Result<(), Broken>, _> = tokio::time::timeout(GOODBYE, goodbye).await;
}
