//! Changes the few places that plain Python would not understand.

use std::collections::BTreeSet;
use std::ops::Range;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    CmpOp, Expr, ExprBinOp, ExprCall, ExprCompare, ExprContext, ExprName,
    InterpolatedStringElement, Mod, Number, Operator, Pattern, Stmt,
};
use ruff_text_size::{Ranged, TextRange};
use serde_json::Value;

use super::super::context::is_builtin;
use super::prelude::Helper;
use super::{Analysis, VALUE, Wanted};

/// Methods of mappings: never keys where they are handed on (`key=d.get`).
pub(in super::super) const METHODS: [&str; 11] = [
    "clear",
    "copy",
    "fromkeys",
    "get",
    "items",
    "keys",
    "pop",
    "popitem",
    "setdefault",
    "update",
    "values",
];
/// The inputs that were given; without braces, which mean something else in an f-string.
const GIVEN: &str = "dict([(__k, __v) for __k, __v in inputs.items() if __v is not None])";
/// Types whose methods are handed on (`key=str.lower`).
const TYPES: [&str; 3] = ["dict", "list", "str"];

/// Functions and types that the engine has beside the usual ones.
const OTHERS: [&str; 6] = ["bytearray", "slice", "super", "type", "vars", "zip"];

/// Code with its changes.
#[derive(Debug)]
pub(super) struct Rewritten {
    pub(super) text: String,
    /// What the changed places call.
    pub(super) helpers: BTreeSet<Helper>,
    /// Where unchanged pieces stand: in the new text, in the old one.
    pieces: Vec<(usize, usize)>,
    /// Where the lines of the new text begin.
    lines: Vec<usize>,
}

impl Rewritten {
    /// The byte of the code that stands at this line and column (from 0).
    pub(super) fn place(&self, line: usize, column: usize) -> Option<usize> {
        let start = *self.lines.get(line)?;
        let rest = &self.text[start..];
        let offset = rest.char_indices().nth(column).map_or(rest.len(), |(at, _)| at);
        let new = start + offset;
        let piece = self.pieces.partition_point(|(at, _)| *at <= new).checked_sub(1)?;
        let (at, old) = self.pieces[piece];
        let end = self.pieces.get(piece + 1).map_or(usize::MAX, |(_, old)| *old);
        Some((old + new - at).min(end))
    }
}

/// Changes what has to be changed. `known` says which names the run has.
pub(super) fn rewrite(
    code: &str,
    tree: &Mod,
    analyze: &Analysis,
    wanted: Wanted<'_>,
    known: &dyn Fn(&str) -> bool,
) -> Rewritten {
    let is_expression = matches!(wanted, Wanted::Expression);
    let (edits, helpers) = (Vec::new(), BTreeSet::new());
    let mut editor = Editor { code, analyze, is_expression, known, edits, helpers };
    match tree {
        Mod::Module(module) => editor.visit_body(&module.body),
        Mod::Expression(expression) => editor.visit_expr(&expression.body),
    }
    editor.edits.sort_by_key(|edit| (edit.start, edit.end));
    let mut text = String::with_capacity(code.len() + 16 * editor.edits.len());
    let mut pieces = vec![(0, 0)];
    let mut done = 0;
    for edit in &editor.edits {
        text.push_str(&code[done..edit.start]);
        text.push_str(&edit.with);
        done = edit.end;
        pieces.push((text.len(), done));
    }
    text.push_str(&code[done..]);
    let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
    let lines = std::iter::once(0).chain(breaks).collect();
    Rewritten { text, helpers: editor.helpers, pieces, lines }
}

/// What stands for an operation that may make a number too large to continue with
/// in time.
fn makes_large(op: Operator, right: &Expr) -> Option<Helper> {
    let helper = match op {
        Operator::Pow => Helper::Power,
        Operator::LShift => Helper::Shift,
        _ => return None,
    };
    let is_small = match right {
        Expr::NumberLiteral(number) => match &number.value {
            Number::Int(value) => value.as_u64().is_some_and(|value| value <= 64),
            Number::Float(_) | Number::Complex { .. } => true,
        },
        _ => false,
    };
    (!is_small).then_some(helper)
}

/// Where the sign of a comparison stands between its sides: `not in` is two words.
fn sign_in(between: &str, op: CmpOp) -> Option<Range<usize>> {
    let mut words = op.as_str().split(' ');
    let first = words.next()?;
    let start = between.find(first)?;
    let mut end = start + first.len();
    for word in words {
        end += between[end..].find(word)? + word.len();
    }
    Some(start..end)
}

