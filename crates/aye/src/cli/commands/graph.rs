//! `aye graph`.

use clap::{Args, ValueEnum};

use crate::cli::{Context, say};
use crate::graph;
use crate::term;
use aye_runtime::error::Error;
use aye_runtime::skills::SkillFile;

use super::output::{print, print_json};

// Options of `aye graph`.
#[derive(Debug, Args)]
#[command(mut_args = crate::cli::with_env_override, after_help = "Examples:\n  aye graph release\n  \
    aye graph examples/deploy.yaml\n  aye graph release --format svg > release.svg\n  \
    aye graph release --format mermaid")]
pub struct GraphArgs {
    /// A skill's name, a file, or FILE#NAME
    pub skill: String,
    /// How to draw it
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
}

/// The ways to draw a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For this terminal
    Text,
    /// For Markdown pages
    Mermaid,
    /// For Graphviz
    Dot,
    /// A picture
    Svg,
}

pub(super) fn run(args: &GraphArgs, context: &Context) -> Result<u8, Error> {
    let (path, name) = context.library().find(&args.skill)?;
    let file = SkillFile::read(&context.directory.join(&path))?;
    let file = SkillFile { path: path.clone(), ..file }.marked(&context.settings.tools);
    if file.flows.is_empty() {
        say(&file.render(context.paint_err.color));
        return Err(Error::InvalidSkill(format!("`{}` cannot be drawn", path.display())));
    }
    let (flow, _) = file.into_flow(name.as_deref())?;
    if context.json {
        print_json(&graph::json(&flow))?;
        return Ok(0);
    }
    let paint = context.paint_out;
    let width = term::size().map_or(100, |(columns, _)| usize::from(columns));
    print(&match args.format {
        Format::Text => graph::text(&flow, width, paint.color, paint.unicode),
        Format::Mermaid => graph::mermaid(&flow),
        Format::Dot => graph::dot(&flow),
        Format::Svg => graph::svg(&flow),
    })?;
    Ok(0)
}
