//! Layers of cells, and the threads that run through them.

use std::collections::HashMap;

use super::rank::Ranking;
use super::{Size, Wire};

/// A box, or the bend of an arrow in a layer it passes through.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    pub(super) width: f64,
    /// The middle.
    pub(super) x: f64,
    pub(super) rank: usize,
    pub(super) bend: bool,
    /// The widest label on an arrow that comes straight to it.
    pub(super) label: f64,
}

/// A piece of an arrow between two neighbouring layers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Thread {
    pub(super) upper: usize,
    pub(super) lower: usize,
    /// How much it wants to be straight.
    pub(super) pull: f64,
}

/// The drawing before it has curves.
pub(super) struct Sheet {
    /// Boxes first, with their own numbers, then bends.
    pub(super) cells: Vec<Cell>,
    /// The cells of each layer, from left to right.
    pub(super) layers: Vec<Vec<usize>>,
    pub(super) threads: Vec<Thread>,
    /// For each wire the cells it passes; empty if it leads back.
    pub(super) ways: Vec<Vec<usize>>,
    /// The upper edge of each layer and its height.
    pub(super) rows: Vec<(f64, f64)>,
}

const BEND_WIDTH: f64 = 8.0;
const STRAIGHT: f64 = 64.0;
const TRUNK: f64 = 16.0;
const LOOSE: f64 = 1.0;

impl Sheet {
    pub(super) fn new(sizes: &[Size], wires: &[Wire], ranking: &Ranking) -> Self {
        let depth = ranking.rank.iter().max().map_or(0, |deepest| deepest + 1);
        let mut sheet = Self {
            cells: Vec::new(),
            layers: vec![Vec::new(); depth],
            threads: Vec::new(),
            ways: vec![Vec::new(); wires.len()],
            rows: vec![(0.0, 0.0); depth],
        };
        for (size, &rank) in sizes.iter().zip(&ranking.rank) {
            sheet.cells.push(Cell { width: size.width, x: 0.0, rank, bend: false, label: 0.0 });
            sheet.rows[rank].1 = sheet.rows[rank].1.max(size.height);
        }
        let mut bends: HashMap<(usize, usize), usize> = HashMap::new();
        for &place in &ranking.order {
            sheet.layers[ranking.rank[place]].push(place);
            for (id, wire) in wires.iter().enumerate() {
                if wire.from == place && !ranking.back[id] {
                    sheet.ways[id] = sheet.run(wire, &mut bends);
                }
            }
        }
        sheet
    }

    /// The cells from one box to the other; bends on the way to the same box
    /// are shared.
    fn run(&mut self, wire: &Wire, bends: &mut HashMap<(usize, usize), usize>) -> Vec<usize> {
        let (top, bottom) = (self.cells[wire.from].rank, self.cells[wire.to].rank);
        let mut way = vec![wire.from];
        for rank in top + 1..bottom {
            let bend = *bends.entry((wire.to, rank)).or_insert_with(|| {
                self.cells.push(Cell { width: BEND_WIDTH, x: 0.0, rank, bend: true, label: 0.0 });
                self.layers[rank].push(self.cells.len() - 1);
                self.cells.len() - 1
            });
            way.push(bend);
        }
        way.push(wire.to);
        let next = &mut self.cells[way[1]];
        next.label = next.label.max(wire.label);
        for pair in way.windows(2) {
            let bent = [pair[0], pair[1]].iter().filter(|cell| self.cells[**cell].bend).count();
            let pull = match (wire.main, bent) {
                (true, 0) => STRAIGHT,
                (_, 2) => TRUNK,
                _ => LOOSE,
            };
            let thread = Thread { upper: pair[0], lower: pair[1], pull };
            if !self.threads.contains(&thread) {
                self.threads.push(thread);
            }
        }
        way
    }

    /// The room two neighbours need from middle to middle.
    pub(super) fn apart(&self, left: usize, right: usize) -> f64 {
        let (left, right) = (self.cells[left], self.cells[right]);
        let gap = match (left.bend, right.bend) {
            (true, true) => 20.0,
            (false, false) => 36.0,
            _ => 26.0,
        };
        // Half way down the arrows to both, their labels are half as far apart.
        let labels = if left.label.min(right.label) > 0.0 { left.label + right.label } else { 0.0 };
        (f64::midpoint(left.width, right.width) + gap).max(labels)
    }
}
