//! The first page: it redeems the link that a browser was opened with.

use axum::extract::Path;
use axum::response::Response;

use crate::serve::problem::Problem;

use super::reply::{Reply, text};

const INDEX: &str = include_str!("page/index.html");
const SCRIPT: &str = include_str!("page/signin.js");
const STYLE: &str = include_str!("page/style.css");

/// `GET /`
pub(super) async fn index() -> Response {
    text("text/html; charset=utf-8", INDEX)
}

/// `GET /assets/{file}`
pub(super) async fn asset(Path(file): Path<String>) -> Reply {
    match file.as_str() {
        "signin.js" => Ok(text("text/javascript; charset=utf-8", SCRIPT)),
        "style.css" => Ok(text("text/css; charset=utf-8", STYLE)),
        _ => Err(Problem::not_found("file", &file)),
    }
}
