//! `aye man`.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory as _};
use clap_mangen::Man;

use crate::cli::Cli;
use crate::cli::environment::{OTHERS, SETTINGS, without_effect};
use aye_runtime::error::Error;

use super::output::print;

// Options of `aye man`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  aye man | man -l -\n  aye man --out ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Write one page per command into this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

pub(super) fn run(args: &ManArgs) -> Result<u8, Error> {
    let mut command = Cli::command();
    command.build();
    match &args.out {
        None => print(&page(command).map_err(Error::Output)?)?,
        Some(directory) => {
            let failed = Error::file("write", directory);
            std::fs::create_dir_all(directory).map_err(failed)?;
            write_all(command, directory).map_err(failed)?;
        }
    }
    Ok(0)
}

/// A page for a command and each one below it.
fn write_all(command: Command, directory: &Path) -> io::Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        write_all(below.clone(), directory)?;
    }
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    std::fs::write(directory.join(format!("{name}.1")), page(command)?)
}

fn page(command: Command) -> io::Result<String> {
    let said = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let environment = environment(&command);
    let has_verbs = command.get_subcommands().next().is_some();
    let man = Man::new(command).source(concat!("aye ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if has_verbs {
        man.render_subcommands_section(&mut page)?;
    }
    let mut page = String::from_utf8_lossy(&page).into_owned();
    for paragraph in said.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        page.push_str(&match paragraph.split_once(':') {
            Some(("Examples", lines)) => {
                format!(".SH EXAMPLES\n.nf\n{}\n.fi\n", roff(lines.trim_start_matches('\n')))
            }
            Some(("Exit codes", codes)) => format!(".SH \"EXIT STATUS\"\n{}\n", exit_status(codes)),
            _ => format!(".SH NOTES\n{}\n", roff(paragraph)),
        });
    }
    page.push_str(&environment);
    Ok(page)
}

/// `0 done, 1 failed, …` as a list.
fn exit_status(codes: &str) -> String {
    let codes = codes.split_whitespace().collect::<Vec<_>>().join(" ");
    let entry = |code: &str| {
        let (number, meaning) = code.trim().split_once(' ').unwrap_or((code, ""));
        format!(".TP\n\\fB{number}\\fR\n{}", roff(meaning))
    };
    codes.trim_end_matches('.').split(',').map(entry).collect::<Vec<_>>().join("\n")
}

/// What can be set instead of options, and what else is read. The page of a command has what
/// counts for it, the first page has everything.
fn environment(command: &Command) -> String {
    let is_first = command.get_name() == "aye";
    let counts = |name: &str| {
        is_first
            || command.get_arguments().any(|option| option.get_env().is_some_and(|env| env == name))
    };
    let settings = SETTINGS.iter().filter(|(name, _)| counts(name));
    let entry = |(name, about): &(&str, &str)| format!(".TP\n\\fB{name}\\fR\n{}\n", roff(about));
    let entries: String = settings.chain(&OTHERS).map(entry).collect();
    format!(".SH ENVIRONMENT\n{entries}.PP\n{}\n", roff(&without_effect()))
}

/// Text that the formatter takes as it is.
fn roff(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('`', "\\(ga");
    let escape_control = |line: &str| match line.starts_with(['.', '\'']) {
        true => format!("\\&{line}"),
        false => line.to_owned(),
    };
    text.lines().map(escape_control).collect::<Vec<_>>().join("\n")
}
