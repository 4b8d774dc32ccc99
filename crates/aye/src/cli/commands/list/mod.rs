//! `aye list`.
//!
//! Lists the skills of a project, or shows one whole (`one`). Touches files, for reading, through
//! the runtime. The list goes to standard output.

mod one;

use std::io::IsTerminal as _;

use aye_core::flow::Flow;
use aye_core::skill::{InputSpec, InputType};
use clap::Args;
use serde::Serialize;
use serde_json::Value;

use crate::cli::Context;
use crate::paint::{Glyph, Tone, escape_control_line, plural, shell_word};
use crate::term;
use aye_runtime::error::Error;
use aye_runtime::skills::{skill_about, skill_name};
use aye_runtime::usecases::ListedSkill;

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
            description: skill_about(flow).map(str::to_owned),
            file: file.to_owned(),
            inputs: flow.skill.inputs.iter().map(ListedInput::of).collect(),
            steps: flow.nodes.len(),
            errors,
        }
    }
}

impl From<ListedSkill> for Listed {
    fn from(skill: ListedSkill) -> Self {
        let ListedSkill { name, file, flow, errors } = skill;
        let file = file.display().to_string();
        match flow {
            Some(flow) => Self::of(&flow, &file, errors),
            None => Self { name, description: None, file, inputs: Vec::new(), steps: 0, errors },
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
    let found = context.list_skills();
    warn_about(&found.listing, context);
    let listed: Vec<Listed> = found.skills.into_iter().map(Listed::from).collect();
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
        if skill.errors > 0 {
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
