// A question as a card, top to bottom: what is asked, by whom, what would run, what a yes covers,
// what happened so far, what is known, where each answer leads, and the answers.

import { html } from "../vendor/lit-anser.js";
import { label } from "../fold.js";
import { ago, clock, countdown, duration, heading, isShortened, ownTitle, plain, prose, recalled, value, visible } from "../text.js";
import { difference, unified } from "../diff.js";
import { actions, hold } from "./answering.js";
import { SIGNS } from "./signs.js";
import { startedWords } from "./started.js";

const CHANNELS = {
  terminal: "at a terminal", command: "with aye answer", desktop: "in a desktop dialog", zenity: "in a desktop dialog", kdialog: "in a desktop dialog",
  notification: "in a desktop notification", message: "with a button of a message", dropbox: "with a file in the drop-box", editor: "in an editor", web: "on the web page",
  assistant: "through an assistant", elicited: "in an assistant's form", memory: "from memory", override: "with --yes",
};

/** How strongly it is proven who answered, in words. */
export function proofWords(decision) {
  const channel = CHANNELS[decision.prompter] ?? decision.prompter ?? "";
  const proof = decision.reauth ? "one-time code" : decision.proof;
  return [channel, proof ? `proof: ${proof}` : ""].filter(Boolean).join(", ");
}

/** A question: open, or what became of it. */
export function card(question, host) {
  return question.state === "open" ? open(question, host) : decided(question, host);
}

function open(question, host) {
  const run = host.run(question.run);
  const stale = !host.connected();
  const touch = () => hold(question, host);
  return html`<article class="card ${stale ? "stale" : ""}" id="question-${question.id}" tabindex="-1" data-question=${question.id}
      aria-labelledby="title-${question.id}" @pointerdown=${touch} @keydown=${touch}>
    <header>
      <h2 id="title-${question.id}">${prose(heading(question))}</h2>
      ${time(question, run, host)}
      <p class="from">${origin(question, run, host)}</p>
    </header>
    ${bar(question, run, host)}
    ${question.changedUnderHand ? html`<p class="banner" role="status">Asked again: something has changed. Read it again.</p>` : ""}
    ${others(question, host)}
    <div class="body">
      ${message(question)}
      ${commands(question, run)}
      ${coverage(question)}
      ${changes(question)}
      ${proposal(question, run)}
      ${soFar(question, run)}
      ${known(question, run)}
      ${assistant(question, run)}
      ${leads(question)}
    </div>
    ${actions(question, host, run)}
  </article>`;
}

// A hold says that someone was there at that moment.
const LOOKED = 40_000;

/** Who else sees it. */
function others(question, host) {
  const { held } = question;
  const looks = held?.by && host.now() - Date.parse(held.at) < LOOKED ? [held.by] : [];
  const shown = host.store.clients.filter((client) => client.question === question.id).map((client) => client.name);
  const names = [...new Set([...looks, ...shown])].filter((name) => name !== host.store.you);
  if (names.length === 0) return "";
  return html`<p class="looking">${names.map(plain).join(", ")} ${names.length > 1 ? "are" : "is"} looking at this.</p>`;
}

function origin(question, run, host) {
  const around = question.path?.length || !run?.parent ? question.path ?? [] : [label(run.parent)];
  const path = [question.skill || run?.skill, ...around, question.step].filter(Boolean);
  const who = run?.started ? `started ${startedWords(run.startedBy, run.starter)}` : "";
  const parts = [
    html`<a href="#/runs/${question.run}">${path.map((part, at) => [at > 0 ? " › " : "", visible(part)])}</a>`,
    who,
    question.asked ? `asked ${ago(question.asked, host.now())}` : "",
    run?.environment ? `environment ${plain(run.environment)}` : "",
    approvalWords(question, run),
    byWords(question),
    question.driven === false ? "no process drives the run" : "",
  ];
  return parts.filter(Boolean).map((part, at) => [at > 0 ? " · " : "", part]);
}

function byWords(question) {
  if (question.by === "human") return "a person has to answer";
  const names = question.by?.names ?? (Array.isArray(question.by) ? question.by : null);
  return names ? `for ${names.map(plain).join(", ")}` : "";
}

