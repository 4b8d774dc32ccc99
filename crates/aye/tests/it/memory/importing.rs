//! Files of the original system.

use serde_json::{Value, json};

use crate::cli::harness::Place;

const FIXES: &str = "
tool_fixes:
  - {tool_name: bonfire_deploy, error_pattern: manifest unknown, root_cause: short tag, fix_applied: use the full SHA, date_learned: '2026-01-03', times_prevented: 2}
  - {tool_name: bonfire_deploy, error_pattern: manifest unknown, root_cause: short tag, fix_applied: use the full SHA}
  - {tool_name: '', error_pattern: x, fix_applied: y}
  - {tool_name: git_push, error_pattern: '!', fix_applied: y}
common_mistakes: {a: b}
stats: {total_learned: 2}
";
const FAILURES: &str = "
failures:
  - {tool: gitlab_mr_list, error_type: auth, error_snippet: HTTP 403 - access forbidden, fix_applied: kube_login, success: true, source: skill_engine, timestamp: '2026-01-18T16:18:51.837740'}
  - {tool: x}
  - {tool: oc, error_snippet: it broke badly}
stats: {total_failures: 1}
auto_fixes: []
";
const USAGE: &str = "
usage_patterns:
  - id: bonfire_deploy_format
    tool: bonfire_deploy
    error_category: PARAMETER_FORMAT
    mistake_pattern: {error_regex: manifest unknown, parameter: image_tag, common_mistakes: [abc1234, 9f8e7d6]}
    root_cause: the tag is a short SHA
    prevention_steps: [{action: validate, parameter: image_tag, validation: 40 hex digits, reason: the registry knows full SHAs only}]
    observations: 25
    first_seen: '2026-01-02T00:00:00'
    last_seen: '2026-11-16T00:00:00'
  - {tool: x, error_category: MISSING_PARAMETER, mistake_pattern: {error_regex: y}}
  - {tool: x, error_category: WHATEVER}
stats: {}
";
const PATTERNS: &str = "
auth:
  - {pattern: token expired, meaning: log in again, fix: kube_login, commands: [kube s], usage_stats: {times_matched: 3}, cluster: stage}
  - {pattern: 'unauthor.*', meaning: not allowed}
  - {pattern: '(unclosed.*', meaning: bad}
  - {pattern: 'bad ((', meaning: as it stands}
bonfire_patterns:
  - {pattern: no route to host, fix: connect the VPN}
  - {pattern: lonely}
jira_cli: some text
";
const CONFIRMATIONS: &str = "
rel:gate:
  auto_proceed: false
  last_choice: proceed
  choice_history: [{choice: proceed, timestamp: '2024-01-15T10:30:00', context: SHA abc123}]
other:gate: {auto_proceed: true, default_choice: proceed, learned_at: '2024-01-10T09:00:00'}
scale:gate:
  auto_proceed: true
  environment_rules: {stage: auto_proceed, production: always_ask}
";

fn import(place: &Place, files: &[(&str, &str)]) -> Vec<(String, String, String)> {
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    for (name, text) in files {
        place.write(name, text);
    }
    let args = [&["memory", "import", "--json"][..], &names].concat();
    let told = place.aye(&args).ok().json();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let entries = told.as_array().unwrap().iter().flat_map(|file| {
        let entries = file["entries"].as_array().cloned().unwrap_or_default();
        entries
            .into_iter()
            .map(|one| (word(&one["entry"]), word(&one["became"]), word(&one["about"])))
    });
    entries.collect()
}

fn became(lines: &[(String, String, String)]) -> Vec<(&str, &str)> {
    lines.iter().map(|(entry, became, _)| (entry.as_str(), became.as_str())).collect()
}

