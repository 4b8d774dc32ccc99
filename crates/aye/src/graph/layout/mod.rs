//! Places for boxes and curves for arrows: a layered drawing.
//!
//! ```text
//! rank   which way is back, and how far down each box stands
//! sheet  layers of cells: a box, or the bend of an arrow that passes through
//! order  who stands left of whom, so that few arrows cross
//! place  where exactly, near to what it is tied to
//! align  what should be in line exactly in line
//! route  the arrows themselves; those that lead back go round the side
//! fold   a long thin drawing becomes columns
//! ```
//!
//! Arrows that pass through a layer on their way to the same box share their
//! bends: ten steps that lead to `failed` make one trunk, not ten wires.
//!
//! Touches nothing. `svg` draws the result.

mod align;
mod fold;
mod order;
mod path;
mod place;
mod rank;
mod route;
mod sheet;
#[cfg(test)]
mod tests;

pub(super) use path::{Path, Point, Rect};

use sheet::Sheet;

/// Something to be placed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) width: f64,
    pub(super) height: f64,
}

/// An arrow to be drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wire {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The way things go if all goes well: kept straight.
    pub(super) main: bool,
    /// The room its label needs.
    pub(super) label: f64,
}

/// The finished drawing; its corner is at zero.
pub(super) struct Layout {
    pub(super) boxes: Vec<Rect>,
    /// One for each wire.
    pub(super) paths: Vec<Path>,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Places everything; box 0 of `sizes` stands at the top.
pub(super) fn layout(sizes: &[Size], wires: &[Wire]) -> Layout {
    let ranking = rank::ranks(sizes.len(), wires);
    let mut sheet = Sheet::new(sizes, wires, &ranking);
    order::order(&mut sheet);
    place::across(&mut sheet);
    align::align(&mut sheet);
    place::down(&mut sheet, wires);
    let mut drawing = route::draw(&sheet, sizes, wires);
    fold::fold(&sheet, wires, &mut drawing);
    drawing.settle();
    drawing
}

impl Layout {
    /// Moves the drawing into the corner and measures it.
    fn settle(&mut self) {
        let mut bounds = Rect::NOTHING;
        for place in &self.boxes {
            bounds.include(Point { x: place.x, y: place.y });
            bounds.include(Point { x: place.x + place.width, y: place.y + place.height });
        }
        for point in self.paths.iter().flat_map(Path::points) {
            bounds.include(point);
        }
        let (dx, dy) = (-bounds.x, -bounds.y);
        self.boxes.iter_mut().for_each(|place| place.shift(dx, dy));
        self.paths.iter_mut().for_each(|path| path.shift(dx, dy));
        self.width = bounds.width;
        self.height = bounds.height;
    }
}
