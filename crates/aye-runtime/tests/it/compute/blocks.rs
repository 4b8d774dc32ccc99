//! What a block can do.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use aye_runtime::compute::{Block, Limits, Quiet, check, run};
use serde_json::json;

use super::{SOON, block, compute, compute_with, error, scope, scope_of, value};

#[test]
fn the_result_is_the_variable_named_like_the_output_or_result() {
    assert_eq!(value("result = 1"), json!(1));
    assert_eq!(value("plan = 2\nresult = 1"), json!(2));
    assert_eq!(value("inputs.count + 1"), json!(4));
    // A path that does not set it gives None; so does a block that only looks.
    assert_eq!(value("if n > 100:\n    result = 1"), json!(null));
    assert_eq!(value("x = 1\nif n > 100:\n    raise ValueError('no')"), json!(null));
    assert_eq!(value("log('hello')\nlog('you')"), json!(null));
    // A name of an earlier step is not a result of this one.
    let code = "for i in range(2):\n    if i > 5:\n        image = 1";
    let block = Block { output: Some("image".to_owned()), ..block(code) };
    let value =
        run(&block, &scope(), &mut Quiet::default(), &Limits::default(), &AtomicBool::new(false));
    assert_eq!(value.unwrap(), json!(null));
}

#[test]
fn a_block_that_sets_something_else_is_told_so() {
    let said = error("branch_name = 'a'\nkey = 'b'");
    assert_eq!(
        said.message,
        "the block sets neither `plan` nor `result`, only `branch_name`, `key`"
    );
    assert_eq!(said.hint.as_deref(), Some("write `result = key` at its end"));
    assert!(check(&block("branch_name = 'a'"), SOON).is_err());
    assert!(check(&block("result = 'a'"), SOON).is_ok());
}

#[test]
fn a_result_hides_what_python_calls_by_its_name() {
    let outputs = json!({ "id": "42", "list": "a\nb", "type": "x", "dict": { "n": 1 }, "len": 3 });
    let scope = scope_of(json!({}), outputs);
    let value = |code: &str| {
        let ended = run(
            &block(code),
            &scope,
            &mut Quiet::default(),
            &Limits::default(),
            &AtomicBool::new(false),
        );
        ended.unwrap_or_else(|error| panic!("{code}\n{}", error.render()))
    };
    assert_eq!(value("result = 'match' if id == '42' else 'no'"), json!("match"));
    assert_eq!(
        value("result = [list.split(), type + 'y', dict.n, dict['n'], len + 1, f'{id}']"),
        json!([["a", "b"], "xy", 1, 1, 4, "42"])
    );
    // No result can be called, and a type stands where a type is asked for.
    assert_eq!(
        value(
            "result = [len(list), list((1,)), isinstance(dict, dict), isinstance([], (list, str))]"
        ),
        json!([3, [1], true, true])
    );
    // What a block sets itself is its own.
    assert_eq!(value("id = 7\nresult = id"), json!(7));
}

#[test]
fn names_come_from_the_run() {
    assert_eq!(
        value("result = [inputs['commit'], inputs.commit, inputs.get('nope', 0)]"),
        json!(["abc123", "abc123", 0])
    );
    assert_eq!(value("result = image.tags + [image['exists']]"), json!(["a", "b", true]));
    assert_eq!(value("result = inputs.flags.fast"), json!(true));
    assert_eq!(
        value("result = [run.id, skill.name, today, workspace]"),
        json!(["run00001", "test", "2026-01-01", "work"])
    );
    assert_eq!(
        value(
            "result = [env.HOME, env['HOME'], env.get('NOPE', 'x'), os.getenv('HOME'), os.environ.get('NOPE')]"
        ),
        json!(["/home/ann", "/home/ann", "x", "/home/ann", null])
    );
    assert_eq!(
        value("result = ['image' in dir(), 'nope' in dir(), 'n' in dir() and n]"),
        json!([true, false, 7])
    );
    assert_eq!(
        value("image = dict(image)\nimage['x'] = 1\nresult = image"),
        json!({ "exists": true, "tags": ["a", "b"], "x": 1 })
    );
    let own = "x = x if 'x' in dir() else 1\nfor i in [2]:\n    y = 'x' in dir() and 'i' in dir()\nresult = [x, y, 'z' in dir()]\nz = 1";
    assert_eq!(value(own), json!([1, true, false]));
    // Names of a place come before those of steps.
    let scope = aye_core::text::Scope {
        locals: Arc::new([("n".to_owned(), json!("item"))].into_iter().collect()),
        ..scope()
    };
    let value = run(
        &block("result = n"),
        &scope,
        &mut Quiet::default(),
        &Limits::default(),
        &AtomicBool::new(false),
    );
    assert_eq!(value.unwrap(), json!("item"));
}

