//! Fixes for simple mistakes: proposed by the error of a real run, and run
//! again.

use std::sync::atomic::AtomicBool;

use aye_core::skill::{Action, Body, parse, patch_block};
use aye_core::text::Scope;
use aye_runtime::compute::{ComputeError, Limits, Place, Proposal, Quiet, diff, propose, run};
use proptest::prelude::{ProptestConfig, Strategy, any, prop, proptest};
use proptest::sample::select;
use ruff_python_ast::token::TokenKind;
use ruff_text_size::Ranged as _;
use serde_json::{Value, json};

use super::{block, scope_of};

fn scope() -> Scope {
    scope_of(
        json!({ "commit": "abc123", "count": 3, "flags": { "fast": true }, "items": [1, 2] }),
        json!({
            "image": { "exists": true, "tags": ["a", "b"], "digest-sha": "1f" },
            "n": 7,
            "text": "one two",
            "pods": [{ "name": "x", "ready": true }, { "name": "y", "ready": false, "why": "?" }],
            "by_name": { "x": { "port": 1 }, "y": { "port": 2 } },
        }),
    )
}

fn compute(code: &str, scope: &Scope) -> Result<Value, ComputeError> {
    let mut host = Quiet::default();
    run(&block(code), scope, &mut host, &Limits::default(), &AtomicBool::new(false))
}

fn proposal(code: &str) -> Option<Proposal> {
    let scope = scope();
    let error = compute(code, &scope).expect_err(code);
    propose(code, Some("plan"), &error, &scope)
}

/// The fix of a block that fails, and what the block gives with it.
fn fixed(code: &str) -> (String, Value) {
    let Some(proposal) = proposal(code) else {
        panic!("no proposal for\n{code}\n{}", compute(code, &scope()).unwrap_err().render());
    };
    let value = compute(&proposal.code, &scope());
    let value = value.unwrap_or_else(|error| panic!("{}\n{}", proposal.code, error.render()));
    let [change] = proposal.changes.as_slice() else { panic!("{proposal:?}") };
    assert_eq!(code.split('\n').nth(change.line - 1), Some(change.before.as_str()));
    (change.after.clone(), value)
}

/// Each block, the line that is changed, and the result of the changed block.
fn all_fixed(cases: &[(&str, &str, Value)]) {
    for (code, line, value) in cases {
        assert_eq!(fixed(code), ((*line).to_owned(), value.clone()), "{code}");
    }
}

fn none(codes: &[&str]) {
    for code in codes {
        assert_eq!(proposal(code), None, "{code}");
    }
}

#[test]
fn a_misspelt_name() {
    all_fixed(&[
        ("result = imge.tags", "result = image.tags", json!(["a", "b"])),
        (
            "result = f'{imge[\"tags\"]} imge'",
            "result = f'{image[\"tags\"]} imge'",
            json!("['a', 'b'] imge"),
        ),
        ("result = lne(text)  # lne", "result = len(text)  # lne", json!(7)),
        ("result = list(map(flaot, [1]))", "result = list(map(float, [1]))", json!([1.0])),
        ("result = jsno.dumps([1])", "result = json.dumps([1])", json!("[1]")),
        ("result = [true]", "result = [True]", json!([true])),
        ("result = null", "result = None", json!(null)),
        ("result = comit", "result = inputs.commit", json!("abc123")),
        ("result = f\"{commit}!\"", "result = f\"{inputs.commit}!\"", json!("abc123!")),
        ("result = f\"{itmes}\"", "result = f\"{inputs['items']}\"", json!("[1, 2]")),
        ("result = inptus.commit", "result = inputs.commit", json!("abc123")),
        ("def f(alpha):\n    return alpah + 1\nresult = f(1)", "    return alpha + 1", json!(2)),
        ("total = 1\nresult = totl + 1", "result = total + 1", json!(2)),
        ("def double(x):\n    return 2 * x\nresult = doubel(4)", "result = double(4)", json!(8)),
        (
            "result = [tag.upper() for tag in image.tags if tga]",
            "result = [tag.upper() for tag in image.tags if tag]",
            json!(["A", "B"]),
        ),
        (
            "try:\n    result = 1 / 0\nexcept ZeroDivisonError:\n    result = 2",
            "except ZeroDivisionError:",
            json!(2),
        ),
        ("a = 1\nreslt = a + 1", "result = a + 1", json!(2)),
        ("plna = {\n    'a': 1,\n}", "plan = {", json!({ "a": 1 })),
    ]);
}

