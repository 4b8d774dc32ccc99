//! Tool steps.

use std::time::{Duration, Instant};

use aye_core::effect::{Process, ToolCall};
use aye_core::error_code::ErrorCode;
use aye_core::input::{End, Finished};
use aye_core::kept_output::KeptOutput;
use serde_json::Value;

use crate::error::Error;
use crate::tools::{Call, Known, ToolError, ToolEvent, ToolResult};

use super::drive::Driver;
use super::lane::{LaneId, Meaning, Work};

/// How long a call may take, as far as the run says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Within {
    /// The nearer of the step's limit and the run's.
    pub(super) timeout: Option<Duration>,
    /// The step itself names a limit.
    pub(super) own_limit: bool,
}

impl Within {
    /// What the project says counts where the step says nothing.
    fn limit(self, project: Option<Duration>) -> Option<Duration> {
        match self.own_limit {
            true => self.timeout,
            false => [self.timeout, project].into_iter().flatten().min(),
        }
    }
}

impl Driver<'_> {
    /// Calls a tool: of a server, or a named command of the project.
    pub(super) fn call(
        &mut self,
        id: LaneId,
        execution: u32,
        step: &str,
        call: ToolCall,
        within: Within,
    ) -> Result<(), Error> {
        if let Some(error) = self.parts.tools.unknown(&call.tool) {
            return self.finished(id, execution, failed_call(error), None);
        }
        if self.parts.tools.knows(&call.tool) == Known::BuiltIn {
            return self.call_memory(id, execution, &call);
        }
        match self.parts.tools.command(&call.tool, call.args.clone()) {
            Some(Ok(tool)) => {
                let process = Process {
                    argv: tool.argv.clone(),
                    env: tool.env.iter().map(|(k, v)| (k.clone(), Some(v.clone()))).collect(),
                    cwd: tool.cwd.as_ref().map(|cwd| cwd.to_string_lossy().into_owned()),
                    stdin: None,
                    interactive: false,
                    tty: false,
                    kept: KeptOutput::default(),
                    max_memory: None,
                    max_cpu: None,
                };
                let mut spec = self.spec(id, execution, step, &process);
                spec.timeout = within.limit(tool.timeout.or(self.parts.limits.step_timeout));
                return self.run(id, execution, spec, Meaning::Tool(Box::new(tool)));
            }
            Some(Err(error)) => return self.finished(id, execution, failed_call(error), None),
            None => {}
        }
        let number = self.calls.next_number();
        self.parts.report.step_begins(id, false);
        let ToolCall { tool, args } = call;
        let Within { timeout, own_limit } = within;
        // A person who is asked meanwhile has the time of the run, not of the step.
        let now = self.parts.clock.now();
        let left = self.lane(id).machine.state().deadline().map(|deadline| {
            Duration::try_from(deadline.duration_since(now)).unwrap_or(Duration::ZERO)
        });
        self.parts.tools.call(Call {
            id: number,
            name: tool,
            args,
            timeout: timeout.filter(|_| own_limit),
            usual: self.parts.limits.step_timeout,
            most: timeout,
            run: left,
        });
        let since = Instant::now();
        self.mail.start_waiting(since);
        self.lane_mut(id).work = Work::Tool { execution, since, call: number };
        // What fails before there is a worker wakes nobody.
        self.tool_events()
    }

    /// Takes in what tools say.
    pub(super) fn tool_events(&mut self) -> Result<(), Error> {
        while let Some(event) = self.parts.tools.next() {
            match event {
                ToolEvent::Progress { call, text, fraction } => {
                    if let Some((id, _, _)) = self.caller(call) {
                        let done = fraction.map(|part| format!("{:.0} %", part * 100.0));
                        let words = [done, Some(text).filter(|text| !text.is_empty())];
                        let words: Vec<String> = words.into_iter().flatten().collect();
                        self.say(id, &[words.join(" ")]);
                    }
                }
                ToolEvent::Restarted { server, why } => {
                    let line = format!("server `{server}` had ended ({why}) and was started again");
                    self.say(self.any_caller(), &[line]);
                }
                ToolEvent::Log { server, line } => {
                    if self.parts.report.wants().details {
                        self.say(self.any_caller(), &[format!("{server}: {line}")]);
                    }
                }
                ToolEvent::Asks { call, ask, form } => self.server_asks(call, ask, *form)?,
                ToolEvent::AsksNoMore { ask } => self.asks_no_more(ask)?,
                ToolEvent::Declined { server, why } => {
                    self.declined(self.any_caller(), &server, &why);
                }
                ToolEvent::Started { .. } | ToolEvent::Listed { .. } => {}
                ToolEvent::Done { call, result } => {
                    let Some((id, execution, since)) = self.caller(call) else { continue };
                    self.call_ended(call)?;
                    self.lane_mut(id).work = Work::Nothing;
                    self.parts.report.step_ends(id);
                    let end = match result {
                        Ok(result) => called(result),
                        Err(_) if self.is_stopping(id) => End::Stopped,
                        Err(error) => failed_call(error),
                    };
                    let took = Some(since.elapsed());
                    let finished = Finished::bare(execution, end, took);
                    self.tell_end(id, finished)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn caller(&self, number: u64) -> Option<(LaneId, u32, Instant)> {
        self.live().into_iter().find_map(|id| match self.lane(id).work {
            Work::Tool { execution, since, call } if call == number => Some((id, execution, since)),
            _ => None,
        })
    }

    /// Someone who waits for a tool.
    fn any_caller(&self) -> LaneId {
        let calls = |id: &LaneId| matches!(self.lane(*id).work, Work::Tool { .. });
        self.live().into_iter().find(calls).unwrap_or(super::lane::ROOT)
    }
}

/// A call that gave something.
pub(super) fn called(result: ToolResult) -> End {
    End::Exited { value: result.value, parsed: result.parsed.map(Value::Object) }
}

/// A call that gave nothing.
pub(super) fn failed_call(error: ToolError) -> End {
    match error.code {
        ErrorCode::Timeout => End::TimedOut,
        ErrorCode::Cancelled => End::Stopped,
        code => End::Failed { code, message: error.message, hint: error.hint, proposal: None },
    }
}
