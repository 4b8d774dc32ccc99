//! No room left: a typed error, and nothing half done.

use std::path::{Path, PathBuf};
use std::process::Command;

use aye_runtime::store::{Durability, StoreError};

use crate::privilege::root;

use super::Outcome;
use super::child::{Role, Running};
use super::sample::{Tale, id, open, source};
use super::writer::Store;

/// A file system of one megabyte; unmounted when dropped.
struct Small(PathBuf);

impl Small {
    fn mount(at: &Path) -> std::io::Result<Self> {
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m", "aye-test"])
            .arg(at)
            .output()?;
        assert!(done.status.success(), "this machine does not let root mount a tmpfs: {done:?}");
        Ok(Self(at.to_path_buf()))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_stops_the_append_and_nothing_else() -> Outcome {
    if !root("a full disk") {
        return Ok(());
    }
    let temp = tempfile::tempdir()?;
    let _small = Small::mount(temp.path())?;
    let ballast = temp.path().join("ballast");
    std::fs::write(&ballast, vec![0; 200_000])?;
    let mut store = Store::open(temp.path(), Durability::Power)?;
    let mut tale = Tale::new("abcdefgh12");
    store.start(&[tale.started()], &source())?;
    let mut acknowledged = 1;
    let error = loop {
        match store.append(&[tale.step_done("x"), tale.step("y")], &[]) {
            Ok(()) => acknowledged += 2,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
    assert!(error.to_string().starts_with("no room left to write `"));
    let row = store.run(&id("abcdefgh12"))?.ok_or("no row")?;
    assert_eq!(row.last_seq, acknowledged);
    assert_eq!(store.events(&tale.run, 0)?.len() as u64, acknowledged);
    store.audit(None, |finding| panic!("{finding}"))?;

    // Once there is room, the same store continues where it was.
    std::fs::remove_file(ballast)?;
    tale.seq = acknowledged;
    store.append(&[tale.step_done("x")], &[])?;
    store.audit(None, |finding| panic!("{finding}"))?;
    Ok(())
}

#[test]
fn a_disk_without_any_room_is_named_on_opening() -> Outcome {
    if !root("a full disk") {
        return Ok(());
    }
    let temp = tempfile::tempdir()?;
    let _small = Small::mount(temp.path())?;
    let _ = std::fs::write(temp.path().join("ballast"), vec![0; 2_000_000]);
    let error = open(&temp.path().join("home")).err().ok_or("opened")?;
    let named = match &error {
        StoreError::Full { .. } => true,
        StoreError::Home { source, .. } => source.kind() == std::io::ErrorKind::StorageFull,
        _ => false,
    };
    assert!(named, "{error:?}");
    Ok(())
}

#[test]
fn a_limit_on_the_size_of_files_is_no_room_too() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut role = Role::new("write", home.path());
    role.count = 100_000;
    // 1,000 blocks of 512 bytes, or of 1,024 where `sh` is bash.
    let limited = role.command(Some("trap '' XFSZ; ulimit -f 1000"))?;
    let mut child = Running::new(limited)?;
    let mut acknowledged = 0;
    let last = loop {
        let said = child.hear()?.ok_or("it died")?;
        match said.parse() {
            Ok(seq) => acknowledged = seq,
            Err(_) => break said,
        }
    };
    assert!(last.starts_with("Full"), "{last}");
    assert!(acknowledged > 10);
    let mut store = open(home.path())?;
    let mut tale = Tale::new("abcdefgh12");
    assert_eq!(store.events(&tale.run, 0)?.len() as u64, acknowledged);
    store.audit(None, |finding| panic!("{finding}"))?;
    tale.seq = acknowledged;
    store.append(&[tale.completed()], &[])?;
    Ok(())
}
