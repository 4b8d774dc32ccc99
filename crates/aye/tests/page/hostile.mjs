// Text that wants to be markup, a script, a link or a terminal sequence, in every field that others write.

import { assert, loaded, settled, test, until, visit } from "./harness.mjs";

const EVIL = "<img src=x onerror=alert(1)><script>alert(2)</script>{{ '{{' }}\\\"'`javascript:alert(3)`\\e[31m\\u202Egpj.exe";

const SKILLS = {
  evil: `
name: evil
description: "${EVIL}"
inputs:
  - { name: word, type: string, default: "${EVIL}", description: "${EVIL}" }
steps:
  - name: say
    description: "${EVIL}"
    command: printf
    args: ["%s\\n", "${EVIL}"]
  - name: ask
    choose:
      title: "${EVIL}"
      message: "${EVIL}"
      options:
        - { label: "${EVIL}", value: one, description: "${EVIL}" }
        - { label: other, value: two }
  - name: fail
    shell: "echo '<b onclick=alert(4)>bold</b>' >&2; exit 3"
`,
};

await test(SKILLS, async (here) => {
  const page = await here.person("ann");
  const run = await here.start("evil");
  const card = page.locator(".card[data-question]");
  await card.waitFor();
  assert.match(await card.textContent(), /<img src=x onerror=alert\(1\)>/, "it is shown as it is");
  assert.ok(await card.locator(".control").count() > 0, "what cannot be seen is made visible");
  await visit(page, `runs/${run}/say`);
  await page.locator(".log .line").first().waitFor();
  for (const view of ["runs", "skills", "skills/evil", "memory", "people", "inbox"]) {
    await visit(page, view);
    await loaded(page);
  }
  await settled(page);
  await card.getByLabel("Reason").fill("<svg onload=alert(5)>");
  await card.locator("[data-choice=one]").click();
  await until(async () => JSON.parse(await here.aye("show", run, "--json")).status === "failed", "the run has failed");
  await visit(page, `runs/${run}`);
  await page.getByRole("region", { name: "Decisions" }).waitFor();
  assert.equal(await page.locator("main img, main script, main iframe, main b[onclick], main svg[onload]").count(), 0);

  // What an address says is text as well.
  await visit(page, "runs/%3Cimg%20src=x%20onerror=alert(6)%3E");
  await page.getByRole("alert").waitFor();
  await visit(page, "questions/%22%3E%3Cscript%3Ealert(7)%3C/script%3E");
  await page.getByRole("heading", { name: "Inbox" }).waitFor();

  // The policy of the page: no inline script, nothing from elsewhere, no text that becomes markup.
  const { headers } = await page.request.get(`${here.url}/`).then((response) => ({ headers: response.headers() }));
  const policy = headers["content-security-policy"];
  for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "require-trusted-types-for 'script'", "frame-ancestors 'none'"]) assert.ok(policy.includes(part), part);
  assert.ok(!policy.includes("unsafe"), policy);
  const refused = await page.evaluate(() => {
    try {
      document.body.innerHTML += "<p>no</p>";
      return false;
    } catch {
      return true;
    }
  });
  assert.equal(refused, true, "Trusted Types are on");
  here.errors = here.errors.filter((error) => !/TrustedHTML/.test(error));
});
