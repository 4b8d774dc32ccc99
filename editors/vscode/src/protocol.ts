// What `aye serve` says and understands, over HTTP and the socket (docs/reference/server.md).
// Generated from the types of the server: `AYE_UPDATE=1 cargo test -p aye --lib typescript`.

/** What a client hears on the socket. */
export type ServerMessage = Snapshot | JournalEvent | Notice | StepOutput | StepResult | CommandResult;

/** Something that can be done: one of command, tool, skill. Texts are templates. */
export type Act = {
  /** A program and its arguments. */
  command?: string[];
  /** A tool. */
  tool?: string | null;
  /** A skill. */
  skill?: string | null;
  /** The tool's arguments or the skill's inputs. */
  with?: Record<string, unknown>;
};

/** What someone who does not decide thinks of a question. */
export type Advice = {
  /** Which assistant or program. */
  by: string;
  /** The value of the option it suggests, if it suggests one. */
  option?: string | null;
  /** What it says. */
  text?: string;
};

/** An answer as it was given. */
export type Answer = {
  /** The value of an option, or the text typed. */
  value: unknown;
  /** Who. */
  by: string;
  /** Through what. */
  prompter: Channel;
  /** Why, if they said so. */
  reason?: string | null;
  /** Text typed to agree, for questions that want it. */
  typed?: string | null;
  /** A one-time code was checked. */
  reauth?: boolean;
  /** The digest of the question that was shown, where the prompter knows it. */
  digest?: string | null;
  /** What to change before a failed step is tried again. */
  edits?: Edits | null;
  /** It is to be given again, as far as this. */
  remember?: AnswerScope | null;
  /** The name in memory of the answer that is given again. */
  recalled?: string | null;
  /** The machine's policy takes an elicited answer for a person's. */
  vouched?: boolean;
  /**
   * How strongly it is proven who gave it; absent where no person did, where an assistant
   * passed it on, and in older journals.
   */
  proof?: Proof | null;
  /** Digest of the key under which it was sent: sent again, it is the same answer. */
  key?: string | null;
  /** Where it was given. */
  origin?: Origin | null;
};

/** An answer. */
export type AnswerBody = {
  /** The value of an option, or the text that was asked for. */
  choice: string;
  /** The digest of the question that was shown. */
  digest?: string | null;
  /** Why; recorded in the journal. */
  reason?: string | null;
  /** How far it is to be given again: `error` (of a failed step), `step`, `skill` or `always`. */
  remember?: AnswerScope | null;
  /** The text that has to be typed to agree. */
  typed?: string | null;
  /** A one-time code. */
  code?: string | null;
  /** What a failed step is given differently, with the choice `edit`. */
  set?: Record<string, unknown>;
  /** From the question, for browsers. */
  nonce?: string | null;
};

/** How far a remembered answer reaches. */
export type AnswerScope = "error" | "step" | "skill" | "always";

/** An answer and what became of it. */
export type Answered = {
  /** Which question. */
  question: QuestionId;
  /** What was answered. */
  answer: Answer;
  /** What the chosen option is called. */
  label?: string | null;
  /** Milliseconds since it was asked. */
  latency_ms: number;
  /** Why it does not count; absent when it does. */
  refused?: string | null;
};

/** The kinds of question a skill can ask. */
export type AskKind = "confirm" | "choose" | "input" | "recover";

/** How a step ended badly. */
export type BadOutcome = "failure" | "timeout" | "cancelled" | "interrupted" | "unknown" | "declined" | "expired";

/** Who may answer a question. */
export type By =
| "anyone"
| "human"
| /** One of these people. */ {
  names: string[];
};

/** Why a run is cancelled. */
export type CancelBody = {
  /** In words; recorded in the journal. */
  reason?: string | null;
};

/** Why a run was cancelled. */
export type CancelReason = "declined" | "expired" | "cancelled" | "final_state";

/** Something that is no longer what it was when someone agreed. */
export type Change = {
  /** What has changed, in words. */
  what: string;
  /** What it was. */
  before?: string | null;
  /** What it is. */
  after?: string | null;
};

/** A run that was cancelled or is tried again. */
export type ChangedRun = {
  /** The run. */
  run: string;
};

/** Through what an answer came. */
export type Channel = "terminal" | "command" | "desktop" | "zenity" | "kdialog" | "notification" | "editor" | "web" | "assistant" | "elicited" | "message" | "dropbox" | "memory" | "override";

/** What choosing an option means for the run. */
export type ChoiceAction = "proceed" | "cancel" | "skip";

/** Someone who is connected. */
export type Client = {
  /** Who. */
  name: string;
  /** With what. */
  kind: ClientKind;
  /** The question that is shown there. */
  question?: string | null;
};

/** What a client says it is. */
export type ClientKind = "page" | "editor" | "program";

/**
 * A message of a client. A field that is not known is refused: `digset` instead of `digest`
 * must not answer.
 */
export type ClientMessage =
| /** Who speaks; the first message of a browser, with the secret of its session. */ {
  type: "hello";
  id?: number | null;
  /** What the client is. */
  kind?: ClientKind | null;
  /** The question it shows. */
  question?: string | null;
  /** As in `show`. */
  notified?: string[];
  /** The half of a session that belongs to the origin. */
  secret?: string | null;
}
| /** Which question is shown; `null` for none. */ {
  type: "show";
  id?: number | null;
  question?: string | null;
  /**
   * Questions that an editor has told its person of, in a notification that it may hide:
   * no window of the desktop has to, and a person's silence does not count.
   */
  notified?: string[];
}
| /** Answers a question. */ {
  type: "answer";
  id: number;
  question: string;
  /** The value of an option, or the text that was asked for. */
  choice: string;
  /** The digest of the question that was shown. */
  digest?: string | null;
  /** Why; recorded in the journal. */
  reason?: string | null;
  /** How far it is to be given again: `error` (of a failed step), `step`, `skill` or `always`. */
  remember?: AnswerScope | null;
  /** The text that has to be typed to agree. */
  typed?: string | null;
  /** A one-time code. */
  code?: string | null;
  /** What a failed step is given differently, with the choice `edit`. */
  set?: Record<string, unknown>;
  /** From the question, for browsers. */
  nonce?: string | null;
}
| /** Someone looks at a question: its deadline moves when it is near, within the limit, until `release` or the end of the connection. */ {
  type: "hold";
  id: number;
  question: string;
}
| /** Nobody looks any more. */ {
  type: "release";
  id: number;
  question: string;
}
| /** Cancels a run. */ {
  type: "cancel";
  id: number;
  run: string;
  /** In words; recorded in the journal. */
  reason?: string | null;
}
| /** Continues a run that no process drives. */ {
  type: "resume";
  id: number;
  run: string;
}
| /** Tries a failed step again. */ {
  type: "retry";
  id: number;
  run: string;
  /** Sent again with the same key, it counts once. */
  key?: string | null;
  /** The step, if several failed. */
  step?: string | null;
  /** What it is given differently, by name. */
  set?: Record<string, unknown>;
  /** The digest of the question about the failure, if one is open. */
  digest?: string | null;
  /** From that question, for browsers. */
  nonce?: string | null;
}
| /** Starts a skill. */ {
  type: "start";
  id: number;
  /** Sent again with the same key, it is the same run. */
  key?: string | null;
  /** The skill's name. */
  skill: string;
  /** Its project's directory; without it, the first project that has the skill. */
  project?: string | null;
  /** What it is given. */
  inputs?: Record<string, unknown>;
  /** What it runs against. */
  environment?: string | null;
}
| /** Wants what the steps of a run write, as `step_output`. */ {
  type: "follow";
  id: number;
  run: string;
  /** Only of this step. */
  step?: string | null;
}
| /** Wants it no more. */ {
  type: "unfollow";
  id: number;
  run: string;
}
| /** Wants a snapshot. */ {
  type: "snapshot";
  id: number;
};

