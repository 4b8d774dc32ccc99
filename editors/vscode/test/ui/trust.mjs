// Both VS Code and `aye trust` have to trust a folder before anything of it runs; elsewhere the extension
// reads. A program or server that is missing or too old is said, with what to do.

import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { promisify } from "node:util";
import { assert, test, until } from "./harness.mjs";

const execute = promisify(execFile);
const SKILLS = {
  ask: `
name: ask
steps:
  - name: sure
    confirm: { title: Sure, message: Shall we?, timeout: 30m, default: cancel }
`,
};

// A restricted window: runs and questions are shown, nothing is answered or started.
await test(SKILLS, async (here, host, step) => {
  const window = await host.window();
  await window.connected();
  const run = await here.start("ask");
  await window.toast("Shall we?").waitFor();
  await window.press("Shall we?", "Proceed", window.toast("Aye only reads in a restricted window"));
  await window.action("Aye only reads in a restricted window", "Manage Trust").waitFor();
  await window.view();
  await window.tree("Inbox").filter({ hasText: "Sure" }).click();
  await window.tree("Runs").filter({ hasText: "ask" }).first().waitFor();
  await window.tree("Skills").filter({ hasText: "ask" }).click();
  await window.panel.getByRole("button", { name: "Start", exact: true }).waitFor();
  assert.equal(await window.panel.getByRole("button", { name: "Start", exact: true }).isDisabled(), true, "the form starts nothing");
  await window.panel.getByRole("link", { name: /Inbox/ }).click();
  await window.panel.locator(".card[data-question]").waitFor();
  assert.equal(await window.panel.locator("[data-choice=proceed]").isDisabled(), true, "the card answers nothing");
  assert.equal(JSON.parse(await here.aye("show", run, "--json")).status, "waiting", "it still waits");
  step("restricted");
}, { trust: true });

// A window that VS Code trusts, with a project that nobody trusted with `aye trust`.
await test(SKILLS, async (here, host, step) => {
  await here.aye("trust", "--remove");
  const window = await host.window();
  await window.connected();
  await window.view();
  await window.tree("Skills").filter({ hasText: "not trusted" }).or(window.tree("Skills").filter({ hasText: "ask" })).first().waitFor();
  await window.open("skills/ask.yaml");
  await window.lens("Run", window.toast("is not trusted: Aye reads it and starts nothing of it"));
  assert.equal(JSON.parse(await here.aye("runs", "--json")).length, 0, "nothing was started");
  await window.press("is not trusted", "Look at it and trust it…", window.page.locator(".terminal-wrapper.active"));
  step("not trusted by aye");

  // A project that `aye trust` trusts, and that VS Code was never asked about: it is another folder.
  const other = path.join(here.root, "other");
  await mkdir(path.join(other, "skills"), { recursive: true });
  await writeFile(path.join(other, "skills", "audit.yaml"), "name: audit\nsteps:\n  - { name: look, shell: pwd }\n");
  await writeFile(path.join(other, "skills", "breaks.yaml"), "name: breaks\nsteps:\n  - { name: look, shell: exit 1, on_error: fail }\n");
  await here.aye("trust", "--yes", other);
  await window.command("Aye: Run Skill");
  await window.option(/^audit/).click();
  const refused = `${other} is not open in this window, so VS Code was never asked to trust it: Aye only reads it here. Open that folder to run its skills.`;
  await window.toast(refused).waitFor();
  await window.action(refused, "Open Folder").waitFor();
  await window.command("Notifications: Clear All Notifications");
  await window.view();
  await window.tree("Skills").filter({ hasText: "other" }).filter({ hasText: "not open here: read only" }).waitFor();
  // Nor from the panel, neither a skill nor a run again.
  await window.command("Aye: Dry Run Skill");
  await window.option(/^audit/).click();
  await window.panel.getByRole("button", { name: "Start", exact: true }).click();
  await window.panel.getByText(refused).waitFor();
  const { stdout } = await execute(process.env.AYE_TEST_PROGRAM, ["run", "breaks", "--detach", "--json"], { cwd: other, env: here.env });
  const { run } = JSON.parse(stdout.trim().split("\n")[0]);
  await window.tree("Runs").filter({ hasText: "breaks" }).filter({ hasText: "failed" }).click();
  await window.panel.getByRole("button", { name: /^Retry/ }).first().click();
  await window.panel.getByText(refused).first().waitFor();
  assert.deepEqual(JSON.parse(await here.aye("runs", "--json")).map((one) => one.run), [run], "nothing was started");
  assert.equal(JSON.parse(await here.aye("show", run, "--json")).status, "failed");
  step("another folder");
});

// No program; then one that is too old; then a server that is.
await test(SKILLS, async (here, host, step) => {
  const window = await host.window();
  await window.toast("bin/aye` was not found. Install it, or say where it is in the setting aye.path.").waitFor();
  await window.view();
  await window.page.getByText("was not found.").first().waitFor();
  await until(async () => /disconnected/.test(await window.said()), "the status bar says so");
  await until(async () => (await window.page.getByText("Not connected. The inbox says why.").count()) === 2, "no view is blank");
  await window.press("was not found", "How to install", window.page.getByText("Get started with Aye"));
  step("missing");

  const program = path.join(host.folder, "bin", "aye");
  await writeFile(program, "#!/bin/sh\necho aye 0.0.9\n");
  await chmod(program, 0o755);
  await window.toast("is version 0.0.9; this extension needs 0.1.0 or newer").waitFor();
  await window.page.getByText("is too old for this extension").first().waitFor();
  step("old program");

  // A server of an old program runs: it is not used.
  const token = "5f".repeat(32);
  const heard = [];
  const old = createServer((request, response) => {
    heard.push(request.url);
    const proof = createHmac("sha256", token).update(`aye-serve-proof\n${url()}\n${request.headers["aye-challenge"]}`).digest("hex");
    response.writeHead(200, { "Aye-Proof": proof }).end(JSON.stringify({ info: { version: "0.0.8" } }));
  });
  const url = () => `http://127.0.0.1:${old.address().port}`;
  await new Promise((resolve) => old.listen(0, "127.0.0.1", resolve));
  try {
    await writeFile(path.join(here.home, "serve.json"), JSON.stringify({ url: url(), pid: process.pid, token }));
    await window.toast(`the server that runs (process ${process.pid}) is version 0.0.8; this extension needs 0.1.0 or newer. Stop it`).waitFor();
    assert.ok(!heard.some((one) => one.startsWith("/ws")), "nothing else is asked of it");
  } finally {
    old.close();
    await rm(path.join(here.home, "serve.json"));
  }
  step("old server");
}, { serve: false, program: "none yet" });
