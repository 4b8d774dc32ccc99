//! `kill -9` at every point: no step is lost, none is repeated unasked.

use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::cli::harness::{Place, children_of, signal_to};

mod inside;

const STEPS: usize = 50;

/// A run that takes longer than this will not end at all.
const PATIENCE: Duration = Duration::from_secs(120);

/// A skill whose steps each append a line; `extra` goes into every step.
fn skill(extra: &str, command: impl Fn(usize) -> String) -> String {
    let mut text = "name: lines\nsteps:\n".to_owned();
    for step in 0..STEPS {
        let script = command(step).replace('\'', "''");
        text.push_str(&format!("  - name: s{step}\n    shell: '{script}'\n{extra}"));
    }
    text
}

fn append(step: usize) -> String {
    format!("echo {step} >> lines.txt")
}

/// Who is killed.
#[derive(Debug, Clone, Copy)]
enum Victim {
    /// The process that runs the steps.
    Engine,
    /// The process that watches over it, which the shell knows.
    Guard,
    /// Both at once.
    Both,
}

const VICTIMS: [Victim; 3] = [Victim::Engine, Victim::Guard, Victim::Both];

fn kill(pid: u32) {
    signal_to(pid, Signal::KILL);
}

/// Kills a running `aye` and waits until nothing of it is left, not even what it was starting
/// when we looked.
fn kill_aye(place: &Place, mut child: Child, victim: Victim) {
    let guard = child.id();
    let engine = children_of(guard).first().copied();
    match (victim, engine) {
        (Victim::Engine, Some(engine)) => kill(engine),
        (Victim::Both, Some(engine)) => {
            kill(guard);
            kill(engine);
        }
        (Victim::Guard, _) | (_, None) => kill(guard),
    }
    child.wait().unwrap();
    let give_up = Instant::now() + Duration::from_secs(20);
    while is_left(place) {
        assert!(Instant::now() < give_up, "the engine outlives its guard");
        std::thread::yield_now();
    }
}

/// Whether an `aye` in the directory of a place has outlived who started it.
fn is_left(place: &Place) -> bool {
    let link = |process: &Path, name| std::fs::read_link(process.join(name)).unwrap_or_default();
    let is_aye = |process: &Path| link(process, "exe").ends_with("aye");
    let parent = |process: &Path| {
        let stat = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
        let pid = stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse::<u32>().ok();
        pid.filter(|pid| *pid != std::process::id())
    };
    let is_left = |process: &Path| {
        let is_here = link(process, "cwd") == place.work() && is_aye(process);
        is_here && parent(process).is_some_and(|pid| !is_aye(Path::new(&format!("/proc/{pid}"))))
    };
    std::fs::read_dir("/proc").unwrap().flatten().any(|process| is_left(&process.path()))
}

/// The only run of a place, or nothing if it was killed before it began.
fn run_id(place: &Place) -> Option<String> {
    let runs = place.aye(&["runs", "--json"]).ok().json();
    runs[0]["run"].as_str().map(str::to_owned)
}

fn status(place: &Place) -> String {
    let runs = place.aye(&["runs", "--json"]).ok().json();
    runs[0]["status"].as_str().unwrap_or("none").to_owned()
}

/// Answers the open questions about steps as someone who has looked would:
/// its line is there, or it is not. Says whether there was one.
fn answer_as_seen(place: &Place) -> bool {
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    let questions = inbox.as_array().unwrap();
    questions.iter().for_each(|question| answer(place, question));
    !questions.is_empty()
}

