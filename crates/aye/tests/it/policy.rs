//! Hostile values and forbidden programs, with the real program: nothing runs.

use crate::cli::harness::{Place, Ran};

const HOSTILE: [&str; 10] = [
    "$(touch PWNED)",
    "`touch PWNED`",
    "'; touch PWNED #",
    "\"; touch PWNED #",
    "a; touch PWNED",
    "x\ntouch PWNED\n",
    "EOF\ntouch PWNED",
    "a[$(touch PWNED)]",
    "{{ env.HOME }}{% raw %}",
    "}$(touch PWNED)'\"\\",
];

/// A skill with a value in every field that takes a template.
const EVERY_FIELD: &str = r#"
name: every_field
description: "{{ inputs.x }}"
inputs:
  - { name: x, required: true }
steps:
  - name: argument
    command: printf
    args: ["%s|", "{{ inputs.x }}", "a {{ inputs.x }} b"]
    output: printed
  - name: unquoted
    shell: printf '%s|' {{ inputs.x }} a{{ printed }}b > unquoted.txt
  - name: quoted
    shell: |
      printf '%s|' "{{ inputs.x }}" '{{ inputs.x }}' "$(printf '%s' "{{ inputs.x }}")" > quoted.txt
      # {{ inputs.x }}
      cat <<EOF > here.txt
      {{ inputs.x }}
      EOF
      v=${u:-{{ inputs.x }}}; printf '%s' "$v" > default.txt
      case {{ inputs.x }} in "{{ inputs.x }}") printf matched > case.txt;; esac
      sh -c "printf '%s' {{ inputs.x | quote }}" > second.txt
  - name: loop
    shell: printf '%s|'{% for i in [inputs.x, inputs.x ~ '2'] %} {{ i }}{% endfor %} > loop.txt
  - name: environment
    shell: printf '%s' "$VALUE" > env.txt
    env: { VALUE: "{{ inputs.x }}", AYE_V1: "$(touch PWNED)" }
  - name: standard_input
    command: tee
    args: [stdin.txt]
    stdin: "{{ inputs.x }}"
  - name: program
    command: "{{ inputs.x }}"
    on_error: continue
  - name: directory
    command: touch
    args: [PWNED-directory]
    cwd: "{{ inputs.x }}"
    on_error: continue
  - name: command_position
    shell: "{{ inputs.x }}"
    on_error: continue
  - name: skipped
    command: touch
    args: [PWNED-condition]
    condition: inputs.x == 'yes'
  - name: asked
    command: "true"
    confirmation: { message: "Continue with {{ inputs.x }}?", default: no }
outputs:
  - { name: result, value: "got {{ inputs.x }}" }
"#;

fn traces(place: &Place) -> Vec<String> {
    let names = std::fs::read_dir(place.work()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("PWNED")).collect()
}

#[test]
fn hostile_values_in_every_field_run_nothing() {
    for x in HOSTILE {
        let place = Place::new();
        place.write("skill.yaml", EVERY_FIELD);
        let ran = place.aye(&["run", "skill.yaml", "--yes", "-i", &format!("x={x}")]);
        assert_eq!(ran.code, 0, "{x:?}: {}", ran.all());
        assert_eq!(traces(&place), Vec::<String>::new(), "{x:?}");
        let printed = format!("{x}|a {x} b|");
        assert_eq!(place.read("unquoted.txt"), format!("{x}|a{printed}b|"));
        // `$( … )` drops the line breaks at the end, here as everywhere.
        assert_eq!(place.read("quoted.txt"), format!("{x}|{x}|{}|", x.trim_end_matches('\n')));
        assert_eq!(place.read("here.txt"), format!("{x}\n"));
        assert_eq!(place.read("default.txt"), x);
        assert_eq!(place.read("case.txt"), "matched");
        assert_eq!(place.read("second.txt"), x);
        assert_eq!(place.read("loop.txt"), format!("{x}|{x}2|"));
        assert_eq!(place.read("env.txt"), x);
        assert_eq!(place.read("stdin.txt"), x);
        for question in ["show", "logs"] {
            place.aye(&[question, "last"]);
        }
        assert_eq!(traces(&place), Vec::<String>::new(), "{x:?} when shown");
    }
}

