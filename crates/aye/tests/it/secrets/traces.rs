//! Looks for a value in everything that was written or printed.

use std::io::Read as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use lz4_flex::frame::FrameDecoder;

/// Every file below a directory, sockets left out; logs also as they were
/// before they were compressed.
pub(super) fn files(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![directory.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if kind.is_dir() {
                folders.push(path);
            } else if !kind.is_socket() {
                if path.extension().is_some_and(|end| end == "lz4") {
                    let mut plain = Vec::new();
                    let file = std::fs::File::open(&path).unwrap();
                    FrameDecoder::new(file).read_to_end(&mut plain).unwrap();
                    found.push((path.with_extension("plain"), plain));
                }
                // It may be gone already: a draft, or a journal's file of shared memory.
                found.extend(std::fs::read(&path).map(|bytes| (path, bytes)));
            }
        }
    }
    found
}

/// Fails if one of these values is in one of these files.
#[track_caller]
pub(super) fn silent(files: &[(PathBuf, Vec<u8>)], needles: &[String]) {
    for (path, bytes) in files {
        let text = String::from_utf8_lossy(bytes);
        let joined = text.replace(['\n', '\r'], "");
        for needle in needles {
            assert!(!text.contains(needle.as_str()), "`{needle}` is in {}", path.display());
            assert!(
                !joined.contains(needle.as_str()),
                "`{needle}` is in lines of {}",
                path.display()
            );
        }
    }
}

/// The forms in which a value may be written that Aye masks.
pub(super) fn forms(value: &str) -> Vec<String> {
    let bytes = |text: &str| Command::new("sh").args(["-c", text, "sh", value]).output().unwrap();
    let output = |text: &str| String::from_utf8(bytes(text).stdout).unwrap().trim().to_owned();
    let encoded: String = value
        .bytes()
        .map(|byte| match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect();
    let json = serde_json::Value::from(value).to_string();
    // Without what depends on the neighbours.
    let inner = |text: String| text[4..text.len() - 4].to_owned();
    vec![
        value.to_owned(),
        encoded.to_lowercase(),
        encoded,
        json[1..json.len() - 1].to_owned(),
        inner(output("printf %s \"$1\" | base64 -w0")),
        inner(output("printf 'u:%s' \"$1\" | base64 -w0")),
        inner(output("printf 'us:%s' \"$1\" | base64 -w0")),
    ]
}
