//! Adding a known issue on someone's word: the text of the file stays as it
//! is, comments and all, and an entry is put at its end.

use serde_json::Value;

use super::emit::emit_item;
use super::error::MemoryError;
use super::issue::{Issue, KEY, Written};
use super::keep::{Keep, Mask, line};
use super::memory::{Memory, PATTERNS};
use super::memory_file::{self, MemoryFile};

/// A known issue to be written down.
#[derive(Debug, Clone, Default)]
pub struct NewIssue {
    /// What it is recognised by.
    pub pattern: String,
    /// The tools it is about; empty for any.
    pub tools: Vec<String>,
    /// What the error means.
    pub meaning: Option<String>,
    /// What to do.
    pub fix: Option<String>,
    /// Commands that help.
    pub commands: Vec<String>,
    /// What it belongs to.
    pub tags: Vec<String>,
    /// Where it is kept.
    pub keep: Keep,
}

impl Memory {
    /// Adds a known issue at the end of `patterns.yaml`.
    ///
    /// # Errors
    /// When the pattern cannot be used, when the same is known word for word, or when the file cannot be added to without
    /// changing what is there: the error has the text to add by hand.
    pub fn note_issue(&self, new: &NewIssue, mask: Mask<'_>) -> Result<Issue, MemoryError> {
        let one = |text: &String| line(text, mask);
        let written = Written {
            pattern: one(&new.pattern),
            tool: None,
            tools: new.tools.iter().map(one).collect(),
            meaning: new.meaning.as_ref().map(one),
            fix: new.fix.as_ref().map(one),
            commands: new.commands.iter().map(one).collect(),
            tags: new.tags.iter().map(one).collect(),
        };
        let issue = written.clone().read(KEY)?;
        if let Some(known) = self.issues().iter().find(|known| known.value.id == issue.id) {
            let place = format!("{}:{}", known.file.display(), known.line);
            return Err(MemoryError::Known { pattern: issue.pattern.to_string(), place });
        }
        let documents = self.writable(self.place(new.keep)?.0);
        let item = serde_json::to_value(&written).unwrap_or_default();
        memory_file::rewrite(documents, PATTERNS, |file| {
            added(file, &item).ok_or_else(|| {
                MemoryError::refused(
                    format!(
                        "`{}` cannot be added to by a program",
                        documents.place(PATTERNS).display()
                    ),
                    format!("add this by hand:\n{KEY}:\n{}", emit_item(&item, 2)),
                )
            })
        })?;
        Ok(issue)
    }
}

/// The text with the item added; nothing if what is there would change.
fn added(file: &MemoryFile, item: &Value) -> Option<String> {
    if !file.faults().is_empty() {
        return None;
    }
    let mut text = file.text().to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let mut wanted = match file.value() {
        Value::Null => Value::Object(serde_json::Map::new()),
        value => value,
    };
    match wanted.as_object_mut()?.entry(KEY).or_insert_with(|| Value::Array(Vec::new())) {
        Value::Array(list) => list.push(item.clone()),
        null @ Value::Null => *null = Value::Array(vec![item.clone()]),
        _ => return None,
    }
    let candidates = [2, 0, 4].map(|indent| format!("{text}{}", emit_item(item, indent)));
    let fresh = format!("{text}{KEY}:\n{}", emit_item(item, 2));
    candidates.into_iter().chain([fresh]).find(|candidate| {
        let read = MemoryFile::of(std::path::Path::new(""), candidate.clone());
        read.faults().is_empty() && read.value() == wanted
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn add(text: &str) -> Option<String> {
        added(
            &MemoryFile::of(std::path::Path::new(""), text.to_owned()),
            &json!({ "pattern": "new" }),
        )
    }

    #[test]
    fn what_is_there_stays_and_the_entry_follows() {
        for (text, wanted) in [
            ("", "issues:\n  - pattern: new\n"),
            ("# mine\n", "# mine\nissues:\n  - pattern: new\n"),
            (
                "issues:\n  # why\n  - pattern: old\n",
                "issues:\n  # why\n  - pattern: old\n  - pattern: new\n",
            ),
            ("issues:\n- pattern: old", "issues:\n- pattern: old\n- pattern: new\n"),
            ("auth:\n  - pattern: a\n", "auth:\n  - pattern: a\nissues:\n  - pattern: new\n"),
        ] {
            assert_eq!(add(text).as_deref(), Some(wanted), "{text}");
        }
    }

    #[test]
    fn a_file_that_would_change_is_left_alone() {
        for text in [
            "issues:\n  - pattern: a\nauth:\n  - pattern: b\n",
            "issues: [{pattern: a}]\n",
            "issues: text\n",
            "- a\n",
            "a: [\n",
        ] {
            assert_eq!(add(text), None, "{text}");
        }
    }
}
