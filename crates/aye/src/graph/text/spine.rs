//! Reading order.

use std::collections::VecDeque;

use super::super::diagram::{Diagram, EdgeKind, Link, What};

/// Shapes that follow each other when all goes well.
pub(super) struct Chain<'a> {
    pub(super) shapes: Vec<usize>,
    /// Where it continues, if that stands in another place of the page.
    pub(super) onward: Option<&'a Link>,
}

/// All shapes, each in one chain: from the start first, then where its other
/// ways lead, then ends, then what no run reaches.
pub(super) fn chains(drawing: &Diagram) -> Vec<Chain<'_>> {
    let mut placed = vec![false; drawing.shapes.len()];
    let mut found = Vec::new();
    let mut open = VecDeque::from([drawing.start]);
    let mut ends = Vec::new();
    loop {
        let Some(first) = open.pop_front() else {
            let Some(left) = leftover(drawing, &placed, &mut ends) else { break };
            open.push_back(left);
            continue;
        };
        if placed[first] {
            continue;
        }
        let chain = follow(drawing, first, &mut placed);
        for &place in &chain.shapes {
            for link in drawing.links.iter().filter(|link| link.from == place && !link.implied) {
                match drawing.shapes[link.to].what {
                    What::End(_) => ends.push(link.to),
                    _ => open.push_back(link.to),
                }
            }
        }
        found.push(chain);
    }
    found
}

fn follow<'a>(drawing: &'a Diagram, first: usize, placed: &mut [bool]) -> Chain<'a> {
    let mut shapes = vec![first];
    placed[first] = true;
    let mut here = first;
    while let Some(link) = success(drawing, here) {
        if placed[link.to] {
            return Chain { shapes, onward: Some(link) };
        }
        placed[link.to] = true;
        shapes.push(link.to);
        here = link.to;
    }
    Chain { shapes, onward: None }
}

/// Ends that were met, then steps nothing leads to. The end of a refusal that
/// nobody wrote down is said where it happens and nowhere else.
fn leftover(drawing: &Diagram, placed: &[bool], ends: &mut Vec<usize>) -> Option<usize> {
    while !ends.is_empty() {
        let end = ends.remove(0);
        if !placed[end] {
            return Some(end);
        }
    }
    let implied = |place| drawing.links.iter().any(|link| link.implied && link.to == place);
    (0..drawing.shapes.len()).find(|place| !placed[*place] && !implied(*place))
}

/// The way a step leads when all goes well.
pub(super) fn success(drawing: &Diagram, place: usize) -> Option<&Link> {
    drawing.links.iter().find(|link| link.from == place && link.kind == EdgeKind::Good)
}

/// Whether a run can get from one shape to the other.
pub(super) fn leads(drawing: &Diagram, from: usize, to: usize) -> bool {
    let mut seen = vec![false; drawing.shapes.len()];
    let mut open = vec![from];
    while let Some(place) = open.pop() {
        if place == to {
            return true;
        }
        if !std::mem::replace(&mut seen[place], true) {
            open.extend(drawing.links.iter().filter(|link| link.from == place).map(|link| link.to));
        }
    }
    false
}
