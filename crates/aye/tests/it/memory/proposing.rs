//! What skills propose, and what a person makes of it.

use serde_json::{Value, json};

use crate::cli::harness::Place;
use crate::serve::client::Served;

use super::lookup::{SECOND, SKILL, furnish};

/// A project that someone trusts, with one skill of one block.
pub(crate) fn with_block(code: &str) -> Place {
    let place = Place::new();
    place.write("aye.toml", "");
    place.aye(&["trust", "--yes"]).ok();
    write_block(&place, code);
    place
}

fn write_block(place: &Place, code: &str) {
    let code = code.replace('\n', "\n      ");
    place.write(
        "one.yaml",
        &format!("name: one\nsteps:\n  - name: note\n    compute: |\n      {code}\n"),
    );
}

fn proposals(place: &Place) -> Vec<Value> {
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    let all = inbox.as_array().unwrap().iter();
    all.filter(|entry| entry["proposal"].is_string()).cloned().collect()
}

pub(crate) const TOLD: &str = "\
memory.append('learned/patterns', 'bonfire_patterns', {'pattern': 'token expired', 'meaning': 'log in again'})
memory.write('learned/confirmations', {'rel:gate': {'auto_proceed': True, 'default_choice': 'proceed'}})
memory.write('learned/odd', {'nowhere': {'auto_proceed': True}})
result = 1";

#[test]
fn known_issues_and_answers_of_a_skill_wait_for_a_person() {
    let place = with_block(TOLD);
    let ran = place.aye(&["run", "one.yaml"]).ok();
    let mut told = proposals(&place);
    told.sort_by_key(|one| one["kind"] == "answer");
    let kinds: Vec<&str> = told.iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["issue", "answer"], "{told:?}\n{}", ran.all());
    assert!(ran.all().contains("is not called `SKILL:STEP`"), "{}", ran.all());
    let [issue, answer] = [0, 1].map(|at| told[at]["proposal"].as_str().unwrap().to_owned());
    for id in [&issue, &answer] {
        assert!(ran.all().contains(&format!("proposed as `{id}`")), "{}", ran.all());
        for listing in [&["inbox"][..], &["memory", "list"], &["memory", "show", id]] {
            let listed = place.aye(listing).ok();
            assert!(listed.stdout.contains(id.as_str()), "{listing:?}: {}", listed.all());
        }
    }
    assert!(place.aye(&["doctor"]).stdout.contains("2 proposals wait for you to agree"));
    // The same written again is the same proposal.
    place.aye(&["run", "one.yaml"]).ok();
    assert_eq!(proposals(&place).len(), 2);

    // Nothing counts before a person agrees, and an agent cannot.
    let check = ["memory", "check", "Error: token expired"];
    assert_eq!(place.aye(&check).code, 1);
    assert_eq!(place.aye(&["memory", "agree", &issue]).code, 6, "nobody can be asked");
    let agreed = place.aye(&["memory", "agree", &issue, "--yes"]).ok();
    assert!(agreed.stdout.contains("is a known issue from now on: issue-"), "{}", agreed.all());
    assert!(agreed.stdout.contains("the skill one in run"), "{}", agreed.all());
    assert!(place.aye(&check).ok().stdout.contains("log in again"));
    let family = place.aye(&["memory", "check", "", "--tool", "bonfire_deploy"]).ok();
    assert!(family.stdout.contains("log in again"), "{}", family.all());

    // An answer names nothing that it was for: the question is asked, and says so.
    place.write(
        "rel.yaml",
        "name: rel\nsteps:\n  - { name: gate, confirm: { message: Go?, remember: true } }\n",
    );
    let ran = place.aye(&["run", "rel.yaml"]);
    assert!(ran.code == 6 && !ran.all().contains("someone wanted"), "{}", ran.all());
    place.aye(&["memory", "agree", &answer, "--yes"]).ok();
    let ran = place.aye(&["run", "rel.yaml"]);
    assert_eq!(ran.code, 6, "agreeing answers nothing: {}", ran.all());
    assert!(ran.all().contains("someone chose `proceed` for all later runs"), "{}", ran.all());
    assert!(proposals(&place).is_empty());
}

