//! Modules that a block imports and the sandbox does not have.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Mod, Stmt};
use ruff_python_parser::Mode;
use ruff_text_size::{Ranged, TextRange};

/// The modules of the sandbox.
const MODULES: [&str; 16] = [
    "asyncio",
    "base64",
    "binascii",
    "collections",
    "dataclasses",
    "datetime",
    "functools",
    "itertools",
    "json",
    "math",
    "os",
    "pathlib",
    "re",
    "sys",
    "typing",
    "unicodedata",
];

/// The first import that is sure to fail and that nothing catches: the module
/// and its place in the code.
pub(in super::super) fn missing_module(code: &str) -> Option<(String, std::ops::Range<usize>)> {
    let Ok(Mod::Module(module)) = super::parse(code, Mode::Module) else { return None };
    let mut imports = Imports(None);
    imports.visit_body(&module.body);
    let (name, range) = imports.0?;
    Some((name, range.start().to_usize()..range.end().to_usize()))
}

struct Imports(Option<(String, TextRange)>);

impl Imports {
    fn look(&mut self, module: &str, range: TextRange) {
        let first = module.split('.').next().unwrap_or(module);
        if self.0.is_none() && !MODULES.contains(&first) {
            self.0 = Some((module.to_owned(), range));
        }
    }
}

impl<'a> Visitor<'a> for Imports {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Import(import) => {
                import.names.iter().for_each(|alias| self.look(&alias.name, stmt.range()));
            }
            Stmt::ImportFrom(import) => {
                let module = import.module.as_ref().map_or(".", |module| module.as_str());
                self.look(module, stmt.range());
            }
            // Anyone who tries an import has something else in mind if it fails.
            Stmt::Try(attempt) if !attempt.handlers.is_empty() => {
                self.visit_body(&attempt.orelse);
                self.visit_body(&attempt.finalbody);
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, _expr: &'a ruff_python_ast::Expr) {}
}
