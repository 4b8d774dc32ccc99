//! What the runner costs, as ratios to the bare system calls in the same run.
//!
//! `cargo build --release -p aye-process --bins --example bench`, then `bench` in `examples/`
//! of the release directory.
//!
//! Rounds are interleaved and medians are printed, because other work on the
//! machine moves the absolute figures.

use std::ffi::CString;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use aye_process::{Exit, Happening, Running, Spec, Stop, spawn, wait};
use aye_test_programs::{NASTY, RUNNER};

const GIB: u64 = 1 << 30;

fn main() {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        // One capture in a process of its own, for its memory.
        Some("capture") => {
            let kind = args.next().unwrap_or_default();
            if args.next().as_deref() == Some("one-core") {
                stay_on_one_core();
            }
            capture_one(&kind);
        }
        Some("steps") => steps(),
        Some("guard") => guard(),
        Some("captures") => capture(),
        _ => {
            steps();
            capture();
            timeout();
            cancel();
            guard();
        }
    }
}

fn scratch() -> PathBuf {
    let path = std::env::temp_dir().join(format!("aye-bench-{}", std::process::id()));
    std::fs::create_dir_all(&path).expect("scratch directory");
    path
}

fn median(mut values: Vec<Duration>) -> Duration {
    values.sort();
    // Under load even the median tells about the load: `BENCH_BEST=1` takes the best round.
    let at = if std::env::var_os("BENCH_BEST").is_some() { 0 } else { values.len() / 2 };
    values[at]
}

/// Processor time of this process and of all children it has waited for: unlike
/// the time on the wall it does not grow with the load of the machine.
fn cpu() -> Duration {
    let of = |who| {
        // SAFETY: a zeroed `rusage` is valid and filled by the call.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(who, &raw mut usage);
            usage
        };
        let part = |time: libc::timeval| {
            Duration::from_micros((time.tv_sec * 1_000_000 + time.tv_usec).cast_unsigned())
        };
        part(usage.ru_utime) + part(usage.ru_stime)
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}

fn ratio(value: Duration, base: Duration) -> f64 {
    value.as_secs_f64() / base.as_secs_f64()
}

fn run(spec: Spec) -> Exit {
    finish(&mut spawn(spec).expect("started"), &mut |_| {})
}

fn finish(child: &mut Running, view: &mut dyn FnMut(&[u8])) -> Exit {
    match wait(std::slice::from_mut(child), &[], None, &mut |_, _, bytes| view(bytes)) {
        Ok(Happening::Exited(_, exit)) => *exit,
        other => panic!("no end: {other:?}"),
    }
}

/// `vfork`, `execve`, `waitpid`: nothing can be cheaper.
#[inline(never)]
fn bare_step(program: &CString) {
    let argv = [program.as_ptr(), std::ptr::null()];
    let envp = [std::ptr::null()];
    let mut status = 0;
    // SAFETY: between `vfork` and `execve` the child calls nothing else.
    unsafe {
        #[expect(deprecated, reason = "the limit to measure against is this very call")]
        let pid = libc::vfork();
        if pid == 0 {
            libc::execve(program.as_ptr(), argv.as_ptr(), envp.as_ptr());
            libc::_exit(127);
        }
        libc::waitpid(pid, &raw mut status, 0);
    }
    assert_eq!(status, 0);
}

