//! A display with a window manager, and someone before it.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::cli::harness::{Place, until};
use crate::needs;
use crate::screens::Turn;

/// Longer than a window takes to come up on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);
/// How long someone waits who wants to see that nothing comes up.
const NOTHING: Duration = Duration::from_secs(4);

/// An X server of its own.
pub(crate) struct Screen {
    server: Child,
    manager: Child,
    display: String,
    runtime: TempDir,
    _turn: Turn,
}

impl Screen {
    pub(crate) fn start() -> Self {
        for program in ["Xvfb", "openbox", "xdotool", "wmctrl", "zenity", "kdialog"] {
            let found = Command::new("which").arg(program).output().unwrap().status.success();
            assert!(found, "`{program}` is not installed; `./test` installs it");
        }
        needs::program("bash");
        let turn = Turn::take();
        let mut server = Command::new("Xvfb")
            .args([
                "-displayfd",
                "1",
                "-screen",
                "0",
                "1280x800x24",
                "-nolisten",
                "tcp",
                "-noreset",
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        let display = format!(":{}", number.trim());
        let manager = Command::new("openbox")
            .env("DISPLAY", &display)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let screen = Self {
            server,
            manager,
            display,
            runtime: TempDir::with_prefix("aye-x").unwrap(),
            _turn: turn,
        };
        until("the window manager", || screen.tool("wmctrl", &["-m"]).is_some());
        screen
    }

    /// What a program needs to find this display. The settings name the desktop,
    /// because tests run in containers too.
    pub(crate) fn env(&self) -> Vec<(String, String)> {
        let runtime = self.runtime.path().display().to_string();
        let pairs = [
            ("DISPLAY", self.display.clone()),
            ("XDG_RUNTIME_DIR", runtime.clone()),
            ("XDG_CACHE_HOME", runtime),
            ("NO_AT_BRIDGE", "1".to_owned()),
            ("GTK_A11Y", "none".to_owned()),
        ];
        pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The program before this display, without a terminal.
    pub(crate) fn aye(&self, place: &Place, args: &[&str]) -> Command {
        let mut command = place.command(args);
        command.envs(self.env()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn tool(&self, program: &str, args: &[&str]) -> Option<String> {
        let output = Command::new("timeout")
            .args(["20", program])
            .args(args)
            .env("DISPLAY", &self.display)
            .output()
            .unwrap();
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// The windows of Aye, each with its process: the next program may get the same number.
    pub(crate) fn windows(&self) -> Vec<String> {
        let found = self.tool("xdotool", &["search", "--onlyvisible", "--name", "^Aye: "]);
        let found = found.unwrap_or_default();
        let process = |window: &str| self.tool("xdotool", &["getwindowpid", window]);
        let windows = found.lines().filter_map(|id| Some(format!("{id}:{}", process(id)?)));
        windows.collect()
    }

    /// Waits for so many windows.
    #[track_caller]
    pub(crate) fn wait_for(&self, count: usize) -> Vec<String> {
        let give_up = Instant::now() + PATIENCE;
        loop {
            let windows = self.windows();
            if windows.len() == count {
                return windows;
            }
            assert!(Instant::now() < give_up, "there are {} windows, not {count}", windows.len());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Waits for a window and for the keyboard to be its own.
    #[track_caller]
    pub(crate) fn window(&self) -> String {
        let window = self.wait_for(1).remove(0);
        self.focus(&window);
        window
    }

    #[track_caller]
    pub(crate) fn focus(&self, window: &str) {
        let window = number(window);
        until("the window has the keyboard", || {
            self.tool("xdotool", &["windowactivate", window]);
            std::thread::sleep(Duration::from_millis(200));
            self.tool("xdotool", &["getactivewindow"]).as_deref() == Some(window)
        });
        // It has the keyboard before it has put the cursor anywhere.
        std::thread::sleep(Duration::from_millis(500));
    }

    /// Waits for another window than this one.
    #[track_caller]
    pub(crate) fn next_window(&self, last: &str) -> String {
        let mut next = String::new();
        until("the next window", || {
            let windows = self.windows();
            next = windows.into_iter().find(|window| window != last).unwrap_or_default();
            std::thread::sleep(Duration::from_millis(50));
            !next.is_empty()
        });
        self.focus(&next);
        next
    }

    /// Presses keys, one after the other.
    pub(crate) fn keys(&self, keys: &[&str]) {
        for key in keys {
            self.tool("xdotool", &["key", key]).expect("a key");
            std::thread::sleep(Duration::from_millis(60));
        }
    }

    pub(crate) fn write(&self, text: &str) {
        self.tool("xdotool", &["type", "--delay", "30", text]).expect("it is typed");
    }

    /// Closes a window as its button in the frame does.
    pub(crate) fn close(&self, window: &str) {
        let id: u64 = number(window).parse().unwrap();
        self.tool("wmctrl", &["-i", "-c", &format!("0x{id:x}")]).expect("it is closed");
    }

    /// Clicks there.
    pub(crate) fn click(&self, x: u32, y: u32, button: u32) {
        let (x, y, button) = (x.to_string(), y.to_string(), button.to_string());
        self.tool("xdotool", &["mousemove", &x, &y]).expect("the mouse moves");
        std::thread::sleep(Duration::from_millis(200));
        self.tool("xdotool", &["click", &button]).expect("a click");
    }

    /// A window of another program.
    pub(crate) fn some_window(&self, title: &str) -> Child {
        let child = Command::new("zenity")
            .args(["--info", "--text=x", &format!("--title={title}")])
            .envs(self.env())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        until("the window", || !self.named(title).is_empty());
        child
    }

    /// The window with this title; empty if there is none.
    pub(crate) fn named(&self, title: &str) -> String {
        let found =
            self.tool("xdotool", &["search", "--onlyvisible", "--name", &format!("^{title}$")]);
        found.unwrap_or_default().lines().next().unwrap_or_default().to_owned()
    }

    /// The window that has the keyboard.
    pub(crate) fn active(&self) -> Option<String> {
        std::thread::sleep(Duration::from_millis(100));
        self.tool("xdotool", &["getactivewindow"])
    }

    pub(crate) fn name(&self, window: &str) -> String {
        self.tool("xdotool", &["getwindowname", number(window)]).unwrap_or_default()
    }

    /// Nothing comes up, for a while.
    #[track_caller]
    pub(crate) fn assert_nothing(&self) {
        let until = Instant::now() + NOTHING;
        while Instant::now() < until {
            assert!(self.windows().is_empty(), "a window came up");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// A picture, where someone wants to look at it: `AYE_TEST_SHOTS` names a folder.
    pub(crate) fn shot(&self, name: &str) {
        let Some(folder) = std::env::var_os("AYE_TEST_SHOTS") else { return };
        std::thread::sleep(Duration::from_millis(500));
        let file = PathBuf::from(folder).join(format!("{name}.png"));
        let taken = self.tool("import", &["-window", "root", file.to_str().unwrap()]);
        assert!(taken.is_some(), "no picture; `import` is a program of ImageMagick");
    }

    /// Sends the X server a signal.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        crate::cli::harness::signal(&self.server, signal);
    }

    /// The server ends, as if it had crashed.
    pub(crate) fn kill(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        for child in [&mut self.manager, &mut self.server] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The number of a window without its process.
fn number(window: &str) -> &str {
    window.split(':').next().unwrap_or_default()
}

/// A program that shows windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    Zenity,
    Kdialog,
}

impl Program {
    pub(crate) const BOTH: [Self; 2] = [Self::Zenity, Self::Kdialog];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Zenity => "zenity",
            Self::Kdialog => "kdialog",
        }
    }

    /// What proceeds: in zenity it comes after `Later` and what declines, in KDialog it is
    /// the row after `Later`.
    pub(crate) fn proceed(self) -> &'static [&'static str] {
        match self {
            Self::Zenity => &["Tab", "Tab", "Return"],
            Self::Kdialog => &["Down", "Return"],
        }
    }

    /// Aye, where it finds no other program that shows windows.
    pub(crate) fn aye(self, screen: &Screen, place: &Place, args: &[&str]) -> Command {
        let folder = place.path().join("bin").join(self.name());
        std::fs::create_dir_all(&folder).unwrap();
        for program in [self.name(), "touch", "sh"] {
            let found = Command::new("which").arg(program).output().unwrap().stdout;
            let found = String::from_utf8(found).unwrap();
            let link = folder.join(program);
            if !link.exists() {
                std::os::unix::fs::symlink(found.trim(), link).unwrap();
            }
        }
        let mut command = screen.aye(place, args);
        command.env("PATH", folder);
        command
    }
}

/// A place whose settings name the desktop.
pub(crate) fn place(skill: &str) -> Place {
    let place = Place::new();
    place.write("skill.yaml", skill);
    settings(&place, "[ask]\nprompters = [\"terminal\", \"desktop\"]\n");
    place
}

/// The user's own settings.
pub(crate) fn settings(place: &Place, text: &str) {
    let folder = place.path().join(".config/aye");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), text).unwrap();
}

/// The answers that a run which printed its events was given: value, through what, by whom.
pub(crate) fn answers(stdout: &str) -> Vec<(String, String)> {
    let events =
        stdout.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let answered = events.filter(|event| event["type"] == "confirmation_answered");
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    answered
        .map(|event| (text(&event["answer"]["value"]), text(&event["answer"]["prompter"])))
        .collect()
}
