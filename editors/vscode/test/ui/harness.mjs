// A real VS Code with the packaged extension, in headless Chromium, beside a real `aye serve`. Each script is
// one test: it ends with an error, or with nothing to say. `crates/aye/tests/it/editor.rs` runs them.
//
//   AYE_TEST_PROGRAM   the program
//   AYE_TEST_PACKAGES  where playwright-core is
//   AYE_TEST_HOST      where VS Code is (target/mcp-servers/vscode-newest or vscode-minimum)
//   AYE_TEST_VSIX      the extension

import { execFile, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { assert, place, until } from "../../../../crates/aye/tests/page/harness.mjs";

const run = promisify(execFile);
const require = createRequire(path.join(process.env.AYE_TEST_PACKAGES, "package.json"));
const { chromium } = require("playwright-core");
const PATIENCE = Number(process.env.AYE_TEST_PATIENCE ?? 60_000);
// A window loads ten megabytes of script; on a busy machine that takes its time.
const OPENING = 3 * PATIENCE;

function nodeOf(host) {
  const folder = readdirSync(path.join(host, "node_modules")).find((name) => name.startsWith("node-linux-"));
  return path.join(host, "node_modules", folder, "bin", "node");
}

/** In the window itself: remembers the text of every notification that was ever shown. Some stay for seconds only. */
function remember() {
  const seen = new Set();
  globalThis.ayeSaid = () => [...seen];
  let isDue = false;
  const look = () => {
    isDue = false;
    for (const one of document.querySelectorAll(".notifications-toasts .notification-list-item-message")) if (one.textContent) seen.add(one.textContent);
  };
  new MutationObserver(() => {
    if (!isDue) requestAnimationFrame(look);
    isDue = true;
  }).observe(document, { subtree: true, childList: true, characterData: true });
}

/** In every frame: counts the tones that are played. */
function count() {
  const { start } = OscillatorNode.prototype;
  globalThis.ayeTones = 0;
  OscillatorNode.prototype.start = function counted(...args) {
    globalThis.ayeTones += 1;
    return start.apply(this, args);
  };
}

/** VS Code's own server for a place, with the extension installed. */
export class Host {
  #child = null;
  #browser = null;
  windows = [];

  constructor(here, { trust = false, settings = {}, program = true } = {}) {
    Object.assign(this, { here, trust, settings, program });
    this.folder = path.join(here.root, "vscode");
  }

  get env() {
    return {
      PATH: "/usr/bin:/bin", HOME: path.join(this.folder, "home"), TMPDIR: path.join(this.folder, "tmp"), AYE_HOME: this.here.home,
      LANG: "C.UTF-8", EXTENSIONS_GALLERY: "{\"serviceUrl\":\"\"}",
    };
  }

  async start() {
    for (const name of ["home", "tmp", "bin", "data/data/Machine"]) await mkdir(path.join(this.folder, name), { recursive: true });
    const program = path.join(this.folder, "bin", "aye");
    if (this.program === true) await symlink(process.env.AYE_TEST_PROGRAM, program);
    // A login shell decides what the PATH of extensions is; the setting does not depend on it.
    const settings = { ...(this.program ? { "aye.path": program } : {}), "workbench.startupEditor": "none", "workbench.tips.enabled": false, "chat.commandCenter.enabled": false, "chat.disableAIFeatures": true, "window.restoreWindows": "none", "files.autoSave": "off", ...this.settings };
    await writeFile(path.join(this.folder, "data/data/Machine/settings.json"), JSON.stringify(settings));
    const host = process.env.AYE_TEST_HOST;
    const args = [
      path.join(host, "node_modules/code-server/lib/vscode/out/server-main.js"), "--host", "127.0.0.1", "--port", "0", "--without-connection-token",
      "--accept-server-license-terms", "--telemetry-level", "off", "--server-data-dir", path.join(this.folder, "data"), ...(this.trust ? [] : ["--disable-workspace-trust"]),
    ];
    await run(nodeOf(host), [...args, "--install-extension", process.env.AYE_TEST_VSIX], { env: this.env, cwd: this.folder });
    // A group of its own: extension hosts would outlive it.
    this.#child = spawn(nodeOf(host), args, { env: this.env, cwd: this.folder, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    this.url = await new Promise((resolve, reject) => {
      const hear = (data) => {
        said += data;
        const found = /bound to 127\.0\.0\.1:(\d+)/.exec(said);
        if (found) resolve(`http://127.0.0.1:${found[1]}`);
      };
      this.#child.stdout.on("data", hear);
      this.#child.stderr.on("data", hear);
      this.#child.once("exit", (code) => reject(new Error(`VS Code ended with ${code}: ${said}`)));
    });
    this.#browser = await chromium.launch({
      executablePath: process.env.AYE_TEST_CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"],
    });
  }

  /** A window with a folder or a workspace of several, once the extension has spoken. */
  async window({ folder = this.here.project, workspace, size = { width: 1280, height: 820 }, scheme = "dark", listen = false } = {}) {
    const context = await this.#browser.newContext({ viewport: size, colorScheme: scheme });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    await page.addInitScript(remember);
    if (listen) await page.addInitScript(count);
    // Not every version asks with a dialog, and none says when: whatever is done next looks for it first.
    if (this.trust) await page.addLocatorHandler(page.getByRole("button", { name: "No, I don't trust the authors" }), (button) => button.click());
    const window = new Window(page, this);
    this.windows.push(window);
    const what = workspace ? `workspace=${encodeURIComponent(workspace)}` : `folder=${encodeURIComponent(folder)}`;
    await page.goto(`${this.url}/?${what}`, { timeout: OPENING });
    await page.locator("[id=\"aye-run.aye.aye.status\"]").waitFor({ timeout: OPENING });
    return window;
  }

  /** Changes settings, and waits until the extension has read them. */
  async set(settings) {
    const file = path.join(this.folder, "data/data/Machine/settings.json");
    const count = () => this.logs(Infinity).join("\n").split("settings read").length;
    const before = count();
    await writeFile(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), ...settings }));
    await until(() => count() > before, "the settings are read");
  }

  /** What the extension logged, to see why a test failed. */
  logs(limit = 5000) {
    const out = [];
    const walk = (folder) => {
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        const file = path.join(folder, entry.name);
        if (entry.isDirectory()) walk(file);
        else if (/Aye\.log$|remoteexthost\.log$/.test(entry.name)) out.push(`${file}\n${readFileSync(file, "utf8").slice(-limit)}`);
      }
    };
    const logs = path.join(this.folder, "data/data/logs");
    if (existsSync(logs)) walk(logs);
    return out;
  }

  async end() {
    await this.#browser?.close();
    if (this.#child?.exitCode === null && this.#child.signalCode === null) {
      const gone = new Promise((resolve) => this.#child.once("exit", resolve));
      process.kill(-this.#child.pid, "SIGKILL");
      await gone;
    }
  }
}

/** One window of VS Code, as a person sees it. */
export class Window {
  constructor(page, host) {
    this.page = page;
    this.host = host;
    this.status = page.locator("[id=\"aye-run.aye.aye.status\"]");
    this.quick = page.locator(".quick-input-widget:visible");
    this.toasts = page.locator(".notifications-toasts .notification-list-item");
    this.dialog = page.locator(".monaco-dialog-box");
    this.panel = page.frameLocator("iframe.webview.ready").frameLocator("iframe#active-frame");
  }

  toast(text) {
    return this.toasts.filter({ hasText: text });
  }

  /** A notification was shown at some time, even if it is gone by now. */
  async told(pattern) {
    const fits = typeof pattern === "string" ? (text) => text.includes(pattern) : (text) => pattern.test(text);
    await until(async () => (await this.page.evaluate(() => globalThis.ayeSaid())).some(fits), `a notification said ${pattern}`);
  }

  /** A link or button of a notification. */
  action(text, name) {
    const toast = this.toast(text);
    return toast.locator("a", { hasText: new RegExp(`^${name}$`) }).or(toast.getByRole("button", { name, exact: true })).first();
  }

  /** Does something and waits for what it leads to; does it again if that does not come: a notification that is drawn anew under the mouse loses a click, and a key that comes before the focus goes elsewhere. */
  async #lead(act, came, what) {
    await until(async () => {
      if (await came()) return true;
      await act().catch(() => {});
      const end = Date.now() + PATIENCE / 4;
      while (Date.now() < end) {
        if (await came()) return true;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return false;
    }, what);
  }

  /** Presses a link or button of a notification until what it leads to is there. */
  async press(text, name, there) {
    const action = this.action(text, name);
    await action.waitFor();
    await this.#lead(() => action.click({ timeout: PATIENCE / 4 }), () => there.first().isVisible(), `${name} of ${text} leads somewhere`);
  }

  /** Answers with a link of a notification: it is gone then. */
  async decide(text, name) {
    const toast = this.toast(text);
    const action = this.action(text, name);
    await action.waitFor();
    await this.#lead(() => action.click({ timeout: PATIENCE / 4 }), async () => (await toast.count()) === 0, `${name} of ${text} answers`);
  }

  /** Opens the answer of the one question that waits with the keyboard. */
  async ask(title) {
    await this.keys("Control+Alt+y", this.titled(title));
  }

  /** Presses keys until what they lead to is there. */
  async keys(keys, there) {
    await this.#lead(() => this.page.keyboard.press(keys), () => there.first().isVisible(), `${keys} leads somewhere`);
  }

  option(name) {
    return this.quick.getByRole("option", { name });
  }

  /** The line of the list that Enter would take. */
  focused(text) {
    return this.quick.locator(".monaco-list-row.focused", { hasText: text });
  }

  /** Takes the line of the list that has this text, with the keyboard. */
  async enter(text) {
    await this.focused(text).waitFor();
    await this.page.keyboard.press("Enter");
  }

  /** Moves down the list to a line. */
  async down(text) {
    const current = this.quick.locator(".monaco-list-row.focused");
    for (;;) {
      const now = await current.first().innerText();
      if (now.includes(text)) return;
      await this.page.keyboard.press("ArrowDown");
      await until(async () => (await current.first().innerText()) !== now, `the list moves from ${now}`);
    }
  }

  /** Writes into the field with this title and confirms. */
  async fill(title, text) {
    await this.titled(title).waitFor();
    const input = this.quick.locator("input").first();
    await until(async () => {
      await input.fill(text);
      return (await input.inputValue()) === text;
    }, "the text is in the field");
    await input.press("Enter");
  }

  /** Writes into the field with this title, and confirms with its button. */
  async fillAndClick(title, text) {
    await this.titled(title).waitFor();
    // A list that it follows has the same title, and a field to search in, but no such button.
    const ok = this.quick.getByRole("button", { name: "OK", exact: true });
    await ok.waitFor();
    const input = this.quick.locator("input").first();
    await until(async () => {
      await input.fill(text);
      return (await input.inputValue()) === text;
    }, "the text is in the field");
    await ok.click();
  }

  /** Writes into the field with this title with the keyboard alone, in place of what is there. */
  async type(title, text) {
    await this.titled(title).waitFor();
    await this.quick.locator("input:focus").waitFor();
    await this.page.keyboard.press("Control+a");
    await this.page.keyboard.type(text);
    await this.page.keyboard.press("Enter");
  }

  /** Looks for a line of the list with this title, with the keyboard alone. */
  async search(title, text) {
    await this.titled(title).waitFor();
    await this.quick.locator("input:focus").waitFor();
    await this.page.keyboard.type(text);
  }

  /** The list or field with this title. */
  titled(text) {
    return this.quick.locator(".quick-input-title", { hasText: text });
  }

  /** The button of a dialog that Enter would press. */
  async confirm(name) {
    await this.dialog.locator(".monaco-button:focus", { hasText: name }).waitFor();
    await this.page.keyboard.press("Enter");
  }

  /** Presses a button of a dialog with the keyboard alone. */
  async tabTo(name) {
    const focused = this.dialog.locator(".monaco-button:focus");
    await focused.waitFor();
    for (let at = 0; !(await focused.innerText()).includes(name); at += 1) {
      assert.ok(at < 10, `the dialog has a button ${name}`);
      const before = await focused.innerText();
      await this.page.keyboard.press("Tab");
      await until(async () => (await focused.count()) === 1 && (await focused.innerText()) !== before, `the keyboard leaves ${before}`);
    }
    await this.page.keyboard.press("Enter");
  }

  async connected() {
    await until(async () => /^Aye: (?!disconnected|connecting)/.test(await this.said()), "the extension is connected");
  }

  async said() {
    return (await this.status.getByRole("button").getAttribute("aria-label")) ?? "";
  }

  /** Runs a command by its title, with the keyboard. A panel that has just loaded takes the focus away: then again. */
  async command(title) {
    const named = new RegExp(title.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    await until(async () => {
      try {
        await this.page.keyboard.press("F1");
        await this.quick.locator("input").fill(`>${title}`, { timeout: PATIENCE / 4 });
        await this.quick.locator(".monaco-list-row", { hasText: named }).first().waitFor({ timeout: PATIENCE / 4 });
        // A longer title may come first.
        for (let at = 0; at < 3 && !(await this.focused(named).isVisible()); at += 1) await this.quick.locator("input").press("ArrowDown");
        await this.focused(named).waitFor({ timeout: PATIENCE / 4 });
        await this.quick.locator("input").press("Enter", { timeout: PATIENCE / 4 });
        return true;
      } catch {
        return false;
      }
    }, `the command ${title} is there`);
  }

  /** Opens a file of a folder of the project, from the explorer: the list of files needs a program that npm does not bring along. */
  async open(file) {
    const [folder, name] = file.split("/");
    const row = (text) => this.page.locator(".explorer-folders-view .monaco-list-row").filter({ has: this.page.getByText(text, { exact: true }) });
    if (!(await this.page.locator(".explorer-folders-view").isVisible())) await this.page.getByRole("tab", { name: /^Explorer/ }).first().click();
    // Away from the tab, whose hover would be in front of the first line.
    await this.page.mouse.move(700, 400);
    await row(folder).waitFor();
    if ((await row(folder).getAttribute("aria-expanded")) !== "true") await this.#lead(() => row(folder).click(), () => row(name).isVisible(), `${folder} opens`);
    const tab = this.page.locator(".tab.active", { hasText: name });
    await this.#lead(() => row(name).dblclick(), () => tab.isVisible(), `${name} opens`);
    await this.page.locator(".monaco-editor .view-line").first().waitFor();
    await this.#lead(() => tab.click(), () => this.page.locator(".editor-instance .monaco-editor.focused").isVisible(), `${name} has the keyboard`);
  }

  /** Puts the cursor of the editor there. */
  async at(line, column) {
    const where = this.page.locator("[id=\"status.editor.selection\"]");
    await until(async () => {
      if ((await where.innerText()).includes(`Ln ${line}, Col ${column}`) && (await this.page.locator(".editor-instance .monaco-editor.focused").isVisible())) return true;
      try {
        await this.page.keyboard.press("Control+g");
        await this.quick.locator("input").fill(`:${line}:${column}`, { timeout: PATIENCE / 4 });
        await this.quick.locator("input").press("Enter", { timeout: PATIENCE / 4 });
        await this.quick.waitFor({ state: "hidden", timeout: PATIENCE / 4 });
      } catch {
        await this.page.keyboard.press("Escape");
      }
      return false;
    }, `the cursor is at ${line}:${column}`);
  }

  /** Clicks an action above a skill, the first of the file unless told, until what it leads to is there. */
  async lens(name, there, at = 0) {
    const lens = this.page.locator(".codelens-decoration a").filter({ hasText: new RegExp(`^(?:\\S+ )?${name}$`) }).nth(at);
    await lens.waitFor();
    await this.#lead(() => lens.click({ timeout: PATIENCE / 4 }), () => there.first().isVisible(), `${name} leads somewhere`);
  }

  async view() {
    await this.page.getByRole("tab", { name: /^Aye/ }).first().click();
    await this.page.locator(".pane-header", { hasText: "Inbox" }).waitFor();
  }

  /** Opens a run in its tree until a step is seen: a run that ends is drawn anew, and closed. */
  async expand(run, step) {
    const row = this.tree("Runs").filter({ hasText: run }).first();
    await until(async () => {
      if (await this.tree("Runs").filter({ hasText: step }).first().isVisible()) return true;
      if ((await row.getAttribute("aria-expanded")) === "false") await row.locator(".monaco-tl-twistie").click({ timeout: 2000 }).catch(() => {});
      await this.page.waitForTimeout(300);
      return false;
    }, `${run} shows ${step}`);
  }

  tree(name) {
    return this.page.locator(".pane", { has: this.page.locator(".pane-header", { hasText: name }) }).locator(".monaco-list-row");
  }
}

/** Runs a test with one server and one VS Code, and cleans up. */
export async function test(skills, work, { files, serve = true, ...options } = {}) {
  const here = await place(skills, files);
  if (!serve) await here.kill();
  const host = new Host(here, options);
  const step = process.env.AYE_TEST_TRACE ? (words) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${words}\n`) : () => {};
  try {
    await host.start();
    step("VS Code runs");
    await work(here, host, step);
  } catch (error) {
    here.errors.push(error.stack, ...host.logs());
    for (const [at, { page }] of host.windows.entries()) {
      const file = path.join(process.env.AYE_TEST_PICTURES ?? "/tmp", `aye-editor-${path.basename(process.argv[1], ".mjs")}-${at}.png`);
      await page.screenshot({ path: file }).then(() => here.errors.push(`what the window showed: ${file}`), () => {});
    }
  }
  await host.end();
  if (!serve) stop(here.home);
  await here.end();
}

/** A code of an authenticator app, some periods from now. */
export function totp(secret, periods) {
  const bits = [...secret].map((char) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(char).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + periods));
  const mac = createHmac("sha1", key).update(counter).digest();
  const at = mac[19] & 15;
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

/** An assistant, connected to `aye mcp` with the SDK. */
export async function assistant(here) {
  const sdk = createRequire(path.join(path.dirname(process.env.AYE_TEST_PACKAGES), "clients", "package.json"));
  const { Client } = sdk("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = sdk("@modelcontextprotocol/sdk/client/stdio.js");
  const client = new Client({ name: "helper", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command: process.env.AYE_TEST_PROGRAM, args: ["mcp"], cwd: here.project, env: here.env }));
  const call = async (name, args) => {
    const result = await client.callTool({ name, arguments: args });
    if (result.isError) throw new Error(JSON.stringify(result.content));
    return result.structuredContent;
  };
  return { call, close: () => client.close() };
}

/** A server of tools that asks a form: the files of its project. */
export function formServer() {
  const sdk = path.join(path.dirname(process.env.AYE_TEST_PACKAGES), "clients", "package.json");
  return {
    "aye.toml": "[tools.forms]\nserver = [\"node\", \"forms.mjs\"]\n",
    "forms.mjs": `
import { createRequire } from "node:module";
const require = createRequire(${JSON.stringify(sdk)});
const { Server } = require("@modelcontextprotocol/sdk/server/index.js");
const { StdioServerTransport } = require("@modelcontextprotocol/sdk/server/stdio.js");
const { CallToolRequestSchema, ListToolsRequestSchema } = require("@modelcontextprotocol/sdk/types.js");
const server = new Server({ name: "forms", version: "1.0.0" }, { capabilities: { tools: {} } });
const inputSchema = { type: "object", properties: {} };
server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [{ name: "order", description: "Orders something", inputSchema }] }));
server.setRequestHandler(CallToolRequestSchema, async () => {
  const requestedSchema = { type: "object", properties: { name: { type: "string", title: "Name" } }, required: ["name"] };
  const given = await server.elicitInput({ message: "Whom is it for?", requestedSchema });
  return { content: [{ type: "text", text: JSON.stringify(given) }] };
});
await server.connect(new StdioServerTransport());
`,
  };
}

/** Ends the server that an extension has started. */
function stop(home) {
  const file = path.join(home, "serve.json");
  if (!existsSync(file)) return;
  try {
    process.kill(JSON.parse(readFileSync(file, "utf8")).pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

export { assert, until };