/** What kind of problem it is, for programs. */
export type Code = "invalid" | "inputs" | "invalid_skill" | "unauthorized" | "forbidden" | "not_found" | "method_not_allowed" | "digest_mismatch" | "decided" | "refused" | "not_trusted" | "dead_link" | "key_required" | "key_reused" | "rate_limited" | "too_large" | "timed_out" | "media_type" | "range" | "unavailable" | "internal";

/** `error` in the result of a command. */
export type CommandError = {
  /** The kind, for programs. */
  code: Code;
  /** What went wrong. */
  message: string;
  /** What to do about it. */
  hint?: string | null;
};

/** What became of a command. */
export type CommandResult = {
  /** `result`. */
  type: "result";
  /** The number of the command; `null` if it could not be read. */
  id: number | null;
  /** Whether it was done. */
  ok: boolean;
  /** Why not. */
  error?: CommandError | null;
} & (
| Taken
| HeldQuestion
| Started
| ChangedRun
| /** Of `snapshot`. */ {
  /** As the first message has it. */
  snapshot: Snapshot;
}
| {});

/** A device: a browser that is signed in. */
export type DeviceView = {
  /** Its id. */
  device: string;
  /** What it says it is. */
  label: string;
  /** Since when. */
  since: string;
};

/** Devices that are signed in. */
export type DevicesView = {
  devices: DeviceView[];
};

/** Who drives a run. */
export type Driver = {
  /** The operating system's user. */
  user: string;
  /** The machine. */
  host: string;
  /** The process. */
  pid: number;
  /** Someone is there who can be asked what to do about a failure. */
  attended?: boolean;
  /** It has a session of its own, away from any terminal. */
  detached?: boolean;
  /** A server took the run up after its driver had died; nobody asked for it. */
  taken_up?: boolean;
  /** The namespaces that it lives in, where they are known. */
  namespaces?: Namespaces | null;
};

/** What a dry run is given. */
export type DryRunBody = {
  /** The skill's project; without it, the first that has the skill. */
  project?: string | null;
  /** What it would be given. */
  inputs?: Record<string, unknown>;
  /** What it would run against. */
  environment?: string | null;
};

/**
 * What a step is given differently when it is tried again. Values are data,
 * never templates.
 */
export type Edits = {
  /**
   * By name: the arguments of a tool, the inputs of a skill; `0`, `1`, …
   * for a program and its arguments; `script`; `code`.
   */
  set: Record<string, unknown>;
  /** What is not named here is left out. */
  only?: boolean;
  /** It is kept as a fix if it works. */
  remember?: FixScope | null;
};

/** How a run ends at a final state. */
export type EndStatus = "completed" | "failed" | "cancelled";

export type ErrorCode = "COMMAND_NOT_FOUND" | "COMMAND_NOT_EXECUTABLE" | "COMMAND_NOT_ALLOWED" | "PATH_TRAVERSAL" | "WORKING_DIRECTORY_NOT_FOUND" | "NO_TERMINAL" | "RESOURCE_LIMIT" | "SPAWN_FAILED" | "TIMEOUT" | "CANCELLED" | "TEMPLATE" | "UNDEFINED" | "INJECTION_DETECTED" | "VALIDATION" | "COMPUTE" | "NESTED" | "TOOL_NOT_FOUND" | "TOOL_ARGUMENTS" | "TOOL_SERVER" | "TOOL_FAILED" | "NOT_TRUSTED" | "CHANGED" | "USUALLY_FAILS" | (string & {});

/** Events in the order of the journal. */
export type EventsPage = {
  events: JournalEvent[];
  /** The number of the last event that was looked at: `after` for the next page. */
  n: number;
};

/** One of the things that decide what a step does. */
export type Fact = {
  /** The step, if it is another than the one that asks. */
  step?: string | null;
  /** The answer that leads there, if there is more than one that proceeds. */
  answer?: string | null;
  /** What it is about. */
  kind: FactKind;
  /** Which one, where there may be several. */
  name?: string | null;
  /** What it is; secrets masked, the end of a long one left out. */
  value: string;
  /** SHA-256 of the contents, or of the whole value if it is long. */
  digest?: string | null;
};

export type FactKind = "machine" | "command" | "program" | "file" | "directory" | "env" | "stdin" | "skill" | "input" | "items" | "code" | "value" | "tool" | "unsettled" | "secret_input" | "begun" | "destructive" | "environment" | "not_covered" | "uncertain" | (string & {});

/** Why a run failed. */
export type FailReason = "step_failed" | "step_timed_out" | "run_timed_out" | "step_limit" | "final_state" | "aborted" | "output" | "finally" | "deadlock";

/** One thing that a server wants to know. */
export type Field = {
  /** What the server calls it. */
  name: string;
  /** What it says about it, in lines. */
  words?: string[];
  /** Whether it has to be answered. */
  required: boolean;
  /** What it may be. */
  kind: FieldKind;
};

/** What a field may be. */
export type FieldKind =
| /** Yes or no. */ {
  type: "boolean";
}
| /** One of these. */ {
  type: "choice";
  /** Value and label. */
  options: [string, string][];
}
| /** Text. */ {
  type: "text";
  /** What it has to look like. */
  pattern?: string | null;
  /** The same in words. */
  rule?: string | null;
}
| /** A number. */ {
  type: "number";
  /** Without a fraction. */
  whole: boolean;
  /** The least. */
  least?: number | null;
  /** The most. */
  most?: number | null;
};

