//! The diagram as data, for programs.

use aye_core::flow::Flow;
use aye_core::step_kind::StepKind;
use serde_json::{Value, json as data};

use super::diagram::{Diagram, Shape};

/// The flow as nodes and links; `start`, `from` and `to` are places in the
/// list of nodes, from 0. Names are those of the other views.
pub fn json(flow: &Flow) -> Value {
    let drawing = Diagram::of(flow);
    let links = drawing.links.iter().map(|link| {
        data!({
            "from": link.from,
            "to": link.to,
            "outcomes": link.outcomes,
            "implied": link.implied,
        })
    });
    let nodes = drawing.shapes.iter().enumerate().map(|(at, shape)| match flow.nodes.get(at) {
        Some(node) => step(shape, &node.step.action.kind()),
        None => data!({
            "kind": "final",
            "final_state": drawing.states.then_some(&shape.name),
            "status": shape.what.word(),
            "reached": shape.reached,
        }),
    });
    data!({
        "skill": flow.skill.name.value,
        "start": drawing.start,
        "nodes": nodes.collect::<Vec<_>>(),
        "links": links.collect::<Vec<_>>(),
    })
}

fn step(shape: &Shape, kind: &StepKind) -> Value {
    let detail = Some(&shape.detail).filter(|detail| !detail.is_empty());
    let (message, command) = match shape.what.asks() {
        true => (detail, None),
        false => (shape.gate.as_ref(), detail),
    };
    data!({
        "step": shape.name,
        "kind": kind,
        "command": command,
        "message": message,
        "condition": shape.condition,
        "remarks": shape.remarks,
        "reached": shape.reached,
    })
}
