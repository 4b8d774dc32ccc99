// What a step was given, as fields that can be changed, and the difference that makes.

import { html, live } from "../vendor/lit-anser.js";
import { visible } from "../text.js";
import { difference } from "../diff.js";

/** What a step was given, by the names under which it can be changed; everything is text. */
export function givenOf(step, facts = []) {
  if (step?.argv?.length) return Object.fromEntries(step.argv.map((word, at) => [String(at), word]));
  const named = facts.filter((fact) => (fact.kind === "input" || fact.kind === "value") && fact.name);
  if (named.length) return Object.fromEntries(named.map((fact) => [fact.name, fact.value]));
  if (step?.kind === "shell" && step.command) return { script: step.command };
  if (step?.proposal?.code) return { code: step.proposal.code };
  return {};
}

/** The same with what only the server knows: the arguments of a tool, the code of a block. `data` names what is not text. */
export async function fetchGiven(host, run, step, facts) {
  const known = givenOf(step, facts);
  if (!step || Object.keys(known).length) return { given: known, data: new Set() };
  const { arguments: all } = await host.transport.get(`/runs/${encodeURIComponent(run)}/steps/${encodeURIComponent(step.name)}/arguments`);
  const entries = Object.entries(all);
  return {
    given: Object.fromEntries(entries.map(([name, one]) => [name, typeof one === "string" ? one : JSON.stringify(one)])),
    data: new Set(entries.filter(([, one]) => typeof one !== "string").map(([name]) => name)),
  };
}

/** Only what is different, as data. */
export function changed(before, after, data = new Set()) {
  const different = Object.entries(after).filter(([name, text]) => before[name] !== text);
  return Object.fromEntries(different.map(([name, text]) => [name, parse(text, data.has(name))]));
}

/** JSON where it is plainly JSON, or was data before; else the text itself. */
function parse(text, isData) {
  if (!isData && !/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function nameOf(name) {
  if (!/^\d+$/.test(name)) return name;
  return name === "0" ? "program" : `argument ${name}`;
}

function told(all, names) {
  return names.filter((name) => name in all).map((name) => `${nameOf(name)}: ${all[name]}`).join("\n");
}

/** The fields, and the difference once there is one. `change` is given everything as it is now. */
export function editFields(id, before, after, change) {
  const names = Object.keys(after);
  const words = names.filter((name) => /^\d+$/.test(name));
  return html`${names.map((name) => html`<div class="field"><label for="${id}-${name}">${visible(nameOf(name))}</label>
      <textarea id="${id}-${name}" rows=${Math.min(12, after[name].split("\n").length)} spellcheck="false" .value=${live(after[name])}
        @input=${(event) => change({ ...after, [name]: event.target.value })}></textarea></div>`)}
    ${names.length === 0 ? html`<p class="note">Nothing of this step can be changed here.</p>` : ""}
    ${words.length ? html`<div><button type="button" class="quiet" @click=${() => change({ ...after, [words.length]: "" })}>Add an argument</button></div>` : ""}
    ${Object.keys(changed(before, after)).length ? html`<div><h3>What changes</h3>${difference(told(before, names), told(after, names))}</div>` : ""}`;
}
