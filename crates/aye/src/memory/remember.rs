//! Writing things down.

use std::path::PathBuf;

use aye_core::diagnostic::visible;
use aye_core::digest::digest;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::book;
use super::error::{MemoryError, Problem};
use super::failure::{self, Ending, Failure};
use super::fix::{Change, Fix, FixMatch, Origin, OriginKind};
use super::memory::{CONFIRMATIONS, FAILURES, FIXES, Memory, USAGE};
use super::mistake::mistake;
use super::preference::{self, Allowed, Chosen, EnvironmentRule, Preference, Scope, is_production};
use super::query::Layer;
use super::telling::{pattern_of, telling_line};
use super::usage::{self, Sighting, UsagePattern, shapes};
use super::words::Pattern;

/// Hides secrets in a text.
pub type Mask<'a> = &'a dyn Fn(&str) -> String;

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
    /// What to do.
    pub change: Change,
    /// In words.
    pub about: Option<String>,
    /// Where it comes from. What an assistant proposes waits for a person.
    pub from: Origin,
    /// Where it is kept.
    pub keep: Keep,
}

/// Where something new is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keep {
    /// In the project's memory if it has one, else in the user's.
    #[default]
    Auto,
    /// In the project's memory, for everybody who works on it.
    Shared,
    /// In the user's memory, for every project.
    Everywhere,
}

/// What an error is recognised by.
#[derive(Debug, Clone)]
pub enum ErrorText {
    /// An error as it came: its telling line, what varies replaced.
    Seen(String),
    /// A pattern as somebody wrote it.
    Pattern(String),
}

/// An answer to be remembered.
#[derive(Debug, Clone)]
pub struct NewChoice<'a> {
    /// The skill that asked.
    pub skill: &'a str,
    /// The step that asked.
    pub step: &'a str,
    /// `--environment`.
    pub environment: Option<&'a str>,
    /// The error, for `scope: error`.
    pub error: Option<&'a str>,
    /// See [`super::question_digest`].
    pub digest: &'a str,
    /// The value that was chosen.
    pub choice: &'a str,
    /// The values that were offered.
    pub offered: &'a [&'a str],
    /// How far it reaches.
    pub scope: Scope,
    /// Whether it may be remembered at all.
    pub allowed: Allowed,
    /// Who.
    pub by: &'a str,
    /// For how long; 30 days if nothing is said.
    pub lasts: Option<SignedDuration>,
    /// Now.
    pub now: Timestamp,
}

