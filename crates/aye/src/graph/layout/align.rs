//! Straight lines: what follows on the main way, and the bends of a trunk,
//! stand exactly beneath each other.

use super::sheet::{Sheet, Thread};

/// Rounds of moving blocks between their neighbours.
const ROUNDS: usize = 30;

/// Cells that share their middle.
struct Block {
    cells: Vec<usize>,
    x: f64,
}

/// Makes blocks of the cells that should be in line and moves them to where
/// their neighbours are, in the order and at the distances of their layers.
pub(super) fn align(sheet: &mut Sheet) {
    let (mut blocks, block_of) = blocks(sheet);
    let mut left: Vec<Vec<(usize, f64)>> = vec![Vec::new(); blocks.len()];
    let mut right: Vec<Vec<(usize, f64)>> = vec![Vec::new(); blocks.len()];
    for pair in sheet.layers.iter().flat_map(|layer| layer.windows(2)) {
        let apart = sheet.apart(pair[0], pair[1]);
        let (a, b) = (block_of[pair[0]], block_of[pair[1]]);
        left[b].push((a, apart));
        right[a].push((b, apart));
    }
    feasible(&mut blocks, &left, &right);
    let mut pulls: Vec<Vec<(usize, f64)>> = vec![Vec::new(); blocks.len()];
    for thread in &sheet.threads {
        let (a, b) = (block_of[thread.upper], block_of[thread.lower]);
        if a != b {
            pulls[a].push((b, thread.pull));
            pulls[b].push((a, thread.pull));
        }
    }
    for round in 0..ROUNDS {
        for step in 0..blocks.len() {
            let at = if round % 2 == 0 { step } else { blocks.len() - 1 - step };
            let weight: f64 = pulls[at].iter().map(|(_, pull)| pull).sum();
            if weight > 0.0 {
                let sum: f64 = pulls[at].iter().map(|(other, pull)| blocks[*other].x * pull).sum();
                let low = lower_bound(&blocks, &left[at]);
                let high = upper_bound(&blocks, &right[at]);
                blocks[at].x = (sum / weight).min(high).max(low);
            }
        }
    }
    for block in &blocks {
        for &cell in &block.cells {
            sheet.cells[cell].x = block.x;
        }
    }
}

fn lower_bound(blocks: &[Block], left: &[(usize, f64)]) -> f64 {
    left.iter().map(|(other, apart)| blocks[*other].x + apart).fold(f64::MIN, f64::max)
}

fn upper_bound(blocks: &[Block], right: &[(usize, f64)]) -> f64 {
    right.iter().map(|(other, apart)| blocks[*other].x - apart).fold(f64::MAX, f64::min)
}

/// Threads that want to be straight, the strongest first, as long as none
/// crosses another: then no block is both left and right of another.
fn blocks(sheet: &Sheet) -> (Vec<Block>, Vec<usize>) {
    let mut places = vec![0; sheet.cells.len()];
    for layer in &sheet.layers {
        for (at, &cell) in layer.iter().enumerate() {
            places[cell] = at;
        }
    }
    let mut wanted: Vec<&Thread> = sheet.threads.iter().filter(|t| t.pull > 1.0).collect();
    wanted.sort_by(|a, b| b.pull.total_cmp(&a.pull));
    let mut taken: Vec<Vec<&Thread>> = vec![Vec::new(); sheet.layers.len()];
    let mut below: Vec<Option<usize>> = vec![None; sheet.cells.len()];
    let mut above: Vec<Option<usize>> = vec![None; sheet.cells.len()];
    for thread in wanted {
        let row = &mut taken[sheet.cells[thread.upper].rank];
        let (upper, lower) = (places[thread.upper], places[thread.lower]);
        let crossed =
            row.iter().any(|other| (places[other.upper] < upper) != (places[other.lower] < lower));
        if !crossed && below[thread.upper].is_none() && above[thread.lower].is_none() {
            below[thread.upper] = Some(thread.lower);
            above[thread.lower] = Some(thread.upper);
            row.push(thread);
        }
    }
    let mut found = Vec::new();
    let mut block_of = vec![0; sheet.cells.len()];
    for top in (0..sheet.cells.len()).filter(|cell| above[*cell].is_none()) {
        let cells: Vec<usize> = std::iter::successors(Some(top), |cell| below[*cell]).collect();
        #[expect(clippy::cast_precision_loss, reason = "the cells of a block")]
        let x = cells.iter().map(|cell| sheet.cells[*cell].x).sum::<f64>() / cells.len() as f64;
        for &cell in &cells {
            block_of[cell] = found.len();
        }
        found.push(Block { cells, x });
    }
    (found, block_of)
}

/// Keeps the distances: the mean of pushing everything to the right and of
/// pushing everything to the left, which both keep them.
fn feasible(blocks: &mut [Block], left: &[Vec<(usize, f64)>], right: &[Vec<(usize, f64)>]) {
    let order = from_left(left, right);
    let wished: Vec<f64> = blocks.iter().map(|block| block.x).collect();
    for &at in &order {
        blocks[at].x = wished[at].max(lower_bound(blocks, &left[at]));
    }
    let pushed: Vec<f64> = blocks.iter().map(|block| block.x).collect();
    for (block, x) in blocks.iter_mut().zip(wished) {
        block.x = x;
    }
    for &at in order.iter().rev() {
        blocks[at].x = blocks[at].x.min(upper_bound(blocks, &right[at]));
    }
    for (block, x) in blocks.iter_mut().zip(pushed) {
        block.x = f64::midpoint(block.x, x);
    }
}

/// Every block after all that stand left of it.
fn from_left(left: &[Vec<(usize, f64)>], right: &[Vec<(usize, f64)>]) -> Vec<usize> {
    let mut waiting: Vec<usize> = left.iter().map(Vec::len).collect();
    let mut order: Vec<usize> = (0..left.len()).filter(|at| waiting[*at] == 0).collect();
    let mut next = 0;
    while let Some(&at) = order.get(next) {
        next += 1;
        for &(other, _) in &right[at] {
            waiting[other] -= 1;
            if waiting[other] == 0 {
                order.push(other);
            }
        }
    }
    order
}
