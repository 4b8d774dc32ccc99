//! Files that are replaced as a whole.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Writes a file: a reader sees the old one or the new one, whenever the power
/// goes. A symbolic link stays one; what it leads to is replaced. Who could
/// read the old one can read the new one; `mode` is for a file that is new.
pub fn replace(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let path = behind_links(path)?;
    let directory = path.parent().unwrap_or(Path::new("."));
    // Who may read a file may look into its directory.
    DirBuilder::new().recursive(true).mode(mode | (mode & 0o444) >> 2).create(directory)?;
    let draft = draft_of(&path);
    let mut file = take(&draft, mode)?;
    if let Ok(there) = fs::metadata(&path) {
        file.set_permissions(there.permissions())?;
    }
    file.set_len(0)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&draft, &path)?;
    // Not every file system can: the file is whole all the same.
    let _ = File::open(directory).and_then(|directory| directory.sync_all());
    Ok(())
}

/// Where a file is written before it is put in its place.
pub fn draft_of(path: &Path) -> PathBuf {
    let mut name = OsString::from(path.file_name().unwrap_or_default());
    name.push(".new");
    path.with_file_name(name)
}

/// The draft, for us alone: also one that someone left who died here. One
/// that is a link was put there to have something else written to.
fn take(draft: &Path, mode: u32) -> io::Result<File> {
    loop {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(mode)
            .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
            .open(draft)?;
        // Not every file system can; two at once are rare.
        let _ = file.lock();
        // The process that held the lock before us has put it in place.
        let ours = file.metadata()?;
        if fs::symlink_metadata(draft).is_ok_and(|there| there.ino() == ours.ino()) {
            if ours.nlink() == 1 {
                return Ok(file);
            }
            fs::remove_file(draft)?;
        }
    }
}

/// Refuses to write where a link leads: a project comes with its links, and
/// what they lead to is not the project's.
///
/// # Errors
/// When the path, or a directory on the way from `root`, is one.
pub fn refuse_links(root: &Path, path: &Path) -> Result<(), Error> {
    let Some((link, target)) = link_below(root, path) else { return Ok(()) };
    Err(Error::Refused {
        message: format!("`{}` is a link: it is not written through", link.display()),
        hint: Some(format!("remove the link, or change `{}` yourself", target.display())),
    })
}

/// The first link on the way from `root` to a path below it, and where it
/// leads; on the whole way to a path that is elsewhere.
pub fn link_below(root: &Path, path: &Path) -> Option<(PathBuf, PathBuf)> {
    let (mut place, rest) = match path.strip_prefix(root) {
        Ok(rest) => (root.to_path_buf(), rest),
        Err(_) => (PathBuf::new(), path),
    };
    rest.iter().find_map(|part| {
        place.push(part);
        fs::read_link(&place).ok().map(|target| (place.clone(), target))
    })
}

/// Where a path leads to in the end, whether something is there or not.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_link(path) {
            Ok(target) => behind_links(&path.parent().unwrap_or(Path::new(".")).join(target)),
            Err(_) => Ok(path.to_path_buf()),
        },
        found => found,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_link_stays_and_what_it_leads_to_is_replaced() {
        let place = tempfile::tempdir().expect("a directory");
        let at = |name: &str| place.path().join(name);
        fs::create_dir(at("real")).expect("a directory");
        fs::write(at("real/file.yaml"), "old").expect("it is written");
        fs::set_permissions(at("real/file.yaml"), fs::Permissions::from_mode(0o640)).expect("mode");
        symlink("real/file.yaml", at("inner.yaml")).expect("a link");
        symlink(at("inner.yaml"), at("outer.yaml")).expect("a link");
        replace(&at("outer.yaml"), "new", 0o600).expect("it is replaced");
        assert_eq!(fs::read_to_string(at("real/file.yaml")).expect("it is there"), "new");
        assert_eq!(fs::metadata(at("real/file.yaml")).expect("it").mode() & 0o777, 0o640);
        assert!(at("outer.yaml").is_symlink() && at("inner.yaml").is_symlink());
        let names: Vec<_> = fs::read_dir(at("real")).expect("a directory").collect();
        assert_eq!(names.len(), 1, "no draft is left: {names:?}");
    }

    #[test]
    fn a_link_to_what_is_not_there_yet_gets_it() {
        let place = tempfile::tempdir().expect("a directory");
        let link = place.path().join("file.yaml");
        symlink("later/file.yaml", &link).expect("a link");
        replace(&link, "new", 0o600).expect("it is written");
        assert!(link.is_symlink());
        let written = place.path().join("later/file.yaml");
        assert_eq!(fs::read_to_string(written).expect("it is there"), "new");
    }
}
