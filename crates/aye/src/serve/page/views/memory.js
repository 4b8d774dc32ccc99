// Memory: what was learned, when it was used, and what waits for someone to agree.

import { html } from "../vendor/lit-anser.js";
import { load, reload } from "../loading.js";
import { ago, day, plural, value, visible } from "../text.js";

// How much of the id of a fix is shown: enough for `aye memory show`.
const SHORT_ID = 12;

export function memoryView(page, query) {
  const project = query.get("project");
  // What is changed is changed where it was read.
  const host = { ...page, where: project ? { project } : {} };
  const { data, error } = load(host, `memory ${project ?? ""}`, () => read(host, project));
  const which = picker(host, project);
  if (error) return html`<h1 class="visually-hidden">Memory</h1>${which}<p class="error" role="alert">${visible(error.message)}</p>`;
  if (!data) return html`<h1 class="visually-hidden">Memory</h1>${which}<p class="empty" role="status">Loading…</p>`;
  const waits = data.fixes.filter((fix) => fix.standing === "proposed" || fix.standing === "suspended");
  const used = data.fixes.filter((fix) => !waits.includes(fix));
  // Fixes stand among the others; what skills wrote is only a proposal.
  const written = data.proposals.filter((one) => one.kind !== "fix");
  const empty = ["fixes", "issues", "preferences", "usage", "proposals"].every((kind) => data[kind].length === 0);
  return html`<h1 class="visually-hidden">Memory</h1>
    ${which}
    ${empty ? html`<p class="empty">Nothing was learned yet.</p>` : ""}
    ${section("Proposals", [...waits, ...written], (one) => (one.proposal ? writtenEntry(one, host) : fixEntry(one, host, true)))}
    ${section("Fixes", used, (fix) => fixEntry(fix, host, false))}
    ${section("Remembered answers", data.preferences, (one) => (one.original ? originalEntry(one, host) : entry(one, host, html`<b>${visible(one.choice)}</b> at ${visible(one.skill)} › ${visible(one.step)}`, [
      ["reaches", one.scope], ["environment", one.environment ?? "none"], ["said by", `${one.by}, ${ago(one.said, host.now())}`], ["until", one.expired ? "expired" : day(one.expires)],
      ...(one.error ? [["error", one.error]] : []),
    ])))}
    ${section("Known issues", data.issues, (one) => entry(one, host, html`<b>${visible(one.pattern)}</b>`, [["means", one.meaning], ["fix", one.fix], ["tools", (one.tools ?? []).join(", ")], ["commands", (one.commands ?? []).join("\n")], ["written by people", `${one.layer} memory, ${one.file.split("/memory/").at(-1)}:${one.line}; change it there`]], false))}
    ${section("Calls that keep failing", data.usage, (one) => entry(one, host, html`<b>${visible(one.tool)}</b>`, Object.entries(one).filter(([name]) => !["id", "tool", "layer", "file", "line"].includes(name))))}`;
}

async function read(host, project) {
  const about = project ? `?${new URLSearchParams({ project })}` : "";
  const [memory, waiting] = await Promise.all([host.transport.get(`/memory${about}`), host.transport.get(`/proposals${about}`)]);
  return { ...memory, proposals: waiting.proposals };
}

/** Whose memory it is, where several projects are served: the user's own stands beside each. */
function picker(host, project) {
  const all = load(host, "projects", () => host.transport.get("/projects")).data?.projects ?? [];
  if (all.length < 2) return "";
  const choose = (event) => {
    history.replaceState(history.state, "", `#/memory?${new URLSearchParams({ project: event.target.value })}`);
    host.refresh();
  };
  return html`<div class="filters"><div class="field grow"><label for="memory-project">Project</label><select id="memory-project" @change=${choose}>
    ${all.map((one, at) => html`<option value=${one.project} ?selected=${project ? one.project === project : at === 0}>${visible(one.project)}</option>`)}</select></div></div>`;
}

