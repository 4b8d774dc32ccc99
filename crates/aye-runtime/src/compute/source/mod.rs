//! The code of a block, made ready for the engine.
//!
//! The engine reads plain Python. People write a little more than that:
//! `inputs.commit` on a mapping, `dir()`, `re` without an import. [`read`]
//! finds what a block uses ([`mod@analyze`]) and changes just those places
//! ([`rewrite`]), line by line as they were; [`prelude`] gives the rest
//! (`helpers/` has the Python functions that the changed places call).
//!
//! Touches nothing. The prepared code goes to a worker.

mod analyze;
mod comparisons;
mod modules;
mod prelude;
mod rewrite;

use std::collections::BTreeMap;

use ruff_python_ast::{Mod, Stmt};
use ruff_python_parser::{Mode, ParseOptions, Parsed, parse_unchecked};
use ruff_text_size::Ranged;

pub(super) use analyze::Analysis;
pub(super) use comparisons::number_comparisons;
pub(super) use modules::missing_module;
pub(super) use prelude::{provided, provides};
pub(super) use rewrite::METHODS;
use rewrite::Rewritten;

/// Longer blocks belong into a file of their own.
const CODE: usize = 256 << 10;
/// Deeper code than this nobody reads.
const DEPTH: u16 = 200;
/// Called when the code is through: what is looked up then is its result.
pub(super) const END: &str = "__aye_end";
/// Before a name of the run that the engine takes for its own: `__aye_value_id`.
pub(super) const VALUE: &str = "__aye_value_";
/// What the engine calls the code.
pub(super) const FILE: &str = "compute";

/// What is wrong with code that cannot be read, and where.
#[derive(Debug)]
pub(super) struct Unreadable {
    pub(super) message: String,
    /// Byte of the code.
    pub(super) at: usize,
}

/// Code that the engine can run.
#[derive(Debug)]
pub(super) struct Source {
    /// What the code uses and sets.
    pub(super) analyze: Analysis,
    /// Lines before the first line of the block.
    pub(super) prelude: usize,
    /// The program.
    pub(super) program: String,
    rewritten: Rewritten,
}

/// How the result of the code is found.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wanted<'a> {
    /// The value of the code, which is one expression.
    Expression,
    /// A variable: this one, or `result`.
    Variable(Option<&'a str>),
}

/// Makes code ready. `known` says which names the run has.
pub(super) fn read(
    code: &str,
    wanted: Wanted<'_>,
    lenient: bool,
    known: &dyn Fn(&str) -> bool,
) -> Result<Source, Unreadable> {
    let tree = parse(code, Mode::Module)?;
    let analyze = Analysis::of(&tree, code)?;
    let rewritten = rewrite::rewrite(code, &tree, &analyze, wanted, known);
    let mut program = prelude::prelude(&analyze, &rewritten.helpers, lenient, known);
    let prelude = program.matches('\n').count();
    program.push_str(&rewritten.text);
    let Mod::Module(module) = &tree else { unreachable!("parsed as a module") };
    match wanted {
        // The value of the last line is the value of the program.
        Wanted::Expression => {}
        Wanted::Variable(_) if matches!(module.body.as_slice(), [Stmt::Expr(_)]) => {}
        Wanted::Variable(output) => program.push_str(&epilogue(output, &analyze.set)),
    }
    Ok(Source { analyze, prelude, program, rewritten })
}

/// What code uses and sets, without the rest.
pub(super) fn analyze(code: &str, mode: Mode) -> Result<Analysis, Unreadable> {
    Analysis::of(&parse(code, mode)?, code)
}

/// The tree of a block with its tokens, and what it uses and sets.
pub(super) fn tree(code: &str) -> Result<(Parsed<Mod>, Analysis), Unreadable> {
    let parsed = parsed(code, Mode::Module)?;
    let analyze = Analysis::of(parsed.syntax(), code)?;
    Ok((parsed, analyze))
}

fn parse(code: &str, mode: Mode) -> Result<Mod, Unreadable> {
    parsed(code, mode).map(Parsed::into_syntax)
}

fn parsed(code: &str, mode: Mode) -> Result<Parsed<Mod>, Unreadable> {
    if code.len() > CODE {
        let message = format!("the block is longer than {} KiB", CODE >> 10);
        return Err(Unreadable { message, at: 0 });
    }
    let options = ParseOptions::from(mode).with_max_recursion_depth(DEPTH);
    let parsed = parse_unchecked(code, options);
    if let Some(error) = parsed.errors().first() {
        let at = error.range().start().to_usize();
        return Err(Unreadable { message: error.error.to_string(), at });
    }
    Ok(parsed)
}

/// Looks the result up in the order that was promised.
fn epilogue(output: Option<&str>, set: &BTreeMap<String, usize>) -> String {
    let mut names = output.into_iter().chain(["result"]).filter(|name| set.contains_key(*name));
    let (first, second) = (names.next(), names.next());
    let look = |name: &str, otherwise: &str| {
        format!("try:\n    __aye_r = {name}\nexcept NameError:\n    {otherwise}\n")
    };
    let found = match (first, second) {
        (None, _) => "__aye_r = None\n".to_owned(),
        (Some(name), None) => look(name, "__aye_r = None"),
        (Some(name), Some(other)) => {
            let inner = look(other, "__aye_r = None").replace('\n', "\n    ");
            look(name, inner.trim_end())
        }
    };
    format!("\n{END}()\n{found}__aye_r")
}

impl Source {
    /// Where a place of the program (lines and columns from 1) stands in the
    /// code: its byte. `None` for what is not of the author's.
    pub(super) fn place(&self, line: usize, column: usize) -> Option<usize> {
        let line = line.checked_sub(self.prelude + 1)?;
        self.rewritten.place(line, column.saturating_sub(1))
    }
}
