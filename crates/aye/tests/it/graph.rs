//! Pictures of flows.

mod build;
mod flows;

use aye::graph;

#[test]
fn dump() {
    let dir = std::path::Path::new("/tmp/graph-out");
    std::fs::create_dir_all(dir).unwrap();
    for (name, flow) in [
        ("release", flows::release()),
        ("deploy", flows::deploy()),
        ("rollout", flows::rollout()),
        ("long", flows::long()),
        ("single", flows::single()),
        ("hostile", flows::hostile()),
    ] {
        let put = |ext: &str, text: String| {
            std::fs::write(dir.join(format!("{name}.{ext}")), text).unwrap()
        };
        put("mmd", graph::mermaid(&flow));
        put("dot", graph::dot(&flow));
        put("svg", graph::svg(&flow));
        put("txt", graph::text(&flow, 78, false, true));
        put("ascii", graph::text(&flow, 78, false, false));
        put("ansi", graph::text(&flow, 78, true, true));
    }
}
