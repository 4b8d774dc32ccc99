// What started a run, in words.

const STARTED = { terminal: "at a terminal", script: "in a script", assistant: "through an assistant", schedule: "by schedule", web: "on the web page" };

export function startedWords(by) {
  return STARTED[by] ?? "";
}
