//! What channels need of the world.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use aye_core::skill::SecretSource;
use jiff::Timestamp;

use crate::secret_reader::{SecretPlace, SecretReader};
use crate::settings::{ChannelSettings, PolicySettings, Sourced};
use crate::store::Store;

use super::DeliveryError;

/// A channel that may be used, and the place it works in.
#[derive(Debug, Clone)]
pub struct Channel {
    /// Its name in the settings.
    pub name: String,
    /// What it is.
    pub settings: ChannelSettings,
    /// Digest of what someone agreed to.
    pub agreed: String,
    /// What may be run for it.
    pub policy: PolicySettings,
    /// The environment its secrets are looked up in.
    pub env: Arc<BTreeMap<String, String>>,
    /// What reads its secrets.
    pub secrets: Arc<dyn SecretReader>,
}

impl Channel {
    /// A value of its settings as it is now.
    pub fn read(&self, key: &str, value: &Sourced) -> Result<String, DeliveryError> {
        let source = match value {
            Sourced::Plain(text) => return Ok(text.clone()),
            Sourced::From(source) => source,
        };
        let policy = self.policy.for_run(&self.settings.root);
        let place = SecretPlace { directory: &self.settings.root, env: &self.env, policy: &policy };
        let failed = |why: String| DeliveryError::new(format!("`{key}` from {source}: {why}"));
        let found = self.secrets.read(source, &place).map_err(|error| failed(error.to_string()))?;
        let text = found.ok_or_else(|| failed(missing(source).to_owned()))?;
        // Files and programs end their last line.
        let text = text.trim_end_matches(['\n', '\r']).to_owned();
        if text.is_empty() { Err(failed("it is empty".to_owned())) } else { Ok(text) }
    }

    /// The same for one that need not be there.
    pub fn read_optional(
        &self,
        key: &str,
        value: Option<&Sourced>,
    ) -> Result<Option<String>, DeliveryError> {
        value.map(|value| self.read(key, value)).transpose()
    }
}

fn missing(source: &SecretSource) -> &'static str {
    match source {
        SecretSource::Env(_) => "it is not set",
        SecretSource::File(_) => "it does not exist",
        SecretSource::Command(_) => "it wrote nothing",
    }
}

/// What the delivery workers of a process need to know and do.
pub trait NotifyHost: fmt::Debug + Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;

    /// Opens the journal, for a thread of its own.
    ///
    /// # Errors
    /// When it cannot be opened.
    fn open(&self) -> Result<Box<dyn Store>, String>;

    /// A channel of the project that a run belongs to. `agreed` is the digest
    /// under which the message was written.
    ///
    /// # Errors
    /// When there is none any more, or it must not be used.
    fn channel(&self, workspace: &str, name: &str, agreed: &str) -> Result<Channel, String>;

    /// The address of the server of this home, if one runs.
    fn server(&self) -> Option<String>;

    /// The drop-boxes of the settings.
    fn drop_boxes(&self) -> Vec<PathBuf>;

    /// Answers a question with a right that a message carried.
    ///
    /// # Errors
    /// When it does not count, or could not be passed on.
    fn answer(&self, token: &str, choice: &str, reason: Option<String>) -> Result<(), NotTaken>;
}

/// Why an answer was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotTaken {
    /// It does not count, now or later.
    Refused,
    /// It could not be passed on, for instance because the journal is busy: it may be
    /// tried again.
    Failed,
}
