// The log of a step: colours, search, links to lines. Only the lines on the screen are in the page.

import { html, live } from "../vendor/lit-anser.js";
import { pieces } from "../ansi.js";
import { LogWindow } from "../log_window.js";
import { attemptNames, label } from "../fold.js";
import { bytes, plain, visible } from "../text.js";

const LINE = 18;
const AROUND = 20;
const LOOK = 1000;

export function logPanel(host, chosen, query) {
  const viewer = viewerOf(host, chosen, query.get("at"));
  const { step, run, execution } = chosen;
  const path = `runs/${chosen.tree.run}/${encodeURIComponent(run.id === chosen.tree.run ? step.name : `${run.id}:${step.name}`)}`;
  const go = (number) => host.go(`${path}/${number}`);
  viewer.address = `#/${path}/${execution}`;
  const { log } = viewer;
  const names = attemptNames(step.executions);
  return html`<section class="panel stack" aria-label="Log">
    <div class="row spread"><h3>Log · ${visible([label(run.parent), step.name].filter(Boolean).join(" › "))}${names.length > 1 ? ` · ${names.find((one) => one.execution === execution)?.name ?? ""}` : ""}</h3><span class="note">${bytes(log.total)}</span></div>
    ${names.length > 1 ? html`<div class="row" role="group" aria-label="Attempts">${names.map((one) => html`<button type="button" class="quiet" aria-pressed=${one.execution === execution ? "true" : "false"} @click=${() => go(one.execution)}>${one.name}</button>`)}</div>` : ""}
    <form class="log-tools" role="search" aria-label="Search the log" @submit=${(event) => {
      event.preventDefault();
      viewer.search(event.target.elements.text.value);
    }}>
      <input type="search" name="text" aria-label="Search the log" placeholder="Search the log" autocomplete="off">
      <button type="submit" ?disabled=${viewer.searching}>${viewer.searching ? "Searching…" : "Find next"}</button>
      <button type="button" @click=${() => viewer.toStart()}>Start</button>
      <button type="button" @click=${() => viewer.toEnd()}>End</button>
      <label class="row"><input type="checkbox" .checked=${live(viewer.following)} @change=${(event) => viewer.follow(event.target.checked)}> Follow</label>
    </form>
    ${log.total > 1_000_000 ? html`<label class="field"><span>Place in the log</span><input type="range" min="0" max=${log.total} step="1" .value=${live(String(log.start))} aria-valuetext=${`${bytes(log.start)} of ${bytes(log.total)}`} @change=${(event) => viewer.toByte(Number(event.target.value))}></label>` : ""}
    ${log.error ? html`<p class="error" role="alert">${visible(log.error.message)}</p>` : ""}
    <p class="note" role="status">${viewer.status}</p>
    ${log.total === 0 && !log.loading ? html`<p class="note">${step.ended ? "It wrote nothing." : "Nothing yet."}</p>` : ""}
    ${viewer.element}
    ${step.ended && step.value !== undefined && step.value !== null && step.kind !== "command" && step.kind !== "shell" ? html`<div><h3>Result</h3><div class="command" tabindex="0" role="group" aria-label="Result"><span class="line">${visible(JSON.stringify(step.value, null, 2))}</span></div></div>` : ""}
  </section>`;
}

function viewerOf(host, { run, step, execution }, at) {
  const key = `${run.id}/${step.name}/${execution}`;
  if (host.ui.log?.key !== key) {
    host.ui.log?.close();
    const path = `/runs/${encodeURIComponent(run.id)}/steps/${encodeURIComponent(step.name)}/log`;
    host.ui.log = new LogViewer(key, new LogWindow(host.transport, path, execution), host, at === null ? null : Number(at));
  } else if (at !== null) host.ui.log.show(Number(at));
  host.ui.log.running = !step.executions.find((one) => one.execution === execution)?.ended;
  return host.ui.log;
}

class LogViewer {
  #host;
  #rows = document.createElement("div");
  #target;
  // The line that the address names.
  #asked;
  #needle = "";
  #timer;
  #drawn = "";
  #aborter = null;
  // It was read after its step had ended.
  #isWhole = false;
  key;
  log;
  element = document.createElement("div");
  following = false;
  running = false;
  searching = false;
  status = "";
  // Its own place in the page, for links to its lines.
  address = "";

