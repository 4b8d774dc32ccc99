//! Answers as they are given: through what, how strongly proven, with what.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{AnswerScope, is_false};
use crate::word_enum;

word_enum! {
    /// Through what an answer came.
    #[derive(JsonSchema)]
    pub enum Channel {
        /// A prompt of the process that drives the run.
        Terminal = "terminal",
        /// `aye answer`.
        Command = "command",
        /// A desktop dialog of the system itself.
        Desktop = "desktop",
        /// A dialog of zenity.
        Zenity = "zenity",
        /// A dialog of KDialog.
        Kdialog = "kdialog",
        /// A button of a desktop notification.
        Notification = "notification",
        /// An editor.
        Editor = "editor",
        /// The web page.
        Web = "web",
        /// An assistant that relayed a person's word.
        Assistant = "assistant",
        /// A form that an assistant's client showed: nearer to a person than a
        /// relayed word, and no proof of one.
        Elicited = "elicited",
        /// A button of a message: everyone who has the message can press it.
        Message = "message",
        /// A file in a drop-box: a program wrote it.
        DropBox = "dropbox",
        /// A remembered preference.
        Memory = "memory",
        /// `--yes`.
        Override = "override",
    }
}

impl Channel {
    /// The same for people, in their own words: what someone typed.
    pub fn spoken(self) -> &'static str {
        match self {
            Self::Override => "--yes",
            prompter => prompter.word(),
        }
    }

    /// Whether a person stands behind it, not a rule and not an assistant.
    pub fn is_person(self) -> bool {
        match self {
            Self::Terminal | Self::Command | Self::Editor | Self::Web => true,
            Self::Desktop | Self::Zenity | Self::Kdialog => true,
            // Nobody has to see the question to press a button or to write a file.
            Self::Notification | Self::Message | Self::DropBox => false,
            Self::Assistant | Self::Elicited | Self::Memory | Self::Override => false,
        }
    }
}

/// An answer as it was given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The value of an option, or the text typed.
    pub value: Value,
    /// Who.
    pub by: String,
    /// Through what.
    pub prompter: Channel,
    /// Why, if they said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Text typed to agree, for questions that want it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typed: Option<String>,
    /// A one-time code was checked.
    #[serde(default, skip_serializing_if = "is_false")]
    pub reauth: bool,
    /// The digest of the question that was shown, where the prompter knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// What to change before a failed step is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edits: Option<Edits>,
    /// It is to be given again, as far as this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remember: Option<AnswerScope>,
    /// The name in memory of the answer that is given again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recalled: Option<String>,
    /// The machine's policy takes an elicited answer for a person's.
    #[serde(default, skip_serializing_if = "is_false")]
    pub vouched: bool,
    /// How strongly it is proven who gave it; absent where no person did, where an assistant
    /// passed it on, and in older journals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// Digest of the key under which it was sent: sent again, it is the same answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Where it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Box<Origin>>,
    /// Why the one-time code that came with it does not count. Found by the
    /// process that applies the answer; never part of a stored one.
    #[serde(skip)]
    pub code_error: Option<String>,
}

word_enum! {
    /// How strongly it is proven who gave an answer, the weakest first. What each is
    /// worth is in `docs/explanation/trust.md`.
    #[derive(PartialOrd, Ord, JsonSchema)]
    pub enum Proof {
        /// An assistant, a button of a message or a file said so.
        Relayed = "relayed",
        /// A form of an assistant's client was filled in.
        Elicited = "elicited",
        /// A process of this operating system's user sent it.
        Local = "local",
        /// The sender had the token or the session of a person of the server.
        Token = "token",
        /// The sender had a current one-time code of that person.
        Otp = "otp",
    }
}

impl Answer {
    /// An answer and nothing else.
    pub fn new(value: impl Into<Value>, by: impl Into<String>, prompter: Channel) -> Self {
        Self {
            value: value.into(),
            by: by.into(),
            prompter,
            reason: None,
            typed: None,
            reauth: false,
            digest: None,
            edits: None,
            remember: None,
            recalled: None,
            vouched: false,
            proof: None,
            key: None,
            origin: None,
            code_error: None,
        }
    }

    /// An answer that a process of this operating system's user took: at a terminal, in a
    /// window, or as a command.
    pub fn local(value: impl Into<Value>, by: impl Into<String>, prompter: Channel) -> Self {
        Self { proof: Some(Proof::Local), ..Self::new(value, by, prompter) }
    }

    /// Whether a person gave it, as far as Aye can tell.
    pub fn is_persons(&self) -> bool {
        let person = self.prompter.is_person();
        (person || self.prompter == Channel::Elicited && self.vouched)
            && self.started_by().is_none()
    }

    /// What started the program that gave it, where that was not a person.
    pub fn started_by(&self) -> Option<&str> {
        self.origin.as_ref()?.started_by.as_deref()
    }

    /// The name it was given under, where that name proves nothing.
    pub fn claimed(&self) -> Option<&str> {
        self.origin.as_ref()?.claimed.as_deref()
    }
}

/// Where an answer was given, as the process that gave it found out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// The namespaces of that process; absent where it could not see them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespaces: Option<Namespaces>,
    /// It descends from a program that Aye started: which, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_by: Option<String>,
    /// The user's name as that process saw it, in another user namespace than
    /// the run's: any name can be had there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<String>,
}

/// The namespaces that a process lives in, by the kernel's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Namespaces {
    /// Which accounts there are.
    pub user: u64,
    /// Which processes can be seen.
    pub pid: u64,
}

impl Namespaces {
    /// The number of the first process namespace, from which all can be seen.
    const FIRST_PID: u64 = 0xEFFF_FFFC;

    /// Whether the ancestors of a process here can be seen, if those that
    /// matter are at home in `other`.
    pub fn sees(self, other: Self) -> bool {
        self.pid == other.pid || self.pid == Self::FIRST_PID
    }
}

/// What a step is given differently when it is tried again. Values are data,
/// never templates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Edits {
    /// By name: the arguments of a tool, the inputs of a skill; `0`, `1`, …
    /// for a program and its arguments; `script`; `code`.
    #[serde(default)]
    pub set: Map<String, Value>,
    /// What is not named here is left out.
    #[serde(default, skip_serializing_if = "is_false")]
    pub only: bool,
    /// It is kept as a fix if it works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remember: Option<FixScope>,
}

impl Edits {
    /// These changes on top of earlier ones.
    pub fn over(&self, earlier: Option<Self>) -> Self {
        let Some(mut all) = earlier.filter(|_| !self.only) else { return self.clone() };
        all.set.extend(self.set.clone());
        all.remember = self.remember;
        all
    }
}

/// What a fix is kept for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FixScope {
    /// This step of this skill.
    Step,
    /// Every step that uses the tool or program.
    Tool,
}
