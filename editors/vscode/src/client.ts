// A connection to the server: its socket, which comes back by itself and misses nothing, and its HTTP API.
// Nothing of VS Code here.

import { EventEmitter } from "node:events";
import { randomUUID } from "node:crypto";
import WebSocket from "ws";
import { send } from "./http";
import type { CommandFields, CommandType, ServerMessage } from "./model";
import { ServerProblem, type Announcement } from "./server";

const FIRST_WAIT = 250;
const LONGEST_WAIT = 8_000;
// The server is heard from at least this often.
const SILENCE = 45_000;
const COMMAND_LIMIT = 30_000;

/** What the server did not do, and why. */
export class ApiError extends Error {
  constructor(readonly code: string, message: string, readonly hint: string | null = null) {
    super(message);
  }
}

export interface ConnectionState {
  connected: boolean;
  since: number;
  /** Why not, if it is known. */
  problem: ServerProblem | null;
}

export interface Result {
  [field: string]: unknown;
}

interface Pending {
  resolve(result: Result): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

interface Events {
  message: [ServerMessage];
  state: [ConnectionState];
}

/** How long to wait after so many failed attempts: twice as long each time, up to a limit, and not all windows at once. */
export function pauseAfter(attempts: number, chance: number): number {
  return Math.min(FIRST_WAIT * 2 ** attempts, LONGEST_WAIT) * (0.7 + chance * 0.6);
}

/** Emits `message` for everything the server says but results, and `state` when the connection changes. */
export class Client extends EventEmitter<Events> {
  #locate: (attempt: number) => Promise<Announcement>;
  #server: Announcement | null = null;
  #socket: WebSocket | null = null;
  #pending = new Map<number, Pending>();
  #nextId = 1;
  #attempt = 0;
  #heard = 0;
  #continues = false;
  #isClosed = false;
  #shown: { question: string | null; notified: readonly string[] } = { question: null, notified: [] };
  #retry: NodeJS.Timeout | null = null;
  #watch: NodeJS.Timeout;
  /** The number of the last event that was heard. */
  after = 0;
  state: ConnectionState = { connected: false, since: Date.now(), problem: null };

  /** `locate` finds or starts the server, which has proven itself; it is told how many attempts have failed. */
  constructor(locate: (attempt: number) => Promise<Announcement>) {
    super();
    this.#locate = locate;
    this.#watch = setInterval(() => this.#silent(), 1000);
    this.#watch.unref();
  }

  /** Connects now, and again whenever the connection is lost. */
  connect(): void {
    if (this.#socket || this.#isClosed) return;
    if (this.#retry) clearTimeout(this.#retry);
    this.#retry = null;
    this.#locate(this.#attempt).then((server) => this.#open(server), (error: unknown) => this.#failed(error));
  }

  /** Tries again at once, from the beginning. */
  reconnect(): void {
    this.#attempt = 0;
    if (!this.#socket) this.connect();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#watch);
    if (this.#retry) clearTimeout(this.#retry);
    this.#socket?.close();
  }

  get url(): string | null {
    return this.#server?.url ?? null;
  }

  /** Sends a command and waits for its result. Never sent again by itself: an answer counts once. */
  command<T extends CommandType>(type: T, fields: CommandFields<T>): Promise<Result> {
    const socket = this.#socket;
    if (!this.state.connected || !socket) return Promise.reject(new ApiError("offline", "not connected; nothing was sent"));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(new ApiError("timeout", "the server did not reply; look at what became of it before you try again"));
      }, COMMAND_LIMIT);
      this.#pending.set(id, { resolve, reject, timer });
      socket.send(JSON.stringify({ id, type, ...fields }));
    });
  }

  /** Says which question is before the person in this window, `null` for none, and of which there are notifications. */
  show(question: string | null, notified: readonly string[]): void {
    const before = this.#shown;
    if (question === before.question && notified.join() === before.notified.join()) return;
    this.#shown = { question, notified };
    if (this.state.connected) this.#socket?.send(JSON.stringify({ type: "show", ...this.#shown }));
  }

  async get<T = unknown>(path: string): Promise<T> {
    return (await this.request("GET", path)).json() as Promise<T>;
  }

  async post<T = unknown>(path: string, body: object = {}): Promise<T | null> {
    const response = await this.request("POST", path, { body });
    return response.status === 204 ? null : (response.json() as Promise<T>);
  }

