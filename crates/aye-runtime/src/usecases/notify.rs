//! Telling people: which channels a run has, answering from a message, and what
//! became of messages.

use std::path::PathBuf;
use std::sync::Arc;

use aye_core::id::{QuestionId, RunId};
use aye_core::question::{Channel as Through, Proof};
use jiff::Timestamp;

use crate::announced_server::AnnouncedServer;
use crate::error::Error;
use crate::notify::{
    Channel, Delivery, DeliveryError, DeliveryWorker, Message, NotTaken, NotifyHost, Plan,
    ServerDelivery, answers, deliver, token_digest,
};
use crate::runtime::Runtime;
use crate::settings::{ChannelKind, ChannelSettings};
use crate::store::{MessageRow, Store};
use crate::trust::Power;

use super::answer::{AnswerError, AnswerRequest, Answerer, TakenAnswer};

/// A channel that this project or the user has, and whether it can be used.
#[derive(Debug, Clone)]
pub struct ListedChannel {
    /// Its name.
    pub name: String,
    /// What it is.
    pub settings: ChannelSettings,
    /// Whether it counts; one of an untrusted project does not.
    pub granted: bool,
    /// What became of the last message that was tried, if there was one.
    pub last: Option<MessageRow>,
    /// How many messages wait for it.
    pub waiting: usize,
}

impl Runtime {
    /// From now on the store adds the messages that events of a run cause, if a
    /// channel is configured at all. `attended` says whether someone sits where
    /// it is driven.
    pub(super) fn announce(&self, store: &mut dyn Store, attended: bool) -> Option<DeliveryWorker> {
        let (project, user) = (&self.settings.project, &self.settings.user);
        // Without a channel there is nothing to look up.
        if project.notify.is_empty() && user.notify.is_empty() {
            return None;
        }
        let channels = self.granted().channels.clone();
        if channels.is_empty() {
            return None;
        }
        let agreed = channels.iter().map(|(name, one)| (name.clone(), agreed(name, one))).collect();
        let delivery_worker = DeliveryWorker::new(Arc::new(Host(self.clone())));
        store.announce_with(Some(delivery_worker.announcement(Plan {
            channels,
            agreed,
            attended,
        })));
        Some(delivery_worker)
    }

    /// Delivers messages of every run for as long as what is returned lives.
    pub fn deliver_messages(&self) -> ServerDelivery {
        ServerDelivery::start(Arc::new(Host(self.clone())))
    }

    /// The channels that there are here, the user's first.
    pub fn channels(&self) -> Result<Vec<ListedChannel>, Error> {
        const LOOKED_AT: u32 = 1_000;
        let (project, user) = (&self.settings.project, &self.settings.user);
        if project.notify.is_empty() && user.notify.is_empty() {
            return Ok(Vec::new());
        }
        let granted = self.granted();
        let rows = match self.store_to_read()? {
            Some(store) => store.newest_messages(LOOKED_AT)?,
            None => Vec::new(),
        };
        let listed = |(name, settings): (&String, &ChannelSettings)| {
            let mine: Vec<&MessageRow> = rows.iter().filter(|row| row.channel == *name).collect();
            let waiting = |row: &&&MessageRow| row.state == crate::store::MessageState::Waiting;
            ListedChannel {
                name: name.clone(),
                settings: settings.clone(),
                granted: granted.channels.get(name) == Some(settings),
                waiting: mine.iter().filter(waiting).count(),
                last: mine
                    .into_iter()
                    .filter(|row| row.tried.is_some())
                    .max_by_key(|row| row.tried)
                    .cloned(),
            }
        };
        Ok(user.notify.iter().chain(&project.notify).map(listed).collect())
    }

    /// What was told, or is to be told, of a run.
    pub fn messages(&self, run: &RunId) -> Result<Vec<MessageRow>, Error> {
        match self.store_to_read()? {
            Some(store) => Ok(store.messages(run)?),
            None => Ok(Vec::new()),
        }
    }

    /// The newest messages of all runs, the newest first.
    pub fn newest_messages(&self, limit: u32) -> Result<Vec<MessageRow>, Error> {
        match self.store_to_read()? {
            Some(store) => Ok(store.newest_messages(limit)?),
            None => Ok(Vec::new()),
        }
    }

    /// Sends a message that says only that the channel works, past the outbox.
    pub fn try_channel(&self, name: &str) -> Result<Result<(), DeliveryError>, Error> {
        let host = Host(self.clone());
        let workspace = self.directory.to_string_lossy();
        let channel = host.channel(&workspace, name, "").map_err(|message| {
            Error::not_found(message, "`aye doctor` lists the channels that there are here")
        })?;
        let message = Message::test(&channel, self.now(), host.server());
        let delivery = Delivery::Send(Box::new(message));
        Ok(deliver(&channel, &delivery).map(drop))
    }

