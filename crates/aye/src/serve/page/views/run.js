// One run: where it stands, what happened, what it wrote, who decided what.

import { html, nothing } from "../vendor/lit-anser.js";
import { drawing, light } from "../graph.js";
import { ending, label, standings } from "../fold.js";
import { duration, heading, moment, plain, plural, prose, value, visible } from "../text.js";
import { card, proofWords } from "./card.js";
import { logPanel } from "./log.js";
import { retryPanel } from "./retry.js";
import { runSign, SIGNS } from "./signs.js";
import { startedWords } from "./started.js";

export function runView(host, [id, stepName, execution], query) {
  const loaded = treeOf(host, id);
  if (loaded.error) return html`<h1>Run ${visible(id)}</h1><p class="error" role="alert">${visible(loaded.error.message)} ${visible(loaded.error.hint ?? "")}</p>`;
  const tree = host.store.trees.get(id);
  if (!tree) return html`<p class="empty" role="status">Loading…</p>`;
  const run = tree.runs.get(id) ?? [...tree.runs.values()][0];
  const open = host.store.list().filter((question) => question.state === "open" && tree.runs.has(question.run));
  const chosen = chooseLog(tree, run, stepName, execution);
  const waiting = open.length > 0 && !run.ended;
  const queued = run.waitsFor && run.status === "running";
  const sign = runSign(waiting ? "waiting" : queued ? "queued" : run.status);
  return html`<div class="row spread"><h1><span class=${sign.tone} aria-hidden="true">${sign.sign}</span> ${visible(run.skill)} <span class="soft mono">${run.id}</span></h1>
      <div class="row">${run.ended ? "" : cancelButton(host, run)}</div></div>
    <p class="note">${head(run, sign, host)}</p>
    ${run.waitsFor && !run.ended ? html`<p class="note" role="status">Run <a href="#/runs/${run.waitsFor.holder}" class="mono">${run.waitsFor.holder}</a> has the name <b>${visible(run.waitsFor.name)}</b>. This run continues when that one has ended.</p>` : ""}
    ${run.message && run.ended ? html`<p class=${run.status === "completed" ? "note" : "error"}>${prose(run.message)}</p>` : ""}
    <div class="run"><div class="stack answers">${open.map((question) => card(question, host))}</div>
      <div class="stack">
        <section class="panel" aria-label="Timeline">${timeline(tree, run, host, chosen)}</section>
        ${about(run)}
      </div>
      <div class="stack">
        ${run.ended && run.status === "failed" ? retryPanel(run, host) : ""}
        ${waiting ? "" : resumePanel(host, run)}
        ${graphPanel(host, run)}
        ${chosen ? logPanel(host, chosen, query) : ""}
        ${decisions(tree, host)}
        ${memory(tree)}
      </div></div>`;
}

function treeOf(host, id) {
  host.ui.opened ??= new Map();
  let opened = host.ui.opened.get(id);
  if (!opened || !host.store.trees.has(id)) {
    if (opened?.loading) return opened;
    opened = { loading: true, error: opened?.error ?? null };
    host.ui.opened.set(id, opened);
    host.store.tree(id).then(() => {
      opened.error = null;
    }, (error) => {
      opened.error = error;
    }).finally(() => {
      opened.loading = Boolean(opened.error);
      host.refresh();
    });
  }
  return opened;
}

function head(run, sign, host) {
  const took = run.ended ? run.duration : host.now() - Date.parse(run.started);
  const parts = [
    html`<span class=${sign.tone}>${sign.word}${run.state ? ` (${plain(run.state)})` : ""}</span>`,
    html`started ${moment(run.started, host.now())} ${startedWords(run.startedBy, run.starter)}`,
    run.environment ? `environment ${plain(run.environment)}` : "", duration(took), run.stopping && !run.ended ? plain(run.stopping) : "",
    run.parent ? html`inside <a href="#/runs/${run.parent.run}">${visible(label(run.parent))}</a>` : "",
  ];
  return parts.filter(Boolean).map((part, at) => [at > 0 ? " · " : "", part]);
}

