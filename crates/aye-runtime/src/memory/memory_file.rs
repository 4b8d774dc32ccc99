//! One file of memory: read with places, changed by one writer at a time.

use std::path::{Path, PathBuf};

use aye_core::diagnostic::{Diagnostic, Source};
use aye_core::yaml::{self, NodeId, Tree};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::documents::{Content, Documents};
use super::emit::emit;
use super::error::{MemoryError, Problem};

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
    pub(super) fn read(documents: &dyn Documents, name: &str) -> Result<Self, MemoryError> {
        Ok(Self::holding(&documents.place(name), documents.read(name)?))
    }

    fn holding(path: &Path, content: Content) -> Self {
        match content {
            Content::Absent => Self::of(path, String::new()),
            Content::Text(text) => Self::of(path, text),
            Content::TooLarge(bytes) => {
                let faults = yaml::too_large(bytes).into_iter().collect();
                Self { path: path.to_path_buf(), text: String::new(), tree: None, faults }
            }
        }
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
    let file = MemoryFile::of(Path::new(""), text.to_owned());
    match file.faults().into_iter().next() {
        Some(fault) => Err(format!("line {}: {}", fault.line, fault.message)),
        None => Ok(file.value()),
    }
}

fn is_null(tree: &Tree, node: NodeId) -> bool {
    matches!(&tree.node(node).kind, yaml::Kind::Scalar(scalar) if scalar.is_null())
}

/// Reads, changes and writes a file that Aye keeps, under the lock of its
/// memory. What the file has and Aye does not know is kept; comments are not.
/// A file that cannot be read is not written either.
pub(super) fn change<R>(
    documents: &dyn Documents,
    name: &str,
    change: impl FnOnce(&mut Map<String, Value>) -> Result<(R, bool), MemoryError>,
) -> Result<R, MemoryError> {
    let path = documents.place(name);
    let mut result = None;
    let make = |content| {
        let file = MemoryFile::holding(&path, content);
        if let Some(problem) = file.faults().into_iter().next() {
            return Err(MemoryError::Unreadable(problem));
        }
        let mut map = match file.value() {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        let (got, changed) = change(&mut map)?;
        result = Some(got);
        changed.then(|| written(&path, map)).transpose()
    };
    documents.change(name, Box::new(make))?;
    result.ok_or_else(|| {
        let error = std::io::Error::other("its memory did not ask what to write");
        MemoryError::io("write", &path, error)
    })
}

fn written(path: &Path, map: Map<String, Value>) -> Result<String, MemoryError> {
    let text = format!(
        "# Kept by Aye: `aye memory` shows and forgets. Comments are not kept.\n{}",
        emit(&Value::Object(map))
    );
    // Nothing is written that could not be read again: files have limits.
    match MemoryFile::of(path, text.clone()).faults().into_iter().next() {
        None => Ok(text),
        Some(problem) => Err(MemoryError::refused(
            format!("`{}` would become unreadable: {}", path.display(), problem.message),
            "make room with `aye memory forget`",
        )),
    }
}

/// Replaces a file that people write, under the lock, by what `make` makes of
/// its text.
pub(super) fn rewrite(
    documents: &dyn Documents,
    name: &str,
    make: impl FnOnce(&MemoryFile) -> Result<String, MemoryError>,
) -> Result<(), MemoryError> {
    let path = documents.place(name);
    let make = |content| make(&MemoryFile::holding(&path, content)).map(Some);
    documents.change(name, Box::new(make))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::documents::FileDocuments;

    #[test]
    fn what_is_too_large_is_refused_and_left() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("huge.yaml");
        let hole = std::fs::File::create(&path).and_then(|file| file.set_len(1 << 42));
        hole.expect("a file with a hole");
        let documents = FileDocuments::private(place.path().to_path_buf());
        let read = MemoryFile::read(&documents, "huge.yaml").expect("refused in its faults");
        let faults = read.faults();
        assert!(faults.len() == 1 && faults[0].message.contains("the limit"), "{faults:?}");
        let changed = change(&documents, "huge.yaml", |_| Ok(((), true)));
        assert!(matches!(changed, Err(MemoryError::Unreadable(_))), "{changed:?}");
        assert_eq!(std::fs::metadata(&path).expect("still there").len(), 1 << 42);
    }
}
