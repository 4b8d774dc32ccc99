// What goes wrong under the hand: answers that others move, a field that disappears while it is written in, a clock that
// is wrong, a click that comes three times, answers on a slow line, words without an end, the way back.

import { assert, loaded, settled, test, until, visit } from "./harness.mjs";

const LONG = "x".repeat(300);
const SKILLS = {
  restart: `
name: restart
inputs: [ { name: host, type: string, default: a } ]
steps:
  - { name: look, shell: "echo up" }
  - name: act
    command: echo
    args: ["{{ inputs.host }}"]
    confirmation: { title: "Restart {{ inputs.host }}", message: "Restart {{ inputs.host }}?", timeout: 10m }
`,
  together: `
name: together
inputs: [ { name: host, type: string, default: a } ]
steps: [ { name: act, command: echo, args: ["{{ inputs.host }}"], confirmation: { title: Drain, message: "Drain {{ inputs.host }}?", timeout: 1h } } ]
`,
  endless: `
name: endless-${"n".repeat(50)}
steps:
  - name: pick_${"p".repeat(50)}
    choose:
      title: ${LONG}
      message: ${LONG}
      options: [ { label: "${LONG}", value: a, description: "${LONG}" }, { label: "${"wide ".repeat(60)}", value: b } ]
`,
  ticket: "name: ticket\nsteps: [ { name: ask, input: { title: Ticket, message: Which ticket? }, output: ticket }, { name: say, command: echo, args: [\"{{ ticket }}\"] } ]\n",
  broken: "name: broken\nsteps: [ { name: act, command: \"false\", args: [first], on_error: ask } ]\n",
  quick: "name: quick\nsteps: [ { name: write, shell: \"echo quick\" } ]\n",
};

