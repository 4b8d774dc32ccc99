//! The rules of part E2, "Learning", of the reference: each has its number.
//! 47 to 49, "Recovery text", are about compute blocks and templates.

use aye_runtime::memory::{
    Allowed, Change, Ending, Lesson, Level, Memory, Mistake, OriginKind, PreferenceQuery, Query,
    Rank, Scope, Standing,
};
use aye_runtime::memory::{NewChoice, NewIssue};
use serde_json::{Value, json};

use super::Outcome;
use super::sample::{
    FREE, asked, choice, day, fix, learn, memory, origin, plain, repair, seen, tried,
};

fn query<'a>(tool: &'a str, error: &'a str) -> Query<'a> {
    Query { tool, error, ..Query::default() }
}

#[test]
fn rule_3_always_remembers_the_option_that_was_chosen() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    let always = NewChoice { scope: Scope::Always, ..choice() };
    memory.remember_choice(&always, &plain)?;
    let found = memory.preference(&asked()).ok_or("nothing")?;
    // `cancel` stands first.
    assert_eq!((found.choice.as_str(), found.scope), ("proceed", Scope::Always));
    Ok(())
}

#[test]
fn rule_31_what_is_remembered_is_there_the_next_time_and_failures_are_errors() -> Outcome {
    let place = tempfile::tempdir()?;
    memory(place.path()).remember_choice(&choice(), &plain)?;
    memory(place.path()).remember_fix(fix("deploy", "manifest unknown"), &plain)?;
    let later = memory(place.path());
    assert!(later.preference(&asked()).is_some());
    assert!(later.fix_for(&query("deploy", "manifest unknown")).is_some());
    // A file where the directory should be: nobody is told that it was kept.
    let file = place.path().join("file");
    std::fs::write(&file, "")?;
    let nowhere = Memory::open(None, &file);
    assert!(nowhere.remember_choice(&choice(), &plain).is_err());
    Ok(())
}

#[test]
fn rule_32_always_on_stage_is_not_always_in_production() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    memory.remember_choice(&NewChoice { scope: Scope::Always, ..choice() }, &plain)?;
    let production = PreferenceQuery { environment: Some("production"), ..asked() };
    assert!(memory.preference(&asked()).is_some());
    assert_eq!(memory.preference(&production), None);
    // Nor can it be said there.
    let there = NewChoice { environment: Some("production"), ..choice() };
    let refused = memory.remember_choice(&there, &plain).err().ok_or("it was kept")?;
    assert!(refused.to_string().contains("always asks"), "{refused}");
    // Unless the user's own file says so in so many words.
    let file = place.path().join("user/learned/confirmations.yaml");
    let text = std::fs::read_to_string(&file)?;
    std::fs::write(&file, format!("{text}environments:\n  production: auto_proceed\n"))?;
    assert!(memory.preference(&production).is_some());
    // A project can make it stricter, and not looser.
    let project = place.path().join("project/.aye/memory/learned");
    std::fs::create_dir_all(&project)?;
    let rules = "environments:\n  production: always_ask\n  test: auto_proceed\n";
    std::fs::write(project.join("confirmations.yaml"), rules)?;
    assert_eq!(memory.preference(&production), None);
    let test = PreferenceQuery { environment: Some("test"), ..asked() };
    assert_eq!(memory.preference(&test), None);
    Ok(())
}

#[test]
fn rule_32_what_was_chosen_is_kept_with_its_history() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    memory.remember_choice(&choice(), &plain)?;
    let other = NewChoice { choice: "cancel", now: day(2), ..choice() };
    let kept = memory.remember_choice(&other, &plain)?;
    let chosen: Vec<_> = kept.history.iter().map(|one| (one.choice.as_str(), one.at)).collect();
    assert_eq!(chosen, [("proceed", day(0)), ("cancel", day(2))]);
    assert_eq!(memory.preferences().len(), 1);
    for number in 3..30 {
        memory.remember_choice(&NewChoice { now: day(number), ..choice() }, &plain)?;
    }
    assert_eq!(memory.preferences()[0].value.history.len(), 10);
    Ok(())
}

#[test]
fn rule_33_nothing_is_remembered_unless_allowed_and_never_what_destroys() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    for allowed in [
        Allowed::default(),
        Allowed { destructive: true, ..FREE },
        Allowed { guarded: true, ..FREE },
    ] {
        let new = NewChoice { allowed, ..choice() };
        assert!(memory.remember_choice(&new, &plain).is_err(), "{allowed:?}");
    }
    assert!(!place.path().join("user").exists());
    // What was remembered before the step became destructive is not used.
    memory.remember_choice(&choice(), &plain)?;
    let destructive = PreferenceQuery { allowed: Allowed { destructive: true, ..FREE }, ..asked() };
    assert_eq!(memory.preference(&destructive), None);
    Ok(())
}

