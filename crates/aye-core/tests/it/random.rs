//! Random skills, random worlds and random inputs.

use aye_core::advice::Advice;
use aye_core::error_code::ErrorCode;
use aye_core::event::{Driver, MemoryKind, ProcessRecord, Remembered};
use aye_core::fix::{Act, KnownFix};
use aye_core::heal::HealMatch;
use aye_core::id::QuestionId;
use aye_core::input::{Attach, End, Finished, Input, Request, Retry};
use aye_core::question::{Answer, Channel, Edits};
use aye_core::skill::{self, Action, Ask, By, EndStatus, HealRule, OnError, Skill, State, Step};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use serde_json::{Value, json};

use crate::build::{
    answer_of, asking, attach_as, command, confirm, driver, end, expiring, gated, idempotent,
    input, note, on_error, secs, state, states, step, steps, t, when,
};
use crate::oracle::{SILENCE, Script, UNSEEN};

const STATES: usize = 5;
/// The most steps of `finally`; their numbers follow.
const FINALLY: usize = 2;

/// `s0`, `s1`, …
fn name(n: usize) -> String {
    format!("s{n}")
}

fn tolerance(wild: bool) -> impl Strategy<Value = OnError> {
    let plain = prop_oneof![Just(OnError::Fail), Just(OnError::Continue), Just(OnError::Ask)];
    match wild {
        true => prop_oneof![3 => plain, 1 => Just(OnError::AutoHeal)].boxed(),
        false => plain.boxed(),
    }
}

/// Tried again by itself.
fn retry() -> impl Strategy<Value = skill::Retry> {
    let on = (any::<bool>(), any::<bool>(), vec(Just(7), 0..2));
    (1..4_u32, 0..20_u64, on).prop_map(|(attempts, wait, (failure, timeout, codes))| skill::Retry {
        attempts,
        backoff: secs(wait),
        factor: 2.0,
        max: secs(30),
        jitter: false,
        on: skill::RetryOn { failure, timeout, codes },
    })
}

/// A rule for every failure, or for one exit code.
fn rule() -> impl Strategy<Value = HealRule> {
    (vec(Just(7), 0..2), 0..3_u32, 0..20_u64).prop_map(|(codes, retries, wait)| HealRule {
        name: "mend".to_owned(),
        when: HealMatch { codes, ..HealMatch::default() },
        repair: command("mend"),
        retries,
        backoff: secs(wait),
    })
}

/// The n-th step: a command mostly, with or without gate and condition.
/// `wild` adds what the oracle does not know of.
fn nth_step(n: usize, wild: bool) -> impl Strategy<Value = Step> {
    let asks = prop_oneof![
        4 => Just(None),
        2 => Just(Some(confirm("go?"))),
        1 => Just(Some(expiring(confirm("go?"), 20, Some("yes")))),
        1 => Just(Some(expiring(confirm("go?"), 20, None))),
        1 => Just(Some(Ask { approvals: 2, ..confirm("go?") })),
        1 => Just(Some(Ask { by: By::Human, ..confirm("go?") })),
    ];
    let plain = prop_oneof![
        4 => Just(None),
        2 => Just(Some(confirm("go?"))),
        1 => option::of(prop_oneof![Just("yes"), Just("no"), Just("skip")])
            .prop_map(|default| Some(expiring(confirm("go?"), 20, default))),
    ];
    let gate = if wild { asks.boxed() } else { plain.boxed() };
    let retry = option::weighted(0.2, retry());
    (0..14_u8, gate, 0..8_u8, tolerance(wild), any::<bool>(), retry).prop_map(
        move |(kind, gate, condition, tolerance, again, retry)| {
            let name = name(n);
            let step = match kind {
                0 => note(&name),
                1 => asking(&name, confirm("which?")),
                2 if wild => asking(&name, Ask { secret: true, ..input("password?") }),
                3 if wild => crate::build::program(&name, "say", &["{{ now }}", "{{ branch }}"]),
                4 if wild => crate::build::program(&name, "say", &["{{ s1 }}"]),
                5 if wild => step(&name, Action::Shell { script: t("echo {{ s1 }}") }),
                6 if wild => step(
                    &name,
                    Action::Compute { code: t("result = s0"), python: false, reads_files: false },
                ),
                7 if wild => step(
                    &name,
                    Action::Tool {
                        tool: t("shop.order"),
                        args: json!({ "what": "{{ s1 }}" }),
                        span: Default::default(),
                    },
                ),
                8 if wild => step(
                    &name,
                    Action::Skill {
                        skill: t("other"),
                        inputs: [("what".to_owned(), json!("{{ s1 }}"))].into_iter().collect(),
                        span: Default::default(),
                    },
                ),
                _ => command(&name),
            };
            let step = match condition {
                0 => when(step, "false"),
                1 => when(step, "true"),
                2 if wild => when(step, "s0"),
                _ => step,
            };
            let step = on_error(if again { idempotent(step) } else { step }, tolerance);
            let acts = !matches!(step.action, Action::Note | Action::Ask(_));
            let step = Step { retry: retry.filter(|_| wild && acts), ..step };
            match gate {
                Some(gate) => gated(step, gate),
                None => step,
            }
        },
    )
}