await test(SKILLS, async (here) => {
  const ann = await here.person("ann");
  const bob = await here.person("bob");
  const card = (page, host) => page.locator(".card[data-question]", { hasText: `Restart ${host}?` });
  const status = async (run) => JSON.parse(await here.aye("show", run, "--json")).status;
  const focused = () => ann.evaluate(() => document.activeElement.id);
  const link = async () => JSON.parse(await here.aye("people", "link", "ann", "--json")).link;

  // Another person looks: nothing moves.
  await visit(bob, "runs");
  const moved = await here.start("restart", { host: "web-1" });
  await card(ann, "web-1").getByText("→ runs act").waitFor();
  await settled(ann);
  const place = () => card(ann, "web-1").locator("[data-choice=proceed]").boundingBox();
  const before = await place();
  await visit(bob, "inbox");
  await card(ann, "web-1").getByText("bob is looking at this.").waitFor();
  assert.deepEqual(await place(), before);

  // What happened so far arrives late and moves the answers: a click that was on its way counts for nothing.
  let arrive;
  const late = new Promise((done) => {
    arrive = done;
  });
  await ann.route("**/events?*", (route) => late.then(() => route.continue()));
  await ann.reload();
  await card(ann, "web-1").waitFor();
  const clicked = ann.evaluate(() => new Promise((done) => {
    new MutationObserver((_, seen) => {
      if (!document.querySelector(".card .steps")) return;
      seen.disconnect();
      setTimeout(() => done(document.querySelector("[data-choice=proceed]").click()), 100);
    }).observe(document.body, { subtree: true, childList: true });
  }));
  await until(() => ann.evaluate(() => performance.now() > 2000), "the page has been there for a while");
  arrive();
  await clicked;
  await ann.getByText("The list just changed").waitFor();
  assert.equal(await status(moved), "waiting");
  await ann.unroute("**/events?*");
  await settled(ann);

  // One click or three: one answer.
  const sent = [];
  const network = await ann.context().newCDPSession(ann);
  await network.send("Network.enable");
  network.on("Network.webSocketFrameSent", ({ response }) => sent.push(JSON.parse(response.payloadData).type));
  await card(ann, "web-1").locator("[data-choice=proceed]").evaluate((one) => [1, 2, 3].forEach(() => one.click()));
  await until(async () => (await status(moved)) === "completed", "it was answered");
  assert.equal(sent.filter((type) => type === "answer").length, 1);

  // Someone decides while a reason is written: the rest of the sentence goes nowhere.
  await visit(bob, "runs");
  for (const host of ["web-2", "web-3", "web-4"]) await here.start("restart", { host });
  for (const host of ["web-2", "web-3", "web-4"]) await card(ann, host).waitFor();
  await settled(ann);
  const [second, third, fourth] = await Promise.all(["web-2", "web-3", "web-4"].map((host) => card(ann, host).getAttribute("data-question")));
  await card(ann, "web-2").getByLabel("Reason").focus();
  await ann.keyboard.type("an up");
  await here.aye("answer", second, "cancel");
  await ann.locator(`#question-${second}.done`).waitFor();
  await ann.keyboard.type("grade? j1 ");
  await ann.keyboard.press("Enter");
  assert.match(ann.url(), /#\/inbox$/, "no letter has led away");
  assert.equal(await focused(), `question-${second}`, "the keyboard is where it was");

  // From there to the next; Escape leaves a field, not the card; an answer leaves the keyboard at its card.
  await ann.keyboard.press("Tab");
  await ann.locator(`#question-${second}`).focus();
  await ann.keyboard.press("j");
  assert.equal(await focused(), `question-${third}`);
  await ann.keyboard.press("j");
  await ann.keyboard.press("r");
  await ann.keyboard.type("worn out");
  await ann.keyboard.press("Escape");
  assert.equal(await focused(), `question-${fourth}`);
  await ann.keyboard.press("1");
  await settled(ann);
  await ann.keyboard.press("Enter");
  await ann.locator(`#question-${fourth}.done`, { hasText: "worn out" }).waitFor();
  assert.equal(await focused(), `question-${fourth}`);
  await ann.keyboard.press("k");
  assert.equal(await focused(), `question-${third}`);

  // A browser whose clock is an hour ahead shows the time that is left.
  const ahead = await here.open(await link());
  await card(ahead, "web-3").waitFor();
  await ahead.addInitScript(() => {
    const now = Date.now.bind(Date);
    Date.now = () => now() + 3_600_000;
  });
  await ahead.reload();
  await card(ahead, "web-3").waitFor();
  assert.match(await card(ahead, "web-3").locator(".clock").innerText(), /^(9m|10m)/);
  await ahead.context().close();
  await here.aye("answer", third, "cancel");

  // Several together on a slow line: they are sent once, and what is unticked in time is not answered.
  const hosts = ["a", "b", "c", "d"];
  for (const host of hosts) await here.start("together", { host });
  await ann.routeWebSocket(/\/ws/, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((message) => setTimeout(() => server.send(message), 200));
    server.onMessage((message) => setTimeout(() => socket.send(message), 200));
  });
  await ann.reload();
  await ann.getByText("4 questions of one kind").waitFor();
  await settled(ann);
  const batch = ann.locator(".batch");
  await batch.getByRole("button", { name: "Answer together" }).click();
  await batch.getByRole("button", { name: "Select all 4" }).click();
  await settled(ann);
  await batch.getByRole("button", { name: "(4)" }).first().click();
  await batch.getByText("answers to send").waitFor();
  assert.equal(await batch.getByRole("button", { name: /^Cancel/ }).isDisabled(), true);
  await batch.getByLabel("Drain d?").uncheck();
  await until(async () => (await ann.locator(".card.done", { hasText: "Drain" }).count()) === 3, "three are answered");
  const left = JSON.parse(await here.aye("inbox", "--json"));
  assert.deepEqual(left.map(({ message }) => message), ["Drain d?"]);

  // Words without an end do not make the page wider than the screen.
  const endless = await here.start(`endless-${"n".repeat(50)}`);
  // Nor does a letter with marks that have no end, which no line breaks.
  await here.start("restart", { host: `Z${"\u0300\u20dd".repeat(100)}` });
  const narrow = await here.open(await link(), { size: "phone" });
  await narrow.getByText(LONG).first().waitFor();
  await narrow.locator(".card[data-question]", { hasText: "Restart Z" }).waitFor();
  for (const width of [320, 390, 900, 1280]) {
    await narrow.setViewportSize({ width, height: 800 });
    for (const view of ["inbox", "runs", `runs/${endless}`, "skills", `skills/endless-${"n".repeat(50)}`]) {
      await visit(narrow, view);
      await loaded(narrow);
      assert.equal(await narrow.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, `${view} at ${width}`);
    }
  }

  // Keys are followed by Enter or a click before the page is drawn again.
  const inOneFrame = (page, field, text, button) => page.evaluate(([selector, words, name]) => {
    const one = document.querySelector(selector);
    one.value = words;
    one.dispatchEvent(new Event("input", { bubbles: true }));
    [...document.querySelectorAll(".card button")].find(({ textContent }) => textContent.startsWith(name)).click();
  }, [field, text, button]);
  const ticket = await here.start("ticket");
  await visit(bob, `runs/${ticket}`);
  await bob.locator("input[id^=text-]").waitFor();
  await settled(bob);
  await inOneFrame(bob, "input[id^=text-]", "OPS-7", "Send");
  await until(async () => (await status(ticket)) === "completed", "the text was sent");
  assert.match(await here.aye("logs", ticket, "say"), /OPS-7/);
  const broken = await here.start("broken");
  await visit(bob, `runs/${broken}`);
  await bob.getByRole("button", { name: "Retry with changes" }).waitFor();
  await settled(bob);
  await bob.getByRole("button", { name: "Retry with changes" }).click();
  await bob.getByLabel("argument 1").fill("secon");
  await bob.getByText("What changes").waitFor();
  await settled(bob);
  await inOneFrame(bob, "textarea[id$='-1']", "second", "Retry with these changes");
  await until(async () => (await here.aye("show", broken)).includes("second"), "all of the text was sent");

  // The way back leads to the place that was left.
  for (let at = 0; at < 30; at += 1) await here.start("quick");
  await visit(bob, "inbox");
  await visit(bob, "runs");
  await bob.locator(".list .item").nth(30).waitFor();
  await bob.setViewportSize({ width: 1280, height: 500 });
  await bob.locator(".list .item").nth(28).scrollIntoViewIfNeeded();
  const height = await bob.evaluate(() => scrollY);
  assert.ok(height > 100);
  await bob.locator(".list .item").nth(28).click();
  await bob.getByRole("region", { name: "Timeline" }).waitFor();
  await until(() => bob.evaluate(() => scrollY === 0), "a new place begins at the top");
  await bob.goBack();
  await until(async () => (await bob.evaluate(() => scrollY)) === height, "it is where it was");
});
