// What the page knows: a snapshot, and every event after it. Nothing here is the truth; the journal is.

import { adviseQuestion, answerQuestion, applyToTree, expireQuestion, foldTree, holdQuestion, questionOf } from "./fold.js";

// How many decided questions stay in the inbox.
const DECIDED = 20;
// How many events are read at once, and how many of the last ones are kept.
const PAGE = 1000;
const RECENT = 1000;
// Who decided is still to come.
const LATER = new Set(["open", "decided"]);

export class Store {
  #transport;
  #listeners = new Set();
  #loading = new Map();
  #recent = [];
  // The newest event that the last snapshot knows of: what it says is counted already.
  #known = 0;
  #listed = new Set();
  // Every open question up to this number is here; those after it that nobody told of come with `moreQuestions`.
  #complete = Infinity;
  you = "";
  clients = [];
  questions = new Map();
  questionsOpen = 0;
  rows = new Map();
  // How many runs that have not ended the snapshot left out.
  runsBeyond = 0;
  trees = new Map();
  ready = false;
  gap = false;
  // How far this browser's clock is behind the server's.
  skew = 0;
  // The list of questions changed under the pointer at this moment.
  moved = 0;

  constructor(transport) {
    this.#transport = transport;
  }

  /** Hears of every change; `asked` and `decided` name a question. */
  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(change = {}) {
    for (const listener of this.#listeners) listener(change);
  }

  receive(message) {
    switch (message.type) {
      case "snapshot":
        this.#snapshot(message);
        break;
      case "gap":
        this.gap = true;
        break;
      case "clients":
        this.clients = message.clients ?? [];
        break;
      case "heartbeat":
        this.skew = Date.parse(message.at) - Date.now();
        break;
      case "step_output":
        break;
      default:
        if (message.run) this.#event(message);
    }
    this.#tell({ message });
  }

  #snapshot(message) {
    this.#known = message.n;
    if (!this.ready) this.skew = this.#transport.skew ?? 0;
    this.you = message.you ?? "";
    this.clients = message.clients ?? [];
    this.questionsOpen = message.questions_open ?? message.questions.length;
    const open = new Set();
    this.#listed = open;
    const fresh = [];
    for (const raw of message.questions) {
      const known = this.questions.get(raw.question);
      open.add(raw.question);
      if (this.ready && !known) fresh.push(raw.question);
      this.questions.set(raw.question, {
        held: null, agreed: [], refusals: [], ...known, ...raw, id: raw.question, state: "open",
        deadline: raw.deadline ?? null, window: known?.window ?? windowOf(raw),
      });
    }
    this.#complete = open.size < this.questionsOpen ? message.questions.at(-1)?.n ?? 0 : Infinity;
    for (const question of this.questions.values()) {
      if (question.state !== "open" || open.has(question.id)) continue;
      if (question.n <= this.#complete) {
        // What was open before and is not any more was decided while we were away.
        question.state = "decided";
        question.decision = { at: new Date().toISOString() };
      } else if (this.gap) {
        // A long list ends before it, and what became of it was not told.
        this.questions.delete(question.id);
      }
    }
    this.runsBeyond = Math.max(0, (message.runs_in_all ?? message.runs.length) - message.runs.length);
    if (this.gap) this.rows.clear();
    for (const row of message.runs) this.rows.set(row.run, row);
    if (this.gap) {
      // What was loaded before has missed something.
      this.trees.clear();
      this.#loading.clear();
    }
    this.ready = true;
    this.gap = false;
    this.moved = performance.now();
    for (const id of fresh) this.#tell({ asked: this.questions.get(id) });
  }

  #event(event) {
    const row = this.rows.get(event.run);
    const isNew = event.n > this.#known;
    if (isNew) updateRow(this, row, event);
    for (const tree of this.trees.values()) grow(tree, event);
    this.#recent.push(event);
    if (this.#recent.length > 2 * RECENT) this.#recent.splice(0, RECENT);
    const question = this.questions.get(event.question);
    // The snapshot has the question as it was after this.
    if (!isNew && this.#listed.has(event.question)) return;
    switch (event.type) {
      case "confirmation_required": {
        if (question && question.state === "open" && question.digest === event.digest) break;
        const asked = questionOf(event, row ?? this.inside(event.run));
        if (question) asked.changedUnderHand = true;
        this.questions.set(asked.id, asked);
        if (isNew && question?.state !== "open") this.#count(event, 1);
        this.moved = performance.now();
        if (isNew) this.#tell({ asked });
        break;
      }
      case "confirmation_held":
        holdQuestion(question, event);
        break;
      case "confirmation_advised":
        adviseQuestion(question, event);
        break;
      case "confirmation_answered":
        if (question && LATER.has(question.state)) {
          answerQuestion(question, event);
          this.#closed(question, event);
        } else if (!question && isNew && !event.refused) {
          // Beyond the list: nothing says how many have to agree; most often it is one.
          this.#count(event, -1);
        }
        break;
      case "confirmation_expired":
        if (question && LATER.has(question.state)) {
          expireQuestion(question, event);
          this.#closed(question, event);
        } else if (!question && isNew) {
          this.#count(event, -1);
        }
        break;
      case "step_started":
        // What an answer led to.
        for (const decided of this.questions.values()) {
          if (decided.run === event.run && decided.state === "answered" && !decided.led) decided.led = event.step;
        }
        break;
      case "skill_completed":
      case "skill_failed":
      case "skill_cancelled":
        for (const open of this.questions.values()) {
          if (open.run === event.run && open.state === "open") {
            open.state = "withdrawn";
            open.decision = { at: event.at, withdrawn: true };
            this.#closed(open, event);
          }
          if (open.run === event.run && open.state === "answered" && !open.led) open.led = `(${event.type.slice(6)})`;
        }
        break;
      default:
    }
  }

  /** One more question is open, or one less: in all, and in the run around it. */
  #count(event, by) {
    this.questionsOpen = Math.max(0, this.questionsOpen + by);
    const row = this.rows.get(event.outermost ?? event.run);
    if (!row || row.ended) return;
    row.waiting = Math.max(0, row.waiting + by);
    if (row.waiting > 0) row.status = "waiting";
    else if (row.status === "waiting") row.status = row.driven ? "running" : "paused";
  }

