//! Arrows that lead back go round the side, in lanes.
//!
//! Those that lead to the same box share a lane. An arrow leaves and enters a
//! box at its side if nothing stands between; otherwise it goes through the
//! gap beneath the box, and comes in from the gap above.

use super::super::Wire;
use super::super::path::{Path, Point, Rect};
use super::super::sheet::Sheet;

const LANE: f64 = 20.0;
const CLEAR: f64 = 22.0;
const RADIUS: f64 = 10.0;

/// Which side of the drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

impl Side {
    fn sign(self) -> f64 {
        match self {
            Self::Left => -1.0,
            Self::Right => 1.0,
        }
    }
}

struct Lane {
    to: usize,
    side: Side,
    wires: Vec<usize>,
    /// First and last layer.
    span: (usize, usize),
    /// Leads from a box to itself.
    round: bool,
    x: f64,
}

pub(super) fn draw(sheet: &Sheet, boxes: &[Rect], wires: &[Wire], paths: &mut [Path]) {
    let mut lanes: Vec<Lane> = Vec::new();
    for (id, wire) in wires.iter().enumerate().filter(|(id, _)| sheet.ways[*id].is_empty()) {
        let side = side(sheet, wire);
        let (a, b) = (sheet.cells[wire.from].rank, sheet.cells[wire.to].rank);
        let span = (a.min(b), a.max(b));
        // A way to the box itself stays close to it.
        let shared = |lane: &&mut Lane| {
            lane.to == wire.to && lane.side == side && !lane.round && wire.from != wire.to
        };
        match lanes.iter_mut().find(shared) {
            Some(lane) => {
                lane.wires.push(id);
                lane.span = (lane.span.0.min(span.0), lane.span.1.max(span.1));
            }
            None => {
                let round = wire.from == wire.to;
                lanes.push(Lane { to: wire.to, side, wires: vec![id], span, round, x: 0.0 });
            }
        }
    }
    lanes.sort_by_key(|lane| lane.span.1 - lane.span.0);
    for at in 0..lanes.len() {
        lanes[at].x = lane_place(sheet, wires, &lanes[..at], &lanes[at]);
    }
    let mut tracks = vec![0.0; sheet.layers.len() + 1];
    for lane in &lanes {
        let entry = entry(sheet, boxes, lane, &mut tracks);
        for &id in &lane.wires {
            let (mut points, turn) = exit(sheet, boxes, lane, wires[id].from, &mut tracks);
            let own = points.len() * 2 - 1;
            points.push(Point { x: lane.x, y: turn });
            points.extend(&entry);
            paths[id] = Path::around(&points, RADIUS);
            paths[id].own = own;
        }
    }
}

/// The side with less in the way; the right one if it does not matter.
fn side(sheet: &Sheet, wire: &Wire) -> Side {
    let in_the_way = |cell: usize, side: Side| beside(sheet, cell, side).count();
    let cost = |side| in_the_way(wire.from, side) + in_the_way(wire.to, side);
    if cost(Side::Left) < cost(Side::Right) { Side::Left } else { Side::Right }
}

/// What stands in the same layer further to that side.
fn beside(sheet: &Sheet, cell: usize, side: Side) -> impl Iterator<Item = usize> + '_ {
    let x = sheet.cells[cell].x * side.sign();
    sheet.layers[sheet.cells[cell].rank]
        .iter()
        .copied()
        .filter(move |other| sheet.cells[*other].x * side.sign() > x)
}

fn open_side(sheet: &Sheet, cell: usize, side: Side) -> bool {
    beside(sheet, cell, side).all(|other| sheet.cells[other].bend)
}

/// Clear of everything in its layers and of the lanes already placed.
fn lane_place(sheet: &Sheet, wires: &[Wire], placed: &[Lane], lane: &Lane) -> f64 {
    let sign = lane.side.sign();
    let cells = sheet.layers[lane.span.0..=lane.span.1].iter().flatten();
    let edge = cells
        .map(|cell| sheet.cells[*cell].x * sign + sheet.cells[*cell].width / 2.0)
        .fold(f64::MIN, f64::max);
    let labels = lane.wires.iter().map(|id| {
        let source = sheet.cells[wires[*id].from];
        source.x * sign + source.width / 2.0 + wires[*id].label + 2.0 * RADIUS
    });
    let mut x = labels.fold(edge + CLEAR, f64::max);
    for other in placed.iter().filter(|other| {
        other.side == lane.side && other.span.0 <= lane.span.1 && lane.span.0 <= other.span.1
    }) {
        x = x.max(other.x * sign + LANE);
    }
    x * sign
}

/// From the box to the lane, and the height at which it joins it.
fn exit(
    sheet: &Sheet,
    boxes: &[Rect],
    lane: &Lane,
    from: usize,
    tracks: &mut [f64],
) -> (Vec<Point>, f64) {
    let place = boxes[from];
    let (edge, middle) = edge(place, lane.side);
    if open_side(sheet, from, lane.side) {
        let y = middle + place.height * 0.22;
        return (vec![Point { x: edge, y }], y);
    }
    let rank = sheet.cells[from].rank;
    let (top, tall) = sheet.rows[rank];
    let y = top + tall + 12.0 + tracks[rank + 1];
    tracks[rank + 1] += 6.0;
    let x = edge - lane.side.sign() * 14.0;
    (vec![Point { x, y: place.y + place.height }, Point { x, y }], y)
}

/// From the lane to the box.
fn entry(sheet: &Sheet, boxes: &[Rect], lane: &Lane, tracks: &mut [f64]) -> Vec<Point> {
    let place = boxes[lane.to];
    let (edge, middle) = edge(place, lane.side);
    if open_side(sheet, lane.to, lane.side) {
        let y = middle - place.height * 0.22;
        return vec![Point { x: lane.x, y }, Point { x: edge, y }];
    }
    let rank = sheet.cells[lane.to].rank;
    let y = sheet.rows[rank].0 - 16.0 - tracks[rank];
    tracks[rank] += 6.0;
    let x = edge - lane.side.sign() * 14.0;
    vec![Point { x: lane.x, y }, Point { x, y }, Point { x, y: place.y }]
}

/// The edge of a box on that side, and its middle height.
fn edge(place: Rect, side: Side) -> (f64, f64) {
    let x = match side {
        Side::Left => place.x,
        Side::Right => place.x + place.width,
    };
    (x, place.y + place.height / 2.0)
}
