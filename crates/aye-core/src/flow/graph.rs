//! The graph and how a skill becomes one.

use std::collections::HashMap;
use std::ops::Range;
use std::time::Duration;

use indexmap::IndexMap;
use serde_json::Value;

use crate::skill::{
    Action, AskKind, Body, EndStatus, HealRule, OnError, Skill, State, Step, StepTimeout,
};
use crate::span::{LineStarts, Span, Spanned};

use super::linearize::{append_finally, checks, in_order, with_guards};

/// The place of a node in [`Flow::nodes`].
pub type NodeId = usize;

/// A skill as a graph of steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// The skill without its body's shape: inputs, outputs, limits, name.
    pub skill: Skill,
    /// All steps, in file order.
    pub nodes: Vec<Node>,
    /// Where a run begins.
    pub start: Target,
    /// Final states.
    pub endings: Vec<Ending>,
    /// The first node of `finally`; those before it are the body.
    finally: NodeId,
    index: HashMap<String, NodeId>,
}

/// A step and where it leads.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What it does.
    pub step: Step,
    /// Where it leads.
    pub routes: Routes,
}

impl Node {
    /// Whether silence takes the `timeout` transition: the step is a question and nothing else,
    /// so nothing else can time out.
    pub fn times_out_unanswered(&self) -> bool {
        matches!(self.step.action, Action::Ask(_)) && self.routes.timeout.is_some()
    }
}

/// Where a step leads, by outcome; see [`Flow::route`] for what is absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Routes {
    /// Exit code 0, or skipped where `skipped` says nothing else.
    pub success: Option<Target>,
    /// Left out: past what belongs to the step.
    pub skipped: Option<Target>,
    /// Any other end.
    pub failure: Option<Target>,
    /// Our own time-out.
    pub timeout: Option<Target>,
    /// A person said no.
    pub declined: Option<Target>,
    /// The run was cancelled.
    pub cancelled: Option<Target>,
    /// Exact exit codes.
    pub codes: IndexMap<i32, Target>,
    /// Answers to the step's question.
    pub answers: IndexMap<String, Target>,
}

impl Routes {
    /// Every route with the word it is written with.
    pub fn labelled(&self) -> Vec<(String, Target)> {
        let named = [
            ("success", self.success),
            ("skipped", self.skipped),
            ("failure", self.failure),
            ("timeout", self.timeout),
            ("declined", self.declined),
            ("cancelled", self.cancelled),
        ];
        named
            .into_iter()
            .filter_map(|(word, target)| Some((word.to_owned(), target?)))
            .chain(self.codes.iter().map(|(code, target)| (code.to_string(), *target)))
            .chain(self.answers.iter().map(|(answer, target)| (answer.clone(), *target)))
            .collect()
    }
}

/// Where a route leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// Another step.
    Step(NodeId),
    /// The end of the run, at [`Flow::endings`].
    End(usize),
}

/// A final state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// Its name; `None` is the end after the last step.
    pub name: Option<String>,
    /// How the run ends there.
    pub status: EndStatus,
}

/// The end after the last step, or of a state that leads nowhere.
const PLAIN_END: usize = 0;

impl Flow {
    /// Turns a checked skill into its graph.
    ///
    /// # Panics
    /// Never for a skill that `skill::parse` let through: it has checked that
    /// every target exists. A dangling one would be treated as the end.
    pub fn compile(skill: Skill) -> Self {
        let mut endings = vec![Ending { name: None, status: EndStatus::Completed }];
        let (nodes, start) = match &skill.body {
            Body::Steps(steps) => in_order(steps, Target::End(PLAIN_END)),
            Body::States { initial, states } => by_transition(initial, states, &mut endings),
        };
        let finally = nodes.len();
        let mut nodes = nodes;
        append_finally(&skill.finally, Target::End(PLAIN_END), &mut nodes);
        let index =
            nodes.iter().enumerate().map(|(id, node)| (node.step.name.value.clone(), id)).collect();
        Self { skill, nodes, start, endings, finally, index }
    }

