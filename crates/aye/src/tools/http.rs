//! A server behind an address.

use std::collections::BTreeMap;

use super::error::ToolError;
use super::program::PipeTransport;

/// The bearer token that a variable holds.
pub(super) fn token(
    server: &str,
    variable: Option<&str>,
    environment: &BTreeMap<String, String>,
) -> Result<Option<String>, ToolError> {
    let Some(variable) = variable else {
        return Ok(None);
    };
    match environment.get(variable).filter(|token| !token.is_empty()) {
        Some(token) => Ok(Some(token.clone())),
        None => {
            let message =
                format!("the server `{server}` wants the token of `{variable}`, which is not set");
            Err(ToolError::server(message).hint(format!("set `{variable}` in the environment")))
        }
    }
}

pub(super) fn transport(
    server: &str,
    _: &str,
    _: Option<String>,
) -> Result<PipeTransport, ToolError> {
    Err(ToolError::server(format!("the server `{server}` has an address")))
}
