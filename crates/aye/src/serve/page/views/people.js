// People: who may do what, their devices, and who is here now.

import { html } from "../vendor/lit-anser.js";
import { load, reload } from "../loading.js";
import { ago, plain, plural, visible } from "../text.js";

export function peopleView(host) {
  const people = load(host, "people list", () => host.transport.get("/people"));
  const own = load(host, "people devices", () => host.transport.get("/devices"));
  const { who } = host;
  return html`<h1 class="visually-hidden">People</h1>
    <section class="panel stack" aria-label="You"><div class="row spread"><h2>${visible(who.name)}</h2><button type="button" @click=${() => host.signOut()}>Sign out</button></div>
      <dl class="facts"><dt>may</dt><dd>${who.rights.join(", ")}</dd><dt>answers prove</dt><dd>${who.proof}</dd><dt>projects</dt><dd>${who.projects.length ? who.projects.map((one) => html`<div>${visible(one)}</div>`) : "all"}</dd></dl>
      <h3>Your devices</h3>${devices(own.data?.devices ?? [], host)}</section>
    <section class="panel stack" aria-label="Here now"><h3>Here now · ${plural(host.store.clients.length, "connection")}</h3>
      <ul class="steps">${host.store.clients.map((one) => html`<li>${visible(one.name)} <span class="chip">${one.kind}</span>${one.question ? html` looks at <a href="#/questions/${one.question}">${visible(one.question)}</a>` : ""}</li>`)}</ul></section>
    ${people.data?.people?.length ? html`<section class="stack" aria-label="Everyone"><h2>Everyone</h2><ul class="list">${people.data.people.map((one) => html`<li>${person(one, host)}</li>`)}</ul></section>` : ""}
    ${people.error && people.error.code !== "forbidden" ? html`<p class="note">${visible(people.error.message)}</p>` : ""}
    <p class="note">At a terminal, <code>aye people add NAME --rights answer,start,read</code> adds someone, <code>aye people revoke NAME</code> revokes a person's token, links and devices, and prints a new link and token.</p>`;
}

function person(one, host) {
  return html`<article class="panel stack"><div class="row spread"><b>${visible(one.name)}</b><span class="row">${one.rights.map((right) => html`<span class="chip">${right}</span>`)}</span></div>
    <p class="note">added ${ago(one.added, host.now())}${one.account ? ` · account ${one.account}` : ""} · ${one.projects.length ? one.projects.join(", ") : "all projects"}</p>
    ${devices(one.devices, host)}</article>`;
}

function devices(all, host) {
  if (all.length === 0) return html`<p class="note">No device is signed in.</p>`;
  const revoke = async (device) => {
    try {
      await host.transport.remove(`/devices/${encodeURIComponent(device)}`);
      reload(host, "people");
    } catch (error) {
      host.toast(error.message);
    }
  };
  return html`<ul class="stack">${all.map((one) => html`<li class="row spread"><span class="small grow">${visible(browserName(one.label))} <span class="soft">since ${ago(one.since, host.now())}${one.device === host.who.device ? " · this browser" : ""}</span></span>
    ${one.device === host.who.device ? "" : html`<button type="button" class="quiet" ?disabled=${!host.connected()} aria-label="Revoke ${plain(browserName(one.label))}" @click=${() => revoke(one.device)}>Revoke</button>`}</li>`)}</ul>`;
}

/** `Chrome on Linux`, from what a browser calls itself. */
function browserName(label) {
  const first = (words) => words.find(([pattern]) => pattern.test(label))?.[1];
  const browser = first([[/Firefox/, "Firefox"], [/Edg/, "Edge"], [/Chrom/, "Chrome"], [/Safari/, "Safari"]]);
  const system = first([[/Android/, "Android"], [/iPhone|iPad/, "iOS"], [/Windows/, "Windows"], [/Mac OS/, "macOS"], [/Linux/, "Linux"]]);
  return browser && system ? `${browser} on ${system}` : label || "a device";
}