    /// The steps that one item of a `foreach` goes through, as a flow.
    pub fn of_item(&self, body: &[Step]) -> Self {
        Self::compile(Skill {
            inputs: Vec::new(),
            environment: None,
            finally: Vec::new(),
            concurrency: None,
            outputs: Vec::new(),
            timeout: None,
            body: Body::Steps(body.to_vec()),
            ..self.skill.clone()
        })
    }

    /// The step of [`Self::of_call`].
    pub const CALL: &str = "call";

    /// One call of a tool, as a flow. Its arguments have these names; their
    /// values are in the map `args` of the scope, and no templates.
    pub fn of_call<'a>(
        tool: &str,
        names: impl Iterator<Item = &'a String>,
        timeout: StepTimeout,
    ) -> Self {
        let spanned = |text: &str| Spanned::new(text.to_owned(), Span::default());
        let value = |name: &String| format!("{{{{ args[{}] }}}}", Value::from(name.as_str()));
        let args = names.map(|name| (name.clone(), value(name).into())).collect();
        let (tool, name) = (spanned(tool), spanned(tool));
        let action = Action::Tool { tool, args: Value::Object(args), span: Span::default() };
        let step = Step::bare(spanned(Self::CALL), Span::default(), action);
        Self::compile(Skill {
            span: Span::default(),
            lines: LineStarts::default(),
            name,
            description: None,
            version: None,
            tags: Vec::new(),
            inputs: Vec::new(),
            environment: None,
            // What a server asks meanwhile has steps of its own.
            step_limit: u32::MAX,
            body: Body::Steps(vec![Step { timeout, on_error: Some(OnError::Fail), ..step }]),
            finally: Vec::new(),
            concurrency: None,
            outputs: Vec::new(),
            timeout: None,
            cleanup: Duration::ZERO,
            lenient: None,
            defaults: Value::Null,
            heal: Vec::new(),
        })
    }

    /// Makes every step that calls one of these tools destructive, those of a
    /// `foreach` and repairs too. Nobody else asks what a tool is.
    pub fn mark_destructive(&mut self, tools: &[String]) {
        let steps = self.nodes.iter_mut().map(|node| &mut node.step);
        steps.for_each(|step| mark(step, tools));
        mark_repairs(&mut self.skill.heal, tools);
    }

    /// Whether a step or repair that is not destructive calls one of these tools.
    pub fn calls_any(&self, tools: &[String]) -> bool {
        let steps = self.nodes.iter().map(|node| &node.step);
        let repairs = self.skill.heal.iter().map(|rule| &rule.repair);
        !tools.is_empty() && steps.chain(repairs).any(|step| calls(step, tools))
    }

    /// Where `finally` begins, if the skill has one.
    pub fn finally(&self) -> Option<Target> {
        (self.finally < self.nodes.len()).then_some(Target::Step(self.finally))
    }

    /// Whether a node belongs to `finally`.
    pub fn is_in_finally(&self, node: NodeId) -> bool {
        node >= self.finally
    }

    /// The nodes that run only if this one does: its `then`, and the commands that guard it.
    pub fn belongs_to(&self, node: NodeId) -> Range<NodeId> {
        let (false, Some(past)) = (self.is_in_finally(node), self.nodes[node].routes.skipped)
        else {
            return node + 1..node + 1;
        };
        match (&self.skill.body, past) {
            (Body::Steps(_), Target::Step(past)) => node + 1..past,
            (Body::Steps(_), _) => node + 1..self.finally,
            (Body::States { .. }, _) => node + 1..node + 1,
        }
    }

    /// The nodes that may run because this step did, in order: the commands that guard it, its
    /// `then`, and what belongs to those; and whether someone is asked before they do.
    pub fn started_with(&self, step: &Step) -> Vec<(NodeId, bool)> {
        let mut found = Vec::new();
        self.add_started(step, false, &mut found);
        found
    }

    /// Says whether someone is asked before what comes after all of it.
    fn add_started(&self, step: &Step, asked: bool, found: &mut Vec<(NodeId, bool)>) -> bool {
        let checks = checks(step);
        found.extend(checks.iter().filter_map(|check| Some((self.find(&check.name)?, asked))));
        let mut asked_since = asked;
        for child in &step.then {
            let gated = asked_since || child.confirmation.is_some();
            found.extend(self.find(&child.name).map(|at| (at, gated)));
            // A text that someone types does not agree to anything.
            let consents = child.action.ask().is_some_and(|ask| ask.kind != AskKind::Input);
            let inner = gated || consents;
            let asked_inside = self.add_started(child, inner, found) && !gated;
            // A question that may be left out asks nobody.
            asked_since |= asked_inside && child.condition.is_none();
        }
        asked_since
    }

    /// The nodes of the body: without `finally`.
    pub fn body(&self) -> &[Node] {
        &self.nodes[..self.finally]
    }

    /// The node of a step.
    pub fn find(&self, step: &str) -> Option<NodeId> {
        self.index.get(step).copied()
    }
}

