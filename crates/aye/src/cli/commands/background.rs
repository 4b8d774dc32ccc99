//! Runs in the background: `aye background`, and what is said about one that was started.

use aye_core::id::RunId;
use serde_json::json;

use crate::cli::{Context, say};
use crate::paint::{Glyph, Tone, escape_control_line};
use crate::report::Verbosity;
use aye_runtime::error::Error;
use aye_runtime::usecases::background::receive;

use super::output::{print_json_line, print_line};

/// `aye background`: drives the run that its caller hands over.
pub(super) fn run(context: &Context) -> Result<u8, Error> {
    context.run_in_background(receive()?)
}

/// Says what continues and how to follow it.
pub(super) fn tell(run: &RunId, skill: &str, context: &Context) -> Result<(), Error> {
    if context.json {
        return print_json_line(&json!({ "run": run, "skill": skill }));
    }
    print_line(run.as_str())?;
    if context.verbosity == Verbosity::Quiet {
        return Ok(());
    }
    let paint = context.paint_err;
    let mut text = format!(
        "{} {} continues in the background\n",
        paint.text(Tone::Mark, paint.glyph(Glyph::Running)),
        paint.text(Tone::Strong, &escape_control_line(skill)),
    );
    for (what, command) in [
        ("follow", format!("aye watch {run}")),
        ("answer", "aye inbox --watch".to_owned()),
        ("stop", format!("aye cancel {run}")),
    ] {
        text.push_str(&format!("  {}  {command}\n", paint.text(Tone::Dim, &format!("{what:6}"))));
    }
    say(&text);
    Ok(())
}
