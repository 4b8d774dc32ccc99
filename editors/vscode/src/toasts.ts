// Short messages about runs: begun, done, failed, repaired. Each kind can be turned off.

import * as vscode from "vscode";
import { duration, plain } from "aye-page/words.js";
import { brief } from "./notices";
import type { ServerMessage } from "./model";
import { failureOf } from "./progress";
import type { Session } from "./session";

// Seconds: good news is read at a glance.
const SHORT = 6;
const LONG = 30;
const ENDS = new Set(["skill_completed", "skill_failed", "skill_cancelled"]);

export class Toasts implements vscode.Disposable {
  #session: Session;
  #subscription: vscode.Disposable;
  // What a snapshot knows of happened before: nobody is told again.
  #known = 0;
  #mine = new Set<string>();

  constructor(session: Session) {
    this.#session = session;
    this.#subscription = session.onMessage((message) => this.#hear(message));
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  /** Started from this window: told of wherever it runs. */
  follow(run: string): void {
    this.#mine.add(run);
  }

  #hear(message: ServerMessage): void {
    if (message.type === "snapshot") {
      this.#known = Math.max(this.#known, Number(message.n ?? 0));
      return;
    }
    if (!message.run || Number(message.n ?? 0) <= this.#known) return;
    const row = this.#session.store.rows.get(message.run);
    if (!row || row.parent) return;
    const { toasts } = this.#session.settings;
    if (toasts.runs === "workspace" && !this.#mine.has(row.run) && !this.#session.isHere(row.workspace)) return;
    const skill = plain(row.skill);
    const took = duration(row.duration_ms);
    switch (message.type) {
      case "skill_started":
        if (toasts.started) this.#tell("▸", `${skill} started`, row.run, "Open");
        break;
      case "skill_completed":
        if (toasts.completed) this.#tell("✓", `${skill} completed${took ? ` in ${took}` : ""}`, row.run, "Open");
        break;
      case "skill_failed":
        if (toasts.failed) this.#tell("✗", failureOf(skill, message.step, message.message), row.run, "Show output", plain(message.step));
        break;
      case "auto_heal_completed":
        if (toasts.heals) {
          const words = message.healed ? `${skill}: ${plain(message.step)} was repaired by ${plain(message.rule)}` : `${skill}: the repair ${plain(message.rule)} of ${plain(message.step)} failed`;
          this.#tell(message.healed ? "✓" : "✗", words, row.run, "Show output", plain(message.step));
        }
        break;
      default:
    }
    if (ENDS.has(message.type)) this.#mine.delete(row.run);
  }

  #tell(sign: string, text: string, run: string, label: string, step?: string): void {
    void brief(`${sign} ${text}`, sign === "✓" || sign === "▸" ? SHORT : LONG, { label, run: () => void vscode.commands.executeCommand("aye.openRun", run, step) });
  }
}
