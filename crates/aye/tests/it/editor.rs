//! The VS Code extension: its unit tests with a real server, and the scripts of
//! `editors/vscode/test/ui` in a real VS Code, each a test.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, PoisonError};

use crate::needs;
use crate::page::BROWSER;

const EXTENSION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../editors/vscode");

/// Runs a program in the folder of the extension; fails with what it said.
fn run(command: &mut Command) {
    if let Err(said) = try_run(command) {
        panic!("{command:?}: {said}");
    }
}

/// Runs a program in the folder of the extension; what it said, should it fail.
fn try_run(command: &mut Command) -> Result<(), String> {
    let installed = Path::new(EXTENSION).join("node_modules/.installed");
    assert!(
        installed.is_file(),
        "the packages of editors/vscode are not installed; `./test` does it with editors/vscode/install"
    );
    let output = command
        .current_dir(EXTENSION)
        .env("AYE_TEST_PROGRAM", env!("CARGO_BIN_EXE_aye"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let told = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("{said}{told}")) }
}

/// The extension as people install it, made once.
static PACKAGE: LazyLock<PathBuf> = LazyLock::new(|| {
    run(Command::new("npm").args(["run", "--silent", "package"]));
    Path::new(EXTENSION).join("dist/aye.vsix")
});

/// Runs a script in VS Code of a version.
fn script(name: &str, version: &str) {
    let _alone = BROWSER.lock().unwrap_or_else(PoisonError::into_inner);
    needs::program("chromium");
    let mut command = Command::new("node");
    command
        .arg(format!("test/ui/{name}.mjs"))
        .env("AYE_TEST_PACKAGES", needs::installed("page"))
        .env("AYE_TEST_HOST", needs::installed(&format!("vscode-{version}")))
        .env("AYE_TEST_VSIX", &*PACKAGE);
    // A whole editor in a browser on two busy cores is late now and then. What fails twice is
    // broken, and what failed once is printed.
    if let Err(said) = try_run(&mut command) {
        eprintln!("{name} on {version} failed once: {said}");
        run(&mut command);
    }
}

#[test]
fn types_are_strict() {
    run(Command::new("npm").args(["run", "--silent", "check"]));
}

#[test]
fn unit() {
    run(Command::new("npm").args(["test", "--silent"]));
}

macro_rules! scripts {
    ($($version:ident: $($name:ident),*;)*) => {
        $(mod $version {
            $(#[test]
            fn $name() {
                super::script(stringify!($name), stringify!($version));
            })*
        })*
    };
}

scripts! {
    newest: questions, windows, views, editing, trust;
    minimum: questions, windows, views, editing, trust;
}