/** Length and digest of the uncompressed bytes of a file. */
export type FileSeal = {
  /** How many bytes. */
  bytes: number;
} & (
| /** What every new log gets. */ {
  blake3: string;
}
| /** What logs got before. */ {
  sha256: string;
});

/**
 * The steps are over and `finally` follows. The run has not ended, but how it
 * does is decided, unless a step of `finally` fails.
 */
export type Finishing = {
  /** When `finally` must be over. */
  until: string;
} & (
| /** It completed. */ {
  status: "completed";
  /** The final state, in `states:` skills. */
  state?: string | null;
  /** The skill's named outputs. */
  outputs?: Record<string, unknown>;
}
| /** It failed. */ {
  status: "failed";
  /** What went wrong. */
  why: FailReason;
  /** The reason, as text for people. */
  message: string;
  /** The step that caused it. */
  step?: string | null;
  /** The final state, in `states:` skills. */
  state?: string | null;
}
| /** Declined or cancelled. */ {
  status: "cancelled";
  /** Declined, cancelled, or ended in a final state with `status: cancelled`. */
  why: CancelReason;
  /** The person who did it, if a person did. */
  by?: string | null;
  /** The reason, as text for people. */
  message?: string | null;
  /** The step that caused it. */
  step?: string | null;
  /** The final state, in `states:` skills. */
  state?: string | null;
});

/**
 * What a fix from memory does about a failure, everything decided: the
 * journal holds it, so that memory may change meanwhile.
 */
export type FixPlan = {
  /** Its name in memory. */
  id: string;
  /** What the step is given differently. */
  edits?: Edits | null;
  /** What is done first. */
  act?: Act | null;
  /** That stands in for the step itself. */
  replaces?: boolean;
  /**
   * What the step is given differently once `act` has returned: templates over
   * `args`, `error` and `first`, what it returned.
   */
  args?: Record<string, unknown>;
};

/** What a fix is kept for. */
export type FixScope = "step" | "tool";

/** What a server asks. */
export type Form = {
  /** Who asks, by its name in the project. */
  server: string;
  /** Which question it is of those that this run was asked by servers. */
  index: number;
  /** Its words. */
  message: string;
  /** Why it is asked again. */
  note?: string | null;
  /** What it wants to know, the required ones first. */
  fields: Field[];
};

/** Where a text is in a log. */
export type FoundLines = {
  /** The bytes at which the lines with it begin. A line of more than 16 KiB counts as several. */
  lines: number[];
  /**
   * `from` of the next search: this one looked at a part of the log, or found enough;
   * `null` at the end.
   */
  next: number | null;
};

/** The intent of a repair. */
export type HealTriggered = {
  /** The step that failed. */
  step: string;
  /** The number of the repair; starts of steps and repairs count together. */
  execution: number;
  /** The rule. */
  rule: string;
  /** The category of the error, if it is a known one. */
  category?: "auth" | "network" | "registry" | "tty" | "custom" | null;
  /** What went wrong, secrets masked. */
  error: string;
  /** When it has to be over. */
  deadline?: string | null;
  /** Set if a fix from memory repairs it, instead of a rule. */
  fix?: FixPlan | null;
};

/** A question whose deadline was held. */
export type HeldQuestion = {
  /** The question. */
  question: string;
};

/** One item of a `foreach`. */
export type Item = {
  /** From 0. */
  index: number;
  /** Its value, secrets masked. */
  value: unknown;
  /** What it is called, where it has a name. */
  label?: string | null;
};

/** An event of the journal with its number. */
export type JournalEvent = {
  /** Its number in the whole journal. */
  n: number;
  /** The run around all others, if its run is inside one. */
  outermost?: string | null;
  /** Version of the vocabulary. */
  v: number;
  /** The run. */
  run: RunId;
  /** 1, 2, 3, … within the run. */
  seq: number;
  /** When, in UTC. */
  at: string;
} & (
| /** A run began. */ SkillStarted & {
  type: "skill_started";
}
| /** No process drives the run now; it can be resumed. */ {
  type: "skill_paused";
  /** Why. */
  why: PauseReason;
  /** Details, as text for people. */
  message?: string | null;
  /** Milliseconds since it began. */
  duration_ms?: number | null;
}
| /** A request or a signal ends the running step. The next event says how the step ended. */ Stopping & {
  type: "skill_stopping";
}
| /** A process drives the run again. */ {
  type: "skill_resumed";
  /** The user and the process that drive it. */
  driver: Driver;
  /** How long the driver was suspended; this does not count towards the run's time limit. */
  suspended_ms?: number | null;
  /** When a failed run inside a step is tried again: the start of that step. */
  turn?: number | null;
  /**
   * The number of processes that an interrupted run had left and that were
   * ended now.
   */
  ended?: number | null;
  /** The epoch of the lease under which it continues. */
  epoch?: number;
}
| /** The run holds the name of its `concurrency`. No other run gets it until this one ends. */ {
  type: "concurrency_acquired";
  /** The name. */
  name: string;
  /** How many milliseconds it waited; they do not count towards its time limit. */
  waited_ms?: number | null;
}
| /** The run waits for the name of its `concurrency`, which another run holds or waited for first. */ {
  type: "concurrency_waiting";
  /** The name. */
  name: string;
  /** The run that has to end first. */
  holder: RunId;
  /** How many runs are ahead in the queue. */
  ahead?: number;
}
| /** The steps have ended and decided how the run ends; the steps of `finally` follow. */ Finishing & {
  type: "skill_finishing";
}
| /** The run completed. */ {
  type: "skill_completed";
  /** The final state, in `states:` skills. */
  state?: string | null;
  /** The skill's named outputs. */
  outputs?: Record<string, unknown>;
  /** Milliseconds since it began. */
  duration_ms?: number | null;
}
| /** The run failed. */ {
  type: "skill_failed";
  /** What went wrong. */
  why: FailReason;
  /** The reason, as text for people. */
  message: string;
  /** The step that caused it. */
  step?: string | null;
  /** The final state, in `states:` skills. */
  state?: string | null;
  /** Milliseconds since it began. */
  duration_ms?: number | null;
}
| /** The run was declined or cancelled. */ {
  type: "skill_cancelled";
  /** Declined, cancelled, or ended in a final state with `status: cancelled`. */
  why: CancelReason;
  /** The person who did it, if a person did. */
  by?: string | null;
  /** The reason, as text for people. */
  message?: string | null;
  /** The step that caused it. */
  step?: string | null;
  /** The final state, in `states:` skills; older versions left it out. */
  state?: string | null;
  /**
   * The number of processes that an interrupted run had left and that were
   * ended now.
   */
  ended?: number | null;
  /** Milliseconds since it began. */
  duration_ms?: number | null;
}
| /** A step is about to start. This event is committed before the step acts. */ StepStarted & {
  type: "step_started";
}
| /** A step waits for a slot, because `max_processes` processes are running. */ {
  type: "step_queued";
  /** The step. */
  step: string;
  /** The number of its start. */
  execution: number;
}
| /** A step that waited for a slot got one. This event is committed before the step starts. */ {
  type: "step_dequeued";
  /** The step. */
  step: string;
  /** The number of its start. */
  execution: number;
}
| /** A step completed. */ StepCompleted & {
  type: "step_completed";
}
| /** A step failed, or its outcome is unknown. */ StepFailed & {
  type: "step_failed";
}
| /** A step was skipped. */ {
  type: "step_skipped";
  /** The step. */
  step: string;
  /** Why. */
  why: SkipReason;
  /** The person who decided it, if a person did. */
  by?: string | null;
  /** The reason, as text for people. */
  message?: string | null;
  /** The answer that decided it; absent in older journals. */
  answer?: string | null;
}
| /** A step will be tried again; `step_started` follows. */ {
  type: "step_retried";
  /** The step. */
  step: string;
  /** The attempt that follows, from 2. */
  attempt: number;
  /** Why. */
  why: RetryReason;
  /** The step is not started before this time. */
  not_before?: string | null;
  /** Changes to its arguments, from now on. */
  edits?: Edits | null;
  /** The fix that is tried. */
  fix?: string | null;
  /** The answer that asked for it, if no question was open. */
  answer?: Answer | null;
}
| /** A step failed with a known error, and its repair starts. */ HealTriggered & {
  type: "auto_heal_triggered";
}
| /** The repair has ended; `step_retried` follows if it succeeded. */ {
  type: "auto_heal_completed";
  /** The step that failed. */
  step: string;
  /** The number of the repair. */
  execution: number;
  /** The rule. */
  rule: string;
  /** Whether it succeeded. */
  healed: boolean;
  /** Why it failed. */
  message?: string | null;
  /** How long it took. */
  duration_ms?: number | null;
}
| /** Memory has something about this step. */ Remembered & {
  type: "memory_recalled";
}
| /** Aye learned something. */ Remembered & {
  type: "memory_learned";
}
| /** A person has to decide. */ Question & {
  type: "confirmation_required";
}
| /** The deadline of a question moved or stopped, because someone is typing, the question waits behind another one, or nobody can see it yet. Also sent when its time continues. */ {
  type: "confirmation_held";
  /** Which question. */
  question: QuestionId;
  /** The new deadline; absent while its time is stopped. */
  deadline?: string | null;
  /** The person who is typing, if someone is. */
  by?: string | null;
  /**
   * Its time ran out while nobody could see it. It has this many
   * milliseconds once a prompter shows it.
   */
  left_ms?: number | null;
}
| /** An assistant or an advisor said what it thinks. That is not an answer. */ {
  type: "confirmation_advised";
  /** Which question. */
  question: QuestionId;
  /** What it said. */
  advice: Advice;
}
| /** An answer was accepted, or it was refused and recorded. */ Answered & {
  type: "confirmation_answered";
}
| /** A question was closed without an answer: nobody answered in time, or the run was stopped first. */ {
  type: "confirmation_expired";
  /** Which question. */
  question: QuestionId;
  /** The value taken instead; absent when it counts as declined. */
  applied?: string | null;
  /** Its time was not up: the run was stopped first. */
  withdrawn?: boolean;
});

