//! The files: readable, forgiving, and never spoilt.

use aye_runtime::memory::{Keep, Layer, Memory, NewIssue, Query};
use serde_json::json;

use super::Outcome;
use super::sample::{choice, day, fix, memory, plain, repair, seen, tried};

fn write(place: &std::path::Path, name: &str, text: &str) -> std::io::Result<()> {
    let path = place.join(name);
    std::fs::create_dir_all(path.parent().expect("it has one"))?;
    std::fs::write(path, text)
}

#[test]
fn looking_makes_no_file() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    let query = Query { tool: "x", error: "not found", ..Query::default() };
    assert!(memory.known_issues(&query).is_empty());
    assert!(memory.fix_for(&query).is_none());
    assert!(memory.check_before("x", &json!({}), &plain, day(0)).is_empty());
    assert!(memory.success_lesson("x", &json!({}), &plain).is_none());
    assert!(memory.problems().is_empty());
    assert_eq!(std::fs::read_dir(place.path())?.count(), 0);
    Ok(())
}

#[test]
fn a_fix_is_yaml_that_people_can_read() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    let mut new = fix("bonfire.deploy", "Error: manifest unknown: abc1234f");
    new.about = Some("tags are lower case".into());
    new.keep = Keep::Shared;
    let id = memory.remember_fix(new, &plain)?;
    tried(&memory, &id, true, 7)?;
    let path = place.path().join("project/.aye/memory/learned/fixes.yaml");
    insta::assert_snapshot!(std::fs::read_to_string(path)?.replace(&id, "fix-ID"), @r#"
    # Kept by Aye: `aye memory` shows and forgets. Comments are not kept.
    fixes:
      - id: fix-ID
        match:
          tool: bonfire.deploy
          error: "Error: manifest unknown"
        do:
          args:
            image_tag: "{{ args.image_tag | lower }}"
        about: tags are lower case
        from:
          kind: person
          by: ana
          run: abcdefgh12
          at: 2026-11-02T00:00:00Z
        max_uses: 1
        verified: 1
        last_success: 2026-11-09T00:00:00Z
    taken_in: [abcdefgh12/7]
    "#);
    Ok(())
}

#[test]
fn a_malformed_entry_is_reported_with_its_line_and_the_others_work() -> Outcome {
    let place = tempfile::tempdir()?;
    let text = "auth:\n  - pattern: token expired\n    fix: log in\n  - meaning: no pattern\n\
                text: |\n  not a list\nerror:\n  - just text\n  - pattern: \"<n>\"\n  - pattern: disk full\n";
    write(place.path(), "user/learned/patterns.yaml", text)?;
    let memory = memory(place.path());
    let known: Vec<String> =
        memory.issues().iter().map(|issue| issue.value.pattern.to_string()).collect();
    assert_eq!(known, ["token expired", "disk full"]);
    let problems: Vec<String> = memory
        .problems()
        .iter()
        .map(|problem| format!("{}: {}", problem.line, problem.message))
        .collect();
    insta::assert_snapshot!(problems.join("\n"), @r#"
    4: this entry of `auth` is passed over: `pattern` is missing
    5: `text` should be a list: write `- …` below it
    8: this entry of `error` is passed over: invalid type: string "just text", expected a mapping
    9: the pattern `<n>` would match nearly everything: write at least 3 letters or digits
    "#);
    // Looking again does not say it again.
    memory.issues();
    assert_eq!(memory.problems().len(), 4);
    Ok(())
}

#[test]
fn what_aye_does_not_know_is_kept() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    let id = memory.remember_fix(fix("deploy", "manifest unknown"), &plain)?;
    let path = place.path().join("user/learned/fixes.yaml");
    let text = std::fs::read_to_string(&path)?;
    let text =
        text.replace("max_uses: 1", "max_uses: 3\n    ticket: OPS-12\n    wrong: [1, {a: b}]");
    let text = text.replace("tool: deploy", "tool: deploy\n      host: one");
    let text = text.replace("do:", "do:\n      note: mine");
    let text = text.replace("by: ana", "by: ana\n      mail: ana@example.org");
    std::fs::write(&path, format!("owner: us\n{text}  - no fix at all\n"))?;
    tried(&memory, &id, true, 1)?;
    assert!(std::fs::read_to_string(&path)?.contains("mail: ana@example.org"));
    memory.remember_fix(fix("deploy", "manifest unknown"), &plain)?;
    memory.remember_fix(fix("other", "quota exceeded"), &plain)?;
    let after = std::fs::read_to_string(&path)?;
    for kept in [
        "owner: us",
        "ticket: OPS-12",
        "a: b",
        "max_uses: 3",
        "- no fix at all",
        "host: one",
        "note: mine",
    ] {
        assert!(after.contains(kept), "{kept} is gone:\n{after}");
    }
    assert!(after.contains("verified: 1"), "{after}");
    assert_eq!(memory.fixes().len(), 2);
    Ok(())
}

