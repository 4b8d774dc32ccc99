//! From text to a [`Tree`], within limits.

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle, options};

use super::merge::{self, Entries};
use super::syntax;
use super::tree::{Kind, Node, NodeId, Scalar, Tree};
use crate::diagnostic::{Diagnostic, quote};
use crate::span::Span;

/// The largest file, in bytes.
pub const MAX_BYTES: usize = 1024 * 1024;
/// The deepest nesting of lists and mappings.
pub const MAX_DEPTH: usize = 64;
/// The most nodes, each alias counted as all it stands for.
pub const MAX_NODES: usize = 100_000;
/// The most text, each alias counted as all it stands for.
const MAX_TEXT: usize = 4 * MAX_BYTES;

/// Reads the one document of a text. What is wrong goes to `report`; without a
/// tree there was an error that made going on pointless.
pub fn read(text: &str, report: &mut Vec<Diagnostic>) -> Option<Tree> {
    match try_read(text, report) {
        Ok(tree) => Some(tree),
        Err(diagnostic) => {
            report.push(*diagnostic);
            None
        }
    }
}

type Stop = Box<Diagnostic>;

fn try_read(text: &str, report: &mut Vec<Diagnostic>) -> Result<Tree, Stop> {
    syntax::check_size(text)?;
    syntax::check_characters(text)?;
    let bom = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let body = &text[bom..];
    let mut reader = Reader {
        text,
        offset: bom,
        nodes: Vec::new(),
        open: Vec::new(),
        anchors: HashMap::new(),
        budget: Weight::default(),
        root: None,
        report,
    };
    let limits = options! {
        // One more than ours, so that our own message is the one shown.
        flow_nesting_limit: MAX_DEPTH + 1,
        block_nesting_limit: MAX_DEPTH + 1,
        emit_unresolved_aliases: true,
        emit_comments: false,
    };
    for event in Parser::new_from_str_with_options(body, limits) {
        let (event, span) = event.map_err(|error| syntax::error(&error, text, bom))?;
        let span = span.byte_range().map(|range| reader.span(range.start, range.end));
        reader.event(event, span.unwrap_or_default())?;
    }
    let Some(root) = reader.root else {
        return Err(syntax::empty(text));
    };
    Ok(Tree { nodes: reader.nodes, root })
}

/// What a node weighs with everything in it, aliases followed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Weight {
    nodes: usize,
    text: usize,
    height: usize,
}

impl Weight {
    fn add(&mut self, other: Self) {
        self.nodes = self.nodes.saturating_add(other.nodes);
        self.text = self.text.saturating_add(other.text);
        self.height = self.height.max(other.height);
    }
}

/// A finished node that aliases may stand for; `None` while it is being read.
type Anchored = Option<(NodeId, Weight)>;

/// A list or mapping whose end has not been read yet.
struct Open {
    span: Span,
    anchor: usize,
    content: Content,
    weight: Weight,
}

enum Content {
    List(Vec<NodeId>),
    Mapping { entries: Entries, key: Option<NodeId> },
}

struct Reader<'a> {
    text: &'a str,
    offset: usize,
    nodes: Vec<Node>,
    open: Vec<Open>,
    anchors: HashMap<usize, Anchored>,
    budget: Weight,
    root: Option<NodeId>,
    report: &'a mut Vec<Diagnostic>,
}

