//! Making a journal. It is made complete under another name and then put in
//! place, so that nobody ever opens half of one.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rusqlite::Connection;

use super::{Home, schema};
use crate::store::StoreError;

/// Whether there is a journal. An empty file is none; but one that was
/// emptied is recognised by its log, which SQLite would throw away.
pub(super) fn is_there(home: &Home) -> Result<bool, StoreError> {
    let path = home.journal();
    if size(&path)? > 0 {
        return Ok(true);
    }
    let emptied = size(&path.with_extension("db-wal"))? > 0 && size(&path)? == 0;
    if emptied {
        return Err(StoreError::Damaged {
            path,
            message: "the file is empty or gone, but its log is not".to_owned(),
        });
    }
    Ok(size(&path)? > 0)
}

/// The size of a file; 0 if there is none.
fn size(path: &Path) -> Result<u64, StoreError> {
    match fs::metadata(path) {
        Ok(meta) => Ok(meta.len()),
        Err(error) => match error.kind() {
            // A home that is a file, or below one, is reported by its making.
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(0),
            _ => Err(StoreError::io(path, &error)),
        },
    }
}

/// Makes the home and the journal in it, unless another process was faster.
pub(super) fn create(home: &Home) -> Result<(), StoreError> {
    home.create()?;
    let _turn = take_turn(home)?;
    if is_there(home)? {
        return Ok(());
    }
    let path = home.journal();
    let failed = |error: io::Error| StoreError::io(&path, &error);
    let draft = path.with_extension("db.new");
    // What someone left who died here.
    for leftover in ["db.new", "db.new-wal", "db.new-shm", "db.new-journal"] {
        match fs::remove_file(path.with_extension(leftover)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
    }
    // Made here and not by SQLite, which would let others read it; the log
    // next to it takes its mode.
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft).map_err(failed)?;
    let mut db = Connection::open(&draft).map_err(|error| StoreError::sqlite(&path, &error))?;
    prepare(&mut db, home)?;
    // Closing moves the log into the file and syncs it.
    db.close().map_err(|(_, error)| StoreError::sqlite(&path, &error))?;
    fs::rename(&draft, &path).map_err(failed)?;
    sync_directory(home);
    Ok(())
}

/// Sees to it that the name of the log outlives loss of power.
///
/// SQLite would sync the directory with the first commit of every process,
/// because it cannot know who made the log; ours is told not to (see
/// `.cargo/config.toml`), and it is done here, once, when there is no log:
/// in a new home, or after another program has closed the journal.
pub(super) fn name_log(home: &Home) {
    let log = home.journal().with_extension("db-wal");
    if log.exists() {
        return;
    }
    // What cannot be made here SQLite will report in its own words.
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&log);
    if made.is_ok() {
        sync_directory(home);
    }
}

/// Not every file system can sync a directory: the journal works without.
fn sync_directory(home: &Home) {
    let _ = File::open(home.root()).and_then(|directory| directory.sync_all());
}

/// Waits until nobody else makes or migrates a journal in this home.
pub(super) fn take_turn(home: &Home) -> Result<File, StoreError> {
    let failed = |error| StoreError::io(home.root(), &error);
    let turn = File::open(home.root()).map_err(failed)?;
    turn.lock().map_err(failed)?;
    Ok(turn)
}

/// Brings an empty or older database to the current layout.
pub(super) fn prepare(db: &mut Connection, home: &Home) -> Result<(), StoreError> {
    db.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
        .map_err(|error| StoreError::sqlite(&home.journal(), &error))?;
    schema::migrate(db, home)
}
