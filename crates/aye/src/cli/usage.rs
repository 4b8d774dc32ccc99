//! What is wrong with a command line, in our words: one `error:`, one `hint:`.

use aye_core::diagnostic::surely_meant;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use aye_runtime::error::Error;

use super::{environment, suggestions};

/// Whether JSON was asked for on a command line that makes no sense.
pub(super) fn wants_json() -> bool {
    let said = std::env::args_os().take_while(|word| word != "--").any(|word| word == "--json");
    let set = std::env::var_os(environment::JSON).and_then(|value| value.into_string().ok());
    let falsey = ["", "0", "n", "no", "f", "false", "off"];
    said || set.is_some_and(|value| !falsey.contains(&value.to_lowercase().as_str()))
}

/// The error for what clap found; nothing for `--help` and `--version`, which
/// it prints itself.
pub(super) fn error(found: &clap::Error) -> Option<Error> {
    let one = |kind| match found.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::StyledStr(text)) => Some(text.to_string()),
        Some(ContextValue::Strings(texts)) => Some(texts.join("`, `")),
        _ => None,
    };
    // What clap finds alike is often something else altogether: it has to be near.
    let near = |kind, word: &str| {
        let alike: Vec<&str> = match found.get(kind) {
            Some(ContextValue::String(text)) => vec![text],
            Some(ContextValue::Strings(texts)) => texts.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        };
        let begun = alike.iter().find(|alike| word.len() > 3 && alike.starts_with(word)).copied();
        begun.or_else(|| surely_meant(word, alike.iter().copied())).map(did_you_mean)
    };
    let arg = one(ContextKind::InvalidArg).unwrap_or_default();
    let value = one(ContextKind::InvalidValue).unwrap_or_default();
    let more = || Some(format!("see `{} --help`", command(found)));
    let (message, hint) = match found.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        | ErrorKind::DisplayVersion => return None,
        ErrorKind::InvalidSubcommand => {
            let wanted = one(ContextKind::InvalidSubcommand).unwrap_or_default();
            let hint = suggestions::command(&command(found), &wanted)
                .or_else(|| near(ContextKind::SuggestedSubcommand, &wanted));
            (format!("there is no command `{wanted}`"), hint.or_else(more))
        }
        ErrorKind::UnknownArgument => {
            let message = match arg.starts_with('-') {
                true => format!("there is no option `{arg}`"),
                false => format!("unexpected argument `{arg}`"),
            };
            let hint = suggestions::argument(&command(found), &arg)
                .or_else(|| near(ContextKind::SuggestedArg, &arg));
            (message, hint.or_else(more))
        }
        ErrorKind::InvalidValue if value.is_empty() => {
            (format!("`{arg}` needs a value"), valid(found).or_else(more))
        }
        ErrorKind::InvalidValue => {
            let near = near(ContextKind::SuggestedValue, &value);
            (format!("`{value}` does not fit `{arg}`"), near.or_else(|| valid(found)))
        }
        ErrorKind::ValueValidation => {
            let why = std::error::Error::source(found).map(|why| format!(": {why}"));
            (format!("`{value}` does not fit `{arg}`{}", why.unwrap_or_default()), more())
        }
        ErrorKind::MissingRequiredArgument if arg == "<SKILL>" => {
            (format!("`{arg}` is missing"), Some(suggestions::skills()))
        }
        ErrorKind::MissingRequiredArgument => (format!("`{arg}` is missing"), more()),
        ErrorKind::ArgumentConflict => {
            let prior = one(ContextKind::PriorArg).unwrap_or_default();
            let message = match prior == arg {
                true => format!("`{arg}` is given more than once"),
                false => format!("`{arg}` cannot be used together with `{prior}`"),
            };
            (message, Some("leave one of them out".to_owned()))
        }
        _ => {
            let text = found.render().to_string();
            let line = text.lines().next().unwrap_or_default();
            (line.trim_start_matches("error: ").to_owned(), more())
        }
    };
    Some(Error::Usage { message, hint })
}

pub(super) fn did_you_mean(near: &str) -> String {
    format!("did you mean `{near}`?")
}

fn valid(found: &clap::Error) -> Option<String> {
    match found.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) if !values.is_empty() => {
            Some(format!("it is one of: {}", values.join(", ")))
        }
        _ => None,
    }
}

/// The command that was meant, as far as it is known: `aye runs prune`.
fn command(found: &clap::Error) -> String {
    let usage = match found.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => usage.to_string(),
        _ => String::new(),
    };
    let words = usage.split_whitespace().skip_while(|word| *word != "aye");
    let words: Vec<&str> =
        words.take_while(|word| word.chars().all(|c| c.is_ascii_lowercase())).collect();
    if words.is_empty() { "aye".to_owned() } else { words.join(" ") }
}