#[test]
fn rule_34_answers_expire_are_listed_forgotten_and_shown_with_their_day() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    let kept = memory.remember_choice(&choice(), &plain)?;
    assert_eq!(kept.expires, day(30));
    assert!(memory.preference(&PreferenceQuery { now: day(29), ..asked() }).is_some());
    assert_eq!(memory.preference(&PreferenceQuery { now: day(30), ..asked() }), None);
    assert_eq!(memory.preferences().len(), 1);
    assert_eq!(kept.sentence(Some("Proceed")), "ana chose Proceed for this step on 2026-11-02");
    memory.forget(&kept.id)?;
    assert_eq!(memory.preference(&asked()), None);
    assert!(memory.forget(&kept.id).is_err());
    Ok(())
}

#[test]
fn rule_35_a_value_that_is_not_offered_any_more_is_ignored() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    memory.remember_choice(&choice(), &plain)?;
    let changed = PreferenceQuery { offered: &["cancel", "go"], ..asked() };
    assert_eq!(memory.preference(&changed), None);
    // Nor is one remembered that was never offered.
    let forged = NewChoice { choice: "__ALWAYS__", ..choice() };
    assert!(memory.remember_choice(&forged, &plain).is_err());
    Ok(())
}

#[test]
fn rule_36_an_edited_question_is_asked_again() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    for scope in [Scope::Step, Scope::Skill, Scope::Always] {
        memory.remember_choice(&NewChoice { scope, ..choice() }, &plain)?;
    }
    assert_eq!(memory.preference(&PreferenceQuery { digest: "changed", ..asked() }), None);
    Ok(())
}

#[test]
fn rule_37_scopes_are_error_step_skill_and_always() -> Outcome {
    let error = "Error: image abc1234f not found";
    for (scope, reaches) in [
        (Scope::Error, [true, false, false, false]),
        (Scope::Step, [true, true, false, false]),
        (Scope::Skill, [true, true, true, false]),
        (Scope::Always, [true, true, true, true]),
    ] {
        let place = tempfile::tempdir()?;
        let memory = memory(place.path());
        let new = NewChoice { scope, error: Some(error), ..choice() };
        memory.remember_choice(&new, &plain)?;
        // The same error with another hash.
        let here = PreferenceQuery { error: Some("Error: image 99ffee11 not found"), ..asked() };
        let other = PreferenceQuery { error: Some("Error: out of memory"), ..here };
        let step = PreferenceQuery { step: "other", ..here };
        let skill = PreferenceQuery { skill: "other", ..here };
        let found = [here, other, step, skill].map(|query| memory.preference(&query).is_some());
        assert_eq!(found, reaches, "{scope:?}");
    }
    Ok(())
}

#[test]
fn rule_37_of_several_the_narrowest_counts() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    memory.remember_choice(&NewChoice { scope: Scope::Always, ..choice() }, &plain)?;
    memory.remember_choice(&NewChoice { choice: "cancel", ..choice() }, &plain)?;
    let found = memory.preference(&asked()).ok_or("nothing")?;
    assert_eq!((found.scope, found.choice.as_str()), (Scope::Step, "cancel"));
    Ok(())
}

#[test]
fn rule_38_a_fix_is_data_that_is_applied_and_prose_is_only_shown() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    let id = memory.remember_fix(fix("deploy", "Error: manifest unknown: abc1234f"), &plain)?;
    let found =
        memory.fix_for(&query("deploy", "Error: manifest unknown: 77aa88bb")).ok_or("no")?;
    assert_eq!((&found.id, found.max_uses, found.verified), (&id, 1, 0));
    assert_eq!(found.change.args["image_tag"], "{{ args.image_tag | lower }}");
    tried(&memory, &id, true, 1)?;
    let found = memory.fix_for(&query("deploy", "manifest unknown: 1")).is_some();
    assert!(!found, "the pattern has the word `Error` in it");
    // Words like "connect" and "author" in prose do nothing.
    let mut prose = fix("oc", "author is unknown");
    prose.change = Change::default();
    prose.about = Some("connect the VPN, log in and ask the author".into());
    let id = memory.remember_fix(prose, &plain)?;
    assert_eq!(memory.fix_for(&query("oc", "author is unknown")), None);
    let shown = memory.fixes_for(&query("oc", "author is unknown"));
    assert_eq!((shown[0].value.id.as_str(), shown[0].value.standing()), (&*id, Standing::Prose));
    Ok(())
}

