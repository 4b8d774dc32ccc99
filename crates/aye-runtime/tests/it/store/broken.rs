//! Databases that are not, or not Aye's, or broken.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;

use aye_runtime::store::{RunFilter, StoreError};
use rusqlite::Connection;

use super::Outcome;
use super::child::{Role, Running};
use super::sample::{Tale, id, moment, open, populate, source};
use super::writer::Store;

/// A populated home whose journal is all in the main file.
fn settled() -> Result<tempfile::TempDir, Box<dyn std::error::Error>> {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    for number in 0..40 {
        let mut tale = Tale::new(&format!("filler-{number:04}"));
        store.start(&[tale.started(), tale.step("a")], &source())?;
    }
    populate(&mut store)?;
    raw(home.path())?.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(home)
}

fn raw(home: &Path) -> rusqlite::Result<Connection> {
    Connection::open(home.join("journal.db"))
}

/// Whatever a command would do first: open, list, read.
fn look(home: &Path) -> Result<(), StoreError> {
    let store = open(home)?;
    store.runs(&RunFilter::default())?;
    store.open_questions()?;
    store.audit(None, |_| {})?;
    Ok(())
}

#[test]
fn a_database_of_another_program_is_left_alone() -> Outcome {
    for sql in ["CREATE TABLE photos (id)", "PRAGMA application_id = 77", "PRAGMA user_version = 3"]
    {
        let home = tempfile::tempdir()?;
        raw(home.path())?.execute_batch(sql)?;
        let before = fs::read(home.path().join("journal.db"))?;
        for result in [open(home.path()).map(drop), Store::open_to_read(home.path()).map(drop)] {
            let error = result.err().ok_or("opened")?;
            assert!(matches!(error, StoreError::Foreign { .. }), "{error:?}");
            assert!(error.to_string().ends_with("of another program"));
        }
        assert_eq!(fs::read(home.path().join("journal.db"))?, before);
    }
    Ok(())
}

#[test]
fn a_newer_layout_is_said_to_be_newer() -> Outcome {
    let home = settled()?;
    raw(home.path())?.execute_batch("PRAGMA user_version = 99")?;
    let Err(error) = open(home.path()) else {
        return Err("opened".into());
    };
    assert!(matches!(error, StoreError::Newer { found: 99, .. }));
    assert!(error.to_string().contains("was written by a newer Aye"));
    assert_eq!(error.hint(), "upgrade this Aye");
    Ok(())
}

#[test]
fn a_newer_event_is_said_to_be_newer() -> Outcome {
    let home = settled()?;
    raw(home.path())?.execute_batch(
        "UPDATE events SET body = '{\"v\":9,\"type\":\"sung\"}' WHERE run = 'completed1' AND seq = 2;
         UPDATE events SET body = '{\"v\":1,\"type\":\"sung\"}' WHERE run = 'failed0001' AND seq = 2;",
    )?;
    let store = open(home.path())?;
    let newer = store.events(&id("completed1"), 0);
    assert!(matches!(newer, Err(StoreError::NewerEvent { seq: 2, found: 9, .. })));
    let strange = store.events(&id("failed0001"), 0);
    assert!(matches!(strange, Err(StoreError::Unreadable { seq: 2, .. })));
    Ok(())
}

#[test]
fn garbage_is_no_journal() -> Outcome {
    for garbage in ["hello", &"these are not the bytes\n".repeat(1_000)] {
        let home = tempfile::tempdir()?;
        let file = home.path().join("journal.db");
        fs::write(&file, garbage)?;
        let Err(error) = open(home.path()) else {
            return Err("opened".into());
        };
        assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
        assert_eq!(fs::read_to_string(&file)?, garbage);
    }
    Ok(())
}

#[test]
fn a_cut_file_is_damaged() -> Outcome {
    for keep in [700, 4_096, 20_000] {
        let home = settled()?;
        let file = OpenOptions::new().write(true).open(home.path().join("journal.db"))?;
        assert!(file.metadata()?.len() > 40_000);
        file.set_len(keep)?;
        let error = look(home.path()).err().ok_or("not noticed")?;
        assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    }
    Ok(())
}

#[test]
fn an_emptied_file_with_a_log_is_damaged_not_new() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    populate(&mut store)?;
    drop(store);
    fs::write(home.path().join("journal.db"), "")?;
    let error = open(home.path()).err().ok_or("taken for new")?;
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    assert!(home.path().join("journal.db-wal").metadata()?.len() > 0);
    Ok(())
}

