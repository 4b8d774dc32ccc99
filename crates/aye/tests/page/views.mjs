// The other views: filters, cancel, retry with changes, dry run, memory, people.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { assert, loaded, settled, test, until, visit } from "./harness.mjs";

const SKILLS = {
  notes: `
name: notes
steps:
  - name: note
    compute: |
      memory.append('learned/patterns', 'auth', {'pattern': 'token expired', 'meaning': 'log in again'})
      result = 1
`,
  loosens: `
name: loosens
steps:
  - name: note
    compute: |
      memory.write('learned/confirmations', {'rel:gate': {'auto_proceed': True}})
      result = 1
`,
  fails: `
name: fails
inputs:
  - { name: word, type: string, default: first }
steps:
  - name: check
    command: ./flaky
    args: ["{{ inputs.word }}"]
`,
  again: `
name: again
initial: work
states:
  work: { shell: "echo pass; [ -e passed ] || { touch passed; exit 1; }", transitions: { success: done, failure: wait } }
  wait: { shell: "true", transitions: { success: work } }
  done: { type: final }
`,
  quiet: `
name: quiet
steps:
  - { name: silent, shell: "true" }
  - { name: sure, shell: "echo went", confirmation: { message: "Say it?", timeout: 1h } }
`,
  forms: `
name: forms
inputs:
  - { name: force, type: boolean, default: false }
  - { name: count, type: integer, required: true }
  - { name: hosts, type: array, default: [a] }
  - { name: token, type: secret }
steps:
  - { name: use, command: echo, args: ["{{ inputs.force }}", "{{ inputs.count + 1 }}", "{{ inputs.hosts | join('+') }}"] }
`,
  slow: `
name: slow
steps:
  - { name: work, shell: "echo working; sleep 600", timeout: 20m }
  - { name: after, shell: "echo never" }
`,
};