/** A run that nothing drives: why it does not continue, and what continues it. */
function resumePanel(host, run) {
  const row = host.store.rows.get(run.id);
  if (run.ended || run.parent || (run.status !== "paused" && row?.status !== "cut-off")) return "";
  host.ui.resuming ??= new Map();
  const state = host.ui.resuming.get(run.id) ?? {};
  const send = async () => {
    host.ui.resuming.set(run.id, { busy: true });
    host.refresh();
    const error = await host.transport.command("resume", { run: run.id }).then(() => null, (refused) => refused);
    host.ui.resuming.set(run.id, { error });
    host.refresh();
  };
  const why = state.error ? [state.error.message, state.error.hint].filter(Boolean).join("; ") : host.ui.notResumed?.get(run.id);
  return html`<section class="panel stack" aria-label="Resume"><p>No process drives this run. It continues in the background, or with <code>aye resume ${run.id}</code> at a terminal of ${visible(run.host || "its machine")}. If the outcome of a step is unknown, Aye asks first.</p>
    ${why ? html`<p class="error" role="alert">It was not resumed: ${visible(why)}</p>` : ""}
    <div class="row"><button type="button" ?disabled=${!host.connected() || !host.may("start") || state.busy} @click=${send}>Resume</button></div></section>`;
}

function cancelButton(host, run) {
  const state = (host.ui.cancelling ??= {});
  if (state.run !== run.id) {
    return html`<button type="button" class="danger" ?disabled=${!host.connected() || !host.may("start")} @click=${() => {
      host.ui.cancelling = { run: run.id, reason: "" };
      host.refresh();
    }}>Cancel the run…</button>`;
  }
  const send = async (event) => {
    event.preventDefault();
    try {
      await host.transport.command("cancel", { run: run.id, ...(state.reason ? { reason: state.reason } : {}) });
    } catch (error) {
      host.toast(error.message);
    }
    host.ui.cancelling = {};
    host.refresh();
  };
  return html`<form class="row" @submit=${send}><div class="field"><label for="cancel-reason">Reason (kept in the record)</label>
    <input id="cancel-reason" type="text" autocomplete="off" @input=${(event) => {
      state.reason = event.target.value;
    }}></div><button type="submit" class="danger" ?disabled=${!host.connected()}>Cancel the run</button>
    <button type="button" @click=${() => {
      host.ui.cancelling = {};
      host.refresh();
    }}>Back</button></form>`;
}

function timeline(tree, run, host, chosen) {
  const inside = [...tree.runs.values()].filter((one) => one.parent?.run === run.id);
  return html`<ol class="timeline">${[...run.steps.values()].map((step) => stepLine(tree, run, step, inside, host, chosen))}</ol>`;
}

const HAS_LOG = new Set(["command", "shell", "tool", "compute"]);

function stepLine(tree, run, step, inside, host, chosen) {
  const asking = step.question && run.questions.get(step.question)?.state === "open";
  const status = asking ? "asking" : step.status;
  const sign = SIGNS[status] ?? SIGNS.pending;
  const children = inside.filter((one) => one.parent.step === step.name);
  const counted = children.length ? `${children.filter((one) => one.ended).length} of ${Math.max(children.length, step.items?.length ?? 0)} done` : "";
  const took = step.ended ? duration(step.duration) : status === "running" && step.started ? duration(host.now() - Date.parse(step.started)) : "";
  const lines = [step.description, counted, step.attempt > 1 ? `attempt ${step.attempt}` : "", step.message, ...(step.notes ?? [])].filter(Boolean);
  const body = html`<span class="sign ${sign.tone} ${status === "running" ? "pulse" : ""}" aria-hidden="true">${sign.sign}</span>
    <span class="title"><span class="visually-hidden">${sign.word}: </span>${visible(step.name)} <span class="soft small">${step.kind ?? ""}</span>
      ${lines.map((line) => html`<small>${prose(line)}</small>`)}</span><span class="took">${took}</span>`;
  const now = asking ? "now asks" : status === "running" ? "now" : "";
  const opens = HAS_LOG.has(step.kind) && step.executions.length > 0;
  const isChosen = chosen?.run.id === run.id && chosen.step.name === step.name;
  return html`<li>${opens
    ? html`<button type="button" class="step ${now}" aria-pressed=${isChosen ? "true" : "false"} @click=${() => host.go(logPath(tree, run, step))}>${body}</button>`
    : html`<div class="step ${now} ${status === "pending" ? "later" : ""}">${body}</div>`}
    ${children.map((child) => html`<div class="inside"><a class="small" href="#/runs/${child.id}">${visible(label(child.parent))}</a>
      <span class="small ${runSign(child.status).tone}">${runSign(child.status).word} ${duration(child.duration)}</span>${timeline(tree, child, host, chosen)}</div>`)}</li>`;
}

function logPath(tree, run, step) {
  const path = run.id === tree.run ? step.name : `${run.id}:${step.name}`;
  return `runs/${tree.run}/${encodeURIComponent(path)}`;
}