#[test]
fn an_empty_file_is_a_journal_that_was_being_made() -> Outcome {
    let home = tempfile::tempdir()?;
    fs::write(home.path().join("journal.db"), "")?;
    populate(&mut open(home.path())?)?;
    Ok(())
}

#[test]
fn overwritten_pages_are_damage_and_an_append_says_so() -> Outcome {
    let home = settled()?;
    let path = home.path().join("journal.db");
    let file = OpenOptions::new().write(true).open(&path)?;
    let pages = file.metadata()?.len() / 4_096;
    for page in 1..pages {
        file.write_all_at(&[0xA5; 4_000], page * 4_096)?;
    }
    let mut tale = Tale::new("abcdefgh12");
    let result = open(home.path()).and_then(|mut store| store.start(&[tale.started()], &source()));
    let error = result.err().ok_or("not noticed")?;
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    let error = look(home.path()).err().ok_or("not noticed")?;
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    Ok(())
}

#[test]
fn a_home_that_cannot_be_made_is_named() -> Outcome {
    let temp = tempfile::tempdir()?;
    let file = temp.path().join("file");
    fs::write(&file, "")?;
    for home in [file.clone(), file.join("below"), "/proc/aye/home".into()] {
        let error = open(&home).err().ok_or("opened")?;
        assert!(matches!(error, StoreError::Home { .. }), "{error:?}");
        assert!(error.to_string().starts_with("cannot create `"));
        assert!(error.hint().contains("AYE_HOME"));
        assert!(Store::open_to_read(&home)?.is_none());
    }
    Ok(())
}

/// What a user who is not root, and may not write, hears on opening `home`.
fn as_nobody(home: &Path) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let place = tempfile::tempdir()?;
    let copy = place.path().join("it");
    let mut role = Role::new("open", home);
    let root = rustix::process::geteuid().is_root();
    if root {
        // The build directory need not be open to others.
        fs::copy(std::env::current_exe()?, &copy)?;
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755))?;
        role.program = Some(&copy);
    }
    let mut command = role.command(None)?;
    // Permission bits do not bind root.
    if root {
        command.uid(65_534).gid(65_534);
    }
    let mut child = Running::new(command)?;
    let mut said = Vec::new();
    while let Some(line) = child.hear()? {
        said.push(line);
    }
    Ok(said)
}

#[test]
fn where_nothing_may_be_written_reading_still_works() -> Outcome {
    let home = settled()?;
    // Something that is only in the log.
    let mut tale = Tale::new("abcdefgh12");
    open(home.path())?.start(&[tale.started(), tale.asks(1)], &source())?;
    for file in ["journal.db", "journal.db-wal", "journal.db-shm", "bell"] {
        fs::set_permissions(home.path().join(file), fs::Permissions::from_mode(0o444))?;
    }
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o555))?;
    let said = as_nobody(home.path())?;
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o700))?;
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with("ReadOnly"), "{said:?}");
    assert_eq!(said[1], "3 questions");
    Ok(())
}

#[test]
fn an_empty_directory_that_may_not_be_written_is_named() -> Outcome {
    let home = tempfile::tempdir()?;
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o555))?;
    let here = as_nobody(home.path())?;
    let below = as_nobody(&home.path().join("below"))?;
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o700))?;
    assert!(here[0].starts_with("ReadOnly"), "{here:?}");
    assert_eq!(here[1], "nothing");
    assert!(below[0].starts_with("Home"), "{below:?}");
    Ok(())
}

#[test]
fn a_writer_that_never_ends_makes_others_give_up() -> Outcome {
    let home = settled()?;
    let mut store = open(home.path())?;
    let other = raw(home.path())?;
    other.execute_batch("BEGIN IMMEDIATE")?;
    let mut tale = Tale::new("abcdefgh12");
    let error = store.start(&[tale.started()], &source()).err();
    let error = error.ok_or("written")?;
    assert!(matches!(error, StoreError::Busy { .. }), "{error:?}");
    // Readers do not mind.
    assert_eq!(store.open_questions()?.len(), 2);
    other.execute_batch("ROLLBACK")?;
    tale.seq = 0;
    store.start(&[tale.started()], &source())?;
    assert!(!store.has_finished_older_than(moment(0))?);
    Ok(())
}
