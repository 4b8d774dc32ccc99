// A question as a card, top to bottom: what is asked, by whom, what would run, what a yes covers,
// what happened so far, what is known, where each answer leads, and the answers.

import { html } from "../vendor/lit-anser.js";
import { label } from "../fold.js";
import { ago, clock, countdown, duration, plain, prose, visible } from "../text.js";
import { difference, unified } from "../diff.js";
import { actions, hold } from "./answering.js";
import { SIGNS } from "./signs.js";
import { startedWords } from "./started.js";

const CHANNELS = {
  terminal: "at a terminal", command: "with aye answer", desktop: "in a desktop dialog", editor: "in an editor", web: "on the web page",
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
      <h2 id="title-${question.id}">${prose(question.title || "Question")}</h2>
      ${time(question, host)}
      <p class="from">${origin(question, run, host)}</p>
    </header>
    ${bar(question, host)}
    ${question.changedUnderHand ? html`<p class="banner" role="status">Asked again: something has changed. Read it again.</p>` : ""}
    ${others(question, host)}
    <div class="body">
      <p class="message">${prose(question.message)}</p>
      ${commands(question)}
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
  return html`<p class="banner looking">${names.map(plain).join(", ")} ${names.length > 1 ? "are" : "is"} looking at this.</p>`;
}

function origin(question, run, host) {
  const around = question.path?.length || !run?.parent ? question.path ?? [] : [label(run.parent)];
  const path = [question.skill || run?.skill, ...around, question.step].filter(Boolean);
  const who = run?.started ? `started ${startedWords(run.startedBy)} by ${plain(run.starter)}` : "";
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
  if (wanted <= 1) return "";
  const agreed = run?.questions.get(question.id)?.agreed ?? question.agreed ?? [];
  const names = agreed.map((one) => plain(one.by)).join(", ");
  return `${wanted - question.missing} of ${wanted} agreed${names ? ` (${names})` : ""}${question.not_starter ? ", not the starter" : ""}`;
}

function optionOf(question, value) {
  return question.options?.find((one) => one.value === value);
}

function time(question, host) {
  if (!question.deadline) {
    const words = question.unseen ? "waits until someone looks" : question.held ? "time stands still" : "no time limit";
    return html`<span class="clock">${words}</span>`;
  }
  const left = Date.parse(question.deadline) - host.now();
  const fallback = optionOf(question, question.default);
  let then = "then declined";
  if (fallback && fallback.action !== "cancel") then = `then “${plain(fallback.label)}”, if someone is looking`;
  else if (fallback) then = `then “${plain(fallback.label)}”`;
  return html`<span class="clock"><span aria-hidden="true">${left > 0 ? countdown(left) : "time is up"}</span>
    <span class="visually-hidden">answer before ${clock(question.deadline)}</span><small>${then}</small></span>`;
}

function bar(question, host) {
  if (!question.deadline || !question.window) return html`<progress value="0" max="1" aria-hidden="true"></progress>`;
  const left = Math.max(0, Date.parse(question.deadline) - host.now());
  return html`<progress max="1000" value=${Math.round((1000 * left) / question.window)} aria-hidden="true"></progress>`;
}

const AROUND = new Set(["machine", "directory", "env", "stdin"]);

/** What would run: whole, with the machine and everything around it. */
function commands(question) {
  const facts = question.facts ?? [];
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
    return block(group[0], text, group, command?.digest);
  });
  return blocks.some(Boolean) || !question.follows ? blocks : block(null, question.follows, facts);
}

function block(place, command, facts, cut) {
  const value = (kind) => facts.find((fact) => fact.kind === kind)?.value;
  const where = [
    place?.answer ? `“${plain(place.answer)}”` : "", place?.step ? `step ${plain(place.step)}` : "",
    value("machine") ? `on ${plain(value("machine"))}` : "", value("directory") ? `in ${plain(value("directory"))}` : "",
  ].filter(Boolean).join(" · ");
  const env = facts.filter((fact) => fact.kind === "env");
  return html`<div class="command" tabindex="0" role="group" aria-label="What would run">
    <span class="around">${where ? `runs ${where}` : "runs"}</span>
    <span class="line">${visible(command)}</span>
    ${cut ? html`<span class="around">shortened; sha256 of all of it: ${cut.slice(0, 16)}…</span>` : ""}
    ${env.length ? html`<span class="around">environment ${env.map((fact) => html`<code>${visible(`${fact.name}=${fact.value}`)}</code> `)}</span>` : ""}
    ${value("stdin") ? html`<span class="around">standard input</span><span class="line">${visible(value("stdin"))}</span>` : ""}</div>`;
}

