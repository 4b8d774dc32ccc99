//! Runs and questions: listed, filtered, found by name.

use aye_runtime::store::{Found, QuestionState, RunFilter, RunRow, RunStatus};

use super::Outcome;
use super::sample::{Tale, id, moment, open, populate, source};
use super::writer::Store;

fn names(rows: &[RunRow]) -> Vec<&str> {
    rows.iter().map(|row| row.id.as_str()).collect()
}

fn populated() -> Result<(tempfile::TempDir, Store), Box<dyn std::error::Error>> {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    populate(&mut store)?;
    Ok((home, store))
}

#[test]
fn a_run_row_says_where_the_run_stands() -> Outcome {
    let (_home, store) = populated()?;
    let row = store.run(&id("running001"))?.ok_or("no row")?;
    assert_eq!(row.skill, "deploy");
    assert_eq!(row.file, "/skills/release.yaml");
    assert_eq!(row.source, source().digest);
    assert_eq!(row.workspace, "/work");
    assert_eq!(row.environment.as_deref(), Some("stage"));
    assert_eq!(row.driver.user, "bob");
    assert_eq!((row.steps, row.waiting), (3, 1));
    assert_eq!(row.status, RunStatus::Running);
    assert_eq!((row.why, row.message), (None, None));
    assert_eq!(row.step.as_deref(), Some("gate2"));
    assert_eq!((row.started, row.updated), (moment(1_000), moment(6_000)));
    assert_eq!((row.ended, row.last_seq), (None, 6));

    let row = store.run(&id("failed0001"))?.ok_or("no row")?;
    assert_eq!(row.status, RunStatus::Failed);
    assert_eq!(row.why.as_deref(), Some("step_failed"));
    assert_eq!(row.message.as_deref(), Some("`build` failed"));
    assert_eq!(row.step.as_deref(), Some("build"));
    assert_eq!((row.ended, row.waiting), (Some(moment(4_000)), 0));

    let row = store.run(&id("paused0001"))?.ok_or("no row")?;
    assert_eq!(row.status, RunStatus::Paused);
    assert_eq!(row.why.as_deref(), Some("waiting"));
    assert_eq!(store.run(&id("unknown123"))?, None);
    Ok(())
}

#[test]
fn runs_are_listed_newest_first_and_filtered() -> Outcome {
    let (_home, store) = populated()?;
    let list = |filter: RunFilter| store.runs(&filter);
    let all = list(RunFilter::default())?;
    assert_eq!(names(&all), ["running001", "paused0001", "cancelled1", "failed0001", "completed1"]);
    for status in RunStatus::ALL {
        let rows = list(RunFilter { status: Some(status), ..RunFilter::default() })?;
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].status, status);
        assert_eq!(RunStatus::from_word(status.word()), Some(status));
    }
    let deploy = RunFilter { skill: Some("deploy".into()), ..RunFilter::default() };
    assert_eq!(names(&list(deploy.clone())?), ["running001", "failed0001"]);
    let both = RunFilter { status: Some(RunStatus::Failed), ..deploy };
    assert_eq!(names(&list(both)?), ["failed0001"]);
    let page = RunFilter { limit: 2, ..RunFilter::default() };
    let first = list(page.clone())?;
    let next = RunFilter { before: first.last().map(|row| row.n), ..page };
    assert_eq!(names(&list(next)?), ["cancelled1", "failed0001"]);
    Ok(())
}

#[test]
fn a_run_is_found_by_the_beginning_of_its_name() -> Outcome {
    let (_home, mut store) = populated()?;
    let found =
        |store: &Store, name: &str| -> Result<Vec<String>, aye_runtime::store::StoreError> {
            Ok(match store.find_run(name)? {
                Found::None => Vec::new(),
                Found::One(row) => vec![row.id.to_string()],
                Found::Several(rows) => rows.iter().map(|row| row.id.to_string()).collect(),
            })
        };
    assert_eq!(found(&store, "last")?, ["running001"]);
    assert_eq!(found(&store, "pau")?, ["paused0001"]);
    assert_eq!(found(&store, "c")?, ["cancelled1", "completed1"]);
    assert_eq!(found(&store, "x")?, [""; 0]);
    assert_eq!(found(&store, "")?, [""; 0]);
    assert_eq!(found(&store, "%")?, [""; 0]);
    // A whole name wins over names that begin with it.
    let mut longer = Tale::new("paused00012");
    store.start(&[longer.started()], &source())?;
    assert_eq!(found(&store, "paused0001")?, ["paused0001"]);
    let Found::Several(_) = store.find_run("paused")? else {
        return Err("not ambiguous".into());
    };
    Ok(())
}

#[test]
fn questions_have_every_state() -> Outcome {
    let (_home, store) = populated()?;
    let open: Vec<_> = store.open_questions()?.iter().map(|row| row.id.to_string()).collect();
    assert_eq!(open, ["paused0001-1", "running001-1"]);

    let state = |name: &str| match store.question(name) {
        Ok(Found::One(row)) => Ok(row),
        other => Err(format!("{other:?}")),
    };
    let answered = state("completed1-1")?;
    assert_eq!(answered.state, QuestionState::Answered);
    assert_eq!(answered.answered_by.as_deref(), Some("ada"));
    assert_eq!(answered.prompter.as_deref(), Some("web"));
    assert_eq!(answered.deadline, Some(moment(900_000)));
    assert_eq!(answered.closed, Some(moment(7_000)));
    assert_eq!((answered.kind.word(), answered.step.as_str()), ("confirm", "gate1"));
    assert_eq!(answered.purpose, aye_core::question::Purpose::Gate);
    assert_eq!(state("failed0001-1")?.state, QuestionState::Withdrawn);
    assert_eq!(state("cancelled1-1")?.state, QuestionState::Expired);
    // Two had to agree: the second answer closed one, a decline the other.
    assert_eq!(state("completed1-2")?.answered_by.as_deref(), Some("bob"));
    assert_eq!(state("running001-2")?.state, QuestionState::Answered);
    Ok(())
}

#[test]
fn one_of_two_approvals_leaves_the_question_open() -> Outcome {
    let home = tempfile::tempdir()?;
    let mut store = open(home.path())?;
    let mut tale = Tale::new("abcdefgh12");
    store.start(&[tale.started(), tale.asks_several(1, 2)], &source())?;
    store.append(&[tale.answered(1, "proceed", "ada")], &[])?;
    let rows = store.open_questions()?;
    assert_eq!((rows.len(), rows[0].missing), (1, 1));
    assert_eq!(rows[0].answered_by.as_deref(), Some("ada"));
    Ok(())
}

#[test]
fn a_question_is_found_by_its_beginning_the_open_one_first() -> Outcome {
    let (_home, store) = populated()?;
    // Question 2 of the run is closed, so its name alone means question 1.
    let Found::One(row) = store.question("runn")? else {
        return Err("not found".into());
    };
    assert_eq!(row.id.as_str(), "running001-1");
    let Found::Several(rows) = store.question("completed1")? else {
        return Err("not ambiguous".into());
    };
    assert_eq!(rows.len(), 2);
    assert_eq!(store.question("zzz")?, Found::None);
    assert_eq!(store.questions(&id("running001"))?.len(), 2);

    let asked = store.asked(&row.id)?.ok_or("not asked")?;
    assert_eq!(asked.options.len(), 2);
    assert_eq!(asked.follows.as_deref(), Some("./make-mr abc"));
    assert_eq!(store.asked(&Tale::new("unknown123").question_id(1))?, None);
    Ok(())
}
