//! Other processes: the test binary itself, told by its environment to be one.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use aye_runtime::memory::{NewChoice, Scope};
use serde_json::json;

use super::Outcome;
use super::sample::{choice, fix, memory, plain, seen};

const ROLE: &str = "AYE_MEMORY_ROLE";
const PLACE: &str = "AYE_MEMORY_PLACE";
const NUMBER: &str = "AYE_MEMORY_NUMBER";
const MARK: &str = "child: ";

/// A child and what it says; killed when dropped.
pub(super) struct Learner {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Learner {
    pub(super) fn start(role: &str, place: &Path, number: usize) -> std::io::Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["memory::child::play", "--exact", "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .env(PLACE, place)
            .env(NUMBER, number.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().expect("it is piped");
        Ok(Self { child, lines: BufReader::new(stdout).lines() })
    }

    /// The next thing it says; `None` when it is gone.
    pub(super) fn hear(&mut self) -> std::io::Result<Option<String>> {
        for line in self.lines.by_ref() {
            if let Some((_, said)) = line?.split_once(MARK) {
                return Ok(Some(said.to_owned()));
            }
        }
        Ok(None)
    }

    /// Lets it continue.
    pub(super) fn go(&mut self) -> std::io::Result<()> {
        let stdin = self.child.stdin.as_mut().expect("it is piped");
        stdin.write_all(b"go\n")?;
        stdin.flush()
    }

    /// `kill -9`.
    pub(super) fn kill(&mut self) -> std::io::Result<()> {
        self.child.kill()
    }
}

impl Drop for Learner {
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
    let place = std::env::var(PLACE)?;
    let number: usize = std::env::var(NUMBER)?.parse()?;
    let memory = memory(Path::new(&place));
    match role.as_str() {
        // Waits for the others, then learns one thing of each kind.
        "learn" => {
            say("ready");
            std::io::stdin().read_line(&mut String::new())?;
            let args = json!({ "tag": "x" });
            let error = format!("unknown option in job {number}");
            memory.saw_failure(&seen("deploy", &args, &error), &plain)?;
            memory.remember_fix(fix(&format!("tool{number}"), "manifest unknown"), &plain)?;
            let step = format!("gate{number}");
            let choice = NewChoice { step: &step, scope: Scope::Step, ..choice() };
            memory.remember_choice(&choice, &plain)?;
            say("learned");
        }
        // Learns until it is killed, saying each that is kept.
        "continue" => {
            for count in 0.. {
                let tool = format!("tool{number}_{count}");
                memory.remember_fix(fix(&tool, "manifest unknown"), &plain)?;
                say(tool);
            }
        }
        other => return Err(format!("unknown role {other}").into()),
    }
    Ok(())
}