#[test]
fn a_missing_key() {
    all_fixed(&[
        ("x = inputs['comit'][:3]\nresult = x", "x = inputs['commit'][:3]", json!("abc")),
        ("result = inputs.comit[:3]", "result = inputs.commit[:3]", json!("abc")),
        ("result = inputs['flags'][\"fats\"]", "result = inputs['flags'][\"fast\"]", json!(true)),
        ("f = inputs.flags\nresult = f['fats']", "result = f['fast']", json!(true)),
        (
            "result = [p['nmae'] for p in pods]",
            "result = [p['name'] for p in pods]",
            json!(["x", "y"]),
        ),
        ("result = ''\nfor p in pods:\n    result += p.nmae", "    result += p.name", json!("xy")),
        (
            "result = sum(v['prot'] for k, v in by_name.items())",
            "result = sum(v['port'] for k, v in by_name.items())",
            json!(3),
        ),
        ("d = {'alpha': 1}\nresult = d['alhpa']", "result = d['alpha']", json!(1)),
        ("def f(m):\n    return m.exsits\nresult = f(image)", "    return m.exists", json!(true)),
        // Only in brackets is it a key.
        ("result = image.digest_sha", "result = image[\"digest-sha\"]", json!("1f")),
        ("result = inputs.itmes", "result = inputs[\"items\"]", json!([1, 2])),
        ("result = image[\n    'tasg'\n]", "    'tags'", json!(["a", "b"])),
        ("result = (image\n    .tasg)", "    .tags)", json!(["a", "b"])),
        (
            "result = f\"{image['tasg']} ['tasg']\"",
            "result = f\"{image['tags']} ['tasg']\"",
            json!("['a', 'b'] ['tasg']"),
        ),
    ]);
}

#[test]
fn a_key_that_may_be_missing() {
    all_fixed(&[
        ("result = image['owner']", "result = image.get('owner')", json!(null)),
        ("result = image.owner", "result = image.get(\"owner\")", json!(null)),
        (
            "result = {'who': image['owner']}",
            "result = {'who': image.get('owner')}",
            json!({ "who": null }),
        ),
        (
            "who = image['owner']\nresult = who or 'nobody'",
            "who = image.get('owner')",
            json!("nobody"),
        ),
        ("result = image['owner'] == 'me'", "result = image.get('owner') == 'me'", json!(false)),
        ("result = 1 if image.owner else 2", "result = 1 if image.get(\"owner\") else 2", json!(2)),
        (
            "result = [p.name for p in pods if p['why']]",
            "result = [p.name for p in pods if p.get('why')]",
            json!(["y"]),
        ),
        ("k = 'own' + 'er'\nresult = image[k]", "result = image.get(k)", json!(null)),
        ("result = env['NOT_SET']", "result = env.get('NOT_SET')", json!(null)),
        ("result = env.NOT_SET or 'x'", "result = env.get(\"NOT_SET\") or 'x'", json!("x")),
    ]);
    // A bracket on each of two lines.
    let code = "result = (image)[ # why [\n  'owner' # who ]\n]";
    let proposed = proposal(code).unwrap();
    assert_eq!(proposed.code, "result = (image).get( # why [\n  'owner' # who ]\n)");
    assert_eq!(compute(&proposed.code, &scope()).unwrap(), json!(null));
}

#[test]
fn none_is_never_asked_for_anything() {
    none(&[
        "result = image['owner'].strip()",
        "result = image.owner.strip()",
        "result = image['owner']['name']",
        "result = image['owner'] + 'x'",
        "result = len(image['owner'])",
        "result = f\"by {image['owner']}\"",
        "result = [x for x in image['owner']]",
        "result = image['owner'] > 3",
        "result = 'a' in image['owner']",
        "who = image['owner']\nresult = who.strip()",
        "who = image['owner']\nwhom = who\nresult = whom.strip()",
        "rows = [image['owner']]\nresult = ', '.join(rows)",
        "def f():\n    return image['owner']\nresult = f().strip()",
        "image['owner'] += 1\nresult = 1",
        "result = sorted(pods, key=lambda p: p['why'])",
        "result = (image['owner'] and 1).real",
    ]);
}

