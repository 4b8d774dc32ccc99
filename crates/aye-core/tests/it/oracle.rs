//! What a run should do, written down a second time and differently: a
//! recursive walk over the skill model itself, without graph, journal or
//! events.

use aye_core::skill::{
    Action, Body, ChoiceAction, EndStatus, OnError, Skill, State, Step, StepTimeout, Transitions,
};

/// What happens to a step each time it is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    /// It ends with this exit code.
    Exit(i32),
    /// It runs into its time-out.
    Timeout,
}

/// An answer that nobody gives, at a prompt that is shown until its time is up.
pub(crate) const SILENCE: &str = "silence";
/// The same where no prompter shows it.
pub(crate) const UNSEEN: &str = "unseen";

/// How the oracle thinks a run ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Completed(Option<String>),
    FailedAt(String),
    TimedOutAt(String),
    FailedIn(String),
    CancelledIn(String),
    DeclinedAt(String),
    AbortedAt(String),
    TooManySteps,
    /// All went well but for this step of `finally`.
    FinallyFailedAt(String),
}

/// What the world does, by step name; the same each time a step is met.
pub(crate) struct World<'a> {
    pub(crate) exits: &'a dyn Fn(&str) -> Script,
    /// The option taken at a step's gate or question.
    pub(crate) answers: &'a dyn Fn(&str) -> &'static str,
    /// What is said about a step that failed, first and every later time.
    pub(crate) repairs: &'a dyn Fn(&str, u32) -> &'static str,
}

/// The steps acted on, in order, and the end.
pub(crate) fn foresee(skill: &Skill, world: &World<'_>) -> (Vec<String>, Verdict) {
    let mut walk = Walk {
        skill,
        world,
        acted: Vec::new(),
        budget: skill.step_limit,
        led: EndStatus::Completed,
    };
    let verdict = match &skill.body {
        Body::Steps(steps) => walk.list(steps),
        Body::States { initial, .. } => walk.state(initial),
    };
    let verdict = walk.finally(verdict);
    (walk.acted, verdict)
}

struct Walk<'a> {
    skill: &'a Skill,
    world: &'a World<'a>,
    acted: Vec<String>,
    budget: u32,
    /// How the last outcome would end a run.
    led: EndStatus,
}

/// How one visit to a step ended.
enum Visit {
    Good,
    LeftOut,
    Bad(Option<i32>),
    Refused,
    GivenUp,
    /// A question decided it: what it means, and what was said if anything was.
    Said(ChoiceAction, Option<String>),
}

