// Every kind of question is answered on its card: options, a list, a text, a secret, a typed word, a one-time
// code, a failed step with changes; one is remembered, one expires, one is held.

import { assert, settled, test, until, visit } from "./harness.mjs";

const SKILLS = {
  kinds: `
name: kinds
steps:
  - name: pick
    choose: { title: Region, message: Where?, options: [eu-1, eu-2, us-1, us-2, ap-1] }
    output: region
  - name: few
    choose: { title: Speed, message: How fast?, options: [slowly, at once] }
  - name: ticket
    input: { title: Ticket, message: Which ticket?, match: "^OPS-[0-9]+$" }
    output: ticket
  - name: again
    confirm: { title: Again, message: Every time?, remember: true }
  - name: sure
    command: echo
    args: ["{{ region }}", "{{ ticket }}"]
    confirmation: { title: Wipe, message: Wipe it?, type_to_confirm: wipe-it }
  - name: broken
    command: ./flaky
    args: [first]
    on_error: ask
`,
  secretive: `
name: secretive
steps:
  - name: password
    input: { title: Password, message: Which password?, secret: true }
`,
  failing: `
name: failing
steps:
  - name: push
    command: ./flaky
    args: [third]
    on_error: { ask: { remember: true } }
`,
  expiring: `
name: expiring
steps:
  - name: soon
    confirm: { title: Soon, message: Now?, timeout: 10s, default: cancel }
`,
};

for (const size of ["desktop", "phone"]) await test(SKILLS, async (here) => {
  const page = await here.person("ann", { size });
  const run = await here.start("kinds");
  const card = page.locator(".card[data-question]");
  const open = async (title) => {
    await card.getByRole("heading", { name: title }).waitFor();
    await settled(page);
  };

  await open("Region");
  await card.getByLabel("us-2").check();
  await card.getByRole("button", { name: "Choose" }).click();

  await open("Speed");
  await card.getByRole("button", { name: "slowly" }).click();

  await open("Ticket");
  await card.getByLabel("Your answer").fill("nonsense");
  await card.getByRole("button", { name: "Send" }).click();
  await card.getByRole("alert").waitFor();
  await card.getByLabel("Your answer").fill("OPS-7");
  await card.getByRole("button", { name: "Send" }).click();

  await open("Again");
  await card.getByLabel("Remember").selectOption("step");
  await card.getByText("for 30 days to the same question at this step").waitFor();
  await card.locator("[data-choice=proceed]").click();
  await page.locator(".card.done", { hasText: "remembered (step)" }).waitFor();

  await open("Wipe");
  assert.match(await card.locator(".command").textContent(), /echo us-2 OPS-7/);
  const proceed = card.locator("[data-choice=proceed]");
  assert.equal(await proceed.isDisabled(), true, "nothing was typed yet");
  await card.getByLabel("to agree").fill("wipe-i");
  assert.equal(await proceed.isDisabled(), true, "not all of it was typed");
  await card.getByLabel("to agree").fill("wipe-it");
  await proceed.click();

  await card.getByRole("button", { name: /changes/ }).waitFor();
  await settled(page);
  await card.getByRole("button", { name: /changes/ }).click();
  await card.getByLabel("argument 1").fill("second");
  const diff = await card.locator(".diff").textContent();
  assert.match(diff, /removed: .*first/);
  assert.match(diff, /added: .*second/);
  await card.getByRole("button", { name: "Retry with these changes" }).click();
  await until(async () => JSON.parse(await here.aye("show", run, "--json")).status === "completed", "the run has completed");

  // The answer about a failed step is remembered as far as the person says, and given to the next run.
  const failing = await here.start("failing");
  await card.getByLabel("Remember").waitFor();
  await settled(page);
  assert.deepEqual(
    await card.getByLabel("Remember").locator("option").evaluateAll((all) => all.map((one) => one.value)),
    ["", "error", "step", "skill", "always"],
  );
  await card.getByLabel("Remember").selectOption("error");
  await card.getByText("for 30 days to this error of this step").waitFor();
  await card.locator("[data-choice=skip]").click();
  await page.locator(".card.done", { hasText: "remembered (error)" }).waitFor();
  const end = async (run) => JSON.parse(await here.aye("show", run, "--json"));
  await until(async () => (await end(failing)).status === "completed", "the run has completed");
  const again = await here.start("failing");
  await until(async () => (await end(again)).status === "completed", "memory has answered");
  assert.deepEqual((await end(again)).decisions.map((one) => one.prompter), ["memory"]);
  // The run says so: what was recalled, from which run, who said it, and how it is taken back.
  await visit(page, `runs/${again}`);
  const used = page.getByRole("region", { name: "Memory" });
  await used.getByText(`recalled preference at push: `).waitFor();
  const said = await used.textContent();
  for (const part of [failing, "ann", "aye memory forget pref-"]) assert.ok(said.includes(part), `${part}: ${said}`);
  await visit(page, "inbox");

  // A secret is not shown, neither while it is typed nor afterwards.
  await here.start("secretive");
  await open("Password");
  assert.equal(await card.getByLabel("Your answer").getAttribute("type"), "password");
  await card.getByLabel("Your answer").fill("hunter2");
  await card.getByRole("button", { name: "Send" }).click();
  await page.locator(".card.done", { hasText: "Password" }).waitFor();
  assert.ok(!(await page.locator("body").textContent()).includes("hunter2"));
}, { flaky: "#!/bin/sh\n[ \"$1\" = second ]\n" });

// Both at once: most of it is waiting.
await Promise.all(["desktop", "phone"].map((size) => test(SKILLS, async (here) => {
  const page = await here.person("ann", { size });
  await here.start("expiring");
  await page.locator(".card[data-question] .clock").waitFor();
  // Nobody touches it: what happens then is what the card said.
  assert.match(await page.locator(".card[data-question] .clock").textContent(), /then “.*”/);
  await page.getByText("nobody answered in time").waitFor();

  // A touch holds the next one beyond its time.
  await here.start("expiring");
  const card = page.locator(".card[data-question]");
  await card.locator(".message").click();
  // Longer than it would have had.
  await page.waitForTimeout(12_000);
  await card.locator("[data-choice=proceed]").click();
  await page.locator(".card.done", { hasText: "by ann" }).waitFor();
})));
