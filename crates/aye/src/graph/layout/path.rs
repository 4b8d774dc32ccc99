//! Points, rectangles and curves.

/// A place on the page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::graph) struct Point {
    pub(in crate::graph) x: f64,
    pub(in crate::graph) y: f64,
}

/// A rectangle by its upper left corner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::graph) struct Rect {
    pub(in crate::graph) x: f64,
    pub(in crate::graph) y: f64,
    pub(in crate::graph) width: f64,
    pub(in crate::graph) height: f64,
}

impl Rect {
    pub(super) const NOTHING: Self =
        Self { x: f64::INFINITY, y: f64::INFINITY, width: 0.0, height: 0.0 };

    pub(super) fn shift(&mut self, dx: f64, dy: f64) {
        self.x += dx;
        self.y += dy;
    }

    /// Grows so that the point is inside.
    pub(super) fn include(&mut self, point: Point) {
        if self.x.is_infinite() {
            *self = Self { x: point.x, y: point.y, width: 0.0, height: 0.0 };
            return;
        }
        let (right, bottom) = (self.x + self.width, self.y + self.height);
        self.x = self.x.min(point.x);
        self.y = self.y.min(point.y);
        self.width = right.max(point.x) - self.x;
        self.height = bottom.max(point.y) - self.y;
    }

    /// Whether the two share any area.
    pub(in crate::graph) fn meets(&self, other: &Self) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }
}

/// A piece of a path: two control points and the end. A straight piece has
/// its control points on the line.
#[derive(Debug, Clone, Copy)]
pub(in crate::graph) struct Piece {
    pub(in crate::graph) first: Point,
    pub(in crate::graph) second: Point,
    pub(in crate::graph) end: Point,
    pub(in crate::graph) straight: bool,
}

/// An arrow's way.
#[derive(Debug, Clone)]
pub(in crate::graph) struct Path {
    pub(in crate::graph) start: Point,
    pub(in crate::graph) pieces: Vec<Piece>,
    /// How many pieces are not shared with other arrows: room for the label.
    pub(in crate::graph) own: usize,
}

impl Path {
    pub(super) fn from(start: Point) -> Self {
        Self { start, pieces: Vec::new(), own: usize::MAX }
    }

    fn end(&self) -> Point {
        self.pieces.last().map_or(self.start, |piece| piece.end)
    }

    /// A straight line on; nothing if it is there already.
    pub(super) fn line(&mut self, end: Point) {
        let start = self.end();
        if (start.x - end.x).abs() + (start.y - end.y).abs() > 0.01 {
            self.pieces.push(Piece { first: start, second: end, end, straight: true });
        }
    }

    /// A curve that leaves and arrives upright.
    pub(super) fn bend(&mut self, end: Point) {
        let start = self.end();
        if (start.x - end.x).abs() < 0.5 {
            self.line(end);
            return;
        }
        let pull = (end.y - start.y) * 0.55;
        let first = Point { x: start.x, y: start.y + pull };
        let second = Point { x: end.x, y: end.y - pull };
        self.pieces.push(Piece { first, second, end, straight: false });
    }

    /// Straight lines through the points, with rounded corners.
    pub(super) fn around(points: &[Point], radius: f64) -> Self {
        let mut path = Self::from(points[0]);
        for corner in points.windows(3) {
            let (from, at, to) = (corner[0], corner[1], corner[2]);
            let near = radius.min(distance(from, at) / 2.0).min(distance(at, to) / 2.0);
            path.line(towards(at, from, near));
            let end = towards(at, to, near);
            path.pieces.push(Piece { first: at, second: at, end, straight: false });
        }
        path.line(points[points.len() - 1]);
        path
    }

    pub(super) fn shift(&mut self, dx: f64, dy: f64) {
        let move_by = |point: &mut Point| {
            point.x += dx;
            point.y += dy;
        };
        move_by(&mut self.start);
        for piece in &mut self.pieces {
            move_by(&mut piece.first);
            move_by(&mut piece.second);
            move_by(&mut piece.end);
        }
    }

    /// Where the pieces begin and end.
    pub(super) fn points(&self) -> impl Iterator<Item = Point> + '_ {
        std::iter::once(self.start).chain(self.pieces.iter().map(|piece| piece.end))
    }

    /// The point just before the end: where the arrow comes from.
    pub(in crate::graph) fn approach(&self) -> (Point, Point) {
        let end = self.end();
        match self.pieces.last() {
            Some(piece) if piece.straight => (piece.first, end),
            Some(piece) => (piece.second, end),
            None => (self.start, end),
        }
    }

    /// Points along the part that is not shared, evenly spaced.
    pub(in crate::graph) fn samples(&self, count: u32) -> Vec<Point> {
        let mut dense = vec![self.start];
        let mut from = self.start;
        for piece in self.pieces.iter().take(self.own) {
            for step in 1..=16 {
                dense.push(piece.at(from, f64::from(step) / 16.0));
            }
            from = piece.end;
        }
        let length: f64 = dense.windows(2).map(|pair| distance(pair[0], pair[1])).sum();
        let mut found = Vec::new();
        let mut walked = 0.0;
        for pair in dense.windows(2) {
            let next = walked + distance(pair[0], pair[1]);
            #[expect(clippy::cast_precision_loss, reason = "a handful")]
            while found.len() < count as usize
                && (found.len() as f64 + 0.5) / f64::from(count) * length <= next
            {
                found.push(pair[1]);
            }
            walked = next;
        }
        found
    }
}

impl Piece {
    fn at(&self, start: Point, t: f64) -> Point {
        let s = 1.0 - t;
        let mix = |a: f64, b: f64, c: f64, d: f64| {
            s * s * s * a + 3.0 * s * s * t * b + 3.0 * s * t * t * c + t * t * t * d
        };
        Point {
            x: mix(start.x, self.first.x, self.second.x, self.end.x),
            y: mix(start.y, self.first.y, self.second.y, self.end.y),
        }
    }
}

fn distance(a: Point, b: Point) -> f64 {
    (a.x - b.x).hypot(a.y - b.y)
}

/// The point `length` away from `from` in the direction of `to`.
fn towards(from: Point, to: Point, length: f64) -> Point {
    let whole = distance(from, to);
    if whole < f64::EPSILON {
        return from;
    }
    let part = length / whole;
    Point { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }
}
