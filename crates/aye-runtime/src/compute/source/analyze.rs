//! What a block uses and sets.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Comprehension, Expr, ExprContext, Mod, Parameters, Stmt};
use ruff_text_size::Ranged;

use super::Unreadable;

/// Trees deeper than this come from chains that nobody wrote by hand.
const DEPTH: usize = 200;
/// How much work a block may be to compile. The interpreter looks through what
/// is inside a function, a class, a lambda or a comprehension about three times
/// as often as through what is outside of it.
const WORK: u64 = 4_000_000;

/// What a block uses and sets.
#[derive(Debug, Default)]
pub(in super::super) struct Analysis {
    /// Names it sets outside of functions, imports included, and the byte
    /// from which on they are set.
    pub(in super::super) set: BTreeMap<String, usize>,
    /// Names it imports.
    pub(super) imported: BTreeSet<String>,
    /// Names that stand for one item of something after the other.
    passing: BTreeSet<String>,
    /// Names it sets anywhere: parameters, items of comprehensions, …
    bound: BTreeSet<String>,
    /// Names it reads, and how: `inputs.commit`.
    read: BTreeSet<String>,
    /// It asks for the names in scope.
    pub(in super::super) asks_names: bool,
    /// It can stop the run: `raise`, `assert`.
    pub(in super::super) is_guard: bool,
    /// Where a name is set that is bound now.
    from: usize,
    functions: usize,
    depth: usize,
    work: u64,
    too_deep: Option<usize>,
}

impl Analysis {
    pub(super) fn of(tree: &Mod, code: &str) -> Result<Self, Unreadable> {
        let mut analyze = Self::default();
        match tree {
            Mod::Module(module) => analyze.visit_body(&module.body),
            Mod::Expression(expression) => analyze.visit_expr(&expression.body),
        }
        match analyze.too_deep {
            Some(at) => Err(Unreadable {
                message: "the code is nested too deeply".to_owned(),
                at: at.min(code.len()),
            }),
            None => Ok(analyze),
        }
    }

    /// Names that must come from outside, dotted where an attribute is read.
    pub(in super::super) fn free(&self) -> impl Iterator<Item = &str> {
        self.read.iter().map(String::as_str).filter(|dotted| {
            let name = dotted.split('.').next().unwrap_or(dotted);
            !self.bound.contains(name)
        })
    }

    /// Names it reads, also those that it sets itself before or after.
    pub(in super::super) fn reads(&self) -> impl Iterator<Item = &str> {
        self.read.iter().map(|dotted| dotted.split('.').next().unwrap_or(dotted))
    }

    /// Names it sets outside of functions and without imports.
    pub(in super::super) fn variables(&self) -> impl Iterator<Item = &String> {
        self.set.keys().filter(|name| !self.imported.contains(*name))
    }

    /// Those of them that someone may have meant as the result: what a loop
    /// goes through is none.
    pub(in super::super) fn candidates(&self) -> impl Iterator<Item = &String> {
        self.variables().filter(|name| !self.passing.contains(*name))
    }

    /// Whether the code reads this name and does not set it.
    pub(in super::super) fn is_free(&self, name: &str) -> bool {
        !self.bound.contains(name)
    }

    fn bind(&mut self, name: &str) {
        self.bound.insert(name.to_owned());
        if self.functions == 0 {
            self.set.entry(name.to_owned()).or_insert(self.from);
        }
    }

    fn read(&mut self, name: impl Into<String>) {
        self.read.insert(name.into());
    }

    /// Counts a piece of code; false if it is one too many.
    fn counts(&mut self, at: usize) -> bool {
        let levels = u32::try_from(self.functions).unwrap_or(u32::MAX);
        self.work = self.work.saturating_add(3_u64.saturating_pow(levels));
        if self.work > WORK {
            self.too_deep.get_or_insert(at);
        }
        self.too_deep.is_none()
    }

    /// What a comprehension or a lambda binds is its own.
    fn inside(&mut self, visit: impl FnOnce(&mut Self)) {
        self.functions += 1;
        visit(self);
        self.functions -= 1;
    }
}

