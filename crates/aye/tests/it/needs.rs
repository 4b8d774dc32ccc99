//! What tests need of the machine. A test that cannot try what it is about
//! fails: it must not pass for having tried nothing.

#[path = "../../../aye-process/tests/it/privilege.rs"]
mod privilege;

use std::path::PathBuf;
use std::process::Command;

pub(crate) use privilege::root;

/// Fails unless the program is installed.
#[track_caller]
pub(crate) fn program(name: &str) {
    let found = Command::new(name).arg("--version").output().is_ok();
    assert!(found, "`{name}` is not installed; `./test` installs it");
}

/// Something that `tests/servers/install` installed, or `editors/vscode/install`.
#[track_caller]
pub(crate) fn installed(path: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/mcp-servers");
    // Not resolved to its end: `python` of an environment is a link that must stay one.
    let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.into());
    let name = path.split('/').next().unwrap_or_default();
    let installer = match name.starts_with("vscode-") {
        true => "editors/vscode/install",
        false => "crates/aye/tests/servers/install",
    };
    assert!(
        folder.join(format!("{name}.installed")).is_file(),
        "`{name}` is not installed; `./test` does it with {installer}"
    );
    folder.join(path)
}
