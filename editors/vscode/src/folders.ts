// Which directory belongs to which folder. Nothing of VS Code here.

import { realpathSync } from "node:fs";
import path from "node:path";

/** Whether a directory is this folder, or is inside it. */
export function isInside(directory: string, folder: string): boolean {
  const relative = path.relative(real(folder), real(directory));
  return relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}

/** Without links: a project is known by its real path, and a folder may be opened through a link. */
function real(directory: string): string {
  try {
    return realpathSync(directory);
  } catch {
    return path.resolve(directory);
  }
}
