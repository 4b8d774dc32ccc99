//! Which arrows lead back, and how far down each box stands.

use std::collections::VecDeque;

use super::Wire;

/// What a walk through the graph found.
pub(super) struct Ranking {
    /// The layer of each box.
    pub(super) rank: Vec<usize>,
    /// For each wire: whether it leads back up, or to its own box.
    pub(super) back: Vec<bool>,
    /// Boxes in the order of the walk; the main way comes first.
    pub(super) order: Vec<usize>,
}

/// Longest way from the top, arrows that lead back left aside.
pub(super) fn ranks(count: usize, wires: &[Wire]) -> Ranking {
    let mut outgoing: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (id, wire) in wires.iter().enumerate() {
        outgoing[wire.from].push(id);
    }
    for wires_out in &mut outgoing {
        wires_out.sort_by_key(|id| !wires[*id].main);
    }
    let (order, back) = walk(count, wires, &outgoing);
    let rank = longest(count, wires, &back);
    Ranking { rank, back, order }
}

/// Depth first; a wire to a box on the path walked is a way back.
fn walk(count: usize, wires: &[Wire], outgoing: &[Vec<usize>]) -> (Vec<usize>, Vec<bool>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Never,
        OnPath,
        Left,
    }
    let mut seen = vec![Seen::Never; count];
    let mut order = Vec::with_capacity(count);
    let mut back = vec![false; wires.len()];
    for root in 0..count {
        if seen[root] != Seen::Never {
            continue;
        }
        let mut path = vec![(root, 0)];
        seen[root] = Seen::OnPath;
        order.push(root);
        while let Some((place, next)) = path.last_mut() {
            let Some(&id) = outgoing[*place].get(*next) else {
                seen[*place] = Seen::Left;
                path.pop();
                continue;
            };
            *next += 1;
            let to = wires[id].to;
            match seen[to] {
                Seen::OnPath => back[id] = true,
                Seen::Left => {}
                Seen::Never => {
                    seen[to] = Seen::OnPath;
                    order.push(to);
                    path.push((to, 0));
                }
            }
        }
    }
    (order, back)
}

fn longest(count: usize, wires: &[Wire], back: &[bool]) -> Vec<usize> {
    let forward: Vec<&Wire> =
        wires.iter().zip(back).filter(|(_, back)| !**back).map(|(wire, _)| wire).collect();
    let mut waiting = vec![0_usize; count];
    let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); count];
    for wire in &forward {
        waiting[wire.to] += 1;
        leaving[wire.from].push(wire.to);
    }
    let roots: Vec<usize> = (0..count).filter(|place| waiting[*place] == 0).collect();
    let mut rank = vec![0_usize; count];
    let mut open: VecDeque<usize> = roots.iter().copied().collect();
    while let Some(place) = open.pop_front() {
        for &to in &leaving[place] {
            rank[to] = rank[to].max(rank[place] + 1);
            waiting[to] -= 1;
            if waiting[to] == 0 {
                open.push_back(to);
            }
        }
    }
    // What no run reaches stands close to where it would lead.
    for &root in roots.iter().filter(|root| **root != 0) {
        let next = leaving[root].iter().map(|to| rank[*to]).min();
        rank[root] = next.map_or(1, |next| next.saturating_sub(1));
    }
    rank
}
