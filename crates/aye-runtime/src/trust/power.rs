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
