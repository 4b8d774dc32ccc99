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
