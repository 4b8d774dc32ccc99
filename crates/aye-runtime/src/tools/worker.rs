//! The thread on which servers are talked to: one runtime, one task a call.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aye_core::error_code::ErrorCode;
use aye_core::skill::format_duration;
use futures_util::future::join_all;
use serde_json::{Map, Value};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;

use crate::settings::ToolSettings;

use super::described::{DescribedTool, Descriptions};
use super::error::ToolError;
use super::event::{ListedTool, ToolEvent};
use super::hub::{Call, WorkerCommand, World};
use super::names::{self, Known};
use super::outbox::Outbox;
use super::result::ToolResult;
use super::server::Server;
use crate::schema;

/// How long ending all servers may take in all.
const END: Duration = Duration::from_secs(8);

/// Everything the tasks share.
struct WorkerState {
    settings: ToolSettings,
    servers: BTreeMap<String, Server>,
    outbox: Outbox,
    descriptions: Option<Descriptions>,
    /// Calls that can still be cancelled.
    open: Mutex<HashMap<u64, oneshot::Sender<()>>>,
}

/// Works until nobody sends commands any more, then ends all servers.
pub(super) fn work(
    settings: ToolSettings,
    world: World,
    outbox: Outbox,
    commands: UnboundedReceiver<WorkerCommand>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    match runtime {
        Ok(runtime) => runtime.block_on(serve(settings, world, outbox, commands)),
        Err(error) => refuse_all(&error.to_string(), &outbox, commands),
    }
}

/// Without a runtime every call fails, and says why.
fn refuse_all(why: &str, outbox: &Outbox, mut commands: UnboundedReceiver<WorkerCommand>) {
    while let Some(command) = commands.blocking_recv() {
        let error = ToolError::server(format!("tools cannot be used: {why}"));
        match command {
            WorkerCommand::Call(call) => {
                outbox.send(ToolEvent::Done { call: call.id, result: Err(error) });
            }
            WorkerCommand::List(server) => {
                outbox.send(ToolEvent::Listed { server, result: Err(error) });
            }
            WorkerCommand::Cancel(_) => {}
        }
    }
}

async fn serve(
    settings: ToolSettings,
    world: World,
    outbox: Outbox,
    mut commands: UnboundedReceiver<WorkerCommand>,
) {
    let descriptions = world.descriptions.clone();
    let world = Arc::new(world);
    let servers = settings.servers.iter().map(|(name, server)| {
        let server = Server::new(name, server.clone(), Arc::clone(&world), outbox.clone());
        (name.clone(), server)
    });
    let servers = servers.collect();
    let state =
        Arc::new(WorkerState { settings, servers, outbox, descriptions, open: Mutex::default() });
    while let Some(command) = commands.recv().await {
        match command {
            WorkerCommand::Call(call) => {
                let (cancel, cancelled) = oneshot::channel();
                state.open().insert(call.id, cancel);
                let state = Arc::clone(&state);
                tokio::spawn(async move { state.handle(call, cancelled).await });
            }
            WorkerCommand::List(server) => {
                let state = Arc::clone(&state);
                tokio::spawn(async move {
                    let result = state.list(&server).await.map(|tools| tools.to_vec());
                    state.outbox.send(ToolEvent::Listed { server, result });
                });
            }
            WorkerCommand::Cancel(call) => {
                if let Some(cancel) = state.open().remove(&call) {
                    let _ = cancel.send(());
                }
            }
        }
    }
    let ends = join_all(state.servers.values().map(Server::stop));
    // What still runs then is killed when it is dropped.
    let _ = tokio::time::timeout(END, ends).await;
}

/// Whatever becomes of a call, its end is told, and told once.
struct End<'o> {
    call: u64,
    outbox: &'o Outbox,
    told: bool,
}

impl End<'_> {
    fn tell(&mut self, result: Result<ToolResult, ToolError>) {
        self.told = true;
        self.outbox.send(ToolEvent::Done { call: self.call, result });
    }
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        if !self.told {
            self.tell(Err(ToolError::server("the call was aborted")));
        }
    }
}