impl Walk<'_> {
    /// However the run ended, every step of `finally` is met.
    fn finally(&mut self, verdict: Verdict) -> Verdict {
        let mut failed = None;
        for step in &self.skill.finally {
            self.budget += 1;
            let bad = matches!(self.visit(step, true), Visit::Bad(_));
            if bad && step.on_error != Some(OnError::Continue) && failed.is_none() {
                failed = Some(step.name.value.clone());
            }
        }
        match (verdict, failed) {
            (Verdict::Completed(_), Some(step)) => Verdict::FinallyFailedAt(step),
            (verdict, _) => verdict,
        }
    }

    fn list(&mut self, steps: &[Step]) -> Verdict {
        let Some((step, rest)) = steps.split_first() else {
            return Verdict::Completed(None);
        };
        if self.budget == 0 {
            return Verdict::TooManySteps;
        }
        let name = step.name.value.clone();
        match self.visit(step, false).plain() {
            Visit::Good | Visit::LeftOut => self.list(rest),
            Visit::Bad(_) if step.on_error == Some(OnError::Continue) => self.list(rest),
            Visit::Bad(Some(_)) => Verdict::FailedAt(name),
            Visit::Bad(None) => Verdict::TimedOutAt(name),
            Visit::Refused => Verdict::DeclinedAt(name),
            Visit::GivenUp => Verdict::AbortedAt(name),
            Visit::Said(..) => unreachable!("only states look at what was said"),
        }
    }

    fn state(&mut self, name: &str) -> Verdict {
        let Body::States { states, .. } = &self.skill.body else { unreachable!() };
        let Some(State { step, transitions: to, ends }) =
            states.iter().find(|state| state.step.name.value == name)
        else {
            return Verdict::Completed(None);
        };
        if let Some(status) = ends {
            let name = name.to_owned();
            let status = if *status == EndStatus::ByOutcome { self.led } else { *status };
            return match status {
                EndStatus::Completed | EndStatus::ByOutcome => Verdict::Completed(Some(name)),
                EndStatus::Failed => Verdict::FailedIn(name),
                EndStatus::Cancelled => Verdict::CancelledIn(name),
            };
        }
        if self.budget == 0 {
            return Verdict::TooManySteps;
        }
        let visit = self.visit(step, catches(to, self.outcome(step)));
        let name = name.to_owned();
        let on = |walk: &mut Self| match &to.success {
            Some(next) => walk.led_to(EndStatus::Completed, next),
            None => Verdict::Completed(None),
        };
        // Nobody said anything to the question that the state is: its own way for that, or
        // that of a no.
        let visit = match (visit, &step.action) {
            (Visit::Said(ChoiceAction::Cancel, None), Action::Ask(ask)) => {
                if let Some(next) = &to.timeout {
                    return self.led_to(EndStatus::Cancelled, next);
                }
                Visit::Said(ChoiceAction::Cancel, no_of(ask))
            }
            (visit, _) => visit,
        };
        if let Visit::Said(action, Some(said)) = &visit
            && let Some(next) = to.answers.get(said)
        {
            let led = match action {
                ChoiceAction::Cancel => EndStatus::Cancelled,
                ChoiceAction::Proceed | ChoiceAction::Skip => EndStatus::Completed,
            };
            return self.led_to(led, next);
        }
        match visit.plain() {
            Visit::Good => match (to.codes.get(&0), &to.success) {
                (Some(next), _) | (None, Some(next)) => self.led_to(EndStatus::Completed, next),
                (None, None) => Verdict::Completed(None),
            },
            Visit::LeftOut => on(self),
            Visit::Bad(code) => {
                let exact = code.and_then(|code| to.codes.get(&code));
                let late = if code.is_none() { to.timeout.as_ref() } else { None };
                match (exact, late.or(to.failure.as_ref())) {
                    (Some(next), _) => return self.led_to(EndStatus::Completed, next),
                    (None, Some(next)) => return self.led_to(EndStatus::Failed, next),
                    (None, None) => {}
                }
                match () {
                    () if step.on_error == Some(OnError::Continue) => on(self),
                    () if code.is_none() => Verdict::TimedOutAt(name),
                    () => Verdict::FailedAt(name),
                }
            }
            Visit::Refused => match to.declined.as_ref().or(to.failure.as_ref()) {
                Some(next) => self.led_to(EndStatus::Cancelled, next),
                None => Verdict::DeclinedAt(name),
            },
            Visit::GivenUp => Verdict::AbortedAt(name),
            Visit::Said(..) => unreachable!("it is plain"),
        }
    }

    fn led_to(&mut self, led: EndStatus, next: &str) -> Verdict {
        self.led = led;
        self.state(next)
    }

    fn outcome(&self, step: &Step) -> Script {
        (self.world.exits)(&step.name)
    }

    /// One visit with all its attempts; `caught` says that a failure has
    /// somewhere to go and nobody need be asked.
    fn visit(&mut self, step: &Step, caught: bool) -> Visit {
        self.budget -= 1;
        let name = step.name.value.clone();
        if step.condition.as_ref().is_some_and(|condition| condition.value == "false") {
            return Visit::LeftOut;
        }
        if let Some(gate) = &step.confirmation {
            match self.decide(gate, &name) {
                (ChoiceAction::Proceed, _) => {}
                (ChoiceAction::Cancel, None) => {
                    return Visit::Said(ChoiceAction::Cancel, no_of(gate));
                }
                (action, said) => return Visit::Said(action, said),
            }
        }
        match &step.action {
            Action::Note => Visit::Good,
            Action::Ask(ask) => {
                self.acted.push(name.clone());
                let (action, said) = self.decide(ask, &name);
                Visit::Said(action, said)
            }
            Action::Tool { .. }
            | Action::Compute { .. }
            | Action::Skill { .. }
            | Action::ForEach(_)
            | Action::Return { .. } => unreachable!("the random skills have none"),
            Action::Command { .. } | Action::Shell { .. } => self.attempt(step, caught, 1),
        }
    }

    fn attempt(&mut self, step: &Step, caught: bool, attempt: u32) -> Visit {
        self.acted.push(step.name.value.clone());
        let bad = match self.outcome(step) {
            Script::Exit(0) => return Visit::Good,
            Script::Exit(code) => Visit::Bad(Some(code)),
            Script::Timeout => Visit::Bad(None),
        };
        if caught || step.on_error != Some(OnError::Ask) {
            return bad;
        }
        match (self.world.repairs)(&step.name, attempt) {
            "retry" => self.attempt(step, caught, attempt + 1),
            "done" => Visit::Good,
            "skip" => Visit::LeftOut,
            _ => Visit::GivenUp,
        }
    }

    /// What is decided at a question, and what was said if anything was.
    fn decide(&self, ask: &aye_core::skill::Ask, name: &str) -> (ChoiceAction, Option<String>) {
        let action = |value: &str| {
            let option = ask.options.iter().find(|o| o.value == value).unwrap();
            (option.action, Some(value.to_owned()))
        };
        let silent = (ChoiceAction::Cancel, None);
        let default = ask.default.as_ref().map_or(silent, |value| action(value));
        match ((self.world.answers)(name), ask.timeout) {
            // Where a question has no end, someone says yes in the end.
            (SILENCE | UNSEEN, StepTimeout::Unlimited) => action("yes"),
            (SILENCE, _) => default,
            // Silence that nobody could break lets nothing continue: then someone comes and says no.
            (UNSEEN, _) if default.0 != ChoiceAction::Cancel => action("no"),
            (UNSEEN, _) => default,
            (value, _) => action(value),
        }
    }
}

impl Visit {
    /// The same where nobody looks at what was said.
    fn plain(self) -> Self {
        match self {
            Self::Said(ChoiceAction::Proceed, _) => Self::Good,
            Self::Said(ChoiceAction::Cancel, _) => Self::Refused,
            Self::Said(ChoiceAction::Skip, _) => Self::LeftOut,
            other => other,
        }
    }
}

/// The answer that declines.
fn no_of(ask: &aye_core::skill::Ask) -> Option<String> {
    let no = ask.options.iter().find(|option| option.action == ChoiceAction::Cancel);
    no.map(|no| no.value.clone())
}

fn catches(to: &Transitions, script: Script) -> bool {
    match script {
        Script::Exit(code) => to.codes.contains_key(&code) || to.failure.is_some(),
        Script::Timeout => to.timeout.is_some() || to.failure.is_some(),
    }
}