fn target() -> impl Strategy<Value = Option<String>> {
    option::weighted(
        0.6,
        prop_oneof![
            5 => (0..STATES).prop_map(name),
            2 => Just("done".to_owned()),
            1 => Just("failed".to_owned()),
            1 => Just("dropped".to_owned()),
            2 => Just("over".to_owned()),
        ],
    )
}

fn nth_state(n: usize, wild: bool) -> impl Strategy<Value = State> {
    let words =
        ["success", "failure", "timeout", "declined", "cancelled", "0", "7", "yes", "no", "skip"];
    (nth_step(n, wild), vec(target(), words.len())).prop_map(move |(step, targets)| {
        let to: Vec<(&str, String)> = words
            .into_iter()
            .zip(targets)
            .filter_map(|(word, target)| Some((word, target?)))
            // Exact codes now and then only.
            .filter(|(word, target)| word.parse::<i32>().is_err() || target.starts_with('s'))
            // A state that a cancel would start again is refused by the check.
            .filter(|(word, target)| *word != "cancelled" || *target != name(n))
            // At a gate a yes runs the state.
            .filter(|(word, _)| *word != "yes" || matches!(step.action, Action::Ask(_)))
            .collect();
        let to: Vec<(&str, &str)> = to.iter().map(|(word, name)| (*word, name.as_str())).collect();
        state(step, &to)
    })
}

/// A skill of either form that the oracle understands, or a wilder one.
pub(crate) fn skill(wild: bool) -> impl Strategy<Value = Skill> {
    let listed = (0..STATES).map(|n| nth_step(n, wild)).collect::<Vec<_>>();
    let drawn = (0..STATES).map(|n| nth_state(n, wild)).collect::<Vec<_>>();
    let form = prop_oneof![
        1 => (listed, 0..=STATES).prop_map(|(all, count)| steps(all.into_iter().take(count))),
        3 => drawn.prop_map(|all| {
            states(all.into_iter().chain([
                end("done", EndStatus::Completed),
                end("failed", EndStatus::Failed),
                end("dropped", EndStatus::Cancelled),
                end("over", EndStatus::ByOutcome),
            ]))
        }),
    ];
    let last = (0..FINALLY).map(|n| nth_step(STATES + n, wild)).collect::<Vec<_>>();
    let last = (last, 0..=FINALLY)
        .prop_map(|(all, count)| all.into_iter().take(count).collect::<Vec<Step>>());
    let numbers = (option::of(20..200_u64), 3..15_u32);
    let heal = vec(rule(), if wild { 0..2 } else { 0..1 });
    (form, last, numbers, heal).prop_map(move |(skill, finally, (timeout, step_limit), heal)| {
        Skill {
            heal,
            timeout: timeout.filter(|_| wild).map(secs),
            step_limit,
            finally,
            // The oracle knows nothing of the time.
            cleanup: if wild { secs(30) } else { secs(100_000) },
            outputs: if wild {
                vec![skill::OutputSpec {
                    name: t("o"),
                    value: json!("{{ s0 }}"),
                    span: Default::default(),
                }]
            } else {
                Vec::new()
            },
            ..skill
        }
    })
}

