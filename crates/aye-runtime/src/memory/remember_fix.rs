//! Fixes: kept, counted, agreed to.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::documents::Documents;
use super::error::MemoryError;
use super::fix::{Change, Fix, FixMatch, Origin, OriginKind, PROPOSED};
use super::keep::{Keep, Mask, change_list, change_list_once, line, masked, visible_lines};
use super::lesson::{Lesson, Once};
use super::memory::{FIXES, Memory};
use super::pattern::Pattern;
use super::query::{Layer, Placed};
use super::salient_line::pattern_of;

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
    /// An error as it came: its salient line, what varies replaced.
    Seen(String),
    /// A pattern as someone wrote it.
    Pattern(String),
}

impl Memory {
    /// Keeps a fix and returns its full id. What a person says is agreed to on
    /// this machine with it, and replaces what a person said for the same match;
    /// what an assistant proposes replaces nothing.
    ///
    /// # Errors
    /// When it names neither tool nor step, says too little about the error,
    /// does nothing sensible, or has a secret in it; when the file cannot be
    /// written.
    pub fn remember_fix(&self, new: NewFix, mask: Mask<'_>) -> Result<String, MemoryError> {
        let (fix, shared) = self.new_fix(new, mask)?;
        let id = fix.id.clone();
        self.keep_fix(fix, shared, None)?;
        Ok(id)
    }

    /// What memory takes in to remember a fix, and the fix's full id.
    ///
    /// # Errors
    /// As [`remember_fix`](Self::remember_fix), but nothing is written.
    pub fn fix_lesson(&self, new: NewFix, mask: Mask<'_>) -> Result<(String, Lesson), MemoryError> {
        let (fix, shared) = self.new_fix(new, mask)?;
        Ok((fix.id.clone(), Lesson::Fix { fix: Box::new(fix), shared }))
    }

