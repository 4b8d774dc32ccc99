//! What a block that goes wrong says.

use std::sync::atomic::AtomicBool;

use aye_runtime::compute::{Limits, Quiet, run};
use insta::assert_snapshot;
use serde_json::json;

use super::{block, error, scope_of};

#[test]
fn an_error_says_where_and_what_there_was() {
    let codes = [
        "x = 1\nif x:\n    result = inputs['comit'][:7]\n",
        "result = inputs.flags.fats",
        "result = imge.tags",
        "result = commit",
        "def f(x):\n    return x.tags[5]\n\nresult = f(image)",
        "a = 1\nresult = a +\n",
        "import yaml\nresult = 1",
        "raise ValueError('not today')",
        "result = nothing['a']",
        "result = Path('x').read_text()",
        "ä = 'ö'\nresult = ä + inputs.cönt",
    ];
    let said: Vec<String> = codes.iter().map(|code| error(code).render()).collect();
    assert_snapshot!(said.join("\n\n"), @r#"
    KeyError: there is no key `comit`
      at line 3 of the block (release.yaml:12)
      3 |     result = inputs['comit'][:7]
        |              ^^^^^^^^^^^^^^^
    hint: did you mean `commit`?
    in scope: inputs (commit: str, count: int, flags: dict), image (dict), n (int), text (str), nothing (None), x (int)

    AttributeError: the mapping has no key 'fats'; it has: fast
      at line 1 of the block (release.yaml:10)
      1 | result = inputs.flags.fats
        |          ^^^^^^^^^^^^^^^^^
    hint: did you mean `fast`?
    in scope: inputs (commit: str, count: int, flags: dict), image (dict), n (int), text (str), nothing (None)

    NameError: name 'imge' is not defined
      at line 1 of the block (release.yaml:10)
      1 | result = imge.tags
        |          ^^^^
    hint: did you mean `image`?
    in scope: inputs (commit: str, count: int, flags: dict), image (dict), n (int), text (str), nothing (None)

    NameError: name 'commit' is not defined
      at line 1 of the block (release.yaml:10)
      1 | result = commit
        |          ^^^^^^
    hint: did you mean `inputs.commit`?
    in scope: inputs (commit: str, count: int, flags: dict), image (dict), n (int), text (str), nothing (None)

    IndexError: list index out of range
      at line 2 of the block (release.yaml:11)
      2 |     return x.tags[5]
        |            ^^^^^^^^^
    in scope: inputs (commit: str, count: int, flags: dict), image (dict), n (int), text (str), nothing (None)

    SyntaxError: Expected an expression
      at line 2 of the block (release.yaml:11)
      2 | result = a +
        |             ^

    ModuleNotFoundError: No module named 'yaml'
      at line 1 of the block (release.yaml:10)
      1 | import yaml
        | ^^^^^^^^^^^
    hint: it is not in the sandbox: use `python: true` at the step to run the block with python3
    in scope: inputs (commit: str, count: int, flags: dict), image (dict), n (int), text (str), nothing (None)

    ValueError: not today
      at line 1 of the block (release.yaml:10)
      1 | raise ValueError('not today')
        |       ^^^^^^^^^^^^^^^^^^^^^^^
    in scope: inputs (commit: str, count: int, flags: dict), image (dict), n (int), text (str), nothing (None)

    TypeError: 'NoneType' object is not subscriptable
      at line 1 of the block (release.yaml:10)
      1 | result = nothing['a']
        |          ^^^^^^^^^^^^
    hint: a value is None: look at the types below, or write `(x or {})`
    in scope: inputs (commit: str, count: int, flags: dict), image (dict), n (int), text (str), nothing (None)

    PermissionError: a compute block sees no files: write `files: read` at the step to let it read those of the workspace
      at line 1 of the block (release.yaml:10)
      1 | result = Path('x').read_text()
        |          ^^^^^^^^^^^^^^^^^^^^^
    in scope: inputs (commit: str, count: int, flags: dict), image (dict), n (int), text (str), nothing (None)

    AttributeError: the mapping has no key 'cönt'; it has: commit, count, flags
      at line 2 of the block (release.yaml:11)
      2 | result = ä + inputs.cönt
        |              ^^^^^^^^^^^
    hint: did you mean `count`?
    in scope: inputs (commit: str, count: int, flags: dict), image (dict), n (int), text (str), nothing (None), ä (str)
    "#);
}

#[test]
fn names_of_the_block_have_types_where_they_are_known() {
    let code = "a = 1\nb = [1]\nc = {'k': a}\nd = image.tags\ne = text.split()\nf = f'{a}'\n\
                for g in image.tags:\n    h = g\nn = 'hidden'\nif a:\n    i = 1\nelse:\n    i = 's'\n\
                def j():\n    return 1\nk = len(b)\nresult = 1 / 0\nlater = 1";
    let said = error(code).render();
    let (_, own) = said.split_once("nothing (None), ").unwrap();
    assert_eq!(
        own,
        "a (int), b (list), c (dict), d (list), e (set in the block), f (str), g (str), h (str), \
         i (set in the block), j (function), k (int), n (str)"
    );
    // A name of the run that the block has set anew is the block's.
    assert!(!said.contains("n (int)"), "{said}");
}

#[test]
fn hints_come_from_the_tree() {
    let hints = [
        ("result = lne(text)", "did you mean `len`?"),
        ("result = [true]", "did you mean `True`?"),
        ("result = inputs['flags']['fats']", "did you mean `fast`?"),
        ("result = text.stripp()", "did you mean `strip`?"),
        ("reslt = 1", "did you mean `result`?"),
        ("result = env['HOEM'] + 'x'", "write `env.get(\"HOEM\")` if it may be missing"),
    ];
    for (code, hint) in hints {
        assert_eq!(error(code).hint.as_deref(), Some(hint), "{code}");
    }
}

#[test]
fn lines_of_long_expressions_are_found() {
    let said =
        error("x = [\n    inputs.count,\n    image\n      .tags,\n    inputs.nope,\n]\nresult = x");
    let place = said.place.unwrap();
    assert_eq!((place.line, place.file_line), (5, Some(14)));
    assert_eq!((place.source.as_str(), place.columns), ("    inputs.nope,", 4..15));
    let said = error("y = image.tags; z = image.tags[inputs.count].nope; result = 1");
    assert_eq!(said.kind, "IndexError");
    let place = said.place.unwrap();
    assert_eq!(&place.source[place.columns], "image.tags[inputs.count]");
}

#[test]
fn no_value_is_shown() {
    let scope = scope_of(json!({ "token": "hunter2" }), json!({ "plan": { "key": "hunter2" } }));
    let code = block("result = plan['kex']");
    let said =
        run(&code, &scope, &mut Quiet::default(), &Limits::default(), &AtomicBool::new(false));
    let said = said.unwrap_err();
    assert!(!said.render().contains("hunter2"), "{}", said.render());
    assert!(!format!("{said:?}").contains("hunter2"));
    assert_eq!(said.hint.as_deref(), Some("`plan` has no such key; did you mean `key`?"));
}

#[test]
fn an_exit_is_no_breakdown() {
    for code in ["raise SystemExit(3)", "import sys\nsys.exit(3)", "exit(3)"] {
        let said = error(code).render();
        assert!(said.contains("a block cannot end the process"), "{said}");
        assert!(!said.contains("monty"), "{said}");
        assert!(said.contains(&format!("at line {} of", code.lines().count())), "{said}");
    }
}

#[test]
fn a_loop_that_does_not_end_is_pointed_at() {
    let limits = Limits { time: std::time::Duration::from_millis(100), ..Limits::default() };
    let line = |code: &str| {
        let scope = scope_of(json!({}), json!({}));
        let run =
            run(&block(code), &scope, &mut Quiet::default(), &limits, &AtomicBool::new(false));
        let error = run.unwrap_err();
        assert_eq!(error.kind, "Limit", "{error:?}");
        error.place.map(|place| place.line)
    };
    assert_eq!(line("x = 1\nwhile True:\n    for y in [1]:\n        x = y\nresult = x"), Some(2));
    // Which of two it was nobody knows.
    assert_eq!(line("for y in [1]:\n    x = y\nwhile True:\n    x = 1\nresult = x"), None);
}

#[test]
fn code_in_quotes_stands_on_one_line_of_the_file() {
    let code = aye_runtime::compute::Block { one_line: true, ..block("x = {}\nresult = x.nope") };
    let scope = scope_of(json!({}), json!({}));
    let said =
        run(&code, &scope, &mut Quiet::default(), &Limits::default(), &AtomicBool::new(false));
    let place = said.unwrap_err().place.unwrap();
    assert_eq!((place.line, place.file_line), (2, Some(10)));
}