#[test]
fn a_file_that_is_no_yaml_is_not_written_over() -> Outcome {
    let place = tempfile::tempdir()?;
    let broken = "fixes:\n  - id: [\n";
    write(place.path(), "user/learned/fixes.yaml", broken)?;
    let memory = memory(place.path());
    assert!(memory.fixes().is_empty());
    assert!(memory.problems()[0].to_string().contains("fixes.yaml:"));
    let error = memory.remember_fix(fix("deploy", "manifest unknown"), &plain);
    let error = error.err().ok_or("it was written")?;
    assert!(error.to_string().contains("fixes.yaml:"), "{error}");
    let path = place.path().join("user/learned/fixes.yaml");
    assert_eq!(std::fs::read_to_string(path)?, broken);
    Ok(())
}

#[test]
fn what_people_wrote_is_only_added_to_on_their_word() -> Outcome {
    let place = tempfile::tempdir()?;
    let text = "# ours\nauth:\n  - pattern: token expired  # daily\n    fix: log in\n";
    write(place.path(), "project/.aye/memory/learned/patterns.yaml", text)?;
    let memory = memory(place.path());
    let new = NewIssue {
        pattern: "disk full".into(),
        fix: Some("make room".into()),
        ..NewIssue::default()
    };
    memory.note_issue(&new, &plain)?;
    let path = place.path().join("project/.aye/memory/learned/patterns.yaml");
    let after = std::fs::read_to_string(path)?;
    assert_eq!(after, format!("{text}issues:\n  - pattern: disk full\n    fix: make room\n"));
    assert!(memory.note_issue(&new, &plain).is_err());
    let id = memory.issues()[0].value.id.clone();
    let error = memory.forget(&id).err().ok_or("it is gone")?;
    assert!(error.hint().is_some_and(|hint| hint.ends_with("patterns.yaml:3")), "{error:?}");
    Ok(())
}

#[test]
fn the_last_hundred_failures_are_kept() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    let args = json!({});
    for number in 0..130 {
        memory.saw_failure(&seen("x", &args, &format!("it broke: {number}")), &plain)?;
    }
    let failures = memory.failures();
    assert_eq!(failures.len(), 100);
    assert_eq!(failures[0].value.error, "it broke: 30");
    assert_eq!(failures[99].value.error, "it broke: 129");
    Ok(())
}

#[test]
fn secrets_never_enter_memory() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    let mask = |text: &str| text.replace("hunter2", "***");
    let args = json!({ "token": "hunter2", "list": ["x hunter2"] });
    for tool in ["a", "b"] {
        let mut failure = seen(tool, &args, "invalid value hunter2 for token\nhunter2");
        failure.fix = Some("used hunter2");
        failure.ending = aye_runtime::memory::Ending::Recovered;
        memory.saw_failure(&failure, &mask)?;
    }
    let mut new = fix("deploy", "manifest unknown: hunter2");
    new.about = Some("with hunter2".into());
    memory.remember_fix(new, &mask)?;
    let error = aye_runtime::memory::NewChoice {
        scope: aye_runtime::memory::Scope::Error,
        error: Some("it broke with hunter2"),
        ..choice()
    };
    memory.remember_choice(&error, &mask)?;
    let issue = NewIssue {
        pattern: "not hunter2".into(),
        meaning: Some("hunter2".into()),
        ..NewIssue::default()
    };
    memory.note_issue(&issue, &mask)?;
    // A fix that would need the secret is refused, not kept broken.
    let mut with_secret = fix("deploy", "another error");
    with_secret.change = repair(&["login", "--password=hunter2"]);
    assert!(memory.remember_fix(with_secret, &mask).is_err());
    let mut files = 0;
    for name in [
        "failures.yaml",
        "learned/fixes.yaml",
        "learned/usage.yaml",
        "learned/confirmations.yaml",
        "learned/patterns.yaml",
    ] {
        let text = std::fs::read_to_string(place.path().join("user").join(name))?;
        assert!(!text.contains("hunter2"), "{name}:\n{text}");
        files += 1;
    }
    assert_eq!(files, 5);
    Ok(())
}

#[test]
fn nothing_learned_can_steer_a_terminal_or_an_entry() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    let error = "invalid value \u{1b}[2J\u{202e}evil\nfixes:\n  - id: forged\r\n---\n";
    let args = json!({ "x": "\u{1b}]0;title\u{7}" });
    memory.saw_failure(&seen("x", &args, error), &plain)?;
    memory.remember_fix(fix("x", error), &plain)?;
    for name in ["failures.yaml", "learned/usage.yaml", "learned/fixes.yaml"] {
        let text = std::fs::read_to_string(place.path().join("user").join(name))?;
        let hidden = |c: char| c != '\n' && aye_core::diagnostic::is_hidden(c);
        assert!(!text.contains(hidden), "{name}:\n{text}");
    }
    assert_eq!(memory.fixes().len(), 1);
    assert!(memory.problems().is_empty());
    Ok(())
}

