// Pictures of every view, for the docs: `node test/ui/pictures.mjs ../../docs/editor`, with the variables of
// `crates/aye/tests/it/editor.rs`. Not a test; look at what it makes, and make it small (`pngquant --nofs`).

import path from "node:path";
import { test, totp } from "./harness.mjs";

const SKILLS = {
  release: `# Promote a commit to production. Asks before the step that cannot be undone.
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
      message: "Release \`{{ inputs.commit }}\` to {{ inputs.environment }}?"
      timeout: 10m
      default: cancel
    output: decision
  - name: merge_request
    description: Create the merge request
    command: ./make-mr
    args: ["--service", "checkout", "--sha", "{{ inputs.commit }}", "--target", "{{ inputs.environment }}"]
    condition: decision == 'proceed'
  - name: traffic
    description: Send it some of the traffic
    command: ./shift
    args: ["--percent", "{{ inputs.canary }}"]
    destructive: true
    confirmation:
      title: Shift production traffic
      message: "Send {{ inputs.canary }} % of the traffic to {{ inputs.commit }}?"
      timeout: 5m
`,
  "cancel-pipeline": `name: cancel-pipeline
description: Stop a pipeline, and wait until it has stopped
inputs:
  - { name: pipeline, type: integer, default: 9001 }
initial: look
states:
  look:
    command: ./pipeline
    args: ["{{ inputs.pipeline }}"]
    output: found
    transitions: { success: cancel, failure: failed }
  cancel:
    command: ./pipeline
    args: ["--cancel", "{{ inputs.pipeline }}"]
    confirmation:
      message: "Cancel pipeline {{ inputs.pipeline }}?"
    transitions: { success: cancelled, declined: kept, failure: failed }
  cancelled: { type: final }
  kept: { type: final, status: cancelled }
  failed: { type: final, status: failed }
`,
  "rolling-restart": `name: rolling-restart
description: Restart the web servers, one after the other
steps:
  - { name: drain, shell: "echo drained web-3" }
  - name: health
    description: Is it back?
    command: ./health
    args: ["https://web-3.internal/healthz"]
    on_error: fail
`,
  "grant-access": `name: grant-access
description: Let a person into the production database for a day
steps:
  - name: ticket
    input: { title: Ticket, message: "Which ticket allows it? The database team looks at these once a week.", match: "^OPS-[0-9]+$", timeout: 15m }
    output: ticket
  - name: role
    confirm: { title: Role, message: Read only?, remember: true, timeout: 15m }
  - name: grant
    command: ./grant
    args: ["--role", reader, "--ticket", "{{ ticket }}"]
    confirmation: { title: Grant access, message: "Grant access for {{ ticket }}?", reauth: true, timeout: 15m }
`,
  backup: `name: backup
description: Copy the database to the archive
steps:
  - { name: dump, shell: "echo 1.2 GB" }
  - { name: upload, shell: "echo uploaded" }
`,
  restore: `name: restore
description: Bring the database back from the archive
steps:
  - { name: fetch, shell: "echo fetched" }
  - name: verify
    comand: ./verify
    timeout: 30s
`,
};

const FILES = {
  suite: "#!/bin/sh\nprintf 'running 212 tests\\n'\nfor i in 1 2 3 4 5 6; do printf '\\033[32mok\\033[0m   checkout::%s_%s\\n' \"$1\" $i; done\nprintf '\\033[33mwarning\\033[0m slow: checkout::refunds_twice (2.1 s)\\n212 passed\\n'\n",
  health: "#!/bin/sh\necho 'curl: (22) The requested URL returned error: 503' >&2\nexit 22\n",
  shift: "#!/bin/sh\necho shifted\n",
  grant: "#!/bin/sh\necho granted \"$@\"\n",
  pipeline: "#!/bin/sh\necho '{\"state\": \"running\"}'\n",
};

const folder = path.resolve(process.argv[2] ?? "../../docs/editor");
const settings = {
  "workbench.secondarySideBar.defaultVisibility": "hidden", "workbench.colorTheme": "Default Dark Modern", "window.commandCenter": false, "window.menuBarVisibility": "hidden",
  "workbench.layoutControl.enabled": false, "editor.minimap.enabled": false, "aye.toasts.started": false, "aye.toasts.completed": false, "git.enabled": false, "editor.autoIndent": "none",
};

