//! A remembered yes is for what was agreed to: not for another target, however
//! that is handed on.

use aye_core::digest::digest;
use aye_core::question::Question;
use aye_runtime::memory::question_digest;

use super::harness::Place;

const TARGET: &str = "name: s\ninputs: [{ name: target, default: stage }]\n";
const GATE: &str = "confirmation: { message: 'Go?', remember: true, timeout: 0 }";

fn gated(step: &str) -> String {
    format!("{TARGET}steps:\n  - name: act\n    {step}\n    {GATE}\n")
}

/// Runs against `stage`, remembers the yes, and says how a run ends that is
/// started like this.
fn after_a_yes(place: &Place, args: &[&str]) -> i32 {
    let ran = place.aye(&["run", "s.yaml"]);
    assert_eq!(ran.code, 6, "{}", ran.all());
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    let id = inbox[0]["question"].as_str().unwrap().to_owned();
    let yes = inbox[0]["answers"][0].as_str().unwrap().to_owned();
    let answered = place.aye(&["answer", &id, &yes, "--remember"]).ok();
    assert!(answered.all().contains("aye memory forget"), "{}", answered.all());
    place.aye(&["resume", "last"]).ok();
    let again = place.aye(&["run", "s.yaml"]);
    assert_eq!(again.code, 0, "the same is answered: {}", again.all());
    place.aye(&[&["run", "s.yaml"], args].concat()).code
}

const PRODUCTION: [&str; 2] = ["-i", "target=production"];

/// A yes for `target=stage` does not answer `target=production`.
fn is_not_for_production(step: &str) {
    let place = Place::new();
    let inner =
        "name: inner\ninputs: [{ name: where }]\nsteps:\n  - { name: a, command: 'true' }\n";
    place.write("inner.yaml", inner);
    for folder in ["stage", "production"] {
        std::fs::create_dir(place.work().join(folder)).unwrap();
    }
    place.write("s.yaml", &gated(step));
    assert_eq!(after_a_yes(&place, &PRODUCTION), 6, "{step}");
}

#[test]
fn not_through_the_inputs_of_a_sub_skill() {
    is_not_for_production("skill: inner.yaml\n    inputs: { where: '{{ inputs.target }}' }");
}

#[test]
fn not_through_the_environment() {
    is_not_for_production("command: 'true'\n    env: { TARGET: '{{ inputs.target }}' }");
}

#[test]
fn not_through_standard_input() {
    is_not_for_production("command: cat\n    stdin: '{{ inputs.target }}'");
}

#[test]
fn not_through_the_working_directory() {
    is_not_for_production("command: 'true'\n    cwd: '{{ inputs.target }}'");
}

/// The same for a loop that a question comes before.
fn loop_is_not_for_production(each: &str, inner: &str) {
    let place = Place::new();
    let ask = "{ name: ok, confirm: { message: 'Go?', remember: true, timeout: 0 } }";
    let each = format!("foreach: [{each}]\n    condition: ok == 'proceed'");
    let steps = format!("steps:\n      - {{ name: a, command: echo, args: [{inner}] }}");
    let act = format!("name: act\n    {each}\n    {steps}");
    place.write("s.yaml", &format!("{TARGET}steps:\n  - {ask}\n  - {act}\n"));
    assert_eq!(after_a_yes(&place, &PRODUCTION), 6);
}

#[test]
fn not_through_the_items_of_a_loop() {
    loop_is_not_for_production("'{{ inputs.target }}'", "'{{ item }}'");
}

#[test]
fn not_through_the_steps_of_a_loop() {
    loop_is_not_for_production("a", "'{{ inputs.target }}'");
}

#[test]
fn not_through_a_block() {
    is_not_for_production("compute: result = inputs['target']");
}

#[test]
fn not_through_items_that_come_from_outside() {
    let place = Place::new();
    let ask = "{ name: ok, confirm: { message: 'Go?', remember: true, timeout: 0 } }";
    let each = "foreach: ['{{ env.TARGET | default(\"stage\") }}']";
    let steps = "steps:\n      - { name: a, command: echo, args: ['{{ item }}'] }";
    let act = format!("name: act\n    {each}\n    condition: ok == 'proceed'\n    {steps}");
    place.write("s.yaml", &format!("name: s\nsteps:\n  - {ask}\n  - {act}\n"));
    assert_eq!(after_a_yes(&place, &[]), 0);
    let mut other = place.command(&["run", "s.yaml"]);
    assert_eq!(other.env("TARGET", "production").output().unwrap().status.code(), Some(6));
}