#[test]
fn the_projects_memory_comes_first_and_the_users_fixes_stay_in_their_project() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = memory(place.path());
    let error = "manifest unknown";
    let query = Query { tool: "deploy", error, ..Query::default() };
    let mine = here.remember_fix(fix("deploy", error), &plain)?;
    assert_eq!(here.fix_for(&query).map(|fix| fix.id), Some(mine.clone()));
    let elsewhere = Memory::open(Some(&place.path().join("elsewhere")), &place.path().join("user"));
    assert_eq!(elsewhere.fix_for(&query), None);
    let everywhere = aye_runtime::memory::NewFix { keep: Keep::Everywhere, ..fix("deploy", error) };
    let general = here.remember_fix(everywhere, &plain)?;
    assert_eq!(elsewhere.fix_for(&query).map(|fix| fix.id), Some(general));
    let shared = aye_runtime::memory::NewFix { keep: Keep::Shared, ..fix("deploy", error) };
    let ours = here.remember_fix(shared, &plain)?;
    let found = here.fixes_for(&query);
    assert_eq!((found[0].layer, &found[0].value.id), (Layer::Project, &ours));
    // From now on the project has a memory, and new fixes go there.
    here.remember_fix(fix("deploy", "quota exceeded"), &plain)?;
    let text =
        std::fs::read_to_string(place.path().join("project/.aye/memory/learned/fixes.yaml"))?;
    assert!(text.contains("quota exceeded"));
    Ok(())
}

#[test]
fn consent_is_never_taken_from_a_project() -> Outcome {
    let place = tempfile::tempdir()?;
    let theirs = Memory::open(None, &place.path().join("project/.aye/memory"));
    theirs.remember_choice(&choice(), &plain)?;
    let memory = memory(place.path());
    assert_eq!(memory.preferences().len(), 1);
    assert_eq!(memory.preference(&super::sample::asked()), None);
    Ok(())
}

#[test]
fn a_change_by_another_process_is_seen() -> Outcome {
    let place = tempfile::tempdir()?;
    let (one, other) = (memory(place.path()), memory(place.path()));
    assert_eq!(one.fixes().len(), 0);
    for number in 1..=5 {
        other.remember_fix(fix(&format!("tool{number}"), "manifest unknown"), &plain)?;
        assert_eq!(one.fixes().len(), number);
    }
    Ok(())
}

#[test]
fn the_users_memory_is_for_the_user_alone_and_the_projects_is_shared() -> Outcome {
    use std::os::unix::fs::PermissionsExt as _;
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    memory.remember_fix(fix("deploy", "manifest unknown"), &plain)?;
    let shared =
        aye_runtime::memory::NewFix { keep: Keep::Shared, ..fix("deploy", "manifest unknown") };
    memory.remember_fix(shared, &plain)?;
    let mode = |name: &str| -> std::io::Result<u32> {
        Ok(std::fs::metadata(place.path().join(name))?.permissions().mode() & 0o777)
    };
    assert_eq!(mode("user")?, 0o700);
    assert_eq!(mode("user/learned/fixes.yaml")?, 0o600);
    // As other files that are made here.
    let usual = place.path().join("usual");
    std::fs::write(&usual, "")?;
    assert_eq!(mode("project/.aye/memory/learned/fixes.yaml")?, mode("usual")?);
    // Someone's own choice stays.
    let path = place.path().join("user/learned/fixes.yaml");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640))?;
    memory.forget(&memory.fixes()[1].value.id)?;
    assert_eq!(mode("user/learned/fixes.yaml")?, 0o640);
    Ok(())
}

#[test]
fn a_file_is_never_written_that_could_not_be_read_again() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    memory.remember_fix(fix("deploy", "manifest unknown"), &plain)?;
    let mut large = fix("other", "manifest unknown");
    large.about = Some("x".repeat(1024 * 1024));
    let error = memory.remember_fix(large, &plain).err().ok_or("it was written")?;
    assert!(error.to_string().contains("would become unreadable"), "{error}");
    assert_eq!(memory.fixes().len(), 1);
    // Failures are cut to what fits, however large they are.
    let text = "invalid value ".repeat(100_000);
    let args: serde_json::Map<_, _> =
        (0..1000).map(|number| (format!("a{number}"), "x y ".repeat(1000).into())).collect();
    let args = serde_json::Value::Object(args);
    for number in 0..20 {
        memory.saw_failure(&seen(&format!("tool{number}"), &args, &text), &plain)?;
    }
    assert_eq!(memory.usage().len(), 20);
    assert!(memory.problems().is_empty());
    Ok(())
}

#[test]
fn a_file_that_is_a_link_stays_one() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    memory.remember_fix(fix("one", "manifest unknown"), &plain)?;
    let link = place.path().join("user/learned/fixes.yaml");
    let real = place.path().join("dotfiles.yaml");
    std::fs::rename(&link, &real)?;
    std::os::unix::fs::symlink(&real, &link)?;
    memory.remember_fix(fix("two", "manifest unknown"), &plain)?;
    assert!(link.is_symlink());
    let text = std::fs::read_to_string(&real)?;
    assert!(text.contains("one") && text.contains("two"), "{text}");
    Ok(())
}
