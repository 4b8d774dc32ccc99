//! `[policy]`: what steps may run.

use std::path::Path;

use aye_core::text::Verbatim;
use aye_process::policy::Policy;

/// What steps may run; everything unless someone asks for less.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicySettings {
    /// The programs that may run: each list has to allow one. None allows all.
    pub allow: Vec<Vec<String>>,
    /// Steps work inside the workspace only.
    pub workspace_only: bool,
    /// What `{{ x | safe }}` may put into a `shell:` script.
    pub verbatim: Verbatim,
}

impl PolicySettings {
    /// What it means for a run in this workspace.
    pub fn for_run(&self, workspace: &Path) -> Policy {
        Policy {
            allow: self.allow.clone(),
            workspace: self.workspace_only.then(|| workspace.to_path_buf()),
        }
    }

    /// What both allow.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let mut allow = self.allow.clone();
        allow.extend(other.allow.iter().filter(|list| !self.allow.contains(list)).cloned());
        let checked = Verbatim::PlainWord;
        let verbatim = if other.verbatim == checked { checked } else { self.verbatim };
        Self { allow, workspace_only: self.workspace_only || other.workspace_only, verbatim }
    }

    /// Whether it allows something that the other one does not.
    pub fn is_looser_than(&self, other: &Self) -> bool {
        let within = |list: &Vec<String>, outer: &Vec<String>| {
            list.iter().all(|entry| outer.contains(entry))
        };
        let listed = |outer| self.allow.iter().any(|list| within(list, outer));
        !other.allow.iter().all(listed)
            || (other.workspace_only && !self.workspace_only)
            || (other.verbatim == Verbatim::PlainWord && self.verbatim != Verbatim::PlainWord)
    }

    /// As it is written.
    pub fn shown(&self) -> Vec<String> {
        let lists = self.allow.iter().map(|list| format!("allow = {list:?}"));
        let only = self.workspace_only.then(|| "workspace_only = true".to_owned());
        let checked =
            (self.verbatim == Verbatim::PlainWord).then(|| "check_shell_values = true".to_owned());
        lists.chain(only).chain(checked).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(list: &[&str]) -> PolicySettings {
        let allow = vec![list.iter().map(|entry| (*entry).to_owned()).collect()];
        PolicySettings { allow, ..PolicySettings::default() }
    }

    #[test]
    fn less_is_not_looser() {
        let (none, git) = (PolicySettings::default(), allows(&["git"]));
        let both = allows(&["git", "sh"]);
        let inside = PolicySettings { workspace_only: true, ..none.clone() };
        let words = PolicySettings { verbatim: Verbatim::PlainWord, ..none.clone() };
        for (now, before, looser) in [
            (&none, &none, false),
            (&none, &git, true),
            (&git, &none, false),
            (&both, &git, true),
            (&git, &both, false),
            (&none, &inside, true),
            (&inside, &none, false),
            (&none, &words, true),
            (&words, &inside, true),
            (&git.and(&inside), &git, false),
        ] {
            assert_eq!(now.is_looser_than(before), looser, "{now:?} {before:?}");
            assert!(!now.and(before).is_looser_than(before), "{now:?} {before:?}");
            assert!(!now.and(before).is_looser_than(now), "{now:?} {before:?}");
        }
    }
}
