//! The fuzz targets: one file for each reader of untrusted input.
//!
//! Each file turns bytes into the input of one reader and calls it. Touches processes for the
//! compute worker and the MCP server; a panic or a broken limit fails the case.

mod block;
mod journal;
mod keys;
mod mcp;
mod scope;
mod skill;
mod template;

/// Their names.
pub const NAMES: [&str; 6] = ["skill", "template", "block", "journal", "mcp", "keys"];

/// One of them.
pub(crate) trait Target {
    /// Takes a case. Neither a panic nor an error may come of it, however
    /// wrong the case is.
    fn run(&mut self, case: &[u8]) -> Result<(), String>;

    /// Words that mean something to it.
    fn words(&self) -> &'static [&'static str];

    /// The most memory that processes of its own have had in use, in bytes.
    fn memory(&self) -> u64 {
        0
    }
}

pub(crate) fn start(name: &str) -> Result<Box<dyn Target>, String> {
    Ok(match name {
        "skill" => Box::new(skill::Skill),
        "template" => Box::new(template::Template::new()),
        "block" => Box::new(block::Blocks::new()),
        "journal" => Box::new(journal::Journal),
        "mcp" => Box::new(mcp::Mcp::start()?),
        "keys" => Box::new(keys::Keys),
        other => return Err(format!("there is no target `{other}`: {}", NAMES.join(", "))),
    })
}
