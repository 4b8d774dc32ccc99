//! The driver's side: listens, takes payloads, opens requests with them.
//!
//! Nothing here waits. A peer that sends nothing holds one of a few places
//! until others need it; one that sends too much is dropped.

use std::collections::VecDeque;
use std::fs::Permissions;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use aye_core::id::RunId;
use aye_core::input::Request;
use rustix::process::geteuid;

use super::ChannelError;
use super::directory::{Directory, name};
use super::payload::{LARGEST, SecretPayload, handle};

/// The most peers at once; the oldest makes room for the next.
const PEERS: usize = 16;
/// The most payloads that wait for their request; the oldest is forgotten.
const MAX_PAYLOADS: usize = 16;
/// Bytes read from a peer at once.
const CHUNK: usize = 16 * 1024;
/// What a peer is told once its payload is kept.
pub(super) const TAKEN: &[u8] = b"taken\n";

/// Why a request whose secret is gone is refused.
pub const LOST: &str =
    "the process that got the secret is gone, and secrets are not kept; answer again";

/// Takes what must not be written down.
#[derive(Debug)]
pub struct Receiver {
    home: PathBuf,
    run: RunId,
    socket: Option<Socket>,
    /// It was tried and failed: not again for the same questions.
    failed: bool,
    payloads: VecDeque<SecretPayload>,
}

/// A socket that is listened to.
#[derive(Debug)]
struct Socket {
    directory: Directory,
    name: String,
    listener: UnixListener,
    peers: Vec<Peer>,
}

/// A process that connected.
#[derive(Debug)]
struct Peer {
    stream: UnixStream,
    received: Vec<u8>,
}

/// What a peer has said so far.
enum PeerState {
    Nothing,
    Payload(SecretPayload),
    /// It is gone, or talks nonsense.
    Over,
}

impl Receiver {
    /// For the driver of `run`, the outermost. It does not listen yet.
    pub fn new(home: &Path, run: RunId) -> Self {
        let (home, payloads) = (home.to_owned(), VecDeque::new());
        Self { home, run, socket: None, failed: false, payloads }
    }

    /// Listens if secrets or codes are wanted, and only then.
    pub fn listen(&mut self, wanted: bool) {
        match (wanted, &self.socket) {
            (false, _) => {
                self.socket = None;
                self.failed = false;
            }
            (true, None) if !self.failed => {
                self.socket = Socket::bind(&self.home, &self.run).ok();
                self.failed = self.socket.is_none();
            }
            (true, _) => {}
        }
    }

    /// Readable when [`Self::serve`] has something to do.
    pub fn wake(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.socket.iter().flat_map(|socket| {
            let peers = socket.peers.iter().map(|peer| peer.stream.as_fd());
            std::iter::once(socket.listener.as_fd()).chain(peers)
        })
    }

    /// Takes in what came.
    pub fn serve(&mut self) {
        let Some(socket) = &mut self.socket else { return };
        let accepted = socket.accept();
        for payload in socket.read() {
            if self.payloads.len() == MAX_PAYLOADS {
                self.payloads.pop_front();
            }
            self.payloads.push_back(payload);
        }
        if !accepted {
            self.socket = None;
            self.failed = true;
        }
    }

    /// The request as its sender meant it; why not, where what it needs is not
    /// here.
    pub fn open(&mut self, request: Request) -> Result<Request, &'static str> {
        let Some(handle) = handle(&request) else { return Ok(request) };
        let at = self.payloads.iter().position(|payload| payload.handle == handle).ok_or(LOST)?;
        let payload = self.payloads.remove(at).ok_or(LOST)?;
        Ok(payload.put_back(request))
    }
}

impl Socket {
    /// The run's lease is ours: what is left of another driver's is replaced.
    fn bind(home: &Path, run: &RunId) -> Result<Self, ChannelError> {
        let directory = Directory::make(home)?;
        let name = name(run);
        remove_stale(&directory);
        let (place, draft) = (directory.address(&name)?, directory.address(&format!("{run}.new"))?);
        let _ = std::fs::remove_file(&draft);
        let listener = UnixListener::bind(&draft)?;
        std::fs::set_permissions(&draft, Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        // Anyone who finds it under its name can connect.
        std::fs::rename(&draft, &place)?;
        Ok(Self { directory, name, listener, peers: Vec::new() })
    }

    /// Lets in who connects, if it is this account; says whether it can continue.
    fn accept(&mut self) -> bool {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    let ours = aye_process::peer_uid(stream.as_fd())
                        .is_ok_and(|uid| uid == geteuid().as_raw());
                    if !ours || stream.set_nonblocking(true).is_err() {
                        continue;
                    }
                    if self.peers.len() == PEERS {
                        self.peers.remove(0);
                    }
                    self.peers.push(Peer { stream, received: Vec::new() });
                }
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => return true,
                    ErrorKind::Interrupted | ErrorKind::ConnectionAborted => {}
                    // Trying again would not end.
                    _ => return false,
                },
            }
        }
    }

    /// What the peers have sent in full.
    fn read(&mut self) -> Vec<SecretPayload> {
        let mut payloads = Vec::new();
        self.peers.retain_mut(|peer| match peer.read() {
            PeerState::Nothing => true,
            PeerState::Over => false,
            PeerState::Payload(payload) => {
                payloads.push(payload);
                // One that does not listen any more leaves a payload that nobody asks for.
                let _ = peer.stream.write_all(TAKEN);
                false
            }
        });
        payloads
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if let Ok(place) = self.directory.address(&self.name) {
            let _ = std::fs::remove_file(place);
        }
    }
}

impl Peer {
    fn read(&mut self) -> PeerState {
        let mut chunk = [0; CHUNK];
        match self.stream.read(&mut chunk) {
            Ok(0) => PeerState::Over,
            Ok(read) => {
                self.received.extend_from_slice(&chunk[..read]);
                match self.received.split_last() {
                    Some((b'\n', line)) => {
                        serde_json::from_slice(line).map_or(PeerState::Over, PeerState::Payload)
                    }
                    _ if self.received.len() > LARGEST => PeerState::Over,
                    _ => PeerState::Nothing,
                }
            }
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::Interrupted => PeerState::Nothing,
                _ => PeerState::Over,
            },
        }
    }
}

/// Removes the sockets of drivers that were killed.
fn remove_stale(directory: &Directory) {
    for name in directory.names() {
        let Ok(place) = directory.address(&name) else { continue };
        let refused = UnixStream::connect(&place)
            .is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused);
        // One with another ending may be about to listen.
        if refused && name.ends_with(".sock") {
            let _ = std::fs::remove_file(place);
        }
    }
}