#[test]
fn every_entry_gets_a_line_and_twice_is_once() {
    let place = Place::new();
    let files = [
        ("tool_fixes.yaml", FIXES),
        ("tool_failures.yaml", FAILURES),
        ("usage_patterns.yaml", USAGE),
        ("patterns.yaml", PATTERNS),
        ("confirmations.yaml", CONFIRMATIONS),
    ];
    let lines = import(&place, &files);
    let (kept, known, over) = ("kept", "known", "passed_over");
    assert_eq!(
        became(&lines),
        [
            ("tool_fixes[0]", kept),
            ("tool_fixes[1]", known),
            ("tool_fixes[2]", over),
            ("tool_fixes[3]", over),
            ("common_mistakes", over),
            ("stats", over),
            ("failures[0]", kept),
            ("failures[1]", over),
            ("failures[2]", kept),
            ("stats", over),
            ("auto_fixes", over),
            ("usage_patterns[0]", kept),
            ("usage_patterns[1]", over),
            ("usage_patterns[2]", over),
            ("stats", over),
            ("auth[0]", kept),
            ("auth[1]", kept),
            ("auth[2]", over),
            ("auth[3]", kept),
            ("bonfire_patterns[0]", kept),
            ("bonfire_patterns[1]", over),
            ("jira_cli", over),
            ("rel:gate", kept),
            ("other:gate", kept),
            ("scale:gate", kept),
        ]
    );
    assert!(lines.iter().all(|(_, _, about)| !about.is_empty()));
    for (entry, said) in [
        ("auth[0]", "; not kept: `usage_stats`, `cluster`"),
        ("auth[3]", ", and looked for as it stands, signs and all"),
        ("tool_fixes[0]", "; not kept: `times_prevented`"),
        ("failures[0]", "; not kept: `error_type`, `source`"),
    ] {
        let line = lines.iter().find(|(name, _, _)| name == entry).unwrap();
        assert!(line.2.ends_with(said), "{line:?}");
    }
    // What was taken in is found, and is only shown.
    let check = ["memory", "check", "Error: manifest unknown", "--tool", "bonfire_deploy"];
    let said = place.aye(&check).ok().stdout;
    assert!(said.contains("use the full SHA") && said.contains("prose"), "{said}");
    for tool in ["bonfire", "bonfire_deploy"] {
        let family = place.aye(&["memory", "check", "", "--tool", tool]).ok().stdout;
        assert!(family.contains("connect the VPN"), "{family}");
    }
    let regex = place.aye(&["memory", "check", "401 Unauthorized", "--tool", "oc"]).ok().stdout;
    assert!(regex.contains("not allowed"), "{regex}");
    let usage = place.aye(&["memory", "list", "usage", "--json"]).ok().json();
    let usage = &usage["usage"][0];
    assert_eq!((&usage["sightings"], &usage["parameter"]), (&json!(25), &json!("image_tag")));
    assert!(usage["prevention"].as_str().unwrap().contains("40 hex digits"), "{usage}");

    let again = import(&place, &files);
    assert!(!became(&again).iter().any(|(_, became)| *became == kept), "{again:#?}");

    let text = place.aye(&["memory", "import", "patterns.yaml"]).ok().stdout;
    assert!(text.contains("patterns.yaml  auth[0]  known already: token expired"), "{text}");
    place.write("not.yaml", "a: 1\n");
    let refused = place.aye(&["memory", "import", "not.yaml"]);
    assert!(
        refused.code == 1 && refused.all().contains("`confirmations.yaml`"),
        "{}",
        refused.all()
    );
}

/// A gate that may be remembered.
fn skill(name: &str) -> String {
    format!(
        "name: {name}\nenvironment: inputs.where\ninputs: [{{ name: where, default: dev }}]\nsteps:\n\
         \x20 - {{ name: gate, confirm: {{ message: Go?, remember: true }} }}\n"
    )
}

