//! `[notify.NAME]` as written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use aye_core::diagnostic::{Diagnostic, quote};
use serde::Deserialize;
use toml::Spanned;

use super::super::tools::{duration, is_loopback, program, wrong};
use super::quiet::quiet;
use super::sourced::sourced;
use super::{
    ChannelKind, ChannelSettings, Channels, CommandChannel, Detail, DropBoxChannel, EmailChannel,
    Encryption, NtfyChannel, Sourced, Template, WebhookChannel,
};
use crate::store::Occasion;

/// How long a question that a terminal shows is left to the person who sits there.
const DELAY: Duration = Duration::from_secs(60);
/// How long before its end a question is told of as expiring.
const EXPIRING: Duration = Duration::from_secs(120);
/// Reminders that come quicker than this help nobody.
const LEAST_REMIND: Duration = Duration::from_secs(60);
/// How long a command may take.
const COMMAND: Duration = Duration::from_secs(15);
const LONGEST_COMMAND: Duration = Duration::from_secs(25);

type Text = Option<Spanned<String>>;
type Value = Option<Spanned<toml::Value>>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::settings) struct NotifySection {
    kind: Text,
    on: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    skills: Vec<String>,
    #[serde(default)]
    environments: Vec<String>,
    person: Option<String>,
    quiet: Text,
    delay: Text,
    remind: Text,
    escalate: Option<Spanned<EscalateSection>>,
    expiring: Text,
    show: Text,
    link: Text,
    buttons: Option<bool>,
    url: Value,
    secret: Value,
    token: Value,
    template: Text,
    body: Text,
    content_type: Option<String>,
    chat: Option<String>,
    topic: Value,
    server: Text,
    tls: Text,
    user: Value,
    password: Value,
    from: Text,
    to: Option<Spanned<Vec<String>>>,
    command: Option<Spanned<Vec<String>>>,
    timeout: Text,
    directory: Text,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EscalateSection {
    after: Spanned<String>,
    to: String,
}

/// Checks what is written.
pub(in crate::settings) fn read(
    root: &Path,
    sections: BTreeMap<Spanned<String>, NotifySection>,
) -> Result<Channels, Diagnostic> {
    let mut all = Channels::new();
    let mut escalations = Vec::new();
    for (name, mut section) in sections {
        let (place, name) = (name.span(), name.into_inner());
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if name.is_empty() || !name.chars().all(plain) {
            return Err(wrong(format!("{} cannot name a channel", quote(&name)), place)
                .hint("use letters, digits, `_` and `-`"));
        }
        let escalate = section.escalate.take();
        let mut channel = section.read(&name, root, place)?;
        if let Some(escalate) = escalate {
            let place = escalate.span();
            let EscalateSection { after, to } = escalate.into_inner();
            let after = duration(&after)?.ok_or_else(|| {
                wrong("`after` is 0: that is the message itself", after.span())
                    .hint("write `escalate = { after = \"30m\", to = \"NAME\" }`")
            })?;
            escalations.push((to.clone(), place));
            channel.escalate = Some((after, to));
        }
        all.insert(name, channel);
    }
    for (to, place) in escalations {
        if !all.contains_key(&to) {
            return Err(wrong(format!("there is no channel {} in this file", quote(&to)), place)
                .hint(format!("add `[notify.{to}]`, or name one of the others")));
        }
    }
    Ok(all)
}

impl NotifySection {
    fn read(
        mut self,
        name: &str,
        root: &Path,
        place: std::ops::Range<usize>,
    ) -> Result<ChannelSettings, Diagnostic> {
        let kind = self.kind(name, root, place)?;
        let left = [
            ("url", self.url.as_ref().map(Spanned::span)),
            ("secret", self.secret.as_ref().map(Spanned::span)),
            ("token", self.token.as_ref().map(Spanned::span)),
            ("template", self.template.as_ref().map(Spanned::span)),
            ("body", self.body.as_ref().map(Spanned::span)),
            ("topic", self.topic.as_ref().map(Spanned::span)),
            ("server", self.server.as_ref().map(Spanned::span)),
            ("tls", self.tls.as_ref().map(Spanned::span)),
            ("user", self.user.as_ref().map(Spanned::span)),
            ("password", self.password.as_ref().map(Spanned::span)),
            ("from", self.from.as_ref().map(Spanned::span)),
            ("to", self.to.as_ref().map(Spanned::span)),
            ("command", self.command.as_ref().map(Spanned::span)),
            ("timeout", self.timeout.as_ref().map(Spanned::span)),
            ("directory", self.directory.as_ref().map(Spanned::span)),
        ];
        if let Some((key, place)) = left.into_iter().find_map(|(key, place)| Some((key, place?))) {
            return Err(wrong(format!("`{key}` is not for `kind = \"{}\"`", kind.word()), place));
        }
        let on = self.occasions()?;
        let time = |text: &Text, usual: Duration| match text {
            None => Ok(usual),
            Some(text) => duration(text).map(Option::unwrap_or_default),
        };
        let remind = self.remind.as_ref().map(duration).transpose()?.flatten();
        if let (Some(often), Some(text)) = (remind, &self.remind)
            && often < LEAST_REMIND
        {
            return Err(wrong("a reminder comes once a minute at most", text.span())
                .hint("write `remind = \"15m\"`"));
        }
        let link = self.link.as_ref().map(|link| address("link", link)).transpose()?;
        Ok(ChannelSettings {
            on,
            skills: self.skills,
            environments: self.environments,
            person: self.person,
            quiet: self.quiet.as_ref().map(quiet).transpose()?,
            delay: time(&self.delay, DELAY)?,
            remind,
            escalate: None,
            expiring: time(&self.expiring, EXPIRING)?,
            show: self.show.as_ref().map(detail).transpose()?.unwrap_or_default(),
            buttons: self.buttons.unwrap_or(matches!(kind, ChannelKind::Ntfy(_))),
            link: link.map(|link| link.trim_end_matches('/').to_owned()),
            kind,
            root: root.to_path_buf(),
            own: false,
        })
    }

    fn occasions(&self) -> Result<BTreeSet<Occasion>, Diagnostic> {
        let Some(on) = &self.on else {
            return Ok([Occasion::Question, Occasion::Failed].into());
        };
        let words = ["question", "expiring", "failed", "completed", "cancelled", "escalation"];
        let mut all = BTreeSet::new();
        for word in on.get_ref() {
            let known = Occasion::from_word(word).filter(|_| words.contains(&word.as_str()));
            all.insert(known.ok_or_else(|| {
                wrong(format!("{} is not an event to notify about", quote(word)), on.span())
                    .hint(format!("write some of `{}`", words.join("`, `")))
            })?);
        }
        Ok(all)
    }

    fn kind(
        &mut self,
        name: &str,
        root: &Path,
        place: std::ops::Range<usize>,
    ) -> Result<ChannelKind, Diagnostic> {
        const KINDS: &str = "`webhook`, `ntfy`, `email`, `command`, `desktop`, `dropbox`";
        let Some(kind) = self.kind.take() else {
            return Err(wrong(format!("`notify.{name}` needs a `kind`"), place)
                .hint(format!("write one of {KINDS}")));
        };
        let needs = |key: &str, example: &str| {
            wrong(format!("`notify.{name}` needs `{key}`"), place.clone())
                .hint(format!("write `{key} = {example}`"))
        };
        Ok(match kind.get_ref().as_str() {
            "webhook" => {
                let url = self.url.take().ok_or_else(|| needs("url", "\"https://…\""))?;
                ChannelKind::Webhook(WebhookChannel {
                    url: address_or_source("url", url)?,
                    secret: optional("secret", self.secret.take())?,
                    token: optional("token", self.token.take())?,
                    template: self.template(name)?,
                })
            }
            "ntfy" => {
                let topic = self.topic.take().ok_or_else(|| needs("topic", "\"…\""))?;
                let url = match self.url.take() {
                    Some(url) => address_or_source("url", url)?,
                    None => Sourced::Plain("https://ntfy.sh".to_owned()),
                };
                ChannelKind::Ntfy(NtfyChannel {
                    url,
                    topic: topic_of(topic)?,
                    token: optional("token", self.token.take())?,
                })
            }
            "email" => ChannelKind::Email(self.email(&needs)?),
            "command" => {
                let command =
                    self.command.take().ok_or_else(|| needs("command", "[\"./tell\"]"))?;
                let mut argv = program(command)?;
                if let Some(name) = argv.first_mut().filter(|name| name.contains('/')) {
                    *name = root.join(&*name).to_string_lossy().into_owned();
                }
                let timeout = match self.timeout.take() {
                    None => COMMAND,
                    Some(text) => duration(&text)?
                        .filter(|time| *time <= LONGEST_COMMAND)
                        .ok_or_else(|| {
                            wrong("a notification command may take 25s at most", text.span())
                                .hint("let it do longer work in the background")
                        })?,
                };
                ChannelKind::Command(CommandChannel { argv, timeout })
            }
            "desktop" => ChannelKind::Desktop,
            "dropbox" => {
                let directory =
                    self.directory.take().ok_or_else(|| needs("directory", "\"/run/user/…\""))?;
                ChannelKind::DropBox(DropBoxChannel { directory: root.join(directory.get_ref()) })
            }
            other => {
                return Err(wrong(
                    format!("{} is not a kind of channel", quote(other)),
                    kind.span(),
                )
                .hint(format!("write one of {KINDS}")));
            }
        })
    }

    fn template(&mut self, name: &str) -> Result<Template, Diagnostic> {
        let chat = self.chat.take();
        match (self.template.take(), self.body.take()) {
            (None, None) => Ok(Template::Aye),
            (None, Some(body)) => {
                check_template(body.get_ref()).map_err(|why| {
                    wrong(
                        format!("the `body` of `notify.{name}` is not a template: {why}"),
                        body.span(),
                    )
                    .hint("write values as `{{ title | tojson }}`")
                })?;
                let content_type = self.content_type.take();
                Ok(Template::Own {
                    body: body.into_inner(),
                    content_type: content_type.unwrap_or_else(|| "application/json".to_owned()),
                })
            }
            (Some(both), Some(_)) => {
                Err(wrong("`template` and `body` exclude each other", both.span()))
            }
            (Some(word), None) => match (word.get_ref().as_str(), chat) {
                ("slack", None) => Ok(Template::Slack),
                ("teams", None) => Ok(Template::Teams),
                ("discord", None) => Ok(Template::Discord),
                ("telegram", Some(chat)) => Ok(Template::Telegram { chat }),
                ("telegram", None) => Err(wrong("Telegram needs the `chat`", word.span())
                    .hint("write `chat = \"123456789\"`; the bot has to be in it")),
                (other, _) => {
                    Err(wrong(format!("there is no template {}", quote(other)), word.span()).hint(
                        "write `slack`, `teams`, `discord` or `telegram`, or your own `body`",
                    ))
                }
            },
        }
    }

    fn email(
        &mut self,
        needs: &dyn Fn(&str, &str) -> Diagnostic,
    ) -> Result<EmailChannel, Diagnostic> {
        let server = self.server.take().ok_or_else(|| needs("server", "\"smtp.example.com\""))?;
        let from = self.from.take().ok_or_else(|| needs("from", "\"aye@example.com\""))?;
        let to = self.to.take().ok_or_else(|| needs("to", "[\"you@example.com\"]"))?;
        let encryption = match self.tls.take() {
            None => Encryption::StartTls,
            Some(word) => match word.get_ref().as_str() {
                "starttls" => Encryption::StartTls,
                "tls" => Encryption::Tls,
                "none" => Encryption::None,
                other => {
                    return Err(wrong(
                        format!("{} is not a way to encrypt", quote(other)),
                        word.span(),
                    )
                    .hint("write `starttls` or `tls`; `none` is for this machine only"));
                }
            },
        };
        let usual = match encryption {
            Encryption::StartTls => 587,
            Encryption::Tls => 465,
            Encryption::None => 25,
        };
        let (host, port) = match server.get_ref().rsplit_once(':') {
            Some((host, port)) => (host, port.parse().ok()),
            None => (server.get_ref().as_str(), Some(usual)),
        };
        let (false, Some(port)) = (host.is_empty(), port) else {
            return Err(wrong("`server` is a host, or `host:port`", server.span()));
        };
        if encryption == Encryption::None && !is_loopback(host) {
            return Err(wrong("mail without encryption goes to this machine only", server.span())
                .hint("leave out `tls`, or write `tls = \"tls\"`"));
        }
        if to.get_ref().is_empty() {
            return Err(wrong("`to` is empty", to.span()));
        }
        for (address, place) in to
            .get_ref()
            .iter()
            .map(|address| (address, to.span()))
            .chain([(from.get_ref(), from.span())])
        {
            if !is_mailbox(address) {
                return Err(wrong(format!("{} is not a mail address", quote(address)), place)
                    .hint("write `name@example.com` or `Name <name@example.com>`"));
            }
        }
        Ok(EmailChannel {
            host: host.to_owned(),
            port,
            encryption,
            user: optional("user", self.user.take())?,
            password: optional("password", self.password.take())?,
            from: from.into_inner(),
            to: to.into_inner(),
        })
    }
}

fn check_template(body: &str) -> Result<(), String> {
    let environment = minijinja::Environment::new();
    let checked = environment.template_from_str(body).map(drop);
    checked.map_err(|error| error.to_string())
}

/// Whether this looks like an address; the mail server has the last word.
fn is_mailbox(text: &str) -> bool {
    let address = match text.trim().strip_suffix('>').and_then(|text| text.rsplit_once('<')) {
        Some((_, address)) => address,
        None => text.trim(),
    };
    let plain = |part: &str| {
        let odd = |c: char| c.is_whitespace() || c.is_control() || "<>,;".contains(c);
        !part.is_empty() && !part.contains(odd)
    };
    !text.contains(char::is_control)
        && address.rsplit_once('@').is_some_and(|(name, host)| plain(name) && plain(host))
}

fn optional(key: &str, value: Value) -> Result<Option<Sourced>, Diagnostic> {
    value.map(|value| sourced(key, value)).transpose()
}

fn topic_of(value: Spanned<toml::Value>) -> Result<Sourced, Diagnostic> {
    let place = value.span();
    let topic = sourced("topic", value)?;
    match &topic {
        Sourced::Plain(text) if !is_topic(text) => Err(wrong("that is not a topic of ntfy", place)
            .hint("a topic has letters, digits, `_` and `-`, at most 64; one that nobody guesses")),
        Sourced::Plain(_) | Sourced::From(_) => Ok(topic),
    }
}

/// Whether ntfy takes this for a topic.
pub(crate) fn is_topic(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    !text.is_empty() && text.len() <= 64 && text.chars().all(plain)
}

fn address_or_source(key: &str, value: Spanned<toml::Value>) -> Result<Sourced, Diagnostic> {
    let place = value.span();
    let found = sourced(key, value)?;
    if let Sourced::Plain(text) = &found {
        address(key, &Spanned::new(place, text.clone()))?;
    }
    Ok(found)
}

/// Encrypted, or on this machine.
fn address(key: &str, text: &Spanned<String>) -> Result<String, Diagnostic> {
    check_address(text.get_ref()).map_err(|why| {
        wrong(format!("the `{key}` {why}"), text.span())
            .hint("write `https://host/path`; plain `http://` is for this machine")
    })?;
    Ok(text.get_ref().clone())
}

/// Why something is not an address to send to, if it is not.
pub(crate) fn check_address(text: &str) -> Result<http::Uri, String> {
    let uri: http::Uri = text.parse().map_err(|_| "is not an address".to_owned())?;
    let authority = uri.authority().ok_or("names no host")?;
    if authority.as_str().contains('@') {
        return Err("holds a user or password".to_owned());
    }
    match uri.scheme_str() {
        Some("https") => Ok(uri),
        Some("http") if is_loopback(authority.host()) => Ok(uri),
        Some("http") => Err("is not encrypted".to_owned()),
        _ => Err("is not an address of a server".to_owned()),
    }
}

fn detail(text: &Spanned<String>) -> Result<Detail, Diagnostic> {
    match text.get_ref().as_str() {
        "full" => Ok(Detail::Full),
        "title" => Ok(Detail::Title),
        "pointer" => Ok(Detail::Pointer),
        other => Err(wrong(format!("{} is not a level of detail", quote(other)), text.span())
            .hint("write `full`, `title` or `pointer`")),
    }
}
