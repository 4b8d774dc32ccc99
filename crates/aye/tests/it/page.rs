//! The web page in a real browser, against a real server: the scripts of
//! `tests/page`, each a test.

use std::process::{Command, Stdio};

use crate::needs;
use crate::screens::Turn;

fn run(script: &str) {
    let _turn = Turn::take();
    needs::program("chromium");
    let output = Command::new("node")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/page/").to_owned() + script)
        .env("AYE_TEST_PROGRAM", env!("CARGO_BIN_EXE_aye"))
        .env("AYE_TEST_PACKAGES", needs::installed("page"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}: {told}");
}

macro_rules! scripts {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            run(concat!(stringify!($name), ".mjs"));
        })*
    };
}

scripts![
    addresses, answering, cards, fold, graph, hands, hostile, inside, keyboard, mishaps, notices,
    proof, questions, scale, store, together, views
];
