// What started a run, in words.

import { plain } from "../words.js";

const STARTED = { terminal: "at a terminal", script: "in a script", assistant: "through an assistant", schedule: "by schedule", web: "on the web page", editor: "in an editor", api: "through the HTTP API" };

/** `at a terminal by ann`. */
export function startedWords(by, who) {
  return [STARTED[by], who ? `by ${plain(who)}` : ""].filter(Boolean).join(" ");
}