#[test]
fn rule_38_week_by_week_a_fix_is_used_and_suspended_when_it_stops_working() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    let error = query("oc", "error: token expired at 2026-11-02T10:00:00Z");
    let mut new = fix("oc", error.error);
    new.change = repair(&["oc", "login"]);
    let id = memory.remember_fix(new.clone(), &plain)?;
    let week_2 = query("oc", "error: token expired at 2026-11-09T11:22:33Z");
    assert!(memory.fix_for(&week_2).is_some());
    tried(&memory, &id, true, 7)?;
    assert!(memory.fix_for(&query("oc", "error: no such namespace")).is_none());
    assert!(!tried(&memory, &id, false, 21)?);
    assert!(memory.fix_for(&week_2).is_some());
    assert!(tried(&memory, &id, false, 22)?);
    assert_eq!(memory.fix_for(&week_2), None);
    let shown = &memory.fixes_for(&week_2)[0].value;
    assert_eq!((shown.verified, shown.last_success), (1, Some(day(7))));
    assert_eq!((shown.standing(), shown.suspended), (Standing::Suspended, Some(day(22))));
    memory.agree_to_fix(&memory.find_fix(&id)?, "bob", day(23))?;
    assert!(memory.fix_for(&week_2).is_some());
    Ok(())
}

#[test]
fn rule_38_what_an_assistant_proposes_waits_and_replaces_nothing() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    let mine = memory.remember_fix(fix("deploy", "manifest unknown"), &plain)?;
    let mut proposal = fix("deploy", "manifest unknown");
    proposal.change = repair(&["podman", "login"]);
    proposal.from = origin(OriginKind::Assistant);
    let theirs = memory.remember_fix(proposal.clone(), &plain)?;
    assert_ne!(mine, theirs);
    let found = memory.fix_for(&query("deploy", "manifest unknown")).ok_or("none")?;
    assert_eq!(found.id, mine);
    memory.forget(&mine)?;
    assert_eq!(memory.fix_for(&query("deploy", "manifest unknown")), None);
    memory.agree_to_fix(&memory.find_fix(&theirs)?, "ana", day(1))?;
    assert!(memory.fix_for(&query("deploy", "manifest unknown")).is_some());
    // Proposing it again takes no agreement back and gives none.
    memory.remember_fix(proposal, &plain)?;
    let found = memory.fix_for(&query("deploy", "manifest unknown")).ok_or("none")?;
    assert_eq!(found.agreed.map(|agreed| agreed.by), Some("ana".to_owned()));
    Ok(())
}

#[test]
fn rule_39_known_issues_are_found_before_a_run_by_family_and_tag() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    let note = |pattern: &str, tool: Option<&str>, tag: Option<&str>| {
        let new = NewIssue {
            pattern: pattern.into(),
            tools: tool.map(str::to_owned).into_iter().collect(),
            meaning: Some("so it is".into()),
            tags: tag.map(str::to_owned).into_iter().collect(),
            ..NewIssue::default()
        };
        memory.note_issue(&new, &plain)
    };
    for number in 0..3 {
        note(&format!("trouble {number}"), Some("bonfire_deploy"), None)?;
        note(&format!("problem {number}"), None, Some("git"))?;
        note(&format!("mishap {number}"), Some("oc"), None)?;
    }
    assert_eq!(memory.issues_before(&["bonfire"]).len(), 2);
    assert_eq!(memory.issues_before(&["git.push", "git.pull"]).len(), 2);
    assert_eq!(memory.issues_before(&["bonfire_deploy", "git.push", "oc"]).len(), 5);
    assert_eq!(memory.issues_before(&["curl"]).len(), 0);
    Ok(())
}

#[test]
fn rule_40_a_fix_needs_its_tool_and_its_pattern_and_issues_are_ranked() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    memory.remember_fix(fix("deploy", "manifest unknown"), &plain)?;
    assert!(memory.fix_for(&query("deploy", "manifest unknown")).is_some());
    assert!(memory.fix_for(&query("deploy", "quota exceeded")).is_none());
    assert!(memory.fix_for(&query("other", "manifest unknown")).is_none());
    for (pattern, tools) in [
        ("unknown", vec![]),
        ("manifest", vec!["bonfire"]),
        ("manifest unknown", vec!["bonfire.up"]),
    ] {
        let tools = tools.into_iter().map(str::to_owned).collect();
        let new = NewIssue { pattern: pattern.into(), tools, ..NewIssue::default() };
        memory.note_issue(&new, &plain)?;
    }
    let ranks: Vec<Rank> = memory
        .known_issues(&query("bonfire.up", "manifest unknown"))
        .into_iter()
        .map(|(rank, _)| rank)
        .collect();
    assert_eq!(ranks, [Rank::Tool, Rank::Family, Rank::Pattern]);
    assert!(memory.known_issues(&query("bonfire.up", "all is well")).is_empty());
    Ok(())
}

