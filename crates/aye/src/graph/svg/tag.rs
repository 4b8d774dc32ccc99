//! The few pieces of SVG that are needed, with everything escaped.

use std::fmt::Write as _;

use super::super::layout::{Path, Point, Rect};
use super::plain;

/// A document being written.
pub(super) struct Page {
    text: String,
    /// The classes of the groups that are open.
    open: Vec<String>,
}

/// With one digit after the point at most.
pub(super) fn number(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    // No "-0".
    format!("{}", rounded + 0.0)
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

impl Page {
    pub(super) fn new(width: f64, height: f64, title: &str, style: &str) -> Self {
        let (width, height) = (number(width), number(height));
        let title = escaped(title);
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"aye-flow\" role=\"img\" \
             aria-label=\"{title}\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"{FONT}\">\n\
             <style>\n{style}</style>\n",
            FONT = plain::FONT,
        );
        let mut page = Self { text, open: Vec::new() };
        page.element("rect", "page", &format!("width=\"{width}\" height=\"{height}\""));
        page
    }

    pub(super) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.text.push_str("</svg>\n");
        self.text
    }

    /// Opens a group; the attributes are our own words.
    pub(super) fn open(&mut self, attributes: &str) {
        let _ = writeln!(self.text, "<g {attributes}>");
        // What is in it looks as what is around it.
        self.open.push(self.group().to_owned());
    }

    /// Opens the group of a step or an end.
    pub(super) fn open_shape(&mut self, class: &str, data: &[(&str, &str)]) {
        let _ = write!(self.text, "<g class=\"{class}\"{}", plain::group(class));
        for (name, value) in data {
            let _ = write!(self.text, " {name}=\"{}\"", escaped(value));
        }
        self.text.push_str(">\n");
        self.open.push(class.to_owned());
    }

    fn group(&self) -> &str {
        self.open.last().map_or("", String::as_str)
    }

    /// An element without content.
    fn element(&mut self, tag: &str, class: &str, rest: &str) {
        let look = plain::attributes(class, self.group());
        let _ = writeln!(self.text, "<{tag} class=\"{class}\" {look} {rest}/>");
    }

    pub(super) fn close(&mut self) {
        self.text.push_str("</g>\n");
        self.open.pop();
    }

    /// What is shown when a pointer rests on the group.
    pub(super) fn tooltip(&mut self, text: &str) {
        let _ = writeln!(self.text, "<title>{}</title>", escaped(text));
    }

    pub(super) fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let (x, y) = (number(x), number(y));
        let look = plain::attributes(class, self.group());
        let text = escaped(text);
        let _ =
            writeln!(self.text, "<text class=\"{class}\" {look} x=\"{x}\" y=\"{y}\">{text}</text>");
    }

    pub(super) fn dot(&mut self, at: Point, radius: f64) {
        let (x, y, r) = (number(at.x), number(at.y), number(radius));
        self.element("circle", "dot", &format!("cx=\"{x}\" cy=\"{y}\" r=\"{r}\""));
    }

    /// Nothing, so that a label can be read where an arrow passes.
    pub(super) fn blank(&mut self, place: Rect) {
        let [x, y, width, height] = [place.x, place.y, place.width, place.height].map(number);
        let place = format!("x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"4\"");
        self.element("rect", "page", &place);
    }

    /// A shape by its outline, in the words of `d`.
    pub(super) fn outline(&mut self, class: &str, d: &str) {
        self.element("path", class, &format!("d=\"{d}\""));
    }

    pub(super) fn path(&mut self, class: &str, path: &Path) {
        let pair = |point: Point| format!("{} {}", number(point.x), number(point.y));
        let mut d = format!("M{}", pair(path.start));
        for piece in &path.pieces {
            if piece.straight {
                let _ = write!(d, "L{}", pair(piece.end));
            } else {
                let (a, b, end) = (pair(piece.first), pair(piece.second), pair(piece.end));
                let _ = write!(d, "C{a} {b} {end}");
            }
        }
        self.outline(class, &d);
    }

    /// The head of an arrow that comes from one point and ends at the other.
    pub(super) fn arrow(&mut self, class: &str, (from, tip): (Point, Point)) {
        let length = (tip.x - from.x).hypot(tip.y - from.y).max(0.01);
        let (ux, uy) = ((tip.x - from.x) / length, (tip.y - from.y) / length);
        let (x, y) = (tip.x - ux * 8.0, tip.y - uy * 8.0);
        let (wx, wy) = (-uy * 4.0, ux * 4.0);
        let corners = [(tip.x, tip.y), (x + wx, y + wy), (x - wx, y - wy)]
            .map(|(x, y)| format!("{} {}", number(x), number(y)));
        self.outline(class, &format!("M{}Z", corners.join("L")));
    }
}
