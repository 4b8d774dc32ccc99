// Sign in by link, start with the form, watch the graph move, answer, and see what came of it.

import { assert, settled, SKILLS, test, visit } from "./harness.mjs";

for (const size of ["desktop", "phone"]) {
  await test(SKILLS, async (here) => {
    const page = await here.person("ann", { size });
    await page.getByText("Nothing waits for an answer.").waitFor();
    assert.equal(new URL(page.url()).hash, "#/inbox", "the secret of the link is not in the address any more");

    await visit(page, "skills");
    await page.getByRole("link", { name: "release" }).click();
    // What does not fit is said, and nothing starts.
    await page.getByLabel("commit").fill("nonsense");
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("commit").fill("4f2a91c0");
    await page.getByLabel("environment", { exact: true }).selectOption({ label: "production" });
    await page.getByRole("button", { name: "Start", exact: true }).click();

    // The graph moves: the question is lit when the run gets there.
    await page.locator(".graph .asking").waitFor();
    assert.match(await page.locator(".graph .asking").textContent(), /confirm_release/);
    assert.match(await page.locator(".graph .done").first().textContent(), /tests/);
    assert.match(await page.title(), /^\(1\) /);
    assert.match(await page.locator("#icon").getAttribute("href"), /^data:image/, "the icon has a badge");

    const card = page.locator(".card[data-question]");
    assert.match(await card.textContent(), /Release 4f2a91c0 to production\?/);
    assert.match(await card.locator(".command").textContent(), /\.\/make-mr --sha 4f2a91c0/);
    await card.getByLabel("Reason").fill("looks good");
    await settled(page);
    await card.getByRole("button", { name: "Proceed" }).click();
    await page.locator(".graph .done", { hasText: "merge_request" }).waitFor();
    await page.getByText("done").first().waitFor();
    const decision = await page.getByRole("region", { name: "Decisions" }).textContent();
    assert.match(decision, /Proceed/);
    assert.match(decision, /by ann, on the web page, proof: token/);
    assert.match(decision, /looks good/);
    assert.match(await page.title(), /^Runs/);

    // The inbox keeps it for a while, with what it led to.
    await visit(page, "inbox");
    assert.match(await page.locator(".card.done").textContent(), /by ann.*step merge_request has started/);
  });
}
