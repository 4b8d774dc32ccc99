//! What an assistant can name as a skill: what is listed, and no other file.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;

use crate::cli::harness::until;

use super::client::{Client, Era, InboxView};

const GO: &str = "steps:\n  - { name: go, command: echo, args: [gone] }";

/// Prints what it is given into its log, as many skills do.
const SAY: &str = "
inputs:
  - { name: what, type: string, required: true }
steps:
  - { name: say, command: printf, args: ['%s', '{{ inputs.what }}'] }";

/// A skill of the attacker's own.
const EVIL: &str = "name: evil\nsteps:\n  - { name: evil, shell: touch owned }\n";

/// Neither runs, describes nor reads it, and quotes nothing of it.
#[track_caller]
fn out_of_reach(client: &mut Client, named: &str, quoted: &[&str]) {
    let mut said = Vec::new();
    for (tool, arguments) in [
        ("skill_run", json!({ "skill": named })),
        ("skill_run", json!({ "skill": named, "dry_run": true })),
        ("skill_run", json!({ "skill": format!("{named}#evil") })),
        ("skill_describe", json!({ "skill": named })),
        ("skill_describe", json!({ "skill": format!("{named}#evil") })),
    ] {
        said.push(client.call(tool, arguments).refused());
    }
    let escaped: String = named.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let read = json!({ "uri": format!("aye://skills/{escaped}") });
    let read = client.request("resources/read", read);
    assert!(read.get("result").is_none(), "{named}: {read}");
    said.push(read.to_string());
    for quote in quoted {
        assert!(!said.iter().any(|said| said.contains(quote)), "{named}: {said:#?}");
    }
}

#[test]
fn a_log_that_reads_like_a_skill_is_none() {
    for era in [Era::Legacy, Era::Modern] {
        let desk = InboxView::with(&[("say", SAY)]);
        let mut client = Client::that_can(&desk, era, json!({}));
        let said = client.call("skill_run", json!({ "skill": "say", "inputs": { "what": EVIL } }));
        assert_eq!(said.status(), "completed", "{}", said.text());
        let run = desk.last();
        let logs = desk.home().join("logs").join(&run);
        let mut log = None;
        until("the log is there", || {
            let files = std::fs::read_dir(&logs).into_iter().flatten().flatten();
            log = files.map(|file| file.path()).find(|path| {
                std::fs::read_to_string(path).is_ok_and(|text| text.contains("touch owned"))
            });
            log.is_some()
        });
        let log = log.unwrap().display().to_string();
        out_of_reach(&mut client, &log, &["touch owned"]);
        out_of_reach(&mut client, &format!("../home/logs/{run}/../../../{}", &log[1..]), &[]);
        assert!(!desk.work().join("owned").exists());
        // Nor is it one for whoever types it.
        let typed = desk.aye(&["run", &log]);
        assert_eq!(typed.code, 2, "{}", typed.all());
        assert!(typed.stderr.contains("is below `AYE_HOME`"), "{}", typed.all());
        for verb in [["check", &log], ["graph", &log]] {
            assert_eq!(desk.aye(&verb).code, 2, "{verb:?}");
        }
        assert!(!desk.work().join("owned").exists());
    }
}

#[test]
fn nothing_of_another_file_is_quoted() {
    let desk = InboxView::with(&[("go", GO)]);
    let mut client = Client::new(&desk);
    client.run("go").ok();
    let secret = "machine example.org login ada password correct-horse\n";
    let netrc = desk.path().join(".netrc");
    std::fs::write(&netrc, secret).unwrap();
    desk.write("notes.yaml", EVIL);
    desk.write("sub/deep.yml", EVIL);
    let key = desk.home().join("mcp.key");
    let kept = std::fs::read_to_string(&key).unwrap();
    for named in [
        netrc.display().to_string(),
        "../.netrc".to_owned(),
        "./../.netrc".to_owned(),
        "skills/../../.netrc".to_owned(),
        key.display().to_string(),
        "../home/mcp.key".to_owned(),
        "notes.yaml".to_owned(),
        "./notes.yaml".to_owned(),
        "skills/../notes.yaml".to_owned(),
        desk.work().join("notes.yaml").display().to_string(),
        "sub/deep.yml".to_owned(),
        "/etc/passwd".to_owned(),
        "/dev/stdin".to_owned(),
        "/proc/self/environ".to_owned(),
    ] {
        out_of_reach(&mut client, &named, &["correct-horse", "touch owned", "root:x", kept.trim()]);
    }
    // Whether a file is there cannot be told from what is said about it.
    let of = |client: &mut Client, file: &str| {
        client.call("skill_describe", json!({ "skill": file })).refused().replace(file, "FILE")
    };
    assert_eq!(of(&mut client, "../.netrc"), of(&mut client, "../.not-there"));
    // What is listed can be named, by its file too where a name is not enough.
    client.call("skill_describe", json!({ "skill": "skills/go.yaml" })).ok();
    assert!(!desk.work().join("owned").exists());
}

/// What an assistant is told there is.
fn known(client: &mut Client) -> String {
    let list = client.call("skill_list", json!({})).ok();
    let resources = client.request("resources/list", json!({}));
    let complete = json!({
        "ref": { "type": "ref/prompt", "name": "run_skill" },
        "argument": { "name": "skill", "value": "" },
    });
    let offered = client.request("completion/complete", complete);
    format!("{list}\n{resources}\n{offered}")
}

