//! `aye.toml`, looked for upwards from the working directory, and the user's
//! own settings with the same keys.
//!
//! A project's preferences take precedence over the user's. Tools, skill
//! directories and heal rules add up, and both policies apply. Settings of a
//! project that grant more power, or loosen a limit, need trust (`trust`); the
//! user's own settings do not.
//!
//! Touches these two files, for reading. `trust` says what of a project counts; the runtime hands
//! the rest to the driver.

mod advisor;
mod ask;
mod heal;
mod layer;
mod limits;
mod mcp;
mod notify;
mod policy;
mod read_only;
mod tool_args;
mod tools;

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use aye_core::diagnostic::{self, Diagnostic, Source};
use aye_core::skill::AskLimits;
use aye_core::span::Span;

use crate::error::Error;
use crate::ownership::{Other, is_ours};
use crate::report::OutputMode;
use crate::store::Durability;

use ask::AskLayer;
use layer::{File, Layer};
use limits::Limiter;

pub use advisor::AdvisorSettings;
pub use ask::AskOrder;
pub use heal::HealSettings;
pub use mcp::McpSettings;
pub use notify::{
    ChannelKind, ChannelSettings, Channels, CommandChannel, Detail, DropBoxChannel, EmailChannel,
    Encryption, NtfyChannel, QuietHours, Sourced, Template, WebhookChannel,
};
#[cfg(feature = "notify")]
pub(crate) use notify::{check_address, is_topic};
pub use policy::PolicySettings;
pub use read_only::{MarkedBy, ReadOnly, ReadOnlyTools};
pub use tools::{CommandSettings, OutputKind, Reach, ServerSettings, ToolSettings, is_loopback};

/// The name of the file.
pub const FILE: &str = "aye.toml";

/// How long finished runs are kept where a project does not say.
pub const DEFAULT_KEEP: Duration = Duration::from_secs(30 * 86_400);

/// More than anyone writes by hand.
const LARGEST: u64 = 1 << 20;

/// What holds in a project.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The directory of `aye.toml`, or the working directory.
    pub root: PathBuf,
    /// The project's directories with skills.
    pub skills: Vec<PathBuf>,
    /// What an acknowledged step survives.
    pub durability: Durability,
    /// Names that nobody defined are empty in skills that do not say.
    pub lenient: bool,
    /// The time-out of a step that names none.
    pub step_timeout: Option<Duration>,
    /// No step takes longer, whatever it names.
    pub max_step_timeout: Option<Duration>,
    /// How much of its output a step's result may be, in bytes.
    pub max_result: usize,
    /// How long finished runs are kept; `None` is for ever.
    pub keep: Option<Duration>,
    /// How long a step that is to end may continue before it is killed.
    pub grace: Duration,
    /// How many processes may run at once.
    pub max_processes: usize,
    /// What is shown of the steps' output.
    pub output: Option<OutputMode>,
    /// Whether a terminal rings when a question opens or a long run ends.
    pub bell: bool,
    /// MCP servers and commands with a name, the user's own among them.
    pub tools: ToolSettings,
    /// What assistants may do, and how long.
    pub mcp: McpSettings,
    /// How long questions wait.
    pub ask: AskLimits,
    /// Who asks, and when each joins.
    pub prompters: AskOrder,
    /// What of the project's settings depends on trust.
    pub project: Powers,
    /// The same of the user's own settings, which are trusted.
    pub user: Powers,
    /// The user's own directories with skills.
    pub user_skills: Vec<PathBuf>,
    /// Keys of the project that do not count, because it is not trusted.
    pub left_out: Vec<String>,
}

/// What widens what may happen, or narrows it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Powers {
    /// The directory that relative paths begin at.
    pub root: PathBuf,
    /// What steps may run.
    pub policy: PolicySettings,
    /// The program that advises the person who is asked.
    pub advisor: Option<AdvisorSettings>,
    /// What repairs errors that are known.
    pub heal: HealSettings,
    /// How people are told.
    pub notify: Channels,
}

