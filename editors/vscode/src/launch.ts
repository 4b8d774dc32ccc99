// Programs that are started for their effect: a sound, a window in front. Nothing of VS Code here.

import { execFile } from "node:child_process";

const LIMIT = 10_000;

export type Program = readonly [program: string, ...args: string[]];

/** What plays a sound where the person sits. */
export function playerOf(platform: NodeJS.Platform): Program {
  if (platform === "darwin") return ["afplay", "/System/Library/Sounds/Glass.aiff"];
  if (platform === "win32") return ["powershell", "-c", "[console]::beep(880,200)"];
  return ["canberra-gtk-play", "--id", "message-new-instant"];
}

/** Starts a program; why it failed, if it did. */
export function launch([program, ...args]: Program, env: NodeJS.ProcessEnv = process.env): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: LIMIT, env }, (error) => resolve(error ? `\`${program}\` failed: ${error.message}` : null));
  });
}
