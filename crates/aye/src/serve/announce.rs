//! One server for each home: where it is, for the programs of this user.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use aye_runtime::announced_server::{AnnouncedServer, FILE, LOCK};
use aye_runtime::error::Error;
use aye_runtime::private_file;
use aye_runtime::random::random_hex;

const TOKEN: &str = "serve.token";
const BYTES: usize = 32;
/// How often it is tried to become the server, and how long each time is waited.
const LOOKS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// The right to be the server of a home; given back when dropped.
pub(crate) struct OnlyServer {
    home: PathBuf,
    _lock: File,
}

impl OnlyServer {
    /// Takes it, or says where the server is.
    pub(crate) fn take(home: &Path) -> Result<Self, Error> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(home)
            .map_err(Error::file("make", home))?;
        let path = home.join(LOCK);
        let failed = Error::file("lock", &path);
        let lock = open(&path, false).map_err(failed)?;
        for _ in 0..LOOKS {
            match lock.try_lock() {
                Ok(()) => return Ok(Self { home: home.to_owned(), _lock: lock }),
                Err(fs::TryLockError::Error(source)) => return Err(failed(source)),
                // Those who look whether a server runs have it for a moment.
                Err(fs::TryLockError::WouldBlock) if AnnouncedServer::running(home).is_none() => {
                    std::thread::sleep(PAUSE);
                }
                Err(fs::TryLockError::WouldBlock) => break,
            }
        }
        Err(second(home))
    }

    /// The token for programs of this user; the same after a restart.
    pub(crate) fn token(&self) -> Result<String, Error> {
        let path = self.home.join(TOKEN);
        let failed = Error::file("use", &path);
        if let Ok(text) = fs::read_to_string(&path) {
            let mode = fs::metadata(&path).map_err(failed)?.permissions().mode();
            let token = text.trim();
            if mode & 0o077 == 0 && token.len() == BYTES * 2 {
                return Ok(token.to_owned());
            }
            // Others may know it: it counts no more.
            fs::remove_file(&path).map_err(failed)?;
        }
        let token = random_hex(BYTES).map_err(failed)?;
        private_file::write(&path, token.as_bytes()).map_err(failed)?;
        Ok(token)
    }

    /// Writes where the server is.
    pub(crate) fn announce(
        &self,
        url: &str,
        token: &str,
        certificate: Option<PathBuf>,
    ) -> Result<AnnouncedServer, Error> {
        let (url, pid, token) = (url.to_owned(), std::process::id(), token.to_owned());
        let announced = AnnouncedServer { url, pid, token, certificate };
        let text = serde_json::to_string(&announced).unwrap_or_default();
        let path = self.home.join(FILE);
        private_file::write(&path, text.as_bytes()).map_err(Error::file("write", &path))?;
        Ok(announced)
    }
}

impl Drop for OnlyServer {
    fn drop(&mut self) {
        // Nobody is there any more; who looks finds that out all the same.
        let _ = fs::remove_file(self.home.join(FILE));
    }
}

fn second(home: &Path) -> Error {
    match AnnouncedServer::running(home) {
        Some(AnnouncedServer { url, pid, .. }) => Error::Refused {
            message: format!("a server for this home runs already: {url} (process {pid})"),
            hint: Some("`aye serve open` opens its page; stop it to start another".to_owned()),
        },
        None => Error::Refused {
            message: "a server for this home is just starting or stopping".to_owned(),
            hint: Some("try again in a moment".to_owned()),
        },
    }
}

fn open(path: &Path, truncate: bool) -> std::io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(truncate).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_server_for_each_home() {
        let home = tempfile::tempdir().expect("a directory");
        let server = OnlyServer::take(home.path()).expect("nobody else is there");
        let token = server.token().expect("a token");
        server.announce("http://127.0.0.1:1", &token, None).expect("written");
        let file = home.path().join(FILE);
        let mode = fs::metadata(&file).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let refused = OnlyServer::take(home.path()).err().expect("refused").to_string();
        assert!(refused.contains("http://127.0.0.1:1"), "{refused}");
        assert_eq!(AnnouncedServer::running(home.path()).map(|one| one.token), Some(token.clone()));
        drop(server);
        assert_eq!(AnnouncedServer::running(home.path()), None);
        // A child that another test starts has the lock until it is another program.
        let pause = Duration::from_millis(10);
        let tries = std::iter::repeat_with(|| {
            let taken = OnlyServer::take(home.path());
            if taken.is_err() {
                std::thread::sleep(pause);
            }
            taken.ok()
        });
        let again = tries.take(500).flatten().next().expect("it is free again");
        assert_eq!(again.token().expect("a token"), token, "the same after a restart");
    }
}
