//! Other processes: the test binary itself, told by its environment to be one.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use aye_runtime::store::{Durability, Verdict};

use super::Outcome;
use super::sample::{Tale, holder, id, open, populate, source};
use super::writer::Store;

const ROLE: &str = "AYE_TEST_ROLE";
const HOME: &str = "AYE_TEST_HOME";
const RUN: &str = "AYE_TEST_RUN";
const COUNT: &str = "AYE_TEST_COUNT";
const POWER: &str = "AYE_TEST_POWER";

/// Marks a line as the child's own among those of the test harness.
const MARK: &str = "child: ";

/// How to start a child.
pub(super) struct Role<'a> {
    pub(super) name: &'a str,
    pub(super) home: &'a Path,
    pub(super) run: &'a str,
    pub(super) count: u64,
    pub(super) durability: Durability,
    /// The test binary, or a copy of it.
    pub(super) program: Option<&'a Path>,
}

impl<'a> Role<'a> {
    pub(super) fn new(name: &'a str, home: &'a Path) -> Self {
        Self {
            name,
            home,
            run: "abcdefgh12",
            count: 0,
            durability: Durability::Process,
            program: None,
        }
    }

    /// A command that plays the role, `before` it a shell line if one is given.
    pub(super) fn command(&self, before: Option<&str>) -> std::io::Result<Command> {
        let this = match self.program {
            Some(program) => program.to_path_buf(),
            None => std::env::current_exe()?,
        };
        let mut command = match before {
            Some(line) => {
                let mut shell = Command::new("sh");
                shell.args(["-c", &format!("{line}; exec \"$0\" \"$@\"")]).arg(this);
                shell
            }
            None => Command::new(this),
        };
        command
            .args(["store::child::play", "--exact", "--nocapture"])
            .env(ROLE, self.name)
            .env(HOME, self.home)
            .env(RUN, self.run)
            .env(COUNT, self.count.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        if self.durability == Durability::Power {
            command.env(POWER, "1");
        }
        Ok(command)
    }

    pub(super) fn start(&self) -> std::io::Result<Running> {
        Running::new(self.command(None)?)
    }
}

/// A child and what it says; killed when dropped.
pub(super) struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    pub(super) fn new(mut command: Command) -> std::io::Result<Self> {
        let mut child = command.spawn()?;
        let stdout = child.stdout.take().expect("it is piped");
        Ok(Self { child, lines: BufReader::new(stdout).lines() })
    }

    /// The next thing it says; `None` when it is gone.
    pub(super) fn hear(&mut self) -> std::io::Result<Option<String>> {
        for line in self.lines.by_ref() {
            // The harness does not end its own line before a test speaks.
            if let Some((_, said)) = line?.split_once(MARK) {
                return Ok(Some(said.to_owned()));
            }
        }
        Ok(None)
    }

    pub(super) fn kill(&mut self) -> std::io::Result<()> {
        self.child.kill()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn say(what: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{MARK}{what}");
    let _ = out.flush();
}

/// No test of its own: what a child does.
#[test]
fn play() -> Outcome {
    let Ok(role) = std::env::var(ROLE) else {
        return Ok(());
    };
    let home = std::env::var(HOME)?;
    let home = Path::new(&home);
    let run = std::env::var(RUN)?;
    let count = std::env::var(COUNT)?.parse()?;
    let durability = match std::env::var(POWER) {
        Ok(_) => Durability::Power,
        Err(_) => Durability::Process,
    };
    match role.as_str() {
        "write" => write(home, &run, count, durability),
        "hold" => hold(home, &run),
        "hold and start" => hold_and_start(home, &run),
        "answer" => answer(home, &run),
        "open" => try_to_open(home),
        "populate" => Ok(populate(&mut open(home)?)?),
        other => Err(format!("unknown role {other}").into()),
    }
}

/// Appends until `count` events are there, saying each that is acknowledged.
fn write(home: &Path, run: &str, count: u64, durability: Durability) -> Outcome {
    let mut store = Store::open(home, durability)?;
    let lease = store.acquire(&id(run), &holder())?;
    let mut tale = Tale::new(run);
    tale.seq = store.run(&tale.run)?.map_or(0, |row| row.last_seq);
    while tale.seq < count {
        let result = if tale.seq == 0 {
            (*store).start(&lease, &[tale.started()], &source())
        } else {
            (*store).append(&lease, &[tale.step(&format!("step{}", tale.seq))], &[])
        };
        match result {
            Ok(()) => say(tale.seq),
            Err(error) => {
                say(format!("{error:?}"));
                break;
            }
        }
    }
    Ok(())
}

/// Drives a run until it is killed.
fn hold(home: &Path, run: &str) -> Outcome {
    let _lease = open(home)?.acquire(&id(run), &holder())?;
    say("held");
    std::io::stdin().read_line(&mut String::new())?;
    Ok(())
}

/// Drives a run and starts a program that outlives it.
fn hold_and_start(home: &Path, run: &str) -> Outcome {
    let _lease = open(home)?.acquire(&id(run), &holder())?;
    let mut program =
        Command::new("sleep").arg("60").stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    say(program.id());
    program.wait()?;
    Ok(())
}

/// Drives a run: accepts every request as soon as it is woken.
fn answer(home: &Path, run: &str) -> Outcome {
    let mut store = open(home)?;
    let mut tale = Tale::new(run);
    let mut listener = store.listen()?;
    store.start(&[tale.started()], &source())?;
    say("ready");
    loop {
        for pending in store.pending(&tale.run)? {
            let event = tale.step("again");
            store.append(&[event], &[(pending.id, Verdict::Accepted)])?;
        }
        listener.wait(Duration::from_secs(1))?;
    }
}

/// Says what opening, and reading, come to.
fn try_to_open(home: &Path) -> Outcome {
    match open(home) {
        Ok(_) => say("opened"),
        Err(error) => say(format!("{error:?}")),
    }
    match Store::open_to_read(home) {
        Ok(None) => say("nothing"),
        Ok(Some(store)) => {
            store.listen()?;
            say(format!("{} questions", store.open_questions()?.len()));
        }
        Err(error) => say(format!("{error:?}")),
    }
    Ok(())
}
