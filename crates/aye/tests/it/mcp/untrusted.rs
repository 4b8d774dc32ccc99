//! A project that nobody has said is theirs: an assistant sees it and starts
//! nothing of it.

use std::os::unix::fs::{chown, symlink};

use serde_json::json;

use crate::needs;

use super::client::{Client, Era, InboxView};

const GO: &str = "steps:\n  - { name: go, command: touch, args: [went] }";
const GATE: &str = "
steps:
  - { name: sure, confirm: { message: 'Go?', timeout: 1h } }
  - { name: go, command: touch, args: [went] }";

#[track_caller]
fn starts_nothing(desk: &InboxView, client: &mut Client, skill: &str) {
    for dry in [false, true] {
        let refused = client.call("skill_run", json!({ "skill": skill, "dry_run": dry })).refused();
        assert!(refused.contains("is not trusted") && refused.contains("aye trust"), "{refused}");
    }
    assert!(!desk.work().join("went").exists());
}

#[test]
fn nothing_of_an_untrusted_project_starts() {
    for era in [Era::Legacy, Era::Modern] {
        let desk = InboxView::untrusted(&[("go", GO)]);
        let mut client = Client::that_can(&desk, era, json!({}));
        let listed = client.call("skill_list", json!({})).ok();
        assert_eq!(listed["skills"][0]["skill"], "go");
        assert!(listed["not_trusted"].as_str().unwrap().contains("not trusted"), "{listed}");
        client.call("skill_describe", json!({ "skill": "go" })).ok();
        starts_nothing(&desk, &mut client, "go");
        assert_eq!(desk.aye(&["runs", "--json"]).stdout.trim(), "[]");
        // The environment says no yes, and neither does silence.
        let mut command = desk.command(&["trust"]);
        let ran = command.env("AYE_YES", "1").output().unwrap();
        assert_eq!(ran.status.code(), Some(6));
        starts_nothing(&desk, &mut client, "go");
        // The server that is there hears of it at once, both ways.
        desk.aye(&["trust", "--yes"]).ok();
        assert_eq!(client.run("go").status(), "completed");
        std::fs::remove_file(desk.work().join("went")).unwrap();
        desk.aye(&["trust", "--remove"]).ok();
        starts_nothing(&desk, &mut client, "go");
    }
}

#[test]
fn a_run_that_somebody_typed_there_does_not_go_on_for_an_assistant() {
    let desk = InboxView::untrusted(&[("go", GATE)]);
    assert_eq!(desk.aye(&["run", "go", "--no-input"]).code, 6);
    let mut client = Client::new(&desk);
    let complete = json!({
        "ref": { "type": "ref/resource", "uri": "aye://runs/{id}" },
        "argument": { "name": "execution_id", "value": "" },
    });
    let ids = client.request("completion/complete", complete);
    let id = ids["result"]["completion"]["values"][0].as_str().unwrap().to_owned();
    let told = client.call("skill_status", json!({ "execution_id": id })).ok();
    let id = told["execution_id"].clone();
    let said = json!({ "execution_id": id, "choice": "proceed" });
    let refused = client.call("skill_continue", said.clone()).refused();
    assert!(refused.contains("is not trusted"), "{refused}");
    assert!(!desk.work().join("went").exists());
    desk.aye(&["trust", "--yes"]).ok();
    // What the person said counts; the person who typed the run lets it continue.
    let told = client.call("skill_continue", said).ok();
    let note = told["note"].as_str().unwrap();
    let resume = format!("`aye resume {}`", desk.last());
    assert!(note.contains("started at a terminal") && note.contains(&resume), "{note}");
    assert_ne!(told["status"], "running", "{told}");
    assert!(!desk.work().join("went").exists());
    desk.aye(&["resume", "last"]).ok();
    assert!(desk.work().join("went").exists());
}

#[test]
fn a_project_inside_a_trusted_one_is_another_one() {
    let desk = InboxView::with(&[("go", GO)]);
    desk.write("vendor/aye.toml", "");
    desk.write(
        "vendor/skills/evil.yaml",
        "name: evil\nsteps:\n  - { name: e, shell: touch ../went }\n",
    );
    let args = ["mcp", "--workspace", "vendor"];
    let mut client = Client::called(&desk, &args, Era::Legacy, json!({}));
    starts_nothing(&desk, &mut client, "evil");
}

#[test]
fn another_owner_is_another_project() {
    if !needs::root("a project that belongs to another user") {
        return;
    }
    for (given, skill) in [("aye.toml", "go"), (".", "go")] {
        let desk = InboxView::untrusted(&[("go", GO)]);
        desk.write("aye.toml", "");
        desk.aye(&["trust", "--yes"]).ok();
        let mut client = Client::new(&desk);
        chown(desk.work().join(given), Some(65534), None).unwrap();
        starts_nothing(&desk, &mut client, skill);
        // Said of what it is now, it counts.
        desk.aye(&["trust", "--yes"]).ok();
        assert_eq!(client.run(skill).status(), "completed");
    }
}

