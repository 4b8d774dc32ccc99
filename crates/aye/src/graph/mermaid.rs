//! Mermaid, for pages that draw it themselves.

use std::fmt::Write as _;

use aye_core::flow::Flow;

use super::diagram::{Diagram, Shape, What, status_word};

/// How much of a command line a box shows.
const DETAIL: usize = 44;

/// Colours that can be read on light and on dark pages.
const CLASSES: &str = "  classDef command fill:#eef2f7,stroke:#64748b,color:#0f172a
  classDef question fill:#fef3c7,stroke:#b45309,color:#451a03
  classDef gate fill:#eef2f7,stroke:#d97706,stroke-width:3px,color:#0f172a
  classDef note fill:#f8fafc,stroke:#94a3b8,stroke-dasharray:3 3,color:#334155
  classDef completed fill:#dcfce7,stroke:#15803d,color:#052e16
  classDef failed fill:#fee2e2,stroke:#b91c1c,color:#450a0a
  classDef cancelled fill:#f1f5f9,stroke:#64748b,stroke-dasharray:4 3,color:#1e293b
  classDef start fill:#64748b,stroke:#64748b
  classDef unreached opacity:0.5
";

/// The flow as a Mermaid flowchart.
pub fn mermaid(flow: &Flow) -> String {
    let drawing = Diagram::of(flow);
    let mut page = String::from("flowchart TD\n  start((\" \"))\n");
    for (id, shape) in drawing.shapes.iter().enumerate() {
        let (open, close) = brackets(shape.what);
        let _ = writeln!(page, "  n{id}{open}\"{}\"{close}", escaped_lines(shape));
    }
    let _ = writeln!(page, "  start --> n{}", drawing.start);
    for link in &drawing.links {
        let arrow = if link.implied { "-.->" } else { "-->" };
        let label = link.label();
        let label = if label.is_empty() { label } else { format!("|\"{}\"|", escaped(&label)) };
        let _ = writeln!(page, "  n{} {arrow}{label} n{}", link.from, link.to);
    }
    page.push_str(CLASSES);
    page.push_str("  class start start\n");
    for (id, shape) in drawing.shapes.iter().enumerate() {
        let _ = writeln!(page, "  class n{id} {}", class(shape));
        if !shape.reached {
            let _ = writeln!(page, "  class n{id} unreached");
        }
    }
    page
}

fn brackets(what: What) -> (&'static str, &'static str) {
    match what {
        What::Command => ("[", "]"),
        What::Shell => ("[[", "]]"),
        What::Question => ("{{", "}}"),
        What::Note => ("(", ")"),
        What::End(_) => ("([", "])"),
    }
}

fn class(shape: &Shape) -> &'static str {
    match shape.what {
        What::End(status) => status_word(status),
        What::Command | What::Shell if shape.gate.is_some() => "gate",
        What::Command | What::Shell => "command",
        What::Question => "question",
        What::Note => "note",
    }
}

fn escaped_lines(shape: &Shape) -> String {
    let lines: Vec<String> = shape.lines(DETAIL).iter().map(|line| escaped(line)).collect();
    lines.join("<br/>")
}

/// Text that Mermaid shows and does not read: neither as its own syntax, nor
/// as Markdown, HTML or the name of an icon.
///
/// Everything in ASCII that is not a letter, digit or space becomes a
/// character code, except where it stands inside a word and means nothing.
fn escaped(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let word =
        |at: Option<usize>| at.and_then(|at| letters.get(at)).is_some_and(|c| c.is_alphanumeric());
    let mut out = String::with_capacity(text.len());
    for (at, &c) in letters.iter().enumerate() {
        let inside = word(at.checked_sub(1)) && word(Some(at + 1));
        let harmless = match c {
            ' ' => true,
            ',' => at > 0,
            '-' | '_' | '/' => inside,
            // `www.` would become a link.
            '.' => inside && !out.to_ascii_lowercase().ends_with("www"),
            c => !c.is_ascii() || c.is_ascii_alphanumeric(),
        };
        if harmless {
            out.push(c);
        } else {
            let _ = write!(out, "#{};", u32::from(c));
        }
    }
    out
}
