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

/// The namespaces that this process is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnNamespaces {
    /// The kernel's number of the user namespace.
    pub user: u64,
    /// That of the process namespace.
    pub pid: u64,
    /// How the accounts of the user namespace are numbered outside.
    pub user_map: String,
}

#[cfg(target_os = "linux")]
pub(crate) use linux::Processes;
#[cfg(target_os = "linux")]
pub use linux::{ancestors, is_visible, own_namespaces};

#[cfg(target_os = "linux")]
mod linux {
    use super::{Ancestry, OwnNamespaces};
    use crate::guard;
    use crate::system::procfs::Stat;
    use crate::tree::process_table::ProcessTable;

    /// Longer chains do not exist; one that never ends is not followed.
    const LONGEST: usize = 10_000;
    /// How often we start again when the chain changes while we follow it.
    const TRIES: usize = 20;

    /// What the walk needs to know.
    pub(crate) trait Processes {
        /// Tells whether a process is still there, and not another one under
        /// the same number.
        type Handle;
        fn stat(&self, pid: i32) -> Option<Stat>;
        /// Nothing where that cannot be seen.
        fn is_runner(&self, pid: i32) -> Option<bool>;
        fn hold(&self, pid: i32) -> Option<Self::Handle>;
        fn lives(&self, handle: &Self::Handle) -> bool;
    }

    impl Ancestry {
        /// That of this process. Its own guard does not count.
        #[must_use]
        pub fn own() -> Self {
            let own = rustix::process::getpid().as_raw_nonzero().get();
            ProcessTable::open()
                .map_or(Self::Unknown, |processes| Self::of(own, guard::pid(), &processes))
        }

        /// That of a process which a guard may belong to. An ancestor that ends
        /// hands its children on to the next one that adopts: what was seen
        /// up to there no longer holds, and we start again.
        fn of(pid: i32, guard: i32, processes: &impl Processes) -> Self {
            (0..TRIES).find_map(|_| walk(pid, guard, processes)).unwrap_or(Self::Unknown)
        }
    }

    /// Follows the chain once. Nothing if an ancestor could not be seen, or was
    /// gone before the end: the parent of a process changes only if it ends,
    /// so a chain of which all are still there is the whole chain.
    fn walk(own: i32, guard: i32, processes: &impl Processes) -> Option<Ancestry> {
        let mut chain = Vec::new();
        let mut held = Vec::new();
        let mut pid = own;
        for _ in 0..LONGEST {
            let parent = processes.stat(pid)?.parent;
            if parent == 0 {
                return held.iter().all(|one| processes.lives(one)).then_some(Ancestry::Free);
            }
            let handle = processes.hold(parent)?;
            // Only now the handle is known to be that of the parent.
            if processes.stat(pid)?.parent != parent {
                return None;
            }
            held.push(handle);
            pid = parent;
            if pid == guard {
                continue;
            }
            chain.push(pid);
            if processes.is_runner(pid)? {
                return Some(Ancestry::Started(chain));
            }
        }
        None
    }

    /// The processes that this one descends from, its parent first, as far as they are seen.
    #[must_use]
    pub fn ancestors() -> Vec<i32> {
        let Some(processes) = ProcessTable::open() else { return Vec::new() };
        let parent = |pid: &i32| Some(processes.stat(*pid)?.parent).filter(|parent| *parent > 0);
        let own = rustix::process::getpid().as_raw_nonzero().get();
        std::iter::successors(parent(&own), parent).take(LONGEST).collect()
    }

    /// The namespaces of this process; nothing where `/proc` is not to be relied on.
    #[must_use]
    pub fn own_namespaces() -> Option<OwnNamespaces> {
        let processes = ProcessTable::open()?;
        let number = |kind: &str| {
            // `user:[4026531837]`
            let link = processes.link(&format!("self/ns/{kind}"))?;
            let number = link.strip_prefix(kind)?.strip_prefix(":[")?;
            number.strip_suffix(']')?.parse().ok()
        };
        let user_map = String::from_utf8(processes.text("self/uid_map")?).ok()?;
        Some(OwnNamespaces { user: number("user")?, pid: number("pid")?, user_map })
    }

    /// Whether this process sees one with this number; nothing where `/proc` is
    /// not to be relied on.
    #[must_use]
    pub fn is_visible(pid: i32) -> Option<bool> {
        Some(ProcessTable::open()?.stat(pid).is_some())
    }

    #[cfg(test)]
    mod tests {
        use std::cell::RefCell;
        use std::collections::BTreeMap;

        use super::*;

