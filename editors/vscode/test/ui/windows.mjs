// Two windows show the same question and one answer counts; a window with several projects has all of them; the server is killed and started again, and both
// windows catch up; with no server at all, the extension starts one.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { assert, test, until } from "./harness.mjs";

const SKILLS = {
  ask: `
name: ask
steps:
  - name: sure
    confirm: { title: Sure, message: Shall we?, timeout: 30m, default: cancel }
  - { name: after, shell: "echo done" }
`,
  quick: `
name: quick
steps:
  - { name: one, shell: "echo 1" }
`,
};

await test(SKILLS, async (here, host, step) => {
  const announced = () => JSON.parse(readFileSync(path.join(here.home, "serve.json"), "utf8"));
  const status = async (run) => JSON.parse(await here.aye("show", run, "--json")).status;
  // Nobody has started a server: the extension does.
  const first = await host.window();
  await first.connected();
  const started = announced();
  assert.ok(readFileSync(`/proc/${started.pid}/cmdline`, "utf8").includes("serve"), "a server runs");
  const second = await host.window();
  await second.connected();
  assert.equal(announced().pid, started.pid, "one server for both windows");
  step("two windows");

  const run = await here.start("ask");
  for (const window of [first, second]) await window.toast("Shall we?").waitFor();
  await first.decide("Shall we?", "Proceed");
  await second.told(/Sure: “Proceed” by .*, in an editor/);
  await second.toast("Shall we?").waitFor({ state: "detached" });
  assert.equal(await first.toast(/Sure: “Proceed” by/).count(), 0, "whoever answered is not told");
  await until(async () => (await status(run)) === "completed", "the run has completed");
  step("one answer");

  // Several projects in one window: each has its skills, its runs and its checks.
  const other = path.join(here.root, "other");
  await mkdir(path.join(other, "skills"), { recursive: true });
  await writeFile(path.join(other, "skills", "audit.yaml"), "name: audit\nsteps:\n  - { name: look, shell: pwd }\n");
  await writeFile(path.join(other, "skills", "wrong.yaml"), "name: wrong\nsteps:\n  - { name: look, comand: pwd }\n");
  await here.aye("trust", "--yes", other);
  const file = path.join(here.root, "both.code-workspace");
  await writeFile(file, JSON.stringify({ folders: [{ path: here.project }, { path: other }] }));
  const both = await host.window({ workspace: file });
  await both.connected();
  await both.view();
  // On a busy machine VS Code may open a workspace without its folders.
  await until(async () => {
    await both.tree("Skills").first().waitFor();
    const isOpen = await both.tree("Skills").filter({ hasText: "not open here" }).first().waitFor({ state: "detached", timeout: 10_000 }).then(() => true, () => false);
    if (!isOpen) await both.page.reload();
    return isOpen;
  }, "the workspace has its folders");
  // A project may be drawn closed: then it is opened.
  for (const [project, skill] of [["project", "ask"], ["other", "audit"]]) {
    const row = both.tree("Skills").filter({ hasText: project }).first();
    await row.waitFor();
    await until(async () => {
      if (await both.tree("Skills").filter({ hasText: skill }).first().isVisible()) return true;
      if ((await row.getAttribute("aria-expanded")) === "false") await row.locator(".monaco-tl-twistie").click({ timeout: 2000 }).catch(() => {});
      return false;
    }, `${project} shows ${skill}`);
  }
  await both.tree("Skills").filter({ hasText: "wrong" }).filter({ hasText: "1 error" }).waitFor();
  await both.tree("Skills").filter({ hasText: "audit" }).click();
  await both.panel.getByRole("button", { name: "Start", exact: true }).click();
  await both.told("audit completed");
  const [audit] = JSON.parse(await here.aye("runs", "--json"));
  assert.equal(audit.skill, "audit");
  assert.match(await here.aye("logs", audit.run), new RegExp(`^${other}$`, "m"), "it runs in its own project");
  assert.equal((await first.page.evaluate(() => globalThis.ayeSaid())).some((text) => text.includes("audit completed")), false, "a window of another project is not told");
  await both.page.context().close();
  step("several projects");

  // Killed: the windows say so, and what was on the screen can no longer be answered.
  const waiting = await here.start("ask");
  await first.toast("Shall we?").waitFor();
  await second.toast("Shall we?").waitFor();
  process.kill(started.pid, "SIGKILL");
  await until(async () => /disconnected|connecting/.test(await first.said()), "the window says that it is disconnected");
  await first.toast("Shall we?").waitFor({ state: "detached" });
  await second.toast("Shall we?").waitFor({ state: "detached" });
  step("killed");
  // While nobody listens, it is answered at a terminal and another run comes.
  const [open] = JSON.parse(await here.aye("inbox", "--json"));
  await here.aye("answer", open.question, "proceed");
  await until(async () => (await status(waiting)) === "completed", "it is answered meanwhile");
  const later = await here.start("ask");
  // The new one is encrypted with a certificate of its own.
  const server = spawn(process.env.AYE_TEST_PROGRAM, ["serve", "--listen", "127.0.0.1:0", "--json", "--tls-self-signed"], { cwd: here.project, env: here.env, stdio: "ignore" });
  try {
    for (const window of [first, second]) {
      await window.connected();
      await window.toast("Shall we?").waitFor();
      await until(async () => /1 question/.test(await window.said()), "one question waits");
    }
    assert.match(announced().url, /^https:/);
    await second.decide("Shall we?", "Cancel");
    await until(async () => (await status(later)) === "cancelled", "the later run is declined");
    await first.told(/Sure: “Cancel” by/);
    // The panel reads over HTTP, too.
    await first.command("Aye: Open Command Center");
    await first.panel.getByRole("link", { name: "Runs" }).click();
    await first.panel.locator("a.item", { hasText: later }).waitFor();
    step("caught up");
  } finally {
    server.kill("SIGKILL");
  }
  // Nobody brings it back: after a while the extension does.
  await until(async () => /disconnected|connecting/.test(await first.said()), "it is gone again");
  await first.connected();
  step("started again");
}, { serve: false });
