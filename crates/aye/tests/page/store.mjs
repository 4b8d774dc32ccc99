// What the page knows, from messages of the socket, without a browser: more questions than a snapshot lists,
// runs inside runs, and several who have to agree.

import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

// A browser takes every file for a module; Node wants to be told.
const folder = mkdtempSync(path.join(tmpdir(), "aye-store-"));
writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
for (const name of ["store.js", "fold.js"]) copyFileSync(new URL(`../../src/serve/page/${name}`, import.meta.url), path.join(folder, name));
const { Store } = await import(path.join(folder, "store.js"));
rmSync(folder, { recursive: true });

let n = 0;
const at = () => new Date(1_000_000 + n * 1000).toISOString();
const event = (type, run, fields) => ({ v: 1, n: (n += 1), seq: n, run, at: at(), type, ...fields });
const options = [{ value: "proceed", label: "Proceed", action: "proceed" }, { value: "cancel", label: "Cancel", action: "cancel" }];
const listed = (number) => ({ question: `old${number}-1`, run: `old${number}`, skill: "s", n: number, digest: "d", kind: "confirm", step: "ask", message: "m", title: "t", options, asked: at(), missing: 1, state: "open" });
const asks = (run, fields) => event("confirmation_required", run, { question: `${run}-1`, kind: "confirm", digest: "d", step: "ask", message: "m", title: "t", options, ...fields });
const answers = (run, value, fields) => event("confirmation_answered", run, { question: `${run}-1`, answer: { value, by: "ann" }, ...fields });
const snapshot = (fields) => ({ type: "snapshot", n, questions: [], runs: [], clients: [], you: "ann", ...fields });
const begin = (fields, pages = {}) => {
  const asked = [];
  const store = new Store({
    async get(path) {
      asked.push(path);
      return pages[path];
    },
  });
  store.receive(snapshot(fields));
  return { store, asked };
};
const state = (store, id) => store.questions.get(id)?.state;

// More than a snapshot lists: what lies between those and a new one is read, a page after the other.
{
  n = 500;
  const first = Array.from({ length: 200 }, (_, index) => listed(index + 1));
  const { store, asked } = begin({ questions: first, questions_open: 300 }, {
    "/questions?after=200": { questions: Array.from({ length: 50 }, (_, index) => listed(index + 201)), next: 250 },
    "/questions?after=250": { questions: Array.from({ length: 50 }, (_, index) => listed(index + 251)), next: null },
  });
  store.receive(asks("new"));
  assert.equal(store.questionsOpen, 301);
  await store.moreQuestions();
  await store.moreQuestions();
  await store.moreQuestions();
  assert.deepEqual(asked, ["/questions?after=200", "/questions?after=250"], "nothing is left out, and the end is known");
  assert.deepEqual(store.list().map((one) => one.n), [...Array.from({ length: 300 }, (_, index) => index + 1), 501]);

  // Connected again, the list ends before them: they are still open; one of those that it would have is not.
  store.receive(snapshot({ questions: first.filter(({ n: number }) => number !== 7), questions_open: 300 }));
  assert.deepEqual(["old7-1", "old8-1", "old260-1", "new-1"].map((id) => state(store, id)), ["decided", "open", "open", "open"]);
  // Who decided is told afterwards, and one that nobody sees here counts as well.
  store.receive(answers("old260", "proceed"));
  store.receive(answers("unseen", "proceed"));
  assert.deepEqual([state(store, "old260-1"), store.questionsOpen], ["answered", 298]);
  // A late answer that is refused changes nothing.
  store.receive(answers("old260", "cancel", { refused: "it is decided" }));
  assert.deepEqual([state(store, "old260-1"), store.questionsOpen], ["answered", 298]);
  // After a gap nobody tells what became of them: they are read again.
  store.receive({ type: "gap", after: 1, from: 900 });
  store.receive(snapshot({ questions: first, questions_open: 298 }));
  assert.deepEqual(["old8-1", "old261-1", "new-1"].map((id) => state(store, id)), ["open", undefined, undefined]);
}

// A question of a run inside another: the run around it waits, as the server says of it.
{
  n = 0;
  const { store } = begin({});
  const row = () => [store.rows.get("outer").status, store.rows.get("outer").waiting];
  store.receive(event("skill_started", "outer", { skill: "s", workspace: "/", driver: { user: "u" } }));
  store.receive(event("step_started", "outer", { step: "each" }));
  for (const inner of ["outer_1_0", "outer_1_1"]) {
    store.receive(event("skill_started", inner, { skill: "s", workspace: "/", parent: { run: "outer", step: "each" }, outermost: "outer" }));
    store.receive(asks(inner, { outermost: "outer" }));
  }
  assert.deepEqual(row(), ["waiting", 2]);
  store.receive(answers("outer_1_0", "proceed", { outermost: "outer" }));
  assert.deepEqual(row(), ["waiting", 1]);
  store.receive(event("skill_cancelled", "outer_1_1", { why: "cancelled", outermost: "outer" }));
  assert.deepEqual([...row(), state(store, "outer_1_1-1")], ["running", 0, "withdrawn"]);
}

// Two have to agree: one yes does not end it, one no does, and the run continues.
{
  n = 0;
  const { store } = begin({});
  const row = () => [store.rows.get("two").status, store.rows.get("two").waiting, state(store, "two-1")];
  store.receive(event("skill_started", "two", { skill: "s", workspace: "/", driver: { user: "u" } }));
  store.receive(asks("two", { approvals: 2 }));
  store.receive(answers("two", "proceed"));
  assert.deepEqual(row(), ["waiting", 1, "open"]);
  store.receive(answers("two", "cancel"));
  assert.deepEqual(row(), ["running", 0, "answered"]);
}
