//! `aye memory check`.

use std::io::Read as _;

use serde_json::json;

use crate::cli::Context;
use crate::cli::commands::output::{print, print_json};
use aye_core::heal::Category;
use aye_runtime::error::Error;

use crate::paint::{Tone, escape_control_line};
use aye_runtime::memory::{Memory, Query, fix_json, issue_json, mistake, usage_json};

use super::CheckArgs;
use super::list::{fix_line, issue_line, usage_line};

/// More of an error than this says no more.
const MOST: u64 = 1024 * 1024;

pub(super) fn run(args: &CheckArgs, memory: &Memory, context: &Context) -> Result<u8, Error> {
    let error = text(args)?;
    let query = Query {
        tool: args.tool.as_deref().unwrap_or_default(),
        skill: args.skill.as_deref(),
        step: args.step.as_deref(),
        error: &error,
        args: None,
    };
    let now = context.now();
    let issues = memory.known_issues(&query);
    let fixes = memory.fixes_wherever(&query);
    let mut misses = memory.near_misses(&query);
    misses.retain(|miss| !fixes.iter().any(|fix| fix.value.id == miss.fix.value.id));
    let usage = memory.usage_wherever(&query);
    let category = Category::of(&error);
    let mistake = mistake(&error);
    let nothing = issues.is_empty() && fixes.is_empty() && usage.is_empty();
    if context.json {
        let with_rank = |(rank, issue): &(aye_runtime::memory::Rank, _)| {
            let mut shown = issue_json(issue);
            shown["rank"] = json!(rank);
            shown
        };
        print_json(&json!({
            "category": category, "mistake": mistake,
            "issues": issues.iter().map(with_rank).collect::<Vec<_>>(),
            "fixes": fixes.iter().map(fix_json).collect::<Vec<_>>(),
            "usage": usage.iter().map(|one| usage_json(one, now)).collect::<Vec<_>>(),
            "near_misses": misses
                .iter()
                .map(|miss| json!({ "id": miss.fix.value.id, "why": miss.why }))
                .collect::<Vec<_>>(),
        }))?;
        return Ok(u8::from(nothing));
    }
    let paint = context.paint_out;
    let mut shown = String::new();
    if let Some(category) = category {
        shown.push_str(&format!("kind of error: {}\n", category.word()));
    }
    if let Some(mistake) = mistake {
        shown.push_str(&format!("probably {}\n", mistake.because()));
    }
    let mut section = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
            shown.push_str(&format!("{}\n{lines}", paint.text(Tone::Strong, title)));
        }
    };
    let issue = |(_, issue): &(_, aye_runtime::memory::Placed<aye_runtime::memory::Issue>)| {
        let mut lines = vec![issue_line(&issue.value, paint)];
        if let Some(meaning) = issue.value.meaning.as_ref().filter(|_| issue.value.fix.is_some()) {
            lines.push(format!("  {}", escape_control_line(meaning)));
        }
        lines.extend(issue.value.commands.iter().map(|command| {
            format!("  {} {}", paint.text(Tone::Dim, "try:"), escape_control_line(command))
        }));
        lines
    };
    section("known issues (written by people)", issues.iter().flat_map(issue).collect());
    // Where one counts is a part of what is known: the query may name no place.
    let line = |fix: &aye_runtime::memory::Placed<aye_runtime::memory::Fix>| {
        let matches = &fix.value.matches;
        let named = [("step", &matches.step), ("skill", &matches.skill)];
        let only = named.iter().filter_map(|(word, name)| {
            Some(format!("only in the {word} {}", escape_control_line(name.as_ref()?)))
        });
        let mut lines = vec![fix_line(&fix.value, memory, paint)];
        lines.extend(only.map(|only| format!("  {}", paint.text(Tone::Dim, &only))));
        lines
    };
    let lines = fixes.iter().flat_map(line).collect();
    section("fixes (learned)", lines);
    let miss = |miss: &aye_runtime::memory::NearMiss| {
        let why = format!("  not used: {}", escape_control_line(&miss.why));
        [fix_line(&miss.fix.value, memory, paint), paint.text(Tone::Dim, &why)]
    };
    section("fixes for something like this", misses.iter().flat_map(miss).collect());
    let pattern = |one: &aye_runtime::memory::Placed<aye_runtime::memory::UsagePattern>| {
        let prevent = one.value.prevention.as_ref().map(|how| {
            let how = format!("to prevent it, {}", escape_control_line(how));
            format!("  {}", paint.text(Tone::Dim, &how))
        });
        std::iter::once(usage_line(&one.value, now, paint)).chain(prevent)
    };
    let lines = usage.iter().flat_map(pattern).collect();
    section("patterns of use (learned)", lines);
    if nothing {
        let it = if misses.is_empty() { "it" } else { "exactly this" };
        let learn = "add it with `aye memory learn`";
        shown.push_str(&format!("memory knows nothing about {it}; {learn}\n"));
    }
    print(&shown)?;
    Ok(u8::from(nothing))
}

fn text(args: &CheckArgs) -> Result<String, Error> {
    if args.error != "-" {
        return Ok(args.error.clone());
    }
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MOST).read_to_end(&mut bytes);
    read.map_err(Error::Input)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
