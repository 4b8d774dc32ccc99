//! `aye serve install`.

use std::path::{Path, PathBuf};

use aye_runtime::error::Error;
use clap::Args;
use serde_json::json;

use crate::cli::Context;
use crate::cli::commands::output::{print, print_json};

use super::ListenArgs;

const UNIT: &str = "aye-serve.service";

// Options of `aye serve install`.
#[derive(Debug, Args)]
pub struct InstallArgs {
    #[command(flatten)]
    pub place: ListenArgs,
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
    let unit = unit(&program, &context.home, &context.directory, &args.place);
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
fn unit(program: &Path, home: &Path, directory: &Path, place: &ListenArgs) -> String {
    let words: Vec<String> = place.words(directory).iter().map(|word| quoted(word)).collect();
    let word = |path: &Path| quoted(&path.to_string_lossy());
    format!(
        "[Unit]\n\
         Description=Aye: runs, questions and skills over HTTP\n\
         Documentation=man:aye(1)\n\
         \n\
         [Service]\n\
         ExecStart={} serve --home {} {}\n\
         WorkingDirectory={}\n\
         KillMode=process\n\
         Restart=on-failure\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n",
        word(program),
        word(home),
        words.join(" "),
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
        let place = ListenArgs {
            listen: "127.0.0.1:8740".to_owned(),
            host: Vec::new(),
            remote: true,
            tls_cert: None,
            tls_key: None,
            tls_self_signed: true,
            socket: Some("aye.sock".into()),
        };
        let (program, home) = (Path::new("/usr/bin/aye"), Path::new("/home/a b/100%"));
        let unit = unit(program, home, Path::new("/w"), &place);
        assert!(unit.contains("\nKillMode=process\n"), "{unit}");
        let line = "ExecStart=/usr/bin/aye serve --home \"/home/a b/100%%\" \
            --listen 127.0.0.1:8740 --remote --tls-self-signed --socket /w/aye.sock\n";
        assert!(unit.contains(line), "{unit}");
    }
}
