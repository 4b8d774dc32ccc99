//! Steps that have the terminal for themselves, side by side with others.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::pty::Terminal;
use crate::cli::harness::{Place, until};

fn place(steps: &str, items: &str) -> Place {
    let place = Place::new();
    place.write(
        "s.yaml",
        &format!(
            "name: lent\nsteps:\n- name: each\n  foreach: [{items}]\n  parallel: 2\n  steps:\n{steps}"
        ),
    );
    place
}

/// A question that nobody could see must not be answered by its time.
#[test]
fn the_time_of_a_question_stands_still_while_a_step_has_the_terminal() {
    let place = place(
        "  - {name: own, condition: item == 'own', interactive: true, shell: 'touch began; read x'}
  - {name: sure, condition: item == 'sure', confirm: {message: Really?, timeout: 3s}}
  - {name: act, condition: item == 'sure', shell: touch acted}\n",
        "own, sure",
    );
    let mut terminal = Terminal::aye(&place, &["run", "s.yaml"]);
    let open = || place.aye(&["inbox", "--json"]).ok().json().as_array().unwrap().clone();
    until("the step has the terminal", || place.work().join("began").exists());
    // It may have had its time for a moment before that.
    let stands = |row: &Value| row.get("deadline").is_none_or(Value::is_null);
    until("its time stands still", || open().first().is_some_and(stands));
    let asked = Instant::now();
    until("it would have expired", || asked.elapsed() > Duration::from_secs(3));
    assert!(open().first().is_some_and(stands));
    terminal.keys("x\n").wait_for("Really?").wait_for("s left, then no").keys("y");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    assert!(place.work().join("acted").exists());
    terminal.assert_clean();
}

/// Two programs on one terminal would stop each other, and the whole job.
#[test]
fn one_step_after_the_other_has_the_terminal() {
    let place = place(
        "  - {name: own, interactive: true, shell: 'touch began-{{ item }}; read x; echo $x > {{ item }}'}\n",
        "one, two, three",
    );
    let mut terminal = Terminal::shell(&place);
    terminal.keys("$AYE run s.yaml; echo ended $?\n");
    let began = |item: &str| place.work().join(format!("began-{item}")).exists();
    for (item, next) in [("one", "two"), ("two", "three"), ("three", "none")] {
        until(item, || began(item));
        if next != "none" {
            let shown = || place.aye(&["show", "last"]).all();
            until("the next one waits", || shown().contains("waiting for a slot"));
        }
        assert!(!began(next), "only one has the terminal");
        terminal.keys(&format!("said to {item}\n"));
    }
    terminal.wait_for("ended 0");
    for item in ["one", "two", "three"] {
        assert_eq!(place.read(item), format!("said to {item}\n"));
    }
    assert!(!terminal.vt.all().contains("Stopped"), "{}", terminal.vt.all());
}
