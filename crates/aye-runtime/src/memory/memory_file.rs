//! One file of memory: read with places, changed by one writer at a time.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use aye_core::diagnostic::{Diagnostic, Source};
use aye_core::yaml::{self, MAX_BYTES, NodeId, Tree};
use rustix::fs::OFlags;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::replace::{draft_of, link_below};

use super::emit::emit;
use super::error::{MemoryError, Problem};

/// How long another writer is waited for. A change takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);
/// Who holds it may write.
const LOCK: &str = ".lock";
const BETWEEN_TRIES: Duration = Duration::from_millis(2);

/// A file and its text.
#[derive(Debug, Clone)]
pub(super) struct MemoryFile {
    path: PathBuf,
    text: String,
    tree: Option<Tree>,
    /// What makes the whole file, or part of it, unreadable.
    faults: Vec<Diagnostic>,
}

/// An entry of a list, where it is, and what it came to.
pub(super) struct Entry<T> {
    pub(super) line: usize,
    pub(super) value: T,
}

impl MemoryFile {
    /// Reads a file; one that is not there is empty.
    pub(super) fn read(path: &Path) -> Result<Self, MemoryError> {
        let failed = |error: io::Error| MemoryError::io("read", path, error);
        let about = match fs::metadata(path) {
            Ok(about) => about,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self::of(path, String::new()));
            }
            Err(error) => return Err(failed(error)),
        };
        // A pipe would be waited for.
        if !about.is_file() {
            return Err(failed(not_regular()));
        }
        // What is too large need not be read to be refused.
        if about.len() > MAX_BYTES as u64 {
            return Ok(Self::too_large(path, about.len()));
        }
        let mut text = Vec::new();
        let file = File::open(path).map_err(failed)?;
        // It may grow meanwhile.
        file.take(MAX_BYTES as u64 + 1).read_to_end(&mut text).map_err(failed)?;
        let text = String::from_utf8(text).map_err(|error| {
            let error = io::Error::new(io::ErrorKind::InvalidData, error);
            MemoryError::io("read", path, error)
        })?;
        Ok(Self::of(path, text))
    }

    fn too_large(path: &Path, bytes: u64) -> Self {
        let faults = yaml::too_large(bytes).into_iter().collect();
        Self { path: path.to_path_buf(), text: String::new(), tree: None, faults }
    }

    pub(super) fn of(path: &Path, text: String) -> Self {
        let mut faults = Vec::new();
        let says_nothing =
            text.lines().all(|line| line.trim().is_empty() || line.trim().starts_with('#'));
        let tree = if says_nothing { None } else { yaml::read(&text, &mut faults) };
        faults.retain(Diagnostic::is_error);
        Self { path: path.to_path_buf(), text, tree, faults }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The whole file as data.
    pub(super) fn value(&self) -> Value {
        self.tree.as_ref().map_or(Value::Null, |tree| tree.value(tree.root()))
    }

    /// The keys of the file that hold lists, and what is wrong with the others.
    pub(super) fn keys(&self) -> Vec<String> {
        let Some(tree) = &self.tree else { return Vec::new() };
        let entries = tree.entries(tree.root()).iter();
        entries.filter_map(|(key, _)| tree.text(*key).map(str::to_owned)).collect()
    }

    /// The entries of the list at `key`. What is wrong with one is reported
    /// and keeps none of the others from being read.
    pub(super) fn entries<T: DeserializeOwned>(
        &self,
        key: &str,
        problems: &mut Vec<Problem>,
    ) -> Vec<Entry<T>> {
        let mut found = Vec::new();
        let Some(tree) = &self.tree else { return found };
        let source = Source::new("", &self.text);
        let line = |node: NodeId| source.position(tree.node(node).span.start).line;
        let Some((name, list)) = tree.entry(tree.root(), key) else { return found };
        let yaml::Kind::List(items) = &tree.node(list).kind else {
            if !is_null(tree, list) {
                let message = format!("`{key}` should be a list: write `- …` below it");
                problems.push(self.problem(line(name), message));
            }
            return found;
        };
        for &item in items {
            let line = line(item);
            match serde_json::from_value(tree.value(item)) {
                Ok(value) => found.push(Entry { line, value }),
                Err(error) => {
                    let said = error.to_string();
                    let said = match said.strip_prefix("missing field ") {
                        Some(field) => format!("{field} is missing"),
                        None => said,
                    };
                    let message = format!("this entry of `{key}` is passed over: {said}");
                    problems.push(self.problem(line, message));
                }
            }
        }
        found
    }

    /// What is wrong with the file as a whole.
    pub(super) fn faults(&self) -> Vec<Problem> {
        let source = Source::new("", &self.text);
        let mut found: Vec<Problem> = self
            .faults
            .iter()
            .map(|fault| {
                let line = source.position(fault.span().start).line;
                self.problem(line, fault.message.clone())
            })
            .collect();
        if let Some(tree) = &self.tree
            && !matches!(tree.node(tree.root()).kind, yaml::Kind::Mapping(_))
        {
            let message = "the file should be a mapping: write `key:` and a list below it";
            found.push(self.problem(1, message.to_owned()));
        }
        found
    }

    pub(super) fn problem(&self, line: usize, message: String) -> Problem {
        Problem { file: self.path.clone(), line, message }
    }
}

/// A YAML document as data, with what is wrong in words.
///
/// # Errors
/// When it cannot be read: with the line.
pub fn read_mapping(text: &str) -> Result<Value, String> {
    let says_something = |line: &str| !line.trim().is_empty() && !line.trim().starts_with('#');
    if !text.lines().any(says_something) {
        return Ok(Value::Null);
    }
    let book = MemoryFile::of(Path::new(""), text.to_owned());
    match book.faults().into_iter().next() {
        Some(fault) => Err(format!("line {}: {}", fault.line, fault.message)),
        None => Ok(book.value()),
    }
}

