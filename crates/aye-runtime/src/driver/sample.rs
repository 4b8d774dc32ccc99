//! Runs for the tests of the driver's parts.

use std::sync::Arc;

use aye_core::event::Driver;
use aye_core::machine::{Limits, Machine, Start};
use aye_core::secrets::Secrets;
use aye_core::text::World;
use indexmap::IndexMap;

use crate::outside::Outside;
use crate::skills::SkillFile;

/// A skill with one step.
pub(super) const ONE_STEP: &str = "name: s\nsteps:\n  - { name: one, command: 'true' }\n";

/// The machine of a run of this skill.
pub(super) fn machine(skill: &str) -> Machine {
    let mut file = SkillFile::from_text("s.yaml".into(), skill.to_owned());
    let flow = Arc::new(file.flows.remove(0));
    let start = Start {
        run: "abcdefgh12".to_owned().try_into().expect("an id"),
        file: "s.yaml".to_owned(),
        source: "d".to_owned(),
        inputs: IndexMap::new(),
        secrets: Secrets::default(),
        workspace: "/".to_owned(),
        environment: None,
        range: None,
        yes: false,
        driver: Driver {
            user: "ada".to_owned(),
            host: "here".to_owned(),
            pid: 1,
            attended: true,
            detached: false,
            taken_up: false,
            namespaces: None,
        },
        parent: None,
        outer: None,
        deadline: None,
        destructive_tools: Vec::new(),
        started_by: None,
        starter: None,
        epoch: 1,
        shared_names: Vec::new(),
        blocked: None,
    };
    let now = "2026-11-17T00:30:00Z".parse().expect("a time");
    let world = World { now, names: Arc::new(Outside::default()) };
    Machine::start(flow, Limits::default(), start, &world).expect("a run").0
}
