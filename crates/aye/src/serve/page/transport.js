// HTTP and the socket. Views never use either themselves: an editor hosts them with a transport of its own.
//
//   get(path) / post(path, body)  JSON of the HTTP API; an error has `code`, `message` and `hint`
//   text(path), bytes(path, headers)   the same for graphs and logs
//   command(type, fields)         a command on the socket; resolves with its result
//   show(question)                which question is visible here
//   listen(handlers)              `{ message(message), state({ connected, since }), signedOut() }`
//   after                         the number of the last event that was seen
//   skew                          how far this browser's clock is behind the server's, before a heartbeat tells

const FIRST_WAIT = 250;
const LONGEST_WAIT = 8000;
// The server is heard from at least this often.
const SILENCE = 45_000;
const COMMAND_LIMIT = 30_000;

export class ApiError extends Error {
  constructor(code, message, hint) {
    super(message);
    this.code = code;
    this.hint = hint ?? null;
  }
}

export class Transport {
  #secret;
  #socket = null;
  #handlers = { message() {}, state() {} };
  #pending = new Map();
  #nextId = 1;
  #wait = FIRST_WAIT;
  #heard = 0;
  #closed = false;
  #continues = false;
  after = 0;
  skew = 0;
  state = { connected: false, since: Date.now() };

  constructor(secret) {
    this.#secret = secret;
  }

  async #request(method, path, body, headers = {}) {
    const options = { method, headers: { "X-Aye-Secret": this.#secret, ...headers } };
    if (body !== undefined) {
      options.headers["Content-Type"] = "application/json";
      options.headers["Idempotency-Key"] ??= crypto.randomUUID();
      options.body = JSON.stringify(body);
    }
    let response;
    try {
      response = await fetch(`/api/v1${path}`, options);
    } catch {
      throw new ApiError("offline", "the server cannot be reached");
    }
    // To the second; what may be only that is nothing.
    const skew = Date.parse(response.headers.get("Date")) + 500 - Date.now();
    this.skew = Math.abs(skew) > 2000 ? skew : 0;
    if (!response.ok) {
      const problem = await response.json().catch(() => ({}));
      if (response.status === 401) this.#handlers.signedOut?.();
      throw new ApiError(problem.code ?? String(response.status), problem.detail ?? response.statusText, problem.hint);
    }
    return response;
  }

  async get(path) {
    return (await this.#request("GET", path)).json();
  }

  async text(path, headers) {
    const response = await this.#request("GET", path, undefined, headers);
    return { text: await response.text(), headers: response.headers, status: response.status };
  }

  async bytes(path, headers) {
    const response = await this.#request("GET", path, undefined, headers);
    return { bytes: new Uint8Array(await response.arrayBuffer()), headers: response.headers, status: response.status };
  }

  async post(path, body = {}) {
    const response = await this.#request("POST", path, body);
    return response.status === 204 ? null : response.json();
  }

  async remove(path, body = {}) {
    await this.#request("DELETE", path, body);
  }

  listen(handlers) {
    this.#handlers = handlers;
    this.#connect();
    setInterval(() => this.#watch(), 1000);
    // A phone that wakes up does not wait for its next try.
    addEventListener("online", () => this.#retryNow());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.#retryNow());
  }

  close() {
    this.#closed = true;
    this.#socket?.close();
  }

  /** Sends a command and waits for its result. Never sent again by itself: an answer counts once. */
  command(type, fields = {}) {
    if (!this.state.connected) return Promise.reject(new ApiError("offline", "not connected; nothing was sent"));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(new ApiError("timeout", "the server did not reply; check what happened before you try again"));
      }, COMMAND_LIMIT);
      this.#pending.set(id, { resolve, reject, timer });
      this.#socket.send(JSON.stringify({ id, type, ...fields }));
    });
  }

  /** Says which question is visible here; `null` for none. */
  show(question) {
    if (this.state.connected) this.#socket.send(JSON.stringify({ type: "show", question }));
  }

  #connect() {
    const url = new URL("/ws", location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    this.#continues = this.after > 0;
    if (this.#continues) url.searchParams.set("after", String(this.after));
    const socket = new WebSocket(url);
    this.#socket = socket;
    this.#heard = Date.now();
    socket.onopen = () => socket.send(JSON.stringify({ type: "hello", secret: this.#secret, kind: "page" }));
    socket.onmessage = (event) => this.#receive(JSON.parse(event.data));
    socket.onclose = () => this.#lost(socket);
  }

  #receive(message) {
    this.#heard = Date.now();
    if (message.type === "snapshot") {
      this.#wait = FIRST_WAIT;
      this.#become(true);
    }
    if (message.type === "result") {
      const pending = this.#pending.get(message.id);
      this.#pending.delete(message.id);
      if (!pending) return;
      clearTimeout(pending.timer);
      if (message.ok) pending.resolve(message);
      else pending.reject(new ApiError(message.error?.code, message.error?.message ?? "refused", message.error?.hint));
      return;
    }
    // What a snapshot knows of and we have not heard follows it, unless there is a gap.
    if (message.type === "gap") this.#continues = false;
    const counts = message.type !== "snapshot" || !this.#continues;
    if (counts && typeof message.n === "number") this.after = Math.max(this.after, message.n);
    this.#handlers.message(message);
  }

  /** `since`: when it was last heard from, where that is not now. */
  #lost(socket, since = Date.now()) {
    if (socket !== this.#socket) return;
    this.#socket = null;
    for (const { reject, timer } of this.#pending.values()) {
      clearTimeout(timer);
      reject(new ApiError("offline", "the connection was lost before the server replied; check what happened"));
    }
    this.#pending.clear();
    this.#become(false, since);
    if (this.#closed) return;
    // Away, or not signed in any more: a socket does not say which.
    this.get("/session").catch(() => {});
    const wait = this.#wait * (0.7 + Math.random() * 0.6);
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT);
    setTimeout(() => this.#socket === null && !this.#closed && this.#connect(), wait);
  }

  #retryNow() {
    this.#wait = FIRST_WAIT;
    if (this.#socket === null && !this.#closed) this.#connect();
  }

  /** A connection that says nothing is not one. */
  #watch() {
    if (this.#socket && Date.now() - this.#heard > SILENCE) {
      const socket = this.#socket;
      socket.close();
      this.#lost(socket, this.#heard);
    }
  }

  #become(connected, since = Date.now()) {
    if (this.state.connected === connected) return;
    this.state = { connected, since };
    this.#handlers.state(this.state);
  }
}