/// Runs a skill of one step under these settings.
fn under(place: &Place, settings: &str, step: &str, x: &str) -> Ran {
    place.write("aye.toml", settings);
    let skill = format!(
        "name: one\ninputs: [{{ name: x, default: '' }}]\nsteps:\n  - name: only\n    {step}\n"
    );
    place.write("skill.yaml", &skill);
    place.aye(&["run", "skill.yaml", "--json", "-i", &format!("x={x}")])
}

fn refused(settings: &str, step: &str, x: &str, code: &str, parts: &[&str]) {
    let place = Place::new();
    let ran = under(&place, settings, step, x);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.stdout.contains(&format!("\"code\":\"{code}\"")), "{}", ran.all());
    for part in parts {
        assert!(ran.stdout.contains(part), "no {part} in {}", ran.all());
    }
    assert_eq!(traces(&place), Vec::<String>::new());
}

fn allowed(settings: &str, step: &str, x: &str) {
    let place = Place::new();
    let ran = under(&place, settings, step, x);
    assert_eq!(ran.code, 0, "{}", ran.all());
}

#[test]
fn only_allowed_programs_run() {
    let allow = |entry: &str| format!("[policy]\nallow = [\"{entry}\"]\n");
    let touch = "command: touch\n    args: [PWNED]";
    let parts = ["command `touch PWNED` is not allowed", "add it to `allow` under `[policy]`"];
    for entry in ["git", "touc", "ouch", "/usr/bin/git", "./touch"] {
        refused(&allow(entry), touch, "", "COMMAND_NOT_ALLOWED", &parts);
    }
    let touch = "command: touch\n    args: [file]";
    for entry in ["touch", "tou*", "/usr/bin/touch", "/usr/*/t*h"] {
        allowed(&allow(entry), touch, "");
    }
    let shell = "shell: touch PWNED";
    refused(&allow("touch"), shell, "", "COMMAND_NOT_ALLOWED", &["command `sh -c 'touch PWNED'`"]);
    allowed(&allow("sh"), "shell: 'true'", "");
    // What cannot be found is not found, not forbidden.
    let place = Place::new();
    let ran = under(&place, &allow("git"), "command: no-such-program", "");
    assert_eq!(ran.code, 127, "{}", ran.all());
}

#[test]
fn a_program_of_the_project_is_allowed_by_its_path() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let tool = place.write("bin/tool", "#!/bin/sh\ntouch ran\n");
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    let ran = under(&place, "[policy]\nallow = [\"./bin/tool\"]\n", "command: ./bin/tool", "");
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(place.work().join("ran").is_file());
    // The same name elsewhere is another program.
    let ran = under(&place, "[policy]\nallow = [\"tool\"]\n", "command: ./bin/tool", "");
    assert!(ran.stdout.contains("COMMAND_NOT_ALLOWED"), "{}", ran.all());
}

#[test]
fn a_link_to_a_program_elsewhere_is_that_program() {
    let place = Place::new();
    std::fs::create_dir(place.work().join("bin")).unwrap();
    let touch = std::fs::canonicalize("/usr/bin/touch").unwrap();
    std::os::unix::fs::symlink(&touch, place.work().join("bin/mine")).unwrap();
    let step = "command: ./bin/mine\n    args: [PWNED]";
    let ran = under(&place, "[policy]\nallow = [\"./bin/*\"]\n", step, "");
    assert!(ran.stdout.contains("COMMAND_NOT_ALLOWED"), "{}", ran.all());
    let hint = format!("/bin/mine`, a link to `{}`; add it to `allow`", touch.display());
    assert!(ran.stdout.contains(&hint), "{}", ran.all());
    assert_eq!(traces(&place), Vec::<String>::new());
    // Who names it has looked where it leads.
    let step = step.replace("PWNED", "file");
    assert_eq!(under(&place, "[policy]\nallow = [\"./bin/mine\"]\n", &step, "").code, 0);
}

