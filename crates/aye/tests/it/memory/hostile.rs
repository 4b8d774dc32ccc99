//! A repository, an assistant or a pull that wants its fix carried out, and
//! memories that lead elsewhere.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use crate::cli::harness::{Place, Ran};

const FIXES: &str = ".aye/memory/learned/fixes.yaml";

const SKILL: &str = "
name: s
steps:
  - { name: one, command: cat, args: [missing], on_error: continue }
  - { name: two, command: cat, args: [missing], on_error: continue }
";

/// A fix as a repository would ship it: agreed to, verified, by a person.
fn shipped(id: &str, command: &str) -> String {
    format!(
        "fixes:
  - id: {id}
    match: {{tool: cat, error: No such file}}
    do: {{first: {{command: [sh, -c, '{command}']}}}}
    from: {{kind: person, by: root, at: 2026-11-02T09:00:00Z}}
    agreed: {{by: root, at: 2026-11-02T09:00:00Z}}
    confidence: 1.0
    max_uses: 1
    verified: 99
"
    )
}

fn place() -> Place {
    let place = Place::new();
    place.write("aye.toml", "");
    place.write("skills/s.yaml", SKILL);
    place
}

fn run(place: &Place) -> Ran {
    place.aye(&["run", "s", "--no-input"])
}

fn fixes(place: &Place) -> Vec<Value> {
    let listed = place.aye(&["memory", "list", "fixes", "--json"]).ok().json();
    listed["fixes"].as_array().expect("a list").clone()
}

/// The full id of the only fix.
fn only(place: &Place) -> String {
    let [fix] = &fixes(place)[..] else { panic!("not one fix: {:?}", fixes(place)) };
    fix["id"].as_str().expect("an id").to_owned()
}

fn was_done(place: &Place, name: &str) -> bool {
    place.work().join(name).exists()
}

#[test]
fn a_repository_cannot_agree_for_you() {
    // What was learned before ids were digests, as well as what looks new.
    for id in ["fix-1a2b3c4d".to_owned(), format!("fix-{}", "ab".repeat(32))] {
        let place = place();
        place.write(FIXES, &shipped(&id, "touch owned"));
        let ran = run(&place);
        assert!(!was_done(&place, "owned"), "{}", ran.all());
        assert_eq!(fixes(&place)[0]["standing"], "proposed");
        // Said once, with what to do, though two steps fail the same way.
        assert_eq!(ran.all().matches("aye memory agree fix-").count(), 1, "{}", ran.all());
    }
}

#[test]
fn an_agreement_is_to_the_content_in_this_project_on_this_machine() {
    let place = place();
    place.write(FIXES, &shipped("fix-1a2b3c4d", "touch reviewed"));
    let id = only(&place);
    place.aye(&["memory", "agree", &id, "--yes"]).ok();
    run(&place);
    assert!(was_done(&place, "reviewed"));
    // Pulled from git: everything is as it was but what is done.
    let pulled = place.read(FIXES).replace("touch reviewed", "touch owned");
    place.write(FIXES, &pulled);
    let ran = run(&place);
    assert!(!was_done(&place, "owned"), "{}", ran.all());
    assert!(ran.all().contains("aye memory agree fix-"), "{}", ran.all());
    // So does everything else that decides what is done, and when.
    let reviewed = shipped("fix-1a2b3c4d", "touch reviewed");
    let standing = |text: &str| {
        place.write(FIXES, text);
        fixes(&place)[0]["standing"].as_str().expect("a word").to_owned()
    };
    assert_eq!(standing(&reviewed), "active");
    for (old, new) in [
        ("tool: cat", "tool: sh"),
        ("error: No such file", "error: directory"),
        ("max_uses: 1", "max_uses: 1000"),
        ("first:", "replace:"),
        ("[sh,", "[bash,"),
    ] {
        let changed = reviewed.replace(old, new);
        assert_ne!(changed, reviewed);
        assert_eq!(standing(&changed), "proposed", "{new}");
    }
    // The order of keys and how often it helped decide nothing.
    let told = reviewed.replace("verified: 99", "verified: 3");
    let turned = told.replace("tool: cat, error: No such file", "error: No such file, tool: cat");
    assert_ne!(turned, told);
    assert_eq!(standing(&turned), "active");
    // The same file in another project, and with another home.
    let elsewhere = self::place();
    elsewhere.write(FIXES, &reviewed);
    let home = place.home();
    let list = ["memory", "list", "fixes", "--json", "--home", home.to_str().expect("text")];
    assert_eq!(elsewhere.aye(&list).ok().json()["fixes"][0]["standing"], "proposed");
    let list = ["memory", "list", "fixes", "--json", "--home", "other-home"];
    assert_eq!(place.aye(&list).ok().json()["fixes"][0]["standing"], "proposed");
}

