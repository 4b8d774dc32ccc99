// The moving picture of the README: a run on a terminal whose question is answered on a phone.
// `node crates/aye/tests/page/demo.mjs docs/demo.gif`, with the variables that `tests/it/page.rs` sets;
// it needs tmux, rsvg-convert and ImageMagick. The project is in `/srv/shop` while it runs. Not a test; look at what it makes.

import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "./harness.mjs";

const SKILLS = {
  release: `
name: release
description: Promote a commit to production
inputs:
  - { name: commit, type: string, default: 4f2a91c0 }
steps:
  - name: image
    description: Is the image in the registry?
    shell: "sleep 1; echo found registry.internal/checkout:{{ inputs.commit }}"
  - name: tests
    description: Run every suite
    shell: "sleep 1; echo 212 passed"
  - name: merge_request
    command: ./make-mr
    args: ["--sha", "{{ inputs.commit }}", "--target", production]
    destructive: true
    confirmation:
      title: Production release
      message: "Release {{ inputs.commit }} to production?"
      by: human
      timeout: 10m
outputs:
  - { name: summary, value: "Released {{ inputs.commit }}" }
`,
};

const SIZE = ["88", "18"];
const frames = mkdtempSync(path.join(tmpdir(), "aye-demo-"));
const delays = [];
const tmux = (...args) => execFileSync("tmux", ["-L", "aye-demo", ...args], { encoding: "utf8" });

/** One picture: the terminal on the left, the phone on the right. */
async function frame(page, delay) {
  const name = path.join(frames, `${String(delays.length).padStart(2, "0")}`);
  const svg = execFileSync("python3", ["docs/picture.py", ...SIZE], { input: tmux("capture-pane", "-e", "-p") });
  writeFileSync(`${name}.svg`, svg);
  execFileSync("rsvg-convert", ["-h", "560", "-o", `${name}-left.png`, `${name}.svg`]);
  await page.screenshot({ path: `${name}-right.png` });
  execFileSync("convert", ["-size", "1180x640", "xc:#f6f7f9",
    "(", `${name}-left.png`, "-resize", "820x560", ")", "-gravity", "west", "-geometry", "+20+0", "-composite",
    "(", `${name}-right.png`, "-resize", "280x606", "-bordercolor", "#30343c", "-border", "6", ")", "-gravity", "east", "-geometry", "+24+0", "-composite",
    "+dither", "-colors", "96", `${name}.gif`]);
  delays.push(delay);
}

await test(SKILLS, async (here) => {
  const page = await here.person("ann", { size: "phone" });
  await page.getByText("Inbox").first().waitFor();
  tmux("new-session", "-d", "-x", SIZE[0], "-y", SIZE[1], "-c", here.project, "-e", `AYE_HOME=${here.home}`, "env", "PS1=$ ", "sh");
  try {
    tmux("send-keys", `alias aye=${process.env.AYE_TEST_PROGRAM}; clear`, "Enter");
    await page.waitForTimeout(500);
    tmux("send-keys", "aye run release");
    await page.waitForTimeout(300);
    await frame(page, 120);
    tmux("send-keys", "Enter");
    await page.waitForTimeout(900);
    await frame(page, 120);
    const proceed = page.getByRole("button", { name: /^(Yes|Proceed)/ }).first();
    await proceed.waitFor();
    await page.waitForTimeout(500);
    await frame(page, 350);
    await page.getByLabel("Reason").fill("the canary is fine");
    await page.waitForTimeout(200);
    await frame(page, 250);
    await proceed.click();
    await page.waitForTimeout(1500);
    await frame(page, 500);
  } finally {
    tmux("kill-server");
  }
  const pictures = delays.flatMap((delay, number) => ["-delay", String(delay), path.join(frames, `${String(number).padStart(2, "0")}.gif`)]);
  execFileSync("convert", ["-loop", "0", ...pictures, "-layers", "Optimize", process.argv[2]]);
}, {}, "/srv/shop");
