//! Templates and conditions that are more than Jinja.

use aye_core::text::{
    Expressions, Scope, Verbatim, holds, names_in, names_in_condition_with, names_in_with, render,
    shell_script, text,
};
use aye_runtime::compute::PythonExpressions;
use proptest::prelude::{ProptestConfig, Strategy, prop, prop_assert, proptest};
use serde_json::{Value, json};

use super::scope;

fn value(template: &str) -> Value {
    render(template, &scope()).unwrap_or_else(|error| panic!("{template}: {error}"))
}

#[test]
fn one_expression_keeps_its_type() {
    assert_eq!(value("{{ [t.upper() for t in image.tags] }}"), json!(["A", "B"]));
    assert_eq!(value("{{ {t: len(t) for t in image.tags} }}"), json!({ "a": 1, "b": 1 }));
    assert_eq!(value("{{ any(t == 'b' for t in image.tags) }}"), json!(true));
    assert_eq!(value("{{ sorted(image.tags, key=lambda t: -ord(t)) }}"), json!(["b", "a"]));
    assert_eq!(value("{{ f'{n:03d}' }}"), json!("007"));
    assert_eq!(value("{{ image.tags[::-1] }}"), json!(["b", "a"]));
}

#[test]
fn pieces_become_values_and_never_templates() {
    let shown = |template: &str| text(template, &scope()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        shown("tags {{ ', '.join(t for t in image.tags) }}, n={{ n }}\n"),
        "tags a, b, n=7\n"
    );
    assert_eq!(
        shown("{% if any(t == 'b' for t in image.tags) %}yes{% else %}no{% endif %}"),
        "yes"
    );
    assert_eq!(
        shown("{% for t in [x for x in image.tags if x > 'a'] %}<{{ t }}>{% endfor %}"),
        "<b>"
    );
    assert_eq!(
        shown("{% for t in image.tags %}{{ [c + t for c in 'xy'] | join }} {% endfor %}"),
        "xaya xbyb "
    );
    assert_eq!(shown("{% set k = [c for c in 'pq'] %}{{ k | length }}"), "2");
    assert_eq!(
        shown(
            "{# {{ a for }} #}{% raw %}{{ any(x for x in y) }}{% endraw %}{{ sum(1 for t in image.tags) }}"
        ),
        "{{ any(x for x in y) }}2"
    );
    assert_eq!(shown("{{ '{{ n }}' + ''.join(c for c in '{{ n }}') }}!"), "{{ n }}{{ n }}!");
    assert_eq!(shown("{{ {'a': {'b': 1}}['a']['b'] }} {{ [x for x in '}}'][0] }}"), "1 }");
}

#[test]
fn conditions_are_native_truth() {
    for condition in [
        "any('b' in t for t in image.tags)",
        "{{ any('b' in t for t in image.tags) }}",
        "[t for t in image.tags]",
        "len([t for t in image.tags if t]) == 2",
        "f'{n}' == '7'",
    ] {
        assert!(holds(condition, &scope()).unwrap(), "{condition}");
    }
    assert!(!holds("any(t == 'z' for t in image.tags)", &scope()).unwrap());
    assert!(!holds("[t for t in image.tags if t == 'z']", &scope()).unwrap());
    assert!(holds("any(t for t in", &scope()).is_err());
}

#[test]
fn a_missing_name_is_an_error_with_a_guess() {
    let error = render("{{ any(t for t in imge.tags) }}", &scope()).unwrap_err();
    assert_eq!(error.message, "NameError: name 'imge' is not defined");
    assert_eq!(error.hint.as_deref(), Some("did you mean `image`?"));
    let error = text("x {{ any(t for t in imge.tags) }}", &scope()).unwrap_err();
    assert_eq!(error.hint.as_deref(), Some("did you mean `image`?"));
    let lenient = Scope { lenient: true, ..scope() };
    assert_eq!(text("x{{ any(t for t in (imge.tags or [])) }}", &lenient).unwrap(), "xFalse");
}

#[test]
fn names_are_found_without_a_run() {
    let other = Some(&PythonExpressions as &dyn Expressions);
    let names = |template: &str| names_in_with(template, other).unwrap();
    assert_eq!(names("{{ any(t.x for t in image.tags) }} {{ n }}"), ["image.tags", "n"]);
    assert_eq!(
        names("{% for t in xs %}{{ [t + c for c in inputs.commit] }}{% endfor %}"),
        ["inputs.commit", "xs"]
    );
    assert_eq!(
        names_in_condition_with("any(x in y for x in image.tags)", other).unwrap(),
        ["image.tags", "y"]
    );
    assert_eq!(names("{{ re.sub('a', 'b', f'{n}') }}"), ["n"]);
    assert!(names_in("{{ any(t for t in image.tags) }}").is_err());
    assert!(names_in_with("{{ a b }}", other).is_err());
    assert!(names_in_with("{{ import os }}", other).is_err());
}

