//! `aye serve`.
//!
//! Starts the server, opens its page (`open`) or writes a systemd unit (`install`). Touches that
//! file; the options go to the server in `crate::serve`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aye_runtime::error::Error;
use aye_runtime::trust::StartedBy;
use clap::{Args, Subcommand};
use serde_json::json;

use crate::cli::{Context, say};
use crate::{mcp, serve};

use super::output::{print_json_line, print_line};

mod install;
mod open;

const EXAMPLES: &str = "\
Examples:
  aye serve                          at 127.0.0.1:8740, as its first line says
  aye serve --listen 127.0.0.1:0     at a free port
  aye serve open                     open its page, signed in
  aye serve install                  keep it running: a systemd user unit
  aye serve --listen 192.0.2.7:8740 --remote --tls-self-signed
                                     for other machines (`aye people add`)
  aye serve --socket /run/aye/serve.sock
                                     also for other accounts of this machine

Programs of this user find address and token in `AYE_HOME/serve.json`:
  curl -H \"Authorization: Bearer $(jq -r .token serve.json)\" \\
    $(jq -r .url serve.json)/api/v1/runs";

/// Where it listens unless someone says.
pub(super) const ADDRESS: &str = "127.0.0.1:8740";

// Options of `aye serve`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, subcommand_negates_reqs = true)]
pub struct ServeArgs {
    #[command(flatten)]
    pub place: ListenArgs,
    /// What to do instead of serving
    #[command(subcommand)]
    pub command: Option<ServeCommand>,
}

// Where the server is, and for whom.
#[derive(Debug, Args)]
pub struct ListenArgs {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = ADDRESS)]
    pub listen: String,
    /// Another name under which clients reach it
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    /// Let other machines connect: needs a certificate and at least one person
    #[arg(long)]
    pub remote: bool,
    /// The certificate that encrypts connections, as a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// The key of the certificate, as a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Encrypt with a certificate that Aye makes, `AYE_HOME/serve.crt`
    #[arg(long, conflicts_with_all = ["tls_cert", "tls_key"])]
    pub tls_self_signed: bool,
    /// Also listen at a Unix socket, for other accounts of this machine
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
}

impl ListenArgs {
    fn options(&self, directory: &Path, mcp: Option<axum::Router>) -> serve::Options {
        let at = |path: &PathBuf| directory.join(path);
        let certificate = match (&self.tls_cert, &self.tls_key) {
            (Some(chain), Some(key)) => {
                Some(serve::Certificate::Files { chain: at(chain), key: at(key) })
            }
            _ => self.tls_self_signed.then_some(serve::Certificate::SelfSigned),
        };
        serve::Options {
            listen: self.listen.clone(),
            remote: self.remote,
            hosts: self.host.clone(),
            certificate,
            socket: self.socket.as_ref().map(at),
            mcp,
        }
    }

    /// The same as words of a command line.
    fn words(&self, directory: &Path) -> Vec<String> {
        let mut words = vec!["--listen".to_owned(), self.listen.clone()];
        for host in &self.host {
            words.extend(["--host".to_owned(), host.clone()]);
        }
        for (name, set) in [("--remote", self.remote), ("--tls-self-signed", self.tls_self_signed)]
        {
            words.extend(set.then(|| name.to_owned()));
        }
        let files = [
            ("--tls-cert", &self.tls_cert),
            ("--tls-key", &self.tls_key),
            ("--socket", &self.socket),
        ];
        for (name, path) in files {
            if let Some(path) = path {
                words.push(name.to_owned());
                words.push(directory.join(path).to_string_lossy().into_owned());
            }
        }
        words
    }
}

// What there is besides serving.
#[derive(Debug, Subcommand)]
pub enum ServeCommand {
    /// Open the page of the running server, signed in
    #[command(
        after_help = "Examples:\n  aye serve open\n  aye serve open --print    print the path of \
             a file that opens the page"
    )]
    Open(open::OpenArgs),
    /// Write a systemd user unit that keeps the server running
    #[command(
        after_help = "Examples:\n  aye serve install\n  systemctl --user enable --now aye-serve"
    )]
    Install(install::InstallArgs),
}

pub(super) fn run(args: &ServeArgs, context: &Context) -> Result<u8, Error> {
    match &args.command {
        Some(ServeCommand::Open(args)) => return open::run(args, context),
        Some(ServeCommand::Install(args)) => return install::run(args, context),
        None => {}
    }
    let served = Arc::new(context.runtime.started_by(StartedBy::Server));
    // What drivers could not tell, and what is due later.
    let _messages = served.deliver_messages();
    let assistants = Arc::new(context.runtime.started_by(StartedBy::Assistant));
    let mcp = Some(mcp::router(assistants)?);
    let options = args.place.options(&context.directory, mcp);
    serve::serve(served, options, |server| {
        let certificate = server.certificate.as_ref().map(|file| file.display().to_string());
        match context.json {
            true => {
                let mut told = json!({ "url": server.url, "pid": server.pid });
                if let Some(certificate) = &certificate {
                    told["certificate"] = certificate.as_str().into();
                }
                print_json_line(&told)?;
            }
            false => print_line(&server.url)?,
        }
        if let Some(certificate) = certificate {
            say(&format!("clients verify its certificate with {certificate}\n"));
        }
        say("`aye serve open` opens the page; Ctrl-C stops the server, not the runs\n");
        Ok(())
    })
}