#[test]
fn a_refused_block_of_python_is_named_by_its_program() {
    let parts = ["command `python3` is not allowed"];
    let step = "compute: result = 1\n    python: true";
    refused("[policy]\nallow = [\"git\"]\n", step, "", "COMMAND_NOT_ALLOWED", &parts);
}

#[test]
fn steps_stay_inside_the_workspace() {
    let settings = "[policy]\nworkspace_only = true\n";
    let step = "command: touch\n    args: [PWNED]\n    cwd: \"{{ inputs.x }}\"";
    for outside in ["/", "..", "../work/..", "/tmp"] {
        let parts = ["is outside the workspace", "touch PWNED"];
        refused(settings, step, outside, "PATH_TRAVERSAL", &parts);
    }
    // What is not there is outside or missing, and named as it would be.
    let outside = ["working directory `PLACE/nosuch/x` of `touch PWNED` is outside the workspace"];
    refused(settings, step, "../nosuch/x", "PATH_TRAVERSAL", &outside);
    let missing = ["working directory `PLACE/work/nosuch` does not exist"];
    refused(settings, step, "nosuch", "WORKING_DIRECTORY_NOT_FOUND", &missing);
    allowed(settings, &step.replace("PWNED", "file"), ".");
    allowed(settings, &step.replace("PWNED", "file"), "../work");
    allowed("", &step.replace("PWNED", "file"), "..");
}

#[test]
fn verbatim_values_are_checked_if_the_policy_says_so() {
    let settings = "[policy]\ncheck_shell_values = true\n";
    let step = "shell: touch {{ inputs.x | safe }}";
    refused(settings, step, "a; touch PWNED", "INJECTION_DETECTED", &["a command separator"]);
    refused(settings, step, "PWNED $(id)", "INJECTION_DETECTED", &["hint"]);
    allowed(settings, step, "file");
    allowed("", step, "a; touch b");
    // Without a policy too: a shell would calculate with it.
    refused(
        "",
        "shell: echo $(( {{ inputs.x }} ))",
        "a[$(touch PWNED)]",
        "INJECTION_DETECTED",
        &[],
    );
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    for (settings, part) in [
        ("[policy]\nalow = []\n", "alow"),
        ("[policy]\nallow = []\n", "leave it out to allow all"),
        ("[policy]\nallow = [\"\"]\n", "allow"),
        ("[run]\nmax_processes = 0\n", "max_processes"),
        ("[run]\nmax_result = '1kB'\n", "`max_result` is outside of `64KiB` to `64MiB`"),
        ("[run]\nmax_result = '10'\n", "has no unit"),
        ("[run]\nmax_step_timeout = 'long'\n", "max_step_timeout"),
    ] {
        let place = Place::new();
        let ran = under(&place, settings, "command: touch\n    args: [PWNED]", "");
        assert_eq!(ran.code, 2, "{}", ran.all());
        assert!(ran.stderr.contains(part), "{}", ran.all());
        assert_eq!(traces(&place), Vec::<String>::new());
    }
    allowed("[run]\nmax_processes = 1\n", "command: 'true'", "");
}

#[test]
fn settings_that_cannot_be_read_are_not_taken_for_none() {
    let place = Place::new();
    let skill = "name: s\nsteps: [{ name: a, command: touch, args: [PWNED] }]\n";
    place.write("skill.yaml", skill);
    let refused = |part: &str| {
        let ran = place.aye(&["run", "skill.yaml"]);
        assert!(ran.code == 2 || ran.code == 3, "{}", ran.all());
        assert!(ran.stderr.contains(part), "{}", ran.all());
        assert_eq!(traces(&place), Vec::<String>::new());
    };
    let path = place.work().join("aye.toml");
    std::os::unix::fs::symlink("nowhere.toml", &path).unwrap();
    refused("cannot read `PLACE/work/aye.toml`");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    refused("`PLACE/work/aye.toml` is not a file");
    std::fs::remove_dir(&path).unwrap();
    place.write("aye.toml", &" ".repeat(2 << 20));
    refused("`PLACE/work/aye.toml` is too large");
}

