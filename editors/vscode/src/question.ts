// How a question is put to a person, in words: pure, so that it can be tested without an editor.

import { countdown, heading, isShortened, ownTitle, plain, recalled, rememberScopes } from "aye-page/words.js";
import type { Fact, Lead, Option, Question, RunState } from "./model";

/** How a question is answered here. */
export type Form = "buttons" | "list" | "text" | "modal" | "panel";

// VS Code cuts a notification after 1,000 characters; nothing that is agreed to may be cut.
const NOTIFICATION = 420;
const MODAL = 2_400;
const MODAL_LINES = 24;
const BUTTONS = 4;
// The line above a list.
const LIST = 70;
// A character that nobody sees, and that keeps two others apart.
const JOINER = "\u2060";
// How many of the last words of assistants are shown.
const ADVICE = 3;

/** A command that a yes starts, and what is known of where and for which answer. */
interface Started {
  command: string;
  facts: Fact[];
  /** The command is shortened: this is the digest of all of it. */
  cut: string | null;
}

/** Every command that a yes starts: a choice may start another one for each answer. */
function startedBy(question: Question): Started[] {
  const groups = new Map<string, Fact[]>();
  for (const fact of question.facts ?? []) {
    const key = `${fact.answer ?? ""}\n${fact.step ?? ""}`;
    groups.set(key, [...(groups.get(key) ?? []), fact]);
  }
  const all = [...groups.values()].flatMap((facts, at): Started[] => {
    const found = facts.find((fact) => fact.kind === "command" || fact.kind === "code");
    const command = at === 0 && question.follows && found?.kind !== "code" ? question.follows : found?.value;
    return command === undefined || command === null ? [] : [{ command, facts, cut: (isShortened(command) && found?.digest) || null }];
  });
  return all.length === 0 && question.follows ? [{ command: question.follows, facts: question.facts ?? [], cut: null }] : all;
}

/** Everything that has to be seen before a yes counts for it: one text, nothing left out. */
export function wholeText(question: Question): string {
  const lines = [plain(question.message)];
  for (const change of question.changed ?? []) lines.push(`Changed: ${plain(change.what)}${change.before === undefined ? "" : `\n- ${plain(change.before)}\n+ ${plain(change.after)}`}`);
  const started = startedBy(question);
  for (const one of started) lines.push([`${where(question, one.facts, started.length > 1)}:`, plain(one.command), one.cut ? `shortened; sha256 of all of it: ${one.cut}` : ""].filter(Boolean).join("\n"));
  const covered = (question.facts ?? []).filter((fact) => !AROUND.has(fact.kind));
  const words = new Set(covered.map((fact) => `${plain(fact.kind.replaceAll("_", " "))}${fact.name ? ` ${plain(fact.name)}` : ""}: ${plain(fact.value)}`));
  if (words.size) lines.push(`A yes also covers:\n${[...words].join("\n")}`);
  if (question.not_covered?.length) lines.push(`Not covered:\n${question.not_covered.map(plain).join("\n")}`);
  return lines.filter(Boolean).join("\n\n");
}

/** Who has to answer, beyond "a person". */
export function rulesOf(question: Question): string[] {
  const rules = [];
  const agreed = (question.agreed ?? []).map(({ by }) => plain(by)).join(", ");
  const starter = question.not_starter ? ", and not who started the run" : "";
  if ((question.approvals ?? 1) > 1) rules.push(`${question.approvals} different people have to agree${starter}${agreed ? `; so far: ${agreed}` : ""}.`);
  else if (starter) rules.push("Who started the run does not count.");
  if (typeof question.by === "object") rules.push(`Only ${question.by.names.map(plain).join(", ")} may answer.`);
  return rules;
}

