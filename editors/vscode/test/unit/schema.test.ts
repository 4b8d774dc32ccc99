// The contributed schema in the language server of Red Hat's YAML extension, which reads it as VS Code says it.

import assert from "node:assert/strict";
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Readable, Writable } from "node:stream";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { until } from "./place";

const EXTENSION = path.resolve(import.meta.dirname ?? "", "../..");
const ROOT = path.resolve(EXTENSION, "../..");

interface Message {
  id?: number;
  method?: string;
  params?: { uri?: string; diagnostics?: Diagnostic[]; items?: { section?: string }[] };
  result?: unknown;
}

interface Diagnostic {
  message: string;
  range: { start: { line: number; character: number } };
}

/** The language server, as an editor speaks to it. */
class YamlServer {
  #child: ChildProcessByStdio<Writable, Readable, null>;
  #waiting = new Map<number, (result: unknown) => void>();
  #heard = Buffer.alloc(0);
  #next = 1;
  diagnostics = new Map<string, Diagnostic[]>();

  constructor() {
    const program = path.join(EXTENSION, "node_modules/yaml-language-server/bin/yaml-language-server");
    this.#child = spawn(process.execPath, [program, "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
    this.#child.stdout.on("data", (data: Buffer) => this.#hear(data));
  }

  tell(message: object): void {
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    this.#child.stdin.write(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]));
  }

  ask<T>(method: string, params: object): Promise<T> {
    const id = this.#next++;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve as (result: unknown) => void);
      this.tell({ id, method, params });
    });
  }

  async start(): Promise<void> {
    await this.ask("initialize", { processId: process.pid, rootUri: null, capabilities: { workspace: { configuration: true }, textDocument: { hover: {}, completion: {}, publishDiagnostics: {} } } });
    this.tell({ method: "initialized", params: {} });
    // As Red Hat's extension hands on what others contribute.
    const [{ fileMatch, url }] = JSON.parse(readFileSync(path.join(EXTENSION, "package.json"), "utf8")).contributes.yamlValidation as [{ fileMatch: string[]; url: string }];
    const schema = path.join(ROOT, "docs/reference", path.basename(url));
    this.tell({ method: "json/schemaAssociations", params: [[{ fileMatch: fileMatch.map((one) => `/${one}`), uri: String(pathToFileURL(schema)) }]] });
  }

  /** Opens a file; what is wrong with it. */
  async open(uri: string, text: string): Promise<Diagnostic[]> {
    this.tell({ method: "textDocument/didOpen", params: { textDocument: { uri, languageId: "yaml", version: 1, text } } });
    return until(() => this.diagnostics.get(uri), `${uri} is checked`);
  }

  end(): void {
    this.#child.kill();
  }

  #hear(data: Buffer): void {
    this.#heard = Buffer.concat([this.#heard, data]);
    for (;;) {
      const [head, length] = /Content-Length: (\d+)[^]*?\r\n\r\n/.exec(this.#heard.toString("latin1")) ?? [];
      if (head === undefined || this.#heard.length < head.length + Number(length)) return;
      const body = this.#heard.subarray(head.length, head.length + Number(length));
      this.#heard = this.#heard.subarray(head.length + Number(length));
      this.#take(JSON.parse(body.toString()) as Message);
    }
  }

  #take({ id, method, params, result }: Message): void {
    if (method === "textDocument/publishDiagnostics") this.diagnostics.set(params?.uri ?? "", params?.diagnostics ?? []);
    else if (method === "workspace/configuration") this.tell({ id, result: params?.items?.map(({ section }) => (section === "yaml" ? { validate: true, hover: true, completion: true, schemaStore: { enable: false } } : null)) });
    else if (id !== undefined && method) this.tell({ id, result: null });
    else if (id !== undefined) this.#waiting.get(id)?.(result);
  }
}

const skillFiles = (folder: string): string[] => readdirSync(folder, { recursive: true }).map((name) => path.join(folder, String(name))).filter((name) => name.endsWith(".yaml"));

test("Red Hat's language server reads the schema", async () => {
  const server = new YamlServer();
  try {
    await server.start();
    const uri = "file:///w/skills/wrong.yaml";
    const found = await server.open(uri, "name: x\nsteps:\n  - name: build\n    comand: make\n    timeout: 30s\n    on_error: maybe\n    \n");
    const said = found.map(({ message, range }) => `${range.start.line + 1}: ${message}`);
    assert.ok(said.includes("4: Property comand is not allowed."), String(said));
    assert.ok(said.some((one) => one.startsWith("6: ") && one.includes("\"auto_heal\"")), String(said));
    const at = (line: number, character: number): object => ({ textDocument: { uri }, position: { line, character } });
    const { contents } = await server.ask<{ contents: { value: string } }>("textDocument/hover", at(4, 6));
    assert.match(contents.value, /Time limit/);
    const { items } = await server.ask<{ items: { label: string }[] }>("textDocument/completion", at(6, 4));
    for (const key of ["command", "confirmation", "destructive"]) assert.ok(items.some(({ label }) => label === key), `${key} in ${items.map(({ label }) => label)}`);
    // The examples are right; a key that none has shows that they were checked.
    const files = skillFiles(path.join(ROOT, "examples"));
    assert.ok(files.length > 5, String(files));
    for (const [at, file] of files.entries()) {
      const wrong = await server.open(`file:///w/skills/${at}.yaml`, `${readFileSync(file, "utf8")}\nno_such_key: 1\n`);
      assert.deepEqual(wrong.map(({ message }) => message), ["Property no_such_key is not allowed."], file);
    }
  } finally {
    server.end();
  }
});
