//! What people type who know other programs, and what it is called here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::paint::shell_word;
use aye_runtime::settings::Settings;
use aye_runtime::skills::{Library, Reach, SkillFile};

use super::usage::did_you_mean;

/// The most skills that a hint names.
const MOST: usize = 12;

/// Commands of other programs.
const COMMANDS: [(&str, &str); 25] = [
    ("validate", "aye check"),
    ("lint", "aye check"),
    ("history", "aye runs"),
    ("ps", "aye runs"),
    ("status", "aye runs"),
    ("prune", "aye runs prune"),
    ("stop", "aye cancel"),
    ("kill", "aye cancel"),
    ("rn", "aye run"),
    ("start", "aye run"),
    ("exec", "aye run"),
    ("execute", "aye run"),
    ("approve", "aye answer"),
    ("reject", "aye answer"),
    ("questions", "aye inbox"),
    ("tail", "aye logs -f"),
    ("follow", "aye watch"),
    ("log", "aye logs"),
    ("new", "aye init"),
    ("create", "aye init"),
    ("ls", "aye list"),
    ("skills", "aye list"),
    ("inputs", "aye list"),
    ("describe", "aye show RUN` or `aye graph SKILL"),
    ("version", "aye --version"),
];

/// Options of other programs: of which command, and what it is here.
const OPTIONS: [(&str, &str, &str); 10] = [
    ("aye run", "-e", "--environment"),
    ("aye run", "-n", "--dry-run"),
    ("aye run", "--check", "--dry-run"),
    ("aye run", "--background", "--detach"),
    ("aye run", "--bg", "--detach"),
    ("aye resume", "--background", "--detach"),
    ("aye run", "--var", INPUT),
    ("aye run", "--set", INPUT),
    ("aye run", "--param", INPUT),
    ("aye run", "--arg", INPUT),
];

const INPUT: &str = "-i NAME=VALUE";

/// What was meant by a command that there is not, below `parent`.
pub(super) fn command(parent: &str, wanted: &str) -> Option<String> {
    let is_skill = || project().and_then(|place| place.find(wanted)).is_some();
    let shown = shell_word(wanted);
    match parent {
        "aye" if is_skill() => Some(did_you_mean(&format!("aye run {shown}"))),
        "aye" => COMMANDS
            .iter()
            .find(|(typed, _)| *typed == wanted)
            .map(|(_, meant)| did_you_mean(meant)),
        "aye runs" if is_skill() => Some(did_you_mean(&format!("aye runs --skill {shown}"))),
        _ => None,
    }
}

/// What was meant by an argument that the command does not take.
pub(super) fn argument(command: &str, arg: &str) -> Option<String> {
    if command == "aye resume" && matches!(arg, "--yes" | "-y") {
        return Some(
            "answer its question: `aye answer QUESTION proceed --resume`; `aye inbox` lists them"
                .to_owned(),
        );
    }
    if command == "aye answer" && arg == "--type" {
        return Some(
            "the text is typed where the question is asked: `aye answer QUESTION` on a terminal"
                .to_owned(),
        );
    }
    let known = OPTIONS.iter().find(|(of, typed, _)| *of == command && *typed == arg);
    let value = value_of(arg);
    let input = |given: &str| format!("an input is given as `-i {}`", shell_word(given));
    match known {
        Some((_, _, INPUT)) => Some(
            value
                .filter(|value| value.contains('='))
                .map_or_else(|| format!("an input is given as `{INPUT}`"), |value| input(&value)),
        ),
        Some((_, _, option)) => Some(did_you_mean(option)),
        None if command != "aye run" => None,
        None => match arg.strip_prefix("--") {
            Some(name) if is_input(name) => {
                Some(input(&format!("{name}={}", value.as_deref().unwrap_or("…"))))
            }
            None if !arg.starts_with('-') && arg.contains('=') => Some(input(arg)),
            None if !arg.starts_with('-') => {
                let step = shell_word(arg);
                Some(format!("a run begins at a step with `--from {step}`"))
            }
            Some(_) | None => None,
        },
    }
}

/// What to say to someone who named no skill.
pub(super) fn skills() -> String {
    let names = project().map(|place| place.library().names()).unwrap_or_default();
    match names.len() {
        0 => "no skills found; `aye init` makes a first one, or give a path".to_owned(),
        count => {
            let more = if count > MOST { ", …" } else { "" };
            let names: Vec<String> = names.into_iter().take(MOST).collect();
            format!("it is one of: {}{more}; `aye list` says more", names.join(", "))
        }
    }
}

/// What was typed for an option: `--set a=b` and `--set=a=b`.
fn value_of(option: &str) -> Option<String> {
    let mut words = typed().into_iter();
    words
        .find_map(|word| match word.strip_prefix(option) {
            Some("") => Some(None),
            Some(rest) => rest.strip_prefix('=').map(|value| Some(value.to_owned())),
            None => None,
        })?
        .or_else(|| words.next())
}

/// Whether a skill that was named on the command line has an input of this name.
fn is_input(name: &str) -> bool {
    let Some(place) = project() else { return false };
    typed().iter().skip(2).filter(|word| !word.starts_with('-')).any(|word| {
        let Some(file) = place.find(word) else { return false };
        let inputs = file.flows.iter().flat_map(|flow| &flow.skill.inputs);
        inputs.into_iter().any(|input| input.name.as_str() == name)
    })
}

fn typed() -> Vec<String> {
    std::env::args_os().map(OsString::into_string).filter_map(Result::ok).collect()
}

/// Where we are.
struct Project {
    directory: PathBuf,
    settings: Settings,
}

fn project() -> Option<Project> {
    let directory = std::env::current_dir().ok()?;
    let settings = Settings::load(&directory, None, |_| false).ok()?;
    Some(Project { directory, settings })
}

impl Project {
    /// Only names and inputs are suggested: nothing of `AYE_HOME` is known here.
    fn library(&self) -> Library<'_> {
        let Self { directory, settings } = self;
        Library {
            directory,
            settings,
            home: Path::new(""),
            reach: Reach::AnyFile,
            outside: Vec::new(),
        }
    }

    /// The file of a skill, if there is one of this name.
    fn find(&self, wanted: &str) -> Option<SkillFile> {
        let (path, _) = self.library().find(wanted).ok()?;
        SkillFile::read(&self.directory.join(path)).ok()
    }
}
