//! What must hold of every picture, whatever the flow.

use std::io::Write as _;
use std::process::{Command, Stdio};

use aye::graph;
use aye_core::flow::Flow;
use unicode_width::UnicodeWidthStr;

use crate::needs;

use super::flows;

fn all() -> Vec<(&'static str, Flow)> {
    vec![
        ("release", flows::release()),
        ("deploy", flows::deploy()),
        ("rollout", flows::rollout()),
        ("long", flows::long()),
        ("tidied", flows::tidied()),
        ("single", flows::single()),
        ("only an end", flows::only_an_end()),
        ("hostile", flows::hostile()),
    ]
}

#[test]
fn svg_is_well_formed_and_nothing_in_it_acts() {
    for (name, flow) in all() {
        let picture = graph::svg(&flow);
        let document = roxmltree::Document::parse(&picture).unwrap();
        for node in document.descendants().filter(roxmltree::Node::is_element) {
            let tag = node.tag_name().name();
            let known = ["svg", "style", "rect", "g", "title", "path", "text", "circle"];
            assert!(known.contains(&tag), "{name}: <{tag}>");
            for attribute in node.attributes() {
                let key = attribute.name();
                assert!(!key.starts_with("on") && key != "href", "{name}: {key}");
            }
        }
        assert!(!picture.contains("NaN") && !picture.contains("inf"), "{name}");
    }
}

/// Viewers without custom properties would paint what has no colour black.
#[test]
fn svg_has_its_colours_without_the_style_sheet() {
    for (name, flow) in all() {
        let picture = graph::svg(&flow);
        let document = roxmltree::Document::parse(&picture).unwrap();
        for node in document.descendants().filter(roxmltree::Node::is_element) {
            let drawn = ["rect", "path", "text", "circle"].contains(&node.tag_name().name());
            let fill = node.attribute("fill").unwrap_or_default();
            assert!(!drawn || fill == "none" || fill.starts_with('#'), "{name}: {node:?}");
        }
        let style = picture.split_once("<style>").unwrap().1.trim_start();
        assert!(style.starts_with("@supports"), "{name}: variables only where they are known");
    }
}

#[test]
fn svg_names_every_step() {
    for (name, flow) in all() {
        let picture = graph::svg(&flow);
        let document = roxmltree::Document::parse(&picture).unwrap();
        let titles: Vec<&str> = document
            .descendants()
            .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "title")))
            .filter_map(|node| node.text())
            .collect();
        for node in &flow.nodes {
            let step = node.step.name.as_str();
            assert!(
                titles.iter().any(|title| title.lines().next() == Some(step)),
                "{name}: {step}"
            );
        }
    }
}

#[test]
fn text_keeps_to_the_width_and_sends_nothing_to_the_terminal() {
    for (name, flow) in all() {
        for width in [0, 20, 33, 78, 200, usize::MAX] {
            for unicode in [true, false] {
                let page = graph::text(&flow, width, false, unicode);
                for line in page.lines() {
                    assert!(line.width() <= width.max(20), "{name} at {width}: {line}");
                    assert!(!line.chars().any(char::is_control), "{name}: {line:?}");
                    assert_eq!(line.trim_end(), line, "{name}");
                }
            }
        }
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    for (name, flow) in all() {
        let coloured = graph::text(&flow, 60, true, true);
        let mut bare = String::new();
        let mut pieces = coloured.split('\x1b');
        bare.push_str(pieces.next().unwrap());
        for piece in pieces {
            bare.push_str(piece.split_once('m').unwrap().1);
        }
        assert_eq!(bare, graph::text(&flow, 60, false, true), "{name}");
    }
}

#[test]
fn ascii_glyphs_are_ascii() {
    for (name, flow) in [("release", flows::release()), ("rollout", flows::rollout())] {
        assert!(graph::text(&flow, 60, true, false).is_ascii(), "{name}");
    }
}

#[test]
fn mermaid_holds_no_syntax_from_the_skill() {
    let page = graph::mermaid(&flows::hostile());
    for line in page.lines().filter(|line| line.starts_with("  n")) {
        let words = line.split('"').nth(1).unwrap().replace("<br/>", "");
        assert_eq!(line.matches('"').count(), 2, "{line}");
        assert!(!words.contains(['<', '>', '`', '[', ']', '{', '}', '(', ')', '%', ':']), "{line}");
    }
}

#[test]
fn graphviz_accepts_dot() {
    needs::program("dot");
    for (name, flow) in all() {
        let mut child = Command::new("dot")
            .args(["-Tsvg", "-o", "/dev/null"])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(graph::dot(&flow).as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {said}");
        assert!(!said.contains("syntax error"), "{name}: {said}");
    }
}
