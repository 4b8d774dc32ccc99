//! A block is changed in its file, and nothing else is.

use aye_core::skill::{Action, Body, PatchError, Step, parse, patch_block};

use aye_core::span::Span;
use proptest::prelude::{ProptestConfig, any, prop, prop_oneof, proptest};
use proptest::strategy::{Just, Strategy};

use super::dedent;

/// The blocks of a file, in its order.
fn blocks(text: &str) -> Vec<(Span, String)> {
    fn collect(steps: &[Step], found: &mut Vec<(Span, String)>) {
        for step in steps {
            match &step.action {
                Action::Compute { code, .. } => found.push((code.span, code.value.clone())),
                Action::ForEach(each) => collect(&each.body, found),
                _ => {}
            }
            collect(&step.then, found);
        }
    }
    let parsed = parse("demo.yaml", text);
    assert!(!parsed.has_errors(), "{text}\n{:?}", parsed.diagnostics);
    let mut found = Vec::new();
    for skill in &parsed.skills {
        match &skill.body {
            Body::Steps(steps) => collect(steps, &mut found),
            Body::States { states, .. } => {
                states
                    .iter()
                    .for_each(|state| collect(std::slice::from_ref(&state.step), &mut found));
            }
        }
    }
    found
}

/// Writes `to` in the place of `from` in the block with this number.
fn patch(text: &str, number: usize, from: &str, to: &str) -> Result<String, PatchError> {
    let (span, old) = blocks(text)[number].clone();
    assert!(old.contains(from), "{old}");
    patch_block(text, span, &old, &old.replace(from, to))
}

/// The lines that differ, as a diff shows them.
fn changes(old: &str, new: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    assert_eq!(old.len(), new.len());
    let pairs = old.iter().zip(&new).filter(|(old, new)| old != new);
    pairs.map(|(old, new)| format!("-{old}+{new}")).collect()
}

