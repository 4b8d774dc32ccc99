// Skills: what there is, a form to start one, what it would do, and how it went before.

import { html, nothing } from "../vendor/lit-anser.js";
import { drawing } from "../graph.js";
import { fields, values } from "../form.js";
import { load } from "../loading.js";
import { duration, moment, plain, plural, prose, visible } from "../text.js";
import { runSign } from "./signs.js";

// How many runs of a skill are listed.
const LAST = 10;

export function skillsView(host) {
  const { data, error } = load(host, "skills", () => host.transport.get("/skills"));
  if (error) return html`<h1>Skills</h1><p class="error" role="alert">${visible(error.message)}</p>`;
  if (!data) return html`<p class="empty" role="status">Loading…</p>`;
  const text = (host.ui.skillText ?? "").toLowerCase();
  const shown = data.skills.filter((one) => !text || `${one.skill} ${one.description ?? ""} ${one.file}`.toLowerCase().includes(text));
  return html`<h1 class="visually-hidden">Skills</h1>
    <form class="filters" role="search" aria-label="Filter skills" @submit=${(event) => event.preventDefault()}><div class="field grow"><label for="skill-text">Text</label>
      <input id="skill-text" type="search" placeholder="name, description, file" @input=${(event) => {
        host.ui.skillText = event.target.value;
        host.refresh();
      }}></div></form>
    ${shown.length ? html`<ul class="list">${shown.map(line)}</ul>` : html`<p class="empty">No skills.</p>`}`;
}

function line(one) {
  const asks = one.steps.filter((step) => step.asks).length;
  const about = [one.description, `${plural(one.steps.length, "step")}${asks ? `, ${plural(asks, "question")}` : ""}`, one.file, one.trusted ? "" : "its project is not trusted"].filter(Boolean).map(plain).join(" · ");
  return html`<li><a class="item" href="#/skills/${encodeURIComponent(one.skill)}?${new URLSearchParams({ project: one.project })}"><span class="sign ${one.errors ? "bad" : "soft"}" aria-hidden="true">${one.errors ? "✗" : "▸"}</span>
    <span class="name">${visible(one.skill)}</span><span class="when">${one.errors ? html`<span class="bad">${plural(one.errors, "error")}</span>` : ""}</span><span class="about">${about}</span></a></li>`;
}

export function skillView(host, [name], query) {
  const project = query.get("project");
  const about = project ? `?${new URLSearchParams({ project })}` : "";
  const path = `/skills/${encodeURIComponent(name)}`;
  const { data: skill, error } = load(host, `skill ${name} ${project}`, () => host.transport.get(`${path}${about}`));
  if (error) return html`<h1>${visible(name)}</h1><p class="error" role="alert">${visible(error.message)}</p>`;
  if (!skill) return html`<p class="empty" role="status">Loading…</p>`;
  return html`<h1>${visible(skill.skill)}</h1>
    ${skill.description ? html`<p>${visible(skill.description)}</p>` : ""}
    <p class="note">${visible(skill.file)} · ${visible(skill.project)}</p>
    ${starter(host, skill, project, query.has("plan"))}
    ${graph(host, `${path}/graph${about}`)}
    ${lastRuns(host, skill)}`;
}