#[test]
fn attributes_and_methods_of_mappings() {
    all_fixed(&[
        ("d = {}\nd.key = 1\nresult = d", "d[\"key\"] = 1", json!({ "key": 1 })),
        ("d = {'key': 1}\nd.key += 1\nresult = d", "d[\"key\"] += 1", json!({ "key": 2 })),
        ("result = image.tags()", "result = image.tags", json!(["a", "b"])),
        ("result = list(by_name.kyes())", "result = list(by_name.keys())", json!(["x", "y"])),
        ("result = text.splitt()[0].strip()", "result = text.split()[0].strip()", json!("one")),
        ("x = []\nx.apend(3)\nresult = x", "x.append(3)", json!([3])),
        ("result = inputs.items[0]", "result = inputs[\"items\"][0]", json!(1)),
        (
            "result = [i for i in inputs.items]",
            "result = [i for i in inputs[\"items\"]]",
            json!([1, 2]),
        ),
        ("result = inputs.items", "result = inputs[\"items\"]", json!([1, 2])),
    ]);
}

#[test]
fn rather_none_than_a_wrong_one() {
    none(&[
        // Set later, or on another path.
        "if n > 100:\n    total = 1\ntotals = 2\nresult = total",
        "result = later\nlater = 1",
        // Two are as near, another number is another thing, too short.
        "beat = bear = 1\nresult = bead",
        "node2 = 1\nresult = node1",
        "result = m",
        // What a run has cannot be called, and a variable is not a built-in.
        "result = txt()",
        "result = lst",
        // There is nothing like it.
        "result = picture.tags",
        // Meant that way.
        "raise KeyError('comit')",
        "raise NameError(\"name 'imge' is not defined\")",
        "raise ValueError('imge')",
        "result = {'b': 1}.pop('a')",
        "result = '%(comit)s' % inputs",
        "result = image.tags(1)",
        // Changed meanwhile: what is in it nobody knows.
        "d = {'alpha': 1}\nd.clear()\nresult = d['alhpa'].x",
        "x = [image for image in [{'tools': 1}]]\nresult = image['tolls'].x",
        // Shows its own text.
        "result = f'{imge=}'",
        // Two of them on one place, and none says which.
        "class A:\n    pass\nresult = A().x",
        "a, reslt = 1, 2\nresutl = 3\nx = a",
        "x = 1 +",
        "import yaml\nresult = 1",
        "result = 1 / 0",
    ]);
}

#[test]
fn a_proposal_says_why_and_what() {
    let said = |code: &str| {
        let proposal = proposal(code).unwrap();
        format!("{}\n{}", proposal.why, diff(code, &proposal.code))
    };
    let said: Vec<String> = [
        "a = 1\nif a:\n    # comit\n    result = inputs['comit']\nb = 2\nc = 3",
        "result = imge",
        "result = image.owner",
        "d = {}\nd.key = 1\nresult = d",
        "result = image.tags()",
        "result = inputs.items",
        "reslt = 1",
        "result = text.uper()",
        "result = {**image,\n  'x': {'a': 1}}['owner']",
    ]
    .map(said)
    .to_vec();
    insta::assert_snapshot!(said.join("\n"), @r#"
    `inputs` has no key `comit`, but it has `commit`
    @@ line 3 @@
         # comit
    -    result = inputs['comit']
    +    result = inputs['commit']
     b = 2

    there is no `imge`, but there is `image`
    @@ line 1 @@
    -result = imge
    +result = image

    `image` has no such key; `get` gives None where one is missing
    @@ line 1 @@
    -result = image.owner
    +result = image.get("owner")

    `d` is a mapping: its keys stand in brackets
    @@ line 1 @@
     d = {}
    -d.key = 1
    +d["key"] = 1
     result = d

    `tags` is a key of `image`, not a function
    @@ line 1 @@
    -result = image.tags()
    +result = image.tags

    `items` is a method of `inputs`; its key of that name stands in brackets
    @@ line 1 @@
    -result = inputs.items
    +result = inputs["items"]

    the result is looked for in `result`, but the block sets `reslt`
    @@ line 1 @@
    -reslt = 1
    +result = 1

    a text has no `uper`, but it has `upper`
    @@ line 1 @@
    -result = text.uper()
    +result = text.upper()

    the mapping has no such key; `get` gives None where one is missing
    @@ line 1 @@
     result = {**image,
    -  'x': {'a': 1}}['owner']
    +  'x': {'a': 1}}.get('owner')
    "#);
}

