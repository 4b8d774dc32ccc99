// Addresses lead where they say: to a question, open or decided, to a line of a log, to the content; and what a view
// has read is read again when it may have changed.

import { assert, loaded, settled, test, until, visit } from "./harness.mjs";

const SKILLS = {
  ask: `
name: ask
inputs: [ { name: n, type: integer, default: 0 } ]
steps:
  - { name: ask, confirm: { title: "Question {{ inputs.n }}", message: Well?, timeout: 1h } }
`,
  many: `
name: many
steps:
  - { name: region, choose: { title: Region, message: Where?, options: [eu-1, eu-2, us-1, us-2, ap-1] } }
`,
  lines: `
name: lines
steps:
  - { name: write, shell: "for i in $(seq 1 400); do echo line number $i; done" }
`,
  waits: `
name: waits
steps:
  - { name: wait, shell: "while [ ! -e released ]; do sleep 0.1; done", timeout: 10m }
`,
};

await test(SKILLS, async (here) => {
  const page = await here.person("ann");
  const focused = () => page.evaluate(() => document.activeElement.id);

  // A link that is opened fresh goes to its card.
  for (const n of [1, 2, 3, 4]) await here.start("ask", { n });
  await until(async () => (await page.locator(".card[data-question]").count()) === 4, "all are listed");
  const last = page.locator(".card[data-question]", { hasText: "Question 4" });
  const id = await last.getAttribute("data-question");
  await page.goto(`${here.url}/#/questions/${id}`);
  await page.reload();
  await until(async () => (await focused()) === `question-${id}`, "its card has the focus");
  assert.ok(await last.evaluate((one) => one.getBoundingClientRect().top < innerHeight), "it can be seen");

  // Decided long ago: the card says by whom.
  await here.aye("answer", id, "cancel", "--reason", "not now");
  await page.reload();
  const decided = page.locator(`#question-${id}.done`);
  await decided.getByText("with aye answer").waitFor();
  await decided.getByText("not now").waitFor();
  await visit(page, "questions/nosuch-1");
  await page.getByRole("alert").waitFor();

  // The way past the navigation, and the help, are where the focus is.
  await visit(page, "runs");
  await loaded(page);
  await page.locator(".skip").focus();
  await page.keyboard.press("Enter");
  assert.equal(await focused(), "main");
  assert.match(page.url(), /#\/runs$/, "the view has not changed");
  await page.keyboard.press("?");
  await until(() => page.evaluate(() => document.activeElement.closest("dialog") !== null), "the help has the focus");
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });

  // A digit goes to an option of a long list as well.
  await here.start("many");
  await visit(page, "inbox");
  const list = page.locator(".card[data-question]", { hasText: "Region" });
  await list.waitFor();
  await list.focus();
  await page.keyboard.press("4");
  assert.equal(await page.evaluate(() => document.activeElement.parentElement.textContent.trim()), "us-2");

  // A line of a log has an address with its step and start, and another one moves the log that is open.
  const run = await here.start("lines");
  await visit(page, `runs/${run}`);
  await page.locator(".log .line", { hasText: "line number 3" }).first().waitFor();
  const href = await page.locator(".log .line a").nth(2).getAttribute("href");
  assert.match(href, new RegExp(`^#/runs/${run}/write/\\d+\\?at=\\d+$`));
  await visit(page, href.slice(2));
  await page.locator(".log .line.target", { hasText: "line number 3" }).waitFor();
  const far = "line number 1\n".length * 9 + "line number 10\n".length * 90 + "line number 100\n".length * 250;
  await visit(page, `${href.slice(2).split("?")[0]}?at=${far}`);
  await page.locator(".log .line.target", { hasText: "line number 350" }).waitFor();

  // An older run that comes to fit a filter appears by itself.
  const waits = await here.start("waits");
  await visit(page, "runs?status=completed");
  await loaded(page);
  const row = page.locator(".list a.item", { hasText: waits });
  assert.equal(await row.count(), 0);
  await here.write("released", "");
  await row.waitFor();

  // What could not be read is tried again when someone comes back to it.
  await page.route("**/api/v1/skills", (route) => route.fulfill({ status: 500, contentType: "application/json", body: "{\"detail\":\"out of order\"}" }), { times: 1 });
  await visit(page, "skills");
  await page.getByText("out of order").waitFor();
  await visit(page, "memory");
  await visit(page, "skills");
  await page.getByRole("link", { name: "waits" }).waitFor();

  // Without a server the page is not blank.
  const { port } = new URL(here.url);
  await page.route("**/api/v1/session", (route) => route.abort("connectionrefused"));
  await page.reload();
  await page.getByRole("alert").getByText("The server does not answer").waitFor();
  await page.unroute("**/api/v1/session");
  await page.getByRole("link", { name: "Inbox" }).waitFor();
  assert.equal(new URL(page.url()).port, port);
  await settled(page);
});
