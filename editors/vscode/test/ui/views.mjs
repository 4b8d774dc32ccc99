// The status bar, the trees and the Command Center follow a run that someone else started; a skill is started
// from its form; a log is followed while its step runs; short messages come and lead to the output, and sounds are
// played, each if wanted.

import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { assert, test, until } from "./harness.mjs";

const fails = (name) => `
name: ${name}
steps:
  - { name: breaks, shell: "echo the disk is full >&2; exit 3", on_error: fail }
`;
const heals = (name) => `
name: ${name}
heal:
  - name: login
    match: { error: [unauthorized] }
    repair: { command: touch, args: [signed-in] }
    backoff: 10ms
steps:
  - { name: pods, command: ./pods, on_error: auto_heal }
`;
const asks = (name) => `
name: ${name}
steps:
  - name: sure
    confirm: { title: Sure, message: "Shall ${name}?", remember: true }
`;

const SKILLS = {
  release: `
name: release
description: Promote a commit to production
inputs:
  - { name: commit, type: string, required: true, match: "^[0-9a-f]{8,40}$", description: What to release }
steps:
  - { name: image, shell: "printf 'found \\\\033[32mit\\\\033[0m\\\\n'" }
  - name: confirm_release
    confirm: { title: Production release, message: "Release \`{{ inputs.commit }}\`?", timeout: 10m, default: cancel }
  - name: flaky
    command: ./flaky
    retry: { attempts: 2, backoff: 10ms }
  - { name: promote, shell: "echo promoted {{ inputs.commit }}" }
`,
  slow: `
name: slow
steps:
  - { name: waits, shell: "echo it begins; until [ -e go ]; do sleep 0.1; done; echo it ends" }
`,
  failing: fails("failing"),
  healing: heals("healing"),
  ...Object.fromEntries(["quiet", "loud"].flatMap((name) => [[`${name}-fails`, fails(`${name}-fails`)], [`${name}-heals`, heals(`${name}-heals`)]])),
  ...Object.fromEntries(["chimes", "silent"].map((name) => [name, asks(name)])),
};
const FILES = { flaky: "#!/bin/sh\n[ -e tried ] || { touch tried; exit 1; }\n", pods: "#!/bin/sh\n[ -e signed-in ] || { echo unauthorized >&2; exit 1; }\n", };

// Players differ from machine to machine; what is run is a setting.
const settings = {
  "aye.questions.sound": true, "aye.questions.soundCommand": ["sh", "-c", "touch \"$(dirname \"$AYE_HOME\")/project/heard\""],
  "aye.questions.raiseWindow": true, "aye.questions.raiseCommand": ["sh", "-c", "touch \"$(dirname \"$AYE_HOME\")/project/raised\""],
};

