//! Named commands of `aye.toml`: arguments checked, argv rendered.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use aye_core::error_code::ErrorCode;

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, context};
use serde_json::{Map, Value};

use crate::settings::{CommandSettings, OutputKind};

use super::error::ToolError;
use super::result::ToolResult;
use crate::schema;

/// A command, ready to be run like any step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandTool {
    /// The tool's name.
    pub name: String,
    /// The program and its arguments. No shell sees them.
    pub argv: Vec<String>,
    /// Where it works; the workspace if not given.
    pub cwd: Option<PathBuf>,
    /// Variables it gets in addition.
    pub env: BTreeMap<String, String>,
    /// What its output is.
    pub output: OutputKind,
    /// Its time-out, if the step names none.
    pub timeout: Option<Duration>,
    /// It changes what cannot be changed back.
    pub destructive: bool,
}

impl CommandTool {
    /// What its standard output means.
    ///
    /// # Errors
    /// When it should be JSON and is none.
    pub fn result(&self, stdout: &str) -> Result<ToolResult, ToolError> {
        match self.output {
            OutputKind::Text => Ok(ToolResult::from_text(stdout)),
            OutputKind::Json => ToolResult::from_json(&self.name, stdout),
        }
    }
}

static ENGINE: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut engine = Environment::new();
    engine.set_undefined_behavior(UndefinedBehavior::Strict);
    engine.set_auto_escape_callback(|_| AutoEscape::None);
    engine.set_fuel(Some(100_000));
    engine
});

pub(super) fn prepare(
    name: &str,
    settings: &CommandSettings,
    args: Map<String, Value>,
) -> Result<CommandTool, ToolError> {
    let args = schema::check_arguments(&settings.schema, with_defaults(settings, args))
        .map_err(|problems| ToolError::arguments(name, &problems))?;
    let args = Value::Object(with_blanks(settings, args));
    let mut argv = Vec::new();
    for template in &settings.argv {
        render(template, &args, &mut argv).map_err(|error| {
            let message = format!("the command of `{name}` cannot be made: {error}");
            ToolError::new(ErrorCode::ToolArguments, message)
                .hint(format!("see `command` in `[tools.{name}]` of `aye.toml`: {template}"))
        })?;
    }
    if argv.first().is_none_or(String::is_empty) {
        let message = format!("the command of `{name}` names no program");
        return Err(ToolError::new(ErrorCode::ToolArguments, message));
    }
    Ok(CommandTool {
        name: name.to_owned(),
        argv,
        cwd: settings.cwd.clone(),
        env: settings.env.clone(),
        output: settings.output,
        timeout: settings.timeout,
        destructive: settings.destructive,
    })
}

fn properties(settings: &CommandSettings) -> impl Iterator<Item = (&String, &Value)> {
    settings.schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn with_defaults(settings: &CommandSettings, mut args: Map<String, Value>) -> Map<String, Value> {
    for (name, property) in properties(settings) {
        if let Some(default) = property.get("default").filter(|_| !args.contains_key(name)) {
            args.insert(name.clone(), default.clone());
        }
    }
    args
}

/// What was not given is `none` in templates, so that it can be asked for.
fn with_blanks(settings: &CommandSettings, mut args: Map<String, Value>) -> Map<String, Value> {
    for (name, _) in properties(settings) {
        args.entry(name.clone()).or_insert(Value::Null);
    }
    args
}

/// One word of the template is one word of the command, with two exceptions
/// for words that are exactly one expression: a list is several words, and
/// nothing is not a word.
fn render(template: &str, args: &Value, argv: &mut Vec<String>) -> Result<(), minijinja::Error> {
    if !template.contains("{{") && !template.contains("{%") {
        argv.push(template.to_owned());
        return Ok(());
    }
    let lone = template.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
    if let Some(compiled) = lone.and_then(|inner| ENGINE.compile_expression(inner.trim()).ok()) {
        let value = compiled.eval(context! { args => minijinja::Value::from(Serde(args)) })?;
        if value.is_none() || value.is_undefined() {
            return Ok(());
        }
        if value.kind() == minijinja::value::ValueKind::Seq {
            argv.extend(value.try_iter()?.map(|item| word(&item)));
            return Ok(());
        }
        argv.push(word(&value));
        return Ok(());
    }
    argv.push(
        ENGINE.render_str(template, context! { args => minijinja::Value::from(Serde(args)) })?,
    );
    Ok(())
}

/// The arguments that a template uses; `None` if that cannot be told.
pub(super) fn arguments_of(template: &str) -> Option<Vec<String>> {
    let template = ENGINE.template_from_str(template).ok()?;
    let names = template.undeclared_variables(true);
    let mut found: Vec<String> = names
        .iter()
        .map(|name| match name.split_once('.') {
            Some(("args", rest)) => rest.split('.').next().map(str::to_owned),
            _ => None,
        })
        .collect::<Option<_>>()?;
    found.sort();
    Some(found)
}

/// Numbers and truth values as JSON writes them.
fn word(value: &minijinja::Value) -> String {
    match value.as_str() {
        Some(text) => text.to_owned(),
        None => serde_json::to_string(value).unwrap_or_else(|_| value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn command(argv: &[&str]) -> CommandSettings {
        let schema = json!({
            "type": "object",
            "properties": {
                "environment": { "type": "string", "enum": ["stage", "production"] },
                "count": { "type": "integer", "default": 1 },
                "force": { "type": "boolean" },
                "files": { "type": "array" },
            },
            "required": ["environment"],
            "additionalProperties": false,
        });
        CommandSettings {
            argv: argv.iter().map(|word| (*word).to_owned()).collect(),
            place: None,
            description: None,
            schema: schema.as_object().cloned().expect("an object"),
            output: OutputKind::Text,
            cwd: None,
            env: BTreeMap::new(),
            timeout: None,
            destructive: false,
            read_only: false,
            own: false,
        }
    }

    fn argv(words: &[&str], args: Value) -> Result<Vec<String>, String> {
        let Value::Object(args) = args else { panic!("an object") };
        prepare("deploy", &command(words), args).map(|tool| tool.argv).map_err(|e| e.message)
    }

    #[test]
    fn words_stay_words_whatever_is_in_them() {
        let words = [
            "./deploy",
            "{{ args.environment }}",
            "--count={{ args.count }}",
            "{{ '--force' if args.force }}",
            "{{ args.files }}",
        ];
        let got = argv(&words, json!({ "environment": "stage" }));
        assert_eq!(got, Ok(vec!["./deploy".into(), "stage".into(), "--count=1".into()]));
        let given = json!({
            "environment": "stage", "force": true, "count": "3", "files": ["a b", "$(c)", 4],
        });
        let got = argv(&words, given).expect("it fits");
        assert_eq!(got, ["./deploy", "stage", "--count=3", "--force", "a b", "$(c)", "4"]);
    }

    #[test]
    fn what_does_not_fit_is_not_run() {
        let words = ["./deploy", "{{ args.environment }}"];
        let wrong = argv(&words, json!({ "environment": "prod" })).expect_err("not in the list");
        assert_eq!(
            wrong,
            "the arguments do not fit `deploy`: `environment` must be `stage` or `production`, \
             not `prod`"
        );
        let wrong =
            argv(&["./deploy", "{{ args.nothing.here }}"], json!({ "environment": "stage" }));
        assert!(wrong.is_err());
    }
}
