//! What a box looks like.

use super::super::diagram::{EndPlace, Shape, What};
use super::super::label::cut;
use super::super::layout::{Point, Rect, Size};
use super::tag::{Page, number};

const WIDEST: f64 = 320.0;
/// Widths are multiples of this: fewer different ones look calmer.
const STEP: f64 = 40.0;
const NARROWEST: f64 = 160.0;
const SIDE: f64 = 14.0;
/// From the left edge to the words, behind the sign.
const INDENT: f64 = 34.0;
const NAME_COLUMN: f64 = 7.9;
const DETAIL_COLUMN: f64 = 6.35;
const PLAIN_COLUMN: f64 = 6.2;
const NAME_HEIGHT: f64 = 18.0;
const LINE_HEIGHT: f64 = 16.0;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Name,
    Detail,
    Plain,
    /// With a flag.
    Gate,
    Warning,
}

impl Kind {
    fn column(self) -> f64 {
        match self {
            Self::Name => NAME_COLUMN,
            Self::Detail => DETAIL_COLUMN,
            Self::Plain | Self::Gate | Self::Warning => PLAIN_COLUMN,
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Detail => "detail",
            Self::Plain => "plain",
            Self::Gate | Self::Warning => "warn",
        }
    }
}

/// A box measured and ready to be drawn.
pub(super) struct Look {
    lines: Vec<(Kind, String)>,
    size: Size,
}

impl Look {
    pub(super) fn of(shape: &Shape) -> Self {
        let mut lines = vec![(Kind::Name, shape.name.clone())];
        let detail = if shape.what.asks() { Kind::Plain } else { Kind::Detail };
        lines.push((detail, shape.detail.clone()));
        lines.extend(shape.condition.as_ref().map(|text| (Kind::Plain, format!("if {text}"))));
        lines.extend(shape.gate.as_ref().map(|text| (Kind::Gate, text.clone())));
        lines.push((Kind::Warning, shape.remarks.join(", ")));
        lines.retain(|(_, text)| !text.is_empty());

        let (indent, narrowest) = match shape.what {
            What::End(_) => (SIDE, 72.0),
            _ => (INDENT, NARROWEST),
        };
        let room = WIDEST - indent - SIDE;
        for (kind, text) in &mut lines {
            let flag = if *kind == Kind::Gate { 14.0 } else { 0.0 };
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "small and positive"
            )]
            let columns = ((room - flag) / kind.column()) as usize;
            *text = cut(text, columns, "…");
        }
        let widest = lines
            .iter()
            .map(|(kind, text)| {
                super::columns(text) * kind.column() + if *kind == Kind::Gate { 14.0 } else { 0.0 }
            })
            .fold(0.0, f64::max);
        #[expect(clippy::cast_precision_loss, reason = "a few lines")]
        let below = (lines.len() - 1) as f64 * LINE_HEIGHT;
        let ends = matches!(shape.what, What::End(_));
        let padding = if ends { 10.0 } else { 16.0 };
        let wanted = (widest + indent + SIDE).max(narrowest);
        let size = Size {
            width: if ends { wanted } else { (wanted / STEP).ceil() * STEP },
            height: NAME_HEIGHT + below + padding,
        };
        Self { lines, size }
    }

    pub(super) fn size(&self) -> Size {
        self.size
    }

    pub(super) fn draw(&self, page: &mut Page, shape: &Shape, place: Rect) {
        let class = match shape.what {
            What::Question => "asks",
            What::Command | What::Shell if shape.gate.is_some() => "gated",
            what => what.word(),
        };
        let unreached = if shape.reached { "" } else { " unreached" };
        page.open_shape(&format!("{class}{unreached}"), &end_data(shape));
        page.tooltip(&shape.lines(usize::MAX).join("\n"));
        page.outline("box", &outline(shape.what, place));
        if let What::End(_) = shape.what {
            let middle = place.x + place.width / 2.0;
            page.open("text-anchor=\"middle\"");
            page.text("name", middle, place.y + place.height / 2.0 + 4.5, &self.lines[0].1);
            page.close();
        } else {
            self.write(page, shape.what, place);
        }
        page.close();
    }

    fn write(&self, page: &mut Page, what: What, place: Rect) {
        let x = place.x + INDENT;
        let mut y = place.y + 8.0 + 13.5;
        sign(page, what, Point { x: place.x + 15.0, y });
        for (kind, text) in &self.lines {
            if *kind == Kind::Gate {
                let (x, y) = (number(x), number(y - 9.0));
                page.outline("flag", &format!("M{x} {y}h1.4v.6h7l-2 2.6l2 2.6h-7v4.4h-1.4z"));
            }
            let indent = if *kind == Kind::Gate { 14.0 } else { 0.0 };
            page.text(kind.class(), x + indent, y, text);
            y += if *kind == Kind::Name { NAME_HEIGHT - 1.0 } else { LINE_HEIGHT };
        }
    }
}

/// Which end it is, as attributes for a viewer that lights the one reached.
fn end_data(shape: &Shape) -> Vec<(&'static str, &str)> {
    match &shape.end {
        None => Vec::new(),
        Some(EndPlace::State) => vec![("data-end", "state")],
        Some(EndPlace::Last) => vec![("data-end", "last")],
        Some(EndPlace::After(step)) => {
            vec![("data-end", "after"), ("data-after", step.as_str())]
        }
    }
}

/// A box for work, a hexagon for questions, a pill for ends.
fn outline(what: What, place: Rect) -> String {
    let Rect { x, y, width, height } = place;
    let n = number;
    if what.asks() {
        let tip = 10.0_f64.min(height / 2.0);
        let (inner, half) = (width - 2.0 * tip, height / 2.0);
        return format!(
            "M{} {}h{}l{} {}l-{} {}h-{}l-{} -{}z",
            n(x + tip),
            n(y),
            n(inner),
            n(tip),
            n(half),
            n(tip),
            n(half),
            n(inner),
            n(tip),
            n(half)
        );
    }
    let radius = if matches!(what, What::End(_)) { height / 2.0 } else { 7.0 };
    let (w, h, r) = (n(width - 2.0 * radius), n(height - 2.0 * radius), n(radius));
    let arc = format!("a{r} {r} 0 0 1");
    format!(
        "M{} {}h{w}{arc} {r} {r}v{h}{arc} -{r} {r}h-{w}{arc} -{r} -{r}v-{h}{arc} {r} -{r}z",
        n(x + radius),
        n(y)
    )
}

/// The mark of a kind of step, in front of its name.
fn sign(page: &mut Page, what: What, at: Point) {
    let (x, y) = (number(at.x), number(at.y - 9.5));
    match what {
        What::Command => page.outline("sign", &format!("M{x} {y}l8.5 5l-8.5 5z")),
        What::Shell => page.text("sign", at.x, at.y, "$"),
        What::Question => page.text("sign", at.x, at.y, "?"),
        What::Note => page.text("sign", at.x, at.y, "·"),
        What::End(_) => {}
    }
}
