//! What is known of a tool without calling it: its entry in the settings, its
//! schema, and the program behind it.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::runtime::Runtime;
use crate::settings::Reach;

/// What a tool is, as far as the settings tell.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolFacts {
    /// Its name, as steps call it.
    pub name: String,
    /// Where it is defined: `[tools.NAME]`, and in which file.
    pub defined: String,
    /// What it is for.
    pub description: Option<String>,
    /// Its arguments, as a JSON schema; of a server's tool what the server said last.
    pub schema: Option<Map<String, Value>>,
    /// The program and its arguments, or the address.
    pub program: Vec<String>,
    /// The file of the project that it runs, if it runs one.
    pub source: Option<PathBuf>,
    /// It only looks: see [`Runtime::is_read_only`].
    pub read_only: bool,
}

impl ToolFacts {
    /// As data for other programs.
    pub fn to_json(&self) -> Value {
        let mut data = json!({
            "name": self.name, "defined": self.defined, "program": self.program,
            "read_only": self.read_only,
        });
        let mut set = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                data[name] = value;
            }
        };
        set("description", self.description.clone().map(Value::from));
        set("schema", self.schema.clone().map(Value::from));
        set("source", self.source.as_ref().map(|path| path.display().to_string().into()));
        data
    }
}

impl Runtime {
    /// Whether this tool (`SERVER.TOOL`, or a command) only looks: the user's own
    /// settings mark it `read_only`, or those of a project that is trusted. For
    /// what an assistant or the server starts, the project's marks count as they
    /// were agreed to. What a server says of its own tools grants nothing.
    pub fn is_read_only(&self, tool: &str) -> bool {
        self.granted().read_only.contains(tool)
    }

    /// What is known of the tool of this name; nothing if no settings define it. Of
    /// a server's tool, what the server said when a call of it failed.
    pub fn tool_facts(&self, name: &str) -> Option<ToolFacts> {
        let tools = &self.settings.tools;
        let defined = |section: &str, own: bool| match own {
            true => format!("[tools.{section}] in the user's own config.toml"),
            false => format!("[tools.{section}] in aye.toml"),
        };
        if let Some(command) = tools.commands.get(name) {
            return Some(ToolFacts {
                name: name.to_owned(),
                defined: defined(name, command.own),
                description: command.description.clone(),
                schema: Some(command.schema.clone()),
                source: self.project_file(&command.argv, command.cwd.as_deref()),
                program: command.argv.clone(),
                read_only: self.is_read_only(name),
            });
        }
        let described = self.tool_descriptions().find(name);
        let section = match name.split_once('.') {
            Some((section, _)) => section,
            None => described.as_ref()?.server.as_str(),
        };
        let server = tools.servers.get(section)?;
        let (program, source) = match &server.reach {
            Reach::Program { argv, cwd, .. } => {
                (argv.clone(), self.project_file(argv, cwd.as_deref()))
            }
            Reach::Http { url, .. } => (vec![url.clone()], None),
        };
        let full = match name.contains('.') {
            true => name.to_owned(),
            false => format!("{section}.{name}"),
        };
        Some(ToolFacts {
            read_only: self.is_read_only(&full),
            name: full,
            defined: defined(section, server.own),
            description: described.as_ref().and_then(|tool| tool.description.clone()),
            schema: described.as_ref().map(|tool| tool.schema.clone()),
            program,
            source,
        })
    }

    /// The first word of a command line that is a file of the project.
    fn project_file(&self, argv: &[String], cwd: Option<&Path>) -> Option<PathBuf> {
        let root = &self.settings.root;
        let directory = cwd.map_or_else(|| self.directory.clone(), |cwd| root.join(cwd));
        let root = root.canonicalize().ok()?;
        let mut files = argv.iter().filter_map(|word| directory.join(word).canonicalize().ok());
        files.find(|path| path.starts_with(&root) && path.is_file())
    }
}