#[test]
fn what_the_original_system_was_told_makes_it_stricter_and_never_looser() {
    let place = Place::new();
    for name in ["rel", "other", "scale"] {
        place.write(&format!("{name}.yaml"), &skill(name));
    }
    let asked = |name: &str, at: &str| {
        let at = format!("where={at}");
        place.aye(&["run", &format!("{name}.yaml"), "-i", &at]).code == 6
    };
    let remember = |name: &str, at: &str| {
        assert!(asked(name, at), "{name} asks at first");
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        let question = inbox[0]["question"].as_str().unwrap().to_owned();
        let answer = ["answer", &question, "proceed", "--remember", "step", "--resume"];
        place.aye(&answer).ok();
    };
    remember("rel", "dev");
    assert!(!asked("rel", "dev"), "it is remembered");
    place.write("confirmations.yaml", CONFIRMATIONS);
    place.aye(&["memory", "import", "confirmations.yaml"]).ok();
    assert!(asked("rel", "dev"), "`auto_proceed: false` counts at once");

    // A yes without a digest is nobody's consent; it is said, and can be given again.
    let ran = place.aye(&["run", "other.yaml"]);
    assert_eq!(ran.code, 6, "{}", ran.all());
    assert!(ran.all().contains("on 2024-01-10 someone chose `proceed`"), "{}", ran.all());
    for run in place.aye(&["inbox", "--json"]).ok().json().as_array().unwrap() {
        place.aye(&["cancel", run["run"].as_str().unwrap()]);
    }
    remember("other", "dev");
    assert!(!asked("other", "dev"));
    // `always_ask` of an environment counts there only.
    remember("scale", "dev");
    assert!(!asked("scale", "dev"));
    assert!(asked("scale", "production"));
    // Where it is always asked, nobody is told that remembering it would help.
    let ran = place.aye(&["run", "scale.yaml", "-i", "where=production"]);
    assert!(ran.code == 6 && !ran.all().contains("once more"), "{}", ran.all());
    let ran = place.aye(&["run", "scale.yaml", "-i", "where=stage"]);
    assert!(ran.all().contains("memory: someone chose `proceed`"), "{}", ran.all());
}

/// Neither a second file nor what a skill proposes lifts it; forgetting it does.
#[test]
fn nothing_but_forgetting_lifts_that_a_question_is_always_asked() {
    let place = Place::new();
    place.write("aye.toml", "");
    place.aye(&["trust", "--yes"]).ok();
    place.write("rel.yaml", &skill("rel"));
    let asked = || place.aye(&["run", "rel.yaml", "--no-input"]).code == 6;
    let confirmations = |text: &str| import(&place, &[("confirmations.yaml", text)])[0].clone();
    assert!(asked());
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    let question = inbox[0]["question"].as_str().unwrap().to_owned();
    place.aye(&["answer", &question, "proceed", "--remember", "step", "--resume"]).ok();
    assert!(!asked(), "it is remembered");
    let strict =
        confirmations("rel:gate: {auto_proceed: true, environment_rules: {dev: always_ask}}\n");
    assert_eq!(strict.1, "kept", "{strict:?}");
    assert!(asked(), "in this environment it is always asked");
    let strict = confirmations("rel:gate: {auto_proceed: false}\n");
    assert_eq!(strict.1, "kept", "{strict:?}");
    assert!(asked());

    let known = place.aye(&["memory", "list", "preferences", "--json"]).ok().json();
    let known = known["preferences"].as_array().unwrap().iter();
    let id = known.filter(|one| one["original"] == true).map(|one| one["id"].as_str().unwrap());
    let id = id.collect::<Vec<_>>().join(" ");
    let forget = format!("`aye memory forget {id}`");
    for looser in [
        "{auto_proceed: true, default_choice: proceed}",
        "{auto_proceed: false, environment_rules: {dev: auto_proceed}}",
        "{last_choice: proceed}",
    ] {
        let line = confirmations(&format!("rel:gate: {looser}\n"));
        assert_eq!(line.1, "passed_over", "{looser}: {line:?}");
        assert!(
            line.2.contains("Aye always asks at `rel:gate`") && line.2.contains(&forget),
            "{line:?}"
        );
        assert!(asked(), "{looser}");
    }

    place.write(
        "one.yaml",
        "name: one\nsteps:\n  - name: note\n    compute: |\n\
         \x20     memory.write('learned/confirmations', {'rel:gate': {'auto_proceed': True}})\n\
         \x20     result = 1\n",
    );
    place.aye(&["run", "one.yaml"]).ok();
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    let inbox = inbox.as_array().unwrap().iter();
    let proposal = inbox.filter_map(|entry| entry["proposal"].as_str()).collect::<String>();
    let agree = ["memory", "agree", &proposal, "--yes"];
    let refused = place.aye(&agree);
    assert_eq!(refused.code, 1, "{}", refused.all());
    assert!(refused.stderr.contains("Aye always asks at `rel:gate`"), "{}", refused.all());
    assert!(refused.stderr.contains(&forget), "{}", refused.all());
    assert!(asked(), "nothing was lifted");
    // What a person does lifts it.
    place.aye(&["memory", "forget", &id]).ok();
    place.aye(&agree).ok();
    assert!(!asked());
}