#[test]
fn the_code_is_no_template() {
    assert_eq!(value("x = 1\nresult = f'{{ {x} }} {{{{ inputs }}}}'"), json!("{ 1 } {{ inputs }}"));
    assert_eq!(value("result = '{{ n }}{% raw %}'"), json!("{{ n }}{% raw %}"));
}

#[test]
fn what_people_take_for_granted_is_there() {
    assert_eq!(value("m = re.search(r'(\\d+)', 'a42b')\nresult = m.group(1)"), json!("42"));
    assert_eq!(value("result = json.loads('{\"a\": [1]}')['a']"), json!([1]));
    assert_eq!(value("result = datetime.now().isoformat()"), json!("2026-01-01T12:30:00"));
    assert_eq!(
        value(
            "import datetime\nresult = (datetime.datetime(2026, 1, 31) + datetime.timedelta(days=1)).strftime('%d.%m.')"
        ),
        json!("01.02.")
    );
    assert_eq!(value("result = (datetime.now() - timedelta(days=1)).date()"), json!("2025-12-31"));
    assert_eq!(
        value("result = os.path.join('a', 'b', os.path.basename('/x/c.txt'))"),
        json!("a/b/c.txt")
    );
    assert_eq!(
        value(
            "result = [os.path.dirname('/a/b'), os.path.splitext('a.tar.gz'), os.path.expanduser('~/x')]"
        ),
        json!(["/a", ["a.tar", ".gz"], "/home/ann/x"])
    );
    assert_eq!(value("result = str(Path.home() / '.config')"), json!("/home/ann/.config"));
    assert_eq!(
        value("result = str(Path('~/a').expanduser().relative_to('/home/ann'))"),
        json!("a")
    );
    assert_eq!(value("result = next((t for t in image.tags if t > 'a'), None)"), json!("b"));
    assert_eq!(value("result = next(t for t in image.tags)"), json!("a"));
    assert_eq!(value("result = max({'a': 1, 'b': 2}, key={'a': 1, 'b': 2}.get)"), json!("b"));
    assert_eq!(
        value("result = sorted(['b', 'A'], key=str.lower) + list(map(str.strip, [' c ']))"),
        json!(["A", "b", "c"])
    );
    assert_eq!(value("c = Counter('abca')\nresult = c.most_common(1)"), json!([["a", 2]]));
    assert_eq!(value("def f(x):\n    return {'a': x}\nresult = (f(1) or {}).a"), json!(1));
    assert_eq!(
        value("result = f\"{image.exists} {inputs.flags.fast!r:>6}\""),
        json!("True   True")
    );
}

#[test]
fn a_result_is_data() {
    assert_eq!(
        value("result = {7: (1, 2.5), None: {3}, True: 'x'}"),
        json!({ "7": [1, 2.5], "null": [3], "true": "x" })
    );
    assert_eq!(value("result = datetime(2026, 5, 4, 3, 2, 1)"), json!("2026-05-04T03:02:01"));
    assert_eq!(value("result = 2 ** 63"), json!(9_223_372_036_854_775_808_u64));
    let wrong = [
        (
            "result = {'a': [float('nan')]}",
            "`result[\"a\"][0]` has the number NaN, which is not data",
        ),
        ("result = float('inf')", "has the number inf"),
        ("result = [lambda: 1]", "`result[0]` has a function"),
        ("result = b'x'", "write `x.decode()`"),
        ("result = 2 ** 64", "beyond 64 bits"),
        ("a = []\na.append(a)\nresult = a", "contains itself"),
        ("a = []\nfor i in range(150):\n    a = [a]\nresult = a", "nested more than 100"),
        ("result = 'x' * 2_000_000", "larger than 1024 KiB"),
    ];
    for (code, message) in wrong {
        let said = error(code);
        assert!(said.message.contains(message), "{code}: {said}");
        assert_eq!(said.kind, "Result");
    }
}

