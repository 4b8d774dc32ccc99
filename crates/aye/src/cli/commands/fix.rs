//! `aye check --fix`.

use std::path::Path;

use aye_core::diagnostic::Unit;

use crate::cli::{Context, say};
use crate::paint::{escape_control_lines, plural};
use aye_runtime::error::Error;
use aye_runtime::replace::replace;
use aye_runtime::skills::{Fixed, SkillFile, fix, relative_to};

use super::patch::agreed;

/// Puts right what is certain in a file, if someone agrees to the changes.
pub(super) fn run(
    path: &Path,
    unit: Option<Unit>,
    yes: bool,
    context: &Context,
) -> Result<(), Error> {
    let file = SkillFile::read(path)?;
    let Fixed { text, edits, without_unit } = fix(path, &file.text, unit);
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
        false => agreed(&question, context)?.ok_or_else(|| Error::Unattended {
            message: "nobody can be asked here".to_owned(),
            hint: Some("`--yes` writes the changes".to_owned()),
        })?,
    };
    if !write {
        return Ok(());
    }
    let failed = Error::file("write", path);
    // A file that may not be written is not replaced either.
    std::fs::OpenOptions::new().append(true).open(path).map_err(failed)?;
    replace(path, &text, 0o666).map_err(failed)?;
    tell(&format!("wrote {} to {shown}\n", plural(edits, "change")));
    Ok(())
}

/// The lines that differ, in as many pieces as there are places.
fn changed_lines(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let mut text = String::new();
    let (mut at, mut to) = (0, 0);
    while at < old.len() || to < new.len() {
        if old.get(at) == new.get(to) {
            (at, to) = (at + 1, to + 1);
            continue;
        }
        let (gone, come) = next_common(&old[at..], &new[to..]);
        text.push_str(&format!("@@ line {} @@\n", at + 1));
        old[at..at + gone].iter().for_each(|line| text.push_str(&format!("-{line}\n")));
        new[to..to + come].iter().for_each(|line| text.push_str(&format!("+{line}\n")));
        (at, to) = (at + gone, to + come);
    }
    text
}

/// How many lines of each come before the nearest line that both have.
fn next_common(old: &[&str], new: &[&str]) -> (usize, usize) {
    let most = old.len() + new.len();
    let mut pairs = (0..=most).flat_map(|sum| (0..=sum).map(move |gone| (gone, sum - gone)));
    let common = |(gone, come): &(usize, usize)| matches!((old.get(*gone), new.get(*come)), (Some(old), Some(new)) if old == new);
    pairs.find(common).unwrap_or((old.len(), new.len()))
}
