// Skill files: outline, definitions, places in the schema, and what a real `aye check` finds.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { check, repairsOf, wordsOf } from "../../src/editing/check";
import { definitionAt, outline, targetOf } from "../../src/editing/outline";
import { describeKey, placeAt, suggestions, type Schema } from "../../src/editing/schema";
import { Place } from "./place";

const ROOT = path.resolve(import.meta.dirname ?? "", "../../../..");
const schema = JSON.parse(readFileSync(path.join(ROOT, "docs/reference/skill.schema.json"), "utf8")) as Schema;

const STATES = `name: stop
inputs:
  - { name: pipeline, type: integer }
initial: look
states:
  look:
    tool: pipeline
    args: { number: "{{ inputs.pipeline }}" }
    output: found
    transitions: { success: running, failure: failed }
  running:
    validate: { condition: found.state == 'running' }
    transitions:
      success: over
  over: { type: final }
  failed: { type: final, status: failed }
`;

function at(text: string, mark: string, nth = 0): number {
  let from = -1;
  for (let seen = 0; seen <= nth; seen += 1) from = text.indexOf(mark, from + 1);
  return from + 1;
}

test("go to definition", () => {
  const name = (offset: number): string => {
    const found = definitionAt(STATES, offset);
    return found && "definition" in found ? `${found.definition.kind} ${STATES.slice(found.definition.start, found.definition.end)}` : String(found);
  };
  assert.equal(name(at(STATES, "look")), "state look");
  assert.equal(name(at(STATES, "running,")), "state running");
  assert.equal(name(at(STATES, "success: over") + 10), "state over");
  assert.equal(name(at(STATES, "inputs.pipeline") + 8), "input pipeline");
  assert.equal(name(at(STATES, "found.state")), "output found");
  const steps = "name: s\nsteps:\n  - name: build\n    shell: make\n  - name: ship\n    skill: deploy\n    condition: build.ok\n";
  assert.deepEqual(definitionAt(steps, at(steps, "deploy")), { skill: "deploy" });
  const built = definitionAt(steps, at(steps, "build.ok"));
  assert.ok(built && "definition" in built && built.definition.kind === "step");
});

test("outlines", () => {
  assert.deepEqual(outline(STATES).map((one) => one.name), ["stop"]);
  assert.deepEqual(outline("workflows:\n  a:\n    steps: []\n  b:\n    steps: []\n").map((one) => one.name), ["a", "b"]);
  assert.deepEqual(outline("services:\n  web: {}\n"), []);
  // While it is written, it rarely parses.
  assert.deepEqual(outline("name: x\nsteps:\n  - name: a\n    shell: [\n").map((one) => one.name), ["x"]);
});

test("places and suggestions", () => {
  const lines = ["name: x", "steps:", "  - name: a", "    shell: make", "    on_", "  - name: b", "    confirm:", "      ti", "    on_error: ", "  - { name: c, sh", "    shell: |", "      on_"];
  const labels = (row: number): string[] => {
    const place = placeAt(lines, row, lines[row]?.length ?? 0);
    return place ? suggestions(schema, place).map((one) => one.label) : [];
  };
  assert.deepEqual(placeAt(lines, 4, 7)?.path, ["steps", "[]"]);
  assert.ok(labels(4).includes("on_error") && labels(4).includes("timeout"));
  assert.ok(!labels(4).includes("shell"), "what is there is not offered again");
  assert.deepEqual(placeAt(lines, 7, 8)?.path, ["steps", "[]", "confirm"]);
  assert.ok(labels(7).includes("title") && labels(7).includes("message"));
  assert.ok(labels(8).includes("ask") && labels(8).includes("continue"), labels(8).join());
  assert.ok(labels(9).includes("shell") && !labels(9).includes("name"), labels(9).join());
  assert.deepEqual(labels(11), [], "a script is not a map");
  assert.deepEqual(placeAt(["steps:", "- name: a", "  "], 2, 2)?.path, ["steps", "[]"]);
  assert.ok(labels(0).length === 0 || placeAt([""], 0, 0));
  assert.ok(suggestions(schema, placeAt(["", ""], 0, 0) ?? { path: [], siblings: new Set(), value: null }).some((one) => one.label === "states"));
  assert.match(describeKey(schema, ["steps", "[]"], "on_error"), /\w+/);
});

test("what `aye check` finds, and the repair it names", async () => {
  const place = await Place.make({ bad: "name: bad\nsteps:\n  - name: build\n    comand: make\n" });
  try {
    const found = await check(place.where.program, place.where.env, place.project, [path.join(place.project, "skills/bad.yaml")]);
    const [finding] = found;
    assert.ok(finding);
    assert.match(wordsOf(finding), /unknown key `comand`[^]*did you mean `command`/);
    assert.deepEqual(repairsOf(finding).map(({ text, line, column, end_column }) => ({ text, line, column, end_column })), [{ text: "command", line: 4, column: 5, end_column: 11 }]);
    await assert.rejects(check("/nowhere/aye", place.where.env, place.project, []), /failed/);
  } finally {
    await place.end();
  }
});

test("each of several skills of a file has its graph", async () => {
  const two = "workflows:\n  one:\n    steps: [{ name: a, shell: echo a }]\n  two:\n    steps: [{ name: b, shell: echo b }]\n";
  const place = await Place.make({ two, alone: STATES });
  const file = (name: string): string => path.join(place.project, "skills", name);
  try {
    for (const [skill, has, not] of [["one", "echo a", "echo b"], ["two", "echo b", "echo a"], [null, "echo a", "echo b"]] as const) {
      const drawn = await place.aye("graph", targetOf(file("two.yaml"), two, skill));
      assert.ok(drawn.includes(has) && !drawn.includes(not), `${skill}: ${drawn}`);
    }
    // A file with one skill needs no name; the one it had when it was opened may be another.
    assert.equal(targetOf(file("alone.yaml"), STATES, "before"), file("alone.yaml"));
  } finally {
    await place.end();
  }
});