#[test]
fn the_host_is_asked() {
    let (result, host) = compute_with(
        "print('a', 1, end='')\nprint('b\\nc')\nlog('x', {'y': 1})\nemit('done', {'n': n})\nemit_event('more')\n\
         k = memory.check_known_issues('jira', '')\nresult = [k, memory.read('a/b'), k.get('matches')]",
        &Limits::default(),
    );
    let known = json!({ "matches": [], "has_known_issues": false });
    assert_eq!(result.unwrap(), json!([known, {}, []]));
    assert_eq!(host.lines, ["a 1b", "c", "x {\"y\":1}"]);
    assert_eq!(
        host.emitted,
        [("done".to_owned(), json!({ "n": 7 })), ("more".to_owned(), json!(null))]
    );
    let (result, host) = compute_with("print('no end', end='')\nresult = 1", &Limits::default());
    assert_eq!((result.unwrap(), host.lines), (json!(1), vec!["no end".to_owned()]));
}

#[test]
fn a_lenient_skill_has_empty_names() {
    let scope = aye_core::text::Scope { lenient: true, ..scope() };
    let value = |code: &str| {
        run(
            &block(code),
            &scope,
            &mut Quiet::default(),
            &Limits::default(),
            &AtomicBool::new(false),
        )
        .unwrap_or_else(|error| panic!("{code}: {}", error.render()))
    };
    assert_eq!(value("result = [nope, nope.more, inputs.nope]"), json!([null, null, null]));
    assert_eq!(value("result = [len(image.tags), str(1)]"), json!([2, "1"]));
}

#[test]
fn a_caught_error_is_none() {
    assert_eq!(value("try:\n    x = nope\nexcept NameError:\n    x = 1\nresult = x"), json!(1));
    assert_eq!(
        value("try:\n    x = inputs.nope\nexcept AttributeError:\n    x = 1\nresult = x"),
        json!(1)
    );
    assert_eq!(
        value("try:\n    memory.fail()\nexcept Exception as e:\n    x = str(e)\nresult = 2"),
        json!(2)
    );
    assert!(compute("result = 1 +").is_err());
}

#[test]
fn gaps_of_the_engine_are_filled() {
    assert_eq!(
        value("result = re.sub(r'\\d+', lambda m: str(int(m.group(0)) + 1), 'a1b22')"),
        json!("a2b23")
    );
    assert_eq!(value("result = re.sub('A', image.tags[1], 'xa', flags=re.I)"), json!("xb"));
    assert_eq!(
        value("result = json.dumps({'a': datetime(2026, 1, 1)}, default=str)"),
        json!("{\"a\": \"2026-01-01 00:00:00\"}")
    );
    assert_eq!(
        value("x = ({'a': 1}) | {'b': image.exists} | {'c': 1}\nresult = x"),
        json!({ "a": 1, "b": true, "c": 1 })
    );
    assert_eq!(value("result = {1} | {2}"), json!([1, 2]));
    assert_eq!(value("result = datetime.utcnow().hour"), json!(12));
    assert_eq!(value("import os.path\nresult = os.path.join('a', 'b')"), json!("a/b"));
    let asked = "result = [getattr(image, 'exists', 1), getattr(image, 'nope', 2), hasattr(image, 'exists'), hasattr(image, 'get'), hasattr(image, 'nope')]";
    assert_eq!(value(asked), json!([true, 2, true, true, false]));
    let percent = "result = ['%s and %05.1f %% %-4s| %r %x' % ('a', 3.14159, 'b', 'c', 255), '%d%s' % (3, 'x'), '%s' % 'one', '%(a)s-%(b)03d' % {'a': 1, 'b': 2}, '%+5d' % 3]";
    assert_eq!(
        value(percent),
        json!(["a and 003.1 % b   | 'c' ff", "3x", "one", "1-002", "   +3"])
    );
    // What is left has a way out.
    for code in ["def g():\n    yield 1\nresult = list(g())", "import uuid\nresult = 1"] {
        assert!(error(code).hint.unwrap().contains("python: true"), "{code}");
    }
    assert_eq!(error("result = callable(len)").message, "name 'callable' is not defined");
    assert_eq!(error("result = lgo('x')").hint.as_deref(), Some("did you mean `log`?"));
}
