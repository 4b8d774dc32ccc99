//! Lines, columns, carets, colours and the form for programs.

use aye_core::diagnostic::{Diagnostic, Source, render, to_json};
use aye_core::span::Span;

fn at(source: &Source<'_>, needle: &str) -> Span {
    let start = source.text.find(needle).expect("the needle");
    Span { start, end: start + needle.len() }
}

#[test]
fn carets_stand_under_wide_characters_and_tabs() {
    let source = Source::new("wide.yaml", "a:\t'日本' # é\tnext\n");
    let found = Diagnostic::error("demo", "here").label(at(&source, "next"), "this");
    insta::assert_snapshot!(render(&found, &source, false), @"
    error[demo]: here
      --> wide.yaml:1:13
       |
     1 | a:    '日本' # é    next
       |                     ^^^^ this
    ");
    let found = Diagnostic::error("demo", "here").label(at(&source, "日本"), "");
    insta::assert_snapshot!(render(&found, &source, false), @"
    error[demo]: here
      --> wide.yaml:1:5
       |
     1 | a:    '日本' # é    next
       |        ^^^^
    ");
}

#[test]
fn several_labels_and_a_gap() {
    let source = Source::new("gap.yaml", "one\ntwo\nthree\nfour\nfive six\n");
    let found = Diagnostic::warning("demo", "these belong together")
        .label(at(&source, "five"), "the main one")
        .label(at(&source, "one"), "the first")
        .label(at(&source, "two"), "the next")
        .label(at(&source, "six"), "the last")
        .hint("first line\nsecond line");
    insta::assert_snapshot!(render(&found, &source, false), @"
    warning[demo]: these belong together
      --> gap.yaml:5:1
       |
     1 | one
       | --- the first
     2 | two
       | --- the next
    ...
     5 | five six
       | ^^^^ the main one
       |      --- the last
       |
    hint: first line
          second line
    ");
}

#[test]
fn a_long_line_is_cut_around_the_caret() {
    let text = format!("{}needle{}", "before ".repeat(60), " after".repeat(60));
    let source = Source::new("long.yaml", &text);
    let found = Diagnostic::error("demo", "here").label(at(&source, "needle"), "this");
    insta::assert_snapshot!(render(&found, &source, false), @"
    error[demo]: here
      --> long.yaml:1:421
       |
     1 | …e before before before before needle after after after after after after after after after after aft…
       |                                ^^^^^^ this
    ");
}

#[test]
fn colours_are_asked_for() {
    let source = Source::new("a.yaml", "one\n");
    let found = Diagnostic::error("demo", "here").label(at(&source, "one"), "this").hint("that");
    let coloured = render(&found, &source, true);
    assert!(coloured.starts_with("\u{1b}[1;31merror[demo]\u{1b}[0m\u{1b}[1m: here\u{1b}[0m\n"));
    assert!(!render(&found, &source, false).contains('\u{1b}'));
}

#[test]
fn text_of_a_file_cannot_steer_the_terminal() {
    let source = Source::new("\u{1b}]0;x\u{7}.yaml", "a: \u{202e}b\n");
    let found = Diagnostic::error("demo", "bad `\u{1b}[2J`")
        .label(at(&source, "a"), "label \u{200b}")
        .hint("hint \u{9b}");
    insta::assert_snapshot!(render(&found, &source, false), @r"
    error[demo]: bad `\u{1b}[2J`
      --> \u{1b}]0;x\u{7}.yaml:1:1
       |
     1 | a: \u{202e}b
       | ^ label \u{200b}
       |
    hint: hint \u{9b}
    ");
}

#[test]
fn spans_outside_of_the_text_are_moved_into_it() {
    let source = Source::new("a.yaml", "é\r\nb");
    for span in [(0, 1), (1, 1), (1, 2), (2, 4), (5, 99), (99, 3), (usize::MAX, usize::MAX)] {
        let span = Span { start: span.0, end: span.1 };
        let found = Diagnostic::error("demo", "here").label(span, "");
        assert!(render(&found, &source, false).contains("--> a.yaml:"));
        let json = to_json(&found, &source);
        assert!(json.line <= 2 && json.end_line <= 2);
    }
}

#[test]
fn the_form_for_programs() {
    let source = Source::new("a.yaml", "äöü\r\nname: x\rlast: y\n");
    let found = Diagnostic::error("demo", "here")
        .label(at(&source, "last"), "this")
        .label(at(&source, "öü"), "")
        .hint("that");
    let json = serde_json::to_string_pretty(&to_json(&found, &source)).expect("JSON");
    insta::assert_snapshot!(json, @r#"
    {
      "severity": "error",
      "code": "demo",
      "message": "here",
      "hint": "that",
      "file": "a.yaml",
      "line": 3,
      "column": 1,
      "end_line": 3,
      "end_column": 5,
      "labels": [
        {
          "text": "this",
          "line": 3,
          "column": 1,
          "end_line": 3,
          "end_column": 5
        },
        {
          "text": "",
          "line": 1,
          "column": 2,
          "end_line": 1,
          "end_column": 4
        }
      ]
    }
    "#);
}