function approvalWords(question, run) {
  const wanted = question.approvals ?? 1;
  if (wanted <= 1) return question.not_starter ? "another person has to agree, not the starter" : "";
  const agreed = run?.questions.get(question.id)?.agreed ?? question.agreed ?? [];
  const names = agreed.map((one) => plain(one.by)).join(", ");
  return `${wanted - question.missing} of ${wanted} agreed${names ? ` (${names})` : ""}${question.not_starter ? ", not the starter" : ""}`;
}

function optionOf(question, value) {
  return question.options?.find((one) => one.value === value);
}

/** The question in its own words; what a failed step wrote stands apart from them. */
function message(question) {
  const text = question.message.trim();
  if (question.purpose === "recover") {
    const [, first, rest] = /^(.*?)(?:\n\s*\n([^]*))?$/s.exec(text);
    return html`<p class="message">${prose(first)}</p>${rest ? output("What it wrote", rest) : ""}`;
  }
  // A question without a title has its words as the heading.
  return !ownTitle(question) && heading(question) === text ? "" : html`<p class="message">${prose(question.message)}</p>`;
}

function output(name, text) {
  return html`<div class="command" tabindex="0" role="group" aria-label=${name}><span class="line">${visible(text)}</span></div>`;
}

/** When time is up: the question's own, or the run's if that comes first. */
function limitOf(question, run) {
  const own = question.deadline ? Date.parse(question.deadline) : Infinity;
  const ofRun = run?.deadline && !run.ended ? Date.parse(run.deadline) : Infinity;
  return { at: Math.min(own, ofRun), endsRun: ofRun < own };
}

/** What happens when the time is up; `expiry_words` of the prompters says the same. */
function expiryWords(question, endsRun) {
  if (endsRun) return "then the run ends";
  if (question.default === undefined || question.default === null) return "then declined";
  const fallback = optionOf(question, question.default);
  if (fallback?.action === "cancel") return `then “${plain(fallback.label)}”`;
  const taken = question.secret ? "the default" : `“${plain(fallback?.label ?? question.default)}”`;
  return `then ${taken}, if someone is looking`;
}

function time(question, run, host) {
  const { at, endsRun } = limitOf(question, run);
  if (at === Infinity) {
    const words = question.unseen ? "waits until someone looks" : question.held ? "time stands still" : "no time limit";
    return html`<span class="clock">${words}</span>`;
  }
  const left = at - host.now();
  return html`<span class="clock"><span aria-hidden="true">${left > 0 ? countdown(left) : "time is up"}</span>
    <span class="visually-hidden">answer before ${clock(at)}</span><small>${expiryWords(question, endsRun)}</small></span>`;
}

function bar(question, run, host) {
  const { endsRun } = limitOf(question, run);
  if (endsRun || !question.deadline || !question.window) return html`<progress value="0" max="1" aria-hidden="true"></progress>`;
  const left = Math.max(0, Date.parse(question.deadline) - host.now());
  return html`<progress max="1000" value=${Math.round((1000 * left) / question.window)} aria-hidden="true"></progress>`;
}

const AROUND = new Set(["machine", "directory", "env", "stdin"]);