struct Edit {
    start: usize,
    end: usize,
    with: String,
}

struct Editor<'c> {
    code: &'c str,
    analyze: &'c Analysis,
    /// It is the expression of a template or a condition, where text and numbers
    /// are never compared in silence.
    is_expression: bool,
    known: &'c dyn Fn(&str) -> bool,
    edits: Vec<Edit>,
    helpers: BTreeSet<Helper>,
}

impl Editor<'_> {
    fn replace(&mut self, start: usize, end: usize, with: impl Into<String>) {
        // Lines stay where they are.
        let breaks = self.code[start..end].matches('\n').count();
        let with = with.into() + &"\n".repeat(breaks);
        self.edits.push(Edit { start, end, with });
    }

    fn insert(&mut self, at: usize, with: &str) {
        self.replace(at, at, with);
    }

    fn rename(&mut self, name: &ExprName, helper: Helper) {
        let with = self.helper(helper);
        self.replace(name.start().to_usize(), name.end().to_usize(), with);
    }

    /// `a | b` as `helper(a, b)`.
    fn operator(&mut self, operation: &ExprBinOp, helper: Helper) {
        let sign = operation.op.as_str();
        let (start, end) = (operation.start().to_usize(), operation.end().to_usize());
        let between = operation.left.end().to_usize()..operation.right.start().to_usize();
        let Some(at) = self.code[between.clone()].find(sign) else { return };
        let call = format!("{}(", self.helper(helper));
        self.insert(start, &call);
        self.replace(between.start + at, between.start + at + sign.len(), ",");
        self.visit_expr(&operation.left);
        self.visit_expr(&operation.right);
        self.insert(end, ")");
    }

    /// `a < b <= c` as `helper("a", a, "<", "b", b, "<=", "c", lambda: c)`: what
    /// follows the first comparison is evaluated only if that holds.
    fn comparison(&mut self, compare: &ExprCompare) -> bool {
        let is_identity = |op: &CmpOp| matches!(op, CmpOp::Is | CmpOp::IsNot);
        if compare.ops.iter().all(is_identity) {
            return false;
        }
        let mut left = &*compare.left;
        let mut signs = Vec::with_capacity(compare.ops.len());
        for (op, right) in compare.ops.iter().zip(&*compare.comparators) {
            let between = left.end().to_usize()..right.start().to_usize();
            let Some(sign) = sign_in(&self.code[between.clone()], *op) else { return false };
            signs.push(between.start + sign.start..between.start + sign.end);
            left = right;
        }
        let source = |side: &Expr| Value::from(&self.code[side.range()]).to_string();
        let first = source(&compare.left);
        let rights: Vec<String> = compare.comparators.iter().map(source).collect();
        let call = format!("{}({first}, ", self.helper(Helper::Compare));
        self.insert(compare.start().to_usize(), &call);
        self.visit_expr(&compare.left);
        for (at, (place, right)) in signs.into_iter().zip(&*compare.comparators).enumerate() {
            let later = if at == 0 { "" } else { " lambda:" };
            let (sign, source) = (compare.ops[at].as_str(), &rights[at]);
            self.replace(place.start, place.end, format!(", \"{sign}\", {source},{later}"));
            self.visit_expr(right);
        }
        self.insert(compare.end().to_usize(), ")");
        true
    }

    fn helper(&mut self, helper: Helper) -> &'static str {
        self.helpers.insert(helper);
        helper.name()
    }

    /// `x.name` as `open x close`.
    fn around(&mut self, whole: TextRange, name: TextRange, open: &str, close: &str) {
        self.insert(whole.start().to_usize(), open);
        let end = name.end().to_usize();
        let dot = self.code[..name.start().to_usize()].rfind('.').unwrap_or(end);
        self.replace(dot, end, close);
    }

    /// A type of Python's own.
    fn is_type(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Name(name)
            if TYPES.contains(&name.id.as_str())
                && self.analyze.is_free(&name.id)
                && !self.hides_builtin(expr))
    }

    /// A name of the run that Python has too: the engine would not ask for it.
    fn hides_builtin(&self, expr: &Expr) -> bool {
        let Expr::Name(name) = expr else { return false };
        let is_pythons = is_builtin(&name.id) || OTHERS.contains(&name.id.as_str());
        is_pythons && self.analyze.is_free(&name.id) && (self.known)(&name.id)
    }

    /// A module or class that is known by its name: its attributes are its own.
    fn is_module(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Name(name) => {
                self.analyze.imported.contains(name.id.as_str())
                    || (self.analyze.is_free(&name.id) && super::prelude::provides(&name.id))
            }
            Expr::Attribute(attribute) => self.is_module(&attribute.value),
            _ => false,
        }
    }

    /// `os.path.join`, if the name is the module's.
    fn dotted(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Name(name) => {
                let module = self.is_module(expr);
                let free = self.analyze.is_free(&name.id) && name.id == "env";
                (module || free).then(|| name.id.to_string())
            }
            // None has more than three parts.
            Expr::Attribute(attribute)
                if !attribute
                    .value
                    .as_attribute_expr()
                    .is_some_and(|inner| inner.value.is_attribute_expr()) =>
            {
                Some(format!("{}.{}", self.dotted(&attribute.value)?, attribute.attr))
            }
            _ => None,
        }
    }

    /// `inputs` in `inputs.get(name, default)`: one that was not given is None,
    /// and has no value all the same.
    fn default_of_input(&self, call: &ExprCall) -> Option<TextRange> {
        let Expr::Attribute(attribute) = &*call.func else { return None };
        let Expr::Name(name) = &*attribute.value else { return None };
        let inputs = name.id == "inputs" && self.analyze.is_free("inputs");
        let get = attribute.attr.as_str() == "get" && call.arguments.args.len() == 2;
        (inputs && get).then(|| name.range())
    }

    fn call(&mut self, call: &ExprCall) {
        let whole = call.range();
        match &*call.func {
            Expr::Name(name) if self.analyze.is_free(&name.id) => match name.id.as_str() {
                "dir" if call.arguments.is_empty() => {
                    let before = whole.start().to_usize();
                    let dir = format!("{}({before})", self.helper(Helper::Dir));
                    self.replace(before, whole.end().to_usize(), dir);
                    return;
                }
                "globals" | "locals" | "vars" if call.arguments.is_empty() => {
                    let known = self.helper(Helper::Known);
                    self.replace(name.start().to_usize(), name.end().to_usize(), known);
                    return;
                }
                "isinstance" | "issubclass" if call.arguments.args.len() == 2 => {
                    self.visit_expr(&call.arguments.args[0]);
                    // What something is compared with is a type, not a result.
                    let types = match &call.arguments.args[1] {
                        Expr::Tuple(types) => types.elts.as_slice(),
                        one => std::slice::from_ref(one),
                    };
                    types.iter().filter(|one| !one.is_name_expr()).for_each(|one| {
                        self.visit_expr(one);
                    });
                    return;
                }
                "hasattr" => self.rename(name, Helper::HasAttr),
                "getattr" => self.rename(name, Helper::GetAttr),
                "pow" => self.rename(name, Helper::Power),
                "next" => {
                    if let Some(Expr::Generator(generator)) = call.arguments.args.first() {
                        self.insert(generator.start().to_usize(), "iter(");
                        self.visit_arguments(&call.arguments);
                        // After whatever is changed inside.
                        self.insert(generator.end().to_usize(), ")");
                        return;
                    }
                }
                _ => {}
            },
            Expr::Attribute(attribute) => {
                let helper = self.dotted(&call.func).and_then(|name| Helper::for_call(&name));
                let helper = helper.filter(|helper| helper.applies(&call.arguments));
                if let Some(helper) = helper {
                    let name = self.helper(helper);
                    let func = attribute.range();
                    self.replace(func.start().to_usize(), func.end().to_usize(), name);
                } else if let Some(helper) = Helper::for_method(&attribute.attr)
                    && !self.is_module(&attribute.value)
                {
                    let open = call.arguments.start().to_usize();
                    let name = TextRange::new(attribute.attr.start(), attribute.attr.end());
                    let comma = if call.arguments.is_empty() { "" } else { ", " };
                    let call = format!("{}(", self.helper(helper));
                    self.around(whole, name, &call, comma);
                    self.replace(open, open + 1, "");
                    self.visit_expr(&attribute.value);
                } else if let Some(inputs) = self.default_of_input(call) {
                    self.replace(inputs.start().to_usize(), inputs.end().to_usize(), GIVEN);
                } else {
                    self.visit_expr(&attribute.value);
                }
                self.visit_arguments(&call.arguments);
                return;
            }
            _ => {}
        }
        // No result can be called: that is Python's.
        if !self.hides_builtin(&call.func) {
            self.visit_expr(&call.func);
        }
        self.visit_arguments(&call.arguments);
    }
}

