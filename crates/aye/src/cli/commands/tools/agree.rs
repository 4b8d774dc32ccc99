//! `aye tools trust` and `forget`, and the question before a first start.

use crate::cli::Context;
use crate::cli::commands::confirm::Consent;
use crate::cli::commands::output::{print_json, print_line};
use crate::cli::commands::trust;
use crate::paint::escape_control_line;
use aye_runtime::error::Error;
use aye_runtime::tools::Launch;
use aye_runtime::trust::Power;

use super::no_server;

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
        if is_agreed(&launch, context)? {
            if !context.json {
                print_line(&format!(
                    "{name} is trusted already: {}",
                    escape_control_line(&launch.command_line())
                ))?;
            }
        } else {
            if let Some(code) = agree(&launch, yes, context)?.refusal(5) {
                return Ok(code);
            }
            if !context.json {
                print_line(&format!("{name} is trusted in this workspace"))?;
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
    let withdrawn = context.trust_file().withdraw(&Power::server(server))?;
    if !withdrawn && !context.settings.tools.servers.contains_key(server) {
        return Err(no_server(server, context));
    }
    if context.json {
        let forgotten: &[&str] = if withdrawn { &[server] } else { &[] };
        print_json(&serde_json::json!({ "forgotten": forgotten }))?;
    } else if withdrawn {
        print_line(&format!("{server} is no longer trusted"))?;
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
pub(super) fn agree(launch: &Launch, yes: bool, context: &Context) -> Result<Consent, Error> {
    let (file, power) = (context.trust_file(), Power::from(launch));
    let before = file.read()?;
    let shown = trust::describe(&power, before.of(&power.what), context);
    let message = match before.of(&power.what) {
        Some(_) => format!("`{}` has changed. Trust it as it is now?", launch.server),
        None => format!("Trust `{}` in this workspace?", launch.server),
    };
    let waits = format!("the server `{}` is not trusted yet", launch.server);
    let said = trust::ask_about(&shown, &message, &waits, yes, context)?;
    if let Consent::Yes = said {
        file.agree(&power, context.now())?;
    }
    Ok(said)
}

/// Whether it can be started without asking.
pub(super) fn is_agreed(launch: &Launch, context: &Context) -> Result<bool, Error> {
    let own = context.settings.tools.servers.get(&launch.server).is_some_and(|one| one.own);
    Ok(own || context.trust_file().read()?.holds(&Power::from(launch)))
}
