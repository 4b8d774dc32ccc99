//! `aye trust`: whose project it is.

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use aye_core::text::diff;
use clap::Args;
use serde_json::json;

use crate::cli::{Context, say};
use crate::paint::{Tone, escape_control, escape_control_line};
use aye_runtime::error::Error;
use aye_runtime::trust::{Agreement, Power};

use super::confirm::{Consent, Default, consent, must_have_person};
use super::output::{print, print_json, print_line};

const EXAMPLES: &str = "\
Examples:
  aye trust                 review this project and trust it
  aye trust ~/src/infra
  aye trust --yes           trust it without a question, for scripts
  aye trust --list          list trusted directories
  aye trust --remove        stop trusting it

Assistants, schedules and the server start skills of trusted projects only.
`aye run` runs a skill of any project, but ignores tool servers, heal rules,
notification channels, the advisor and looser limits in its `aye.toml` until
you trust it. If one of these changes later, Aye shows the difference and asks
again.

Exit codes: 0 trusted, 3 not found, 5 declined, 6 nobody can be asked.";

// Options of `aye trust`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TrustArgs {
    /// The project [default: the working directory]
    pub directory: Option<PathBuf>,
    /// Trust it without a question
    #[arg(short, long, conflicts_with_all = ["list", "remove"])]
    pub yes: bool,
    /// List trusted directories
    #[arg(long, conflicts_with_all = ["remove", "directory"])]
    pub list: bool,
    /// Stop trusting it, and forget everything you agreed to in it
    #[arg(long)]
    pub remove: bool,
}

pub(super) fn run(args: &TrustArgs, context: &Context) -> Result<u8, Error> {
    if args.list {
        return list(context);
    }
    if args.remove {
        return remove(args, context);
    }
    let there = match &args.directory {
        None => context.clone(),
        Some(directory) => {
            let path = context.directory.join(directory);
            let real = path.canonicalize();
            let real = real.map_err(Error::file("find", &path))?;
            context.at(&real.to_string_lossy())?
        }
    };
    let Pending { powers, shown, is_new, .. } = Pending::of(&there)?;
    let root = there.trust_file().root().display().to_string();
    if !is_new {
        if there.json {
            return told(&root, &powers).map(|()| 0);
        }
        print_line(&format!("{} is trusted already", escape_control_line(&root)))?;
        return Ok(0);
    }
    if let Some(code) = decide(&there, &powers, &shown, args.yes)?.refusal(5) {
        return Ok(code);
    }
    match there.json {
        true => told(&root, &powers)?,
        false => print_line(&format!("{} is trusted", escape_control_line(&root)))?,
    }
    Ok(0)
}

/// What there is to agree to in a project.
struct Pending {
    powers: Vec<Power>,
    /// All of it, with what has changed.
    shown: String,
    /// Whether anything of it was not agreed to yet.
    is_new: bool,
    trusted: bool,
}

impl Pending {
    fn of(context: &Context) -> Result<Self, Error> {
        let agreed = context.trust_file().read()?;
        let paint = context.paint_err;
        let mut powers = Power::of(&context.settings);
        let had_policy = agreed.of("policy").is_some_and(|before| !before.shown().is_empty());
        if had_policy && !powers.iter().any(|power| power.what == "policy") {
            powers.push(Power::no_policy());
        }
        let mut warnings = String::new();
        let servers = &context.settings.tools.servers;
        for (name, _) in servers.iter().filter(|(_, server)| !server.own) {
            match context.settings.tools.launch(name, &context.directory, &context.env) {
                Some(Ok(launch)) => powers.push(Power::from(&launch)),
                Some(Err(error)) => warnings.push_str(&format!(
                    "{} {}\n",
                    paint.text(Tone::Warn, "warning:"),
                    escape_control_line(&format!(
                        "server `{name}` is not agreed to, it cannot be started: {error}"
                    )),
                )),
                None => {}
            }
        }
        let open =
            context.trust_file().root().metadata().is_ok_and(|about| about.mode() & 0o002 != 0);
        if open {
            let mark = paint.text(Tone::Warn, "warning:");
            warnings.push_str(&format!("{mark} everyone can write to this directory\n"));
        }
        let root = context.trust_file().root().display().to_string();
        let mut shown = format!("{}\n", paint.text(Tone::Strong, &escape_control_line(&root)));
        for power in &powers {
            shown.push_str(&describe(power, agreed.of(&power.what), context));
        }
        shown.push_str(&warnings);
        let is_new = !agreed.trusted || powers.iter().any(|power| !agreed.holds(power));
        Ok(Self { powers, shown, is_new, trusted: agreed.trusted })
    }
}

