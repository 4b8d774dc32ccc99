//! The names a block sets, and where they can be seen.

use ruff_python_ast::{AnyNodeRef, Expr};
use ruff_text_size::Ranged;

use super::code::{Code, same};
use super::shape::type_of_all;

/// A name that can be seen at a place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Own<'a> {
    pub(super) name: &'a str,
    /// Whether it can be called; `None` if nobody knows.
    pub(super) callable: Option<bool>,
}

impl<'a> Code<'a> {
    /// Every place where a name is set, in whatever way.
    pub(super) fn bindings(&self, name: &str) -> &[usize] {
        self.set.get(name).map_or(&[], Vec::as_slice)
    }

    /// The function, comprehension or module whose own a node is.
    pub(super) fn owner(&self, index: usize) -> usize {
        self.around(index).find(|around| is_scope(self.node(*around))).unwrap_or_default()
    }

    /// The names of the block's own that can be seen at a node.
    pub(super) fn visible(&self, index: usize) -> Vec<Own<'a>> {
        let scopes: Vec<usize> = self.around(index).filter(|at| is_scope(self.node(*at))).collect();
        let in_function = scopes.iter().any(|at| {
            matches!(self.node(*at), AnyNodeRef::StmtFunctionDef(_) | AnyNodeRef::ExprLambda(_))
        });
        let here = self.node(index).start();
        let mut own = Vec::new();
        for (name, at) in self.set.iter().flat_map(|(name, at)| at.iter().map(|at| (*name, *at))) {
            let owner = self.owner(at);
            let is_class = matches!(self.node(owner), AnyNodeRef::StmtClassDef(_));
            if is_class || !scopes.contains(&owner) {
                continue;
            }
            // Outside of functions what follows has not happened yet.
            if owner == 0 && !in_function && self.node(at).start() >= here {
                continue;
            }
            own.push(Own { name, callable: self.callable(at) });
        }
        own
    }

    fn callable(&self, index: usize) -> Option<bool> {
        let node = self.node(index);
        match node {
            AnyNodeRef::StmtFunctionDef(_) | AnyNodeRef::StmtClassDef(_) => Some(true),
            AnyNodeRef::ExceptHandlerExceptHandler(_) => Some(false),
            AnyNodeRef::ExprName(_) => match self.node(self.parent(index)?) {
                AnyNodeRef::StmtAssign(assign) if assign.targets.iter().any(|t| same(t, node)) => {
                    match &*assign.value {
                        Expr::Lambda(_) => Some(true),
                        value => self.values(value).map(|_| false),
                    }
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The variables that the block has set before a byte, and their types.
    pub(super) fn own_names(&self, at: usize) -> Vec<(String, String)> {
        let set = self.analyze.variables().filter(|name| self.analyze.set[*name] <= at);
        set.map(|name| {
            let kind = self.type_of_variable(name).unwrap_or("set in the block");
            (name.clone(), kind.to_owned())
        })
        .collect()
    }

    /// The type of a variable, if every place that sets it agrees.
    fn type_of_variable(&self, name: &str) -> Option<&'static str> {
        let mut types = Vec::new();
        for &binding in self.bindings(name) {
            let node = self.node(binding);
            types.push(match (node, self.node(self.parent(binding)?)) {
                (AnyNodeRef::StmtFunctionDef(_), _) => "function",
                (AnyNodeRef::StmtClassDef(_), _) => "class",
                (_, AnyNodeRef::StmtAssign(assign))
                    if assign.targets.iter().any(|t| same(t, node)) =>
                {
                    type_of_all(&self.values(&assign.value)?)?
                }
                (_, AnyNodeRef::StmtFor(each)) if same(&each.target, node) => {
                    type_of_all(&self.values(&Expr::Name(self.as_name(binding)?.clone()))?)?
                }
                _ => return None,
            });
        }
        types.dedup();
        match types.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    fn as_name(&self, index: usize) -> Option<&'a ruff_python_ast::ExprName> {
        match self.node(index) {
            AnyNodeRef::ExprName(name) => Some(name),
            _ => None,
        }
    }
}

/// The name that a node sets.
pub(super) fn binds<'a>(node: AnyNodeRef<'a>) -> Option<&'a str> {
    match node {
        AnyNodeRef::ExprName(name) => name.ctx.is_store().then_some(name.id.as_str()),
        AnyNodeRef::Parameter(parameter) => Some(parameter.name.as_str()),
        AnyNodeRef::StmtFunctionDef(function) => Some(function.name.as_str()),
        AnyNodeRef::StmtClassDef(class) => Some(class.name.as_str()),
        AnyNodeRef::Alias(alias) => {
            let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
            Some(name.split('.').next().unwrap_or(name))
        }
        AnyNodeRef::ExceptHandlerExceptHandler(handler) => {
            handler.name.as_ref().map(ruff_python_ast::Identifier::as_str)
        }
        _ => None,
    }
}

fn is_scope(node: AnyNodeRef<'_>) -> bool {
    matches!(
        node,
        AnyNodeRef::ModModule(_)
            | AnyNodeRef::StmtFunctionDef(_)
            | AnyNodeRef::StmtClassDef(_)
            | AnyNodeRef::ExprLambda(_)
            | AnyNodeRef::ExprListComp(_)
            | AnyNodeRef::ExprSetComp(_)
            | AnyNodeRef::ExprDictComp(_)
            | AnyNodeRef::ExprGenerator(_)
    )
}
