//! The port of presence: where questions are shown right now, for every process.

use aye_core::id::QuestionId;
use aye_core::word_enum;
use jiff::{SignedDuration, Timestamp};

use super::StoreError;

/// How long a row counts unless its process says it again.
pub const LIFETIME: SignedDuration = SignedDuration::from_secs(15);
/// How often a process says it again.
pub const REFRESH: SignedDuration = SignedDuration::from_secs(5);

/// Where questions are shown. This is not part of any run: it is gone when the
/// one who shows it is, and nothing is decided from it alone.
pub trait Presence {
    /// What this process shows from now on: these and nothing else, for
    /// [`LIFETIME`]. Drivers hear of what was not there before.
    fn shows(
        &mut self,
        process: &ShowingProcess,
        shown: &[Showing],
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Where a question is shown, as far as processes have said so lately.
    fn shown(&self, question: &QuestionId, now: Timestamp) -> Result<Vec<Shown>, StoreError>;
}

/// A process that shows questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShowingProcess {
    /// Its own name: no other process has the same.
    pub name: String,
    /// Its number.
    pub pid: u32,
}

/// One place where a process shows a question.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Showing {
    /// Which.
    pub question: QuestionId,
    /// On what.
    pub kind: PresenceKind,
    /// To whom: a person of the server, or the account.
    pub client: String,
}

/// A question that is shown somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// On what.
    pub kind: PresenceKind,
    /// To whom.
    pub client: String,
    /// By which process.
    pub pid: u32,
    /// Since when without a break.
    pub since: Timestamp,
    /// Until when that counts.
    pub until: Timestamp,
}

word_enum! {
    /// On what a question is shown.
    #[derive(PartialOrd, Ord)]
    pub enum PresenceKind {
        /// A visible card of the web page.
        Page = "page",
        /// An editor: a card, list, field or dialog that a person has before them.
        Editor = "editor",
        /// A notification of an editor, which it may hide.
        EditorNotice = "editor notification",
        /// Some other program of the server's socket.
        Program = "program",
        /// A drawn prompt of the process that drives the run.
        Terminal = "terminal",
        /// An open dialog.
        Desktop = "desktop",
    }
}

impl PresenceKind {
    /// Whether a person sees what is shown there; nobody knows that of a program or of a
    /// notification.
    pub fn is_seen(self) -> bool {
        match self {
            Self::Page | Self::Editor | Self::Terminal | Self::Desktop => true,
            Self::EditorNotice | Self::Program => false,
        }
    }

    /// Whether a person who has a question there is not asked in a window of the desktop.
    pub fn keeps_windows_away(self) -> bool {
        match self {
            Self::Terminal | Self::Editor | Self::EditorNotice => true,
            Self::Page | Self::Program | Self::Desktop => false,
        }
    }

    /// Whether a person who has a question there needs no message about it yet. A window
    /// may be open on a desktop where nobody sits.
    pub fn keeps_messages_away(self) -> bool {
        match self {
            Self::Terminal | Self::Editor | Self::EditorNotice | Self::Page => true,
            Self::Program | Self::Desktop => false,
        }
    }
}
