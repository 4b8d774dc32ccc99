//! Answers about failures that are remembered.

use serde_json::Value;

use crate::cli::harness::{Place, Ran};

pub(crate) const SKILL: &str = "
name: sync
inputs: [{ name: job, required: true }, { name: kind, default: main }]
steps:
  - name: push
    shell: '[ -e fine ] || { echo \"Error: $(cat trouble 2>&- || echo quota) exceeded for $KIND job $JOB\" >&2; exit 3; }'
    env: { KIND: '{{ inputs.kind }}', JOB: '{{ inputs.job }}' }
    on_error: { ask: { remember: { any: [inputs.job, inputs.kind] } } }
  - { name: after, command: echo, args: [all-done] }
";

fn place(skill: &str) -> Place {
    let place = Place::new();
    place.write("sync.yaml", skill);
    place
}

fn run(place: &Place, job: &str, more: &[&str]) -> Ran {
    let job = format!("job={job}");
    place.aye(&[&["run", "sync.yaml", "-i", &job], more].concat())
}

fn question(place: &Place) -> String {
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    inbox[0]["question"].as_str().unwrap_or_else(|| panic!("{inbox}")).to_owned()
}

fn answer(place: &Place, more: &[&str]) -> Ran {
    place.aye(&[&["answer", &question(place)], more, &["--resume"]].concat())
}

fn preferences(place: &Place) -> Vec<Value> {
    let known = place.aye(&["memory", "list", "preferences", "--json"]).ok().json();
    known["preferences"].as_array().cloned().unwrap_or_default()
}

#[test]
fn an_answer_for_an_error_is_given_again_to_that_error_alone() {
    let place = place(SKILL);
    assert_eq!(run(&place, "17", &[]).code, 6);
    let ran = answer(&place, &["skip", "--remember"]).ok();
    let said = " for this error: this error of this step, with any `job`, `kind`, for 30 days";
    assert!(ran.all().contains(said), "{}", ran.all());

    // Another job with the same error: nobody is asked, and it is said why.
    let ran = run(&place, "23", &[]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.all().contains("chose Skip for this error on"), "{}", ran.all());
    assert!(ran.all().contains("`aye memory forget pref-"), "{}", ran.all());
    let shown = place.aye(&["show", "last"]).ok().stdout;
    assert!(shown.contains("memory: preference pref-"), "{shown}");
    assert!(shown.contains(" through memory after "), "{shown}");

    // What may be anything is not a part of the error, whatever it looks like.
    let ran = run(&place, "23", &["-i", "kind=feature-login"]);
    assert_eq!(ran.code, 0, "{}", ran.all());

    // Another error is asked about. Its answer stands beside the first.
    let trouble = place.write("trouble", "permission");
    assert_eq!(run(&place, "23", &[]).code, 6);
    assert_eq!(answer(&place, &["abort", "--remember", "error"]).code, 1);
    assert_eq!(preferences(&place).len(), 2, "{:?}", preferences(&place));
    assert_eq!(run(&place, "29", &[]).code, 1);
    std::fs::remove_file(trouble).unwrap();
    assert_eq!(run(&place, "29", &[]).code, 0);

    // Production is asked about each time, and what is forgotten is asked about again.
    assert_eq!(run(&place, "31", &["--environment", "production"]).code, 6);
    let refused = answer(&place, &["skip", "--remember"]);
    assert!(refused.stderr.contains("the answer counts, but"), "{}", refused.all());
    assert!(refused.stderr.contains("Aye always asks in `production`"), "{}", refused.all());
    assert!(!refused.stderr.contains("does not say"), "{}", refused.all());
    let id = preferences(&place)[0]["id"].as_str().unwrap().to_owned();
    assert!(place.aye(&["memory", "show", &id]).ok().stdout.contains("error"));
    place.aye(&["memory", "forget", &id]).ok();
    assert_eq!(run(&place, "37", &[]).code, 6);
    place.aye(&["audit"]).ok();
}

#[test]
fn a_retry_from_memory_is_tried_once() {
    let place = place(SKILL);
    assert_eq!(run(&place, "17", &[]).code, 6);
    assert_eq!(answer(&place, &["retry", "--remember", "step"]).code, 6, "it fails again");
    answer(&place, &["abort"]);
    // Memory has it tried again, and then a person is asked.
    let ran = run(&place, "23", &[]);
    assert_eq!(ran.code, 6, "{}", ran.all());
    let shown = place.aye(&["show", "last", "--json"]).ok().json();
    let recalled = shown["events"].as_array().unwrap().iter();
    let recalled = recalled.filter(|event| event["type"] == "memory_recalled").count();
    assert_eq!(recalled, 1, "{shown}");
    answer(&place, &["abort"]);
    // Any error of this step is covered: that is what `step` says.
    let ran = run(&place, "23", &["-i", "kind=permission"]);
    assert!(ran.all().contains("chose Retry for this step on"), "{}", ran.all());
    answer(&place, &["abort"]);
    // `done` is not for every error.
    assert_eq!(run(&place, "23", &[]).code, 6);
    let ran = answer(&place, &["done", "--remember", "always"]).ok();
    assert!(ran.all().contains(" for one error only: take `error`"), "{}", ran.all());
}

#[test]
fn a_skill_that_does_not_allow_it_and_a_step_that_destroys_are_asked_about_each_time() {
    let ask = "on_error: { ask: { remember: { any: [inputs.job, inputs.kind] } } }";
    let place = place(&SKILL.replace(ask, "on_error: ask"));
    assert_eq!(run(&place, "17", &[]).code, 6);
    let ran = answer(&place, &["skip", "--remember"]).ok();
    assert!(ran.stderr.contains("the answer counts, but"), "{}", ran.all());
    assert_eq!(run(&place, "17", &[]).code, 6);
    for more in ["destructive: true", "confirmation: { message: Sure? }"] {
        place.write("bad.yaml", &SKILL.replace(ask, &format!("{ask}\n    {more}")));
        let checked = place.aye(&["check", "bad.yaml"]);
        assert_eq!(checked.code, 2, "{}", checked.all());
        assert!(checked.all().contains("error[remember-refused]"), "{}", checked.all());
    }
}
