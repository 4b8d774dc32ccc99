// A real server with its own home and project, and real browsers. Each script is one test: it ends with
// an error, or with nothing to say. `tests/it/page.rs` runs them.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, mkdir, rm, writeFile, chmod } from "node:fs/promises";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const run = promisify(execFile);
const require = createRequire(path.join(process.env.AYE_TEST_PACKAGES, "package.json"));
const { chromium } = require("playwright-core");
const AYE = process.env.AYE_TEST_PROGRAM;
const PATIENCE = Number(process.env.AYE_TEST_PATIENCE ?? 60_000);
// Files to show in place of those in the program: whoever works on the page does not build after each change.
const FILES = process.env.AYE_TEST_PAGE;

/** Where a program is. */
function found(name) {
  const at = process.env.PATH.split(path.delimiter).map((folder) => path.join(folder, name)).find((file) => existsSync(file));
  return at ?? name;
}

async function serveFile(route) {
  const { pathname } = new URL(route.request().url());
  const file = path.join(FILES, pathname === "/" ? "index.html" : pathname.replace("/assets/", ""));
  const contentType = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" }[path.extname(file)];
  // The headers are the server's own, its policy among them.
  const headers = { ...(await route.fetch()).headers(), "content-type": contentType };
  await route.fulfill({ status: 200, headers, body: readFileSync(file) });
}

export const SIZES = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

export const SKILLS = {
  release: `
name: release
description: Promote a commit to production
inputs:
  - { name: commit, type: string, required: true, match: "^[0-9a-f]{8,40}$", description: What to release }
  - { name: environment, type: string, default: stage, enum: [stage, production] }
steps:
  - name: tests
    description: Run the test suites
    shell: "printf 'running 3 tests\\\\n\\\\033[32mok\\\\033[0m pays with card\\\\n\\\\033[31merr\\\\033[0m refunds\\\\n'"
  - name: confirm_release
    confirm:
      title: Production release
      message: "Release \`{{ inputs.commit }}\` to {{ inputs.environment }}?"
      options:
        - { label: Proceed, value: proceed, description: Create the merge request }
        - { label: Cancel, value: cancel }
      timeout: 10m
      default: cancel
      by: human
    output: decision
  - name: merge_request
    command: ./make-mr
    args: ["--sha", "{{ inputs.commit }}"]
    condition: decision == 'proceed'
`,
};

/** A home, a project with these skills, and a server. `at` is where the project is, for pictures. */
export async function place(skills, files = {}, at = null) {
  const root = await mkdtemp(path.join(tmpdir(), "aye-page-"));
  const home = path.join(root, "home");
  const project = at ?? path.join(root, "project");
  if (at && existsSync(at)) throw new Error(`${at} is there already`);
  await mkdir(path.join(project, "skills"), { recursive: true });
  for (const [name, text] of Object.entries(skills)) await writeFile(path.join(project, "skills", `${name}.yaml`), text);
  for (const [name, text] of Object.entries({ "make-mr": "#!/bin/sh\necho made \"$@\"\n", ...files })) {
    await writeFile(path.join(project, name), text);
    await chmod(path.join(project, name), 0o755);
  }
  const here = new Place(root, home, project);
  await here.aye("trust", "--yes");
  await here.serve();
  return here;
}

class Place {
  #server = null;
  #browser = null;
  #pages = [];
  errors = [];

  constructor(root, home, project) {
    Object.assign(this, { root, home, project });
  }

  get env() {
    return { PATH: process.env.PATH, HOME: this.root, AYE_HOME: this.home, LANG: "C.UTF-8" };
  }

  /** Runs aye and gives back what it wrote. */
  async aye(...args) {
    return this.ayeIn(this.project, ...args);
  }

  /** The same in another directory. */
  async ayeIn(directory, ...args) {
    const { stdout } = await run(AYE, args, { cwd: directory, env: this.env });
    return stdout;
  }