impl Settings {
    /// Finds and reads the project's file; without one, the defaults. `user` is
    /// the file of the user's own settings, which need not exist. Limits that the
    /// project loosens count if `is_trusted` says so of its root; it is not called
    /// where there are none. See `trust::load_settings`.
    pub fn load(
        directory: &Path,
        user: Option<&Path>,
        is_trusted: impl FnOnce(&Path) -> bool,
    ) -> Result<Self, Error> {
        let own = match user.filter(|path| path.symlink_metadata().is_ok()) {
            Some(path) => {
                let mut own = read(path, directory, is_of_others)?;
                own.notify.values_mut().for_each(|channel| channel.own = true);
                let root = path.parent().unwrap_or(directory).to_path_buf();
                (root, own)
            }
            None => (PathBuf::new(), Layer::default()),
        };
        // Whatever is there, a link that leads nowhere too: settings that cannot be
        // read must not be taken for none.
        let is_there = |path: &PathBuf| path.symlink_metadata().is_ok();
        let found = directory.ancestors().map(|dir| dir.join(FILE)).find(is_there);
        let (root, project) = match found {
            Some(path) => {
                let project = read(&path, directory, is_planted)?;
                keep_secrets_out(&path, &project)?;
                (path.parent().unwrap_or(directory).to_path_buf(), project)
            }
            None => (directory.to_path_buf(), Layer::default()),
        };
        Ok(Self::merge(root, project, own, is_trusted))
    }

    fn merge(
        root: PathBuf,
        project: Layer,
        (user_root, user): (PathBuf, Layer),
        is_trusted: impl FnOnce(&Path) -> bool,
    ) -> Self {
        let mut limiter = Limiter::new(|| is_trusted(&root));
        let seconds = |time| Some(Duration::from_secs(time));
        let step_timeout = user.step_timeout.unwrap_or(seconds(120));
        let step_timeout = limiter.timeout("step_timeout", project.step_timeout, step_timeout);
        let longest = user.max_step_timeout.unwrap_or_default();
        let longest = limiter.timeout("max_step_timeout", project.max_step_timeout, longest);
        let result = user.max_result.unwrap_or(aye_process::DEFAULT_TAIL);
        let max_result = limiter.at_most("max_result", project.max_result, result);
        // None at all is asked for with 0: killed at once.
        let grace = user.grace.map_or(aye_process::DEFAULT_GRACE, Option::unwrap_or_default);
        let grace = limiter.at_most("grace", project.grace.map(Option::unwrap_or_default), grace);
        let processes = user.max_processes.unwrap_or(aye_process::slots::DEFAULT_LIMIT);
        let max_processes = limiter.at_most("max_processes", project.max_processes, processes);
        let durability = user.durability.unwrap_or(Durability::Power);
        let durability = limiter.durability("durability", project.durability, durability);
        let keep = user.keep.unwrap_or(Some(DEFAULT_KEEP));
        let keep = limiter.keep("keep", project.keep, keep);
        let tools = limiter.tools(project.tools, user.tools);
        let order = project.ask.order(&user.ask);
        let prompters = limiter.prompters(order, AskLayer::default().order(&user.ask));
        let left_out = limiter.left_out();
        let usual = || vec![root.join(".aye/skills"), root.join("skills")];
        Self {
            skills: project.skills.unwrap_or_else(usual),
            user_skills: user.skills.unwrap_or_default(),
            durability,
            // A skill can say the same of itself: nothing is widened.
            lenient: project.lenient.or(user.lenient).unwrap_or(false),
            step_timeout,
            max_step_timeout: longest,
            max_result,
            keep,
            grace,
            max_processes,
            // What is shown widens nothing either.
            output: project.output.or(user.output),
            bell: project.bell.or(user.bell).unwrap_or(true),
            left_out,
            tools,
            mcp: project.mcp.over(&user.mcp),
            // Nor here: a question can declare its own limit.
            ask: project.ask.over(&user.ask),
            prompters,
            project: Powers {
                root: root.clone(),
                policy: project.policy,
                advisor: project.advisor,
                heal: project.heal,
                notify: project.notify,
            },
            user: Powers {
                root: user_root,
                policy: user.policy,
                advisor: user.advisor,
                heal: user.heal,
                notify: user.notify,
            },
            root,
        }
    }
}

