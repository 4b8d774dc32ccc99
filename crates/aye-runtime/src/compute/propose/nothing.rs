//! Whether None can stand where an expression does.

use ruff_python_ast::{AnyNodeRef, BoolOp, CmpOp, Expr};

use super::code::{Code, same};

/// Variables that lead to variables.
const DEPTH: usize = 4;

impl Code<'_> {
    /// Whether nothing goes wrong in this block if the expression is None: it
    /// is compared, asked for its truth, or handed on as the result. What is
    /// not certain is no.
    pub(super) fn takes_none(&self, index: usize) -> bool {
        self.takes(index, DEPTH)
    }

    fn takes(&self, index: usize, depth: usize) -> bool {
        let (Some(parent), Some(depth), Some(())) =
            (self.parent(index), depth.checked_sub(1), self.spend())
        else {
            return false;
        };
        let node = self.node(index);
        match self.node(parent) {
            AnyNodeRef::StmtAssign(assign) => assign.targets.iter().all(|target| match target {
                Expr::Name(name) => {
                    self.loads(&name.id).iter().all(|load| self.takes(*load, depth))
                }
                _ => false,
            }),
            AnyNodeRef::StmtExpr(_) => self.is_only_statement(parent),
            AnyNodeRef::ExprDict(dict) if dict.items.iter().any(|item| same(&item.value, node)) => {
                self.is_result(parent)
            }
            AnyNodeRef::ExprList(_) => self.is_result(parent),
            AnyNodeRef::ExprCompare(compare) => match (&*compare.ops, &*compare.comparators) {
                ([CmpOp::Eq | CmpOp::NotEq | CmpOp::Is | CmpOp::IsNot], _) => true,
                ([CmpOp::In | CmpOp::NotIn], [Expr::List(_) | Expr::Tuple(_) | Expr::Set(_)]) => {
                    same(&compare.left, node)
                }
                _ => false,
            },
            AnyNodeRef::StmtIf(branch) => same(&branch.test, node),
            AnyNodeRef::ElifElseClause(clause) => {
                clause.test.as_ref().is_some_and(|test| same(test, node))
            }
            AnyNodeRef::StmtWhile(branch) => same(&branch.test, node),
            AnyNodeRef::ExprUnaryOp(operation) => operation.op == ruff_python_ast::UnaryOp::Not,
            AnyNodeRef::Comprehension(each) => each.ifs.iter().any(|test| same(test, node)),
            AnyNodeRef::ExprBoolOp(operation) => {
                let last = operation.values.last().is_some_and(|last| same(last, node));
                // `x or y` is never None because of x.
                (operation.op == BoolOp::Or && !last) || self.takes(parent, depth)
            }
            AnyNodeRef::ExprIf(choice) if same(&choice.test, node) => true,
            AnyNodeRef::ExprIf(_) => self.takes(parent, depth),
            AnyNodeRef::Arguments(_) => self.parent(parent).is_some_and(|call| {
                matches!(self.node(call), AnyNodeRef::ExprCall(call)
                    if matches!(&*call.func, Expr::Name(name)
                        if self.analyze.is_free(&name.id)
                            && ["bool", "isinstance", "log", "print"].contains(&name.id.as_str())))
            }),
            _ => false,
        }
    }

    /// Whether a list or mapping is all there is to the result: nothing in the
    /// block looks into it.
    fn is_result(&self, index: usize) -> bool {
        let Some(parent) = self.parent(index) else { return false };
        match self.node(parent) {
            AnyNodeRef::ExprDict(_) | AnyNodeRef::ExprList(_) => self.is_result(parent),
            AnyNodeRef::StmtExpr(_) => self.is_only_statement(parent),
            AnyNodeRef::StmtAssign(assign) => assign.targets.iter().all(
                |target| matches!(target, Expr::Name(name) if self.loads(&name.id).is_empty()),
            ),
            _ => false,
        }
    }

    /// The value of a block that is one expression is its result.
    fn is_only_statement(&self, index: usize) -> bool {
        matches!(self.node(0), AnyNodeRef::ModModule(module) if module.body.len() == 1)
            && self.parent(index) == Some(0)
    }
}