/** What would run: whole, with the machine and everything around it. */
export function commands(question, run) {
  const facts = question.facts ?? [];
  const failed = question.purpose === "recover" ? run?.steps.get(question.step) : null;
  if (failed && facts.length === 0) {
    // A retry runs what has failed, where it has run.
    const where = [["machine", failed.machine ?? run.host], ["project", run.workspace]].filter(([, told]) => told);
    const text = question.follows ?? failed.command;
    return text ? block(null, text, where.map(([kind, told]) => ({ kind, value: told })), null, "ran") : "";
  }
  const groups = new Map();
  for (const fact of facts) {
    const key = `${fact.answer ?? ""}\n${fact.step ?? ""}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(fact);
  }
  if (groups.size === 0) return question.follows ? block(null, question.follows, []) : "";
  const blocks = [...groups.values()].map((group, at) => {
    const command = group.find((fact) => fact.kind === "command" || fact.kind === "code");
    const text = at === 0 && question.follows && command?.kind !== "code" ? question.follows : command?.value;
    if (text === undefined || text === null) return "";
    return block(group[0], text, group, isShortened(text) ? command?.digest : null);
  });
  return blocks.some(Boolean) || !question.follows ? blocks : block(null, question.follows, facts);
}

function block(place, command, facts, cut, verb = "runs") {
  const fact = (kind) => facts.find((one) => one.kind === kind);
  const value = (kind) => fact(kind)?.value;
  const where = [
    place?.answer ? `“${plain(place.answer)}”` : "", place?.step ? `step ${plain(place.step)}` : "",
    value("machine") ? `on ${plain(value("machine"))}` : "", value("directory") ? `in ${plain(value("directory"))}` : "", value("project") ? `project ${plain(value("project"))}` : "",
  ].filter(Boolean).join(" · ");
  const env = facts.filter((one) => one.kind === "env");
  return html`<div class="command" tabindex="0" role="group" aria-label="What would run">
    <span class="around">${[verb, where].filter(Boolean).join(" ")}</span>
    <span class="line">${visible(command)}</span>
    ${shortened(cut)}
    ${env.length ? html`<span class="around">environment ${env.map((fact) => html`<code>${visible(`${fact.name}=${fact.value}`)}</code> `)}</span>` : ""}
    ${value("stdin") ? html`<span class="around">standard input</span><span class="line">${visible(value("stdin"))}</span>${shortened(isShortened(value("stdin")) ? fact("stdin").digest : null)}` : ""}</div>`;
}

function shortened(digest) {
  return digest ? html`<span class="around">shortened; sha256 of all of it: ${digest.slice(0, 16)}…</span>` : "";
}

/** What a yes covers, and what it does not. */
export function coverage(question) {
  const covered = (question.facts ?? []).filter((fact) => !AROUND.has(fact.kind) && fact.kind !== "command" && fact.kind !== "code");
  const not = question.not_covered ?? [];
  if (!question.facts && not.length === 0) return "";
  return html`<dl class="facts">
    <dt>a yes covers</dt><dd>${covered.length === 0 ? "exactly what is shown above" : html`what is shown above, and ${covered.map((fact, at) => [at > 0 ? "; " : "", factWords(fact)])}`}</dd>
    ${not.length ? html`<dt>not covered</dt><dd>${not.map((line) => html`<div>${prose(line)}</div>`)}</dd>` : ""}
  </dl>`;
}

function factWords(fact) {
  const digest = fact.digest ? html` <span class="soft" title=${fact.digest}>(sha256 ${fact.digest.slice(0, 12)})</span>` : "";
  return html`${fact.kind.replaceAll("_", " ")}${fact.name ? html` <code>${visible(fact.name)}</code>` : ""}${fact.step ? ` of ${plain(fact.step)}` : ""} <code>${visible(fact.value)}</code>${digest}`;
}

/** What has changed since someone agreed. */
function changes(question) {
  if (!question.changed?.length) return "";
  return html`<section class="stack"><h3>Changed since it was agreed to</h3>
    ${question.changed.map((change) => html`<div><p class="small">${prose(change.what)}</p>${difference(change.before ?? "", change.after ?? "")}</div>`)}</section>`;
}

/** The change that would repair what failed. */
function proposal(question, run) {
  const found = question.purpose === "recover" ? run?.steps.get(question.step)?.proposal : null;
  if (!found) return "";
  return html`<section class="stack"><h3>Proposed change: ${prose(found.why)}</h3>${unified(found.diff)}</section>`;
}

/** The steps before it. */
function soFar(question, run) {
  if (!run) return "";
  const failed = run.steps.get(question.step);
  const done = [...run.steps.values()].filter((step) => step.ended && step.name !== question.step);
  const all = question.purpose === "recover" ? failed?.process?.stderr || failed?.process?.stdout || "" : "";
  // What the question says already is not said again.
  const wrote = question.message.includes(all.trim()) ? "" : all;
  if (done.length === 0 && !wrote) return "";
  return html`
    ${wrote ? html`<details open><summary>The end of its output</summary>${output("The end of its output", wrote.trimEnd().split("\n").slice(-12).join("\n"))}</details>` : ""}
    ${done.length ? html`<div><h3 class="visually-hidden">So far</h3><ul class="steps">${done.map((step) => html`<li>
      <span class=${SIGNS[step.status]?.tone ?? "soft"} aria-hidden="true">${SIGNS[step.status]?.sign ?? "·"}</span>
      <span class="visually-hidden">${SIGNS[step.status]?.word ?? step.status}</span> ${visible(step.name)} ${duration(step.duration)}</li>`)}</ul></div>` : ""}`;
}

/** What memory knows of it. */
function known(question, run) {
  return recalled(question, run).map(({ label: kind, text }) => html`<p class="aside"><b>${kind}</b>: ${prose(text)}</p>`);
}

/** What assistants said: shown, never counted. */
function assistant(question, run) {
  const known = run?.questions.get(question.id) ?? question;
  const refused = (known.refusals ?? []).filter((one) => one.prompter === "assistant" || one.prompter === "elicited");
  const said = [
    ...(known.advice ?? []).map((one) => ({ by: one.by, label: optionOf(question, one.option)?.label, text: one.text })),
    ...refused.map((one) => ({ by: one.by, label: one.label, text: one.reason })),
  ];
  return said.slice(-3).map((one) => html`<p class="aside"><b>Assistant</b> ${visible(one.by)} (not counted)${one.label ? html`: suggests <b>${visible(one.label)}</b>` : ""}${one.text ? html`${one.label ? ". " : ": "}${prose(one.text)}` : ""}</p>`);
}

/** Where each answer leads. What the options of a question about a failure do stands beside them. */
function leads(question) {
  const rows = (question.options ?? []).map((option) => [option, leadWords(question, option)]).filter(([, words]) => words);
  if (rows.length === 0) return "";
  return html`<dl class="facts">${rows.map(([option, words]) => html`<dt>${visible(option.label)}</dt><dd>→ ${visible(words)}</dd>`)}</dl>`;
}

function leadWords(question, option) {
  const lead = question.leads?.find((one) => one.answer === option.value);
  return lead?.words ?? lead?.to ?? "";
}

const ENDED = { withdrawn: "withdrawn: the run ended first", decided: "decided while you were away" };

/** What counts when nobody answered. */
function takenWords(question, option, taken) {
  if (taken === null || taken === undefined) return "it counts as declined";
  return question.secret ? "its default was taken" : `“${plain(option?.label ?? value(taken))}” was taken`;
}

function decided(question, host) {
  const { decision } = question;
  let words;
  let tone = "soft";
  let sign = "·";
  if (question.state === "answered") {
    const option = optionOf(question, decision.value);
    const good = (option?.action ?? "proceed") === "proceed";
    [tone, sign] = good ? ["good", "✓"] : ["bad", "✗"];
    const what = question.secret ? "answered" : `“${plain(decision.label ?? option?.label ?? decision.value)}”`;
    const led = question.led ? (question.led.startsWith("(") ? ` · the run has ended ${question.led}` : ` · step ${plain(question.led)} has started`) : "";
    words = html`${what} by <b>${visible(decision.by)}</b>, ${proofWords(decision)}, ${ago(decision.at, host.now())}${decision.reason ? html` · “${visible(decision.reason)}”` : ""}${decision.remember ? ` · remembered (${decision.remember})` : ""}${led}`;
  } else if (question.state === "expired") {
    const option = optionOf(question, decision.value);
    words = `nobody answered in time; ${takenWords(question, option, decision.value)} · ${ago(decision.at, host.now())}`;
  } else {
    words = ENDED[question.state] ?? question.state;
  }
  return html`<article class="card done" id="question-${question.id}" tabindex="-1" aria-label=${plain(heading(question))}>
    <span class=${tone} aria-hidden="true">${sign}</span>
    <p><b>${prose(heading(question))}</b> <a href="#/runs/${question.run}">${visible([question.skill, question.step].filter(Boolean).join(" › "))}</a> · ${words}</p></article>`;
}

