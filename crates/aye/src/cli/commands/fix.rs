//! `aye check --fix`.

use std::path::Path;

use aye_core::diagnostic::Unit;
use clap::ValueEnum;

use crate::cli::{Context, say};
use crate::paint::{escape_control_lines, plural};
use aye_runtime::error::Error;
use aye_runtime::replace::replace;
use aye_runtime::skills::{Fixed, SkillFile, fix, relative_to};

use super::patch::agreed;

/// What numbers without a unit are meant in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum UnitWord {
    /// Milliseconds
    Ms,
    /// Seconds
    S,
}

impl From<UnitWord> for Unit {
    fn from(word: UnitWord) -> Self {
        match word {
            UnitWord::Ms => Self::Milliseconds,
            UnitWord::S => Self::Seconds,
        }
    }
}

/// Puts right what is certain in a file, if somebody agrees to the changes.
pub(super) fn run(
    path: &Path,
    unit: Option<UnitWord>,
    yes: bool,
    context: &Context,
) -> Result<(), Error> {
    let file = SkillFile::read(path)?;
    let Fixed { text, edits, without_unit } = fix(path, &file.text, unit.map(Unit::from));
    let shown = relative_to(path, &context.directory).display().to_string();
    let tell = |words: &str| {
        if !context.json {
            say(words);
        }
    };
    if without_unit > 0 {
        tell(&format!(
            "{shown}: {} without a unit: `--unit s` or `--unit ms` says what is meant\n",
            plural(without_unit, "time")
        ));
    }
    if edits == 0 {
        return Ok(());
    }
    tell(&format!("{shown}\n{}\n", escape_control_lines(&changed_lines(&file.text, &text))));
    let question = format!("Write {} to {shown}?", plural(edits, "change"));
    let write = match yes {
        true => true,
        false => agreed(&question, context)?.ok_or_else(|| Error::Refused {
            message: "nobody can be asked here".to_owned(),
            hint: Some("`--yes` writes the changes".to_owned()),
        })?,
    };
    if !write {
        return Ok(());
    }
    let failed = |source| Error::File { doing: "write", path: path.to_path_buf(), source };
    // A file that may not be written is not replaced either.
    std::fs::OpenOptions::new().append(true).open(path).map_err(failed)?;
    replace(path, &text, 0o666).map_err(failed)?;
    tell(&format!("wrote {} to {shown}\n", plural(edits, "change")));
    Ok(())
}

/// The lines that differ: a change stays within its line.
fn changed_lines(before: &str, after: &str) -> String {
    let pairs = before.lines().zip(after.lines()).enumerate();
    let changed = pairs.filter(|(_, (old, new))| old != new);
    changed.map(|(at, (old, new))| format!("@@ line {} @@\n-{old}\n+{new}\n", at + 1)).collect()
}
