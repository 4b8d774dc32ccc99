//! The code of a block as a flat list of nodes that know their parents.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use aye_core::text::Scope;
use ruff_python_ast::str::Quote;
use ruff_python_ast::token::TokenKind;
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal};
use ruff_python_ast::{AnyNodeRef, Expr, ExprAttribute, ExprContext, Mod, StringFlags as _};
use ruff_python_parser::Parsed;
use ruff_text_size::{Ranged, TextRange};

use super::super::error::Place;
use super::super::source::Analysis;
use super::shape::Shape;
use super::values::writes;
use super::visible::binds;

/// Enough for any block someone wrote by hand.
const BUDGET: usize = 20_000;

/// A node and the one it stands in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) node: AnyNodeRef<'a>,
    pub(super) parent: usize,
}

/// The code of a block.
pub(super) struct Code<'a> {
    pub(super) text: &'a str,
    pub(super) analyze: &'a Analysis,
    pub(super) output: Option<&'a str>,
    pub(super) scope: &'a Scope,
    /// All nodes, parents before what is in them; the first is the module.
    pub(super) nodes: Vec<Entry<'a>>,
    /// Where each name is set, and where it is used.
    pub(super) set: HashMap<&'a str, Vec<usize>>,
    used: HashMap<&'a str, Vec<usize>>,
    /// Names into whose values something is written.
    pub(super) changed: HashSet<&'a str>,
    /// What names of the run stand for, once it was asked for.
    pub(super) known: RefCell<HashMap<String, Rc<Shape>>>,
    /// How many expressions may still be looked at.
    budget: Cell<usize>,
    parsed: &'a Parsed<Mod>,
}

impl<'a> Code<'a> {
    pub(super) fn new(
        text: &'a str,
        parsed: &'a Parsed<Mod>,
        analyze: &'a Analysis,
        output: Option<&'a str>,
        scope: &'a Scope,
    ) -> Self {
        let mut collect = Collect { nodes: Vec::new(), open: Vec::new() };
        collect.visit_mod(parsed.syntax());
        let (mut set, mut used) = (HashMap::<_, Vec<_>>::new(), HashMap::<_, Vec<_>>::new());
        let mut changed = HashSet::new();
        for (index, entry) in collect.nodes.iter().enumerate() {
            if let Some(name) = binds(entry.node) {
                set.entry(name).or_default().push(index);
            }
            match entry.node {
                AnyNodeRef::ExprName(name) if name.ctx == ExprContext::Load => {
                    used.entry(name.id.as_str()).or_default().push(index);
                }
                _ => changed.extend(writes(entry.node)),
            }
        }
        Self {
            text,
            analyze,
            output,
            scope,
            nodes: collect.nodes,
            set,
            used,
            changed,
            known: RefCell::default(),
            budget: Cell::new(BUDGET),
            parsed,
        }
    }

    /// The bytes a place stands for.
    pub(super) fn bytes(&self, place: &Place) -> Range<usize> {
        let lines = self.text.split_inclusive('\n').take(place.line.saturating_sub(1));
        let start: usize = lines.map(str::len).sum();
        let line = self.text[start..].split('\n').next().unwrap_or_default();
        let byte = |column: usize| {
            start + line.char_indices().nth(column).map_or(line.len(), |(byte, _)| byte)
        };
        byte(place.columns.start)..byte(place.columns.end)
    }

