//! Telling people, with real servers on loopback.

mod answering;
mod commands;
mod delivery;
mod dropbox;
mod mail;
mod names;
mod ntfy;
mod receiver;
mod settings;
mod watching;
mod webhook;
mod whole;

use crate::cli::harness::Place;

pub(crate) use receiver::Receiver;
pub(crate) use webhook::hmac;

/// Where the user's own settings are, from the working directory.
const CONFIG: &str = "../.config/aye/config.toml";

/// A question that waits, then a step.
const GATE: &str = "name: gate
steps:
  - { name: sure, confirm: { title: Really, message: 'Ship it?', timeout: 1h } }
  - { name: go, shell: echo went && touch went }
";

/// A place with a skill `gate` and these settings of the user.
fn place_with(config: &str) -> Place {
    let place = Place::new();
    place.write("skills/gate.yaml", GATE);
    configure(&place, config);
    place
}

fn configure(place: &Place, config: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = place.write(CONFIG, config);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

/// What became of the messages, the newest first.
fn messages(place: &Place) -> Vec<serde_json::Value> {
    let all = place.aye(&["notify", "list", "--json"]).ok().json();
    all.as_array().unwrap().clone()
}
