// What the extension does with the machine around it: folders, and programs that it starts.

import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { isInside } from "../../src/folders";
import { launch, playerOf } from "../../src/launch";

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
