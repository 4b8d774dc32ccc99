//! `aye memory import`.

use std::path::PathBuf;

use serde_json::json;

use crate::cli::Context;
use crate::cli::commands::output::{print_json, print_line};
use crate::paint::{Tone, escape_control_line};
use aye_runtime::error::Error;
use aye_runtime::memory::{ImportOutcome, Importing, Memory};

/// More than the original system ever wrote.
const LARGEST: u64 = 16 << 20;

pub(super) fn run(files: &[PathBuf], memory: &Memory, context: &Context) -> Result<u8, Error> {
    let (by, now) = (context.driver().user, context.now());
    let how = Importing { by: &by, now, mask: &str::to_owned };
    let (mut shown, mut failed) = (Vec::new(), false);
    for file in files {
        let name = file.display().to_string();
        let read = |path: &PathBuf| -> std::io::Result<String> {
            let about = std::fs::metadata(path)?;
            if !about.is_file() {
                return Err(std::io::Error::other("it is not a regular file"));
            }
            if about.len() > LARGEST {
                return Err(std::io::Error::other("it is larger than 16 MiB"));
            }
            std::fs::read_to_string(path)
        };
        let text = read(file).map_err(Error::file("read", file))?;
        match memory.import(&text, how) {
            Ok(lines) => {
                if !context.json {
                    for line in &lines {
                        let (word, tone) = match line.outcome {
                            ImportOutcome::Kept => ("kept", Tone::Strong),
                            ImportOutcome::Known => ("known already", Tone::Dim),
                            ImportOutcome::PassedOver => ("passed over", Tone::Warn),
                        };
                        print_line(&format!(
                            "{}  {}  {}: {}",
                            escape_control_line(&name),
                            escape_control_line(&line.entry),
                            context.paint_out.text(tone, word),
                            escape_control_line(&line.about),
                        ))?;
                    }
                }
                shown.push(json!({ "file": name, "entries": lines }));
            }
            Err(error) => {
                failed = true;
                let hint = error.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
                crate::cli::say(&format!("error: `{name}`: {error}{hint}\n"));
                shown.push(json!({ "file": name, "error": error.to_string() }));
            }
        }
    }
    if context.json {
        print_json(&shown)?;
    }
    Ok(u8::from(failed))
}