#[test]
fn not_through_the_code_of_a_block() {
    let place = Place::new();
    place.write("s.yaml", &gated("compute: result = 'stage'"));
    assert_eq!(after_a_yes(&place, &[]), 0);
    place.write("s.yaml", &gated("compute: result = 'production'"));
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 6);
}

#[test]
fn not_through_the_contents_of_a_script() {
    let place = Place::new();
    place.write("deploy.sh", "true\n");
    place.write("s.yaml", &gated("command: sh\n    args: [deploy.sh]"));
    assert_eq!(after_a_yes(&place, &[]), 0);
    place.write("deploy.sh", ": something else\n");
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 6);
}

#[test]
fn not_through_a_script_that_a_shell_step_names() {
    let place = Place::new();
    std::fs::create_dir(place.work().join("sub")).unwrap();
    let script = |text: &str| {
        let path = place.write("sub/stage", text);
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
    };
    script("#!/bin/sh\ntrue\n");
    place.write("s.yaml", &gated("shell: 'cd sub && ./{{ inputs.target }}'"));
    assert_eq!(after_a_yes(&place, &[]), 0);
    script("#!/bin/sh\n: other\n");
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 6);
}

#[test]
fn not_through_a_later_step_that_uses_the_answer() {
    let place = Place::new();
    place.write(
        "s.yaml",
        &format!(
            "{TARGET}steps:\n  - {{ name: ok, confirm: {{ message: 'Go?', remember: true, timeout: 0 }} }}\n  - {{ name: build, command: 'true' }}\n  - {{ name: act, command: echo, condition: ok == 'proceed', stdin: '{{{{ inputs.target }}}}' }}\n"
        ),
    );
    assert_eq!(after_a_yes(&place, &PRODUCTION), 6);
}

#[test]
fn only_what_the_skill_names_may_vary() {
    let place = Place::new();
    let skill = |any: &str| {
        format!(
            "name: s\ninputs: [{{ name: commit, default: abc }}, {{ name: target, default: stage }}]\nsteps:\n  - name: act\n    command: echo\n    args: ['{{{{ inputs.commit }}}}', '{{{{ inputs.target }}}}']\n    confirmation: {{ message: 'Go with {{{{ inputs.commit }}}}?', remember: {{ any: [{any}] }}, timeout: 0 }}\n"
        )
    };
    place.write("s.yaml", &skill("inputs.commit"));
    assert_eq!(after_a_yes(&place, &["-i", "commit=def"]), 0);
    assert_eq!(place.aye(&["run", "s.yaml", "-i", "target=production"]).code, 6);
    let wrong = Place::new();
    wrong.write("s.yaml", &skill("inputs.comit"));
    let checked = wrong.aye(&["check", "s.yaml"]);
    assert!(checked.all().contains("`inputs.comit` names no input"), "{}", checked.all());
}

#[test]
fn an_input_says_what_the_environment_is() {
    let place = Place::new();
    let skill = "name: s\ninputs: [{ name: target, default: stage }, { name: other, default: a }]\nenvironment: inputs.target\nsteps:\n  - name: act\n    command: echo\n    args: ['{{ run.environment }}']\n    confirmation: { message: 'Go?', remember: { any: [inputs.target] }, timeout: 0 }\n";
    place.write("s.yaml", skill);
    // The option may make it stricter, and nothing else.
    assert_eq!(after_a_yes(&place, &["--environment", "production"]), 6);
    assert_eq!(place.aye(&["run", "s.yaml", "-i", "target=production"]).code, 6);
    let milder = ["run", "s.yaml", "-i", "target=production", "--environment", "stage"];
    assert_eq!(place.aye(&milder).code, 6);
}

