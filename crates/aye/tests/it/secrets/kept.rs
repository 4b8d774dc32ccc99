//! What is known of secrets later: in the next process, around and inside the run that had them,
//! and in data.

use super::traces::{files, silent};
use crate::cli::harness::{Place, Ran};

const CI: &str = "tok-swordfish-99";
const VAULT: &str = "mackerel-in-a-vault";

fn run(place: &Place, args: &[&str]) -> Ran {
    let mut command = place.command(args);
    let remote = format!("https://{CI}@host/");
    command.env("CI", CI).env("CI_TOKEN", CI).env("REMOTE", remote);
    command.env("VAULT", VAULT).env("PIN", "443");
    Ran::of(command.output().unwrap(), place)
}

fn question(place: &Place) -> String {
    let open = run(place, &["inbox", "--json"]).ok().json();
    open[0]["question"].as_str().unwrap().to_owned()
}

/// Neither printed nor in a file.
#[track_caller]
fn hidden(place: &Place, ran: &Ran, values: &[&str]) {
    let mut all = files(&place.home());
    all.push(("what was printed".into(), ran.all().into_bytes()));
    let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
    silent(&all, &values);
}

/// `env.REMOTE` has no name like a secret, and what the first step gets is a part of it.
#[test]
fn what_a_name_hides_is_masked_after_a_pause() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\nsteps:\n  - { name: a, command: 'true', env: { UP_TOKEN: '{{ env.CI_TOKEN }}' } }\n  - { name: b, command: echo, args: ['{{ env.REMOTE }}'], confirmation: { message: 'push?', timeout: 1h, remember: true } }\n  - { name: c, shell: 'echo then $CI' }\n",
    );
    run(&place, &["run", "s.yaml"]);
    let open = question(&place);
    let ran = run(&place, &["answer", &open, "yes", "--resume", "--remember"]);
    assert_eq!(ran.code, 0, "nothing has changed: {}", ran.all());
    let all = run(&place, &["logs", "last"]).ok();
    assert_eq!(all.stdout.lines().filter(|line| line.contains("***")).count(), 2, "{}", all.all());
    hidden(&place, &ran, &[CI]);
}

