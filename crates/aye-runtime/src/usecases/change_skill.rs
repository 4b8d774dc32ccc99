//! Proposing a change to a skill's file.
//!
//! A proposal is a run of one step whose gate only a person answers: it is in
//! the inbox like any other question, on every prompter, and recorded like one.
//! The step writes the file, with the text that the person saw.

use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use aye_core::digest::digest;
use aye_core::id::RunId;
use aye_core::journal::State;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::compute::whole_diff;
use crate::dry_run;
use crate::error::Error;
use crate::replace::{refuse_links, replace};
use crate::runtime::Runtime;
use crate::skills::SkillFile;
use crate::store::RunRow;

use super::journal_reader::JournalReader;
use super::script_question::{as_name, literal};
use super::start::StartRequest;
use super::warning::Warning;

/// The word that makes Aye the program of a proposal's step.
pub const APPLY: &str = "apply-change";
/// What the name of a proposal's run begins with.
const PREFIX: &str = "change-";
/// The input that holds the change.
const CHANGE: &str = "change";
/// The one step of such a run.
const STEP: &str = "apply";
/// The longest diff, in bytes: more nobody reads before they agree.
const LONGEST_DIFF: usize = 64 << 10;
/// The longest reason, in characters: the diff says the rest.
const LONGEST_ABOUT: usize = 2000;
/// How many proposals may wait in one project.
const MOST_OPEN: usize = 10;

/// A change that someone proposes.
pub struct ChangeRequest {
    /// The skill whose file is to change.
    pub skill: String,
    /// A part of the file that occurs in it once.
    pub old: String,
    /// What comes in its place.
    pub new: String,
    /// Why.
    pub about: String,
    /// Who proposes it.
    pub by: String,
}

/// A file as it was when the change was proposed, and as it is to be.
#[derive(Debug, Serialize, Deserialize)]
pub struct SkillChange {
    /// The skill, as it was named.
    pub skill: String,
    /// Its file, below the directory of the run.
    pub file: String,
    /// The digest of its text.
    before: String,
    after: String,
}

impl SkillChange {
    /// The change that a proposal's run was started with.
    pub fn of(state: &State) -> Option<Self> {
        serde_json::from_str(state.started.inputs.get(CHANGE)?.as_str()?).ok()
    }
}

impl Runtime {
    /// Proposes a change: starts the run that asks a person for it.
    pub fn propose_change(
        &self,
        request: &ChangeRequest,
        warn: &mut dyn FnMut(Warning),
    ) -> Result<RunId, Error> {
        self.must_be_trusted()?;
        let (path, name) = self.library().find(&request.skill)?;
        let file = self.below_here(&path)?;
        let before = read(&self.directory.join(&file))?;
        let after = replaced(&before, &request.old, &request.new)?;
        self.must_check(&file, &before, &after, name.as_deref())?;
        let changed = whole_diff(&before, &after);
        if !changed.lines().any(|line| line.starts_with(['-', '+'])) {
            let hint = "`new` has to differ from `old` in more than its last line break";
            return Err(Error::usage("the change would be invisible", hint));
        }
        if changed.len() > LONGEST_DIFF {
            let size = changed.len().div_ceil(1 << 10);
            let message = format!("the diff has {size} KiB: that is too long to review");
            let hint = format!("propose at most {} KiB at a time", LONGEST_DIFF >> 10);
            return Err(Error::usage(message, hint));
        }
        if request.about.chars().count() > LONGEST_ABOUT {
            let message = format!("`about` is longer than {LONGEST_ABOUT} characters");
            return Err(Error::usage(message, "say why in a few sentences; the diff says what"));
        }
        self.must_have_room()?;
        let program = self.background.program.as_ref().and_then(|path| path.to_str());
        let program = program.ok_or_else(|| Error::no_program("write the file"))?;
        let policy = self.granted().policy.for_run(&self.directory);
        if let Some(why) = dry_run::refusal(&policy, &self.directory, program, None) {
            let message = format!("the policy here does not let Aye write the file: {why}");
            let hint = Some("show the change to the person instead".to_owned());
            return Err(Error::Refused { message, hint });
        }
        let change = SkillChange {
            skill: request.skill.clone(),
            file: file.display().to_string(),
            before: digest(&[before.as_bytes()]),
            after,
        };
        let text = skill_text(program, &change, request, &changed);
        let change = serde_json::to_string(&change)
            .map_err(|source| Error::Json { what: "the change", source })?;
        let inputs = IndexMap::from([(CHANGE.to_owned(), change.into())]);
        let start = StartRequest::of_text(&run_name(&request.skill), text, inputs, self);
        self.start_text_detached(start, warn)
    }

    /// Writes a change that a person agreed to; says which file. What someone
    /// else wrote there meanwhile is not undone.
    pub fn apply_change(&self, change: &SkillChange) -> Result<PathBuf, Error> {
        let file = self.below_here(Path::new(&change.file))?;
        let path = self.directory.join(&file);
        let text = read(&path)?;
        if text == change.after {
            return Ok(file);
        }
        if digest(&[text.as_bytes()]) != change.before {
            return Err(Error::Refused {
                message: format!("`{}` has changed since this was proposed", file.display()),
                hint: Some("propose the change again".to_owned()),
            });
        }
        self.must_check(&file, &text, &change.after, None)?;
        let failed = Error::file("write", &path);
        // A file that may not be written is not replaced either.
        std::fs::OpenOptions::new().append(true).open(&path).map_err(failed)?;
        replace(&path, &change.after, 0o666).map_err(failed)?;
        Ok(file)
    }

