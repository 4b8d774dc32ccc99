//! The few facts we read from `/proc`. Linux only.
//!
//! Where it is not mounted, in a bare `chroot` say, we can still find our own
//! children by asking the kernel for one number after the other; what they
//! have started becomes ours as soon as they are ended.

use std::fs;
use std::io::Read;
use std::sync::OnceLock;

use super::{group, reap};

/// A line of `/proc/<pid>/stat`, as far as we need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) state: u8,
    pub(crate) parent: i32,
    pub(crate) group: i32,
    pub(crate) session: i32,
    /// Clock ticks since boot.
    pub(crate) started: u64,
}

impl Stat {
    /// Dead, and waiting only for its parent to notice.
    pub(crate) fn is_zombie(self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }
}

/// Whether there is a `/proc` at all.
fn is_mounted() -> bool {
    static MOUNTED: OnceLock<bool> = OnceLock::new();
    *MOUNTED.get_or_init(|| fs::metadata("/proc/self/stat").is_ok())
}

/// Facts about a process, `None` when it is gone.
pub(crate) fn stat(pid: i32) -> Option<Stat> {
    if !is_mounted() {
        return stat_of_child(pid);
    }
    let mut buffer = [0_u8; 1024];
    let mut file = fs::File::open(format!("/proc/{pid}/stat")).ok()?;
    let length = file.read(&mut buffer).ok()?;
    parse_stat(&buffer[..length])
}

/// The same for a child of ours, from system calls.
fn stat_of_child(pid: i32) -> Option<Stat> {
    Some(Stat {
        state: if reap::is_dead(pid)? { b'Z' } else { b'S' },
        parent: rustix::process::getpid().as_raw_nonzero().get(),
        group: group::of(pid)?,
        session: group::session_of(pid)?,
        started: 0,
    })
}

/// Every number that was given to a process after ours: they are given in
/// turn, and at the last one they start again.
fn younger_than(own: i32) -> impl Iterator<Item = i32> {
    const LAST: i32 = 4 * 1024 * 1024;
    let newest = reap::newest_number().unwrap_or(LAST);
    let wrapped = newest <= own;
    let before_the_end = own + 1..=if wrapped { LAST } else { newest };
    let after_it = 2..=if wrapped { newest } else { 1 };
    before_the_end.chain(after_it)
}

pub(crate) fn parse_stat(line: &[u8]) -> Option<Stat> {
    // The name, in parentheses, may itself hold blanks and parentheses.
    let after_name = line.iter().rposition(|&byte| byte == b')')? + 2;
    let rest = std::str::from_utf8(line.get(after_name..)?).ok()?;
    let mut fields = rest.split(' ');
    let state = *fields.next()?.as_bytes().first()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    // `session` is field 6 of the line, `starttime` is field 22.
    let started = fields.nth(15)?.parse().ok()?;
    Some(Stat { state, parent, group, session, started })
}

/// Appends the children of a process, those of all its threads.
pub(crate) fn children(pid: i32, into: &mut Vec<i32>) {
    if !is_mounted() {
        // Those of others are not ours to see.
        if pid == rustix::process::getpid().as_raw_nonzero().get() {
            into.extend(younger_than(pid).filter(|pid| reap::is_dead(*pid).is_some()));
        }
        return;
    }
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return;
    };
    let mut text = String::new();
    for task in tasks.flatten() {
        text.clear();
        let path = task.path().join("children");
        if fs::File::open(path).and_then(|mut file| file.read_to_string(&mut text)).is_ok() {
            into.extend(text.split_ascii_whitespace().filter_map(|word| word.parse::<i32>().ok()));
        }
    }
}

/// Whether the environment a process was started with holds `NAME=value`.
pub(crate) fn environment_holds(pid: i32, entry: &[u8]) -> bool {
    environment(pid).is_some_and(|all| all.split(|&byte| byte == 0).any(|one| one == entry))
}

/// The environment a process was started with, entries separated by zero bytes.
pub(crate) fn environment(pid: i32) -> Option<Vec<u8>> {
    fs::read(format!("/proc/{pid}/environ")).ok()
}

/// The command line as one line of text, the name for kernel threads.
pub(crate) fn command_line(pid: i32) -> String {
    let raw = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let raw = if raw.is_empty() {
        fs::read(format!("/proc/{pid}/comm")).unwrap_or_default()
    } else {
        raw
    };
    let text = String::from_utf8_lossy(&raw).replace('\0', " ");
    crate::output::text::plain(text.trim_end())
}

/// What a program is called, without its arguments: they may hold secrets.
pub(crate) fn name(pid: i32) -> Option<String> {
    let name = fs::read(format!("/proc/{pid}/comm")).ok()?;
    Some(crate::output::text::plain(String::from_utf8_lossy(&name).trim_end()))
}

/// Every process id there is.
pub(crate) fn all() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Changes with every boot of the machine.
pub(crate) fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map(|text| text.trim().to_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_blanks_does_not_confuse_the_parser() {
        let line = b"42 (a) b (c) S 7 40 39 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 100 200\n";
        let expected = Stat { state: b'S', parent: 7, group: 40, session: 39, started: 987_654 };
        assert_eq!(parse_stat(line), Some(expected));
    }

    #[test]
    fn our_own_facts_are_there() {
        let pid = i32::try_from(std::process::id()).expect("a pid");
        let found = stat(pid).expect("our own process");
        assert!(!found.is_zombie());
        assert!(found.started > 0);
        assert!(stat(i32::MAX).is_none());
    }
}