#[test]
fn links_that_lead_out_are_not_followed() {
    let desk = InboxView::with(&[("go", GO)]);
    let out = desk.path().join("out");
    std::fs::create_dir(&out).unwrap();
    std::fs::write(out.join("evil.yaml"), EVIL).unwrap();
    std::fs::write(out.join("secret.yaml"), "password: correct-horse\n").unwrap();
    let skills = desk.work().join("skills");
    let link = |to: &Path, name: &str| symlink(to, skills.join(name)).unwrap();
    link(&out.join("evil.yaml"), "evil.yaml");
    link(&out.join("secret.yaml"), "secret.yaml");
    link(Path::new("../../out/secret.yaml"), "relative.yaml");
    link(&skills.join("relative.yaml"), "twice.yaml");
    link(&out, "folder");
    link(Path::new("go.yaml"), "inside.yaml");
    let mut client = Client::new(&desk);
    let told = known(&mut client);
    for name in ["evil", "secret", "relative", "twice", "folder"] {
        assert!(!told.contains(name), "{name}: {told}");
    }
    assert!(told.contains("inside.yaml"), "{told}");
    for named in [
        "evil",
        "secret",
        "relative",
        "twice",
        "folder/evil",
        "skills/evil.yaml",
        "skills/secret.yaml",
        "skills/folder/evil.yaml",
    ] {
        out_of_reach(&mut client, named, &["correct-horse", "touch owned"]);
    }
    assert!(!desk.work().join("owned").exists());
}

#[test]
fn a_skill_directory_outside_of_the_project_is_none() {
    let desk = InboxView::with(&[("go", GO)]);
    let out = desk.path().join("out");
    std::fs::create_dir(&out).unwrap();
    std::fs::write(out.join("evil.yaml"), EVIL).unwrap();
    symlink(&out, desk.work().join("linked")).unwrap();
    for outside in ["/", "..", "../out", "linked", "../home"] {
        desk.write("aye.toml", &format!("skills = [\"skills\", \"{outside}\"]\n"));
        let mut client = Client::new(&desk);
        let told = known(&mut client);
        assert!(told.contains("go") && !told.contains("evil"), "{outside}: {told}");
        out_of_reach(&mut client, "evil", &["touch owned"]);
        out_of_reach(&mut client, "../out/evil.yaml", &["touch owned"]);
    }
    assert!(!desk.work().join("owned").exists());
}

#[test]
fn nothing_below_the_home_is_a_skill_even_inside_the_project() {
    let desk = InboxView::with(&[("go", GO)]);
    desk.write("aye.toml", "skills = [\".\"]\n");
    desk.write("state/logs/x/evil.yaml", EVIL);
    symlink("../state/logs/x/evil.yaml", desk.work().join("skills/link.yaml")).unwrap();
    let mut command = desk.command(&["list", "--json"]);
    command.env("AYE_HOME", "state");
    let listed = crate::cli::harness::Ran::of(command.output().unwrap(), &desk).ok();
    assert!(
        listed.stdout.contains("\"go\"") && !listed.stdout.contains("evil"),
        "{}",
        listed.all()
    );
    let args = ["mcp", "--home", "state"];
    let mut client = Client::called(&desk, &args, Era::Legacy, json!({}));
    let told = known(&mut client);
    assert!(told.contains("go") && !told.contains("evil"), "{told}");
    out_of_reach(&mut client, "evil", &["touch owned"]);
    out_of_reach(&mut client, "skills/link.yaml", &["touch owned"]);
}

#[test]
fn a_step_that_takes_its_skill_from_a_value_reaches_no_other_file() {
    const CALL: &str = "
inputs:
  - { name: which, type: string, required: true }
steps:
  - { name: call, skill: '{{ inputs.which }}', on_error: fail }";
    let desk = InboxView::with(&[("call", CALL), ("go", GO)]);
    desk.write("notes.yaml", EVIL);
    let away = desk.path().join("evil.yaml");
    std::fs::write(&away, EVIL).unwrap();
    let mut client = Client::new(&desk);
    let run = |client: &mut Client, which: &str| {
        client.call("skill_run", json!({ "skill": "call", "inputs": { "which": which } }))
    };
    for which in ["notes.yaml", "../evil.yaml", away.to_str().unwrap(), "skills/../notes.yaml#evil"]
    {
        let told = run(&mut client, which);
        assert_eq!(told.status(), "failed", "{}", told.text());
        // A value is a value, whoever typed the rest.
        let typed = desk.aye(&["run", "call", "-i", &format!("which={which}")]);
        assert_eq!(typed.code, 1, "{}", typed.all());
        assert!(typed.stderr.contains("there is no skill"), "{}", typed.all());
    }
    assert!(!desk.work().join("owned").exists());
    for which in ["go", "go.yaml", "skills/go.yaml"] {
        assert_eq!(run(&mut client, which).status(), "completed", "{which}");
        desk.aye(&["run", "call", "-i", &format!("which={which}")]).ok();
    }
}

#[test]
fn a_skill_of_an_assistant_calls_only_what_is_listed() {
    const FIXED: &str = "steps:\n  - { name: call, skill: ../notes.yaml, on_error: fail }";
    let desk = InboxView::with(&[("fixed", FIXED)]);
    desk.write("notes.yaml", EVIL);
    let mut client = Client::new(&desk);
    let why = client.call("skill_run", json!({ "skill": "fixed" })).refused();
    assert!(why.contains("there is no skill `../notes.yaml`"), "{why}");
    assert!(!desk.work().join("owned").exists());
    // Anyone who types it means what its author wrote.
    desk.aye(&["run", "fixed"]).ok();
    assert!(desk.work().join("owned").exists());
}
