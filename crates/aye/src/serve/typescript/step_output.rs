//! What a step writes, as the report makes a message of it piece by piece.

use aye_core::nested::Item;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A line that a step wrote, for who follows its run.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StepOutput {
    /// `step_output`.
    #[schemars(extend("const" = "step_output"))]
    r#type: String,
    /// Version of the vocabulary.
    v: u32,
    /// The run.
    run: String,
    /// The step.
    step: String,
    /// The runs around it, from the outside in: `deploy[web3]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    path: Vec<String>,
    /// The item it is about, where it is inside a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    item: Option<Item>,
    /// Where it wrote it.
    stream: StreamName,
    /// The line, without its end.
    text: String,
}

/// Standard output or standard error.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum StreamName {
    Stdout,
    Stderr,
}

/// The result of a step that wrote nothing, for who follows its run.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StepResult {
    /// `step_result`.
    #[schemars(extend("const" = "step_result"))]
    r#type: String,
    /// Version of the vocabulary.
    v: u32,
    /// The run.
    run: String,
    /// The step.
    step: String,
    /// The runs around it, from the outside in: `deploy[web3]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    path: Vec<String>,
    /// The item it is about, where it is inside a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    item: Option<Item>,
    /// The result.
    value: Value,
}

#[test]
fn what_a_step_writes_is_told_as_the_types_say() {
    use crate::report::{StepSource, output_json, result_json};
    use aye_process::Stream;

    let item = Item { index: 1, value: "web".into(), label: Some("web".to_owned()) };
    let path = ["deploy[web]".to_owned()];
    for (path, item) in [(&path[..], Some(&item)), (&[][..], None)] {
        let source = StepSource { run: "k3f9x2m7q1", path, item, step: "build" };
        for stream in [Stream::Stdout, Stream::Stderr] {
            let line = output_json(&source, stream, "a \"line\"");
            let read: StepOutput = serde_json::from_str(&line).expect(&line);
            assert_eq!(read.text, "a \"line\"");
        }
        let line = result_json(&source, &Value::from(7));
        let read: StepResult = serde_json::from_str(&line).expect(&line);
        assert_eq!(read.value, 7);
    }
}
