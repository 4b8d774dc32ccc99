// The modules of the web page that the extension uses as they are (crates/aye/src/serve/page).

declare module "aye-page/store.js" {
  import type { Question, RunRow, RunState, ServerMessage, StoreTransport } from "./model";
  export interface Change {
    asked?: Question;
    decided?: Question;
    loaded?: string;
    message?: ServerMessage;
  }
  export class Store {
    constructor(transport: StoreTransport);
    you: string;
    clients: { name: string; kind: string; question: string | null }[];
    questions: Map<string, Question>;
    questionsOpen: number;
    rows: Map<string, RunRow>;
    trees: Map<string, { run: string; runs: Map<string, RunState>; n: number }>;
    ready: boolean;
    skew: number;
    subscribe(listener: (change: Change) => void): () => void;
    receive(message: ServerMessage): void;
    list(): Question[];
    inside(id: string): RunState | null;
    tree(run: string): Promise<{ run: string; runs: Map<string, RunState>; n: number }>;
  }
}

declare module "aye-page/words.js" {
  export function recalled(question: { step: string }, run: { memory: { step?: string; learned: boolean; kind: string; message: string }[] } | null): { label: string; text: string }[];
  export function rememberScopes(question: { remember?: boolean; purpose?: string; any?: string[] }): { scope: "error" | "step" | "skill" | "always"; label: string; what: string; same: string; covers: string }[];
  export function plain(text: unknown): string;
  export function isShortened(text: string): boolean;
  export function ownTitle(question: { title?: string; kind?: string; purpose?: string; step?: string }): string;
  export function heading(question: { title?: string; kind?: string; purpose?: string; step?: string; message?: string }): string;
  export function duration(ms: number | null | undefined): string;
  export function countdown(ms: number): string;
  export function ago(then: string, now: number): string;
  export function plural(count: number, one: string, many?: string): string;
}

declare module "aye-page/app.js" {
  export class App {
    constructor(root: Element, transport: unknown, who: unknown, signOut: () => void, options?: { embedded?: boolean });
    start(): void;
  }
}

declare module "aye-page/graph.js" {
  export function drawing(text: string): SVGElement | null;
}

declare module "*.css";
