//! The same in runs inside a run: their `finally`, and the names that they hold.

use super::*;

/// How a run calls others, and how many.
const CALLS: [(&str, usize); 2] = [
    ("skill: inner.yaml", 1),
    ("foreach: [0, 1], parallel: 2, skill: inner.yaml, inputs: { n: '{{ item }}' }", 2),
];

/// The last step of the body, what the run becomes, and whether it is cancelled once its
/// `finally` runs.
const LATE: (&str, &str, bool) = ("shell: 'true'", "cancelled", true);

/// Steps of the body, and as many of `finally`.
const BODY: usize = 4;

fn inner(last: &str) -> String {
    let lines = |steps: std::ops::Range<usize>| -> String {
        let line = |step| format!("sleep 0.02; echo {{{{ inputs.n }}}}.{step} >> lines.txt");
        steps.map(|step| format!("  - {{ name: s{step}, shell: '{}' }}\n", line(step))).collect()
    };
    format!(
        "name: inner
cleanup: 10m
inputs: [{{ name: n, type: string, default: '0' }}]
steps:
{}  - {{ name: last, {last}, idempotent: true }}
finally:
{}",
        lines(0..BODY),
        lines(BODY..2 * BODY),
    )
}

/// The runs inside that have steps of their own, and their events.
fn runs_inside(place: &Place) -> Vec<serde_json::Value> {
    let db = place.journal_db();
    let runs: Vec<String> = db
        .prepare("SELECT DISTINCT run FROM events WHERE type = 'skill_finishing'")
        .and_then(|mut query| query.query_map([], |row| row.get(0))?.collect())
        .unwrap();
    runs.iter().map(|run| place.aye(&["show", run, "--json"]).ok().json()).collect()
}

/// However the run around it ends, `finally` of each run inside is run, once: whether it is
/// cancelled before it began or while it runs, and whoever is killed meanwhile.
#[test]
fn finally_of_runs_inside_is_neither_lost_nor_doubled_when_aye_is_killed_at_any_moment() {
    let endings = ENDINGS.map(|(last, end)| (last, end, false)).into_iter().chain([LATE]);
    let cases: Vec<_> = endings.flat_map(|ending| CALLS.map(|calls| (ending, calls))).collect();
    let (mut dice, mut kills) = (Dice(6), vec![0; cases.len()]);
    for round in 0.. {
        if killed_enough(&kills, 40, round) {
            break;
        }
        let ((last, end, late), (call, items)) = cases[round % cases.len()];
        let place = Place::new();
        place.write("inner.yaml", &inner(last));
        place.write("lines.txt", "");
        place.write("lines.yaml", &format!("name: lines\nsteps:\n  - {{ name: call, {call} }}\n"));
        let is_open = |run: &str| {
            let shown = place.aye(&["show", run, "--json"]).ok().json();
            !shown["events"].as_array().unwrap().iter().any(is_cancelled)
        };
        // Who cancels is killed too, until the run has heard of it.
        let take_up = |run: &str| {
            let lines = place.read("lines.txt").lines().count();
            let there = if late { lines > items * BODY } else { lines >= items * BODY };
            match end == "cancelled" && there && is_open(run) {
                true => place.start(&["cancel", run, "-q"]),
                false => place.start(&["resume", run, "-q", "--no-input"]),
            }
        };
        let ends: &[&str] = if late { &["cancelled", "completed"] } else { &[end] };
        let killed = killed_with(&place, &mut dice, ends, &take_up);
        if status(&place) == end {
            kills[round % cases.len()] += killed;
        }
        let text = place.read("lines.txt");
        let inside = runs_inside(&place);
        assert_eq!(inside.len(), items);
        for run in inside {
            let n = run["inputs"]["n"].as_str().unwrap();
            let has: Vec<usize> = text
                .lines()
                .filter_map(|line| line.strip_prefix(&format!("{n}."))?.parse().ok())
                .collect();
            let events = run["events"].as_array().unwrap();
            // What was in doubt when the run around it was cancelled is over.
            let settled = |step: &usize| {
                let name = format!("s{step}");
                let is = |event: &serde_json::Value| {
                    event["step"] == name.as_str() && event["outcome"] == "cancelled"
                };
                late && !has.contains(step) && events.iter().any(is)
            };
            let expected: Vec<usize> = (0..2 * BODY).filter(|step| !settled(step)).collect();
            assert_eq!(has, expected, "{end} {call} {last}: {run}");
            let finishing = events.iter().filter(|event| event["type"] == "skill_finishing");
            assert_eq!(finishing.count(), 1, "{run}");
            assert!(
                ["completed", "failed", "cancelled"].contains(&run["status"].as_str().unwrap())
            );
        }
        place.aye(&["audit"]).ok();
    }
    let ends = cases.iter().map(|((last, end, _), (_, items))| format!("{end} ({last}) {items}"));
    println!("kills: {:?}", ends.zip(kills).collect::<Vec<_>>());
}

#[test]
fn a_name_of_a_run_inside_is_never_held_twice_nor_stuck_when_aye_is_killed_at_any_moment() {
    let inputs = "inputs: { who: '{{ inputs.who }}' }";
    killed_while_they_want_a_name(Some(&format!("skill: inner.yaml, {inputs}")));
}

#[test]
fn a_name_of_an_item_is_never_held_twice_nor_stuck_when_aye_is_killed_at_any_moment() {
    let inputs = "inputs: { who: '{{ inputs.who }}' }";
    killed_while_they_want_a_name(Some(&format!("foreach: [1], skill: inner.yaml, {inputs}")));
}