/// What each step does, what is answered at its gate, what is said about its
/// failure: by the number of the step.
#[derive(Debug, Clone)]
pub(crate) struct Fate {
    pub(crate) exits: Vec<Script>,
    pub(crate) answers: Vec<&'static str>,
    pub(crate) repairs: Vec<&'static str>,
}

impl Fate {
    fn number(step: &str) -> usize {
        step[1..].parse().unwrap()
    }

    pub(crate) fn exit(&self, step: &str) -> Script {
        self.exits.get(Self::number(step)).copied().unwrap_or(Script::Exit(0))
    }

    pub(crate) fn answer(&self, step: &str) -> &'static str {
        self.answers[Self::number(step)]
    }

    pub(crate) fn repair(&self, step: &str, attempt: u32) -> &'static str {
        // Nobody retries for ever.
        match self.repairs[Self::number(step)] {
            "retry" if attempt >= 3 => "abort",
            said => said,
        }
    }
}

pub(crate) fn fate() -> impl Strategy<Value = Fate> {
    let exits = prop_oneof![
        3 => Just(Script::Exit(0)),
        1 => Just(Script::Exit(1)),
        1 => Just(Script::Exit(7)),
        1 => Just(Script::Timeout),
    ];
    let answers = prop_oneof![
        3 => Just("yes"),
        1 => Just("no"),
        1 => Just("skip"),
        1 => Just(SILENCE),
        1 => Just(UNSEEN),
    ];
    let repairs = prop_oneof![Just("retry"), Just("done"), Just("skip"), Just("abort")];
    (vec(exits, STATES + FINALLY), vec(answers, STATES + FINALLY), vec(repairs, STATES + FINALLY))
        .prop_map(|(exits, answers, repairs)| Fate { exits, answers, repairs })
}