#[test]
fn nobody_agrees_without_having_seen_it() {
    let place = place();
    place.write(FIXES, &shipped("fix-1a2b3c4d", "touch owned"));
    let id = only(&place);
    assert_eq!(id.len(), "fix-".len() + 64);
    let agree = |id: &str, more: &[&str]| place.aye(&[&["memory", "agree", id][..], more].concat());
    // No terminal is not yes; and a script says what it has reviewed.
    let unattended = agree(&id, &[]);
    assert_eq!(unattended.code, 6, "{}", unattended.all());
    for short in ["fix-1a2b3c4d", &id[..12], "fix-"] {
        let refused = agree(short, &["--yes"]);
        assert_eq!(refused.code, 2, "{}", refused.all());
        assert!(refused.stderr.contains("the full id"), "{}", refused.all());
    }
    // Consent is not a setting.
    let mut command = place.command(&["memory", "agree", &id]);
    let output = command.env("AYE_YES", "1").output().expect("it runs");
    assert_eq!(output.status.code(), Some(6));
    assert_eq!(fixes(&place)[0]["standing"], "proposed");
    // What was reviewed is not there any more.
    place.write(FIXES, &shipped("fix-1a2b3c4d", "touch other"));
    assert_eq!(agree(&id, &["--yes"]).code, 3);
    // What is agreed to is shown whole all the same.
    place.write(FIXES, &shipped("fix-1a2b3c4d", "touch owned"));
    let agreed = agree(&id, &["--yes"]).ok();
    for part in ["fix-DIGEST", "tool cat", "No such file", "sh -c 'touch owned'"] {
        assert!(agreed.all().contains(part), "{part}: {}", agreed.all());
    }
    let kept = place.home().join("memory/agreed.yaml");
    assert_eq!(mode(&kept), 0o600);
    // Forgetting takes the agreement back: the next pull brings the fix again.
    place.aye(&["memory", "forget", &id]).ok();
    place.write(FIXES, &shipped("fix-1a2b3c4d", "touch owned"));
    assert_eq!(fixes(&place)[0]["standing"], "proposed");
}

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

/// The repository names its entry like the fix that you have agreed to.
#[test]
fn a_name_in_a_file_is_nobodys_name() {
    let place = place();
    let learn = ["memory", "learn", "--json", "--everywhere", "--error", "No such file"];
    let learn = [&learn[..], &["--tool", "cat", "--", "touch", "mine"]].concat();
    let learned = place.aye(&learn).ok().json();
    let mine = learned["id"].as_str().expect("an id").to_owned();
    place.write(FIXES, &shipped(&mine, "touch owned"));
    let all = fixes(&place);
    assert_eq!(all.len(), 2, "{all:?}");
    let ran = run(&place);
    assert!(!was_done(&place, "owned"), "{}", ran.all());
    assert!(was_done(&place, "mine"), "it hides nothing either: {}", ran.all());
    // The name means the content that has it.
    let shown = place.aye(&["memory", "show", &mine, "--json"]).ok().json();
    assert_eq!(shown["do"]["first"]["command"][0], "touch");
    place.aye(&["memory", "forget", &mine]).ok();
    let [theirs] = &fixes(&place)[..] else { panic!("one is left") };
    assert_eq!(theirs["standing"], "proposed");
    // A beginning that stands for several says so.
    let text = shipped("fix-1", "touch a") + &shipped("fix-2", "touch b").replace("fixes:\n", "");
    place.write(FIXES, &text);
    let several = place.aye(&["memory", "show", "fix-"]);
    assert_eq!(several.code, 2, "{}", several.all());
    let several = place.aye(&["memory", "forget", "fix-"]);
    assert_eq!(several.code, 2, "{}", several.all());
    assert_eq!(fixes(&place).len(), 2);
}

#[test]
fn what_a_person_teaches_is_agreed_here_and_proposed_to_everybody_else() {
    let place = place();
    let learn = ["memory", "learn", "--shared", "--error", "No such file", "--tool", "cat"];
    place.aye(&[&learn[..], &["--", "touch", "taught"]].concat()).ok();
    run(&place);
    assert!(was_done(&place, "taught"));
    fs::remove_file(place.work().join("taught")).expect("it is there");
    // A colleague gets the file through git.
    let ran = place.aye(&["run", "s", "--no-input", "--home", "colleague"]);
    assert!(!was_done(&place, "taught"), "{}", ran.all());
    assert!(ran.all().contains("aye memory agree fix-"), "{}", ran.all());
}

