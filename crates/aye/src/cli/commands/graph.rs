//! `aye graph`.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::{Args, ValueEnum};

use crate::cli::{Context, say};
use crate::graph;
use crate::term;
use aye_runtime::error::Error;
use aye_runtime::invalid_skill::InvalidSkill;
use aye_runtime::usecases::SkillError;

use super::output::{print, print_json, write};

/// Programs that turn an SVG document on standard input into a PNG picture on
/// standard output; the first that is installed does it.
const CONVERTERS: [(&str, &[&str]); 3] = [
    ("rsvg-convert", &["--zoom", "2"]),
    ("resvg", &["--zoom", "2", "-", "-c"]),
    ("magick", &["-density", "192", "svg:-", "png:-"]),
];

// Options of `aye graph`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  aye graph release\n  \
    aye graph examples/deploy.yaml\n  aye graph release --format svg > release.svg\n  \
    aye graph release --format png --output release.png\n  \
    aye graph release --format mermaid")]
pub struct GraphArgs {
    /// A skill's name, a file, or FILE#NAME
    pub skill: String,
    /// How to draw it
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
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
    /// A picture made of pixels; needs `rsvg-convert`, `resvg` or `magick`
    Png,
}

pub(super) fn run(args: &GraphArgs, context: &Context) -> Result<u8, Error> {
    let flow = context.read_skill(&args.skill)?.into_flow().map_err(|error| match error {
        SkillError::Failed(error) => error,
        SkillError::Invalid(file) => {
            say(&context.mistakes(&file));
            let words = format!("`{}` cannot be drawn", file.path.display());
            Error::InvalidSkill(InvalidSkill::Said(words))
        }
    })?;
    if context.json {
        print_json(&graph::json(&flow))?;
        return Ok(0);
    }
    let paint = context.paint_out;
    let width = term::size().map_or(100, |(columns, _)| usize::from(columns));
    let picture = match args.format {
        Format::Text => {
            graph::text(&flow, width, paint.color && args.output.is_none(), paint.unicode)
        }
        Format::Mermaid => graph::mermaid(&flow),
        Format::Dot => graph::dot(&flow),
        Format::Svg | Format::Png => graph::svg(&flow),
    };
    if args.format == Format::Png {
        if args.output.is_none() && std::io::stdout().is_terminal() {
            let hint = "name a file with `--output FILE`, or redirect standard output";
            return Err(Error::usage("a PNG picture cannot be shown on a terminal", hint));
        }
        deliver(&to_png(&picture)?, args)?;
    } else if args.output.is_some() {
        deliver(picture.as_bytes(), args)?;
    } else {
        print(&picture)?;
    }
    Ok(0)
}

fn deliver(bytes: &[u8], args: &GraphArgs) -> Result<(), Error> {
    match &args.output {
        Some(path) => std::fs::write(path, bytes).map_err(Error::file("write", path)),
        None => write(bytes),
    }
}

fn to_png(svg: &str) -> Result<Vec<u8>, Error> {
    for (program, args) in CONVERTERS {
        let mut command = Command::new(program);
        aye_process::withhold(&mut command);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let Ok(mut child) = command.spawn() else { continue };
        if let Some(mut pipe) = child.stdin.take() {
            // A converter that ends early says why on standard error.
            let _ = pipe.write_all(svg.as_bytes());
        }
        let failed = |why: String| Error::Refused {
            message: format!("`{program}` cannot draw the picture: {why}"),
            hint: Some("`--format svg` needs no other program".to_owned()),
        };
        let done = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
        if !done.status.success() || done.stdout.is_empty() {
            return Err(failed(String::from_utf8_lossy(&done.stderr).trim().to_owned()));
        }
        return Ok(done.stdout);
    }
    let names = CONVERTERS.map(|(program, _)| format!("`{program}`")).join(", ");
    let hint = format!("install one of {names}, or use `--format svg`");
    Err(Error::not_found("no program that makes PNG pictures is installed", hint))
}