fn answer(place: &Place, question: &serde_json::Value) {
    assert_eq!(question["kind"], "recover");
    assert!(question["message"].as_str().unwrap().contains("It may"), "{question}");
    // The step has the number, or the item that the run is for.
    let step = match question["step"].as_str().unwrap().strip_prefix('s') {
        Some(number) => number.to_owned(),
        None => question["run"].as_str().unwrap().rsplit('_').next().unwrap().to_owned(),
    };
    // A skill inside says for which item it is.
    let run = question["run"].as_str().unwrap();
    let of_item = match run.contains('_') && question["step"].as_str().unwrap().starts_with('s') {
        true => {
            let shown = place.aye(&["show", run, "--json"]).ok().json();
            format!("{}.{step}", shown["inputs"]["n"].as_str().unwrap_or_default())
        }
        false => step,
    };
    let done = place.read("lines.txt").lines().any(|line| line == of_item);
    let choice = if done { "done" } else { "retry" };
    place.aye(&["answer", question["question"].as_str().unwrap(), choice]).ok();
}

/// Resumes until the run is over.
fn finish(place: &Place, run: &str) {
    for _ in 0..10 {
        let ran = place.aye(&["resume", run, "--no-input"]);
        match ran.code {
            0 => return,
            6 => assert!(answer_as_seen(place), "{}", ran.all()),
            _ => panic!("{}", ran.all()),
        }
    }
    panic!("the run does not come to an end");
}

fn expected() -> String {
    (0..STEPS).map(|step| format!("{step}\n")).collect()
}

/// Numbers that look random and are the same in every run of the test.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// One run, killed again and again at any moment until it is over.
/// Returns how often it was killed.
fn killed_to_the_end(place: &Place, dice: &mut Dice) -> usize {
    killed_until(place, dice, "completed")
}

/// The same for a run that ends like this.
fn killed_until(place: &Place, dice: &mut Dice, end: &str) -> usize {
    let resume = |run: &str| place.start(&["resume", run, "-q", "--no-input"]);
    killed_with(place, dice, &[end], &resume)
}

/// The same, with another way to take the run up, for one that ends in one of these ways.
fn killed_with(
    place: &Place,
    dice: &mut Dice,
    ends: &[&str],
    take_up: &dyn Fn(&str) -> Child,
) -> usize {
    let mut kills: u64 = 0;
    let mut run: Option<String> = None;
    // How long the program takes to start; a busy machine is no reason to
    // never get anywhere.
    let mut start = Duration::ZERO;
    let give_up = Instant::now() + PATIENCE;
    loop {
        let shown = || place.aye(&["show", "last"]).all();
        assert!(Instant::now() < give_up, "the run does not come to an end: {}", shown());
        let child = match &run {
            None => place.start(&["run", "lines.yaml", "-q"]),
            Some(run) => take_up(run),
        };
        // Long enough to get some steps further, short enough to hit the start too. Longer each
        // time: on a busy machine it gets somewhere too.
        let longest = u64::try_from(start.as_micros() * 2).unwrap() + 60_000 + 5_000 * kills;
        let until = Instant::now() + Duration::from_micros(dice.below(longest));
        let mut child = child;
        let ended = loop {
            if child.try_wait().unwrap().is_some() {
                break true;
            }
            if Instant::now() >= until {
                break false;
            }
            std::thread::yield_now();
        };
        if !ended {
            kill_aye(place, child, VICTIMS[usize::try_from(dice.below(3)).unwrap()]);
            kills += 1;
        }
        run = run.or_else(|| run_id(place));
        if run.is_none() {
            continue;
        }
        let before = Instant::now();
        let stands = status(place);
        start = before.elapsed();
        match stands.as_str() {
            stands if ends.contains(&stands) => return usize::try_from(kills).unwrap(),
            "running" | "queued" | "paused" | "waiting" | "cut-off" => {
                answer_as_seen(place);
            }
            other => panic!("the run {other}"),
        }
    }
}

#[test]
fn no_line_is_lost_or_doubled_when_aye_is_killed_at_any_moment() {
    let mut dice = Dice(1);
    let mut kills = 0;
    while kills < 250 {
        let place = Place::new();
        place.write("lines.yaml", &skill("", append));
        kills += killed_to_the_end(&place, &mut dice);
        assert_eq!(place.read("lines.txt"), expected());
        place.aye(&["audit"]).ok();
    }
}