/// Two entries about one error that say different things are two; an expression is one.
#[test]
fn entries_in_other_words_are_kept() {
    let fixes = "tool_fixes:
  - {tool_name: deploy, error_pattern: manifest unknown, root_cause: short tag, fix_applied: use the full SHA}
  - {tool_name: deploy, error_pattern: manifest unknown, root_cause: not pushed, fix_applied: push it first}
  - {tool_name: bonfire, error_pattern: 'manifest.*unknown', fix_applied: wait for the build}
  - {tool_name: bonfire, error_pattern: '(exit code 1)', fix_applied: look at the log}
";
    let patterns = "auth:
  - {pattern: token expired, meaning: log in to the cluster, fix: kube_login}
  - {pattern: token expired, meaning: log in to the registry}
jira_cli:
  - {pattern: token expired, meaning: renew the token, commands: jira init}
";
    let place = Place::new();
    let files = [("tool_fixes.yaml", fixes), ("patterns.yaml", patterns)];
    let lines = import(&place, &files);
    assert!(lines.iter().all(|line| line.1 == "kept"), "{lines:#?}");
    assert!(lines[2].2.contains("as a regular expression"), "{lines:#?}");
    assert!(lines[3].2.contains("looked for as it stands"), "{lines:#?}");
    let check = |error: &str, tool: &str| {
        place.aye(&["memory", "check", error, "--tool", tool]).ok().stdout
    };
    let said = check("Error: manifest unknown", "deploy");
    assert!(said.contains("use the full SHA") && said.contains("push it first"), "{said}");
    assert!(check("manifest blob unknown", "bonfire").contains("wait for the build"));
    assert!(check("make: (exit code 1)", "bonfire").contains("look at the log"));
    let said = check("", "jira_cli");
    assert!(said.contains("renew the token") && said.contains("try: jira init"), "{said}");
    assert!(!said.contains("log in to the cluster"), "{said}");
    let said = check("token expired", "oc");
    for meaning in ["kube_login", "log in to the registry", "renew the token"] {
        assert!(said.contains(meaning), "{meaning}: {said}");
    }
    let again = import(&place, &files);
    assert!(again.iter().all(|line| line.1 == "known"), "{again:#?}");
}

#[test]
fn several_answers_of_one_step_stand_side_by_side() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\ninputs: [{ name: tag, required: true }]\nsteps:\n\
         \x20 - name: go\n    command: echo\n    args: ['{{ inputs.tag }}']\n    confirmation: { message: Go?, remember: true }\n",
    );
    let run = |tag: &str| place.aye(&["run", "s.yaml", "-i", &format!("tag={tag}")]);
    for tag in ["one", "two"] {
        assert_eq!(run(tag).code, 6);
        let inbox = place.aye(&["inbox", "--json"]).ok().json();
        let question = inbox[0]["question"].as_str().unwrap().to_owned();
        place.aye(&["answer", &question, "yes", "--remember", "step", "--resume"]).ok();
    }
    for tag in ["one", "two", "one"] {
        assert_eq!(run(tag).code, 0, "{tag} is remembered");
    }
    assert_eq!(run("three").code, 6);
    let kept = place.aye(&["memory", "list", "preferences", "--json"]).ok().json();
    assert_eq!(kept["preferences"].as_array().map(Vec::len), Some(2), "{kept}");
}

const SEQUENCE: &str = "
usage_patterns:
  - tool: deploy
    error_category: WORKFLOW_SEQUENCE
    mistake_pattern: {error_regex: not reserved|no namespace}
    root_cause: nothing was reserved
    prevention_steps: [{action: call_first, tool: reserve, reason: it needs a namespace}]
    observations: 30
    last_seen: '2099-01-01T00:00:00'
  - tool: deploy
    error_category: PARAMETER_FORMAT
    mistake_pattern: {error_regex: bad tag, parameter: tag}
    observations: 30