    /// The file, seen from the directory that it has to be in, links aside.
    fn below_here(&self, path: &Path) -> Result<PathBuf, Error> {
        let file = path.strip_prefix(&self.directory).unwrap_or(path);
        if !file.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
            let message = format!("`{}` is not a file of this project", path.display());
            return Err(Error::Refused { message, hint: None });
        }
        refuse_links(&self.directory, &self.directory.join(file))?;
        Ok(file.to_path_buf())
    }

    /// The new text has no errors that the old one had not, and none in the
    /// skill that is changed.
    fn must_check(
        &self,
        file: &Path,
        before: &str,
        after: &str,
        name: Option<&str>,
    ) -> Result<(), Error> {
        let read = |text: &str| {
            let read = SkillFile::from_text(file.to_path_buf(), text.to_owned());
            read.or_lenient(self.settings.lenient)
        };
        let errors =
            |file: &SkillFile| file.diagnostics.iter().filter(|one| one.is_error()).count();
        let (old, new) = (errors(&read(before)), errors(&read(after)));
        let changed = read(after).only(name);
        let worse = new > old || (name.is_some() || new == old) && changed.has_errors();
        match worse {
            false => Ok(()),
            true => {
                let message = "with this change the file would have errors";
                Err(Error::InvalidSkill(changed.invalid(message)))
            }
        }
    }

    fn must_have_room(&self) -> Result<(), Error> {
        let Some(journal) = self.journal_if_any()? else { return Ok(()) };
        if journal.open_changes(&self.directory)?.len() < MOST_OPEN {
            return Ok(());
        }
        Err(Error::Refused {
            message: format!("{MOST_OPEN} proposed changes wait for a person already"),
            hint: Some("ask the person to look at their inbox first".to_owned()),
        })
    }
}

impl JournalReader {
    /// The proposals of the project here that nobody has answered: the run of
    /// each, and the skill it is about.
    pub fn open_changes(&self, directory: &Path) -> Result<Vec<(RunRow, String)>, Error> {
        let mut found = Vec::new();
        for open in self.open_questions()? {
            if is_change(&open.row.skill)
                && let Some(run) = self.run(&open.row.run)?
                && run.file.is_empty()
                && Path::new(&run.workspace) == directory
                && let Some(change) = SkillChange::of(&self.state(&run.id)?)
            {
                found.push((run, change.skill));
            }
        }
        Ok(found)
    }
}

/// Reads the change that the step of a proposal is to write.
pub fn receive_change() -> Result<SkillChange, Error> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(Error::Input)?;
    serde_json::from_str(&text).map_err(|_| {
        Error::usage("`aye apply-change` is internal", "`aye patch SKILL` shows what is proposed")
    })
}

/// Whether a run of this name proposes a change, which someone reads as a whole.
pub fn is_change(skill: &str) -> bool {
    skill.starts_with(PREFIX)
}

fn run_name(skill: &str) -> String {
    format!("{PREFIX}{}", as_name(skill))
}

fn read(path: &Path) -> Result<String, Error> {
    let failed = Error::file("read", path);
    std::fs::read_to_string(path).map_err(failed)
}

/// The text with the one place where `old` stands changed.
fn replaced(text: &str, old: &str, new: &str) -> Result<String, Error> {
    if let Some(hidden) = new.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        let message = format!("the new text holds the control character {hidden:?}");
        return Err(Error::usage(message, "write it as an escape of YAML"));
    }
    let exact = "copy `old` from the file exactly, with its indentation";
    match text.matches(old).count() {
        _ if old.is_empty() => Err(Error::usage("`old` is empty", exact)),
        0 => Err(Error::usage("`old` is not in the file", exact)),
        1 => Ok(text.replacen(old, new, 1)),
        several => Err(Error::usage(
            format!("`old` is in the file {several} times"),
            "make it longer, so that it names one place",
        )),
    }
}

/// The skill of a proposal's run, as JSON, which is YAML.
fn skill_text(program: &str, change: &SkillChange, request: &ChangeRequest, diff: &str) -> String {
    // Whatever is quoted cannot be taken for a line of ours.
    let quoted =
        |text: &str| -> String { text.lines().map(|line| format!("| {line}\n")).collect() };
    // A gate's message is short; the title has the whole path.
    let short = |text: &str| -> String { text.chars().take(200).collect() };
    let (by, file) = (short(&request.by), short(&change.file));
    let message = format!("{by} proposes this change of `{file}`:");
    let details = format!("{}\nThe change:\n{}", quoted(&request.about), quoted(diff));
    let gate = json!({
        "title": literal(&format!("Change {}", change.file)),
        "message": literal(&message), "details": literal(&details),
        "by": "human", "timeout": "0", "override": "never",
    });
    let step = json!({
        "name": STEP, "description": "Write the change to the file",
        "command": literal(program), "args": [APPLY], "stdin": "{{ inputs.change }}",
        "idempotent": true, "on_error": "fail", "confirmation": gate,
    });
    let skill = json!({
        "name": run_name(&change.skill),
        "description": "A change of a skill that was proposed",
        "inputs": [{ "name": CHANGE, "type": "string", "required": true }],
        "steps": [step],
    });
    format!("{skill:#}\n")
}
