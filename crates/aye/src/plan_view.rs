//! What a dry run found, as text.

use std::fmt::Write as _;

use aye_runtime::dry_run::{Plan, PlannedStep};

use crate::paint::{Glyph, Paint, Tone, escape_control_line, plural};

/// A plan as text.
pub fn plan_view(plan: &Plan, paint: Paint) -> String {
    let mut text = String::new();
    let dim = |text: &str| paint.text(Tone::Dim, text);
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{}  {}",
        paint.text(Tone::Strong, &plan.skill),
        dim("dry run: nothing is run, nobody is asked")
    );
    for (name, value) in &plan.inputs {
        let _ = writeln!(
            text,
            "  {} {}",
            dim(&format!("{name} =")),
            escape_control_line(&value.to_string())
        );
    }
    if let Some(name) = &plan.concurrency {
        let name = escape_control_line(name);
        let holder = match &plan.waits_for {
            Some(run) => format!("run {run} holds it: this one would wait"),
            None => "one run at a time can hold this name".to_owned(),
        };
        let _ = writeln!(text, "  {} {name}  {}", dim("concurrency:"), dim(&holder));
    }
    if let Some(limit) = &plan.timeout {
        let _ = writeln!(text, "  {}", dim(&format!("at most {limit} for the whole run")));
    }
    for (number, step) in plan.steps.iter().enumerate() {
        planned_step(&numbered(number + 1), step, paint, &mut text);
    }
    if let Some(end) = &plan.end {
        let _ = writeln!(text, "     {} {end}", dim("ends in"));
    }
    let is_end = |shown: &&String| {
        plan.end.as_ref().is_some_and(|end| shown.starts_with(&format!("{end} (")))
    };
    let others: Vec<&str> =
        plan.ends.iter().filter(|shown| !is_end(shown)).map(String::as_str).collect();
    if !others.is_empty() {
        let others = escape_control_line(&others.join(", "));
        let _ = writeln!(text, "     {} {others}", dim("other ends:"));
    }
    if !plan.elsewhere.is_empty() {
        let _ = writeln!(text, "  {}", dim("after a failure or another answer:"));
    }
    for step in &plan.elsewhere {
        planned_step("   - ", step, paint, &mut text);
    }
    if !plan.finally.is_empty() {
        let within = plan.cleanup.iter().map(|limit| format!(" (at most {limit} in all)"));
        let heading = format!("finally, however it ends{}:", within.collect::<String>());
        let _ = writeln!(text, "  {}", dim(&heading));
    }
    for (number, step) in plan.finally.iter().enumerate() {
        planned_step(&numbered(plan.steps.len() + number + 1), step, paint, &mut text);
    }
    let mut counts = vec![plural(plan.steps.len() + plan.finally.len(), "step")];
    let mut inside: Vec<String> = Vec::new();
    let certain = || plan.steps.iter().chain(&plan.finally).filter(|step| !step.is_left_out());
    inside.extend(certain().filter_map(|step| step.asks_inside.as_ref()).map(asked_inside));
    if !plan.may_ask.is_empty() {
        inside.push(format!("further questions if it comes to `{}`", plan.may_ask.join("`, `")));
    }
    // Nobody is asked about a step of `finally`.
    let failing: Vec<&str> = (plan.steps.iter().chain(&plan.elsewhere))
        .filter(|step| step.asks_on_failure() && !step.is_left_out())
        .map(|step| step.step.as_str())
        .collect();
    if !failing.is_empty() {
        inside.push(format!("a question if `{}` fails", failing.join("` or `")));
    }
    match plan.questions {
        0 if inside.is_empty() => counts.push("no questions".to_owned()),
        0 => {}
        some => counts.push(plural(some, "question")),
    }
    counts.extend(inside);
    let _ = writeln!(text, "{}", dim(&escape_control_line(&counts.join(", "))));
    for warning in &plan.warnings {
        let _ = writeln!(
            text,
            "{} {}",
            paint.text(Tone::Warn, "warning:"),
            escape_control_line(warning)
        );
    }
    text
}

fn numbered(number: usize) -> String {
    format!("{number:3}. ")
}

fn asked_inside(from: &String) -> String {
    format!("questions {from}")
}

/// One step of a plan.
fn planned_step(label: &str, step: &PlannedStep, paint: Paint, text: &mut String) {
    let dim = |text: &str| paint.text(Tone::Dim, text);
    let gate = if step.destructive { paint.text(Tone::Bad, " destructive") } else { String::new() };
    let limit = match &step.timeout {
        Some(limit) => {
            let why = match (step.capped, step.default_timeout) {
                (true, _) => " (`max_step_timeout`)",
                (false, true) => " (default)",
                (false, false) => "",
            };
            dim(&format!(" at most {limit}{why}"))
        }
        None => String::new(),
    };
    let name = paint.text(Tone::Strong, &step.step);
    let _ = writeln!(text, "{label}{name}{gate}{limit}");
    if let Some(condition) = &step.condition {
        let known = match step.holds {
            Some(true) => " (holds)",
            Some(false) => " (does not hold: would be skipped)",
            None => "",
        };
        let _ = writeln!(text, "     {} {}{known}", dim("if"), escape_control_line(condition));
    }
    let parts = [(Glyph::Asking, &step.message), (Glyph::Running, &step.command)];
    for (glyph, part) in parts {
        if let (Glyph::Running, Some(_)) = (glyph, &step.message) {
            let waits = match (&step.answer_within, &step.on_expiry) {
                (Some(within), Some(then)) => format!("within {within}, then {then}"),
                _ => "no time limit".to_owned(),
            };
            for rule in std::iter::once(&waits).chain(&step.rules) {
                let _ = writeln!(text, "       {}", dim(&escape_control_line(rule)));
            }
        }
        let tone = if glyph == Glyph::Asking { Tone::Ask } else { Tone::Mark };
        let mut mark = paint.text(tone, paint.glyph(glyph));
        for line in part.iter().flat_map(|part| part.trim_end().lines()) {
            let line = format!("     {mark} {}", escape_control_line(line));
            let _ = writeln!(text, "{}", line.trim_end());
            " ".clone_into(&mut mark);
        }
    }
    let mut inside = String::new();
    step.inside.iter().for_each(|step| planned_step("  ", step, paint, &mut inside));
    for line in inside.lines() {
        let _ = writeln!(text, "     {line}");
    }
    if let Some(retry) = &step.retry {
        let _ = writeln!(text, "     {}", dim(&escape_control_line(retry)));
    }
    if !step.otherwise.is_empty() {
        let otherwise = escape_control_line(&step.otherwise.join(", "));
        let _ = writeln!(text, "     {}", dim(&otherwise));
    }
}
