// Every kind of question is answered in a window, by click and by keyboard; one is held, one expires, one is
// answered elsewhere, and none says more than it should.

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import path from "node:path";
import { assert, assistant, formServer, test, totp, until } from "./harness.mjs";

/** A skill with a question of every kind. */
const kinds = (name) => `
name: ${name}
steps:
  - name: archive
    choose: { title: Archive, message: Which archive goes?, options: [db-1, db-2, db-3, db-4, db-5] }
    output: archive
  - { name: drop, command: echo, args: [drop, "{{ archive }}"], destructive: true }
  - name: prefix
    input: { title: Prefix, message: Delete what begins with? }
    output: prefix
  - { name: delete, command: echo, args: [delete, "{{ prefix }}"], destructive: true }
  - name: simple
    confirm: { title: Deploy, message: "Ship it [now](command:workbench.action.quit)? [Read more", timeout: 10m, default: cancel }
  - name: region
    choose: { title: Region, message: Where?, options: [eu-1, eu-2, us-1, us-2, ap-1] }
    output: region
  - name: ticket
    input: { title: Ticket, message: Which ticket?, match: "^OPS-[0-9]+$" }
    output: ticket
  - { name: edited, command: ./flaky, args: [never], on_error: ask }
  - name: again
    confirm: { message: Every time?, remember: true }
  - name: password
    input: { title: Password, message: Which password?, secret: true }
  - name: wipe
    command: echo
    args: [wiped, "{{ ticket }}"]
    destructive: true
    confirmation: { title: Wipe, message: Wipe the archive?, type_to_confirm: wipe-it, timeout: 10m }
  - { name: order, tool: forms.order }
  - { name: skipped, command: ./flaky, args: [twice], on_error: ask }
  - name: long
    confirm:
      title: Long
      message: |
${Array.from({ length: 40 }, (_, at) => `        Line ${at + 1} of what has to be read.`).join("\n")}
  - name: both
    confirm: { title: Both, message: Do two agree?, approvals: 2 }
`;

const SKILLS = {
  clicks: kinds("clicks"),
  keys: kinds("keys"),
  simple: `
name: simple
steps:
  - name: simple
    confirm: { title: Deploy, message: Ship it at last? }
  - name: region
    choose: { title: Region, message: Where?, options: [eu-1, eu-2, us-1, us-2, ap-1] }
`,
  hostile: `
name: hostile
steps:
  - name: pick
    choose:
      title: "$(verified) Approved"
      message: Which $(verified) one?
      options:
        - { label: "$(organization) Two agreed", value: a, description: "$(verified) safe" }
        - { label: B, value: b }
        - { label: C, value: c }
        - { label: D, value: d }
        - { label: E, value: e }
  - name: text
    input: { title: Text, message: "Say $(verified) ok", match: "^ok$|[more](command:evil)" }
`,
  leads: `
name: leads
states:
  deploy:
    command: echo
    args: [deployed]
    confirmation: { title: Deploy, message: Ship it to everyone?, timeout: 10m }
    transitions: { success: drop, declined: restore, failure: over }
  drop:
    command: echo
    args: [dropped]
    destructive: true
    confirmation: { title: Drop, message: Drop the old one?, timeout: 10m }
    transitions: { success: over, declined: restore, failure: over }
  restore: { command: echo, args: [restored], transitions: { success: over, failure: over } }
  over: { type: final }
`,
  advised: `
name: advised
steps:
  - name: sure
    confirm: { title: Sure, message: Shall we?, timeout: 30m, default: cancel, ai_assist: true, by: human }
`,
  "advised-wipe": `
name: advised-wipe
steps:
  - name: wipe
    command: echo
    args: [wiped]
    destructive: true
    confirmation: { title: Wipe, message: Wipe the rest?, ai_assist: true, by: human }
`,
  "advised-text": `
name: advised-text
steps:
  - name: why
    input: { title: Why, message: What was it good for?, ai_assist: true }
`,
  coded: `
name: coded
steps:
  - name: prod
    command: echo
    args: [prod]
    confirmation: { title: Production, message: Really?, reauth: true }
`,
  expiring: `
name: expiring
steps:
  - name: soon
    confirm: { title: Soon, message: Within twelve seconds?, timeout: 12s, default: cancel }
`,
  wipes: `
name: wipes
steps:
  - name: wipe
    command: echo
    args: [everything]
    destructive: true
    confirmation: { title: Wipe, message: Wipe it all?, type_to_confirm: wipe-it }
`,
  silent: `
name: silent
steps:
  - name: soon
    confirm: { title: Silence, message: Does silence agree?, timeout: 5s, default: proceed }
`,
};

