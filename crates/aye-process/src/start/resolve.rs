//! Which file a program name means, decided before the start: so that the
//! errors can name the thing and the start can stay on the `posix_spawn` path.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::error::SpawnError;
use super::spec::Spec;

/// What `execvp` uses when there is no `PATH`.
const FALLBACK_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The file that `spec.program` means, as a path that does not depend on `PATH`.
///
/// # Errors
/// [`SpawnError::NotFound`], [`SpawnError::NotExecutable`] or
/// [`SpawnError::WorkingDirectory`].
pub fn resolve(spec: &Spec) -> Result<PathBuf, SpawnError> {
    let path = locate(spec)?;
    match kind(&path) {
        Kind::Program => Ok(path),
        Kind::Other(hint) => Err(SpawnError::NotExecutable { path, hint, source: None }),
        Kind::Missing => Err(not_found(&spec.program)),
    }
    .map_err(|error| directory_first(spec, error))
}

/// Like [`resolve`], but whether a path leads to a program is left to the start.
pub(crate) fn locate(spec: &Spec) -> Result<PathBuf, SpawnError> {
    find(spec).map_err(|error| directory_first(spec, error))
}

/// Without its directory nothing else can be right.
fn directory_first(spec: &Spec, error: SpawnError) -> SpawnError {
    spec.cwd.as_ref().and_then(|cwd| check_directory(cwd).err()).unwrap_or(error)
}

fn find(spec: &Spec) -> Result<PathBuf, SpawnError> {
    let name = &spec.program;
    if name.is_empty() {
        return Err(SpawnError::NotFound {
            program: String::new(),
            hint: Some("name a program".to_owned()),
        });
    }
    if name.as_bytes().contains(&b'/') {
        let path = spec.cwd.as_ref().map_or_else(|| PathBuf::from(name), |cwd| cwd.join(name));
        // The child is in its directory by the time it looks.
        return Ok(std::path::absolute(&path).unwrap_or(path));
    }
    let search = spec.variable("PATH").unwrap_or_else(|| FALLBACK_PATH.into());
    let mut almost = None;
    for directory in std::env::split_paths(&search) {
        let mut path = match &spec.cwd {
            Some(cwd) if directory.is_relative() => cwd.join(&directory),
            _ if directory.as_os_str().is_empty() => PathBuf::from("."),
            _ => directory,
        };
        path.push(name);
        match kind(&path) {
            Kind::Program => return Ok(path),
            Kind::Other(hint) => {
                almost.get_or_insert((path, hint));
            }
            Kind::Missing => {}
        }
    }
    match almost {
        Some((path, hint)) => Err(SpawnError::NotExecutable { path, hint, source: None }),
        None => Err(not_found(name)),
    }
}

enum Kind {
    Program,
    Other(String),
    Missing,
}

fn kind(path: &Path) -> Kind {
    let Ok(found) = fs::metadata(path) else {
        return Kind::Missing;
    };
    if found.is_dir() {
        Kind::Other("it is a directory".to_owned())
    } else if access(path, Access::EXEC_OK).is_err() {
        Kind::Other(format!("`chmod +x {}`", path.display()))
    } else {
        Kind::Program
    }
}

pub(crate) fn check_directory(path: &Path) -> Result<(), SpawnError> {
    let problem = match fs::metadata(path) {
        Ok(found) if !found.is_dir() => "is not a directory".to_owned(),
        Ok(_) if access(path, Access::EXEC_OK).is_err() => "may not be entered".to_owned(),
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "does not exist".to_owned(),
        Err(error) => format!("cannot be used: {error}"),
    };
    Err(SpawnError::WorkingDirectory { path: path.to_owned(), problem })
}

fn not_found(name: &OsStr) -> SpawnError {
    let program = name.to_string_lossy().into_owned();
    let mut words = program.split_whitespace();
    let hint = match (words.next(), words.next()) {
        (Some(first), Some(_)) => {
            let rest: Vec<String> =
                program.split_whitespace().skip(1).map(|word| format!("{word:?}")).collect();
            Some(format!(
                "a command is one program; write `command: {first}` with `args: [{}]`, or use `shell:`",
                rest.join(", ")
            ))
        }
        (Some(_), None) if program.contains('/') => None,
        _ => Some("is it installed and in `PATH`?".to_owned()),
    };
    SpawnError::NotFound { program, hint }
}

/// What the operating system had against it before it came to the program.
pub(crate) fn unprepared(spec: &Spec, source: std::io::Error) -> SpawnError {
    let program = spec.program.to_string_lossy().into_owned();
    let source = zero_byte(spec).map_or(source, std::io::Error::other);
    match source.raw_os_error() {
        Some(libc::EAGAIN | libc::ENOMEM | libc::EMFILE | libc::ENFILE) => {
            SpawnError::Resources { program, source }
        }
        _ => SpawnError::Failed { program, source },
    }
}

/// Where a zero byte is, which no program can be given.
fn zero_byte(spec: &Spec) -> Option<String> {
    let holds = |text: &OsStr| text.as_bytes().contains(&0);
    let argument = spec.args.iter().position(|arg| holds(arg));
    let variable = |(name, value): &&(OsString, Option<OsString>)| {
        holds(name) || value.as_deref().is_some_and(holds)
    };
    let place = match (argument, spec.env.iter().find(variable), &spec.cwd) {
        (Some(at), _, _) => format!("argument {}", at + 1),
        (None, Some((name, _)), _) => format!("variable `{}`", name.to_string_lossy()),
        (None, None, Some(cwd)) if holds(cwd.as_os_str()) => "working directory".to_owned(),
        (None, None, _) => return None,
    };
    Some(format!("its {place} holds a zero byte"))
}

/// Turns the operating system's refusal to execute `path` into our error.
pub(crate) fn refused(spec: &Spec, path: PathBuf, source: std::io::Error) -> SpawnError {
    match kind(&path) {
        Kind::Program => {}
        Kind::Other(hint) => {
            return SpawnError::NotExecutable { path, hint, source: Some(source) };
        }
        Kind::Missing => return not_found(&spec.program),
    }
    let program = spec.program.to_string_lossy().into_owned();
    let code = source.raw_os_error().unwrap_or(0);
    match code {
        libc::ENOEXEC => SpawnError::NotExecutable {
            path,
            hint:
                "it is not a program for this machine; a script starts with a line like `#!/bin/sh`"
                    .to_owned(),
            source: Some(source),
        },
        libc::EACCES | libc::EPERM | libc::ETXTBSY => SpawnError::NotExecutable {
            hint: match code {
                libc::ETXTBSY => "someone has it open for writing".to_owned(),
                _ => {
                    "the system does not allow it; is the file system mounted `noexec`?".to_owned()
                }
            },
            path,
            source: Some(source),
        },
        libc::ENOENT => match interpreter(&path) {
            Some(interpreter) => SpawnError::NotExecutable {
                hint: format!("its first line asks for `{interpreter}`, which is not there"),
                path,
                source: Some(source),
            },
            None => SpawnError::NotFound {
                program,
                hint: path
                    .exists()
                    .then(|| "the file is there but its loader or a library is missing".to_owned()),
            },
        },
        _ => unprepared(spec, source),
    }
}

/// The program named by a script's first line.
fn interpreter(path: &Path) -> Option<String> {
    let mut head = [0_u8; 256];
    let read = fs::File::open(path).ok()?.read(&mut head).ok()?;
    let line = head[..read].strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    line.split_whitespace().next().map(str::to_owned)
}
