//! A long thin drawing becomes columns.

use super::path::{Path, Point};
use super::sheet::Sheet;
use super::{Layout, Wire};

/// Fewer layers than this are never folded.
const LAYERS: usize = 18;
/// The shape to aim at, width to height.
const SHAPE: f64 = 1.3;
/// Between two columns.
const GUTTER: f64 = 72.0;
const TURN: f64 = 16.0;

/// Folds where exactly one arrow goes from one layer to the next.
pub(super) fn fold(sheet: &Sheet, wires: &[Wire], drawing: &mut Layout) {
    let depth = sheet.layers.len();
    let Some(&(top, tall)) = sheet.rows.last() else { return };
    if depth < LAYERS {
        return;
    }
    drawing.settle();
    let height = top + tall;
    let columns = (SHAPE * height / (drawing.width + GUTTER)).sqrt().round().max(1.0);
    let mut tall = height / columns;
    let mut cuts = find_cuts(sheet, wires, tall);
    // A little taller rather than one more column with a few boxes in it.
    #[expect(clippy::cast_precision_loss, reason = "a handful of columns")]
    while cuts.len() as f64 + 1.0 > columns && tall < height {
        tall *= 1.03;
        cuts = find_cuts(sheet, wires, tall);
    }
    if cuts.is_empty() {
        return;
    }
    let column = |rank: usize| cuts.iter().filter(|cut| rank >= **cut).count();
    let moves: Vec<(f64, f64)> = (0..=cuts.len())
        .map(|at| {
            let first = if at == 0 { 0 } else { cuts[at - 1] };
            #[expect(clippy::cast_precision_loss, reason = "a handful of columns")]
            let x = at as f64 * (drawing.width + GUTTER);
            (x, -sheet.rows[first].0)
        })
        .collect();
    for (place, cell) in drawing.boxes.iter_mut().zip(&sheet.cells) {
        let (dx, dy) = moves[column(cell.rank)];
        place.shift(dx, dy);
    }
    let lowest = drawing.boxes.iter().map(|place| place.y + place.height).fold(f64::MIN, f64::max);
    for (wire, path) in wires.iter().zip(&mut drawing.paths) {
        let (from, to) = (column(sheet.cells[wire.from].rank), column(sheet.cells[wire.to].rank));
        let (dx, dy) = moves[from];
        if from == to {
            path.shift(dx, dy);
            continue;
        }
        let (source, target) = (drawing.boxes[wire.from], drawing.boxes[wire.to]);
        let (x, end) = (source.x + source.width / 2.0, target.x + target.width / 2.0);
        let aisle = moves[to].0 - GUTTER / 2.0;
        let below = lowest + TURN;
        let above = target.y - TURN - 8.0;
        let points = [
            Point { x, y: source.y + source.height },
            Point { x, y: below },
            Point { x: aisle, y: below },
            Point { x: aisle, y: above },
            Point { x: end, y: above },
            Point { x: end, y: target.y },
        ];
        *path = Path::around(&points, 12.0);
    }
}

/// The layers that begin a column: the last possible ones before the column
/// gets taller than it should.
fn find_cuts(sheet: &Sheet, wires: &[Wire], tall: f64) -> Vec<usize> {
    let mut cuts = Vec::new();
    let mut from = 0.0;
    let mut possible = None;
    for rank in 1..sheet.layers.len() {
        let crossing: Vec<&Wire> = wires
            .iter()
            .filter(|wire| {
                let (a, b) = (sheet.cells[wire.from].rank, sheet.cells[wire.to].rank);
                a.min(b) < rank && a.max(b) >= rank
            })
            .collect();
        if crossing.len() == 1 && sheet.cells[crossing[0].from].rank + 1 == rank {
            possible = Some(rank);
        }
        let next = sheet.rows.get(rank + 1).map_or(f64::MAX, |row| row.0);
        if let Some(cut) = possible.filter(|_| next - from > tall + 1.0) {
            let rest = sheet.layers.len() - cut;
            if rest > 2 {
                cuts.push(cut);
                from = sheet.rows[cut].0;
            }
            possible = None;
        }
    }
    cuts
}
