//! Where exactly everything stands.

use super::Wire;
use super::sheet::Sheet;

const PASSES: usize = 24;
/// Between two layers.
const GAP: f64 = 30.0;
const GAP_WITH_LABELS: f64 = 52.0;
const GAP_AT_MOST: f64 = 92.0;

/// From left to right: every cell as near to its neighbours above and beneath
/// as the order of its layer lets it.
pub(super) fn across(sheet: &mut Sheet) {
    for layer in 0..sheet.layers.len() {
        let cells = sheet.layers[layer].clone();
        let mut x = 0.0;
        for (at, &cell) in cells.iter().enumerate() {
            if at > 0 {
                x += sheet.apart(cells[at - 1], cell);
            }
            sheet.cells[cell].x = x;
        }
    }
    let mut neighbours: Vec<[Vec<(usize, f64)>; 2]> = vec![Default::default(); sheet.cells.len()];
    for thread in &sheet.threads {
        neighbours[thread.lower][0].push((thread.upper, thread.pull));
        neighbours[thread.upper][1].push((thread.lower, thread.pull));
    }
    let depth = sheet.layers.len();
    for pass in 0..PASSES {
        // Down, up, and in the end both ways at once.
        let sides: &[usize] = match pass {
            pass if pass + 6 >= PASSES => &[0, 1],
            pass if pass % 2 == 0 => &[0],
            _ => &[1],
        };
        for step in 0..depth {
            let layer = if pass % 2 == 0 { step } else { depth - 1 - step };
            settle(sheet, &neighbours, layer, sides);
        }
    }
}

/// The nearest places to the wished ones that keep order and distance: the
/// least squares, found by pooling neighbours that would overlap.
fn settle(sheet: &mut Sheet, neighbours: &[[Vec<(usize, f64)>; 2]], layer: usize, sides: &[usize]) {
    struct Pool {
        wish: f64,
        weight: f64,
        count: usize,
    }
    let cells = sheet.layers[layer].clone();
    let mut offsets = Vec::with_capacity(cells.len());
    let mut pools: Vec<Pool> = Vec::new();
    let mut offset = 0.0;
    for (at, &cell) in cells.iter().enumerate() {
        if at > 0 {
            offset += sheet.apart(cells[at - 1], cell);
        }
        offsets.push(offset);
        let (mut sum, mut weight) = (0.0, 0.0);
        for (other, pull) in sides.iter().flat_map(|side| &neighbours[cell][*side]) {
            sum += sheet.cells[*other].x * pull;
            weight += pull;
        }
        let wish = if weight > 0.0 { sum / weight } else { sheet.cells[cell].x };
        let mut pool = Pool { wish: wish - offset, weight: weight.max(0.1), count: 1 };
        while let Some(left) = pools.pop_if(|left| left.wish > pool.wish) {
            let weight = left.weight + pool.weight;
            let wish = (left.wish * left.weight + pool.wish * pool.weight) / weight;
            pool = Pool { wish, weight, count: left.count + pool.count };
        }
        pools.push(pool);
    }
    let wishes = pools.iter().flat_map(|pool| std::iter::repeat_n(pool.wish, pool.count));
    for ((&cell, wish), offset) in cells.iter().zip(wishes).zip(offsets) {
        sheet.cells[cell].x = wish + offset;
    }
}

/// From top to bottom: more room where labels stand and where arrows go far.
pub(super) fn down(sheet: &mut Sheet, wires: &[Wire]) {
    let mut gaps = vec![GAP; sheet.layers.len()];
    for (wire, way) in wires.iter().zip(&sheet.ways) {
        if wire.label > 0.0 && !way.is_empty() {
            let gap = &mut gaps[sheet.cells[wire.from].rank];
            *gap = gap.max(GAP_WITH_LABELS);
        }
    }
    for thread in &sheet.threads {
        let far = (sheet.cells[thread.upper].x - sheet.cells[thread.lower].x).abs();
        let gap = &mut gaps[sheet.cells[thread.upper].rank];
        *gap = gap.max((GAP + far * 0.09).min(GAP_AT_MOST));
    }
    let mut y = 0.0;
    for (row, gap) in sheet.rows.iter_mut().zip(gaps) {
        row.0 = y;
        y += row.1 + gap;
    }
}
