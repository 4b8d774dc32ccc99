// A run with items and nested runs: its timeline, the colours of its log, and a list of runs that moves by itself.

import { assert, test, until, visit } from "./harness.mjs";

const SKILLS = {
  soon: `
name: soon
steps: [ { name: soon, confirm: { title: Soon, message: Now?, timeout: 20s, default: cancel } } ]
`,
  gates: `
name: gates
steps:
  - name: each
    foreach: [web-1, web-2]
    parallel: 2
    steps:
      - { name: restart, command: echo, args: ["{{ item }}"], confirmation: { title: Restart, message: "Restart {{ item }}?", timeout: 1h } }
`,
  declined: `
name: declined
initial: both
states:
  both: { command: echo, confirmation: { message: "Agree?", approvals: 2, timeout: 1h }, transitions: { success: done, declined: slow } }
  slow: { shell: "sleep 600", timeout: 20m, transitions: { success: done } }
  done: { type: final }
`,
  deploy: `
name: deploy
inputs: [ { name: host, type: string, default: one } ]
steps:
  - { name: copy, shell: "printf '\\\\033[32mcopied\\\\033[0m to {{ inputs.host }}\\\\n'" }
`,
  fleet: `
name: fleet
steps:
  - name: each
    foreach: "{{ ['web-1', 'web-2'] }}"
    steps:
      - { name: restart, shell: "echo restarted {{ item }}" }
  - name: last
    skill: deploy
    inputs: { host: db-1 }
  - name: sure
    confirm: { title: Done, message: Done?, timeout: 1h }
`,
};

await test(SKILLS, async (here) => {
  const page = await here.person("ann");
  await visit(page, "runs");
  await page.getByText("No runs.").waitFor();

  // The list moves by itself.
  const run = await here.start("fleet");
  const row = page.locator(".list a.item", { hasText: run });
  await row.getByText("waits for an answer").waitFor();
  await row.click();

  const timeline = page.getByRole("region", { name: "Timeline" });
  await timeline.getByText("2 of 2 done").waitFor();
  for (const inside of ["web-1", "web-2"]) await timeline.locator(".inside", { hasText: inside }).getByText("restart", { exact: false }).first().waitFor();
  await timeline.locator(".inside", { hasText: "copy" }).getByRole("button", { name: /copy/ }).click();
  const line = page.locator(".log .line", { hasText: "copied to db-1" });
  await line.waitFor();
  assert.ok(await line.locator(".ansi-green", { hasText: "copied" }).count(), "the colour of the terminal");

  // Answered in place; and the list knows.
  await page.locator(".card[data-question] [data-choice=proceed]").waitFor();
  await page.locator("main:not([data-moving])").waitFor();
  await page.locator(".card[data-question] [data-choice=proceed]").click();
  await page.getByRole("region", { name: "Decisions" }).getByText("by ann").waitFor();
  await visit(page, "runs");
  await row.getByText("done").waitFor();

  // Who is asked inside a run is waited for by the run around it.
  const gates = await here.start("gates");
  const outer = page.locator(".list a.item", { hasText: gates });
  await outer.getByText("waits for an answer (2)").waitFor();
  for (const { question } of JSON.parse(await here.aye("inbox", "--json"))) await here.aye("answer", question, "proceed");
  await outer.getByText("done").waitFor();
  // One no of two people decides, and the run continues.
  const declined = await here.start("declined");
  const continues = page.locator(".list a.item", { hasText: declined });
  await continues.getByText("waits for an answer").waitFor();
  await here.aye("answer", `${declined}-1`, "cancel");
  await continues.getByText("running").waitFor();
  await here.aye("cancel", declined);

  // A key on a card holds its deadline.
  await visit(page, "inbox");
  const soon = await here.start("soon");
  await page.locator(".card[data-question]").press("r");
  const held = async () => JSON.parse(await here.aye("show", soon, "--json")).events.some(({ type, by }) => type === "confirmation_held" && by === "ann");
  await until(held, "it was held");
});
