// The inbox: every open question as a card, the oldest first, so that a new one never moves the others.

import { html, repeat } from "../vendor/lit-anser.js";
import { heading, plain, plural, prose, visible } from "../text.js";
import { load } from "../loading.js";
import { answer, commits, draftOf, hasMoved, hold, obstacle } from "./answering.js";
import { card, commands, coverage } from "./card.js";

// How many cards are drawn at once.
const PAGE = 30;

export function inboxView(host) {
  const all = host.store.list();
  const shown = all.slice(0, host.ui.inboxShown ?? PAGE);
  const open = all.filter((question) => question.state === "open");
  for (const question of shown) if (question.state === "open") host.need(question.run);
  const beyond = Math.max(0, host.store.questionsOpen - open.length);
  return html`<h1 class="visually-hidden">Inbox</h1>
    ${host.store.ready && open.length === 0 ? html`<p class="empty">Nothing waits for an answer.</p>` : ""}
    ${host.store.ready ? "" : html`<p class="empty" role="status">Loading…</p>`}
    ${batches(open, host)}
    ${repeat(shown, (question) => question.id, (question) => card(question, host))}
    ${all.length > shown.length || beyond ? html`<div class="row spread"><span class="note">${plural(all.length - shown.length + beyond, "more question")}</span>
      <button type="button" @click=${() => more(host, all.length > shown.length)}>Show more</button></div>` : ""}`;
}

/** The question of an address: in the inbox while it is listed there, else alone, with who decided. */
export function questionView(host, id) {
  const listed = host.store.list().slice(0, host.ui.inboxShown ?? PAGE);
  if (listed.some((question) => question.id === id)) return inboxView(host);
  const back = html`<p><a href="#/inbox">Inbox</a></p>`;
  if (!host.store.ready) return html`<p class="empty" role="status">Loading…</p>`;
  const { data, error } = load(host, `question ${id}`, () => host.transport.get(`/questions/${encodeURIComponent(id)}`));
  if (error) return html`<h1>Question ${visible(id)}</h1><p class="error" role="alert">${visible(error.message)}</p>${back}`;
  const known = host.store.questions.get(id);
  if (data) host.need(data.run);
  // The run's journal has who decided it; a question of another run inside it is with that run.
  const told = data ? host.run(data.run)?.questions.get(data.question) : null;
  const question = known ?? (told ? { ...data, ...told, skill: data.skill, path: data.path, id: data.question } : null);
  return html`<h1 class="visually-hidden">Question</h1>${question ? card(question, host) : html`<p class="empty" role="status">Loading…</p>`}${back}`;
}

async function more(host, known) {
  host.ui.inboxShown = (host.ui.inboxShown ?? PAGE) + PAGE;
  if (!known) await host.store.moreQuestions();
  host.refresh();
}

/** Questions that differ only in their run or item: the same step, kind and options. */
function alike(open) {
  const groups = new Map();
  for (const question of open) {
    if (question.kind !== "confirm" || question.typed || question.reauth || (question.approvals ?? 1) > 1) continue;
    const key = JSON.stringify([question.skill, question.step, question.purpose, question.options.map((option) => [option.value, option.label])]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(question);
  }
  return [...groups].filter(([, group]) => group.length > 1);
}

function environmentOf(question, host) {
  const run = host.run(question.run);
  return run?.environment ? html`<span class="note">environment ${visible(run.environment)}</span>` : "";
}

function batches(open, host) {
  return alike(open).map(([key, group]) => {
    host.ui.batches ??= new Map();
    const state = host.ui.batches.get(key) ?? { open: false, chosen: new Map(), left: 0 };
    host.ui.batches.set(key, state);
    // Only what was shown when it was ticked: its digest goes with it.
    const chosen = group.filter((question) => state.chosen.get(question.id) === question.digest);
    const toggle = (question) => (event) => {
      if (event.target.checked) state.chosen.set(question.id, question.digest);
      else state.chosen.delete(question.id);
      host.refresh();
    };
    const answerAll = async (option) => {
      if (state.left || hasMoved(host)) return;
      for (const [at, question] of chosen.entries()) {
        // What was unticked meanwhile is not answered.
        state.left = chosen.length - at;
        if (!state.chosen.delete(question.id) || obstacle(question, option, draftOf(question, host), host)) continue;
        await answer(question, option.value, host, { settled: true });
      }
      state.left = 0;
      host.refresh();
    };
    const [first] = group;
    // Who works on the list looks at all of them.
    const touch = () => group.forEach((question) => hold(question, host));
    return html`<section class="panel batch" aria-label="Answer several together" @pointerdown=${touch} @keydown=${touch}>
      <div class="row spread"><span>${plural(group.length, "question")} of one kind: <b>${prose(heading(first))}</b> <span class="soft">${visible(first.skill)} › ${visible(first.step)}</span></span>
        <button type="button" aria-expanded=${state.open ? "true" : "false"} @click=${() => {
          state.open = !state.open;
          host.refresh();
        }}>${state.open ? "Close" : "Answer together"}</button></div>
      ${state.open ? html`<ul>${group.map((question) => html`<li>
          <input type="checkbox" id="batch-${question.id}" .checked=${state.chosen.get(question.id) === question.digest} @change=${toggle(question)}>
          <div class="stack"><label for="batch-${question.id}">${visible((question.path ?? []).join(" › "))} ${prose(question.message)}</label>
            ${environmentOf(question, host)}${commands(question, host.run(question.run))}${coverage(question)}</div></li>`)}</ul>
        <div class="row"><button type="button" class="quiet" @click=${() => {
          for (const question of group) state.chosen.set(question.id, question.digest);
          host.refresh();
        }}>Select all ${group.length}</button>
        ${first.options.map((option) => html`<button type="button" class=${commits(first, option) ? "yes" : ""} ?disabled=${chosen.length === 0 || state.left > 0 || !host.connected()}
          @click=${() => answerAll(option)}>${plain(option.label)} (${chosen.length})</button>`)}
        ${state.left ? html`<span class="note" role="status">${plural(state.left, "answer")} to send</span>` : ""}</div>` : ""}
    </section>`;
  });
}
