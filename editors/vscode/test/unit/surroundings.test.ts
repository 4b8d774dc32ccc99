// What the extension does with the machine around it: folders, and programs that it starts.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { isInside } from "../../src/folders";
import { cliOf, launch, playerOf, type Product } from "../../src/launch";

test("a project counts as open only below a folder of the window", async () => {
  const root = await mkdtemp(path.join(tmpdir(), "aye-unit-"));
  try {
    for (const name of ["a/b", "ab", "a/..c"]) await mkdir(path.join(root, name), { recursive: true });
    await symlink(path.join(root, "a"), path.join(root, "link"));
    const at = (name: string): string => path.join(root, name);
    assert.equal(isInside(at("a"), at("a")), true);
    assert.equal(isInside(at("a/b"), at("a")), true);
    assert.equal(isInside(at("a/..c"), at("a")), true);
    assert.equal(isInside(at("a"), at("link")), true, "opened through a link");
    assert.equal(isInside(at("a"), at("a/b")), false, "what is around a folder was not trusted with it");
    assert.equal(isInside(at("ab"), at("a")), false);
    assert.equal(isInside(at("a/gone"), at("a")), true);
    assert.equal(isInside(at("a/../ab"), at("a")), false);
  } finally {
    await rm(root, { recursive: true });
  }
});

test("the system's player plays the sound", async () => {
  const root = await mkdtemp(path.join(tmpdir(), "aye-unit-"));
  try {
    const [name] = playerOf("linux");
    await writeFile(path.join(root, name), `#!/bin/sh\nprintf '%s\\n' "$@" >'${root}/played'\n`);
    await chmod(path.join(root, name), 0o755);
    assert.equal(await launch(playerOf("linux"), { PATH: root }), null);
    assert.deepEqual((await readFile(path.join(root, "played"), "utf8")).trim().split("\n"), ["--id", "message-new-instant"]);
    await rm(path.join(root, name));
    assert.match((await launch(playerOf("linux"), { PATH: root })) ?? "", /`canberra-gtk-play` failed: .*ENOENT/);
    assert.equal(playerOf("darwin")[0], "afplay");
    assert.equal(playerOf("win32")[0], "powershell");
  } finally {
    await rm(root, { recursive: true });
  }
});

test("the editor's own command line is where each system has it", async () => {
  const product = (more: Partial<Product>): Product => ({ platform: "linux", appRoot: "/usr/share/code/resources/app", appName: "Visual Studio Code", execPath: "/usr/share/code/code", isRemote: false, ...more });
  const cases: [Partial<Product>, string[]][] = [
    [{}, ["/usr/share/code/bin/code"]],
    [{ appName: "VSCodium", appRoot: "/usr/share/codium/resources/app" }, ["/usr/share/codium/bin/codium"]],
    [{ platform: "darwin", appRoot: "/Applications/Visual Studio Code.app/Contents/Resources/app" }, ["/Applications/Visual Studio Code.app/Contents/Resources/app/bin/code"]],
    [{ platform: "win32", appRoot: "C:\\VS Code\\resources\\app", execPath: "C:\\VS Code\\Code.exe" }, ["C:\\VS Code\\Code.exe", "C:\\VS Code\\resources\\app\\out\\cli.js"]],
    [{ isRemote: true, appRoot: "/root/.vscode-server/bin/1", appName: "Visual Studio Code - Insiders" }, ["/root/.vscode-server/bin/1/bin/remote-cli/code-insiders"]],
  ];
  for (const [more, program] of cases) assert.deepEqual(cliOf(product(more)).program, program);
  assert.deepEqual(cliOf(product({ platform: "win32" })).env, { ELECTRON_RUN_AS_NODE: "1" });
  const root = await mkdtemp(path.join(tmpdir(), "aye-unit-"));
  try {
    // As a package of Linux installs it.
    await mkdir(path.join(root, "code/resources/app"), { recursive: true });
    await mkdir(path.join(root, "code/bin"));
    await writeFile(path.join(root, "code/bin/code"), `#!/bin/sh\nprintf '%s\\n' "$@" >'${root}/raised'\n`);
    await chmod(path.join(root, "code/bin/code"), 0o755);
    const { program } = cliOf(product({ appRoot: path.join(root, "code/resources/app") }));
    assert.equal(await launch([...program, "--reuse-window", "/w/my project"]), null);
    assert.deepEqual((await readFile(path.join(root, "raised"), "utf8")).trim().split("\n"), ["--reuse-window", "/w/my project"]);
  } finally {
    await rm(root, { recursive: true });
  }
});

const EXTENSION = path.resolve(import.meta.dirname ?? "", "../..");
const manifest = JSON.parse(readFileSync(path.join(EXTENSION, "package.json"), "utf8")).contributes;

test("the README has every setting with its default, and every command", () => {
  const readme = readFileSync(path.join(EXTENSION, "README.md"), "utf8");
  const rows = [...readme.matchAll(/^\| (`aye\.[^|]+) \|([^|]*)\|/gm)].flatMap(([, names = "", value = ""]) => {
    const [first = "", ...more] = [...names.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
    const stem = first.slice(0, first.lastIndexOf("."));
    return [first, ...more.map((name) => `${stem}${name}`)].map((name): [string, string] => [name, value.replaceAll("`", "").trim()]);
  });
  const words = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
  const settings = Object.entries(manifest.configuration.properties as Record<string, { default: unknown }>).map(([name, { default: value }]): [string, string] => [name, words(value)]);
  assert.deepEqual(rows.sort(), settings.sort());
  const hidden = new Set((manifest.menus.commandPalette as { command: string; when: string }[]).filter(({ when }) => when === "false").map(({ command }) => command));
  const shown = (manifest.commands as { command: string; title: string }[]).filter(({ command }) => !hidden.has(command)).map(({ title }) => `Aye: ${title}`);
  const named = [...readme.matchAll(/`(Aye: [^`]+)`/g)].map(([, title]) => title);
  assert.deepEqual(named.sort(), shown.sort());
});

test("no view is blank, connected or not", () => {
  const welcome = manifest.viewsWelcome as { view: string; when: string }[];
  for (const { id } of manifest.views.aye as { id: string }[]) {
    for (const connected of [/^aye\.connected/, /^!aye\.connected/]) assert.ok(welcome.some(({ view, when }) => view === id && connected.test(when)), `${id} ${connected}`);
  }
});