/// A failure that was seen.
#[derive(Debug, Clone)]
pub struct Seen<'a> {
    /// The tool or program.
    pub tool: &'a str,
    /// Its arguments, by name or in order.
    pub args: &'a Value,
    /// What went wrong.
    pub error: &'a str,
    /// The skill.
    pub skill: Option<&'a str>,
    /// The step.
    pub step: Option<&'a str>,
    /// The run.
    pub run: Option<&'a str>,
    /// What became of it. From what was swallowed or recovered is learned.
    pub ending: Ending,
    /// What helped: the id of a fix, or words.
    pub fix: Option<&'a str>,
    /// Now.
    pub now: Timestamp,
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
            other: Map::new(),
        };
        let written = serde_json::to_value(&new.change).unwrap_or_default();
        if masked(&written, mask) != written {
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
        change_list(root, FIXES, "fixes", |fixes: &mut Vec<Fix>| {
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
        let root = self.directory(layer).ok_or_else(not_found)?;
        let changed = change_list(root.to_path_buf(), FIXES, "fixes", |fixes: &mut Vec<Fix>| {
            let found = fixes.iter_mut().find(|fix| fix.id == id).map(|fix| {
                change(fix);
                fix.clone()
            });
            let is_there = found.is_some();
            (found, is_there)
        })?;
        changed.ok_or_else(not_found)
    }

    /// Keeps an answer and returns what was kept. It is the user's own: never
    /// shared.
    ///
    /// # Errors
    /// When it must not be remembered, was not offered, or the file cannot be
    /// written.
    pub fn remember_choice(
        &self,
        new: &NewChoice<'_>,
        mask: Mask<'_>,
    ) -> Result<Preference, MemoryError> {
        if let Some(obstacle) = new.allowed.obstacle() {
            let message = format!("the answer cannot be remembered: {obstacle}");
            return Err(MemoryError::refused(message, "it is asked each time"));
        }
        if !new.offered.contains(&new.choice) {
            let message = format!("`{}` is not one of the options", new.choice);
            return Err(MemoryError::refused(message, "remember what was chosen"));
        }
        if let Some(environment) = new.environment.filter(|name| is_production(name))
            && self.environment_rules().get(environment) != Some(&EnvironmentRule::AutoProceed)
        {
            return Err(MemoryError::refused(
                format!("`{environment}` is always asked about"),
                format!(
                    "`environments:` with `{environment}: auto_proceed` in {} allows it",
                    self.user.join(CONFIRMATIONS).display()
                ),
            ));
        }
        let error = match (new.scope, new.error) {
            (Scope::Error, Some(error)) => {
                Some(pattern_of(&visible_lines(&mask(error)))?.as_str().to_owned())
            }
            (Scope::Error, None) => {
                let message = "there is no error to remember the answer for";
                return Err(MemoryError::refused(message, "take `step`, `skill` or `always`"));
            }
            (Scope::Step | Scope::Skill | Scope::Always, _) => None,
        };
        let project = self.project.as_ref().map(|project| project.name.clone());
        // A step has one answer; further reaching ones belong to a question.
        let about = match new.scope {
            Scope::Error => [new.skill, new.step, error.as_deref().unwrap_or_default()],
            Scope::Step => [new.skill, new.step, ""],
            Scope::Skill => [new.skill, new.digest, ""],
            Scope::Always => [new.digest, "", ""],
        };
        let environment = new.environment.unwrap_or_default();
        let project_name = project.as_deref().unwrap_or_default();
        let parts = [new.scope.word(), about[0], about[1], about[2], environment, project_name];
        let id = format!("pref-{}", &digest(&parts.map(str::as_bytes))[..8]);
        let lasts = new.lasts.unwrap_or(preference::KEPT);
        let mut kept = Preference {
            id,
            choice: new.choice.to_owned(),
            scope: new.scope,
            skill: new.skill.to_owned(),
            step: new.step.to_owned(),
            environment: new.environment.map(str::to_owned),
            error,
            digest: new.digest.to_owned(),
            by: new.by.to_owned(),
            said: new.now,
            expires: new.now.checked_add(lasts).unwrap_or(Timestamp::MAX),
            environments: Default::default(),
            history: Vec::new(),
            project,
            other: Map::new(),
        };
        change_list(
            self.user.clone(),
            CONFIRMATIONS,
            "preferences",
            |all: &mut Vec<Preference>| {
                // What ended long ago only fills the file.
                all.retain(|one| {
                    one.id == kept.id || new.now.duration_since(one.expires) < preference::KEPT
                });
                match all.iter_mut().find(|known| known.id == kept.id) {
                    Some(known) => {
                        kept.history = std::mem::take(&mut known.history);
                        kept.environments = std::mem::take(&mut known.environments);
                        kept.other = std::mem::take(&mut known.other);
                        kept.history.push(chosen(&kept));
                        let extra = kept.history.len().saturating_sub(preference::HISTORY);
                        kept.history.drain(..extra);
                        *known = kept.clone();
                    }
                    None => {
                        kept.history.push(chosen(&kept));
                        all.push(kept.clone());
                    }
                }
                ((), true)
            },
        )?;
        Ok(kept)
    }

    /// Keeps a failure among the last 100 and, if it was swallowed or
    /// recovered and is somebody's mistake, learns from it; the name of the
    /// pattern then.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn saw_failure(
        &self,
        seen: &Seen<'_>,
        mask: Mask<'_>,
    ) -> Result<Option<String>, MemoryError> {
        let error = mask(seen.error);
        let told = line(telling_line(&error), &str::to_owned);
        let failure = Failure {
            at: seen.now,
            tool: seen.tool.to_owned(),
            skill: seen.skill.map(str::to_owned),
            step: seen.step.map(str::to_owned),
            run: seen.run.map(str::to_owned),
            error: told[..told.floor_char_boundary(failure::SNIPPET)].to_owned(),
            ending: seen.ending,
            fix: seen.fix.map(|fix| line(fix, mask)),
            other: Map::new(),
        };
        change_list(self.user.clone(), FAILURES, "failures", |all: &mut Vec<Failure>| {
            all.push(failure);
            let extra = all.len().saturating_sub(failure::KEPT);
            all.drain(..extra);
            ((), true)
        })?;
        let learnable = match seen.ending {
            Ending::Swallowed | Ending::Recovered => mistake(&error),
            Ending::Failed | Ending::Healed => None,
        };
        let Some(mistake) = learnable else { return Ok(None) };
        let call = shapes(seen.args, mask);
        let blurred = super::blur::blur(&told);
        let sighting = Sighting {
            tool: seen.tool.to_owned(),
            mistake,
            error: blurred[..blurred.floor_char_boundary(failure::SNIPPET)].to_owned(),
            parameter: usage::parameter(&error, &call),
            call,
            advice: match seen.ending {
                Ending::Recovered => seen.fix.map(|fix| line(fix, mask)),
                Ending::Failed | Ending::Swallowed | Ending::Healed => None,
            },
            at: seen.now,
        };
        self.change_usage(|patterns| {
            let id = usage::learn(patterns, sighting);
            patterns.retain(|pattern| pattern.id == id || usage::is_kept(pattern, seen.now));
            if patterns.len() > usage::MOST {
                patterns.sort_by(|one, other| {
                    other
                        .confidence(seen.now)
                        .total_cmp(&one.confidence(seen.now))
                        .then(other.last_seen.cmp(&one.last_seen))
                });
                patterns.truncate(usage::MOST);
            }
            (Some(id), true)
        })
    }

    /// A call went well. It is only noted where such calls have failed before,
    /// and it lowers nothing.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn saw_success(&self, tool: &str, args: &Value) -> Result<(), MemoryError> {
        if self.usage_about(tool, args).is_empty() {
            return Ok(());
        }
        let call = shapes(args, &str::to_owned);
        self.change_usage(|patterns| {
            let mut any = false;
            for pattern in patterns.iter_mut().filter(|pattern| pattern.is_about(tool, &call)) {
                pattern.successes += 1;
                any = true;
            }
            ((), any)
        })
    }

    /// A warning was wrong: somebody went on all the same, and it went well.
    ///
    /// # Errors
    /// When there is no such pattern, or the file cannot be written.
    pub fn warning_was_wrong(&self, id: &str) -> Result<(), MemoryError> {
        let found = self.change_usage(|patterns| {
            let found = patterns.iter_mut().find(|pattern| pattern.id == id);
            let is_there = found.is_some();
            if let Some(pattern) = found {
                pattern.wrong += 1;
            }
            (is_there, is_there)
        })?;
        if found { Ok(()) } else { Err(MemoryError::NotFound(id.to_owned())) }
    }

    /// Forgets a fix, a preference or a pattern of use.
    ///
    /// # Errors
    /// When there is none of that name, when people wrote it, or when the file
    /// cannot be written.
    pub fn forget(&self, id: &str) -> Result<(), MemoryError> {
        if let Some(issue) = self.issues().iter().find(|issue| issue.value.id == id) {
            return Err(MemoryError::refused(
                format!("`{id}` is written by people, and Aye does not change it"),
                format!("remove it from {}:{}", issue.file.display(), issue.line),
            ));
        }
        let lists = [(FIXES, "fixes"), (CONFIRMATIONS, "preferences"), (USAGE, "patterns")];
        for layer in [Layer::Project, Layer::User] {
            let Some(root) = self.directory(layer) else { continue };
            for (file, key) in lists.into_iter().filter(|(file, _)| root.join(file).is_file()) {
                let gone = change_list(root.to_path_buf(), file, key, |all: &mut Vec<Value>| {
                    let before = all.len();
                    all.retain(|entry| entry.get("id").and_then(Value::as_str) != Some(id));
                    let gone = all.len() < before;
                    (gone, gone)
                })?;
                if gone {
                    return Ok(());
                }
            }
        }
        Err(MemoryError::NotFound(id.to_owned()))
    }

    fn change_usage<R>(
        &self,
        change: impl FnOnce(&mut Vec<UsagePattern>) -> (R, bool),
    ) -> Result<R, MemoryError> {
        change_list(self.user.clone(), USAGE, "patterns", change)
    }

    /// The directory it is written below, and the project it is for where that
    /// does not say so.
    pub(super) fn place(&self, keep: Keep) -> Result<(PathBuf, Option<String>), MemoryError> {
        match (&self.project, keep) {
            (_, Keep::Everywhere) => Ok((self.user.clone(), None)),
            (Some(project), Keep::Shared) => Ok((project.memory.clone(), None)),
            (Some(project), Keep::Auto) if project.memory.is_dir() => {
                Ok((project.memory.clone(), None))
            }
            (None, Keep::Shared) => Err(MemoryError::refused(
                "there is no project to share it with",
                "leave it to your own memory, or work below a directory with `aye.toml`",
            )),
            (project, Keep::Auto) => {
                let name = project.as_ref().map(|project| project.name.clone());
                Ok((self.user.clone(), name))
            }
        }
    }
}

