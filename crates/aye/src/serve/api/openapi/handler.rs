//! The document, for who asks for it.

use std::sync::OnceLock;

use axum::Extension;
use serde_json::Value;

use crate::serve::api::reply::Json;
use crate::serve::identity::Identity;

/// `GET /api/v1/openapi.json`
pub(in crate::serve::api) async fn document(_: Extension<Identity>) -> Json<&'static Value> {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    Json(DOCUMENT.get_or_init(|| crate::serve::api::document().into_json()))
}
