//! Steps that have the terminal for themselves, side by side with others.

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
