//! Secrets of the server that outlive it: a file of the user's own each.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use aye_runtime::error::Error;
use aye_runtime::random::random_hex;

const BYTES: usize = 32;

/// The secret in this file, as hexadecimal digits; made if there is none.
pub(super) fn load_or_make(home: &Path, name: &str) -> Result<(PathBuf, String), Error> {
    let path = home.join(name);
    let failed = Error::file("use", &path);
    match read(&path).map_err(failed)? {
        Some(text) => Ok((path, text)),
        None => {
            make(home, &path).map_err(failed)?;
            let text = read(&path).map_err(failed)?;
            let text = text.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
            Ok((path, text))
        }
    }
}

fn read(path: &Path) -> io::Result<Option<String>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text.trim().to_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if fs::metadata(path)?.permissions().mode() & 0o077 != 0 {
        return Err(io::Error::other("others may read it: make it `chmod 600`, or remove it"));
    }
    if text.len() < BYTES * 2 {
        return Err(io::Error::other("it is too short: remove it, and a new one is made"));
    }
    Ok(Some(text))
}

/// Two servers may start in the same moment: the first to link it wins, and
/// nobody sees half a file.
fn make(home: &Path, path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(home)?;
    let text = random_hex(BYTES)?;
    let draft = path.with_extension(format!("{}.new", std::process::id()));
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all())?;
    let linked = fs::hard_link(&draft, path);
    fs::remove_file(&draft)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}
