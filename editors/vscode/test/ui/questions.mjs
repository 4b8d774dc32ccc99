// Every kind of question is answered in a window, by click and by keyboard; one is held, one expires, one is
// answered elsewhere, and none says more than it should.

import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { assert, test, until } from "./harness.mjs";

const SKILLS = {
  clicks: `
name: clicks
steps:
  - name: simple
    confirm: { title: Deploy, message: "Ship it [now](command:workbench.action.quit)? [Read more", timeout: 10m, default: cancel }
  - name: region
    choose: { title: Region, message: Where?, options: [eu-1, eu-2, us-1, us-2, ap-1] }
    output: region
  - name: ticket
    input: { title: Ticket, message: Which ticket?, match: "^OPS-[0-9]+$" }
    output: ticket
  - name: again
    confirm: { title: Again, message: Every time?, remember: true }
  - name: wipe
    command: echo
    args: ["{{ region }}", "{{ ticket }}"]
    destructive: true
    confirmation: { title: Wipe, message: Wipe the archive?, type_to_confirm: wipe-it }
  - name: broken
    command: ./flaky
    on_error: ask
`,
  keys: `
name: keys
steps:
  - name: simple
    confirm: { title: Deploy, message: Ship it with the keyboard? }
  - name: region
    choose: { title: Region, message: Where?, options: [eu-1, eu-2, us-1, us-2, ap-1] }
    output: region
  - name: password
    input: { title: Password, message: Which password?, secret: true }
  - name: again
    confirm: { title: Again, message: Every single time?, remember: true }
  - name: wipe
    command: echo
    args: ["{{ region }}"]
    destructive: true
    confirmation: { title: Wipe, message: Wipe the other archive? }
  - name: broken
    command: ./flaky
    args: [never]
    on_error: ask
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
    confirm: { title: Soon, message: Within twenty seconds?, timeout: 20s, default: cancel }
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

const FILES = { flaky: "#!/bin/sh\n[ -e repaired ]\n" };

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

  // By click. The text of a skill is not a link, and not a part of one: the link is what it was and no more.
  const clicked = await here.start("clicks");
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
  await window.fill("Ticket ·", "nonsense");
  await quick.getByText("Must match ^OPS-[0-9]+$").waitFor();
  await window.fill("Ticket ·", "OPS-7");
  step("text");

  await asked("Every time?");
  const covers = quick.getByText("for 30 days to the same question at this step");
  await window.press("Every time?", "Proceed", covers);
  await window.option(/^For this step/).click();
  step("remembered");

  // What destroys is a modal with the whole command.
  await asked("Wipe the archive?");
  const wiping = window.dialog.getByText("echo us-2 OPS-7");
  await window.press("Wipe the archive?", "Review", wiping);
  // Esc is not an answer.
  await window.dialog.locator(".monaco-button:focus").waitFor();
  await page.keyboard.press("Escape");
  await window.dialog.waitFor({ state: "detached" });
  await window.press("Wipe the archive?", "Review", wiping);
  await window.dialog.getByRole("button", { name: "Proceed" }).click();
  await quick.getByText("Type wipe-it to agree.").waitFor();
  await window.fill("Wipe ·", "wipe-i");
  await quick.getByText("Type exactly wipe-it").waitFor();
  await window.fill("Wipe ·", "wipe-it");
  step("destructive and typed");

  // With a reason.
  await asked("flaky");
  await window.press("flaky", "Answer…", window.option(/Give a reason/));
  await window.option(/Give a reason/).click();
  const reason = quick.locator("input[placeholder=Reason]");
  await reason.fill("known to be flaky");
  await reason.press("Enter");
  await window.option(/Give a reason.*known to be flaky/).waitFor();
  await window.option(/^Skip/).click();
  await until(async () => (await status(clicked)) === "completed", "the clicked run has completed");
  step("recovered");

  // By keyboard alone. A list takes Enter once a line of it has the focus.
  const typed = await here.start("keys");
  await asked("Ship it with the keyboard?");
  await window.ask("Deploy ·");
  await window.enter("Proceed");
  await asked("Where?");
  await window.ask("Region ·");
  await page.keyboard.type("us-1");
  await window.enter("us-1");
  await asked("Which password?");
  await window.command("Aye: Answer a Question");
  await window.titled("Password ·").waitFor();
  await quick.locator("input[type=password]:focus").waitFor();
  await page.keyboard.type("hunter2");
  await page.keyboard.press("Enter");
  await asked("Every single time?");
  await window.ask("Again ·");
  await window.enter("Proceed");
  await quick.getByText("Esc sends nothing").or(quick.locator("input[placeholder*='Esc sends nothing']")).first().waitFor();
  await window.down("For this skill");
  await page.keyboard.press("Enter");
  await asked("Wipe the other archive?");
  await window.keys("Control+Alt+y", window.dialog.getByText("echo us-1"));
  await window.confirm("Proceed");
  await asked("flaky never");
  await window.keys("Control+Alt+y", window.option(/^Skip/));
  await page.keyboard.type("skip");
  await window.enter("Skip");
  await until(async () => (await status(typed)) === "completed", "the typed run has completed");
  step("keyboard");

  const [byClick, byKey] = [await answers(clicked), await answers(typed)];
  for (const one of [...byClick, ...byKey]) assert.deepEqual([one.prompter, one.proof], ["editor", "local"]);
  assert.deepEqual([byClick.length, byKey.length], [6, 6], "each question was answered once");
  assert.deepEqual(byClick.map(({ value }) => value), ["proceed", "us-2", "OPS-7", "proceed", "proceed", "skip"]);
  assert.deepEqual([byClick[3].remember, byKey[3].remember], ["step", "skill"]);
  assert.equal(byClick[5].reason, "known to be flaky");
  assert.ok(!(await page.locator("body").textContent()).includes("hunter2"), "a secret is not shown");

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
  step("one-time code");

  // Nobody touches it: it closes and says what happened.
  await here.start("expiring");
  await asked("Within twenty seconds?");
  await window.told("Soon: nobody answered in time; “Cancel” was taken");
  await window.toast("Within twenty seconds?").waitFor({ state: "detached" });
  step("expired");

  // A notification alone is not a question before someone's eyes: silence does not agree.
  const silent = await here.start("silent");
  await asked("Does silence agree?");
  await until(async () => (await events(silent)).some(({ type }) => type === "confirmation_held"), "its time stands still");
  assert.equal(await status(silent), "waiting");
  await here.aye("cancel", silent);
  await window.toast("Does silence agree?").waitFor({ state: "detached" });
  step("silence");

  // While someone looks, its time is held; Esc sends nothing.
  const held = await here.start("expiring");
  await asked("Within twenty seconds?");
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
    await here.aye("answer", open.question ?? open.id, choice);
  };
  const elsewhere = await here.start("keys");
  await asked("Ship it with the keyboard?");
  await window.ask("Deploy ·");
  await answer("proceed");
  await window.told(/Deploy: “Proceed” by .*, with aye answer/);
  await window.titled("Deploy ·").waitFor({ state: "hidden" });
  await window.toast("Ship it with the keyboard?").waitFor({ state: "detached" });
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
}, { files: FILES });

/** A code of an authenticator app, some periods from now. */
function totp(secret, periods) {
  const bits = [...secret].map((char) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(char).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + periods));
  const mac = createHmac("sha1", key).update(counter).digest();
  const at = mac[19] & 15;
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}
