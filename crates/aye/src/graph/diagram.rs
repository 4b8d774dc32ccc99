//! What there is to draw: shapes and the links between them.

use std::collections::HashMap;

use aye_core::flow::{Flow, Node, NodeId, Routes, Target};
use aye_core::skill::{Action, Ask, Body, EndStatus, OnError, Step};

use super::label::{cut, detail, plain};

/// A flow as shapes and links. Steps come first, in file order.
pub(super) struct Diagram {
    pub(super) title: String,
    pub(super) shapes: Vec<Shape>,
    pub(super) links: Vec<Link>,
    /// Where a run begins.
    pub(super) start: usize,
    /// Whether the skill is written as `states:`.
    pub(super) states: bool,
}

/// One thing on the page.
pub(super) struct Shape {
    pub(super) name: String,
    pub(super) what: What,
    /// The command line or question, as written.
    pub(super) detail: String,
    /// `condition:`.
    pub(super) condition: Option<String>,
    /// What is asked before the step acts.
    pub(super) gate: Option<String>,
    /// Words worth knowing: destructive, continues after a failure.
    pub(super) remarks: Vec<&'static str>,
    /// Whether a run can get here.
    pub(super) reached: bool,
    /// Which end of a run it is, if it is one.
    pub(super) end: Option<EndPlace>,
}

/// Which end of a run a shape is: the page lights the one that a run reached.
pub(super) enum EndPlace {
    /// A final state of the file.
    State,
    /// The end after the last step.
    Last,
    /// The end of one outcome of this step, which the file does not mention.
    After(String),
}

impl Shape {
    /// Everything there is to say about it, each line cut to `width` columns.
    pub(super) fn lines(&self, width: usize) -> Vec<String> {
        let name = Some(self.name.clone());
        let condition = self.condition.as_ref().map(|condition| format!("if {condition}"));
        let gate = self.gate.as_ref().map(|message| format!("⚑ asks first: {message}"));
        let detail = Some(self.detail.clone());
        let remarks = Some(self.remarks.join(", "));
        [name, condition, gate, detail, remarks]
            .into_iter()
            .flatten()
            .filter(|line| !line.is_empty())
            .map(|line| cut(&line, width, "…"))
            .collect()
    }
}

/// What kind of thing it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Command,
    Shell,
    Question,
    Note,
    End(EndStatus),
}

impl What {
    pub(super) fn asks(self) -> bool {
        self == Self::Question
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Shell => "shell",
            Self::Question => "question",
            Self::Note => "note",
            Self::End(status) => status_word(status),
        }
    }
}

/// One way from a shape to another, for one or more outcomes.
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The outcomes in the words of the file; empty for "and then".
    pub(super) outcomes: Vec<String>,
    pub(super) kind: EdgeKind,
    /// Not written in the file.
    pub(super) implied: bool,
}

impl Link {
    pub(super) fn label(&self) -> String {
        self.outcomes.join(", ")
    }
}

/// What taking a link says about the step before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EdgeKind {
    Good,
    Bad,
    Refused,
    Other,
}

/// How a run ends there, if it is the same whatever leads there.
fn shown_status(flow: &Flow, end: usize) -> EndStatus {
    match flow.statuses_at(end)[..] {
        [only] => only,
        _ => EndStatus::Completed,
    }
}

pub(super) fn status_word(status: EndStatus) -> &'static str {
    match status {
        EndStatus::Completed => "completed",
        EndStatus::Failed => "failed",
        EndStatus::Cancelled => "cancelled",
        EndStatus::ByOutcome => "as its way there",
    }
}

