//! Text and numbers are never compared in silence.

use super::harness::{Place, assert_says};

/// A step that runs only if a condition holds, after one that prints 12.
fn skill(first: &str, condition: &str) -> String {
    format!(
        "name: c\nsteps:\n  - {{ name: v, {first} }}\n  - {{ name: b, command: touch, args: [taken], condition: {condition:?} }}\n"
    )
}

#[test]
fn a_condition_that_compares_text_with_a_number_fails() {
    let mut wrong = Vec::new();
    for condition in ["v < 100", "v <= 3", "v > 3", "v >= 3", "v == 12", "v != 12", "100 > v"] {
        let place = Place::new();
        place.write("c.yaml", &skill("shell: echo 12", condition));
        let ran = place.aye(&["run", "c.yaml"]);
        let taken = place.work().join("taken").exists();
        // Which step, which of its keys, which comparison.
        let place = format!("✗ b  condition: `{condition}` compares text with a number\n");
        let said = ran.stderr.contains(&place) || condition == "100 > v";
        // Where it stands, as for blocks.
        let said = said && ran.stderr.contains("\n    at c.yaml:4\n");
        if ran.code != 1 || taken || !said || !ran.stderr.contains("v | float") {
            wrong.push(format!("{condition}: {}", ran.all()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_condition_that_is_more_than_jinja_follows_the_same_rule() {
    let mut wrong = Vec::new();
    for (condition, compared, cast) in [
        ("any(x == 12 for x in [v])", "x == 12", "int(x) == 12"),
        ("any(x != 12 for x in [v])", "x != 12", "int(x) != 12"),
        ("all(100 > x for x in [v])", "100 > x", "100 > int(x)"),
        ("[x for x in [v + '.0'] if x <= 12]", "x <= 12", "float(x) <= 12"),
        ("[x for x in [v] if f'{x == 12}' == 'True']", "x == 12", "int(x) == 12"),
        ("[x for x in [v] if x in [11, 12]]", "x in [11, 12]", "int(x) in [11, 12]"),
        ("all(x not in (12, 13) for x in [v])", "x not in (12, 13)", "int(x) not in (12, 13)"),
        ("any((x) in range(9, 20) for x in [v])", "x in range(9, 20)", "int(x) in range(9, 20)"),
        ("any(x in {12: 1} for x in [v])", "x in {12: 1}", "int(x) in {12: 1}"),
        ("[n for n in [12] if n in [v]]", "n in [v]", "str(n) in [v]"),
        ("any(12 == x == 12 for x in [v])", "12 == x", "12 == int(x)"),
        ("any(5 < 6 <= x for x in [v])", "6 <= x", "6 <= int(x)"),
        ("any('1' < x not in [12] for x in [v])", "x not in [12]", "int(x) not in [12]"),
        ("any([x] == [12] for x in [v])", "[x] == [12]", "float(x)` or `str(x)"),
        (
            "any({'k': x} != {'k': 12} for x in [v])",
            "{'k': x} != {'k': 12}",
            "float(x)` or `str(x)",
        ),
        ("any((1, x) in [(1, 12)] for x in [v])", "(1, x) in [(1, 12)]", "float(x)` or `str(x)"),
        ("any({x} == {12} for x in [v])", "{x} == {12}", "float(x)` or `str(x)"),
    ] {
        let place = Place::new();
        place.write("c.yaml", &skill("shell: echo 12", condition));
        let ran = place.aye(&["run", "c.yaml"]);
        let taken = place.work().join("taken").exists();
        let said = format!("✗ b  condition: `{compared}` compares text with a number\n");
        let hint = format!("write `{cast}`");
        if ran.code != 1 || taken || !ran.stderr.contains(&said) || !ran.stderr.contains(&hint) {
            wrong.push(format!("{condition}: {}", ran.all()));
        }
    }
    // What compares one type has its answer, and text that is no number differs from all.
    for condition in [
        "any((x) == ('12') for x in [v])",
        "any(int(x) == 12 for x in [v])",
        "all(x != 12 for x in ['none', None, True])",
        "any(10 < int(x) <= 12 for x in [v])",
        "all(len(x) >= 2 and x in [v] for x in [v])",
        "all(x not in [1, 13, 'a'] and x in iter([1, v]) for x in [v])",
        "all('1' in x and '3' not in x for x in [v])",
        "all('a' < 'b' != x is not None for x in [v])",
        // What follows a comparison that does not hold is not evaluated.
        "not any(0 < n <= 10 / n for n in [0])",
        "all([x, 1] != [12, 2] and {'k': x} != {'j': 12} and {'k': x} == {'k': v} for x in [v])",
        "all(x not in range(5) and 12 in range(20) for x in [v])",
    ] {
        let place = Place::new();
        place.write("c.yaml", &skill("shell: echo 12", condition));
        let ran = place.aye(&["run", "c.yaml"]);
        if ran.code != 0 || !place.work().join("taken").exists() {
            wrong.push(format!("{condition}: {}", ran.all()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_same_holds_in_tests_and_filters() {
    let mut wrong = Vec::new();
    for (template, said) in [
        ("{{ inputs.v is gt 3 }}", "the test `gt` compares text with a number"),
        ("{{ inputs.v is eq 12 }}", "the test `eq` compares text with a number"),
        ("{{ [inputs.v] | select('gt', 3) | list }}", "the test `gt` compares text with a number"),
        ("{{ [1, inputs.v] | sort }}", "`sort` cannot order a number and text"),
        ("{{ [1, inputs.v] | min }}", "`min` cannot order a number and text"),
        ("{{ [1, inputs.v] | max }}", "`max` cannot order a number and text"),
    ] {
        let place = Place::new();
        let skill = format!(
            "name: c\ninputs: [{{ name: v, default: '12' }}]\nsteps:\n  - {{ name: b, command: echo, args: [{template:?}] }}\n"
        );
        place.write("c.yaml", &skill);
        let ran = place.aye(&["run", "c.yaml"]);
        let placed = ran.stderr.contains("at c.yaml:4\n");
        let hinted = ran.stderr.contains("map('float')");
        if ran.code != 1 || !ran.stderr.contains(said) || !hinted || !placed {
            wrong.push(format!("{template}: {}", ran.all()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn check_points_at_what_a_program_printed_and_a_number() {
    let found = ["shell: echo 12", "command: echo, args: ['12']"].map(|first| {
        let place = Place::new();
        place.write("c.yaml", &skill(first, "v < 100"));
        place.aye(&["check", "c.yaml"]).ok().stdout
    });
    let said = [
        "warning[text-as-number]: `v < 100` compares text with a number\n  --> c.yaml:4:",
        "`v` is the text that step `v` printed",
        "hint: write `v | float < 100`",
    ];
    assert_says(&found.each_ref().map(|text| (text.as_str(), &said[..])));
}
