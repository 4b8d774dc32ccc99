//! Test programs: children that behave as badly as children can. One binary,
//! the first argument says how.

use std::io::{Read, Write};
use std::time::Duration;

/// Longer than any test waits, short enough not to outlive a failed one by much.
const FOREVER: Duration = Duration::from_secs(60);

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let word = |at: usize| args.get(at).map_or("", String::as_str);
    let number = |at: usize| word(at).parse::<u64>().unwrap_or(0);
    match word(1) {
        "exit" => leave(i32::try_from(number(2)).unwrap_or(1)),
        "die" => raise(i32::try_from(number(2)).unwrap_or(9)),
        "sleep" => std::thread::sleep(Duration::from_millis(number(2))),
        "ignores-term" => ignores_term(),
        "says-on-term" => says_on_term(),
        "holds-pipe" => holds_pipe(false),
        "holds-pipe-detached" => holds_pipe(true),
        "stray" => stray(word(2), word(3)),
        "forks-while-dying" => forks_while_dying(),
        "stops-itself" => raise(libc::SIGSTOP),
        "flood" => flood(word(2), number(3)),
        "split-utf8" => split_utf8(),
        "never-reads-stdin" => println!("done"),
        "cat" => cat(),
        "eats-memory" => eats_memory(number(2)),
        "burns-cpu" => burns_cpu(),
        "orphans" => orphans(number(2)),
        "tree" => tree(number(2)),
        "signals" => signals(),
        "descriptors" => descriptors(),
        "terminal" => terminal(),
        "pty" => pty(),
        "types" => types(),
        other => {
            eprintln!("nasty: unknown behaviour `{other}`");
            leave(2);
        }
    }
}

#[expect(clippy::exit, reason = "a test program ends with the code it was asked for")]
fn leave(code: i32) {
    std::process::exit(code);
}

fn say(text: &str) {
    println!("{text}");
    let _ = std::io::stdout().flush();
}

