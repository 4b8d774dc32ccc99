// A new question is noticed: title, icon, a sound and a notification of the browser. Both are asked for by a
// click, and the browser's permission decides.

import { assert, settled, test, until } from "./harness.mjs";

const SKILLS = {
  ask: `
name: ask
steps:
  - name: ask
    confirm: { title: Restart, message: "Restart the \\u001b[31mdatabase?", timeout: 10m }
`,
  known: `
name: known
steps: [ { name: known, confirm: { title: Known, message: As always?, remember: true, timeout: 10m } } ]
`,
  other: `
name: other
steps: [ { name: other, confirm: { title: Other, message: Sure?, timeout: 10m } } ]
`,
};

/** Counts what the browser really plays and shows, and lets a page believe that nobody looks at it. */
function watched() {
  globalThis.seen = { tones: 0, shown: [], closed: [], hidden: false };
  const { start } = OscillatorNode.prototype;
  OscillatorNode.prototype.start = function (...when) {
    if (this.context.state === "running") globalThis.seen.tones += 1;
    return start.apply(this, when);
  };
  globalThis.Notification = class extends Notification {
    constructor(title, about) {
      if (globalThis.seen.isPhone) throw new TypeError("Illegal constructor");
      super(title, about);
      globalThis.seen.shown.push({ title, body: about.body, tag: about.tag });
      globalThis.seen.last = this;
    }

    close() {
      globalThis.seen.closed.push(this.tag);
      super.close();
    }
  };
  Object.defineProperty(document, "visibilityState", { get: () => (globalThis.seen.hidden ? "hidden" : "visible") });
}

await test(SKILLS, async (here) => {
  const page = await here.person("ann");
  const seen = () => page.evaluate(() => ({ ...globalThis.seen, last: null }));
  // A link that is being redeemed is not interrupted.
  await page.getByText("Nothing waits for an answer.").waitFor();
  await page.addInitScript(watched);
  await page.reload();
  await page.getByText("Nothing waits for an answer.").waitFor();
  assert.equal(await page.title(), "Inbox · Aye");

  // The browser does not allow it: the page says so, and asks for nothing again.
  await page.getByRole("button", { name: "Notify off" }).click();
  await page.getByText("This browser shows no notifications").waitFor();
  await page.getByRole("button", { name: "Notify off" }).waitFor();

  await page.context().grantPermissions(["notifications"], { origin: here.url });
  // A phone's browser allows it and has no such notifications: the page says so, and it stays off.
  await page.evaluate(() => {
    globalThis.seen.isPhone = true;
  });
  await page.getByText("This browser shows no notifications").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Notify off" }).click();
  await page.getByText("This browser shows no notifications").waitFor();
  await page.getByRole("button", { name: "Notify off" }).waitFor();
  await page.evaluate(() => {
    globalThis.seen.isPhone = false;
  });
  // Else it shows what they look like.
  await page.getByRole("button", { name: "Notify off" }).click();
  await page.getByRole("button", { name: "Notify on" }).waitFor();
  assert.deepEqual((await seen()).shown, [{ title: "Aye", body: "New questions look like this.", tag: "aye" }]);
  await page.evaluate(() => {
    globalThis.seen.shown = [];
  });
  await page.getByRole("button", { name: "Sound off" }).click();
  await page.getByRole("button", { name: "Sound on" }).waitFor();
  await until(async () => (await seen()).tones > 0, "a click lets people hear it");
  const { tones } = await seen();

  // Someone looks at the page: a sound, and no notification.
  const first = await here.start("ask");
  const card = page.locator(".card[data-question]");
  await card.waitFor();
  await until(async () => (await seen()).tones > tones, "it was heard");
  assert.deepEqual((await seen()).shown, []);
  assert.equal(await page.title(), "(1) Inbox · Aye");
  assert.match(await page.locator("#icon").getAttribute("href"), /^data:image\/svg/);
  await settled(page);
  await card.locator("[data-choice=cancel]").click();
  await page.locator(".card.done").waitFor();
  assert.equal(await page.title(), "Inbox · Aye");

  // Nobody looks: a notification, which is taken away when the question is answered elsewhere.
  await page.evaluate(() => {
    globalThis.seen.hidden = true;
  });
  await here.start("ask");
  await until(async () => (await seen()).shown.length === 1, "a notification");
  const [shown] = (await seen()).shown;
  assert.equal(shown.title, "Restart");
  assert.ok(!shown.body.includes("\u001b"), shown.body);
  assert.ok(shown.tag && !shown.tag.startsWith(first));
  // A click on it leads to the question.
  await page.evaluate(() => globalThis.seen.last.onclick());
  await until(() => page.url().endsWith(`#/questions/${shown.tag}`), "it leads to the question");
  await here.start("ask");
  await until(async () => (await seen()).shown.length === 2, "another notification");
  const { tag } = (await seen()).shown[1];
  await here.aye("answer", tag, "cancel");
  await until(async () => (await seen()).closed.includes(tag), "it is withdrawn");

  // What memory answers is not announced; what comes after it is.
  await here.start("known");
  await until(async () => (await seen()).shown.length === 3, "the first time it is asked");
  await here.aye("answer", (await seen()).shown[2].tag, "proceed", "--remember");
  const again = await here.start("known");
  await until(async () => JSON.parse(await here.aye("show", again, "--json")).status === "completed", "memory has answered");
  await here.start("other");
  await until(async () => (await seen()).shown.length > 3, "the next question");
  assert.deepEqual((await seen()).shown.slice(3).map(({ title }) => title), ["Other"]);

  // Off is off.
  const before = await seen();
  await page.getByRole("button", { name: "Notify on" }).click();
  await page.getByRole("button", { name: "Sound on" }).click();
  await here.start("ask");
  await until(async () => (await page.title()).startsWith("(3)"), "it is counted");
  // Spoken to those who cannot see it: then it would have been heard and shown too.
  await page.getByText("New question: Restart").waitFor({ state: "attached" });
  const after = await seen();
  assert.deepEqual([after.shown.length, after.tones], [before.shown.length, before.tones]);
});
