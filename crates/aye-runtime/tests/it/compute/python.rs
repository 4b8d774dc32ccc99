//! `python: true`: the same block in python3.

use std::io::Write;
use std::process::{Command, Stdio};

use aye_core::text::Scope;
use aye_runtime::compute::{
    ComputeError, Limits, PythonResult, printed, propose, python_program, python_result,
};
use serde_json::json;

use super::{block, scope};

fn python(code: &str, scope: &Scope) -> Result<PythonResult, ComputeError> {
    let block = block(code);
    let program = python_program(&block, scope)?;
    let mut child = Command::new(&program.argv[0])
        .args(&program.argv[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is on the PATH");
    child.stdin.take().unwrap().write_all(program.stdin.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    python_result(&block, scope, &String::from_utf8(output.stdout).unwrap(), &Limits::default())
}

#[test]
fn a_block_runs_in_python() {
    let code = "import subprocess\nprint('hello')\nout = subprocess.run(['echo', inputs.commit], capture_output=True)\n\
                result = {'out': out.stdout.decode(), 'tags': image.tags, 're': re.sub('a', 'b', 'a'), 'd': 'n' in dir(),\n\
                'path': str(Path('a') / 'b'), 'set': {1}, 'home': env.HOME}";
    let result = python(code, &scope()).unwrap();
    assert_eq!(
        result.value,
        json!({ "out": "abc123\n", "tags": ["a", "b"], "re": "b", "d": true, "path": "a/b", "set": [1], "home": "/home/ann" })
    );
    let mark = "\u{1e}aye-result {}\n";
    assert_eq!(printed(&format!("hello\n{mark}")), "hello\n");
    assert_eq!(printed("hello\n"), "hello\n", "one that was ended has no result");
    assert_eq!(python("inputs.count * 2", &scope()).unwrap().value, json!(6));
}

#[test]
fn its_errors_have_a_line() {
    let said = python("x = 1\nresult = inputs.nope", &scope()).unwrap_err();
    assert_eq!(said.kind, "AttributeError");
    let place = said.place.as_ref().unwrap();
    assert_eq!((place.line, place.file_line), (2, Some(11)));
    assert!(said.message.contains("it has: commit"), "{said}");
    let said = python("result = float('nan')", &scope()).unwrap_err();
    assert_eq!(said.kind, "ValueError");
    let said = python("import sys\nsys.exit(3)", &scope()).unwrap_err();
    assert_eq!(said.kind, "SystemExit");
    let said = python("import os\nos._exit(3)", &scope()).unwrap_err();
    assert_eq!(said.message, "python3 ended without a result");
}

#[test]
fn values_are_not_in_the_arguments() {
    let program = python_program(&block("result = inputs.commit"), &scope()).unwrap();
    assert!(program.argv.iter().all(|word| !word.contains("abc123")));
    assert!(program.stdin.contains("abc123"));
    // Only names that are used.
    assert!(!program.stdin.contains("tags"));
}

#[test]
fn its_mistakes_are_explained_and_proposed_for() {
    let cases = [
        ("x = 1\nresult = inputs['comit']", "result = inputs['commit']", json!("abc123")),
        ("result = inputs.comit", "result = inputs.commit", json!("abc123")),
        ("result = imge.tags", "result = image.tags", json!(["a", "b"])),
        ("d = {'alpha': 1}\nresult = d.alpha", "result = d[\"alpha\"]", json!(1)),
        ("d = {'alpha': 1}\nresult = d.alpah", "result = d[\"alpha\"]", json!(1)),
        ("result = image['owner'] or 'x'", "result = image.get('owner') or 'x'", json!("x")),
    ];
    for (code, line, value) in cases {
        let said = python(code, &scope()).unwrap_err();
        assert!(said.render().contains("in scope: inputs (commit: str"), "{}", said.render());
        let proposal = propose(code, Some("plan"), &said, &scope()).expect(code);
        assert_eq!(proposal.changes[0].after, line);
        assert_eq!(python(&proposal.code, &scope()).unwrap().value, value);
    }
    let said = python("x = 1\nresult = inputs['comit']", &scope()).unwrap_err();
    assert_eq!(said.message, "there is no key `comit`");
    assert_eq!(said.hint.as_deref(), Some("did you mean `commit`?"));
    // What python3 does not have is no matter of the sandbox.
    let said = python("import not_there_at_all", &scope()).unwrap_err();
    assert_eq!(said.hint, None);
    // Two of the same on one line: nobody knows which.
    let code = "result = image['owner'] or inputs['owner']";
    let said = python(code, &scope()).unwrap_err();
    assert_eq!(propose(code, None, &said, &scope()), None);
}
