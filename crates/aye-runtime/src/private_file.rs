//! Files of this user alone, each read and replaced as a whole.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use crate::ownership::Other;

/// The text of a file; nothing if there is none. One that someone else could
/// have written is refused.
///
/// # Errors
/// When it cannot be read, or is not this user's alone.
pub fn read(path: &Path) -> io::Result<Option<String>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if let Some(other) = Other::of(&file.metadata()?) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("it {other}")));
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(Some(text))
}

/// Waits until no other process changes a file. Who reads it, changes it and
/// writes it while this is held loses nothing of theirs.
///
/// # Errors
/// When the lock beside it cannot be made.
pub fn lock(path: &Path) -> io::Result<File> {
    create_directory(path)?;
    let path = path.with_extension("lock");
    let lock =
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
    lock.lock()?;
    Ok(lock)
}

/// Writes a file under another name and puts it in place: nobody reads half of
/// it, and nobody else reads it at all.
///
/// # Errors
/// When it cannot be written; the old one is then still there.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    create_directory(path)?;
    let draft = path.with_extension(format!("{}.new", std::process::id()));
    // What stands there is not ours to write to.
    let _ = fs::remove_file(&draft);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&draft, path)
}

fn create_directory(path: &Path) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_is_written_is_for_this_user_alone_and_what_others_can_write_is_refused() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("auth/me.json");
        assert_eq!(read(&path).expect("nothing"), None);
        write(&path, b"one").expect("written");
        write(&path, b"two").expect("replaced");
        assert_eq!(read(&path).expect("read").as_deref(), Some("two"));
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().expect("a parent"))), (0o600, 0o700));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("opened to all");
        let refused = read(&path).expect_err("others could have written it");
        assert_eq!(refused.to_string(), "it can be written by everyone");
    }
}
