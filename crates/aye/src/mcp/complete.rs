//! Suggestions for what is being typed into a prompt or an address.

use rmcp::model::{ArgumentInfo, CompletionInfo};

use aye_runtime::usecases::RunFilter;

use super::resources::KINDS;
use super::server_state::ServerState;

/// What may be meant. What cannot be looked up is not suggested.
pub(super) fn values(server: &ServerState, argument: &ArgumentInfo) -> Vec<String> {
    let all: Vec<String> = match argument.name.as_str() {
        "skill" | "name" => {
            server.runtime.list_skills().skills.into_iter().map(|skill| skill.name).collect()
        }
        "id" | "execution_id" => {
            let runs =
                server.runtime.journal().and_then(|journal| journal.runs(&RunFilter::default()));
            let runs = runs.unwrap_or_default().into_iter().filter(|row| server.is_here(row));
            match argument.name.as_str() {
                "id" => runs.map(|row| row.id.to_string()).collect(),
                _ => runs.map(|row| server.handles.of_run(&row.id)).collect(),
            }
        }
        "kind" => KINDS.map(str::to_owned).to_vec(),
        _ => Vec::new(),
    };
    let fits = all.into_iter().filter(|value| value.starts_with(&argument.value));
    fits.take(CompletionInfo::MAX_VALUES).collect()
}