/** The log that is shown: the one in the address, else the one that matters most. */
function chooseLog(tree, run, stepName, execution) {
  if (stepName) {
    const [inner, name] = stepName.includes(":") && tree.runs.has(stepName.split(":")[0]) ? [stepName.split(":")[0], stepName.slice(stepName.indexOf(":") + 1)] : [run.id, stepName];
    const owner = tree.runs.get(inner);
    const step = owner?.steps.get(name);
    return step?.executions.length ? { tree, run: owner, step, execution: Number(execution) || step.execution } : null;
  }
  const all = [...tree.runs.values()].flatMap((owner) => [...owner.steps.values()].filter((step) => HAS_LOG.has(step.kind) && step.executions.length).map((step) => ({ tree, run: owner, step, execution: step.execution })));
  return all.find((one) => one.step.status === "running") ?? all.findLast((one) => one.step.status === "failed") ?? all.at(-1) ?? null;
}

/** The graph, with the current step lit. */
function graphPanel(host, run) {
  host.ui.graphs ??= new Map();
  let graph = host.ui.graphs.get(run.id);
  if (!graph) {
    graph = { svg: null, error: null };
    host.ui.graphs.set(run.id, graph);
    host.transport.text(`/runs/${encodeURIComponent(run.id)}/graph`).then(({ text }) => {
      graph.svg = drawing(text);
    }, (error) => {
      graph.error = error;
    }).finally(() => host.refresh());
  }
  if (graph.svg) light(graph.svg, standings(run), ending(run));
  return html`<section class="panel stack" aria-label="Flow"><h3>Flow</h3>
    ${graph.error ? html`<p class="note">${visible(graph.error.message)}</p>` : html`<div class="graph" tabindex="0" role="group" aria-label="Graph of the flow">${graph.svg ?? nothing}</div>`}</section>`;
}

function about(run) {
  const inputs = Object.entries(run.inputs);
  const outputs = Object.entries(run.outputs);
  if (inputs.length + outputs.length === 0) return "";
  const rows = (all) => html`<dl class="facts">${all.map(([name, one]) => html`<dt>${visible(name)}</dt><dd><code>${visible(value(one))}</code></dd>`)}</dl>`;
  return html`<section class="panel stack" aria-label="Inputs and outputs">${inputs.length ? html`<h3>Inputs</h3>${rows(inputs)}` : ""}${outputs.length ? html`<h3>Outputs</h3>${rows(outputs)}` : ""}</section>`;
}

/** Every decision, with who made it and how strongly that is proven. */
function decisions(tree, host) {
  const all = [...tree.runs.values()].flatMap((run) => run.decisions).sort((a, b) => a.at.localeCompare(b.at));
  if (all.length === 0) return "";
  return html`<section class="panel stack" aria-label="Decisions"><h3>Decisions</h3><ol class="timeline">${all.map((one) => {
    const sign = one.refused ? ["✗", "ask"] : one.expired ? ["?", "ask"] : ["●", "link"];
    const where = one.machine ? ` · on ${plain(one.machine)}` : "";
    const who = one.expired ? `nobody answered in time; ${one.value === null ? "it counts as declined" : one.secret ? "its default was taken" : `“${plain(value(one.value))}” was taken`}` : [`by ${plain(one.by)}`, proofWords(one)].filter(Boolean).join(", ");
    return html`<li class="step"><span class="sign ${sign[1]}" aria-hidden="true">${sign[0]}</span><span class="title">${prose(heading(one))}${one.expired ? "" : html`: <b>${visible(one.label ?? value(one.value))}</b>`}
      <small>${who}${where}${one.refused ? html` · <span class="bad">refused: ${visible(one.refused)}</span>` : ""}${one.reason ? html` · “${visible(one.reason)}”` : ""}${one.remember ? ` · remembered (${one.remember})` : ""}</small>
      ${one.edits ? html`<small>with changes: <code>${visible(JSON.stringify(one.edits.set))}</code></small>` : ""}</span>
      <span class="took">${moment(one.at, host.now())}</span></li>`;
  })}</ol></section>`;
}

function memory(tree) {
  const all = [...tree.runs.values()].flatMap((run) => run.memory);
  if (all.length === 0) return "";
  return html`<section class="panel stack" aria-label="Memory"><h3>Memory · ${plural(all.length, "note")}</h3><ul class="stack">${all.map((one) => html`<li class="aside"><b>${one.learned ? "learned" : "recalled"} ${one.kind}</b>${one.step ? ` at ${plain(one.step)}` : ""}: ${prose(one.message)}</li>`)}</ul></section>`;
}