        /// Processes by number: who they are, and their parent. The number in
        /// the table, the one that a handle holds, and whether it is a runner.
        struct Fake {
            alive: RefCell<BTreeMap<i32, (i32, u32)>>,
            /// How often `hold` was called, and what happens then.
            holds: RefCell<usize>,
            ends: fn(&Fake, usize),
        }

        const RUNNER: i32 = 2;

        impl Fake {
            fn new(chain: &[(i32, i32)], ends: fn(&Fake, usize)) -> Self {
                let alive = chain.iter().map(|(pid, parent)| (*pid, (*parent, 0))).collect();
                Self { alive: RefCell::new(alive), holds: RefCell::new(0), ends }
            }

            /// A process ends; its children go to the runner.
            fn end(&self, pid: i32) {
                let mut alive = self.alive.borrow_mut();
                alive.remove(&pid);
                for (parent, _) in alive.values_mut() {
                    if *parent == pid {
                        *parent = RUNNER;
                    }
                }
            }
        }

        impl Processes for Fake {
            type Handle = (i32, u32);

            fn stat(&self, pid: i32) -> Option<Stat> {
                let parent = self.alive.borrow().get(&pid)?.0;
                Some(Stat { state: b'S', parent, group: 1, session: 1, started: 1 })
            }

            fn is_runner(&self, pid: i32) -> Option<bool> {
                self.alive.borrow().contains_key(&pid).then_some(pid == RUNNER)
            }

            fn hold(&self, pid: i32) -> Option<(i32, u32)> {
                *self.holds.borrow_mut() += 1;
                let turn = *self.holds.borrow();
                let held = self.alive.borrow().get(&pid).map(|one| (pid, one.1));
                (self.ends)(self, turn);
                held
            }

            fn lives(&self, handle: &(i32, u32)) -> bool {
                self.alive.borrow().get(&handle.0).is_some_and(|one| one.1 == handle.1)
            }
        }

        /// 5 is ours, 4 and 3 are what a step put between, 2 is the runner.
        const STEP: [(i32, i32); 5] = [(5, 4), (4, 3), (3, RUNNER), (RUNNER, 1), (1, 0)];

        #[test]
        fn the_chain_is_followed_up_to_the_runner() {
            let step = Fake::new(&STEP, |_, _| {});
            assert_eq!(Ancestry::of(5, 0, &step), Ancestry::Started(vec![4, 3, 2]));
            assert_eq!(Ancestry::of(5, 4, &step), Ancestry::Started(vec![3, 2]), "its own guard");
            let person = Fake::new(&[(5, 4), (4, 1), (1, 0)], |_, _| {});
            assert_eq!(Ancestry::of(5, 0, &person), Ancestry::Free);
        }

        #[test]
        fn an_ancestor_that_vanishes_on_the_way_gives_a_fresh_start() {
            // It is gone when its own parent is looked up.
            let step = Fake::new(&STEP, |all, turn| {
                if turn == 1 {
                    all.end(4);
                }
            });
            assert_eq!(Ancestry::of(5, 0, &step), Ancestry::Started(vec![2]));
            // Its number belongs to a process outside of the run by then.
            let step = Fake::new(&STEP, |all, turn| {
                if turn == 2 {
                    all.end(3);
                    all.alive.borrow_mut().insert(3, (1, 1));
                    all.alive.borrow_mut().insert(4, (3, 0));
                }
                if turn == 3 {
                    all.alive.borrow_mut().insert(4, (RUNNER, 0));
                }
            });
            assert_eq!(Ancestry::of(5, 0, &step), Ancestry::Started(vec![4, 2]));
        }

        #[test]
        fn a_chain_that_never_holds_still_is_unknown() {
            let step = Fake::new(&STEP, |all, turn| {
                // There is always one more between us and the runner.
                let next = 10 + i32::try_from(turn).expect("a number");
                let mut alive = all.alive.borrow_mut();
                let above = alive[&5].0;
                alive.remove(&above);
                alive.insert(next, (RUNNER, 0));
                alive.insert(5, (next, 0));
            });
            assert_eq!(Ancestry::of(5, 0, &step), Ancestry::Unknown);
            // One that cannot be seen, with `hidepid=2` say.
            let hidden = Fake::new(&[(5, 4), (4, 3)], |_, _| {});
            assert_eq!(Ancestry::of(5, 0, &hidden), Ancestry::Unknown);
        }
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

/// There are none on this platform.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn own_namespaces() -> Option<OwnNamespaces> {
    None
}

/// Not known on this platform.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn is_visible(_pid: i32) -> Option<bool> {
    None
}