/** Where each answer leads, as far as the server says so. */
export function leadLines(question: Question): string[] {
  const places = new Map<string, string[]>();
  for (const option of question.options ?? []) {
    if (!leadOf(question, option.value)) continue;
    const way = leadWords(question, option);
    places.set(way, [...(places.get(way) ?? []), `“${plain(option.label)}”`]);
  }
  // What many answers share is said last, of the others.
  const ways = [...places].sort(([, a], [, b]) => Number(a.length > MOST_NAMED) - Number(b.length > MOST_NAMED));
  const who = (labels: string[]): string => ways.length === 1 && labels.length > 1 ? "each answer" : labels.length > MOST_NAMED ? "other answers" : labels.join(", ");
  const silence = leadOf(question, SILENCE);
  return [...ways.map(([way, labels]) => `${who(labels)} → ${way}`), ...(silence ? [`${SILENCE} → ${wayOf(silence)}`] : [])];
}

/** A dialog, which has room for everything: also who has to answer and where each answer leads. */
export function dialogText(question: Question): string {
  return [wholeText(question), ...rulesOf(question), leadLines(question).join("\n")].filter(Boolean).join("\n\n");
}

/** What memory knows that may concern a question. Nobody agrees to it, so it may be cut. */
export function knownText(question: Question, run: RunState | null, limit: number): string {
  const text = recalled(question, run).map(({ label, text: known }) => `${label}: ${plain(known)}`.replace(/\s+/g, " ").trim()).join(" · ");
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
}

/**
 * The buttons of a dialog for something that destroys: Enter presses the first, which must not agree. That is an
 * answer that declines and starts nothing; without one, none of the answers comes first.
 */
export function safeFirst(question: Question): { first: Option | null; rest: Option[] } {
  const options = question.options ?? [];
  if (!question.destructive) return { first: options[0] ?? null, rest: options.slice(1) };
  const first = options.find((option) => option.action === "cancel" && !starts(question, option)) ?? null;
  return { first, rest: options.filter((option) => option !== first) };
}

function starts(question: Question, option: Option): boolean {
  const lead = leadOf(question, option.value);
  return Boolean(lead?.to) && !lead?.ends;
}

const AROUND = new Set(["command", "code", "machine", "directory", "env"]);

function where(question: Question, facts: Fact[], isOneOfSeveral: boolean): string {
  const value = (kind: string): string | undefined => facts.find((fact) => fact.kind === kind)?.value;
  const env = facts.filter((fact) => fact.kind === "env").map((fact) => `${plain(fact.name)}=${plain(fact.value)}`);
  const { answer, step } = facts[0] ?? {};
  const label = question.options?.find((option) => option.value === answer)?.label ?? answer;
  return [isOneOfSeveral && label ? `“${plain(label)}” runs` : "Runs", step ? `step ${plain(step)}` : "", value("machine") ? `on ${plain(value("machine"))}` : "", value("directory") ? `in ${plain(value("directory"))}` : "", env.length ? `with ${env.join(" ")}` : ""].filter(Boolean).join(" ");
}

/** What assistants think of a question: shown beside it, and never counted. Nobody agrees to it, so it may be cut. */
export function adviceText(question: Question, limit: number): string {
  const said = (question.advice ?? []).slice(-ADVICE).map((one) => {
    const label = question.options?.find((option) => option.value === one.option)?.label ?? one.option;
    return `${plain(one.by)}${label ? ` suggests “${plain(label)}”` : ""}${one.text ? `: ${plain(one.text)}` : ""}`.replace(/\s+/g, " ").trim();
  });
  if (said.length === 0) return "";
  const text = `Advice, not counted: ${said.join(" · ")}`;
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
}

/** What a question is called in a list: the title that its author gave it, else what it asks. */
export function nameOf(question: Question): string {
  return plain(heading(question));
}

/** Its name in front of what is said of it: `Deploy:`, `Ship it?`. */
export function about(question: Question): string {
  const name = nameOf(question);
  return /[.:?!…]$/.test(name) ? name : `${name}:`;
}

/** What stands above a question: its title, else where it is asked. */
export function titleOf(question: Question): string {
  return plain(ownTitle(question) || placeOf(question));
}

