//! `skill_list` and `skill_describe`.

use aye_core::skill::{Ask, InputSpec, InputType, Step};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::mcp::budget;
use crate::mcp::done::error_for_people;
use crate::mcp::report::ToolReply;
use crate::mcp::server_state::ServerState;
use crate::paint::escape_control_line;
use aye_runtime::error::Error;
use aye_runtime::skills::{skill_about, skill_name};
use aye_runtime::usecases::{FoundSkill, ListedSkill};

/// The longest file that is told, in characters.
const SOURCE: usize = 40_000;

pub(super) fn list(server: &ServerState) -> Result<ToolReply, Error> {
    let context = &server.runtime;
    let mut found = Vec::new();
    let mut lines = Vec::new();
    for ListedSkill { name, file, flow, errors } in context.list_skills().skills {
        let shown = file.display().to_string();
        let Some(flow) = flow.filter(|_| errors == 0) else {
            found.push(json!({ "skill": name, "file": shown, "broken": true,
                "description": "has errors: skill_describe shows them" }));
            let line = format!("- {name} ({shown}): has errors, see skill_describe");
            lines.push(escape_control_line(&line));
            continue;
        };
        let about = budget::line(skill_about(&flow).unwrap_or_default(), budget::VALUE);
        let needed = flow.skill.inputs.iter().filter(|input| input.has_to_be_given());
        let needed: Vec<&str> = needed.map(|input| input.name.value.as_str()).collect();
        let needed = match needed.len() {
            0 => "nothing".to_owned(),
            _ => needed.join(", "),
        };
        lines.push(escape_control_line(&format!("- {name}: {about} (needs: {needed})")));
        found.push(json!({
            "skill": name, "file": shown, "description": about,
            "inputs": flow.skill.inputs.iter().map(input).collect::<Vec<_>>(),
        }));
    }
    let text = match lines.len() {
        0 => "there are no skills here; the person can make a first one with `aye init`".to_owned(),
        _ => lines.join("\n"),
    };
    let mut data = json!({ "skills": found });
    let mut text = text;
    if let Err(untrusted) = context.must_be_trusted() {
        data["not_trusted"] = untrusted.to_string().into();
        text = format!("{}\n{text}", escape_control_line(&untrusted.to_string()));
    }
    Ok(ToolReply { data, text })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Describe {
    skill: String,
    #[serde(default)]
    source: bool,
}

pub(super) fn describe(server: &ServerState, args: &Describe) -> Result<ToolReply, Error> {
    let context = &server.runtime;
    let FoundSkill { file, name } = context.read_skill(&args.skill)?;
    let path = file.path.clone();
    if file.has_errors() {
        let name = name.unwrap_or_else(|| args.skill.clone());
        let errors = budget::text(&error_for_people(&file.render(false)), 3 * budget::WHOLE);
        let text = format!(
            "{} cannot run, because {} has errors:\n{}",
            escape_control_line(&name),
            escape_control_line(&path.display().to_string()),
            budget::quoted(&errors)
        );
        let mut data = json!({
            "skill": name, "file": path.display().to_string(), "broken": true, "errors": errors,
            "inputs": [], "steps": [],
        });
        let text = with_source(args, &file.text, &mut data, text);
        return Ok(ToolReply { data, text });
    }
    let whole = file.text.clone();
    let (flow, _) = file.into_flow(name.as_deref())?;
    let about = skill_about(&flow).unwrap_or_default();
    let mut data = json!({
        "skill": skill_name(&flow),
        "description": budget::text(about, 5 * budget::VALUE),
        "file": path.display().to_string(),
        "inputs": flow.skill.inputs.iter().map(input).collect::<Vec<_>>(),
        "steps": flow.nodes.iter().map(|node| step(&node.step)).collect::<Vec<_>>(),
        "outputs": flow.skill.outputs.iter().map(|out| out.name.value.clone()).collect::<Vec<_>>(),
    });
    let mut lines =
        vec![budget::line(&format!("{}: {about}", skill_name(&flow)), 5 * budget::VALUE)];
    lines.extend(flow.skill.inputs.iter().map(|spec| format!("input {}", input(spec))));
    lines.extend(flow.nodes.iter().map(|node| format!("step {}", step(&node.step))));
    let outputs: Vec<&str> =
        flow.skill.outputs.iter().map(|output| output.name.value.as_str()).collect();
    if !outputs.is_empty() {
        // Before the steps: those may be cut.
        lines.insert(1, format!("outputs: {}", escape_control_line(&outputs.join(", "))));
    }
    let text = budget::text(&lines.join("\n"), 4 * budget::WHOLE);
    let text = with_source(args, &whole, &mut data, text);
    Ok(ToolReply { data, text })
}

/// Adds the file itself, if it was asked for.
fn with_source(args: &Describe, source: &str, data: &mut Value, text: String) -> String {
    if !args.source {
        return text;
    }
    let source = budget::text(source, SOURCE);
    let text = format!("{text}\nsource:\n{}", budget::quoted(&source));
    data["source"] = source.into();
    text
}

fn input(spec: &InputSpec) -> Value {
    let mut shown =
        json!({ "name": spec.name.value, "type": spec.kind, "required": spec.has_to_be_given() });
    if let Some(about) = &spec.description {
        shown["description"] = budget::text(about, budget::VALUE).into();
    }
    if let Some(default) = spec.default.as_ref().filter(|_| spec.kind != InputType::Secret) {
        shown["default"] = budget::value(default);
    }
    if !spec.choices.is_empty() {
        shown["enum"] = spec.choices.iter().map(budget::value).collect();
    }
    if let Some(pattern) = &spec.pattern {
        shown["match"] = pattern.value.as_str().into();
    }
    shown
}

fn step(step: &Step) -> Value {
    let mut shown = json!({ "step": step.name.value, "kind": step.action.kind() });
    if let Some(about) = &step.description {
        shown["description"] = budget::text(about, budget::VALUE).into();
    }
    if let Some(condition) = &step.condition {
        shown["condition"] = budget::text(&condition.value, budget::VALUE).into();
    }
    if step.destructive {
        shown["destructive"] = true.into();
    }
    if step.interactive {
        shown["interactive"] = true.into();
    }
    if let Some(ask) = step.question() {
        shown["asks"] = question(ask);
    }
    shown
}

fn question(ask: &Ask) -> Value {
    let mut shown = json!({
        "message": budget::text(&ask.message.value, budget::VALUE),
        "options": ask.options.iter().map(|option| option.value.as_str()).collect::<Vec<_>>(),
        "by": ask.by,
    });
    if ask.typed.is_some() {
        shown["type_to_confirm"] = true.into();
    }
    if ask.reauth {
        shown["reauth"] = true.into();
    }
    if ask.approvals > 1 {
        shown["approvals"] = ask.approvals.into();
    }
    if ask.ai_assist {
        shown["ai_assist"] = true.into();
    }
    shown
}