#[test]
fn an_agreement_of_somebody_else_is_none() {
    if !needs::root("agreements of another user") {
        return;
    }
    let desk = InboxView::with(&[("go", GO)]);
    chown(desk.home().join("trust.json"), Some(65534), None).unwrap();
    let mut client = Client::new(&desk);
    let refused = client.run("go").refused();
    assert!(refused.contains("belongs to another user"), "{refused}");
    assert!(!desk.work().join("went").exists());
}

#[test]
fn skills_elsewhere_count_once_somebody_agreed_to_the_directory() {
    let desk = InboxView::untrusted(&[("go", GO)]);
    for (place, name) in [("out", "far"), ("other", "farther")] {
        let text = format!("name: {name}\nsteps:\n  - {{ name: a, shell: touch went }}\n");
        desk.write(&format!("../{place}/{name}.yaml"), &text);
    }
    let lists = |name: &str| {
        let listed = Client::new(&desk).call("skill_list", json!({})).ok().to_string();
        listed.contains(&format!("\"{name}\""))
    };
    desk.write("aye.toml", "skills = [\"skills\", \"../out\"]\n");
    assert!(lists("go") && !lists("far"));
    desk.aye(&["trust", "--yes"]).ok();
    assert!(lists("far"));
    desk.write("aye.toml", "skills = [\"skills\", \"../other\"]\n");
    assert!(lists("go") && !lists("farther"));
}

#[test]
fn heal_rules_are_agreed_to_by_their_content() {
    let heal = |file: &str| {
        format!(
            "[[heal]]\nname = \"login\"\nmatch = {{ command = \"cat\" }}\n\
             repair = {{ shell = \"touch token {file}\" }}\n"
        )
    };
    let used = "steps:\n  - { name: use, command: cat, args: [token], on_error: auto_heal }";
    let desk = InboxView::untrusted(&[("use", used)]);
    desk.write("aye.toml", &heal("first"));
    desk.aye(&["trust", "--yes"]).ok();
    let mut client = Client::new(&desk);
    assert_eq!(client.run("use").status(), "completed");
    std::fs::remove_file(desk.work().join("token")).unwrap();
    desk.write("aye.toml", &heal("second"));
    let mut client = Client::new(&desk);
    let told = client.run("use");
    assert_ne!(told.status(), "completed");
    assert!(told.text().contains("left out: heal rules"), "{}", told.text());
    assert!(!desk.work().join("second").exists());
    // Anyone who types it in a directory of theirs means it as it is.
    desk.aye(&["run", "use"]).ok();
    assert!(desk.work().join("second").exists());
}

#[test]
fn what_counts_as_a_person_is_not_for_a_project_to_say() {
    let human = "steps:\n  - { name: sure, confirm: { message: 'Go?', by: human, timeout: 1h } }";
    let desk = InboxView::with(&[("go", human)]);
    desk.write("aye.toml", "[mcp]\nelicited_is_person = true\n");
    desk.aye(&["trust", "--yes"]).ok();
    let can = json!({ "elicitation": { "form": {} } });
    let mut client = Client::that_can(&desk, Era::Legacy, can);
    client.answers = vec![json!({ "action": "accept", "content": { "choice": "proceed" } })];
    assert_eq!(client.run("go").status(), "awaiting_confirmation");
    assert!(client.forms.is_empty(), "{:?}", client.forms);
    let doctor = desk.aye(&["doctor"]);
    assert!(doctor.stdout.contains("`elicited_is_person` does not count"), "{}", doctor.all());
}

#[test]
fn the_file_of_a_client_is_not_written_through_a_link() {
    for (link, client, victim) in [
        (".mcp.json", "claude", "victim"),
        (".cursor", "cursor", "folder/mcp.json"),
        (".mcp.json.new", "claude", "victim"),
    ] {
        let desk = InboxView::untrusted(&[]);
        desk.write("../victim", "{}");
        desk.write("../folder/mcp.json", "{}");
        let to = if link == ".cursor" { "folder" } else { "victim" };
        symlink(desk.path().join(to), desk.work().join(link)).unwrap();
        let ran = desk.aye(&["mcp", "install", client, "--yes"]);
        assert_eq!(desk.read(&format!("../{victim}")), "{}", "{link}: {}", ran.all());
        if link != ".mcp.json.new" {
            assert_eq!(ran.code, 1, "{}", ran.all());
            assert!(ran.stderr.contains("is a link"), "{}", ran.all());
        }
    }
}

#[test]
fn installing_asks_for_trust() {
    let desk = InboxView::untrusted(&[("go", GO)]);
    desk.write(".mcp.json", "{}");
    let ran = desk.aye(&["mcp", "install", "claude", "--yes", "--json"]).ok();
    assert_eq!(ran.json()["trusted"], true, "{}", ran.all());
    assert_eq!(Client::new(&desk).run("go").status(), "completed");
    desk.aye(&["trust", "--remove"]).ok();
    // The file is as it should be; that nobody can be asked is said.
    let again = desk.aye(&["mcp", "install", "claude"]).ok();
    assert!(again.stderr.contains("this project is not trusted"), "{}", again.all());
}
