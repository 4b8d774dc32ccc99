// Runs: a list that filters and stays up to date.

import { html, repeat } from "../vendor/lit-anser.js";
import { duration, moment, plain, plural, visible } from "../text.js";
import { runSign } from "./signs.js";
import { startedWords } from "./started.js";

const STATUSES = ["running", "queued", "waiting", "paused", "cut-off", "completed", "failed", "cancelled"];
const STARTERS = ["terminal", "script", "assistant", "schedule", "web", "editor", "api"];
// How many runs are read at once.
const WANTED = 50;

export function runsView(host, query) {
  const filter = Object.fromEntries(["skill", "status", "by", "text"].map((name) => [name, query.get(name) ?? ""]));
  const list = listOf(host, filter);
  const change = (name) => (event) => {
    const next = { ...filter, [name]: event.target.value };
    const words = new URLSearchParams(Object.entries(next).filter(([, one]) => one !== ""));
    history.replaceState(history.state, "", `#/runs${words.size ? `?${words}` : ""}`);
    host.refresh();
  };
  const rows = merged(host, list, filter);
  return html`<h1 class="visually-hidden">Runs</h1>
    <form class="filters" role="search" aria-label="Filter runs" @submit=${(event) => event.preventDefault()}>
      <div class="field grow"><label for="filter-text">Text</label><input id="filter-text" type="search" .value=${filter.text} @input=${change("text")} placeholder="id, skill, step, message"></div>
      <div class="field"><label for="filter-skill">Skill</label><input id="filter-skill" type="text" autocomplete="off" .value=${filter.skill} @change=${change("skill")} list="skill-names">
        <datalist id="skill-names">${[...new Set(rows.map((row) => row.skill))].map((name) => html`<option value=${name}></option>`)}</datalist></div>
      ${choice("status", "Status", STATUSES, filter.status, change("status"))}
      <div class="field"><label for="filter-by">Started by</label><input id="filter-by" type="text" autocomplete="off" .value=${filter.by} @change=${change("by")} list="starters" placeholder="a name, web, …">
        <datalist id="starters">${[...new Set([...STARTERS, ...rows.map((row) => row.starter)])].map((name) => html`<option value=${name}></option>`)}</datalist></div>
    </form>
    ${host.store.runsBeyond ? html`<p class="note" role="status">${plural(host.store.runsBeyond, "more run")} that ${host.store.runsBeyond === 1 ? "has" : "have"} not ended: listed here as far as you read, and up to date from then on.</p>` : ""}
    ${list.error ? html`<p class="error" role="alert">${visible(list.error.message)}</p>` : ""}
    ${rows.length ? html`<ul class="list runs">${repeat(rows, (row) => row.run, (row) => line(row, host))}</ul>` : html`<p class="empty" role="status">${list.loading ? "Loading…" : "No runs."}</p>`}
    ${list.next ? html`<button type="button" ?disabled=${list.loading} @click=${() => load(host, list)}>${list.loading ? "Loading…" : "Older runs"}</button>` : ""}`;
}

function choice(name, words, all, chosen, change) {
  return html`<div class="field"><label for="filter-${name}">${words}</label><select id="filter-${name}" .value=${chosen} @change=${change}>
    <option value="">any</option>${all.map((one) => html`<option value=${one} ?selected=${one === chosen}>${one}</option>`)}</select></div>`;
}

function line(row, host) {
  const sign = runSign(row.status);
  const took = row.duration_ms ?? (row.ended ? null : host.now() - Date.parse(row.started));
  const about = [
    row.step && !row.ended ? `at ${plain(row.step)}` : "", row.waits_for ? `run ${row.waits_for} holds ${plain(row.concurrency ?? "")}` : "", row.message ? plain(row.message) : "", row.environment ? plain(row.environment) : "",
    `started ${startedWords(row.started_by, row.starter ?? row.user)}`,
  ].filter(Boolean).join(" · ");
  return html`<li><a class="item" href="#/runs/${row.run}"><span class="sign ${sign.tone}" aria-hidden="true">${sign.sign}</span>
    <span class="what"><span><span class="name">${visible(row.skill)}</span> <span class="soft mono">${row.run}</span></span> <span class=${sign.tone}>${sign.word}${row.waiting > 1 ? ` (${row.waiting})` : ""}</span></span>
    <span class="when">${duration(took)} · ${moment(row.started, host.now())}</span><span class="about">${about}</span></a></li>`;
}

/** The pages of a filter, as far as they were read. */
function listOf(host, filter) {
  const key = JSON.stringify(filter);
  if (host.ui.runs?.key !== key) {
    host.ui.runs = { key, filter, rows: [], next: null, loading: false, error: null };
    load(host, host.ui.runs);
  }
  return host.ui.runs;
}

/** Reads the next page of the runs that fit. */
async function load(host, list) {
  list.loading = true;
  const path = new URLSearchParams({ limit: String(WANTED) });
  for (const [name, wanted] of Object.entries(list.filter)) if (wanted) path.set(name, wanted);
  if (list.next) path.set("before", String(list.next));
  try {
    const page = await host.transport.get(`/runs?${path}`);
    list.rows.push(...page.runs);
    // From here on events keep them up to date.
    for (const row of page.runs) if (!host.store.rows.has(row.run)) host.store.rows.set(row.run, { ...row });
    list.next = page.next;
    list.error = null;
  } catch (error) {
    list.error = error;
  }
  list.loading = false;
  host.refresh();
}

function fits(row, filter) {
  const text = filter.text.toLowerCase();
  return (!filter.skill || row.skill === filter.skill) && (!filter.status || row.status === filter.status)
    && (!filter.by || row.starter === filter.by || row.started_by === filter.by)
    && (!text || [row.run, row.skill, row.step, row.message, row.environment, row.starter].some((one) => one?.toLowerCase().includes(text)));
}

/** What was listed, as it is now, with what began since. */
function merged(host, list, filter) {
  const rows = new Map(list.rows.map((row) => [row.run, row]));
  for (const row of host.store.rows.values()) {
    if (row.parent) continue;
    const known = rows.get(row.run);
    if (known) rows.set(row.run, row.updated >= known.updated ? { ...known, ...row } : known);
    // What is older than the pages read so far comes with the next one.
    else if (!list.loading && (!list.next || row.n >= list.next)) rows.set(row.run, row);
  }
  return [...rows.values()].filter((row) => fits(row, filter)).sort((a, b) => b.n - a.n);
}