const size = { width: 1200, height: 760 };

/** Takes pictures of a window. */
const camera = (page, step) => async (name) => {
  await page.mouse.move(600, 5);
  // A click on a link may have moved the text of its notification.
  await page.locator(".notifications-toasts").evaluateAll((all) => all.flatMap((one) => [...one.querySelectorAll("*")]).forEach((one) => (one.scrollLeft = 0)));
  await page.getByText("Activating Extensions...").waitFor({ state: "detached" });
  await page.waitForTimeout(700);
  await page.screenshot({ path: path.join(folder, `${name}.png`) });
  step(name);
};

await test(SKILLS, async (here, host, step) => {
  const { address } = JSON.parse(await here.aye("auth", "setup", "--json"));
  const code = (periods) => totp(new URL(address).searchParams.get("secret"), periods);
  await here.aye("auth", "confirm", code(-1));
  await here.aye("memory", "learn", "--error", "manifest unknown", "--tool", "podman", "--fix", "use the full commit id, not a short one");
  const window = await host.window({ size });
  const { page } = window;
  const shot = camera(page, step);
  await window.connected();
  await here.start("backup");
  await window.open("skills/release.yaml");
  await page.locator(".codelens-decoration").first().waitFor();
  await window.view();
  await here.start("release", { commit: "4f2a91c0d3e8b7a6", environment: "production" });
  await window.toast("Production release").waitFor();
  await window.tree("Runs").filter({ hasText: "confirm_release" }).first().waitFor();
  await page.waitForTimeout(1500);
  await shot("question");
  await window.press("Production release", "Answer…", window.titled("Production release"));
  await shot("list");
  await page.keyboard.press("Enter");
  await window.toast("Shift production traffic").waitFor();
  await window.action("Shift production traffic", "Review").click();
  await window.dialog.waitFor();
  await shot("modal");
  await page.keyboard.press("Escape");
  await window.dialog.waitFor({ state: "detached" });
  await here.start("rolling-restart");
  await window.toast("rolling-restart failed").waitFor();
  await shot("views");
  await window.action("rolling-restart failed", "Show output").click();
  await window.command("Notifications: Clear All Notifications");
  await window.action("Shift production traffic", "Later").click().catch(() => {});
  await window.panel.locator(".log .line").first().waitFor();
  await window.tree("Runs").filter({ hasText: "release" }).first().click();
  await window.panel.locator(".graph .asking").waitFor();
  await page.waitForTimeout(500);
  await shot("run");
  await window.panel.locator(".graph").evaluate((graph) => graph.scrollIntoView({ block: "center" }));
  await shot("flow");
  await window.panel.getByRole("link", { name: /Inbox/ }).click();
  await window.panel.locator(".card[data-question]").waitFor();
  await shot("inbox");
  await window.tree("Skills").filter({ hasText: "release" }).first().click();
  await window.panel.getByLabel("commit").fill("4f2a91c0d3e8b7a6");
  await shot("form");
  await window.command("View: Close All Editors");
  await window.open("skills/cancel-pipeline.yaml");
  await page.locator(".codelens-decoration a", { hasText: "Graph" }).click();
  await window.panel.locator(".graph svg").waitFor();
  await shot("graph");
  await window.command("View: Close All Editors");
  await window.open("skills/restore.yaml");
  await page.locator(".codelens-decoration").first().waitFor();
  await page.locator(".squiggly-error").first().waitFor();
  await window.at(6, 5);
  await shot("lenses");
  await page.mouse.move(700, 500);
  await page.locator(".view-line span", { hasText: /comand/ }).first().hover();
  await page.locator(".monaco-hover:visible", { hasText: "did you mean" }).waitFor();
  // It fades in.
  await page.waitForTimeout(1000);
  await page.screenshot({ path: path.join(folder, "problems.png") });
  step("problems");
  await page.mouse.move(700, 500);
  await page.locator(".monaco-hover:visible").first().waitFor({ state: "hidden" });
  await window.at(6, 5);
  const fix = page.locator(".action-widget .monaco-list-row.focused", { hasText: "Change to `command`" });
  await window.keys("Control+.", fix);
  await page.screenshot({ path: path.join(folder, "fix.png") });
  step("fix");
  await page.keyboard.press("Enter");
  await page.locator(".view-line", { hasText: "command: ./verify" }).waitFor();
  await page.keyboard.press("Control+s");
  await page.locator(".squiggly-error").first().waitFor({ state: "detached" });
  await window.at(8, 1);
  await page.keyboard.type("    ");
  await window.keys("Control+Space", page.locator(".suggest-widget.visible .monaco-list-row.focused"));
  // Pressed again, the key shows what there is to say of the first line, beside the list.
  if (await page.locator(".suggest-details").isVisible()) await page.keyboard.press("Control+Space");
  await page.locator(".suggest-details").waitFor({ state: "hidden" });
  await shot("completion");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+s");
  await window.command("Aye: Get Started");
  await page.getByText("Get started with Aye").first().waitFor();
  await page.locator("[data-done-step-id$=answer][aria-checked=true]").waitFor();
  await shot("walkthrough");

  await window.command("View: Close All Editors");
  await here.start("grant-access");
  await window.press("Which ticket allows it?", "Answer…", window.titled("Ticket ·"));
  await page.keyboard.type("OPS-4711");
  await shot("field");
  await page.keyboard.press("Enter");
  await window.press("Read only?", "Proceed", window.option(/^For this step/));
  await shot("remember");
  await window.option(/^For this step/).click();
  await window.press("Grant access for OPS-4711?", "Proceed", window.quick.getByText("Your one-time code."));
  await shot("code");
  await window.fill("Grant access ·", code(0));
  await window.toast("Grant access for OPS-4711?").waitFor({ state: "detached" });

  const asked = await here.start("release", { commit: "9c31e07bb2f04d55", environment: "stage" });
  await window.toast("Release `9c31e07bb2f04d55` to stage?").waitFor();
  const open = JSON.parse(await here.aye("inbox", "--json")).find((one) => one.run === asked);
  await here.aye("answer", open.question, "proceed");
  await window.toast(/Production release: “Proceed” by/).waitFor();
  await window.toast("9c31e07bb2f04d55?").getByRole("button", { name: "Answer…" }).waitFor();
  await page.waitForTimeout(1000);
  await shot("elsewhere");
  const next = JSON.parse(await here.aye("inbox", "--json")).find((one) => one.run === asked);
  await here.aye("answer", next.question, "proceed", "--reason", "agreed at the stand-up");
  await window.view();
  await window.command("Aye: Open Command Center");
  await window.panel.getByRole("link", { name: "Runs", exact: true }).click();
  await window.panel.locator(`a[href="#/runs/${asked}"]`).first().click();
  await window.panel.getByText("agreed at the stand-up").first().waitFor();
  await window.panel.getByRole("region", { name: "Decisions" }).waitFor();
  await window.panel.getByRole("region", { name: "Decisions" }).scrollIntoViewIfNeeded();
  // What became of the questions goes away by itself.
  await window.toast("with aye answer").first().waitFor({ state: "detached" });
  await window.toast("with aye answer").first().waitFor({ state: "detached" });
  await shot("log");
  for (const name of ["Runs", "Skills", "Memory"]) {
    await window.panel.getByRole("link", { name, exact: true }).click();
    await window.panel.getByRole("heading", { name }).first().waitFor();
    await shot(name.toLowerCase());
  }
}, { files: FILES, settings });

// A window that VS Code does not trust.
await test(SKILLS, async (here, host, step) => {
  const window = await host.window({ size });
  await window.connected();
  await here.start("release", { commit: "4f2a91c0d3e8b7a6" });
  await window.view();
  await window.tree("Runs").filter({ hasText: "confirm_release" }).first().waitFor();
  await window.press("Production release", "Proceed", window.toast("Aye only reads in a restricted window"));
  await camera(window.page, step)("restricted");
}, { files: FILES, settings, trust: true });

// A machine without the program.
await test(SKILLS, async (here, host, step) => {
  const window = await host.window({ size });
  await window.toast("`aye` was not found").waitFor();
  await window.view();
  await window.page.getByText("was not found.").first().waitFor();
  await camera(window.page, step)("missing");
}, { files: FILES, settings, serve: false, program: false });
