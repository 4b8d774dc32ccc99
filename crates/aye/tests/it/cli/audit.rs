//! `aye audit`.

use insta::assert_snapshot;

use super::harness::Place;

fn filled() -> Place {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\nsteps:\n- {name: a, shell: echo a}\n- {name: b, shell: echo b}\n",
    );
    place.aye(&["run", "s.yaml"]).ok();
    place.aye(&["run", "s.yaml"]).ok();
    place
}

#[test]
fn a_journal_as_it_was_written_is_sound() {
    assert_snapshot!(Place::new().aye(&["audit"]).all(), @r"
    --- stderr
    error: there are no runs yet
    hint: start one with `aye run SKILL`
    --- exit 3
    ");
    let place = filled();
    assert_snapshot!(place.aye(&["audit"]).all(), @r"
    --- stdout
    ✓ 12 events of 2 runs, 4 logs: nothing was changed
    --- exit 0
    ");
    assert_snapshot!(place.aye(&["audit", "last"]).all(), @r"
    --- stdout
    ✓ 6 events of 1 run, 2 logs: nothing was changed
    --- exit 0
    ");
    assert_snapshot!(place.aye(&["audit", "last", "--json"]).all(), @r#"
    --- stdout
    {
      "runs": 1,
      "events": 6,
      "logs": 2,
      "unsealed": 0,
      "findings": []
    }
    --- exit 0
    "#);
}

#[test]
fn a_changed_event_is_named() {
    let place = filled();
    let run = place.last();
    let journal = place.journal_db();
    let sql =
        "UPDATE events SET body = replace(body, 'echo a', 'echo x') WHERE run = ?1 AND seq = 2";
    assert_eq!(journal.execute(sql, [&run]).unwrap(), 1);
    drop(journal);
    let ran = place.aye(&["audit"]);
    assert!(ran.stdout.contains(&format!("event 2 (`step_started`) of run `{run}` was changed")));
    assert_snapshot!(ran.all(), @r"
    --- stdout
    ✗ event 2 (`step_started`) of run `RUN` was changed
    12 events of 2 runs, 4 logs: 1 finding
    --- exit 1
    ");
    assert_snapshot!(place.aye(&["audit", "--json"]).all(), @r#"
    --- stdout
    {
      "runs": 2,
      "events": 12,
      "logs": 4,
      "unsealed": 0,
      "findings": [
        "event 2 (`step_started`) of run `RUN` was changed"
      ]
    }
    --- exit 1
    "#);
}

#[test]
fn a_missing_event_is_named() {
    let place = filled();
    let journal = place.journal_db();
    let deleted = journal.execute("DELETE FROM events WHERE run = ?1 AND seq = 3", [&place.last()]);
    assert_eq!(deleted.unwrap(), 1);
    drop(journal);
    assert_snapshot!(place.aye(&["audit", "last"]).all(), @r"
    --- stdout
    ✗ events 3 to 3 of run `RUN` are missing
    5 events of 1 run, 1 log: 1 finding
    --- exit 1
    ");
}
