// Both VS Code and `aye trust` have to trust a folder before anything of it runs; elsewhere the extension
// reads. A missing program is said, with what to do.

import { assert, test, until } from "./harness.mjs";

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
});

// No program.
await test(SKILLS, async (here, host, step) => {
  const window = await host.window();
  await window.toast("`aye` was not found").waitFor();
  await window.view();
  await window.page.getByText("was not found.").first().waitFor();
  await until(async () => /disconnected/.test(await window.said()), "the status bar says so");
  await window.press("was not found", "How to install", window.page.getByText("Get started with Aye"));
  step("missing");
}, { serve: false, program: false });