/// One thing that happens to a run. Where it says `offset`, 0 fits.
#[derive(Debug, Clone)]
pub(crate) enum Move {
    Finish {
        stale: bool,
        offset: u32,
        end: End,
        code: Option<i32>,
        known: Option<Box<KnownFix>>,
    },
    Answer {
        offset: u32,
        answer: Answer,
    },
    Hold {
        offset: u32,
    },
    Advise {
        offset: u32,
    },
    Cancel,
    /// The run around it is cancelled.
    CancelledAround,
    /// Whether a prompter shows what is asked.
    Tick(bool),
    Shown(bool),
    Interrupt,
    Leave,
    Rest,
    Attach,
    /// By a driver that had the run once, or still has it.
    AttachAgain,
    Retry(Option<Edits>),
    /// Something from memory matters, or was learned.
    Note(bool, Box<Remembered>),
    /// A step waits for its turn.
    Queued {
        offset: u32,
    },
    /// It waits no more.
    Dequeued {
        offset: u32,
    },
    /// Everything stood still for so many seconds.
    Continued(u64),
    Sleep(i64),
    Crash,
    Branch(&'static str),
}

impl Move {
    /// As an input, given what runs and how many questions there were.
    pub(crate) fn input(&self, execution: u32, questions: u32) -> Option<Input> {
        let run = crate::build::run_id();
        let question = |offset: u32| QuestionId::new(&run, questions.wrapping_sub(offset));
        Some(match self {
            Self::Finish { stale, offset, end, code, known } => {
                let process = code.map(|code| ProcessRecord {
                    exit_code: Some(code),
                    ..ProcessRecord::default()
                });
                let execution = execution.wrapping_add(*offset);
                let known = known.clone();
                let bare = Finished::bare(execution, end.clone(), None);
                let epoch = if *stale { 999 } else { 0 };
                Input::Finished(Finished { epoch, process, known, ..bare })
            }
            Self::Answer { offset, answer } => {
                Input::Request(Request::answer(question(*offset), answer.clone()))
            }
            Self::Advise { offset } => {
                let (by, option) = ("bot".to_owned(), Some("yes".to_owned()));
                let advice = Advice { by, option, text: "take care".to_owned() };
                Input::Request(Request::Advise { question: question(*offset), advice })
            }
            Self::Hold { offset } => {
                Input::Request(Request::Hold { question: question(*offset), by: "ann".to_owned() })
            }
            Self::Cancel => {
                Input::Request(Request::Cancel { by: "eve".to_owned(), reason: None, now: false })
            }
            Self::CancelledAround => Input::CancelledAround { by: "eve".to_owned(), reason: None },
            Self::Tick(shown) => Input::Tick { shown: *shown },
            Self::Shown(shown) => Input::Shown(*shown),
            Self::Interrupt => Input::Interrupt { signal: "SIGINT".to_owned() },
            Self::Leave => Input::Leave { message: "gone".to_owned() },
            Self::Rest => Input::Rest { message: "nobody answers".to_owned() },
            Self::Attach => attach_as(Driver { attended: true, ..driver("bob") }),
            Self::AttachAgain => Input::Attach(Attach { driver: driver("bob"), epoch: 1 }),
            Self::Retry(edits) => Input::Retry(Retry {
                driver: driver("bob"),
                epoch: 0,
                step: None,
                edits: edits.clone(),
                turn: None,
                answer: Some(Box::new(answer_of("bob", "retry"))),
            }),
            Self::Note(learned, what) => {
                Input::Remembered { learned: *learned, what: (**what).clone() }
            }
            Self::Queued { offset } => Input::Queued { execution: execution.wrapping_add(*offset) },
            Self::Dequeued { offset } => {
                Input::Dequeued { execution: execution.wrapping_add(*offset) }
            }
            Self::Continued(seconds) => Input::Continued { after: secs(*seconds) },
            Self::Sleep(_) | Self::Crash | Self::Branch(_) => return None,
        })
    }
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        2 => Just(json!("text")),
        1 => Just(Value::Null),
        1 => any::<f64>().prop_filter("JSON has no others", |f| f.is_finite()).prop_map(|f| json!(f)),
        1 => any::<u64>().prop_map(|n| json!(n)),
        1 => Just(json!({ "b": [1, 2.5, "{{ s0 }}"], "a": null, "$secret": true })),
        1 => ".{0,6}".prop_map(|text| json!(text)),
    ]
}

fn answer() -> impl Strategy<Value = Answer> {
    let word = prop_oneof![
        6 => Just("yes"),
        1 => Just("no"),
        1 => Just("skip"),
        2 => Just("retry"),
        2 => Just("edit"),
        1 => Just("done"),
        1 => Just("abort"),
        1 => Just("nonsense"),
    ];
    let prompter = prop_oneof![
        4 => Just(Channel::Terminal),
        1 => Just(Channel::Assistant),
        1 => Just(Channel::Memory),
        1 => Just(Channel::Override),
    ];
    let by = prop_oneof![Just("ann"), Just("bob")];
    let digest = option::weighted(0.05, Just("stale".to_owned()));
    let edits = option::weighted(0.3, edits());
    (word, option::weighted(0.1, value()), prompter, by, digest, edits).prop_map(
        |(word, other, prompter, by, digest, edits)| Answer {
            value: other.unwrap_or_else(|| word.into()),
            prompter,
            digest,
            edits: edits.filter(|_| word == "edit"),
            ..answer_of(by, word)
        },
    )
}

fn edits() -> impl Strategy<Value = Edits> {
    let key = prop_oneof![3 => Just("1"), 1 => Just("0"), 1 => Just("9"), 1 => Just("script")];
    let one = (key, value()).prop_map(|(key, value)| (key.to_owned(), value));
    (vec(one, 0..3), any::<bool>()).prop_map(|(set, only)| Edits {
        set: set.into_iter().collect(),
        only,
        remember: None,
    })
}

