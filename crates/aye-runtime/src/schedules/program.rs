//! The programs of the system that schedules are handed to.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use crate::error::Error;

/// Runs a program to its end with this on its standard input.
pub(super) fn call(
    program: &'static str,
    args: &[&str],
    env: &[(&str, Option<&str>)],
    input: &str,
) -> Result<Output, Error> {
    let failed = |error: std::io::Error| Error::Refused {
        message: format!("`{program}` cannot be run: {error}"),
        hint: None,
    };
    let mut command = Command::new(program);
    aye_process::withhold(&mut command);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.envs(env.iter().filter_map(|(name, value)| Some((name, (*value)?))));
    let mut child = command.spawn().map_err(failed)?;
    if let Some(mut pipe) = child.stdin.take() {
        // One that does not read it says why.
        let _ = pipe.write_all(input.as_bytes());
    }
    child.wait_with_output().map_err(failed)
}

/// Whether a program can be found.
pub(super) fn is_there(program: &str, path: Option<&str>) -> bool {
    let directories = std::env::split_paths(path.unwrap_or("/usr/local/bin:/usr/bin:/bin"));
    directories.map(|directory| directory.join(program)).any(|file| file.is_file())
}

/// What a program said about what is wrong, in one line.
pub(super) fn last_words(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match lines.is_empty() {
        true => format!("it ended with {}", output.status),
        false => lines.join("; "),
    }
}
