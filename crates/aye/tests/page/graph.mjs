// The graph of a run: an end has its colour only when the run is there, and `finally` is connected.

import { assert, loaded, settled, test, visit } from "./harness.mjs";

const SKILLS = {
  tidied: `
name: tidied
steps:
  - { name: first, confirm: { title: First, message: First?, timeout: 1h } }
  - { name: second, confirm: { title: Second, message: Second?, timeout: 1h } }
finally:
  - { name: unlock, shell: "echo unlocked" }
`,
  broken: `
name: broken
initial: try
states:
  try: { shell: "exit 3", transitions: { success: good, failure: bad } }
  good: { type: final }
  bad: { type: final, status: failed }
`,
};

await test(SKILLS, async (here) => {
  const page = await here.person("ann");
  const ends = () => page.locator(".graph [data-end]").evaluateAll((all) => all.map((one) => ({
    name: one.querySelector("title").textContent, after: one.dataset.after ?? null,
    lit: ["done", "wrong", "stopped"].find((word) => one.classList.contains(word)) ?? null,
    stroke: getComputedStyle(one.querySelector(".box")).stroke,
  })));
  const lit = async () => (await ends()).filter((one) => one.lit).map(({ name, after, lit: how }) => [name, after, how]);
  const answer = async (choice) => {
    await settled(page);
    await page.locator(`.card[data-question] [data-choice=${choice}]`).click();
  };

  // Nothing is reached while the run waits: every end looks the same.
  let run = await here.start("tidied");
  await visit(page, `runs/${run}`);
  await page.locator(".graph .asking", { hasText: "first" }).waitFor();
  const waiting = await ends();
  assert.deepEqual(waiting.map(({ name, after }) => [name, after]), [["end", null], ["cancelled", "first"], ["cancelled", "second"]]);
  assert.equal(new Set(waiting.map(({ stroke }) => stroke)).size, 1, JSON.stringify(waiting));
  assert.deepEqual(await lit(), []);
  // Each end leads to `finally`: one dashed line each, besides those of the two refusals.
  assert.equal(await page.locator(".graph .wire.implied").count(), 5);

  // The end of the step that was declined, and no other.
  await answer("proceed");
  await page.locator(".graph .asking", { hasText: "second" }).waitFor();
  await answer("cancel");
  await page.locator(".graph [data-end].stopped").waitFor();
  assert.deepEqual(await lit(), [["cancelled", "second", "stopped"]]);
  await page.locator(".graph .done", { hasText: "unlock" }).waitFor();
  const declined = await ends();
  assert.notEqual(declined[2].stroke, declined[1].stroke, "the end that was reached stands out");

  // A good end is green, and only then.
  run = await here.start("tidied");
  await visit(page, `runs/${run}`);
  for (const step of ["first", "second"]) {
    await page.locator(".graph .asking", { hasText: step }).waitFor();
    await answer("proceed");
  }
  await page.locator(".graph [data-end].done").waitFor();
  assert.deepEqual(await lit(), [["end", null, "done"]]);

  // A bad final state is red.
  run = await here.start("broken");
  await visit(page, `runs/${run}`);
  await page.locator(".graph [data-end].wrong").waitFor();
  assert.deepEqual(await lit(), [["bad", null, "wrong"]]);

  // An address that leads nowhere says so.
  await visit(page, "no-such-page");
  await page.getByText("This address leads nowhere.").waitFor();
  await page.getByRole("link", { name: "Go to the inbox" }).click();
  await page.getByText("Nothing waits for an answer.").waitFor();
  await loaded(page);
});