    /// Answers a question with a right that a message carried. A right for one
    /// option answers with that; another one needs a choice. It counts as a
    /// relayed word, and once.
    pub fn answer_with_token(
        &self,
        token: &str,
        choice: Option<String>,
        reason: Option<String>,
        through: Through,
    ) -> Result<TakenAnswer, AnswerError> {
        let unknown = || {
            AnswerError::Failed(Error::not_found(
                "this message cannot answer: its question is gone, or it was never sent",
                "`aye inbox` lists what waits",
            ))
        };
        let mut store = self.store()?;
        let digest = token_digest(token);
        let kept = store.token(&digest).map_err(Error::from)?.ok_or_else(unknown)?;
        let question = store.asked(&kept.question).map_err(Error::from)?.ok_or_else(unknown)?;
        let refused = |why: &str| AnswerError::Refused {
            question: kept.question.to_string(),
            why: why.to_owned(),
        };
        let choice = match (&kept.choice, choice) {
            (Some(bound), Some(other)) if *bound != other => {
                return Err(refused("the message answers with another option"));
            }
            (Some(bound), _) => bound.clone(),
            (None, Some(choice)) => choice,
            (None, None) => return Err(refused("no choice is named")),
        };
        // One that never counts does not use the right up.
        if !answers(&question, through).iter().any(|offer| offer.value == choice) {
            return Err(refused(&format!("`{choice}` cannot be answered from a message")));
        }
        let request = AnswerRequest {
            digest: Some(kept.shown.clone()),
            reason,
            // An answer that could not be passed on is sent again, and counts once.
            key: Some(digest.clone()),
            ..AnswerRequest::new(&kept.question, choice)
        };
        self.must_be_open(&kept.question)?;
        if kept.used.is_some() {
            return Err(refused("the message has answered already"));
        }
        let name = if kept.person.is_empty() { self.person() } else { kept.person.clone() };
        let proof = Some(Proof::Relayed);
        let by = Answerer { name, proof, channel: through, vouched: false };
        let taken = self.answer(&request, &by, &mut |_| {})?;
        // The question is decided, or has this answer under its key: should this fail, the
        // right is worth nothing any more all the same.
        let _ = store.use_token(&digest, self.now());
        Ok(taken)
    }

    fn must_be_open(&self, question: &QuestionId) -> Result<(), AnswerError> {
        let late = self.journal()?.late_answer(question, self.now())?;
        late.map_or(Ok(()), |late| Err(AnswerError::Decided(late)))
    }
}

/// Digest of what someone agrees to with a channel.
fn agreed(name: &str, channel: &ChannelSettings) -> String {
    Power::channel(name, channel).digest
}

/// What the delivery workers of a process need.
struct Host(Runtime);

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Host").field(&self.0.home).finish()
    }
}

impl NotifyHost for Host {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn open(&self) -> Result<Box<dyn Store>, String> {
        self.0.store().map_err(|error| error.to_string())
    }

    fn channel(&self, workspace: &str, name: &str, digest: &str) -> Result<Channel, String> {
        // The channel may be newer than this process.
        let there = self.0.reading_settings_at(workspace.into());
        let there = there.map_err(|error| error.to_string())?;
        let granted = there.granted();
        let project = there.settings.project.notify.get(name);
        // A person was there when the message was written, and agreed to it.
        let then = project.filter(|one| granted.trusted && agreed(name, one) == digest);
        let settings =
            granted.channels.get(name).or(then).cloned().ok_or_else(|| match project {
                Some(_) => format!(
                    "the channel `{name}` is not used: its project is not trusted, or has changed"
                ),
                None => format!("there is no channel `{name}`"),
            })?;
        Ok(Channel {
            name: name.to_owned(),
            agreed: agreed(name, &settings),
            settings,
            policy: granted.policy.clone(),
            env: there.env.clone(),
            secrets: there.secret_reader(),
        })
    }

    fn server(&self) -> Option<String> {
        let server = AnnouncedServer::running(&self.0.home)?;
        Some(server.url.trim_end_matches('/').to_owned())
    }

    fn drop_boxes(&self) -> Vec<PathBuf> {
        // What cannot be read now is looked for again soon.
        let Ok(there) = self.0.reading_settings_at(self.0.directory.clone()) else {
            return Vec::new();
        };
        let granted = there.granted();
        let directory = |channel: &ChannelSettings| match &channel.kind {
            ChannelKind::DropBox(files) => Some(files.directory.clone()),
            ChannelKind::Webhook(_)
            | ChannelKind::Ntfy(_)
            | ChannelKind::Email(_)
            | ChannelKind::Command(_)
            | ChannelKind::Desktop => None,
        };
        granted.channels.values().filter_map(directory).collect()
    }

    fn answer(&self, token: &str, choice: &str, reason: Option<String>) -> Result<(), NotTaken> {
        let given = Some(choice.to_owned());
        let taken = self.0.answer_with_token(token, given, reason, Through::DropBox);
        taken.map(drop).map_err(|error| match error {
            AnswerError::Failed(Error::NotFound { .. })
            | AnswerError::Changed { .. }
            | AnswerError::Decided(_)
            | AnswerError::OtherRequest { .. }
            | AnswerError::OtherRetry { .. }
            | AnswerError::Refused { .. } => NotTaken::Refused,
            AnswerError::Failed(_) => NotTaken::Failed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Parts;

    /// A server stays for days; a channel that was added since is no reason to drop its messages.
    #[test]
    fn a_channel_is_found_that_was_added_after_the_process_began() {
        let place = tempfile::tempdir().expect("a directory");
        let file = place.path().join("config.toml");
        let work = place.path().join("work");
        std::fs::create_dir(&work).expect("a directory");
        let parts = Parts::new(place.path().join("home"), &work);
        let parts = Parts { user_settings: Some(file.clone()), ..parts };
        let host = Host(Runtime::new(parts).expect("a runtime"));
        let channel = || host.channel(&work.to_string_lossy(), "mine", "");
        assert_eq!(channel().expect_err("none yet"), "there is no channel `mine`");
        let text = "[notify.mine]\nkind = \"command\"\ncommand = [\"true\"]\n";
        std::fs::write(&file, text).expect("written");
        assert_eq!(channel().expect("it is there now").name, "mine");
    }
}
