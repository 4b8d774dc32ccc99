// What `aye check --json` says about a file, and the repair it suggests: pure but for running the program.

import { execFile } from "node:child_process";

export interface Finding {
  severity: "error" | "warning" | string;
  code: string;
  message: string;
  hint?: string;
  file: string;
  line: number;
  column: number;
  end_line: number;
  end_column: number;
  labels?: { text: string; line: number; column: number; end_line: number; end_column: number }[];
}

/** Checks files. A problem of the program itself is an error. */
export function check(program: string, env: NodeJS.ProcessEnv, folder: string, files: string[]): Promise<Finding[]> {
  return new Promise((resolve, reject) => {
    execFile(program, ["check", "--json", ...files], { cwd: folder, env, timeout: 60_000, maxBuffer: 32 * 1024 * 1024 }, (error, stdout, stderr) => {
      try {
        const found: unknown = JSON.parse(stdout);
        if (!Array.isArray(found)) throw new Error("not a list");
        resolve(found as Finding[]);
      } catch {
        reject(new Error(`\`${program} check --json\` failed: ${(stderr || error?.message || "it printed something else").trim().slice(0, 500)}`));
      }
    });
  });
}

/** Message, labels and hint, as one text. */
export function wordsOf(finding: Finding): string {
  const labels = (finding.labels ?? []).map((label) => label.text).filter((text) => text && !finding.message.includes(text));
  return [finding.message, ...labels, ...(finding.hint ? [`hint: ${finding.hint}`] : [])].join("\n");
}

export interface Repair {
  title: string;
  line: number;
  column: number;
  end_line: number;
  end_column: number;
  text: string;
}

const MEANT = /did you mean ((?:`[^`]+`(?:, | or |, or )?)+)\?/;

/** What to write instead, where the finding says so. */
export function repairsOf(finding: Finding): Repair[] {
  const places = [...(finding.labels ?? []), { ...finding, text: finding.hint ?? "" }];
  for (const place of places) {
    const meant = MEANT.exec(place.text)?.[1];
    if (!meant) continue;
    const { line, column, end_line, end_column } = place;
    return [...meant.matchAll(/`([^`]+)`/g)].map(([, text]) => ({ title: `Change to \`${text}\``, line, column, end_line, end_column, text: text ?? "" }));
  }
  return [];
}
