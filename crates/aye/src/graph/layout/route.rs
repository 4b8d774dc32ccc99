//! The arrows of a drawing: how each gets from box to box.
//!
//! `back` has those that lead back. Touches nothing; `svg` draws them.

use std::collections::HashMap;

use super::path::{Path, Point, Rect};
use super::sheet::Sheet;
use super::{Layout, Size, Wire};

/// Between two arrows at the same edge of a box.
const PORT: f64 = 20.0;
/// Closer than this is drawn straight.
const NEARLY: f64 = 10.0;

mod back;

/// Boxes at their places, and a path for each wire.
pub(super) fn draw(sheet: &Sheet, sizes: &[Size], wires: &[Wire]) -> Layout {
    let boxes: Vec<Rect> = sizes
        .iter()
        .zip(&sheet.cells)
        .map(|(size, cell)| {
            let (top, tall) = sheet.rows[cell.rank];
            let (width, height) = (size.width, size.height);
            Rect { x: cell.x - width / 2.0, y: top + (tall - height) / 2.0, width, height }
        })
        .collect();
    let ports = Ports::new(sheet);
    let mut paths: Vec<Path> = sheet
        .ways
        .iter()
        .map(|way| if way.is_empty() { nowhere() } else { forward(sheet, &boxes, &ports, way) })
        .collect();
    back::draw(sheet, &boxes, wires, &mut paths);
    Layout { boxes, paths, width: 0.0, height: 0.0 }
}

fn nowhere() -> Path {
    Path::from(Point { x: 0.0, y: 0.0 })
}

/// From layer to layer: upright through bends, curved between layers.
fn forward(sheet: &Sheet, boxes: &[Rect], ports: &Ports, way: &[usize]) -> Path {
    let (first, last) = (way[0], way[way.len() - 1]);
    let source = boxes[first];
    let mut x = sheet.cells[first].x + ports.below(first, way[1]);
    let mut path = Path::from(Point { x, y: source.y + source.height });
    for pair in way.windows(2) {
        let (cell, next) = (sheet.cells[pair[0]], sheet.cells[pair[1]]);
        let (top, tall) = sheet.rows[cell.rank];
        path.line(Point { x, y: top + tall });
        let mut aim = next.x + ports.above(pair[1], pair[0]);
        if (aim - x).abs() < NEARLY && !next.bend {
            aim = x;
        }
        path.bend(Point { x: aim, y: sheet.rows[next.rank].0 });
        if pair[0] == first {
            path.own = path.pieces.len();
        }
        x = aim;
    }
    path.line(Point { x, y: boxes[last].y });
    path
}

/// Where along the edges of boxes arrows leave and arrive.
struct Ports {
    below: HashMap<(usize, usize), f64>,
    above: HashMap<(usize, usize), f64>,
}

impl Ports {
    fn new(sheet: &Sheet) -> Self {
        let mut uppers: Vec<Vec<usize>> = vec![Vec::new(); sheet.cells.len()];
        let mut lowers: Vec<Vec<usize>> = vec![Vec::new(); sheet.cells.len()];
        for thread in &sheet.threads {
            lowers[thread.upper].push(thread.lower);
            uppers[thread.lower].push(thread.upper);
        }
        let (mut below, mut above) = (HashMap::new(), HashMap::new());
        for cell in (0..sheet.cells.len()).filter(|cell| !sheet.cells[*cell].bend) {
            spread(sheet, cell, &mut lowers[cell], &mut below);
            spread(sheet, cell, &mut uppers[cell], &mut above);
        }
        Self { below, above }
    }

    fn below(&self, cell: usize, next: usize) -> f64 {
        self.below.get(&(cell, next)).copied().unwrap_or(0.0)
    }

    fn above(&self, cell: usize, previous: usize) -> f64 {
        self.above.get(&(cell, previous)).copied().unwrap_or(0.0)
    }
}

/// The arrow that is nearest to straight gets the middle, the others stand
/// left and right of it in the order of their far ends.
fn spread(
    sheet: &Sheet,
    cell: usize,
    others: &mut [usize],
    ports: &mut HashMap<(usize, usize), f64>,
) {
    let x = |other: &usize| sheet.cells[*other].x;
    others.sort_by(|a, b| x(a).total_cmp(&x(b)));
    let own = sheet.cells[cell].x;
    let middle = (0..others.len())
        .min_by(|a, b| (x(&others[*a]) - own).abs().total_cmp(&(x(&others[*b]) - own).abs()))
        .unwrap_or(0);
    #[expect(clippy::cast_precision_loss, reason = "a few arrows")]
    let place = |at: usize| at as f64 - middle as f64;
    let furthest = place(0).abs().max(place(others.len().saturating_sub(1))).max(1.0);
    let step = PORT.min((sheet.cells[cell].width / 2.0 - 10.0) / furthest);
    for (at, other) in others.iter().enumerate() {
        ports.insert((cell, *other), place(at) * step);
    }
}
