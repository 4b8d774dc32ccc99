// A run as the fold of its events, the same way the core does it. Pure: no page, no network.

/** Nothing of a run is known yet. */
export function newRun(id) {
  return {
    id, skill: "", started: null, startedBy: null, user: "", starter: "", environment: null, inputs: {}, workspace: "", parent: null,
    steps: new Map(), status: "running", ended: null, duration: null, message: null, state: null, outputs: {},
    questions: new Map(), memory: [], heals: [], decisions: [], waitsFor: null, last: null,
  };
}

function stepOf(run, name) {
  let step = run.steps.get(name);
  if (!step) {
    step = { name, kind: null, description: null, status: "pending", attempt: 0, execution: 0, executions: [], notes: [], repaired: false };
    run.steps.set(name, step);
  }
  return step;
}

const ENDS = { skill_completed: "completed", skill_failed: "failed", skill_cancelled: "cancelled" };

const HANDLERS = {
  skill_started(run, event) {
    run.skill = event.skill;
    run.file = event.file;
    run.started = event.at;
    run.startedBy = event.started_by ?? null;
    run.user = event.driver?.user ?? "";
    run.starter = event.starter ?? run.user;
    run.host = event.driver?.host ?? "";
    run.environment = event.environment ?? null;
    run.deadline = event.deadline ?? null;
    run.inputs = event.inputs ?? {};
    run.workspace = event.workspace ?? "";
    run.parent = event.parent ?? null;
    for (const planned of event.step_list ?? []) {
      Object.assign(stepOf(run, planned.name), { kind: planned.kind, description: planned.description ?? null, finally: planned.finally ?? false });
    }
  },
  skill_paused(run, event) {
    run.status = "paused";
    run.message = event.message ?? null;
  },
  skill_resumed(run) {
    run.status = "running";
    run.message = null;
    run.ended = null;
  },
  skill_stopping(run, event) {
    run.stopping = event.why === "cancelled" ? `cancelled by ${event.by}` : `stopped (${event.signal})`;
    if (event.why === "cancelled") {
      run.decisions.push({ title: "The run", label: "cancel", at: event.at, by: event.by, reason: event.reason ?? null, machine: run.host || null });
    }
  },
  concurrency_waiting(run, event) {
    run.waitsFor = { name: event.name, holder: event.holder };
  },
  concurrency_acquired(run) {
    run.waitsFor = null;
  },
  step_started(run, event) {
    const step = stepOf(run, event.step);
    Object.assign(step, {
      kind: event.kind, status: "running", attempt: event.attempt, execution: event.execution, started: event.at, ended: null,
      duration: null, message: null, hint: null, command: event.command ?? null, argv: event.argv ?? [], machine: event.machine ?? null,
      nested: event.nested ?? false, labels: event.labels ?? [], items: event.items ?? [], process: null, proposal: null,
    });
    if (event.description) step.description = event.description;
    step.executions.push({ execution: event.execution, attempt: event.attempt, started: event.at });
    if (run.status === "paused") run.status = "running";
  },
  step_queued(run, event) {
    stepOf(run, event.step).status = "queued";
  },
  step_dequeued(run, event) {
    stepOf(run, event.step).status = "running";
  },
  step_completed(run, event) {
    endStep(run, event, "completed");
    const step = stepOf(run, event.step);
    step.value = event.value;
    if (event.note) step.notes.push(event.note);
    if (event.marked_by) step.notes.push(`marked as done by ${event.marked_by}`);
  },
  step_failed(run, event) {
    const status = { timeout: "timed_out", cancelled: "cancelled", interrupted: "interrupted", unknown: "unknown", declined: "cancelled", expired: "cancelled" };
    endStep(run, event, status[event.outcome] ?? "failed");
    Object.assign(stepOf(run, event.step), {
      message: event.message, hint: event.hint ?? null, code: event.code ?? null, proposal: event.proposal ?? null,
    });
  },
  step_skipped(run, event) {
    const words = { condition: "its condition is false", declined: "declined", expired: "nobody answered in time", answer: "skipped" };
    if (!stepOf(run, event.step).finally) run.last = event.step;
    Object.assign(stepOf(run, event.step), {
      status: "skipped", ended: event.at, message: [words[event.why], event.by ? `by ${event.by}` : "", event.message].filter(Boolean).join(" "),
    });
  },
  step_retried(run, event) {
    const step = stepOf(run, event.step);
    const words = {
      idempotent: "run again: its outcome was unknown", answer: "retried", policy: "retried, as the skill says", healed: "retried after a repair",
      fixed: "retried with a known fix", relayed: "retried, not by a person",
    };
    const who = event.answer ? ` by ${event.answer.by}` : "";
    // An answer to a question is a decision already; this one was sent without a question.
    if (event.answer) run.decisions.push({ ...decisionOf(event, null, run), step: event.step, title: `Retry of ${event.step}`, label: event.edits ? "retry with changes" : "retry", edits: event.edits ?? null });
    step.notes.push(`${words[event.why] ?? "retried"}${who}, attempt ${event.attempt}`);
    step.status = "waiting";
    step.notBefore = event.not_before ?? null;
    if (ENDS_BACK.has(run.status)) run.status = "running";
  },
  auto_heal_triggered(run, event) {
    stepOf(run, event.step).notes.push(`repair \`${event.rule}\` started`);
    run.heals.push({ step: event.step, rule: event.rule, at: event.at, error: event.error });
  },
  auto_heal_completed(run, event) {
    const step = stepOf(run, event.step);
    step.repaired = event.healed;
    step.notes.push(event.healed ? `repair \`${event.rule}\` ran` : `repair \`${event.rule}\` failed: ${event.message ?? ""}`);
  },
  memory_recalled(run, event) {
    if (event.message) run.memory.push({ ...event, learned: false });
  },
  memory_learned(run, event) {
    if (event.message) run.memory.push({ ...event, learned: true });
  },
  confirmation_required(run, event) {
    const question = questionOf(event, run);
    run.questions.set(question.id, question);
    const step = stepOf(run, event.step);
    if (event.purpose !== "recover") step.status = "asking";
    step.question = question.id;
  },
  confirmation_held(run, event) {
    holdQuestion(run.questions.get(event.question), event);
  },
  confirmation_advised(run, event) {
    adviseQuestion(run.questions.get(event.question), event);
  },
  confirmation_answered(run, event) {
    const question = run.questions.get(event.question);
    run.decisions.push(decisionOf(event, question, run));
    if (question) answerQuestion(question, event);
  },
  confirmation_expired(run, event) {
    const question = run.questions.get(event.question);
    if (!event.withdrawn) run.decisions.push({ question: event.question, title: question?.title, message: question?.message, step: question?.step, kind: question?.kind, purpose: question?.purpose, secret: question?.secret ?? false, at: event.at, expired: true, value: event.applied ?? null, machine: machineOf(question, run) });
    if (question) expireQuestion(question, event);
  },
};

