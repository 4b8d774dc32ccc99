//! `aye audit`.

use clap::Args;

use crate::cli::Context;
use crate::error::Error;
use crate::paint::{Glyph, Tone};

use super::output::{print, print_json};

/// Options of `aye audit`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  aye audit\n  aye audit last --json")]
pub struct AuditArgs {
    /// A run's id, the beginning of one, or last [default: every run]
    pub run: Option<String>,
}

pub(super) fn run(args: &AuditArgs, context: &Context) -> Result<u8, Error> {
    let Some(store) = context.store_to_read()? else { return Err(Context::no_journal()) };
    let run = match &args.run {
        Some(name) => Some(context.find_run(&store, name)?.id),
        None => None,
    };
    let audit = store.audit(run.as_ref())?;
    let found = audit.findings.len();
    if context.json {
        let findings: Vec<String> = audit.findings.iter().map(ToString::to_string).collect();
        print_json(&serde_json::json!({
            "runs": audit.runs, "events": audit.events, "findings": findings,
        }))?;
    } else {
        let paint = context.paint_out;
        let mut text = String::new();
        for finding in &audit.findings {
            let mark = paint.text(Tone::Bad, paint.glyph(Glyph::Failed));
            text.push_str(&format!("{mark} {finding}\n"));
        }
        let looked = format!("{} events of {} runs", audit.events, audit.runs);
        let verdict = match found {
            0 => {
                let mark = paint.text(Tone::Good, paint.glyph(Glyph::Done));
                format!("{mark} {looked}: nothing was changed\n")
            }
            found => format!("{looked}: {found} found\n"),
        };
        text.push_str(&verdict);
        print(&text)?;
    }
    Ok(u8::from(found > 0))
}
