//! What matches and what does not, in whole files.

use aye_runtime::memory::Query;

use super::Outcome;
use super::sample::memory;

#[test]
fn words_are_whole_in_issues_too() -> Outcome {
    let place = tempfile::tempdir()?;
    let directory = place.path().join("user/learned");
    std::fs::create_dir_all(&directory)?;
    let text =
        "issues:\n  - {pattern: \"403\"}\n  - {pattern: eof}\n  - {pattern: \"/exit (7|9)$/\"}\n";
    std::fs::write(directory.join("patterns.yaml"), text)?;
    let memory = memory(place.path());
    let count =
        |error| memory.known_issues(&Query { tool: "git", error, ..Query::default() }).len();
    assert_eq!(count("MR !1403 not found"), 0);
    assert_eq!(count("typeof x"), 0);
    assert_eq!(count("HTTP 403"), 1);
    assert_eq!(count("unexpected EOF"), 1);
    assert_eq!(count("exit 7"), 1);
    assert_eq!(count("exit 77"), 0);
    assert!(memory.problems().is_empty());
    Ok(())
}

#[test]
fn a_fix_of_a_step_is_for_that_step_of_that_skill() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    let mut new = super::sample::fix("deploy", "manifest unknown");
    (new.skill, new.step) = (Some("release".into()), Some("push".into()));
    memory.remember_fix(new, &super::sample::plain)?;
    let query = |skill, step| {
        let error = "manifest unknown";
        Query { tool: "deploy", skill: Some(skill), step: Some(step), error, args: None }
    };
    assert!(memory.fix_for(&query("release", "push")).is_some());
    assert!(memory.fix_for(&query("release", "pull")).is_none());
    assert!(memory.fix_for(&query("other", "push")).is_none());
    Ok(())
}

#[test]
fn an_error_that_says_nothing_cannot_be_remembered() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    for error in ["", "1", "\n\n", "'x' 12"] {
        let new = super::sample::fix("deploy", error);
        assert!(memory.remember_fix(new, &super::sample::plain).is_err(), "{error:?}");
    }
    Ok(())
}