/** `stdout: discard`, `stderr: discard` and `log: false` of a step. */
export type KeptOutput = {
  /** Its standard output is read; otherwise it goes nowhere. */
  stdout?: boolean;
  /** The same for its standard error. */
  stderr?: boolean;
  /** What is read is written to the step's log. */
  log?: boolean;
};

/** Where an answer leads. */
export type Lead = {
  /** The value of the option. */
  answer: string;
  /** The step that a yes runs, the state that follows, or the one in which the run ends. */
  to?: string | null;
  /** How the run ends, where it ends at once. */
  ends?: EndStatus | null;
  /** The same in words, for every place that shows it; empty in questions of older versions. */
  words?: string;
};

/** A process that could not be ended. */
export type LeftProcess = {
  /** Its number. */
  pid: number;
  /** What its program is called. */
  name?: string | null;
};

/**
 * The files of a step's log when it ended: a later change of them shows. A
 * step that wrote nothing has a seal without files.
 */
export type LogSeal = {
  /** What it wrote to its standard output. */
  stdout?: FileSeal | null;
  /** What it wrote to its standard error. */
  stderr?: FileSeal | null;
  /** How the two were interleaved. */
  order?: FileSeal | null;
};

/** Kinds of things in memory. */
export type MemoryKind = "issue" | "fix" | "preference" | "usage" | "state";

/** What was learned, by kind; only the kinds that were asked for. */
export type MemoryView = Record<string, unknown[]>;

/** What a button of a message sends. */
export type MessageAnswerBody = {
  /** It says who, which question and which option. */
  token: string;
};

/** What became of an answer from a message. */
export type MessageAnswerView = {
  /** The question. */
  question: string;
  /** Where it stands. */
  state: string;
};

/** The namespaces that a process lives in, by the kernel's numbers. */
export type Namespaces = {
  /** Which accounts there are. */
  user: number;
  /** Which processes can be seen. */
  pid: number;
};

/** What all connected clients get besides the journal's events. */
export type Notice =
| /** Someone came, left, or shows another question. */ {
  type: "clients";
  /** Who is connected, not necessarily all. */
  clients: Client[];
  /** How many are. */
  count: number;
}
| /** The server is there. */ {
  type: "heartbeat";
  /** The newest event that was sent. */
  n: number;
  /** When. */
  at: string;
}
| /** The journal no longer keeps what the client has not seen. A snapshot follows. */ {
  type: "gap";
  /** The last number that the client has seen. */
  after: number;
  /**
   * The first that there is; `null` if nothing follows, or if the client has seen more
   * than there ever was.
   */
  from: number | null;
};

/** One option as shown. */
export type Offer = {
  /** Stored as the answer. */
  value: string;
  /** Shown. */
  label: string;
  /** Shown beneath. */
  description?: string | null;
  /** What choosing it means. */
  action: ChoiceAction;
};

/** Where an answer was given, as the process that gave it found out. */
export type Origin = {
  /** The namespaces of that process; absent where it could not see them. */
  namespaces?: Namespaces | null;
  /** It descends from a program that Aye started: which, in words. */
  started_by?: string | null;
  /**
   * The user's name as that process saw it, in another user namespace than
   * the run's: any name can be had there.
   */
  claimed?: string | null;
};