impl Diagram {
    pub(super) fn of(flow: &Flow) -> Self {
        let mut drawing = Self {
            title: plain(&flow.skill.name),
            shapes: flow.nodes.iter().map(step_shape).collect(),
            links: Vec::new(),
            start: 0,
            states: matches!(flow.skill.body, Body::States { .. }),
        };
        let ends = drawing.add_endings(flow);
        let shape_of = |target| match target {
            Target::Step(node) => Some(node),
            Target::End(end) => ends.get(&end).copied(),
        };
        for (id, node) in flow.nodes.iter().enumerate() {
            match flow.is_in_finally(id) {
                false => drawing.link(id, node, &shape_of),
                true => drawing.link_finally(id, node),
            }
        }
        drawing.start = shape_of(flow.start).unwrap_or(0);
        drawing.mark_reached(drawing.start);
        if let Some(Target::Step(first)) = flow.finally() {
            drawing.mark_reached(first);
            drawing.link_ends(first);
        }
        drawing
    }

    /// Wherever a run ends, `finally` follows.
    fn link_ends(&mut self, to: NodeId) {
        let ends = self.shapes.iter().enumerate().filter(|(_, shape)| shape.end.is_some());
        let links = ends.map(|(from, _)| {
            let (outcomes, kind) = (Vec::new(), EdgeKind::Good);
            Link { from, to, outcomes, kind, implied: true }
        });
        let links: Vec<Link> = links.collect();
        self.links.extend(links);
    }

    /// Without the links from the ends to `finally`: where these steps stand
    /// beneath each other, their remark says it.
    pub(super) fn without_links_of_ends(mut self) -> Self {
        self.links.retain(|link| self.shapes[link.from].end.is_none());
        self
    }

    /// The steps of `finally` follow each other, however they end.
    fn link_finally(&mut self, from: NodeId, node: &Node) {
        self.shapes[from].remarks.push("finally");
        if let Some(Target::Step(to)) = node.routes.success {
            let (outcomes, kind) = (Vec::new(), EdgeKind::Good);
            self.links.push(Link { from, to, outcomes, kind, implied: false });
        }
    }

    /// Named ends, and the unnamed one if something leads to it.
    fn add_endings(&mut self, flow: &Flow) -> HashMap<usize, usize> {
        let used = |end| {
            flow.start == Target::End(end)
                || flow
                    .body()
                    .iter()
                    .any(|n| n.routes.labelled().iter().any(|r| r.1 == Target::End(end)))
        };
        let mut places = HashMap::new();
        for (id, ending) in flow.endings.iter().enumerate() {
            if ending.name.is_some() || used(id) {
                let place = if ending.name.is_some() { EndPlace::State } else { EndPlace::Last };
                let (name, status) = (ending.name.as_deref(), shown_status(flow, id));
                places.insert(id, self.add_end(name, status, place));
            }
        }
        places
    }

    fn add_end(&mut self, name: Option<&str>, status: EndStatus, place: EndPlace) -> usize {
        let word = if status == EndStatus::Completed { "end" } else { status_word(status) };
        self.shapes.push(Shape {
            name: plain(name.unwrap_or(word)),
            what: What::End(status),
            detail: String::new(),
            condition: None,
            gate: None,
            remarks: Vec::new(),
            reached: false,
            end: Some(place),
        });
        self.shapes.len() - 1
    }

    /// The end of an outcome that leads nowhere in the file.
    fn imply_end(&mut self, from: usize, status: EndStatus, outcome: &str, kind: EdgeKind) {
        let place = EndPlace::After(self.shapes[from].name.clone());
        let to = self.add_end(None, status, place);
        let outcomes = vec![outcome.to_owned()];
        self.links.push(Link { from, to, outcomes, kind, implied: true });
    }

    fn link(&mut self, from: NodeId, node: &Node, shape_of: &dyn Fn(Target) -> Option<usize>) {
        for (outcome, kind, target) in outcomes(node) {
            let Some(to) = shape_of(target) else { continue };
            self.join(from, to, &outcome, kind);
        }
        let leads_on = node.routes.success.is_some() || node.routes.codes.contains_key(&0);
        if !leads_on && !node.is_decided_by_answers() {
            self.imply_end(from, EndStatus::Completed, "success", EdgeKind::Good);
        }
        let caught = node.routes.declined.or(node.routes.failure).is_some();
        if node.can_decline() && !caught && node.routed_no().is_none() {
            self.imply_end(from, EndStatus::Cancelled, "declined", EdgeKind::Refused);
        }
    }

