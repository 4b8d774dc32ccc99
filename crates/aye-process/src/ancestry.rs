//! Whether this process descends from a program that a runner started.
//!
//! The parent chain cannot be left: a program that detaches itself becomes a
//! child of the engine or its guard, which adopt orphans, and a variable that
//! is removed changes nothing. What cannot be followed is a program that asks
//! another one, outside of the run, to start something: `systemd-run`, `at`,
//! a `tmux` server that was there before.

/// What the parent chain says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ancestry {
    /// No runner is among the ancestors.
    Free,
    /// A runner is: the chain from the parent of this process up to it.
    Started(Vec<i32>),
    /// The chain cannot be read.
    Unknown,
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::os::unix::fs::MetadataExt as _;

    use super::Ancestry;
    use crate::guard::{self, GUARD_NAME};
    use crate::procfs;

    /// Longer chains do not exist; one that never ends is not followed.
    const LONGEST: usize = 10_000;

    impl Ancestry {
        /// That of this process. Its own guard does not count.
        #[must_use]
        pub fn own() -> Self {
            let own = rustix::process::getpid().as_raw_nonzero().get();
            let runner = program_of("self");
            let mut chain: Vec<i32> = Vec::new();
            let mut pid = own;
            for _ in 0..LONGEST {
                let Some(parent) = parent_of(pid) else {
                    return if pid == own { Self::Unknown } else { Self::Free };
                };
                if parent == 0 {
                    return Self::Free;
                }
                pid = parent;
                if pid == guard::pid() {
                    continue;
                }
                chain.push(pid);
                let same = runner.is_some() && program_of(&pid.to_string()) == runner;
                if same
                    || procfs::name(pid)
                        .is_some_and(|name| name.as_bytes() == GUARD_NAME.to_bytes())
                {
                    return Self::Started(chain);
                }
            }
            Self::Unknown
        }
    }

    /// The parent of a process. One that ends in this moment hands its children
    /// on: looked at again.
    fn parent_of(pid: i32) -> Option<i32> {
        const TRIES: usize = 100;
        let mut seen = procfs::stat(pid)?;
        for _ in 0..TRIES {
            let above = procfs::stat(seen.parent);
            let again = procfs::stat(pid)?;
            // Younger than its child: the number is somebody else's by now.
            let fits = above.is_none_or(|above| above.started <= again.started);
            if again.parent == seen.parent && fits {
                return Some(again.parent);
            }
            seen = again;
        }
        None
    }

    /// The file that a process runs.
    fn program_of(pid: &str) -> Option<(u64, u64)> {
        let file = fs::metadata(format!("/proc/{pid}/exe")).ok()?;
        Some((file.dev(), file.ino()))
    }
}

#[cfg(not(target_os = "linux"))]
impl Ancestry {
    /// Not known on this platform.
    #[must_use]
    pub fn own() -> Self {
        Self::Free
    }
}