/// Reads a file of settings, unless it is one that others could have made.
fn read(
    path: &Path,
    directory: &Path,
    foreign: fn(&Path) -> std::io::Result<Option<String>>,
) -> Result<Layer, Error> {
    let failed = Error::file("read", path);
    let shown = path.display();
    let about = std::fs::metadata(path).map_err(failed)?;
    if !about.is_file() || about.len() > LARGEST {
        let problem = if about.is_file() { "is too large" } else { "is not a file" };
        return Err(Error::Settings(format!("`{shown}` {problem}")));
    }
    if let Some(why) = foreign(path).map_err(failed)? {
        return Err(Error::Settings(format!("`{shown}` {why}")));
    }
    let text = std::fs::read_to_string(path).map_err(failed)?;
    let bad = |found: &Diagnostic| Error::Settings(placed(found, path, directory, &text));
    let file: File = toml::from_str(&text).map_err(|error| bad(&unreadable(&error, &text)))?;
    let root = path.parent().unwrap_or(directory);
    file.read(root).map_err(|found| bad(&found))
}

/// A project's file is shared: a secret in it would be, too.
fn keep_secrets_out(path: &Path, project: &Layer) -> Result<(), Error> {
    let plain = project.notify.iter().find(|(_, channel)| channel.has_plain_secret());
    plain.map_or(Ok(()), |(name, _)| {
        Err(Error::Settings(format!(
            "`{}`: `notify.{name}` holds a secret, but the file is shared\n  hint: say where to \
             read it: \
             `{{ env = \"NAME\" }}`, `{{ file = \"PATH\" }}` or `{{ command = [\"PROGRAM\"] }}`; \
             or put the channel into your own `config.toml`",
            path.display()
        )))
    })
}

/// Whether anyone could have put the file there: settings name programs that
/// are run, and `/tmp` is above many a working directory.
fn is_planted(path: &Path) -> std::io::Result<Option<String>> {
    let directory = path.parent().unwrap_or(path).metadata()?;
    let planted = is_foreign(path)? && directory.mode() & 0o002 != 0;
    let why = || "belongs to another user, and everyone may write to its directory".to_owned();
    Ok(planted.then(why))
}

/// Whether the user's own settings could be those of someone else.
fn is_of_others(path: &Path) -> std::io::Result<Option<String>> {
    let other = match is_foreign(path)? {
        true => Some(Other::Owner),
        false => Other::of(&path.metadata()?),
    };
    Ok(other.map(|other| other.to_string()))
}

/// Whether a file, or the link to it, belongs to another user.
fn is_foreign(path: &Path) -> std::io::Result<bool> {
    Ok(!is_ours(path.symlink_metadata()?.uid()) || !is_ours(path.metadata()?.uid()))
}

fn span(range: std::ops::Range<usize>) -> Span {
    Span { start: range.start, end: range.end }
}

/// The tables, and the keys that only one of them has.
const TABLES: [(&str, &[&str]); 4] = [
    (
        "run",
        &[
            "step_timeout",
            "max_step_timeout",
            "max_result",
            "grace",
            "max_processes",
            "undefined",
            "output",
            "bell",
        ],
    ),
    ("journal", &["durability", "keep"]),
    ("policy", &["allow", "workspace_only", "check_shell_values"]),
    ("ask", &["confirmation_timeout", "min_timeout", "max_timeout", "prompters", "after"]),
];

