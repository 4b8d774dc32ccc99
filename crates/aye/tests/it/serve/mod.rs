//! The server: its API, its socket, its people, and who is kept out.

mod answering;
mod api;
mod client;
mod guarding;
mod people;
mod socket;
