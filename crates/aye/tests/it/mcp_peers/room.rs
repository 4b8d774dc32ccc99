//! A project with skills for assistants, and what became of their runs.

use std::ops::Deref;

use serde_json::{Value, json};

use crate::cli::harness::{Place, until};

use super::peer::Peer;

/// Runs to its end without asking.
const PLAIN: &str = "\
name: plain
description: Greets and takes a note
inputs: [{ name: who, default: you, description: Whom to greet }]
steps:
  - { name: greet, command: echo, args: ['hello {{ inputs.who }}'], output: greeting }
  - { name: note, shell: 'echo {{ inputs.who }} >>noted' }
outputs: [{ name: greeting, value: '{{ greeting }}' }]
";

/// Asks anyone before it acts.
const GATE: &str = "\
name: gate
description: Asks before it acts
inputs: [{ name: target, default: stage }]
steps:
  - { name: prepare, command: echo, args: ['ready for {{ inputs.target }}'], output: state }
  - name: ask
    confirm:
      title: A release
      message: 'Release to {{ inputs.target }}? It is {{ state }}.'
      options:
        - { label: Continue, value: proceed, description: Releases }
        - { label: Stop, value: stop, action: cancel }
      timeout: 10m
    output: decision
  - { name: act, shell: 'echo {{ decision }} {{ inputs.target }} >>acted' }
outputs: [{ name: decision, value: '{{ decision }}' }]
";

/// Fails with what it is given, and asks what to do.
const FLAKY: &str = "\
name: flaky
description: Fails unless it is given the right tag
inputs: [{ name: tag, default: short }]
steps:
  - { name: pull, command: ./pull, args: ['{{ inputs.tag }}'], on_error: ask, output: image }
  - { name: use, shell: 'echo {{ image }} >>used' }
";

const PULL: &str = "#!/bin/sh
echo \"$1\" >>tried
[ \"$1\" = full ] || { echo \"manifest unknown: no tag $1\" >&2; exit 3; }
echo \"image of $1\"
";

/// A place with the skills of these tests.
pub(super) struct Room {
    place: Place,
}

impl Room {
    pub(super) fn new() -> Self {
        let place = Place::new();
        place.write("skills/plain.yaml", PLAIN);
        place.write("skills/gate.yaml", GATE);
        // The same, and the assistant is to look at it first.
        let advised = GATE.replace("name: gate", "name: advised");
        let advised = advised.replace("timeout: 10m", "timeout: 10m\n      ai_assist: true");
        place.write("skills/advised.yaml", &advised);
        place.write("skills/flaky.yaml", FLAKY);
        let pull = place.write("pull", PULL);
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(pull, mode).unwrap();
        place.aye(&["trust", "--yes"]).ok();
        Self { place }
    }

    /// With other settings for assistants.
    pub(super) fn with(settings: &str) -> Self {
        let room = Self::new();
        room.write("aye.toml", settings);
        room
    }

    /// The newest run in full, as `aye show --json` tells it.
    pub(super) fn shown(&self) -> Value {
        self.aye(&["show", "last", "--json"]).ok().json()
    }

    /// What counted as an answer in the newest run: option, and through what.
    pub(super) fn decisions(&self) -> Vec<(String, String)> {
        self.answers(|one| one["refused"].is_null())
    }

    /// What was refused.
    pub(super) fn refusals(&self) -> Vec<(String, String)> {
        self.answers(|one| !one["refused"].is_null())
    }

    fn answers(&self, which: impl Fn(&&Value) -> bool) -> Vec<(String, String)> {
        let shown = self.shown();
        let all = shown["decisions"].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        all.iter().filter(which).map(|one| (text(&one["value"]), text(&one["prompter"]))).collect()
    }

    /// What waits for an answer.
    pub(super) fn inbox(&self) -> Vec<Value> {
        // Proposals wait there too.
        let all = self.aye(&["inbox", "--json"]).ok().json();
        let all = all.as_array().cloned().unwrap_or_default();
        all.into_iter().filter(|one| one.get("question").is_some()).collect()
    }

    /// A person answers what waits.
    #[track_caller]
    pub(super) fn person_says(&self, choice: &str) {
        let question = self.inbox()[0]["question"].as_str().unwrap().to_owned();
        self.aye(&["answer", &question, choice]).ok();
    }

    /// Waits until the newest run stands like this.
    #[track_caller]
    pub(super) fn ends(&self, status: &str) {
        until(status, || self.status() == status);
    }
}

impl Deref for Room {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.place
    }
}

impl Drop for Room {
    /// Runs of assistants continue in the background; none may outlive its place.
    fn drop(&mut self) {
        let Ok(output) = self.command(&["runs", "--json"]).output() else { return };
        let runs: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        for run in runs.as_array().into_iter().flatten() {
            let over = ["completed", "failed", "cancelled"].map(Value::from);
            if let Some(id) = run["run"].as_str().filter(|_| !over.contains(&run["status"])) {
                let _ = self.command(&["cancel", id]).output();
            }
        }
    }
}

/// Begins `skill` and comes back with the answer of `skill_run`.
#[track_caller]
pub(super) fn run(peer: &mut Peer, skill: &str, inputs: Value) -> super::peer::Reply {
    let mut args = json!({ "skill": skill });
    args["inputs"] = inputs;
    peer.call("skill_run", args)
}
