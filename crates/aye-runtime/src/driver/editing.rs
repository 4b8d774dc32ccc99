//! Changing what a failed step is given, in an editor.
//!
//! "Retry with changes" opens the arguments in `$VISUAL` or `$EDITOR`. What
//! differs afterwards is shown, and only tried when someone says so. The
//! editor is a child like any other: everything else continues meanwhile.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use aye_core::effect::Effect;
use aye_core::id::QuestionId;
use aye_core::input::{Input, Request};
use aye_core::question::{Answer, Edits, FixScope, Offer, Purpose, Question};
use aye_core::skill::{AskKind, ChoiceAction};
use aye_process::{Exit, Spec};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::fmt::escape_control_line;
use crate::memory::emit;

use super::drive::Driver;
use super::lane::{LaneId, Work};

/// Changes that someone made and has not agreed to yet.
pub(super) struct Editing {
    /// The question that they answer.
    pub(super) id: QuestionId,
    /// Where they were made.
    pub(super) prompter: usize,
    /// What is asked about them.
    pub(super) consent: Box<Question>,
    edits: Edits,
    answer: Answer,
}

/// A file in someone's editor.
pub(super) struct Opened {
    path: PathBuf,
    before: Map<String, Value>,
    question: Box<Question>,
    answer: Answer,
    prompter: usize,
}