/** The form; with `isPlanned`, the plan is shown at once. */
function starter(host, skill, project, isPlanned) {
  host.ui.starts ??= new Map();
  const key = `${skill.project}\n${skill.skill}`;
  if (!host.ui.starts.has(key)) host.ui.starts.set(key, { wrong: {}, error: null, plan: null, planned: false, busy: false, key: crypto.randomUUID() });
  const state = host.ui.starts.get(key);
  const blocked = !host.connected() || !host.may("start") || !skill.trusted || skill.errors > 0 || state.busy;
  const read = (form) => {
    const { inputs, wrong } = values(skill.inputs, form);
    state.wrong = wrong;
    state.error = null;
    return Object.keys(wrong).length === 0 && form.reportValidity() ? { skill: skill.skill, inputs, ...(project ? { project } : {}) } : null;
  };
  const during = async (work) => {
    state.busy = true;
    host.refresh();
    try {
      await work();
    } catch (error) {
      state.error = error;
    }
    state.busy = false;
    host.refresh();
  };
  const start = (event) => {
    event.preventDefault();
    const body = read(event.target);
    const environment = event.target.elements.namedItem(" environment").value;
    if (body) {
      during(async () => {
        // The same key until it has started: a click that is sent twice starts one run.
        const started = await host.transport.command("start", { ...body, ...(environment ? { environment } : {}), key: state.key });
        state.key = crypto.randomUUID();
        for (const warning of started.warnings ?? []) host.toast(warning);
        host.go(`runs/${started.run}`);
      });
    } else host.refresh();
  };
  const makePlan = (inputs) => during(async () => {
    state.plan = null;
    state.plan = await host.transport.post(`/skills/${encodeURIComponent(skill.skill)}/dry-run`, { inputs, ...(project ? { project } : {}) });
  });
  const dryRun = (event) => {
    const body = read(event.target.closest("form"));
    if (body) makePlan(body.inputs);
    else host.refresh();
  };
  if (isPlanned && !state.planned && host.connected() && !skill.inputs?.required?.length) {
    state.planned = true;
    makePlan({});
  }
  return html`<form class="panel stack" aria-label="Start ${plain(skill.skill)}" @submit=${start}>
    <h3>Start</h3>
    ${skill.trusted ? "" : html`<p class="error">The project is not trusted: it can be read, and nothing of it is started. <code>aye trust</code> in its directory changes that.</p>`}
    ${fields(skill.inputs, "input", state.wrong)}
    <div class="field"><label for="start-environment">Environment of the run</label><input id="start-environment" name=" environment" type="text" autocomplete="off" placeholder="(none)"></div>
    ${state.error ? html`<p class="error" role="alert">${visible(state.error.message)} ${visible(state.error.hint ?? "")}</p>` : ""}
    <div class="row"><button type="submit" class="yes" ?disabled=${blocked}>Start</button>
      <button type="button" ?disabled=${state.busy || !host.connected()} @click=${dryRun}>Dry run</button></div>
    ${state.plan ? plan(state.plan) : ""}</form>`;
}

/** What would happen. */
function plan(found) {
  return html`<section class="stack" aria-label="Dry run"><h3>What would happen · ${plural(found.questions, "question")}${found.end ? ` · ends in ${plain(found.end)}` : ""}</h3>
    <ol class="timeline">${found.steps.map((step, at) => html`<li class="step"><span class="soft">${at + 1}</span><span class="title">${visible(step.step)} <span class="soft small">${step.kind}</span>
      ${step.command ? html`<small><code>${visible(step.command)}</code></small>` : ""}${step.message ? html`<small class="ask">asks: ${prose(step.message)}</small>` : ""}
      ${step.condition ? html`<small>if ${visible(step.condition)}${step.holds === false ? " (not now)" : ""}</small>` : ""}</span><span class="took">${step.timeout ?? ""}</span></li>`)}</ol>
    ${found.warnings?.map((warning) => html`<p class="aside">${prose(warning)}</p>`)}</section>`;
}

function graph(host, path) {
  const { data, error } = load(host, `graph ${path}`, async () => drawing((await host.transport.text(path)).text));
  return html`<section class="panel stack" aria-label="Flow"><h3>Flow</h3>${error ? html`<p class="note">${visible(error.message)}</p>` : html`<div class="graph" tabindex="0" role="group" aria-label="Graph of the flow">${data ?? nothing}</div>`}</section>`;
}

function lastRuns(host, skill) {
  const { data } = load(host, `runs of ${skill.skill}`, () => host.transport.get(`/runs?${new URLSearchParams({ skill: skill.skill, limit: String(LAST) })}`));
  // As they are now, with those that began since.
  const rows = new Map((data?.runs ?? []).map((row) => [row.run, row]));
  for (const row of host.store.rows.values()) {
    if (row.skill === skill.skill && !row.parent && !(rows.get(row.run)?.updated > row.updated)) rows.set(row.run, row);
  }
  const last = [...rows.values()].sort((a, b) => b.n - a.n).slice(0, LAST);
  if (last.length === 0) return "";
  const longest = Math.max(1, ...last.map((row) => row.duration_ms ?? 0));
  return html`<section class="stack" aria-label="Last runs"><h3>Last runs</h3><ul class="list">${last.map((row) => {
    const sign = runSign(row.status);
    return html`<li><a class="item" href="#/runs/${row.run}"><span class="sign ${sign.tone}" aria-hidden="true">${sign.sign}</span><span><span class="mono">${row.run}</span> <span class=${sign.tone}>${sign.word}</span></span>
      <span class="when">${row.duration_ms ? html`<meter min="0" max=${longest} value=${row.duration_ms} aria-label="duration"></meter> ${duration(row.duration_ms)} · ` : ""}${moment(row.started, host.now())}</span></a></li>`;
  })}</ul></section>`;
}
