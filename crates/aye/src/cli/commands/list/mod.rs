//! `aye list`.
//!
//! Lists the skills of a project, or shows one whole (`one`). Touches files, for reading, through
//! the runtime. The list goes to standard output.

mod one;

use std::io::IsTerminal as _;

use aye_core::diagnostic::Diagnostic;
use aye_core::flow::Flow;
use aye_core::skill::{InputSpec, InputType};
use clap::Args;
use serde::Serialize;
use serde_json::Value;

use crate::cli::Context;
use crate::paint::{Glyph, Tone, escape_control_line, plural, shell_word};
use crate::term;
use aye_runtime::error::Error;
use aye_runtime::skills::{SkillFile, relative_to, skill_name};

use super::output::{print, print_json, warn_about};

// Options of `aye list`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  aye list\n  aye list release      its inputs, steps and questions\n  aye list --json\n\n\
    Skills are looked for in `.aye/skills` and `skills` next to `aye.toml`, or where\n\
    `skills = [\"…\"]` in `aye.toml` says."
)]
pub struct ListArgs {
    /// Show one skill in full: its inputs, steps and questions
    #[arg(value_name = "SKILL")]
    pub skill: Option<String>,
}

/// A skill, for programs.
#[derive(Debug, Serialize)]
struct Listed {
    name: String,
    description: Option<String>,
    file: String,
    inputs: Vec<ListedInput>,
    steps: usize,
    errors: usize,
}

#[derive(Debug, Serialize)]
struct ListedInput {
    name: String,
    r#type: InputType,
    required: bool,
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<Value>,
    #[serde(rename = "enum", skip_serializing_if = "Vec::is_empty")]
    choices: Vec<Value>,
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pattern: Option<String>,
}

impl Listed {
    fn of(flow: &Flow, file: &str, errors: usize) -> Self {
        let name = skill_name(flow);
        Self {
            name: name.to_owned(),
            // Without one, the name stands in for it.
            description: flow.skill.description.clone().filter(|about| about != name),
            file: file.to_owned(),
            inputs: flow.skill.inputs.iter().map(ListedInput::of).collect(),
            steps: flow.nodes.len(),
            errors,
        }
    }
}

impl ListedInput {
    fn of(input: &InputSpec) -> Self {
        Self {
            name: input.name.value.clone(),
            r#type: input.kind,
            required: input.has_to_be_given(),
            description: input.description.clone(),
            default: input.default.clone().filter(|_| input.kind != InputType::Secret),
            choices: input.choices.clone(),
            pattern: input.pattern.as_ref().map(|pattern| pattern.value.clone()),
        }
    }
}

pub(super) fn run(args: &ListArgs, context: &Context) -> Result<u8, Error> {
    if let Some(skill) = &args.skill {
        return one::run(skill, context);
    }
    let mut listed = Vec::new();
    let listing = context.library().listing();
    warn_about(&listing, context);
    for path in listing.files {
        let file = relative_to(&path, &context.directory).display().to_string();
        let Ok(read) = SkillFile::read(&path) else {
            listed.push(broken(&file, 1));
            continue;
        };
        let errors = read.diagnostics.iter().filter(|found| found.is_error()).count();
        let is_whole = |name: &str| read.flows.iter().any(|flow| skill_name(flow) == name);
        if errors > 0 && read.flows.is_empty() {
            listed.push(broken(&file, errors));
        } else {
            // Beside others that can be run.
            for skill in read.declared.iter().filter(|skill| !is_whole(skill)) {
                let own = |found: &&Diagnostic| found.is_error() && skill.span.holds(found.span());
                let errors = read.diagnostics.iter().filter(own).count();
                let one = Listed { name: skill.value.clone(), ..broken(&file, errors) };
                listed.extend((errors > 0).then_some(one));
            }
        }
        listed.extend(read.flows.iter().map(|flow| Listed::of(flow, &file, errors)));
    }
    if context.json {
        print_json(&listed)?;
        return Ok(0);
    }
    if listed.is_empty() {
        return Err(Error::not_found(
            "there are no skills here",
            "`aye init` makes a first one; `skills = [\"…\"]` in `aye.toml` says where to look",
        ));
    }
    print(&render(&listed, context))?;
    Ok(0)
}

fn broken(file: &str, errors: usize) -> Listed {
    let name = file.rsplit('/').next().unwrap_or(file).to_owned();
    Listed { name, description: None, file: file.to_owned(), inputs: Vec::new(), steps: 0, errors }
}

fn render(listed: &[Listed], context: &Context) -> String {
    let paint = context.paint_out;
    let name = |skill: &Listed| escape_control_line(&skill.name);
    let widest = listed.iter().map(|skill| term::width(&name(skill))).max().unwrap_or(0).min(32);
    let columns = term::size().map_or(100, |(columns, _)| usize::from(columns));
    let fit = |text: &str, columns| match std::io::stdout().is_terminal() {
        true => paint.cut(text, columns),
        false => text.to_owned(),
    };
    let mut text = String::new();
    for skill in listed {
        let name = paint.text(Tone::Strong, &term::pad(&name(skill), widest));
        if skill.steps == 0 && skill.errors > 0 {
            let mark = paint.text(Tone::Bad, paint.glyph(Glyph::Failed));
            let file = escape_control_line(&shell_word(&skill.file));
            let note = format!("{}: aye check {file}", plural(skill.errors, "error"));
            text.push_str(&format!("{mark} {name}  {}\n", paint.text(Tone::Bad, &note)));
            continue;
        }
        let dots = paint.glyph(Glyph::Ellipsis);
        let wanted: Vec<String> = skill
            .inputs
            .iter()
            .filter(|input| input.required)
            .map(|input| format!("-i {}={dots}", escape_control_line(&input.name)))
            .collect();
        let about = skill.description.as_deref().map(str::trim).unwrap_or_default();
        let about = escape_control_line(about.lines().next().unwrap_or_default());
        let room = columns.saturating_sub(widest + 4);
        let about = fit(&about, room);
        let rest = room.saturating_sub(term::width(&about) + 2);
        let wanted = match rest > 8 || !std::io::stdout().is_terminal() {
            true => paint.text(Tone::Dim, &fit(&wanted.join(" "), rest)),
            false => String::new(),
        };
        let mark = paint.text(Tone::Mark, paint.glyph(Glyph::Running));
        text.push_str(format!("{mark} {name}  {about}  {wanted}").trim_end());
        text.push('\n');
    }
    text
}
