//! What Aye and a worker say to each other: frames of JSON, each with its
//! length before it.

use std::io::{self, Read, Write};
use std::time::Duration;

use aye_core::text::TemplateKind;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::block::Limits;
use super::engine::{Answer, Fault, Raised};
use super::files::{FileAnswer, FileCall};

/// No frame is longer: a result has 1 MiB, a file that a block reads 8 MiB,
/// which as a list of numbers is four times as much.
pub(super) const LONGEST: usize = 64 << 20;

/// What a worker is to do.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Job {
    /// Compile a program.
    Check { program: String, limits: Limits },
    /// Run a program.
    Run { program: String, limits: Limits, now: i64 },
    /// Evaluate a template.
    Template {
        #[serde(rename = "work")]
        kind: TemplateKind,
        template: String,
        limits: Limits,
        now: Timestamp,
        lenient: bool,
    },
}

impl Job {
    pub(super) fn limits(&self) -> &Limits {
        match self {
            Self::Check { limits, .. }
            | Self::Run { limits, .. }
            | Self::Template { limits, .. } => limits,
        }
    }
}

/// What a worker says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum WorkerMessage {
    /// Text was printed. Everything else but the end waits for a [`Reply`].
    Print(String),
    /// A name was looked up.
    Name(String),
    /// The same, for a template: a name is nothing but its value.
    Value(String),
    /// The names that the run gave are wanted.
    Names,
    /// A function of the host was called.
    Call { object: Option<String>, function: String, args: Vec<Value>, named: Map<String, Value> },
    /// A file was asked for.
    File(FileCall),
    /// An environment variable was asked for.
    Env(String),
    /// The job has ended.
    Done(Result<Value, Fault>),
}

/// What a worker is answered.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    Name(Option<Answer>),
    Names(Vec<String>),
    Call(Result<Value, Raised>),
    File(Result<FileAnswer, Raised>),
    Env(Option<String>),
}

/// A message as the bytes of a frame.
pub(super) fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length = u32::try_from(bytes.len() - 4).unwrap_or(u32::MAX);
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    Ok(bytes)
}

/// The length of the frame that these bytes begin.
pub(super) fn length(bytes: &[u8]) -> Option<usize> {
    let length = bytes.get(..4)?.try_into().ok().map(u32::from_le_bytes)?;
    usize::try_from(length).ok()
}

/// Writes a frame.
pub(super) fn write(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    to.write_all(&frame(message)?)?;
    to.flush()
}

/// Reads a frame.
pub(super) fn read<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut head = [0; 4];
    from.read_exact(&mut head)?;
    let length = length(&head).filter(|length| *length <= LONGEST);
    let length = length.ok_or(io::ErrorKind::InvalidData)?;
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

/// How much longer than its limit a job may take before its worker is killed:
/// normally the interpreter stops by itself, and says where.
pub(super) const OVERTIME: Duration = Duration::from_millis(250);
