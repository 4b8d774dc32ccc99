//! `aye auth`.

use clap::{Args, Subcommand};
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;

use crate::cli::Context;
use crate::paint::Tone;
use aye_runtime::auth::{AuthError, Authenticator};
use aye_runtime::error::Error;
use aye_runtime::people::{PeopleError, PeopleFile};

use super::output::{print, print_json, print_line};

// Options of `aye auth`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  aye auth setup             scan the QR code with an authenticator \
         app\n  \
    aye auth confirm 123456    prove that the app works\n  \
    aye auth setup --person ann    for a person of `aye serve`\n\n\
    Questions with `reauth: true` then need a code: at the prompt, or with\n  \
    aye answer ID proceed --code 123456"
)]
pub struct AuthArgs {
    /// For this person of the server, instead of you
    #[arg(long, value_name = "NAME", global = true)]
    pub person: Option<String>,
    /// What to do
    #[command(subcommand)]
    pub command: AuthCommand,
}

// What to do about the second factor.
#[derive(Debug, Subcommand)]
pub enum AuthCommand {
    /// Create a secret and show it as a QR code
    #[command(after_help = "Examples:\n  aye auth setup\n  aye auth setup --replace 123456")]
    Setup {
        /// Replace the existing one; CODE is a current code, as proof
        #[arg(long, value_name = "CODE")]
        replace: Option<String>,
    },
    /// Finish the setup with a first code
    #[command(after_help = "Examples:\n  aye auth confirm 123456")]
    Confirm {
        /// The code the app shows
        code: String,
    },
    /// Show whether a second factor is set up
    #[command(after_help = "Examples:\n  aye auth status\n  aye auth status --json")]
    Status,
    /// Remove the second factor
    #[command(after_help = "Examples:\n  aye auth remove 123456")]
    Remove {
        /// A current code, as proof
        code: String,
    },
}

pub(super) fn run(args: &AuthArgs, context: &Context) -> Result<u8, Error> {
    let user = match &args.person {
        Some(name) => known_person(name, context)?,
        None => context.person(),
    };
    let authenticator = Authenticator::of(&context.home, &user);
    // A program could use a code up, or lock the person out with wrong ones.
    match &args.command {
        AuthCommand::Status => {}
        AuthCommand::Setup { .. } | AuthCommand::Confirm { .. } | AuthCommand::Remove { .. } => {
            context.require_person("change a second factor")?;
        }
    }
    match &args.command {
        AuthCommand::Setup { replace } => {
            match (authenticator.is_set_up(), replace) {
                (true, Some(code)) => authenticator.check(code, context.now())?,
                (true, None) => {
                    return Err(AuthError::SetUp(user).into());
                }
                (false, _) => {}
            }
            let address = authenticator.set_up(context.now())?;
            if context.json {
                standing(&user, false, Some(&address))?;
            } else {
                print(&picture(&address, context)?)?;
            }
        }
        AuthCommand::Confirm { code } => {
            authenticator.confirm(code, context.now())?;
            if context.json {
                standing(&user, true, None)?;
            } else {
                print_line(&format!("a second factor is set up for {user}"))?;
            }
        }
        AuthCommand::Status => {
            let set_up = authenticator.is_set_up();
            if context.json {
                standing(&user, set_up, None)?;
            } else if set_up {
                print_line(&format!("a second factor is set up for {user}"))?;
            } else {
                print_line(&format!(
                    "no second factor is set up for {user}; run `aye auth setup`"
                ))?;
            }
            return Ok(u8::from(!set_up));
        }
        AuthCommand::Remove { code } => {
            authenticator.check(code, context.now())?;
            authenticator.remove()?;
            if context.json {
                standing(&user, false, None)?;
            } else {
                print_line(&format!("removed the second factor of {user}"))?;
            }
        }
    }
    Ok(0)
}

/// A person of the server.
fn known_person(name: &str, context: &Context) -> Result<String, Error> {
    let people = PeopleFile::new(&context.home).read()?;
    match people.named(name) {
        Some(person) => Ok(person.name.clone()),
        None => Err(PeopleError::NotFound(name.to_owned()).into()),
    }
}

/// Whether there is a second factor, for programs; the address of a new one.
fn standing(user: &str, set_up: bool, address: Option<&str>) -> Result<(), Error> {
    let mut standing = serde_json::json!({ "user": user, "set_up": set_up });
    if let Some(address) = address {
        standing["address"] = address.into();
    }
    print_json(&standing)
}

/// The address as a picture and as text, with what to do next.
fn picture(address: &str, context: &Context) -> Result<String, Error> {
    let code = QrCode::new(address).map_err(|error| Error::Refused {
        message: format!("cannot draw the QR code: {error}"),
        hint: None,
    })?;
    // Dark on light is what apps read; terminals are mostly light on dark.
    let drawn =
        code.render::<Dense1x2>().dark_color(Dense1x2::Light).light_color(Dense1x2::Dark).build();
    let drawn = if context.paint_out.unicode { drawn + "\n" } else { String::new() };
    let dim = |text: &str| context.paint_out.text(Tone::Dim, text);
    Ok(format!(
        "{drawn}{}\n\nscan it with your authenticator app, then: aye auth confirm CODE\n",
        dim(address)
    ))
}
