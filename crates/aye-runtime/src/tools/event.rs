//! What happens to calls and servers.

use std::sync::Arc;

use aye_core::form::Form;
use serde_json::{Map, Value};

use super::error::ToolError;
use super::result::ToolResult;

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolEvent {
    /// A server answers for the first time.
    Started {
        /// Which.
        server: String,
        /// The version of the protocol it speaks.
        protocol: String,
    },
    /// A server had ended and was started again.
    Restarted {
        /// Which.
        server: String,
        /// How it had ended.
        why: String,
    },
    /// A call got on.
    Progress {
        /// Which.
        call: u64,
        /// What the tool says about it.
        text: String,
        /// How much of it is done, 0 to 1, if the tool knows.
        fraction: Option<f64>,
    },
    /// A line that a server wrote for people to read. Not masked.
    Log {
        /// Which.
        server: String,
        /// The line.
        line: String,
    },
    /// What a server offers, as [`Tools::list`](super::Tools::list) asked.
    Listed {
        /// Which.
        server: String,
        /// Its tools.
        result: Result<Vec<ListedTool>, ToolError>,
    },
    /// A server asks in the middle of a call; [`Tools::reply`](super::Tools::reply) answers.
    Asks {
        /// The call, or the oldest of those that it may be about.
        call: u64,
        /// Names the question.
        ask: u64,
        /// What it wants to know.
        form: Box<Form>,
    },
    /// A server no longer waits for an answer.
    AsksNoMore {
        /// Which question.
        ask: u64,
    },
    /// A server asked, and was declined and nobody was asked.
    Declined {
        /// Which.
        server: String,
        /// Why.
        why: String,
    },
    /// A call ended.
    Done {
        /// Which.
        call: u64,
        /// With what.
        result: Result<ToolResult, ToolError>,
    },
}

/// A tool, as its server describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedTool {
    /// Its name, without the server's.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// Its arguments, a JSON schema.
    pub schema: Arc<Map<String, Value>>,
    /// What it gives, a JSON schema.
    pub output: Option<Arc<Map<String, Value>>>,
    /// It says of itself that it changes nothing.
    pub read_only: bool,
    /// It says of itself that it changes what cannot be changed back; the
    /// protocol's default is that it does.
    pub destructive: bool,
}