/** What a yes covers, and what it does not. */
function coverage(question) {
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
  const output = question.purpose === "recover" ? failed?.process?.stderr || failed?.process?.stdout : "";
  if (done.length === 0 && !output) return "";
  return html`
    ${output ? html`<details ?open=${!question.message.includes(output.trim())}><summary>The end of its output</summary><div class="command" tabindex="0" role="group" aria-label="The end of its output"><span class="line">${visible(output.trimEnd().split("\n").slice(-12).join("\n"))}</span></div></details>` : ""}
    ${done.length ? html`<div><h3 class="visually-hidden">So far</h3><ul class="steps">${done.map((step) => html`<li>
      <span class=${SIGNS[step.status]?.tone ?? "soft"} aria-hidden="true">${SIGNS[step.status]?.sign ?? "·"}</span>
      <span class="visually-hidden">${SIGNS[step.status]?.word ?? step.status}</span> ${visible(step.name)} ${duration(step.duration)}</li>`)}</ul></div>` : ""}`;
}

/** What memory knows of it. */
function known(question, run) {
  const found = (run?.memory ?? []).filter((one) => !one.learned && (!one.step || one.step === question.step));
  const words = { issue: "Known issue", fix: "Known fix", preference: "Remembered answer", usage: "Keeps failing" };
  return found.slice(-5).map((one) => html`<p class="aside"><b>${words[one.kind] ?? "Known"}</b>: ${prose(one.message)}</p>`);
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

/** Where each answer leads. */
function leads(question) {
  const rows = (question.options ?? []).map((option) => [option, leadWords(question, option)]).filter(([, words]) => words);
  const isTold = !question.leads?.length && question.options?.every((option) => option.description);
  if (isTold || new Set(rows.map(([, words]) => words)).size < 2) return "";
  return html`<dl class="facts">${rows.map(([option, words]) => html`<dt>${visible(option.label)}</dt><dd>→ ${visible(words)}</dd>`)}</dl>`;
}

function leadWords(question, option) {
  const lead = question.leads?.find((one) => one.answer === option.value);
  if (lead) return lead.to ? `${lead.to}${lead.ends ? `, the run ends (${lead.ends})` : ""}` : `the run ends (${lead.ends ?? "completed"})`;
  if (question.purpose === "gate") {
    return { proceed: `runs ${question.step}`, cancel: `${question.step} does not run`, skip: `leaves ${question.step} out` }[option.action];
  }
  if (question.purpose === "recover") {
    return {
      retry: `runs ${question.step} again`, edit: `runs ${question.step} again with your changes`, skip: `leaves ${question.step} out; the run continues`,
      done: `counts ${question.step} as done; the run continues`, abort: "the run ends (failed)",
    }[option.value] ?? "";
  }
  return { proceed: "the run continues", cancel: "the run ends (cancelled)", skip: "the run continues without it" }[option.action] ?? "";
}

const ENDED = { withdrawn: "withdrawn: the run ended first", decided: "decided while you were away" };

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
    words = `nobody answered in time; ${option ? `“${plain(option.label)}” was taken` : "it counts as declined"} · ${ago(decision.at, host.now())}`;
  } else {
    words = ENDED[question.state] ?? question.state;
  }
  return html`<article class="card done" id="question-${question.id}" aria-label=${plain(question.title || "Question")}>
    <span class=${tone} aria-hidden="true">${sign}</span>
    <p><b>${prose(question.title || "Question")}</b> <a href="#/runs/${question.run}">${visible([question.skill, question.step].filter(Boolean).join(" › "))}</a> · ${words}</p></article>`;
}