/// Shows everything and asks; a yes is kept.
fn decide(context: &Context, powers: &[Power], shown: &str, yes: bool) -> Result<Consent, Error> {
    let file = context.trust_file();
    let message = match file.read()?.trusted {
        true => "This has changed. Trust it as it is now?".to_owned(),
        false => {
            format!("Trust `{}`?", escape_control_line(&file.root().to_string_lossy()))
        }
    };
    let waits = format!("`{}` is not trusted yet", file.root().display());
    let said = ask_about(shown, &message, &waits, yes, context)?;
    if let Consent::Yes = said {
        file.trust(powers, context.now())?;
    }
    Ok(said)
}

/// Asks for trust where something needs it that was just set up; whether it is there.
pub(super) fn also_trust(yes: bool, context: &Context) -> Result<bool, Error> {
    let Pending { powers, shown, is_new, trusted } = Pending::of(context)?;
    if !is_new {
        return Ok(true);
    }
    Ok(matches!(decide(context, &powers, &shown, yes)?, Consent::Yes) || trusted)
}

/// A power as it is shown: whole, or what has changed of it.
pub(super) fn describe(power: &Power, before: Option<&Agreement>, context: &Context) -> String {
    let paint = context.paint_err;
    let mut text = format!("{}\n", paint.text(Tone::Strong, &escape_control_line(&power.what)));
    let now = power.shown.join("\n");
    // An agreement of an earlier version has only a part of it.
    let changed = before.filter(|before| before.shown() != now);
    let lines = match changed {
        None => power.shown.clone(),
        Some(before) => diff(before.shown(), &now),
    };
    for line in lines {
        let line = escape_control(&line);
        let line = match (changed, line.chars().next()) {
            (Some(_), Some('-')) => paint.text(Tone::Bad, &line),
            (Some(_), Some('+')) => paint.text(Tone::Good, &line),
            _ => line,
        };
        text.push_str(&format!("  {line}\n"));
    }
    text
}

/// Shows something and asks whether it is all right. `waits` says what is not,
/// where nobody can be asked.
pub(super) fn ask_about(
    shown: &str,
    message: &str,
    waits: &str,
    yes: bool,
    context: &Context,
) -> Result<Consent, Error> {
    context.require_person("say what you trust")?;
    if yes {
        if !context.json {
            print(shown)?;
        }
        return Ok(Consent::Yes);
    }
    let hint = "look at it and agree with `aye trust` on a terminal";
    must_have_person(&format!("{waits}, and nobody can be asked"), hint, context)?;
    say(shown);
    consent(message, Default::No, context)
}

fn told(root: &str, powers: &[Power]) -> Result<(), Error> {
    let agreed: Vec<_> = powers
        .iter()
        .map(|power| json!({ "what": power.what, "shown": power.shown, "digest": power.digest }))
        .collect();
    print_json(&json!({ "directory": root, "trusted": true, "agreed": agreed }))
}

fn list(context: &Context) -> Result<u8, Error> {
    let all = context.trust_file().all()?;
    if context.json {
        let all: Vec<_> = all
            .iter()
            .map(|(directory, trusted)| json!({ "directory": directory, "since": trusted.at }))
            .collect();
        return print_json(&all).map(|()| 0);
    }
    if all.is_empty() {
        return Err(Error::not_found("no directory is trusted", "`aye trust` trusts this one"));
    }
    let lines: Vec<String> =
        all.keys().map(|directory| escape_control_line(directory) + "\n").collect();
    print(&lines.concat())?;
    Ok(0)
}

fn remove(args: &TrustArgs, context: &Context) -> Result<u8, Error> {
    let file = match &args.directory {
        None => context.trust_file(),
        // One that is gone can be taken back, too.
        Some(directory) => {
            let path = context.directory.join(directory);
            match context
                .at(&path.canonicalize().unwrap_or_else(|_| path.clone()).to_string_lossy())
            {
                Ok(there) => there.trust_file(),
                Err(_) => aye_runtime::trust::TrustFile::new(&context.home, &path),
            }
        }
    };
    let root = escape_control_line(&file.root().to_string_lossy());
    if !file.remove()? {
        let hint = "`aye trust --list` lists what is";
        return Err(Error::not_found(format!("`{root}` is not trusted"), hint));
    }
    match context.json {
        true => print_json(&json!({ "directory": file.root(), "trusted": false }))?,
        false => print_line(&format!("{root} is not trusted any more"))?,
    }
    Ok(0)
}