#[test]
fn settings_that_anybody_could_have_put_there_are_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    place.write("below/skill.yaml", "name: s\nsteps: [{ name: a, command: 'true' }]\n");
    let path = place.write("aye.toml", "[run]\ngrace = \"1s\"\n");
    let everybody = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(place.work(), everybody).unwrap();
    let run = || {
        let mut command = place.command(&["run", "skill.yaml", "-q"]);
        Ran::of(command.current_dir(place.work().join("below")).output().unwrap(), &place)
    };
    run().ok();
    if !crate::needs::root("settings of another user in a directory of everybody's") {
        return;
    }
    std::os::unix::fs::chown(&path, Some(65_534), None).unwrap();
    let ran = run();
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.stderr.contains("`PLACE/work/aye.toml` belongs to another user"), "{}", ran.all());
    // In a directory of one's own it is what one has put there.
    std::fs::set_permissions(place.work(), std::fs::Permissions::from_mode(0o755)).unwrap();
    run().ok();
}

#[test]
fn a_run_keeps_to_its_own_project_wherever_it_goes_on() {
    let place = Place::new();
    place.write("inner.yaml", "name: inner\nsteps: [{ name: i, command: 'true' }]\n");
    place.write("aye.toml", "[policy]\nallow = [\"true\"]\n[tools.say]\ncommand = [\"true\"]\n");
    let skill = "
name: s
steps:
  - { name: ask, confirm: { message: 'Go?', timeout: 0 } }
  - { name: tool, tool: say }
  - { name: inside, skill: inner.yaml }
  - { name: forbidden, command: touch, args: [PWNED] }
";
    place.write("skill.yaml", skill);
    let elsewhere = place.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let from_there = |args: &[&str]| {
        Ran::of(place.command(args).current_dir(&elsewhere).output().unwrap(), &place)
    };
    let checked = |run: &str| {
        let shown = place.aye(&["show", run]).ok();
        assert!(shown.stdout.contains("✓ tool"), "{}", shown.all());
        assert!(shown.stdout.contains("✓ inside"), "{}", shown.all());
        assert!(shown.stdout.contains("`touch PWNED` is not allowed"), "{}", shown.all());
        assert_eq!(traces(&place), Vec::<String>::new());
    };
    // Resumed from elsewhere.
    assert_eq!(place.aye(&["run", "skill.yaml"]).code, 6);
    let run = place.last();
    from_there(&["answer", &format!("{run}-1"), "proceed"]).ok();
    let ran = from_there(&["resume", &run]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    checked(&run);
    // Answered and taken up from elsewhere, in one go.
    assert_eq!(place.aye(&["run", "skill.yaml"]).code, 6);
    let run = place.last();
    assert_eq!(from_there(&["answer", &format!("{run}-1"), "proceed", "--resume"]).code, 1);
    checked(&run);
    // And into the background.
    assert_eq!(place.aye(&["run", "skill.yaml"]).code, 6);
    let run = place.last();
    from_there(&["answer", &format!("{run}-1"), "proceed"]).ok();
    from_there(&["resume", &run, "--detach"]).ok();
    crate::cli::harness::until("it has failed", || place.status() == "failed");
    checked(&run);
}

#[test]
fn a_secret_is_in_no_argument_of_a_shell_step() {
    let place = Place::new();
    place.write(
        "skill.yaml",
        r"
name: s
inputs: [{ name: token, type: secret }]
steps:
  - name: a
    shell: |
      tr '\0' ' ' < /proc/$$/cmdline > line.txt
      printf '%s' {{ inputs.token }} '{{ inputs.token }}' > value.txt
",
    );
    let ran = place.aye(&["run", "skill.yaml", "-i", "token=hunter2"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(!place.read("line.txt").contains("hunter2"), "{}", place.read("line.txt"));
    assert!(place.read("line.txt").contains("AYE_V1"), "{}", place.read("line.txt"));
    assert_eq!(place.read("value.txt"), "hunter2hunter2");
    assert!(!ran.all().contains("hunter2"), "{}", ran.all());
}
