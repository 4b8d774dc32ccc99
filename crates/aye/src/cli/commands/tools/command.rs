//! Calling a named command outside of a run.

use std::time::Duration;

use aye_core::error_code::ErrorCode;
use aye_core::skill::format_duration;
use aye_process::lines::Lines;
use aye_process::{Happening, Outcome, Signal, Signals, Spec, Stop, Stream};

use crate::cli::{Context, say};
use crate::report::Sanitizer;
use aye_runtime::error::Error;
use aye_runtime::tools::{CommandTool, ToolError};

use super::call::show;

pub(super) fn run(
    tool: &CommandTool,
    limit: Option<Duration>,
    context: &Context,
) -> Result<u8, Error> {
    let (program, args) = tool
        .argv
        .split_first()
        .map_or(("", [].as_slice()), |(program, args)| (program.as_str(), args));
    let mut spec = Spec::new(program).args(args);
    spec.cwd = Some(tool.cwd.clone().unwrap_or_else(|| context.directory.clone()));
    spec.env = tool.env.iter().map(|(name, value)| (name.into(), Some(value.into()))).collect();
    spec.live = true;
    spec.timeout = limit;
    let refused = |message: String, hint: Option<String>| Error::Refused { message, hint };
    let path =
        aye_process::resolve(&spec).map_err(|error| refused(error.to_string(), error.hint()))?;
    let policy = context.granted().policy.for_run(&context.directory);
    policy.check(&spec, &path).map_err(|no| refused(no.to_string(), Some(no.hint())))?;
    let mut signals = Signals::catch().map_err(Error::Signals)?;
    let child =
        aye_process::spawn(spec).map_err(|error| refused(error.to_string(), error.hint()))?;
    let mut children = [child];
    let (mut lines, mut sanitizer) = (Lines::new(), Sanitizer::default());
    let color = context.paint_err.color;
    let mut show_line = |line: &str| say(&format!("{}\n", sanitizer.line(line, color)));
    let exit = loop {
        let mut show_errors = |_: usize, stream: Stream, bytes: &[u8]| {
            if stream == Stream::Stderr {
                lines.push(bytes, &mut show_line);
            }
        };
        let happening = aye_process::wait(&mut children, &[signals.fd()], None, &mut show_errors)
            .map_err(Error::Wait)?;
        match happening {
            Happening::Exited(_, exit) => break exit,
            Happening::Wake(_) => {
                while let Some(signal) = signals.next() {
                    match signal {
                        Signal::Interrupt => children[0].stop(Stop::Interrupt),
                        Signal::Terminate | Signal::Hangup | Signal::Quit => {
                            children[0].stop(Stop::Cancel);
                        }
                        Signal::Suspend => aye_process::suspend(&mut children),
                        Signal::Continue | Signal::Resize => {}
                    }
                }
            }
            Happening::Deadline | Happening::GuardLost | Happening::Idle => {}
        }
    };
    lines.finish(&mut show_line);
    let name = &tool.name;
    let code = match exit.outcome {
        Outcome::Exited(0) => return show(tool.result(&exit.stdout.text()), context),
        Outcome::Interrupted => return Ok(130),
        Outcome::Cancelled => return Ok(143),
        Outcome::TimedOut => {
            let limit = limit.map(format_duration).unwrap_or_default();
            let message = format!("`{name}` took longer than {limit}");
            return Err(Error::Tool(ToolError { code: ErrorCode::Timeout, message, hint: None }));
        }
        Outcome::Exited(_) | Outcome::Signaled(_) => exit.exit_code(),
    };
    let said = exit.stdout.text();
    let said = said.trim();
    let message = match said.is_empty() {
        true => format!("`{name}` ended with exit code {code}"),
        false => format!("`{name}` ended with exit code {code}: {said}"),
    };
    Err(Error::Tool(ToolError { code: ErrorCode::ToolFailed, message, hint: None }))
}
