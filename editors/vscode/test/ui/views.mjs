// The status bar, the trees and the Command Center follow a run that someone else started; a skill is started
// from its form; short messages come and lead to the output; sounds are played if wanted.

import { existsSync } from "node:fs";
import path from "node:path";
import { assert, test, until } from "./harness.mjs";

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
  failing: `
name: failing
steps:
  - { name: breaks, shell: "echo the disk is full >&2; exit 3", on_error: fail }
`,
  healing: `
name: healing
heal:
  - name: login
    match: { error: [unauthorized] }
    repair: { command: touch, args: [signed-in] }
    backoff: 10ms
steps:
  - { name: pods, command: ./pods, on_error: auto_heal }
`,
};
const FILES = { flaky: "#!/bin/sh\n[ -e tried ] || { touch tried; exit 1; }\n", pods: "#!/bin/sh\n[ -e signed-in ] || { echo unauthorized >&2; exit 1; }\n", };

// Players differ from machine to machine; what is run is a setting.
const settings = {
  "aye.questions.sound": true, "aye.questions.soundCommand": ["sh", "-c", "touch \"$(dirname \"$AYE_HOME\")/project/heard\""],
  "aye.questions.raiseWindow": true, "aye.questions.raiseCommand": ["sh", "-c", "touch \"$(dirname \"$AYE_HOME\")/project/raised\""],
};

await test(SKILLS, async (here, host, step) => {
  const window = await host.window();
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
  await here.aye("answer", open.question ?? open.id, "cancel");
  await window.panel.locator(".card.done", { hasText: "with aye answer" }).waitFor();
  await window.tree("Inbox").filter({ hasText: "Production release" }).waitFor({ state: "detached" });
  step("live");
}, { files: FILES, settings });
