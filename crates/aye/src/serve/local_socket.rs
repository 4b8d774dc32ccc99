//! A Unix socket for other accounts of this machine: the kernel says whose a connection is.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::Path;

use aye_runtime::error::Error;
use aye_runtime::ownership::Other;
use tokio::net::UnixListener;

/// Listens at a path. What a server that was killed left there is replaced.
pub(super) fn bind(path: &Path) -> Result<UnixListener, Error> {
    let failed = Error::file("listen at", path);
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    let about = fs::metadata(directory).map_err(Error::file("find", directory))?;
    // Who can exchange the socket answers in our place.
    if let Some(other) = Other::in_directory(&about) {
        return Err(Error::Refused {
            message: format!("`{}` {other}: the socket could be exchanged", directory.display()),
            hint: Some("use a directory that only you can write to and others can read".to_owned()),
        });
    }
    if fs::symlink_metadata(path).is_ok_and(|about| about.file_type().is_socket()) {
        if std::os::unix::net::UnixStream::connect(path).is_ok() {
            return Err(Error::Refused {
                message: format!("another server listens at `{}`", path.display()),
                hint: Some("stop it, or give another path".to_owned()),
            });
        }
        fs::remove_file(path).map_err(failed)?;
    }
    let listener = UnixListener::bind(path).map_err(failed)?;
    // Everyone may connect; their account decides what they may do.
    fs::set_permissions(path, fs::Permissions::from_mode(0o666)).map_err(failed)?;
    Ok(listener)
}
