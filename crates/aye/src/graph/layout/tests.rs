//! Whatever the graph, the drawing is sound.

use super::{Layout, Point, Rect, Size, Wire, layout};

/// Numbers that look random and are the same every time.
struct Dice(u32);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as usize % sides
    }
}

fn some_graph(dice: &mut Dice) -> (Vec<Size>, Vec<Wire>) {
    let count = 1 + dice.roll(24);
    let sizes = (0..count)
        .map(|_| Size {
            width: [60.0, 160.0, 320.0][dice.roll(3)],
            height: [12.0, 34.0, 90.0][dice.roll(3)],
        })
        .collect();
    let mut wires: Vec<Wire> = Vec::new();
    for _ in 0..count * 2 {
        let (from, to) = (dice.roll(count), dice.roll(count));
        if !wires.iter().any(|wire| wire.from == from && wire.to == to) {
            let label = [0.0, 50.0, 110.0][dice.roll(3)];
            wires.push(Wire { from, to, main: dice.roll(2) == 0, label });
        }
    }
    (sizes, wires)
}

fn touches(place: &Rect, point: Point) -> bool {
    let near = Rect {
        x: place.x - 1.0,
        y: place.y - 1.0,
        width: place.width + 2.0,
        height: place.height + 2.0,
    };
    near.meets(&Rect { x: point.x, y: point.y, width: 0.1, height: 0.1 })
}

fn check(drawing: &Layout, wires: &[Wire]) {
    for (at, place) in drawing.boxes.iter().enumerate() {
        assert!(place.x.is_finite() && place.y.is_finite());
        assert!(!drawing.boxes[..at].iter().any(|other| other.meets(place)), "boxes overlap");
    }
    for (wire, path) in wires.iter().zip(&drawing.paths) {
        let (_, tip) = path.approach();
        assert!(touches(&drawing.boxes[wire.from], path.start), "{wire:?} leaves its box");
        assert!(touches(&drawing.boxes[wire.to], tip), "{wire:?} reaches its box");
    }
}

#[test]
fn boxes_keep_apart_and_arrows_reach_them() {
    let mut dice = Dice(7);
    for _ in 0..300 {
        let (sizes, wires) = some_graph(&mut dice);
        check(&layout(&sizes, &wires), &wires);
    }
}

#[test]
fn the_main_way_is_straight() {
    let sizes = vec![Size { width: 100.0, height: 40.0 }; 12];
    let mut wires: Vec<Wire> =
        (0..9).map(|at| Wire { from: at, to: at + 1, main: true, label: 0.0 }).collect();
    wires.push(Wire { from: 1, to: 10, main: false, label: 40.0 });
    wires.push(Wire { from: 4, to: 11, main: false, label: 40.0 });
    let drawing = layout(&sizes, &wires);
    check(&drawing, &wires);
    for place in &drawing.boxes[..10] {
        assert!((place.x - drawing.boxes[0].x).abs() < 0.01);
    }
}

#[test]
fn a_long_line_becomes_columns() {
    let sizes = vec![Size { width: 160.0, height: 50.0 }; 61];
    let wires: Vec<Wire> =
        (0..60).map(|at| Wire { from: at, to: at + 1, main: true, label: 0.0 }).collect();
    let drawing = layout(&sizes, &wires);
    check(&drawing, &wires);
    assert!(drawing.height < 2.0 * drawing.width, "{} x {}", drawing.width, drawing.height);
}

#[test]
fn many_ways_to_one_end_are_drawn_in_time() {
    let sizes = vec![Size { width: 160.0, height: 50.0 }; 201];
    let mut wires = Vec::new();
    for at in 0..199 {
        wires.push(Wire { from: at, to: at + 1, main: true, label: 50.0 });
        wires.push(Wire { from: at, to: 200, main: false, label: 50.0 });
        wires.push(Wire { from: at, to: at / 2, main: false, label: 50.0 });
    }
    check(&layout(&sizes, &wires), &wires);
}
