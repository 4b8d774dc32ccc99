//! Start-up and step cost, next to the limit and to peers. `bench/start.sh`
//! builds and runs it; `AYE` names the binary under test.
//!
//! `bench/compare.sh BEFORE AFTER…` times builds of Aye against each other,
//! interleaved, with ratios to the first.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// One thing to time.
struct Contender {
    name: &'static str,
    command: Vec<String>,
    env: Vec<(&'static str, String)>,
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(("compare", binaries)) = args.split_first().map(|(first, rest)| (&**first, rest)) {
        return compare(binaries);
    }
    let aye = std::env::var("AYE").unwrap_or_else(|_| "target/release/aye".to_owned());
    let rounds: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(300);
    let place = std::env::temp_dir().join(format!("aye-bench-{}", std::process::id()));
    std::fs::create_dir_all(&place).expect("a directory to work in");
    write_files(&place);
    std::env::set_current_dir(&place).expect("the directory is there");

    println!("start-up (`--version`), {rounds} rounds, medians");
    table(
        &[
            contender("true (limit: spawn + exit)", &["/bin/true"]),
            contender("aye --version", &[&aye, "--version"]),
            contender("just --version", &["just", "--version"]),
            contender("make --version", &["make", "--version"]),
        ],
        rounds,
    );

    println!("\none step `true`, start to finish, {rounds} rounds, medians");
    table(
        &[
            contender("true (limit: spawn + exit)", &["/bin/true"]),
            contender("aye run, power-safe", &[&aye, "run", "one.yaml", "-q"]),
            with_process_durability(contender(
                "aye run, process-safe",
                &[&aye, "run", "one.yaml", "-q"],
            )),
            contender("just", &["just", "one"]),
            contender("make", &["make", "-s", "one"]),
            contender("bash -c", &["bash", "-c", "/bin/true; :"]),
            contender("dash -c", &["dash", "-c", "/bin/true; :"]),
            contender("task", &["task", "-s", "one"]),
        ],
        rounds,
    );

    let long = rounds.div_ceil(60).max(3);
    println!("\n1,000 steps `true`, {long} rounds, medians");
    let limit = median((0..long).map(|_| spawn_loop(1000)).collect());
    println!("  {:<28} {:>9.3} ms/step", "vfork loop (limit)", limit.as_secs_f64());
    let entries = [
        contender("aye run, power-safe", &[&aye, "run", "thousand.yaml", "-q"]),
        with_process_durability(contender(
            "aye run, process-safe",
            &[&aye, "run", "thousand.yaml", "-q"],
        )),
        contender("just", &["just", "thousand"]),
        contender("make", &["make", "-s", "thousand"]),
        contender("bash", &["bash", "thousand.sh"]),
    ];
    for entry in entries.iter().filter(|entry| is_there(entry)) {
        let mut times = Vec::new();
        let mut limits = Vec::new();
        for _ in 0..long {
            limits.push(spawn_loop(1000));
            times.push(time(entry));
        }
        let (time, limit) = (median(times), median(limits));
        println!(
            "  {:<28} {:>9.3} ms/step {:>7.2} x limit",
            entry.name,
            time.as_secs_f64(),
            time.as_secs_f64() / limit.as_secs_f64()
        );
    }
    let hundred = contender("100", &[&aye, "run", "hundred.yaml", "-q"]);
    let thousand = contender("1000", &[&aye, "run", "thousand.yaml", "-q"]);
    let (mut short, mut full) = (Vec::new(), Vec::new());
    for _ in 0..long {
        short.push(time(&hundred));
        full.push(time(&thousand));
    }
    let ratio = median(full).as_secs_f64() / 1000.0 / (median(short).as_secs_f64() / 100.0);
    println!("  ms/step at 1,000 over 100: {ratio:.2} x");
    std::fs::remove_dir_all(&place).expect("the directory can be removed");
}

/// Times builds of Aye against each other: every round runs each of them once,
/// each with a home of its own. Processor time is that of the whole tree.
fn compare(binaries: &[String]) {
    assert!(binaries.len() > 1, "usage: compare BEFORE AFTER…");
    let place = std::env::temp_dir().join(format!("aye-compare-{}", std::process::id()));
    std::fs::create_dir_all(&place).expect("a directory to work in");
    write_files(&place);
    std::env::set_current_dir(&place).expect("the directory is there");
    let jobs: [(&str, &[&str], &str, usize); 5] = [
        ("--version", &["--version"], "safe", 300),
        ("one step, power-safe", &["run", "one.yaml", "-q"], "safe", 300),
        ("one step, process-safe", &["run", "one.yaml", "-q"], "quick", 300),
        ("1,000 steps, power-safe", &["run", "thousand.yaml", "-q"], "safe", 9),
        ("1,000 steps, process-safe", &["run", "thousand.yaml", "-q"], "quick", 9),
    ];
    for (name, args, settings, rounds) in jobs {
        println!("{name}, {rounds} rounds, medians; processor time of all rounds");
        let mut walls: Vec<Vec<Duration>> = vec![Vec::new(); binaries.len()];
        let mut cpus = vec![Duration::ZERO; binaries.len()];
        for _ in 0..rounds {
            for (number, binary) in binaries.iter().enumerate() {
                let before = cpu_of_children();
                let start = Instant::now();
                let status = Command::new(binary)
                    .args(args)
                    .env("XDG_CONFIG_HOME", place.join(settings))
                    .env("AYE_HOME", place.join(format!("home-{number}")))
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .status()
                    .expect("it starts");
                assert!(status.success(), "{binary} failed");
                walls[number].push(start.elapsed());
                cpus[number] += cpu_of_children().saturating_sub(before);
            }
        }
        let walls: Vec<Duration> = walls.into_iter().map(median).collect();
        for ((binary, wall), cpu) in binaries.iter().zip(&walls).zip(&cpus) {
            println!(
                "  {binary:<32} {:>9.3} ms {:>6.3} x   cpu {:>9.3} ms {:>6.3} x",
                wall.as_secs_f64() * 1000.0,
                wall.as_secs_f64() / walls[0].as_secs_f64(),
                cpu.as_secs_f64() * 1000.0,
                cpu.as_secs_f64() / cpus[0].as_secs_f64(),
            );
        }
    }
    std::env::set_current_dir("/").expect("the root is there");
    std::fs::remove_dir_all(&place).expect("the directory can be removed");
}

/// Processor time of all children that have ended, with their own children.
fn cpu_of_children() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("the kernel tells");
    let fields: Vec<&str> =
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    // `cutime` and `cstime`, in ticks of 10 ms.
    let ticks = |at: usize| fields[at].parse::<u64>().expect("a number");
    Duration::from_millis((ticks(13) + ticks(14)) * 10)
}