fn raise(signal: i32) {
    // SAFETY: sends a signal to ourselves.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

fn ignore(signal: i32) {
    // SAFETY: changes our own disposition.
    unsafe {
        libc::signal(signal, libc::SIG_IGN);
    }
}

/// Forks; runs `child` in the child and ends it.
fn fork(child: impl FnOnce()) -> i32 {
    // SAFETY: this program has one thread.
    match unsafe { libc::fork() } {
        0 => {
            child();
            // SAFETY: ends the child without the parent's buffers being written twice.
            unsafe { libc::_exit(0) }
        }
        pid => pid,
    }
}

fn ignores_term() {
    ignore(libc::SIGTERM);
    ignore(libc::SIGINT);
    ignore(libc::SIGHUP);
    say("ready");
    std::thread::sleep(FOREVER);
}

fn says_on_term() {
    extern "C" fn on_term(_: i32) {
        // SAFETY: `write` and `_exit` are async-signal-safe.
        unsafe {
            libc::write(1, b"bye\n".as_ptr().cast(), 4);
            libc::_exit(3);
        }
    }
    // SAFETY: the handler is async-signal-safe.
    unsafe {
        libc::signal(libc::SIGTERM, on_term as *const () as usize);
    }
    say("ready");
    std::thread::sleep(FOREVER);
}

/// The leader ends, a child of it keeps the pipes open.
fn holds_pipe(detached: bool) {
    let pid = fork(|| {
        if detached {
            // SAFETY: no arguments.
            unsafe { libc::setsid() };
            ignore(libc::SIGTERM);
        }
        std::thread::sleep(FOREVER);
    });
    say(&format!("{pid}"));
}

/// Leaves a process of the given kind and writes its pid to the given file;
/// then waits for ever, so that someone has to end it all.
fn stray(kind: &str, file: &str) {
    let note = |pid: i32| {
        let mut out =
            std::fs::OpenOptions::new().create(true).append(true).open(file).expect("pid file");
        // In one write: several processes append.
        out.write_all(format!("{pid}\n").as_bytes()).expect("pid written");
    };
    // SAFETY: no arguments.
    let own = || unsafe { libc::getpid() };
    match kind {
        "foreground" => {}
        "background" => {
            fork(|| {
                ignore(libc::SIGINT);
                ignore(libc::SIGQUIT);
                note(own());
                std::thread::sleep(FOREVER);
            });
        }
        "setsid" => {
            fork(|| {
                // SAFETY: no arguments.
                unsafe { libc::setsid() };
                note(own());
                std::thread::sleep(FOREVER);
            });
        }
        "double-fork" => {
            let middle = fork(|| {
                // SAFETY: no arguments.
                unsafe { libc::setsid() };
                fork(|| {
                    ignore(libc::SIGHUP);
                    note(own());
                    std::thread::sleep(FOREVER);
                });
            });
            // SAFETY: waits for our own child.
            unsafe { libc::waitpid(middle, std::ptr::null_mut(), 0) };
        }
        other => panic!("unknown kind `{other}`"),
    }
    note(own());
    say("ready");
    std::thread::sleep(FOREVER);
}

/// Every process that gets `SIGTERM` leaves another one behind, ten times.
fn forks_while_dying() {
    static LEFT: std::sync::atomic::AtomicI32 = std::sync::atomic::AtomicI32::new(10);
    extern "C" fn on_term(_: i32) {
        use std::sync::atomic::Ordering;
        // SAFETY: `fork`, `setsid` and `_exit` are async-signal-safe.
        unsafe {
            if LEFT.fetch_sub(1, Ordering::Relaxed) > 0 && libc::fork() == 0 {
                libc::setsid();
                return;
            }
            libc::_exit(0);
        }
    }
    // SAFETY: the handler is async-signal-safe.
    unsafe {
        libc::signal(libc::SIGTERM, on_term as *const () as usize);
    }
    say("ready");
    loop {
        std::thread::sleep(FOREVER);
    }
}

fn flood(stream: &str, bytes: u64) {
    let chunk = vec![b'x'; 64 * 1024];
    let mut left = bytes;
    while left > 0 {
        let piece = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
        if stream == "out" || stream == "both" {
            std::io::stdout().write_all(&chunk[..piece]).expect("stdout");
        }
        if stream == "err" || stream == "both" {
            std::io::stderr().write_all(&chunk[..piece]).expect("stderr");
        }
        left -= piece as u64;
    }
}

fn split_utf8() {
    for byte in "grüße 🎉\n".bytes() {
        std::io::stdout().write_all(&[byte]).expect("stdout");
        std::io::stdout().flush().expect("stdout");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn cat() {
    let mut all = Vec::new();
    std::io::stdin().read_to_end(&mut all).expect("stdin");
    println!("{}", all.len());
}

fn eats_memory(mebibytes: u64) {
    let mut held: Vec<Vec<u8>> = Vec::new();
    for _ in 0..mebibytes {
        held.push(vec![1; 1024 * 1024]);
    }
    say(&format!("{}", held.len()));
}

fn burns_cpu() {
    let mut number = 0_u64;
    loop {
        number = std::hint::black_box(number.wrapping_add(1));
    }
}

/// That many processes that lose their parent and die at once.
fn orphans(count: u64) {
    for _ in 0..count {
        let middle = fork(|| {
            fork(|| {});
        });
        // SAFETY: waits for our own child.
        unsafe { libc::waitpid(middle, std::ptr::null_mut(), 0) };
    }
    say("ready");
    std::thread::sleep(FOREVER);
}

/// A tree of that many processes, each the child of one of two before it.
fn tree(count: u64) {
    for _ in 1..count {
        fork(|| {
            // Half of them leave the group.
            // SAFETY: no arguments.
            if unsafe { libc::getpid() } % 2 == 0 {
                unsafe { libc::setsid() };
            }
            std::thread::sleep(FOREVER);
        });
    }
    say("ready");
    std::thread::sleep(FOREVER);
}

/// Which signals are blocked or ignored.
fn signals() {
    let status = std::fs::read_to_string("/proc/self/status").expect("status");
    for line in
        status.lines().filter(|line| line.starts_with("SigBlk") || line.starts_with("SigIgn"))
    {
        println!("{line}");
    }
}

fn descriptors() {
    let mut open: Vec<String> = (0..256)
        // SAFETY: asks whether a descriptor is open.
        .filter(|fd| unsafe { libc::fcntl(*fd, libc::F_GETFD) } >= 0)
        .map(|fd| fd.to_string())
        .collect();
    open.sort();
    println!("{}", open.join(" "));
}

/// Uses the real terminal and leaves it in the worst state.
fn terminal() {
    // SAFETY: plain queries, and a valid `termios`.
    unsafe {
        let own = libc::getpgrp();
        let owner = libc::tcgetpgrp(0);
        print!("foreground {}\x1b[?1049h\x1b[?1000h\x1b[?2004h\x1b[?25l\x1b[31m", own == owner);
        let _ = std::io::stdout().flush();
        let mut modes: libc::termios = std::mem::zeroed();
        libc::tcgetattr(0, &raw mut modes);
        libc::cfmakeraw(&raw mut modes);
        libc::tcsetattr(0, libc::TCSANOW, &raw const modes);
    }
    let mut line = [0; 1];
    let read = std::io::stdin().read(&mut line).unwrap_or(0);
    print!("read {read} {}", line[0]);
    let _ = std::io::stdout().flush();
    raise(libc::SIGKILL);
}

fn pty() {
    // SAFETY: plain queries, and a valid `winsize`.
    unsafe {
        let mut size: libc::winsize = std::mem::zeroed();
        libc::ioctl(1, libc::TIOCGWINSZ, &raw mut size);
        println!("{} {} {}x{}", libc::isatty(1), libc::isatty(0), size.ws_col, size.ws_row);
    }
}

/// Types into every terminal that can be reached: those of the open
/// descriptors but its own output, and the controlling one.
fn types() {
    // SAFETY: asks whether a descriptor is a terminal.
    let held: Vec<i32> = (0..256).filter(|fd| unsafe { libc::isatty(*fd) } == 1).collect();
    let controlling = std::fs::OpenOptions::new().read(true).write(true).open("/dev/tty");
    let opened = controlling.as_ref().ok().map(std::os::fd::AsRawFd::as_raw_fd);
    let typed = b"typed by a step\n";
    let into = |fd: &i32| {
        // SAFETY: each is a valid byte, and the kernel checks the descriptor.
        typed.iter().all(|byte| unsafe { libc::ioctl(*fd, libc::TIOCSTI, &raw const *byte) } == 0)
    };
    // What a pseudo-terminal for the output is told to read, nobody reads.
    let others = held.iter().filter(|fd| **fd > 2).chain(&opened);
    println!("typed into {} terminals, holds {}", others.filter(|fd| into(fd)).count(), held.len());
}