fn chosen(preference: &Preference) -> Chosen {
    Chosen {
        choice: preference.choice.clone(),
        at: preference.said,
        by: preference.by.clone(),
        environment: preference.environment.clone(),
        other: Map::new(),
    }
}

/// Changes the list at `key`. Entries that make no sense stay as they are.
fn change_list<T: Serialize + DeserializeOwned, R>(
    root: PathBuf,
    file: &str,
    key: &str,
    change: impl FnOnce(&mut Vec<T>) -> (R, bool),
) -> Result<R, MemoryError> {
    let path = root.join(file);
    book::change(&root, file, |map| {
        let list = match map.remove(key) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(list)) => list,
            Some(_) => {
                let message = format!("`{key}` should be a list");
                return Err(MemoryError::Unreadable(Problem { file: path, line: 1, message }));
            }
        };
        let mut entries = Vec::with_capacity(list.len());
        let mut written = Vec::new();
        for value in list {
            match serde_json::from_value(value.clone()) {
                Ok(entry) => entries.push(entry),
                Err(_) => written.push(value),
            }
        }
        let (result, changed) = change(&mut entries);
        let sound = entries.iter().filter_map(|entry| serde_json::to_value(entry).ok());
        written.extend(sound);
        map.insert(key.to_owned(), Value::Array(written));
        Ok((result, changed))
    })
}

/// A text on one line: secrets hidden, nothing in it that hides or steers.
pub(super) fn line(text: &str, mask: Mask<'_>) -> String {
    let text = mask(text);
    visible(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}

/// The lines of a text, nothing in them that hides or steers.
fn visible_lines(text: &str) -> String {
    text.lines().map(visible).collect::<Vec<_>>().join("\n")
}

/// The value with secrets hidden, everywhere in it.
fn masked(value: &Value, mask: Mask<'_>) -> Value {
    match value {
        Value::String(text) => mask(text).into(),
        Value::Array(list) => list.iter().map(|value| masked(value, mask)).collect(),
        Value::Object(map) => Value::Object(
            map.iter().map(|(key, value)| (key.clone(), masked(value, mask))).collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
