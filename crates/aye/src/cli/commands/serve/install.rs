//! `aye serve install`.

use std::path::{Path, PathBuf};

use aye_runtime::error::Error;
use clap::Args;
use serde_json::json;

use crate::cli::Context;
use crate::cli::commands::output::{print, print_json};

use super::ADDRESS;

const UNIT: &str = "aye-serve.service";

// Options of `aye serve install`.
#[derive(Debug, Args)]
pub struct InstallArgs {
    /// Where to listen
    #[arg(long, value_name = "ADDRESS", default_value = ADDRESS)]
    pub listen: String,
    /// Print the unit and write nothing
    #[arg(long)]
    pub print: bool,
}

pub(super) fn run(args: &InstallArgs, context: &Context) -> Result<u8, Error> {
    let program = std::env::current_exe().map_err(|source| Error::File {
        doing: "find",
        path: "aye".into(),
        source,
    })?;
    let unit = unit(&program, &context.home, &context.directory, &args.listen);
    if args.print {
        print(&unit)?;
        return Ok(0);
    }
    let path = directory(context)?.join(UNIT);
    let failed = |source| Error::File { doing: "write", path: path.clone(), source };
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).map_err(failed)?;
    std::fs::write(&path, unit).map_err(failed)?;
    if context.json {
        print_json(&json!({ "unit": path.display().to_string() }))?;
    } else {
        let next = "systemctl --user daemon-reload\nsystemctl --user enable --now aye-serve\n";
        print(&format!("wrote {}\nstart it with:\n{next}", path.display()))?;
    }
    Ok(0)
}

/// Where systemd looks for units of the user.
fn directory(context: &Context) -> Result<PathBuf, Error> {
    let config = context.env.get("XDG_CONFIG_HOME").map(PathBuf::from);
    let config = config.filter(|path| path.is_absolute());
    let home = context.env.get("HOME").map(|home| Path::new(home).join(".config"));
    config.or(home).map(|config| config.join("systemd/user")).ok_or_else(|| {
        Error::usage("there is no home directory to write the unit to", "set `HOME`")
    })
}

/// The unit. Stopping it stops the server alone: runs are processes of their own.
fn unit(program: &Path, home: &Path, directory: &Path, listen: &str) -> String {
    let word = |path: &Path| quoted(&path.to_string_lossy());
    format!(
        "[Unit]\n\
         Description=Aye: runs, questions and skills over HTTP\n\
         Documentation=man:aye(1)\n\
         \n\
         [Service]\n\
         ExecStart={} serve --home {} --listen {}\n\
         WorkingDirectory={}\n\
         KillMode=process\n\
         Restart=on-failure\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n",
        word(program),
        word(home),
        quoted(listen),
        directory.to_string_lossy().replace('%', "%%"),
    )
}

/// A word as systemd reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:[]".contains(c);
    match word.chars().all(plain) && !word.is_empty() {
        true => word.to_owned(),
        false => {
            let escaped = word.replace('\\', "\\\\").replace('"', "\\\"");
            format!("\"{}\"", escaped.replace('%', "%%").replace('$', "$$"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stopping_the_unit_stops_no_run() {
        let unit = unit(
            Path::new("/usr/bin/aye"),
            Path::new("/home/a b/100%"),
            Path::new("/w"),
            "127.0.0.1:8740",
        );
        assert!(unit.contains("\nKillMode=process\n"), "{unit}");
        let line =
            "ExecStart=/usr/bin/aye serve --home \"/home/a b/100%%\" --listen 127.0.0.1:8740\n";
        assert!(unit.contains(line), "{unit}");
    }
}
