//! What every command needs to know: the runtime, and how it is shown.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::paint::{ColorChoice, Paint};
use crate::prompt::{self, Attention, Escape, PromptConfig};
use crate::report::{OutputMode, Verbosity};
use aye_runtime::clock::SystemClock;
use aye_runtime::error::Error;
use aye_runtime::runtime::{BackgroundProgram, Parts, Runtime};
use aye_runtime::skills::SkillFile;
use aye_runtime::trust::StartedBy;

use super::Global;
use super::args::BACKGROUND;

/// A runtime, and how one command shows what it does.
#[derive(Clone)]
pub struct Context {
    /// What the command works with.
    pub runtime: Runtime,
    /// Colours of standard output.
    pub paint_out: Paint,
    /// Colours of standard error.
    pub paint_err: Paint,
    /// JSON for programs.
    pub json: bool,
    /// Plain lines only.
    pub plain: bool,
    /// How much to say.
    pub verbosity: Verbosity,
    /// What to show of the steps' output, where someone said so.
    pub output: Option<OutputMode>,
}

impl Deref for Context {
    type Target = Runtime;

    fn deref(&self) -> &Runtime {
        &self.runtime
    }
}

impl Context {
    /// Looks around. A command that can be given `anywhere` does without a
    /// directory that was deleted.
    pub fn new(global: &Global, anywhere: bool) -> Result<Self, Error> {
        let env = environment();
        let directory = match std::env::current_dir() {
            Ok(directory) => directory,
            Err(_) if anywhere && !global.home.as_ref().is_some_and(|home| home.is_relative()) => {
                PathBuf::from("/")
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(Error::usage(
                    "the current directory does not exist any more",
                    "change to one that exists",
                ));
            }
            Err(error) => return Err(Error::Directory(error)),
        };
        let home = match (&global.home, env.get("XDG_STATE_HOME"), env.get("HOME")) {
            (Some(home), _, _) => directory.join(home),
            (None, Some(state), _) if Path::new(state).is_absolute() => {
                Path::new(state).join("aye")
            }
            (None, _, Some(home)) => Path::new(home).join(".local/state/aye"),
            (None, _, None) => {
                return Err(Error::usage(
                    "cannot find a home directory for the journal",
                    "set `AYE_HOME` or give `--home DIR`",
                ));
            }
        };
        let paint = |is_terminal: bool| Paint {
            color: !global.plain && use_color(global.color, &env, is_terminal),
            bold: !global.plain && use_bold(global.color, &env, is_terminal),
            unicode: !global.plain && use_unicode(&env, is_terminal),
        };
        let user_settings = match (env.get("XDG_CONFIG_HOME"), env.get("HOME")) {
            (Some(config), _) if Path::new(config).is_absolute() => Some(Path::new(config).into()),
            (_, Some(home)) => Some(Path::new(home).join(".config")),
            (_, None) => None,
        };
        let (paint_out, paint_err) =
            (paint(std::io::stdout().is_terminal()), paint(std::io::stderr().is_terminal()));
        Ok(Self {
            runtime: Runtime::new(Parts {
                background: background(&home),
                user_settings: user_settings.map(|config: PathBuf| config.join("aye/config.toml")),
                clock: Arc::new(SystemClock::of(&env)),
                started_by: StartedBy::Person,
                at_terminal: std::io::stdin().is_terminal(),
                command: command_shown(),
                env: Arc::new(env),
                ..Parts::new(home, directory)
            })?,
            paint_out,
            paint_err,
            json: global.json,
            plain: global.plain,
            verbosity: match (global.quiet, global.verbose) {
                (true, _) => Verbosity::Quiet,
                (false, true) => Verbosity::Verbose,
                (false, false) => Verbosity::Normal,
            },
            output: None,
        })
    }

    /// The same, seen from where a run was begun.
    pub fn at(&self, workspace: &str) -> Result<Self, Error> {
        Ok(Self { runtime: self.runtime.at(workspace)?, ..self.clone() })
    }

