// Pictures of every view, for the docs: `node crates/aye/tests/page/screenshots.mjs docs/page`, with the
// variables that `tests/it/page.rs` sets. Not a test; look at what it makes.

import path from "node:path";
import { test, until, visit } from "./harness.mjs";

const SKILLS = {
  release: `
name: release
description: Promote a commit to production
inputs:
  - { name: commit, type: string, required: true, match: "^[0-9a-f]{8,40}$", description: What to release }
  - { name: environment, type: string, default: stage, enum: [stage, production] }
  - { name: canary, type: integer, default: 10, description: Percent of the traffic that gets it first }
steps:
  - name: image
    description: Is the image in the registry?
    shell: "printf 'looking for {{ inputs.commit }}\\\\n\\\\033[32mfound\\\\033[0m registry.internal/checkout\\\\n'"
  - name: tests
    description: Run every suite
    foreach: [unit, integration, browser]
    steps:
      - name: suite
        command: ./suite
        args: ["{{ item }}"]
  - name: confirm_release
    confirm:
      title: Production release
      message: "Release \`{{ inputs.commit }}\` to {{ inputs.environment }}? This creates the merge request that promotes it."
      options:
        - { label: Proceed, value: proceed, description: Create the merge request }
        - { label: Cancel, value: cancel, description: End the run }
      timeout: 10m
      default: cancel
      by: human
      approvals: 2
    output: decision
  - name: merge_request
    description: Create the merge request
    command: ./make-mr
    args: ["--service", "checkout", "--sha", "{{ inputs.commit }}", "--target", "{{ inputs.environment }}"]
    env: { REVIEWERS: platform }
    condition: decision == 'proceed'
    destructive: true
`,
  "rolling-restart": `
name: rolling-restart
description: Restart the web servers, one after the other
steps:
  - name: drain
    shell: "echo drained web-3"
  - name: health
    description: Is it back?
    command: ./health
    args: ["https://web-3.internal/healthz"]
    on_error: ask
`,
  backup: `
name: backup
description: Copy the database to the archive
steps:
  - { name: dump, shell: "echo 1.2 GB" }
  - { name: upload, shell: "echo uploaded" }
`,
};

const FILES = {
  suite: "#!/bin/sh\nprintf 'running 212 tests\\n'\nfor i in 1 2 3 4 5 6; do printf '\\033[32mok\\033[0m   checkout::%s_%s\\n' \"$1\" $i; done\nprintf '\\033[33mwarning\\033[0m slow: checkout::refunds_twice (2.1 s)\\n212 passed\\n'\n",
  health: "#!/bin/sh\necho 'curl: (22) The requested URL returned error: 503' >&2\nexit 22\n",
};

const folder = process.argv[2];

await test(SKILLS, async (here) => {
  const shot = (page, name, options = {}) => page.screenshot({ path: path.join(folder, `${name}.png`), ...options });
  const ann = await here.person("ann");
  await here.start("backup");
  const run = await here.start("release", { commit: "4f2a91c0d3e8b7a6", environment: "production" });
  const release = ann.locator(".card[data-question]", { hasText: "Production release" });
  await release.waitFor();
  await here.start("rolling-restart");
  await here.aye("memory", "learn", "--error", "manifest unknown", "--meaning", "the tag is a short SHA", "--tag", "registry");
  await here.aye("memory", "learn", "--error", "login required", "--tool", "podman", "--", "podman", "login", "registry.internal");
  const bob = await here.person("bob");
  await bob.locator(".card[data-question]", { hasText: "Production release" }).locator("[data-choice=proceed]").click({ delay: 500 });
  await release.getByText("1 of 2 agreed (bob)").waitFor();
  await visit(bob, "people");
  await ann.locator(".card[data-question]", { hasText: "Step failed" }).waitFor();
  await until(async () => (await ann.locator(".card .steps").count()) > 1, "what happened so far is there");
  const height = 1000;
  await ann.setViewportSize({ width: 1100, height });
  await ann.waitForTimeout(1000);
  await shot(ann, "inbox");
  await visit(ann, `runs/${run}`);
  await ann.locator(".graph .asking").waitFor();
  await ann.locator(".log .line").first().waitFor();
  await ann.setViewportSize({ width: 1240, height });
  await ann.waitForTimeout(500);
  await shot(ann, "run", { fullPage: true });
  await ann.setViewportSize({ width: 1100, height: 620 });
  for (const view of ["runs", "skills", "memory", "people"]) {
    await visit(ann, view);
    await ann.waitForTimeout(700);
    await shot(ann, view);
  }
  await visit(ann, "skills/release");
  await ann.getByLabel("commit").fill("4f2a91c0d3e8b7a6");
  await ann.getByRole("button", { name: "Dry run" }).click();
  await ann.getByText("What would happen").waitFor();
  await ann.waitForTimeout(500);
  await shot(ann, "skill", { fullPage: true });
  const link = async () => JSON.parse(await here.aye("people", "link", "ann", "--json")).link;
  const dark = await here.open(await link(), { scheme: "dark" });
  await dark.setViewportSize({ width: 1100, height });
  await dark.locator(".card .steps").nth(1).waitFor();
  await shot(dark, "inbox-dark");
  const phone = await here.open(await link(), { size: "phone" });
  await phone.locator(".card .steps").nth(1).waitFor();
  await phone.locator(".card[data-question]", { hasText: "Production release" }).scrollIntoViewIfNeeded();
  await phone.waitForTimeout(500);
  await shot(phone, "inbox-phone");
}, FILES);
