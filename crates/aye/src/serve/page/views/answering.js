// Answering a card: its options, and what some of them need before they count.

import { html, live, nothing } from "../vendor/lit-anser.js";
import { plain, visible } from "../text.js";
import { rememberScopes } from "../words.js";
import { changed, editFields, fetchGiven } from "./edits.js";

// Who does nothing for so long is not looking any more.
const LOOKS = 30_000;
// A click this soon after the list moved was meant for something else.
export const SETTLE = 350;

const held = new Map();

/** Someone is looking: for so long the question keeps at least half a minute, within the limit, on all surfaces. More is left as it is. */
export function hold(question, host) {
  if (question.state !== "open" || !host.connected() || !host.may("answer")) return;
  const timer = held.get(question.id);
  if (timer === undefined && !question.deadline) return;
  clearTimeout(timer);
  if (timer === undefined) host.transport.command("hold", { question: question.id }).catch(() => {});
  held.set(question.id, setTimeout(() => release(question.id, host), LOOKS));
}

function release(id, host) {
  clearTimeout(held.get(id));
  held.delete(id);
  host.transport.command("release", { question: id }).catch(() => {});
}

/** Nobody looks at this page any more. */
export function releaseAll(host) {
  for (const id of [...held.keys()]) release(id, host);
}

/** What was typed into a card. It belongs to the question as it was shown, and is gone when that changes. */
export function draftOf(question, host) {
  const known = host.drafts.get(question.id);
  if (known?.digest === question.digest) return known;
  const draft = {
    digest: question.digest, reason: "", remember: "", typed: "", code: "", text: question.kind === "input" && !question.secret ? question.default ?? "" : "",
    choice: question.default ?? "", busy: false, error: null, editing: false, before: {}, after: {}, data: new Set(),
  };
  host.drafts.set(question.id, draft);
  return draft;
}

/** Whether this option takes everything that a yes takes. */
export function commits(question, option) {
  return option.action === "proceed" || (option.action === "skip" && question.purpose === "recover");
}

/** Why an option cannot be chosen now; nothing if it can. */
export function obstacle(question, option, draft, host) {
  if (!host.connected()) return "not connected";
  if (!host.may("answer")) return "you may not answer";
  if (draft.busy) return "being sent";
  if (!commits(question, option)) return null;
  if (question.typed && draft.typed !== question.typed) return `type “${plain(question.typed)}” first`;
  if (question.reauth && !/^\d{6,8}$/.test(draft.code)) return "enter your one-time code first";
  return null;
}

/** Whether the list has just moved; says so. */
export function hasMoved(host) {
  const moved = performance.now() - host.store.moved < SETTLE;
  if (moved) host.toast("The list just changed; look again and choose once more.");
  return moved;
}

/** Sends an answer, bound to the digest of what this card shows. */
export async function answer(question, choice, host, { set, settled = false } = {}) {
  const draft = draftOf(question, host);
  if (draft.busy || (!settled && hasMoved(host))) return;
  draft.busy = true;
  draft.error = null;
  host.refresh();
  try {
    const taken = await host.transport.command("answer", {
      question: question.id, digest: draft.digest, choice,
      ...(draft.reason ? { reason: draft.reason } : {}),
      ...(draft.remember ? { remember: draft.remember } : {}),
      ...(draft.typed ? { typed: draft.typed } : {}),
      ...(draft.code ? { code: draft.code } : {}),
      ...(set ? { set } : {}),
    });
    if (taken?.not_resumed) {
      // The run around it is the one that does not continue.
      (host.ui.notResumed ??= new Map()).set(taken.outermost, taken.not_resumed);
      host.toast(`Your answer is recorded. The run does not continue yet: ${plain(taken.not_resumed)}`);
    }
    host.drafts.delete(question.id);
  } catch (error) {
    draft.error = error;
    draft.code = "";
    // The question may still be open for others to agree: what it needs is asked anew.
  } finally {
    draft.busy = false;
    host.refresh();
  }
}

/** The lower end of a card. */
export function actions(question, host, run) {
  const draft = draftOf(question, host);
  const set = (name) => (event) => {
    draft[name] = event.target.value;
    host.refresh();
  };
  const id = (name) => `${name}-${question.id}`;
  const submit = (event) => {
    event.preventDefault();
    if (question.kind === "input") answer(question, draft.text, host);
  };
  return html`<form class="acts" @submit=${submit} novalidate>
    ${draft.error ? html`<p class="error wide" role="alert">${visible(draft.error.message)}${draft.error.hint ? html` <span class="soft">${visible(draft.error.hint)}</span>` : ""}</p>` : ""}
    ${question.kind === "input" ? input(question, draft, host, id("text")) : ""}
    ${question.typed ? html`<div class="field wide"><label for=${id("typed")}>Type <code>${visible(question.typed)}</code> to agree</label>
      <input id=${id("typed")} type="text" autocomplete="off" autocapitalize="none" spellcheck="false" .value=${live(draft.typed)} @input=${set("typed")}></div>` : ""}
    ${question.reauth ? html`<div class="field"><label for=${id("code")}>One-time code</label>
      <input id=${id("code")} type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="8" .value=${live(draft.code)} @input=${set("code")}></div>` : ""}
    ${draft.editing ? editor(question, draft, host, run) : options(question, draft, host, run)}
    ${draft.editing ? "" : html`<div class="field"><label for=${id("reason")}>Reason (kept in the record)</label>
      <input id=${id("reason")} type="text" autocomplete="off" maxlength="2000" .value=${live(draft.reason)} @input=${set("reason")}></div>`}
    ${question.remember && !draft.editing ? remember(question, draft, set("remember"), id("remember")) : ""}
  </form>`;
}