await test(SKILLS, async (here, host, step) => {
  const window = await host.window({ listen: true });
  await window.connected();
  await until(async () => /^Aye: idle/.test(await window.said()), "nothing to say");
  await window.view();
  await window.page.getByText("Nothing waits for an answer.").waitFor();
  await window.tree("Skills").filter({ hasText: "release" }).waitFor();
  step("idle");

  // From the form of the skill.
  await window.tree("Skills").filter({ hasText: "release" }).click();
  await window.panel.getByRole("heading", { name: "release" }).waitFor();
  await window.panel.getByLabel("commit").fill("4f2a91c0");
  await window.panel.getByRole("button", { name: "Dry run" }).click();
  await window.panel.getByText("What would happen").waitFor();
  await window.panel.getByRole("button", { name: "Start", exact: true }).click();
  await window.told("release started");
  await window.panel.locator(".graph .asking").waitFor();
  step("started from the form");
  await until(async () => (await window.said()) === "Aye: 1 question, release 2/4", "the status bar says where it is");
  await window.tree("Inbox").filter({ hasText: "Production release" }).waitFor();
  await window.tree("Runs").filter({ hasText: "confirm_release" }).filter({ hasText: "asks" }).waitFor();
  for (const what of ["heard", "raised"]) await until(() => existsSync(path.join(here.project, what)), what);

  // The panel says which question it shows; others see it.
  const ann = await here.person("ann");
  await ann.locator(".card .looking", { hasText: "is looking at this" }).waitFor();
  // Its log, with colours.
  await window.panel.locator(".timeline button.step", { hasText: "image" }).click();
  await window.panel.locator(".log .ansi-green", { hasText: "it" }).waitFor();
  step("panel");
  // Answered in the panel, by click.
  await window.panel.locator(".card[data-question] [data-choice=proceed]").click();
  await window.told("release completed in");
  await window.tree("Runs").filter({ hasText: "completed" }).first().waitFor();
  await until(async () => /^Aye: idle/.test(await window.said()), "the status bar is calm again");
  await window.expand("release", "1 retry");
  step("completed");

  // Who decided what, beside the graph.
  const decisions = window.panel.getByRole("region", { name: "Decisions" });
  await decisions.getByText("Production release: Proceed").waitFor();
  assert.match(await decisions.innerText(), /by \S+, /);
  await window.panel.locator(".graph svg").waitFor();

  // The log of a step that still runs.
  const slow = await here.start("slow");
  await window.tree("Runs").filter({ hasText: "slow" }).first().click();
  await window.panel.locator(".log .line", { hasText: "it begins" }).waitFor();
  assert.equal(JSON.parse(await here.aye("show", slow, "--json")).status, "running");
  assert.equal(await window.panel.locator(".log .line", { hasText: "it ends" }).count(), 0);
  await writeFile(path.join(here.project, "go"), "");
  await window.panel.locator(".log .line", { hasText: "it ends" }).waitFor();
  await window.told("slow completed");
  step("live log");

  // Failed: the message leads to the output.
  await here.start("failing");
  await window.press("failing failed at breaks", "Show output", window.panel.locator(".log .line", { hasText: "the disk is full" }));
  step("failed");

  // Repaired: said, and marked at its step.
  await here.start("healing");
  await window.told("pods was repaired by login");
  await window.expand("healing", "healed");
  step("healed");

  // A click on the status bar opens the panel where it was.
  await window.command("View: Close All Editors");
  await until(async () => (await window.page.locator("iframe.webview.ready").count()) === 0, "the panel is closed");
  await window.status.getByRole("button").click();
  await window.panel.getByText("live").waitFor();

  // The panel is live for what others do.
  await window.panel.getByRole("link", { name: "Runs" }).click();
  await window.panel.locator("a.item", { hasText: "failing" }).waitFor();
  const run = await here.start("release", { commit: "00000000aa" });
  await window.panel.locator("a.item", { hasText: run }).waitFor();
  await window.panel.getByRole("link", { name: /Inbox/ }).click();
  const card = window.panel.locator(".card[data-question]");
  await card.waitFor();
  const [open] = JSON.parse(await here.aye("inbox", "--json"));
  await here.aye("answer", open.question, "cancel");
  await window.panel.locator(".card.done", { hasText: "with aye answer" }).waitFor();
  await window.tree("Inbox").filter({ hasText: "Production release" }).waitFor({ state: "detached" });
  step("live");

  // Steps that read or wrote memory say so.
  const answer = async (...args) => {
    const [one] = await until(async () => [JSON.parse(await here.aye("inbox", "--json"))].find((all) => all.length > 0), "a question waits");
    await here.aye("answer", one.question, ...args);
  };
  await here.start("chimes");
  await window.toast("Shall chimes?").waitFor();
  await answer("proceed", "--remember", "step");
  await window.expand("chimes", "memory written");
  await here.start("chimes");
  await window.expand("chimes", "memory read");
  step("memory");

  // Each message, the sound and the window can be turned off.
  const said = async (text) => (await window.page.evaluate(() => globalThis.ayeSaid())).some((one) => one.includes(text));
  await rm(path.join(here.project, "signed-in"));
  await host.set({ "aye.toasts.started": false, "aye.toasts.failed": false });
  const ends = async (skill, status) => {
    const one = await here.start(skill);
    await until(async () => JSON.parse(await here.aye("show", one, "--json")).status === status, `${skill} is ${status}`);
  };
  await ends("quiet-fails", "failed");
  await ends("quiet-heals", "completed");
  await window.told("quiet-heals: pods was repaired by login");
  await window.told("quiet-heals completed");
  await rm(path.join(here.project, "signed-in"));
  await host.set({ "aye.toasts.started": true, "aye.toasts.failed": true, "aye.toasts.completed": false, "aye.toasts.heals": false });
  await ends("loud-heals", "completed");
  await window.told("loud-heals started");
  await ends("loud-fails", "failed");
  await window.told("loud-fails failed at breaks");
  for (const text of ["quiet-fails started", "quiet-fails failed", "quiet-heals started", "loud-heals: pods was repaired", "loud-heals completed"]) assert.equal(await said(text), false, text);
  step("messages off");

  for (const what of ["heard", "raised"]) await rm(path.join(here.project, what));
  await host.set({ "aye.questions.sound": false });
  await here.start("silent");
  await until(() => existsSync(path.join(here.project, "raised")), "raised");
  await answer("cancel");
  await window.toast("Shall silent?").waitFor({ state: "detached" });
  await rm(path.join(here.project, "raised"));
  await host.set({ "aye.questions.sound": true, "aye.questions.raiseWindow": false });
  assert.equal(existsSync(path.join(here.project, "heard")), false, "no sound was played");
  await here.start("silent");
  await until(() => existsSync(path.join(here.project, "heard")), "heard");
  await answer("cancel");
  await window.toast("Shall silent?").waitFor({ state: "detached" });
  // Without a program of its own, the panel plays two tones.
  assert.equal(await tones(window), 0);
  await host.set({ "aye.questions.soundCommand": [], "aye.questions.raiseWindow": true });
  await here.start("silent");
  await until(async () => (await tones(window)) === 2, "two tones");
  await until(() => existsSync(path.join(here.project, "raised")), "raised again");
  await answer("cancel");
  step("sound and window off");
}, { files: FILES, settings });

/** How many tones the panel has begun to play. */
function tones(window) {
  return window.panel.locator("body").evaluate(() => globalThis.ayeTones ?? 0);
}