/** The skill and the step that ask. */
export function placeOf(question: Question): string {
  return plain([question.skill, question.step].filter(Boolean).join(" › "));
}

/** Its title, if it has one, in front of what it asks. */
export function titled(question: Question, text: string): string {
  const title = plain(ownTitle(question));
  return title ? `${title}: ${text}` : text;
}

/** Title and everything that has to be seen, on one line: with where the answers lead that stand beside it. */
export function oneLine(question: Question): string {
  return flat(titled(question, oneLineBelow(question)));
}

/** The same without its title, where that stands above it. */
export function oneLineBelow(question: Question): string {
  const leads = answerForm(question) === "buttons" ? leadLines(question).join(", ") : "";
  return flat([wholeText(question), ...rulesOf(question), leads].filter(Boolean).join("\n\n"));
}

function flat(text: string): string {
  return text.replace(/\n\n+/g, " · ").replace(/\s+/g, " ").trim();
}

/** What is chosen from or written into, once the text of the question was read. */
export function answerForm(question: Question): "buttons" | "list" | "text" {
  if (question.kind === "input") return "text";
  const count = question.options?.length ?? 0;
  return count > 0 && count <= BUTTONS && question.kind !== "recover" ? "buttons" : "list";
}

/**
 * Buttons where little has to be read, a list for many options, a field for a text; a modal before them for what
 * destroys or what is long; the panel where even that would cut something off.
 */
export function formOf(question: Question): Form {
  const whole = dialogText(question);
  if (whole.length > MODAL || whole.split("\n").length > MODAL_LINES) return "panel";
  // A script of several lines is not read as one, and a notification shows brackets as other characters.
  const isFlat = startedBy(question).every((one) => !/[\n[\]]/.test(one.command.trim()));
  return question.destructive || !isFlat || oneLine(question).length > NOTIFICATION ? "modal" : answerForm(question);
}

/** Whether a list or a field has room for everything that has to be seen. A list has one line, a field has several. */
export function showsAll(question: Question): boolean {
  if (answerForm(question) === "text" && !question.options?.length) return formOf(question) === "text";
  const whole = wholeText(question);
  return whole.length <= LIST && !whole.includes("\n");
}

/**
 * Text of others in a message, where `[words](command:…)` is a link. A bracket alone would do: it could begin in
 * this text and end in a link of ours. So there are none; these look alike.
 */
export function withoutLinks(text: string): string {
  return text.replaceAll("[", "\uff3b").replaceAll("]", "\uff3d");
}

/** The same for a text that nothing of ours follows: it looks as it is. */
export function brokenLinks(text: string): string {
  return text.replaceAll("](", `]${JOINER}(`);
}

/** Text of others in a list or in the status bar, where `$(name)` is a picture: it could pass for one of ours. */
export function withoutIcons(text: string): string {
  return text.replaceAll("$(", `$${JOINER}(`);
}

/** What the person is told whose answer counts while no process drives the run. */
export function notResumed(taken: Record<string, unknown>): string | null {
  const why = taken.not_resumed;
  return typeof why === "string" ? `Your answer is recorded. The run does not continue yet: ${plain(why)}` : null;
}

/** `9m 41s left, then “Cancel”`. */
export function timeLeft(question: Question, now: number): string {
  if (!question.deadline) return question.held ? "time held" : question.unseen ? "waits until a person looks" : "no time limit";
  const left = Date.parse(question.deadline) - now;
  const fallback = question.options?.find((option) => option.value === question.default);
  const then = fallback ? `then “${plain(fallback.label)}”` : "then declined";
  return left > 0 ? `${countdown(left)} left, ${then}` : "time is up";
}

