// Questions and runs as the page's store keeps them: what the server says (protocol.ts, generated), and what
// was made of it since.

import type { Advice, ClientMessage, Offer, QuestionView, RunView, SkillView as ListedSkill } from "./protocol";

export type Option = Offer;
export type RunRow = RunView;
export type { Fact, Lead } from "./protocol";

/** A command of the socket, without its number. */
export type CommandType = Exclude<ClientMessage["type"], "hello" | "show">;
export type CommandFields<T extends CommandType> = Omit<Extract<ClientMessage, { type: T }>, "id" | "type">;

export interface Decision {
  at: string;
  value?: string | null;
  label?: string | null;
  by?: string;
  prompter?: string;
  reason?: string | null;
  remember?: string | null;
  expired?: boolean;
}

export interface Question extends Omit<QuestionView, "state" | "destructive"> {
  /** Its name, as `question` has it. */
  id: string;
  state: "open" | "answered" | "expired" | "withdrawn" | "decided";
  destructive?: boolean;
  decision?: Decision;
  window?: number | null;
  held?: { by: string; at: string } | null;
  unseen?: number | null;
  /** Who has agreed, where several have to. */
  agreed?: { by: string }[];
  /** What assistants said of it since this window knows it. */
  advice?: Advice[];
}

export interface StepState {
  name: string;
  kind: string | null;
  description: string | null;
  status: string;
  attempt: number;
  execution: number;
  notes: string[];
  /** Whether a repair ran after its last failure. */
  repaired: boolean;
  duration?: number | null;
  started?: string;
  ended?: string | null;
  message?: string | null;
  question?: string;
}

export interface RunState {
  id: string;
  skill: string;
  file?: string;
  workspace: string;
  status: string;
  steps: Map<string, StepState>;
  questions: Map<string, Question>;
  memory: { step?: string; learned: boolean; kind: string; message: string }[];
  heals: { step: string; rule: string }[];
  parent: { run: string; step: string } | null;
}

/** Anything the server says; the store reads it. */
export interface ServerMessage {
  type: string;
  n?: number;
  run?: string;
  [field: string]: unknown;
}

export interface SkillView extends Omit<ListedSkill, "inputs"> {
  inputs: { properties?: Record<string, unknown>; required?: string[] };
}

export interface StoreTransport {
  get(path: string): Promise<unknown>;
}