const ENDS_BACK = new Set(["failed", "cancelled"]);

function endStep(run, event, status) {
  const step = stepOf(run, event.step);
  const duration = event.process?.duration_ms ?? event.duration_ms ?? null;
  Object.assign(step, { status, ended: event.at, duration, process: event.process ?? null });
  if (!step.finally) run.last = event.step;
  const execution = step.executions.findLast((one) => one.execution === event.execution);
  if (execution) Object.assign(execution, { ended: event.at, duration, status, log: event.log ?? null });
}

/** Applies one event to a run. Events of a kind that is not known change nothing. */
export function apply(run, event) {
  HANDLERS[event.type]?.(run, event);
  const end = ENDS[event.type];
  if (end) {
    Object.assign(run, {
      status: end, ended: event.at, duration: event.duration_ms ?? null, message: event.message ?? null, why: event.why ?? null,
      state: event.state ?? null, failedStep: event.step ?? null, by: event.by ?? null,
    });
    if (event.outputs) run.outputs = event.outputs;
    for (const question of run.questions.values()) {
      if (question.state === "open") question.state = "withdrawn";
    }
  }
  run.updated = event.at;
  return run;
}

/** A question as an event asks it. */
export function questionOf(event, run) {
  const { v, seq, n, type, at, ...question } = event;
  return {
    ...question, id: event.question, n, run: event.run, asked: at, state: "open", missing: event.approvals ?? 1, driven: true,
    skill: run?.skill ?? "", path: [], held: null, agreed: [], refusals: [],
    window: event.deadline ? Date.parse(event.deadline) - Date.parse(at) : null,
  };
}