impl Opened {
    /// Whether the changes would answer what a lane wants to know now.
    pub(super) fn answers(&self, wants: &Effect) -> bool {
        matches!(wants, Effect::Ask(question) if question.id == self.question.id)
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // Arguments are nobody's business once they are read.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Driver<'_> {
    /// Someone wants to change what the step is given.
    pub(super) fn edit(
        &mut self,
        id: LaneId,
        question: &Question,
        answer: Answer,
        prompter: usize,
    ) -> Result<(), Error> {
        self.questions.replace(prompter, &question.id);
        let given = self.lane(id).machine.arguments(&question.step, &self.world());
        let Some(before) = given else { return self.not_edited(id, "there is nothing to change") };
        let path = match self.write_down(question, &before) {
            Ok(path) => path,
            Err(error) => {
                return self.not_edited(id, &format!("the arguments cannot be opened: {error}"));
            }
        };
        let question = Box::new(question.clone());
        let opened = Opened { path: path.clone(), before, question, answer, prompter };
        let mut words = self.editor();
        words.push(path.to_string_lossy().into_owned());
        let mut spec = Spec::new(&words[0]);
        spec.args = words[1..].iter().map(Into::into).collect();
        spec.interactive = true;
        // A person waits for it; the steps do not.
        spec.aside = true;
        spec.cwd = Some(PathBuf::from(&self.lane(id).machine.state().started.workspace));
        self.parts.report.step_begins(id, true);
        match self.processes.start(id, spec) {
            Ok(()) => {
                self.lane_mut(id).work = Work::Editing(Box::new(opened));
                Ok(())
            }
            Err(error) => {
                self.parts.report.step_ends(id);
                let hint = "set EDITOR, or use `aye answer ID edit --set NAME=VALUE`";
                self.not_edited(id, &format!("the editor cannot be started: {error}; {hint}"))
            }
        }
    }

    /// The editor has ended.
    pub(super) fn edited(&mut self, id: LaneId, opened: &Opened, exit: &Exit) -> Result<(), Error> {
        if !opened.answers(&self.lane(id).machine.next_effect()) {
            // What waited for the editor begins.
            self.lanes.look_at(id);
            return self.not_edited(id, "the question was closed meanwhile; nothing was changed");
        }
        if exit.exit_code() != 0 {
            return self.not_edited(id, "the editor failed; nothing was changed");
        }
        let changed = std::fs::read_to_string(&opened.path)
            .map_err(|error| error.to_string())
            .and_then(|text| read_back(&text, &opened.before));
        let edits = match changed {
            Ok(Some(edits)) => edits,
            Ok(None) => return self.not_edited(id, "nothing was changed"),
            Err(why) => return self.not_edited(id, &why),
        };
        let consent = Box::new(consent(&opened.question, &opened.before, &edits));
        let (about, answer) = (opened.question.id.clone(), opened.answer.clone());
        let prompter = opened.prompter;
        self.questions.editing = Some(Editing { id: about, prompter, consent, edits, answer });
        Ok(())
    }

    /// Someone said what becomes of their changes.
    pub(super) fn consented(
        &mut self,
        id: LaneId,
        question: &Question,
        choice: &str,
    ) -> Result<(), Error> {
        let Some(editing) = self.questions.editing.take() else { return Ok(()) };
        let Editing { mut edits, answer, prompter, .. } = editing;
        self.questions.replace(prompter, &question.id);
        edits.remember = match choice {
            "try" => None,
            "step" => Some(FixScope::Step),
            "tool" => Some(FixScope::Tool),
            "edit" => return self.edit(id, question, answer, prompter),
            // The question that was asked before is asked again.
            _ => return Ok(()),
        };
        let answer = Answer { edits: Some(edits), ..answer };
        let request = Request::answer(question.id.clone(), answer);
        if let Some(refusal) = self.apply(id, Input::Request(request), None)? {
            return self.not_edited(id, &refusal.to_string());
        }
        Ok(())
    }

    /// Nothing comes of it; the question is asked again.
    fn not_edited(&mut self, id: LaneId, why: &str) -> Result<(), Error> {
        self.note(id, &[escape_control_line(why)]);
        Ok(())
    }

    /// `$VISUAL`, `$EDITOR`, or what is always there.
    fn editor(&self) -> Vec<String> {
        let names = &self.parts.names;
        let named = ["VISUAL", "EDITOR"]
            .into_iter()
            .find_map(|name| names.env(name).filter(|words| !words.trim().is_empty()));
        let words = named.unwrap_or_else(|| "vi".to_owned());
        words.split_whitespace().map(str::to_owned).collect()
    }

    /// The arguments in a file that only we can read.
    fn write_down(
        &self,
        question: &Question,
        given: &Map<String, Value>,
    ) -> std::io::Result<PathBuf> {
        let (text, kind) = match whole(given) {
            Some((key, text)) => (text.to_owned(), if key == "code" { "py" } else { "sh" }),
            None => {
                let head = format!(
                    "# What `{}` is given. Change it, save, and leave the editor.\n\
                     # Lines that you remove are left out. Secrets are not shown: leave them as \
                     they are.\n",
                    question.step
                );
                (head + &emit(&Value::Object(given.clone())), "yaml")
            }
        };
        let directory = self.parts.home.join("edits");
        std::fs::create_dir_all(&directory)?;
        let path = directory.join(format!("{}.{kind}", question.id));
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
        file.write_all(text.as_bytes())?;
        Ok(path)
    }
}

/// A script or a block: a text, not a mapping.
fn whole(given: &Map<String, Value>) -> Option<(&str, &str)> {
    let (key, value) = given.iter().next()?;
    let text = value.as_str()?;
    matches!(key.as_str(), "code" | "script").then_some((key.as_str(), text))
}

/// What someone changed; nothing if that is nothing.
fn read_back(text: &str, before: &Map<String, Value>) -> Result<Option<Edits>, String> {
    if let Some((key, old)) = whole(before) {
        let changed = text.trim_end() != old.trim_end();
        let set = Map::from_iter([(key.to_owned(), Value::from(text))]);
        return Ok(changed.then(|| Edits { set, ..Edits::default() }));
    }
    let after = match crate::memory::read_mapping(text)? {
        Value::Object(map) => map,
        Value::Null => return Ok(None),
        _ => return Err("that is not a mapping of names to values; nothing was changed".to_owned()),
    };
    let mut set = Map::new();
    for (name, value) in &after {
        if before.get(name) != Some(value) {
            set.insert(name.clone(), value.clone());
        }
    }
    let left_out = before.keys().any(|name| !after.contains_key(name));
    if left_out {
        // What is hidden cannot be written again; so nothing may be left out beside it.
        return Ok(Some(Edits { set: after, only: true, remember: None }));
    }
    Ok((!set.is_empty()).then(|| Edits { set, ..Edits::default() }))
}

/// What is asked about changes before they are tried.
fn consent(question: &Question, before: &Map<String, Value>, edits: &Edits) -> Question {
    let show = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut after = if edits.only { Map::new() } else { before.clone() };
    after.extend(edits.set.clone());
    let lines = aye_core::text::changes(before, &after, show);
    let offer = |value: &str, label: &str, description: &str, action| Offer {
        value: value.to_owned(),
        label: label.to_owned(),
        description: Some(description.to_owned()),
        action,
    };
    Question {
        purpose: Purpose::Recover,
        step: question.step.clone(),
        title: "Try this?".to_owned(),
        options: vec![
            offer("try", "Try it", "this once", ChoiceAction::Proceed),
            offer(
                "step",
                "Try it, and remember it for this step",
                "if it works, Aye does it automatically the next time this error comes",
                ChoiceAction::Proceed,
            ),
            offer(
                "tool",
                "Try it, and remember it wherever this is used",
                "for every step that uses the same tool or program",
                ChoiceAction::Proceed,
            ),
            offer("edit", "Edit again", "", ChoiceAction::Skip),
            offer("back", "Back", "nothing is changed", ChoiceAction::Cancel),
        ],
        person_only: question.person_only.clone(),
        ..Question::new(question.id.clone(), AskKind::Choose, lines.join("\n"))
    }
}
