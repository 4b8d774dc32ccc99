//! The files of step logs: no run waits for its own to be compressed; later commands do it.

use super::harness::{Place, until};

/// More than is worth compressing, and little enough to be done by the way.
const SHORT: &str = "name: s\nsteps: [{name: a, shell: 'seq 1 20000'}]\n";

/// The names of the files of a run's logs.
fn files(place: &Place, run: &str) -> Vec<String> {
    let entries = std::fs::read_dir(place.home().join("logs").join(run)).expect("logs");
    entries
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn a_later_run_compresses_the_log_and_it_reads_the_same() {
    let place = Place::new();
    place.write("s.yaml", SHORT);
    place.write("t.yaml", "name: t\nsteps: [{name: a, shell: 'true'}]\n");
    place.aye(&["run", "s.yaml"]).ok();
    let run = place.last();
    assert_eq!(files(&place, &run), ["0001-a.out"], "the run does not do it");
    let before = place.aye(&["logs", &run]).ok().stdout;
    place.aye(&["run", "t.yaml"]).ok();
    assert_eq!(files(&place, &run), ["0001-a.out.lz4"]);
    assert_eq!(place.aye(&["logs", &run]).ok().stdout, before);
    let audited = place.aye(&["audit"]).ok();
    assert!(audited.stdout.contains("nothing was changed"), "{}", audited.all());
}

#[test]
fn a_log_that_is_too_long_for_that_is_compressed_beside_a_run_that_takes_longer() {
    let place = Place::new();
    place.write("s.yaml", "name: s\nsteps: [{name: a, shell: 'seq 1 2000000'}]\n");
    place.write("t.yaml", "name: t\nsteps: [{name: a, shell: 'true'}]\n");
    place.write(
        "waits.yaml",
        "name: w\nsteps: [{name: a, shell: 'until [ -e go ]; do sleep 0.05; done'}]\n",
    );
    place.aye(&["run", "s.yaml", "-q"]).ok();
    let run = place.last();
    let long = place.start(&["run", "waits.yaml"]);
    until("it is compressed", || files(&place, &run) == ["0001-a.out.lz4"]);
    place.write("go", "");
    assert_eq!(place.finish(long).code, 0);
    let logs = place.home().join("logs");
    assert_eq!(std::fs::read_dir(logs.join(".plain")).expect("notes").count(), 0);
}

#[test]
fn where_logs_cannot_be_compressed_runs_end_as_well() {
    let place = Place::new();
    place.write("s.yaml", SHORT);
    place.aye(&["run", "s.yaml"]).ok();
    let run = place.last();
    let directory = place.home().join("logs").join(&run);
    std::fs::create_dir(directory.join("0001-a.out.lz4")).expect("made");
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 0);
    assert!(place.aye(&["logs", &run]).ok().stdout.ends_with("20000\n"));
}
