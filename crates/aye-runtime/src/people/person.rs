//! A person, and all of them as they are at one moment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use aye_core::word_enum;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::secret::kept;

word_enum! {
    /// What a person may do.
    #[derive(PartialOrd, Ord)]
    pub enum Right {
        /// Answer and hold questions.
        Answer = "answer",
        /// Start, retry and cancel runs.
        Start = "start",
        /// Read everything of their projects.
        Read = "read",
    }
}

/// A person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// The name that answers carry and `by: [names]` means.
    #[serde(default)]
    pub name: String,
    /// What they may do; who may answer or start may read.
    pub rights: Vec<Right>,
    /// The projects they see, by their directories; none means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub projects: Vec<PathBuf>,
    /// The account of the operating system that is theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// Since when.
    pub added: Timestamp,
    /// Digests of their tokens.
    #[serde(default)]
    pub(super) tokens: Vec<String>,
}

impl Person {
    /// Whether they have a right. To read is part of every other one.
    pub fn may(&self, right: Right) -> bool {
        self.rights.contains(&right) || right == Right::Read && !self.rights.is_empty()
    }

    /// Whether their tokens are the same.
    pub fn has_tokens_of(&self, other: &Self) -> bool {
        self.tokens == other.tokens
    }

    /// Whether they see what runs in this directory.
    pub fn sees(&self, workspace: &Path) -> bool {
        self.projects.is_empty() || self.projects.iter().any(|root| workspace.starts_with(root))
    }
}

/// A person that is to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPerson {
    /// Their name.
    pub name: String,
    /// What they may do.
    pub rights: Vec<Right>,
    /// The projects they see; none means all.
    pub projects: Vec<PathBuf>,
    /// The account of the operating system that is theirs.
    pub account: Option<String>,
}

/// Whose a link or a device is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// The account that the server runs as.
    Local,
    /// A person of the server.
    Person(String),
}

/// All people, as they were when the file was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct People {
    pub(super) people: BTreeMap<String, Person>,
    pub(super) devices: Vec<super::file::KeptDevice>,
}

impl People {
    /// Every person, by name.
    pub fn all(&self) -> impl Iterator<Item = &Person> {
        self.people.values()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.people.is_empty()
    }

    /// The person of this name.
    pub fn named(&self, name: &str) -> Option<&Person> {
        self.people.get(name)
    }

    /// The person whose account this is.
    pub fn of_account(&self, account: &str) -> Option<&Person> {
        self.all().find(|person| person.account.as_deref() == Some(account))
    }

    /// Whose token this is.
    pub fn of_token(&self, token: &str) -> Option<&Person> {
        let kept = kept(token);
        self.all().find(|person| person.tokens.contains(&kept))
    }

    /// Whose session this is, and on which device. The cookie alone is not enough:
    /// browsers send it to every port of a host.
    pub fn of_session(&self, cookie: &str, secret: &str) -> Option<(&Owner, &str)> {
        let (cookie, secret) = (kept(cookie), kept(secret));
        let device = self.devices.iter().find(|device| device.cookie == cookie)?;
        (device.secret == secret).then_some((&device.owner, device.id.as_str()))
    }

    /// Whether someone signed in with this cookie.
    pub fn knows_cookie(&self, cookie: &str) -> bool {
        let cookie = kept(cookie);
        self.devices.iter().any(|device| device.cookie == cookie)
    }

    /// Whether a device is still signed in.
    pub fn has_device(&self, id: &str) -> bool {
        self.devices.iter().any(|device| device.id == id)
    }
}