fn write_files(place: &Path) {
    let steps = |count: usize| {
        let steps: String =
            (0..count).map(|n| format!("  - {{ name: s{n}, command: /bin/true }}\n")).collect();
        format!("name: bench\nstep_limit: 100000\nsteps:\n{steps}")
    };
    let write = |name: &str, text: String| {
        std::fs::write(place.join(name), text).expect("files can be written");
    };
    write("one.yaml", steps(1));
    write("hundred.yaml", steps(100));
    write("thousand.yaml", steps(1000));
    let lines = "\t@/bin/true\n".repeat(1000);
    write("Makefile", format!("one:\n\t@/bin/true\nthousand:\n{lines}"));
    let lines = "    @/bin/true\n".repeat(1000);
    write("justfile", format!("one:\n    @/bin/true\nthousand:\n{lines}"));
    write("thousand.sh", "/bin/true\n".repeat(1000));
    write("Taskfile.yml", "version: '3'\ntasks:\n  one:\n    cmds: [/bin/true]\n".to_owned());
    // Settings of the user: a looser one of a project counts only where it is trusted.
    std::fs::create_dir_all(place.join("quick/aye")).expect("a directory of settings");
    std::fs::create_dir_all(place.join("safe")).expect("an empty one");
    let settings = "[journal]\ndurability = \"process\"\n";
    std::fs::write(place.join("quick/aye/config.toml"), settings).expect("files can be written");
}

fn contender(name: &'static str, command: &[&str]) -> Contender {
    let home = std::env::temp_dir().join(format!("aye-bench-home-{}", std::process::id()));
    Contender {
        name,
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        env: vec![("AYE_HOME", home.to_string_lossy().into_owned())],
    }
}

fn with_process_durability(mut contender: Contender) -> Contender {
    let here = std::env::current_dir().expect("the directory is there");
    let settings = here.join("quick").to_string_lossy().into_owned();
    contender.env.push(("XDG_CONFIG_HOME", settings));
    contender
}

fn is_there(entry: &Contender) -> bool {
    build(entry).output().is_ok_and(|output| output.status.success())
}

fn build(entry: &Contender) -> Command {
    let (program, args) = entry.command.split_first().expect("a program");
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    for (name, value) in &entry.env {
        command.env(name, value);
    }
    command
}

fn time(entry: &Contender) -> Duration {
    let start = Instant::now();
    let status = build(entry).status().expect("it starts");
    assert!(status.success(), "{} failed", entry.name);
    start.elapsed()
}

fn spawn_loop(count: usize) -> Duration {
    let start = Instant::now();
    for _ in 0..count {
        Command::new("/bin/true").status().expect("true starts");
    }
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn table(entries: &[Contender], rounds: usize) {
    let entries: Vec<&Contender> = entries.iter().filter(|entry| is_there(entry)).collect();
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); entries.len()];
    for _ in 0..rounds {
        for (entry, times) in entries.iter().zip(&mut times) {
            times.push(time(entry));
        }
    }
    let medians: Vec<Duration> = times.into_iter().map(median).collect();
    for (entry, time) in entries.iter().zip(&medians) {
        println!(
            "  {:<28} {:>9.3} ms {:>7.2} x limit",
            entry.name,
            time.as_secs_f64() * 1000.0,
            time.as_secs_f64() / medians[0].as_secs_f64()
        );
    }
}
