//! How soon a prompt is painted, how soon an answer given in one process
//! starts the step in another, and what a countdown costs:
//! `cargo run --release -p aye --example prompt_bench [AYE]`.
//!
//! The program itself runs, on a pseudo-terminal, with its prompt open. The
//! answers are sent from here, so that the start of `aye answer` is not
//! counted; what is counted ends when the journal says that the step began.

mod terminal;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use aye_core::event::EventKind;
use aye_core::id::RunId;
use aye_core::input::Request;
use aye_core::question::{Answer, Channel, Question};
use aye_runtime::store::{Durability, SqliteStore, Store};
use jiff::Timestamp;

use terminal::Terminal;

/// How many questions are answered.
const QUESTIONS: usize = 300;
/// How long a countdown is looked at.
const WATCHED: Duration = Duration::from_secs(10);

fn main() -> Result<(), Box<dyn Error>> {
    let aye = match std::env::args_os().nth(1) {
        Some(path) => PathBuf::from(path),
        // `target/…/examples/prompt_bench` is next to `target/…/aye`.
        None => std::env::current_exe()?.parent().unwrap_or(Path::new(".")).join("../aye"),
    };
    let aye = aye.canonicalize()?;
    for durability in ["power", "process"] {
        answers(&aye, durability)?;
    }
    countdown(&aye)
}

/// Answers one question after the other.
fn answers(aye: &Path, durability: &str) -> Result<(), Box<dyn Error>> {
    let place = tempfile::tempdir()?;
    let gate = "command: 'true', confirmation: { message: 'Continue?', timeout: 10m }";
    let steps: String = (0..QUESTIONS).map(|n| format!("  - {{ name: s{n}, {gate} }}\n")).collect();
    std::fs::write(place.path().join("skill.yaml"), format!("name: bench\nsteps:\n{steps}"))?;
    let settings = format!("[journal]\ndurability = \"{durability}\"\n");
    std::fs::write(place.path().join("aye.toml"), settings)?;
    let home = place.path().join("home");
    let terminal = Terminal::start(aye, &["run", "skill.yaml"], place.path(), &home)?;
    // As `aye answer` does: the driver's commit is the one that counts.
    let mut store: Box<dyn Store> =
        Box::new(wait_for(|| SqliteStore::open(&home, Durability::Process).ok())?);
    let mut bell = store.listen()?;
    let mut seen = 0;
    let mut heard = Vec::new();
    let mut painted = Vec::new();
    for n in 0..QUESTIONS {
        let (asked, question) = loop {
            let found = asked(&*store, &mut seen)?;
            if let Some(found) = found {
                break found;
            }
            bell.wait(Duration::from_secs(1))?;
        };
        let shown = wait_for(|| terminal.paints().get(n).copied())?;
        painted.push(u64::try_from(shown.as_millisecond() - asked.as_millisecond()).unwrap_or(0));
        let run = question.id.run().ok_or("a question without a run")?;
        let begun = Instant::now();
        store.send(&run, &answer(&question), "bench", Timestamp::now())?;
        loop {
            bell.drain()?;
            if started(&*store, &run, seen)? {
                break;
            }
            bell.wait(Duration::from_secs(1))?;
        }
        heard.push(begun.elapsed());
    }
    heard.sort_unstable();
    painted.sort_unstable();
    let at = |percent: usize| (QUESTIONS * percent / 100).min(QUESTIONS - 1);
    println!(
        "durability {durability}: answer to step start: median {:.2} ms, p99 {:.2} ms, worst \
         {:.2} ms",
        ms(heard[at(50)]),
        ms(heard[at(99)]),
        ms(heard[QUESTIONS - 1]),
    );
    println!(
        "durability {durability}: question to first paint: median {} ms, p99 {} ms, worst {} ms",
        painted[at(50)],
        painted[at(99)],
        painted[QUESTIONS - 1],
    );
    // Generous: this is a guard against a lost bell, not a race with the disk.
    assert!(heard[at(50)] < Duration::from_millis(100), "answers are heard too late");
    assert!(painted[at(50)] < 50, "prompts are painted too late");
    Ok(())
}

/// What the countdown costs while nobody does anything.
fn countdown(aye: &Path) -> Result<(), Box<dyn Error>> {
    let place = tempfile::tempdir()?;
    let home = place.path().join("home");
    let skill = "name: wait\nsteps:\n  - { name: ask, confirm: { message: 'Continue?' } }\n";
    std::fs::write(place.path().join("skill.yaml"), skill)?;
    let terminal = Terminal::start(aye, &["run", "skill.yaml"], place.path(), &home)?;
    wait_for(|| terminal.paints().first().copied())?;
    let store: Box<dyn Store> = Box::new(SqliteStore::open_to_read(&home)?.ok_or("no journal")?);
    let run = store.open_questions()?.first().ok_or("no question")?.run.clone();
    let held = store.holder(&run)?.and_then(|held| held.holder);
    let pid = held.ok_or("no process drives the run")?.pid;
    let before = (on_cpu(pid)?, terminal.written());
    std::thread::sleep(WATCHED);
    let after = (on_cpu(pid)?, terminal.written());
    let share = (after.0 - before.0).as_secs_f64() / WATCHED.as_secs_f64() * 100.0;
    let bytes = (after.1 - before.1) as f64 / WATCHED.as_secs_f64();
    println!("countdown: {share:.2} % of one core, {bytes:.0} bytes a second to the terminal");
    assert!(share < 1.0, "the countdown costs too much");
    Ok(())
}

/// The next question after the event `seen`, and when it was asked.
fn asked(
    store: &dyn Store,
    seen: &mut u64,
) -> Result<Option<(Timestamp, Question)>, Box<dyn Error>> {
    for (number, event) in store.events_after(*seen, 1000)? {
        *seen = number;
        if let EventKind::ConfirmationRequired(question) = event.kind {
            return Ok(Some((event.at, *question)));
        }
    }
    Ok(None)
}

fn started(store: &dyn Store, run: &RunId, seen: u64) -> Result<bool, Box<dyn Error>> {
    let events = store.events_after(seen, 1000)?;
    Ok(events.iter().any(|(_, e)| e.run == *run && matches!(e.kind, EventKind::StepStarted(_))))
}

fn answer(question: &Question) -> Request {
    let digest = Some(question.digest.clone());
    let answer = Answer { digest, ..Answer::new("proceed", "bench", Channel::Command) };
    Request::answer(question.id.clone(), answer)
}

/// The time a process has spent on a processor.
fn on_cpu(pid: u32) -> Result<Duration, Box<dyn Error>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat"))?;
    let nanos = text.split(' ').next().unwrap_or_default().parse()?;
    Ok(Duration::from_nanos(nanos))
}

fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> Result<T, Box<dyn Error>> {
    let give_up = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = look() {
            return Ok(found);
        }
        if Instant::now() > give_up {
            return Err("waited for too long".into());
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
