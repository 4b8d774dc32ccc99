// What a card says, from top to bottom, and that it says no more than is true: what a yes covers, what has changed,
// what is known, what an assistant thinks, where each answer leads, what happens when the time is up.

import { writeFile } from "node:fs/promises";
import path from "node:path";
import { assert, settled, test, until, visit } from "./harness.mjs";

const SKILLS = {
  ship: `
name: ship
steps:
  - { name: build, shell: "echo built" }
  - name: publish
    command: ./publish
    args: ["--to", production]
    env: { CHANNEL: stable }
    stdin: release notes
    confirmation: { title: Publish, message: "Publish now?", timeout: 1h, approvals: 2, ai_assist: true }
`,
  untitled: `
name: untitled
steps:
  - { name: sure, confirm: { message: "Is the moon full?", timeout: 1h } }
`,
  word: `
name: word
steps:
  - { name: word, input: { title: Word, message: Which word?, default: plain, timeout: 6s } }
`,
  limited: `
name: limited
timeout: 20m
steps:
  - { name: sure, confirm: { title: Limited, message: Now?, timeout: 1h, default: proceed } }
`,
  health: `
name: health
steps:
  - { name: probe, command: ./probe, args: [web-3], on_error: ask }
`,
  block: `
name: block
steps:
  - { name: share, compute: "result = 1 / 0", on_error: ask }
`,
  long: `
name: long
steps:
  - name: feed
    command: cat
    stdin: "${"all of it ".repeat(7000)}"
    confirmation: { title: Feed, message: Feed it?, timeout: 1h }
`,
};

const FILES = { publish: "#!/bin/sh\necho published\n", probe: "#!/bin/sh\necho 'error: 503 from the probe' >&2\nexit 22\n" };

await test(SKILLS, async (here) => {
  const ann = await here.person("ann");
  const bob = await here.person("bob", { size: "phone" });
  const card = (page) => page.locator(".card[data-question]");
  const answerWith = async (page, choice) => {
    await settled(page);
    await card(page).locator(`[data-choice=${choice}]`).click();
  };

  await here.aye("memory", "learn", "--error", "rate limit", "--tool", "publish", "--meaning", "wait an hour");
  const assistant = await here.assistant();
  const { execution_id: id } = await assistant.call("skill_run", { skill: "ship" });
  await card(ann).getByRole("heading", { name: "Publish" }).waitFor();
  await assistant.call("skill_advise", { execution_id: id, advice: "The tests of this build pass.", suggestion: "proceed" });
  await card(ann).getByText("The tests of this build pass.").waitFor();
  await card(ann).getByText("wait an hour").waitFor();
  await until(async () => (await card(ann).locator(".steps").count()) === 1, "what happened so far is there");

  // Every part that the journal has, in this order.
  const { questions: [asked] } = await here.program("GET", "/questions");
  const fact = (kind) => asked.facts.find((one) => one.kind === kind)?.value;
  const parts = [
    "Publish", "ship › publish", "through an assistant", "0 of 2 agreed", "Publish now?", `on ${fact("machine")}`, `in ${fact("directory")}`,
    "./publish --to production", "CHANNEL=stable", "release notes", "a yes covers", ...(asked.not_covered?.length ? ["not covered"] : []),
    "build", "Known issue", "Assistant", "(not counted)", "→ runs publish", "→ the run ends (cancelled)", "Reason",
  ];
  const text = await card(ann).textContent();
  parts.reduce((from, part) => {
    const at = text.indexOf(part, from);
    assert.ok(at >= from, `“${part}” comes after ${from}: ${text}`);
    return at;
  }, 0);
  assert.doesNotMatch(text, /shortened/);

  // One agrees, then the program changes: it is asked again, with the difference, and what was typed is gone.
  await answerWith(bob, "proceed");
  await card(ann).getByText("1 of 2 agreed (bob)").waitFor();
  await card(ann).getByLabel("Reason").fill("as discussed");
  await writeFile(path.join(here.project, "publish"), "#!/bin/sh\necho something else\n");
  await answerWith(ann, "proceed");
  await card(ann).getByRole("heading", { name: "Changed since it was agreed to" }).waitFor();
  assert.match(await card(ann).locator(".diff").first().textContent(), /removed: .*added: /s);
  assert.equal(await card(ann).getByLabel("Reason").inputValue(), "");
  await answerWith(ann, "cancel");
  assistant.end();

  // A question without a title has its own words as the heading, once.
  await here.start("untitled");
  await card(ann).getByRole("heading", { name: "Is the moon full?" }).waitFor();
  assert.equal((await card(ann).textContent()).split("Is the moon full?").length, 2);
  assert.doesNotMatch(await card(ann).textContent(), /Confirmation required/);
  await answerWith(ann, "cancel");

  // The run's own limit comes first.
  await here.start("limited");
  await card(ann).getByText("then the run ends").waitFor();
  await answerWith(ann, "cancel");

  // A failed step: what failed, what it wrote, where it ran.
  await here.start("health");
  await card(ann).getByRole("heading", { name: "probe failed" }).waitFor();
  await card(ann).getByRole("group", { name: "What it wrote" }).getByText("error: 503 from the probe").waitFor();
  await card(ann).getByText(new RegExp(`ran on \\S+ · project ${here.project}`)).waitFor();
  await answerWith(ann, "abort");

  // What a block is made of is known to the server alone, and can be changed here as well.
  const block = await here.start("block");
  await card(ann).getByRole("heading", { name: "share failed" }).waitFor();
  await settled(ann);
  await card(ann).getByRole("button", { name: "Retry with changes" }).click();
  assert.match(await card(ann).getByLabel("code").inputValue(), /1 \/ 0/);
  await card(ann).getByLabel("code").fill("result = 1 / 2");
  await card(ann).getByRole("button", { name: "Retry with these changes" }).click();
  await until(async () => JSON.parse(await here.aye("show", block, "--json")).status === "completed", "the block has run");

  // What really is shortened says so.
  await here.start("long");
  await card(ann).getByRole("heading", { name: "Feed" }).waitFor();
  assert.equal((await card(ann).locator("div.command").textContent()).split("shortened; sha256").length, 2);
  await answerWith(ann, "cancel");

  // The default of a text is what happens then, and what has happened afterwards.
  await visit(bob, "people");
  await here.start("word");
  await card(ann).getByText("then “plain”, if someone is looking").waitFor();
  await ann.locator(".card.done", { hasText: "nobody answered in time; “plain” was taken" }).waitFor();
}, FILES);
