// One sign, one colour and one word for each standing. The terminal has the same signs and colours
// (`crates/aye/src/signs.rs`, whose tests compare them): green is done, red failed, blue acts, amber asks or
// wants a look, grey needs nobody.

/** Of a step. */
export const SIGNS = {
  pending: { sign: "·", tone: "soft", word: "not reached" },
  waiting: { sign: "…", tone: "soft", word: "waits" },
  queued: { sign: "‖", tone: "soft", word: "waits for a slot" },
  running: { sign: "▸", tone: "link", word: "running" },
  asking: { sign: "?", tone: "ask", word: "asks" },
  completed: { sign: "✓", tone: "good", word: "done" },
  failed: { sign: "✗", tone: "bad", word: "failed" },
  timed_out: { sign: "✗", tone: "bad", word: "timed out" },
  cancelled: { sign: "✗", tone: "soft", word: "cancelled" },
  interrupted: { sign: "?", tone: "ask", word: "interrupted" },
  unknown: { sign: "?", tone: "ask", word: "outcome unknown" },
  skipped: { sign: "−", tone: "soft", word: "left out" },
};

/** Of a run. */
export const RUN_SIGNS = {
  running: { sign: "▸", tone: "link", word: "running" },
  queued: { sign: "‖", tone: "soft", word: "waits for another run" },
  waiting: { sign: "?", tone: "ask", word: "waits for an answer" },
  paused: { sign: "‖", tone: "ask", word: "paused" },
  "cut-off": { sign: "?", tone: "ask", word: "cut off" },
  completed: { sign: "✓", tone: "good", word: "done" },
  failed: { sign: "✗", tone: "bad", word: "failed" },
  cancelled: { sign: "✗", tone: "soft", word: "cancelled" },
};

export function runSign(status) {
  return RUN_SIGNS[status] ?? SIGNS.pending;
}
