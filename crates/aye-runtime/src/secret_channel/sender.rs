//! The side of the process that has a secret for a run.

use std::io::{ErrorKind, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use aye_core::id::RunId;
use rustix::process::geteuid;

use super::ChannelError;
use super::directory::{Directory, name};
use super::payload::{LARGEST, SecretPayload};
use super::receiver::TAKEN;

/// Hands a payload to the driver of `run`, the outermost, and returns once the
/// driver has it.
pub fn send(
    home: &Path,
    run: &RunId,
    payload: &SecretPayload,
    patience: Duration,
) -> Result<(), ChannelError> {
    let mut line = serde_json::to_vec(payload).map_err(std::io::Error::from)?;
    if line.len() >= LARGEST {
        return Err(ChannelError::TooLong);
    }
    line.push(b'\n');
    let directory = Directory::find(home)?;
    let mut stream = UnixStream::connect(directory.address(&name(run))?).map_err(gone)?;
    if aye_process::peer_uid(stream.as_fd())? != geteuid().as_raw() {
        return Err(ChannelError::Foreign);
    }
    stream.set_write_timeout(Some(patience))?;
    stream.set_read_timeout(Some(patience))?;
    stream.write_all(&line).map_err(gone)?;
    let mut said = [0; TAKEN.len()];
    stream.read_exact(&mut said).map_err(gone)?;
    if said == TAKEN { Ok(()) } else { Err(ChannelError::NotListening) }
}

/// A driver that stops listening, or that was killed, is not an error of the system.
fn gone(error: std::io::Error) -> ChannelError {
    match error.kind() {
        ErrorKind::NotFound
        | ErrorKind::ConnectionRefused
        | ErrorKind::ConnectionReset
        | ErrorKind::BrokenPipe
        | ErrorKind::UnexpectedEof
        | ErrorKind::WouldBlock
        | ErrorKind::TimedOut => ChannelError::NotListening,
        _ => ChannelError::Io(error),
    }
}
