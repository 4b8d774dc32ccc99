// How a question is put to a person, in words: pure, so that it can be tested without an editor.

import { countdown, plain, rememberScopes } from "aye-page/words.js";
import type { Option, Question } from "./model";

/** How a question is answered here. */
export type Form = "buttons" | "list" | "text" | "modal" | "panel";

// VS Code cuts a notification after 1,000 characters; nothing that is agreed to may be cut.
const NOTIFICATION = 420;
const MODAL = 2_400;
const MODAL_LINES = 24;
const BUTTONS = 4;

/** The whole command that a yes starts, if one is known. */
export function commandOf(question: Question): string | null {
  const facts = question.facts ?? [];
  const command = facts.find((fact) => fact.kind === "command" || fact.kind === "code");
  return question.follows ?? command?.value ?? null;
}

/** Everything that has to be seen before a yes counts for it: one text, nothing left out. */
export function wholeText(question: Question): string {
  const lines = [plain(question.message)];
  for (const change of question.changed ?? []) lines.push(`Changed: ${plain(change.what)}${change.before === undefined ? "" : `\n- ${plain(change.before)}\n+ ${plain(change.after)}`}`);
  const command = commandOf(question);
  if (command !== null) lines.push(`${where(question)}\n${plain(command)}`);
  const covered = (question.facts ?? []).filter((fact) => !AROUND.has(fact.kind));
  if (covered.length) lines.push(`A yes also covers:\n${covered.map((fact) => `${plain(fact.kind.replaceAll("_", " "))}${fact.name ? ` ${plain(fact.name)}` : ""}: ${plain(fact.value)}`).join("\n")}`);
  if (question.not_covered?.length) lines.push(`Not covered:\n${question.not_covered.map(plain).join("\n")}`);
  return lines.filter(Boolean).join("\n\n");
}

const AROUND = new Set(["command", "code", "machine", "directory", "env"]);

function where(question: Question): string {
  const value = (kind: string): string | undefined => question.facts?.find((fact) => fact.kind === kind)?.value;
  const env = (question.facts ?? []).filter((fact) => fact.kind === "env").map((fact) => `${plain(fact.name)}=${plain(fact.value)}`);
  return ["Runs", value("machine") ? `on ${plain(value("machine"))}` : "", value("directory") ? `in ${plain(value("directory"))}` : "", env.length ? `with ${env.join(" ")}` : ""].filter(Boolean).join(" ");
}

/** Title and everything that has to be seen, on one line. */
export function oneLine(question: Question): string {
  const title = question.title ? `${plain(question.title)}: ` : "";
  return `${title}${wholeText(question)}`.replace(/\n\n+/g, " · ").replace(/\s+/g, " ").trim();
}

/**
 * Buttons where little has to be read, a list for many options, a modal for what destroys or what is long,
 * the panel where even that would cut something off.
 */
export function formOf(question: Question): Form {
  const options = question.options ?? [];
  const isFew = options.length > 0 && options.length <= BUTTONS && question.kind !== "recover";
  const whole = wholeText(question);
  // A script of several lines is not read as one.
  const isFlat = !commandOf(question)?.trim().includes("\n");
  if (isFlat && oneLine(question).length <= NOTIFICATION) {
    if (question.kind === "input") return "text";
    if (!isFew) return "list";
    return question.destructive ? "modal" : "buttons";
  }
  const fits = whole.length <= MODAL && whole.split("\n").length <= MODAL_LINES;
  return fits && isFew && question.kind !== "input" ? "modal" : "panel";
}

/**
 * Text of others in a message, where `[words](command:…)` is a link. A bracket alone would do: it could begin in
 * this text and end in a link of ours. So there are none; these look alike.
 */
export function withoutLinks(text: string): string {
  return text.replaceAll("[", "\uff3b").replaceAll("]", "\uff3d");
}

/** `9m 41s left, then “Cancel”`. */
export function timeLeft(question: Question, now: number): string {
  if (!question.deadline) return question.held ? "time held" : question.unseen ? "waits until a person looks" : "no time limit";
  const left = Date.parse(question.deadline) - now;
  const fallback = question.options?.find((option) => option.value === question.default);
  const then = fallback ? `then “${plain(fallback.label)}”` : "then declined";
  return left > 0 ? `${countdown(left)} left, ${then}` : "time is up";
}

