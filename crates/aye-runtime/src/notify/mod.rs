//! Notifying people: a question waits, its time runs out, a run has ended.
//!
//! Data flow. While a run is driven, [`Announcement`] is asked about every event
//! inside the transaction that appends it, and what it wants sent becomes rows
//! of the outbox ([`crate::store::Outbox`]). After the commit it wakes the
//! [`DeliveryWorker`], a thread with its own connection: that claims rows that are due,
//! `decide`s what is left to send, makes a [`Message`] from the journal, hands it
//! to its channel and writes down what came of it. The driver does not wait for
//! any of this, except for two seconds at its end. What it leaves, the next driver
//! or the server sends.
//!
//! `announce`, `decide`, `message`, `body` and `sign` are pure. The channels are
//! `webhook`, `ntfy`, `email`, `command`, `desktop` and `dropbox`. [`NotifyHost`]
//! is what all of them need of the world.
//!
//! Touches the network, processes and a directory that the settings name. An answer comes back as a
//! request to the run: from a button through `aye serve`, from a file through `dropbox`.

mod announce;
mod body;
mod command;
mod decide;
mod deliver;
mod delivery_worker;
mod desktop;
mod dropbox;
#[cfg(feature = "notify")]
mod email;
mod host;
mod message;
#[cfg(feature = "notify")]
mod ntfy;
mod sign;
mod tokens;
#[cfg(feature = "notify")]
mod webhook;

pub use announce::{Announcement, Plan};
pub use deliver::{Delivered, Delivery, DeliveryError, deliver};
pub use delivery_worker::{DeliveryWorker, ServerDelivery};
pub use host::{Channel, NotTaken, NotifyHost};
pub use message::{Button, Facts, Message};
pub use sign::signature;
pub use tokens::{answers, token_digest};
