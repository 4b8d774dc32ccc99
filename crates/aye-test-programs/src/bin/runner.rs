//! The smallest runner that does everything right: guard, signals, one child.
//! The tests kill it in every way; it also shows how the parts fit together.
//!
//! `runner [--no-guard] [--interactive] [--tty] [--timeout MS] [--grace MS] [--run TAG]
//! [--serve SCRIPT] [--times N] PROGRAM ARGS...`

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use aye_process::{
    Happening, Signal, Signals, Spec, Stop, Stream, guard, serve, spawn, suspend, wait,
};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1).peekable();
    let mut guarded = true;
    let mut spec = Spec::new("");
    spec.live = true;
    let mut serving = None;
    let mut times = None;
    while let Some(option) = args.next_if(|word| word.starts_with("--")) {
        let mut millis =
            || Duration::from_millis(args.next().and_then(|word| word.parse().ok()).unwrap_or(0));
        match option.as_str() {
            "--no-guard" => guarded = false,
            "--interactive" => spec.interactive = true,
            "--tty" => spec.tty = true,
            "--timeout" => spec.timeout = Some(millis()),
            "--grace" => spec.grace = millis(),
            "--run" => spec.run = args.next(),
            "--serve" => serving = args.next(),
            "--times" => times = args.next().and_then(|word| word.parse().ok()),
            other => return fail(&format!("unknown option `{other}`"), 2),
        }
    }
    if guarded && let Err(error) = guard::start() {
        return fail(&error.to_string(), 1);
    }
    spec.program = args.next().unwrap_or_default().into();
    spec.args = args.map(Into::into).collect();
    if let Some(times) = times {
        return repeat(&spec, times);
    }
    let Some(script) = serving else {
        return run(spec);
    };
    let mut service = match serve(&Spec::new("/bin/sh").args(["-c", &script])) {
        Ok((service, _pipes)) => service,
        Err(error) => return fail(&error.to_string(), 1),
    };
    let code = run(spec);
    match service.try_wait() {
        None => println!("serving {}", service.pid()),
        Some(status) => println!("ended: {status:?}"),
    }
    code
}

fn fail(message: &str, code: u8) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(code)
}

/// Starts it again and again; signals are caught, and not looked at.
fn repeat(spec: &Spec, times: u32) -> ExitCode {
    match Signals::catch() {
        // To the very end: one that came later would stop us.
        Ok(signals) => std::mem::forget(signals),
        Err(error) => return fail(&error.to_string(), 1),
    }
    println!("ready");
    for _ in 0..times {
        let ended =
            spawn(spec.clone()).map(|child| wait(&mut [child], &[], None, &mut |_, _, _| {}));
        match ended {
            Ok(Ok(Happening::Exited(_, exit))) if exit.success() => {}
            other => return fail(&format!("{other:?}"), 1),
        }
    }
    ExitCode::SUCCESS
}

fn run(spec: Spec) -> ExitCode {
    let mut signals = match Signals::catch() {
        Ok(signals) => signals,
        Err(error) => return fail(&error.to_string(), 1),
    };
    let child = match spawn(spec) {
        Ok(child) => child,
        Err(error) => {
            return fail(&error.to_string(), u8::try_from(error.exit_code()).unwrap_or(1));
        }
    };
    let mut children = [child];
    let mut stopped_by = None;
    let mut show = |_: usize, stream: Stream, bytes: &[u8]| {
        let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
        // Nobody may be listening any more; the child continues.
        let _ = match stream {
            Stream::Stdout => out.write_all(bytes).and_then(|()| out.flush()),
            Stream::Stderr => err.write_all(bytes),
        };
    };
    loop {
        let happening = match wait(&mut children, &[signals.fd()], None, &mut show) {
            Ok(happening) => happening,
            Err(error) => return fail(&error.to_string(), 1),
        };
        match happening {
            Happening::Exited(_, exit) => {
                let code = stopped_by.map_or_else(|| exit.exit_code(), Signal::exit_code);
                return ExitCode::from(u8::try_from(code).unwrap_or(1));
            }
            Happening::Wake(_) => {
                while let Some(signal) = signals.next() {
                    match signal {
                        Signal::Interrupt => children[0].stop(Stop::Interrupt),
                        Signal::Terminate | Signal::Hangup | Signal::Quit => {
                            children[0].stop(Stop::Cancel);
                        }
                        Signal::Suspend => suspend(&mut children),
                        Signal::Continue | Signal::Resize => {}
                    }
                    if signal.is_stop() {
                        stopped_by.get_or_insert(signal);
                    }
                }
            }
            Happening::GuardLost => stopped_by = Some(Signal::Terminate),
            Happening::Deadline | Happening::Idle => {}
        }
    }
}
