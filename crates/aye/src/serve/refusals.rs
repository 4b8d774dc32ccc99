//! What a client is told that sends too much, through the real handlers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::{Request, header};
use aye_runtime::runtime::{Parts, Runtime};
use http_body_util::BodyExt as _;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};

use super::api;
use super::server::{Place, Server};

const HOST: &str = "127.0.0.1:8740";
const TOKEN: &str = "sesame";

/// A server of a trusted project with a skill `go`. It has no program to drive runs with.
fn server(directory: &std::path::Path) -> Arc<Server> {
    let project = directory.join("project");
    std::fs::create_dir_all(project.join("skills")).unwrap();
    let skill = "name: go\nsteps: [ { name: one, command: 'true' } ]\n";
    std::fs::write(project.join("skills/go.yaml"), skill).unwrap();
    let runtime = Runtime::new(Parts::new(directory.join("home"), project)).unwrap();
    runtime.trust_file().trust(&[], runtime.now()).unwrap();
    let place = Place { scheme: "http", hosts: vec![HOST.to_owned()], url: String::new() };
    Arc::new(Server::new(Arc::new(runtime), place, TOKEN.to_owned()).unwrap())
}

/// What a request gets: the status, `Retry-After` and the body.
fn ask(server: &Arc<Server>, method: &str, path: &str, body: &Value) -> (u16, String, Value) {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, HOST)
        .header(header::AUTHORIZATION, format!("Bearer {TOKEN}"))
        .header(header::CONTENT_TYPE, "application/json")
        .header("Idempotency-Key", "k1")
        .body(Body::from(body.to_string()))
        .unwrap();
    let executor = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    executor.block_on(async {
        let service = TowerToHyperService::new(api::router(server, None));
        let response = service.call(request).await.unwrap();
        let later = response.headers().get(header::RETRY_AFTER).cloned();
        let later = later.map_or(String::new(), |value| value.to_str().unwrap().to_owned());
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, later, serde_json::from_slice(&body).unwrap())
    })
}

#[test]
fn who_changes_too_much_is_told_to_wait_and_may_still_read() {
    let directory = tempfile::tempdir().unwrap();
    let server = server(directory.path());
    let cancel = || ask(&server, "POST", "/api/v1/runs/nothing123/cancel", &json!({}));
    assert_eq!(cancel().0, 404, "it is looked for");
    let name = ask(&server, "GET", "/api/v1/session", &Value::Null).2["name"].clone();
    // Everything that could be sent until tomorrow was sent.
    let tomorrow = Instant::now() + Duration::from_secs(24 * 60 * 60);
    while server.rates.lets_change(name.as_str().unwrap(), tomorrow) {}
    let (status, later, told) = cancel();
    assert_eq!((status, later.as_str(), &told["code"]), (429, "1", &json!("rate_limited")));
    assert!(told["detail"].as_str().unwrap().contains("too many requests"), "{told}");
    assert_eq!(ask(&server, "GET", "/api/v1/runs", &Value::Null).0, 200);
}

#[test]
fn a_start_behind_too_many_others_is_told_to_come_again_with_its_key() {
    let directory = tempfile::tempdir().unwrap();
    let server = server(directory.path());
    let start = || ask(&server, "POST", "/api/v1/runs", &json!({ "skill": "go" }));
    server.starts.fill();
    let (status, later, told) = start();
    assert_eq!((status, later.as_str(), &told["code"]), (503, "1", &json!("unavailable")));
    assert!(told["hint"].as_str().unwrap().contains("`Idempotency-Key`"), "{told}");
    server.starts.empty();
    let (status, _, told) = start();
    assert_eq!(status, 409, "{told}");
    assert!(told["detail"].as_str().unwrap().contains("`aye` program"), "its turn came: {told}");
}
