//! Derived rows are what the events make of them.

use rusqlite::Connection;
use rusqlite::types::Value;

use super::Outcome;
use super::sample::{Tale, open, populate, source};
use super::writer::Store;

type Rows = Vec<Vec<Value>>;

fn dump(store: &Store) -> Result<(Rows, Rows), rusqlite::Error> {
    let db = Connection::open(store.home().journal())?;
    let table = |name: &str| -> Result<Rows, rusqlite::Error> {
        let mut query = db.prepare(&format!("SELECT * FROM {name} ORDER BY n"))?;
        let width = query.column_count();
        query.query_map([], |row| (0..width).map(|column| row.get(column)).collect())?.collect()
    };
    Ok((table("runs")?, table("questions")?))
}

fn assert_same_after_rebuild(store: &mut Store) -> Outcome {
    let before = dump(store)?;
    assert!(!before.0.is_empty());
    let runs = store.rebuild()?;
    assert_eq!(runs, before.0.len() as u64);
    assert_eq!(dump(store)?, before);
    Ok(())
}

#[test]
fn rebuilt_rows_are_the_same() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    assert_eq!(store.rebuild()?, 0);
    populate(&mut store)?;
    assert_same_after_rebuild(&mut store)
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

#[test]
fn rebuilt_rows_are_the_same_whatever_happened() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for number in 0..60 {
        let mut tale = Tale::new(&format!("random-{number:04}"));
        store.start(&[tale.started()], &source())?;
        for _ in 0..dice.roll(12) {
            let events: Vec<_> = (0..1 + dice.roll(4))
                .map(|_| {
                    let question = u32::try_from(dice.roll(3)).unwrap_or(0);
                    match dice.roll(14) {
                        // Names of questions are never used twice.
                        0..3 => {
                            let number = u32::try_from(tale.seq).unwrap_or(0) + 3;
                            tale.asks_several(number, 1 + question)
                        }
                        3 => tale.paused(),
                        4 => tale.resumed(),
                        5 => tale.failed("x"),
                        6 => tale.completed(),
                        7 => tale.cancelled(),
                        8 => tale.refused(question),
                        9 => tale.held(3 + question, 5),
                        10 => tale.expired(3 + question),
                        11 => tale.answered(4 + question, "proceed", "ada"),
                        12 => tale.answered(4 + question, "cancel", "ada"),
                        _ => tale.step("y"),
                    }
                })
                .collect();
            store.append(&events, &[])?;
        }
    }
    store.audit(None, |finding| panic!("{finding}"))?;
    assert_same_after_rebuild(&mut store)
}
