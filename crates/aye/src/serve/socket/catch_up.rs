//! The events between the last one a client has seen and now, from the journal.

use axum::body::Bytes;

use crate::serve::hub::Framing;
use crate::serve::identity::Identity;
use crate::serve::problem::Problem;
use crate::serve::server::Server;

/// How many events are read at once.
const AT_ONCE: u32 = 500;

/// What there is after a number.
pub(super) enum Later {
    /// These messages; the number of the last event that was looked at.
    Events(Vec<Bytes>, u64),
    /// Nothing more for now.
    Nothing,
    /// The journal does not keep what follows: there is something from this
    /// number on; none if there is nothing, or the client says more than there ever was.
    Gap(Option<u64>),
}

/// Reads on after event `after`, as far as this person sees it. Events have
/// numbers without gaps, so a missing one was pruned.
pub(super) fn read_on(server: &Server, identity: &Identity, after: u64) -> Result<Later, Problem> {
    let journal = server.runtime.journal_to_watch()?;
    // Before the events: what was committed since is among them.
    let position = journal.position()?;
    let events = journal.events_after(after, AT_ONCE)?;
    if events.is_empty() {
        // Either it says more than there ever was, or what it has not seen was pruned.
        return Ok(match position == after {
            true => Later::Nothing,
            false => Later::Gap(None),
        });
    }
    let mut framing = Framing::new(&journal);
    let mut last = after;
    let mut messages = Vec::new();
    for (n, event) in &events {
        if *n != last + 1 {
            return Ok(match messages.is_empty() && last == after {
                true => Later::Gap(Some(*n)),
                // What is whole goes first; the gap is found with the next look.
                false => Later::Events(messages, last),
            });
        }
        last = *n;
        let frame = framing.frame(*n, event)?;
        if identity.sees(&frame.workspace) {
            messages.push(frame.message);
        }
    }
    Ok(Later::Events(messages, last))
}