await test(SKILLS, async (here) => {
  const page = await here.person("ann");
  const status = async (run) => JSON.parse(await here.aye("show", run, "--json")).status;

  // A skill has its graph.
  await visit(page, "skills/again");
  const flow = page.getByRole("region", { name: "Flow" });
  for (const state of ["work", "wait", "done"]) await flow.locator(".graph svg g", { hasText: state }).first().waitFor();

  // A dry run tells and starts nothing.
  await visit(page, "skills/fails");
  await page.getByLabel("word").fill("dry");
  await page.getByRole("button", { name: "Dry run" }).click();
  assert.match(await page.getByRole("region", { name: "Dry run" }).textContent(), /\.\/flaky dry/);
  assert.deepEqual(JSON.parse(await here.aye("runs", "--json")), []);

  // A run that failed is tried again with changes, which are shown first.
  await page.getByLabel("word").fill("first");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByRole("button", { name: "Retry with changes…" }).click();
  const run = new URL(page.url()).hash.split("/")[2];
  assert.equal(await status(run), "failed");
  const send = page.getByRole("button", { name: "Retry with these changes" });
  assert.equal(await send.isDisabled(), true, "nothing has changed yet");
  await page.getByLabel("argument 1").fill("second");
  assert.match(await page.locator(".diff").textContent(), /removed: .*first.*added: .*second/s);
  await send.click();
  await until(async () => (await status(run)) === "completed", "the run has completed");
  await page.locator(".graph .done", { hasText: "check" }).waitFor();
  // Who retried it, with what, and on which machine is a decision; the log of each attempt has its name.
  const decisions = page.getByRole("region", { name: "Decisions" });
  await decisions.getByText(/Retry of check: retry with changes\s+by ann, on the web page, proof: token · on \S+/).waitFor();
  await decisions.getByText(/with changes: .*second/).waitFor();
  const attempts = page.getByRole("group", { name: "Attempts" }).getByRole("button");
  assert.deepEqual(await attempts.allTextContents(), ["attempt 1", "attempt 2"]);

  // A running step is followed, and cancelled with a reason.
  const slow = await here.start("slow");
  await visit(page, `runs/${slow}`);
  await page.locator(".log .line", { hasText: "working" }).waitFor();
  await page.locator(".graph .lit", { hasText: "work" }).waitFor();
  await page.getByRole("button", { name: "Cancel the run…" }).click();
  await page.getByLabel("Reason").fill("not today");
  await page.getByRole("button", { name: "Cancel the run", exact: true }).click();
  await until(async () => (await status(slow)) === "cancelled", "the run was cancelled");
  await page.getByText("not today").first().waitFor();
  await decisions.getByText(/The run: cancel\s+by ann · on \S+ · “not today”/).waitFor();

  // A state that the flow came back to: the passes are told apart.
  const again = await here.start("again");
  await until(async () => (await status(again)) === "completed", "the second pass went well");
  await visit(page, `runs/${again}/work`);
  await until(async () => (await attempts.allTextContents()).join() === "visit 1, attempt 1,visit 2, attempt 1", "the passes have names");

  // The whole command of a script is not called shortened; an empty log is not an error of the console.
  const quiet = await here.start("quiet");
  await visit(page, `runs/${quiet}/silent`);
  await page.getByText("It wrote nothing.").waitFor();
  const asked = page.locator(".card[data-question]");
  await asked.getByText("echo went").waitFor();
  assert.doesNotMatch(await asked.textContent(), /shortened/);
  await here.aye("cancel", quiet);

  // A run of a script that nobody drives any more: the answer is kept, the page says why it stands and continues it.
  await assert.rejects(here.aye("run", "quiet", "--no-input"));
  await visit(page, "inbox");
  await asked.getByText("echo went").waitFor();
  const left = (await asked.getAttribute("data-question")).split("-")[0];
  await visit(page, `runs/${left}`);
  await settled(page);
  await asked.locator("[data-choice=proceed]").click();
  const resume = page.getByRole("region", { name: "Resume" });
  await resume.getByText("started at a terminal or by a script").waitFor();
  assert.equal(await status(left), "paused");
  await resume.getByRole("button", { name: "Resume" }).click();
  await until(async () => (await status(left)) === "completed", "the run was resumed");
  await resume.waitFor({ state: "detached" });

  // Runs are filtered, and the filter is in the address.
  await visit(page, "runs");
  const rows = page.locator(".list a.item");
  await until(async () => (await rows.count()) === 5, "all runs are listed");
  await page.getByLabel("Status").selectOption("cancelled");
  await until(async () => (await rows.count()) === 2, "two runs were cancelled");
  assert.match(await rows.last().textContent(), /slow/);
  assert.match(page.url(), /status=cancelled/);
  await page.getByLabel("Status").selectOption("");
  await page.getByLabel("Text").fill("fails");
  await until(async () => (await rows.count()) === 1 && /fails/.test(await rows.first().textContent()), "the text filters");
  await page.getByLabel("Text").fill("nothing has this");
  await page.getByText("No runs.").waitFor();
  await page.getByLabel("Text").fill("");

  // Each says who started it and how, and can be found by that.
  await rows.filter({ hasText: "started on the web page by ann" }).waitFor();
  await rows.filter({ hasText: /started in a script by [a-z]+/ }).first().waitFor();
  // A program with a token is not the page.
  const api = await here.program("POST", "/runs", { skill: "fails", inputs: { word: "second" } });
  await rows.filter({ hasText: api.run }).filter({ hasText: "started through the HTTP API by" }).waitFor();
  for (const [by, count, skill] of [["ann", 1, "fails"], ["web", 1, "fails"], ["script", 4, "slow"], ["api", 1, "fails"]]) {
    await page.getByLabel("Started by").fill(by);
    await page.getByLabel("Started by").press("Enter");
    await until(async () => (await rows.count()) === count && (await rows.last().textContent()).includes(skill), `${by} started ${skill}`);
  }

  // Filters keep apart on a narrow phone.
  await page.setViewportSize({ width: 375, height: 700 });
  const boxes = await page.locator(".filters input, .filters select").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON()));
  for (const [at, one] of boxes.entries()) {
    assert.ok(one.left >= 0 && one.right <= 375 && one.width > 100, `field ${at}: ${JSON.stringify(one)}`);
    for (const other of boxes.slice(at + 1)) {
      const meets = one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
      assert.equal(meets, false, `${JSON.stringify(one)} ${JSON.stringify(other)}`);
    }
  }
  await page.setViewportSize({ width: 1280, height: 900 });

  await page.getByLabel("Started by").fill("");
  await page.getByLabel("Started by").press("Enter");
  await page.getByLabel("Skill").fill("slow");
  await page.getByLabel("Skill").press("Enter");
  await until(async () => (await rows.count()) === 1 && (await rows.first().textContent()).includes("slow"), "the skill filters");

  // A form takes what the schema says: a boolean, a number, a list, a secret that is not shown.
  await visit(page, "skills/forms");
  await page.getByLabel("force").selectOption("true");
  await page.getByLabel("count").fill("2");
  await page.getByLabel("hosts").fill("[\"web-1\", ");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByText("not valid JSON").waitFor();
  await page.getByLabel("hosts").fill("[\"web-1\", \"web-2\"]");
  assert.equal(await page.getByLabel("token").getAttribute("type"), "password");
  await page.getByLabel("token").fill("hunter2-hunter2");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.locator(".log .line", { hasText: "3 web-1+web-2" }).waitFor();
  assert.ok(!(await page.locator("body").textContent()).includes("hunter2"));
  // Its last runs are up to date by themselves.
  await visit(page, "skills/forms");
  const last = page.getByRole("region", { name: "Last runs" });
  await last.getByText("done").waitFor();
  // With how long each took, as the server says it, and as a bar beside the longest.
  await visit(page, "skills/fails");
  await until(async () => (await last.locator("a.item").count()) === 2, "two runs of it");
  const { runs } = await here.program("GET", "/runs?skill=fails");
  const bars = await last.locator("meter").evaluateAll((all) => all.map(({ value, max }) => [value, max]));
  assert.deepEqual(bars, runs.map(({ duration_ms: took }) => [took, Math.max(...runs.map((one) => one.duration_ms))]));
  for (const [at, { duration_ms: took }] of runs.entries()) {
    const words = took < 1000 ? `${took}ms` : new RegExp(`${Math.floor(took / 1000)}(\\.\\d)?s|m `);
    await last.locator("a.item").nth(at).getByText(words).waitFor();
  }

  // What was learned is listed, and forgotten.
  await here.aye("memory", "learn", "--error", "login required", "--tool", "podman", "--", "podman", "login");
  await visit(page, "memory");
  await page.getByText("podman login").waitFor();
  await page.getByRole("button", { name: "Forget" }).click();
  await page.getByText("Nothing was learned yet.").waitFor();
  assert.deepEqual(JSON.parse(await here.aye("memory", "list", "fixes", "--json")).fixes, []);

  // A fix that someone changed in the file is a proposal until a person agrees.
  await here.aye("memory", "learn", "--error", "login required", "--tool", "podman", "--", "podman", "login");
  const file = path.join(here.home, "memory/learned/fixes.yaml");
  await writeFile(file, (await readFile(file, "utf8")).replace("[podman, login]", "[podman, logout]"));
  await visit(page, "inbox");
  await page.reload();
  await visit(page, "memory");
  const proposal = page.getByRole("region", { name: "Proposals" });
  await proposal.getByText("podman logout").waitFor();
  await proposal.getByRole("button", { name: "Agree" }).click();
  await page.getByRole("region", { name: "Fixes" }).getByText("podman logout").waitFor();
  await page.getByRole("region", { name: "Fixes" }).getByText(/^ann, /).waitFor();
  const [fix] = JSON.parse(await here.aye("memory", "list", "fixes", "--json")).fixes;
  assert.deepEqual([fix.standing, fix.agreed.by], ["active", "ann"]);

  // What a skill wrote where people keep their own waits there as well.
  await here.aye("run", "notes");
  await visit(page, "inbox");
  await page.reload();
  await visit(page, "memory");
  await proposal.getByText("known issue `token expired` of `auth`: log in again").waitFor();
  await proposal.getByText(/^skill notes in run /).waitFor();
  await proposal.getByRole("button", { name: "Agree" }).click();
  await page.getByRole("region", { name: "Known issues" }).getByText("token expired").waitFor();
  await proposal.waitFor({ state: "detached" });

  // Each project has a memory of its own; the user's stands beside it.
  const other = path.join(here.root, "other");
  await mkdir(path.join(other, ".aye/memory/learned"), { recursive: true });
  await writeFile(path.join(other, ".aye/memory/learned/patterns.yaml"), "auth:\n  - { pattern: quota exceeded, meaning: ask for more }\n");
  assert.equal(await page.getByLabel("Project").count(), 0, "there is one project");
  await here.ayeIn(other, "trust", "--yes");
  await visit(page, "inbox");
  await page.reload();
  await visit(page, "memory");
  await page.getByText("token expired").waitFor();
  assert.equal(await page.getByText("quota exceeded").count(), 0);
  await page.getByLabel("Project").selectOption(other);
  await page.getByText("quota exceeded").waitFor();
  assert.ok(page.url().includes(`project=${encodeURIComponent(other)}`), page.url());
  const [forgotten] = await Promise.all([page.waitForRequest((one) => one.method() === "DELETE"), page.getByRole("button", { name: "Forget" }).click()]);
  assert.deepEqual(forgotten.postDataJSON(), { project: other }, "what is changed is changed there");

  // What makes a question always asked is listed, and no proposal lifts it: the page says what to do.
  await writeFile(path.join(here.project, "confirmations.yaml"), "rel:gate: {auto_proceed: false, environment_rules: {production: always_ask}}\n");
  await here.aye("memory", "import", "confirmations.yaml");
  await here.aye("run", "loosens");
  await visit(page, "inbox");
  await page.reload();
  await visit(page, "memory");
  const answers = page.getByRole("region", { name: "Remembered answers" });
  await answers.getByText("always asked at rel › gate").waitFor();
  await answers.getByText("production: always ask").waitFor();
  await proposal.getByRole("button", { name: "Agree" }).click();
  await page.getByText(/Aye always asks at `rel:gate`.*`aye memory forget orig-[0-9a-f]{8}` first/s).waitFor();
  assert.equal(await proposal.getByRole("button", { name: "Agree" }).count(), 1, "it still waits");

  // A browser is signed out from another one.
  const second = await here.open(JSON.parse(await here.aye("people", "link", "ann", "--json")).link);
  await second.getByText("Nothing waits for an answer.").waitFor();
  await visit(page, "people");
  await loaded(page);
  await page.getByRole("button", { name: /^Revoke/ }).click();
  await second.getByText("This browser is not signed in.").waitFor();

  // Who serves it sees everyone, and signs a browser out.
  const local = await here.local();
  await visit(local, "people");
  const everybody = local.getByRole("region", { name: "Everyone" });
  await everybody.getByText("ann").first().waitFor();
  await everybody.getByRole("button", { name: /^Revoke/ }).click();
  await page.getByText("This browser is not signed in.").waitFor();
}, { flaky: "#!/bin/sh\n[ \"$1\" = second ]\n" });
