//! Runs inside a run: a host that holds nothing does what one that keeps all of
//! it does.

use std::sync::Arc;

use aye_core::child_schedule::{ChildEnd, ChildSchedule};
use aye_core::effect::Task;
use aye_core::event::{Event, ProcessRecord};
use aye_core::flow::Flow;
use aye_core::input::{End, Finished, Input, Retry};
use aye_core::journal::{Phase, RunStatus};
use aye_core::machine::{Limits, Machine, Start};
use aye_core::nested::{Child, ChildRun, Nested, ParentScope};
use aye_core::skill::parse;
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, proptest};
use serde_json::{Value, json};

use crate::build::{Run, answer_of, driver, start, through_json};

/// A run inside another.
struct Inside {
    flow: Arc<Flow>,
    outer: ParentScope,
    kept: Machine,
    events: Vec<Event>,
}

impl Inside {
    fn begin(run: &Run, child: &Child) -> Self {
        let inner = run.machine.child(child, None, &run.world).unwrap();
        let ChildRun::Steps { flow, outer } = inner else { panic!("no steps") };
        let begin = Start {
            run: child.parent.child().unwrap(),
            parent: Some(child.parent.clone()),
            outer: Some((*outer).clone()),
            ..start()
        };
        let started = Machine::start(Arc::clone(&flow), Limits::default(), begin, &run.world);
        let (kept, events) = started.unwrap();
        Self { flow, outer: *outer, kept, events }
    }

    fn restored(&self) -> Machine {
        let events: Vec<Event> = self.events.iter().map(through_json).collect();
        let (flow, outer) = (Arc::clone(&self.flow), Some(self.outer.clone()));
        let secrets = self.outer.secrets.clone();
        let machine = Machine::restore(flow, Limits::default(), secrets, &events, outer).unwrap();
        let epoch = machine.state().epoch;
        machine.under(epoch)
    }

    fn tell(&mut self, input: &Input, run: &Run, keeps: bool) {
        if !keeps {
            self.kept = self.restored();
        }
        let reaction = self.kept.handle(through_json(input), &run.world);
        assert_eq!(reaction.refusal, None);
        self.events.extend(reaction.events);
    }

    fn end(&self) -> Option<ChildEnd> {
        ChildEnd::of(self.kept.state(), self.kept.result(), false).map(|end| through_json(&end))
    }
}

fn exit(code: i32, value: Value, machine: &Machine) -> Input {
    let Phase::Running { execution, .. } = machine.state().phase else { panic!("nothing runs") };
    let process = ProcessRecord { exit_code: Some(code), ..ProcessRecord::default() };
    let end = End::Exited { value, parsed: None };
    let epoch = machine.state().epoch;
    let process = Some(process);
    Input::Finished(Finished { epoch, process, ..Finished::bare(execution, end, None) })
}

/// Does what the schedule says until the step is over. `picks` says which of
/// those that run ends next, `fates` how.
fn drive(
    run: &mut Run,
    inside: &mut Vec<Option<Inside>>,
    fates: &[bool],
    picks: &[usize],
    keeps: bool,
) {
    let execution = through_json(&run.execution());
    let Task::Nested(nested) = execution.task else { panic!("nothing is nested") };
    inside.resize_with(nested.children.len(), || None);
    let mut schedule = ChildSchedule::new(&nested);
    let mut begun: Vec<usize> = Vec::new();
    let mut picks = picks.iter().copied().cycle();
    loop {
        if !keeps {
            schedule = rebuilt(&nested, &begun, inside);
        }
        while let Some(index) = schedule.begin() {
            begun.push(index);
            open(run, &nested, inside, index, keeps);
            if let Some(end) = inside[index].as_ref().and_then(Inside::end) {
                schedule.ended(index, end);
            }
        }
        let runs = |index: &usize| inside[*index].as_ref().is_some_and(|i| i.end().is_none());
        let going: Vec<usize> = begun.iter().copied().filter(runs).collect();
        if going.is_empty() {
            break;
        }
        assert!(going.len() <= nested.parallel);
        let index = going[picks.next().unwrap_or_default() % going.len()];
        let child = inside[index].as_mut().unwrap();
        let code = i32::from(!fates[index % fates.len()]);
        let input = exit(code, json!(index), &child.kept);
        child.tell(&input, run, keeps);
        schedule.ended(index, child.end().expect("its only step has ended"));
    }
    let finished = schedule.finish(execution.epoch, execution.execution, false);
    run.send(Input::Finished(finished)).unwrap();
}