/** The deadline moved. */
export function holdQuestion(question, event) {
  if (!question) return;
  question.deadline = event.deadline ?? null;
  question.held = event.by ? { by: event.by, at: event.at } : null;
  question.unseen = event.left_ms ?? null;
  if (event.deadline) question.window = Math.max(question.window ?? 0, Date.parse(event.deadline) - Date.parse(event.at));
}

/** An assistant said what it thinks. */
export function adviseQuestion(question, event) {
  if (question) question.advice = [...(question.advice ?? []), event.advice];
}

/** An answer came. */
export function answerQuestion(question, event) {
  const { answer } = event;
  if (event.refused) {
    question.refusals = [...(question.refusals ?? []), {
      by: answer.by, prompter: answer.prompter, label: event.label ?? answer.value, reason: answer.reason ?? null, why: event.refused, at: event.at,
    }];
    return;
  }
  const option = question.options?.find((one) => one.value === answer.value);
  const counts = option ? option.action === "proceed" : question.kind === "input";
  if (counts && question.missing > 1) {
    question.missing -= 1;
    question.agreed = [...(question.agreed ?? []), { by: answer.by, prompter: answer.prompter, proof: answer.proof }];
    return;
  }
  question.state = "answered";
  question.decision = decisionOf(event, question, null);
}

export function expireQuestion(question, event) {
  if (event.withdrawn) {
    question.state = "withdrawn";
    question.decision = { at: event.at, withdrawn: true };
    return;
  }
  question.state = "expired";
  question.decision = { at: event.at, expired: true, value: event.applied ?? null };
}

/** The machine that a decision is about. */
function machineOf(question, run) {
  return question?.facts?.find((fact) => fact.kind === "machine")?.value ?? (run?.host || null);
}

function decisionOf(event, question, run) {
  const { answer } = event;
  return {
    question: event.question, title: question?.title, message: question?.message, step: question?.step, kind: question?.kind, purpose: question?.purpose, at: event.at,
    value: answer.value, label: event.label ?? null, by: answer.by, prompter: answer.prompter, proof: answer.proof ?? null,
    reauth: answer.reauth ?? false, reason: answer.reason ?? null, remember: answer.remember ?? null, refused: event.refused ?? null,
    edits: answer.edits ?? null, origin: answer.origin ?? null, latency: event.latency_ms, machine: machineOf(question, run),
  };
}

/** Runs of one tree from the events within it, in order: `Map` of id to run. */
export function foldTree(events) {
  const runs = new Map();
  for (const event of events) applyToTree(runs, event);
  return runs;
}

export function applyToTree(runs, event) {
  if (!runs.has(event.run)) runs.set(event.run, newRun(event.run));
  apply(runs.get(event.run), event);
}

/** What a run inside another is called: `deploy[web3]`. */
export function label(parent) {
  if (!parent) return "";
  if (parent.item) return `${parent.step}[${parent.item.label ?? parent.item.index}]`;
  return parent.step;
}

/** A name for each start of a step: `attempt 2`, and `visit 2, attempt 1` where a flow came back to it. */
export function attemptNames(executions) {
  let visit = 0;
  let last = Infinity;
  const placed = executions.map(({ execution, attempt }) => {
    if (attempt <= last) visit += 1;
    last = attempt;
    return { execution, visit, attempt };
  });
  return placed.map((one) => ({ execution: one.execution, name: visit > 1 ? `visit ${one.visit}, attempt ${one.attempt}` : `attempt ${one.attempt}` }));
}

/** Where each step stands, for the graph. */
export function standings(run) {
  const words = {
    running: "running", queued: "running", waiting: "running", asking: "asking", completed: "done", skipped: "skipped", failed: "failed",
    timed_out: "failed", unknown: "unsure", interrupted: "unsure", cancelled: "cancelled",
  };
  const out = {};
  for (const step of run.steps.values()) {
    const open = step.question && run.questions.get(step.question)?.state === "open";
    out[step.name] = open ? "asking" : words[step.status];
  }
  return out;
}

/** The end that a run reached, for the graph; `null` while it has not ended. `after` is the step that led there. */
export function ending(run) {
  const status = { completed: "done", failed: "failed", cancelled: "cancelled" }[run.status];
  if (!run.ended || !status) return null;
  const declined = run.why === "declined" || run.why === "expired" ? run.failedStep : null;
  return { status, state: run.state, after: status === "done" ? run.last : declined };
}
