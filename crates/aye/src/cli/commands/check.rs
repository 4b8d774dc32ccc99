//! `aye check`.

use std::path::PathBuf;

use aye_core::diagnostic::{self, Source, Unit};
use clap::Args;

use crate::cli::Context;
use crate::paint::{Glyph, Tone, plural};
use aye_runtime::error::Error;
use aye_runtime::skills::{SkillFile, relative_to};

use super::fix;
use super::output::{print_json, print_words, warn_about};
use super::words::one_of;

// Options of `aye check`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  aye check\n  aye check skills/release.yaml\n  \
    aye check skills --strict --json\n  aye check skills --fix --unit s")]
pub struct CheckArgs {
    /// Files or directories [default: the project's skills]
    pub paths: Vec<PathBuf>,
    /// Warnings count as errors
    #[arg(long)]
    pub strict: bool,
    /// Fix what is certain: shows the changes and asks before it writes
    #[arg(long)]
    pub fix: bool,
    /// With `--fix`: the unit to write after a time that has none
    #[arg(long, requires = "fix", value_parser = one_of([
        ("ms", Unit::Milliseconds, "Milliseconds"),
        ("s", Unit::Seconds, "Seconds"),
    ]))]
    pub unit: Option<Unit>,
    /// Write the changes without asking
    #[arg(short, long, requires = "fix")]
    pub yes: bool,
}

pub(super) fn run(args: &CheckArgs, context: &Context) -> Result<u8, Error> {
    let library = context.library();
    let mut paths = Vec::new();
    for path in &args.paths {
        let path = context.directory.join(path);
        if path.is_dir() {
            let listing = library.below(&path);
            warn_about(&listing, context);
            paths.extend(listing.files);
        } else {
            library.outside_home(&path)?;
            paths.push(path);
        }
    }
    if args.paths.is_empty() {
        let listing = library.listing();
        warn_about(&listing, context);
        paths = listing.files;
    }
    if paths.is_empty() {
        return Err(Error::not_found(
            "there is nothing to check",
            "name a file or a directory, or make a skill with `aye init`",
        ));
    }
    let mut files = Vec::new();
    for path in paths {
        if args.fix {
            fix::run(&path, args.unit, args.yes, context)?;
        }
        let shown = relative_to(&path, &context.directory);
        let mut file = SkillFile { path: shown.clone(), ..SkillFile::read(&path)? }
            .or_lenient(context.settings.lenient)
            .marked(&context.settings.tools);
        let references = context.references(&file.flows, &file.path);
        file.diagnostics.extend(diagnostic::without_allowed(references, &file.text));
        diagnostic::sort(&mut file.diagnostics);
        files.push(file);
    }
    let checked = files.len();
    files.extend(context.settings_warnings(|_| true));
    let all = || files.iter().flat_map(|file| &file.diagnostics);
    let errors = all().filter(|found| found.is_error()).count();
    let failed = errors > 0 || (args.strict && all().next().is_some());
    if context.json {
        let mut found = Vec::new();
        for file in &files {
            let name = file.path.to_string_lossy();
            let source = Source::new(&name, &file.text);
            found.extend(file.diagnostics.iter().map(|one| diagnostic::to_json(one, &source)));
        }
        print_json(&found)?;
    } else {
        let paint = context.paint_out;
        let mut text: String = files.iter().map(|file| context.mistakes_out(file)).collect();
        let skills: usize = files.iter().map(SkillFile::valid).sum();
        let counted = format!("{} in {}", plural(skills, "valid skill"), plural(checked, "file"));
        let verdict = match diagnostic::summary(all()) {
            None => format!("{} {counted}", paint.text(Tone::Good, paint.glyph(Glyph::Done))),
            Some(summary) if failed => {
                format!(
                    "{} {counted}: {summary}",
                    paint.text(Tone::Bad, paint.glyph(Glyph::Failed))
                )
            }
            Some(summary) => {
                format!("{} {counted}: {summary}", paint.text(Tone::Warn, paint.glyph(Glyph::Done)))
            }
        };
        text.push_str(&verdict);
        text.push('\n');
        print_words(&text)?;
    }
    Ok(if failed { 2 } else { 0 })
}
