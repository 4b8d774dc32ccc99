//! Graphviz.

use std::fmt::Write as _;

use aye_core::flow::Flow;
use aye_core::skill::EndStatus;

use super::diagram::{Diagram, EdgeKind, Link, Shape, What};

/// How much of a command line a box shows.
const DETAIL: usize = 48;

/// The flow in Graphviz's language.
pub fn dot(flow: &Flow) -> String {
    let drawing = Diagram::of(flow);
    let mut page = String::from("digraph flow {\n");
    let _ = writeln!(
        page,
        "  graph [label={}, labelloc=t, fontname=Helvetica, rankdir=TB]",
        quoted(&drawing.title)
    );
    page.push_str("  node [fontname=Helvetica, fontsize=11, style=filled, shape=box]\n");
    page.push_str("  edge [fontname=Helvetica, fontsize=9]\n");
    page.push_str("  start [label=\"\", shape=circle, width=0.18, fillcolor=\"#64748b\", color=\"#64748b\"]\n");
    for (id, shape) in drawing.shapes.iter().enumerate() {
        let _ = writeln!(
            page,
            "  n{id} [label={}, {}]",
            quoted(&shape.lines(DETAIL).join("\n")),
            look(shape)
        );
    }
    let _ = writeln!(page, "  start -> n{}", drawing.start);
    for link in &drawing.links {
        let _ = writeln!(page, "  n{} -> n{} [{}]", link.from, link.to, stroke(link));
    }
    page.push_str("}\n");
    page
}

fn look(shape: &Shape) -> String {
    let (form, style, fill, line) = match shape.what {
        What::Command | What::Shell if shape.gate.is_some() => {
            ("box", "filled,bold", "#eef2f7", "#d97706")
        }
        What::Command | What::Shell => ("box", "filled", "#eef2f7", "#64748b"),
        What::Question => ("hexagon", "filled", "#fef3c7", "#b45309"),
        What::Note => ("note", "filled", "#f8fafc", "#94a3b8"),
        What::End(EndStatus::Completed | EndStatus::ByOutcome) => {
            ("box", "filled,rounded", "#dcfce7", "#15803d")
        }
        What::End(EndStatus::Failed) => ("box", "filled,rounded", "#fee2e2", "#b91c1c"),
        What::End(EndStatus::Cancelled) => ("box", "filled,rounded,dashed", "#f1f5f9", "#64748b"),
    };
    let ink = if shape.reached { "#0f172a" } else { "#94a3b8" };
    format!(
        "shape={form}, style=\"{style}\", fillcolor=\"{fill}\", color=\"{line}\", fontcolor=\"{ink}\""
    )
}

fn stroke(link: &Link) -> String {
    let colour = match link.kind {
        EdgeKind::Good => "#475569",
        EdgeKind::Bad => "#b91c1c",
        EdgeKind::Refused => "#b45309",
        EdgeKind::Other => "#2563eb",
    };
    let style = if link.implied { ", style=dashed" } else { "" };
    let label = match link.label() {
        label if label.is_empty() => label,
        label => format!("label={}, ", quoted(&label)),
    };
    format!("{label}color=\"{colour}\", fontcolor=\"{colour}\"{style}")
}

/// A label in quotes. Graphviz reads `\N` and `&amp;` inside labels, so
/// neither the backslash nor the ampersand may be left alone.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '&' => out.push_str("&amp;"),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
