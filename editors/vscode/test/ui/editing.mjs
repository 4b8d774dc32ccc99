// Skill files in the editor: diagnostics on save, a quick fix, lenses, go to definition, completion, hover, graph.

import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { assert, test, until } from "./harness.mjs";

const SKILLS = {
  wrong: "name: wrong\nsteps:\n  - name: build\n    comand: make\n",
  states: `name: states
initial: look
states:
  look:
    shell: "echo '{}'"
    output: found
    transitions: { success: over, failure: failed }
  over: { type: final }
  failed: { type: final, status: failed }
`,
  hello: "name: hello\nsteps:\n  - name: greet\n    shell: echo hello\n",
};

await test(SKILLS, async (here, host, step) => {
  const window = await host.window();
  await window.connected();
  const { page } = window;
  const file = path.join(here.project, "skills/wrong.yaml");

  await window.open("skills/wrong.yaml");
  await page.locator(".squiggly-error").first().waitFor();
  await page.keyboard.press("Control+g");
  await window.quick.locator("input").fill(":4:7");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+.");
  await page.getByText("Change to `command`").first().waitFor();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+s");
  await until(async () => (await readFile(file, "utf8")).includes("    command: make"), "the fix is in the file");
  await page.locator(".squiggly-error").first().waitFor({ state: "detached" });
  step("quick fix");

  // Saved from elsewhere, it is wrong again; saved here, it is checked.
  await page.keyboard.press("Control+End");
  await page.keyboard.type("    timout: 30s\n");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+s");
  await page.locator(".squiggly-error").first().waitFor();
  step("checked on save");

  await window.open("skills/states.yaml");
  await page.locator(".codelens-decoration", { hasText: "Dry run" }).waitFor();
  await page.keyboard.press("Control+g");
  await window.quick.locator("input").fill(":2:11");
  await page.keyboard.press("Enter");
  await page.keyboard.press("F12");
  await until(async () => /Ln 4/.test(await page.locator("[id=\"status.editor.selection\"]").innerText()), "initial leads to its state");
  await page.keyboard.press("Control+g");
  await window.quick.locator("input").fill(":7:30");
  await page.keyboard.press("Enter");
  await page.keyboard.press("F12");
  await until(async () => /Ln 8/.test(await page.locator("[id=\"status.editor.selection\"]").innerText()), "a transition leads to its state");
  step("definition");

  await page.locator(".codelens-decoration a", { hasText: "Graph" }).click();
  await window.panel.locator(".graph svg title", { hasText: "look" }).first().waitFor({ state: "attached" });
  await writeFile(path.join(here.project, "skills/states.yaml"), SKILLS.states.replace("over: {", "finished: {").replace("success: over", "success: finished"));
  await until(async () => (await page.locator(".view-line", { hasText: "finished" }).count()) > 0, "the editor has read the file again");
  await page.locator(".view-line", { hasText: "finished" }).first().click();
  await page.keyboard.press("End");
  await page.keyboard.type(" ");
  await page.keyboard.press("Control+s");
  await window.panel.locator(".graph svg title", { hasText: "finished" }).first().waitFor({ state: "attached" });
  await window.command("View: Close All Editors");
  step("graph");

  await window.open("skills/hello.yaml");
  await page.locator(".codelens-decoration a", { hasText: "Run" }).first().waitFor();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("    on_e");
  await page.keyboard.press("Control+Space");
  await page.locator(".suggest-widget .monaco-list-row", { hasText: "on_error" }).first().waitFor();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+Space");
  await page.locator(".suggest-widget .monaco-list-row", { hasText: "continue" }).first().waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Z");
  await page.keyboard.press("Control+Z");
  await page.keyboard.press("Control+Z");
  step("completion");
  await page.locator(".view-line span", { hasText: /^shell/ }).first().hover();
  await page.locator(".monaco-hover:visible", { hasText: /shell|script/i }).first().waitFor();
  await page.keyboard.press("Escape");
  step("hover");

  await writeFile(path.join(here.project, "skills/hello.yaml"), SKILLS.hello);
  await window.command("File: Revert File");
  await page.locator(".codelens-decoration a", { hasText: "Dry run" }).first().click();
  await window.panel.getByText("What would happen").waitFor();
  assert.equal(JSON.parse(await here.aye("runs", "--json")).length, 0, "a dry run runs nothing");
  await page.getByRole("tab", { name: /hello\.yaml/ }).click();
  await page.locator(".codelens-decoration a", { hasText: /Run/ }).first().click();
  await window.toast("hello completed").waitFor();
  await window.panel.locator(".timeline", { hasText: "greet" }).waitFor();
  step("run from the lens");
});
