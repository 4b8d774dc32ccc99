// A run that failed is tried again, with changes if someone makes some: the difference is shown first.

import { html } from "../vendor/lit-anser.js";
import { plain, visible } from "../text.js";
import { changed, editFields, fetchGiven } from "./edits.js";

const FAILED = new Set(["failed", "timed_out", "interrupted", "unknown"]);

export function retryPanel(run, host) {
  const step = run.steps.get(run.failedStep) ?? [...run.steps.values()].findLast((one) => FAILED.has(one.status));
  if (!step) return "";
  const state = stateOf(run, step, host);
  const set = changed(state.before, state.after, state.data);
  const count = Object.keys(set).length;
  const send = async () => {
    Object.assign(state, { busy: true, error: null });
    host.refresh();
    try {
      await host.transport.command("retry", { run: run.id, step: step.name, key: state.key, ...(count ? { set } : {}) });
    } catch (error) {
      state.error = error;
    }
    state.busy = false;
    host.refresh();
  };
  const toggle = () => {
    Object.assign(state, { open: !state.open, after: state.before });
    host.refresh();
  };
  const change = (after) => {
    state.after = after;
    host.refresh();
  };
  const blocked = !host.connected() || !host.may("start") || state.busy || (state.open && count === 0);
  return html`<section class="panel stack" aria-label="Try again"><h3>Step ${visible(step.name)} failed</h3>
    ${state.error ? html`<p class="error" role="alert">${visible(state.error.message)} ${visible(state.error.hint ?? "")}</p>` : ""}
    ${state.open ? editFields(`retry-${run.id}`, state.before, state.after, change) : ""}
    <div class="row"><button type="button" ?disabled=${blocked} @click=${send}>${state.open ? "Retry with these changes" : `Retry ${plain(step.name)}`}</button>
      ${Object.keys(state.before).length ? html`<button type="button" aria-expanded=${state.open ? "true" : "false"} @click=${toggle}>${state.open ? "Without changes" : "Retry with changes…"}</button>` : ""}</div></section>`;
}

function stateOf(run, step, host) {
  host.ui.retries ??= new Map();
  const known = host.ui.retries.get(run.id);
  if (known?.execution === step.execution) return known;
  // The same key for this failure: a click that is sent twice tries the step once.
  const state = { execution: step.execution, key: crypto.randomUUID(), before: {}, after: {}, data: new Set(), open: false, error: null, busy: false };
  host.ui.retries.set(run.id, state);
  // Without it the step can be tried again as it was.
  fetchGiven(host, run.id, step).then(({ given, data }) => {
    Object.assign(state, { before: given, after: given, data });
  }, () => {}).finally(() => host.refresh());
  return state;
}
