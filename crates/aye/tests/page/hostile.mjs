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
  - name: each
    foreach: ["<img src=x onerror=alert(8)>"]
    steps: [ { name: inner, command: printf, args: ["%s", "{{ item }}"] } ]
  - name: gate
    command: cat
    env: { WORD: "<img src=x onerror=alert(9)>" }
    stdin: "<img src=x onerror=alert(10)>"
    confirmation: { message: "<img src=x onerror=alert(11)>", timeout: 1h }
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

for (const size of ["desktop", "phone"]) await test(SKILLS, async (here) => {
  const page = await here.person("ann", { size });
  await here.aye("memory", "learn", "--error", "onerror=", "--tool", "cat", "--meaning", "<img src=x onerror=alert(12)>");
  const assistant = await here.assistant();
  const { execution_id: id } = await assistant.call("skill_run", { skill: "evil", environment: "<img src=x onerror=alert(13)>" });
  const card = page.locator(".card[data-question]");
  await card.getByText("onerror=alert(11)").waitFor();
  await assistant.call("skill_advise", { execution_id: id, advice: "<img src=x onerror=alert(14)>" });
  // The command's surroundings, what is known and what an assistant says: as they are.
  for (const number of [9, 10, 12, 13, 14]) await card.getByText(`<img src=x onerror=alert(${number})>`).first().waitFor();
  const run = (await card.getAttribute("data-question")).split("-")[0];
  await visit(page, `runs/${run}`);
  await page.getByRole("region", { name: "Timeline" }).getByText("<img src=x onerror=alert(8)>").first().waitFor();
  await visit(page, "inbox");
  await settled(page);
  await card.locator("[data-choice=proceed]").click();
  await card.locator("[data-choice=one]").waitFor();
  assistant.end();
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
  // An assistant's run asks about the step that failed: its error is text as well.
  await card.getByRole("group", { name: "What it wrote" }).getByText("<b onclick=alert(4)>bold</b>").waitFor();
  await card.getByText("ran on").waitFor();
  // A click is not taken while something of the list moves: then it takes another one, as for a person.
  await until(async () => {
    await settled(page);
    await card.locator("[data-choice=abort]").click({ timeout: 1000 }).catch(() => {});
    return JSON.parse(await here.aye("show", run, "--json")).status === "failed";
  }, "the run has failed");
  await visit(page, `runs/${run}`);
  await page.getByRole("region", { name: "Decisions" }).waitFor();
  assert.equal(await page.locator("main img, main script, main iframe, main b[onclick], main svg[onload]").count(), 0);

  // A browser calls itself what it likes; the name of a person is a plain word.
  await assert.rejects(here.aye("people", "add", "<img src=x onerror=alert(15)>", "--rights", "read", "--yes"), /alert\(15\)/);
  const { link } = JSON.parse(await here.aye("people", "link", "ann", "--json"));
  const named = await fetch(`${here.url}/api/v1/session`, {
    method: "POST", headers: { "Content-Type": "application/json", Origin: here.url, "User-Agent": "<img src=x onerror=alert(16)>\"'><script>alert(17)</script>" },
    body: JSON.stringify({ link: link.split("#signin=")[1] }),
  });
  assert.equal(named.status, 200);
  await visit(page, "inbox");
  await page.reload();
  await visit(page, "people");
  await page.getByText("<img src=x onerror=alert(16)>\"'><script>alert(17)</script>").waitFor();
  await page.getByRole("button", { name: /^Revoke <img src=x/ }).waitFor();
  assert.equal(await page.locator("main img, main script").count(), 0);

  // What an address says is text as well.
  await visit(page, "runs/%3Cimg%20src=x%20onerror=alert(6)%3E");
  await page.getByRole("alert").waitFor();
  await visit(page, "questions/%22%3E%3Cscript%3Ealert(7)%3C/script%3E");
  await page.getByRole("heading", { name: "Question \"><script>alert(7)<" }).waitFor();

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
