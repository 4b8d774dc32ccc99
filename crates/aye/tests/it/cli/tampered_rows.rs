//! Attacks on the rows that are made from the events: the events decide.

use super::harness::Place;
use super::tampering::{attack, filled, found, journal, prune};

/// A run that waits for a yes and then calls a tool of its project; the run.
fn waiting(place: &Place) -> String {
    let tool = |file| format!("[tools.notify]\ncommand = ['touch', '{file}']\n");
    place.write("aye.toml", &tool("mine"));
    place.write("../other/aye.toml", &tool("theirs"));
    place.write(
        "tells.yaml",
        "name: tells\nsteps:\n- {name: go, confirm: Really?}\n- {name: tell, tool: notify}\n",
    );
    place.aye(&["run", "tells.yaml", "--no-input"]);
    place.last()
}

#[track_caller]
fn refused(place: &Place, args: &[&str], run: &str, columns: &str) {
    let refused = place.aye(args);
    assert_eq!(refused.code, 4, "{args:?}: {}", refused.all());
    let why = format!(
        "the journal of run `{run}` is not what was written: \
         the row of run `{run}` does not agree with its events: {columns}\n"
    );
    assert!(refused.stderr.contains(&why), "{args:?}: {}", refused.all());
}

#[test]
fn a_run_whose_row_was_changed_is_not_taken_up() {
    let place = filled();
    let done = place.last();
    let run = waiting(&place);
    let question = format!("{run}-1");
    let other = place.path().join("other").display().to_string();
    let work = "SELECT workspace FROM runs WHERE id = ?1";
    let work: String = journal(&place).query_row(work, [&run], |row| row.get(0)).unwrap();
    let starter = "SELECT starter FROM runs WHERE id = ?1";
    let starter: String = journal(&place).query_row(starter, [&run], |row| row.get(0)).unwrap();
    for (columns, changed, before) in [
        ("workspace", format!("workspace = '{other}'"), format!("workspace = '{work}'")),
        ("parent", format!("parent = '{done}'"), "parent = NULL".to_owned()),
        ("starter", "starter = 'nobody'".to_owned(), format!("starter = '{starter}'")),
        (
            "concurrency, claim",
            "concurrency = 'deploy', claim = 0".to_owned(),
            "concurrency = NULL, claim = NULL".to_owned(),
        ),
    ] {
        attack(&place, &format!("UPDATE runs SET {changed} WHERE id = '{run}'"));
        let named = format!("the row of run `{run}` does not agree with its events: {columns}");
        assert_eq!(found(&place, &[]), [named]);
        refused(&place, &["resume", &run, "--no-input"], &run, columns);
        refused(&place, &["resume", &run, "--detach"], &run, columns);
        refused(&place, &["answer", &question, "yes", "--resume"], &run, columns);
        refused(&place, &["cancel", &run], &run, columns);
        attack(&place, &format!("UPDATE runs SET {before} WHERE id = '{run}'"));
    }
    place.aye(&["answer", &question, "yes", "--resume"]).ok();
    assert!(place.work().join("mine").exists());
    assert!(!place.work().join("theirs").exists());
    // One that has ended is not started again either.
    attack(&place, &format!("UPDATE runs SET status = 'paused', ended = NULL WHERE id = '{done}'"));
    refused(&place, &["resume", &done, "--no-input"], &done, "status, ended");
}

#[test]
fn a_failed_run_whose_row_was_changed_is_not_tried_again() {
    let place = filled();
    place.write("fails.yaml", "name: fails\nsteps:\n- {name: a, shell: exit 3}\n");
    place.aye(&["run", "fails.yaml", "--no-input"]);
    let run = place.last();
    let other = place.work().join("other");
    std::fs::create_dir(&other).unwrap();
    attack(
        &place,
        &format!("UPDATE runs SET workspace = '{}' WHERE id = '{run}'", other.display()),
    );
    refused(&place, &["retry", &run, "--no-input"], &run, "workspace");
}

#[test]
fn a_run_that_another_one_claims_is_not_pruned_with_it() {
    let place = filled();
    let done = place.last();
    let run = waiting(&place);
    attack(&place, &format!("UPDATE runs SET parent = '{done}' WHERE id = '{run}'"));
    prune(&place);
    let named = format!("the row of run `{run}` does not agree with its events: parent");
    assert_eq!(found(&place, &[]), [named]);
    attack(&place, &format!("UPDATE runs SET parent = NULL WHERE id = '{run}'"));
    assert_eq!(found(&place, &[]), Vec::<String>::new());
    place.aye(&["answer", &format!("{run}-1"), "yes", "--resume"]).ok();
}

#[test]
fn a_name_that_was_taken_from_a_run_is_noticed() {
    let place = filled();
    place.write(
        "one.yaml",
        "name: one\nconcurrency: deploy\nsteps:\n- {name: go, confirm: {message: Go?, timeout: 0}}\n",
    );
    place.aye(&["run", "one.yaml", "--no-input"]);
    let run = place.last();
    attack(&place, &format!("UPDATE runs SET concurrency = NULL, claim = NULL WHERE id = '{run}'"));
    let columns = "concurrency, claim";
    let named = format!("the row of run `{run}` does not agree with its events: {columns}");
    assert_eq!(found(&place, &[]), [named]);
    refused(&place, &["resume", &run, "--no-input"], &run, columns);
}