/** The step of another run that a run belongs to. */
export type Parent = {
  /** The run. */
  run: RunId;
  /** Its step. */
  step: string;
  /** Which start of it. */
  execution: number;
  /** Which start of it begins the run, where an earlier one began the others. */
  turn?: number | null;
  /** Which item of a `foreach`. */
  item?: Item | null;
  /** What a server asks in the middle of it. */
  form?: Form | null;
  /** 1 for a run inside a run that nobody holds. */
  depth: number;
  /**
   * A person agreed to what it does, or it cannot be undone: no assistant
   * changes that unseen.
   */
  bound?: boolean;
  /** It belongs to a clean-up: the step, or one around it, is in `finally`. */
  finally?: boolean;
  /** It repairs a step, or belongs to what does: nothing repairs it. */
  repair?: boolean;
  /**
   * Where it leads in a run around it if the run is declined. In an item of a
   * `foreach` only silence does that: a no leaves the item out.
   */
  declined?: Lead | null;
};

/** Why a run is paused. */
export type PauseReason = "waiting" | "interrupted" | "resting";

/** People, by name. */
export type PeopleView = {
  people: PersonView[];
};

/** A person. */
export type PersonView = {
  /** The name that answers carry. */
  name: string;
  /** What they may do. */
  rights: string[];
  /** The projects they see; none means all. */
  projects: string[];
  /** The account of the operating system that is theirs. */
  account: string | null;
  /** Since when. */
  added: string;
  /** Their devices. */
  devices: DeviceView[];
};

/** The plan of a run, as `aye run --dry-run --json` prints it. */
export type PlanView = Record<string, unknown>;

/** A step as the file has it. */
export type PlannedStep = {
  /** Its name. */
  name: string;
  /** `command`, `shell`, `confirm`, … */
  kind: StepKind;
  /** What the file says about it; never rendered. */
  description?: string | null;
  /** It belongs to `finally`. */
  finally?: boolean;
};

/** A step of a skill. */
export type PlannedStepView = {
  /** Its name. */
  name: string;
  /** `command`, `shell`, `confirm`, … */
  kind: string;
  /** What the file says about it. */
  description: string | null;
  /** Whether it destroys something. */
  destructive: boolean;
  /** Whether someone is asked before it or by it. */
  asks: boolean;
};

/** `application/problem+json`. */
export type ProblemBody = {
  /** `urn:aye:problem:CODE`. */
  type: string;
  /** The kind, in words. */
  title: string;
  /** The HTTP status. */
  status: number;
  /** What went wrong. */
  detail: string;
  /** The kind, for programs. */
  code: Code;
  /** What to do about it. */
  hint?: string | null;
};

/** What is known of a finished process. */
export type ProcessRecord = {
  /** Exit code; 128+n for a signal. */
  exit_code?: number | null;
  /** The signal that ended it. */
  signal?: number | null;
  /** What that signal is called: `SIGSEGV`. */
  signal_name?: string | null;
  /**
   * The signal that Aye had to send to end it: `SIGINT`, `SIGTERM`, or
   * `SIGKILL` where nothing else helped.
   */
  ended_with?: string | null;
  /** How long it ran. */
  duration_ms: number;
  /** The end of its standard output. */
  stdout?: string;
  /** The end of its standard error. */
  stderr?: string;
  /** What of its output was kept at all. */
  kept?: KeptOutput;
  /** How many bytes of both are only in the log. */
  dropped?: number;
  /** It left a process holding its output. */
  leaky?: boolean;
  /** Processes that went on after it had ended, and that were ended. */
  leftovers?: number;
  /** Processes that could not be ended. */
  left_running: number;
  /** Which those are. */
  left?: LeftProcess[];
  /** Largest resident memory. */
  peak_memory?: number | null;
  /** Processor time, user and system. */
  cpu_ms?: number | null;
  /** What else is to be said of it. */
  remarks?: string[];
};

/** Whose memory is changed. */
export type ProjectBody = {
  /** The project; without it the one that the server was started in. */
  project?: string | null;
};

/** A project. */
export type ProjectView = {
  /** Its directory. */
  project: string;
  /** Whether it is trusted: only then something of it is started here. */
  trusted: boolean;
};

/** The projects that this person sees. */
export type ProjectsView = {
  /** The one that the server was started in first. */
  projects: ProjectView[];
};

/**
 * How strongly it is proven who gave an answer, the weakest first. What each is
 * worth is in `docs/explanation/trust.md`.
 */
export type Proof = "relayed" | "elicited" | "local" | "token" | "otp";

/** A change that would fix the failure; made only if someone agrees. */
export type Proposal = {
  /** In one sentence. */
  why: string;
  /** What would change, as a diff. */
  diff: string;
  /** The whole code as it would be. */
  code: string;
};

/** Something in memory that waits for a person to agree. */
export type ProposalView = {
  /** Its id. */
  proposal: string;
  /** `fix`, `issue` or `answer`. */
  kind: string;
  /** What agreeing does. */
  message: string;
  /** What a person types to agree. */
  command: string;
  /** All of it, as `GET /memory` has it. */
  details: unknown;
};

/** What waits for a person to agree. */
export type ProposalsView = {
  /** As in the inbox. */
  proposals: ProposalView[];
};

/** What a question stands for in the run. */
export type Purpose = "gate" | "ask" | "recover";

/** A question with everything rendered: what a prompter shows. */
export type Question = {
  /** Its name, for `aye answer`; `id` in journals of older versions. */
  question: QuestionId;
  /** Whether it asks for a yes, for a choice or for text. */
  kind: AskKind;
  /** Whether it stands before a step, is a step itself, or is about a failed step. */
  purpose: Purpose;
  /** The step it belongs to. */
  step: string;
  /** Heading. */
  title: string;
  /** The question. */
  message: string;
  /** What can be chosen; for `input`, instead of a text. */
  options?: Offer[];
  /** The answer on Enter and when the time is up. */
  default?: string | null;
  /** When it expires; absent if it has no time limit. */
  deadline?: string | null;
  /** `input`: what the text must match. */
  match?: string | null;
  /** `input`: not echoed, not kept. */
  secret?: boolean;
  /** Who may answer. */
  by?: By;
  /** How many different people must agree. */
  approvals?: number;
  /** The person who started the run does not count. */
  not_starter?: boolean;
  /** A one-time code is needed. */
  reauth?: boolean;
  /** Text that must be typed to agree. */
  typed?: string | null;
  /** Whether `--yes` may answer. */
  overridable: boolean;
  /** Whether the answer may be remembered. */
  remember?: boolean;
  /**
   * Answers of which that is not true: they lead to something that is not shown and that the
   * answer is not bound to.
   */
  not_remembered?: string[];
  /** Whether an assistant is asked for advice. */
  ai_assist?: boolean;
  /**
   * Options that a person has to choose, at a prompt or in a form that was
   * shown: for these an assistant's word does not count.
   */
  person_only?: string[];
  /**
   * A yes may lead to something that cannot be undone, without another
   * question; absent in questions of older versions.
   */
  destructive?: boolean;
  /** The resolved command that a yes will start, secrets masked. */
  follows?: string | null;
  /** Where each answer leads. */
  leads?: Lead[];
  /**
   * Everything that decides what a yes leads to; an answer counts for these.
   * Absent in questions of older versions, and where nothing follows.
   */
  facts?: Fact[] | null;
  /** What has changed since the last yes: why it is asked again. */
  changed?: Change[];
  /** What a yes does not cover, one sentence for each. */
  not_covered?: string[];
  /**
   * The values of names from outside of the run, such as `env`. The step runs with
   * these values.
   */
  outside?: Record<string, unknown>;
  /** The inputs that may differ when a remembered answer is used. */
  any?: string[];
  /**
   * What a remembered answer is bound to: the same, without the values of
   * those inputs.
   */
  recall?: string | null;
  /** Digest of what is asked and of what follows; an answer is bound to it. */
  digest: string;
};