    /// The entry that a fix makes, and whether it is the project's.
    fn new_fix(&self, new: NewFix, mask: Mask<'_>) -> Result<(Fix, bool), MemoryError> {
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
        let (layer, project) = self.place(new.keep)?;
        self.writable(layer).may_change(FIXES)?;
        let mut fix = Fix {
            id: String::new(),
            written_id: None,
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
        if fix.from.kind == OriginKind::Person {
            // What a project's file says is not carried over unseen.
            let ours = |known: &Fix| layer == Layer::User || known.agreed.is_some();
            let here = self.fixes().into_iter().filter(|known| known.layer == layer);
            let before = here.map(|known| known.value).find(|known| replaces(&fix, known));
            if let Some(known) = before.filter(ours) {
                fix.take_over(&known);
            }
        }
        fix.id = fix.content_id();
        Ok((fix, layer == Layer::Project))
    }

    /// Writes a fix, and that a person who said it agrees to it.
    pub(super) fn keep_fix(
        &self,
        fix: Fix,
        shared: bool,
        once: Option<Once<'_>>,
    ) -> Result<(), MemoryError> {
        let layer = if shared { Layer::Project } else { Layer::User };
        let not_found = || {
            MemoryError::refused(
                "there is no project to share it with",
                "work below a directory with `aye.toml`",
            )
        };
        let documents = self.documents(layer).ok_or_else(not_found)?;
        if fix.from.kind != OriginKind::Person {
            return self.propose(documents, fix, once);
        }
        let mut gone = Vec::new();
        change_list_once(documents, FIXES, "fixes", once, |fixes: &mut Vec<Fix>| {
            let replaced = fixes.iter().filter(|known| replaces(&fix, known));
            gone = replaced.map(Fix::content_id).filter(|id| *id != fix.id).collect();
            fixes.retain(|known| !replaces(&fix, known) && known.content_id() != fix.id);
            fixes.push(fix.clone());
            ((), true)
        })?;
        if once.is_some_and(|once| !once.is_pending()) {
            return Ok(());
        }
        // Writing these twice is the same as writing them once.
        self.withdraw_agreement(&gone)?;
        self.note_agreement(layer, &fix, &fix.from.by, fix.from.at)
    }

    /// Keeps what an assistant or a skill proposes. It changes nothing that is there, not even
    /// what the same fix says of itself; but what a skill says in words replaces what it said
    /// before, unless a person agreed to that.
    fn propose(
        &self,
        documents: &dyn Documents,
        fix: Fix,
        once: Option<Once<'_>>,
    ) -> Result<(), MemoryError> {
        let agreed = self.fixes().into_iter().filter(|fix| fix.value.agreed.is_some());
        let agreed: Vec<String> = agreed.map(|fix| fix.value.id).collect();
        change_list_once(documents, FIXES, "fixes", once, |fixes: &mut Vec<Fix>| {
            let known = fixes.iter().any(|known| known.content_id() == fix.id);
            if !known {
                fixes.retain(|known| {
                    !says_anew(&fix, known) || agreed.contains(&known.content_id())
                });
                fixes.push(fix);
            }
            ((), !known)
        })
        .map(drop)
    }

    /// Counts how a fix did; whether it is suspended because of that.
    pub(super) fn count_fix(
        &self,
        id: &str,
        worked: bool,
        now: Timestamp,
        once: Option<Once<'_>>,
    ) -> Result<bool, MemoryError> {
        let count = |fix: &mut Fix| match worked {
            true => fix.worked(now),
            false => fix.did_not_work(now),
        };
        let counted = self.change_fix(id, once, count)?;
        Ok(!worked && counted.is_some_and(|fix| fix.suspended.is_some()))
    }

    /// A person agrees to exactly this fix, as it was shown: a proposal is
    /// used, a suspended fix is used again.
    ///
    /// # Errors
    /// When it is not what the file has any more, or a file cannot be written.
    pub fn agree_to_fix(
        &self,
        shown: &Placed<Fix>,
        by: &str,
        now: Timestamp,
    ) -> Result<(), MemoryError> {
        let fix = &shown.value;
        match self.find_fix(&fix.id) {
            Ok(there) if there.value.id == fix.id && there.layer == shown.layer => {}
            _ => return Err(MemoryError::Changed(self.short_id(&fix.id))),
        }
        if fix.suspended.is_some() || fix.failed > 0 {
            self.change_fix(&fix.id, None, Fix::reinstate)?;
        }
        self.note_agreement(shown.layer, fix, by, now)
    }

    /// Forgets a fix, and that someone agreed to it.
    pub(super) fn forget_fix(&self, fix: &Placed<Fix>) -> Result<(), MemoryError> {
        let id = &fix.value.id;
        let not_found = || MemoryError::NotFound(id.clone());
        let documents = self.documents(fix.layer).ok_or_else(not_found)?;
        change_list(documents, FIXES, "fixes", |fixes: &mut Vec<Fix>| {
            let before = fixes.len();
            fixes.retain(|known| known.content_id() != *id);
            let gone = fixes.len() < before;
            ((), gone)
        })?;
        self.withdraw_agreement(std::slice::from_ref(id))
    }

    /// Changes a fix; nothing if its file has taken the lesson in before.
    fn change_fix(
        &self,
        name: &str,
        once: Option<Once<'_>>,
        change: impl FnOnce(&mut Fix),
    ) -> Result<Option<Fix>, MemoryError> {
        let found = self.find_fix(name)?;
        let not_found = || MemoryError::NotFound(name.to_owned());
        let documents = self.documents(found.layer).ok_or_else(not_found)?;
        let id = found.value.id;
        let changed = change_list_once(documents, FIXES, "fixes", once, |fixes: &mut Vec<Fix>| {
            let found = fixes.iter_mut().find(|fix| fix.content_id() == id).map(|fix| {
                change(fix);
                fix.clone()
            });
            let is_there = found.is_some();
            (found, is_there)
        })?;
        match changed {
            Some(None) => Err(not_found()),
            Some(fix) => Ok(fix),
            None => Ok(None),
        }
    }
}

/// Whether a person who says this has changed their mind about that.
fn replaces(new: &Fix, known: &Fix) -> bool {
    known.from.kind == OriginKind::Person && is_about_the_same(new, known)
}

/// Whether a skill says this in place of what it said itself in another run, in words.
fn says_anew(new: &Fix, known: &Fix) -> bool {
    let of_run = |fix: &Fix| fix.from.kind == OriginKind::Skill && fix.from.run.is_some();
    let words = |fix: &Fix| fix.change.is_empty() && of_run(fix);
    words(new)
        && words(known)
        && new.from.by == known.from.by
        && new.from.other.get(PROPOSED) == known.from.other.get(PROPOSED)
        && is_about_the_same(new, known)
}

fn is_about_the_same(new: &Fix, known: &Fix) -> bool {
    let plain = |fix: &Fix| FixMatch { other: Map::new(), ..fix.matches.clone() };
    known.project == new.project && plain(known) == plain(new)
}

impl Fix {
    /// What is known about the fix before it, and what is written in it.
    fn take_over(&mut self, known: &Self) {
        self.matches.other = known.matches.other.clone();
        self.change.other = known.change.other.clone();
        if known.change == self.change {
            (self.verified, self.last_success) = (known.verified, known.last_success);
        }
        self.max_uses = known.max_uses;
        self.other = known.other.clone();
    }
}
