//! What may be run, where. Off unless someone asks: an empty policy
//! allows everything.
//!
//! The allow-list is matched on the file that would really start, links
//! followed. An entry without `*` allows the file it leads to itself, so that
//! `python3` may be a link; one with `*`, which stands for any characters but
//! `/`, has to match that file's own path, or its own name if the entry has
//! no slash. There is no list of forbidden characters: arguments reach the
//! program as they are.

use std::path::{Component, Path, PathBuf};

use super::resolve::resolve;
use super::spec::Spec;
use crate::output::text;

/// Which programs may run, and below which directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Lists of allowed programs: each has to allow one. None allows all.
    pub allow: Vec<Vec<String>>,
    /// The directory in which every step must work.
    pub workspace: Option<PathBuf>,
}

/// A step that the policy refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Not on the allow-list.
    #[error("command `{command}` is not allowed")]
    Command {
        /// What was asked for, as a person would type it.
        command: String,
        /// The file that was found.
        resolved: PathBuf,
        /// The one it leads to, which would have been run.
        real: PathBuf,
    },
    /// The working directory is not inside the workspace.
    #[error("working directory `{}` of `{command}` is outside the workspace `{}`", cwd.display(), workspace.display())]
    Directory {
        /// What was asked for, as a person would type it.
        command: String,
        /// The real path of the directory.
        cwd: PathBuf,
        /// The real path of the workspace.
        workspace: PathBuf,
    },
}

impl Refusal {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Command { resolved, real, .. } => {
                let link = if resolved == real {
                    ""
                } else {
                    &format!(", a link to `{}`", real.display())
                };
                let found = resolved.display();
                format!("it means `{found}`{link}; add it to `allow` under `[policy]`")
            }
            Self::Directory { .. } => "use a directory inside the workspace".to_owned(),
        }
    }
}

/// The command as a person would type it: the first line of it. Masked
/// before it is quoted, since quoting changes what a secret looks like.
fn command_line(spec: &Spec) -> String {
    let words = std::iter::once(&spec.program).chain(&spec.args).map(|word| {
        let masked = spec.masks.iter().fold(word.to_string_lossy().into_owned(), |word, secret| {
            match std::str::from_utf8(secret) {
                Ok(secret) if !secret.is_empty() => word.replace(secret, "***"),
                _ => word,
            }
        });
        text::shell_word(&masked)
    });
    let line = words.collect::<Vec<_>>().join(" ");
    match line.split_once('\n') {
        Some((first, _)) => text::plain(first) + " …",
        None => text::plain(&line),
    }
}

impl Policy {
    /// Checks a step whose program was resolved to `resolved`. A directory
    /// that does not exist is left to the start, which says so.
    ///
    /// # Errors
    /// [`Refusal::Command`] or [`Refusal::Directory`].
    pub fn check(&self, spec: &Spec, resolved: &Path) -> Result<(), Refusal> {
        let program = real(resolved);
        if !self.allow.iter().all(|list| allows(list, spec, resolved, &program)) {
            return Err(Refusal::Command {
                command: command_line(spec),
                resolved: resolved.to_owned(),
                real: program,
            });
        }
        if let Some(workspace) = &self.workspace {
            let cwd = spec.cwd.as_deref().unwrap_or(Path::new("."));
            let (cwd, workspace) = (real(cwd), real(workspace));
            // `starts_with` compares whole segments.
            if !cwd.starts_with(&workspace) {
                return Err(Refusal::Directory { command: command_line(spec), cwd, workspace });
            }
        }
        Ok(())
    }
}

/// Whether an entry allows `program`, the file that `resolved` leads to.
fn allows(list: &[String], spec: &Spec, resolved: &Path, program: &Path) -> bool {
    let bare = !spec.program.as_encoded_bytes().contains(&b'/');
    list.iter().any(|entry| match (entry.contains('*'), entry.contains('/')) {
        (true, true) => matches(&real_pattern(entry), &program.to_string_lossy()),
        // A file of that name somewhere else is not what was allowed.
        (true, false) => bare && matches(entry, &name(program)),
        (false, true) => leads_to(Path::new(entry), resolved, program),
        (false, false) => {
            let (cwd, env) = (spec.cwd.clone(), spec.env.clone());
            resolve(&Spec { cwd, env, ..Spec::new(entry) })
                .is_ok_and(|found| leads_to(&found, resolved, program))
        }
    })
}

