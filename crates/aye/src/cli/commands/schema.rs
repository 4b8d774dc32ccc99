//! `aye schema`.

use clap::Args;

use crate::cli::Context;
use aye_runtime::error::Error;

use super::output::print_json;

// Options of `aye schema`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  aye schema > skill.schema.json\n\n\
    Editors with the YAML language server use it through a first line\n  \
    # yaml-language-server: $schema=skill.schema.json")]
pub struct SchemaArgs {}

pub(super) fn run(_: &SchemaArgs, _: &Context) -> Result<u8, Error> {
    print_json(&aye_core::skill::schema())?;
    Ok(0)
}
