//! The diagram as data, for programs.

use aye_core::flow::Flow;
use serde_json::{Value, json as data};

use super::diagram::Diagram;

/// The flow as nodes and links; `start`, `from` and `to` are places in the
/// list of nodes, from 0.
pub fn json(flow: &Flow) -> Value {
    let drawing = Diagram::of(flow);
    let nodes = drawing.shapes.iter().map(|shape| {
        data!({
            "name": shape.name,
            "kind": shape.what.word(),
            "detail": shape.detail,
            "condition": shape.condition,
            "gate": shape.gate,
            "remarks": shape.remarks,
            "reached": shape.reached,
        })
    });
    let links = drawing.links.iter().map(|link| {
        data!({
            "from": link.from,
            "to": link.to,
            "outcomes": link.outcomes,
            "implied": link.implied,
        })
    });
    data!({
        "title": drawing.title,
        "start": drawing.start,
        "nodes": nodes.collect::<Vec<_>>(),
        "links": links.collect::<Vec<_>>(),
    })
}
