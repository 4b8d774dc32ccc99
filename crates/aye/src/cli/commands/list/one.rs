//! `aye list SKILL`: what a skill wants, does and asks.

use aye_core::flow::Flow;
use aye_core::skill::{InputSpec, InputType, Step};
use aye_core::step_kind::StepKind;
use serde::Serialize;
use serde_json::Value;

use crate::cli::Context;
use crate::cli::commands::output::{print, print_json};
use crate::cli::commands::run::check_skill;
use crate::paint::{
    Glyph, Paint, Tone, escape_control_line, escape_control_lines, plural, shell_word,
};
use crate::term;
use aye_runtime::error::Error;
use aye_runtime::skills::{skill_about, skill_name};
use aye_runtime::usecases::CheckedSkill;

use super::Listed;

/// The whole skill, for programs.
#[derive(Debug, Serialize)]
struct Whole {
    #[serde(flatten)]
    listed: Listed,
    plan: Vec<Part>,
    outputs: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Part {
    step: String,
    kind: StepKind,
    description: Option<String>,
    condition: Option<String>,
    message: Option<String>,
    destructive: bool,
}

pub(super) fn run(wanted: &str, context: &Context) -> Result<u8, Error> {
    let CheckedSkill { path, flow, .. } = check_skill(wanted, context)?;
    let file = path.display().to_string();
    let plan: Vec<Part> = flow.nodes.iter().map(|node| part(&node.step)).collect();
    if context.json {
        let outputs = flow.skill.outputs.iter().map(|output| output.name.value.clone()).collect();
        print_json(&Whole { listed: Listed::of(&flow, &file, 0), plan, outputs })?;
        return Ok(0);
    }
    print(&render(&flow, &file, wanted, &plan, context.paint_out))?;
    Ok(0)
}

fn part(step: &Step) -> Part {
    Part {
        step: step.name.value.clone(),
        kind: step.action.kind(),
        description: step.description.clone(),
        condition: step.condition.as_ref().map(|condition| condition.trim().to_owned()),
        message: step.question().map(|ask| ask.message.value.clone()),
        destructive: step.destructive,
    }
}

fn render(flow: &Flow, file: &str, wanted: &str, plan: &[Part], paint: Paint) -> String {
    let dim = |text: &str| paint.text(Tone::Dim, text);
    let name = paint.text(Tone::Strong, &escape_control_line(skill_name(flow)));
    let mut lines = vec![format!("{name}  {}", dim(&escape_control_line(file)))];
    let about = skill_about(flow);
    lines.extend(about.into_iter().flat_map(|about| about.trim().lines()).map(|line| {
        let line = format!("  {}", escape_control_lines(line));
        line.trim_end().to_owned()
    }));

    let inputs = &flow.skill.inputs;
    if !inputs.is_empty() {
        lines.extend([String::new(), dim("inputs")]);
    }
    let widest = inputs.iter().map(|input| term::width(&input.name)).max().unwrap_or(0);
    for input in inputs {
        let name = paint.text(Tone::Strong, &term::pad(&input.name, widest));
        let about = input.description.as_deref().map(escape_control_line).unwrap_or_default();
        let line = format!("  {name}  {}  {about}", dim(&escape_control_line(&what(input))));
        lines.push(line.trim_end().to_owned());
    }

    lines.extend([String::new(), dim(&plural(plan.len(), "step"))]);
    for (number, part) in plan.iter().enumerate() {
        let name = paint.text(Tone::Strong, &part.step);
        let gate =
            if part.destructive { paint.text(Tone::Bad, " destructive") } else { String::new() };
        let about = part.description.as_deref().map(escape_control_line).unwrap_or_default();
        let line = format!("{:3}. {name}  {}{gate}  {about}", number + 1, dim(part.kind.as_str()));
        lines.push(line.trim_end().to_owned());
        let mark = paint.text(Tone::Ask, paint.glyph(Glyph::Asking));
        let first =
            |text: &str| escape_control_line(text.trim().lines().next().unwrap_or_default());
        lines.extend(part.condition.as_deref().map(|c| format!("     {} {}", dim("if"), first(c))));
        lines.extend(part.message.as_deref().map(|q| format!("     {mark} {}", first(q))));
    }

    let needed = inputs.iter().filter(|input| input.has_to_be_given());
    let dots = paint.glyph(Glyph::Ellipsis);
    let needed: String = needed.map(|input| format!(" -i {}={dots}", input.name.value)).collect();
    let line = format!("aye run {}{needed}", shell_word(wanted));
    lines.extend([String::new(), escape_control_line(&line), String::new()]);
    lines.join("\n")
}

/// What an input has to be, in a few words.
fn what(input: &InputSpec) -> String {
    let kind = serde_json::to_value(input.kind).unwrap_or_default();
    let choices: Vec<String> = input.choices.iter().map(shown).collect();
    let mut words = vec![match choices.is_empty() {
        true => kind.as_str().unwrap_or_default().to_owned(),
        false => choices.join(" | "),
    }];
    words.extend(input.pattern.as_ref().map(|pattern| format!("like {}", pattern.value)));
    match &input.default {
        Some(_) if input.kind == InputType::Secret => words.push("has a default".to_owned()),
        Some(default) => words.push(format!("default {}", shown(default))),
        None if input.from.is_some() => {
            words.extend(input.from.as_ref().map(|from| format!("from {from}")));
        }
        None if input.required => words.push("required".to_owned()),
        None => {}
    }
    words.join(", ")
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() => text.clone(),
        other => other.to_string(),
    }
}
