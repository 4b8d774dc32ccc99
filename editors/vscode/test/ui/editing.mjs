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
  both: "workflows:\n  one:\n    steps:\n      - { name: first, shell: echo one }\n  two:\n    steps:\n      - { name: second, shell: echo two }\n",
  hello: "name: hello\nsteps:\n  - name: greet\n    shell: echo hello\n",
};

await test(SKILLS, async (here, host, step) => {
  const window = await host.window();
  await window.connected();
  const { page } = window;
  const file = path.join(here.project, "skills/wrong.yaml");

  const errors = page.locator(".squiggly-error");
  await window.open("skills/wrong.yaml");
  await errors.first().waitFor();
  await window.at(4, 7);
  const fix = page.locator(".action-widget .monaco-list-row.focused", { hasText: "Change to `command`" });
  await window.keys("Control+.", fix);
  await page.keyboard.press("Enter");
  await page.locator(".view-line", { hasText: "command: make" }).waitFor();
  await save(window);
  await until(async () => (await readFile(file, "utf8")).includes("    command: make"), "the fix is in the file");
  await errors.first().waitFor({ state: "detached" });
  step("quick fix");

  // What is typed is checked when it is saved.
  await window.at(5, 1);
  await page.keyboard.type("    timout: 30s");
  await page.locator(".view-line", { hasText: "timout: 30s" }).waitFor();
  await page.keyboard.press("Escape");
  await save(window);
  await errors.first().waitFor();
  step("checked on save");

  await window.open("skills/states.yaml");
  await page.locator(".codelens-decoration", { hasText: "Dry run" }).waitFor();
  await window.at(2, 11);
  await goes(window, 4, "initial leads to its state");
  await window.at(7, 30);
  await goes(window, 8, "a transition leads to its state");
  step("definition");

  const title = (text) => window.panel.locator(".graph svg title", { hasText: text });
  await window.lens("Graph", window.panel.locator(".graph svg"));
  await title("look").first().waitFor({ state: "attached" });
  await writeFile(path.join(here.project, "skills/states.yaml"), SKILLS.states.replace("over: {", "finished: {").replace("success: over", "success: finished"));
  const line = page.locator(".view-line", { hasText: "finished" }).first();
  await line.waitFor();
  await line.click();
  await page.locator(".editor-instance .monaco-editor.focused").waitFor();
  await page.keyboard.press("End");
  await page.keyboard.type(" ");
  await save(window);
  await title("finished").first().waitFor({ state: "attached" });
  await window.command("View: Close All Editors");
  await page.locator(".tab").first().waitFor({ state: "detached" });
  step("graph");

  // Of several skills in a file, each has its own.
  await window.open("skills/both.yaml");
  const graph = (step) => window.panel.locator(`.graph svg:has(title:has-text("${step}"))`);
  await window.lens("Graph", graph("second"), -1);
  assert.equal(await title("first").count(), 0);
  await window.lens("Graph", graph("first"), 0);
  assert.equal(await title("second").count(), 0);
  await window.command("View: Close All Editors");
  await page.locator(".tab").first().waitFor({ state: "detached" });
  step("graphs");

  await window.open("skills/hello.yaml");
  await page.locator(".codelens-decoration a", { hasText: "Run" }).first().waitFor();
  const suggested = (text) => page.locator(".suggest-widget.visible .monaco-list-row.focused", { hasText: text });
  await window.at(5, 1);
  await page.keyboard.type("    on_e");
  await page.locator(".view-line", { hasText: "on_e" }).waitFor();
  await window.keys("Control+Space", suggested("on_error"));
  await page.keyboard.press("Enter");
  await page.locator(".view-line", { hasText: "on_error:" }).waitFor();
  await window.keys("Control+Space", page.locator(".suggest-widget.visible .monaco-list-row", { hasText: "continue" }));
  await page.keyboard.press("Escape");
  await page.locator(".suggest-widget.visible").waitFor({ state: "hidden" });
  step("completion");
  await window.command("File: Revert File");
  await page.locator(".view-line", { hasText: "on_error" }).waitFor({ state: "detached" });
  const shell = page.locator(".view-line span", { hasText: /^shell/ }).first();
  const hover = page.locator(".monaco-hover:visible", { hasText: /shell|script/i }).first();
  await until(async () => {
    await page.mouse.move(700, 500);
    await shell.hover();
    return hover.waitFor({ timeout: 5000 }).then(() => true, () => false);
  }, "what a key means is shown");
  await page.mouse.move(700, 500);
  step("hover");

  await window.lens("Dry run", window.panel.getByText("What would happen"));
  assert.equal(JSON.parse(await here.aye("runs", "--json")).length, 0, "a dry run runs nothing");
  await page.getByRole("tab", { name: /hello\.yaml/ }).click();
  await window.lens("Run", window.panel.locator(".timeline", { hasText: "greet" }));
  await window.told("hello completed");
  step("run from the lens");

  // What is done is ticked in the walkthrough, although it was done before it was opened.
  await window.command("Aye: Get Started");
  const done = (name) => page.locator(`[data-done-step-id$="${name}"][aria-checked=true]`);
  for (const name of ["install", "trust", "run"]) await done(name).waitFor();
  assert.equal(await done("answer").count(), 0, "nothing was answered");
  step("walkthrough");
});

/** Saves the file of the editor: once nothing is unsaved. */
async function save(window) {
  const dirty = window.page.locator(".tab.active.dirty");
  await dirty.waitFor();
  await until(async () => {
    await window.page.keyboard.press("Control+s");
    return dirty.waitFor({ state: "detached", timeout: 5000 }).then(() => true, () => false);
  }, "it is saved");
}

/** Goes to the definition of what is under the cursor: to this line. */
async function goes(window, line, what) {
  await until(async () => {
    await window.page.keyboard.press("F12");
    const there = async () => new RegExp(`Ln ${line},`).test(await window.page.locator("[id=\"status.editor.selection\"]").innerText());
    for (let look = 0; look < 100; look += 1) {
      if (await there()) return true;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return false;
  }, what);
}
