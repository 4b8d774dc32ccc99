//! Fixes: kept, counted, agreed to.

use aye_core::digest::digest;
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::error::MemoryError;
use super::fix::{Change, Fix, FixMatch, Origin, OriginKind};
use super::keep::{Keep, Mask, change_list, line, masked, visible_lines};
use super::memory::{FIXES, Memory};
use super::telling::pattern_of;
use super::words::Pattern;

/// A fix to be remembered.
#[derive(Debug, Clone)]
pub struct NewFix {
    /// The tool or program; this or the step is needed.
    pub tool: Option<String>,
    /// The skill, where the fix is only for it.
    pub skill: Option<String>,
    /// The step.
    pub step: Option<String>,
    /// How it is recognised.
    pub error: ErrorText,
    /// What arguments have to be.
    pub only_for: Map<String, Value>,
    /// What to do.
    pub change: Change,
    /// In words.
    pub about: Option<String>,
    /// Where it comes from. What an assistant proposes waits for a person.
    pub from: Origin,
    /// Where it is kept.
    pub keep: Keep,
}

/// What an error is recognised by.
#[derive(Debug, Clone)]
pub enum ErrorText {
    /// An error as it came: its telling line, what varies replaced.
    Seen(String),
    /// A pattern as somebody wrote it.
    Pattern(String),
}

impl Memory {
    /// Keeps a fix and returns its name. One for the same match is replaced;
    /// what an assistant proposes never replaces a person's.
    ///
    /// # Errors
    /// When it names neither tool nor step, says too little about the error,
    /// does nothing sensible, or has a secret in it; when the file cannot be
    /// written.
    pub fn remember_fix(&self, new: NewFix, mask: Mask<'_>) -> Result<String, MemoryError> {
        let pattern = match &new.error {
            ErrorText::Seen(text) => pattern_of(&visible_lines(&mask(text)))?,
            ErrorText::Pattern(pattern) => Pattern::new(&line(pattern, mask))?,
        };
        let matches = FixMatch {
            tool: new.tool,
            skill: new.skill,
            step: new.step,
            error: pattern.as_str().to_owned(),
            args: new.only_for,
            other: Map::new(),
        };
        let written = serde_json::to_value(&new.change).unwrap_or_default();
        let only_for = Value::Object(matches.args.clone());
        if masked(&written, mask) != written || masked(&only_for, mask) != only_for {
            return Err(MemoryError::refused(
                "the fix has a secret in it, and secrets are not remembered",
                "refer to it instead, as in `{{ inputs.token }}`",
            ));
        }
        let (root, project) = self.place(new.keep)?;
        let parts = [
            serde_json::to_string(&matches).unwrap_or_default(),
            project.clone().unwrap_or_default(),
            match new.from.kind {
                OriginKind::Person => String::new(),
                OriginKind::Assistant => written.to_string(),
            },
        ];
        let told = digest(&[parts[0].as_bytes(), parts[1].as_bytes(), parts[2].as_bytes()]);
        let mut fix = Fix {
            id: format!("fix-{}", &told[..8]),
            matches,
            change: new.change,
            about: new.about.map(|about| line(&about, mask)),
            from: new.from,
            agreed: None,
            max_uses: 1,
            verified: 0,
            last_success: None,
            failed: 0,
            last_failure: None,
            suspended: None,
            project,
            other: Map::new(),
        };
        fix.check().map_err(|message| {
            MemoryError::refused(message, "`aye memory learn --help` shows how")
        })?;
        let id = fix.id.clone();
        change_list(&root, FIXES, "fixes", |fixes: &mut Vec<Fix>| {
            match fixes.iter_mut().find(|known| known.id == fix.id) {
                Some(known) => {
                    fix.matches.other = std::mem::take(&mut known.matches.other);
                    fix.change.other = std::mem::take(&mut known.change.other);
                    known.change.other = fix.change.other.clone();
                    // The same again: what is known about it stays.
                    if known.change == fix.change {
                        (fix.verified, fix.last_success) = (known.verified, known.last_success);
                        fix.agreed = known.agreed.take();
                    }
                    fix.max_uses = known.max_uses;
                    fix.other = std::mem::take(&mut known.other);
                    *known = fix;
                }
                None => fixes.push(fix),
            }
            ((), true)
        })?;
        Ok(id)
    }

    /// A fix worked.
    ///
    /// # Errors
    /// When there is no such fix, or the file cannot be written.
    pub fn fix_worked(&self, id: &str, now: Timestamp) -> Result<(), MemoryError> {
        self.change_fix(id, |fix| fix.worked(now)).map(drop)
    }

    /// A fix did not work; whether it is suspended now.
    ///
    /// # Errors
    /// When there is no such fix, or the file cannot be written.
    pub fn fix_failed(&self, id: &str, now: Timestamp) -> Result<bool, MemoryError> {
        self.change_fix(id, |fix| fix.did_not_work(now)).map(|fix| fix.suspended.is_some())
    }

    /// A person agrees to a fix that was proposed or suspended.
    ///
    /// # Errors
    /// When there is no such fix, or the file cannot be written.
    pub fn agree_to_fix(&self, id: &str, by: &str, now: Timestamp) -> Result<Fix, MemoryError> {
        self.change_fix(id, |fix| fix.agree(by, now))
    }

    fn change_fix(&self, id: &str, change: impl FnOnce(&mut Fix)) -> Result<Fix, MemoryError> {
        let found = self.fixes().into_iter().find(|fix| fix.value.id == id);
        let not_found = || MemoryError::NotFound(id.to_owned());
        let layer = found.ok_or_else(not_found)?.layer;
        let root = self.root(layer).ok_or_else(not_found)?;
        let changed = change_list(&root, FIXES, "fixes", |fixes: &mut Vec<Fix>| {
            let found = fixes.iter_mut().find(|fix| fix.id == id).map(|fix| {
                change(fix);
                fix.clone()
            });
            let is_there = found.is_some();
            (found, is_there)
        })?;
        changed.ok_or_else(not_found)
    }
}