  constructor(key, log, host, target) {
    this.key = key;
    this.log = log;
    this.#host = host;
    this.#target = target;
    this.#asked = target;
    this.element.className = "log";
    this.element.tabIndex = 0;
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", "Lines of the log");
    this.#rows.className = "rows";
    this.element.append(this.#rows);
    this.element.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.#timer = setInterval(() => this.#look(), LOOK);
    this.#begin();
  }

  close() {
    clearInterval(this.#timer);
    this.#aborter?.abort();
  }

  async #begin() {
    if (this.#target !== null) return this.toByte(this.#target);
    await this.log.toStart();
    this.following = this.running;
    if (this.following) await this.toEnd();
    this.#draw();
    return this.#host.refresh();
  }

  async toStart() {
    this.following = false;
    await this.log.toStart();
    this.element.scrollTop = 0;
    this.#draw();
    this.#host.refresh();
  }

  async toEnd() {
    await this.log.toEnd();
    this.#draw();
    this.element.scrollTop = this.element.scrollHeight;
    this.#draw();
    this.#host.refresh();
  }

  async toByte(at) {
    this.following = false;
    // A little before it, so that there is something above.
    await this.log.toByte(Math.max(0, at - 4096));
    if (!this.log.lines.some((line) => line.at >= at)) await this.log.toByte(at);
    this.#draw();
    const index = Math.max(0, this.log.lines.findIndex((line) => line.at >= at));
    this.element.scrollTop = Math.max(0, (index - 5) * LINE);
    this.#draw();
    this.#host.refresh();
  }

  /** Goes to the line of an address, unless that is where it is. */
  show(at) {
    if (at === this.#asked || this.log.loading) return;
    this.#asked = at;
    this.#target = at;
    this.toByte(at);
  }

  follow(on) {
    this.following = on;
    if (on) this.toEnd();
  }

  async search(text) {
    if (text === "") return;
    this.#needle = text;
    this.searching = true;
    this.status = "Searching…";
    this.#host.refresh();
    this.#aborter = new AbortController();
    try {
      const at = await this.log.find(text, this.#target ?? -1, this.#aborter.signal);
      this.status = at === null ? `“${plain(text)}” is not in the log.` : at <= (this.#target ?? -1) ? "From the start again." : "";
      if (at !== null) {
        this.#target = at;
        await this.toByte(at);
      }
    } catch (error) {
      this.status = error.message;
    }
    this.searching = false;
    this.#host.refresh();
  }

  /** While the step runs, what it wrote meanwhile. */
  async #look() {
    if (!this.element.isConnected || this.log.loading) return;
    const unread = this.log.end < this.log.total;
    if (!this.running && this.#isWhole && !(this.following && unread)) return;
    const before = this.log.end;
    if (!this.following && unread) return;
    // What it wrote after the last look and before it ended: one look more.
    const hasEnded = !this.running;
    const gone = await this.log.onward();
    this.#isWhole = hasEnded && this.log.error === null;
    if (this.log.end === before && gone === 0) return;
    this.element.scrollTop -= gone * LINE;
    this.#draw();
    if (this.following) this.element.scrollTop = this.element.scrollHeight;
    this.#draw();
    this.#host.refresh();
  }

  async #scrolled() {
    this.#draw();
    const { scrollTop, scrollHeight, clientHeight } = this.element;
    if (scrollTop + clientHeight < scrollHeight - LINE) this.following = false;
    if (this.log.loading) return;
    if (scrollTop < clientHeight && this.log.start > 0) {
      const came = await this.log.back();
      if (came) {
        this.#draw();
        this.element.scrollTop += came * LINE;
      }
    } else if (scrollTop + 2 * clientHeight > scrollHeight && this.log.end < this.log.total) {
      const gone = await this.log.onward();
      this.#draw();
      this.element.scrollTop -= gone * LINE;
    } else return;
    this.#draw();
    this.#host.refresh();
  }

  /** The lines on the screen, and a few around them. */
  #draw() {
    const { lines } = this.log;
    this.#rows.style.height = `${lines.length * LINE}px`;
    const from = Math.max(0, Math.floor(this.element.scrollTop / LINE) - AROUND);
    const to = Math.min(lines.length, Math.ceil((this.element.scrollTop + this.element.clientHeight) / LINE) + AROUND);
    const drawn = [from, to, lines[from]?.at, lines[to - 1]?.text.length, lines.length, this.#target, this.#needle].join();
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    this.#rows.replaceChildren(...lines.slice(from, to).map((line, at) => this.#line(line, from + at)));
  }

  #line(line, index) {
    const row = document.createElement("div");
    row.className = "line";
    row.style.top = `${index * LINE}px`;
    if (line.at === this.#target) row.classList.add("target");
    const link = document.createElement("a");
    const number = this.log.first === null ? null : this.log.first + index;
    link.textContent = number === null ? `@${line.at.toLocaleString("en")}` : String(number);
    link.setAttribute("aria-label", number === null ? `line at byte ${line.at}` : `line ${number}`);
    link.href = `${this.address}?at=${line.at}`;
    link.tabIndex = -1;
    link.addEventListener("click", () => {
      this.#asked = line.at;
      this.#target = line.at;
      this.#drawn = "";
      this.#draw();
    });
    row.append(link);
    for (const { text, classes } of pieces(line.text)) {
      const span = document.createElement("span");
      span.className = classes;
      fill(span, plain(text), this.#needle);
      row.append(span);
    }
    return row;
  }
}

/** Text, with what was searched for marked. */
function fill(span, text, needle) {
  if (!needle) {
    span.append(text);
    return;
  }
  const lower = text.toLowerCase();
  const wanted = needle.toLowerCase();
  let from = 0;
  for (let at = lower.indexOf(wanted); at !== -1; at = lower.indexOf(wanted, from)) {
    span.append(text.slice(from, at));
    const mark = document.createElement("mark");
    mark.textContent = text.slice(at, at + wanted.length);
    span.append(mark);
    from = at + wanted.length;
  }
  span.append(text.slice(from));
}