function section(title, all, show) {
  return all.length ? html`<section class="stack" aria-label=${title}><h2>${title} <span class="soft small">${all.length}</span></h2><ul class="list">${all.map((one) => html`<li>${show(one)}</li>`)}</ul></section>` : "";
}

function entry(one, host, head, facts, canForget = true, extra = "") {
  const forget = async () => {
    try {
      await host.transport.remove(`/memory/${encodeURIComponent(one.id)}`, host.where);
      reload(host, "memory");
    } catch (error) {
      host.toast([error.message, error.hint].filter(Boolean).join("; "));
    }
  };
  const shown = facts.filter(([, told]) => told !== undefined && told !== null && told !== "");
  return html`<article class="panel stack"><div class="row spread"><span class="grow">${head}</span><span class="row"><span class="chip">${one.layer}</span>${extra}
      ${canForget ? html`<button type="button" class="quiet" ?disabled=${!host.connected() || !host.may("answer")} @click=${forget}>Forget</button>` : ""}</span></div>
    <dl class="facts">${shown.map(([name, told]) => html`<dt>${visible(name)}</dt><dd>${visible(value(told))}</dd>`)}</dl></article>`;
}

function fixEntry(fix, host, waits) {
  const { match } = fix;
  const act = (one) => (one ? one.tool ? `tool ${one.tool}` : one.skill ? `skill ${one.skill}` : (one.command ?? []).join(" ") : "");
  const used = fix.verified ? `worked ${plural(fix.verified, "time")}${fix.last_success ? `, last ${ago(fix.last_success, host.now())}` : ""}` : "never used";
  return entry(fix, host, html`<b>${visible(fix.about || match.error)}</b>`, [
    ["when", [match.tool && `tool ${match.tool}`, match.skill && `skill ${match.skill}`, match.step && `step ${match.step}`].filter(Boolean).join(", ")], ["error", match.error],
    ...Object.entries(match.args ?? {}).map(([name, told]) => ["only if", `${name} is ${value(told)}`]),
    ...Object.entries(fix.do?.args ?? {}).map(([name, told]) => ["gives it", `${name} = ${value(told)}`]),
    ["first", act(fix.do?.first)], ["instead", act(fix.do?.replace)], ["from", `${fix.from.by} (${fix.from.kind})${fix.from.run ? ` in run ${fix.from.run}` : ""}`],
    ["agreed", fix.agreed ? `${fix.agreed.by}, ${ago(fix.agreed.at, host.now())}` : ""], ["used", used],
    ["failed", fix.failed ? `${plural(fix.failed, "time")} in a row` : ""], ["id", fix.id.slice(0, SHORT_ID)],
  ], true, html`<span class="chip ${waits ? "ask" : "good"}">${fix.standing}</span>
    ${waits ? agreeButton(fix.id, host) : ""}`);
}

/** What someone said in the system that Aye imports from. */
function originalEntry(one, host) {
  const rules = Object.entries(one.environment_rules ?? {}).map(([name, rule]) => `${name}: ${rule.replace("_", " ")}`);
  return entry(one, host, html`<b>${one.standing}</b> at ${visible(one.skill)} › ${visible(one.step)}`, [
    ["environments", rules.join(", ")], ["last answer", one.last_choice], ["imported as", one.id],
  ]);
}

/** What a skill wrote where people and Aye keep their own. */
function writtenEntry(one, host) {
  const { from } = one.details;
  return entry(one.details, host, html`<b>${visible(one.message)}</b>`, [
    ["from", `skill ${from.by}${from.run ? ` in run ${from.run}` : ""}`], ["id", one.proposal],
  ], true, html`<span class="chip ask">proposed</span> ${agreeButton(one.proposal, host)}`);
}

function agreeButton(id, host) {
  const agree = async () => {
    try {
      await host.transport.post(`/memory/${encodeURIComponent(id)}/agree`, host.where);
      reload(host, "memory");
    } catch (error) {
      host.toast([error.message, error.hint].filter(Boolean).join("; "));
    }
  };
  return html`<button type="button" class="yes" ?disabled=${!host.connected() || !host.may("answer")} @click=${agree}>Agree</button>`;
}
