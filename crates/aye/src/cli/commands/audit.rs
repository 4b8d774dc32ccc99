//! `aye audit`.

use std::io::Read as _;

use clap::Args;

use crate::cli::Context;
use crate::paint::{Glyph, Tone, escape_control, plural};
use aye_runtime::error::Error;
use aye_runtime::usecases::{Audited, Heads, parse_heads};

use super::output::{print, print_json, print_words};

// Options of `aye audit`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  aye audit\n  aye audit last --json\n  \
    aye audit --head > heads.txt\n  aye audit --against heads.txt")]
pub struct AuditArgs {
    /// A run's id, the beginning of one, or last [default: every run]
    pub run: Option<String>,
    /// Print the head (a hash) of every run and of the pruned runs, to keep elsewhere
    #[arg(long, conflicts_with_all = ["run", "against"])]
    pub head: bool,
    /// Also report what is shorter, different or gone since `--head` printed FILE; `-` is standard
    /// input
    #[arg(long, value_name = "FILE", conflicts_with = "run")]
    pub against: Option<String>,
}

pub(super) fn run(args: &AuditArgs, context: &Context) -> Result<u8, Error> {
    if args.head {
        let heads = context.heads()?;
        match context.json {
            true => print_json(&heads)?,
            false => print(&heads.to_text())?,
        }
        return Ok(0);
    }
    let against = args.against.as_deref().map(read_heads).transpose()?;
    let (audited, findings) = context.audit(args.run.as_deref(), against.as_ref())?;
    let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
    if context.json {
        let Audited { runs, events, logs, unsealed } = audited;
        print_json(&serde_json::json!({
            "runs": runs, "events": events, "logs": logs, "unsealed": unsealed,
            "findings": findings,
        }))?;
        return Ok(u8::from(!findings.is_empty()));
    }
    let paint = context.paint_out;
    let mut text = String::new();
    for finding in &findings {
        let mark = paint.text(Tone::Bad, paint.glyph(Glyph::Failed));
        text.push_str(&format!("{mark} {}\n", escape_control(finding)));
    }
    let looked = describe(&audited);
    text.push_str(&match findings.len() {
        0 => {
            let mark = paint.text(Tone::Good, paint.glyph(Glyph::Done));
            format!("{mark} {looked}: nothing was changed\n")
        }
        found => format!("{looked}: {}\n", plural(found, "finding")),
    });
    print_words(&text)?;
    Ok(u8::from(!findings.is_empty()))
}

/// How much was looked at, in words.
fn describe(audited: &Audited) -> String {
    let count = |number: u64, word| plural(usize::try_from(number).unwrap_or(usize::MAX), word);
    let Audited { runs, events, logs, unsealed } = *audited;
    let mut text = format!("{} of {}", count(events, "event"), count(runs, "run"));
    if logs > 0 {
        text.push_str(&format!(", {}", count(logs, "log")));
    }
    if unsealed > 0 {
        text.push_str(&format!(" ({unsealed} more not sealed)"));
    }
    text
}

/// The heads in a file that someone kept.
fn read_heads(file: &str) -> Result<Heads, Error> {
    let mut text = String::new();
    match file {
        "-" => drop(std::io::stdin().read_to_string(&mut text).map_err(Error::Input)?),
        _ => {
            let failed = Error::file("read", file.as_ref());
            text = std::fs::read_to_string(file).map_err(failed)?;
        }
    }
    parse_heads(file, &text)
}
