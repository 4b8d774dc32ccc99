// Words and numbers as people read them, as text. Nothing of a browser: an editor uses these too.

export const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** Text with every character that cannot be seen, or that reorders others, shown by its number. */
export function plain(text) {
  return String(text ?? "").replace(HIDDEN, (found) => `\\u{${found.codePointAt(0).toString(16)}}`);
}

/** `2 ms`, `4.1 s`, `4m 10s`, `2h 5m`, `3d 4h`. */
export function duration(ms) {
  if (ms === undefined || ms === null || Number.isNaN(ms)) return "";
  const value = Math.max(0, ms);
  if (value < 1000) return `${Math.round(value)} ms`;
  if (value < 10_000) return `${(value / 1000).toFixed(1)} s`;
  const seconds = Math.round(value / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${seconds % 60}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours}h ${minutes % 60}m`;
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

/** `just now`, `12 s ago`, `4 min ago`, `2 h ago`, `3 d ago`. */
export function ago(then, now) {
  const seconds = Math.max(0, Math.round((now - Date.parse(then)) / 1000));
  if (Number.isNaN(seconds)) return "";
  if (seconds < 2) return "just now";
  if (seconds < 90) return `${seconds} s ago`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86400)} d ago`;
}

/** The clock time of a moment. */
export function clock(then) {
  return new Date(then).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
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
