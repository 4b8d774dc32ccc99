//! The server: its API, its socket, its people, and who is kept out.

mod answering;
mod api;
pub(crate) mod client;
mod driving;
mod examples;
mod guarding;
mod people;
mod presence;
mod remote;
mod socket;
