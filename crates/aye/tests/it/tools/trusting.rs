//! Nothing is started that nobody has agreed to.

use aye_core::error_code::ErrorCode;

use aye_runtime::tools::{Call, ToolEvent, Tools};
use aye_runtime::trust::{Power, TrustFile};
use insta::assert_snapshot;
use jiff::Timestamp;
use serde_json::Map;

use crate::cli::harness::Place;

use super::harness::{own_server, read, world};

#[test]
fn an_agreement_is_to_a_command_in_a_workspace() {
    let (home, work) =
        (tempfile::TempDir::new().expect("home"), tempfile::TempDir::new().expect("work"));
    let text = format!("{}legacy = true\n", own_server(work.path()));
    let call = |text: &str| {
        let settings = read(work.path(), text);
        let file = TrustFile::new(home.path(), &settings.root);
        let mut tools = Tools::new(&settings, world(work.path(), file.clone()));
        let launch = tools.launch("own").expect("a server").expect("a program");
        let name = "own.fine".to_owned();
        let (timeout, usual, most, run) = (None, None, None, None);
        tools.call(Call { id: 1, name, args: Map::new(), timeout, usual, most, run });
        loop {
            if let ToolEvent::Done { result, .. } = tools.wait(None).expect("it ends") {
                return (result, launch, file);
            }
        }
    };
    let (result, launch, file) = call(&text);
    let refused = result.expect_err("nobody has agreed");
    assert_eq!(refused.code, ErrorCode::NotTrusted);
    assert!(refused.message.contains("/bin/sh"), "{refused}");
    assert_eq!(refused.hint.as_deref(), Some("look at it and agree with `aye trust`"));
    assert!(!work.path().join("notes.pid").exists(), "nothing was started");

    file.agree(&Power::from(&launch), Timestamp::UNIX_EPOCH).expect("noted");
    assert!(call(&text).0.is_ok());

    // Every part of what is started counts.
    for changed in [
        text.replace("notes", "other-notes"),
        format!("{text}env = {{ A = \"1\" }}\n"),
        format!("{text}pass_env = [\"TOKEN_OF_THE_RUN\"]\n"),
        format!("{text}cwd = \"/\"\n"),
    ] {
        let (result, launch, file) = call(&changed);
        assert_eq!(result.expect_err("it is another one").code, ErrorCode::NotTrusted, "{changed}");
        let agreed = file.read().expect("readable");
        assert!(agreed.of("server own").is_some() && !agreed.holds(&Power::from(&launch)));
    }
    // How long it may take does not.
    assert!(call(&format!("{text}timeout = \"1m\"\n")).0.is_ok());
    let elsewhere = TrustFile::new(home.path(), home.path());
    let there = elsewhere.read().expect("readable");
    assert!(!there.holds(&Power::from(&launch)), "another workspace, another agreement");
    assert!(file.withdraw("server own").expect("written"));
    assert_eq!(call(&text).0.expect_err("it was taken back").code, ErrorCode::NotTrusted);
}

#[test]
fn a_damaged_file_is_no_agreement() {
    let place = Place::new();
    place.write("aye.toml", &own_server(&place.work()));
    std::fs::create_dir_all(place.home()).expect("home");
    std::fs::write(place.home().join("trust.json"), "{ oops").expect("written");
    let ran = place.aye(&["tools", "call", "own.fine"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.stderr.contains("trust.json"), "{}", ran.all());
    assert!(!place.work().join("notes.pid").exists());
}

#[test]
fn the_file_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    place.write("aye.toml", &own_server(&place.work()));
    place.aye(&["tools", "trust", "--yes"]).ok();
    let found = std::fs::metadata(place.home().join("trust.json")).expect("it is there");
    assert_eq!(found.permissions().mode() & 0o777, 0o600);
}

#[test]
fn without_a_terminal_nobody_is_asked() {
    let place = Place::new();
    let text = "[tools.own]\nserver = ['/bin/sh', '-c', 'touch started; exec sleep 1000']\n";
    place.write("aye.toml", text);
    assert_snapshot!(place.aye(&["tools", "call", "own.fine"]).all(), @r"
    --- stderr
    error: the server `own` is not trusted yet, and nobody can be asked: neither standard input nor standard error is a terminal
    hint: look at it and agree with `aye trust` on a terminal
    --- exit 6
    ");
    assert_snapshot!(place.aye(&["tools", "list"]).all(), @r"
    --- stdout
    own  not trusted yet  /bin/sh -c 'touch started; exec sleep 1000'
      aye trust
    --- exit 0
    ");
    assert_snapshot!(place.aye(&["tools", "list", "own"]).all(), @r"
    --- stderr
    error: the server `own` is not trusted yet, and nobody can be asked: neither standard input nor standard error is a terminal
    hint: look at it and agree with `aye trust` on a terminal
    --- exit 6
    ");
    assert_snapshot!(place.aye(&["tools", "trust"]).all(), @r"
    --- stderr
    error: the server `own` is not trusted yet, and nobody can be asked: neither standard input nor standard error is a terminal
    hint: look at it and agree with `aye trust` on a terminal
    --- exit 6
    ");
    assert!(!place.work().join("started").exists());
}

#[test]
fn a_policy_holds_for_servers_too() {
    let place = Place::new();
    let own = own_server(&place.work());
    place.write("aye.toml", &format!("{own}legacy = true\n[policy]\nallow = ['git']\n"));
    place.aye(&["tools", "trust", "--yes"]).ok();
    let ran = place.aye(&["tools", "call", "own.fine"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    let said = "error: the server `own` may not be started: command `/bin/sh ";
    assert!(ran.stderr.starts_with(said), "{}", ran.all());
    assert!(ran.stderr.contains("hint: it means `/bin/sh`"), "{}", ran.all());
    assert!(!place.work().join("notes.pid").exists());
}