#[test]
fn an_idempotent_step_is_run_again_without_asking() {
    let mut dice = Dice(2);
    let place = Place::new();
    place.write("lines.yaml", &skill("    idempotent: true\n", append));
    let kills = killed_to_the_end(&place, &mut dice);
    assert!(kills > 0);
    let mut lines: Vec<usize> =
        place.read("lines.txt").lines().map(|line| line.parse().unwrap()).collect();
    assert!(lines.is_sorted(), "{lines:?}");
    lines.dedup();
    assert_eq!(lines, (0..STEPS).collect::<Vec<_>>());
}

#[test]
fn what_failures_teach_is_in_memory_once_however_often_aye_is_killed() {
    let mut dice = Dice(3);
    let place = Place::new();
    let fails = |_| "echo manifest unknown >&2; exit 1".to_owned();
    let extra = "    idempotent: true\n    on_error: continue\n";
    place.write("lines.yaml", &skill(extra, fails));
    assert!(killed_to_the_end(&place, &mut dice) > 0);
    // The next command that opens memory takes in what is missing.
    place.aye(&["memory", "list"]).ok();
    let failures = place.read("../home/memory/failures.yaml");
    for step in 0..STEPS {
        let of_step = format!("step: s{step}\n");
        assert_eq!(failures.matches(&of_step).count(), 1, "{of_step}{failures}");
    }
    let usage = place.read("../home/memory/learned/usage.yaml");
    assert!(usage.contains(&format!("sightings: {STEPS}\n")), "{usage}");
}

/// The step itself kills Aye, before or after it did its work: exactly between
/// two commits.
fn killed_by_every_step(kill_first: bool) {
    let place = Place::new();
    let script = move |step: usize| {
        // The engine is the parent of the step; once killed, it is not killed again.
        let kill =
            format!("[ -e killed.{step} ] || {{ touch killed.{step}; kill -9 $PPID; sleep 5; }}");
        if kill_first {
            format!("{kill}; {}", append(step))
        } else {
            format!("{}; {kill}", append(step))
        }
    };
    place.write("lines.yaml", &skill("", script));
    let mut child = place.start(&["run", "lines.yaml", "-q"]);
    child.wait().unwrap();
    let run = run_id(&place).unwrap();
    let mut unknown = 0;
    let give_up = Instant::now() + PATIENCE;
    loop {
        assert!(Instant::now() < give_up, "the run does not come to an end");
        let ran = place.aye(&["resume", &run, "--no-input"]);
        match ran.code {
            0 => break,
            6 => {
                unknown += 1;
                assert!(answer_as_seen(&place));
            }
            // Killed by the next step.
            _ => assert_eq!(status(&place), "cut-off", "{}", ran.all()),
        }
    }
    assert_eq!(unknown, STEPS, "every step's outcome was unknown once");
    assert_eq!(place.read("lines.txt"), expected());
}

#[test]
fn a_step_that_kills_aye_before_its_work_is_asked_about_and_not_lost() {
    killed_by_every_step(true);
}

#[test]
fn a_step_that_kills_aye_after_its_work_is_asked_about_and_not_repeated() {
    killed_by_every_step(false);
}

#[test]
fn a_run_killed_once_goes_on_where_it_was() {
    let place = Place::new();
    place.write("lines.yaml", &skill("", append));
    let child = place.start(&["run", "lines.yaml", "-q"]);
    crate::cli::harness::until("ten lines", || place.read("lines.txt").lines().count() >= 10);
    kill_aye(&place, child, Victim::Engine);
    let run = run_id(&place).unwrap();
    finish(&place, &run);
    assert_eq!(place.read("lines.txt"), expected());
}

