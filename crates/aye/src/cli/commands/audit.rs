//! `aye audit`.

use clap::Args;

use crate::cli::Context;
use crate::paint::{Glyph, Tone, escape_control, plural};
use aye_runtime::error::Error;

use super::output::{print_json, print_words};

// Options of `aye audit`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  aye audit\n  aye audit last --json")]
pub struct AuditArgs {
    /// A run's id, the beginning of one, or last [default: every run]
    pub run: Option<String>,
}

pub(super) fn run(args: &AuditArgs, context: &Context) -> Result<u8, Error> {
    let (audited, findings) = context.audit(args.run.as_deref())?;
    let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
    if context.json {
        print_json(&serde_json::json!({
            "runs": audited.runs, "events": audited.events, "findings": findings,
        }))?;
        return Ok(u8::from(!findings.is_empty()));
    }
    let paint = context.paint_out;
    let mut text = String::new();
    for finding in &findings {
        let mark = paint.text(Tone::Bad, paint.glyph(Glyph::Failed));
        text.push_str(&format!("{mark} {}\n", escape_control(finding)));
    }
    let count = |number: u64, word| plural(usize::try_from(number).unwrap_or(usize::MAX), word);
    let looked = format!("{} of {}", count(audited.events, "event"), count(audited.runs, "run"));
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