impl<'a> Visitor<'a> for Analysis {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if !self.counts(stmt.start().to_usize()) {
            return;
        }
        // `x = x if 'x' in dir() else 1`: a name is set when its statement is
        // through, or when the body of the statement begins.
        let compound = matches!(stmt, Stmt::For(_) | Stmt::With(_) | Stmt::Try(_) | Stmt::Match(_));
        self.from = if compound { stmt.start() } else { stmt.end() }.to_usize();
        match stmt {
            Stmt::FunctionDef(function) => {
                self.bind(&function.name);
                self.inside(|analyze| visitor::walk_stmt(analyze, stmt));
                return;
            }
            Stmt::ClassDef(class) => {
                self.bind(&class.name);
                self.inside(|analyze| visitor::walk_stmt(analyze, stmt));
                return;
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name);
                    let name = name.split('.').next().unwrap_or(name).to_owned();
                    self.bind(&name);
                    self.imported.insert(name);
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name);
                    self.bind(name);
                    self.imported.insert(name.to_string());
                }
            }
            Stmt::Global(global) => {
                for name in &global.names {
                    self.set.entry(name.to_string()).or_insert(self.from);
                }
            }
            Stmt::Try(try_stmt) => {
                for handler in &try_stmt.handlers {
                    let ruff_python_ast::ExceptHandler::ExceptHandler(handler) = handler;
                    if let Some(name) = &handler.name {
                        self.bind(name);
                    }
                }
            }
            Stmt::For(each) => {
                let names = |expr: &Expr| match expr {
                    Expr::Name(name) => vec![name.id.to_string()],
                    Expr::Tuple(tuple) => tuple
                        .elts
                        .iter()
                        .filter_map(|item| Some(item.as_name_expr()?.id.to_string()))
                        .collect(),
                    _ => Vec::new(),
                };
                self.passing.extend(names(&each.target));
            }
            // `total += 1` reads the name, although the tree says that it is only set.
            Stmt::AugAssign(assign) => {
                if let Expr::Name(name) = &*assign.target {
                    self.read(name.id.as_str());
                }
            }
            Stmt::Raise(_) | Stmt::Assert(_) => self.is_guard = true,
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        self.depth += 1;
        if self.depth > DEPTH || !self.counts(expr.start().to_usize()) {
            self.too_deep.get_or_insert(expr.start().to_usize());
            self.depth -= 1;
            return;
        }
        match expr {
            Expr::Name(name) if name.ctx == ExprContext::Load => {
                if name.id == "dir" {
                    self.asks_names = true;
                }
                self.read(name.id.as_str());
            }
            Expr::Name(name) => self.bind(&name.id),
            Expr::Attribute(attribute) => {
                if let Expr::Name(name) = &*attribute.value {
                    self.read(format!("{}.{}", name.id, attribute.attr));
                } else {
                    visitor::walk_expr(self, expr);
                }
            }
            // `inputs['commit']` is `inputs.commit`.
            Expr::Subscript(subscript)
                if subscript.ctx == ExprContext::Load
                    && matches!(&*subscript.value, Expr::Name(name) if name.id == "inputs")
                    && subscript.slice.is_string_literal_expr() =>
            {
                if let Expr::StringLiteral(key) = &*subscript.slice {
                    self.read(format!("inputs.{}", key.value.to_str()));
                }
                visitor::walk_expr(self, expr);
            }
            Expr::Lambda(_)
            | Expr::Generator(_)
            | Expr::ListComp(_)
            | Expr::SetComp(_)
            | Expr::DictComp(_) => self.inside(|analyze| visitor::walk_expr(analyze, expr)),
            _ => visitor::walk_expr(self, expr),
        }
        self.depth -= 1;
    }

    fn visit_comprehension(&mut self, comprehension: &'a Comprehension) {
        visitor::walk_comprehension(self, comprehension);
    }

    fn visit_parameters(&mut self, parameters: &'a Parameters) {
        for parameter in parameters {
            self.bind(parameter.name());
        }
        visitor::walk_parameters(self, parameters);
    }

    fn visit_annotation(&mut self, _expr: &'a Expr) {}

    fn visit_pattern(&mut self, pattern: &'a ruff_python_ast::Pattern) {
        use ruff_python_ast::Pattern;
        let name = match pattern {
            Pattern::MatchAs(pattern) => pattern.name.as_ref(),
            Pattern::MatchStar(pattern) => pattern.name.as_ref(),
            Pattern::MatchMapping(pattern) => pattern.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = name {
            self.bind(name);
        }
        visitor::walk_pattern(self, pattern);
    }
}
