//! `aye people`.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use aye_runtime::announced_server::AnnouncedServer;
use aye_runtime::error::Error;
use aye_runtime::people::{Credentials, Device, NewPerson, Owner, PeopleFile, Person, Right};
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::cli::Context;
use crate::paint::{Tone, escape_control_line};
use aye_runtime::clock::local;

use super::output::{print, print_json, print_line};
use super::serve::ADDRESS;
use super::trust::ask_about;

const EXAMPLES: &str = "\
Examples:
  aye people add ann --rights answer,start,read
  aye people add bob --rights read --project .
  aye people list
  aye people revoke ann                 a new token and link; ends the old
  aye people revoke ann 0f3c9a7715b2    sign out one of her devices
  aye people remove bob

A device is a browser that signed in with a link. Each link works once, for
one device, and expires after a day. The token is for programs.";

// Options of `aye people`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct PeopleArgs {
    /// What to do
    #[command(subcommand)]
    pub command: PeopleCommand,
}

// What to do about people.
#[derive(Debug, Subcommand)]
pub enum PeopleCommand {
    /// Add a person; prints a link and a token
    #[command(
        after_help = "Examples:\n  aye people add ann --rights answer,start,read\n  aye people \
             add me --rights answer,start,read --account $USER"
    )]
    Add(AddArgs),
    /// List people and their devices
    #[command(after_help = "Examples:\n  aye people list\n  aye people list --json")]
    List,
    /// Print a new link that signs in one device of a person
    #[command(after_help = "Examples:\n  aye people link ann")]
    Link {
        /// The person's name
        name: String,
    },
    /// Revoke a person's token, links and devices, or sign out one device
    #[command(
        after_help = "Examples:\n  aye people revoke ann\n  aye people revoke ann 0f3c9a7715b2"
    )]
    Revoke {
        /// The person's name
        name: String,
        /// Sign out this device only; `aye people list` shows its id
        device: Option<String>,
    },
    /// Remove a person
    #[command(after_help = "Examples:\n  aye people remove ann")]
    Remove {
        /// The person's name
        name: String,
    },
}

// Options of `aye people add`.
#[derive(Debug, Args)]
pub struct AddArgs {
    /// The name that is recorded with answers and used in `by: [names]`
    pub name: String,
    /// What they may do: answer questions, start runs, or only read
    #[arg(
        long,
        value_name = "RIGHTS",
        value_delimiter = ',',
        default_value = "read",
        value_parser = PossibleValuesParser::new(Right::ALL.map(Right::word))
    )]
    pub rights: Vec<String>,
    /// Only this project, by its directory; repeat for more
    #[arg(long, value_name = "DIR")]
    pub project: Vec<PathBuf>,
    /// Their account on this machine; its answers at a terminal count as theirs
    #[arg(long, value_name = "USER")]
    pub account: Option<String>,
    /// Add them without asking
    #[arg(long)]
    pub yes: bool,
}

pub(super) fn run(args: &PeopleArgs, context: &Context) -> Result<u8, Error> {
    let file = PeopleFile::new(&context.home);
    match &args.command {
        PeopleCommand::List => return list(&file, context),
        PeopleCommand::Add(_)
        | PeopleCommand::Link { .. }
        | PeopleCommand::Revoke { .. }
        | PeopleCommand::Remove { .. } => {
            context.require_person("change who may use the server")?;
        }
    }
    match &args.command {
        PeopleCommand::List => Ok(0),
        PeopleCommand::Add(args) => add(args, &file, context),
        PeopleCommand::Link { name } => {
            let link = file.new_link(Owner::Person(name.clone()), context.now())?;
            let link = address(&link, context);
            match context.json {
                true => print_json(&json!({ "name": name, "link": link }))?,
                false => print_line(&link)?,
            }
            Ok(0)
        }
        PeopleCommand::Revoke { name, device: Some(device) } => {
            let owner = Owner::Person(name.clone());
            let theirs = |one: &Device| one.owner == owner && one.id == *device;
            if !file.devices()?.iter().any(theirs) {
                let message = format!("`{}` has no device `{device}`", escape_control_line(name));
                return Err(Error::not_found(message, "`aye people list` shows the devices"));
            }
            file.sign_out(device)?;
            done(&format!("device {device} of {name} is signed out"), name, context)
        }
        PeopleCommand::Revoke { name, device: None } => {
            let credentials = file.revoke(name, context.now())?;
            tell(name, &credentials, context)
        }
        PeopleCommand::Remove { name } => {
            file.remove(name)?;
            done(&format!("{name} is removed"), name, context)
        }
    }
}

