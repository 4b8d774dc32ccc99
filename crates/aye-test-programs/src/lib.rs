//! Programs that tests run, and where to find them.
//!
//! Cargo tells a test only where the programs of its own package are. These are in the same
//! target directory as the test itself; one that is missing, or older than a file it is made
//! from, is built first.

use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// Children that behave as badly as children can: `nasty BEHAVIOUR`.
pub static NASTY: Program = Program { name: "nasty", path: OnceLock::new() };

/// The smallest complete runner: `runner [OPTIONS] PROGRAM ARGS...`.
pub static RUNNER: Program = Program { name: "runner", path: OnceLock::new() };

/// A program of this package; as text it is its path.
#[derive(Debug)]
pub struct Program {
    name: &'static str,
    path: OnceLock<String>,
}

impl Deref for Program {
    type Target = str;

    fn deref(&self) -> &str {
        self.path.get_or_init(|| find(self.name))
    }
}

impl fmt::Display for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self)
    }
}

fn find(name: &str) -> String {
    let own = std::env::current_exe().expect("the path of this program");
    // `deps/` for a test, `examples/` for an example.
    let directory = own.ancestors().nth(2).expect("a target directory");
    let path = directory.join(name);
    if is_stale(&path) {
        build(name, directory);
    }
    assert!(path.is_file(), "test program `{}` is missing", path.display());
    path.into_os_string().into_string().expect("a path that is text")
}

/// Whether it is missing, or older than a file that it is made from.
fn is_stale(program: &Path) -> bool {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    changed(program).is_none_or(|built| {
        newest(&here.join("src")).max(newest(&here.join("../aye-process/src"))) > Some(built)
    })
}

/// When the youngest file below a directory was changed.
fn newest(directory: &Path) -> Option<SystemTime> {
    let entries = directory.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter_map(|path| if path.is_dir() { newest(&path) } else { changed(&path) }).max()
}

fn changed(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|file| file.modified()).ok()
}

fn build(name: &str, directory: &Path) {
    let profile = match directory.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(profile) => profile,
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["build", "--quiet", "--profile", profile, "--bin", name])
        .status();
    assert!(
        status.as_ref().is_ok_and(std::process::ExitStatus::success),
        "test program `{name}` cannot be built: {status:?}"
    );
}