    pub(super) fn node(&self, index: usize) -> AnyNodeRef<'a> {
        self.nodes[index].node
    }

    /// The node around one; `None` around the module.
    pub(super) fn parent(&self, index: usize) -> Option<usize> {
        (index > 0).then(|| self.nodes[index].parent)
    }

    /// The nodes around one, the nearest first.
    pub(super) fn around(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.parent(index), |index| self.parent(*index))
    }

    /// The one node at a place that fits. The place of an error is that of an
    /// expression, of its first character if it continues on other lines, or of
    /// a whole line if nobody knows better.
    pub(super) fn find(
        &self,
        place: &Range<usize>,
        fits: impl Fn(AnyNodeRef<'a>) -> bool,
    ) -> Option<usize> {
        let mut near = Vec::new();
        let mut exact = Vec::new();
        for (index, entry) in self.nodes.iter().enumerate() {
            let range = entry.node.range();
            let (start, end) = (range.start().to_usize(), range.end().to_usize());
            let inside = place.start <= start && end <= place.end;
            if (start == place.start || inside) && fits(entry.node) {
                near.push(index);
                if end == place.end && start == place.start {
                    exact.push(index);
                }
            }
        }
        match (exact.as_slice(), near.as_slice()) {
            ([one], _) | ([], [one]) => Some(*one).filter(|one| !self.shows_itself(*one)),
            _ => None,
        }
    }

    /// `f"{x=}"` shows its own text: to change it is to change a string.
    pub(super) fn shows_itself(&self, index: usize) -> bool {
        self.around(index).any(|around| {
            matches!(self.node(around), AnyNodeRef::InterpolatedElement(element)
                if element.debug_text.is_some())
        })
    }

    /// Quotes that can be written here: inside an f-string not its own.
    pub(super) fn quote(&self, index: usize) -> Option<char> {
        let mut taken = Vec::new();
        for around in self.around(index) {
            match self.node(around) {
                AnyNodeRef::FString(string) => taken.push(string.flags.quote_style()),
                AnyNodeRef::TString(_) => return None,
                _ => {}
            }
        }
        let free = [Quote::Double, Quote::Single].into_iter().find(|quote| !taken.contains(quote));
        free.map(Quote::as_char)
    }

    /// A key as a string that can be written here.
    pub(super) fn string(&self, index: usize, key: &str) -> Option<String> {
        let quote = self.quote(index)?;
        is_simple(key).then(|| format!("{quote}{key}{quote}"))
    }

    /// The dot of an attribute.
    pub(super) fn dot(&self, attribute: &ExprAttribute) -> Option<Range<usize>> {
        let between = TextRange::new(attribute.value.end(), attribute.attr.start());
        self.token(between, TokenKind::Dot)
    }

    /// The first token of a kind in a range.
    pub(super) fn token(&self, range: TextRange, kind: TokenKind) -> Option<Range<usize>> {
        let tokens = self.parsed.tokens().in_range(range);
        tokens.iter().find(|token| token.kind() == kind).map(|token| bytes_of(token.range()))
    }

    /// Counts one more expression that is looked at; `None` if it is too much.
    pub(super) fn spend(&self) -> Option<()> {
        self.budget.set(self.budget.get().checked_sub(1)?);
        Some(())
    }

    /// Every use of a name as a value.
    pub(super) fn loads(&self, name: &str) -> &[usize] {
        self.used.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether the code defines classes: what they do nobody can say.
    pub(super) fn has_classes(&self) -> bool {
        self.nodes.iter().any(|entry| matches!(entry.node, AnyNodeRef::StmtClassDef(_)))
    }

    /// Whether this is the function of the call around it.
    pub(super) fn is_called(&self, index: usize) -> bool {
        match self.parent(index).map(|parent| self.node(parent)) {
            Some(AnyNodeRef::ExprCall(call)) => same(&call.func, self.node(index)),
            _ => false,
        }
    }
}

/// Whether an expression is this node.
pub(super) fn same(expr: &Expr, node: AnyNodeRef<'_>) -> bool {
    AnyNodeRef::from(expr).ptr_eq(node)
}

pub(super) fn bytes_of(range: TextRange) -> Range<usize> {
    range.start().to_usize()..range.end().to_usize()
}

/// Whether a key can be written in any quotes, in f-strings too, as it is.
pub(super) fn is_simple(key: &str) -> bool {
    !key.chars().any(|c| c.is_control() || matches!(c, '\'' | '"' | '\\' | '{' | '}'))
}

struct Collect<'a> {
    nodes: Vec<Entry<'a>>,
    open: Vec<usize>,
}

impl<'a> SourceOrderVisitor<'a> for Collect<'a> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        let parent = self.open.last().copied().unwrap_or_default();
        self.open.push(self.nodes.len());
        self.nodes.push(Entry { node, parent });
        TraversalSignal::Traverse
    }

    fn leave_node(&mut self, _node: AnyNodeRef<'a>) {
        self.open.pop();
    }
}