fn add(args: &AddArgs, file: &PeopleFile, context: &Context) -> Result<u8, Error> {
    PeopleFile::check_name(&args.name)?;
    let rights: Vec<Right> = args.rights.iter().filter_map(|word| Right::from_word(word)).collect();
    let mut projects = Vec::new();
    for project in &args.project {
        let path = context.directory.join(project);
        let real = path.canonicalize();
        projects.push(real.map_err(Error::file("find", &path))?);
    }
    let mut words: Vec<&str> = rights.iter().map(|right| right.word()).collect();
    words.dedup();
    let name = escape_control_line(&args.name);
    let shown = format!("{name}: {}\n", words.join(", "));
    let message = format!("Add `{name}`? They reach every run and question of their projects.");
    let waits = format!("`{name}` is not added yet");
    let yes = args.yes || context.json || !std::io::stdin().is_terminal();
    if let Some(code) = ask_about(&shown, &message, &waits, yes, context)?.refusal(5) {
        return Ok(code);
    }
    let new =
        NewPerson { name: args.name.clone(), rights, projects, account: args.account.clone() };
    let credentials = file.add(new, &context.driver().user, context.now())?;
    tell(&args.name, &credentials, context)
}

/// Says what a person is told, once.
fn tell(name: &str, credentials: &Credentials, context: &Context) -> Result<u8, Error> {
    let Credentials { link, token } = credentials;
    let link = address(link, context);
    if context.json {
        print_json(&json!({ "name": name, "link": link, "token": token }))?;
    } else {
        let dim = |text: &str| context.paint_out.text(Tone::Dim, text);
        print(&format!(
            "{}\n  {link}\n{}\n  {token}\n",
            dim("link that signs in one device, once; expires after a day:"),
            dim("token for programs:"),
        ))?;
    }
    Ok(0)
}

/// A link to the server that runs, or to where it would.
fn address(link: &str, context: &Context) -> String {
    let url = AnnouncedServer::running(&context.home).map(|server| server.url);
    let url = url.unwrap_or_else(|| format!("http://{ADDRESS}"));
    // What follows the `#` is sent to nobody: the page redeems it.
    format!("{url}/#signin={link}")
}

fn done(said: &str, name: &str, context: &Context) -> Result<u8, Error> {
    match context.json {
        true => print_json(&json!({ "name": name }))?,
        false => print_line(&escape_control_line(said))?,
    }
    Ok(0)
}

fn list(file: &PeopleFile, context: &Context) -> Result<u8, Error> {
    let (people, devices) = (file.read()?, file.devices()?);
    let of = |owner: &Owner| -> Vec<&Device> {
        devices.iter().filter(|device| device.owner == *owner).collect()
    };
    if context.json {
        let listed: Vec<Value> = people
            .all()
            .map(|person| as_json(person, &of(&Owner::Person(person.name.clone()))))
            .collect();
        print_json(&listed)?;
        return Ok(0);
    }
    if people.is_empty() {
        print_line("there are no people; `aye people add NAME` adds one")?;
    }
    let mut text = String::new();
    for person in people.all() {
        let rights: Vec<&str> = person.rights.iter().map(|right| right.word()).collect();
        text.push_str(&format!(
            "{}  {}",
            context.paint_out.text(Tone::Strong, &person.name),
            rights.join(", ")
        ));
        for project in &person.projects {
            text.push_str(&format!("  {}", escape_control_line(&project.to_string_lossy())));
        }
        if let Some(account) = &person.account {
            text.push_str(&format!("  account {}", escape_control_line(account)));
        }
        text.push('\n');
        for device in of(&Owner::Person(person.name.clone())) {
            let label = escape_control_line(&device.label);
            let line = format!("  {}  since {}  {label}\n", device.id, local(device.since));
            text.push_str(&context.paint_out.text(Tone::Dim, line.trim_end()));
            text.push('\n');
        }
    }
    print(&text)?;
    Ok(0)
}

fn as_json(person: &Person, devices: &[&Device]) -> Value {
    let rights: Vec<&str> = person.rights.iter().map(|right| right.word()).collect();
    let devices: Vec<Value> = devices
        .iter()
        .map(|one| json!({ "device": one.id, "label": one.label, "since": one.since }))
        .collect();
    json!({
        "name": person.name,
        "rights": rights,
        "projects": person.projects,
        "account": person.account,
        "added": person.added,
        "devices": devices,
    })
}
