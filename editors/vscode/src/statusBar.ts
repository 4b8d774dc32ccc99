// One item of the status bar: what runs, and how many questions wait. Calm when there is nothing to say.

import * as vscode from "vscode";
import { plain, plural } from "aye-page/words.js";
import { progressOf } from "./progress";
import { nameOf, timeLeft, withoutIcons } from "./question";
import type { Session } from "./session";

export class StatusBar implements vscode.Disposable {
  #session: Session;
  #item: vscode.StatusBarItem;
  #disposables: vscode.Disposable[];

  constructor(session: Session) {
    this.#session = session;
    this.#item = vscode.window.createStatusBarItem("aye.status", vscode.StatusBarAlignment.Left, 50);
    this.#item.name = "Aye";
    this.#disposables = [this.#item, session.onChange(() => this.#draw()), session.onState(() => this.#draw())];
    this.#draw();
    this.#item.show();
  }

  dispose(): void {
    for (const one of this.#disposables) one.dispose();
  }

  #draw(): void {
    const { client, store } = this.#session;
    const item = this.#item;
    const { connected, problem } = client.state;
    item.command = "aye.openPanel";
    item.backgroundColor = undefined;
    if (!connected) {
      const starting = !problem;
      item.text = starting ? "$(circle-outline) Aye" : "$(debug-disconnect) Aye";
      item.tooltip = problem ? `${problem.message}. Click to find or start the server.` : "Aye is connecting…";
      item.command = "aye.startServer";
      item.accessibilityInformation = { label: problem ? `Aye: disconnected, ${problem.message}` : "Aye: connecting" };
      return;
    }
    const running = [...store.rows.values()].filter((row) => row.parent === null && row.ended === null && (row.status === "running" || row.status === "waiting"))
      .sort((a, b) => b.updated.localeCompare(a.updated));
    const latest = running[0];
    if (latest && !store.trees.has(latest.run)) void store.tree(latest.run).catch(() => {});
    const open = store.questionsOpen;
    const parts = [];
    if (open > 0) parts.push(`$(question) ${plural(open, "question")}`);
    if (latest) {
      const words = withoutIcons(progressOf(latest, store.trees.get(latest.run)?.runs.get(latest.run)));
      parts.push(`${open > 0 ? "" : "$(play-circle) "}${words}${running.length > 1 ? ` +${running.length - 1}` : ""}`);
    }
    item.text = parts.length ? parts.join(" · ") : "$(check) Aye";
    if (open > 0) item.backgroundColor = new vscode.ThemeColor("statusBarItem.warningBackground");
    item.accessibilityInformation = { label: parts.length ? `Aye: ${parts.join(", ").replace(/\$\([^)]*\) ?/g, "")}` : "Aye: idle" };
    item.tooltip = this.#tooltip(running.map((row) => `${progressOf(row, store.trees.get(row.run)?.runs.get(row.run))}${row.step ? ` — ${plain(row.step)}` : ""}`));
  }

  #tooltip(running: string[]): vscode.MarkdownString {
    const text = new vscode.MarkdownString();
    const open = this.#session.openQuestions();
    if (open.length === 0 && running.length === 0) return text.appendText("Aye: nothing runs, nothing waits. Click for the Command Center.");
    for (const question of open.slice(0, 5)) text.appendText(`? ${nameOf(question)} (${plain(question.skill)}): ${timeLeft(question, this.#session.now())}\n\n`);
    for (const line of running.slice(0, 5)) text.appendText(`▸ ${line}\n\n`);
    return text;
  }
}