/// One list: what the inbox shows, the server has too, fixes and what skills wrote.
#[test]
fn the_server_lists_the_proposals_of_the_inbox() {
    let fix = "\nmemory.append('learned/tool_fixes', 'tool_fixes', {'tool_name': 'deploy', 'error_pattern': 'manifest unknown', 'root_cause': 'short tag', 'fix_applied': 'use the full SHA'})";
    let place = with_block(&format!("{TOLD}{fix}"));
    place.aye(&["run", "one.yaml"]).ok();
    let mut listed = proposals(&place);
    assert_eq!(listed.len(), 3, "{listed:?}");
    let server = Served::at(place);
    // What a command prints names this place in another way.
    let served = || {
        let place = server.path().to_string_lossy().into_owned();
        let served = server.get("/api/v1/proposals").ok()["proposals"].to_string();
        serde_json::from_str::<Value>(&served.replace(&place, "PLACE")).unwrap()
    };
    assert_eq!(served(), json!(listed));
    // A program with the token is not a person in a browser.
    let issue = listed.iter().position(|one| one["kind"] == "issue").unwrap();
    let path = format!("/api/v1/memory/{}/agree", listed[issue]["proposal"].as_str().unwrap());
    assert_eq!(server.post(&path, &json!({})).problem(403), "forbidden");
    let gone = listed.remove(issue);
    server.aye(&["memory", "agree", gone["proposal"].as_str().unwrap(), "--yes"]).ok();
    assert_eq!(served(), json!(listed));
}

#[test]
fn a_proposal_that_is_forgotten_is_gone() {
    let place = with_block(TOLD);
    place.aye(&["run", "one.yaml"]).ok();
    for one in proposals(&place) {
        place.aye(&["memory", "forget", one["proposal"].as_str().unwrap()]).ok();
    }
    assert!(proposals(&place).is_empty());
    assert_eq!(place.aye(&["memory", "check", "token expired"]).code, 1);
}

/// Words are shown: nothing says that they are carried out, before or after.
#[test]
fn a_proposal_in_words_says_what_agreeing_does() {
    let place = with_block(
        "memory.append('learned/tool_fixes', 'tool_fixes', {'tool_name': 'deploy', 'error_pattern': 'manifest unknown', 'root_cause': 'short tag', 'fix_applied': 'use the full SHA'})\nresult = 1",
    );
    place.aye(&["run", "one.yaml"]).ok();
    let inbox = place.aye(&["inbox"]).ok().stdout;
    assert!(inbox.contains("it says `short tag: use the full SHA`"), "{inbox}");
    assert!(!inbox.contains("nothing is done"), "{inbox}");
    let id = proposals(&place)[0]["proposal"].as_str().unwrap().to_owned();
    let agreed = place.aye(&["memory", "agree", &id, "--yes"]).ok().stdout;
    assert!(agreed.contains("is shown from now on"), "{agreed}");
    assert!(!agreed.contains("is used from now on"), "{agreed}");
}

/// The four weeks once more, with the fix learned by a block and by a step.
#[test]
fn a_skill_proposes_a_fix_that_looks_something_up() {
    let block = "\
memory.learn_tool_fix('deploy', 'Error: manifest unknown: abc123', about='the registry knows it',
    first={'tool': 'tags', 'with': {'image': '{{ args.image }}', 'tag': '{{ args.image_tag }}'}},
    args={'image_tag': '{{ first.full_sha }}'})
result = 1";
    let step = "name: one
