//! `aye serve open`.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use aye_runtime::announced_server::AnnouncedServer;
use aye_runtime::error::Error;
use aye_runtime::people::{Owner, PeopleFile};
use clap::Args;
use serde_json::json;

use crate::cli::Context;
use crate::cli::commands::output::{print_json, print_line};

/// Programs that open a file in a browser; the first that is installed does it.
const OPENERS: [&str; 3] = ["xdg-open", "wslview", "open"];

// Options of `aye serve open`.
#[derive(Debug, Args)]
pub struct OpenArgs {
    /// Print the path of a file that opens the page
    #[arg(long)]
    pub print: bool,
}

pub(super) fn run(args: &OpenArgs, context: &Context) -> Result<u8, Error> {
    context.require_person("sign in a device")?;
    let server = AnnouncedServer::running(&context.home).ok_or_else(|| Error::Refused {
        message: "no server runs for this home".to_owned(),
        hint: Some("start one with `aye serve`".to_owned()),
    })?;
    let people = PeopleFile::new(&context.home);
    let link = people.new_link(Owner::Local, context.now())?;
    // Every user can see command lines, but not this file.
    let path = context.home.join("open.html");
    write(&path, &page(&format!("{}/#signin={link}", server.url)))?;
    if args.print || context.json || !open(&path) {
        let shown = path.display().to_string();
        match context.json {
            true => print_json(&json!({ "file": shown, "url": server.url }))?,
            false => print_line(&shown)?,
        }
    }
    Ok(0)
}

/// A page that leads to another one.
fn page(address: &str) -> String {
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Aye</title>\n\
         <meta http-equiv=\"refresh\" content=\"0; url={address}\">\n\
         <p><a href=\"{address}\">Open Aye</a></p>\n"
    )
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    let failed = Error::file("write", path);
    // The page before it has done its work.
    let _ = std::fs::remove_file(path);
    let mut file =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)
}

/// Whether a browser was started.
fn open(path: &Path) -> bool {
    OPENERS.iter().any(|opener| {
        let mut command = Command::new(opener);
        aye_process::withhold(&mut command);
        command.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    })
}
