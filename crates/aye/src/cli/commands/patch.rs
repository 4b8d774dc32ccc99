//! `aye patch`: a change that fixed a run, or one that an assistant proposes,
//! written to the skill's file.

use std::path::PathBuf;
use std::time::Duration;

use aye_core::flow::Flow;
use aye_core::journal::{State, StepStatus};
use aye_core::skill::{Action, Step, Template, patch_block};
use clap::Args;
use serde_json::json;

use crate::cli::{Context, say};
use crate::paint::{escape_control_line, escape_control_lines};
use aye_runtime::compute::diff;
use aye_runtime::error::Error;
use aye_runtime::replace::{refuse_links, replace};
use aye_runtime::skills::{SkillFile, skill_name};
use aye_runtime::usecases::{JournalReader, RunRow, RunStatus, SkillChange, receive_change};

use super::answer::{self, AnswerArgs};
use super::confirm::says_yes;
use super::output::{print_json, print_line, tell_people};

const EXAMPLES: &str = "\
Examples:
  aye patch last            write the changes of the last run into the file
  aye patch release         review the change that an assistant proposes
  aye patch k3f9 plan --yes write one step's change without asking";

// Options of `aye patch`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct PatchArgs {
    /// A run's id, the beginning of one, or last; or a skill with a proposed change
    pub run: String,
    /// Only this step [default: every changed step]
    pub step: Option<String>,
    /// Write it without asking
    #[arg(short, long)]
    pub yes: bool,
}

pub(super) fn run(args: &PatchArgs, context: &Context) -> Result<u8, Error> {
    let journal = context.journal()?;
    if let Some(code) = proposed(args, &journal, context)? {
        return Ok(code);
    }
    let row = journal.find_run(&args.run)?;
    let state = journal.state(&row.id)?;
    let wanted = |step: &str| args.step.as_deref().is_none_or(|wanted| wanted == step);
    let changed: Vec<FixedBlock> =
        fixed(&state).into_iter().filter(|one| wanted(&one.step)).collect();
    if changed.is_empty() {
        return Err(Error::Refused {
            message: format!("run `{}` has no changed block that succeeded", row.id),
            hint: Some(format!("`aye show {}` shows what happened", row.id)),
        });
    }
    let mut code = 0;
    let mut done = Vec::new();
    for one in &changed {
        let patch = Patch::of(&state, one, &journal, context)?;
        if !context.json {
            say(&format!("{}\n{}\n", patch.path.display(), escape_control_lines(&patch.diff())));
        }
        if args.yes || agreed("Write this to the file?", context)?.ok_or_else(nobody)? {
            patch.write()?;
            if !context.json {
                print_line(&format!("changed `{}` in {}", one.step, patch.path.display()))?;
            }
            done.push(json!({ "step": one.step, "file": patch.path, "diff": patch.diff() }));
        } else {
            code = 5;
        }
    }
    if context.json {
        print_json(&done)?;
    }
    Ok(code)
}

/// `aye apply-change`: the step of a proposal that a person agreed to.
pub(super) fn apply(context: &Context) -> Result<u8, Error> {
    let change = receive_change()?;
    let file = context.apply_change(&change)?;
    print_line(&format!("changed {}", escape_control_line(&file.display().to_string())))?;
    Ok(0)
}

/// Asks about a change that is proposed for a skill, or by this run, and waits
/// until it is written; nothing if none is.
fn proposed(
    args: &PatchArgs,
    journal: &JournalReader,
    context: &Context,
) -> Result<Option<u8>, Error> {
    let open = journal.open_changes(&context.directory)?;
    let named = |(run, skill): &&(RunRow, String)| {
        *skill == args.run || (args.run.len() > 3 && run.id.as_str().starts_with(&args.run))
    };
    let found: Vec<&(RunRow, String)> = open.iter().filter(named).collect();
    let [(run, _)] = found[..] else {
        return match found.len() {
            0 => Ok(None),
            several => Err(Error::usage(
                format!("{several} changes are proposed for `{}`", args.run),
                format!("name one by its run: {}", run_ids(&found)),
            )),
        };
    };
    let Some(asked) = journal.open_questions()?.into_iter().find(|open| open.row.run == run.id)
    else {
        return Ok(None);
    };
    let mut answering = AnswerArgs::asking(asked.row.id.as_str());
    answering.choice = args.yes.then(|| "proceed".to_owned());
    answering.opened_with = None;
    let code = answer::run(&answering, context)?;
    if code != 0 {
        return Ok(Some(code));
    }
    let mut subscription = journal.subscribe_to_run(&run.id, 0)?;
    loop {
        let now = journal.run(&run.id)?.unwrap_or_else(|| run.clone());
        match now.status {
            RunStatus::Completed => {
                let change = SkillChange::of(&journal.state(&run.id)?);
                let file = change.map_or_else(String::new, |change| change.file);
                tell_people(&format!("changed {}", escape_control_line(&file)), context)?;
                return Ok(Some(0));
            }
            RunStatus::Cancelled => return Ok(Some(5)),
            RunStatus::Failed => {
                let message =
                    now.message.unwrap_or_else(|| "the change was not written".to_owned());
                let hint = Some(format!("`aye show {}` shows more", run.id));
                return Err(Error::Refused { message, hint });
            }
            RunStatus::Running | RunStatus::Paused => {
                subscription.wait(Duration::from_millis(200))?;
                subscription.events()?;
            }
        }
    }
}

fn run_ids(found: &[&(RunRow, String)]) -> String {
    found.iter().map(|(run, _)| run.id.as_str()).collect::<Vec<_>>().join(", ")
}