/// Whether an entry means this program: it leads to the same file, and is
/// called as the step calls it or as the file itself. A program like busybox,
/// which does what the link to it is called, is so allowed one by one.
fn leads_to(entry: &Path, resolved: &Path, program: &Path) -> bool {
    real(entry) == program && [name(resolved), name(program)].contains(&name(entry))
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A pattern whose directories are real as far as they are named.
fn real_pattern(entry: &str) -> String {
    let named = entry.split('*').next().unwrap_or_default();
    let (directory, _) = named.rsplit_once('/').unwrap_or_default();
    match real(Path::new(directory)).to_string_lossy().as_ref() {
        _ if directory.is_empty() => entry.to_owned(),
        real => format!("{}{}", real.trim_end_matches('/'), &entry[directory.len()..]),
    }
}

/// The real path; of one that does not exist, that of as much of it as does,
/// with the rest behind it.
fn real(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    follow(&absolute, 40)
}

/// `links` is how many more may be followed: they can lead in a circle.
fn follow(path: &Path, links: u32) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let Some(parent) = path.parent() else { return path.to_owned() };
    let parent = follow(parent, links);
    match path.components().next_back() {
        Some(Component::ParentDir) => parent.parent().unwrap_or(&parent).to_owned(),
        Some(last) => {
            let path = parent.join(last);
            match std::fs::read_link(&path) {
                Ok(target) if links > 0 => follow(&parent.join(target), links - 1),
                Ok(_) | Err(_) => path,
            }
        }
        None => parent,
    }
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
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// A directory of programs and links, gone with it.
    struct Programs(PathBuf);

    impl Programs {
        fn new(name: &str) -> Self {
            let root = std::env::temp_dir().join(format!("aye-{name}-{}", std::process::id()));
            for directory in ["usr/bin", "opt/x/bin", "own", "app/sub", "app-evil"] {
                std::fs::create_dir_all(root.join(directory)).expect("directory");
            }
            Self(root.canonicalize().expect("a real path"))
        }

        fn program(&self, path: &str) {
            let path = self.0.join(path);
            std::fs::write(&path, "#!/bin/sh\n").expect("a program");
            let executable = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(path, executable).expect("permissions");
        }

        fn link(&self, path: &str, target: &str) {
            symlink(target, self.0.join(path)).expect("a link");
        }

        /// Whether this entry allows this program; `@` is the directory.
        fn allows(&self, entry: &str, program: &str) -> bool {
            let root = self.0.to_string_lossy();
            let policy = Policy { allow: vec![vec![entry.replace('@', &root)]], workspace: None };
            let mut spec = Spec::new(program.replace('@', &root));
            let path = format!("{root}/usr/bin:{root}/bin");
            spec.env.push(("PATH".into(), Some(path.into())));
            let resolved = resolve(&spec).expect("a program");
            policy.check(&spec, &resolved).is_ok()
        }
    }

    impl Drop for Programs {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).expect("removed");
        }
    }

    #[test]
    fn the_allow_list_is_anchored_and_on_the_program_that_starts() {
        let place = Programs::new("allow");
        for program in ["usr/bin/git", "usr/bin/git-evil", "usr/bin/legit", "own/git"] {
            place.program(program);
        }
        place.program("opt/x/bin/tool");
        place.link("bin", "usr/bin");
        assert!(place.allows("git", "git"));
        assert!(place.allows("git", "@/usr/bin/git"), "the same file");
        assert!(!place.allows("git", "git-evil"));
        assert!(!place.allows("git", "legit"));
        assert!(!place.allows("git", "@/own/git"));
        assert!(place.allows("@/usr/bin/git", "git"));
        assert!(place.allows("@/bin/git", "git"), "through a link to the directory");
        assert!(!place.allows("@/own/git", "git"));
        assert!(place.allows("git-*", "git-evil"));
        assert!(!place.allows("g*", "@/own/git"));
        assert!(place.allows("@/bin/g*", "git"), "through a link to the directory");
        assert!(place.allows("@/opt/*/bin/tool", "@/opt/x/bin/tool"));
        assert!(!place.allows("@/*/bin/tool", "@/opt/x/bin/tool"));
        assert!(!place.allows("@/usr/bin", "git"));
    }

    #[test]
    fn a_link_is_the_program_it_leads_to() {
        let place = Programs::new("links");
        for program in ["usr/bin/id", "usr/bin/python3.12", "usr/bin/busybox"] {
            place.program(program);
        }
        place.link("own/myid", "../usr/bin/id");
        place.link("usr/bin/python3", "python3.12");
        place.link("usr/bin/ls", "busybox");
        place.link("usr/bin/rm", "busybox");
        assert!(!place.allows("@/own/*", "@/own/myid"));
        assert!(place.allows("@/own/myid", "@/own/myid"), "it was named");
        assert!(place.allows("id", "@/own/myid"), "the same file");
        for entry in ["python3", "@/usr/bin/python3", "python3.12", "python*", "@/usr/bin/py*"] {
            assert!(place.allows(entry, "python3"), "{entry}");
        }
        // What does as it is called is allowed as it is called.
        assert!(place.allows("ls", "ls"));
        assert!(!place.allows("ls", "rm"));
        assert!(!place.allows("r*", "rm"));
        assert!(place.allows("busybox", "rm"));
        assert!(!place.allows("ls", "busybox"));
    }

    #[test]
    fn a_refusal_names_everything_as_one_would_type_it() {
        let policy = Policy { allow: vec![vec!["git".to_owned()]], workspace: None };
        let refused = |spec: &Spec| policy.check(spec, Path::new("/no/rm")).expect_err("refused");
        let refusal = refused(&Spec::new("rm").args(["-rf", "two words", ""]));
        assert_eq!(refusal.to_string(), "command `rm -rf 'two words' ''` is not allowed");
        assert!(matches!(refusal, Refusal::Command { .. }));
        assert!(refusal.hint().contains("/no/rm"));
        let mut spec = Spec::new("sh").args(["-c", "echo it's secret\nrm x"]);
        spec.masks.push(b"it's secret".to_vec());
        assert_eq!(refused(&spec).to_string(), "command `sh -c 'echo *** …` is not allowed");
    }

    #[test]
    fn the_workspace_is_compared_by_real_segments() {
        let place = Programs::new("workspace");
        let root = &place.0;
        place.link("app/link", "../app-evil");
        place.link("app/dangling", "../app-evil/nosuch");
        place.link("app/circle", "circle");
        let policy = Policy { allow: Vec::new(), workspace: Some(root.join("app")) };
        let check = |cwd: &str| {
            let mut spec = Spec::new("true");
            spec.cwd = Some(root.join(cwd));
            match policy.check(&spec, Path::new("/bin/true")) {
                Ok(()) => None,
                Err(Refusal::Directory { cwd, .. }) => Some(cwd),
                Err(other) => panic!("{other}"),
            }
        };
        // What is missing inside is for the start to tell.
        for inside in ["app", "app/sub", "app/sub/../sub", "app/no/such", "app/circle"] {
            assert_eq!(check(inside), None, "{inside}");
        }
        for (outside, real) in [
            ("app-evil", "app-evil"),
            ("app/../app-evil", "app-evil"),
            ("app/link", "app-evil"),
            ("app/link/no/such", "app-evil/no/such"),
            ("app/../nosuch", "nosuch"),
            ("app/no/../../such", "such"),
            ("app/dangling/below", "app-evil/nosuch/below"),
        ] {
            assert_eq!(check(outside), Some(root.join(real)), "{outside}");
        }
    }
}
