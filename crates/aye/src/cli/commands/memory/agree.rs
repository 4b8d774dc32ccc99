//! `aye memory agree`.

use serde_json::Value;

use crate::cli::Context;
use crate::cli::commands::confirm::{Default, consent, must_have_person};
use crate::cli::commands::output::{print, print_json, print_line};
use crate::paint::{Paint, Tone, escape_control, escape_control_line, plural, shell_word};
use aye_runtime::error::Error;
use aye_runtime::memory::{
    Act, Fix, Memory, OriginKind, Placed, Proposal, Standing, fix_json, proposal_json,
};

pub(super) fn run(name: &str, yes: bool, memory: &Memory, context: &Context) -> Result<u8, Error> {
    context.require_person("agree to a fix")?;
    let id = memory.find_id(name)?;
    // A short name may be someone else's by the time a script runs.
    if yes && id != name {
        return Err(Error::usage(
            "`--yes` needs the full id, so that what is agreed to is what was reviewed",
            format!("`aye memory show {} --json` shows it", shell_word(name)),
        ));
    }
    if let Some(proposal) = memory.find_proposal(&id) {
        return proposed(&proposal, yes, memory, context);
    }
    let fix = memory.find_fix(&id)?;
    let id = memory.short_id(&fix.value.id);
    match fix.value.standing() {
        Standing::Proposed | Standing::Suspended => {}
        Standing::Active => return done(&fix, &format!("{id} is used already"), context),
        Standing::Prose => {
            return Err(Error::Refused {
                message: format!("`{id}` is only text: there is nothing to agree to"),
                hint: Some(format!("`aye memory show {id}` shows it")),
            });
        }
    }
    let obstacles = context.fix_obstacles(fix.value.matches.tool.as_deref(), &fix.value.change);
    if yes {
        if !context.json {
            print(&describe(&fix, &obstacles, context.paint_out))?;
        }
    } else if let Some(code) = refused(&fix, &obstacles, &id, context)? {
        return Ok(code);
    }
    memory.agree_to_fix(&fix, &context.driver().user, context.now())?;
    let fix = memory.find_fix(&fix.value.id)?;
    // Words are never carried out.
    let done_with = if fix.value.change.is_empty() { "shown" } else { "used" };
    let said = match obstacles.first() {
        None => format!("{id} is {done_with} from now on"),
        Some(why) => {
            let why = escape_control_line(why);
            format!("{id} is agreed to, but is not used as long as this holds: {why}")
        }
    };
    done(&fix, &said, context)
}

/// Agrees to what a skill wrote where Aye keeps its own.
fn proposed(
    placed: &Placed<Proposal>,
    yes: bool,
    memory: &Memory,
    context: &Context,
) -> Result<u8, Error> {
    let proposal = &placed.value;
    memory.may_agree_to(proposal)?;
    let from = &proposal.from;
    let run = from.run.as_deref().unwrap_or_default();
    let shown = format!(
        "{}\n  from      the skill {} in run {}\n  agreeing  {}\n",
        proposal.id,
        escape_control_line(&from.by),
        escape_control_line(run),
        escape_control_line(&proposal.what.summary()),
    );
    if yes {
        if !context.json {
            print(&shown)?;
        }
    } else {
        person_there(&proposal.id, context)?;
        crate::cli::say(&shown);
        if let Some(code) = consent("Accept it?", Default::No, context)?.refusal(5) {
            return Ok(code);
        }
    }
    let said = memory.agree_to_proposal(proposal, &str::to_owned)?;
    match context.json {
        true => print_json(&proposal_json(placed))?,
        false => print_line(&escape_control_line(&said))?,
    }
    Ok(0)
}

fn done(fix: &Placed<Fix>, said: &str, context: &Context) -> Result<u8, Error> {
    match context.json {
        true => print_json(&fix_json(fix))?,
        false => print_line(said)?,
    }
    Ok(0)
}

/// Shows the fix and asks; the exit code unless the answer is yes.
fn refused(
    fix: &Placed<Fix>,
    obstacles: &[String],
    id: &str,
    context: &Context,
) -> Result<Option<u8>, Error> {
    person_there(id, context)?;
    crate::cli::say(&describe(fix, obstacles, context.paint_err));
    let question = match fix.value.change.is_empty() {
        true => "Show this when the error happens again?",
        false => "Do this automatically when the error happens again?",
    };
    Ok(consent(question, Default::No, context)?.refusal(5))
}

/// An error where nobody can be asked.
fn person_there(id: &str, context: &Context) -> Result<(), Error> {
    let message = format!("nobody has agreed to `{id}` yet, and nobody can be asked");
    let hint = format!(
        "run `aye memory agree {id}` on a terminal; a script gives the full id and `--yes`"
    );
    must_have_person(&message, &hint, context)
}

/// Everything that decides what is done, each value on a line of its own.
fn describe(placed: &Placed<Fix>, obstacles: &[String], paint: Paint) -> String {
    let fix = &placed.value;
    let mut text = format!("{}\n", paint.text(Tone::Strong, &fix.id));
    let mut line = |name: &str, value: &str| {
        let name = paint.text(Tone::Dim, &format!("{name:9}"));
        text.push_str(&format!("  {name} {}\n", escape_control(value)));
    };
    let kind = match fix.from.kind {
        OriginKind::Person => "a person",
        OriginKind::Assistant => "an assistant",
        OriginKind::Skill => "a skill",
    };
    line("from", &format!("{}, says it is {kind}", escape_control_line(&fix.from.by)));
    line("in", &format!("{}:{}", placed.file.display(), placed.line));
    if let Some(about) = &fix.about {
        line("says", &escape_control_line(about));
    }
    let matches = &fix.matches;
    let named = [("tool", &matches.tool), ("step", &matches.step), ("skill", &matches.skill)];
    let named = named.iter().filter_map(|(word, name)| Some(format!("{word} {}", name.as_ref()?)));
    line("when", &format!("{} fails", named.collect::<Vec<_>>().join(", ")));
    line("error", &matches.error);
    for (name, value) in &matches.args {
        line("only if", &format!("{name} is {value}"));
    }
    for (name, value) in &fix.change.args {
        line("gives it", &format!("{name} = {value}"));
    }
    for (word, act) in [("first", &fix.change.first), ("instead", &fix.change.replace)] {
        let Some(act) = act else { continue };
        line(word, &done_by(act));
        for (name, value) in &act.with {
            line("", &format!("with {name} = {value}"));
        }
    }
    let uses = usize::try_from(fix.max_uses).unwrap_or(usize::MAX);
    line("at most", &format!("{} in a run", plural(uses, "time")));
    let project = fix.project.as_deref();
    line(
        "where",
        project.unwrap_or(match placed.layer {
            aye_runtime::memory::Layer::Project => "in this project",
            aye_runtime::memory::Layer::User => "in every project",
        }),
    );
    for (place, other) in fix.unknown() {
        line("unknown", &format!("{place}: {}", Value::Object(other.clone())));
    }
    for why in obstacles {
        line("not used", why);
    }
    text
}

fn done_by(act: &Act) -> String {
    let words = || act.command.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ");
    match (&act.tool, &act.skill) {
        (Some(tool), _) => format!("tool {tool}"),
        (None, Some(skill)) => format!("skill {skill}"),
        (None, None) => words(),
    }
}