impl Reader<'_> {
    /// A span of the whole text, without the blanks the parser counts in.
    fn span(&self, start: usize, end: usize) -> Span {
        let (start, end) = (start + self.offset, end + self.offset);
        let slice = self.text.get(start..end).unwrap_or_default();
        Span { start, end: start + slice.trim_end().len() }
    }

    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), Stop> {
        if let Some(tag) = event.tag()
            && !known_tag(tag)
        {
            let message = format!("unknown tag {}", quote(&tag.original()));
            let label = "tags mean nothing here";
            self.report.push(
                Diagnostic::error("unknown-tag", message).label(span, label).hint("remove it"),
            );
        }
        match event {
            Event::DocumentStart(..) if self.root.is_some() => Err(Box::new(
                Diagnostic::error("several-documents", "more than one YAML document in a file")
                    .label(span, "a second document starts here")
                    .hint("put several skills into one file as `workflows:`, a mapping of name to skill"),
            )),
            Event::Scalar(text, style, anchor, tag) => {
                let text_tag = tag.is_some_and(|tag| tag.is_yaml_core_schema_tag("str"));
                let plain = style == ScalarStyle::Plain && !text_tag;
                // The parser says `~` for a value left out.
                let nothing = plain && span.start == span.end;
                let text = if nothing { String::new() } else { text.into_owned() };
                let span = if nothing { self.place_of_nothing(span) } else { span };
                let weight = Weight { nodes: 1, text: text.len(), height: 0 };
                let kind = Kind::Scalar(Scalar { text, plain });
                self.finish(Node { span, kind }, anchor, weight)
            }
            Event::SequenceStart(_, anchor, _) => {
                self.begin(span, anchor, Content::List(Vec::new()))
            }
            Event::MappingStart(_, anchor, _) => {
                let content = Content::Mapping { entries: Entries::default(), key: None };
                self.begin(span, anchor, content)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
            Event::Alias(anchor) => self.alias(anchor, span),
            Event::UnresolvedAlias(name) => {
                let message = format!("no anchor {} above", quote(&format!("&{name}")));
                self.report.push(Diagnostic::error("unknown-anchor", message).label(span, ""));
                let kind = Kind::Scalar(Scalar { text: String::new(), plain: true });
                self.finish(Node { span, kind }, 0, Weight { nodes: 1, ..Weight::default() })
            }
            // Stream and document borders, and whatever a later parser adds
            // that is not a node.
            _ => Ok(()),
        }
    }

    /// A value left out is shown at its key: the parser places it anywhere
    /// up to whatever comes next.
    fn place_of_nothing(&self, span: Span) -> Span {
        match self.open.last().map(|open| &open.content) {
            Some(Content::Mapping { key: Some(key), .. }) => self.nodes[key.0 as usize].span,
            _ => span,
        }
    }

    fn begin(&mut self, span: Span, anchor: usize, content: Content) -> Result<(), Stop> {
        if self.open.len() >= MAX_DEPTH {
            return Err(syntax::too_deep(span));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, None);
        }
        self.open.push(Open { span, anchor, content, weight: Weight::default() });
        Ok(())
    }

    fn end(&mut self, end: Span) -> Result<(), Stop> {
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        let mut span = open.span;
        // A flow collection ends with its bracket, a block with its last node.
        span.end = span.end.max(if end.end > end.start { end.end } else { 0 });
        self.bare_template(span);
        let kind = match open.content {
            Content::List(items) => Kind::List(items),
            Content::Mapping { entries, .. } => {
                let entries = merge::resolve(entries, &self.nodes, self.report);
                Kind::Mapping(entries)
            }
        };
        let mut weight = open.weight;
        weight.nodes += 1;
        weight.height += 1;
        self.finish(Node { span, kind }, open.anchor, weight)
    }

    /// `{{ x }}` without quotes is a mapping whose key is a mapping. Nobody
    /// means that.
    fn bare_template(&mut self, span: Span) {
        let Some(last) = self.report.last_mut() else {
            return;
        };
        if last.code == merge::BAD_KEY && last.span().start == span.start + 1 {
            *last = Diagnostic::error(merge::BAD_KEY, "a template without quotes")
                .label(span, "to YAML this is a mapping")
                .hint(format!(
                    "write \"{}\"",
                    self.text.get(span.start..span.end).unwrap_or("{{ … }}")
                ));
        }
    }

    fn finish(&mut self, node: Node, anchor: usize, weight: Weight) -> Result<(), Stop> {
        let span = node.span;
        // The nodes inside have been counted already.
        let own = match node.kind {
            Kind::Scalar(_) => Weight { height: 0, ..weight },
            Kind::List(_) | Kind::Mapping(_) => Weight { nodes: 1, text: 0, height: 0 },
        };
        self.spend(own, span)?;
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node);
        if anchor != 0 {
            self.anchors.insert(anchor, Some((id, weight)));
        }
        self.place(id, span, weight);
        Ok(())
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Stop> {
        let Some(Some((id, weight))) = self.anchors.get(&anchor).copied() else {
            return Err(Box::new(
                Diagnostic::error("recursive-alias", "an alias inside the node it stands for")
                    .label(span, "this would never end"),
            ));
        };
        if self.open.len() + weight.height > MAX_DEPTH {
            return Err(syntax::too_deep(span));
        }
        self.spend(weight, span)?;
        self.place(id, span, weight);
        Ok(())
    }

    fn spend(&mut self, weight: Weight, span: Span) -> Result<(), Stop> {
        self.budget.add(weight);
        if self.budget.nodes > MAX_NODES || self.budget.text > MAX_TEXT {
            return Err(syntax::too_much(span));
        }
        Ok(())
    }

    /// Puts a finished node where it belongs.
    fn place(&mut self, id: NodeId, span: Span, weight: Weight) {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(id);
            return;
        };
        open.weight.add(weight);
        open.span.end = open.span.end.max(span.end);
        match &mut open.content {
            Content::List(items) => items.push(id),
            Content::Mapping { entries, key } => match key.take() {
                None => *key = Some(id),
                Some(key) => entries.push(key, id, span, &self.nodes, self.report),
            },
        }
    }
}

fn known_tag(tag: &granit_parser::Tag) -> bool {
    ["str", "int", "float", "bool", "null", "seq", "map"]
        .iter()
        .any(|known| tag.is_yaml_core_schema_tag(known))
}
