//! Runs for the tests of the driver's parts.

use std::sync::Arc;

use aye_core::event::Driver;
use aye_core::machine::{Limits, Machine, Start};
use aye_core::text::World;

use crate::outside::Outside;
use crate::skills::SkillFile;

/// A skill with one step.
pub(super) const ONE_STEP: &str = "name: s\nsteps:\n  - { name: one, command: 'true' }\n";

/// The machine of a run of this skill.
pub(super) fn machine(skill: &str) -> Machine {
    let mut file = SkillFile::from_text("s.yaml".into(), skill.to_owned());
    let flow = Arc::new(file.flows.remove(0));
    let driver = Driver {
        user: "ada".to_owned(),
        host: "here".to_owned(),
        pid: 1,
        attended: true,
        detached: false,
        taken_up: false,
        namespaces: None,
    };
    let run = "abcdefgh12".to_owned().try_into().expect("an id");
    let start = Start { epoch: 1, ..Start::new(run, ("s.yaml", "d"), "/", driver) };
    let now = "2026-11-17T00:30:00Z".parse().expect("a time");
    let world = World { now, names: Arc::new(Outside::default()) };
    Machine::start(flow, Limits::default(), start, &world).expect("a run").0
}