impl<'a> Visitor<'a> for Editor<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::Import(import) = stmt {
            // Its functions are changed where they are called.
            let path = import.names.iter().find(|alias| &*alias.name == "os.path");
            if let Some(alias) = path.filter(|alias| alias.asname.is_none()) {
                self.replace(alias.start().to_usize(), alias.end().to_usize(), "os");
            }
        }
        if let Stmt::AugAssign(assign) = stmt
            && let Expr::Name(name) = &*assign.target
            && let Some(helper) = makes_large(assign.op, &assign.value)
        {
            let between = name.end().to_usize()..assign.value.start().to_usize();
            let sign = format!("{}=", assign.op.as_str());
            if let Some(at) = self.code[between.clone()].find(&sign) {
                let call = format!("= {}({}, ", self.helper(helper), name.id);
                self.replace(between.start + at, between.start + at + sign.len(), call);
                self.visit_expr(&assign.value);
                self.insert(stmt.end().to_usize(), ")");
                return;
            }
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Call(call) => self.call(call),
            Expr::Compare(compare) if self.is_expression && self.comparison(compare) => {}
            Expr::Name(name) if name.ctx == ExprContext::Load && self.hides_builtin(expr) => {
                self.insert(name.start().to_usize(), VALUE);
            }
            Expr::Attribute(attribute) if attribute.ctx == ExprContext::Load => {
                let name = TextRange::new(attribute.attr.start(), attribute.attr.end());
                let key = attribute.attr.as_str();
                if self.dotted(&attribute.value).as_deref() == Some("env") {
                    let env = format!("{}(\"{key}\")", self.helper(Helper::Env));
                    self.replace(expr.start().to_usize(), expr.end().to_usize(), env);
                    return;
                }
                if self.is_type(&attribute.value) {
                    let method = format!("(lambda __o, *__a: __o.{key}(*__a))");
                    self.replace(expr.start().to_usize(), expr.end().to_usize(), method);
                    return;
                }
                if METHODS.contains(&key) && !self.is_module(&attribute.value) {
                    let open = format!("(lambda __o: lambda *__a: __o.{key}(*__a))(");
                    self.around(expr.range(), name, &open, ")");
                } else if !(key.starts_with("__") || self.is_module(&attribute.value)) {
                    let call = format!("{}(", self.helper(Helper::Attribute));
                    self.around(expr.range(), name, &call, &format!(", \"{key}\")"));
                }
                self.visit_expr(&attribute.value);
            }
            Expr::BinOp(operation)
                if operation.op == Operator::BitOr
                    && !self.is_module(&operation.left)
                    && !self.is_module(&operation.right) =>
            {
                self.operator(operation, Helper::Merge);
            }
            Expr::BinOp(operation)
                if operation.op == Operator::Mod
                    && matches!(*operation.left, Expr::StringLiteral(_)) =>
            {
                self.operator(operation, Helper::Percent);
            }
            Expr::BinOp(operation)
                if let Some(helper) = makes_large(operation.op, &operation.right) =>
            {
                self.operator(operation, helper);
            }
            Expr::Subscript(subscript)
                if subscript.ctx == ExprContext::Load
                    && matches!(
                        self.dotted(&subscript.value).as_deref(),
                        Some("env" | "os.environ")
                    ) =>
            {
                let call = format!("{}(", self.helper(Helper::Env));
                // What stands in brackets may stand in parentheses, too.
                let between = subscript.value.end().to_usize()..subscript.slice.start().to_usize();
                let bracket = self.code[between.clone()].find('[').unwrap_or_default();
                self.replace(expr.start().to_usize(), between.start + bracket + 1, call);
                self.visit_expr(&subscript.slice);
                let end = expr.end().to_usize();
                self.replace(end - 1, end, ")");
            }
            _ => visitor::walk_expr(self, expr),
        }
    }

    fn visit_annotation(&mut self, _expr: &'a Expr) {}

    // A pattern may not call anything.
    fn visit_pattern(&mut self, _pattern: &'a Pattern) {}

    // `f"{x.y=}"` shows its own text.
    fn visit_interpolated_string_element(&mut self, element: &'a InterpolatedStringElement) {
        if let InterpolatedStringElement::Interpolation(element) = element
            && element.debug_text.is_some()
        {
            return;
        }
        visitor::walk_interpolated_string_element(self, element);
    }
}