fn steps() {
    const ROUNDS: usize = 10;
    const STEPS: u32 = 100;
    let program = CString::new("/bin/true").expect("a path");
    let log = scratch();
    let captured = |number: u32| {
        let mut spec = Spec::new("/bin/true");
        spec.log = Some(log.join(number.to_string()));
        spec.run = Some("bench".to_owned());
        spec.timeout = Some(Duration::from_secs(60));
        assert!(run(spec).success());
    };
    let std_captured = || {
        assert!(Command::new("/bin/true").output().expect("ran").status.success());
    };
    let mut times: [Vec<Duration>; 3] = Default::default();
    let mut used: [Vec<Duration>; 3] = Default::default();
    for _ in 0..ROUNDS {
        let mut time = |at: usize, step: &mut dyn FnMut(u32)| {
            let (before, cpu_before) = (Instant::now(), cpu());
            (0..STEPS).for_each(&mut *step);
            times[at].push(before.elapsed() / STEPS);
            used[at].push((cpu() - cpu_before) / STEPS);
        };
        time(0, &mut |_| bare_step(&program));
        time(1, &mut |number| captured(number));
        time(2, &mut |_| std_captured());
    }
    let (early, late) = times[1].split_at(ROUNDS / 2);
    let growth = ratio(median(late.to_vec()), median(early.to_vec()));
    let [bare, ours, std] = times.map(median);
    let [bare_cpu, ours_cpu, std_cpu] = used.map(median);
    println!("1,000 sequential /bin/true, ms a step and ratio: wall, processor");
    for (name, wall, cpu) in [
        ("vfork loop", bare, bare_cpu),
        ("captured with log", ours, ours_cpu),
        ("std output()", std, std_cpu),
    ] {
        let (wall_ratio, cpu_ratio) = (ratio(wall, bare), ratio(cpu, bare_cpu));
        let millis = |time: Duration| time.as_secs_f64() * 1e3;
        println!(
            "  {name:<18} {:.3} {wall_ratio:.2}  {:.3} {cpu_ratio:.2}",
            millis(wall),
            millis(cpu)
        );
    }
    println!("  the second half of the steps against the first: {growth:.2}");
    let _ = std::fs::remove_dir_all(log);
}

fn flood() -> Command {
    let mut command = Command::new(&*NASTY);
    command.args(["flood", "out", &GIB.to_string()]).stdout(Stdio::piped());
    command
}

/// Prints its time and processor time in microseconds and its peak memory in KiB.
fn capture_one(kind: &str) {
    let directory = scratch();
    let (before, cpu_before) = (Instant::now(), cpu());
    if kind == "bare" {
        let mut child = flood().spawn().expect("started");
        let mut pipe = child.stdout.take().expect("piped");
        let mut buffer = vec![0; 64 * 1024];
        while pipe.read(&mut buffer).expect("read") > 0 {}
        child.wait().expect("ended");
    } else {
        let mut spec = Spec::new(&*NASTY).args(["flood", "out", &GIB.to_string()]);
        spec.log = (kind != "ring").then(|| directory.join("step"));
        spec.live = kind.starts_with("viewer");
        spec.digest = kind.ends_with("sealed");
        let mut seen = 0;
        let exit = finish(&mut spawn(spec).expect("started"), &mut |bytes| {
            seen += bytes.len() as u64;
        });
        assert_eq!(exit.stdout.total(), GIB);
        assert_eq!(exit.stdout.into_bytes().len(), aye_process::DEFAULT_TAIL);
        assert_eq!(seen, if kind.starts_with("viewer") { GIB } else { 0 });
    }
    let time = before.elapsed();
    let status = std::fs::read_to_string("/proc/self/status").expect("status");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    let used = cpu() - cpu_before;
    println!("{} {} {}", time.as_micros(), used.as_micros(), peak.trim().trim_end_matches(" kB"));
    let _ = std::fs::remove_dir_all(directory);
}

/// This process and its children share one core.
fn stay_on_one_core() {
    // SAFETY: a zeroed `cpu_set_t` is an empty set; the calls only fill and read it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(0, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set);
    }
}

