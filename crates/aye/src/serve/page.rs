//! The web page: static files in the program, each with an entity tag.
//!
//! The files are hand-written modules that a browser runs as they are. Nothing
//! of them tells anything without a session; `guard` lets them through, with a
//! policy that allows no inline script or style, nothing from elsewhere, and no
//! text that becomes markup except through the two policies of the page.
//!
//! Touches nothing. A browser gets the files from `listen`, then talks to `api` and `socket`.

use std::sync::LazyLock;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use aye_core::digest::digest;

use super::api::Path;
use super::problem::Problem;

/// A file of the page.
struct File {
    name: &'static str,
    bytes: &'static [u8],
    etag: String,
}

impl File {
    fn new(name: &'static str, bytes: &'static [u8]) -> Self {
        Self { name, bytes, etag: format!("\"{}\"", &digest(&[bytes])[..32]) }
    }

    fn kind(&self) -> &'static str {
        match self.name.rsplit_once('.').map(|(_, kind)| kind) {
            Some("html") => "text/html; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("svg") => "image/svg+xml",
            _ => "text/plain; charset=utf-8",
        }
    }

    fn reply(&self, headers: &HeaderMap) -> Response {
        let known = headers.get(header::IF_NONE_MATCH).and_then(|known| known.to_str().ok());
        let known = known.is_some_and(|known| known.split(',').any(|tag| tag.trim() == self.etag));
        let mut response = match known {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => self.bytes.into_response(),
        };
        let kept = response.headers_mut();
        if let Ok(etag) = HeaderValue::from_str(&self.etag) {
            kept.insert(header::ETAG, etag);
        }
        kept.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.kind()));
        // Kept, and asked about each time: a newer program has newer files.
        kept.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }
}

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        vec![$(File::new($name, include_bytes!(concat!("page/", $name)))),*]
    };
}

static FILES: LazyLock<Vec<File>> = LazyLock::new(|| {
    files![
        "index.html",
        "favicon.svg",
        "theme.css",
        "page.css",
        "card.css",
        "run.css",
        "ansi.js",
        "app.js",
        "diff.js",
        "fold.js",
        "form.js",
        "graph.js",
        "loading.js",
        "log_window.js",
        "main.js",
        "notice.js",
        "session.js",
        "store.js",
        "text.js",
        "words.js",
        "transport.js",
        "vendor/licenses.txt",
        "vendor/lit-anser.js",
        "views/answering.js",
        "views/card.js",
        "views/edits.js",
        "views/inbox.js",
        "views/log.js",
        "views/memory.js",
        "views/people.js",
        "views/retry.js",
        "views/run.js",
        "views/runs.js",
        "views/signs.js",
        "views/skills.js",
        "views/started.js",
    ]
});

/// `GET /`
pub(super) async fn index(headers: HeaderMap) -> Response {
    FILES[0].reply(&headers)
}

/// `GET /assets/{file}`
pub(super) async fn asset(
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let file = FILES.iter().find(|file| file.name == name);
    Ok(file.ok_or_else(|| Problem::not_found("file", &name))?.reply(&headers))
}

#[cfg(test)]
mod tests {
    use std::path::{Path as FilePath, PathBuf};

    use super::*;

    fn folder() -> PathBuf {
        FilePath::new(env!("CARGO_MANIFEST_DIR")).join("src/serve/page")
    }

    fn files_in(folder: &FilePath) -> Vec<PathBuf> {
        let found = std::fs::read_dir(folder).expect("the folder is there");
        found
            .map(|entry| entry.expect("it can be read").path())
            .flat_map(|path| if path.is_dir() { files_in(&path) } else { vec![path] })
            .collect()
    }

    #[test]
    fn every_file_of_the_page_is_served() {
        // What makes the vendored file is not a part of the page.
        let recipe = ["vendor/bundle", "vendor/entry.js", "vendor/lit-anser.sha256"];
        let mut there: Vec<String> = files_in(&folder())
            .iter()
            .map(|path| path.strip_prefix(folder()).expect("below it").display().to_string())
            .filter(|name| !recipe.contains(&name.as_str()))
            .collect();
        there.sort();
        let mut served: Vec<&str> = FILES.iter().map(|file| file.name).collect();
        served.sort_unstable();
        assert_eq!(there, served);
        assert_eq!(FILES[0].name, "index.html");
    }

    #[test]
    fn the_vendored_file_is_the_one_that_its_recipe_makes() {
        let checked = std::process::Command::new("sha256sum")
            .args(["--check", "--status", "lit-anser.sha256"])
            .current_dir(folder().join("vendor"))
            .status();
        assert!(checked.expect("`sha256sum` runs").success());
    }

    #[test]
    fn a_file_that_has_not_changed_is_not_sent_again() {
        let first = FILES[0].reply(&HeaderMap::new());
        assert_eq!(first.status(), StatusCode::OK);
        let mut headers = HeaderMap::new();
        headers.insert(header::IF_NONE_MATCH, first.headers()[header::ETAG].clone());
        assert_eq!(FILES[0].reply(&headers).status(), StatusCode::NOT_MODIFIED);
    }

    #[test]
    fn nothing_is_inline_and_nothing_comes_from_outside() {
        for file in FILES.iter().filter(|file| !file.name.starts_with("vendor/")) {
            let text = std::str::from_utf8(file.bytes).expect("text");
            assert!(!text.contains("style="), "{} has an inline style", file.name);
            assert!(!text.contains("https://"), "{} names an outside address", file.name);
            assert!(!text.contains("innerHTML"), "{} makes markup of text", file.name);
            assert!(!text.contains("eval("), "{} evaluates text", file.name);
        }
        let index = std::str::from_utf8(FILES[0].bytes).expect("text");
        assert_eq!(index.matches("<script").count(), 1);
        assert!(!index.contains("<style"));
    }
}
