//! Inputs: from options, files and standard input; what is wrong with them.

use insta::assert_snapshot;

use super::harness::Place;

const SKILL: &str = "\
name: takes
inputs:
  - { name: commit, type: string, required: true, match: '^[0-9a-f]+$' }
  - { name: environment, default: stage, enum: [stage, production] }
  - { name: count, type: integer, default: 1 }
  - { name: tags, type: array, default: [] }
  - { name: token, type: secret, required: false }
steps:
  - name: show
    command: printf
    args: ['%s|', '{{ inputs.commit }}', '{{ inputs.environment }}', '{{ inputs.count }}', '{{ inputs.tags | join(\"+\") }}', '{{ inputs.token or \"\" }}'] # aye: allow secret-in-arguments
";

fn place() -> Place {
    let place = Place::new();
    place.write("takes.yaml", SKILL);
    place
}

#[test]
fn options_files_and_standard_input_give_inputs() {
    let place = place();
    place.write("in.json", r#"{"commit": "f00", "count": 3, "tags": ["x", "y"]}"#);
    let run = ["-q", "run", "takes.yaml"];
    let said = |more: &[&str]| place.aye(&[&run[..], more].concat()).ok().stdout;
    assert_eq!(said(&["-i", "commit=abc", "-i", "tags=a,b"]), "abc|stage|1|a+b||\n");
    assert_eq!(said(&["--inputs", "in.json"]), "f00|stage|3|x+y||\n");
    assert_eq!(said(&["--inputs", "in.json", "-i", "count=4"]), "f00|stage|4|x+y||\n");
    let ran =
        place.aye_with_input(&[&run[..], &["--inputs", "-"]].concat(), r#"{"commit": "0"}"#).ok();
    assert_eq!(ran.stdout, "0|stage|1|||\n");
}

#[test]
fn what_is_wrong_is_said_all_at_once() {
    let place = place();
    assert_snapshot!(place.aye(&["run", "takes.yaml"]).all(), @r"
    --- stderr
    error: input `commit` is missing
    hint: give it with `-i commit=…`
    --- exit 2
    ");
    let wrong =
        ["-i", "comit=abc", "-i", "commit=xyz", "-i", "environment=moon", "-i", "count=many"];
    assert_snapshot!(place.aye(&[&["run", "takes.yaml"], &wrong[..]].concat()).all(), @r"
    --- stderr
    error: input `commit`: `xyz` does not match `^[0-9a-f]+$`
           input `environment`: `moon` must be `stage` or `production`
           input `count`: `many` is not a whole number
           the skill has no input `comit`
    hint: did you mean `commit`?
    --- exit 2
    ");
    for given in ["prod", "prodution", "PRODUCTION"] {
        let input = format!("environment={given}");
        let said = place.aye(&["run", "takes.yaml", "-i", "commit=0", "-i", &input]).stderr;
        let expected = format!(
            "error: input `environment`: `{given}` must be `stage` or `production`\nhint: did you mean `production`?\n"
        );
        assert_eq!(said, expected);
    }
    assert_snapshot!(place.aye(&["run", "takes.yaml", "-i", "commit"]).all(), @r"
    --- stderr
    error: `commit` is not an input
    hint: write `-i name=value`
    --- exit 2
    ");
    assert!(!place.home().exists(), "nothing was begun");
}

#[test]
fn files_that_hold_no_inputs_are_refused() {
    let place = place();
    place.write("list.json", "[1]");
    assert_snapshot!(place.aye(&["run", "takes.yaml", "--inputs", "list.json"]).all(), @r#"
    --- stderr
    error: cannot read inputs from `list.json`: invalid type: sequence, expected a map at line 1 column 0
    hint: write a JSON object: {"name": "value"}
    --- exit 2
    "#);
    assert_snapshot!(place.aye(&["run", "takes.yaml", "--inputs", "gone.json"]).all(), @r"
    --- stderr
    error: cannot read `gone.json`: No such file or directory (os error 2)
    hint: check the path
    --- exit 3
    ");
    let ran = place.aye_with_input(&["run", "takes.yaml", "--inputs", "-"], "{");
    assert_snapshot!(ran.all(), @r#"
    --- stderr
    error: cannot read inputs from `-`: EOF while parsing an object at line 1 column 1
    hint: write a JSON object: {"name": "value"}
    --- exit 2
    "#);
}

#[test]
fn secrets_are_nowhere_to_be_read() {
    let place = place();
    let secret = "hunter2-and-more";
    let given = format!("token={secret}");
    let ran = place.aye(&["run", "takes.yaml", "-i", "commit=a", "-i", &given]).ok();
    assert!(!ran.all().contains(secret), "{}", ran.all());
    for command in
        [&["show", "last"][..], &["show", "last", "--json"], &["logs", "last"], &["runs", "--json"]]
    {
        let ran = place.aye(command).ok();
        assert!(!ran.all().contains(secret), "{command:?}: {}", ran.all());
    }
    let mut files = vec![place.home()];
    let mut seen = 0;
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        seen += 1;
        let bytes = std::fs::read(&path).unwrap();
        let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!found, "{} holds the secret", path.display());
    }
    assert!(seen > 1, "journal and log are there");
}