#[test]
fn a_secret_that_is_gone_is_not_misspelt() {
    let mut scope = scope_of(json!({ "tokens": 1 }), json!({}));
    let mut inputs = (*scope.inputs).clone();
    inputs.insert("token".to_owned(), aye_core::secrets::secret_marker());
    scope.inputs = std::sync::Arc::new(inputs);
    for code in ["result = inputs.token", "result = inputs['token']"] {
        let error = compute(code, &scope).unwrap_err();
        assert_eq!(propose(code, None, &error, &scope), None, "{code}");
        assert!(error.render().contains("token: secret"), "{}", error.render());
    }
}

#[test]
fn an_error_of_other_code_proposes_nothing() {
    let scope = scope();
    let error = compute("result = imge.tags", &scope).unwrap_err();
    for code in ["", "\n", "x", "result = other", "é = 'imge'", "result = (", "é\n\n\u{3000}"] {
        assert_eq!(propose(code, None, &error, &scope), None, "{code}");
    }
}

#[test]
fn long_code_is_read_too() {
    let code = format!("{}result = imge.tags", "x = [1, 2, 3]  # nothing\n".repeat(1000));
    assert_eq!(fixed(&code).0, "result = image.tags");
    let deep = format!("y = {}1\nresult = imge.tags", "1 + ".repeat(15));
    assert_eq!(fixed(&deep).0, "result = image.tags");
}

#[test]
fn code_that_asks_for_endless_looking_is_given_up() {
    // Each name is a hundred of the next: looked at in full this never ends.
    let level = |name: &str, next: &str| {
        let entries: String = (0..100).map(|key| format!("'k{key}': {next}, ")).collect();
        format!("{name} = {{{entries}}}\n")
    };
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    let levels: String = names.windows(2).rev().map(|pair| level(pair[0], pair[1])).collect();
    let code = format!("g = 1\n{levels}result = imge.tags");
    assert_eq!(fixed(&code).0, "result = image.tags");
    let uses: String = (0..500).map(|at| format!("y = x\nx = y\nz{at} = x or y\n")).collect();
    let code = format!("x = image['owner']\n{uses}result = x");
    let error = compute(&code, &scope()).unwrap_err();
    assert_eq!(error.kind, "KeyError");
    assert_eq!(propose(&code, None, &error, &scope()), None);
}

#[test]
fn a_proposal_goes_into_the_file() {
    let text = "# Why it is done.\nname: demo\nsteps:\n  - name: each\n    foreach: [1]\n    steps:\n      \
                - name: plan # the plan\n        compute: |\n          # comit, not commit\n          \
                x = inputs['comit']  # 'comit'\n          result = {'comit': x}\n  # the end\n";
    let code_of = |text: &str| {
        let parsed = parse("demo.yaml", text);
        assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
        let Body::Steps(steps) = &parsed.skills[0].body else { panic!("steps") };
        let Action::ForEach(each) = &steps[0].action else { panic!("foreach") };
        let Action::Compute { code, .. } = &each.body[0].action else { panic!("compute") };
        code.clone()
    };
    let old = code_of(text);
    let proposal = proposal(&old.value).unwrap();
    let patched = patch_block(text, old.span, &old.value, &proposal.code).unwrap();
    assert_eq!(patched, text.replace("inputs['comit']", "inputs['commit']"));
    assert_eq!(compute(&code_of(&patched).value, &scope()).unwrap(), json!({ "comit": "abc123" }));
    assert_eq!(
        diff(text, &patched),
        "@@ line 9 @@\n           # comit, not commit\n-          x = inputs['comit']  # 'comit'\n\
         +          x = inputs['commit']  # 'comit'\n           result = {'comit': x}\n"
    );
}