";
const FORM: &str = "
usage_patterns:
  - id: deploy_short_sha
    tool: deploy
    error_category: PARAMETER_FORMAT
    mistake_pattern:
      error_regex: manifest unknown|image not found
      parameter: image_tag
      validation: {expected: a full SHA, regex: '^[a-f0-9]{40}$'}
      common_mistakes: [using 8-char short SHA, '']
    root_cause: a short SHA was given
    prevention_steps:
      - {action: validate_parameter, parameter: image_tag, validation: {regex: '^[a-f0-9]{40}$'}, reason: full SHAs only}
      - {action: call_tool_if_invalid, tool: git_rev_parse}
    observations: 50
    confidence: 0.92
    last_seen: '2099-01-01T00:00:00'
";

/// What a value has to look like is looked at before the call.
#[test]
fn the_form_of_a_value_is_checked_before_the_call() {
    let place = Place::new();
    place.write(
        "aye.toml",
        "[tools.deploy]\ncommand = ['sh', '-c', 'echo \"manifest unknown: $0\" >&2; exit 1', '{{ args.image_tag }}']\nargs = { image_tag = {} }\n",
    );
    place.aye(&["trust", "--yes"]).ok();
    let lines = import(&place, &[("usage_patterns.yaml", FORM)]);
    for said in [
        "1 of `common_mistakes` are sentences",
        "it warns where `image_tag` does not match `^[a-f0-9]{40}$`",
        "not kept: `confidence`",
    ] {
        assert!(lines[0].2.contains(said), "{said}: {lines:#?}");
    }
    place.write(
        "s.yaml",
        "name: s\ninputs: [{ name: tag, type: string }]\nsteps:\n  - { name: d, tool: deploy, args: { image_tag: '{{ inputs.tag }}' }, on_error: continue }\n",
    );
    let run = |tag: &str| place.aye(&["run", "s.yaml", "-i", &format!("tag={tag}")]).all();
    let usage = || {
        let listed = place.aye(&["memory", "list", "usage", "--json"]).ok().json();
        listed["usage"].as_array().unwrap().clone()
    };
    let said = run("abc12345");
    let prevention = "a short SHA was given; to prevent it, give `image_tag` as ^[a-f0-9]{40}$ (full \
                      SHAs only), then call `git_rev_parse` first";
    assert!(said.contains(prevention), "{said}");
    let takes_back = format!("`aye memory forget {}`", usage()[0]["id"].as_str().unwrap());
    assert!(said.contains(&takes_back), "{said}");
    // The failure counts where it belongs, and a value of the right form is not warned about.
    assert_eq!(usage().len(), 1, "{:#?}", usage());
    assert_eq!(usage()[0]["sightings"], 51);
    let said = run(&"a1".repeat(20));
    assert!(said.contains("manifest unknown") && !said.contains("usually fails"), "{said}");
    let check = ["memory", "check", "manifest unknown: abc", "--tool", "deploy"];
    assert!(place.aye(&check).ok().stdout.contains("use-"), "it is known");
}

/// \"Call X first\" names no parameter: it warns where X was not called.
#[test]
fn what_has_to_be_called_first_is_warned_about_where_it_was_not() {
    let place = Place::new();
    place.write(
        "aye.toml",
        "[tools.deploy]\ncommand = ['true']\n[tools.reserve]\ncommand = ['true']\n",
    );
    place.aye(&["trust", "--yes"]).ok();
    let lines = import(&place, &[("usage_patterns.yaml", SEQUENCE)]);
    let about = |at: usize| lines[at].2.as_str();
    assert!(about(0).contains("warns where `reserve` was not called before"), "{lines:#?}");
    assert!(!about(0).contains("is an expression"), "its alternatives are words: {lines:#?}");
    for error in ["it is not reserved", "there is no namespace"] {
        let checked = place.aye(&["memory", "check", error, "--tool", "deploy"]).ok().stdout;
        assert!(checked.contains("patterns of use"), "{error}: {checked}");
    }
    assert!(about(1).contains("which values of `tag` are wrong"), "{lines:#?}");
    place.write("bare.yaml", "name: bare\nsteps:\n  - { name: go, tool: deploy }\n");
    place.write(
        "first.yaml",
        "name: first\nsteps:\n  - { name: take, tool: reserve }\n  - { name: go, tool: deploy }\n",
    );
    let said = place.aye(&["run", "bare.yaml"]).ok().all();
    assert!(said.contains("call `reserve` first (it needs a namespace)"), "{said}");
    let said = place.aye(&["run", "first.yaml"]).ok().all();
    assert!(!said.contains("usually fails"), "{said}");
}

