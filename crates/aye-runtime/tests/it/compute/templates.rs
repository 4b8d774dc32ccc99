//! Templates that mean harm: an error, and soon. What people write works as before.

use std::time::{Duration, Instant};

use aye_core::text::{self, Verbatim};
use serde_json::json;

use super::{SOON, scope, scope_of};

/// Each of them took minutes, gigabytes, or ended the process.
const ATTACKS: &[&str] = &[
    "{{ '%1000000000000d' | format(1) }}",
    "{{ '%.1000000000f' | format(1.0) }}",
    "{{ '{:>100000000000}'.format('a') }}",
    "{{ '{:0100000000000d}'.format(1) }}",
    "{{ ('a' * 90000000) | replace('a', 'b' * 1000) }}",
    "{{ ('a' * 90000000).replace('a', 'b' * 1000) }}",
    "{{ range(100000) | join('x' * 1000000) }}",
    "{{ ('x' * 1000000).join(range(100000)) }}",
    "{{ 'a\na' | indent(100000000000) }}",
    "{{ [[[1]]] | tojson(indent=100000000000) }}",
    "{{ [1] | batch(100000000000, 0) | list }}",
    "{{ [1] | slice(100000000000) | list }}",
    "{{ ((1, 2) * 50000000) | length }}{{ ((1, 2) * 50000000) | length }}",
    "{{ ([1] * 99999999) | list | length }}",
    "{{ [1] * 99999999 == [1] * 99999999 }}{{ [1] * 99999999 == [1] * 99999999 }}",
    "{% set n = namespace(s='a') %}{% for i in range(40) %}{% set n.s = n.s ~ n.s %}{% endfor %}{{ n.s | length }}",
    "{% set n = namespace(s=['a']) %}{% for i in range(40) %}{% set n.s = [n.s, n.s] %}{% endfor %}{{ n.s }}",
    "{% set n = namespace(s=['a'], t=['a']) %}{% for i in range(40) %}{% set n.s = [n.s, n.s] %}{% set n.t = [n.t, n.t] %}{% endfor %}{{ n.s == n.t }}",
    "{% macro m(a) %}{{ m(a ~ a) }}{% endmacro %}{{ m('a') }}",
    "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}",
    "{% for a in range(900) %}{% if a in range(100000) | map('string') | list %}{% endif %}{% endfor %}",
    "{% filter replace('a', 'bbbbbbbbbbbbbbbbbbbbbbbb' * 999999) %}{% for i in range(9999) %}aaaaaaaaaaaaaa{% endfor %}{% endfilter %}",
    "{{ text | replace('o', 'x' * 90000000) | replace('x', 'y' * 90000000) }}",
    "{{ érange(100000) | join('x' * 99999999) }}{{ é | join('x' * 99999998) }}",
    "{{ '%*d' | format(9223372036854775807, 1) }}",
    "{{ '{:>9223372036854775807}'.format('0a') }}",
    "{{ [x for x in range(10 ** 12)] }}",
    "{{ any(x == 'no' for x in ['a' * 10 ** 9] * 10 ** 9) }}",
];

#[test]
fn templates_end_soon_and_small() {
    let scope = scope();
    for attack in ATTACKS {
        let started = Instant::now();
        let results = [
            text::render(attack, &scope).map(drop),
            text::text(attack, &scope).map(drop),
            text::shell_script(&format!("echo {attack}"), &scope, Verbatim::default()).map(drop),
        ];
        let took = started.elapsed();
        assert!(took < Duration::from_secs(6), "{attack}: {took:?}");
        assert!(results[1].is_err(), "{attack}");
        // Who only looks is done at once.
        let started = Instant::now();
        let _ = text::names_in_with(attack, Some(&aye_runtime::compute::PythonExpressions));
        assert!(started.elapsed() < Duration::from_millis(500), "{attack}");
    }
    assert_eq!(text::text("{{ n * 6 }}", &scope).unwrap(), "42");
}

#[test]
fn what_is_too_deep_to_read_is_refused() {
    for deep in [
        format!("{{{{ 1{} }}}}", " + 1".repeat(50_000)),
        format!("{{{{ a{} }}}}", ".b".repeat(50_000)),
        format!("{{{{ a{} }}}}", "|string".repeat(30_000)),
        format!("{{{{ {}a }}}}", "not ".repeat(50_000)),
        format!("{{{{ {}1 }}}}", "-".repeat(90_000)),
        format!("{{{{ a{} }}}}", " if b else c".repeat(20_000)),
        format!("{{% if a %}}{}{{% endif %}}", "{% elif b %}".repeat(20_000)),
        format!("{{{{ {}{} }}}}", "(".repeat(100_000), ")".repeat(100_000)),
        "{{ 'a' * 99999999 }}".repeat(10_000),
    ] {
        let started = Instant::now();
        assert!(text::text(&deep, &scope()).is_err(), "{}", &deep[..40]);
        assert!(started.elapsed() < SOON, "{}: {:?}", &deep[..40], started.elapsed());
    }
}

#[test]
fn what_people_write_is_what_it_was() {
    let scope = scope_of(
        json!({ "names": ["ann", "bob"], "big": "x".repeat(1 << 20) }),
        json!({ "rows": [{ "a": 1 }, { "a": 2 }] }),
    );
    for (template, wanted) in [
        ("{% for n in inputs.names %}{{ loop.index }}{{ n }} {% endfor %}", "1ann 2bob "),
        ("{% set x = inputs.names | join('-') %}{{ x }}", "ann-bob"),
        ("{% for r in rows %}{{ r.a * 2 }},{% endfor %}", "2,4,"),
        ("{{ '%05.1f' | format(2.5) }}", "002.5"),
        ("{{ '{:>4}'.format(7) }}", "   7"),
        (
            "{% for r in rows if r.a > 1 %}{{ env.HOME }} {{ now().year }}{% endfor %}",
            "/home/ann 2026",
        ),
        ("{% for r in rows %}{{ sum([x for x in range(r.a)]) }}{% endfor %}", "01"),
        ("{{ (inputs.big * 2) | length }}", "2097152"),
        ("{% set a = branch is defined %}{{ workspace }}", "work"),
    ] {
        assert_eq!(text::text(template, &scope).unwrap(), wanted, "{template}");
    }
    assert_eq!(
        text::render("{{ rows | map(attribute='a') | list }}", &scope).unwrap(),
        json!([1, 2])
    );
    assert!(text::holds("rows | selectattr('a', 'equalto', 2) | list", &scope).unwrap());
    assert!(!text::holds("rows | selectattr('a', 'equalto', 3) | list", &scope).unwrap());
    let script = "{% for n in inputs.names %}echo {{ n }}\n{% endfor %}";
    let script = text::shell_script(script, &scope, Verbatim::default()).unwrap();
    assert_eq!(script.values.len(), 2, "{script:?}");
    // A mistake is explained as before.
    let error = text::text("{% for n in inputs.nmaes %}{{ n }}{% endfor %}", &scope).unwrap_err();
    assert!(error.hint.unwrap_or_default().contains("inputs.names"), "{}", error.message);
    let error =
        text::text("{% for n in rows %}{{ n.a + 'x' * 'y' }}{% endfor %}", &scope).unwrap_err();
    assert!(error.message.contains("operation"), "{}", error.message);
}
