//! Files, read only, of the workspace only.

use std::borrow::Cow;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::engine::Raised;

/// More of a file belongs into a command.
const SIZE: u64 = 8 << 20;
/// Names of one directory.
const NAMES: usize = 10_000;

/// What a program wants of a file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum FileCall {
    Exists(String),
    IsFile(String),
    IsDir(String),
    IsLink(String),
    ReadText(String),
    ReadBytes(String),
    Stat(String),
    List(String),
    Resolve(String),
    /// Opens for reading.
    Open(String),
    /// Anything that changes something, by name.
    Write(Cow<'static, str>),
}

impl FileCall {
    /// The file it is about.
    pub(super) fn path(&self) -> Option<&str> {
        match self {
            Self::Exists(path)
            | Self::IsFile(path)
            | Self::IsDir(path)
            | Self::IsLink(path)
            | Self::ReadText(path)
            | Self::ReadBytes(path)
            | Self::Stat(path)
            | Self::List(path)
            | Self::Resolve(path)
            | Self::Open(path) => Some(path),
            Self::Write(_) => None,
        }
    }
}

/// What it gets.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum FileAnswer {
    Bool(bool),
    Text(String),
    Bytes(Vec<u8>),
    Path(String),
    Paths(Vec<String>),
    Stat { directory: bool, mode: u32, size: u64, modified: f64 },
    Opened,
}

/// The files a block may see.
pub(super) struct Files<'a> {
    pub(super) workspace: &'a Path,
    pub(super) allowed: bool,
}

impl Files<'_> {
    /// Does what is wanted, or says why not.
    pub(super) fn answer(&self, call: FileCall) -> Result<FileAnswer, Raised> {
        if let FileCall::Write(what) = call {
            return Err(denied(format!(
                "`{what}` would change files, which a compute block cannot: use a `command:` \
                 step, or `python: true`"
            )));
        }
        if !self.allowed {
            return Err(denied(
                "a compute block sees no files: write `files: read` at the step to let it read \
                 those of the workspace"
                    .to_owned(),
            ));
        }
        match call {
            FileCall::Exists(path) => self.ask(&path, Path::exists),
            FileCall::IsFile(path) => self.ask(&path, Path::is_file),
            FileCall::IsDir(path) => self.ask(&path, Path::is_dir),
            FileCall::IsLink(path) => {
                Ok(FileAnswer::Bool(self.joined(&path).is_symlink() && self.real(&path).is_ok()))
            }
            FileCall::ReadText(path) => {
                String::from_utf8(self.read(&path)?).map(FileAnswer::Text).map_err(|error| {
                    let at = error.utf8_error().valid_up_to();
                    Raised::new("ValueError", format!("`{path}` is not a UTF-8 text (byte {at})"))
                })
            }
            FileCall::ReadBytes(path) => self.read(&path).map(FileAnswer::Bytes),
            FileCall::Open(path) => {
                let real = self.real(&path)?;
                if real.is_dir() {
                    return Err(Raised::new(
                        "IsADirectoryError",
                        format!("is a directory: '{path}'"),
                    ));
                }
                Ok(FileAnswer::Opened)
            }
            FileCall::Stat(path) => self.stat(&path),
            FileCall::List(path) => self.list(&path),
            FileCall::Resolve(path) => {
                let joined = self.joined(&path);
                let real = joined.canonicalize().unwrap_or(joined);
                Ok(FileAnswer::Path(real.to_string_lossy().into_owned()))
            }
            FileCall::Write(what) => Err(denied(what.into_owned())),
        }
    }

    fn joined(&self, path: &str) -> PathBuf {
        self.workspace.join(path)
    }

    /// The real path, if it is inside the workspace.
    fn real(&self, path: &str) -> Result<PathBuf, Raised> {
        let root = self.workspace.canonicalize().map_err(|error| missing(path, &error))?;
        let real = self.joined(path).canonicalize().map_err(|error| missing(path, &error))?;
        if real.starts_with(&root) {
            return Ok(real);
        }
        Err(denied(format!(
            "`{path}` is outside of the workspace {}: a compute block reads only inside; use a \
             `command:` step, or `python: true`",
            root.display()
        )))
    }

    /// What is outside is refused; what is not there is not there.
    fn ask(&self, path: &str, is: impl Fn(&Path) -> bool) -> Result<FileAnswer, Raised> {
        match self.real(path) {
            Ok(real) => Ok(FileAnswer::Bool(is(&real))),
            Err(raised) if raised.kind == "FileNotFoundError" => Ok(FileAnswer::Bool(false)),
            Err(raised) => Err(raised),
        }
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, Raised> {
        let real = self.real(path)?;
        // A pipe or a device could keep us for ever.
        if !real.is_file() {
            return Err(Raised::new("OSError", format!("not a regular file: '{path}'")));
        }
        let file = fs::File::open(&real).map_err(|error| missing(path, &error))?;
        let mut bytes = Vec::new();
        let read = file.take(SIZE + 1).read_to_end(&mut bytes);
        read.map_err(|error| missing(path, &error))?;
        if bytes.len() as u64 > SIZE {
            let message = format!("`{path}` is larger than {} MiB", SIZE >> 20);
            return Err(Raised::new("OSError", message));
        }
        Ok(bytes)
    }

    fn stat(&self, path: &str) -> Result<FileAnswer, Raised> {
        use std::os::unix::fs::PermissionsExt;
        let data = fs::metadata(self.real(path)?).map_err(|error| missing(path, &error))?;
        let modified = data.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Ok(FileAnswer::Stat {
            directory: data.is_dir(),
            mode: data.permissions().mode() & 0o777,
            size: data.len(),
            modified: modified.map_or(0.0, |since| since.as_secs_f64()),
        })
    }

    fn list(&self, path: &str) -> Result<FileAnswer, Raised> {
        let real = self.real(path)?;
        let entries = fs::read_dir(real).map_err(|error| missing(path, &error))?;
        let base = Path::new(path);
        let mut names: Vec<String> = entries
            .take(NAMES)
            .filter_map(Result::ok)
            .map(|entry| base.join(entry.file_name()).to_string_lossy().into_owned())
            .collect();
        names.sort();
        Ok(FileAnswer::Paths(names))
    }
}

fn denied(message: String) -> Raised {
    Raised::new("PermissionError", message)
}

fn missing(path: &str, error: &std::io::Error) -> Raised {
    let kind = match error.kind() {
        std::io::ErrorKind::NotFound => "FileNotFoundError",
        std::io::ErrorKind::PermissionDenied => "PermissionError",
        std::io::ErrorKind::NotADirectory => "NotADirectoryError",
        _ => "OSError",
    };
    Raised::new(kind, format!("{error}: '{path}'"))
}
