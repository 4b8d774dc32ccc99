//! Who stands left of whom.

use super::sheet::{Sheet, Thread};

/// Sweeps down and up; more bring little.
const SWEEPS: usize = 16;

/// Orders every layer so that few threads cross.
pub(super) fn order(sheet: &mut Sheet) {
    let threads = by_layer(sheet);
    let mut best = sheet.layers.clone();
    let mut fewest = crossings(sheet, &threads);
    for sweep in 0..SWEEPS {
        if fewest == 0 {
            break;
        }
        let down = sweep % 2 == 0;
        let depth = sheet.layers.len();
        for step in 1..depth {
            let layer = if down { step } else { depth - 1 - step };
            sort(sheet, &threads, layer, down);
        }
        swap_neighbours(sheet, &threads);
        let now = crossings(sheet, &threads);
        if now < fewest {
            fewest = now;
            best.clone_from(&sheet.layers);
        }
    }
    sheet.layers = best;
}

/// The threads beneath each layer.
fn by_layer(sheet: &Sheet) -> Vec<Vec<Thread>> {
    let mut found = vec![Vec::new(); sheet.layers.len()];
    for thread in &sheet.threads {
        found[sheet.cells[thread.upper].rank].push(*thread);
    }
    found
}

/// The place of each cell in its layer.
fn places(sheet: &Sheet) -> Vec<usize> {
    let mut places = vec![0; sheet.cells.len()];
    for layer in &sheet.layers {
        for (at, &cell) in layer.iter().enumerate() {
            places[cell] = at;
        }
    }
    places
}

/// By the mean place of the neighbours above (or beneath); a cell without
/// any keeps its own.
fn sort(sheet: &mut Sheet, threads: &[Vec<Thread>], layer: usize, down: bool) {
    let places = places(sheet);
    let near = if down { &threads[layer - 1] } else { &threads[layer] };
    #[expect(clippy::cast_precision_loss, reason = "places in a layer are small numbers")]
    let place = |cell: usize| places[cell] as f64;
    let wish = |cell: usize| {
        let (mut sum, mut count) = (0.0, 0.0);
        for thread in near {
            let (own, other) =
                if down { (thread.lower, thread.upper) } else { (thread.upper, thread.lower) };
            if own == cell {
                sum += place(other);
                count += 1.0;
            }
        }
        if count > 0.0 { sum / count } else { place(cell) }
    };
    let mut wishes: Vec<(f64, usize)> =
        sheet.layers[layer].iter().map(|cell| (wish(*cell), *cell)).collect();
    wishes.sort_by(|a, b| a.0.total_cmp(&b.0));
    sheet.layers[layer] = wishes.into_iter().map(|(_, cell)| cell).collect();
}

fn swap_neighbours(sheet: &mut Sheet, threads: &[Vec<Thread>]) {
    for layer in 0..sheet.layers.len() {
        for at in 1..sheet.layers[layer].len() {
            let before = around(sheet, threads, layer);
            sheet.layers[layer].swap(at - 1, at);
            if around(sheet, threads, layer) >= before {
                sheet.layers[layer].swap(at - 1, at);
            }
        }
    }
}

/// Crossings above and beneath one layer.
fn around(sheet: &Sheet, threads: &[Vec<Thread>], layer: usize) -> usize {
    let places = places(sheet);
    let above = layer.checked_sub(1).map_or(0, |above| crossed(&threads[above], &places));
    above + crossed(&threads[layer], &places)
}

fn crossings(sheet: &Sheet, threads: &[Vec<Thread>]) -> usize {
    let places = places(sheet);
    threads.iter().map(|threads| crossed(threads, &places)).sum()
}

fn crossed(threads: &[Thread], places: &[usize]) -> usize {
    let mut count = 0;
    for (at, a) in threads.iter().enumerate() {
        for b in &threads[at + 1..] {
            let upper = places[a.upper].cmp(&places[b.upper]);
            let lower = places[a.lower].cmp(&places[b.lower]);
            count += usize::from(upper.is_lt() && lower.is_gt() || upper.is_gt() && lower.is_lt());
        }
    }
    count
}
