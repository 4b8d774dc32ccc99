//! A picture that needs nothing but itself.
//!
//! [`look`] measures and draws the boxes, `layout` finds their places,
//! [`plain`] gives them colours that every viewer knows, and [`STYLE`] makes
//! it readable on light and on dark pages.
//!
//! Touches nothing. The page and the editor show it as it is.

mod look;
mod plain;
mod tag;

use aye_core::flow::Flow;
use unicode_width::UnicodeWidthStr;

use self::tag::{Page, number};
use super::diagram::{Diagram, EdgeKind, Link};
use super::layout::{Layout, Path, Point, Rect, Size, Wire, layout};

const STYLE: &str = include_str!("style.css");

/// Around the drawing.
const MARGIN: f64 = 24.0;
/// Above the drawing, for the title.
const HEAD: f64 = 34.0;
const DOT: f64 = 12.0;
const LABEL_COLUMN: f64 = 5.9;
const LABEL_HEIGHT: f64 = 15.0;

/// The flow as an SVG document.
pub fn svg(flow: &Flow) -> String {
    let drawing = Diagram::of(flow);
    let looks: Vec<look::Look> = drawing.shapes.iter().map(look::Look::of).collect();
    // The dot where a run begins is the first box, so that it is on top.
    let mut sizes = vec![Size { width: DOT, height: DOT }];
    sizes.extend(looks.iter().map(look::Look::size));
    let mut wires = vec![Wire { from: 0, to: drawing.start + 1, main: true, label: 0.0 }];
    wires.extend(drawing.links.iter().map(|link| Wire {
        from: link.from + 1,
        to: link.to + 1,
        main: link.kind == EdgeKind::Good,
        label: label_width(link),
    }));
    let plan = layout(&sizes, &wires);

    let title = 8.4 * columns(&drawing.title);
    let width = plan.width.max(title) + 2.0 * MARGIN;
    let height = plan.height + 2.0 * MARGIN + HEAD;
    let mut page = Page::new(width, height, &drawing.title, STYLE);
    page.text("title", MARGIN, MARGIN + 12.0, &drawing.title);
    page.open(&format!(
        "transform=\"translate({} {})\"",
        number((width - plan.width) / 2.0),
        number(MARGIN + HEAD)
    ));
    arrows(&mut page, &plan, &drawing.links);
    if let Some(place) = plan.boxes.first() {
        page.dot(Point { x: place.x + DOT / 2.0, y: place.y + DOT / 2.0 }, DOT / 2.0);
    }
    for ((shape, look), place) in drawing.shapes.iter().zip(&looks).zip(&plan.boxes[1..]) {
        look.draw(&mut page, shape, *place);
    }
    labels(&mut page, &plan, &drawing.links);
    page.finish()
}

#[expect(clippy::cast_precision_loss, reason = "columns of a label")]
fn columns(text: &str) -> f64 {
    text.width() as f64
}

fn label_width(link: &Link) -> f64 {
    match link.label() {
        label if label.is_empty() => 0.0,
        label => columns(&label) * LABEL_COLUMN + 8.0,
    }
}

fn edge_class(link: &Link) -> &'static str {
    match link.kind {
        EdgeKind::Good => "good",
        EdgeKind::Bad => "bad",
        EdgeKind::Refused => "refused",
        EdgeKind::Other => "other",
    }
}

fn arrows(page: &mut Page, plan: &Layout, links: &[Link]) {
    for (at, path) in plan.paths.iter().enumerate() {
        let link = at.checked_sub(1).and_then(|at| links.get(at));
        let edge = link.map_or("good", edge_class);
        let implied = if link.is_some_and(|link| link.implied) { " implied" } else { "" };
        page.path(&format!("wire {edge}{implied}"), &shortened(path));
        page.arrow(&format!("head {edge}"), path.approach());
    }
}

/// The line ends inside its arrow head, not at the tip.
fn shortened(path: &Path) -> Path {
    let mut path = path.clone();
    let (from, tip) = path.approach();
    let length = (tip.x - from.x).hypot(tip.y - from.y).max(0.01);
    if let Some(piece) = path.pieces.last_mut() {
        piece.end.x -= (tip.x - from.x) / length * 4.0;
        piece.end.y -= (tip.y - from.y) / length * 4.0;
    }
    path
}

/// Each label at the place on its arrow with the least in the way.
fn labels(page: &mut Page, plan: &Layout, links: &[Link]) {
    let mut taken: Vec<Rect> = plan.boxes.clone();
    taken.extend(plan.paths.iter().map(|path| {
        let (_, tip) = path.approach();
        Rect { x: tip.x - 5.0, y: tip.y - 12.0, width: 10.0, height: 12.0 }
    }));
    let mut words = Vec::new();
    for (link, path) in links.iter().zip(&plan.paths[1..]) {
        let text = link.label();
        if text.is_empty() {
            continue;
        }
        let width = label_width(link);
        let around = |at: &Point| Rect {
            x: at.x - width / 2.0,
            y: at.y - LABEL_HEIGHT / 2.0,
            width,
            height: LABEL_HEIGHT,
        };
        let mut places = path.samples(13);
        // From the middle outwards.
        let middle = places.len() / 2;
        let mut tries: Vec<usize> = (0..places.len()).collect();
        tries.sort_by_key(|at| at.abs_diff(middle));
        let Some(at) = tries.into_iter().min_by_key(|at| {
            let place = around(&places[*at]);
            taken.iter().filter(|other| other.meets(&place)).count()
        }) else {
            continue;
        };
        let at = places.swap_remove(at);
        taken.push(around(&at));
        page.blank(around(&at));
        words.push((link, at, text));
    }
    for (link, at, text) in words {
        page.text(&format!("label {}", edge_class(link)), at.x, at.y + 3.5, &text);
    }
}