const SKILL: &str = "
    # Kept.
    name: demo   # kept, too
    steps:
      - name: one
        compute: |   # the plan
          # näme: a comment, with 'quotes' and {{ braces }}
          x = inputs['comit']

            # deeper than the code
          result = f\"{x} → ü\"
        # between
        output: plan

      - name: two
        compute: |-
            result = inputs['comit']
      - {name: three, compute: \"result = inputs[\\\"comit\\\"]\"} # flow
      - name: four
        compute: 'result = inputs[''comit'']'
      - name: five
        compute: inputs.comit   # plain
      - name: each
        foreach: [1, 2]
        steps:
        - name: inner
          compute: |2+

            result = inputs['comit']

        - name: last
          compute: |
            result = inputs['comit']
";

#[test]
fn only_the_line_that_differs_is_written() {
    let text = dedent(SKILL);
    let change = |number| changes(&text, &patch(&text, number, "comit", "commit").unwrap());
    assert_eq!(blocks(&text).len(), 7);
    let changed: String = (0..7).map(change).collect();
    insta::assert_snapshot!(changed, @r#"
    -      x = inputs['comit']
    +      x = inputs['commit']
    -        result = inputs['comit']
    +        result = inputs['commit']
    -  - {name: three, compute: "result = inputs[\"comit\"]"} # flow
    +  - {name: three, compute: "result = inputs[\"commit\"]"} # flow
    -    compute: 'result = inputs[''comit'']'
    +    compute: 'result = inputs[''commit'']'
    -    compute: inputs.comit   # plain
    +    compute: inputs.commit   # plain
    -        result = inputs['comit']
    +        result = inputs['commit']
    -        result = inputs['comit']
    +        result = inputs['commit']
    "#);
}

#[test]
fn line_breaks_of_windows_stay() {
    let text = dedent(SKILL).replace('\n', "\r\n");
    for number in 0..7 {
        let new = patch(&text, number, "comit", "commit").unwrap();
        let (old_lines, new_lines) = (text.split("\r\n"), new.split("\r\n"));
        assert_eq!(old_lines.zip(new_lines).filter(|(old, new)| old != new).count(), 1);
        assert_eq!(new.matches('\n').count(), new.matches("\r\n").count());
        assert_eq!(blocks(&new)[number].1, blocks(&text)[number].1.replace("comit", "commit"));
    }
    // More lines than before end as those around them do.
    let new = patch(&text, 0, "x = ", "y = 1\nx = ").unwrap();
    assert!(new.contains("      y = 1\r\n      x = inputs"), "{new}");
}

#[test]
fn of_two_equal_blocks_one_is_changed() {
    let text = "name: demo\nsteps:\n- name: a\n  compute: |\n    result = a\n- name: b\n  compute: |\n    result = a\n";
    let new = patch(text, 1, "= a", "= b").unwrap();
    assert_eq!(
        blocks(&new).iter().map(|(_, code)| code.as_str()).collect::<Vec<_>>(),
        ["result = a\n", "result = b\n"]
    );
    assert_eq!(
        new,
        text.replacen(
            "result = a\n- name: b\n  compute: |\n    result = a",
            "result = a\n- name: b\n  compute: |\n    result = b",
            1
        )
    );
}

#[test]
fn lines_come_and_go() {
    let text =
        "name: demo\nsteps:\n- name: a\n  compute: |\n    a = 1\n    result = a\n  output: b\n";
    let end = "\n  output: b\n";
    let cases = [
        ("a = 1\n", "", "    result = a"),
        ("a = 1\n", "a = 1\n\nb = 2\n", "    a = 1\n\n    b = 2\n    result = a"),
        ("result = a\n", "result = a\n# end\n", "    a = 1\n    result = a\n    # end"),
        ("a = 1\nresult = a", "if 1:\n  result = 2", "    if 1:\n      result = 2"),
    ];
    for (from, to, body) in cases {
        let expected = format!("name: demo\nsteps:\n- name: a\n  compute: |\n{body}{end}");
        assert_eq!(patch(text, 0, from, to).unwrap(), expected);
    }
    // The last line of a file need not end.
    let text = "name: demo\nsteps:\n- name: a\n  compute: |-\n    result = a";
    assert_eq!(patch(text, 0, "= a", "= b").unwrap(), text.replace("= a", "= b"));
}

#[test]
fn a_plain_text_gets_quotes_if_it_needs_them() {
    let text = "name: demo\nsteps:\n- name: a\n  compute: inputs.comit # why\n";
    let line = |to| patch(text, 0, "inputs.comit", to).unwrap().lines().last().unwrap().to_owned();
    assert_eq!(line("inputs.commit"), "  compute: inputs.commit # why");
    assert_eq!(line("inputs[\"commit\"]"), "  compute: inputs[\"commit\"] # why");
    assert_eq!(line("{'a': 1 } # x"), "  compute: '{''a'': 1 } # x' # why");
    assert_eq!(line("f(a) if x: y"), "  compute: 'f(a) if x: y' # why");
    assert_eq!(line("12"), "  compute: '12' # why");
}

#[test]
fn what_is_not_safe_is_refused() {
    let said = |text: &str, from: &str, to: &str| {
        let error = patch(text, 0, from, to).unwrap_err();
        format!("{error} ({})", error.hint)
    };
    let skill = |code: &str| format!("name: demo\nsteps:\n- name: a\n  compute: {code}\n");
    let cannot = "the code is written in a way that cannot be changed here (change it by hand, or write it as a block: `compute: |` with the code below)";
    // Folded, so that lines of the file are not lines of the code.
    assert_eq!(said(&skill(">-\n    result =\n    inputs.a"), "inputs.a", "inputs.b"), cannot);
    assert_eq!(said(&skill("\"result =\n    inputs.a\""), "inputs.a", "inputs.b"), cannot);
    assert_eq!(said(&skill("result =\n    inputs.a"), "inputs.a", "inputs.b"), cannot);
    // Line breaks have no place in single quotes, a bell in no YAML.
    assert_eq!(said(&skill("'inputs.a'"), "inputs.a", "inputs.a\n"), cannot);
    assert_eq!(said(&skill("|\n    inputs.a"), "inputs.a", "'\u{7}'"), cannot);
    // The first line says how deep the code is.
    assert_eq!(said(&skill("|\n    a = 1\n    result = a"), "a = 1\n", "  a = 1\n"), cannot);
    // How the block ends is not for the code to say.
    assert_eq!(said(&skill("|-\n    inputs.a"), "inputs.a", "inputs.b\n"), cannot);
    let shared = "name: demo\nsteps:\n- name: a\n  compute: &code |\n    inputs.a\n- name: b\n  compute: *code\n";
    assert_eq!(
        said(shared, "inputs.a", "inputs.b"),
        "this code is used in more than one place of the file (an anchor (`&`) stands for all of them: change it by hand)"
    );
    let text = skill("inputs.a");
    let (span, _) = blocks(&text)[0];
    let moved = Span { start: span.start + 1, ..span };
    for (span, old) in [(span, "inputs.b"), (moved, "inputs.a"), (Span::default(), "demo")] {
        let error = patch_block(&text, span, old, "inputs.c").unwrap_err();
        assert_eq!(error.message, "the file does not hold this code any more");
    }
    assert_eq!(
        patch_block("name: [", span, "inputs.a", "b").unwrap_err().message,
        "the file has errors"
    );
    assert_eq!(patch_block(&text, span, "inputs.a", "inputs.a").unwrap(), text);
}

/// Code of any kind, with what YAML might trip over.
fn code() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("x = 1"),
        Just(""),
        Just("  y"),
        Just("# c"),
        Just("'it''s'"),
        Just("\"q\\\""),
        Just(": "),
        Just(" #"),
        Just("- a"),
        Just("é→日"),
        Just("{{ x }}"),
        Just("\t"),
        Just("---"),
        Just("&a *b !c"),
    ];
    prop::collection::vec(word, 1..6).prop_map(|words| words.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    /// Whatever is asked for: the block is the new code and the rest is the
    /// same, or nothing is changed.
    #[test]
    fn the_new_code_is_there_or_an_error(old in code(), new in code(), style in 0..3, crlf in any::<bool>()) {
        let scalar = match style {
            0 => format!("|\n{}", old.lines().map(|line| format!("    {line}\n")).collect::<String>()),
            1 => format!("'{}'\n", old.replace('\'', "''").replace('\n', " ")),
            _ => format!("{:?}\n", old.replace('\n', " ")),
        };
        let before = "# first\nname: demo\nsteps:\n- name: a # é\n  compute: ";
        let after = "  # between\n  output: out\n- name: b\n  compute: |\n    same # kept\n";
        let mut text = format!("{before}{scalar}{after}");
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        let parsed = parse("demo.yaml", &text);
        if !parsed.has_errors() {
            let (span, old) = blocks(&text)[0].clone();
            let new = if old.ends_with('\n') { format!("{}\n", new.trim_end()) } else { new };
            // A change inside a line is always possible in a block.
            if style == 0 {
                let inside = old.replace("x = 1", "x = 'ü'");
                assert_eq!(blocks(&patch_block(&text, span, &old, &inside).unwrap())[0].1, inside);
            }
            if let Ok(changed) = patch_block(&text, span, &old, &new) {
                assert_eq!(blocks(&changed)[0].1, new);
                assert_eq!(blocks(&changed)[1].1, blocks(&text)[1].1);
                let ends = |text: &str| text.replace("\r\n", "\n");
                assert!(ends(&changed).starts_with(before) && ends(&changed).ends_with(after));
                let lone = |text: &str| text.matches('\n').count() - text.matches("\r\n").count();
                assert!(!crlf || lone(&changed) == 0);
            }
        }
    }
}
