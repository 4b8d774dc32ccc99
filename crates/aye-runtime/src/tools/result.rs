//! What a call gave.

#[cfg(feature = "tools")]
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Map, Value};

use aye_core::text::key_values;

use super::error::ToolError;

#[cfg(feature = "tools")]
/// How much of a tool's own words an error repeats.
const LONGEST_ERROR: usize = 16 * 1024;

/// What a call gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// Structured content as data; without any, the text.
    pub value: Value,
    /// The text, all of it.
    pub text: String,
    /// The `key: value` lines of the text, if it is all there is.
    pub parsed: Option<Map<String, Value>>,
}

impl ToolResult {
    /// The result of a command that printed text.
    pub fn from_text(text: &str) -> Self {
        let text = text.trim_end_matches(['\n', '\r']).to_owned();
        Self { value: Value::String(text.clone()), parsed: key_values(&text), text }
    }

    /// The result of a command that printed JSON.
    ///
    /// # Errors
    /// When it is none.
    pub fn from_json(tool: &str, text: &str) -> Result<Self, ToolError> {
        match serde_json::from_str(text) {
            Ok(value) => Ok(Self { value, text: text.trim_end().to_owned(), parsed: None }),
            Err(error) => Err(ToolError::failed(format!("`{tool}` printed no JSON: {error}"))
                .hint("print one JSON value, or set `output = \"text\"`")),
        }
    }

    #[cfg(feature = "tools")]
    pub(super) fn from_server(tool: &str, result: CallToolResult) -> Result<Self, ToolError> {
        let text = text_of(&result.content);
        if result.is_error == Some(true) {
            let said = match (text.trim(), &result.structured_content) {
                ("", Some(data)) => data.to_string(),
                ("", None) => "it does not say why".to_owned(),
                (said, _) => said.to_owned(),
            };
            return Err(ToolError::failed(format!("`{tool}` failed: {}", cut(&said))));
        }
        Ok(match result.structured_content {
            Some(value) => Self { value, text, parsed: None },
            None => Self { value: Value::String(text.clone()), parsed: key_values(&text), text },
        })
    }
}

#[cfg(feature = "tools")]
fn cut(text: &str) -> String {
    let end = text.floor_char_boundary(LONGEST_ERROR);
    // The mark tells what masks secrets that one may be cut there.
    let mark = if end < text.len() { "…" } else { "" };
    format!("{}{mark}", &text[..end])
}

/// Text as it is; what is not text is named.
#[cfg(feature = "tools")]
fn text_of(content: &[ContentBlock]) -> String {
    let parts: Vec<String> = content
        .iter()
        .map(|block| match block {
            ContentBlock::Text(text) => text.text.clone(),
            ContentBlock::Image(image) => named("image", &image.mime_type, &image.data),
            ContentBlock::Audio(audio) => named("audio", &audio.mime_type, &audio.data),
            ContentBlock::ResourceLink(link) => link.uri.clone(),
            ContentBlock::Resource(embedded) => match &embedded.resource {
                ResourceContents::TextResourceContents { text, .. } => text.clone(),
                ResourceContents::BlobResourceContents { uri, .. } => format!("[{uri}]"),
                _ => String::new(),
            },
            _ => String::new(),
        })
        .collect();
    parts.join("\n")
}

#[cfg(feature = "tools")]
fn named(what: &str, kind: &str, base64: &str) -> String {
    format!("[{what} {kind}, {} bytes]", base64.len() / 4 * 3)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use aye_core::error_code::ErrorCode;

    use super::*;

    #[test]
    fn lines_with_a_key_are_also_data() {
        let text = "Build finished.\nStatus: passed\nLast Commit: abc: def\n- Tests run: 12\n\
            see http://x.org:80/a\n{\"a\": 1}\nEmpty:\nnot a key (really): 1\n";
        let parsed = ToolResult::from_text(text).parsed.map(Value::Object);
        let wanted = json!({
            "status": "passed", "last_commit": "abc: def", "tests_run": "12", "empty": "",
        });
        assert_eq!(parsed, Some(wanted));
        assert_eq!(ToolResult::from_text("nothing here").parsed, None);
    }

    #[test]
    fn json_is_data_and_anything_else_is_a_failure() {
        let good = ToolResult::from_json("t", "{\"a\": [1]}\n").expect("it is JSON");
        assert_eq!(good.value, json!({ "a": [1] }));
        let bad = ToolResult::from_json("t", "oops").expect_err("it is none");
        assert_eq!(bad.code, ErrorCode::ToolFailed);
    }
}
