// The frame: navigation, connection, keyboard, and the host that every view is given.

import { html, nothing, render } from "./vendor/lit-anser.js";
import { announce, setNotifications, showCount, wishes, withdraw } from "./notice.js";
import { outdate, retryAll } from "./loading.js";
import { Store } from "./store.js";
import { ago, clock, heading, plain, visible } from "./text.js";
import { releaseAll, SETTLE } from "./views/answering.js";
import { inboxView, questionView } from "./views/inbox.js";
import { memoryView } from "./views/memory.js";
import { peopleView } from "./views/people.js";
import { runView } from "./views/run.js";
import { runsView } from "./views/runs.js";
import { skillsView, skillView } from "./views/skills.js";

const PLACES = [["inbox", "Inbox"], ["runs", "Runs"], ["skills", "Skills"], ["memory", "Memory"], ["people", "People"]];
// The first connection may take so long before the page says that there is none.
const PATIENCE = 2000;
const KEYS = [
  ["j / k", "next, previous question or line"], ["1 … 9", "go to an answer of the question; Enter chooses it"], ["r", "write a reason"],
  ["g then i, r, s, m, p", "inbox, runs, skills, memory, people"], ["/", "search"], ["?", "this help"], ["Esc", "leave a field, close"],
];

// A question that is answered within this time, as memory does it, is not worth a sound.
const MOMENT = 300;
// Who pauses for so long does something else: after `g`, or when a field that was written in is gone.
const PAUSE = 1500;
// What moves so soon after a click or key moved because of it.
const OWN = 500;

export class App {
  #root;
  #transport;
  #store;
  #who;
  #drawing = false;
  #rendering = false;
  #toast = null;
  #prefix = -Infinity;
  #help = false;
  #signedOut;
  #wanted = new Set();
  #focusWanted = null;
  #focused = null;
  #typed = null;
  #acted = 0;
  #answers = new WeakMap();
  #entry = null;
  #heights = new Map();
  #spot = null;
  #places;
  #isEmbedded;
  host;

  /** `embedded`: inside an editor, which has its own title, sounds and people. */
  constructor(root, transport, who, signOut, { embedded = false } = {}) {
    this.#isEmbedded = embedded;
    this.#places = embedded ? PLACES.filter(([name]) => name !== "people") : PLACES;
    this.#root = root;
    this.#transport = transport;
    this.#who = who;
    this.#store = new Store(transport);
    this.host = {
      transport,
      store: this.#store,
      who,
      ui: {},
      drafts: new Map(),
      refresh: () => this.#drawNow(),
      now: () => Date.now() + this.#store.skew,
      connected: () => transport.state.connected && this.#store.ready,
      may: (right) => who.rights.includes(right),
      toast: (text) => this.#show(text),
      go: (path) => {
        location.hash = `#/${path}`;
      },
      // A run of the journal if it is loaded; `need` loads it.
      run: (id) => this.#store.trees.get(id)?.runs.get(id) ?? this.#store.inside(id),
      need: (id) => this.#need(id),
      signOut: async () => {
        await transport.remove("/session").catch(() => {});
        signOut();
      },
    };
    this.#signedOut = signOut;
  }

  /** Tells of a new question, unless memory or someone else has answered it meanwhile. */
  #announce(id) {
    const question = this.#store.questions.get(id);
    if (question?.state !== "open") return;
    if (!this.#isEmbedded) announce(question, () => this.host.go(`questions/${id}`));
    this.#speak(`New question: ${plain(heading(question))}`);
  }

