//! What of a project widens what may happen, as it stands now.

use std::path::{Path, PathBuf};

use aye_core::digest::digest;

use crate::fmt::shell_word;
use crate::settings::{AdvisorSettings, ChannelSettings, HealSettings, PolicySettings, Settings};

/// Something that someone has to agree to, by its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Power {
    /// What it is, such as `server git`: its place among the agreements.
    pub what: String,
    /// How it is shown, line by line.
    pub shown: Vec<String>,
    /// Of all of it. An agreement is to this, and to nothing else.
    pub digest: String,
    /// The policy, if it is one: an agreed one holds on when a looser one comes.
    pub(super) policy: Option<PolicySettings>,
}

impl Power {
    fn new(what: &str, shown: Vec<String>) -> Self {
        let mut parts: Vec<&[u8]> = vec![what.as_bytes()];
        parts.extend(shown.iter().map(String::as_bytes));
        Self { what: what.to_owned(), digest: digest(&parts), shown, policy: None }
    }

    /// The place of a server among the agreements.
    pub fn server(name: &str) -> String {
        format!("server {name}")
    }

    /// A server as it would be started now.
    pub(crate) fn of_server(name: &str, shown: Vec<String>, digest: String) -> Self {
        Self { what: Self::server(name), shown, digest, policy: None }
    }

    pub(super) fn heal(heal: &HealSettings) -> Option<Self> {
        let shown = heal.written.iter().map(ToString::to_string).collect();
        (!heal.written.is_empty()).then(|| Self::new("heal", shown))
    }

    /// Tools that the project says only look: an assistant may try them, and a
    /// fix may look things up with them.
    pub(super) fn read_only(settings: &Settings) -> Option<Self> {
        let shown = settings.tools.read_only_shown();
        (!shown.is_empty()).then(|| Self::new("read-only tools", shown))
    }

    pub(super) fn advisor(advisor: &AdvisorSettings) -> Self {
        let words: Vec<String> = advisor.argv.iter().map(|word| shell_word(word)).collect();
        Self::new("advisor", vec![words.join(" ")])
    }

    /// A channel as it is written now.
    pub(crate) fn channel(name: &str, channel: &ChannelSettings) -> Self {
        Self::new(&format!("notify {name}"), channel.shown())
    }

    /// A directory with skills, by its real path.
    pub(super) fn skills(directory: &Path) -> Self {
        let shown = directory.to_string_lossy().into_owned();
        Self::new(&format!("skills {shown}"), vec![shown])
    }

    pub(super) fn policy(policy: &PolicySettings) -> Option<Self> {
        let shown = policy.shown();
        let power = || Self { policy: Some(policy.clone()), ..Self::new("policy", shown.clone()) };
        (!shown.is_empty()).then(power)
    }

    /// That there is no policy any more, where there was one.
    pub fn no_policy() -> Self {
        Self::new("policy", Vec::new())
    }

    /// Everything of a project but its servers, which depend on where they would
    /// be started.
    pub fn of(settings: &Settings) -> Vec<Self> {
        let project = &settings.project;
        let mut all = Vec::new();
        all.extend(outside(settings).iter().map(|directory| Self::skills(directory)));
        all.extend(Self::heal(&project.heal));
        all.extend(project.advisor.as_ref().map(Self::advisor));
        all.extend(Self::read_only(settings));
        all.extend(project.notify.iter().map(|(name, channel)| Self::channel(name, channel)));
        all.extend(Self::policy(&project.policy));
        all
    }
}

/// The real paths of the project's skill directories that are not inside it.
pub(super) fn outside(settings: &Settings) -> Vec<PathBuf> {
    let Ok(root) = settings.root.canonicalize() else { return Vec::new() };
    let real = settings.skills.iter().filter_map(|directory| directory.canonicalize().ok());
    real.filter(|directory| !directory.starts_with(&root)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What someone agrees to with a channel of a project.
    fn agreed(channel: &str) -> Power {
        let place = tempfile::tempdir().expect("a directory");
        let text = format!("[notify.c]\n{channel}");
        std::fs::write(place.path().join("aye.toml"), text).expect("written");
        let settings = Settings::load(place.path(), None, |_| false).expect("valid settings");
        let (_, channel) = settings.project.notify.first_key_value().expect("a channel");
        Power::channel("c", channel)
    }

    /// Whatever decides who gets what, in whose name and with which secret is shown, and
    /// agreed to anew when it changes.
    #[test]
    fn an_agreement_to_a_channel_covers_everything_that_it_does() {
        let hook = "kind = 'webhook'\nurl = 'https://x.com/a'\nsecret = { env = 'A' }\n\
            token = { file = 'a' }\nbody = \"{{ title }}\\n\"\nperson = 'ann'\n\
            skills = ['a']\nenvironments = ['a']\nlink = 'https://l.com'\n";
        let ntfy = "kind = 'ntfy'\nurl = { env = 'A' }\ntopic = 'a'\n\
            token = { command = ['a', 'b'] }\n";
        let mail = "kind = 'email'\nserver = 'mail.x.com'\nfrom = 'a@x.com'\nto = ['b@x.com']\n\
            user = 'ann'\npassword = { command = ['pass', 'show'] }\n";
        let command = "kind = 'command'\ncommand = ['tell', 'a b']\n";
        for (before, what, then) in [
            (hook, "x.com/a", "x.com/b"),
            (hook, "'https://x.com/a'", "{ env = 'A' }"),
            (hook, "{ env = 'A' }", "{ env = 'B' }"),
            (hook, "{ env = 'A' }", "{ command = ['A'] }"),
            (hook, "secret = { env = 'A' }\n", ""),
            (hook, "{ file = 'a' }", "{ file = 'b' }"),
            (hook, "{{ title }}", "{{ text }}"),
            (hook, "{{ title }}\\n", "{{ title }} "),
            (hook, "body = \"{{ title }}\\n\"", "template = 'slack'"),
            (hook, "'ann'", "'bob'"),
            (hook, "skills = ['a']", "skills = ['b']"),
            (hook, "skills = ['a']", ""),
            (hook, "environments = ['a']", "environments = ['b']"),
            (hook, "l.com", "m.com"),
            (ntfy, "{ env = 'A' }", "{ env = 'B' }"),
            (ntfy, "topic = 'a'", "topic = 'b'"),
            (ntfy, "topic = 'a'", "topic = { env = 'a' }"),
            (ntfy, "'a', 'b'", "'a b'"),
            (mail, "mail.x", "mail.y"),
            (mail, "b@x.com", "c@x.com"),
            (mail, "from = 'a", "from = 'c"),
            (mail, "'ann'", "'bob'"),
            (mail, "'pass', 'show'", "'pass show'"),
            (mail, "'pass'", "'steal'"),
            (command, "'tell'", "'other'"),
            (command, "'a b'", "'a', 'b'"),
        ] {
            let changed = before.replace(what, then);
            assert_ne!(before, changed, "{what}");
            let (one, other) = (agreed(before), agreed(&changed));
            assert_ne!(one.shown, other.shown, "{what} -> {then}");
            assert_ne!(one.digest, other.digest, "{what} -> {then}");
        }
    }

    #[test]
    fn of_a_secret_its_source_is_shown() {
        let ntfy =
            "kind = 'ntfy'\ntopic = { env = 'TOPIC' }\ntoken = { command = ['pass', 'a b'] }\n";
        assert_eq!(
            agreed(ntfy).shown,
            [
                "ntfy https://ntfy.sh",
                "token from the command pass 'a b'",
                "topic from the environment variable TOPIC",
                "on question, failed; shows full, with buttons",
            ]
        );
    }
}