#[test]
fn what_was_remembered_by_an_older_version_is_asked_once_more() {
    let place = Place::new();
    place.write("s.yaml", &gated("command: 'true'"));
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 6);
    let mut inbox = place.aye(&["inbox", "--json"]).ok().json();
    let asked: Question = serde_json::from_value(inbox[0]["details"].take()).unwrap();
    place.aye(&["cancel", "last"]).ok();
    assert_eq!(after_a_yes(&place, &[]), 0);
    // An entry whose digest is of the question and the command alone.
    let kept = [place.work().join(".aye/memory"), place.home().join("memory")];
    let kept = kept.map(|folder| folder.join("learned/confirmations.yaml"));
    let kept = kept.iter().find(|file| file.exists()).unwrap();
    let text = std::fs::read_to_string(kept).unwrap();
    let now = text.split("digest: ").nth(1).unwrap().split_whitespace().next().unwrap();
    let bound = serde_json::json!({
        "rule": 2, "kind": asked.kind, "purpose": asked.purpose, "title": asked.title,
        "message": asked.message, "options": asked.options, "follows": asked.follows,
    });
    let of = |bound: &str| digest(&[bound.as_bytes()]);
    let old = bound.to_string().replacen("\"rule\":2,", "", 1);
    assert_ne!(old, bound.to_string());
    std::fs::write(kept, text.replace(now, &of(&old))).unwrap();
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 6);
    // But for the rule it is the digest that a question without facts has.
    let alone = question_digest(&Question { recall: None, ..asked });
    assert_eq!(of(&bound.to_string()), alone);
}

/// What destroys something is asked about each time, wherever it hides.
#[test]
fn nothing_that_destroys_is_answered_from_memory() {
    const ASK: &str = "name: ok, confirm: { message: 'Go?', remember: true, timeout: 0 }";
    const DROP: &str = "command: echo, args: ['{{ inputs.target }}'], destructive: true";
    let drop = |more: &str| format!("{{ name: drop, {DROP}{more} }}");
    let inside = "{ name: act, skill: inner.yaml }";
    let outer = "{ name: act, skill: outer.yaml }";
    let asked = format!("{{ {ASK} }}");
    let gate = |step: &str| format!("{{ {step}, {GATE} }}");
    let shapes = [
        gate("name: act, skill: inner.yaml"),
        gate("name: act, skill: outer.yaml"),
        gate("name: act, skill: calls.yaml"),
        format!("{asked}, {inside}"),
        format!("{asked}, {{ name: between, command: 'true' }}, {outer}"),
        format!("{asked}, {{ name: act, foreach: [1], steps: [{}] }}", drop("")),
        format!(
            "{asked}, {{ name: act, description: hey, condition: ok == 'proceed', then: [{}] }}",
            drop("")
        ),
        format!("{{ {ASK}, then: [{{ name: one, command: 'true' }}, {}] }}", drop("")),
        format!(
            "{asked}, {{ name: pass, compute: result = ok }}, {}",
            drop(", condition: pass == 'proceed'")
        ),
        format!("{asked}, {{ name: between, command: 'true' }}, {}", drop("")),
    ];
    let place = Place::new();
    place.write("aye.toml", "[tools.wipe]\ncommand = ['echo', '{{ what }}']\ndestructive = true\n");
    place.write(
        "inner.yaml",
        "name: inner\nsteps: [{ name: a, command: echo, destructive: true }]\n",
    );
    place.write("outer.yaml", "name: outer\nsteps: [{ name: a, skill: inner.yaml }]\n");
    place
        .write("calls.yaml", "name: calls\nsteps: [{ name: a, tool: wipe, args: { what: it } }]\n");
    place.aye(&["trust", "--yes"]).ok();
    for (n, shape) in shapes.iter().enumerate() {
        let file = format!("s{n}.yaml");
        let name = format!("name: s{n}\ninputs: [{{ name: target, default: stage }}]\n");
        place.write(&file, &format!("{name}steps: [{shape}]\n"));
        let ran = place.aye(&["run", &file, "--no-input"]);
        assert_eq!(ran.code, 6, "{shape}: {}", ran.all());
        let question = place.aye(&["inbox", "--json"]).ok().json()[0].clone();
        assert_ne!(question["details"]["remember"], true, "{shape}: {question}");
        let id = question["question"].as_str().unwrap();
        place.aye(&["answer", id, "proceed", "--remember", "--resume"]);
        place.aye(&["cancel", "last"]);
        let again = place.aye(&["run", &file, "-i", "target=production", "--no-input"]);
        assert_eq!(again.code, 6, "{shape}: {}", again.all());
        place.aye(&["cancel", "last"]).ok();
    }
}

