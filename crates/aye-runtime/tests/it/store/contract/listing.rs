//! The index.

use aye_runtime::store::{Found, QuestionState, RunFilter, RunStatus};

use super::super::sample::Tale;
use super::{Kept, Place, begun, ensure};

pub(super) fn rows_follow(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let (mut tale, lease) = begun(&mut *store, "abcdefgh12")?;
    let reader = place.open();
    store.append(&lease, &[tale.step("build"), tale.asks(1)], &[])?;
    let row = reader.run(&tale.run)?.ok_or("no row")?;
    ensure!((row.status, row.waiting, row.last_seq) == (RunStatus::Running, 1, 3), "{row:?}");
    ensure!(row.skill == "release" && row.step.as_deref() == Some("gate1"), "{row:?}");
    let open = reader.open_questions()?;
    ensure!(open.len() == 1 && open[0].id == tale.question_id(1), "{open:?}");
    ensure!(reader.waiting_within(&tale.run)? == 1, "nothing waits");
    let mut inside = Tale::new("abcdefgh12_1");
    store.append(&lease, &[inside.started_in("abcdefgh12"), inside.asks(1)], &[])?;
    let waiting = (reader.waiting_within(&tale.run)?, reader.waiting_within(&inside.run)?);
    ensure!(waiting == (2, 1), "with a run inside: {waiting:?}");
    store.append(&lease, &[inside.answered(1, "proceed", "ada"), inside.completed()], &[])?;
    store.append(&lease, &[tale.answered(1, "proceed", "ada"), tale.completed()], &[])?;
    ensure!(reader.waiting_within(&tale.run)? == 0, "something waits");
    let asked = reader.asked(&tale.question_id(1))?.map(|question| question.message);
    ensure!(asked.as_deref() == Some("Release `abc`?"), "{asked:?}");
    ensure!(reader.asked(&tale.question_id(2))?.is_none(), "what was not asked");
    let row = reader.run(&tale.run)?.ok_or("no row")?;
    ensure!((row.status, row.waiting) == (RunStatus::Completed, 0), "{row:?}");
    ensure!(row.ended.is_some(), "{row:?}");
    ensure!(reader.open_questions()?.is_empty(), "still open");
    let all = reader.questions(&tale.run)?;
    ensure!(all.len() == 1 && all[0].state == QuestionState::Answered, "{all:?}");
    ensure!(all[0].answered_by.as_deref() == Some("ada"), "{all:?}");
    Ok(())
}

pub(super) fn lists(place: &dyn Place) -> Kept {
    let mut store = place.open();
    for name in ["first12345", "second1234", "third12345"] {
        let (mut tale, lease) = begun(&mut *store, name)?;
        if name == "second1234" {
            store.append(&lease, &[tale.completed()], &[])?;
        }
    }
    let ids = |filter: RunFilter| -> Result<Vec<String>, aye_runtime::store::StoreError> {
        Ok(store.runs(&filter)?.iter().map(|row| row.id.to_string()).collect())
    };
    let all = ids(RunFilter::default())?;
    ensure!(all == ["third12345", "second1234", "first12345"], "{all:?}");
    let ended = ids(RunFilter { status: Some(RunStatus::Completed), ..RunFilter::default() })?;
    ensure!(ended == ["second1234"], "{ended:?}");
    let counts = (store.count_runs(RunStatus::Running)?, store.count_runs(RunStatus::Completed)?);
    ensure!(counts == (2, 1), "{counts:?}");
    let none = ids(RunFilter { skill: Some("other".to_owned()), ..RunFilter::default() })?;
    ensure!(none.is_empty(), "{none:?}");
    let first = store.runs(&RunFilter { limit: 1, ..RunFilter::default() })?;
    ensure!(first.len() == 1, "more than asked for");
    let rest = ids(RunFilter { before: Some(first[0].n), ..RunFilter::default() })?;
    ensure!(rest == ["second1234", "first12345"], "the next page: {rest:?}");
    let text = |text: &str| RunFilter { text: Some(text.to_owned()), ..RunFilter::default() };
    let found = ids(text("SECOND"))?;
    ensure!(found == ["second1234"], "by a text: {found:?}");
    // It is a text, not a pattern.
    for odd in ["s_cond", "s%d", "\\"] {
        let found = ids(text(odd))?;
        ensure!(found.is_empty(), "`{odd}`: {found:?}");
    }
    let by = |by: &str| RunFilter { by: Some(by.to_owned()), ..RunFilter::default() };
    let (own, others) = (ids(by(&first[0].starter))?, ids(by("nobody-here"))?);
    ensure!(own == all && others.is_empty(), "by who started it: {own:?}, {others:?}");
    Ok(())
}

pub(super) fn pages_of_questions(place: &dyn Place) -> Kept {
    let mut store = place.open();
    for name in ["first12345", "second1234", "third12345"] {
        let (mut tale, lease) = begun(&mut *store, name)?;
        store.append(&lease, &[tale.asks(1)], &[])?;
        if name == "second1234" {
            store.append(&lease, &[tale.answered(1, "proceed", "ada"), tale.completed()], &[])?;
        }
    }
    ensure!(store.count_open()? == 2, "{}", store.count_open()?);
    let first = store.open_questions_after(0, 1)?;
    ensure!(first.len() == 1 && first[0].run.as_str() == "first12345", "{first:?}");
    let rest = store.open_questions_after(first[0].n, 10)?;
    ensure!(rest.len() == 1 && rest[0].run.as_str() == "third12345", "the next page: {rest:?}");
    Ok(())
}

pub(super) fn names(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let (mut tale, lease) = begun(&mut *store, "alpha12345")?;
    store.append(&lease, &[tale.asks(1)], &[])?;
    begun(&mut *store, "alpine1234")?;
    let several = store.find_run("alp")?;
    let Found::Several(rows) = several else { return Err(format!("{several:?}").into()) };
    ensure!(rows.len() == 2 && rows[0].id.as_str() == "alpine1234", "{rows:?}");
    for (name, id) in [("alph", "alpha12345"), ("alpha12345", "alpha12345"), ("last", "alpine1234")]
    {
        let found = store.find_run(name)?;
        ensure!(matches!(&found, Found::One(row) if row.id.as_str() == id), "{name}: {found:?}");
    }
    for name in ["", "beta"] {
        ensure!(store.find_run(name)? == Found::None, "`{name}` finds something");
        ensure!(store.question(name)? == Found::None, "`{name}` finds a question");
    }
    let question = store.question("alpha")?;
    ensure!(matches!(&question, Found::One(row) if row.run == tale.run), "{question:?}");
    Ok(())
}