    /// The mistakes of a skill, as standard error shows them.
    pub fn mistakes(&self, file: &SkillFile) -> String {
        mistakes(file, self.paint_err, crate::term::columns(std::io::stderr()))
    }

    /// The mistakes of a skill, as standard output shows them.
    pub fn mistakes_out(&self, file: &SkillFile) -> String {
        mistakes(file, self.paint_out, crate::term::columns(std::io::stdout()))
    }

    /// The same, showing this of the steps' output.
    #[must_use]
    pub fn showing(&self, output: Option<OutputMode>) -> Self {
        Self { output: output.or(self.output), ..self.clone() }
    }

    /// How to ask on this terminal, and whether.
    pub fn config(&self, escape: Escape, may_ask: bool) -> PromptConfig {
        PromptConfig {
            paint: self.paint_err,
            plain: self.plain || !prompt::is_capable(&self.env),
            escape,
            user: self.person(),
            obstacle: prompt::obstacle(&self.env, may_ask),
            opened_with: None,
            advisor: self.advisor(),
            attention: None,
        }
    }

    /// How a person who drives a run here is called back to its terminal.
    pub fn attention(&self) -> Option<Attention> {
        let attention = Attention::of(&self.env).filter(|_| self.settings.bell);
        attention.map(|attention| if self.plain { attention.bell_only() } else { attention })
    }
}

/// What was called, without what was given to it: inputs may be secret.
fn command_shown() -> String {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let plain = words.skip(1).take_while(|word| !word.starts_with('-')).take(2);
    std::iter::once("aye".to_owned()).chain(plain).collect::<Vec<_>>().join(" ")
}

/// Runs in the background are driven by this program.
fn background(home: &Path) -> BackgroundProgram {
    let args = [BACKGROUND.as_ref(), "--home".as_ref(), home.as_os_str()];
    BackgroundProgram {
        program: std::env::current_exe().ok(),
        args: args.into_iter().map(std::ffi::OsStr::to_owned).collect(),
    }
}

fn mistakes(file: &SkillFile, paint: Paint, columns: Option<usize>) -> String {
    let text = file.render_within(paint.color, columns);
    if paint.unicode { text } else { text.replace('…', "~") }
}

fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// The colours of standard error before the options are known.
pub(super) fn paint_of_errors() -> Paint {
    let env = environment();
    Paint {
        color: use_color(ColorChoice::Auto, &env, std::io::stderr().is_terminal()),
        bold: use_bold(ColorChoice::Auto, &env, std::io::stderr().is_terminal()),
        unicode: use_unicode(&env, std::io::stderr().is_terminal()),
    }
}

fn use_color(choice: ColorChoice, env: &BTreeMap<String, String>, is_terminal: bool) -> bool {
    let set = |name: &str| env.get(name).is_some_and(|value| !value.is_empty() && value != "0");
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if set("NO_COLOR") => false,
        ColorChoice::Auto if set("CLICOLOR_FORCE") => true,
        ColorChoice::Auto => is_terminal && prompt::is_capable(env),
    }
}

/// Bold and underlined are no colours: `NO_COLOR` leaves them.
fn use_bold(choice: ColorChoice, env: &BTreeMap<String, String>, is_terminal: bool) -> bool {
    choice != ColorChoice::Never && is_terminal && prompt::is_capable(env)
}

/// A terminal that nobody has named, or a dumb one, may know nothing but ASCII.
fn use_unicode(env: &BTreeMap<String, String>, is_terminal: bool) -> bool {
    speaks_unicode(env) && (!is_terminal || prompt::is_capable(env))
}

fn speaks_unicode(env: &BTreeMap<String, String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| env.get(name).filter(|value| !value.is_empty()));
    // Most systems speak it today; only a locale that says otherwise counts.
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf") || !(locale == "c" || locale == "posix" || locale.contains("8859"))
    })
}
