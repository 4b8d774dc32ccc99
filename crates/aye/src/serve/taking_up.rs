//! Takes up runs whose driver died.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use aye_core::id::RunId;

use super::problem::Problem;
use super::server::Server;

/// How often it is looked for such runs.
const LOOK: Duration = Duration::from_secs(2);

/// Looks for as long as the server runs. It holds no lease: each run gets a process
/// of its own.
pub(super) async fn look(server: Arc<Server>) {
    let mut refused = HashSet::new();
    loop {
        let known = refused.clone();
        if let Ok(more) = server.blocking(move |server| take_up(server, &known)).await {
            refused.extend(more);
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Takes up what can be; which runs could not be, for want of a secret or of trust: they
/// wait for a person.
fn take_up(server: &Server, refused: &HashSet<RunId>) -> Result<Vec<RunId>, Problem> {
    let mut failed = Vec::new();
    for row in server.runtime.abandoned_runs()? {
        if refused.contains(&row.id) {
            continue;
        }
        let there = server.runtime.served_at(Path::new(&row.workspace));
        if there.and_then(|runtime| runtime.take_up_abandoned(&row)).is_err() {
            failed.push(row.id);
        }
    }
    Ok(failed)
}