fn known() -> impl Strategy<Value = KnownFix> {
    let act =
        || option::weighted(0.4, Just(Act { command: vec!["mend".into()], ..Act::default() }));
    let args = option::of(Just(json!({ "1": "{{ args['0'] }}-fixed" })));
    (args, act(), act(), 0..3_u32).prop_map(|(args, first, replace, max_uses)| KnownFix {
        short: String::new(),
        obstacle: None,
        id: "fix-1".to_owned(),
        message: "known".to_owned(),
        args: args.and_then(|args| args.as_object().cloned()).unwrap_or_default(),
        first,
        replace,
        max_uses,
    })
}

/// Something in memory or for it; a lesson is in a form that only memory reads.
fn remembered() -> impl Strategy<Value = Remembered> {
    let kind = proptest::sample::select(MemoryKind::ALL.as_slice());
    let named = (option::of(Just("fix-1".to_owned())), option::of((0..STATES).prop_map(name)));
    let lesson = option::of(Just(Box::new(json!({ "uses": 1, "of": ["a", null] }))));
    let message = prop_oneof![Just("said".to_owned()), Just(String::new())];
    (kind, named, lesson, message).prop_map(|(kind, (id, step), lesson, message)| Remembered {
        id,
        step,
        lesson,
        ..Remembered::told(kind, message)
    })
}

fn offset() -> impl Strategy<Value = u32> {
    prop_oneof![9 => Just(0_u32), 1 => 0..3_u32, 1 => any::<u32>()]
}

pub(crate) fn moves(count: usize) -> impl Strategy<Value = Vec<Move>> {
    let end = prop_oneof![
        6 => value().prop_map(|value| End::Exited { value, parsed: None }),
        1 => Just(End::TimedOut),
        1 => Just(End::Stopped),
        1 => any::<bool>().prop_map(|expired| End::Declined {
            expired,
            by: (!expired).then(|| "ann".to_owned()),
            message: "said no inside".to_owned(),
        }),
        1 => Just(End::Failed {
            code: ErrorCode::Compute,
            message: "name 's9' is not defined".to_owned(),
            hint: None,
            proposal: None,
        }),
        1 => Just(End::NotStarted {
            code: ErrorCode::SpawnFailed,
            exit_code: Some(126),
            message: "no".to_owned(),
            hint: None,
        }),
    ];
    let code =
        prop_oneof![4 => Just(Some(0)), 1 => Just(Some(7)), 1 => Just(Some(1)), 1 => Just(None)];
    let one = prop_oneof![
        12 => (option::weighted(0.05, Just(())), offset(), end, code, option::weighted(0.3, known().prop_map(Box::new))).prop_map(
            |(stale, offset, end, code, known)| Move::Finish { stale: stale.is_some(), offset, end, code, known }
        ),
        2 => option::of(edits()).prop_map(Move::Retry),
        2 => (any::<bool>(), remembered().prop_map(Box::new))
            .prop_map(|(learned, what)| Move::Note(learned, what)),
        4 => offset().prop_map(|offset| Move::Queued { offset }),
        4 => offset().prop_map(|offset| Move::Dequeued { offset }),
        2 => prop_oneof![9 => 0..60_u64, 1 => Just(u64::MAX)].prop_map(Move::Continued),
        10 => (offset(), answer()).prop_map(|(offset, answer)| Move::Answer { offset, answer }),
        1 => offset().prop_map(|offset| Move::Hold { offset }),
        1 => offset().prop_map(|offset| Move::Advise { offset }),
        1 => Just(Move::Cancel),
        1 => Just(Move::CancelledAround),
        3 => any::<bool>().prop_map(Move::Tick),
        2 => any::<bool>().prop_map(Move::Shown),
        2 => Just(Move::Interrupt),
        2 => Just(Move::Leave),
        1 => Just(Move::Rest),
        4 => Just(Move::Attach),
        1 => Just(Move::AttachAgain),
        3 => (-30..60_i64).prop_map(Move::Sleep),
        2 => Just(Move::Crash),
        1 => prop_oneof![Just("one"), Just("two")].prop_map(Move::Branch),
    ];
    vec(one, 0..count)
}
