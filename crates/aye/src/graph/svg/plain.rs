//! The picture without a style sheet.
//!
//! Many viewers know neither custom properties nor `@supports`, and would
//! paint everything black. Each element therefore says how it looks on a
//! light page in plain attributes; `style.css` puts the variables on top
//! where they are understood. The colours are those of its first rule.

const PAGE: &str = "#fff";
const INK: &str = "#0f172a";
const SOFT: &str = "#64748b";
const LINE: &str = "#94a3b8";
const ASK: &str = "#b45309";
const GOOD: &str = "#15803d";
const BAD: &str = "#b91c1c";
const OTHER: &str = "#2563eb";

/// For the whole picture.
pub(super) const FONT: &str =
    "ui-sans-serif,system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif";
const MONOSPACE: &str = "ui-monospace,'SF Mono',Menlo,'DejaVu Sans Mono',monospace";

/// The attributes of an element of `class`, in a group of class `group`.
pub(super) fn attributes(class: &str, group: &str) -> String {
    let mut classes = class.split(' ');
    let (kind, edge) = (classes.next().unwrap_or_default(), classes.next().unwrap_or_default());
    let group = group.split(' ').next().unwrap_or_default();
    let text = |size: &str, bold: bool, fill: &str| {
        let weight = if bold { " font-weight=\"600\"" } else { "" };
        format!("fill=\"{fill}\" font-size=\"{size}\"{weight}")
    };
    match kind {
        "page" => format!("fill=\"{PAGE}\""),
        "title" => text("15", true, INK),
        "name" => text("13", true, name(group)),
        "detail" => format!("{} font-family=\"{MONOSPACE}\"", text("10.5", false, SOFT)),
        "plain" => text("11", false, SOFT),
        "warn" => text("11", false, ASK),
        "sign" => text("13", true, if group == "asks" { ASK } else { SOFT }),
        "flag" => format!("fill=\"{ASK}\""),
        "dot" => format!("fill=\"{SOFT}\""),
        "box" => outline(group),
        "head" => format!("fill=\"{}\"", arrow(edge)),
        "wire" => {
            let dashes = if class.ends_with(" implied") { " stroke-dasharray=\"4 4\"" } else { "" };
            let colour = arrow(edge);
            format!(
                "fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\" stroke-linecap=\"round\"{dashes}"
            )
        }
        "label" => {
            let colour = if edge == "good" { SOFT } else { arrow(edge) };
            format!("{} text-anchor=\"middle\"", text("10.5", false, colour))
        }
        _ => String::new(),
    }
}

/// The attributes of a group of `class`.
pub(super) fn group(class: &str) -> &'static str {
    if class.ends_with(" unreached") { " opacity=\".45\"" } else { "" }
}

fn name(group: &str) -> &'static str {
    match group {
        "completed" => GOOD,
        "failed" => BAD,
        "cancelled" => SOFT,
        _ => INK,
    }
}

fn arrow(edge: &str) -> &'static str {
    match edge {
        "bad" => BAD,
        "refused" => ASK,
        "other" => OTHER,
        _ => LINE,
    }
}

fn outline(group: &str) -> String {
    let (fill, stroke, width, dashes) = match group {
        "asks" => ("#fffbeb", "#f0c36a", "1.2", ""),
        "gated" => ("#f8fafc", "#f0c36a", "1.6", ""),
        "note" => ("#f8fafc", "#cbd5e1", "1.2", "3 3"),
        "completed" => ("#f0fdf4", GOOD, "1.2", ""),
        "failed" => ("#fef2f2", BAD, "1.2", ""),
        "cancelled" => ("#f8fafc", SOFT, "1.2", "4 3"),
        _ => ("#f8fafc", "#cbd5e1", "1.2", ""),
    };
    let dashes =
        if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") };
    format!("fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"{width}\"{dashes}")
}
