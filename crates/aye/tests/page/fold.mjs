// The state of a run from its events, without a browser: approvals, advice, refusals, retries, expiry.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const source = readFileSync(new URL("../../src/serve/page/fold.js", import.meta.url), "utf8");
const { attemptNames, ending, foldTree, standings } = await import(`data:text/javascript,${encodeURIComponent(source)}`);

let n = 0;
const event = (type, fields, run = "r") => ({ v: 1, n: (n += 1), seq: n, run, at: new Date(1_000_000 + n * 1000).toISOString(), type, ...fields });
const question = {
  question: "r-1", kind: "confirm", purpose: "gate", step: "deploy", title: "Deploy", message: "Deploy?", approvals: 2, digest: "d",
  options: [{ value: "proceed", label: "Proceed", action: "proceed" }, { value: "cancel", label: "Cancel", action: "cancel" }],
};
const answer = (by, value, refused) => event("confirmation_answered", { question: "r-1", answer: { value, by, prompter: "web" }, label: value, latency_ms: 1, ...(refused ? { refused } : {}) });

const events = [
  event("skill_started", { skill: "s", driver: { user: "u" }, step_list: [{ name: "build", kind: "command" }, { name: "deploy", kind: "command" }] }),
  event("step_started", { step: "build", execution: 1, attempt: 1, kind: "command" }),
  event("step_failed", { step: "build", execution: 1, outcome: "failure", message: "exit 1", process: { duration_ms: 5 } }),
  event("step_retried", { step: "build", attempt: 2, why: "policy" }),
  event("step_started", { step: "build", execution: 2, attempt: 2, kind: "command" }),
  event("step_completed", { step: "build", execution: 2, process: { duration_ms: 7 } }),
  event("confirmation_required", question),
  event("confirmation_advised", { question: "r-1", advice: { by: "claude", option: "cancel", text: "staging is red" } }),
  answer("claude", "proceed", "a person has to answer"),
  answer("ann", "proceed"),
];
let run = foldTree(events).get("r");
assert.deepEqual(standings(run), { build: "done", deploy: "asking" });
assert.equal(run.steps.get("build").executions.length, 2);
let asked = run.questions.get("r-1");
assert.deepEqual([asked.state, asked.missing, asked.agreed.map(({ by }) => by)], ["open", 1, ["ann"]], "one of two has agreed");
assert.deepEqual(asked.advice, [{ by: "claude", option: "cancel", text: "staging is red" }]);
assert.equal(asked.refusals.length, 1, "what does not count is kept, and counts for nothing");

events.push(answer("bob", "proceed"), event("step_started", { step: "deploy", execution: 3, attempt: 1, kind: "command" }));
run = foldTree(events).get("r");
assert.equal(run.questions.get("r-1").state, "answered");
assert.deepEqual(standings(run), { build: "done", deploy: "running" });
events.push(event("skill_failed", { why: "step_failed", message: "no", step: "deploy", duration_ms: 9 }), event("a_kind_of_later", {}));
run = foldTree(events).get("r");
assert.deepEqual([run.status, run.failedStep, run.duration], ["failed", "deploy", 9], "an unknown event changes nothing");

// The end that a run reached; none while it has not ended.
assert.equal(ending(foldTree(events.slice(0, -2)).get("r")), null);
const endOf = (type, fields) => ending(foldTree([...events.slice(0, -2), event(type, fields)]).get("r"));
assert.deepEqual(endOf("skill_completed", {}), { status: "done", state: null, after: "build" });
assert.deepEqual(endOf("skill_completed", { state: "good" }), { status: "done", state: "good", after: "build" });
assert.deepEqual(endOf("skill_cancelled", { why: "declined", step: "deploy" }), { status: "cancelled", state: null, after: "deploy" });
assert.deepEqual(endOf("skill_cancelled", { why: "cancelled", step: "deploy" }), { status: "cancelled", state: null, after: null });

// A decision names the machine; a retry that a person sent is one, as is a cancel.
const sent = foldTree([
  event("skill_started", { skill: "s", driver: { user: "u", host: "web-1" }, step_list: [{ name: "build", kind: "command" }] }),
  event("step_retried", { step: "build", attempt: 2, why: "answer", edits: { set: { 1: "x" } }, answer: { value: "edit", by: "ann", prompter: "web", proof: "token" } }),
  event("step_retried", { step: "build", attempt: 3, why: "policy" }),
  event("skill_stopping", { why: "cancelled", by: "bob", reason: "late" }),
]).get("r");
assert.deepEqual(sent.decisions.map(({ label, by, machine }) => [label, by, machine]), [["retry with changes", "ann", "web-1"], ["cancel", "bob", "web-1"]]);

// Each start of a step has a name of its own.
const names = (...attempts) => attemptNames(attempts.map((attempt, at) => ({ execution: at + 1, attempt }))).map(({ name }) => name);
assert.deepEqual(names(1, 2), ["attempt 1", "attempt 2"]);
assert.deepEqual(names(1, 1, 2), ["visit 1, attempt 1", "visit 2, attempt 1", "visit 2, attempt 2"]);

// One no decides, however many have to agree.
const declined = foldTree([...events.slice(0, 7), answer("ann", "cancel")]).get("r").questions.get("r-1");
assert.equal(declined.state, "answered");
const expired = foldTree([...events.slice(0, 7), event("confirmation_expired", { question: "r-1" })]).get("r");
assert.equal(expired.questions.get("r-1").state, "expired");
