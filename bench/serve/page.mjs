// How long until the list of runs is there in a browser, for two servers in turn.
//   node bench/serve/page.mjs PACKAGES ROUNDS LINK LINK    prints the two medians in milliseconds

import { createRequire } from "node:module";
import path from "node:path";

const [packages, rounds, ...links] = process.argv.slice(2);
const { chromium } = createRequire(path.join(path.resolve(packages), "package.json"))("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const pages = [];
for (const link of links) {
  const page = await (await browser.newContext()).newPage();
  await page.goto(link);
  await page.getByRole("link", { name: "Runs" }).waitFor();
  pages.push({ page, url: new URL(link).origin, times: [] });
}
for (let round = 0; round <= Number(rounds); round += 1) {
  for (const { page, url, times } of pages) {
    await page.goto("about:blank");
    const began = performance.now();
    await page.goto(`${url}/#/runs`);
    await page.locator(".list a.item").first().waitFor();
    if (round > 0) times.push(performance.now() - began);
  }
}
await browser.close();
const median = (all) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)];
console.log(pages.map(({ times }) => median(times).toFixed(1)).join(" "));