  #closed(question, event) {
    if (question.state === "open") return;
    if (event.n > this.#known) this.#count(event, -1);
    this.moved = performance.now();
    const decided = [...this.questions.values()].filter((one) => one.state !== "open");
    for (const old of decided.slice(0, Math.max(0, decided.length - DECIDED))) this.questions.delete(old.id);
    this.#tell({ decided: question });
  }

  /** Reads the next open questions, where a snapshot did not have them all. */
  async moreQuestions() {
    if (this.#complete === Infinity) return;
    const page = await this.#transport.get(`/questions?after=${this.#complete}`);
    for (const raw of page.questions) {
      if (!this.questions.has(raw.question)) {
        this.questions.set(raw.question, { held: null, agreed: [], refusals: [], ...raw, id: raw.question, deadline: raw.deadline ?? null, window: windowOf(raw) });
      }
    }
    this.#complete = page.next ?? Infinity;
    this.moved = performance.now();
    this.#tell();
  }

  /** Open questions, the oldest first; decided ones keep their place. */
  list() {
    return [...this.questions.values()].sort((a, b) => a.n - b.n);
  }

  /** A run that was loaded with the one around it. */
  inside(id) {
    for (const tree of this.trees.values()) {
      const found = tree.runs.get(id);
      if (found) return found;
    }
    return null;
  }

  /** A run with those inside it: loaded once, then kept up to date. */
  tree(run) {
    const known = this.trees.get(run);
    if (known) return Promise.resolve(known);
    if (!this.#loading.has(run)) {
      const loading = this.#load(run).finally(() => this.#loading.delete(run));
      this.#loading.set(run, loading);
    }
    return this.#loading.get(run);
  }

  async #load(run) {
    const events = [];
    let after = 0;
    for (;;) {
      const page = await this.#transport.get(`/runs/${encodeURIComponent(run)}/events?after=${after}&limit=${PAGE}`);
      events.push(...page.events);
      if (page.events.length < PAGE) break;
      after = page.n;
    }
    const tree = { run, runs: foldTree(events), n: events.at(-1)?.n ?? 0 };
    // What happened while it was read.
    for (const event of this.#recent) grow(tree, event);
    this.trees.set(run, tree);
    this.#tell({ loaded: run });
    return tree;
  }
}

/** Adds an event to the runs it belongs to. */
function grow(tree, event) {
  if (event.n <= tree.n || !(tree.runs.has(event.run) || tree.runs.has(event.parent?.run))) return;
  applyToTree(tree.runs, event);
  tree.n = event.n;
}

function windowOf(question) {
  return question.deadline ? Math.max(0, Date.parse(question.deadline) - Date.parse(question.asked)) : null;
}

/** Keeps the row of a run in lists up to date. */
function updateRow(store, row, event) {
  if (event.type === "skill_started" && !event.parent) {
    store.rows.set(event.run, {
      run: event.run, skill: event.skill, status: "running", waiting: 0, driven: true, step: null, message: null,
      environment: event.environment ?? null, workspace: event.workspace, user: event.driver?.user ?? "", parent: null,
      started: event.at, updated: event.at, ended: null, duration_ms: null, n: event.n, started_by: event.started_by ?? null, starter: event.starter ?? event.driver?.user ?? "",
    });
    return;
  }
  if (!row) return;
  row.updated = event.at;
  switch (event.type) {
    case "step_started":
      Object.assign(row, { step: event.step, status: row.waiting > 0 ? "waiting" : "running", driven: true });
      break;
    case "confirmation_required":
      row.step = event.step;
      break;
    case "concurrency_waiting":
      Object.assign(row, { status: "queued", concurrency: event.name, waits_for: event.holder });
      break;
    case "concurrency_acquired":
      Object.assign(row, { status: "running", concurrency: event.name, waits_for: null });
      break;
    case "skill_paused":
      Object.assign(row, { status: row.waiting > 0 ? "waiting" : "paused", driven: false, message: event.message ?? null });
      break;
    case "skill_resumed":
      Object.assign(row, { status: row.waiting > 0 ? "waiting" : "running", driven: true, ended: null, message: null });
      break;
    case "skill_completed":
    case "skill_failed":
    case "skill_cancelled":
      Object.assign(row, {
        status: event.type.slice(6), ended: event.at, duration_ms: event.duration_ms ?? null, message: event.message ?? null, waiting: 0, driven: false,
      });
      break;
    default:
  }
}