/// How many kills a test makes: a few dozen, or as many as `AYE_TEST_KILLS` says.
fn wanted_kills(usual: usize) -> usize {
    std::env::var("AYE_TEST_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Whether enough was killed: every ending at least once, and so many in all. An ending that
/// is never hit in many rounds is out of the test's reach, and its claims are empty.
fn killed_enough(kills: &[usize], usual: usize, round: usize) -> bool {
    let missed = kills.contains(&0);
    assert!(!missed || round < 100, "an ending is never killed: {kills:?}");
    !missed && kills.iter().sum::<usize>() >= wanted_kills(usual)
}

/// How the body of a run with `finally` ends: its last step, and what the run becomes.
const ENDINGS: [(&str, &str); 4] = [
    ("shell: exit 3", "failed"),
    ("shell: 'true'", "completed"),
    // The third attempt that gets to its work succeeds. One that was cut off before counts as
    // well, so there are as many as a round could need.
    (
        "shell: 'echo >> tries; [ $(wc -l < tries) -ge 3 ]', retry: { attempts: 50, backoff: 10ms }",
        "completed",
    ),
    // Only a cancel ends it.
    ("shell: sleep 1h", "cancelled"),
];

/// `finally` of a run that fails, completes, is tried again or is cancelled: each step of the
/// body and of `finally` has left one line, in order, and the run ended as it had to.
#[test]
fn finally_is_neither_lost_nor_doubled_when_aye_is_killed_at_any_moment() {
    const BODY: usize = 8;
    let lines = |steps: std::ops::Range<usize>| -> String {
        steps.map(|step| format!("  - name: s{step}\n    shell: {}\n", append(step))).collect()
    };
    let (mut dice, mut kills) = (Dice(4), [0; ENDINGS.len()]);
    for round in 0.. {
        if killed_enough(&kills, 40, round) {
            break;
        }
        let (last, end) = ENDINGS[round % ENDINGS.len()];
        let place = Place::new();
        place.write(
            "lines.yaml",
            &format!(
                "name: lines\ncleanup: 10m\nsteps:\n{}  - {{ name: last, {last}, idempotent: true }}\nfinally:\n{}",
                lines(0..BODY),
                lines(BODY..2 * BODY),
            ),
        );
        let events = |run: &str| place.aye(&["show", run, "--json"]).ok().json()["events"].clone();
        let count = |events: &serde_json::Value, kind: &str| {
            events.as_array().unwrap().iter().filter(|event| event["type"] == kind).count()
        };
        // Who cancels is killed too, until how the run ends is decided.
        let take_up = |run: &str| {
            let there = place.read("lines.txt").lines().count() >= BODY;
            let open = end == "cancelled" && count(&events(run), "skill_finishing") == 0;
            match there && open {
                true => place.start(&["cancel", run, "-q"]),
                false => place.start(&["resume", run, "-q", "--no-input"]),
            }
        };
        kills[round % ENDINGS.len()] += killed_with(&place, &mut dice, &[end], &take_up);
        let expected: String = (0..2 * BODY).map(|step| format!("{step}\n")).collect();
        assert_eq!(place.read("lines.txt"), expected, "{end}");
        let events = events("last");
        let ended = count(&events, &format!("skill_{end}"));
        assert_eq!((count(&events, "skill_finishing"), ended), (1, 1), "{events}");
        place.aye(&["audit"]).ok();
    }
    let ends = ENDINGS.map(|(last, end)| format!("{end} ({last})"));
    println!("kills: {:?}", ends.iter().zip(kills).collect::<Vec<_>>());
}

/// Three runs want one name; each is killed again and again, whether it has the
/// name or waits for it. The first completes, the second fails, the third is
/// cancelled if there is time. A step that finds another run at work says so.
#[test]
fn a_name_is_never_held_twice_nor_stuck_when_aye_is_killed_at_any_moment() {
    killed_while_they_want_a_name(None);
}

/// The same; around each there is a run, if this is its step.
fn killed_while_they_want_a_name(around: Option<&str>) {
    const BODY: usize = 4;
    const ENDS: [&str; 3] = ["completed", "failed", "cancelled"];
    let mut text =
        "name: lines\nconcurrency: one\ninputs: [{ name: who, type: string }]\nsteps:\n".to_owned();
    // From its first step to its last a run has the name: `inside` says whose it is.
    let step = |number: usize| {
        let other = "[ ! -s inside ] || [ \"$(cat inside)\" = $who ] || touch twice";
        // Long enough for others to come and to be killed.
        let enter = format!("{other}; echo $who > inside; sleep 0.03");
        let line = format!("grep -qx $who.{number} lines.txt || echo $who.{number} >> lines.txt");
        match number {
            n if n + 1 == BODY => format!("{enter}; {line}; [ $who != r1 ]"),
            _ => format!("{enter}; {line}"),
        }
    };
    let env = "idempotent: true, env: { who: '{{ inputs.who }}' }";
    for number in 0..BODY {
        let script = step(number).replace('\'', "''");
        text.push_str(&format!("  - {{ name: s{number}, shell: '{script}', {env} }}\n"));
    }
    // However it ends, it is not inside any more when the next one may enter.
    let leave = "[ \"$(cat inside)\" != $who ] || rm -f inside";
    text.push_str(&format!("finally:\n  - {{ name: leave, shell: '{leave}', {env} }}\n"));
    let (mut dice, mut kills, mut rounds) = (Dice(5), [0; ENDS.len()], 0);
    while !killed_enough(&kills, 40, rounds) {
        let place = Place::new();
        match around {
            None => drop(place.write("lines.yaml", &text)),
            Some(step) => {
                place.write("inner.yaml", &text.replace("name: lines", "name: inner"));
                let inputs = "inputs: [{ name: who, type: string }]";
                let step = format!("steps:\n  - {{ name: call, {step} }}\n");
                place.write("lines.yaml", &format!("name: lines\n{inputs}\n{step}"));
            }
        }
        place.write("lines.txt", "");
        let (killed, ends) = several_killed_to_the_end(&place, &mut dice);
        rounds += 1;
        assert_eq!((ends[0].as_str(), ends[1].as_str()), ("completed", "failed"));
        assert!(!place.work().join("twice").exists(), "two runs had the name");
        one_at_a_time(&place, around.is_some());
        let lines = place.read("lines.txt");
        for (run, end) in ends.iter().enumerate() {
            let of_run = lines.lines().filter(|line| line.starts_with(&format!("r{run}.")));
            let all: String = (0..BODY).map(|step| format!("r{run}.{step}\n")).collect();
            let has: String = of_run.map(|line| format!("{line}\n")).collect();
            kills[ENDS.iter().position(|one| one == end).unwrap()] += killed[run];
            match end.as_str() {
                "cancelled" => assert!(all.starts_with(&has), "{lines}"),
                _ => assert_eq!(has, all),
            }
        }
        place.aye(&["audit"]).ok();
    }
    println!(
        "kills in {rounds} rounds of three runs: {:?}",
        ENDS.iter().zip(kills).collect::<Vec<_>>()
    );
}

/// The journal says the same: a name is taken when nobody has it, and by who has
/// it until that run ends. A run that ends while it waits has none. Runs around them want none.
fn one_at_a_time(place: &Place, inside: bool) {
    let db = place.journal_db();
    let mut query = db.prepare("SELECT run, type FROM events ORDER BY id").unwrap();
    let events = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let mut holder: Option<String> = None;
    let wanting: Vec<String> = db
        .prepare("SELECT DISTINCT run FROM events WHERE type LIKE 'concurrency_%'")
        .and_then(|mut query| query.query_map([], |row| row.get(0))?.collect())
        .unwrap();
    for (run, kind) in events.map(|event: rusqlite::Result<(String, String)>| event.unwrap()) {
        if inside && !wanting.contains(&run) {
            continue;
        }
        match kind.as_str() {
            "concurrency_acquired" => assert_eq!(holder.replace(run), None, "it was not free"),
            "step_started" => assert_eq!(holder.as_ref(), Some(&run), "without the name"),
            "skill_completed" | "skill_failed" => assert_eq!(holder.take(), Some(run)),
            "skill_cancelled" if holder.as_ref() == Some(&run) => holder = None,
            _ => {}
        }
    }
    assert_eq!(holder, None, "nobody has it in the end");
}

/// Whether a run is being cancelled: it, or its clean-up, has heard of it.
fn is_cancelled(event: &serde_json::Value) -> bool {
    let stopping = event["type"] == "skill_stopping" && event["why"] == "cancelled";
    stopping || event["type"] == "skill_finishing"
}

/// Drives three runs at once, kills one of their processes at random moments
/// and takes its run up again, until all have ended. Says how often each was killed, and how
/// they ended.
fn several_killed_to_the_end(place: &Place, dice: &mut Dice) -> ([usize; 3], [String; 3]) {
    let run_of = |who: &str| -> Option<(String, String)> {
        let listed = place.aye(&["runs", "--json"]).ok().json();
        listed.as_array().unwrap().iter().find_map(|row| {
            let run = row["run"].as_str()?.to_owned();
            let shown = place.aye(&["show", &run, "--json"]).ok().json();
            (shown["inputs"]["who"] == who)
                .then(|| (run, row["status"].as_str().unwrap().to_owned()))
        })
    };
    let start = |who: &str, dice: &mut Dice| match run_of(who) {
        None => place.start(&["run", "lines.yaml", "-q", "-i", &format!("who={who}")]),
        // One that is being cancelled already is not cancelled again.
        Some((run, _)) if who == "r2" && dice.below(2) == 0 => {
            let shown = place.aye(&["show", &run, "--json"]).ok().json();
            match shown["events"].as_array().unwrap().iter().any(is_cancelled) {
                true => place.start(&["resume", &run, "-q", "--no-input"]),
                false => place.start(&["cancel", &run, "-q"]),
            }
        }
        Some((run, _)) => place.start(&["resume", &run, "-q", "--no-input"]),
    };
    let mut ends = [const { String::new() }; 3];
    let mut left: Vec<(usize, Child)> =
        (0..ends.len()).map(|run| (run, start(&format!("r{run}"), dice))).collect();
    let (mut kills, give_up) = ([0; 3], Instant::now() + PATIENCE);
    while !left.is_empty() {
        let stuck = || left.iter().map(|(run, _)| run).collect::<Vec<_>>();
        assert!(Instant::now() < give_up, "stuck: {:?}", stuck());
        // Longer each time: on a slow machine they get somewhere too.
        let longest = 80_000 + 8_000 * u64::try_from(kills.iter().sum::<usize>()).unwrap();
        std::thread::sleep(Duration::from_micros(dice.below(longest)));
        let victim = usize::try_from(dice.below(left.len() as u64)).unwrap();
        let (run, mut child) = left.swap_remove(victim);
        if child.try_wait().unwrap().is_none() && dice.below(4) > 0 {
            kill_aye(place, child, VICTIMS[usize::try_from(dice.below(3)).unwrap()]);
            kills[run] += 1;
        } else if child.try_wait().unwrap().is_none() {
            left.push((run, child));
            continue;
        }
        let who = format!("r{run}");
        match run_of(&who) {
            Some((_, end)) if ["completed", "failed", "cancelled"].contains(&end.as_str()) => {
                ends[run] = end;
            }
            _ => left.push((run, start(&who, dice))),
        }
    }
    (kills, ends)
}

#[test]
fn no_item_of_a_loop_is_lost_or_doubled_when_aye_is_killed_at_any_moment() {
    let mut dice = Dice(3);
    let mut kills = 0;
    while kills < 40 {
        let place = Place::new();
        let items: Vec<String> = (0..STEPS).map(|item| item.to_string()).collect();
        let items = items.join(", ");
        place.write(
            "lines.yaml",
            &format!("name: lines\nsteps:\n  - name: each\n    foreach: [{items}]\n    parallel: 3\n    shell: echo {{{{ item }}}} >> lines.txt\n"),
        );
        kills += killed_to_the_end(&place, &mut dice);
        let mut lines: Vec<usize> =
            place.read("lines.txt").lines().map(|line| line.parse().unwrap()).collect();
        lines.sort_unstable();
        assert_eq!(lines, (0..STEPS).collect::<Vec<_>>());
        place.aye(&["audit"]).ok();
    }
}