steps:
  - name: note
    tool: learn_tool_fix
    args:
      tool: deploy
      error: 'Error: manifest unknown: abc123'
      about: the registry knows it
      first: { tool: tags, with: { image: \"{{ '{{ args.image }}' }}\", tag: \"{{ '{{ args.image_tag }}' }}\" } }
      args: { image_tag: \"{{ '{{ first.full_sha }}' }}\" }
";
    let mut ids = Vec::new();
    for written in [None, Some(step)] {
        let place = Place::new();
        place.write("release.yaml", SKILL);
        furnish(&place);
        match written {
            None => write_block(&place, block),
            Some(step) => drop(place.write("one.yaml", step)),
        }
        let ran = place.aye(&["run", "one.yaml"]).ok();
        assert!(ran.all().contains("proposed as `fix-"), "{}", ran.all());
        let id = proposals(&place)[0]["proposal"].as_str().unwrap().to_owned();
        let shown = place.aye(&["memory", "show", &id, "--json"]).ok().json();
        assert_eq!(shown["match"]["error"], "Error: manifest unknown", "what varies is masked");
        assert_eq!(shown["from"]["by"], "one", "{shown}");
        assert_eq!(shown["from"]["run"], place.last().as_str(), "{shown}");
        let release = ["run", "release.yaml", "-i", "image=web", "-i", "tag=def456"];
        assert_eq!(place.aye(&release).code, 6, "nobody has agreed");
        place.aye(&["cancel", "last"]);
        place.aye(&["memory", "agree", &id, "--yes"]).ok();
        let healed = place.aye(&release).ok();
        assert!(healed.all().contains(&format!("deployed web {SECOND}")), "{}", healed.all());
        // Who agreed, and from which run it is, stand with its use.
        let said = healed.all();
        assert!(said.contains("; from one in run ") && said.contains(" agreed"), "{said}");
        ids.push((shown["match"].clone(), shown["do"].clone()));
    }
    assert_eq!(ids[0], ids[1], "both ways say the same");
}

#[test]
fn what_a_skill_teaches_has_to_say_something() {
    for (call, said) in [
        ("memory.learn_tool_fix('deploy', 'manifest unknown')", "has nothing to do"),
        (
            "memory.learn_tool_fix('deploy', 'manifest unknown', first={'tool': 'a', 'command': ['b']})",
            "needs one of",
        ),
        ("memory.learn_tool_fix('deploy', 'manifest unknown', first='tags')", "`first`: "),
    ] {
        let place = with_block(&format!("{call}\nresult = 1"));
        let ran = place.aye(&["run", "one.yaml"]);
        assert!(ran.all().contains(said), "{call}: {}", ran.all());
        assert!(proposals(&place).is_empty(), "{call}");
    }
}

/// A fix that does something else in place of the step, learned on the command line.
#[test]
fn a_fix_can_stand_in_for_the_step() {
    let place = Place::new();
    place.write("aye.toml", "");
    place.write(
        "s.yaml",
        "name: s\nsteps:\n  - { name: push, command: ls, args: [/nowhere/at/all], on_error: ask }\n",
    );
    let learn = ["memory", "learn", "--tool", "ls", "--error", "cannot access", "--fix", "make it"];
    let refused = place.aye(&[&learn[..], &["--replace"]].concat());
    assert_eq!(refused.code, 2, "{}", refused.all());
    place.aye(&[&learn[..], &["--replace", "--", "touch", "made"]].concat()).ok();
    let shown = place.aye(&["memory", "list", "fixes", "--json"]).ok().json();
    assert_eq!(shown["fixes"][0]["do"], json!({ "replace": { "command": ["touch", "made"] } }));
    place.aye(&["run", "s.yaml"]).ok();
    assert!(place.work().join("made").exists());

    // A skill proposes the same.
    let place = with_block(
        "memory.learn_tool_fix('ls', 'cannot access', about='make it', replace={'command': ['touch', 'made']})\nresult = 1",
    );
    place.write(
        "s.yaml",
        "name: s\nsteps:\n  - { name: push, command: ls, args: [/nowhere/at/all], on_error: ask }\n",
    );
    place.aye(&["run", "one.yaml"]).ok();
    let proposed = proposals(&place)[0].clone();
    assert_eq!(proposed["details"]["do"], shown["fixes"][0]["do"], "{proposed}");
    assert_eq!(place.aye(&["run", "s.yaml", "--no-input"]).code, 6, "nobody has agreed");
    place.aye(&["cancel", "last"]).ok();
    place.aye(&["memory", "agree", proposed["proposal"].as_str().unwrap(), "--yes"]).ok();
    place.aye(&["run", "s.yaml"]).ok();
    assert!(place.work().join("made").exists());
}

/// `learn_tool_fix` inserts or updates: a skill changes its own words, and no one else's.
#[test]
fn what_a_skill_says_again_replaces_what_it_said() {
    let place = with_block("result = 1");
    let told = |skill: &str, words: &str| {
        place.write(
            &format!("{skill}.yaml"),
            &format!(
                "name: {skill}\nsteps:\n  - {{ name: note, tool: learn_tool_fix, args: {{ tool_name: git_push, error_pattern: push rejected, root_cause: remote, fix_description: {words} }} }}\n"
            ),
        );
        let said = place.aye(&["run", &format!("{skill}.yaml")]).ok().all();
        let (_, id) = said.split_once("noted as `").unwrap_or_else(|| panic!("{said}"));
        let id = id.split_once('`').unwrap().0.to_owned();
        let shown = place.aye(&["memory", "show", &id, "--json"]).ok().json();
        assert_eq!(shown["about"], format!("remote: {words}"), "what was noted is there");
        id
    };
    let words = || {
        let known = place.aye(&["memory", "list", "fixes", "--json"]).ok().json();
        let known = known["fixes"].as_array().unwrap().iter();
        known.map(|fix| fix["about"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let first = told("push", "use the full SHA");
    let second = told("push", "pull first");
    assert_ne!(first, second);
    assert_eq!(words(), ["remote: pull first"]);
    assert_eq!(told("push", "pull first"), second, "the same words are the same fix");
    // What another skill says about the error stands beside it.
    told("other", "ask the owner");
    assert_eq!(words(), ["remote: pull first", "remote: ask the owner"]);
    place.aye(&["run", "push.yaml"]).ok();
    assert_eq!(words(), ["remote: pull first", "remote: ask the owner"]);

    // What a person agreed to stays as it was agreed to.
    let state = |words: &str| {
        write_block(
            &place,
            &format!(
                "memory.append('learned/tool_fixes', 'tool_fixes', {{'tool_name': 'deploy', 'error_pattern': 'manifest unknown', 'root_cause': 'tag', 'fix_applied': '{words}'}})\nresult = 1"
            ),
        );
        place.aye(&["run", "one.yaml"]).ok();
    };
    state("use the full SHA");
    let id = proposals(&place)[0]["proposal"].as_str().unwrap().to_owned();
    place.aye(&["memory", "agree", &id, "--yes"]).ok();
    state("run this as root");
    let shown = place.aye(&["memory", "show", &id, "--json"]).ok().json();
    assert_eq!(
        (&shown["about"], &shown["standing"]),
        (&json!("tag: use the full SHA"), &json!("prose"))
    );
    assert_eq!(proposals(&place).len(), 1, "the other words wait");
    state("never mind");
    let waits = proposals(&place);
    assert_eq!(waits.len(), 1, "{waits:?}");
    assert_eq!(waits[0]["details"]["about"], "tag: never mind");
}

/// A name of a file that holds a secret is not written, and that is said.
#[test]
fn a_key_with_a_secret_in_it_is_not_lost_in_silence() {
    let place = Place::new();
    place.write("aye.toml", "");
    place.aye(&["trust", "--yes"]).ok();
    place.write(
        "s.yaml",
        "name: s\ninputs: [{ name: token, type: secret, from: { env: TOKEN } }]\nsteps:\n\
         \x20 - { name: note, tool: memory_write, args: { key: 'of-{{ inputs.token }}', data: 1 } }\n\
         \x20 - { name: other, tool: memory_write, args: { key: plain, data: 1 } }\n",
    );
    let mut command = place.command(&["run", "s.yaml"]);
    command.env("TOKEN", "hunter2secret");
    let ran = crate::cli::harness::Ran::of(command.output().unwrap(), &place);
    assert!(ran.all().contains("`state/of-***` was not written"), "{}", ran.all());
    assert!(!ran.all().contains("hunter2secret"), "{}", ran.all());
    assert!(place.work().join(".aye/memory/state/plain.yaml").exists(), "{}", ran.all());
}

/// One value was changed around the part that varies: the next one is as well.
#[test]
fn what_varies_in_an_argument_is_masked() {
    let place = Place::new();
    place.write("aye.toml", "");
    let script = "#!/bin/sh\ncase $1 in build-*.rpm) echo \"$1\" >>shipped;; *) echo \"Error: no such package: $1\" >&2; exit 1;; esac\n";
    let path = place.write("ship", script);
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    place.write(
        "s.yaml",
        "name: s\ninputs: [{ name: what, required: true }]\nsteps:\n\
         \x20 - { name: ship, command: ./ship, args: ['{{ inputs.what }}'], on_error: ask }\n",
    );
    let run = |what: &str| place.aye(&["run", "s.yaml", "-i", &format!("what={what}")]);
    assert_eq!(run("release-1403").code, 6);
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    let question = inbox[0]["question"].as_str().unwrap().to_owned();
    let edit = ["answer", &question, "edit", "--set", "1=build-1403.rpm", "--remember", "skill"];
    let answered = place.aye(&[&edit[..], &["--resume"]].concat());
    assert_eq!(answered.code, 0, "{}", answered.all());
    let fixes = place.aye(&["memory", "list", "fixes", "--json"]).ok().json();
    assert_eq!(fixes["fixes"][0]["match"]["args"], json!({ "1": "release-<n>" }), "{fixes}");
    run("release-77").ok();
    assert_eq!(place.read("shipped"), "build-1403.rpm\nbuild-77.rpm\n");
    // What looks otherwise is not changed, and it is said why.
    let other = run("candidate-77");
    assert_eq!(other.code, 6, "{}", other.all());
    assert!(
        other.all().contains("it is only for `1` `release-<n>`, and this is `candidate-77`"),
        "{}",
        other.all()
    );
}

/// Programs that watch the inbox hear of proposals too.
#[test]
fn a_list_that_is_kept_up_to_date_has_proposals() {
    use std::io::BufRead as _;
    let place = with_block(TOLD);
    place.aye(&["run", "one.yaml"]).ok();
    for (args, wanted) in [
        (&["inbox", "--watch", "--json"][..], "\"kind\":\"issue\""),
        (&["inbox", "--watch"], "proposed by a skill: known issue `token expired`"),
    ] {
        let mut command = place.command(args);
        let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
        let lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
        let found = lines.map_while(Result::ok).any(|line| line.contains(wanted));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found, "{args:?}");
    }
}