/// What was imported is listed, shown with its history, and can be taken back; an entry that
/// is not one of these is named.
#[test]
fn imported_answers_are_entries_like_any_other() {
    let place = Place::new();
    place.write("rel.yaml", &skill("rel"));
    let odd = format!("{CONFIRMATIONS}metadata: {{version: 2}}\n");
    let lines = import(&place, &[("confirmations.yaml", &odd)]);
    let last = lines.last().unwrap();
    assert_eq!((last.0.as_str(), last.1.as_str()), ("metadata", "passed_over"), "{lines:#?}");
    assert!(last.2.contains("not called `SKILL:STEP`"), "{lines:#?}");
    let known = place.aye(&["memory", "list", "preferences", "--json"]).ok().json();
    let known = known["preferences"].as_array().unwrap().clone();
    let rel = known.iter().find(|one| one["skill"] == "rel").unwrap_or_else(|| panic!("{known:?}"));
    assert_eq!((&rel["step"], &rel["standing"]), (&json!("gate"), &json!("always asked")));
    let id = rel["id"].as_str().unwrap().to_owned();
    let listed = place.aye(&["memory", "list"]).ok().stdout;
    let line = listed.lines().find(|line| line.contains(&id)).unwrap_or_else(|| panic!("{listed}"));
    assert!(line.contains("always asked") && line.contains("`proceed` on 2024-01-15"), "{line}");
    let shown = place.aye(&["memory", "show", &id]).ok().stdout;
    assert!(shown.contains("SHA abc123"), "history with its context: {shown}");
    // The question tells what was answered before, and about what.
    let ran = place.aye(&["run", "rel.yaml"]);
    assert!(
        ran.all().contains("the last answer here was `proceed` on 2024-01-15 (SHA abc123)"),
        "{}",
        ran.all()
    );
    place.aye(&["memory", "forget", &id]).ok();
    assert!(!place.aye(&["memory", "list"]).ok().stdout.contains(&id));
    assert_eq!(place.aye(&["memory", "forget", &id]).code, 3);
    let ran = place.aye(&["run", "rel.yaml"]);
    assert!(!ran.all().contains("the last answer here"), "{}", ran.all());
}

/// What a remembered answer is given to again is said before, and afterwards too.
#[test]
fn what_an_answer_covers_is_listed() {
    let place = Place::new();
    place.write(
        "s.yaml",
        "name: s\ninputs: [{ name: tag, required: true }]\nsteps:\n\
         \x20 - name: go\n    command: echo\n    args: ['{{ inputs.tag }}']\n    confirmation: { message: Go?, remember: { any: [inputs.tag] } }\n",
    );
    assert_eq!(place.aye(&["run", "s.yaml", "-i", "tag=a"]).code, 6);
    let inbox = place.aye(&["inbox", "--json"]).ok().json();
    let question = inbox[0]["question"].as_str().unwrap().to_owned();
    place.aye(&["answer", &question, "yes", "--remember", "step", "--resume"]).ok();
    let covers = "this question at this step, with any `tag`, for 30 days";
    for command in [&["memory", "list"][..], &["memory", "list", "preferences", "--json"]] {
        let shown = place.aye(command).ok().stdout;
        assert!(shown.contains(covers), "{command:?}: {shown}");
    }
    let kept = place.aye(&["memory", "list", "preferences", "--json"]).ok().json();
    // Who said it, and in which run.
    assert_eq!(kept["preferences"][0]["run"], place.last().as_str(), "{kept}");
    assert!(kept["preferences"][0]["by"].as_str().is_some_and(|by| !by.is_empty()), "{kept}");
}
