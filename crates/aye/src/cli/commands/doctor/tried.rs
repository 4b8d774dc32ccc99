//! What the doctor tries.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a file into a directory, durably, and removes it.
pub(super) fn write_and_remove(directory: &Path) -> io::Result<()> {
    let path = directory.join(format!("doctor-{}", std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    let written = file.write_all(b"aye doctor\n").and_then(|()| file.sync_all());
    std::fs::remove_file(&path)?;
    written
}

/// What a program says its version is; else why it does not say.
pub(super) fn version(program: &Path) -> Result<String, String> {
    let mut command = Command::new(program);
    aye_process::withhold(&mut command);
    command.arg("--version").stdin(Stdio::null());
    let output = command.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let first = text.lines().next().unwrap_or_default().trim();
    match output.status.success() {
        true => Ok(format!("{}, {first}", program.display())),
        false => Err(format!("`{} --version` ended with {}", program.display(), output.status)),
    }
}

/// Opens the controlling terminal, and lets go of it.
pub(super) fn open_terminal() -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open("/dev/tty")
}
