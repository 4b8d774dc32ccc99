//! The tools, one file a family.
//!
//! Each reads its arguments, calls a use case and returns text and data. Touches nothing itself;
//! the result goes to `outgoing`, which makes it safe to send.

mod debug;
mod logs;
mod memory;
mod runs;
mod skills;

use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, CallToolResponse};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use aye_runtime::error::Error;

use super::call::{Call, finish, read};
use super::report::{ToolReply, refused};
use super::server_state::ServerState;

pub(super) use memory::entries as memory_entries;

/// No arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// Carries a call out.
pub(super) async fn call(
    call: Call<'_>,
    request: CallToolRequestParams,
) -> Result<CallToolResponse, ErrorData> {
    // A call that comes again with a form must not begin a second time.
    if let Some(state) = request.request_state.clone() {
        return call.again(request, state).await;
    }
    let name = request.name.clone();
    match &*name {
        "skill_list" => look(&call, request, |server, _: &Nothing| skills::list(server)).await,
        "skill_describe" => look(&call, request, skills::describe).await,
        "skill_run" => runs::run(&call, request).await,
        "skill_status" => runs::status(&call, request).await,
        "skill_continue" => runs::go_on(&call, request).await,
        "skill_advise" => {
            let by = call.who.clone();
            look(&call, request, move |server, args| runs::record_advice(server, args, &by)).await
        }
        "skill_retry_step" => runs::retry(&call, request).await,
        "skill_cancel" => runs::cancel(&call, request).await,
        "skill_change" => runs::change(&call, request).await,
        "tool_try" => runs::try_tool(&call, request).await,
        "run_list" => look(&call, request, runs::list).await,
        "inbox" => look(&call, request, |server, _: &Nothing| runs::inbox(server)).await,
        "skill_logs" => look(&call, request, logs::read).await,
        "debug_tool" => look(&call, request, debug::debug).await,
        "check_known_issues" => look(&call, request, memory::check).await,
        "learn_tool_fix" => {
            let by = call.who.clone();
            look(&call, request, move |server, args| memory::learn(server, args, &by)).await
        }
        "memory_read" => look(&call, request, memory::one).await,
        "memory_query" => look(&call, request, memory::query).await,
        "memory_stats" => look(&call, request, |server, _: &Nothing| memory::stats(server)).await,
        unknown => {
            let message =
                format!("there is no tool `{}`", crate::paint::escape_control_line(unknown));
            Err(ErrorData::invalid_params(message, None))
        }
    }
}

/// A tool that answers from what is there.
async fn look<T: DeserializeOwned + Send + 'static>(
    call: &Call<'_>,
    request: CallToolRequestParams,
    tool: impl FnOnce(&ServerState, &T) -> Result<ToolReply, Error> + Send + 'static,
) -> Result<CallToolResponse, ErrorData> {
    let args: T = match read(request.arguments) {
        Ok(args) => args,
        Err(error) => return Ok(refused(&error).into()),
    };
    Ok(finish(call.assistant.blocking(move |server| tool(server, &args)).await?))
}
