// Pictures of every view, for the docs: `node crates/aye/tests/page/screenshots.mjs docs/page`, with the
// variables that `tests/it/page.rs` sets. Not a test; look at what it makes. The project is in `/srv/shop`
// while it runs, because its path is in the pictures.

import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { loaded, settled, SIZES, test, until, visit } from "./harness.mjs";

const SKILLS = {
  release: `
name: release
description: Promote a commit to production
inputs:
  - { name: commit, type: string, required: true, match: "^[0-9a-f]{8,40}$", description: What to release }
  - { name: target, type: string, default: stage, enum: [stage, production] }
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
      message: "Release \`{{ inputs.commit }}\` to {{ inputs.target }}? This creates the merge request that promotes it."
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
    args: ["--service", "checkout", "--sha", "{{ inputs.commit }}", "--target", "{{ inputs.target }}"]
    env: { REVIEWERS: platform }
    condition: decision == 'proceed'
    destructive: true
finally:
  - { name: unlock, description: Give the release lock back, command: ./unlock }
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
  rotate: `
name: rotate
description: Give a host a new certificate
inputs:
  - { name: host, type: string, required: true }
steps:
  - name: install
    command: ./install-certificate
    args: ["{{ inputs.host }}.internal"]
    confirmation: { title: New certificate, message: "Install the new certificate on {{ inputs.host }}?", timeout: 30m, remember: true }
`,
  backup: `
name: backup
description: Copy the database to the archive
steps:
  - { name: dump, shell: "echo 1.2 GB" }
  - { name: upload, command: ./upload, args: [archive.internal] }
`,
};

const FILES = {
  suite: "#!/bin/sh\nprintf 'running 212 tests\\n'\nfor i in 1 2 3 4 5 6; do printf '\\033[32mok\\033[0m   checkout::%s_%s\\n' \"$1\" $i; done\nprintf '\\033[33mwarning\\033[0m slow: checkout::refunds_twice (2.1 s)\\n212 passed\\n'\n",
  health: "#!/bin/sh\necho 'curl: (22) The requested URL returned error: 503' >&2\nexit 22\n",
  upload: "#!/bin/sh\n[ -e .session ] || { echo 'error: login required for archive.internal' >&2; exit 1; }\necho uploaded\n",
  login: "#!/bin/sh\ntouch .session\n",
  unlock: "#!/bin/sh\necho unlocked\n",
  "install-certificate": "#!/bin/sh\necho installed on \"$1\"\n",
};

const folder = process.argv[2];

/** The header stays where it is, and would lie over what was scrolled. */
async function top(page) {
  await page.evaluate(() => scrollTo(0, 0));
}

/** As high as what it shows: no card is cut. */
async function shot(page, name, { width } = {}) {
  if (width) await page.setViewportSize({ width, height: 480 });
  await loaded(page);
  await settled(page);
  await top(page);
  // Fonts, and the last frame.
  await page.evaluate(() => document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))));
  await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true });
}

await test(SKILLS, async (here) => {
  const link = async (name) => JSON.parse(await here.aye("people", "link", name, "--json")).link;
  const status = async (run) => JSON.parse(await here.aye("show", run, "--json")).status;
  const ended = (run) => until(async () => ["completed", "failed", "cancelled"].includes(await status(run)), `${run} has ended`);
  const ann = await here.person("ann");
  const card = (page, words) => page.locator(".card[data-question]", { hasText: words });

  // What memory knows: a fix that helped, one that waits for a person, an answer, an issue.
  await here.aye("memory", "learn", "--error", "login required", "--tool", "upload", "--", "./login");
  await ended(await here.start("backup"));
  await here.aye("memory", "learn", "--error", "manifest unknown", "--meaning", "the tag is a short SHA", "--tag", "registry");
  await here.aye("memory", "learn", "--error", "token expired", "--tool", "oc", "--", "oc", "login");
  const fixes = path.join(here.home, "memory/learned/fixes.yaml");
  await writeFile(fixes, (await readFile(fixes, "utf8")).replace("[oc, login]", "[oc, login, --web]"));
  const rotated = await here.start("rotate", { host: "web-1" });
  await card(ann, "New certificate").waitFor();
  await settled(ann);
  await card(ann, "New certificate").getByLabel("Remember").selectOption("step");
  await card(ann, "New certificate").locator("[data-choice=proceed]").click();
  await ended(rotated);

  // Two questions; one person of two has agreed.
  const run = await here.start("release", { commit: "4f2a91c0d3e8b7a6", target: "production" });
  await card(ann, "Production release").waitFor();
  await here.start("rolling-restart");
  const bob = await here.person("bob");
  await card(bob, "Production release").waitFor();
  await settled(bob);
  await card(bob, "Production release").locator("[data-choice=proceed]").click();
  await card(ann, "1 of 2 agreed (bob)").waitFor();
  await visit(bob, "people");
  await card(ann, "health failed").waitFor();
  await until(async () => (await ann.locator(".card .steps").count()) > 1, "what happened so far is there");
  await ann.reload();
  await until(async () => (await ann.locator(".card .steps").count()) > 1, "what happened so far is there");
  await shot(ann, "inbox", { width: 1100 });

  await visit(ann, `runs/${run}`);
  await ann.locator(".graph .asking").waitFor();
  await ann.locator(".log .line").first().waitFor();
  await shot(ann, "run", { width: 1240 });
  for (const view of ["runs", "skills", "memory"]) {
    await visit(ann, view);
    await shot(ann, view, { width: 1100 });
  }
  await visit(ann, "skills/release");
  await ann.getByLabel("commit").fill("4f2a91c0d3e8b7a6");
  await ann.getByRole("button", { name: "Dry run" }).click();
  await ann.getByText("What would happen").waitFor();
  await shot(ann, "skill", { width: 1100 });

  // Who serves it sees everyone.
  const root = await here.local();
  await visit(root, "people");
  await root.getByRole("region", { name: "Everyone" }).waitFor();
  await shot(root, "people", { width: 1100 });

  const dark = await here.open(await link("ann"), { scheme: "dark" });
  await dark.locator(".card .steps").nth(1).waitFor();
  await shot(dark, "inbox-dark", { width: 1100 });
  await visit(dark, `runs/${run}`);
  await dark.locator(".graph .asking").waitFor();
  await dark.locator(".log .line").first().waitFor();
  await shot(dark, "run-dark", { width: 1240 });

  const phone = await here.open(await link("ann"), { size: "phone" });
  await phone.locator(".card .steps").nth(1).waitFor();
  await shot(phone, "inbox-phone");
  await visit(phone, `runs/${run}`);
  await phone.locator(".graph .asking").waitFor();
  await phone.locator(".log .line").first().waitFor();
  await shot(phone, "run-phone");
  await phone.context().close();

  // Several together, and what became of a question.
  for (const host of ["web-2", "web-3", "web-4"]) await here.start("rotate", { host });
  await visit(ann, "inbox");
  await ann.getByText("3 questions of one kind").waitFor();
  await settled(ann);
  await ann.getByRole("button", { name: "Answer together" }).click();
  const batch = ann.locator(".batch");
  await batch.getByText("web-4.internal").first().waitFor();
  await batch.getByRole("button", { name: "Select all 3" }).click();
  await loaded(ann);
  await ann.setViewportSize({ width: 1100, height: 900 });
  await top(ann);
  await batch.screenshot({ path: path.join(folder, "together.png") });
  await settled(ann);
  await batch.getByRole("button", { name: "(3)" }).first().click();
  // Each answer moves the list: a click between two of them is not taken.
  await until(async () => (await ann.locator(".card.done", { hasText: "New certificate" }).count()) === 3, "all three are answered");
  await settled(ann);
  await card(ann, "Production release").locator("[data-choice=proceed]").click();
  const decided = ann.locator(".card.done", { hasText: "Production release" });
  await decided.getByText("step merge_request has started").waitFor();
  await decided.screenshot({ path: path.join(folder, "decided.png") });
  await ended(run);

  const nobody = await here.open(`${here.url}/`);
  await nobody.getByText("This browser is not signed in.").waitFor();
  await nobody.setViewportSize({ width: SIZES.desktop.width, height: 320 });
  await nobody.screenshot({ path: path.join(folder, "sign-in.png") });
}, FILES, "/srv/shop");