function options(question, draft, host, run) {
  const all = question.options ?? [];
  if (question.kind === "choose" && all.length > 4) return longChoice(question, draft, host);
  const first = all.findIndex((option) => option.action === "proceed");
  return all.length ? html`<div class="choices" role="group" aria-label="Answers">${all.map((option, at) => {
    const why = obstacle(question, option, draft, host);
    const choose = () => {
      if (option.value === "edit" && question.purpose === "recover") startEditing(question, draft, host, run);
      else answer(question, option.value, host);
    };
    return html`<button type="button" class=${at === first && question.kind !== "recover" ? "yes" : ""} ?disabled=${why !== null} title=${why ?? nothing}
      data-choice=${option.value} @click=${choose}>${visible(option.label)}${option.description ? html`<small>${visible(option.description)}</small>` : ""}</button>`;
  })}</div>` : "";
}

/** A list that is too long for buttons. */
function longChoice(question, draft, host) {
  const option = question.options.find((one) => one.value === draft.choice) ?? null;
  const why = option ? obstacle(question, option, draft, host) : "choose one";
  return html`<fieldset class="choices stack"><legend class="visually-hidden">Answers</legend>${question.options.map((one) => html`<label class="row">
      <input type="radio" name="choice-${question.id}" .checked=${live(draft.choice === one.value)} @change=${() => {
        draft.choice = one.value;
        host.refresh();
      }}> ${visible(one.label)} ${one.description ? html`<span class="soft">${visible(one.description)}</span>` : ""}</label>`)}
    <button type="button" class="yes" ?disabled=${why !== null} title=${why ?? nothing} @click=${() => answer(question, draft.choice, host)}>Choose</button></fieldset>`;
}

function input(question, draft, host, id) {
  const asked = { action: "proceed" };
  const why = draft.text === "" && !question.options?.length ? "write something first" : obstacle(question, asked, draft, host);
  const change = (event) => {
    draft.text = event.target.value;
    host.refresh();
  };
  return html`<div class="field wide"><label for=${id}>Your answer${question.match ? html` <span class="soft">must match <code>${visible(question.match)}</code></span>` : ""}</label>
    <div class="row"><input class="grow" id=${id} type=${question.secret ? "password" : "text"} autocomplete="off" .value=${live(draft.text)} @input=${change}>
    <button type="submit" class="yes" ?disabled=${why !== null} title=${why ?? nothing}>Send</button></div></div>`;
}

function remember(question, draft, set, id) {
  const scopes = rememberScopes(question);
  const chosen = scopes.find((one) => one.scope === draft.remember);
  return html`<div class="field"><label for=${id}>Remember</label>
    <select id=${id} .value=${live(draft.remember)} @change=${set}>
      <option value="">no, ask again</option>${scopes.map((one) => html`<option value=${one.scope}>${one.label}</option>`)}
    </select>
    ${chosen ? html`<span class="about">${chosen.covers}</span>` : ""}</div>`;
}

/** A failed step is tried again with changes, which are shown first. */
async function startEditing(question, draft, host, run) {
  try {
    const { given, data } = await fetchGiven(host, question.run, run?.steps.get(question.step), question.facts);
    Object.assign(draft, { before: given, after: given, data, editing: true });
  } catch (error) {
    draft.error = error;
  }
  host.refresh();
}

function editor(question, draft, host) {
  const set = changed(draft.before, draft.after, draft.data);
  const why = Object.keys(set).length === 0 ? "change something first" : obstacle(question, { action: "proceed" }, draft, host);
  const change = (after) => {
    draft.after = after;
    host.refresh();
  };
  return html`<fieldset class="stack wide"><legend class="small soft">Retry ${visible(question.step)} with changes</legend>
    ${editFields(`edit-${question.id}`, draft.before, draft.after, change)}
    <div class="row"><button type="button" class="yes" ?disabled=${why !== null} title=${why ?? nothing} @click=${() => answer(question, "edit", host, { set })}>Retry with these changes</button>
      <button type="button" @click=${() => {
        draft.editing = false;
        host.refresh();
      }}>Back</button></div></fieldset>`;
}