  start() {
    this.#store.subscribe((change) => {
      if (change.asked) setTimeout(() => this.#announce(change.asked.id), MOMENT);
      if (change.decided) withdraw(change.decided.id);
      if (change.message?.type === "memory_learned") outdate(this.host, "memory");
      this.draw();
    });
    this.#transport.listen({
      message: (message) => this.#store.receive(message),
      state: ({ connected }) => {
        if (connected && this.#store.ready) {
          retryAll(this.host);
          // What happened meanwhile may be missing in the list.
          this.host.ui.runs = null;
        }
        this.draw();
      },
      signedOut: () => this.#signedOut(),
    });
    addEventListener("hashchange", () => this.#moved());
    addEventListener("keydown", (event) => this.#key(event));
    // Clocks tick; what is shown is otherwise drawn when something happens.
    setInterval(() => this.draw(), 1000);
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "hidden") releaseAll(this.host);
      this.#tellShown();
    });
    addEventListener("scroll", () => {
      this.#heights.set(this.#entry, scrollY);
      this.draw();
    }, { passive: true });
    addEventListener("focusin", ({ target }) => {
      this.#focused = { one: target, card: target.closest(".card")?.id };
      // Who goes elsewhere has noticed.
      if (target.id !== this.#typed?.card) this.#typed = null;
    });
    for (const kind of ["pointerdown", "keydown", "input"]) {
      addEventListener(kind, () => {
        this.#acted = performance.now();
      }, { capture: true, passive: true });
    }
    // A link to the content is not an address of a view.
    document.querySelector(".skip")?.addEventListener("click", (event) => {
      event.preventDefault();
      document.getElementById("main")?.focus();
    });
    if (!location.hash.startsWith("#/")) history.replaceState(null, "", "#/inbox");
    this.#spot = this.#spotOf();
    this.#arrive();
    this.#focusWanted = this.#wantedCard();
    this.draw();
  }

  #place() {
    const [view = "inbox", ...rest] = location.hash.replace(/^#\//, "").split("?")[0].split("/").map(decode);
    return { view, rest, query: new URLSearchParams(location.hash.split("?")[1] ?? "") };
  }

  #moved() {
    retryAll(this.host);
    const spot = this.#spotOf();
    const isNear = spot === this.#spot;
    this.#spot = spot;
    const height = this.#arrive();
    const card = this.#wantedCard();
    this.#focusWanted = card;
    this.draw();
    // Another step or line of the same run does not move the page away from it.
    if (card || isNear) return;
    requestAnimationFrame(() => {
      document.getElementById("main")?.focus({ preventScroll: true });
      scrollTo(0, height);
    });
  }

  /** Where this place was scrolled to when it was left; the top for a new one. */
  #arrive() {
    this.#entry = history.state?.entry ?? crypto.randomUUID();
    history.replaceState({ entry: this.#entry }, "");
    return this.#heights.get(this.#entry) ?? 0;
  }

  /** What the address is about: a view, or one thing in it. */
  #spotOf() {
    const { view, rest } = this.#place();
    return `${view}/${rest[0] ?? ""}`;
  }

  /** The card that the address names. */
  #wantedCard() {
    const { view, rest } = this.#place();
    return view === "questions" && rest[0] ? `question-${rest[0]}` : null;
  }

  /** Goes to the card that the address names, once it is there. */
  #focusCard() {
    const card = this.#focusWanted ? document.getElementById(this.#focusWanted) : null;
    if (!card) return;
    this.#focusWanted = null;
    card.focus({ preventScroll: true });
    card.scrollIntoView({ block: "start" });
  }

  #need(run) {
    if (this.#store.trees.has(run) || this.#wanted.has(run)) return;
    this.#wanted.add(run);
    this.#store.tree(run).catch(() => {}).finally(() => this.#wanted.delete(run));
  }

  draw() {
    if (this.#drawing) return;
    this.#drawing = true;
    requestAnimationFrame(() => {
      this.#drawing = false;
      this.#draw();
    });
  }

  // After a key or a click, not in the next frame: until then the next key would meet a button that is still disabled,
  // a handler that knows the text without its last letter, or a field that is about to be set to what it was.
  #drawNow() {
    if (this.#rendering) this.draw();
    else this.#draw();
  }

  #draw() {
    this.#rendering = true;
    try {
      this.#render();
    } finally {
      this.#rendering = false;
    }
  }

  #render() {
    const place = this.#place();
    const { host } = this;
    const open = this.#store.questionsOpen;
    const { connected, since } = this.#transport.state;
    const current = { questions: "inbox", log: "runs" }[place.view] ?? place.view;
    const [, title] = this.#places.find(([name]) => name === (current || "inbox")) ?? [null, "No such page"];
    if (!this.#isEmbedded) showCount(open, title);
    render(html`<header class="top">
        ${this.#isEmbedded ? "" : html`<a class="brand" href="#/inbox">aye</a>`}
        <nav aria-label="Main">${this.#places.map(([name, words]) => html`<a href="#/${name}" aria-current=${name === current ? "page" : nothing}>${words}${
          name === "inbox" && open > 0 ? html`<span class="count" aria-label="${open} open">${open}</span>` : ""}</a>`)}</nav>
        <span class="presence"><span class="dot ${connected ? "" : "off"}" aria-hidden="true"></span>${connected ? "live" : "disconnected"} · ${visible(this.#store.you || this.#who.name)}</span>
        ${this.#isEmbedded ? "" : this.#menu()}
      </header>
      ${connected || (!this.#store.ready && Date.now() - since < PATIENCE) ? "" : html`<p class="offline" role="alert">Disconnected since ${clock(since)} (${ago(new Date(since).toISOString(), Date.now())}).
        ${this.#store.ready ? "What you see is from then; nothing can be answered until the connection is back." : "The server does not answer. The page tries again by itself."}</p>`}
      <main id="main" tabindex="-1" ?data-moving=${this.#moving()} class=${current === "runs" ? "wide" : ""}>${this.#view(place)}</main>
      <div class="visually-hidden" role="status" aria-live="polite" id="spoken"></div>
      ${this.#toast ? html`<div class="toast" role="status">${visible(this.#toast)}</div>` : ""}
      ${this.#help ? html`<dialog aria-label="Keyboard" @close=${() => this.#closeHelp()}><div class="stack"><h2>Keyboard</h2><dl class="facts">${KEYS.map(([key, words]) => html`<dt><kbd>${key}</kbd></dt><dd>${words}</dd>`)}</dl>
        <button type="button" autofocus @click=${() => this.#toggleHelp()}>Close</button></div></dialog>` : ""}`, this.#root);
    // A modal dialog takes the focus, and gives it back.
    const dialog = this.#root.querySelector("dialog");
    if (dialog && !dialog.open) dialog.showModal();
    this.#keepFocus();
    this.#focusCard();
    this.#tellShown();
    this.#watchAnswers();
  }

  /** A button that is pressed, or a card that is decided, does not lose the keyboard its place. */
  #keepFocus() {
    const { one, card } = this.#focused ?? {};
    if (card && document.activeElement === document.body && (!one.isConnected || one.disabled)) document.getElementById(card)?.focus({ preventScroll: true });
  }

  /** Answers that moved by themselves, as when what happened so far has arrived, are not under the pointer that aimed at them. */
  #watchAnswers() {
    let haveMoved = false;
    for (const one of this.#root.querySelectorAll(".choices button, .batch button")) {
      const { top, left } = one.getBoundingClientRect();
      const [x, y] = [Math.round(left), Math.round(top + scrollY)];
      const before = this.#answers.get(one);
      haveMoved ||= before !== undefined && (before.x !== x || before.y !== y);
      this.#answers.set(one, { x, y });
    }
    if (!haveMoved || performance.now() - this.#acted < OWN) return;
    this.#store.moved = performance.now();
    this.#root.querySelector("main").toggleAttribute("data-moving", true);
    this.draw();
  }

  /** Whether the list of questions has just changed, and a click is not taken yet, or is about to: a run is being read. */
  #moving() {
    const left = this.#store.moved + SETTLE - performance.now();
    if (left > 0) setTimeout(() => this.draw(), left + 10);
    return left > 0 || this.#wanted.size > 0;
  }

  #menu() {
    return html`<div class="menu"><button type="button" class="quiet" aria-pressed=${wishes.sound ? "true" : "false"} title="Play a sound for a new question" @click=${() => {
        wishes.sound = !wishes.sound;
        this.draw();
      }}>Sound ${wishes.sound ? "on" : "off"}</button>
      <button type="button" class="quiet" aria-pressed=${wishes.notifications ? "true" : "false"} title="Show a notification of the browser for a new question" @click=${async () => {
        const wanted = !wishes.notifications;
        if ((await setNotifications(wanted)) !== wanted) this.#show("This browser shows no notifications of this page.");
        this.draw();
      }}>Notify ${wishes.notifications ? "on" : "off"}</button>
      <button type="button" class="quiet" title="Keyboard" @click=${() => this.#toggleHelp()}>Keys</button></div>`;
  }

  #toggleHelp() {
    const dialog = this.#root.querySelector("dialog");
    if (dialog) {
      dialog.close();
      return;
    }
    this.#help = true;
    this.draw();
  }

  #closeHelp() {
    this.#help = false;
    this.draw();
  }

  #view({ view, rest, query }) {
    const { host } = this;
    switch (view) {
      case "runs":
        return rest.length ? runView(host, rest, query) : runsView(host, query);
      case "skills":
        return rest.length ? skillView(host, rest, query) : skillsView(host);
      case "memory":
        return memoryView(host, query);
      case "people":
        return peopleView(host);
      case "questions":
        return rest[0] ? questionView(host, rest[0]) : inboxView(host);
      case "inbox":
      case "":
        return inboxView(host);
      default:
        return unknownView(view);
    }
  }

  /** Tells the server which question is visible here: a default that proceeds needs someone to see it. */
  #tellShown() {
    if (!this.#transport.state.connected) return;
    const seen = document.visibilityState === "visible" ? firstVisible() : null;
    if (seen === this.#told && this.#toldOn === this.#transport.state) return;
    this.#told = seen;
    this.#toldOn = this.#transport.state;
    this.#transport.show(seen);
  }

  #told = null;
  #toldOn = null;

  #show(text) {
    this.#toast = text;
    this.draw();
    setTimeout(() => {
      if (this.#toast === text) this.#toast = null;
      this.draw();
    }, 4000);
  }

  #speak(text) {
    const spoken = document.getElementById("spoken");
    if (spoken) spoken.textContent = text;
  }

  /** What was typed into is gone, decided by another: the rest of the sentence is not a command. */
  #isTyping(event) {
    if (!this.#typed || this.#typed.field.isConnected || event.key === "Tab" || performance.now() - this.#typed.at > PAUSE) return false;
    this.#typed.at = performance.now();
    event.preventDefault();
    return true;
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (event.key === "Escape") {
      // The dialog closes by itself. A field of a card gives the keys back to its card.
      if (!field || this.#help) return;
      field.blur();
      field.closest(".card")?.focus({ preventScroll: true });
      return;
    }
    if (field) this.#typed = { field, card: field.closest(".card")?.id, at: performance.now() };
    if (field || this.#isTyping(event) || (this.#help && event.key !== "?")) return;
    const prefix = performance.now() - this.#prefix < PAUSE;
    this.#prefix = -Infinity;
    if (prefix) {
      const place = this.#places.find(([name]) => name[0] === event.key);
      if (place) this.host.go(place[0]);
      return;
    }
    const card = document.activeElement?.closest?.(".card");
    switch (event.key) {
      case "g":
        this.#prefix = performance.now();
        break;
      case "?":
        this.#toggleHelp();
        break;
      case "/": {
        const search = document.querySelector("input[type=search]");
        if (!search) return;
        search.focus();
        break;
      }
      case "j":
      case "k":
        step(event.key === "j" ? 1 : -1);
        break;
      case "r":
        if (!card) return;
        card.querySelector("[id^=reason-]")?.focus();
        break;
      default: {
        if (!card || !/^[1-9]$/.test(event.key)) return;
        const listed = card.querySelectorAll(".choices input[type=radio]");
        (listed.length ? listed : card.querySelectorAll(".choices button"))[Number(event.key) - 1]?.focus();
      }
    }
    event.preventDefault();
  }
}

/** An address that leads nowhere. */
function unknownView(view) {
  return html`<h1>No page “${visible(view)}”</h1><p class="empty">This address leads nowhere. <a href="#/inbox">Go to the inbox</a></p>`;
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Moves to the next or previous card, or line of a list. */
function step(by) {
  const all = [...document.querySelectorAll("main .card, main .list a.item")];
  const at = all.findIndex((one) => one === document.activeElement || one.contains(document.activeElement));
  const ahead = by > 0 || at < 0 ? all.slice(at + 1) : all.slice(0, at).reverse();
  const next = ahead.find((one) => !one.classList.contains("done")) ?? all[at];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

/** The question that most of the screen shows. */
function firstVisible() {
  for (const card of document.querySelectorAll(".card[data-question]")) {
    const box = card.getBoundingClientRect();
    if (box.bottom > 80 && box.top < innerHeight - 80) return card.dataset.question;
  }
  return null;
}