/// What the reader of TOML says, in our words.
fn unreadable(error: &toml::de::Error, text: &str) -> Diagnostic {
    let message = in_words(error.message());
    let range = error.span().unwrap_or_default();
    let written = text.get(range.clone()).unwrap_or_default();
    let line = text.get(..range.start).and_then(|before| before.lines().last());
    let table = text
        .get(..range.start)
        .and_then(|before| before.lines().rev().map(str::trim).find(|line| line.starts_with('[')));
    let hint = hint(&message, written, line.unwrap_or_default(), table.unwrap_or_default());
    let found = Diagnostic::error("settings", message);
    let found = match error.span() {
        Some(range) => found.label(span(range), ""),
        None => found,
    };
    found.hint_if(hint)
}

/// A message without the names that only the program has.
fn in_words(message: &str) -> String {
    let message = message.replace("unknown field", "unknown key");
    let message = match message.split_once("expected struct ") {
        Some((before, _)) => format!("{before}expected a table"),
        None => message,
    };
    ["usize", "u64", "u32", "u16"].iter().fold(message, |message, word| {
        message.replace(&format!("expected {word}"), "expected a whole number")
    })
}

/// What to write instead, where that is plain.
fn hint(message: &str, written: &str, key: &str, table: &str) -> Option<String> {
    let times = ["timeout", "grace", "keep", "expires", "patience"];
    let is_time = times.iter().any(|word| key.contains(word)) || table == "[ask.after]";
    let name = key.split('=').next().unwrap_or_default().trim();
    if message.contains("expected a table")
        && let Some((table, _)) = TABLES.iter().find(|(_, keys)| keys.contains(&name))
    {
        return Some(format!("it belongs under `[{table}]`"));
    }
    if message.contains("map, expected a sequence") {
        let name = written.trim().trim_matches(['[', ']']).lines().next().unwrap_or_default();
        let name = if name.is_empty() { table.trim_matches(['[', ']']) } else { name };
        let name = name.trim_matches(['[', ']']);
        return Some(format!("write `[[{name}]]`, once for each"));
    }
    let unknown = message.strip_prefix("unknown key `").and_then(|rest| rest.split('`').next());
    if let Some(key) = unknown {
        if key == "skills" {
            return Some("it goes at the top of the file, before the first `[table]`".to_owned());
        }
        // Two tables have a time-out of their own.
        if key == "timeout" {
            let steps = if table == "[run]" { "" } else { " under `[run]`" };
            return Some(format!(
                "write `step_timeout`{steps} for steps, or `timeout` under `[ask]` for questions"
            ));
        }
        let (table, _) = TABLES.iter().find(|(_, keys)| keys.contains(&key))?;
        return Some(format!("it belongs under `[{table}]`"));
    }
    let number = written.trim().parse::<u64>().ok();
    if let (true, Some(number)) = (message.contains("expected a string"), number) {
        match name {
            "keep" => {
                return Some(format!(
                    "write a time with its unit, in quotes: `\"{number}d\"` for days"
                ));
            }
            "max_result" => {
                return Some(format!(
                    "write a size with its unit, in quotes: `\"{}KiB\"`",
                    number.div_ceil(1024)
                ));
            }
            _ => {}
        }
    }
    match (is_time && message.contains("expected a string"), number) {
        (true, Some(number)) => Some(format!(
            "write a time with its unit, in quotes: `\"{number}s\"` for seconds, `\"{number}ms\"` \
             for \
             milliseconds"
        )),
        _ => None,
    }
}

/// The message with the place it is about; who prints it says that it is an error.
fn placed(found: &Diagnostic, path: &Path, directory: &Path, text: &str) -> String {
    let name = path.strip_prefix(directory).unwrap_or(path).to_string_lossy().into_owned();
    let shown = diagnostic::render(found, &Source::new(&name, text), false);
    shown.trim_end().trim_start_matches("error[settings]: ").to_owned()
}
