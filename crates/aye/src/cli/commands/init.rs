//! `aye init`.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;

use crate::cli::Context;
use crate::paint::{Glyph, Tone};
use aye_runtime::error::Error;
use aye_runtime::replace::refuse_links;
use aye_runtime::skills::relative_to;

use super::output::{print, print_json};

// Options of `aye init`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  aye init\n  aye init release")]
pub struct InitArgs {
    /// The name of the skill to make
    #[arg(default_value = "hello")]
    pub name: String,
}

const SKILL: &str = "\
# yaml-language-server: $schema=../.aye/skill.schema.json
# Run it:  aye run NAME -i who=you
name: NAME
description: Greet someone, but ask first
inputs:
  - { name: who, type: string, default: world }
steps:
  - name: compose
    command: echo
    args: [\"Hello, {{ inputs.who }}!\"]
    output: greeting
  - name: confirm_greeting
    confirm:
      title: About to greet
      message: \"Say `{{ greeting }}`?\"
      timeout: 5m
  - name: greet
    command: echo
    args: [\"{{ greeting }}\"]
outputs:
  - { name: summary, value: \"Greeted {{ inputs.who }}\" }
";

const SETTINGS: &str = "\
# Settings of Aye for this project. Every key is optional.
skills = [\"skills\"]          # where to look for skills

[run]
step_timeout = \"2m\"          # for steps that set none; \"0s\" is no limit
max_processes = 10           # at once
# max_step_timeout = \"1h\"    # no step may take longer
# max_result = \"10MiB\"       # how much of its output a step's result may be
# grace = \"5s\"               # between TERM and KILL
# undefined = \"strict\"       # or \"lenient\": undefined names are empty
# output = \"failed\"          # or \"full\", \"none\": whose output to show
# bell = true                # ring when a question opens or a long run ends

[journal]
durability = \"power\"         # or \"process\": quicker, safe unless the power fails
keep = \"30d\"                 # how long to keep finished runs

# [ask]                      # how long questions wait, and where Aye asks
# confirmation_timeout = \"30s\"
# timeout = \"5m\"
# min_timeout = \"1s\"
# max_timeout = \"7d\"
# prompters = [\"terminal\", \"desktop\"]    # and \"notification\"
# after = { desktop = \"30s\" }

# [policy]                   # what steps may run; everything unless you say so
# allow = [\"cargo\", \"/usr/bin/git\"]
# workspace_only = true
# check_shell_values = true

# [advisor]                  # advises on questions with `ai_assist`
# command = [\"claude\", \"-p\"]
# timeout = \"30s\"

# [tools.git]                # an MCP server: `tool: git.git_status`
# server = [\"uvx\", \"mcp-server-git\"]

# [tools.deploy]             # a command with typed arguments: `tool: deploy`
# command = [\"./deploy\", \"{{ args.environment }}\"]
# args = { environment = { enum = [\"stage\", \"production\"], required = true } }

# [[heal]]                   # repairs a known error, then tries the step again
# name = \"log_in_again\"
# match = { category = \"auth\" }
# repair = { command = \"./login\" }

# [notify.phone]             # sends questions and failures
# kind = \"ntfy\"
# topic = { env = \"NTFY_TOPIC\" }
# on = [\"question\", \"failed\"]

# [mcp]                      # assistants
# expires = \"24h\"            # how long an assistant may answer a question
# patience = \"45s\"           # how long a call waits for a run
# forms = true               # ask people directly where the client can show a form
# form_timeout = \"50s\"
# elicited_is_person = false # counts in ~/.config/aye/config.toml only
";

pub(super) fn run(args: &InitArgs, context: &Context) -> Result<u8, Error> {
    let fits = args.name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && args.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if !fits {
        return Err(Error::usage(
            format!("`{}` is not a name for a skill", args.name),
            "use letters, digits, `-` and `_`, beginning with a letter",
        ));
    }
    let skill = context.settings.root.join("skills").join(format!("{}.yaml", args.name));
    let settings = context.settings.root.join(aye_runtime::settings::FILE);
    let paint = context.paint_out;
    let mut text = String::new();
    let note = |made: bool, path: &PathBuf| {
        let path = relative_to(path, &context.directory).display().to_string();
        if made {
            format!("{} {path}\n", paint.text(Tone::Good, paint.glyph(Glyph::Done)))
        } else {
            let mark = paint.text(Tone::Dim, paint.glyph(Glyph::Skipped));
            format!("{mark} {path} {}\n", paint.text(Tone::Dim, "is there already"))
        }
    };
    refuse_links(&context.settings.root, &skill)?;
    if skill.exists() {
        let shown = relative_to(&skill, &context.directory).display().to_string();
        let message = format!("`{shown}` is there already; nothing was changed");
        return Err(Error::usage(message, "choose another name: `aye init NAME`"));
    }
    let made = write_new(&settings, SETTINGS)?;
    write_new(&skill, &SKILL.replace("NAME", &args.name))?;
    // Editors read it: the first line of the skill says where it is.
    let schema = context.settings.root.join(".aye/skill.schema.json");
    refuse_links(&context.settings.root, &schema)?;
    let json = serde_json::to_string_pretty(&aye_core::skill::schema());
    let json = json.map_err(|source| Error::Json { what: "the schema", source })?;
    let made_schema = write_new(&schema, &(json + "\n"))?;
    if context.json {
        let shown = |path: &PathBuf| relative_to(path, &context.directory);
        let made = made.then(|| shown(&settings)).into_iter().chain([shown(&skill)]);
        let made: Vec<_> = made.chain(made_schema.then(|| shown(&schema))).collect();
        print_json(&serde_json::json!({ "skill": args.name, "made": made }))?;
        return Ok(0);
    }
    text.push_str(&note(made, &settings));
    text.push_str(&note(true, &skill));
    text.push_str(&note(made_schema, &schema));
    text.push_str(&format!("\nRun it:  aye run {}\n", args.name));
    print(&text)?;
    Ok(0)
}

/// Writes a file unless it is there; says whether it did.
fn write_new(path: &PathBuf, text: &str) -> Result<bool, Error> {
    let failed = Error::file("write", path);
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).map_err(failed)?;
    }
    match std::fs::File::create_new(path) {
        Ok(mut file) => file.write_all(text.as_bytes()).map(|()| true).map_err(failed),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed(error)),
    }
}
