// Keyboard only, and what a screen reader is told: axe finds nothing serious in any view, light and dark,
// on the desk and on a phone.

import { assert, axe, loaded, settled, SKILLS, test, until, visit } from "./harness.mjs";

await test(SKILLS, async (here) => {
  const page = await here.person("ann");
  const run = await here.start("release", { commit: "4f2a91c0" });
  await page.locator(".card[data-question]").waitFor();

  await page.keyboard.press("j");
  assert.equal(await page.evaluate(() => document.activeElement.classList.contains("card")), true);
  await page.keyboard.press("r");
  await page.keyboard.type("by hand");
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await page.keyboard.press("1");
  assert.equal(await page.evaluate(() => document.activeElement.dataset.choice), "proceed");
  await settled(page);
  await page.keyboard.press("Enter");
  await page.locator(".card.done", { hasText: "by ann" }).waitFor();
  await until(async () => JSON.parse(await here.aye("show", run, "--json")).status === "completed", "the run has completed");

  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await page.locator(".list a.item").first().waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Decisions" }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  await page.keyboard.press("Escape");

  const asking = await here.start("release", { commit: "4f2a91c0" });
  const phone = await here.open(`${JSON.parse(await here.aye("people", "link", "ann", "--json")).link}`, { size: "phone", scheme: "dark" });
  for (const browser of [page, phone]) {
    await visit(browser, "inbox");
    await browser.locator(".card[data-question]").waitFor();
    for (const view of ["inbox", "runs", `runs/${run}`, `runs/${asking}`, "skills", "skills/release", "memory", "people"]) {
      await visit(browser, view);
      await loaded(browser);
      assert.deepEqual(await axe(browser), [], view);
      const width = await browser.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(width[0] <= width[1], `${view} does not scroll sideways: ${width}`);
    }
    await browser.keyboard.press("?");
    await browser.getByRole("dialog", { name: "Keyboard" }).waitFor();
    assert.deepEqual(await axe(browser), [], "the help");
    await browser.keyboard.press("Escape");
  }

  // Several together, without a server, and not signed in.
  await here.start("release", { commit: "4f2a91c1" });
  for (const browser of [page, phone]) {
    await visit(browser, "inbox");
    const together = browser.getByRole("button", { name: "Answer together" });
    await together.waitFor();
    await settled(browser);
    await together.press("Enter");
    await browser.locator(".batch li").nth(1).waitFor();
    assert.deepEqual(await axe(browser), [], "several together");
  }
  const nobody = await here.open(`${here.url}/`);
  await nobody.getByText("This browser is not signed in.").waitFor();
  assert.deepEqual(await axe(nobody), [], "signing in");
  await here.kill();
  for (const browser of [page, phone]) {
    await browser.getByRole("alert").getByText("Disconnected since").waitFor();
    assert.deepEqual(await axe(browser), [], "disconnected");
  }
});
