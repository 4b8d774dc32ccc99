//! What may be run, where. Off unless somebody asks: an empty policy
//! allows everything.
//!
//! The allow-list is matched on the program that would really be started. An
//! entry with a slash is a whole path; one without is a whole name, of the
//! name asked for and of the file found. `*` stands for any characters but
//! `/`. There is no list of forbidden characters: arguments reach the
//! program as they are.

use std::path::{Path, PathBuf};

use crate::spec::Spec;

/// Which programs may run, and below which directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Allowed programs; empty allows all.
    pub allow: Vec<String>,
    /// The directory in which every step must work.
    pub workspace: Option<PathBuf>,
}

/// A step that the policy refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Not on the allow-list.
    #[error("command `{}` is not allowed", command_line(program, args))]
    Command {
        /// The program as it was asked for.
        program: String,
        /// Its arguments.
        args: Vec<String>,
        /// The file that would have been run.
        resolved: PathBuf,
    },
    /// The working directory is not inside the workspace.
    #[error("working directory `{}` of `{}` is outside the workspace `{}`", cwd.display(), command_line(program, args), workspace.display())]
    Directory {
        /// The program as it was asked for.
        program: String,
        /// Its arguments.
        args: Vec<String>,
        /// The real path of the directory.
        cwd: PathBuf,
        /// The real path of the workspace.
        workspace: PathBuf,
    },
}

impl Refusal {
    /// The stable code of the refusal.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Command { .. } => "COMMAND_NOT_ALLOWED",
            Self::Directory { .. } => "PATH_TRAVERSAL",
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Command { resolved, .. } => {
                format!("it means `{}`; add it to `allow` under `[policy]`", resolved.display())
            }
            Self::Directory { .. } => "use a directory inside the workspace".to_owned(),
        }
    }
}

fn command_line(program: &str, args: &[String]) -> String {
    let mut line = program.to_owned();
    for arg in args {
        line.push(' ');
        line.push_str(arg);
    }
    crate::text::plain(&line)
}

impl Policy {
    /// Checks a step whose program was resolved to `resolved`.
    ///
    /// # Errors
    /// [`Refusal::Command`] or [`Refusal::Directory`].
    pub fn check(&self, spec: &Spec, resolved: &Path) -> Result<(), Refusal> {
        let program = || spec.program.to_string_lossy().into_owned();
        let args = || spec.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
        if !self.allow.is_empty() && !self.allows(&program(), resolved) {
            return Err(Refusal::Command {
                program: program(),
                args: args(),
                resolved: resolved.to_owned(),
            });
        }
        if let Some(workspace) = &self.workspace {
            let cwd = spec.cwd.clone().unwrap_or_else(|| PathBuf::from("."));
            let (cwd, workspace) = (real(&cwd), real(workspace));
            // `starts_with` compares whole segments.
            if !cwd.starts_with(&workspace) {
                return Err(Refusal::Directory {
                    program: program(),
                    args: args(),
                    cwd,
                    workspace,
                });
            }
        }
        Ok(())
    }

    fn allows(&self, program: &str, resolved: &Path) -> bool {
        let real = real(resolved);
        let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        self.allow.iter().any(|entry| {
            if entry.contains('/') {
                matches(entry, &resolved.to_string_lossy())
                    || matches(entry, &real.to_string_lossy())
            } else {
                // A file of that name somewhere else is not what was allowed.
                !program.contains('/') && name(resolved).is_some_and(|name| matches(entry, &name))
            }
        })
    }
}

/// The real path; for one that does not exist, itself without tricks.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| {
        // A path that cannot be real must not look as if it were inside.
        Path::new("/nonexistent").join(path.file_name().unwrap_or_default())
    })
}

/// Whether the whole text matches; `*` is any run of characters but `/`.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, rest)) => text.strip_prefix(head).is_some_and(|tail| {
            let end = tail.find('/').unwrap_or(tail.len());
            (0..=end).filter(|at| tail.is_char_boundary(*at)).any(|at| matches(rest, &tail[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(allow: &[&str], program: &str, resolved: &str) -> bool {
        let policy =
            Policy { allow: allow.iter().map(ToString::to_string).collect(), workspace: None };
        policy.check(&Spec::new(program), Path::new(resolved)).is_ok()
    }

    #[test]
    fn the_allow_list_is_anchored_and_on_the_resolved_program() {
        assert!(check(&[], "anything", "/usr/bin/anything"));
        assert!(check(&["git"], "git", "/usr/bin/git"));
        assert!(!check(&["git"], "git-evil", "/usr/bin/git-evil"));
        assert!(!check(&["git"], "legit", "/usr/bin/legit"));
        assert!(!check(&["git"], "./git", "/tmp/git"));
        assert!(!check(&["git"], "/tmp/git", "/tmp/git"));
        assert!(check(&["/usr/bin/git"], "git", "/usr/bin/git"));
        assert!(!check(&["/usr/bin/git"], "git", "/tmp/git"));
        assert!(check(&["cargo-*"], "cargo-nextest", "/root/.cargo/bin/cargo-nextest"));
        assert!(check(&["/opt/*/bin/tool"], "tool", "/opt/x/bin/tool"));
        assert!(!check(&["/opt/*/bin/tool"], "tool", "/opt/x/y/bin/tool"));
    }

    #[test]
    fn a_refusal_names_everything() {
        let policy = Policy { allow: vec!["git".to_owned()], workspace: None };
        let spec = Spec::new("rm").args(["-rf", "/"]);
        let refusal = policy.check(&spec, Path::new("/bin/rm")).expect_err("refused");
        assert_eq!(refusal.to_string(), "command `rm -rf /` is not allowed");
        assert_eq!(refusal.code(), "COMMAND_NOT_ALLOWED");
        assert!(refusal.hint().contains("/bin/rm"));
    }

    #[test]
    fn the_workspace_is_compared_by_real_segments() {
        let root = std::env::temp_dir().join(format!("aye-policy-{}", std::process::id()));
        for directory in ["app/sub", "app-evil"] {
            std::fs::create_dir_all(root.join(directory)).expect("directory");
        }
        std::os::unix::fs::symlink(root.join("app-evil"), root.join("app/link")).expect("link");
        let policy = Policy { allow: Vec::new(), workspace: Some(root.join("app")) };
        let check = |cwd: &str| {
            let mut spec = Spec::new("true");
            spec.cwd = Some(root.join(cwd));
            policy.check(&spec, Path::new("/bin/true")).map_err(|refusal| refusal.code())
        };
        assert_eq!(check("app"), Ok(()));
        assert_eq!(check("app/sub"), Ok(()));
        assert_eq!(check("app/sub/../sub"), Ok(()));
        assert_eq!(check("app-evil"), Err("PATH_TRAVERSAL"));
        assert_eq!(check("app/../app-evil"), Err("PATH_TRAVERSAL"));
        assert_eq!(check("app/link"), Err("PATH_TRAVERSAL"));
        assert_eq!(check("app/missing"), Err("PATH_TRAVERSAL"));
        std::fs::remove_dir_all(root).expect("removed");
    }
}
