//! A drop-box: one file for each question, answered by a file with its name.
//!
//! `requests/ID.json` is written under another name and renamed, so nobody reads
//! half of it; it goes when the question is decided. `responses/ID.json` is taken
//! the same way. `ID` is a token: only someone who has read the request knows it.
//!
//! Touches the directory that the settings name. The driver and the server read the answers.

mod requests;
mod responses;
mod watcher;

pub(super) use requests::deliver;
pub(super) use watcher::DropBoxes;
