//! The file that clients import.

use std::path::Path;

use crate::serve::api;
use crate::serve::socket::{ClientMessage, CommandResult, Notice};
use crate::serve::views::{JournalEvent, Snapshot};

use super::print::declaration;
use super::step_output::{StepOutput, StepResult};

const HEAD: &str = "\
// What `aye serve` says and understands, over HTTP and the socket (docs/reference/server.md).
// Generated from the types of the server: `AYE_UPDATE=1 cargo test -p aye --lib typescript`.
";

/// What is not one definition but several.
const MESSAGES: &str = "
/** What a client hears on the socket. */
export type ServerMessage = Snapshot | JournalEvent | Notice | StepOutput | StepResult | CommandResult;
";

fn generated() -> String {
    let mut document = api::document();
    let schemas = &mut document.schemas;
    schemas.requests.subschema_for::<ClientMessage>();
    schemas.replies.subschema_for::<Snapshot<'static>>();
    schemas.replies.subschema_for::<JournalEvent>();
    schemas.replies.subschema_for::<Notice>();
    schemas.replies.subschema_for::<CommandResult>();
    schemas.replies.subschema_for::<StepOutput>();
    schemas.replies.subschema_for::<StepResult>();
    let (definitions, twice) = document.schemas.definitions();
    assert!(twice.is_empty(), "these differ between requests and replies; rename one: {twice:?}");
    let declared = definitions.iter().map(|(name, schema)| {
        assert!(name.chars().all(char::is_alphabetic), "`{name}` is the name of two types");
        format!("\n{}", declaration(name, schema))
    });
    format!("{HEAD}{MESSAGES}{}", declared.collect::<String>())
}

/// Compares a generated file with what is checked in.
fn is_up_to_date(path: &str, text: &str) -> bool {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    if std::env::var_os("AYE_UPDATE").is_some() {
        std::fs::write(&path, text).expect("the file can be written");
    }
    std::fs::read_to_string(&path).unwrap_or_default() == text
}

#[test]
fn the_types_for_clients_are_up_to_date() {
    let path = "editors/vscode/src/protocol.ts";
    assert!(is_up_to_date(path, &generated()), "`AYE_UPDATE=1` rewrites {path}");
}

#[test]
fn the_published_api_is_up_to_date() {
    let document = serde_json::to_string_pretty(&api::document().into_json()).expect("JSON");
    let path = "docs/openapi.json";
    assert!(is_up_to_date(path, &(document + "\n")), "`AYE_UPDATE=1` rewrites {path}");
}