const FILES = { flaky: "#!/bin/sh\n[ \"$1\" = ok ]\n", ...formServer() };

await test(SKILLS, async (here, host, step) => {
  const window = await host.window();
  await window.connected();
  const { page, quick } = window;
  const status = async (run) => JSON.parse(await here.aye("show", run, "--json")).status;
  const events = async (run) => {
    const { url, token } = JSON.parse(readFileSync(path.join(here.home, "serve.json"), "utf8"));
    const response = await fetch(`${url}/api/v1/runs/${run}/events?limit=1000`, { headers: { Authorization: `Bearer ${token}` } });
    return (await response.json()).events;
  };
  const answers = async (run) => (await events(run)).filter(({ type }) => type === "confirmation_answered").map(({ answer }) => answer);
  const asked = (text) => window.toast(text).waitFor();

  // The second of two people agrees, as a program of hers.
  const { token: hers } = JSON.parse(await here.aye("people", "add", "ann", "--rights", "answer,read", "--yes", "--json"));
  const agree = async () => {
    const [open] = JSON.parse(await here.aye("inbox", "--json"));
    const { url } = JSON.parse(readFileSync(path.join(here.home, "serve.json"), "utf8"));
    const response = await fetch(`${url}/api/v1/questions/${open.question}/answer`, {
      method: "POST", body: JSON.stringify({ choice: "proceed", digest: open.details.digest }),
      headers: { Authorization: `Bearer ${hers}`, "Content-Type": "application/json", "Idempotency-Key": open.question },
    });
    assert.ok(response.ok, await response.text());
  };
  const card = window.panel.locator(".card[data-question]");
  const focusCard = () => until(async () => {
    await page.keyboard.press("j");
    return window.panel.locator(".card[data-question]:focus").isVisible();
  }, "the card has the keyboard");
  const tabIn = (place) => until(async () => {
    if (await place.evaluate((element) => element === document.activeElement)) return true;
    await page.keyboard.press("Tab");
    return false;
  }, "the keyboard is there");
  const settled = () => window.panel.locator("main:not([data-moving])").waitFor();

  // By click. What destroys is a modal with everything that could run; a list and a field come after it.
  const clicked = await here.start("clicks");
  await asked("Which archive goes?");
  await window.press("Which archive goes?", "Review", window.dialog.getByText("echo drop db-5"));
  for (const n of [1, 2, 3, 4, 5]) await window.dialog.getByText(`“db-${n}” runs step drop`).waitFor();
  await window.dialog.getByRole("button", { name: "Answer…" }).click();
  await window.option(/^db-4/).click();
  await asked("Delete what begins with?");
  await window.press("Delete what begins with?", "Review", window.dialog.getByText("Delete what begins with?"));
  await window.dialog.getByRole("button", { name: "Answer…" }).click();
  await window.fillAndClick("Prefix ·", "tmp-");
  step("destructive list and text");

  // The text of a skill is not a link, and not a part of one: the link is what it was and no more.
  await asked("Ship it ［now］(command:workbench.action.quit)? ［Read more");
  const links = await window.toast("Ship it").locator("a").allTextContents();
  assert.ok(!links.some((text) => /now|more/.test(text)), String(links));
  assert.match(await window.toast("Ship it").innerText(), /(10|9)m left, then “Cancel”/);
  await until(async () => /1 question/.test(await window.said()), "the status bar counts it");
  await window.decide("Ship it", "Proceed");

  await asked("Where?");
  await window.press("Where?", "Answer…", window.titled("Region ·"));
  assert.match(await window.titled("Region ·").innerText(), /Region · .* left, then declined/);
  await window.option(/^us-2/).click();
  step("list");

  await asked("Which ticket?");
  await window.press("Which ticket?", "Answer…", window.titled("Ticket ·"));
  await window.fillAndClick("Ticket ·", "nonsense");
  await quick.getByText("Must match ^OPS-[0-9]+$").waitFor();
  await window.fillAndClick("Ticket ·", "OPS-7");
  // A failed step is changed in the panel: before the run has a secret, which this process does not know.
  await asked("flaky never");
  await window.press("flaky never", "Answer…", window.option(/^Retry with changes/));
  await window.option(/^Retry with changes/).click();
  await card.locator("[data-choice=edit]").waitFor();
  await settled();
  await card.locator("[data-choice=edit]").click();
  await card.getByLabel("argument 1").fill("ok");
  await settled();
  await card.getByRole("button", { name: "Retry with these changes" }).click();
  await asked("Every time?");
  // Nobody gave it a title, and none is made up.
  assert.ok(!/required/.test(await window.toast("Every time?").innerText()), "no invented title");
  const covers = quick.getByText("The same question at this step, only where everything shown is the same.");
  await window.press("Every time?", "Proceed", covers);
  await window.option(/^For this step/).click();
  step("remembered");

  await asked("Which password?");
  await window.press("Which password?", "Answer…", quick.locator("input[type=password]"));
  await window.fillAndClick("Password ·", "hunter1");
  step("text and secret");

  // A dialog has the whole command, and the moment until which it can be answered.
  await asked("Wipe the archive?");
  const wiping = window.dialog.getByText("echo wiped OPS-7");
  await window.press("Wipe the archive?", "Review", wiping);
  await window.dialog.getByText(/Until \d\d:\d\d:\d\d \S+ \(\d+m \d\ds left when this opened\), then declined/).waitFor();
  // Esc is not an answer.
  await window.dialog.locator(".monaco-button:focus").waitFor();
  await page.keyboard.press("Escape");
  await window.dialog.waitFor({ state: "detached" });
  await window.press("Wipe the archive?", "Review", wiping);
  await window.dialog.getByRole("button", { name: "With a Reason…" }).click();
  await quick.locator("input[placeholder=Reason]").waitFor();
  await window.fillAndClick("Wipe ·", "it is old");
  await window.dialog.getByText("Reason: it is old").waitFor();
  await window.dialog.getByRole("button", { name: "Proceed" }).click();
  await quick.getByText("Type wipe-it to agree.").waitFor();
  await window.fillAndClick("Wipe ·", "wipe-i");
  await quick.getByText("Type exactly wipe-it").waitFor();
  await window.fillAndClick("Wipe ·", "wipe-it");
  step("destructive, with a reason, typed");

  // A text that may be declined.
  await asked(/`forms` asks: —/);
  await window.press(/`forms` asks: —/, "Review", window.dialog.getByText("Whom is it for?"));
  await window.dialog.getByRole("button", { name: "Answer", exact: true }).click();
  await asked("`forms` asks for \"name\":");
  await window.press("`forms` asks for \"name\":", "Review", window.dialog.getByText("> Name"));
  await window.dialog.getByRole("button", { name: "Answer…" }).click();
  await window.option(/^Decline/).waitFor();
  await window.option(/Write an answer…/).click();
  await window.fillAndClick("forms asks ·", "Ann");
  step("text with options");

  // With a reason.
  await asked("flaky twice");
  await window.press("flaky twice", "Answer…", window.option(/Give a reason/));
  await window.option(/Give a reason/).click();
  await quick.locator("input[placeholder=Reason]").waitFor();
  await window.fillAndClick("skipped failed ·", "known to be flaky");
  await window.option(/Give a reason.*known to be flaky/).waitFor();
  await window.option(/^Skip/).click();
  step("recovered");

  // What no dialog has room for opens the panel.
  await asked("Long: Line 1");
  await window.press("Long: Line 1", "Review", card.getByText("Line 40 of what has to be read."));
  await settled();
  await card.locator("[data-choice=proceed]").click();
  // Two have to agree: the first is told that one is missing.
  await asked("Do two agree?");
  const missing = page.locator(".statusbar-item", { hasText: "Both: “Proceed”, 1 more must agree" });
  assert.match(await window.toast("Do two agree?").innerText(), /2 different people have to agree\./);
  await window.press("Do two agree?", "Proceed", missing);
  assert.equal(await status(clicked), "waiting");
  await agree();
  await until(async () => (await status(clicked)) === "completed", "the clicked run has completed");
  await window.told(/Both: “Proceed” by ann/);
  step("panel and two people");

  // By keyboard alone. A list takes Enter once a line of it has the focus.
  await window.command("View: Close All Editors");
  const typed = await here.start("keys");
  await asked("Which archive goes?");
  await window.keys("Control+Alt+y", window.dialog.getByText("echo drop db-5"));
  await window.confirm("Answer…");
  await window.search("Archive ·", "db-3");
  await window.enter("db-3");
  await asked("Delete what begins with?");
  await window.keys("Control+Alt+y", window.dialog.getByText("Delete what begins with?"));
  await window.confirm("Answer…");
  await window.type("Prefix ·", "old-");
  await asked("Ship it");
  await window.ask("Deploy ·");
  await window.enter("Proceed");
  await asked("Where?");
  await window.ask("Region ·");
  await window.search("Region ·", "us-1");
  await window.enter("us-1");
  await asked("Which ticket?");
  await window.ask("Ticket ·");
  await window.type("Ticket ·", "nonsense");
  await quick.getByText("Must match ^OPS-[0-9]+$").waitFor();
  await window.type("Ticket ·", "OPS-8");
  await asked("flaky never");
  await window.keys("Control+Alt+y", window.dialog.getByText("./flaky never"));
  await window.confirm("Answer…");
  await window.search("edited failed ·", "changes");
  await window.enter("Retry with changes");
  await card.locator("[data-choice=edit]").waitFor();
  await focusCard();
  await page.keyboard.press("2");
  await window.panel.locator("[data-choice=edit]:focus").waitFor();
  await page.keyboard.press("Enter");
  await card.getByLabel("argument 1").waitFor();
  await tabIn(card.getByLabel("argument 1"));
  // Not with Control+A: VS Code selects everything in a panel later than the next key comes.
  await page.keyboard.press("End");
  for (const _ of "never") await page.keyboard.press("Backspace");
  await page.keyboard.type("ok");
  await settled();
  await tabIn(card.getByRole("button", { name: "Retry with these changes" }));
  await page.keyboard.press("Enter");
  await asked("Every time?");
  await window.ask("keys › again ·");
  await window.enter("Proceed");
  await quick.getByText("Esc sends nothing").or(quick.locator("input[placeholder*='Esc sends nothing']")).first().waitFor();
  await window.down("For this skill");
  await page.keyboard.press("Enter");
  await asked("Which password?");
  await window.command("Aye: Answer a Question");
  await quick.locator("input[type=password]:focus").waitFor();
  await window.type("Password ·", "hunter2");
  step("keyboard: simple, list, text, secret, remembered");
  await asked("Wipe the archive?");
  await window.keys("Control+Alt+y", window.dialog.getByText("echo wiped OPS-8"));
  await window.tabTo("With a Reason…");
  await quick.locator("input[placeholder=Reason]:focus").waitFor();
  await window.type("Wipe ·", "it is older");
  await window.dialog.getByText("Reason: it is older").waitFor();
  // Enter would decline.
  await window.dialog.locator(".monaco-button:focus", { hasText: "Cancel" }).waitFor();
  await window.tabTo("Proceed");
  await quick.getByText("Type wipe-it to agree.").waitFor();
  await window.type("Wipe ·", "wipe-it");
  step("keyboard: destructive");
  await asked(/`forms` asks: —/);
  await window.keys("Control+Alt+y", window.dialog.getByText("Whom is it for?"));
  await window.tabTo("Answer");
  await asked("`forms` asks for \"name\":");
  await window.keys("Control+Alt+y", window.dialog.getByText("> Name"));
  await window.confirm("Answer…");
  await window.enter("Write an answer…");
  await quick.locator(".quick-input-message", { hasText: "asks for" }).waitFor();
  await window.type("forms asks ·", "Bob");
  step("keyboard: text with options");
  await asked("flaky twice");
  await window.keys("Control+Alt+y", window.dialog.getByText("./flaky twice"));
  await window.confirm("Answer…");
  await window.search("skipped failed ·", "reason");
  await window.enter("Give a reason");
  await quick.locator("input[placeholder=Reason]:focus").waitFor();
  await window.type("skipped failed ·", "flaky again");
  await window.option(/Give a reason.*flaky again/).waitFor();
  await window.search("skipped failed ·", "skip");
  await window.enter("Skip");
  step("keyboard: recovered");
  await asked("Long: Line 1");
  await window.keys("Control+Alt+y", card.getByText("Line 40 of what has to be read."));
  await focusCard();
  await page.keyboard.press("1");
  await window.panel.locator("[data-choice=proceed]:focus").waitFor();
  await settled();
  await page.keyboard.press("Enter");
  await asked("Do two agree?");
  await window.ask("Both ·");
  await window.option(/2 different people have to agree/).waitFor();
  await window.enter("Proceed");
  await missing.waitFor();
  await agree();
  await until(async () => (await status(typed)) === "completed", "the typed run has completed");
  step("keyboard: panel and two people");

  const [byClick, byKey] = [await answers(clicked), await answers(typed)];
  for (const [at, all] of [byClick, byKey].entries()) {
    assert.deepEqual(all.map(({ by, prompter, proof }) => (by === "ann" ? "ann" : `${prompter} ${proof}`)), [...Array(14).fill("editor local"), "ann"], `each question was answered once (${at})`);
  }
  const values = (all) => all.map(({ value }) => value).filter((_, at) => at !== 7);
  assert.deepEqual(values(byClick), ["db-4", "tmp-", "proceed", "us-2", "OPS-7", "edit", "proceed", "proceed", "answer", "Ann", "skip", "proceed", "proceed", "proceed"]);
  assert.deepEqual(values(byKey), ["db-3", "old-", "proceed", "us-1", "OPS-8", "edit", "proceed", "proceed", "answer", "Bob", "skip", "proceed", "proceed", "proceed"]);
  assert.deepEqual([byClick[6].remember, byKey[6].remember], ["step", "skill"]);
  assert.deepEqual([byClick[8].reason, byKey[8].reason], ["it is old", "it is older"]);
  assert.deepEqual([byClick[11].reason, byKey[11].reason], ["known to be flaky", "flaky again"]);
  for (const secret of ["hunter1", "hunter2"]) assert.ok(!(await page.locator("body").textContent()).includes(secret), "a secret is not shown");

  // What assistants say is beside the question, marked as what it is, and answers nothing.
  await window.command("View: Close All Editors");
  const helper = await assistant(here);
  const advised = async (skill, advice, suggestion) => {
    const { execution_id } = await helper.call("skill_run", { skill });
    await helper.call("skill_advise", { execution_id, advice, ...(suggestion ? { suggestion } : {}) });
  };
  await advised("advised", "Staging is [red](command:x).", "cancel");
  const advice = /Advice, not counted: helper.* suggests “Cancel”: Staging is ［red］\(command:x\)\./;
  await asked(advice);
  assert.ok(!(await window.toast(advice).locator("a").allTextContents()).some((text) => text.includes("red")));
  await window.ask("Sure ·");
  await window.option(/Advice, not counted.*suggests “Cancel”: Staging is/).waitFor();
  await window.enter("Proceed");
  await advised("advised-wipe", "It is needed on Monday.");
  await asked("It is needed on Monday.");
  await window.press("Wipe the rest?", "Review", window.dialog.getByText(/Advice, not counted: helper.*: It is needed on Monday\./));
  await window.dialog.getByRole("button", { name: "Cancel", exact: true }).click();
  await advised("advised-text", "For the tests.");
  await asked("For the tests.");
  await window.ask("Why ·");
  await quick.getByText(/What was it good for\? · Advice, not counted: helper.*: For the tests\./).waitFor();
  await window.type("Why ·", "the tests");
  await until(async () => JSON.parse(await here.aye("inbox", "--json")).length === 0, "all are answered");
  await helper.close();
  step("advice");
  // Where each answer leads. Where a no starts something, Enter decides nothing.
  const led = await here.start("leads");
  await asked("Ship it to everyone?");
  assert.match(await window.toast("Ship it to everyone?").innerText(), /“Cancel” → restore/);
  await window.decide("Ship it to everyone?", "Proceed");
  await asked("Drop the old one?");
  await window.press("Drop the old one?", "Review", window.dialog.getByText("“Cancel” → restore"));
  await window.confirm("With a Reason…");
  await window.type("Drop ·", "in use");
  await window.dialog.getByText("Reason: in use").waitFor();
  await window.tabTo("Cancel");
  await until(async () => (await status(led)) === "completed", "it is restored");
  assert.deepEqual((await answers(led)).map(({ value, reason }) => [value, reason ?? null]), [["proceed", null], ["cancel", "in use"]]);
  step("leads");

  // A one-time code: the wrong one does not count.
  const { address } = JSON.parse(await here.aye("auth", "setup", "--json"));
  const code = (periods) => totp(new URL(address).searchParams.get("secret"), periods);
  // The period may end on the way.
  await until(() => here.aye("auth", "confirm", code(-1)).then(() => true, () => false), "the second factor is set up");
  const coded = await here.start("coded");
  await asked("Really?");
  await window.press("Really?", "Proceed", quick.getByText("Your one-time code."));
  await window.fill("Production ·", "12");
  await quick.getByText("6 to 8 digits").waitFor();
  await window.fill("Production ·", code(9));
  await window.press("code", "Answer again", window.option(/^Proceed/));
  await window.option(/^Proceed/).click();
  await quick.getByText("Your one-time code.").waitFor();
  await window.fill("Production ·", code(0));
  await until(async () => (await status(coded)) === "completed", "the code was taken");
  // By keyboard, after it was put off: the notification is gone, so what would run is shown first.
  const later = await here.start("coded");
  await asked("Really?");
  await window.decide("Really?", "Later");
  await window.keys("Control+Alt+y", window.dialog.getByText("echo prod"));
  await window.dialog.getByText("Really?").waitFor();
  await window.confirm("Proceed");
  await quick.getByText("Your one-time code.").waitFor();
  await window.type("Production ·", code(1));
  await until(async () => (await status(later)) === "completed", "the other code was taken");
  step("one-time code");

  // Nobody touches it: it closes and says what happened.
  await here.start("expiring");
  await asked("Within twelve seconds?");
  await window.told("Soon: nobody answered in time; “Cancel” was taken");
  await window.toast("Within twelve seconds?").waitFor({ state: "detached" });
  step("expired");

  // A notification alone is not a question before someone's eyes: silence does not agree.
  const silent = await here.start("silent");
  await asked("Does silence agree?");
  const shown = async () => (await promisify(execFile)("sqlite3", [path.join(here.home, "journal.db"), `SELECT kind FROM presence WHERE question LIKE '${silent}-%'`])).stdout.trim();
  await until(async () => (await shown()) === "editor notification", "every process knows of the notification");
  await until(async () => (await events(silent)).some(({ type }) => type === "confirmation_held"), "its time stands still");
  assert.equal(await status(silent), "waiting");
  // Who puts it off knows of it.
  await window.decide("Does silence agree?", "Later");
  await new Promise((resolve) => setTimeout(resolve, 1000));
  assert.equal(await shown(), "editor notification");
  await here.aye("cancel", silent);
  await until(async () => (await shown()) === "", "nobody has to know of it any more");
  step("silence");

  // While someone looks, its time is held; Esc sends nothing.
  const held = await here.start("expiring");
  await asked("Within twelve seconds?");
  const [{ deadline }] = JSON.parse(await here.aye("inbox", "--json"));
  await window.ask("Soon ·");
  await until(() => Date.now() > Date.parse(deadline) + 1000, "its time would be over");
  assert.equal(await status(held), "waiting", "it is held beyond its time");
  await quick.locator("input:focus").waitFor();
  await page.keyboard.press("Escape");
  await window.titled("Soon ·").waitFor({ state: "hidden" });
  await window.ask("Soon ·");
  await window.enter("Proceed");
  await until(async () => (await status(held)) === "completed", "the held run has completed");
  step("held");

  // Answered elsewhere: list and notification close, and say by whom.
  const answer = async (choice) => {
    const [open] = JSON.parse(await here.aye("inbox", "--json"));
    await here.aye("answer", open.question, choice);
  };
  const elsewhere = await here.start("simple");
  await asked("Ship it at last?");
  await window.ask("Deploy ·");
  await answer("proceed");
  await window.told(/Deploy: “Proceed” by .*, with aye answer/);
  await window.titled("Deploy ·").waitFor({ state: "hidden" });
  await window.toast("Ship it at last?").waitFor({ state: "detached" });
  // What was never shown is not taken back with words: it must be on the screen first.
  await asked("Where?");
  await here.aye("cancel", elsewhere);
  await window.told(/Region: withdrawn, the run ended first/);
  step("elsewhere");

  // VS Code cannot close a dialog. What is pressed in it afterwards is not sent.
  const late = await here.start("wipes");
  await asked("Wipe it all?");
  await window.press("Wipe it all?", "Review", window.dialog.getByText("echo everything"));
  await answer("cancel");
  await window.told(/Wipe: “Cancel” by .*, with aye answer. VS Code cannot close its dialog, which sends nothing any more/);
  await until(async () => (await status(late)) === "cancelled", "it is declined");
  await window.dialog.getByRole("button", { name: "Proceed" }).click();
  await window.told(/Wipe: “Cancel” by .*, with aye answer. Your answer was not sent./);
  assert.equal(await quick.count(), 0, "nothing more is asked");
  assert.deepEqual((await answers(late)).map(({ value, prompter }) => [value, prompter]), [["cancel", "command"]]);
  step("dialog");

  // Texts of a skill are neither pictures nor links of VS Code: they would pass for what we say.
  const hostile = await here.start("hostile");
  await window.press("one?", "Answer…", window.titled("Approved ·"));
  // Some character may stand between the two.
  await window.option(/\$.?\(organization\) Two agreed/).waitFor();
  assert.equal(await quick.locator(".codicon-organization, .codicon-verified").count(), 0, "a label is no picture");
  await window.option(/Two agreed/).click();
  await window.press("Say $(verified) ok", "Answer…", window.titled("Text ·"));
  await window.type("Text ·", "no");
  await quick.getByText("Must match ^ok$|[more]").waitFor();
  assert.equal(await quick.locator(".quick-input-message a, .codicon-verified").count(), 0, "a pattern is no link");
  await window.type("Text ·", "ok");
  await until(async () => (await status(hostile)) === "completed", "the hostile run has completed");
  step("hostile");

  // Answered while no process drives the run: that is recorded, and said with what to do.
  await here.aye("run", "simple", "--no-input").catch(() => {});
  await asked("Ship it at last?");
  await window.decide("Ship it at last?", "Proceed");
  await window.told(/Your answer is recorded. The run does not continue yet: .*`aye resume /);
  step("not resumed");
}, { files: FILES });
