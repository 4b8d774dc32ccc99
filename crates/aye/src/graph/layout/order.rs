//! Who stands left of whom.

use super::sheet::{Sheet, Thread};

/// Sweeps down and up; more bring little.
const SWEEPS: usize = 16;

/// Orders every layer so that few threads cross.
pub(super) fn order(sheet: &mut Sheet) {
    let threads = by_layer(sheet);
    let ties = Ties::new(sheet);
    let mut places = places(sheet);
    let mut best = sheet.layers.clone();
    let mut fewest = crossings(&threads, &places);
    for sweep in 0..SWEEPS {
        if fewest == 0 {
            break;
        }
        let down = sweep % 2 == 0;
        let depth = sheet.layers.len();
        for step in 1..depth {
            let layer = if down { step } else { depth - 1 - step };
            sort(sheet, &ties, &mut places, layer, down);
        }
        swap_neighbours(sheet, &ties, &mut places);
        let now = crossings(&threads, &places);
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

/// What each cell is tied to, above and beneath it.
struct Ties {
    above: Vec<Vec<usize>>,
    beneath: Vec<Vec<usize>>,
}

impl Ties {
    fn new(sheet: &Sheet) -> Self {
        let none = vec![Vec::new(); sheet.cells.len()];
        let mut ties = Self { above: none.clone(), beneath: none };
        for thread in &sheet.threads {
            ties.above[thread.lower].push(thread.upper);
            ties.beneath[thread.upper].push(thread.lower);
        }
        ties
    }
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
fn sort(sheet: &mut Sheet, ties: &Ties, places: &mut [usize], layer: usize, down: bool) {
    #[expect(clippy::cast_precision_loss, reason = "places in a layer are small numbers")]
    let place = |cell: usize| places[cell] as f64;
    let wish = |cell: usize| {
        let near = if down { &ties.above[cell] } else { &ties.beneath[cell] };
        #[expect(clippy::cast_precision_loss, reason = "a few arrows")]
        let count = near.len() as f64;
        if near.is_empty() {
            place(cell)
        } else {
            near.iter().map(|other| place(*other)).sum::<f64>() / count
        }
    };
    let mut wishes: Vec<(f64, usize)> =
        sheet.layers[layer].iter().map(|cell| (wish(*cell), *cell)).collect();
    wishes.sort_by(|a, b| a.0.total_cmp(&b.0));
    sheet.layers[layer] = wishes.into_iter().map(|(_, cell)| cell).collect();
    for (at, &cell) in sheet.layers[layer].iter().enumerate() {
        places[cell] = at;
    }
}

/// Only the threads of the two cross each other more or less by that.
fn swap_neighbours(sheet: &mut Sheet, ties: &Ties, places: &mut [usize]) {
    for layer in &mut sheet.layers {
        for at in 1..layer.len() {
            let (left, right) = (layer[at - 1], layer[at]);
            let (mut as_is, mut swapped) = (0, 0);
            for side in [&ties.above, &ties.beneath] {
                for &a in &side[left] {
                    for &b in &side[right] {
                        as_is += usize::from(places[a] > places[b]);
                        swapped += usize::from(places[a] < places[b]);
                    }
                }
            }
            if swapped < as_is {
                layer.swap(at - 1, at);
                places.swap(left, right);
            }
        }
    }
}

fn crossings(threads: &[Vec<Thread>], places: &[usize]) -> usize {
    threads.iter().map(|threads| crossed(threads, places)).sum()
}

/// Pairs whose ends stand the other way round: from left to right above, those
/// that were met before and end further to the right.
fn crossed(threads: &[Thread], places: &[usize]) -> usize {
    let mut ends: Vec<(usize, usize)> =
        threads.iter().map(|thread| (places[thread.upper], places[thread.lower])).collect();
    ends.sort_unstable();
    let widest = ends.iter().map(|(_, lower)| lower + 1).max().unwrap_or(0);
    // A tree of sums (Fenwick): how many have ended up to a place.
    let mut sums = vec![0_usize; widest + 1];
    let mut count = 0;
    for (met, (_, lower)) in ends.into_iter().enumerate() {
        let mut at = lower + 1;
        let mut up_to = 0;
        while at > 0 {
            up_to += sums[at];
            at &= at - 1;
        }
        count += met - up_to;
        at = lower + 1;
        while at <= widest {
            sums[at] += 1;
            at += at & at.wrapping_neg();
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossings_are_counted_as_one_would_by_hand() {
        // Numbers that look random and are the same in every run of the test.
        let mut dice = 1_u64;
        let mut below = |limit: usize| {
            dice = dice
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(dice >> 33).expect("31 bits") % limit
        };
        for size in 0..40 {
            let places: Vec<usize> = (0..20).map(|cell| cell % 10).collect();
            let threads: Vec<Thread> = (0..size)
                .map(|_| Thread { upper: below(10), lower: 10 + below(10), pull: 1.0 })
                .collect();
            let mut expected = 0;
            for (at, a) in threads.iter().enumerate() {
                for b in &threads[at + 1..] {
                    let upper = places[a.upper].cmp(&places[b.upper]);
                    let lower = places[a.lower].cmp(&places[b.lower]);
                    expected += usize::from(upper.is_ne() && upper == lower.reverse());
                }
            }
            assert_eq!(crossed(&threads, &places), expected);
        }
    }
}