/// What only a name hides is shown by the question: nobody agrees to what they cannot see. What
/// memory keeps of it, and everything later, is masked.
#[test]
fn memory_keeps_nothing_that_a_name_hides() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\ninputs: [{ name: pw, default: S3cretPassw0rd }]\nsteps:\n  - { name: a, command: 'true', env: { DB_PASSWORD: '{{ inputs.pw }}' } }\n  - { name: b, command: echo, args: ['-p{{ inputs.pw }}'], confirmation: { message: 'go?', timeout: 1h, remember: true } }\n",
    );
    run(&place, &["run", "s.yaml"]);
    let open = question(&place);
    let ran = run(&place, &["answer", &open, "yes", "--resume", "--remember"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let kept = std::fs::read_to_string(place.home().join("memory/learned/confirmations.yaml"));
    let kept = kept.unwrap();
    assert!(kept.contains("echo -p***") && !kept.contains("S3cret"), "{kept}");
}

const KID: &str = "name: kid\ninputs: [{ name: k, type: secret, required: true, from: { env: VAULT } }]\nsteps:\n  - { name: a, command: 'true', env: { UP_TOKEN: '{{ env.CI }}' } }\n";

/// The run around prints what a run inside had, in the same process and in the next.
#[test]
fn what_runs_inside_had_is_masked_around_them() {
    for inside in ["skill: kid.yaml", "foreach: [1, 2]\n    skill: kid.yaml"] {
        for pause in ["", "  - { name: ok, confirm: { message: 'go?', timeout: 1h } }\n"] {
            let place = Place::new();
            place.write("kid.yaml", KID);
            let text = format!(
                "name: s\nsteps:\n  - name: k\n    {inside}\n{pause}  - {{ name: b, shell: 'echo $VAULT and $CI' }}\n"
            );
            place.write("s.yaml", &text);
            let mut ran = run(&place, &["run", "s.yaml"]);
            if !pause.is_empty() {
                let open = question(&place);
                ran = run(&place, &["answer", &open, "yes", "--resume"]);
            }
            assert_eq!(ran.code, 0, "{}", ran.all());
            assert!(ran.all().contains("*** and ***"), "{}", ran.all());
            hidden(&place, &ran, &[CI, VAULT]);
        }
    }
}

/// Programs get what they are given, whatever the journal shows of it.
#[test]
fn data_with_a_secret_in_it_reaches_programs_as_it_is() {
    let place = Place::new();
    place.write(
        "kid.yaml",
        "name: kid\ninputs: [{ name: words, type: array }, { name: port, type: integer, default: 8443 }]\nsteps:\n  - { name: w, shell: 'cat > $OUT', stdin: '{{ inputs.words[1] }} {{ inputs.port + 1 }}', env: { OUT: words } }\n  - { name: made, compute: 'result = {\"x\": inputs.words[1]}' }\noutputs:\n  - { name: o, value: '{{ made }}' }\n",
    );
    place.write(
        "s.yaml",
        "name: s\ninputs:\n  - { name: token, type: secret, required: true, from: { env: VAULT } }\n  - { name: pin, type: secret, required: true, from: { env: PIN } }\nsteps:\n  - { name: k, skill: kid.yaml, inputs: { words: ['--token', '{{ inputs.token }}'] } }\n  - { name: given, shell: 'cat > given', stdin: '{{ k.o.x }}' }\n  - { name: each, foreach: ['{{ inputs.token }}'], shell: 'echo x-$T', env: { T: '{{ item }}' } }\n  - { name: item, shell: 'cat > item', stdin: '{{ each[0] }}' }\n  - { name: loud, shell: 'echo x-$T', env: { T: '{{ inputs.token }}' } }\n  - { name: record, shell: 'cat > record', stdin: '{{ steps.loud.stdout }}' }\n  - { name: result, shell: 'cat > result', stdin: '{{ loud }}' }\n",
    );
    let ran = run(&place, &["run", "s.yaml"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(place.read("words"), format!("{VAULT} 8444"));
    assert_eq!(place.read("given"), VAULT);
    assert_eq!(place.read("item").trim(), format!("x-{VAULT}"));
    // A result is as it is; the record of a step is what the journal has.
    assert_eq!(place.read("result").trim(), format!("x-{VAULT}"));
    assert_eq!(place.read("record").trim(), "x-***");
    hidden(&place, &ran, &[VAULT]);
}

/// An input that a secret is only a part of, given again.
#[test]
fn an_input_that_a_secret_is_a_part_of_is_not_remembered_after_a_pause() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\ninputs:\n  - { name: token, type: secret, required: true, from: { env: VAULT } }\n  - { name: url, required: true }\n  - { name: list, type: array, default: [] }\nsteps:\n  - { name: ok, confirm: { message: 'ready?', timeout: 1h } }\n  - { name: a, command: echo, args: ['{{ inputs.url }}', '{{ inputs.list[0] }}'], confirmation: { message: 'go?', timeout: 1h, remember: true } }\n",
    );
    let url = format!("url=https://{VAULT}@stage.example/");
    let list = format!("list=x-{VAULT},y");
    run(&place, &["run", "s.yaml", "-i", &url, "-i", &list]);
    run(&place, &["answer", &question(&place), "yes"]).ok();
    let ran = run(&place, &["resume", "last", "-i", &url, "-i", &list]);
    let open = run(&place, &["inbox", "--json"]).ok().json();
    let details = &open[0]["details"];
    assert!(details["follows"].as_str().unwrap().contains("x-***"), "{details}");
    assert!(details["remember"].is_null(), "{details}");
    assert!(details["not_covered"].to_string().contains("the answer is not remembered"));
    hidden(&place, &ran, &[VAULT, "stage.example"]);
}

/// The called skill calls it a secret, so it is hidden; it decides what the skill does all the
/// same.
#[test]
fn a_plain_value_for_a_secret_input_is_not_remembered() {
    for (given, remembered) in
        [("{{ inputs.token }}", true), ("{{ inputs.target }}", false), ("stage", false)]
    {
        let place = Place::new();
        place.write(
            "kid.yaml",
            "name: kid\ninputs: [{ name: where, type: secret }]\nsteps:\n  - { name: a, shell: 'cat', stdin: '{{ inputs.where }}' }\n",
        );
        let text = format!(
            "name: s\ninputs:\n  - {{ name: token, type: secret, required: true, from: {{ env: VAULT }} }}\n  - {{ name: target, default: stage }}\nsteps:\n  - {{ name: call, skill: kid.yaml, inputs: {{ where: '{given}' }}, confirmation: {{ message: 'go?', timeout: 1h, remember: true }} }}\n"
        );
        place.write("s.yaml", &text);
        run(&place, &["run", "s.yaml"]);
        let open = run(&place, &["inbox", "--json"]).ok().json();
        let details = &open[0]["details"];
        assert_eq!(details["remember"].as_bool().unwrap_or(false), remembered, "{details}");
        let why = "the value of the input `where`: the skill calls it a secret";
        assert_eq!(details["not_covered"].to_string().contains(why), !remembered, "{details}");
    }
}

/// What an earlier step printed is lost with the process if a name hides a part of it: nobody can
/// give it again, and nothing runs with `***`.
#[test]
fn a_result_that_a_name_hides_is_lost_after_a_pause_and_the_error_says_what_to_do() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\ninputs: [{ name: target, default: production-eu }]\nsteps:\n  - { name: a, command: 'true', env: { OBJECT_KEY: '{{ inputs.target }}' } }\n  - { name: b, command: echo, args: ['url for {{ inputs.target }}'] }\n  - { name: ok, confirm: { message: 'go?', timeout: 1h } }\n  - { name: c, command: touch, args: ['{{ b }}'] }\n",
    );
    run(&place, &["run", "s.yaml"]);
    let ran = run(&place, &["answer", &question(&place), "yes", "--resume"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.all().contains("the secret `b` is not known"), "{}", ran.all());
    assert!(ran.all().contains("`aye run SKILL --from b`"), "{}", ran.all());
    assert!(!place.work().join("url for ***").exists());
}