#[test]
fn scripts_get_the_values_as_variables() {
    let script =
        shell_script("echo {{ ' '.join(t for t in image.tags) }}", &scope(), Verbatim::Anything)
            .unwrap();
    assert_eq!(script.values, [("AYE_V1".to_owned(), "a b".to_owned())]);
    assert!(!script.text.contains("a b"));
}

/// Texts made of what means something.
fn scraps(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    let word = prop::sample::select(words);
    prop::collection::vec(word, 0..24).prop_map(|words| words.concat())
}

const JINJA: &[&str] = &[
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "#}",
    "{{ ",
    " }}",
    "{% if ",
    "{% for x in ",
    "{% set k = ",
    " %}",
    "{% raw %}",
    "{% endraw %}",
    "{% endif %}",
    "{% endfor %}",
    "n",
    "image.tags",
    "x for x in ",
    "any(",
    "now()",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "'",
    "\"",
    "\\",
    "|",
    "|join",
    "-",
    "+",
    "ä",
    "😀",
    " ",
    "\n",
    "lambda: ",
];

const PYTHON: &[&str] = &[
    "inputs",
    ".commit",
    ".get",
    "image",
    "result",
    " = ",
    "x",
    "\n",
    "\n    ",
    "if ",
    "else ",
    ":",
    "for ",
    " in ",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "f'",
    "'",
    "\"",
    "{image.tags}",
    "%",
    "|",
    "dir()",
    "next(",
    "x for x in ",
    "os.path.join(",
    "env",
    "hasattr(",
    "json.dumps(",
    "default=",
    "ä",
    "😀",
    " ",
    ",",
    "1",
    ".5",
    "lambda",
    "import ",
    "os.path",
    "=}",
    "#",
];

/// Expressions of the kind that is changed before it runs, one in the other.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "image",
        "inputs.commit",
        "n",
        "'a'",
        "env.HOME",
        "dir()",
        "os.path",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(4, 12, 2, |inner| {
        let shapes = prop::sample::select(vec![
            "({a}).tags",
            "{a} .get",
            "{a}.get('x', {b})",
            "({a} | {b})",
            "'%s' % ({b},)",
            "next(t for t in {a})",
            "next((t.x for t in {a} if {b}), None)",
            "f'{{a}} {{b}!r:>{n}}'",
            "f\"{{a}['x']}\"",
            "[{a}, *{b}]",
            "{'k': {a}, **{b}}",
            "(lambda x: {a})",
            "hasattr({a}, 'x')",
            "getattr({a}, {b}, {a})",
            "({a}\n).x",
            "re.sub('a', {a}, {b})",
            "json.dumps({a}, default={b})",
            "os.path.join({a}, {b}).lower()",
            "Path({a}).expanduser().relative_to({b}).name",
            "env[{a}]",
            "os.environ.get({a})",
            "(yes := {a})",
            "{a}[{b}].x",
            "not {a}",
            "-{a}.y",
            "({a} if {b} else {a}).z",
            "str.lower",
            "globals()",
            "datetime.utcnow()",
        ]);
        (shapes, inner.clone(), inner).prop_map(|(shape, a, b)| {
            // Older readers want other quotes inside of an f-string.
            let (a, b) = if shape.starts_with('f') {
                ("image.tags".to_owned(), "(n)".to_owned())
            } else {
                (a, b)
            };
            shape.replace("{a}", &format!("({a})")).replace("{b}", &b)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn no_template_breaks_the_reader(template in scraps(JINJA)) {
        let other = Some(&PythonExpressions as &dyn Expressions);
        let readable = names_in_with(&template, other).is_ok();
        names_in_condition_with(&template, other).ok();
        // What cannot be read cannot be rendered.
        prop_assert!(readable || text(&template, &scope()).is_err());
    }

    #[test]
    fn changed_code_can_still_be_read(code in expression()) {
        if PythonExpressions.names(&code).is_err() {
            return Ok(());
        }
        let changed = aye_runtime::compute::check(&super::block(&format!("result = ({code})")), super::SOON);
        prop_assert!(changed.is_ok(), "{}\n{}", code, changed.unwrap_err().render());
    }

    #[test]
    fn no_code_breaks_the_reader(code in scraps(PYTHON)) {
        if let Err(error) = aye_runtime::compute::check(&super::block(&code), super::SOON) {
            prop_assert!(!error.render().is_empty());
        }
        // What could be read before it was changed can be read after.
        if PythonExpressions.names(&code).is_ok() {
            let changed = aye_runtime::compute::check(&super::block(&format!("result = ({code})")), super::SOON);
            let kind = changed.err().map(|error| error.render());
            prop_assert!(!kind.as_ref().is_some_and(|kind| kind.starts_with("SyntaxError")), "{kind:?}");
        }
    }
}
