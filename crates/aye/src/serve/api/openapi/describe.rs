//! What arguments and results of handlers say of a request.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use schemars::JsonSchema;

use crate::serve::api::extract::{Body, Key, Params, Path};
use crate::serve::api::reply::{Created, Done, Json, Lines, LogBytes, Svg};
use crate::serve::api::session::{SignedIn, WhoView};
use crate::serve::identity::Identity;
use crate::serve::problem::{Problem, ProblemBody};
use crate::serve::server::Server;

use super::Operation;

/// An argument or a result of a handler.
pub(in crate::serve::api) trait Describe {
    /// Adds what it says.
    fn describe(operation: &mut Operation<'_>);
}

impl Describe for State<Arc<Server>> {
    fn describe(_: &mut Operation<'_>) {}
}

impl Describe for HeaderMap {
    fn describe(_: &mut Operation<'_>) {}
}

impl Describe for Extension<Identity> {
    fn describe(operation: &mut Operation<'_>) {
        operation.is_open = false;
    }
}

impl Describe for Key {
    fn describe(operation: &mut Operation<'_>) {
        let about = "Programs have to send one: the same key is the same request, sent again";
        operation.header("Idempotency-Key", about);
    }
}

impl<T> Describe for Path<T> {
    fn describe(operation: &mut Operation<'_>) {
        operation.path_parameters();
    }
}

impl<T: JsonSchema> Describe for Params<T> {
    fn describe(operation: &mut Operation<'_>) {
        operation.query::<T>();
    }
}

impl<T: JsonSchema> Describe for Body<T> {
    fn describe(operation: &mut Operation<'_>) {
        operation.body::<T>();
    }
}

impl<T: Describe> Describe for Result<T, Problem> {
    fn describe(operation: &mut Operation<'_>) {
        T::describe(operation);
        operation.fails::<ProblemBody<'static>>();
    }
}

impl<T: JsonSchema> Describe for Json<T> {
    fn describe(operation: &mut Operation<'_>) {
        operation.replies_json::<T>(200, "Done");
    }
}

impl<T: JsonSchema> Describe for Created<T> {
    fn describe(operation: &mut Operation<'_>) {
        operation.replies_json::<T>(201, "Created");
        operation.replies_json::<T>(200, "The same request was sent before");
    }
}

impl Describe for SignedIn {
    fn describe(operation: &mut Operation<'_>) {
        operation.replies_json::<WhoView>(200, "Signed in, with a cookie");
    }
}

impl Describe for Done {
    fn describe(operation: &mut Operation<'_>) {
        operation.replies_nothing(204, "Done");
    }
}

impl Describe for Svg {
    fn describe(operation: &mut Operation<'_>) {
        operation.replies_text(200, "A drawing", "image/svg+xml");
    }
}

impl Describe for Lines {
    fn describe(operation: &mut Operation<'_>) {
        operation.replies_text(200, "One JSON object a line", "application/x-ndjson");
    }
}

impl Describe for LogBytes {
    fn describe(operation: &mut Operation<'_>) {
        operation.header("Range", "`bytes=FROM-TO`, `bytes=FROM-` or `bytes=-LAST`");
        operation.replies_text(200, "All of it", "text/plain");
        operation.replies_text(206, "A part", "text/plain");
    }
}
