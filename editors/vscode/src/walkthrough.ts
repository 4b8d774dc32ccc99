// Ticks the steps of the walkthrough that are done. VS Code looks at what happens while it shows a walkthrough:
// what was so before does not count for it, and a key that is true already never ticks anything. So the keys of
// what is done become true for a moment, again and again, while a page like that of a walkthrough is in front.

import * as vscode from "vscode";
import type { Session } from "./session";
import type { Skills } from "./trees";

// A page is there some seconds before its steps are.
const TIMES = 10;

export class Walkthrough implements vscode.Disposable {
  #tab: vscode.Tab | undefined;
  #left = 0;
  #subscription: vscode.Disposable;

  constructor(session: Session, skills: Skills) {
    this.#subscription = session.onTick(() => {
      const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
      if (tab !== this.#tab) this.#left = TIMES;
      this.#tab = tab;
      // The page of a walkthrough is none of the kinds of tabs that extensions know.
      if (!tab || tab.input !== undefined || this.#left === 0) return;
      this.#left -= 1;
      const done: Record<string, boolean> = {
        install: session.client.state.connected,
        trust: vscode.workspace.isTrusted && skills.skills.some((skill) => skill.trusted && session.isOpen(skill.project)),
        run: [...session.store.rows.values()].some((row) => session.isHere(row.workspace)),
        answer: session.answeredHere.size > 0,
      };
      for (const [step, isDone] of Object.entries(done)) if (isDone) void pulse(`aye.done.${step}`);
    });
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}

async function pulse(key: string): Promise<void> {
  await vscode.commands.executeCommand("setContext", key, true);
  await vscode.commands.executeCommand("setContext", key, false);
}
