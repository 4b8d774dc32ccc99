// Where a run stands, in words: pure.

import { ago, plain, plural } from "aye-page/words.js";
import type { RunRow, RunState, StepState } from "./model";

/** `release 3/9`: the step a run is at. Without the list of its steps, only its name. */
export function progressOf(row: Pick<RunRow, "skill" | "step">, run: RunState | null | undefined): string {
  const names = run ? [...run.steps.keys()] : [];
  const at = row.step === null ? -1 : names.indexOf(row.step);
  return at < 0 ? plain(row.skill) : `${plain(row.skill)} ${at + 1}/${names.length}`;
}

/** `release failed at ship: exit code 1`: the step once, although the message names it too. */
export function failureOf(skill: string, step: unknown, message: unknown): string {
  const line = plain(message).split("\n")[0]?.replace(`step \`${plain(step)}\`: `, "") ?? "";
  return `${skill} failed${step ? ` at ${plain(step)}` : ""}${line ? `: ${line.length > 200 ? `${line.slice(0, 199)}…` : line}` : ""}`;
}

/** How long ago a run began, in whole minutes: what is not drawn again every second is not counted in seconds. */
export function since(started: string, now: number): string {
  const minutes = Math.floor((now - Date.parse(started)) / 60_000);
  return minutes < 1 ? "just now" : minutes < 90 ? `${minutes}m ago` : ago(started, now);
}

/** What there is to say of a step beside its state: attempts, repairs, memory. */
export function marksOf(step: StepState, run: Pick<RunState, "memory">): string[] {
  const marks = [];
  if (step.attempt > 1) marks.push(plural(step.attempt - 1, "retry", "retries"));
  if (step.repaired && step.status === "completed") marks.push("healed");
  const memory = run.memory.filter((one) => one.step === step.name);
  if (memory.some((one) => !one.learned)) marks.push("memory read");
  if (memory.some((one) => one.learned)) marks.push("memory written");
  return marks;
}

/** The codicon of a state, and its colour: the meanings of the terminal and the page (`crates/aye/src/signs.rs`). */
export function iconOf(status: string): { icon: string; color?: string } {
  switch (status) {
    case "completed":
      return { icon: "pass", color: "testing.iconPassed" };
    case "failed":
    case "timed_out":
      return { icon: "error", color: "testing.iconFailed" };
    case "running":
      return { icon: "play-circle", color: "charts.blue" };
    case "waiting":
    case "asking":
    case "unknown":
    case "interrupted":
    case "cut-off":
      return { icon: "question", color: "charts.yellow" };
    case "paused":
      return { icon: "debug-pause", color: "charts.yellow" };
    case "queued":
      return { icon: "debug-pause", color: "disabledForeground" };
    case "skipped":
      return { icon: "debug-step-over", color: "disabledForeground" };
    case "cancelled":
      return { icon: "circle-slash", color: "disabledForeground" };
    default:
      return { icon: "circle-outline", color: "disabledForeground" };
  }
}
