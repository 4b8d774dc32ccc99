//! Attacks on single cells of the file, and on what the file is made of.

use super::super::harness::Place;
use super::{attack, filled, found, journal};

/// What an audit finds, in one text.
fn told(place: &Place) -> String {
    found(place, &[]).join("\n")
}

#[test]
fn one_bad_cell_is_a_finding_and_the_rest_is_audited() {
    for (attacked, named) in [
        (
            "UPDATE events SET hash = x'00' WHERE run = 'RUN' AND seq = 2",
            "event 2 (`step_started`)",
        ),
        ("UPDATE events SET seq = -5 WHERE run = 'RUN' AND seq = 2", "table `events`"),
        ("UPDATE events SET id = -5 WHERE run = 'RUN' AND seq = 2", "table `events`"),
        (
            "UPDATE events SET run = CAST(x'ff' AS TEXT) WHERE run = 'RUN' AND seq = 6",
            "ends with event 5",
        ),
        ("UPDATE events SET body = CAST(x'ff' AS TEXT) WHERE run = 'RUN' AND seq = 3", "event 3 "),
        ("UPDATE runs SET head = x'00' WHERE id = 'RUN'", "the row of run `RUN`"),
        ("UPDATE runs SET pid = -1 WHERE id = 'RUN'", "the row of run `RUN`"),
        ("UPDATE runs SET message = CAST(x'ff' AS TEXT) WHERE id = 'RUN'", "the row of run `RUN`"),
        ("UPDATE runs SET started = 9223372036854775807 WHERE id = 'RUN'", "the row of run `RUN`"),
        ("UPDATE questions SET missing = -1", "table `questions`"),
        ("UPDATE questions SET declines = '{'", "table `questions`"),
        ("UPDATE sources SET text = CAST(x'ff' AS TEXT)", "table `sources`"),
        ("UPDATE floor SET entries = -1", "table `floor`"),
        ("UPDATE floor SET head = x'00'", "table `floor`"),
        ("DELETE FROM floor", "table `floor`"),
        (
            "INSERT INTO pruned VALUES (-1, 'x', 0, 'x', -1, -1, x'', x'')",
            "entry 0 of the pruned runs",
        ),
    ] {
        let place = filled();
        place.aye(&["run", "asks.yaml", "--no-input"]);
        let run = place.last();
        place.aye(&["run", "s.yaml"]).ok();
        let other = place.last();
        assert_eq!(found(&place, &[]), Vec::<String>::new());
        attack(&place, &attacked.replace("RUN", &run));
        // What is wrong elsewhere is found all the same.
        let log = place.home().join("logs").join(&other).join("0001-short.out");
        std::fs::write(log, "x\n").unwrap();
        let told = told(&place);
        assert!(told.contains(&named.replace("RUN", &run)), "{attacked}: {told}");
        assert!(told.contains(&format!("of run `{other}` was changed")), "{attacked}: {told}");
    }
}

/// Changes the table in which SQLite keeps what there is.
fn attack_schema(place: &Place, sql: &str) {
    attack(place, &format!("PRAGMA writable_schema = ON; {sql}; PRAGMA writable_schema = OFF"));
}

#[test]
fn names_of_sqlites_own_hide_nothing() {
    let place = filled();
    attack_schema(
        &place,
        "CREATE TABLE notes (text TEXT);
         CREATE VIEW seen AS SELECT 1;
         CREATE TRIGGER quiet BEFORE INSERT ON events BEGIN SELECT RAISE(IGNORE); END;
         UPDATE sqlite_schema SET name = 'sqlite_notes', tbl_name = 'sqlite_notes',
             sql = 'CREATE TABLE sqlite_notes (text TEXT)' WHERE name = 'notes';
         UPDATE sqlite_schema SET name = 'sqlite_seen', tbl_name = 'sqlite_seen',
             sql = 'CREATE VIEW sqlite_seen AS SELECT 1' WHERE name = 'seen';
         UPDATE sqlite_schema SET name = 'sqlite_quiet', sql = 'CREATE TRIGGER sqlite_quiet
             BEFORE INSERT ON events BEGIN SELECT RAISE(IGNORE); END' WHERE name = 'quiet'",
    );
    // The trigger does not act.
    place.aye(&["run", "s.yaml"]).ok();
    assert_eq!(
        found(&place, &[]),
        [
            "table `sqlite_notes` in the file is not Aye's",
            "trigger `sqlite_quiet` in the file is not Aye's",
            "view `sqlite_seen` in the file is not Aye's",
        ]
    );
}

#[test]
fn an_index_that_leads_elsewhere_is_noticed() {
    let place = filled();
    place.aye(&["run", "asks.yaml", "--no-input"]);
    let page = |name: &str| -> i64 {
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        journal(&place).query_row(sql, [name], |row| row.get(0)).unwrap()
    };
    let (status, skill) = (page("runs_status"), page("runs_skill"));
    attack_schema(
        &place,
        &format!(
            "UPDATE sqlite_schema SET rootpage = {skill} WHERE name = 'runs_status';
             UPDATE sqlite_schema SET rootpage = {status} WHERE name = 'runs_skill'"
        ),
    );
    let told = told(&place);
    assert!(told.contains("missing from index runs_status"), "{told}");
}
