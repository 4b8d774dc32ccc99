//! Calling a tool outside of a run: one step, driven as any other. Its journal
//! is kept in memory, its logs and what it would learn in a directory that goes
//! with the call.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use aye_core::error_code::ErrorCode;
use aye_core::flow::Flow;
use aye_core::journal::{State, StepStatus};
use aye_core::machine::Start;
use aye_core::nested::ParentScope;
use aye_core::skill::{StepTimeout, format_duration};
use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::commit::{self, Begin};
use crate::error::Error;
use crate::memory::{InMemoryDocuments, Memory};
use crate::runtime::Runtime;
use crate::store::{Leases as _, MemoryStore, Source};
use crate::tools::ToolError;

use super::active_run::{ActiveRun, Beginning, FinishedRun, Surface};
use super::start::not_begun;

/// A tool that is to be called.
pub struct CallRequest {
    /// `server.tool`, a tool that only one server has, or a command.
    pub tool: String,
    /// Its arguments, as they are: no templates.
    pub args: Map<String, Value>,
    /// How long it may take.
    pub timeout: StepTimeout,
}

/// What became of a call.
pub enum CallOutcome {
    /// It gave this.
    Done {
        /// Data, or the text.
        value: Value,
        /// The text.
        text: String,
        /// The `key: value` lines of the text, if it is all there is.
        parsed: Option<Value>,
    },
    /// It gave nothing.
    Failed(ToolError),
    /// Aye was told to stop; the exit code that stands for it.
    Stopped(u8),
}

impl Runtime {
    /// Calls a tool. What its server asks meanwhile is asked on the surface.
    pub fn call_tool(
        &self,
        request: CallRequest,
        surface: Surface<'_>,
    ) -> Result<CallOutcome, Error> {
        let CallRequest { tool, args, timeout } = request;
        let run = self.new_run_id();
        let scratch = Scratch::make(self.home.join("calls").join(run.as_str()))?;
        let mut store = MemoryStore::new(&scratch.0);
        let lease = store.acquire(&run, &self.holder())?;
        let flow = Arc::new(Flow::of_call(&tool, args.keys(), timeout));
        let locals = IndexMap::from([("args".to_owned(), Value::Object(args))]);
        let source = Source::new(tool.clone(), String::new());
        let named = (tool.clone(), source.digest.clone());
        let start = Start {
            outer: Some(ParentScope { locals: Arc::new(locals), ..ParentScope::default() }),
            epoch: lease.epoch(),
            ..Start::new(run, named, self.directory.to_string_lossy(), self.driver())
        };
        let world = self.world(&self.directory);
        let begin = Begin {
            flow: Arc::clone(&flow),
            limits: self.limits(),
            source: Some(&source),
            waits: false,
        };
        let begun = commit::begin(&mut store, &lease, &begin, start, &world);
        let (machine, events) = begun.map_err(not_begun)?;
        let active = ActiveRun {
            memory: Arc::new(Memory::over(None, Arc::new(InMemoryDocuments::default()))),
            delivery_worker: None,
            runtime: self.clone(),
            flow,
            store: Box::new(store),
            lease,
            machine,
            beginning: Beginning::Started(events),
            rest_after: None,
        };
        let limit = match timeout {
            StepTimeout::After(limit) => Some(limit),
            StepTimeout::Default => self.usual_limit(&tool),
            StepTimeout::Unlimited => None,
        };
        Ok(outcome(&tool, limit, active.drive(surface)?))
    }

    /// How long a tool may take if nothing is said.
    fn usual_limit(&self, tool: &str) -> Option<Duration> {
        let tools = &self.settings.tools;
        let server = tool.split_once('.').and_then(|(server, _)| tools.servers.get(server));
        let own = tools.commands.get(tool).and_then(|command| command.timeout);
        own.or(server.and_then(|server| server.timeout)).or(self.settings.step_timeout)
    }
}

fn outcome(tool: &str, limit: Option<Duration>, finished: FinishedRun) -> CallOutcome {
    let exit_code = finished.exit_code();
    let FinishedRun { state, .. } = finished;
    let State { mut steps, mut outputs, .. } = state;
    let (steps, outputs) = (Arc::make_mut(&mut steps), Arc::make_mut(&mut outputs));
    let Some(record) = steps.shift_remove(Flow::CALL) else {
        return CallOutcome::Stopped(exit_code);
    };
    let process = record.process.as_ref();
    let failed = |code: ErrorCode, message: String, hint: Option<String>| {
        CallOutcome::Failed(ToolError { code, message, hint })
    };
    match record.status {
        StepStatus::Completed => {
            let value = outputs.shift_remove(Flow::CALL).unwrap_or_default();
            let text = match (&value, process) {
                (Value::String(text), _) => text.clone(),
                (_, Some(process)) => process.stdout.trim_end().to_owned(),
                (data, None) => data.to_string(),
            };
            let parsed = outputs.shift_remove(&format!("{}_parsed", Flow::CALL));
            CallOutcome::Done { value, text, parsed }
        }
        StepStatus::TimedOut => {
            let took = limit.map_or("too long".to_owned(), |limit| {
                format!("longer than {}", format_duration(limit))
            });
            failed(ErrorCode::Timeout, format!("`{tool}` took {took}"), None)
        }
        StepStatus::Failed => {
            let message = match process.and_then(|process| Some((process, process.exit_code?))) {
                Some((process, code)) if code != 0 => {
                    let said = process.stdout.trim();
                    let said = if said.is_empty() { String::new() } else { format!(": {said}") };
                    format!("`{tool}` ended with exit code {code}{said}")
                }
                _ => record.message.unwrap_or_default(),
            };
            failed(record.code.unwrap_or(ErrorCode::ToolFailed), message, record.hint)
        }
        StepStatus::Waiting
        | StepStatus::Running
        | StepStatus::Skipped
        | StepStatus::Cancelled
        | StepStatus::Interrupted
        | StepStatus::Unknown => CallOutcome::Stopped(exit_code),
    }
}

/// A directory that goes with the call.
struct Scratch(PathBuf);

impl Scratch {
    fn make(path: PathBuf) -> Result<Self, Error> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&path);
        made.map_err(Error::file("create", &path))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays behind is empty or in the way of nobody.
        let _ = std::fs::remove_dir_all(&self.0);
        let _ = self.0.parent().map(std::fs::remove_dir);
    }
}
