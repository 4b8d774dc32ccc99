//! Runs that a process looks after without knowing their secrets, and what only a name hides.

use serde_json::Value;

use crate::cli::harness::{Place, Ran};

const SECRET: &str = "swordfish-4711-secret";

fn aye(place: &Place, vars: &[(&str, &str)], args: &[&str]) -> Ran {
    let mut command = place.command(args);
    command.envs(vars.iter().copied());
    Ran::of(command.output().unwrap(), place)
}

fn questions(place: &Place) -> Vec<Value> {
    place.aye(&["inbox", "--json"]).ok().json().as_array().unwrap().clone()
}

fn id(question: &Value) -> String {
    question["question"].as_str().unwrap().to_owned()
}

const KID: &str = "name: kid
inputs: [{ name: k, type: secret }, { name: u }]
steps:
  - { name: ok, confirm: { message: 'in kid?', timeout: 1h } }
  - { name: c, shell: 'printf %s \"$K\" | rev > got.txt', env: { K: '{{ inputs.k }}' } }
";

/// The run around is given the secret anew by its driver; who answers or cancels need not know it.
#[test]
fn a_question_inside_a_run_with_a_secret_is_answered_and_cancelled_from_elsewhere() {
    let input = "inputs: [{ name: token, type: secret, required: true, from: { env: TOK } }]\n";
    let called = format!(
        "name: s\n{input}steps:\n  - name: call\n    skill: kid.yaml\n    inputs: {{ k: '{{{{ \
         inputs.token }}}}', u: 'https://{{{{ inputs.token }}}}@x' }}\n"
    );
    let looped = format!(
        "name: s\n{input}steps:\n  - name: l\n    foreach: ['{{{{ inputs.token }}}}']\n    steps:\n      - \
         {{ name: ok, confirm: {{ message: 'go?', timeout: 1h }} }}\n      - {{ name: c, shell: 'printf %s \
         \"$K\" | rev > got.txt', env: {{ K: '{{{{ item }}}}' }} }}\n"
    );
    for skill in [called, looped] {
        for cancels in [false, true] {
            let place = Place::new();
            place.write("kid.yaml", KID);
            place.write("s.yaml", &skill);
            let known = [("TOK", SECRET)];
            assert_eq!(aye(&place, &known, &["run", "s.yaml"]).code, 6);
            if cancels {
                place.aye(&["cancel", "last"]).ok();
                assert_eq!(place.status(), "cancelled");
                continue;
            }
            place.aye(&["answer", &id(&questions(&place)[0]), "proceed"]).ok();
            aye(&place, &known, &["resume", "last"]).ok();
            let backwards: String = SECRET.chars().rev().collect();
            assert_eq!(place.read("got.txt"), backwards);
            place.aye(&["audit"]).ok();
        }
    }
}

/// What one called skill's variable hides by its name is shown at the gate of another, and a
/// remembered yes is for it alone.
#[test]
fn a_question_of_another_called_skill_shows_what_a_name_hides() {
    let place = Place::new();
    place.write(
        "one.yaml",
        "name: one\ninputs: [{ name: t }]\nsteps:\n  - { name: a, command: 'true', env: { OBJECT_KEY: '{{ \
         inputs.t }}' } }\n",
    );
    place.write(
        "two.yaml",
        "name: two\ninputs: [{ name: t }]\nsteps:\n  - name: b\n    command: echo\n    args: [deploy, '{{ \
         inputs.t }}']\n    confirmation: { message: 'Go?', remember: true, timeout: 1h }\n",
    );
    place.write(
        "s.yaml",
        "name: s\ninputs: [{ name: t, required: true }]\nsteps:\n  - { name: c1, skill: one.yaml, inputs: { \
         t: '{{ inputs.t }}' } }\n  - { name: c2, skill: two.yaml, inputs: { t: '{{ inputs.t }}' } }\n",
    );
    let ask = |target: &str| {
        let ran = place.aye(&["run", "s.yaml", "-i", &format!("t={target}")]);
        assert_eq!(ran.code, 6, "{}", ran.all());
        let open = questions(&place);
        assert_eq!(open.len(), 1, "{open:?}");
        assert!(open[0]["details"].to_string().contains(&format!("deploy {target}")), "{open:?}");
        id(&open[0])
    };
    place.aye(&["answer", &ask("staging-eu"), "proceed", "--remember", "always"]);
    place.aye(&["cancel", "last"]);
    ask("production-eu");
}

/// In a run without secrets, three stars are text like any other.
#[test]
fn stars_in_a_run_without_secrets_hide_nothing() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\nsteps:\n  - name: l\n    foreach: \"{{ env.LIST.split(',') }}\"\n    steps:\n      - { name: ok, \
         confirm: { message: 'go {{ item }}?', timeout: 1h } }\n      - { name: e, shell: 'printf %s {{ item }} \
         >> got.txt' }\n",
    );
    assert_eq!(aye(&place, &[("LIST", "***a***")], &["run", "s.yaml"]).code, 6);
    place.aye(&["answer", &id(&questions(&place)[0]), "proceed"]).ok();
    aye(&place, &[("LIST", "other")], &["resume", "last"]).ok();
    assert_eq!(place.read("got.txt"), "***a***");
}

/// An item of which a name hides a part is not run with stars where it is not known any more.
#[test]
fn an_item_that_is_not_known_any_more_does_not_run() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\nsteps:\n  - { name: one, command: 'true', env: { API_KEY: '{{ env.MYV }}' } }\n  - name: \
         l\n    foreach: [first, 'dir-{{ env.MYV }}']\n    steps:\n      - { name: ok, condition: \"{{ item == \
         'first' }}\", confirm: { message: 'go?', timeout: 1h } }\n      - { name: c, shell: 'echo $I >> \
         got.txt', env: { I: '{{ item }}' } }\n",
    );
    let known = [("MYV", "production-eu")];
    assert_eq!(aye(&place, &known, &["run", "s.yaml"]).code, 6);
    place.aye(&["answer", &id(&questions(&place)[0]), "proceed"]).ok();
    for vars in [&[][..], &[("MYV", "")]] {
        let resumed = aye(&place, vars, &["resume", "last"]);
        assert_ne!(resumed.code, 0, "{}", resumed.all());
        let got = std::fs::read_to_string(place.work().join("got.txt")).unwrap_or_default();
        assert!(!got.contains("***"), "{got}");
    }
}
