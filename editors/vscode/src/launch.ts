// Programs that are started for their effect: a sound, a window in front. Nothing of VS Code here.

import { execFile } from "node:child_process";
import path from "node:path";

const LIMIT = 10_000;

export type Program = readonly [program: string, ...args: string[]];

/** What plays a sound where the person sits. */
export function playerOf(platform: NodeJS.Platform): Program {
  if (platform === "darwin") return ["afplay", "/System/Library/Sounds/Glass.aiff"];
  if (platform === "win32") return ["powershell", "-c", "[console]::beep(880,200)"];
  return ["canberra-gtk-play", "--id", "message-new-instant"];
}

/** A VS Code, as far as its own command line depends on it. */
export interface Product {
  platform: NodeJS.Platform;
  appRoot: string;
  appName: string;
  /** The program that runs extensions. */
  execPath: string;
  isRemote: boolean;
}

const NAMES: Record<string, string> = { "Visual Studio Code - Insiders": "code-insiders", VSCodium: "codium", "code-server": "code-server" };

/** The command line of VS Code itself, and the variables it needs. It is elsewhere on each system. */
export function cliOf({ platform, appRoot, appName, execPath, isRemote }: Product): { program: Program; env: Record<string, string> } {
  const name = NAMES[appName] ?? "code";
  if (isRemote) return { program: [path.posix.join(appRoot, "bin/remote-cli", name)], env: {} };
  // What `code.cmd` does: a batch file needs a shell, and a shell reads names of folders.
  if (platform === "win32") return { program: [execPath, path.win32.join(appRoot, "out", "cli.js")], env: { ELECTRON_RUN_AS_NODE: "1" } };
  return { program: [path.posix.join(appRoot, platform === "darwin" ? "bin" : "../../bin", name)], env: {} };
}

/** Starts a program; why it failed, if it did. */
export function launch([program, ...args]: Program, env: NodeJS.ProcessEnv = process.env): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: LIMIT, env }, (error) => resolve(error ? `\`${program}\` failed: ${error.message}` : null));
  });
}
