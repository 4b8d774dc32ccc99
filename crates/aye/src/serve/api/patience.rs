//! A request that takes too long is answered all the same, as every other problem is.

use std::time::Duration;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::middleware::map_response;
use axum::response::{IntoResponse as _, Response};
use tower_http::timeout::TimeoutLayer;

use crate::serve::problem::{Code, Problem};

/// Ends requests that take longer.
pub(super) fn limit<S: Clone + Send + Sync + 'static>(
    router: Router<S>,
    patience: Duration,
) -> Router<S> {
    router
        .layer(TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, patience))
        .layer(map_response(in_words))
}

/// The layer gives a status alone.
async fn in_words(response: Response) -> Response {
    let is_bare = !response.headers().contains_key(header::CONTENT_TYPE);
    match response.status() == StatusCode::REQUEST_TIMEOUT && is_bare {
        true => Problem::new(Code::TimedOut, "the request took too long").into_response(),
        false => response,
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::Request;
    use axum::routing::get;
    use http_body_util::BodyExt as _;
    use hyper::service::Service as _;
    use hyper_util::service::TowerToHyperService;
    use serde_json::{Value, json};

    use super::*;

    #[tokio::test]
    async fn a_request_that_takes_too_long_is_a_problem_with_words() {
        let router = Router::new().route("/", get(std::future::pending::<()>));
        let service = TowerToHyperService::new(limit(router, Duration::from_millis(10)));
        let response = service.call(Request::new(Body::empty())).await.unwrap();
        assert_eq!(response.status(), 408);
        assert_eq!(response.headers()[header::CONTENT_TYPE], "application/problem+json");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let told: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(told["code"], json!("timed_out"));
    }
}