/** The same for a dialog, whose text stays as it was: with the moment. */
export function timeUntil(question: Question, now: number, zone?: string): string {
  if (!question.deadline || Date.parse(question.deadline) <= now) return timeLeft(question, now);
  const [left, then] = timeLeft(question, now).split(" left, ");
  const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZoneName: "short", ...(zone ? { timeZone: zone } : {}) });
  return `Until ${clock.format(Date.parse(question.deadline))} (${left} left when this opened), ${then}`;
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

// What a lead says instead of an answer where silence leads elsewhere than a no.
const SILENCE = "no answer";
// More answers than this that lead to the same place are not named.
const MOST_NAMED = 3;

function leadOf(question: Question, answer: string): Lead | undefined {
  return question.leads?.find((one) => one.answer === answer);
}

// Runs of earlier builds have no words.
function wayOf(lead: Lead): string {
  if (lead.words) return plain(lead.words);
  return lead.to ? `${plain(lead.to)}${lead.ends ? `, the run ends (${plain(lead.ends)})` : ""}` : `the run ends (${plain(lead.ends ?? "completed")})`;
}

/** What an option leads to, in words. */
export function leadWords(question: Question, option: Option): string {
  if (question.purpose === "recover" && option.value === "edit") return "opens it in the Command Center";
  const lead = leadOf(question, option.value);
  return lead ? wayOf(lead) : "";
}

export interface RememberChoice {
  scope: "error" | "step" | "skill" | "always" | null;
  label: string;
  description: string;
  detail: string;
}

/** How far an answer may be remembered, and what that covers: in pieces that a line of a list has room for. */
export function rememberChoices(question: Question): RememberChoice[] {
  const scopes = rememberScopes(question).map(({ scope, label, what, same }) => ({ scope, label: capital(label), description: "for 30 days, in this environment", detail: `${capital(what)}, ${same}.` }));
  return [{ scope: null, label: "No, ask again", description: "", detail: "This answer counts once." }, ...scopes];
}

/** What may differ when an answer is given again, in lines that are not cut. */
export function mayDiffer(question: Question): string[] {
  if (!question.remember) return [];
  const lines: string[] = [];
  for (const name of (question.any ?? []).map(plain)) {
    const longer = `${lines.at(-1)}, ${name}`;
    if (lines.length > 0 && longer.length <= LIST) lines[lines.length - 1] = longer;
    else lines.push(lines.length === 0 ? `May differ: ${name}` : name);
  }
  return lines;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const CHANNELS: Record<string, string> = {
  terminal: "at a terminal", command: "with aye answer", desktop: "in a desktop dialog", editor: "in an editor", web: "on the web page",
  zenity: "in a desktop dialog", kdialog: "in a desktop dialog", notification: "in a notification", message: "with a button of a message", dropbox: "with a file in the drop-box", assistant: "through an assistant", elicited: "in an assistant's form", memory: "from memory", override: "with --yes",
};

/** What became of a question, for the person who had it on the screen. */
export function outcome(question: Question): string {
  const name = about(question);
  const { decision } = question;
  const option = question.options?.find((one) => one.value === decision?.value);
  switch (question.state) {
    case "answered": {
      const what = question.secret ? "answered" : `“${plain(decision?.label ?? option?.label ?? decision?.value)}”`;
      const channel = CHANNELS[decision?.prompter ?? ""];
      return `${name} ${what} by ${plain(decision?.by)}${channel ? `, ${channel}` : ""}`;
    }
    case "expired":
      return `${name} nobody answered in time; ${option ? `“${plain(option.label)}” was taken` : "it counts as declined"}`;
    case "withdrawn":
      return `${name} withdrawn, the run ended first`;
    case "decided":
      return `${name} decided while this window was not connected`;
    case "open":
      return `${name} still open`;
  }
}

/** Why a text does not fit; nothing if it does, or if only the server can say. */
export function misfit(question: Question, text: string): string | null {
  if (!question.match) return text === "" ? "Write something first." : null;
  try {
    return new RegExp(question.match, "u").test(text) ? null : `Must match ${question.match}`;
  } catch {
    return null;
  }
}