    /// Outcomes that lead to the same place share a link.
    fn join(&mut self, from: usize, to: usize, outcome: &str, kind: EdgeKind) {
        let outcome =
            if self.states || kind != EdgeKind::Good { Some(outcome.to_owned()) } else { None };
        match self.links.iter_mut().find(|link| link.from == from && link.to == to) {
            Some(link) => link.outcomes.extend(outcome),
            None => {
                let outcomes = outcome.into_iter().collect();
                self.links.push(Link { from, to, outcomes, kind, implied: false });
            }
        }
    }

    fn mark_reached(&mut self, from: usize) {
        let mut open = vec![from];
        while let Some(place) = open.pop() {
            let Some(shape) = self.shapes.get_mut(place) else { continue };
            if !std::mem::replace(&mut shape.reached, true) {
                open.extend(
                    self.links.iter().filter(|link| link.from == place).map(|link| link.to),
                );
            }
        }
    }
}

/// The written routes in reading order, with what `flow::route` makes of them.
fn outcomes(node: &Node) -> Vec<(String, EdgeKind, Target)> {
    let Routes { success, skipped, failure, timeout, declined, cancelled, codes, answers } =
        &node.routes;
    let mut found = Vec::new();
    let mut add = |word: &str, kind, target: Option<Target>| {
        found.extend(target.map(|target| (word.to_owned(), kind, target)));
    };
    add("0", EdgeKind::Good, codes.get(&0).copied());
    add("success", EdgeKind::Good, *success);
    add("skipped", EdgeKind::Other, *skipped);
    for (code, target) in codes.iter().filter(|(code, _)| **code != 0) {
        add(&code.to_string(), EdgeKind::Other, Some(*target));
    }
    for (answer, target) in answers {
        let kind = if node.declines_with(answer) { EdgeKind::Refused } else { EdgeKind::Other };
        add(&plain(answer), kind, Some(*target));
    }
    add("failure", EdgeKind::Bad, *failure);
    add("timeout", EdgeKind::Bad, *timeout);
    let refusal = declined.or(failure.filter(|_| node.can_decline()));
    add("declined", EdgeKind::Refused, refusal);
    add("cancelled", EdgeKind::Refused, *cancelled);
    found
}

fn step_shape(node: &Node) -> Shape {
    let step = &node.step;
    let what = match &step.action {
        Action::Command { .. }
        | Action::Tool { .. }
        | Action::Skill { .. }
        | Action::ForEach(_) => What::Command,
        Action::Shell { .. } | Action::Compute { .. } => What::Shell,
        Action::Ask(_) => What::Question,
        Action::Note | Action::Return { .. } => What::Note,
    };
    let mut remarks = Vec::new();
    if step.retry.is_some() {
        remarks.push("tries again");
    }
    if step.destructive {
        remarks.push("destructive");
    }
    match step.on_error {
        Some(OnError::Fail) | None => {}
        Some(OnError::Continue) => remarks.push("continues after a failure"),
        Some(OnError::Ask) => remarks.push("asks after a failure"),
        Some(OnError::AutoHeal) => remarks.push("heals after a failure"),
    }
    Shape {
        name: plain(&step.name),
        what,
        detail: detail(step),
        condition: step.condition.as_ref().map(|condition| plain(condition)),
        gate: gate(step).map(|ask| plain(&ask.message)),
        remarks,
        reached: false,
        end: None,
    }
}

/// The question before a step, or before what it does for each item.
fn gate(step: &Step) -> Option<&Ask> {
    step.confirmation.as_ref().or_else(|| step.action.body().iter().find_map(gate))
}
