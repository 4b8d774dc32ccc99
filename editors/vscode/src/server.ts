// The one server of an AYE_HOME: where it says it is, whether it is there, and how it is started.
// Nothing of VS Code here.

import { execFile, spawn } from "node:child_process";
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { send } from "./http";

/** The oldest `aye` that speaks as this extension does. */
export const OLDEST = "0.1.0";
const START_LIMIT = 30_000;
const LOOK_LIMIT = 5_000;
const JUST_STARTING = 3_000;
// What the program says where another one is at it.
const BUSY = "just starting or stopping";

/** What `serve.json` says. */
export interface Announcement {
  url: string;
  pid: number;
  token: string;
  /** The certificate that it made for itself, as PEM: `serve.json` has its path. */
  ca: string | null;
}

export interface Place {
  /** The program. */
  program: string;
  /** AYE_HOME. */
  home: string;
  /** For the processes that are started. */
  env: NodeJS.ProcessEnv;
}

export type ProblemKind = "missing" | "too-old" | "not-running" | "failed";

/** Why there is no server, in words for people. */
export class ServerProblem extends Error {
  constructor(readonly kind: ProblemKind, message: string) {
    super(message);
  }
}

/** Where journal and logs are kept: a setting, else as `aye` itself decides it. */
export function homeOf(setting: string, env: NodeJS.ProcessEnv): string {
  if (setting) return setting.startsWith("~/") ? path.join(homedir(), setting.slice(2)) : setting;
  if (env.AYE_HOME) return env.AYE_HOME;
  if (env.XDG_STATE_HOME) return path.join(env.XDG_STATE_HOME, "aye");
  return path.join(env.HOME ?? homedir(), ".local/state/aye");
}

/** `0.10.2` is after `0.9.0`. */
export function isOlder(version: string, than: string): boolean {
  const [left, right] = [version, than].map((text) => text.split(/[.+-]/).slice(0, 3).map(Number));
  for (let at = 0; at < 3; at += 1) {
    const difference = (left?.[at] || 0) - (right?.[at] || 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

/** The version of the program; a problem if it is missing or too old. */
export async function versionOf(place: Place): Promise<string> {
  const out = await new Promise<string>((resolve, reject) => {
    execFile(place.program, ["--version"], { env: place.env, timeout: START_LIMIT }, (error, stdout) => {
      if (!error) resolve(stdout);
      else if ((error as NodeJS.ErrnoException).code === "ENOENT") reject(new ServerProblem("missing", `\`${place.program}\` was not found`));
      else reject(new ServerProblem("failed", `\`${place.program} --version\` failed: ${error.message}`));
    });
  });
  const version = /^aye (\d+\.\d+\.\d+\S*)/.exec(out)?.[1];
  if (!version) throw new ServerProblem("failed", `\`${place.program}\` is another program: \`--version\` printed \`${out.trim().slice(0, 80)}\``);
  if (isOlder(version, OLDEST)) throw new ServerProblem("too-old", `\`${place.program}\` is version ${version}; this extension needs ${OLDEST} or newer`);
  return version;
}

/** The server that runs, if one does and proves it. A file that a killed server left behind does not count. */
export async function find(home: string): Promise<Announcement | null> {
  let said: { url?: unknown; pid?: number; token?: unknown; certificate?: string | null };
  let ca: string | null;
  try {
    said = JSON.parse(await readFile(path.join(home, "serve.json"), "utf8")) as typeof said;
    ca = said.certificate ? await readFile(said.certificate, "utf8") : null;
  } catch {
    return null;
  }
  if (typeof said.url !== "string" || typeof said.token !== "string") return null;
  const server = { url: said.url.replace(/\/$/, ""), pid: said.pid ?? 0, token: said.token, ca };
  return (await isProven(server)) ? server : null;
}

/**
 * Whether the process at this address has the token. Another account may listen at the port of a server that
 * is gone; the token is sent to nobody who has not proven that they know it. The address is part of the proof, so that
 * nobody can pass on the proof of the real server.
 */
export async function isProven({ url, token, ca }: Announcement): Promise<boolean> {
  const challenge = randomBytes(32).toString("hex");
  try {
    const response = await send(`${url}/healthz`, { headers: { "Aye-Challenge": challenge }, signal: AbortSignal.timeout(LOOK_LIMIT), ca });
    await response.body?.cancel();
    const given = Buffer.from(response.headers.get("aye-proof") ?? "");
    const wanted = Buffer.from(createHmac("sha256", token).update(`aye-serve-proof\n${url}\n${challenge}`).digest("hex"));
    return response.ok && given.length === wanted.length && timingSafeEqual(given, wanted);
  } catch {
    return false;
  }
}

/**
 * A problem if a server that runs is too old. It may be an older program than the one that is installed; its
 * description of itself has the version, for those who have the token.
 */
export async function mustBeRecent({ url, token, pid, ca }: Announcement): Promise<void> {
  const response = await send(`${url}/api/v1/openapi.json`, { headers: { Authorization: `Bearer ${token}` }, signal: AbortSignal.timeout(LOOK_LIMIT), ca });
  const { info } = (await response.json().catch(() => ({}))) as { info?: { version?: string } };
  const version = info?.version;
  if (version !== undefined && !isOlder(version, OLDEST)) return;
  throw new ServerProblem("too-old", `the server that runs (process ${pid}) is ${version === undefined ? "an old version" : `version ${version}`}; this extension needs ${OLDEST} or newer. Stop it: the extension then starts the installed one`);
}

/** Starts the server, in a process that outlives this window. Another window may be faster: then that one counts. */
export async function start(place: Place): Promise<Announcement> {
  await versionOf(place);
  await mkdir(place.home, { recursive: true, mode: 0o700 });
  const end = Date.now() + START_LIMIT;
  for (let attempt = 0; ; attempt += 1) {
    // Its usual port may belong to another program.
    const problem = await launch(place, attempt === 0 ? [] : ["--listen", "127.0.0.1:0"]);
    const found = await look(place.home, problem === null ? START_LIMIT : JUST_STARTING);
    if (found) return found;
    // Another window may be just starting it, on a machine that is busy.
    const isBusy = problem?.includes(BUSY) && Date.now() < end;
    if (problem === null || (attempt > 0 && !isBusy)) throw new ServerProblem("failed", `\`aye serve\` does not start: ${problem ?? "it did not say where it is"}`);
  }
}

async function look(home: string, patience: number): Promise<Announcement | null> {
  const until = Date.now() + patience;
  for (;;) {
    const found = await find(home);
    if (found || Date.now() > until) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** `null` once it has said where it is; else what it said instead. */
function launch(place: Place, more: string[]): Promise<string | null> {
  return new Promise((resolve) => {
    // In its own home, not in a folder of this window: it serves all of them, and reads nothing of one that is not trusted.
    const child = spawn(place.program, ["serve", "--json", "--home", place.home, ...more], {
      cwd: place.home, env: place.env, detached: true, stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    const limit = setTimeout(() => done("it took too long"), START_LIMIT);
    const done = (result: string | null): void => {
      clearTimeout(limit);
      child.stdout.destroy();
      child.stderr.destroy();
      child.unref();
      resolve(result);
    };
    child.stdout.on("data", (data: Buffer) => {
      if (data.includes("\n")) done(null);
    });
    child.stderr.on("data", (data: Buffer) => {
      said = (said + data.toString()).slice(-2000);
    });
    child.once("error", (error) => done(error.message));
    child.once("exit", (code) => done(said.trim() || `it ended with ${code}`));
  });
}