/// A schedule for someone who has only the journals.
fn rebuilt(nested: &Nested, begun: &[usize], inside: &[Option<Inside>]) -> ChildSchedule {
    let mut schedule = ChildSchedule::new(&through_json(nested));
    begun.iter().for_each(|index| schedule.begun(*index));
    for index in begun {
        if let Some(end) = inside[*index].as_ref().and_then(Inside::end) {
            schedule.ended(*index, end);
        }
    }
    through_json(&schedule)
}

/// Begins a run inside, or tries it again if it failed in an earlier start.
fn open(run: &Run, nested: &Nested, inside: &mut [Option<Inside>], index: usize, keeps: bool) {
    let Some(child) = &mut inside[index] else {
        inside[index] = Some(Inside::begin(run, &nested.children[index]));
        return;
    };
    let Some(again) = nested.again.clone() else { return };
    let state = child.kept.state();
    if state.turn < again.turn && state.failed_step().is_some() {
        let retry = Retry {
            driver: driver("bob"),
            epoch: state.epoch + 1,
            step: None,
            edits: again.edits,
            turn: Some(again.turn),
            answer: again.answer,
        };
        child.tell(&Input::Retry(retry), run, keeps);
    }
}

fn skill(items: usize, parallel: usize, fail_fast: bool) -> String {
    let items: Vec<usize> = (0..items).collect();
    format!(
        "
name: t
steps:
  - name: each
    foreach: {items:?}
    as: n
    parallel: {parallel}
    fail_fast: {fail_fast}
    on_error: ask
    steps: [{{ name: say, command: echo, args: ['{{{{ n }}}}'] }}]
"
    )
}

/// Every journal of a run whose failed items are tried again once.
fn played(
    text: &str,
    fates: [&[bool]; 2],
    picks: &[usize],
    keeps: bool,
) -> (RunStatus, Vec<Vec<Event>>) {
    let skill = parse("t.yaml", text).skills.into_iter().next().expect("a skill");
    let mut run = Run::start(skill);
    let mut inside = Vec::new();
    drive(&mut run, &mut inside, fates[0], picks, keeps);
    if let Phase::Asking { .. } = run.machine.state().phase {
        run.say(answer_of("ann", "retry")).unwrap();
        drive(&mut run, &mut inside, fates[1], picks, keeps);
    }
    let journals = inside.into_iter().flatten().map(|inside| inside.events);
    (run.status(), std::iter::once(run.events.clone()).chain(journals).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn a_host_that_restores_everything_does_the_same(
        items in 1_usize..6,
        parallel in 1_usize..4,
        fail_fast in any::<bool>(),
        first in vec(any::<bool>(), 1..6),
        second in vec(any::<bool>(), 1..6),
        picks in vec(0_usize..8, 1..12),
    ) {
        let text = skill(items, parallel, fail_fast);
        let kept = played(&text, [&first, &second], &picks, true);
        let restored = played(&text, [&first, &second], &picks, false);
        assert_eq!(kept, restored);
    }
}

#[test]
fn results_are_in_the_order_of_the_items_and_what_failed_holds_the_rest() {
    let drive_all = |fail_fast, fates: &[bool], picks: &[usize]| {
        let skill = parse("t.yaml", &skill(4, 2, fail_fast)).skills.into_iter().next().unwrap();
        let mut run = Run::start(skill);
        let mut inside = Vec::new();
        drive(&mut run, &mut inside, fates, picks, true);
        let begun = inside.iter().flatten().count();
        let each = &run.machine.state().steps["each"];
        (run.machine.state().outputs.get("each").cloned(), each.message.clone(), begun)
    };
    // Whichever ends first.
    let (value, _, begun) = drive_all(true, &[true], &[1, 0, 1]);
    assert_eq!((value, begun), (Some(json!([0, 1, 2, 3])), 4));
    let (_, message, begun) = drive_all(true, &[true, false], &[1]);
    let message = message.unwrap();
    assert!(message.starts_with("1 of 4 failed: each[1]: step `say`: exit code 1"), "{message}");
    assert_eq!(begun, 2, "two were begun before the second failed");
    let (_, message, begun) = drive_all(false, &[true, false], &[1]);
    assert!(message.unwrap().starts_with("2 of 4 failed: each[1]: "));
    assert_eq!(begun, 4);
}
