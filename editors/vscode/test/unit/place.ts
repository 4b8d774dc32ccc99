// A home and a project for a real `aye`.

import { execFile, spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { find, type Announcement, type Place as Where } from "../../src/server";

const run = promisify(execFile);
export const PROGRAM = process.env.AYE_TEST_PROGRAM ?? "";

export class Place {
  home: string;
  project: string;

  constructor(readonly root: string) {
    this.home = path.join(root, "home");
    this.project = path.join(root, "project");
  }

  static async make(skills: Record<string, string>): Promise<Place> {
    if (!PROGRAM) throw new Error("AYE_TEST_PROGRAM is not set");
    const place = new Place(await mkdtemp(path.join(tmpdir(), "aye-unit-")));
    await mkdir(path.join(place.project, "skills"), { recursive: true });
    for (const [name, text] of Object.entries(skills)) await writeFile(path.join(place.project, "skills", `${name}.yaml`), text);
    await place.aye("trust", "--yes");
    return place;
  }

  get where(): Where {
    return { program: PROGRAM, home: this.home, env: { PATH: process.env.PATH, HOME: this.root, AYE_HOME: this.home, LANG: "C.UTF-8" } };
  }

  async aye(...args: string[]): Promise<string> {
    return (await run(PROGRAM, args, { cwd: this.project, env: this.where.env })).stdout;
  }

  /** Starts a run that nobody watches; its id. */
  async start(skill: string): Promise<string> {
    const out = await this.aye("run", skill, "--detach", "--json");
    return (JSON.parse(out.trim().split("\n")[0] ?? "") as { run: string }).run;
  }

  /** A server that was started by hand; ended with the place. */
  async serve(...args: string[]): Promise<Announcement> {
    const server = spawn(PROGRAM, ["serve", "--listen", "127.0.0.1:0", ...args], { cwd: this.project, env: this.where.env, stdio: "ignore" });
    // One that is not found is not ended with the place.
    return until(() => find(this.home), "the server is there").catch((error: unknown) => {
      server.kill("SIGKILL");
      throw error;
    });
  }

  /** A program that is not `aye`. */
  async script(name: string, text: string): Promise<string> {
    const file = path.join(this.root, name);
    await writeFile(file, text);
    await chmod(file, 0o755);
    return file;
  }

  async killServer(): Promise<void> {
    const server = await find(this.home);
    if (!server) return;
    process.kill(server.pid, "SIGKILL");
    while ((await find(this.home)) !== null) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  async end(): Promise<void> {
    const runs = JSON.parse(await this.aye("runs", "--json").catch(() => "[]")) as { run: string; status: string }[];
    for (const { run: id, status } of runs) if (!["completed", "failed", "cancelled"].includes(status)) await this.aye("cancel", id).catch(() => {});
    await this.killServer();
    await rm(this.root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

/** Waits until something holds, by asking again. */
export async function until<T>(look: () => T | Promise<T>, what: string): Promise<NonNullable<T>> {
  const end = Date.now() + 60_000;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`not so in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
