// A one-time code, and several people of whom the starter is none.

import { createHmac } from "node:crypto";

import { assert, settled, test, visit } from "./harness.mjs";

const SKILLS = {
  guarded: `
name: guarded
steps:
  - name: act
    command: echo
    args: [acted]
    confirmation: { title: Guarded, message: Really?, reauth: true, timeout: 1h }
`,
  others: `
name: others
steps:
  - name: both
    confirm: { title: Others, message: Agree?, approvals: { count: 2, not_starter: true } }
`,
};

/** The code that an authenticator app would show, `periods` from now. */
function code(address, periods) {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const secret = new URL(address).searchParams.get("secret");
  const bits = [...secret].map((letter) => letters.indexOf(letter).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + periods));
  const hash = createHmac("sha1", key).update(counter).digest();
  return String((hash.readUInt32BE(hash.at(-1) & 15) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

for (const [size, other] of [["desktop", "phone"], ["phone", "desktop"]]) await test(SKILLS, async (here) => {
  const ann = await here.person("ann", { size });
  const bob = await here.person("bob", { size: other });
  const question = (page) => page.locator(".card[data-question]");

  // Without a code nothing can be chosen that agrees; with a wrong one it is refused, with the right one taken.
  const { address } = JSON.parse(await here.aye("auth", "setup", "--person", "ann", "--json"));
  await here.aye("auth", "confirm", "--person", "ann", code(address, -1));
  await here.start("guarded");
  await question(ann).waitFor();
  assert.equal(await question(ann).locator("[data-choice=proceed]").isDisabled(), true);
  await question(ann).getByLabel("One-time code").fill("000000");
  await settled(ann);
  await question(ann).locator("[data-choice=proceed]").click();
  await question(ann).getByRole("alert").waitFor();
  assert.equal(await question(ann).getByLabel("One-time code").inputValue(), "", "a wrong code is not kept");
  await question(ann).getByLabel("One-time code").fill(code(address, 0));
  await settled(ann);
  await question(ann).locator("[data-choice=proceed]").click();
  await ann.locator(".card.done", { hasText: "by ann" }).waitFor();

  // Who started it sees that others have to agree, and is refused.
  await visit(ann, "skills");
  await ann.getByRole("link", { name: "others" }).click();
  await ann.getByRole("button", { name: "Start", exact: true }).click();
  await visit(ann, "inbox");
  await question(ann).getByText("0 of 2 agreed, not the starter").waitFor();
  await settled(ann);
  await question(ann).locator("[data-choice=proceed]").click();
  await question(ann).getByRole("alert").waitFor();
  await question(bob).waitFor();
  await settled(bob);
  await question(bob).locator("[data-choice=proceed]").click();
  await question(ann).getByText("1 of 2 agreed (bob), not the starter").waitFor();
});
