//! `aye tools trust` and `forget`, and the question before a first start.

use crate::cli::Context;
use crate::cli::commands::confirm::{Default, YES, yes_or_no};
use crate::cli::commands::output::{print, print_json, print_line};
use crate::cli::commands::scripted::{Asked, Asking, ask};
use crate::error::Error;
use crate::paint::{Tone, inert, inert_line};
use crate::prompt::Escape;
use crate::tools::{Launch, TrustError};

use super::{book, no_server};

/// What somebody said to a server's command.
pub(super) enum Said {
    /// Start it.
    Yes,
    /// Do not.
    No,
    /// Nothing: the exit code says why.
    Left(u8),
}

pub(super) fn run(server: Option<&str>, yes: bool, context: &Context) -> Result<u8, Error> {
    let servers = &context.settings.tools.servers;
    let names: Vec<&str> = match server {
        Some(name) if servers.contains_key(name) => vec![name],
        Some(name) => return Err(no_server(name, context)),
        None => servers.keys().map(String::as_str).collect(),
    };
    if names.is_empty() {
        return Err(Error::not_found(
            "`aye.toml` has no MCP servers",
            "`[tools.NAME]` with `server = [\"program\", \"argument\"]` names one",
        ));
    }
    let mut report = Vec::new();
    for name in names {
        let launch = launch(name, context)?;
        let trusted = book(context).holds(&launch)?;
        if trusted {
            if !context.json {
                print_line(&format!(
                    "{name} is trusted already: {}",
                    inert_line(&launch.command_line())
                ))?;
            }
        } else {
            match agree(&launch, yes, context)? {
                Said::Yes if context.json => {}
                Said::Yes => print_line(&format!("{name} is trusted in this workspace"))?,
                Said::No => return Ok(5),
                Said::Left(code) => return Ok(code),
            }
        }
        report.push(serde_json::json!({
            "server": name, "command": launch.command, "digest": launch.digest, "trusted": true,
        }));
    }
    if context.json {
        print_json(&report)?;
    }
    Ok(0)
}

pub(super) fn forget(server: &str, context: &Context) -> Result<u8, Error> {
    let withdrawn = book(context).withdraw(server)?;
    if !withdrawn && !context.settings.tools.servers.contains_key(server) {
        return Err(no_server(server, context));
    }
    if context.json {
        let forgotten: &[&str] = if withdrawn { &[server] } else { &[] };
        print_json(&serde_json::json!({ "forgotten": forgotten }))?;
    } else if withdrawn {
        print_line(&format!("{server} is asked about again before it is started"))?;
    } else {
        print_line(&format!("{server} was not trusted"))?;
    }
    Ok(0)
}

/// What starting it means.
pub(super) fn launch(server: &str, context: &Context) -> Result<Launch, Error> {
    let found = context.settings.tools.launch(server, &context.directory, &context.env);
    match found {
        None => Err(no_server(server, context)),
        Some(Ok(launch)) => Ok(launch),
        Some(Err(error)) => Err(Error::Refused {
            message: format!("the server `{server}` cannot be started: {error}"),
            hint: error.hint(),
        }),
    }
}

/// Shows what would be started and asks; a yes is kept.
pub(super) fn agree(launch: &Launch, yes: bool, context: &Context) -> Result<Said, Error> {
    let changed = book(context).differs(launch)?;
    let message = match changed {
        true => format!("`{}` has changed. Trust it as it is now?", launch.server),
        false => format!("Trust `{}` in this workspace?", launch.server),
    };
    let shown = describe(launch, context);
    if yes {
        if !context.json {
            print(&shown)?;
        }
    } else {
        let manner = context.manner(Escape::Dismisses, true);
        if let Some(why) = manner.obstacle {
            return Err(Error::Unattended {
                message: format!(
                    "the server `{}` is not trusted yet, and nobody can be asked: {why}",
                    launch.server
                ),
                hint: Some(format!(
                    "look at it and agree with `aye tools trust {}` on a terminal",
                    launch.server
                )),
            });
        }
        crate::cli::say(&shown);
        let asking = Asking::default();
        let question = yes_or_no(&message, Some(Default::No))?;
        let asked = ask(&question, None, &asking, context)?;
        match asked {
            Asked::Value(value, _) if value == YES => {}
            Asked::Value(..) => return Ok(Said::No),
            Asked::Nothing(code) => return Ok(Said::Left(code)),
        }
    }
    book(context).agree(launch, context.now())?;
    Ok(Said::Yes)
}

fn describe(launch: &Launch, context: &Context) -> String {
    let paint = context.paint_err;
    let mut text = format!(
        "{}  {}\n",
        paint.text(Tone::Strong, &launch.server),
        inert(&launch.command_line())
    );
    let mut line = |name: &str, value: &str| {
        text.push_str(&format!("  {} {}\n", paint.text(Tone::Dim, name), inert(value)));
    };
    if let Some(cwd) = &launch.cwd {
        line("works in", &cwd.to_string_lossy());
    }
    if !launch.variables.is_empty() {
        line("gets", &launch.variables.join(", "));
    }
    text
}

impl From<TrustError> for Error {
    fn from(error: TrustError) -> Self {
        Self::Refused {
            message: error.to_string(),
            hint: Some("remove the file to be asked again".to_owned()),
        }
    }
}
