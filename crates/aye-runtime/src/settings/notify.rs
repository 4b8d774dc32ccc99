//! `[notify.NAME]`: channels through which people hear of questions and ends.
//!
//! Touches nothing. `notify` sends what these settings say.

mod kind;
mod quiet;
mod section;
mod sourced;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use aye_core::word_enum;

use crate::fmt::shell_word;
use crate::store::Occasion;

pub use kind::{
    ChannelKind, CommandChannel, DropBoxChannel, EmailChannel, Encryption, NtfyChannel, Template,
    WebhookChannel,
};
pub use quiet::QuietHours;
pub use sourced::Sourced;

pub(super) use section::{NotifySection, read};
#[cfg(feature = "notify")]
pub(crate) use section::{check_address, is_topic};

/// Every channel by its name.
pub type Channels = BTreeMap<String, ChannelSettings>;

/// A channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelSettings {
    /// Where messages go.
    pub kind: ChannelKind,
    /// What is told.
    pub on: BTreeSet<Occasion>,
    /// Only runs of these skills, `*` for any characters; all if there are none.
    pub skills: Vec<String>,
    /// Only runs against these environments; all if there are none.
    pub environments: Vec<String>,
    /// Who hears of it.
    pub person: Option<String>,
    /// When nobody is to be disturbed.
    pub quiet: Option<QuietHours>,
    /// How long a question that someone could see is left to them.
    pub delay: Duration,
    /// How often a question that still waits is told again.
    pub remind: Option<Duration>,
    /// The channel that hears of a question that still waits after this time.
    pub escalate: Option<(Duration, String)>,
    /// How long before its end a question is told of as expiring.
    pub expiring: Duration,
    /// How much of a question is told.
    pub show: Detail,
    /// The address under which people reach the server.
    pub link: Option<String>,
    /// Whether messages carry buttons that answer.
    pub buttons: bool,
    /// The directory that relative paths begin at.
    pub root: PathBuf,
    /// It stands in the user's own settings.
    pub own: bool,
}

word_enum! {
    /// How much of a question goes into a message.
    #[derive(Default)]
    pub enum Detail {
        /// Everything that a person needs to decide.
        #[default]
        Full = "full",
        /// Skill, step and title.
        Title = "title",
        /// That something waits, and where.
        Pointer = "pointer",
    }
}

impl ChannelSettings {
    /// What it does, line by line and without secrets: what someone agrees to. Whatever
    /// decides who gets what, in whose name and with which secret is here; times are not.
    pub fn shown(&self) -> Vec<String> {
        let Self { kind, on, skills, environments, person, escalate, show, link, .. } = self;
        let mut lines = kind.shown();
        let on: Vec<&str> = on.iter().map(|occasion| occasion.word()).collect();
        let buttons = if self.buttons { ", with buttons" } else { "" };
        lines.push(format!("on {}; shows {}{buttons}", on.join(", "), show.word()));
        let listed = |names: &[String]| {
            names.iter().map(|name| shell_word(name)).collect::<Vec<_>>().join(" ")
        };
        if !skills.is_empty() {
            lines.push(format!("skills {}", listed(skills)));
        }
        if !environments.is_empty() {
            lines.push(format!("environments {}", listed(environments)));
        }
        lines.extend(person.iter().map(|person| format!("person {}", shell_word(person))));
        lines.extend(escalate.iter().map(|(_, to)| format!("escalates to {}", shell_word(to))));
        lines.extend(link.iter().map(|link| format!("links to {}", shell_word(link))));
        lines
    }

    /// Whether a secret stands in the file itself.
    pub fn has_plain_secret(&self) -> bool {
        self.kind.secrets().iter().any(|secret| matches!(secret, Sourced::Plain(_)))
    }

    /// Whether something of it is due at a time that only a process which stays
    /// around can keep.
    pub fn needs_server(&self) -> bool {
        self.remind.is_some() || self.escalate.is_some() || self.on.contains(&Occasion::Expiring)
    }
}
