//! The kinds of channels, and what each needs.

use std::path::PathBuf;
use std::time::Duration;

use crate::fmt::shell_word;

use super::Sourced;

/// Where messages of a channel go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChannelKind {
    /// An HTTP request.
    Webhook(WebhookChannel),
    /// A topic of an ntfy server.
    Ntfy(NtfyChannel),
    /// A mail server.
    Email(EmailChannel),
    /// A program of the user.
    Command(CommandChannel),
    /// The desktop of the account that drives the run.
    Desktop,
    /// A directory for tools that know only files.
    DropBox(DropBoxChannel),
}

/// `kind = "webhook"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookChannel {
    /// The address; it may be a secret.
    pub url: Sourced,
    /// What the body is signed with.
    pub secret: Option<Sourced>,
    /// Sent as `Authorization: Bearer`.
    pub token: Option<Sourced>,
    /// What the body looks like.
    pub template: Template,
}

/// What the body of a webhook looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Template {
    /// Aye's own JSON.
    Aye,
    /// An incoming webhook of Slack.
    Slack,
    /// A workflow of Teams: an adaptive card.
    Teams,
    /// A webhook of Discord.
    Discord,
    /// `sendMessage` of a Telegram bot, to this chat.
    Telegram {
        /// The chat.
        chat: String,
    },
    /// A Jinja template of the user, and its content type.
    Own {
        /// The template.
        body: String,
        /// What is sent.
        content_type: String,
    },
}

impl Template {
    fn shown(&self) -> Vec<String> {
        let named = |name: &str| vec![format!("template {name}")];
        match self {
            Self::Aye => Vec::new(),
            Self::Slack => named("slack"),
            Self::Teams => named("teams"),
            Self::Discord => named("discord"),
            Self::Telegram { chat } => named(&format!("telegram, chat {}", shell_word(chat))),
            Self::Own { body, content_type } => {
                let first = format!("body {}", shell_word(content_type));
                // Behind a bar none of them passes for a line of ours.
                let lines = body.split('\n').map(|line| format!("| {line}"));
                std::iter::once(first).chain(lines).collect()
            }
        }
    }
}

/// `kind = "ntfy"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NtfyChannel {
    /// The server.
    pub url: Sourced,
    /// The topic. Everyone who knows it can read and write it.
    pub topic: Sourced,
    /// An access token.
    pub token: Option<Sourced>,
}

/// `kind = "email"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmailChannel {
    /// The host of the mail server.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How the connection is encrypted.
    pub encryption: Encryption,
    /// Who signs in.
    pub user: Option<Sourced>,
    /// With what.
    pub password: Option<Sourced>,
    /// The sender.
    pub from: String,
    /// Who gets it.
    pub to: Vec<String>,
}

/// How a mail connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encryption {
    /// In the clear at first, and never further without TLS.
    StartTls,
    /// From the first byte on.
    Tls,
    /// Not at all: only to this machine.
    None,
}

/// `kind = "command"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandChannel {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// How long it may take.
    pub timeout: Duration,
}

/// `kind = "dropbox"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropBoxChannel {
    /// The directory.
    pub directory: PathBuf,
}

impl ChannelKind {
    /// The word in settings.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Webhook(_) => "webhook",
            Self::Ntfy(_) => "ntfy",
            Self::Email(_) => "email",
            Self::Command(_) => "command",
            Self::Desktop => "desktop",
            Self::DropBox(_) => "dropbox",
        }
    }

    /// Where it goes, without secrets. An address may hold one in its path.
    pub fn target(&self) -> String {
        match self {
            Self::Webhook(WebhookChannel { url, .. }) => host(url),
            Self::Ntfy(ntfy) => host(&ntfy.url),
            Self::Email(mail) => format!("{} through {}", mail.to.join(", "), mail.host),
            Self::Command(command) => {
                command.argv.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
            }
            Self::Desktop => "of this account".to_owned(),
            Self::DropBox(files) => shell_word(&files.directory.to_string_lossy()),
        }
    }

    /// Everything that it does and uses, line by line: of a secret its source.
    pub(super) fn shown(&self) -> Vec<String> {
        let target = match self {
            Self::Webhook(WebhookChannel { url, .. }) | Self::Ntfy(NtfyChannel { url, .. }) => {
                url.shown()
            }
            Self::Email(_) | Self::Command(_) | Self::Desktop | Self::DropBox(_) => self.target(),
        };
        let mut lines = vec![format!("{} {target}", self.word())];
        let secret = |key: &str, value: &Option<Sourced>| {
            value.as_ref().map(|value| format!("{key} {}", value.source()))
        };
        match self {
            Self::Webhook(hook) => {
                lines.extend(secret("secret", &hook.secret));
                lines.extend(secret("token", &hook.token));
                lines.extend(hook.template.shown());
            }
            Self::Ntfy(ntfy) => {
                lines.extend(secret("token", &ntfy.token));
                lines.push(format!("topic {}", ntfy.topic.shown()));
            }
            Self::Email(mail) => {
                lines.extend(mail.user.iter().map(|user| format!("user {}", user.shown())));
                lines.extend(secret("password", &mail.password));
                let encryption = match mail.encryption {
                    Encryption::StartTls => "starttls",
                    Encryption::Tls => "tls",
                    Encryption::None => "not encrypted",
                };
                lines.push(format!("from {}, port {}, {encryption}", mail.from, mail.port));
            }
            Self::Command(_) | Self::Desktop | Self::DropBox(_) => {}
        }
        lines
    }

    /// What nobody else may know. An address of a webhook may be one of them; a
    /// plain one is not taken for it.
    pub fn secrets(&self) -> Vec<&Sourced> {
        let some: [Option<&Sourced>; 2] = match self {
            Self::Webhook(hook) => [hook.secret.as_ref(), hook.token.as_ref()],
            Self::Ntfy(ntfy) => [ntfy.token.as_ref(), None],
            Self::Email(mail) => [mail.password.as_ref(), None],
            Self::Command(_) | Self::Desktop | Self::DropBox(_) => [None, None],
        };
        some.into_iter().flatten().collect()
    }

    /// Whether a message can be taken back.
    pub fn retracts(&self) -> bool {
        match self {
            Self::Ntfy(_) | Self::DropBox(_) | Self::Desktop => true,
            Self::Webhook(_) | Self::Email(_) | Self::Command(_) => false,
        }
    }
}

/// The host of an address; its path may be a secret.
fn host(url: &Sourced) -> String {
    match url {
        Sourced::Plain(text) => match text.parse::<http::Uri>() {
            Ok(uri) => uri.authority().map_or_else(|| "?".to_owned(), ToString::to_string),
            Err(_) => "?".to_owned(),
        },
        Sourced::From(_) => url.to_string(),
    }
}