/// Once with reader and writer on one core, where the bytes of a bare loop never leave the
/// cache: the hardest comparison; once wherever the kernel puts them.
fn capture() {
    const KINDS: [&str; 6] = ["bare", "log", "log-sealed", "viewer", "viewer-sealed", "ring"];
    let own = std::env::current_exe().expect("our own path");
    for placement in ["one-core", "any-core"] {
        let mut times: [Vec<Duration>; KINDS.len()] = Default::default();
        let mut used: [Vec<Duration>; KINDS.len()] = Default::default();
        let mut peaks = [0_u64; KINDS.len()];
        for _ in 0..7 {
            for (at, kind) in KINDS.iter().enumerate() {
                let output =
                    Command::new(&own).args(["capture", kind, placement]).output().expect("ran");
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                let mut numbers =
                    text.split_whitespace().map(|word| word.parse::<u64>().expect("a number"));
                times[at].push(Duration::from_micros(numbers.next().expect("a time")));
                used[at].push(Duration::from_micros(numbers.next().expect("a time")));
                peaks[at] = peaks[at].max(numbers.next().expect("a peak"));
            }
        }
        let (times, used) = (times.map(median), used.map(median));
        println!("1 GiB captured ({placement}), seconds and ratio: wall, processor; peak MB");
        for (at, kind) in KINDS.iter().enumerate() {
            let peak = peaks[at] as f64 / 1024.0;
            let (wall, cpu) = (times[at].as_secs_f64(), used[at].as_secs_f64());
            let (wall_ratio, cpu_ratio) = (ratio(times[at], times[0]), ratio(used[at], used[0]));
            println!("  {kind:<13} {wall:.2} {wall_ratio:.2}  {cpu:.2} {cpu_ratio:.2}  {peak:.1}");
        }
    }
}

fn timeout() {
    let limit = Duration::from_millis(200);
    let late: Vec<Duration> = (0..10)
        .map(|_| {
            let mut spec =
                Spec::new("sh").args(["-c", "sleep 60 & setsid sleep 60 & exec sleep 60"]);
            spec.timeout = Some(limit);
            let before = Instant::now();
            let exit = run(spec);
            assert_eq!((exit.exit_code(), exit.left_running.len()), (124, 0));
            before.elapsed() - limit
        })
        .collect();
    let worst = late.iter().max().copied().unwrap_or_default();
    println!(
        "time-out with grandchildren on the pipe: late by {:?}, at worst {worst:?}",
        median(late)
    );
}

fn cancel() {
    let times: Vec<Duration> = (0..10)
        .map(|_| {
            let mut spec = Spec::new(&*NASTY).args(["tree", "100"]);
            spec.live = true;
            let mut child = spawn(spec).expect("started");
            let mut seen = Vec::new();
            while !seen.ends_with(b"ready\n") {
                let soon = Some(Instant::now() + Duration::from_millis(1));
                let mut view =
                    |_: usize, _: aye_process::Stream, bytes: &[u8]| seen.extend_from_slice(bytes);
                wait(std::slice::from_mut(&mut child), &[], soon, &mut view).expect("poll");
            }
            // The last of them may still be on its way out of the group.
            std::thread::sleep(Duration::from_millis(50));
            let before = Instant::now();
            child.stop(Stop::Cancel);
            let exit = finish(&mut child, &mut |_| {});
            assert_eq!(exit.left_running.len(), 0);
            before.elapsed()
        })
        .collect();
    let worst = times.iter().max().copied().unwrap_or_default();
    println!("cancel of a tree of 100: {:?}, at worst {worst:?}", median(times));
}

/// One step end to end, with and without the guard.
fn guard() {
    let mut times: [Vec<Duration>; 2] = Default::default();
    let mut used = [Duration::ZERO; 2];
    let rounds = 300;
    for _ in 0..rounds {
        for (at, options) in [&["--no-guard", "/bin/true"][..], &["/bin/true"]].iter().enumerate() {
            let (before, cpu_before) = (Instant::now(), cpu());
            let status =
                Command::new(&*RUNNER).args(*options).stdin(Stdio::null()).status().expect("ran");
            times[at].push(before.elapsed());
            used[at] += cpu() - cpu_before;
            assert!(status.success());
        }
    }
    let [without, with] = times.map(median);
    let [cpu_without, cpu_with] = used.map(|time| time / rounds);
    println!("one step end to end, wall and processor");
    println!("  without guard  {without:?}  {cpu_without:?}");
    println!("  with guard     {with:?}  {cpu_with:?}");
    println!(
        "  the guard      {:?}  {:?}",
        with.saturating_sub(without),
        cpu_with.saturating_sub(cpu_without)
    );
}
