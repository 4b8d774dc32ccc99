// The page's transport (crates/aye/src/serve/page/transport.js), over messages to the extension.

interface Host {
  postMessage(message: unknown): void;
  getState(): { path?: string } | undefined;
  setState(state: { path: string }): void;
}

declare function acquireVsCodeApi(): Host;

interface Handlers {
  message(message: unknown): void;
  state(state: { connected: boolean; since: number }): void;
}

interface Reply {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

class PanelError extends Error {
  constructor(readonly code: string, message: string, readonly hint: string | null) {
    super(message);
  }
}

export class PanelTransport {
  #host = acquireVsCodeApi();
  #handlers: Handlers = { message() {}, state() {} };
  #replies = new Map<number, Reply>();
  #next = 1;
  state = { connected: false, since: Date.now() };

  constructor() {
    addEventListener("message", (event: MessageEvent) => this.#receive(event.data as Record<string, never>));
  }

  /** Where the panel was before the window was reloaded. */
  restored(): string | undefined {
    return this.#host.getState()?.path;
  }

  remember(path: string): void {
    this.#host.setState({ path });
    this.#host.postMessage({ type: "at", path });
  }

  get(path: string): Promise<unknown> {
    return this.#call("get", path);
  }

  post(path: string, body: object = {}): Promise<unknown> {
    return this.#call("post", path, body);
  }

  async remove(path: string, body: object = {}): Promise<void> {
    await this.#call("remove", path, body);
  }

  async bytes(path: string, headers?: Record<string, string>): Promise<{ bytes: Uint8Array; headers: Headers; status: number }> {
    const found = (await this.#call("bytes", path, headers)) as { bytes: ArrayLike<number>; headers: [string, string][]; status: number };
    return { bytes: Uint8Array.from(found.bytes), headers: new Headers(found.headers), status: found.status };
  }

  async text(path: string, headers?: Record<string, string>): Promise<{ text: string; headers: Headers; status: number }> {
    const { bytes, ...rest } = await this.bytes(path, headers);
    return { text: new TextDecoder().decode(bytes), ...rest };
  }

  command(type: string, fields: object = {}): Promise<unknown> {
    return this.#call("command", type, fields);
  }

  show(question: string | null): void {
    this.#host.postMessage({ type: "show", question });
  }

  listen(handlers: Handlers): void {
    this.#handlers = handlers;
    this.#host.postMessage({ type: "listen" });
  }

  close(): void {}

  #call(what: string, ...args: unknown[]): Promise<unknown> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#replies.set(id, { resolve, reject });
      this.#host.postMessage({ type: "call", id, what, args });
    });
  }

  #receive(message: { type?: string; id?: number; value?: unknown; error?: never; message?: unknown; state?: never; path?: string }): void {
    switch (message.type) {
      case "message":
        this.#handlers.message(message.message);
        break;
      case "state":
        this.state = message.state ?? this.state;
        this.#handlers.state(this.state);
        break;
      case "go":
        location.hash = `#/${message.path}`;
        break;
      case "chime":
        chime();
        break;
      case "reply":
        this.#settle(message.id ?? 0, message.value, message.error);
        break;
      default:
    }
  }

  #settle(id: number, value: unknown, error: { code: string; message: string; hint: string | null } | undefined): void {
    const reply = this.#replies.get(id);
    this.#replies.delete(id);
    if (error) reply?.reject(new PanelError(error.code, error.message, error.hint));
    else reply?.resolve(value);
  }
}

/** Two short tones. */
function chime(): void {
  const audio = new AudioContext();
  const start = audio.currentTime;
  for (const [at, frequency] of [[0, 660], [0.16, 880]] as const) {
    const tone = audio.createOscillator();
    const volume = audio.createGain();
    tone.frequency.value = frequency;
    volume.gain.setValueAtTime(0.12, start + at);
    volume.gain.exponentialRampToValueAtTime(0.0001, start + at + 0.3);
    tone.connect(volume).connect(audio.destination);
    tone.start(start + at);
    tone.stop(start + at + 0.32);
  }
}
