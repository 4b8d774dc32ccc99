//! Questions of runs deep inside others.

use super::pty::Terminal;
use crate::cli::harness::{Place, until};

/// Two regions with a host of the same name each.
fn place(leaf: &str) -> Place {
    let place = Place::new();
    place.write(
        "n.yaml",
        &format!(
            "workflows:
  deep:
    steps:
    - name: regions
      foreach: [eu, us]
      steps:
      - name: hosts
        foreach: [h1]
        steps:
        - {{ name: go_there, skill: '#leaf', inputs: {{ h: '{{{{ item }}}}' }} }}
  leaf:
    inputs: [{{ name: h }}]
    steps:
    - {leaf}
"
        ),
    );
    place
}

const ASKS: &str = "{ name: ok, confirm: { message: 'Restart {{ inputs.h }}?' } }";

fn where_it_is(region: &str) -> String {
    format!("leaf · regions[{region}] · hosts[h1] · go_there · ok")
}

#[test]
fn a_question_says_every_item_around_it() {
    for more in [None, Some("--plain")] {
        let place = place(ASKS);
        let where_it_is = |region: &str| match more {
            None => where_it_is(region),
            Some(_) => where_it_is(region).replace('·', "-"),
        };
        let args = ["run", "n.yaml#deep"].into_iter().chain(more).collect::<Vec<_>>();
        let mut terminal = Terminal::aye(&place, &args);
        let yes = if more.is_some() { "y\n" } else { "y" };
        terminal.wait_for(&where_it_is("eu")).wait_for("[y/N]").keys(yes);
        terminal.wait_for(&where_it_is("us"));
        terminal.wait("the second ask", |vt| vt.screen().contains("[y/N]")).keys(yes);
        assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    }
}

#[test]
fn it_says_so_where_it_is_answered_elsewhere() {
    let place = place(ASKS);
    place.aye(&["run", "n.yaml#deep", "--detach"]).ok();
    let open = || place.aye(&["inbox", "--json"]).ok().json();
    until("it asks", || !open().as_array().unwrap().is_empty());
    let id = open()[0]["question"].as_str().unwrap().to_owned();
    let mut terminal = Terminal::aye(&place, &["answer", &id]);
    terminal.wait_for(&where_it_is("eu")).keys("n");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    place.aye(&["cancel", "last"]).ok();
    until("it has ended", || place.status() == "cancelled");
}

#[test]
fn a_failure_says_every_item_around_it() {
    let place = place("{ name: ok, shell: exit 3, on_error: ask }");
    let mut terminal = Terminal::aye(&place, &["run", "n.yaml#deep"]);
    for region in ["eu", "us"] {
        terminal.wait_for(&format!("regions[{region}] · hosts[h1] · go_there · ok"));
        terminal.wait("the options", |vt| vt.screen().contains("Skip")).keys("skip\r");
    }
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
}

/// What has no room is shortened in the middle, and never the items.
#[test]
fn a_narrow_window_shortens_what_is_between_the_items() {
    let place = place(ASKS);
    let mut terminal = Terminal::sized(&place, &["run", "n.yaml#deep"], 46, 24);
    for region in ["eu", "us"] {
        terminal.wait_for(&format!("leaf · regions[{region}] · hosts[h1] · … · ok")).keys("n");
    }
    terminal.end();
}

/// A question too tall for the window, and an item beside it that ends meanwhile.
#[test]
fn rows_are_not_printed_into_the_frame_of_a_tall_question() {
    let place = Place::new();
    let message: String = (1..=30).map(|line| format!("        line {line}\n")).collect();
    place.write(
        "s.yaml",
        &format!(
            "name: tall
steps:
- name: each
  foreach: [asks, quick, last]
  parallel: 2
  steps:
  - name: sure
    condition: item == 'asks'
    confirm:
      message: |
{message}
  - {{name: wait, condition: item == 'quick', shell: 'while [ ! -e go ]; do sleep 0.02; done'}}
  - {{name: next, condition: item == 'last', shell: 'touch last; while [ ! -e end ]; do sleep 0.02; done'}}
"
        ),
    );
    let mut terminal = Terminal::aye(&place, &["run", "s.yaml"]);
    terminal.wait_for("line 1").wait_for("line 30").wait_for("[y/N]");
    place.write("go", "");
    // It begins once the other item has ended, whose row is due then.
    until("the last item begins", || place.work().join("last").exists());
    terminal.keys("?").wait_for("Details").keys("y");
    terminal.wait_for("✓ asks");
    place.write("end", "");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.vt.all());
    let all = terminal.vt.all();
    let at = |text: &str| all.find(text).unwrap_or_else(|| panic!("no {text}:\n{all}"));
    let corner = at("\n╰─\n");
    assert!(at("line 30") < corner, "{all}");
    assert!(corner < at("✓ quick"), "{all}");
    assert_eq!(all.matches("✓ quick").count(), 1, "{all}");
}