#[test]
fn what_was_agreed_to_before_in_your_own_memory_stays() {
    let place = place();
    let own = place.home().join("memory/learned/fixes.yaml");
    fs::create_dir_all(own.parent().expect("a directory")).expect("made");
    let old = shipped("fix-1a2b3c4d", "touch mine");
    let write = |text: &str| fs::write(&own, text).expect("written");
    let standing = || fixes(&place)[0]["standing"].as_str().expect("a word").to_owned();
    write(&old);
    assert_eq!(standing(), "active");
    run(&place);
    assert!(was_done(&place, "mine"));
    // The old name stays a name.
    place.aye(&["memory", "show", "fix-1a2b3c4d"]).ok();
    let agreed = "    agreed: {by: root, at: 2026-11-02T09:00:00Z}\n";
    write(&old.replace("kind: person", "kind: assistant"));
    assert_eq!(standing(), "active");
    write(&old.replace("kind: person", "kind: assistant").replace(agreed, ""));
    assert_eq!(standing(), "proposed");
    // What has a new name was written by a program that keeps agreements.
    write(&old.replace("fix-1a2b3c4d", &format!("fix-{}", "0".repeat(64))));
    assert_eq!(standing(), "proposed");
    write(&old);
    place.aye(&["memory", "forget", "fix-1a2b3c4d"]).ok();
    assert!(fixes(&place).is_empty());
}

/// Every name below `.aye/memory` that Aye writes to, made a link.
#[test]
fn a_linked_memory_is_not_written_through() {
    let links: [(&str, &str, bool); 6] = [
        (".aye", "aye", true),
        (".aye/memory", "memory", true),
        (".aye/memory/learned", "learned", true),
        (FIXES, "fixes", false),
        (".aye/memory/.lock", "lock", false),
        (".aye/memory/learned/fixes.yaml.new", "draft", false),
    ];
    for (link, name, directory) in links {
        for dangling in [false, true] {
            let place = place();
            let outside = place.path().join("outside");
            fs::create_dir_all(&outside).expect("made");
            let target = outside.join(name);
            match (dangling, directory) {
                (true, _) => {}
                (false, true) => fs::create_dir_all(target.join("memory")).expect("made"),
                (false, false) => fs::write(&target, "# precious\n").expect("written"),
            }
            let before = tree(&outside);
            let link = place.work().join(link);
            fs::create_dir_all(link.parent().expect("a directory")).expect("made");
            symlink(&target, &link).expect("a link");
            let learn = ["memory", "learn", "--shared", "--error", "No such file", "--tool", "cat"];
            let ran = place.aye(&[&learn[..], &["--", "touch", "x"]].concat());
            assert_eq!(tree(&outside), before, "{name}, dangling: {dangling}: {}", ran.all());
            assert!(link.is_symlink(), "{name}: {}", ran.all());
            assert_eq!(ran.code, 1, "{name}: {}", ran.all());
            assert!(ran.stderr.contains("is a symbolic link"), "{name}: {}", ran.all());
            assert!(ran.stderr.contains("hint: "), "{name}: {}", ran.all());
            let note = ["memory", "learn", "--shared", "--error", "No such file", "--fix", "x"];
            let ran = place.aye(&note);
            assert_eq!(tree(&outside), before, "{name}: {}", ran.all());
        }
    }
}

/// What a hard link shares stays as it was.
#[test]
fn a_file_that_has_another_name_elsewhere_is_replaced_not_changed() {
    for name in ["fixes.yaml", "fixes.yaml.new"] {
        let place = place();
        let precious = place.path().join("precious.yaml");
        fs::write(&precious, "fixes: []\n").expect("written");
        let inside = place.work().join(".aye/memory/learned").join(name);
        fs::create_dir_all(inside.parent().expect("a directory")).expect("made");
        fs::hard_link(&precious, &inside).expect("a link");
        let learn = ["memory", "learn", "--shared", "--error", "No such file", "--tool", "cat"];
        place.aye(&[&learn[..], &["--", "touch", "x"]].concat()).ok();
        assert_eq!(fs::read_to_string(&precious).expect("it is there"), "fixes: []\n", "{name}");
        assert_eq!(fixes(&place).len(), 1, "{name}");
    }
}

