// A window onto a log of any size: a few megabytes of lines around the place that is looked at.
// The log itself stays with the server.

// How much is read at once, and how much is kept.
const PIECE = 256 * 1024;
const KEPT = 3 * 1024 * 1024;
// A line that is longer is cut into lines.
const LONGEST = 16 * 1024;
const NEWLINE = 10;

export class LogWindow {
  #transport;
  #path;
  #execution;
  #decoder = new TextDecoder();
  // Bytes from `start` to `end` of the log are here, as lines: `{ at, text }`.
  lines = [];
  start = 0;
  end = 0;
  total = 0;
  // The number of the first line; `null` where the log was entered in its middle.
  first = 1;
  loading = false;
  error = null;

  constructor(transport, path, execution) {
    this.#transport = transport;
    this.#path = path;
    this.#execution = execution;
  }

  /** Reads a range, which must begin before the end; the bytes that there are of it. */
  #read(from, to) {
    return this.#readRange(`${from}-${to - 1}`);
  }

  /** Reads the last bytes: they say how long the log is. */
  #readLast(count) {
    return this.#readRange(`-${count}`);
  }

  async #readRange(range) {
    const { bytes, headers } = await this.#transport.bytes(`${this.#path}?execution=${this.#execution}`, { Range: `bytes=${range}` });
    // An empty log has no ranges: it comes whole.
    this.total = Number(headers.get("Content-Range")?.split("/")[1] ?? bytes.length);
    return bytes;
  }

  async #during(work) {
    if (this.loading) return false;
    this.loading = true;
    try {
      await work();
      this.error = null;
      return true;
    } catch (error) {
      this.error = error;
      return false;
    } finally {
      this.loading = false;
    }
  }

  /** Begins at the start of the log. */
  toStart() {
    return this.#during(async () => {
      const bytes = await this.#read(0, PIECE);
      this.#reset(0, 1);
      this.#append(bytes);
    });
  }

  /** Begins at the first line at or after a byte. */
  toByte(wanted) {
    return this.#during(async () => {
      // A link to a log that was longer, or to nothing.
      if (wanted >= this.total) await this.#readLast(1);
      const at = Math.min(wanted, this.total);
      if (at <= 0) {
        const all = await this.#read(0, PIECE);
        this.#reset(0, 1);
        this.#append(all);
        return;
      }
      // One byte before it tells whether a line begins there.
      const bytes = await this.#read(at - 1, at + PIECE);
      const skip = bytes.indexOf(NEWLINE) + 1;
      this.#reset(at - 1 + skip, null);
      this.#append(bytes.subarray(skip));
    });
  }

  /** Goes to the end. */
  toEnd() {
    return this.#during(async () => {
      const bytes = await this.#readLast(PIECE);
      const from = this.total - bytes.length;
      const skip = from === 0 ? 0 : bytes.indexOf(NEWLINE) + 1;
      this.#reset(from + skip, from === 0 ? 1 : null);
      this.#append(bytes.subarray(skip));
    });
  }

  /** Reads on at the end of the window; how many lines went away at its start. */
  async onward() {
    let gone = 0;
    await this.#during(async () => {
      // The last line may have been cut: it is read again.
      const from = this.lines.length ? this.lines.at(-1).at : this.end;
      const bytes = await this.#read(from, from + PIECE);
      if (from + bytes.length <= this.end) return;
      if (this.lines.length) this.lines.pop();
      this.end = from;
      this.#append(bytes);
      gone = this.#forgetStart();
    });
    return gone;
  }

  /** Reads back at the start of the window; how many lines came. */
  async back() {
    let came = 0;
    await this.#during(async () => {
      if (this.start === 0) return;
      const from = Math.max(0, this.start - PIECE);
      const bytes = await this.#read(from, this.start);
      const skip = from === 0 ? 0 : bytes.indexOf(NEWLINE) + 1;
      if (skip >= bytes.length) return;
      const before = this.#split(bytes.subarray(skip), from + skip);
      this.lines = [...before, ...this.lines];
      this.start = from + skip;
      came = before.length;
      if (this.first !== null) this.first -= came;
      else if (from === 0) this.first = 1;
      this.#forgetEnd();
    });
    return came;
  }

  #reset(start, first) {
    this.lines = [];
    this.start = start;
    this.end = start;
    this.first = first;
  }

  #append(bytes) {
    // Not by spreading: a window has more lines than a call has room for arguments.
    for (const line of this.#split(bytes, this.end)) this.lines.push(line);
    this.end += bytes.length;
    this.total = Math.max(this.total, this.end);
  }

  #split(bytes, start) {
    const lines = [];
    let at = 0;
    while (at < bytes.length) {
      const newline = bytes.indexOf(NEWLINE, at);
      const whole = newline === -1 ? bytes.length : newline;
      const end = Math.min(whole, at + LONGEST);
      const carriage = end > at && bytes[end - 1] === 13 ? 1 : 0;
      lines.push({ at: start + at, text: this.#decoder.decode(bytes.subarray(at, end - carriage)) });
      at = end === whole ? end + 1 : end;
    }
    return lines;
  }

  #forgetStart() {
    let gone = 0;
    while (this.end - this.start > KEPT && gone < this.lines.length - 1) {
      gone += 1;
      this.start = this.lines[gone].at;
    }
    this.lines.splice(0, gone);
    if (this.first !== null) this.first += gone;
    return gone;
  }

  #forgetEnd() {
    let keep = this.lines.length;
    while (keep > 1 && this.lines[keep - 1].at - this.start > KEPT) keep -= 1;
    if (keep === this.lines.length) return;
    this.end = this.lines[keep].at;
    this.lines.length = keep;
  }

  /** Looks through the whole log for a text, after a byte and then from the start; the byte where its line begins. */
  async find(text, after, signal) {
    const onward = await this.#search(text, Math.max(after, 0), (at) => at > after, signal);
    return onward ?? this.#search(text, 0, () => true, signal);
  }

  /** The server searches: the log does not come here for it. */
  async #search(text, start, fits, signal) {
    for (let from = start; from !== null;) {
      signal.throwIfAborted();
      const query = new URLSearchParams({ text, from, execution: this.#execution });
      const { lines, next } = await this.#transport.get(`${this.#path}/search?${query}`);
      const found = lines.find(fits);
      if (found !== undefined) return found;
      from = next;
    }
    return null;
  }
}
