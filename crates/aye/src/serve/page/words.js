// Words and numbers as people read them, as text. Nothing of a browser: an editor uses these too.

// The characters that `aye_core::diagnostic::is_hidden` knows.
export const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** Text with every character that cannot be seen, or that reorders others, shown by its number. */
export function plain(text) {
  return String(text ?? "").replace(HIDDEN, (found) => `\\u{${found.codePointAt(0).toString(16)}}`);
}

/** Whether the core has left out the end of a text, which it says there. A script has a digest although all of it is shown. */
export function isShortened(text) {
  return /… \(the last \d+ bytes are not shown\)$/.test(text);
}

/** `340ms`, `2.3s`, `1m 5s`, `2h 10m`, `3d 4h`, as in the terminal. */
export function duration(ms) {
  if (ms === undefined || ms === null || Number.isNaN(ms)) return "";
  const value = Math.max(0, Math.round(ms));
  if (value < 1000) return `${value}ms`;
  const seconds = Math.floor(value / 1000);
  if (seconds < 10) return `${seconds}.${Math.floor((value % 1000) / 100)}s`;
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${seconds % 60}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours}h ${minutes % 60}m`;
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** What is left of a time, in whole seconds: a clock that ticks evenly. */
export function countdown(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${String(seconds % 60).padStart(2, "0")}s`;
  return `${Math.floor(minutes / 60)}h ${String(minutes % 60).padStart(2, "0")}m`;
}

/** `just now`, `12s ago`, `4m ago`, `2h ago`, `3d ago`. */
export function ago(then, now) {
  const seconds = Math.max(0, Math.round((now - Date.parse(then)) / 1000));
  if (Number.isNaN(seconds)) return "";
  if (seconds < 2) return "just now";
  if (seconds < 90) return `${seconds}s ago`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)}m ago`;
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)}h ago`;
  return `${Math.round(seconds / 86400)}d ago`;
}

const two = (number) => String(number).padStart(2, "0");

/** The clock time of a moment here: `07:36:42`. */
export function clock(then) {
  const at = new Date(then);
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":");
}

/** The day of a moment here: `2026-11-17`. */
export function day(then) {
  const at = new Date(then);
  return [at.getFullYear(), at.getMonth() + 1, at.getDate()].map(two).join("-");
}

/** `3 steps`, `1 step`. */
export function plural(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** `1.2 MB`. */
export function bytes(count) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = count;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return unit === 0 ? `${value} B` : `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

/** A value on one line, as JSON unless it is text. */
export function value(data) {
  return typeof data === "string" ? data : JSON.stringify(data);
}

// What the core calls a question that its author gave no title.
const USUAL_TITLES = { confirm: "Confirmation required", choose: "Choice required", input: "Input required", recover: "Decision required" };

/** The title that a question's author gave it; empty if there is none. */
export function ownTitle({ title, kind, purpose, step }) {
  if (purpose === "recover" && title === "Step failed") return `${step} failed`;
  return title && title !== USUAL_TITLES[kind] ? title : "";
}

/** What a question is called in a list: its title, else what it asks. */
export function heading(question) {
  const [line = ""] = String(question.message ?? "").trim().split("\n");
  return ownTitle(question) || (line.length > 120 ? `${line.slice(0, 119)}…` : line) || question.step || "Question";
}

const RECALLED = { issue: "Known issue", fix: "Known fix", preference: "Remembered answer", usage: "Keeps failing" };

/** What memory knows that may concern a question of a run, the newest last. */
export function recalled(question, run) {
  const found = (run?.memory ?? []).filter((one) => !one.learned && (!one.step || one.step === question.step));
  return found.slice(-5).map((one) => ({ label: RECALLED[one.kind] ?? "Known", text: one.message.replace(/^known issue /, "") }));
}

/** How far an answer may be remembered, the narrowest first, and what each covers. */
export function rememberScopes(question) {
  if (!question.remember) return [];
  const failed = question.purpose === "recover";
  const covers = failed
    ? { error: "this error of this step", step: "any error of this step", skill: "any error of a step of this skill that does the same", always: "any error of a step of any skill that does the same" }
    : { step: "the same question at this step", skill: "the same question at any step of this skill", always: "the same question in any skill" };
  const labels = { error: "for this error", step: "for this step", skill: "for this skill", always: "always" };
  const differ = question.any?.length ? ` ${question.any.map(plain).join(", ")} may differ.` : "";
  const same = failed ? "only where it does the same" : "only where everything shown is the same";
  return Object.entries(covers).map(([scope, what]) => ({ scope, label: labels[scope], what, same, covers: `Given again for 30 days to ${what}, ${same}, in this environment.${differ}` }));
}