/// A run that cannot keep what it learned says so, with what to do.
#[test]
fn a_run_says_that_a_linked_memory_was_not_written() {
    let place = place();
    let outside = place.path().join("outside");
    fs::create_dir_all(&outside).expect("made");
    fs::create_dir_all(place.work().join(".aye")).expect("made");
    symlink(&outside, place.work().join(".aye/memory")).expect("a link");
    place.write("skills/s.yaml", "name: s\nsteps: [{ name: a, command: cat, args: [x] }]\n");
    place.write("y", "");
    assert_eq!(run(&place).code, 1);
    let ran = place.aye(&["retry", "last", "--set", "1=y", "--remember"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.all().contains("is a symbolic link"), "{}", ran.all());
    assert!(ran.all().contains("rm "), "what to do: {}", ran.all());
    assert!(tree(&outside).is_empty());
}

/// Every file below a directory, with what is in it.
fn tree(directory: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory").flatten() {
        let path = entry.path();
        let name = path.to_string_lossy().into_owned();
        if path.is_dir() {
            found.push((name, "a directory".to_owned()));
            found.extend(tree(&path));
        } else {
            found.push((name, fs::read_to_string(&path).unwrap_or_default()));
        }
    }
    found.sort();
    found
}

/// A project in `work` whose only skill has this block, and a harmless one elsewhere.
fn block(place: &Place, code: &str) {
    let code = code.lines().map(|line| format!("      {line}\n")).collect::<String>();
    place.write("s.yaml", &format!("name: s\nsteps:\n  - name: note\n    compute: |\n{code}"));
}

#[test]
fn no_path_of_a_block_is_deeper_than_aye_can_write_and_read() {
    let place = Place::new();
    for parts in [33, 20_000, 100_000] {
        let code = format!("memory.update('w', '.'.join(['b'] * {parts}), 1)\nresult = 1\n");
        block(&place, &code);
        let ran = place.aye(&["run", "s.yaml", "--no-input"]);
        assert_eq!(ran.code, 1, "{parts}: {}", ran.all());
        assert!(ran.all().contains("has more than 32 parts"), "{}", ran.all());
    }
    // Nothing waits to be written, and nothing else is slower or broken for it.
    block(&place, "result = 1\n");
    place.aye(&["run", "s.yaml", "--no-input"]).ok();
    place.aye(&["memory", "list"]).ok();
    assert!(!place.work().join(".aye/memory/state/w.yaml").exists());
}

#[test]
fn a_pipe_in_place_of_the_lock_is_refused_and_not_waited_for() {
    let place = Place::new();
    let lock = place.work().join(".aye/memory/.lock");
    fs::create_dir_all(lock.parent().unwrap()).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&lock).status().unwrap().success());
    block(&place, "memory.write('ok', {'a': 1})\nresult = 1\n");
    let ran = place.aye(&["run", "s.yaml", "--no-input"]);
    assert!(ran.all().contains(".aye/memory/.lock"), "{}", ran.all());
    let imported = place.aye(&["memory", "import", ".aye/memory/.lock"]);
    assert!(imported.all().contains("it is not a regular file"), "{}", imported.all());
}

#[test]
fn a_link_of_the_project_shows_blocks_nothing_outside_of_it() {
    let place = Place::new();
    let outside = tempfile::TempDir::new().unwrap();
    fs::write(outside.path().join("kube.yaml"), "token: hunter2secret\n").unwrap();
    let state = place.work().join(".aye/memory/state");
    fs::create_dir_all(&state).unwrap();
    symlink(outside.path(), state.join("d")).unwrap();
    block(&place, "result = memory.read('d/kube')\n");
    let ran = place.aye(&["run", "s.yaml", "--no-input"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(!ran.all().contains("hunter2secret"), "{}", ran.all());
}

#[test]
fn a_secret_in_a_key_stays_out_of_the_journal() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\ninputs:\n  - { name: token, type: secret }\nsteps:\n  - name: note\n    \
         compute: |\n      memory.write('k-' + inputs['token'], {'t': 1})\n      result = 1\n",
    );
    place.aye(&["run", "s.yaml", "-i", "token=hunter2secret", "--no-input"]);
    let home = fs::read_dir(place.home()).unwrap();
    for file in home.map(|file| file.unwrap().path()).filter(|path| path.is_file()) {
        let bytes = fs::read(&file).unwrap();
        let found = bytes.windows(13).any(|bytes| bytes == b"hunter2secret");
        assert!(!found, "{}", file.display());
    }
}
