//! What an expression may stand for, as far as the code and the scope say.

use std::rc::Rc;

use aye_core::secrets::is_secret;
use ruff_python_ast::{
    AnyNodeRef, Expr, ExprCall, ExprContext, ExprDict, ExprName, Number, UnaryOp,
};
use ruff_text_size::Ranged;

use super::code::{Code, same};
use super::shape::Shape;

/// Names that lead to names that lead to names: enough is enough.
const DEPTH: usize = 8;
/// A variable of a loop over more than this may be anything.
const ITEMS: usize = 1000;
/// Methods after which nobody knows what is in a value.
const CHANGING: [&str; 14] = [
    "add",
    "append",
    "clear",
    "discard",
    "extend",
    "insert",
    "pop",
    "popitem",
    "remove",
    "reverse",
    "setdefault",
    "sort",
    "update",
    "__setitem__",
];

impl Code<'_> {
    /// The values an expression may have: one, or those of a loop. `None` if
    /// that cannot be said.
    pub(super) fn values(&self, expr: &Expr) -> Option<Vec<Rc<Shape>>> {
        self.values_in(expr, DEPTH)
    }

    fn values_in(&self, expr: &Expr, depth: usize) -> Option<Vec<Rc<Shape>>> {
        let depth = depth.checked_sub(1)?;
        self.spend()?;
        let one = |name| Some(vec![Rc::new(Shape::Other(name))]);
        match expr {
            Expr::Name(name) if self.analyze.is_free(&name.id) => {
                if self.is_changed(&name.id) {
                    None
                } else {
                    self.of_the_run(&name.id)
                }
            }
            Expr::Name(name) => self.variable(name, depth),
            Expr::Attribute(attribute) => {
                self.each(&attribute.value, depth, |shape| shape.get(&attribute.attr).cloned())
            }
            Expr::Subscript(subscript) => match &*subscript.slice {
                Expr::StringLiteral(key) => self
                    .each(&subscript.value, depth, |shape| shape.get(key.value.to_str()).cloned()),
                slice => {
                    let at = whole_number(slice)?;
                    self.each(&subscript.value, depth, |shape| item(shape, at))
                }
            },
            Expr::Dict(dict) => Some(vec![Rc::new(self.dict(dict, depth))]),
            Expr::List(list) => Some(vec![Rc::new(Shape::List(self.items(&list.elts, depth)))]),
            Expr::Call(call) => self.call(call, depth),
            // `x or {}` is x, if x is anything.
            Expr::BoolOp(operation) if operation.op == ruff_python_ast::BoolOp::Or => {
                let first = self.values_in(operation.values.first()?, depth)?;
                let filled =
                    |shape: &Rc<Shape>| matches!(&**shape, Shape::Map(map) if !map.is_empty());
                first.iter().all(filled).then_some(first)
            }
            Expr::StringLiteral(_) | Expr::FString(_) => one("str"),
            Expr::BooleanLiteral(_) | Expr::Compare(_) => one("bool"),
            Expr::NoneLiteral(_) => one("None"),
            Expr::NumberLiteral(number) => match number.value {
                Number::Int(_) => one("int"),
                Number::Float(_) => one("float"),
                Number::Complex { .. } => None,
            },
            Expr::ListComp(_) => one("list"),
            Expr::DictComp(_) => one("dict"),
            Expr::Set(_) | Expr::SetComp(_) => one("set"),
            Expr::Tuple(_) => one("tuple"),
            Expr::UnaryOp(operation) if operation.op == UnaryOp::Not => one("bool"),
            _ => None,
        }
    }

    /// What is found in each of the values of an expression.
    fn each(
        &self,
        expr: &Expr,
        depth: usize,
        found: impl Fn(&Shape) -> Option<Rc<Shape>>,
    ) -> Option<Vec<Rc<Shape>>> {
        let shapes = self.values_in(expr, depth)?;
        let shapes: Option<Vec<_>> = shapes.iter().map(|shape| found(shape)).collect();
        shapes.filter(|shapes| !shapes.iter().any(|shape| **shape == Shape::Unknown))
    }

    fn items(&self, exprs: &[Expr], depth: usize) -> Vec<Rc<Shape>> {
        exprs.iter().map(|expr| self.only(expr, depth)).collect()
    }

    fn only(&self, expr: &Expr, depth: usize) -> Rc<Shape> {
        match self.values_in(expr, depth).as_deref() {
            Some([only]) => Rc::clone(only),
            _ => Rc::new(Shape::Unknown),
        }
    }

    fn dict(&self, dict: &ExprDict, depth: usize) -> Shape {
        let entry = |item: &ruff_python_ast::DictItem| match &item.key {
            Some(Expr::StringLiteral(key)) => {
                Some((key.value.to_str().to_owned(), self.only(&item.value, depth)))
            }
            _ => None,
        };
        let entries: Option<Vec<_>> = dict.items.iter().map(entry).collect();
        entries.map_or(Shape::Other("dict"), Shape::Map)
    }

    fn call(&self, call: &ExprCall, depth: usize) -> Option<Vec<Rc<Shape>>> {
        let one = |name| Some(vec![Rc::new(Shape::Other(name))]);
        match &*call.func {
            Expr::Name(name) if self.analyze.is_free(&name.id) => match name.id.as_str() {
                "str" | "repr" => one("str"),
                "int" | "len" => one("int"),
                "float" => one("float"),
                "bool" | "isinstance" | "any" | "all" => one("bool"),
                "sorted" | "list" => one("list"),
                "dict" => one("dict"),
                "set" => one("set"),
                _ => None,
            },
            Expr::Attribute(attribute) if attribute.attr.as_str() == "get" => {
                let Some(Expr::StringLiteral(key)) = call.arguments.args.first() else {
                    return None;
                };
                self.each(&attribute.value, depth, |shape| shape.get(key.value.to_str()).cloned())
            }
            _ => None,
        }
    }

    /// A name of the run. What only the outside knows is not looked up.
    fn of_the_run(&self, name: &str) -> Option<Vec<Rc<Shape>>> {
        if let Some(known) = self.known.borrow().get(name) {
            return Some(vec![Rc::clone(known)]);
        }
        let shape = match name {
            "inputs" => {
                let shape = |value| match is_secret(value) {
                    true => Shape::Other("str"),
                    false => Shape::of(value),
                };
                let inputs = self.scope.inputs.iter();
                let inputs = inputs.map(|(name, value)| (name.clone(), Rc::new(shape(value))));
                Shape::Map(inputs.collect())
            }
            "now" | "today" | "branch" | "workspace" | "worktree" => Shape::Other("str"),
            "env" => return None,
            name => Shape::of(&self.scope.value(name)?),
        };
        let shape = Rc::new(shape);
        self.known.borrow_mut().insert(name.to_owned(), Rc::clone(&shape));
        Some(vec![shape])
    }

    /// A variable that is set in one place only, and left alone after that.
    fn variable(&self, used: &ExprName, depth: usize) -> Option<Vec<Rc<Shape>>> {
        let name = used.id.as_str();
        let &[binding] = self.bindings(name) else { return None };
        // One of the same name elsewhere is another one.
        let seen = self.node(self.owner(binding)).range().contains_range(used.range());
        if !seen || self.is_changed(name) {
            return None;
        }
        let node = self.node(binding);
        let around = self.parent(binding)?;
        match self.node(around) {
            AnyNodeRef::StmtAssign(assign) if assign.targets.iter().any(|t| same(t, node)) => {
                self.values_in(&assign.value, depth)
            }
            AnyNodeRef::StmtFor(each) if same(&each.target, node) => {
                self.loop_over(&each.iter, depth)
            }
            AnyNodeRef::Comprehension(each) if same(&each.target, node) => {
                self.loop_over(&each.iter, depth)
            }
            // `for key, value in x.items()`
            AnyNodeRef::ExprTuple(pair) if matches!(pair.elts.as_slice(), [_, value] if same(value, node)) =>
            {
                let iter = match self.node(self.parent(around)?) {
                    AnyNodeRef::StmtFor(each) => &*each.iter,
                    AnyNodeRef::Comprehension(each) => &each.iter,
                    _ => return None,
                };
                let Expr::Call(call) = iter else { return None };
                let Expr::Attribute(items) = &*call.func else { return None };
                if items.attr.as_str() != "items" || !call.arguments.is_empty() {
                    return None;
                }
                let maps = self.values_in(&items.value, depth)?;
                known(maps.iter().map(|shape| match &**shape {
                    Shape::Map(entries) => Some(entries.iter().map(|(_, shape)| shape)),
                    _ => None,
                }))
            }
            _ => None,
        }
    }

    fn loop_over(&self, iter: &Expr, depth: usize) -> Option<Vec<Rc<Shape>>> {
        known(self.values_in(iter, depth)?.iter().map(|shape| match &**shape {
            Shape::List(items) => Some(items.iter()),
            _ => None,
        }))
    }

    /// Whether something is written into the value of a name.
    fn is_changed(&self, name: &str) -> bool {
        self.changed.contains(name)
    }
}

