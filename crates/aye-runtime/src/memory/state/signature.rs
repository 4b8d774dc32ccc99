//! The functions of `memory`, what they are called, and their arguments.

use aye_core::diagnostic::{did_you_mean, quote, quote_list};
use serde_json::{Map, Value};

/// What can be asked of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Read,
    Query,
    Write,
    Append,
    Update,
    Remove,
    Timestamp,
    ActiveIssues,
    OpenMrs,
    FollowUps,
    AddActiveIssue,
    AddOpenMr,
    AddFollowUp,
    RemoveActiveIssue,
    RemoveOpenMr,
    SaveSharedContext,
    LoadSharedContext,
    SessionLog,
    KnowledgeQuery,
    KnownIssues,
    LearnFix,
    RecordFailure,
}

use Function as F;

/// The first `required` arguments have to be given.
struct Signature {
    function: Function,
    names: &'static [&'static str],
    required: usize,
    args: &'static [&'static str],
}

const fn signature(
    function: Function,
    names: &'static [&'static str],
    required: usize,
    args: &'static [&'static str],
) -> Signature {
    Signature { function, names, required, args }
}

/// Today's names, then those of the original system; of the tools, those that
/// begin with `memory_`.
static ALL: [Signature; 22] = [
    signature(F::Read, &["read", "read_memory", "memory_read"], 1, &["key"]),
    signature(F::Query, &["query", "memory_query"], 2, &["key", "query"]),
    signature(
        F::Write,
        &["write", "write_memory", "memory_write"],
        2,
        &["key", "data|value|content", "validate"],
    ),
    signature(
        F::Append,
        &["append", "append_to_list", "memory_append"],
        3,
        &["key", "list_path|list", "item", "match_key"],
    ),
    signature(
        F::Update,
        &["update", "update_field", "memory_update"],
        3,
        &["key", "field_path|path", "value"],
    ),
    signature(
        F::Remove,
        &["remove", "remove_from_list"],
        4,
        &["key", "list_path|list", "match_key", "match_value|value"],
    ),
    signature(F::Timestamp, &["get_timestamp"], 0, &[]),
    signature(F::ActiveIssues, &["get_active_issues"], 0, &[]),
    signature(F::OpenMrs, &["get_open_mrs"], 0, &[]),
    signature(F::FollowUps, &["get_follow_ups"], 0, &[]),
    signature(
        F::AddActiveIssue,
        &["add_active_issue"],
        2,
        &["issue_key", "summary", "status", "branch", "repo", "notes"],
    ),
    signature(
        F::AddOpenMr,
        &["add_open_mr"],
        3,
        &["mr_id", "project", "title", "url", "pipeline_status", "needs_review"],
    ),
    signature(F::AddFollowUp, &["add_follow_up"], 1, &["task", "priority", "issue_key", "mr_id"]),
    signature(F::RemoveActiveIssue, &["remove_active_issue"], 1, &["issue_key"]),
    signature(F::RemoveOpenMr, &["remove_open_mr"], 1, &["mr_id"]),
    signature(
        F::SaveSharedContext,
        &["save_shared_context"],
        1,
        &["context|data", "ttl_hours|ttl"],
    ),
    signature(F::LoadSharedContext, &["load_shared_context"], 0, &[]),
    signature(F::SessionLog, &["session_log", "memory_session_log"], 1, &["action", "details"]),
    signature(F::KnowledgeQuery, &["knowledge_query"], 1, &["project", "section", "persona"]),
    signature(F::KnownIssues, &["check_known_issues"], 0, &["tool_name|tool", "error_text|error"]),
    signature(
        F::LearnFix,
        &["learn_tool_fix"],
        2,
        &[
            "tool_name|tool",
            "error_pattern|error",
            "root_cause|cause",
            "fix_description|fix|about",
            "args",
            "first",
            "replace",
            "skill",
            "step",
        ],
    ),
    signature(
        F::RecordFailure,
        &["record_tool_failure"],
        2,
        &["tool_name|tool", "error_text|error", "context"],
    ),
];

/// Which of them are tools that a step can call.
const TOOLS: [&str; 9] = [
    "memory_read",
    "memory_query",
    "memory_write",
    "memory_append",
    "memory_update",
    "memory_session_log",
    "knowledge_query",
    "check_known_issues",
    "learn_tool_fix",
];

fn find(name: &str) -> Option<&'static Signature> {
    ALL.iter().find(|one| one.names.contains(&name))
}

/// Whether `memory` has a function of this name.
pub fn is_function(name: &str) -> bool {
    find(name).is_some()
}

/// Whether a step can call it as a tool, without any settings.
pub fn is_builtin_tool(name: &str) -> bool {
    TOOLS.contains(&name)
}

/// What is said of a function that `memory` does not have.
pub fn no_function(name: &str) -> String {
    let all = || ALL.iter().flat_map(|one| one.names.iter().copied());
    let hint = match did_you_mean(name, all()) {
        Some(near) => format!("did you mean `memory.{near}`?"),
        None => format!("it has {}", quote_list(ALL.iter().map(|one| one.names[0]), "and")),
    };
    format!("`memory` has no function {}; {hint}", quote(name))
}

