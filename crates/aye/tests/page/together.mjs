// Two people in two browsers, an answer at a terminal, a server that is killed: every page tells the same,
// and nothing is answered from a card that is not current.

import { assert, settled, test, until, visit } from "./harness.mjs";

const SKILLS = {
  two: `
name: two
steps:
  - name: both
    confirm: { title: Both, message: Agree?, approvals: 2 }
`,
  one: `
name: one
inputs:
  - { name: host, type: string, default: a }
steps:
  - name: ask
    command: echo
    args: ["{{ inputs.host }}"]
    confirmation: { title: Restart, message: "Restart {{ inputs.host }}?", timeout: 10m }
`,
  soon: `
name: soon
steps: [ { name: soon, confirm: { title: Soon, message: Now?, timeout: 25s, default: cancel } } ]
`,
};

for (const [size, other] of [["desktop", "phone"], ["phone", "desktop"]]) await test(SKILLS, async (here) => {
  const ann = await here.person("ann", { size });
  const bob = await here.person("bob", { size: other });
  const question = (page) => page.locator(".card[data-question]");

  // One agrees, the other sees it, and decides.
  await here.start("two");
  for (const page of [ann, bob]) await question(page).waitFor();
  await settled(ann);
  await question(ann).locator("[data-choice=proceed]").click();
  await question(bob).getByText("1 of 2 agreed (ann)").waitFor();
  // The same person counts once.
  await settled(ann);
  await question(ann).locator("[data-choice=proceed]").click();
  await question(ann).getByRole("alert").waitFor();
  await question(bob).locator("[data-choice=proceed]").click();
  await ann.locator(".card.done", { hasText: "by bob" }).waitFor();

  // Who looks is seen by the other.
  const run = await here.start("one");
  await question(ann).waitFor();
  await question(bob).waitFor();
  await question(bob).locator(".message").click();
  await question(ann).getByText("bob is looking at this.").waitFor();

  // Answered at a terminal: the card is withdrawn everywhere.
  const id = await question(ann).getAttribute("data-question");
  await here.aye("answer", id, "proceed");
  for (const page of [ann, bob]) await page.locator(`#question-${id}.done`).waitFor();
  assert.match(await ann.locator(`#question-${id}`).textContent(), /with aye answer/);
  await until(async () => JSON.parse(await here.aye("show", run, "--json")).status === "completed", "the run has completed");

  // Several of one kind together, each command in full.
  for (const host of ["web-1", "web-2", "web-3"]) await here.start("one", { host });
  await ann.getByText("3 questions of one kind").waitFor();
  await settled(ann);
  await ann.getByRole("button", { name: "Answer together" }).click();
  await ann.locator(".batch").getByText("echo web-3").first().waitFor();
  assert.match(await ann.locator(".batch").textContent(), /echo web-1.*echo web-2.*echo web-3/s);
  await ann.getByLabel("Restart web-2?").check();
  await ann.getByLabel("Restart web-3?").check();
  await settled(ann);
  await ann.locator(".batch").getByRole("button", { name: "(2)" }).first().click();
  await until(async () => JSON.parse(await here.aye("inbox", "--json")).length === 1, "one question is left");

  // Who works on such a list holds the deadline of all that it shows.
  const soon = [await here.start("soon"), await here.start("soon")];
  await ann.locator(".batch", { hasText: "Soon" }).getByRole("button", { name: "Answer together" }).click();
  const held = async (one) => JSON.parse(await here.aye("show", one, "--json")).events.some(({ type, by }) => type === "confirmation_held" && by === "ann");
  for (const one of soon) {
    await until(() => held(one), "it is held");
    await here.aye("cancel", one);
  }

  // The server dies: the page says so and answers nothing. It comes back, and so does the page.
  await until(async () => (await question(ann).count()) === 1, "one card is left");
  const { port } = new URL(here.url);
  await here.kill();
  await ann.getByRole("alert").getByText("Disconnected since").waitFor();
  assert.equal(await question(ann).locator("[data-choice=proceed]").isDisabled(), true);
  const stale = await question(ann).getAttribute("data-question");
  await here.aye("answer", stale, "cancel");
  await here.serve(`127.0.0.1:${port}`);
  await ann.locator(`#question-${stale}.done`).waitFor();
  // Who answered is looked up after that.
  await ann.locator(`#question-${stale}`).getByText("with aye answer").waitFor();
  await here.start("one", { host: "web-9" });
  await question(ann).getByText("Restart web-9?").waitFor();

  // A device that is signed out sees nothing more.
  const devices = JSON.parse(await here.aye("people", "list", "--json"));
  assert.ok(JSON.stringify(devices).includes("bob"));
  await here.aye("people", "remove", "bob");
  await visit(bob, "runs");
  await bob.getByText("This browser is not signed in.").waitFor();
});
