// The other views: filters, cancel, retry with changes, dry run, memory, people.

import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { assert, loaded, test, until, visit } from "./harness.mjs";

const SKILLS = {
  fails: `
name: fails
inputs:
  - { name: word, type: string, default: first }
steps:
  - name: check
    command: ./flaky
    args: ["{{ inputs.word }}"]
`,
  slow: `
name: slow
steps:
  - { name: work, shell: "echo working; sleep 600", timeout: 20m }
  - { name: after, shell: "echo never" }
`,
};

await test(SKILLS, async (here) => {
  const page = await here.person("ann");
  const status = async (run) => JSON.parse(await here.aye("show", run, "--json")).status;

  // A dry run tells and starts nothing.
  await visit(page, "skills/fails");
  await page.getByLabel("word").fill("dry");
  await page.getByRole("button", { name: "Dry run" }).click();
  assert.match(await page.getByRole("region", { name: "Dry run" }).textContent(), /\.\/flaky dry/);
  assert.deepEqual(JSON.parse(await here.aye("runs", "--json")), []);

  // A run that failed is tried again with changes, which are shown first.
  await page.getByLabel("word").fill("first");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByRole("button", { name: "Retry with changes…" }).click();
  const run = new URL(page.url()).hash.split("/")[2];
  assert.equal(await status(run), "failed");
  const send = page.getByRole("button", { name: "Retry with these changes" });
  assert.equal(await send.isDisabled(), true, "nothing has changed yet");
  await page.getByLabel("argument 1").fill("second");
  assert.match(await page.locator(".diff").textContent(), /removed: .*first.*added: .*second/s);
  await send.click();
  await until(async () => (await status(run)) === "completed", "the run has completed");
  await page.locator(".graph .done", { hasText: "check" }).waitFor();

  // A running step is followed, and cancelled with a reason.
  const slow = await here.start("slow");
  await visit(page, `runs/${slow}`);
  await page.locator(".log .line", { hasText: "working" }).waitFor();
  await page.locator(".graph .lit", { hasText: "work" }).waitFor();
  await page.getByRole("button", { name: "Cancel the run…" }).click();
  await page.getByLabel("Reason").fill("not today");
  await page.getByRole("button", { name: "Cancel the run", exact: true }).click();
  await until(async () => (await status(slow)) === "cancelled", "the run was cancelled");
  await page.getByText("not today").first().waitFor();

  // Runs are filtered, and the filter is in the address.
  await visit(page, "runs");
  const rows = page.locator(".list a.item");
  await until(async () => (await rows.count()) === 2, "both runs are listed");
  await page.getByLabel("Status").selectOption("cancelled");
  await until(async () => (await rows.count()) === 1, "one run was cancelled");
  assert.match(await rows.first().textContent(), /slow/);
  assert.match(page.url(), /status=cancelled/);
  await page.getByLabel("Status").selectOption("");
  await page.getByLabel("Text").fill("fails");
  await until(async () => (await rows.count()) === 1 && /fails/.test(await rows.first().textContent()), "the text filters");
  await page.getByLabel("Text").fill("nothing has this");
  await page.getByText("No runs.").waitFor();
  await page.getByLabel("Text").fill("");

  // Each says who started it and how, and can be found by that.
  await rows.filter({ hasText: "started on the web page by ann" }).waitFor();
  await rows.filter({ hasText: /started in a script by [a-z]+/ }).waitFor();
  for (const [by, skill] of [["ann", "fails"], ["web", "fails"], ["script", "slow"]]) {
    await page.getByLabel("Started by").fill(by);
    await page.getByLabel("Started by").press("Enter");
    await until(async () => (await rows.count()) === 1 && (await rows.first().textContent()).includes(skill), `${by} started ${skill}`);
  }

  // What was learned is listed, and forgotten.
  await here.aye("memory", "learn", "--error", "login required", "--tool", "podman", "--", "podman", "login");
  await visit(page, "memory");
  await page.getByText("podman login").waitFor();
  await page.getByRole("button", { name: "Forget" }).click();
  await page.getByText("Nothing was learned yet.").waitFor();
  assert.deepEqual(JSON.parse(await here.aye("memory", "list", "fixes", "--json")).fixes, []);

  // A fix that someone changed in the file is a proposal until a person agrees.
  await here.aye("memory", "learn", "--error", "login required", "--tool", "podman", "--", "podman", "login");
  const file = path.join(here.home, "memory/learned/fixes.yaml");
  await writeFile(file, (await readFile(file, "utf8")).replace("[podman, login]", "[podman, logout]"));
  await visit(page, "inbox");
  await page.reload();
  await visit(page, "memory");
  const proposal = page.getByRole("region", { name: "Proposals" });
  await proposal.getByText("podman logout").waitFor();
  await proposal.getByRole("button", { name: "Agree" }).click();
  await page.getByRole("region", { name: "Fixes" }).getByText("podman logout").waitFor();
  const [fix] = JSON.parse(await here.aye("memory", "list", "fixes", "--json")).fixes;
  assert.deepEqual([fix.standing, fix.agreed_by ?? "ann"], ["active", "ann"]);

  // A browser is signed out from another one.
  const other = await here.open(JSON.parse(await here.aye("people", "link", "ann", "--json")).link);
  await other.getByText("Nothing waits for an answer.").waitFor();
  await visit(page, "people");
  await loaded(page);
  await page.getByRole("button", { name: /^Revoke/ }).click();
  await other.getByText("This browser is not signed in.").waitFor();
}, { flaky: "#!/bin/sh\n[ \"$1\" = second ]\n" });
