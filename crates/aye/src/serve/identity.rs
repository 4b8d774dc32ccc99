//! Who speaks: what a token, a session or an account of the operating system
//! stands for.

use std::path::{Path, PathBuf};

use aye_core::event::StartedBy;
use aye_core::question::{Channel, Proof};
use aye_runtime::people::{Owner, Person, Right};
use aye_runtime::usecases::Answerer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::problem::{Code, Problem};

/// What a client says it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ClientKind {
    /// The web page.
    Page,
    /// An editor.
    Editor,
    /// Any other program.
    #[default]
    Program,
}

impl ClientKind {
    fn channel(self) -> Channel {
        match self {
            Self::Page => Channel::Web,
            Self::Editor => Channel::Editor,
            Self::Program => Channel::Command,
        }
    }
}

/// How a client proved who it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Access {
    /// The token of `serve.json`.
    ServerToken,
    /// A person's token; what is kept of it changes when it is revoked.
    Token(String),
    /// A browser that is signed in.
    Session {
        /// The device.
        device: String,
    },
    /// An account of the operating system, told by the kernel.
    Account,
}

/// Who speaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The name that answers carry.
    pub(crate) name: String,
    pub(crate) access: Access,
    /// A person of the server; `None` for the account that the server runs as.
    person: Option<Person>,
}

impl Identity {
    /// The account that the server runs as; `person` if it is one of the people.
    pub(crate) fn local(user: &str, person: Option<&Person>, access: Access) -> Self {
        let name = person.map_or_else(|| user.to_owned(), |person| person.name.clone());
        Self { name, access, person: None }
    }

    pub(crate) fn of(person: &Person, access: Access) -> Self {
        Self { name: person.name.clone(), access, person: Some(person.clone()) }
    }

    /// Whether it is the account that the server runs as.
    pub(crate) fn is_local(&self) -> bool {
        self.person.is_none()
    }

    /// Whether it is this person with the same tokens.
    pub(crate) fn is_version_of(&self, person: &Person) -> bool {
        self.person.as_ref().is_some_and(|known| known.has_tokens_of(person))
    }

    /// Whether the account of the operating system is still this person's.
    pub(crate) fn has_account_of(&self, person: &Person) -> bool {
        self.person.as_ref().is_some_and(|known| known.account == person.account)
    }

    pub(crate) fn is_session(&self) -> bool {
        matches!(self.access, Access::Session { .. })
    }

    /// What they may do.
    pub(crate) fn rights(&self) -> Vec<Right> {
        match &self.person {
            Some(person) => person.rights.clone(),
            None => Right::ALL.to_vec(),
        }
    }

    /// The projects they are limited to; none means all.
    pub(crate) fn projects(&self) -> &[PathBuf] {
        self.person.as_ref().map_or(&[], |person| &person.projects)
    }

    pub(crate) fn must(&self, right: Right) -> Result<(), Problem> {
        match &self.person {
            Some(person) if !person.may(right) => {
                let detail = format!("`{}` does not have the right `{}`", self.name, right.word());
                Err(Problem::new(Code::Forbidden, detail))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Whether they see what runs in this directory.
    pub(crate) fn sees(&self, workspace: &Path) -> bool {
        self.person.as_ref().is_none_or(|person| person.sees(workspace))
    }

    /// Whose links and devices theirs are.
    pub(crate) fn owner(&self) -> Owner {
        match &self.person {
            Some(person) => Owner::Person(person.name.clone()),
            None => Owner::Local,
        }
    }

    /// What a run that they start is started by. Only a browser that is signed in
    /// is the page; a program with a token is not, whatever it says.
    pub(crate) fn started_by(&self, kind: ClientKind) -> StartedBy {
        match (self.is_session(), kind) {
            (true, _) => StartedBy::Web,
            (false, ClientKind::Editor) => StartedBy::Editor,
            (false, ClientKind::Page | ClientKind::Program) => StartedBy::Api,
        }
    }

    /// Who an answer is from. A browser that is signed in is a page whatever it says.
    pub(crate) fn answerer(&self, kind: ClientKind) -> Answerer {
        let kind = if self.is_session() { ClientKind::Page } else { kind };
        Answerer {
            name: self.name.clone(),
            proof: Some(self.proof()),
            channel: kind.channel(),
            vouched: false,
        }
    }

    /// How strongly it is proven that it is they.
    pub(crate) fn proof(&self) -> Proof {
        match (&self.person, &self.access) {
            (None, _) | (Some(_), Access::Account) => Proof::Local,
            (Some(_), Access::ServerToken | Access::Token(_) | Access::Session { .. }) => {
                Proof::Token
            }
        }
    }
}
