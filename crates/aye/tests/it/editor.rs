//! The VS Code extension: its unit tests with a real server, and the scripts of
//! `editors/vscode/test/ui` in a real VS Code, each a test.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::needs;
use crate::screens::Turn;

const EXTENSION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../editors/vscode");

/// How long everything here should take together, without the installation.
const LIMIT: Duration = Duration::from_secs(600);

/// When the first test of this file began, and how many of them have ended.
static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
static ENDED: AtomicUsize = AtomicUsize::new(0);

/// The last test says how long all took. A figure, not an assertion: other tests run beside
/// these, on two cores.
fn timed(work: impl FnOnce()) {
    let began = *BEGAN;
    work();
    let ended = ENDED.fetch_add(1, Ordering::Relaxed) + 1;
    let (seconds, limit) = (began.elapsed().as_secs(), LIMIT.as_secs());
    if ended == SCRIPTS.len() + OTHERS {
        // Unlike `eprintln!`, this is seen although nothing failed.
        let _ = writeln!(std::io::stderr(), "the editor's tests took {seconds} s of {limit} s");
    }
}

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
    let _turn = Turn::take();
    needs::program("chromium");
    let mut command = Command::new("node");
    command
        .arg(format!("test/ui/{name}.mjs"))
        .env("AYE_TEST_PACKAGES", needs::installed("page"))
        .env("AYE_TEST_HOST", needs::installed(&format!("vscode-{version}")))
        .env("AYE_TEST_VSIX", &*PACKAGE);
    // A whole editor in a browser on two busy cores is late now and then. What fails twice is
    // broken, and what failed once is printed.
    timed(|| {
        if let Err(said) = try_run(&mut command) {
            eprintln!("{name} on {version} failed once: {said}");
            run(&mut command);
        }
    });
}

/// The tests below that are not scripts.
const OTHERS: usize = 3;

#[test]
fn types_are_strict() {
    timed(|| run(Command::new("npm").args(["run", "--silent", "check"])));
}

#[test]
fn unit() {
    timed(|| run(Command::new("npm").args(["test", "--silent"])));
}

#[test]
fn what_cannot_be_installed_is_said() {
    timed(|| {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("editors/vscode");
        std::fs::create_dir_all(&folder).unwrap();
        for name in ["install", "package.json", "package-lock.json"] {
            std::fs::copy(Path::new(EXTENSION).join(name), folder.join(name)).unwrap();
        }
        let install = |programs: &str| {
            // Nothing listens there.
            let output = Command::new(folder.join("install"))
                .env("PATH", programs)
                .env("HOME", place.path())
                .env("npm_config_registry", "http://127.0.0.1:9/")
                .env("npm_config_cache", place.path().join("cache"))
                .env("npm_config_fetch_retries", "0")
                .stdin(Stdio::null())
                .output()
                .unwrap();
            assert!(!output.status.success(), "{output:?}");
            String::from_utf8_lossy(&output.stderr).into_owned()
        };
        let told = install(&std::env::var("PATH").unwrap());
        for problem in [
            "error: npm cannot install the packages of editors/vscode",
            "error: VS Code cannot be installed from npm for the tests of the extension",
        ] {
            assert!(told.contains(problem), "{problem}: {told}");
        }
        assert!(!place.path().join("target/mcp-servers/vscode-newest.installed").exists());
        let few = place.path().join("bin");
        std::fs::create_dir(&few).unwrap();
        for name in ["bash", "dirname", "uname"] {
            std::os::unix::fs::symlink(Path::new("/usr/bin").join(name), few.join(name)).unwrap();
        }
        let told = install(few.to_str().unwrap());
        assert_eq!(told, "error: the tests of the VS Code extension need `npm`\n");
    });
}

macro_rules! scripts {
    ($($version:ident: $($name:ident),*;)*) => {
        /// Every script, with the version that it runs in.
        const SCRIPTS: &[(&str, &str)] = &[$($((stringify!($name), stringify!($version)),)*)*];

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