/** Identifies a question: the run's id and the question's number in it. */
export type QuestionId = string;

/** An open question: what `confirmation_required` says, and where it is. */
export type QuestionView = {
  /** The run that asks. */
  run: string;
  /** The run's skill. */
  skill: string;
  /** The directory the run works in. */
  workspace: string;
  /** The runs around it, from the outside in: `deploy[web3]`. */
  path: string[];
  /** When it was asked. */
  asked: string;
  /** Whether a process drives its run. */
  driven: boolean;
  /** `open`, `answered`, `expired` or `withdrawn`. */
  state: string;
  /** How many more people have to agree. */
  missing: number;
  /** The number of the event that asked it: for `after`. */
  n: number;
  /** What a browser sends with its answer. */
  nonce?: string | null;
  /** Its name, for `aye answer`; `id` in journals of older versions. */
  question: QuestionId;
  /** Whether it asks for a yes, for a choice or for text. */
  kind: AskKind;
  /** Whether it stands before a step, is a step itself, or is about a failed step. */
  purpose: Purpose;
  /** The step it belongs to. */
  step: string;
  /** Heading. */
  title: string;
  /** The question. */
  message: string;
  /** What can be chosen; for `input`, instead of a text. */
  options?: Offer[];
  /** The answer on Enter and when the time is up. */
  default?: string | null;
  /** When it expires; absent if it has no time limit. */
  deadline?: string | null;
  /** `input`: what the text must match. */
  match?: string | null;
  /** `input`: not echoed, not kept. */
  secret?: boolean;
  /** Who may answer. */
  by?: By;
  /** How many different people must agree. */
  approvals?: number;
  /** The person who started the run does not count. */
  not_starter?: boolean;
  /** A one-time code is needed. */
  reauth?: boolean;
  /** Text that must be typed to agree. */
  typed?: string | null;
  /** Whether `--yes` may answer. */
  overridable: boolean;
  /** Whether the answer may be remembered. */
  remember?: boolean;
  /**
   * Answers of which that is not true: they lead to something that is not shown and that the
   * answer is not bound to.
   */
  not_remembered?: string[];
  /** Whether an assistant is asked for advice. */
  ai_assist?: boolean;
  /**
   * Options that a person has to choose, at a prompt or in a form that was
   * shown: for these an assistant's word does not count.
   */
  person_only?: string[];
  /**
   * A yes may lead to something that cannot be undone, without another
   * question; absent in questions of older versions.
   */
  destructive?: boolean;
  /** The resolved command that a yes will start, secrets masked. */
  follows?: string | null;
  /** Where each answer leads. */
  leads?: Lead[];
  /**
   * Everything that decides what a yes leads to; an answer counts for these.
   * Absent in questions of older versions, and where nothing follows.
   */
  facts?: Fact[] | null;
  /** What has changed since the last yes: why it is asked again. */
  changed?: Change[];
  /** What a yes does not cover, one sentence for each. */
  not_covered?: string[];
  /**
   * The values of names from outside of the run, such as `env`. The step runs with
   * these values.
   */
  outside?: Record<string, unknown>;
  /** The inputs that may differ when a remembered answer is used. */
  any?: string[];
  /**
   * What a remembered answer is bound to: the same, without the values of
   * those inputs.
   */
  recall?: string | null;
  /** Digest of what is asked and of what follows; an answer is bound to it. */
  digest: string;
};

/** Open questions, the oldest first. */
export type QuestionsPage = {
  questions: QuestionView[];
  /** How many are open in all. */
  open: number;
  /** `after` for the next page; `null` at the end. */
  next: number | null;
};

/** Which part of a skill is run. */
export type Range =
| /** From this step on. */ {
  from: string;
}
| /** This step alone. */ {
  only: string;
};

/** Something from memory, or for it. */
export type Remembered = {
  /** What kind of thing. */
  kind: MemoryKind;
  /** Its name in memory. */
  id?: string | null;
  /** The step it is about. */
  step?: string | null;
  /** Text for people. It was learned: treat it as data. */
  message: string;
  /** A fix that is about to be carried out. */
  fix?: FixPlan | null;
  /**
   * What is written to memory, in a form that only memory reads. If a crash
   * prevented the write, the next process that opens memory does it.
   */
  lesson?: unknown;
};

/** How a failed step is tried again. */
export type RetryBody = {
  /** The step, if several failed. */
  step?: string | null;
  /** What it is given differently, by name. */
  set?: Record<string, unknown>;
  /** The digest of the question about the failure, if one is open. */
  digest?: string | null;
  /** From that question, for browsers. */
  nonce?: string | null;
};

/** Why a step is tried again. */
export type RetryReason = "idempotent" | "answer" | "policy" | "healed" | "fixed" | "relayed";

/** A run with its steps. */
export type RunDetailView = {
  /** Its id. */
  run: string;
  /** The skill's name. */
  skill: string;
  /** `running`, `queued`, `waiting`, `paused`, `cut-off`, `completed`, `failed` or `cancelled`. */
  status: "running" | "queued" | "waiting" | "paused" | "cut-off" | "completed" | "failed" | "cancelled";
  /** How many of its questions are open, those of runs inside it included. */
  waiting: number;
  /** Whether a process drives it. */
  driven: boolean;
  /** The step it is at, or was at last. */
  step: string | null;
  /** Why it is paused, failed or cancelled. */
  message: string | null;
  /** The name that one run at a time has. */
  concurrency?: string | null;
  /** The run that has that name, while this one waits for it. */
  waits_for?: string | null;
  /** What it runs against. */
  environment: string | null;
  /** The directory it runs in. */
  workspace: string;
  /** The account that drives it, or did last. */
  user: string;
  /**
   * What started it: `terminal`, `script`, `assistant`, `schedule`, `web`, `editor` or
   * `api`.
   */
  started_by: StartedBy | null;
  /** Who started it: a person, or the account. */
  starter: string;
  /** The run it is inside of. */
  parent: string | null;
  /** When it began. */
  started: string;
  /** When its last event was. */
  updated: string;
  /** When it ended. */
  ended: string | null;
  /** How long it took. */
  duration_ms: number | null;
  /** The number of its first event: for `before`. */
  n: number;
  /** Its inputs, secrets masked. */
  inputs: Record<string, unknown>;
  /** Its steps, in order. */
  steps: StepView[];
  /** Its outputs, once it has completed. */
  outputs: Record<string, unknown>;
};

