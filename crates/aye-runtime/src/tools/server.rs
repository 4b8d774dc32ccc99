//! One server for the length of a run: started on first use, started again
//! once if it ends, and no more than that.

use std::sync::Arc;
use std::time::Duration;

use aye_core::error_code::ErrorCode;
use aye_core::skill::format_duration;
use aye_process::policy::Policy;
use aye_process::{SpawnError, Spec};
use tokio::sync::Mutex;

use crate::codes;
use crate::settings::{Reach, ServerSettings};

use super::error::ToolError;
use super::event::ToolEvent;
use super::handler::Shared;
use super::http;
use super::hub::World;
use super::launch::{self, Launch};
use super::link::Link;
use super::outbox::Outbox;
use super::program::Program;
use super::trust::may_start;

/// One server.
pub(super) struct Server {
    name: String,
    settings: ServerSettings,
    world: Arc<World>,
    outbox: Outbox,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    link: Option<Arc<Link>>,
    /// How it ended, each time.
    deaths: Vec<String>,
}

impl Server {
    pub(super) fn new(
        name: &str,
        settings: ServerSettings,
        world: Arc<World>,
        outbox: Outbox,
    ) -> Self {
        Self { name: name.to_owned(), settings, world, outbox, state: Mutex::default() }
    }

    /// The time-out of a call that names none.
    pub(super) fn timeout(&self) -> Option<Duration> {
        self.settings.timeout
    }

    /// The connection; made if there is none, made again once if it broke.
    pub(super) async fn link(&self) -> Result<Arc<Link>, ToolError> {
        let mut state = self.state.lock().await;
        if let Some(link) = &state.link {
            if !link.is_dead() {
                return Ok(Arc::clone(link));
            }
            let why = link.why();
            link.close().await;
            state.link = None;
            state.deaths.push(why);
        }
        if state.deaths.len() > 1 {
            let message = format!(
                "the server `{}` ended twice and is not started again: {}",
                self.name,
                state.deaths.join("; then: ")
            );
            return Err(ToolError::server(message)
                .hint(format!("`aye tools list {} -v` shows what it says", self.name)));
        }
        let started = tokio::time::timeout(self.settings.start_timeout, self.start()).await;
        let link = match started {
            Ok(Ok(link)) => Arc::new(link),
            Ok(Err(error)) => {
                if error.code == ErrorCode::ToolServer {
                    state.deaths.push(error.message.clone());
                }
                return Err(error);
            }
            Err(_) => {
                let limit = format_duration(self.settings.start_timeout);
                let message = format!("the server `{}` did not answer within {limit}", self.name);
                state.deaths.push(message.clone());
                return Err(ToolError::server(message).hint(format!(
                    "does it speak MCP? `start_timeout` in `[tools.{}]` gives it more time",
                    self.name
                )));
            }
        };
        let server = self.name.clone();
        self.outbox.send(match state.deaths.last() {
            Some(why) => ToolEvent::Restarted { server, why: why.clone() },
            None => ToolEvent::Started { server, protocol: link.protocol() },
        });
        state.link = Some(Arc::clone(&link));
        Ok(link)
    }

    async fn start(&self) -> Result<Link, ToolError> {
        self.must_be_trusted()?;
        let World { workspace, environment, run, .. } = &*self.world;
        let shared = Shared::new(&self.name, workspace.clone(), self.outbox.clone());
        let legacy = self.settings.legacy;
        match &self.settings.reach {
            Reach::Program { argv, cwd, env, pass_env } => {
                let mut spec =
                    launch::spec(argv, cwd.as_deref(), env, pass_env, workspace, environment);
                spec.run.clone_from(run);
                self.must_be_allowed(&spec)?;
                let (program, transport) = Program::start(&spec, &shared)?;
                // Most of the time belongs to what comes after the first question.
                let probe = self.settings.start_timeout / 4;
                Link::with_program(transport, program, shared, legacy, probe).await
            }
            Reach::Http { url, token_env } => {
                let token = http::token(&self.name, token_env.as_deref(), environment)?;
                let transport = http::transport(&self.name, url, token)?;
                Link::with_address(transport, shared, legacy).await
            }
        }
    }

    /// An empty policy is not asked.
    fn must_be_allowed(&self, spec: &Spec) -> Result<(), ToolError> {
        let policy = &self.world.policy;
        if *policy == Policy::default() {
            return Ok(());
        }
        let path = aye_process::resolve(spec).map_err(|error| self.not_there(&error))?;
        policy.check(spec, &path).map_err(|refusal| {
            let message = format!("the server `{}` may not be started: {refusal}", self.name);
            ToolError::new(codes::of_refusal(&refusal), message).hint(refusal.hint())
        })
    }

    fn not_there(&self, error: &SpawnError) -> ToolError {
        let failed =
            ToolError::server(format!("the server `{}` cannot be started: {error}", self.name));
        match error.hint() {
            Some(hint) => failed.hint(hint),
            None => failed,
        }
    }

    fn must_be_trusted(&self) -> Result<(), ToolError> {
        let World { workspace, environment, trust, .. } = &*self.world;
        let launch = Launch::of(&self.name, &self.settings, workspace, environment)
            .map_err(|error| self.not_there(&error))?;
        match may_start(&self.settings, &launch, trust) {
            Ok(true) => Ok(()),
            Ok(false) => {
                let message = format!(
                    "nobody has agreed yet to start the server `{}`: {}",
                    self.name,
                    launch.command_line()
                );
                Err(ToolError::new(ErrorCode::NotTrusted, message)
                    .hint("look at it and agree with `aye trust`"))
            }
            Err(error) => Err(ToolError::new(ErrorCode::NotTrusted, error.to_string())
                .hint("remove the file to be asked again")),
        }
    }

    /// Ends it, if it runs.
    pub(super) async fn stop(&self) {
        if let Some(link) = self.state.lock().await.link.take() {
            link.close().await;
        }
    }
}
