// Everything with the keyboard alone: the form, a list, a text, a typed word, a retry with changes, several together,
// a cancel, the log. No pointer, and no focus that the keyboard did not put there.

import { assert, settled, test, until } from "./harness.mjs";

const SKILLS = {
  kinds: `
name: kinds
inputs:
  - { name: host, type: string, required: true }
steps:
  - { name: pick, choose: { title: Region, message: Where?, options: [eu-1, eu-2, us-1, us-2, ap-1] }, output: region }
  - { name: ticket, input: { title: Ticket, message: Which ticket? }, output: ticket }
  - name: wipe
    command: echo
    args: ["{{ inputs.host }}", "{{ region }}", "{{ ticket }}"]
    confirmation: { title: Wipe, message: Wipe it?, type_to_confirm: wipe-it }
  - { name: broken, command: ./flaky, args: [first], on_error: ask }
`,
  slow: `
name: slow
steps: [ { name: work, shell: "echo working hard; sleep 600", timeout: 20m } ]
`,
  gate: `
name: gate
inputs: [ { name: host, type: string, default: a } ]
steps: [ { name: act, command: echo, args: ["{{ inputs.host }}"], confirmation: { title: Restart, message: "Restart {{ inputs.host }}?", timeout: 1h } } ]
`,
};

await test(SKILLS, async (here) => {
  const page = await here.person("ann");
  const { keyboard } = page;
  const name = () => page.evaluate(() => {
    const one = document.activeElement;
    // Between the last element and the first the focus is on none of them.
    if (one === document.body) return "";
    return (one.getAttribute("aria-label") ?? one.labels?.[0]?.textContent ?? one.textContent ?? "").trim();
  });
  /** Tabs until what has the focus is called like this. */
  const tab = async (wanted) => {
    const seen = [];
    for (let at = 0; at < 150; at += 1) {
      await keyboard.press("Tab");
      seen.push(await name());
      if (wanted.test(seen.at(-1))) return;
    }
    throw new Error(`no Tab leads to ${wanted}: ${seen.join(" | ")}`);
  };
  const asks = async (title) => {
    await page.locator(".card[data-question]").getByRole("heading", { name: title }).waitFor();
    await settled(page);
  };
  const go = async (letter) => {
    await keyboard.press("g");
    await keyboard.press(letter);
  };
  const status = async (run) => JSON.parse(await here.aye("show", run, "--json")).status;

  // The form.
  await page.getByText("Nothing waits for an answer.").waitFor();
  await go("s");
  await page.locator(".list a.item").first().waitFor();
  await tab(/^.?\s*kinds/);
  await keyboard.press("Enter");
  await page.getByRole("form", { name: "Start kinds" }).waitFor();
  await tab(/^host/);
  await keyboard.type("web-1");
  await tab(/^Start$/);
  await keyboard.press("Enter");

  // A list: a digit goes to an option, or the arrows do.
  await asks("Region");
  const run = new URL(page.url()).hash.split("/")[2];
  await tab(/^eu-1/);
  await keyboard.press("ArrowDown");
  await keyboard.press("ArrowDown");
  await tab(/^Choose$/);
  await settled(page);
  await keyboard.press("Enter");
  // A text.
  await asks("Ticket");
  await tab(/^Your answer/);
  await settled(page);
  await keyboard.type("OPS-7");
  await keyboard.press("Enter");
  // A typed word.
  await asks("Wipe");
  await tab(/to agree$/);
  await keyboard.type("wipe-it");
  await tab(/^Proceed|^Yes/);
  await settled(page);
  await keyboard.press("Enter");
  // A retry with changes.
  await asks("broken failed");
  await tab(/^Retry with changes/);
  await keyboard.press("Enter");
  await tab(/^argument 1/);
  await keyboard.press("ControlOrMeta+a");
  await keyboard.type("second");
  await tab(/^Retry with these changes/);
  await settled(page);
  await keyboard.press("Enter");
  await until(async () => (await status(run)) === "completed", "the run has completed");
  assert.match(await here.aye("logs", run, "wipe"), /web-1 us-1 OPS-7/);

  // Several together: some of them.
  for (const host of ["web-1", "web-2"]) await here.start("gate", { host });
  await go("i");
  await page.getByText("2 questions of one kind").waitFor();
  await settled(page);
  await tab(/^Answer together/);
  await keyboard.press("Enter");
  await page.getByRole("button", { name: "Close", expanded: true }).waitFor();
  await tab(/Restart web-2\?/);
  await settled(page);
  await keyboard.press("Space");
  await tab(/\(1\)$/);
  await settled(page);
  await keyboard.press("Enter");
  await until(async () => JSON.parse(await here.aye("inbox", "--json")).length === 1, "one question is left");

  // The log is searched, and the run cancelled.
  const slow = await here.start("slow");
  await go("r");
  await page.locator(".list a.item", { hasText: slow }).waitFor();
  await tab(new RegExp(slow));
  await keyboard.press("Enter");
  await page.locator(".log .line", { hasText: "working hard" }).waitFor();
  await tab(/^Search the log/);
  await keyboard.type("HARD");
  await keyboard.press("Enter");
  await page.locator(".log mark", { hasText: "hard" }).waitFor();
  await keyboard.press("Escape");
  await keyboard.press("Home");
  await tab(/^Cancel the run…/);
  await keyboard.press("Enter");
  await tab(/^Reason/);
  await keyboard.type("enough");
  await tab(/^Cancel the run$/);
  await keyboard.press("Enter");
  await until(async () => (await status(slow)) === "cancelled", "the run was cancelled");
}, { flaky: "#!/bin/sh\n[ \"$1\" = second ]\n" });