/** Identifies a run: 8 to 160 of `[A-Za-z0-9_-]`. */
export type RunId = string;

/** A run in a list. */
export type RunView = {
  /** Its id. */
  run: string;
  /** The skill's name. */
  skill: string;
  /** `running`, `queued`, `waiting`, `paused`, `cut-off`, `completed`, `failed` or `cancelled`. */
  status: "running" | "queued" | "waiting" | "paused" | "cut-off" | "completed" | "failed" | "cancelled";
  /** How many of its questions are open, those of runs inside it included. */
  waiting: number;
  /** Whether a process drives it. */
  driven: boolean;
  /** The step it is at, or was at last. */
  step: string | null;
  /** Why it is paused, failed or cancelled. */
  message: string | null;
  /** The name that one run at a time has. */
  concurrency?: string | null;
  /** The run that has that name, while this one waits for it. */
  waits_for?: string | null;
  /** What it runs against. */
  environment: string | null;
  /** The directory it runs in. */
  workspace: string;
  /** The account that drives it, or did last. */
  user: string;
  /**
   * What started it: `terminal`, `script`, `assistant`, `schedule`, `web`, `editor` or
   * `api`.
   */
  started_by: StartedBy | null;
  /** Who started it: a person, or the account. */
  starter: string;
  /** The run it is inside of. */
  parent: string | null;
  /** When it began. */
  started: string;
  /** When its last event was. */
  updated: string;
  /** When it ended. */
  ended: string | null;
  /** How long it took. */
  duration_ms: number | null;
  /** The number of its first event: for `before`. */
  n: number;
};

/** Runs, the newest first. */
export type RunsPage = {
  runs: RunView[];
  /** `before` for the next page; `null` at the end. */
  next: number | null;
};

/** A link that is redeemed. */
export type SignInBody = {
  /** What follows `#signin=` in the link. */
  link: string;
};

/** The beginning of a run. */
export type SkillStarted = {
  /** The skill's name. */
  skill: string;
  /** Where its file was. */
  file: string;
  /** Digest of the file's text; the store keeps the text under it. */
  source: string;
  /** Inputs with defaults applied; secrets masked. */
  inputs?: Record<string, unknown>;
  /** How many steps the skill has. */
  steps: number;
  /** The directory it runs in. */
  workspace: string;
  /** `--environment`. */
  environment?: string | null;
  /** The deadline of the whole run. */
  deadline?: string | null;
  /** `--from` or `--only`. */
  range?: Range | null;
  /** `--yes` was given. */
  yes?: boolean;
  /** The user and the process that drive it. */
  driver: Driver;
  /** The step of another run that this one belongs to. */
  parent?: Parent | null;
  /**
   * The tools that the project's settings mark as destructive. Steps that use
   * them are destructive.
   */
  destructive_tools?: string[];
  /**
   * The steps of the file, in order. Absent in the runs of a `foreach`, whose
   * steps are those of the step around them.
   */
  step_list?: PlannedStep[];
  /** Who or what started it. */
  started_by?: StartedBy | null;
  /** The person who started it, if that is not the account that drives it. */
  starter?: string | null;
  /** The name of its `concurrency`, which it must hold before its first step. */
  concurrency?: string | null;
  /** The epoch of the lease under which it began. */
  epoch?: number;
};

/** An input schema and what else there is to say of a skill. */
export type SkillView = {
  /** Its name. */
  skill: string;
  /** Its project's directory. */
  project: string;
  /** Whether the project is trusted: only then it can be started here. */
  trusted: boolean;
  /** Its file, as seen from the project. */
  file: string;
  /** What it does. */
  description: string | null;
  /** Its inputs, as a JSON schema. */
  inputs: unknown;
  /** Its steps. */
  steps: PlannedStepView[];
  /** How many errors its file has; with any it cannot be started. */
  errors: number;
};

/** Skills. */
export type SkillsPage = {
  skills: SkillView[];
};

/** Why a step was skipped. */
export type SkipReason = "condition" | "declined" | "expired" | "answer";

/** The first message on a socket. */
export type Snapshot = {
  /** `snapshot`. */
  type: "snapshot";
  /** The newest event that it knows of: what follows has greater numbers. */
  n: number;
  /** Runs that have not ended, with their steps. */
  runs: RunDetailView[];
  /** How many runs have not ended, should they not all be listed. */
  runs_in_all: number;
  /** Open questions, the oldest first. */
  questions: QuestionView[];
  /** How many questions are open, should they not all be listed. */
  questions_open: number;
  /** Who is connected. */
  clients: Client[];
  /** Whom this connection speaks for. */
  you: string;
};

/** A skill that is to be started. */
export type StartBody = {
  /** The skill's name. */
  skill: string;
  /** Its project's directory; without it, the first project that has the skill. */
  project?: string | null;
  /** What it is given. */
  inputs?: Record<string, unknown>;
  /** What it runs against. */
  environment?: string | null;
};

/** A run that was started. */
export type Started = {
  /** The run. */
  run: string;
  /** The same request was sent before. */
  repeated: boolean;
  /** What someone should know. */
  warnings?: string[];
};

/** Who or what started a run. */
export type StartedBy = "terminal" | "script" | "assistant" | "schedule" | "web" | "editor" | "api";

/** What a step is given. */
export type StepArguments = {
  /**
   * By the names that `set` of a retry takes, secrets masked. Empty for a step that is
   * given nothing, and where only the process that drives the run knows it.
   */
  arguments: Record<string, unknown>;
};

/** The good end of a step. */
export type StepCompleted = {
  /** Which step. */
  step: string;
  /** The number of its start. */
  execution: number;
  /** The name of its result in templates. */
  output: string;
  /** Its result. */
  value?: unknown;
  /** The `key: value` lines of a tool's text, under `<output>_parsed`. */
  parsed?: unknown;
  /** The record of its process; absent if it ran none. */
  process?: ProcessRecord | null;
  /** How long it took, if it ran no process. */
  duration_ms?: number | null;
  /** The result held a secret: later steps get another value than the one here. */
  hidden?: boolean;
  /** The text of a note step, or a remark about how the step ended. */
  note?: string | null;
  /** The person who marked it as done. */
  marked_by?: string | null;
  /** A person agreed, inside this step, to what follows it. */
  agreed?: boolean;
  /**
   * Length and digest of its log when it ended; absent if there is no log or
   * it is incomplete.
   */
  log?: LogSeal | null;
};