  /** A request of the HTTP API. */
  async request(method: string, path: string, { body, headers = {}, signal }: { body?: object; headers?: Record<string, string>; signal?: AbortSignal } = {}): Promise<Response> {
    const server = this.#server;
    // While its socket is open, the process that proved itself has the port; afterwards anyone may.
    if (!server || this.#socket?.readyState !== WebSocket.OPEN) throw new ApiError("offline", "the server cannot be reached");
    const all: Record<string, string> = { Authorization: `Bearer ${server.token}`, ...headers };
    if (body) Object.assign(all, { "Content-Type": "application/json", "Idempotency-Key": headers["Idempotency-Key"] ?? randomUUID() });
    let response: Response;
    try {
      response = await send(`${server.url}/api/v1${path}`, { method, headers: all, ca: server.ca, ...(body ? { body: JSON.stringify(body) } : {}), ...(signal ? { signal } : {}) });
    } catch {
      throw new ApiError("offline", "the server cannot be reached");
    }
    if (!response.ok) {
      const problem = (await response.json().catch(() => ({}))) as { code?: string; detail?: string; hint?: string };
      throw new ApiError(problem.code ?? String(response.status), problem.detail ?? response.statusText, problem.hint ?? null);
    }
    return response;
  }

  #open(server: Announcement): void {
    if (this.#isClosed || this.#socket) return;
    this.#server = server;
    this.#continues = this.after > 0;
    const url = new URL("/ws", server.url);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    if (this.#continues) url.searchParams.set("after", String(this.after));
    const socket = new WebSocket(url, { headers: { Authorization: `Bearer ${server.token}` }, ...(server.ca ? { ca: server.ca } : {}), handshakeTimeout: 10_000, maxPayload: 256 * 1024 * 1024 });
    this.#socket = socket;
    this.#heard = Date.now();
    socket.on("open", () => socket.send(JSON.stringify({ type: "hello", kind: "editor", ...this.#shown })));
    socket.on("ping", () => {
      this.#heard = Date.now();
    });
    socket.on("message", (data) => this.#receive(JSON.parse(String(data)) as ServerMessage));
    // `close` follows, and says what there is to say.
    socket.on("error", () => {});
    socket.on("close", () => this.#lost(socket));
  }

  #receive(message: ServerMessage): void {
    this.#heard = Date.now();
    if (message.type === "result") {
      this.#settle(message);
      return;
    }
    // What a snapshot knows of and we have not heard follows it, unless there is a gap.
    if (message.type === "gap") this.#continues = false;
    const counts = message.type !== "snapshot" || !this.#continues;
    if (counts && typeof message.n === "number") this.after = Math.max(this.after, message.n);
    this.emit("message", message);
    // Connected is who knows how things are: what was on the screen before may be decided.
    if (message.type === "snapshot") {
      this.#attempt = 0;
      this.#become(true, null);
    }
  }

  #settle(message: ServerMessage): void {
    const pending = this.#pending.get(message.id as number);
    if (!pending) return;
    this.#pending.delete(message.id as number);
    clearTimeout(pending.timer);
    const error = message.error as { code?: string; message?: string; hint?: string } | undefined;
    if (message.ok) pending.resolve(message);
    else pending.reject(new ApiError(error?.code ?? "refused", error?.message ?? "refused", error?.hint ?? null));
  }

  #lost(socket: WebSocket): void {
    if (socket !== this.#socket) return;
    this.#socket = null;
    for (const { reject, timer } of this.#pending.values()) {
      clearTimeout(timer);
      reject(new ApiError("offline", "the connection was lost before the server replied; look at what became of it"));
    }
    this.#pending.clear();
    this.#become(false, null);
    this.#again();
  }

  #failed(error: unknown): void {
    const problem = error instanceof ServerProblem ? error : new ServerProblem("failed", error instanceof Error ? error.message : String(error));
    this.#become(false, problem);
    this.#again();
  }

  #again(): void {
    if (this.#isClosed || this.#retry) return;
    const wait = pauseAfter(this.#attempt, Math.random());
    this.#attempt += 1;
    this.#retry = setTimeout(() => {
      this.#retry = null;
      this.connect();
    }, wait);
  }

  /** A connection that says nothing is not one. */
  #silent(): void {
    if (this.#socket && Date.now() - this.#heard > SILENCE) this.#socket.terminate();
  }

  #become(connected: boolean, problem: ServerProblem | null): void {
    if (this.state.connected === connected && this.state.problem?.message === problem?.message) return;
    const since = this.state.connected === connected ? this.state.since : Date.now();
    this.state = { connected, since, problem };
    this.emit("state", this.state);
  }
}
