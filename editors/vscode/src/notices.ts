// Notifications, at the pace at which VS Code shows them, and short messages that go away by themselves. It
// shows three at a time and never shows what comes later, or too fast: a message that stays, or three at once,
// would keep a question off the screen.

import * as vscode from "vscode";
import { withoutLinks } from "./question";

const AT_ONCE = 2;
// VS Code shows no more than three within 800 ms; others may use one.
const PACE = { count: 2, within: 900 };
let recent: number[] = [];
let queue: Promise<void> = Promise.resolve();

/** Resolves when the next notification may come. */
export function turn(): Promise<void> {
  queue = queue.then(async () => {
    recent = recent.filter((at) => at > Date.now() - PACE.within);
    const oldest = recent.at(-PACE.count);
    if (oldest !== undefined) await new Promise((resolve) => setTimeout(resolve, oldest + PACE.within - Date.now()));
    recent.push(Date.now());
  });
  return queue;
}

const shown = new Set<() => void>();

export interface Action {
  label: string;
  run(): void;
}

/** Shows a text for some seconds, with a button if there is something to do. */
export async function brief(text: string, seconds: number, action?: Action): Promise<void> {
  await turn();
  for (const close of [...shown].slice(0, Math.max(0, shown.size - AT_ONCE + 1))) close();
  // A text here is the label of the button; see `asking.ts`.
  const cancellable = (action?.label ?? "OK") as unknown as boolean;
  void vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, cancellable }, async (progress, token) => {
    progress.report({ message: withoutLinks(text), increment: 100 });
    await new Promise<void>((resolve) => {
      const close = (): void => {
        clearTimeout(timer);
        shown.delete(close);
        resolve();
      };
      const timer = setTimeout(close, seconds * 1000);
      shown.add(close);
      token.onCancellationRequested(close);
    });
    if (token.isCancellationRequested) action?.run();
  });
}

/** Makes room for another question beside so many that are shown: the oldest texts go first. */
export function makeRoom(questions: number): void {
  const kept = Math.max(0, AT_ONCE - 1 - questions);
  for (const close of [...shown].slice(0, Math.max(0, shown.size - kept))) close();
}