/** The bad end of a step. */
export type StepFailed = {
  /** Which step. */
  step: string;
  /** The number of its start; 0 if it never started. */
  execution: number;
  /** How it ended. */
  outcome: BadOutcome;
  /** The error code. */
  code?: ErrorCode | null;
  /** The reason, as text for people. */
  message: string;
  /** What to do about it. */
  hint?: string | null;
  /** The record of its process. */
  process?: ProcessRecord | null;
  /** How long it took, if it ran no process. */
  duration_ms?: number | null;
  /** A proposed fix for a failed block. */
  proposal?: Proposal | null;
  /**
   * A guard of the step failed, or its question could not be asked. `on_error`
   * does not let the run continue.
   */
  guarded?: boolean;
  /**
   * The state that follows, if the skill has a transition for exactly this exit
   * code. Then the step did not go wrong.
   */
  leads_to?: string | null;
  /** The person who declined, if a person did. */
  by?: string | null;
  /** Set when only clean-up follows. */
  winding_down?: WindingDown | null;
  /**
   * Length and digest of its log when it ended; absent if there is no log or
   * it is incomplete.
   */
  log?: LogSeal | null;
};

export type StepKind = "command" | "shell" | "confirm" | "choose" | "input" | "recover" | "tool" | "compute" | "skill" | "foreach" | "return" | "note" | (string & {});

/** A line that a step wrote, for who follows its run. */
export type StepOutput = {
  /** `step_output`. */
  type: "step_output";
  /** Version of the vocabulary. */
  v: number;
  /** The run. */
  run: string;
  /** The step. */
  step: string;
  /** The runs around it, from the outside in: `deploy[web3]`. */
  path?: string[];
  /** The item it is about, where it is inside a list. */
  item?: Item | null;
  /** Where it wrote it. */
  stream: StreamName;
  /** The line, without its end. */
  text: string;
};

/** The result of a step that wrote nothing, for who follows its run. */
export type StepResult = {
  /** `step_result`. */
  type: "step_result";
  /** Version of the vocabulary. */
  v: number;
  /** The run. */
  run: string;
  /** The step. */
  step: string;
  /** The runs around it, from the outside in: `deploy[web3]`. */
  path?: string[];
  /** The item it is about, where it is inside a list. */
  item?: Item | null;
  /** The result. */
  value: unknown;
};

/** The intent of a step. */
export type StepStarted = {
  /** Which step. */
  step: string;
  /**
   * The number of this start, counted over the whole run. The step's result has
   * the same number.
   */
  execution: number;
  /** 1, or more after retries. */
  attempt: number;
  /** Its place in the file, from 0. */
  index?: number | null;
  /**
   * What the file says about it, rendered where that is possible; secrets
   * masked.
   */
  description?: string | null;
  /** The machine it runs on. */
  machine?: string | null;
  /** What it does. */
  kind: StepKind;
  /** The resolved command line, secrets masked; absent for questions. */
  command?: string | null;
  /**
   * The program and its arguments, secrets masked; absent where no program
   * is run.
   */
  argv?: string[];
  /** May be run again if its outcome is unknown. */
  idempotent?: boolean;
  /** The deadline of the step. */
  deadline?: string | null;
  /** It consists of runs inside it, each with its own journal. */
  nested?: boolean;
  /** The items of a `foreach`; secrets masked. */
  items?: unknown[];
  /**
   * The names of the items, in the same order; empty for an item that has only
   * its number. Absent in older journals.
   */
  labels?: string[];
  /** The earlier start whose runs it continues. */
  goes_on?: number | null;
};

/** A step of a run. */
export type StepView = {
  /** Its name. */
  name: string;
  /** `command`, `shell`, `confirm`, … */
  kind: string | null;
  /** What the file says about it. */
  description: string | null;
  /**
   * `pending` until it is reached; then `waiting`, `queued` (it waits for a slot),
   * `running`, `completed`, `skipped`, `failed`, `timed_out`, `cancelled`, `interrupted` or
   * `unknown`.
   */
  status: string;
  /** Which attempt. */
  attempt: number;
  /** Which start of a step in this run: names its log. */
  execution: number;
  /** When it started. */
  started: string | null;
  /** When it ended. */
  ended: string | null;
  /** How long its last start took. */
  duration_ms: number | null;
  /** What went wrong, or why it was left out. */
  message: string | null;
  /** The resolved command line, secrets masked. */
  command: string | null;
  /** The runs inside it. */
  runs: string[];
};

/** Why the running step is to be ended. */
export type Stopping =
| /** Someone cancelled the run. */ {
  why: "cancelled";
  /** Who. */
  by: string;
  /** Why, if they said so. */
  reason?: string | null;
}
| /** Aye was told to stop. */ {
  why: "interrupted";
  /** In words, e.g. `SIGTERM`. */
  signal: string;
};

/** Standard output or standard error. */
export type StreamName = "stdout" | "stderr";

/** An answer that was taken. */
export type Taken = {
  /** The question. */
  question: string;
  /** `answered`; `open` while others have to agree. */
  state: string;
  /** How many more people have to agree. */
  missing: number;
  /** The same request was sent before. */
  repeated: boolean;
  /** Whether it is given again, where that was wanted: only some questions allow it. */
  remembered?: boolean | null;
  /** The run around all others: its own, unless that is inside another. */
  outermost: string;
  /** Nobody drove the run, and why it does not continue now. */
  not_resumed?: string | null;
};

/** Who someone is. */
export type WhoView = {
  /** The name that answers carry. */
  name: string;
  /** What they may do. */
  rights: string[];
  /** The projects they are limited to; none means all. */
  projects: string[];
  /** `local` or `token`: what their answers prove. */
  proof: string;
  /** The id of the device, for a browser that is signed in. */
  device?: string | null;
  /**
   * The half of the session that belongs to the origin: told once, when a
   * link is redeemed.
   */
  secret?: string | null;
};

/** Why a run winds down. */
export type WindDownReason = "run_timeout" | "cancelled";

/** The run's normal course is over; only a clean-up path may still run. */
export type WindingDown = {
  /** Why. */
  why: WindDownReason;
  /** When clean-up must be over. */
  until: string;
  /** Who cancelled. */
  by?: string | null;
  /** Why they did, if they said so. */
  reason?: string | null;
};
