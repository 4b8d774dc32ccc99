//! Answers as transitions, as people see them.

use super::harness::Place;

const SKILL: &str = "name: roll-out
states:
  pick:
    choose: { message: Where to?, options: [canary, fleet] }
    transitions: { canary: small, fleet: all }
  small: { command: touch, args: [small], transitions: { success: done } }
  all: { command: touch, args: [all], transitions: { success: done } }
  done: { type: final }
";

#[test]
fn an_answer_leads_to_its_state_and_every_view_says_so() {
    let place = Place::new();
    place.write("skill.yaml", SKILL);
    let checked = place.aye(&["check", "skill.yaml"]).ok();
    assert!(!checked.all().contains("warning"), "{}", checked.all());
    let planned = place.aye(&["run", "skill.yaml", "--dry-run"]).ok();
    assert!(planned.stdout.contains("fleet -> all"), "{}", planned.all());
    assert!(planned.stdout.contains("small"), "{}", planned.all());
    let graph = place.aye(&["graph", "skill.yaml", "--format", "mermaid"]).ok();
    assert!(graph.stdout.contains("canary") && graph.stdout.contains("fleet"));
    assert_eq!(place.aye(&["run", "skill.yaml", "--no-input"]).code, 6);
    let inbox = place.aye(&["inbox"]).ok();
    assert!(inbox.stdout.contains("canary → small, fleet → all"), "{}", inbox.all());
    let question = place.aye(&["inbox", "--json"]).ok().json()[0]["question"].clone();
    let question = question.as_str().unwrap();
    place.aye(&["answer", question, "fleet", "--resume"]).ok();
    assert!(place.work().join("all").exists() && !place.work().join("small").exists());
}

#[test]
fn check_names_answers_that_lead_nowhere() {
    let place = Place::new();
    place.write("skill.yaml", &SKILL.replace(", fleet: all", ", success: all"));
    let checked = place.aye(&["check", "skill.yaml"]).ok();
    assert!(!checked.all().contains("answer-ends"), "{}", checked.all());
    place.write("skill.yaml", &SKILL.replace(", fleet: all", ""));
    let checked = place.aye(&["check", "skill.yaml"]);
    let all = checked.all();
    assert!(all.contains("the answer `fleet` at `pick` leads nowhere"), "{all}");
    place.write("skill.yaml", &SKILL.replace("fleet: all", "flete: all"));
    let checked = place.aye(&["check", "skill.yaml"]);
    assert!(checked.all().contains("did you mean `fleet`?"), "{}", checked.all());
}