  async serve(listen = "127.0.0.1:0") {
    this.#server = spawn(AYE, ["serve", "--listen", listen, "--json"], { cwd: this.project, env: this.env, stdio: ["ignore", "pipe", "inherit"] });
    const first = await new Promise((resolve, reject) => {
      let text = "";
      this.#server.stdout.on("data", (data) => {
        text += data;
        if (text.includes("\n")) resolve(text.split("\n")[0]);
      });
      this.#server.once("exit", (code) => reject(new Error(`aye serve ended with ${code}`)));
    });
    this.url = JSON.parse(first).url.replace(/\/$/, "");
  }

  /** Ends the server, at once. */
  async kill() {
    const gone = new Promise((resolve) => this.#server.once("exit", resolve));
    this.#server.kill("SIGKILL");
    await gone;
  }

  /** A request of a program that has the server's token. */
  async program(method, wanted, body) {
    const { token } = JSON.parse(readFileSync(path.join(this.home, "serve.json"), "utf8"));
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json", "Idempotency-Key": randomUUID() };
    const response = await fetch(`${this.url}/api/v1${wanted}`, { method, headers, body: JSON.stringify(body) });
    assert.ok(response.ok, `${method} ${wanted}: ${response.status}`);
    return response.json();
  }

  /** Writes a file of the project. */
  async write(name, text) {
    await writeFile(path.join(this.project, name), text);
  }

  /** An assistant that has no forms: `call(tool, args)` gives back its data. */
  async assistant() {
    const child = spawn(AYE, ["mcp"], { cwd: this.project, env: this.env, stdio: ["pipe", "pipe", "inherit"] });
    const replies = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    let id = 0;
    const request = async (method, params) => {
      id += 1;
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      for (;;) {
        const reply = JSON.parse((await replies.next()).value);
        if (reply.id === id && !reply.method) return reply.result;
      }
    };
    await request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "claude", version: "1" } });
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
    return { call: async (name, args) => (await request("tools/call", { name, arguments: args })).structuredContent, end: () => child.kill() };
  }

  /** Starts a run that nobody watches; its id. */
  async start(skill, inputs = {}) {
    const given = Object.entries(inputs).flatMap(([name, value]) => ["-i", `${name}=${value}`]);
    const out = await this.aye("run", skill, ...given, "--detach", "--json");
    return JSON.parse(out.trim().split("\n")[0]).run;
  }

  /** A person of the server, signed in with a browser of their own. */
  async person(name, { rights = "answer,start,read", size = "desktop", scheme = "light" } = {}) {
    const added = JSON.parse(await this.aye("people", "add", name, "--rights", rights, "--yes", "--json"));
    return this.open(added.link, { size, scheme });
  }

  /** The page of the account that the server runs as, as `aye serve open` shows it. */
  async local() {
    const { file } = JSON.parse(await this.aye("serve", "open", "--print", "--json"));
    return this.open(/href="([^"]+)"/.exec(readFileSync(file, "utf8"))[1]);
  }

  /** A page of a new browser context. */
  async open(link, { size = "desktop", scheme = "light" } = {}) {
    this.#browser ??= await chromium.launch({ executablePath: process.env.AYE_TEST_CHROMIUM ?? found("chromium"), args: ["--no-sandbox", ...(FILES ? ["--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets"] : [])] });
    const context = await this.#browser.newContext({ viewport: SIZES[size], colorScheme: scheme, hasTouch: size === "phone" });
    if (FILES) await context.route(/\/(assets\/.*)?$/, serveFile);
    const page = await context.newPage();
    this.#pages.push(page);
    page.setDefaultTimeout(PATIENCE);
    page.on("pageerror", (error) => this.errors.push(String(error)));
    page.on("console", (message) => {
      // A server that is away is not an error of the page. A range that a log does not have is one.
      const text = message.text();
      const known = /ERR_CONNECTION|WebSocket|Failed to load resource/.test(text) && !/status of 416/.test(text);
      if (message.type() === "error" && !known) this.errors.push(text);
    });
    page.on("dialog", (dialog) => {
      this.errors.push(`a dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
    await page.goto(link);
    return page;
  }

  /** What the pages show, to see why a test failed. */
  async shown() {
    const texts = this.#pages.map((page) => page.locator("body").innerText().catch(String));
    return (await Promise.all(texts)).map((text) => text.slice(0, 3000));
  }

  async end() {
    await this.#browser?.close();
    this.#server?.kill("SIGTERM");
    // Runs that still wait have processes of their own.
    for (const pid of drivers(this.root)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch (error) {
        if (error.code !== "ESRCH") throw error;
      }
    }
    for (const folder of [this.root, this.project]) await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    if (this.errors.length) {
      process.stderr.write(`${this.errors.join("\n----\n")}\n`);
      process.exit(1);
    }
  }
}

/** Processes that drive runs in the background with a home below this directory; not the guard of each, its child. */
function drivers(below) {
  const read = (pid, name) => {
    try {
      return readFileSync(`/proc/${pid}/${name}`, "utf8");
    } catch {
      return "";
    }
  };
  const drives = (pid) => {
    const [, verb, ...more] = read(pid, "cmdline").split("\0");
    return verb === "background" && more.some((word) => word.startsWith(`${below}/`));
  };
  const found = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && drives(name));
  const parent = (pid) => read(pid, "stat").split(") ").at(-1).split(" ")[1];
  return found.filter((pid) => !found.includes(parent(pid))).map(Number);
}

/** Runs a test in a place of its own and cleans up. */
export async function test(skills, work, files, at) {
  const here = await place(skills, files, at);
  try {
    await work(here);
  } catch (error) {
    here.errors.push(error.stack, ...await here.shown());
  }
  await here.end();
}

/** Waits until something holds, by asking again. */
export async function until(look, what, patience = PATIENCE) {
  const end = Date.now() + patience;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`not so in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits until the list of questions has not moved for a moment: a click right after that is not taken. */
export async function settled(page) {
  await page.locator("main:not([data-moving])").waitFor();
}

/** Waits until everything that a view reads has come. */
export async function loaded(page) {
  await until(async () => (await page.getByText("Loading…").count()) === 0, "it is loaded");
}

/** Goes to a view by its address. */
export async function visit(page, view) {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, `#/${view}`);
}

/** How much memory the process of a page has for itself, in bytes. */
export async function memory(page) {
  const system = await page.context().browser().newBrowserCDPSession();
  const { processInfo } = await system.send("SystemInfo.getProcessInfo");
  const own = processInfo.filter(({ type }) => type === "renderer").map(({ id }) => readFileSync(`/proc/${id}/status`, "utf8"));
  return Math.max(...own.map((text) => Number(/^RssAnon:\s*(\d+)/m.exec(text)[1]) * 1024));
}

/** Everything that axe finds and that matters. */
export async function axe(page) {
  await page.evaluate(readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"));
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`);
}

export { assert };