/// After a run that someone fixed: is the file to be fixed too?
pub(super) fn offer(
    state: &State,
    journal: &JournalReader,
    context: &Context,
) -> Result<(), Error> {
    for one in fixed(state) {
        // A file that was changed meanwhile is its author's business.
        let Ok(patch) = Patch::of(state, &one, journal, context) else { continue };
        say(&format!(
            "`{}` succeeded with a change that only this run has:\n{}\n",
            one.step,
            escape_control_lines(&patch.diff())
        ));
        let asked = format!("Write it to {} too?", patch.path.display());
        if agreed(&asked, context)?.unwrap_or(false) {
            patch.write()?;
            say(&format!("changed `{}` in {}\n", one.step, patch.path.display()));
        } else {
            say(&format!("write it later with `aye patch {} {}`\n", state.run, one.step));
        }
    }
    Ok(())
}

/// A block that was changed, and went well.
struct FixedBlock {
    step: String,
    code: String,
}

fn fixed(state: &State) -> Vec<FixedBlock> {
    let one = |(step, record): (&String, &aye_core::journal::StepRecord)| {
        let code = record.edits.as_ref()?.set.get("code")?.as_str()?;
        let well = record.status == StepStatus::Completed;
        well.then(|| FixedBlock { step: step.clone(), code: code.to_owned() })
    };
    state.steps.iter().filter_map(one).collect()
}

/// A file as it is and as it would be.
struct Patch {
    /// Where the run was begun.
    workspace: PathBuf,
    path: PathBuf,
    before: String,
    after: String,
}

impl Patch {
    fn of(
        state: &State,
        fixed: &FixedBlock,
        journal: &JournalReader,
        context: &Context,
    ) -> Result<Self, Error> {
        let workspace = PathBuf::from(&state.started.workspace);
        let path = workspace.join(&state.started.file);
        refuse_links(&workspace, &path)?;
        let before = std::fs::read_to_string(&path).map_err(Error::file("read", &path))?;
        let moved = || Error::Refused {
            message: format!("`{}` is not in {} any more", fixed.step, path.display()),
            hint: Some("change it by hand".to_owned()),
        };
        let read = |text: &str| {
            let file = SkillFile::from_text(path.clone(), text.to_owned());
            let file = file.or_lenient(context.settings.lenient);
            let flow = file.flows.iter().find(|flow| skill_name(flow) == state.started.skill);
            flow.and_then(|flow| block(flow, &fixed.step)).cloned()
        };
        let block = read(&before).ok_or_else(moved)?;
        // What someone else changed there meanwhile must not be undone.
        let begun = journal.source(&state.started.source)?.and_then(|source| read(&source.text));
        let same = |code: &str| code.trim_end() == block.value.trim_end();
        if !begun.is_some_and(|begun| same(&begun.value)) && !same(&fixed.code) {
            return Err(Error::Refused {
                message: format!(
                    "`{}` in {} has changed since the run began",
                    fixed.step,
                    path.display()
                ),
                hint: Some("change it by hand; `aye show RUN --json` has the code".to_owned()),
            });
        }
        let code = ending_as(&block.value, &fixed.code);
        let after = patch_block(&before, block.span, &block.value, &code)
            .map_err(|error| Error::Refused { message: error.message, hint: Some(error.hint) })?;
        if after == before {
            let message = format!("{} has the change already", path.display());
            return Err(Error::Refused { message, hint: None });
        }
        Ok(Self { workspace, path, before, after })
    }

    fn diff(&self) -> String {
        diff(&self.before, &self.after)
    }

    /// The whole file or the old one.
    fn write(&self) -> Result<(), Error> {
        let failed = Error::file("write", &self.path);
        // Someone thought about it for a while.
        refuse_links(&self.workspace, &self.path)?;
        let changed = std::fs::read_to_string(&self.path).map_err(failed)? != self.before;
        if changed {
            return Err(Error::Refused {
                message: format!("{} has changed meanwhile", self.path.display()),
                hint: Some("look at it, and try again".to_owned()),
            });
        }
        // A file that may not be written is not replaced either.
        std::fs::OpenOptions::new().append(true).open(&self.path).map_err(failed)?;
        replace(&self.path, &self.after, 0o666).map_err(failed)
    }
}

/// The code of a step, wherever in the skill it stands.
fn block<'a>(flow: &'a Flow, step: &str) -> Option<&'a Template> {
    fn within<'a>(step: &'a Step, name: &str) -> Option<&'a Template> {
        match &step.action {
            Action::Compute { code, .. } if step.name.value == name => Some(code),
            Action::ForEach(each) => each.body.iter().find_map(|step| within(step, name)),
            _ => None,
        }
    }
    flow.nodes.iter().find_map(|node| within(&node.step, step))
}

/// The new code, ending as the old one does: a block may have a last line
/// without an end, and code that someone sends usually has one.
fn ending_as(old: &str, new: &str) -> String {
    let (kept, ending) = (new.trim_end_matches('\n'), old.trim_end_matches('\n').len());
    format!("{kept}{}", &old[ending..])
}

/// Nobody can be asked here.
fn nobody() -> Error {
    Error::Unattended {
        message: "nobody can be asked here".to_owned(),
        hint: Some("`--yes` writes it".to_owned()),
    }
}

/// What someone says to it; nothing if nobody is there.
pub(super) fn agreed(message: &str, context: &Context) -> Result<Option<bool>, Error> {
    says_yes(message, None, !context.json, context)
}