#[test]
fn rule_40_a_fix_for_the_tool_comes_before_one_for_its_family() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    let family = memory.remember_fix(fix("bonfire", "manifest unknown"), &plain)?;
    let exact = memory.remember_fix(fix("bonfire.up", "manifest unknown"), &plain)?;
    for number in 1..=3 {
        tried(&memory, &family, true, number)?;
    }
    let found = memory.fix_for(&query("bonfire.up", "manifest unknown")).ok_or("none")?;
    assert_eq!(found.id, exact);
    Ok(())
}

#[test]
fn rule_41_swallowed_errors_are_learned_from_until_they_warn_and_block() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    let call = |hash: &str| json!({ "image_tag": hash });
    let level = |args: &Value| {
        let found = memory.check_before("deploy", args, &plain, day(0));
        found.first().map(|warning| warning.level)
    };
    let mut levels = Vec::new();
    for number in 0..100 {
        let (args, error) =
            (call("abc1234"), format!("Error: manifest unknown for image_tag in job {number}"));
        memory.saw_failure(&seen("deploy", &args, &error), &plain)?;
        levels.push(level(&call("fed4321")));
    }
    assert_eq!((levels[8], levels[9]), (None, Some(Level::Warn)));
    assert_eq!((levels[98], levels[99]), (Some(Level::Warn), Some(Level::Block)));
    assert_eq!(memory.usage().len(), 1);
    let warning = &memory.check_before("deploy", &call("fed4321"), &plain, day(0))[0];
    assert_eq!(
        (warning.mistake, warning.parameter.as_deref(), warning.sightings),
        (Mistake::Format, Some("image_tag"), 100)
    );
    insta::assert_snapshot!(warning.sentence(), @"this usually fails because a value is written the wrong way (`image_tag`): Error: manifest unknown for image_tag in job <n> (seen 100 times)");
    // A full hash is another matter, and so is another tool.
    assert_eq!(level(&call(&"abc1234d".repeat(5))), None);
    assert!(memory.check_before("other", &call("fed4321"), &plain, day(0)).is_empty());
    // Success never lowers it; being wrong and being idle do.
    let success = memory.success_lesson("deploy", &call("fed4321"), &plain).ok_or("nothing")?;
    learn(&memory, success, 1)?;
    assert_eq!(level(&call("fed4321")), Some(Level::Block));
    assert_eq!(memory.usage()[0].value.successes, 1);
    let pattern = memory.usage()[0].value.id.clone();
    learn(&memory, Lesson::WrongWarning { pattern }, 2)?;
    assert_eq!(level(&call("fed4321")), Some(Level::Warn));
    let much_later = memory.check_before("deploy", &call("fed4321"), &plain, day(200));
    assert!(much_later.is_empty());
    Ok(())
}

#[test]
fn rule_41_logins_and_networks_are_no_mistakes() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    let args = json!({});
    for error in ["401 Unauthorized", "dial tcp: connection refused", "it broke"] {
        let learned = memory.saw_failure(&seen("oc", &args, error), &plain)?;
        assert_eq!(learned, None, "{error}");
    }
    // A run that failed for good teaches nothing about how to avoid it.
    let failed = aye_runtime::memory::Seen {
        ending: Ending::Failed,
        ..seen("oc", &args, "unknown option --x")
    };
    assert_eq!(memory.saw_failure(&failed, &plain)?, None);
    assert_eq!((memory.failures().len(), memory.usage().len()), (4, 0));
    Ok(())
}

#[test]
fn rule_41_a_call_with_a_secret_is_known_again_without_it() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    let mask = |text: &str| text.replace("hunter2", "***");
    let args = json!({ "token": "hunter2", "branch": "topic" });
    for _ in 0..10 {
        memory.saw_failure(&seen("mr", &args, "it does not exist"), &mask)?;
    }
    assert_eq!(memory.check_before("mr", &args, &mask, day(0)).len(), 1);
    let text = std::fs::read_to_string(place.path().join("user/learned/usage.yaml"))?;
    assert!(!text.contains("hunter2"), "{text}");
    Ok(())
}

#[test]
fn rule_41_what_recovered_it_is_the_advice() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    let args = json!({ "branch": "topic" });
    for _ in 0..10 {
        let recovered = aye_runtime::memory::Seen {
            ending: Ending::Recovered,
            fix: Some("push the branch first"),
            ..seen("mr", &args, "branch topic does not exist")
        };
        memory.saw_failure(&recovered, &plain)?;
    }
    let warnings = memory.check_before("mr", &args, &plain, day(0));
    assert_eq!(warnings[0].advice.as_deref(), Some("push the branch first"));
    Ok(())
}