/// Makes every repair that calls one of these tools destructive.
pub fn mark_repairs(rules: &mut [HealRule], tools: &[String]) {
    rules.iter_mut().for_each(|rule| mark(&mut rule.repair, tools));
}

fn mark(step: &mut Step, tools: &[String]) {
    match &mut step.action {
        Action::Tool { tool, .. } => step.destructive |= tools.contains(&tool.value),
        Action::ForEach(each) => each.body.iter_mut().for_each(|step| mark(step, tools)),
        Action::Command { .. }
        | Action::Shell { .. }
        | Action::Ask(_)
        | Action::Compute { .. }
        | Action::Skill { .. }
        | Action::Return { .. }
        | Action::Note => {}
    }
    step.then.iter_mut().for_each(|step| mark(step, tools));
}

fn calls(step: &Step, tools: &[String]) -> bool {
    let named = step.action.tool().is_some_and(|tool| tools.iter().any(|one| one == tool));
    let mut inside = step.action.body().iter().chain(&step.then);
    (named && !step.destructive) || inside.any(|step| calls(step, tools))
}

fn by_transition(
    initial: &Spanned<String>,
    states: &[State],
    endings: &mut Vec<Ending>,
) -> (Vec<Node>, Target) {
    let mut targets: HashMap<&str, Target> = HashMap::new();
    let mut acting = Vec::new();
    for state in states {
        let name = state.step.name.as_str();
        let end = state.ends.map(|status| {
            endings.push(Ending { name: Some(name.to_owned()), status });
            Target::End(endings.len() - 1)
        });
        // A final state that does nothing is only an end. One that acts or
        // asks is a step before its end; its own failure is not hidden.
        let idle = matches!(state.step.action, Action::Note) && state.step.confirmation.is_none();
        let acts = end.is_none() || !idle;
        if acts {
            targets.insert(name, Target::Step(acting.len()));
            acting.push((state, end));
        } else if let Some(end) = end {
            targets.insert(name, end);
        }
    }
    let find = |name: &Spanned<String>| {
        targets.get(name.as_str()).copied().unwrap_or(Target::End(PLAIN_END))
    };
    let nodes: Vec<Node> = acting
        .into_iter()
        .map(|(state, end)| {
            let to = &state.transitions;
            let routes = match end {
                Some(end) => Routes { success: Some(end), ..Routes::default() },
                None => Routes {
                    success: to.success.as_ref().map(find),
                    skipped: None,
                    failure: to.failure.as_ref().map(find),
                    timeout: to.timeout.as_ref().map(find),
                    declined: to.declined.as_ref().map(find),
                    cancelled: to.cancelled.as_ref().map(find),
                    codes: to.codes.iter().map(|(code, name)| (*code, find(name))).collect(),
                    answers: to.answers.iter().map(|(it, name)| (it.clone(), find(name))).collect(),
                },
            };
            Node { step: state.step.clone(), routes }
        })
        .collect();
    let start = find(initial);
    (with_guards(nodes), start)
}