impl WorkerState {
    fn open(&self) -> std::sync::MutexGuard<'_, HashMap<u64, oneshot::Sender<()>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One call to its end, whatever that is.
    async fn handle(&self, call: Call, cancelled: oneshot::Receiver<()>) {
        let Call { id, name, args, timeout, usual, most, run } = call;
        let mut end = End { call: id, outbox: &self.outbox, told: false };
        let limit = timeout.or_else(|| self.default_timeout(&name)).or(usual);
        let limit = [limit, most].into_iter().flatten().min();
        let late = async {
            match limit {
                Some(limit) => self.outbox.questions().time_of(id, limit).await,
                None => std::future::pending().await,
            }
        };
        let over = async {
            match run {
                Some(run) => tokio::time::sleep(run).await,
                None => std::future::pending().await,
            }
        };
        let cancelled = async {
            // Nobody cancels it any more: it continues.
            if cancelled.await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let result = tokio::select! {
            biased;
            result = self.call(&name, args, id) => result,
            () = cancelled => {
                Err(ToolError::new(ErrorCode::Cancelled, format!("the call of `{name}` was cancelled")))
            }
            () = over => {
                Err(ToolError::new(ErrorCode::Timeout, format!("the time of the run was up during `{name}`")))
            }
            () = late => {
                let limit = limit.map(format_duration).unwrap_or_default();
                Err(ToolError::new(ErrorCode::Timeout, format!("`{name}` took longer than {limit}")))
            }
        };
        self.open().remove(&id);
        end.tell(result);
    }

    fn default_timeout(&self, name: &str) -> Option<Duration> {
        let (server, _) = name.split_once('.')?;
        self.servers.get(server)?.timeout()
    }

    async fn call(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        id: u64,
    ) -> Result<ToolResult, ToolError> {
        let (server, tool) = match names::look_up(&self.settings, name) {
            Known::Server { server, tool } => (server, tool),
            Known::Perhaps => (self.server_with(name).await?, name.to_owned()),
            Known::Command | Known::BuiltIn => {
                let message = format!("`{name}` has no server");
                return Err(ToolError::not_found(message));
            }
            Known::Unknown { hint } => return Err(names::unknown(name, hint)),
        };
        let link = self.server(&server)?.link().await?;
        let tools = link.tools().await?;
        let Some(known) = tools.iter().find(|known| known.name == tool) else {
            let has: Vec<&str> = tools.iter().map(|known| known.name.as_str()).collect();
            return Err(names::missing(&server, &tool, &has));
        };
        let full = format!("{server}.{tool}");
        let result = match schema::check_arguments(&known.schema, arguments) {
            Ok(arguments) => link.call(&tool, arguments, id).await,
            Err(problems) => Err(ToolError::arguments(&full, &problems)),
        };
        if let (Err(_), Some(descriptions)) = (&result, &self.descriptions) {
            let schema = Map::clone(&known.schema);
            let description = known.description.clone();
            descriptions.keep(name, &DescribedTool { server, description, schema });
        }
        result
    }

    fn server(&self, name: &str) -> Result<&Server, ToolError> {
        self.servers.get(name).ok_or_else(|| names::unknown(name, None))
    }

    async fn list(&self, server: &str) -> Result<Arc<Vec<ListedTool>>, ToolError> {
        self.server(server)?.link().await?.tools().await
    }

    /// The only server that has a tool of this name. All of them are asked: a
    /// name that is unique only while a server is down would be a trap.
    async fn server_with(&self, tool: &str) -> Result<String, ToolError> {
        let lists = join_all(self.servers.keys().map(|server| self.list(server))).await;
        let mut having = Vec::new();
        let mut all: Vec<String> = self.settings.commands.keys().cloned().collect();
        for (server, list) in self.servers.keys().zip(lists) {
            let list = list.map_err(|error| {
                let hint = format!("write `SERVER.{tool}` to ask only one server");
                let hint =
                    error.hint.clone().map_or(hint.clone(), |own| format!("{own}; or {hint}"));
                error.hint(hint)
            })?;
            all.extend(list.iter().map(|known| format!("{server}.{}", known.name)));
            if list.iter().any(|known| known.name == tool) {
                having.push(server.clone());
            }
        }
        names::choose(tool, &having, &all)
    }
}
