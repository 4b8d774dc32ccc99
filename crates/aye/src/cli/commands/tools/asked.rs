//! What a server asks while `aye tools call` waits for it.
//!
//! The form is a run like those inside a step, with the same questions, but
//! of no journal: with the call it is over.

use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

use aye_core::effect::Effect;
use aye_core::event::CancelReason;
use aye_core::flow::Flow;
use aye_core::form::Form;
use aye_core::input::{Input, Request};
use aye_core::journal::{Ended, Phase};
use aye_core::machine::{Machine, Start};
use aye_core::nested::ParentScope;
use aye_core::secrets::Secrets;
use aye_core::skill::{Body, Skill};
use aye_core::span::{Span, Spanned};
use aye_core::text::World;
use indexmap::IndexMap;
use serde_json::Value;

use crate::cli::Context;
use crate::paint::escape_control_line;
use crate::prompt::{Escape, SharedScreen, TerminalEvent, TerminalPrompter};
use aye_runtime::driver::MOST_ASKED;
use aye_runtime::prompter::{PromptEvent, Prompter as _, QuestionContext};
use aye_runtime::tools::{Reply, Tools};

/// The questions of servers, one after the other.
pub(super) struct Asked<'c> {
    context: &'c Context,
    /// The tool that was called.
    tool: String,
    screen: SharedScreen,
    prompter: TerminalPrompter<'c>,
    open: VecDeque<Filling>,
    /// How often it has asked.
    count: usize,
}

/// A form that is being filled in.
struct Filling {
    ask: u64,
    form: Form,
    machine: Machine,
}

impl<'c> Asked<'c> {
    pub(super) fn new(tool: &str, context: &'c Context) -> Self {
        let config = context.config(Escape::Declines, true);
        let screen = SharedScreen::default();
        let prompter = TerminalPrompter::new(config, &context.clock, screen.clone());
        Self { context, tool: tool.to_owned(), screen, prompter, open: VecDeque::new(), count: 0 }
    }

    /// Whether somebody is there.
    pub(super) fn is_possible(&self) -> bool {
        self.prompter.obstacle().is_none()
    }

    /// Whether something is asked right now.
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// A server asks.
    pub(super) fn begin(&mut self, ask: u64, form: Form, tools: &Tools) {
        self.count += 1;
        if self.count > MOST_ASKED {
            self.screen.hide();
            declined(&form.server, &format!("it has asked {MOST_ASKED} times"));
            return tools.reply(ask, Reply::Decline);
        }
        match self.machine(&form) {
            Some(machine) => self.open.push_back(Filling { ask, form, machine }),
            None => tools.reply(ask, Reply::Cancel),
        }
    }

    /// The server asks no more.
    pub(super) fn end(&mut self, ask: u64) {
        if self.open.front().is_some_and(|first| first.ask == ask) {
            self.prompter.close();
        }
        self.open.retain(|filling| filling.ask != ask);
    }

    /// The call is over, or given up, and with it what its server asks.
    pub(super) fn end_all(&mut self) {
        self.prompter.close();
        self.open.clear();
    }

    /// Shows the first question and waits for an answer or one of `wake`.
    pub(super) fn ask(&mut self, wake: &[BorrowedFd<'_>], tools: &Tools) {
        let world = self.world();
        let Some(first) = self.open.front_mut() else { return };
        let Effect::Ask(question) = first.machine.next_effect() else {
            return self.finish(tools);
        };
        let run = Some(first.machine.state());
        let posed = QuestionContext {
            question: &question,
            deadline: None,
            agreed: &[],
            run,
            secrets: None,
        };
        match self.prompter.hear(&posed, wake) {
            Some(TerminalEvent::Given(given)) => {
                let PromptEvent::Answered { answer, .. } = self.prompter.answer(&posed, given)
                else {
                    return;
                };
                let request = Request::answer(question.id.clone(), answer);
                let reaction = first.machine.handle(Input::Request(request), &world);
                if let Some(refusal) = reaction.refusal {
                    self.prompter.say_refused(&refusal.to_string());
                }
            }
            Some(TerminalEvent::Dismissed) => self.leave("it was left without an answer", tools),
            Some(TerminalEvent::Unavailable(why)) => self.leave(&why, tools),
            Some(TerminalEvent::Typing) | None => {}
        }
    }

    /// Nobody answers the first form.
    fn leave(&mut self, why: &str, tools: &Tools) {
        self.prompter.close();
        if let Some(first) = self.open.pop_front() {
            declined(&first.form.server, why);
            tools.reply(first.ask, Reply::Decline);
        }
    }

    /// The first form is filled in, or declined.
    fn finish(&mut self, tools: &Tools) {
        self.prompter.close();
        let Some(Filling { ask, form, machine }) = self.open.pop_front() else { return };
        let state = machine.state();
        match &state.phase {
            Phase::Ended(Ended::Completed) => match form.content(&form, &state.outputs) {
                Ok(content) => tools.reply(ask, Reply::Accept(content)),
                // Asked once more, with what was wrong.
                Err(why) => self.begin(ask, Form { note: Some(why), ..form }, tools),
            },
            Phase::Ended(Ended::Cancelled(CancelReason::Declined)) => {
                tools.reply(ask, Reply::Decline);
            }
            _ => tools.reply(ask, Reply::Cancel),
        }
    }

    pub(super) fn hide(&mut self) {
        self.screen.hide();
    }

    pub(super) fn rest(&mut self) {
        self.screen.rest();
    }

    pub(super) fn redraw(&mut self) {
        self.screen.redraw();
    }

    fn world(&self) -> World {
        World { now: self.context.now(), names: self.context.names(&self.context.directory) }
    }

    fn machine(&self, form: &Form) -> Option<Machine> {
        let name = Spanned::new(self.tool.clone(), Span::default());
        let steps = form.steps();
        let flow = Flow::compile(Skill {
            span: Span::default(),
            name,
            description: None,
            version: None,
            tags: Vec::new(),
            inputs: Vec::new(),
            step_limit: u32::try_from(steps.len()).unwrap_or(u32::MAX),
            body: Body::Steps(steps),
            outputs: Vec::new(),
            timeout: None,
            cleanup: Duration::ZERO,
            lenient: None,
            defaults: Value::Null,
            heal: Vec::new(),
        });
        let outer = ParentScope { locals: Arc::new(form.locals()), ..ParentScope::default() };
        let start = Start {
            run: self.context.new_run_id(),
            file: String::new(),
            source: String::new(),
            inputs: IndexMap::new(),
            secrets: Secrets::default(),
            workspace: self.context.directory.to_string_lossy().into_owned(),
            environment: None,
            range: None,
            yes: false,
            driver: self.context.driver(),
            parent: None,
            outer: Some(outer),
            deadline: None,
            destructive_tools: Vec::new(),
            started_by: None,
            epoch: 0,
        };
        let begun = Machine::start(Arc::new(flow), self.context.limits(), start, &self.world());
        begun.ok().map(|(machine, _)| machine)
    }
}

/// Says that a server was told no.
pub(super) fn declined(server: &str, why: &str) {
    let why = escape_control_line(why);
    crate::cli::say(&format!("{server} asked a question and was declined: {why}\n"));
}