/**
 * The same in steps, for a notification: VS Code draws one anew when its text changes, and a click on a link
 * at that moment is lost. The bar below it moves every second.
 */
export function roughTimeLeft(question: Question, now: number): string {
  if (!question.deadline) return timeLeft(question, now);
  const left = Date.parse(question.deadline) - now;
  const step = left >= 120_000 ? 60_000 : left >= 30_000 ? 10_000 : 5_000;
  // Minutes are rounded; what is short is never said to be longer than it is.
  const rough = (step === 60_000 ? Math.round(left / step) : Math.floor(left / step)) * step;
  if (left > 0 && rough === 0) return timeLeft(question, now).replace(/^\S+ left/, "seconds left");
  return timeLeft(question, Date.parse(question.deadline) - rough).replace(/^(\d+m) 00s/, "$1");
}

/** How much of the time is over, in percent. */
export function elapsed(question: Question, now: number): number {
  if (!question.deadline || !question.window) return 0;
  const left = Math.max(0, Date.parse(question.deadline) - now);
  return Math.min(100, Math.max(0, 100 - (100 * left) / question.window));
}

/** Whether this option takes everything that a yes takes. */
export function commits(question: Question, option: Pick<Option, "action">): boolean {
  return option.action === "proceed" || (option.action === "skip" && question.purpose === "recover");
}

/** What an option leads to, in words. */
export function leadWords(question: Question, option: Option): string {
  const lead = question.leads?.find((one) => one.answer === option.value);
  if (lead) return lead.to ? `→ ${plain(lead.to)}${lead.ends ? `, the run ends (${plain(lead.ends)})` : ""}` : `the run ends (${plain(lead.ends ?? "completed")})`;
  const step = plain(question.step);
  if (question.purpose === "gate") return { proceed: `runs ${step}`, cancel: `${step} does not run`, skip: `leaves ${step} out` }[option.action];
  if (question.purpose === "recover") {
    const words: Record<string, string> = {
      retry: `runs ${step} again`, edit: "opens it in the Command Center", skip: `leaves ${step} out; the run continues`,
      done: `counts ${step} as done; the run continues`, abort: "the run ends (failed)",
    };
    return words[option.value] ?? "";
  }
  return { proceed: "the run continues", cancel: "the run ends (cancelled)", skip: "the run continues without it" }[option.action];
}

export interface RememberChoice {
  scope: "error" | "step" | "skill" | "always" | null;
  label: string;
  covers: string;
}

/** How far an answer may be remembered, and what that covers. */
export function rememberChoices(question: Question): RememberChoice[] {
  const scopes = rememberScopes(question).map((one) => ({ ...one, label: one.label.charAt(0).toUpperCase() + one.label.slice(1) }));
  return [{ scope: null, label: "No, ask again", covers: "This answer counts once." }, ...scopes];
}

const CHANNELS: Record<string, string> = {
  terminal: "at a terminal", command: "with aye answer", desktop: "in a desktop dialog", editor: "in an editor", web: "on the web page",
  zenity: "in a desktop dialog", kdialog: "in a desktop dialog", notification: "in a notification", assistant: "through an assistant", elicited: "in an assistant's form", memory: "from memory", override: "with --yes",
};

/** What became of a question, for whoever had it on the screen. */
export function outcome(question: Question): string {
  const title = plain(question.title || "Question");
  const { decision } = question;
  const option = question.options?.find((one) => one.value === decision?.value);
  switch (question.state) {
    case "answered": {
      const what = question.secret ? "answered" : `“${plain(decision?.label ?? option?.label ?? decision?.value)}”`;
      const channel = CHANNELS[decision?.prompter ?? ""];
      return `${title}: ${what} by ${plain(decision?.by)}${channel ? `, ${channel}` : ""}`;
    }
    case "expired":
      return `${title}: nobody answered in time; ${option ? `“${plain(option.label)}” was taken` : "it counts as declined"}`;
    case "withdrawn":
      return `${title}: withdrawn, the run ended first`;
    case "decided":
      return `${title}: decided while this window was not connected`;
    case "open":
      return `${title}: still open`;
  }
}

/** Why a text does not fit; nothing if it does, or if only the server can say. */
export function misfit(question: Question, text: string): string | null {
  if (text === "") return "Write something first.";
  if (!question.match) return null;
  try {
    return new RegExp(question.match, "u").test(text) ? null : `Must match ${question.match}`;
  } catch {
    return null;
  }
}
