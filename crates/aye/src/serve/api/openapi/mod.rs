//! The OpenAPI document, from the handlers themselves: what a handler takes and
//! returns says what a request consists of, so that the two cannot differ.
//!
//! ```text
//! routes (one line a handler) -> Api -> router
//!                                 |
//!                                 +--> Document <- Describe (arguments and results of handlers)
//! ```
//!
//! Touches nothing. `docs/openapi.json` and the types of the editor come from it.

mod describe;
mod document;
mod handler;
mod operation;
mod route;

pub(super) use describe::Describe;
pub(super) use document::Document;
pub(super) use handler::document;
pub(super) use operation::Operation;
pub(super) use route::Api;
