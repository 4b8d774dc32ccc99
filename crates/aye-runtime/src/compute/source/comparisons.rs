//! Names that a block compares with a number.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{CmpOp, Expr, ExprCompare, Mod};
use ruff_python_parser::Mode;
use ruff_text_size::{Ranged, TextRange};

/// Every comparison of a name with a number as it is written: the name, and
/// the place of the comparison.
pub(in super::super) fn number_comparisons(code: &str) -> Vec<(String, std::ops::Range<usize>)> {
    let Ok(Mod::Module(module)) = super::parse(code, Mode::Module) else { return Vec::new() };
    let mut comparisons = Comparisons(Vec::new());
    comparisons.visit_body(&module.body);
    let place = |range: TextRange| range.start().to_usize()..range.end().to_usize();
    comparisons.0.into_iter().map(|(name, range)| (name, place(range))).collect()
}

struct Comparisons(Vec<(String, TextRange)>);

impl Comparisons {
    fn look(&mut self, one: &Expr, op: CmpOp, other: &Expr) {
        use CmpOp::{Eq, Gt, GtE, In, Lt, LtE, NotEq, NotIn};
        let items = match other {
            Expr::List(list) => list.elts.as_slice(),
            Expr::Tuple(tuple) => tuple.elts.as_slice(),
            Expr::Set(set) => set.elts.as_slice(),
            _ => &[],
        };
        let name = match (one, op, other) {
            (Expr::Name(name), Eq | NotEq | Lt | LtE | Gt | GtE, Expr::NumberLiteral(_))
            | (Expr::NumberLiteral(_), Eq | NotEq | Lt | LtE | Gt | GtE, Expr::Name(name)) => {
                name.id.to_string()
            }
            // `code in [200, 204]`: it equals none of them.
            (Expr::Name(name), In | NotIn, _)
                if !items.is_empty() && items.iter().all(Expr::is_number_literal_expr) =>
            {
                name.id.to_string()
            }
            _ => return,
        };
        self.0.push((name, TextRange::new(one.start(), other.end())));
    }
}

impl<'a> Visitor<'a> for Comparisons {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Compare(ExprCompare { left, ops, comparators, .. }) = expr {
            let mut one: &Expr = left;
            for (op, other) in ops.iter().zip(comparators) {
                self.look(one, *op, other);
                one = other;
            }
        }
        visitor::walk_expr(self, expr);
    }
}
