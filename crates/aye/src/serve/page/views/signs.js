// One sign, one colour and one word for each standing: the same as in the terminal.

export const SIGNS = {
  pending: { sign: "·", tone: "soft", word: "not reached" },
  waiting: { sign: "…", tone: "soft", word: "waits" },
  queued: { sign: "…", tone: "soft", word: "waits for a slot" },
  running: { sign: "▸", tone: "link", word: "running" },
  asking: { sign: "?", tone: "ask", word: "asks" },
  completed: { sign: "✓", tone: "good", word: "done" },
  failed: { sign: "✗", tone: "bad", word: "failed" },
  timed_out: { sign: "✗", tone: "bad", word: "timed out" },
  cancelled: { sign: "✗", tone: "soft", word: "cancelled" },
  interrupted: { sign: "‖", tone: "bad", word: "interrupted" },
  unknown: { sign: "!", tone: "bad", word: "outcome unknown" },
  skipped: { sign: "−", tone: "soft", word: "left out" },
  paused: { sign: "‖", tone: "ask", word: "paused" },
  "cut-off": { sign: "!", tone: "bad", word: "cut off" },
};

/** The same for a run: `waiting` means for an answer. */
export function runSign(status) {
  if (status === "waiting") return { sign: "?", tone: "ask", word: "waits for an answer" };
  if (status === "queued") return { sign: "…", tone: "ask", word: "waits for another run" };
  return SIGNS[status] ?? SIGNS.pending;
}