/// The name into whose value a node writes.
pub(super) fn writes<'a>(node: AnyNodeRef<'a>) -> Option<&'a str> {
    let into = match node {
        AnyNodeRef::ExprSubscript(subscript) if subscript.ctx != ExprContext::Load => {
            &subscript.value
        }
        AnyNodeRef::StmtAugAssign(assign) => &assign.target,
        AnyNodeRef::ExprCall(call) => match &*call.func {
            Expr::Attribute(method) if CHANGING.contains(&method.attr.as_str()) => &method.value,
            _ => return None,
        },
        _ => return None,
    };
    match &**into {
        Expr::Name(name) => Some(name.id.as_str()),
        _ => None,
    }
}

/// All of these, if all are known and they are few.
fn known<'s, I: Iterator<Item = &'s Rc<Shape>>>(
    lists: impl Iterator<Item = Option<I>>,
) -> Option<Vec<Rc<Shape>>> {
    let mut all = Vec::new();
    for list in lists {
        all.extend(list?.take(ITEMS + 1).cloned());
        if all.len() > ITEMS || all.iter().any(|shape| **shape == Shape::Unknown) {
            return None;
        }
    }
    (!all.is_empty()).then_some(all)
}

fn whole_number(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::NumberLiteral(number) => match &number.value {
            Number::Int(int) => int.as_i64(),
            _ => None,
        },
        Expr::UnaryOp(operation) if operation.op == UnaryOp::USub => {
            whole_number(&operation.operand)?.checked_neg()
        }
        _ => None,
    }
}

fn item(shape: &Shape, at: i64) -> Option<Rc<Shape>> {
    let Shape::List(items) = shape else { return None };
    let index = match usize::try_from(at) {
        Ok(index) => index,
        Err(_) => items.len().checked_sub(usize::try_from(at.checked_neg()?).ok()?)?,
    };
    items.get(index).cloned()
}
