//! Attacks that remove whole runs, and prunes that only look like one.

use super::super::harness::Place;
use super::{REMOVE, attack, filled, found, journal, prune};

const ITEMS: &str = "name: items
steps:
- name: each
  foreach: [a, b]
  steps:
  - {name: note, shell: 'echo {{ item }} >> done'}
  - {name: go, confirm: 'Really?', condition: item == 'b'}
";

/// A run whose first item is done and whose second one waits.
fn half_done() -> (Place, String) {
    let place = filled();
    place.write("items.yaml", ITEMS);
    place.aye(&["run", "items.yaml", "--no-input"]);
    assert_eq!(place.read("done"), "a\nb\n");
    let run = place.last();
    (place, run)
}

#[test]
fn a_run_whose_inner_run_was_removed_is_not_taken_up() {
    let (place, run) = half_done();
    attack(&place, &REMOVE.replace("RUN", &format!("{run}_1_0")));
    let question = format!("{run}_1_1-1");
    for args in [&["resume", &run, "--no-input"][..], &["answer", &question, "yes", "--resume"]] {
        let refused = place.aye(args);
        assert_eq!(refused.code, 4, "{args:?}: {}", refused.all());
        let why =
            format!("the journal of run `{run}` is not what was written: 5 events are missing");
        assert!(refused.stderr.contains(&why), "{}", refused.all());
    }
    assert_eq!(place.read("done"), "a\nb\n", "nothing was done twice");
}

#[test]
fn what_was_pruned_meanwhile_is_not_taken_for_an_inner_run() {
    let (place, run) = half_done();
    place.aye(&["run", "s.yaml"]).ok();
    // The time in which it has runs inside it now spans the other run.
    assert_eq!(place.aye(&["resume", &run, "--no-input"]).code, 6);
    prune(&place);
    let gaps = "SELECT max(id) - count(*) FROM events WHERE id >= (SELECT min(id) FROM events)";
    let gaps: i64 = journal(&place).query_row(gaps, [], |row| row.get(0)).unwrap();
    assert!(gaps > 0, "the other run has left a gap");
    place.aye(&["answer", &format!("{run}_1_1-1"), "yes", "--resume"]).ok();
    assert_eq!(place.read("done"), "a\nb\n");
}

#[test]
fn a_run_removed_with_new_numbers_for_the_rest_shows_against_heads() {
    let place = filled();
    let removed = place.last();
    place.aye(&["run", "s.yaml"]).ok();
    place.write("heads", &place.aye(&["audit", "--head"]).ok().stdout);
    attack(&place, &REMOVE.replace("RUN", &removed));
    attack(&place, "UPDATE events SET id = id - 6; UPDATE runs SET n = n - 6");
    // The journal alone does not tell: docs/explanation/trust.md says so.
    assert_eq!(found(&place, &[]), Vec::<String>::new());
    let gone = format!("run `{removed}` is gone, and no entry says that it was pruned");
    assert_eq!(found(&place, &["--against", "heads"]), [gone]);
}

#[test]
fn a_retry_after_a_prune_that_got_stuck_is_not_an_attack() {
    let place = Place::new();
    place.write(
        "fails.yaml",
        "name: fails\nsteps:\n- {name: a, shell: echo a}\n- {name: b, shell: echo b; exit 3}\n",
    );
    place.aye(&["run", "fails.yaml", "--no-input"]);
    let run = place.last();
    attack(&place, "PRAGMA wal_checkpoint(TRUNCATE)");
    let before = place.path().join("before.db");
    std::fs::copy(place.home().join("journal.db"), &before).unwrap();
    prune(&place);
    // It stopped after the logs were removed, and before the rows were.
    attack(
        &place,
        &format!(
            "ATTACH '{}' AS before;
             INSERT INTO events SELECT * FROM before.events;
             INSERT INTO runs SELECT * FROM before.runs;
             INSERT INTO sources SELECT * FROM before.sources;",
            before.display()
        ),
    );
    assert_eq!(found(&place, &[]), Vec::<String>::new());
    assert_eq!(place.aye(&["retry", &run, "--no-input"]).code, 1);
    assert_eq!(found(&place, &[]), Vec::<String>::new(), "Aye itself removed the first logs");
    // Those that came after that are missed.
    std::fs::remove_file(place.home().join("logs").join(&run).join("0003-b.out")).unwrap();
    let missing =
        format!("the log of step `b` (start 3) of run `{run}` is missing: standard output");
    assert_eq!(found(&place, &[]), [missing]);
}