fn is_null(tree: &Tree, node: NodeId) -> bool {
    matches!(&tree.node(node).kind, yaml::Kind::Scalar(scalar) if scalar.is_null())
}

/// A directory of memory.
#[derive(Debug, Clone)]
pub(super) struct Root {
    pub(super) path: PathBuf,
    /// Others who work on the project may read it; what is the user's own,
    /// nobody else.
    pub(super) shared: bool,
}

impl Root {
    fn create(&self, directory: &Path) -> io::Result<()> {
        let mode = if self.shared { 0o777 } else { 0o700 };
        DirBuilder::new().recursive(true).mode(mode).create(directory)
    }

    /// A project's memory comes with the project, links in it too: what they
    /// lead to is not the project's.
    pub(super) fn refuse_links(&self, file: &str) -> Result<(), MemoryError> {
        if !self.shared {
            return Ok(());
        }
        let path = self.path.join(file);
        let project = self.path.ancestors().nth(2).unwrap_or(&self.path);
        for path in [draft_of(&path), path, self.path.join(LOCK)] {
            if let Some((path, target)) = link_below(project, &path) {
                return Err(MemoryError::Linked { path, target });
            }
        }
        Ok(())
    }

    fn file_mode(&self) -> u32 {
        if self.shared { 0o666 } else { 0o600 }
    }
}

/// Reads, changes and writes a file that Aye keeps, under the lock of its
/// memory. What the file has and Aye does not know is kept; comments are not.
/// A file that cannot be read is not written either.
pub(super) fn change<R>(
    root: &Root,
    file: &str,
    change: impl FnOnce(&mut Map<String, Value>) -> Result<(R, bool), MemoryError>,
) -> Result<R, MemoryError> {
    let path = root.path.join(file);
    root.refuse_links(file)?;
    let _lock = Lock::take(root)?;
    let book = MemoryFile::read(&path)?;
    if let Some(problem) = book.faults().into_iter().next() {
        return Err(MemoryError::Unreadable(problem));
    }
    let mut map = match book.value() {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    let (result, changed) = change(&mut map)?;
    if changed {
        let head = format!(
            "# Kept by Aye: `aye memory` shows and forgets. Comments are not kept.\n{}",
            emit(&Value::Object(map))
        );
        // Nothing is written that could not be read again: files have limits.
        if let Some(problem) = MemoryFile::of(&path, head.clone()).faults().into_iter().next() {
            return Err(MemoryError::refused(
                format!("`{}` would become unreadable: {}", path.display(), problem.message),
                "make room with `aye memory forget`",
            ));
        }
        replace(root, &path, &head)?;
    }
    Ok(result)
}

/// Replaces a file that people write, under the lock, by what `make` makes of
/// its text.
pub(super) fn rewrite(
    root: &Root,
    file: &str,
    make: impl FnOnce(&MemoryFile) -> Result<String, MemoryError>,
) -> Result<(), MemoryError> {
    let path = root.path.join(file);
    root.refuse_links(file)?;
    let _lock = Lock::take(root)?;
    let text = make(&MemoryFile::read(&path)?)?;
    replace(root, &path, &text)
}

fn replace(root: &Root, path: &Path, text: &str) -> Result<(), MemoryError> {
    crate::replace::replace(path, text, root.file_mode())
        .map_err(|error| MemoryError::io("write", path, error))
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}

/// Held while a memory is written: an OS lock, so it goes with its holder.
struct Lock {
    _file: File,
}

impl Lock {
    fn take(root: &Root) -> Result<Self, MemoryError> {
        let path = root.path.join(LOCK);
        let failed = |error: io::Error| MemoryError::io("write", &path, error);
        if !root.path.is_dir() {
            root.create(&root.path).map_err(failed)?;
            // Where the directory is shared, these two are not.
            let _ = fs::write(root.path.join(".gitignore"), ".lock\n*.new\n/.gitignore\n");
        }
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(root.file_mode())
            // A project brings its own files: a pipe here would be waited for without an end.
            .custom_flags((OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed())
            .open(&path)
            .map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(failed(not_regular()));
        }
        let give_up = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) if Instant::now() < give_up => {
                    std::thread::sleep(BETWEEN_TRIES);
                }
                Err(TryLockError::WouldBlock) => return Err(MemoryError::Busy { path }),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
    }
}

/// Tells whether a file is still the one that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp(Option<(u64, u64, i64, i64)>);

impl Stamp {
    pub(super) fn of(path: &Path) -> Self {
        Self(
            fs::metadata(path)
                .ok()
                .map(|file| (file.ino(), file.size(), file.mtime(), file.mtime_nsec())),
        )
    }

    /// Whether there is a file at all.
    pub(super) fn is_there(&self) -> bool {
        self.0.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_is_refused_unread() {
        let place = tempfile::tempdir().expect("a directory");
        let root = Root { path: place.path().join("memory"), shared: false };
        fs::create_dir(&root.path).expect("made");
        // Takes no room on the disk, and more memory than there is.
        let path = root.path.join("huge.yaml");
        File::create(&path).and_then(|file| file.set_len(1 << 42)).expect("a file with a hole");
        let read = MemoryFile::read(&path).expect("refused in its faults");
        let faults = read.faults();
        assert!(faults.len() == 1 && faults[0].message.contains("the limit"), "{faults:?}");
        let changed = change(&root, "huge.yaml", |_| Ok(((), true)));
        assert!(matches!(changed, Err(MemoryError::Unreadable(_))), "{changed:?}");
        assert_eq!(fs::metadata(&path).expect("still there").len(), 1 << 42);
    }
}