/// What only a copy of the answer decides is not answered from memory either.
#[test]
fn a_yes_is_not_for_another_target_through_a_second_step() {
    for act in [
        "{ name: pass, compute: result = ok }, { name: act, command: echo, args: ['{{ inputs.target }}'], condition: pass == 'proceed' }",
        "{ name: first, command: 'true', condition: ok == 'proceed' }, { name: act, command: echo, args: ['{{ inputs.target }}'], condition: \"steps.first.status == 'completed'\" }",
        "{ name: note, description: hey, condition: ok == 'proceed', then: [{ name: act, command: echo, args: ['{{ inputs.target }}'] }] }",
    ] {
        let place = Place::new();
        let ask = "{ name: ok, confirm: { message: 'Go?', remember: true, timeout: 0 } }";
        place.write("s.yaml", &format!("{TARGET}steps: [{ask}, {act}]\n"));
        assert_eq!(place.aye(&["run", "s.yaml"]).code, 6, "{act}");
        let id = place.aye(&["inbox", "--json"]).ok().json()[0]["question"].clone();
        place.aye(&["answer", id.as_str().unwrap(), "proceed", "--remember", "--resume"]);
        place.aye(&["cancel", "last"]);
        let other = place.aye(&[&["run", "s.yaml"], &PRODUCTION[..]].concat());
        assert_eq!(other.code, 6, "{act}: {}", other.all());
    }
}

#[test]
fn answers_of_one_step_are_told_apart() {
    let place = Place::new();
    place.write("s.yaml", &gated("command: echo\n    args: ['deploy {{ inputs.target }}']"));
    for target in ["target=stage", "target=other"] {
        assert_eq!(place.aye(&["run", "s.yaml", "-i", target, "--no-input"]).code, 6);
        let id = place.aye(&["inbox", "--json"]).ok().json()[0]["question"].clone();
        let id = id.as_str().unwrap();
        place.aye(&["answer", id, "proceed", "--remember", "--resume"]).ok();
    }
    let listed = place.aye(&["memory", "list", "preferences"]).ok().stdout;
    for target in ["stage", "other"] {
        assert!(listed.contains(&format!("asked: Go? (echo 'deploy {target}')")), "{listed}");
    }
}

/// Nobody who looks at the record could say what such a yes was for: it is asked each time.
#[test]
fn not_through_a_variable_whose_name_hides_it() {
    let place = Place::new();
    let step = "command: 'true'\n    env: { OBJECT_KEY: '{{ inputs.target }}' }";
    place.write("s.yaml", &gated(step));
    assert_eq!(place.aye(&["run", "s.yaml"]).code, 6);
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    let listed = inbox[0]["details"]["not_covered"].to_string();
    assert!(listed.contains("the value of `OBJECT_KEY`: its name hides it"), "{listed}");
    let id = inbox[0]["question"].as_str().unwrap();
    place.aye(&["answer", id, "yes", "--remember", "--resume"]).ok();
    for args in [&["run", "s.yaml"][..], &[&["run", "s.yaml"], &PRODUCTION[..]].concat()] {
        let ran = place.aye(args);
        assert_eq!(ran.code, 6, "{}", ran.all());
    }
}

#[test]
fn not_through_what_belongs_to_the_step() {
    let echo = "command: echo, args: ['{{ inputs.target }}']";
    is_not_for_production(&format!("command: 'true'\n    then: [{{ name: t, {echo} }}]"));
    let check = "validate: [{ command: echo, args: ['{{ inputs.target }}'] }]";
    is_not_for_production(&format!("command: 'true'\n    {check}"));
}

#[test]
fn not_through_a_repair() {
    let place = Place::new();
    let step = "shell: 'test -e done || { touch done; exit 3; }'\n    on_error: auto_heal";
    let heal = "heal: [{ name: h, match: { exit_code: 3 }, repair: { command: echo, args: ['{{ inputs.target }}'] } }]\nsteps:";
    place.write("s.yaml", &gated(step).replacen("steps:", heal, 1));
    assert_eq!(after_a_yes(&place, &PRODUCTION), 6);
}
