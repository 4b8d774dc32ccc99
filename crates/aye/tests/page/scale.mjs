// A log of 1 GB in a browser that keeps little of it, and a network that is slow.

import { assert, memory, settled, SKILLS, test, until, visit } from "./harness.mjs";

const BIG = {
  big: `
name: big
steps:
  - name: write
    timeout: 5m
    shell: "yes a line of a log that is as long as the lines of a log usually are, and not longer | head -c 1000000000; echo; echo the needle is here"
  - name: wait
    confirm: { message: Enough?, timeout: 0s }
`,
};

await test(BIG, async (here) => {
  const page = await here.person("ann");
  const run = await here.start("big");
  await page.locator(".card[data-question]").waitFor({ timeout: 300_000 });
  await visit(page, `runs/${run}/write`);
  const lines = page.locator(".log .line");
  await lines.first().waitFor({ timeout: 120_000 });
  assert.equal(await lines.first().locator("a").textContent(), "1");
  assert.ok(await lines.count() < 200, "only what is on the screen is in the page");
  // The middle, the end, a search, and back through it.
  await page.getByRole("slider").fill("500000000");
  await until(async () => /^@(499|500),/.test(await lines.first().locator("a").textContent()), "the middle is shown");
  await page.getByRole("button", { name: "End", exact: true }).click();
  await page.getByText("the needle is here", { exact: true }).waitFor({ timeout: 120_000 });
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await until(async () => (await lines.first().locator("a").textContent()) === "1", "the start is shown");
  await page.getByRole("searchbox", { name: "Search the log" }).fill("NEEDLE");
  await page.getByRole("button", { name: "Find next" }).click();
  let most = 0;
  await until(async () => {
    most = Math.max(most, await memory(page));
    return (await page.locator(".log .target mark", { hasText: "needle" }).count()) > 0;
  }, "the needle is found", 120_000);
  assert.ok(most < 200_000_000, `the page uses ${most} bytes while it searches`);
  // A link to a line leads there again.
  const link = await page.locator(".log .target a").getAttribute("href");
  await visit(page, "inbox");
  await visit(page, link.slice(2));
  await page.locator(".log .target").waitFor({ timeout: 120_000 });
  const used = await memory(page);
  assert.ok(used < 200_000_000, `the page uses ${used} bytes`);
  if (process.env.AYE_TEST_TRACE) process.stderr.write(`${most} bytes while it searches, ${used} afterwards\n`);
});

await test(SKILLS, async (here) => {
  const page = await here.person("ann");
  const network = await page.context().newCDPSession(page);
  await network.send("Network.enable");
  await network.send("Network.emulateNetworkConditions", { offline: false, latency: 200, downloadThroughput: -1, uploadThroughput: -1 });
  await page.reload();
  await here.start("release", { commit: "4f2a91c0" });
  const card = page.locator(".card[data-question]");
  await card.waitFor();
  await settled(page);
  await card.locator("[data-choice=proceed]").click();
  await page.locator(".card.done", { hasText: "by ann" }).waitFor();
  await visit(page, "runs");
  await page.locator(".list a.item").first().click();
  await page.getByRole("region", { name: "Decisions" }).waitFor();
});