/// Lines that hold what looks like mistakes in strings and comments, and the
/// line that is really wrong.
fn blocks() -> impl Strategy<Value = (String, usize)> {
    let harmless = select(vec![
        "# imge comit image['owner'] inputs.comit true",
        "a = 'imge comit'  # imge",
        "b = \"inputs['comit']\"",
        "c = f'imge {n} comit {text} image.owner'",
        "d = '''imge\ncomit # no comment\n'''",
        "e = r'\\comit' 'imge'  # image['owner']",
        "",
        "if n:\n    g = ['comit', \"imge\"]  # é → 日",
        "def h(x):\n    \"\"\"imge\"\"\"\n    return x  # comit",
    ]);
    let wrong = select(vec![
        "result = imge  # imge",
        "result = inputs['comit']  # 'comit'",
        "result = inputs.comit + 'comit'",
        "result = {'owner': image['owner'], 'comit': 'imge'}",
        "result = image.owner or 'imge'",
        "result = f'comit {inputs[\"comit\"]} \"comit\"'",
        "result = ['imge', true, 'true']",
        "result = text.uper() + 'uper'",
        "z = {}; z.imge = 'imge'; result = z",
    ]);
    let lines = || prop::collection::vec(harmless.clone(), 0..6);
    (lines(), wrong, lines()).prop_map(|(before, wrong, after)| {
        let mut lines: Vec<&str> = before;
        let code: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let line = code.matches('\n').count() + 1;
        lines.push(wrong);
        lines.extend(after);
        (lines.join("\n"), line)
    })
}

/// The strings, with what stands before each, and the other texts (parts of
/// f-strings, comments) of a code.
fn texts(code: &str) -> (Vec<(String, String)>, Vec<String>) {
    let parsed = ruff_python_parser::parse_module(code).unwrap();
    let (mut strings, mut others, mut before) = (Vec::new(), Vec::new(), "");
    for token in parsed.tokens() {
        let text = &code[token.range()];
        match token.kind() {
            TokenKind::String => strings.push((before.to_owned(), text.to_owned())),
            TokenKind::FStringMiddle | TokenKind::Comment => others.push(text.to_owned()),
            _ => {}
        }
        before = text;
    }
    (strings, others)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn strings_and_comments_are_never_changed((code, line) in blocks()) {
        let proposal = proposal(&code).unwrap();
        compute(&proposal.code, &scope()).unwrap();
        assert_eq!(proposal.changes.len(), 1);
        assert_eq!(proposal.changes[0].line, line);
        let ((mut old, old_others), (mut new, new_others)) = (texts(&code), texts(&proposal.code));
        assert_eq!(old_others, new_others);
        // All strings are the same but for the one key at fault, which may be
        // in brackets before and in parentheses after.
        let value = |strings: &[(String, String)], at: usize| strings.get(at).map(|(_, text)| text.clone());
        while !old.is_empty() && value(&old, 0) == value(&new, 0) {
            old.remove(0);
            new.remove(0);
        }
        while !old.is_empty() && !new.is_empty() && value(&old, old.len() - 1) == value(&new, new.len() - 1) {
            old.pop();
            new.pop();
        }
        assert!(old.len() <= 1 && new.len() <= 1, "{old:?} {new:?}");
        let key = |(before, _): &(String, String)| before == "[" || before == "(";
        assert!(old.iter().chain(&new).all(key), "{old:?} {new:?}");
    }

    /// Whatever an error says and wherever it points to.
    #[test]
    fn no_error_breaks_it(
        (code, _) in blocks(),
        kind in select(vec!["NameError", "KeyError", "AttributeError", "TypeError", "Result", "X"]),
        message in select(vec![
            "name 'imge' is not defined", "there is no key `comit`", "comit", "'", "",
            "the mapping has no key 'comit'; it has: commit, é", "'dict' object has no attribute 'imge'",
            "'str' object has no attribute 'uper'", "'function' object is not iterable",
            "the block sets neither", "`result` has a function", "the environment has no `owner`",
        ]),
        (line, start, length) in (0_usize..20, 0_usize..60, 0_usize..60),
        placed in any::<bool>(),
    ) {
        let place = Place {
            file: None, line, file_line: None, source: String::new(), columns: start..start + length,
        };
        let error = ComputeError {
            kind: kind.to_owned(),
            message: message.to_owned(),
            place: placed.then(|| Box::new(place)),
            ..ComputeError::default()
        };
        if let Some(proposal) = propose(&code, Some("plan"), &error, &scope()) {
            assert_ne!(proposal.code, code);
            ruff_python_parser::parse_module(&proposal.code).unwrap();
            assert_eq!(texts(&proposal.code).1, texts(&code).1);
        }
    }
}