/// The function that is meant, with its arguments.
pub(super) fn bind(
    name: &str,
    args: &[Value],
    named: &Map<String, Value>,
) -> Result<(Function, Given), String> {
    let Some(signature) = find(name) else { return Err(no_function(name)) };
    let names: Vec<&str> = signature.args.iter().map(|arg| first(arg)).collect();
    let takes = || match names.as_slice() {
        [] => "it takes no arguments".to_owned(),
        names => format!("it takes {}", quote_list(names.iter().copied(), "and")),
    };
    if args.len() > signature.args.len() {
        return Err(format!("`memory.{name}` is given {} arguments; {}", args.len(), takes()));
    }
    let mut given = Given { values: Map::new() };
    for (name, value) in names.iter().zip(args) {
        given.values.insert((*name).to_owned(), value.clone());
    }
    for (written, value) in named {
        let arg = signature.args.iter().find(|arg| arg.split('|').any(|one| one == written));
        let Some(arg) = arg else {
            return Err(format!("`memory.{name}` has no argument {}; {}", quote(written), takes()));
        };
        if given.values.insert(first(arg).to_owned(), value.clone()).is_some() {
            return Err(format!("`memory.{name}` is given `{written}` twice"));
        }
    }
    let missing =
        names.iter().take(signature.required).find(|arg| !given.values.contains_key(**arg));
    match missing {
        Some(missing) => Err(format!("`memory.{name}` is not given `{missing}`; {}", takes())),
        None => Ok((signature.function, given)),
    }
}

fn first(arg: &'static str) -> &'static str {
    arg.split('|').next().unwrap_or(arg)
}

/// Arguments by name.
pub(super) struct Given {
    values: Map<String, Value>,
}

impl Given {
    /// An argument; `null` if it is not given.
    pub(super) fn value(&self, name: &str) -> Value {
        self.values.get(name).cloned().unwrap_or_default()
    }

    /// An argument that is text; nothing if it is not given.
    pub(super) fn text(&self, name: &str) -> Result<String, String> {
        match self.values.get(name) {
            None | Some(Value::Null) => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(Value::Number(number)) => Ok(number.to_string()),
            Some(Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
                Err(format!("`{name}` should be text"))
            }
        }
    }

    /// An argument that is data of some form; the usual one if it is not given.
    pub(super) fn data<T: serde::de::DeserializeOwned + Default>(
        &self,
        name: &str,
    ) -> Result<T, String> {
        match self.value(name) {
            Value::Null => Ok(T::default()),
            value => serde_json::from_value(value).map_err(|error| format!("`{name}`: {error}")),
        }
    }

    /// An argument that is text, or this.
    pub(super) fn text_or(&self, name: &str, otherwise: &str) -> Result<String, String> {
        match self.values.contains_key(name) {
            true => self.text(name),
            false => Ok(otherwise.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn named(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn names_of_today_and_of_the_original_system_are_the_same_function() {
        for (name, function) in [
            ("append", F::Append),
            ("append_to_list", F::Append),
            ("memory_append", F::Append),
            ("read_memory", F::Read),
        ] {
            let args = [json!("k"), json!("l"), json!(1)];
            let count = if function == F::Append { 3 } else { 1 };
            let (found, _) = bind(name, &args[..count], &Map::new()).expect(name);
            assert_eq!(found, function);
        }
        for tool in TOOLS {
            assert!(is_function(tool), "{tool}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_an_error_that_says_what_does() {
        let said = |name: &str, args: &[Value], more: Value| {
            bind(name, args, &named(&more)).err().expect("an error")
        };
        insta::assert_snapshot!(said("apend", &[], json!({})), @"`memory` has no function `apend`; did you mean `memory.append`?");
        insta::assert_snapshot!(said("increment", &[], json!({})), @"`memory` has no function `increment`; it has `read`, `query`, `write`, `append`, `update`, `remove`, `get_timestamp`, `get_active_issues`, `get_open_mrs`, `get_follow_ups`, `add_active_issue`, `add_open_mr`, `add_follow_up`, `remove_active_issue`, `remove_open_mr`, `save_shared_context`, `load_shared_context`, `session_log`, `knowledge_query`, `check_known_issues`, `learn_tool_fix` and `record_tool_failure`");
        insta::assert_snapshot!(said("read", &[], json!({})), @"`memory.read` is not given `key`; it takes `key`");
        insta::assert_snapshot!(said("read", &[json!("a"), json!("b")], json!({})), @"`memory.read` is given 2 arguments; it takes `key`");
        insta::assert_snapshot!(said("append", &[json!("a")], json!({ "lst": 1 })), @"`memory.append` has no argument `lst`; it takes `key`, `list_path`, `item` and `match_key`");
        insta::assert_snapshot!(said("read", &[json!("a")], json!({ "key": 1 })), @"`memory.read` is given `key` twice");
        insta::assert_snapshot!(said("get_open_mrs", &[json!("a")], json!({})), @"`memory.get_open_mrs` is given 1 arguments; it takes no arguments");
    }
}
